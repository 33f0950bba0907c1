"""Bad input gets an error that names the argument, what was expected and what came. The messages are asserted."""

import numpy as np
import pytest
from complaints import assert_complains

import attnlib
from attnlib import MultiHeadAttention, Vocabulary, attention, explorers, gradients, layers, pictures
from attnlib.block import LanguageModel
from attnlib.block import train as train_language
from attnlib.senses import Corpus, SenseModel, corpus, split, train

ONE = np.ones((3, 4))
NAN = np.array([[1.0, np.nan], [0.0, 0.0]])
RNG = np.random.default_rng(0)
EYE = np.eye(4)


SOME = Corpus(corpus().ids[:3], corpus().senses[:3])
ROWS = [[0.5, 0.5], [0.2, 0.8]]


def language(size=5, d_model=8, num_heads=2, **options):
    return LanguageModel(np.random.default_rng(0), size, d_model, num_heads, **options)


def sense(**options):
    return SenseModel(np.random.default_rng(0), **options)


def curves(x=(1, 2), y=(1.0, 2.0), **options):
    return pictures.curves(x, {"line": y}, xlabel="x", ylabel="y", **options)


def product(right=ROWS, row=0, **options):
    usual = {"names": ("A", "B", "C"), "tokens": ["a", "b"], "columns": ["c", "d"]}
    return pictures.matrix_product(ROWS, right, row=row, **(usual | options))


def heads(W_Q=EYE, W_K=EYE, W_V=EYE, W_O=EYE, num_heads=2, **options):
    return MultiHeadAttention(W_Q, W_K, W_V, W_O, num_heads, **options)


TABLE = [
    # projector
    (lambda: attnlib.projector("on"), TypeError, "projector: expected True (large) or False (usual size), got 'on'"),
    # softmax
    (lambda: attnlib.softmax(3.0), ValueError, "softmax: x has shape (); expected at least 1 axis: (..., n)"),
    (lambda: attnlib.softmax([]), ValueError, "softmax: x is empty (0,); every axis needs at least one entry"),
    (lambda: attnlib.softmax([[1, 2], [3]]), ValueError, "softmax: x is not a regular array: its rows differ in length"),
    (lambda: attnlib.softmax(["a"]), TypeError, "softmax: x holds <U1; expected float32, float64 or whole numbers"),
    (lambda: attnlib.softmax([True]), TypeError, "softmax: x holds bool; expected float32, float64 or whole numbers"),
    (lambda: attnlib.softmax([1j]), TypeError, "softmax: x holds complex128; expected float32, float64 or whole numbers"),
    (lambda: attnlib.softmax(np.ones(3, np.float16)), TypeError, "softmax: x holds float16; expected float32, float64 or whole numbers"),
    (lambda: attnlib.softmax(None), TypeError, "softmax: x holds object; expected float32, float64 or whole numbers"),
    (lambda: attnlib.softmax(ONE, axis=2), ValueError, "softmax: axis is 2, but x (3, 4) has axes 0 to 1"),
    (lambda: attnlib.softmax(ONE, axis=-3), ValueError, "softmax: axis is -3; expected at least -2"),
    (lambda: attnlib.softmax(ONE, axis=0.5), TypeError, "softmax: axis is 0.5 (float); expected a whole number"),
    (lambda: attnlib.softmax(ONE, axis=True), TypeError, "softmax: axis is True (bool); expected a whole number"),
    (lambda: attnlib.softmax(NAN), ValueError, "softmax: x has nan at (0, 1); expected finite numbers or -inf"),
    (lambda: attnlib.softmax([0, np.inf]), ValueError, "softmax: x has inf at (1,); expected finite numbers or -inf"),
    (lambda: attnlib.softmax_jacobian(NAN), ValueError, "softmax_jacobian: weights has nan at (0, 1); expected finite numbers"),
    (lambda: attnlib.entropy([0.5, -0.5]), ValueError, "entropy: weights has -0.5 at (1,); expected shares from 0 to 1"),
    (lambda: attnlib.entropy([4.0]), ValueError, "entropy: weights has 4.0 at (0,); expected shares from 0 to 1"),
    (lambda: attnlib.softmax_jacobian([1e200]), ValueError, "softmax_jacobian: weights has 1e+200 at (0,); expected shares from 0 to 1"),
    # similarity
    (lambda: attnlib.dot_products([1, 2], [[1, 2]]), ValueError, "dot_products: A has shape (2,); expected at least 2 axes: (..., n, d)"),
    (lambda: attnlib.dot_products(ONE, ONE.T), ValueError, "dot_products: the rows of A have 4 numbers, those of B 3; they must have the same (A is (3, 4), B is (4, 3))"),
    (lambda: attnlib.dot_products(ONE, NAN[:, [0, 1, 1, 1]]), ValueError, "dot_products: B has nan at (0, 1); expected finite numbers"),
    (lambda: attnlib.dot_products([[1e200]], [[1e200]]), ValueError, "dot_products: the products could reach inf, more than float64 can hold; scale A or B down"),
    (lambda: attnlib.cosine_similarity(ONE, ONE * [[1], [0], [1]]), ValueError, "cosine_similarity: row 1 of B is all zeros; it has no direction"),
    (lambda: attnlib.cosine_similarity(np.ones((2, 3, 4)), np.ones((5, 3, 4))), ValueError, "cosine_similarity: the leading (batch or head) axes do not fit together; each pair must be equal, or one of them 1 (A is (2, 3, 4), B is (5, 3, 4))"),
    # attention
    (lambda: attention(np.ones(4), ONE, ONE), ValueError, "attention: Q has shape (4,); expected at least 2 axes: (..., n, d)"),
    (lambda: attention(np.ones((2, 3)), ONE, ONE), ValueError, "attention: the queries have d_k = 3 numbers but the keys have 4; a dot product needs the same (Q is (2, 3), K is (3, 4))"),
    (lambda: attention(ONE, np.ones((5, 4)), np.ones((4, 4))), ValueError, "attention: K has 5 keys but V has 4 values; each key needs exactly one value (K is (5, 4), V is (4, 4))"),
    (lambda: attention(np.ones((2, 3, 4)), np.ones((5, 3, 4)), ONE), ValueError, "attention: the leading (batch or head) axes do not fit together; each pair must be equal, or one of them 1 (Q is (2, 3, 4), K is (5, 3, 4), V is (3, 4))"),
    (lambda: attention(ONE, ONE, np.where(ONE > 0, np.inf, 0)), ValueError, "attention: V has inf at (0, 0); expected finite numbers"),
    (lambda: attention(ONE > 0, ONE, ONE), TypeError, "attention: Q holds bool; expected float32, float64 or whole numbers"),
    (lambda: attention(np.ones((0, 4)), ONE, ONE), ValueError, "attention: Q is empty (0, 4); every axis needs at least one entry"),
    (lambda: attention(ONE * 1e160, ONE * 1e160, ONE), ValueError, "attention: the scores could reach inf, more than float64 can hold; scale Q or K down"),
    (lambda: attention(np.float32(1e25) * ONE.astype(np.float32), ONE.astype(np.float32) * np.float32(1e25), ONE.astype(np.float32)), ValueError, "attention: the scores could reach 4e+50, more than float32 can hold; scale Q or K down"),
    (lambda: attention(ONE, ONE, ONE * 1e308), ValueError, "attention: the output could reach 1e+308, more than float64 can hold; scale V down"),
    (lambda: attention(ONE, ONE, ONE, scale=np.nan), ValueError, "attention: scale is nan; expected a finite number such as 1/√d_k"),
    (lambda: attention(ONE, ONE, ONE, scale="big"), TypeError, "attention: scale is 'big' (str); expected one number"),
    (lambda: attention(ONE, ONE, ONE, scale=[1, 2]), TypeError, "attention: scale is [1, 2] (list); expected one number"),
    (lambda: attention(ONE, ONE, ONE, scale={}), TypeError, "attention: scale is {} (dict); expected one number"),
    (lambda: attention(ONE, ONE, ONE, scale=1e308), ValueError, "attention: scale could reach 1e+308, more than float64 can hold; use a smaller one"),
    (lambda: attention(ONE, ONE, ONE, scale=1e307), ValueError, "attention: the scores could reach 1e+308, more than float64 can hold; scale Q or K down"),
    (lambda: attention(*[ONE.astype(np.float32) * 0] * 3, scale=1e39), ValueError, "attention: scale could reach 1e+39, more than float32 can hold; use a smaller one"),
    (lambda: attention(ONE, ONE, ONE, scale=10**400), TypeError, f"attention: scale is {str(10**400)[:77]}... (int); expected one number"),
    (lambda: attention(ONE, ONE, ONE, scale=np.complex64(1 + 2j)), TypeError, "attention: scale is np.complex64(1+2j) (complex64); expected one number"),
    (lambda: attention(ONE, ONE, ONE, scale=b"2"), TypeError, "attention: scale is b'2' (bytes); expected one number"),
    (lambda: attention(ONE, ONE, ONE, scale=[[1], [2, 3]]), ValueError, "attention: scale is not a regular array: its rows differ in length"),
    (lambda: attention(np.ma.ones((3, 4)), ONE, ONE), TypeError, "attention: Q is a masked array; expected a plain one (use mask= to hide keys)"),
    (lambda: attention(ONE, ONE, ONE, np.ones((0, 3, 3), bool)), ValueError, "attention: mask is empty (0, 3, 3); every axis needs at least one entry"),
    (lambda: attention(ONE, ONE, ONE, causal=1), TypeError, "attention: causal is 1 (int); expected True or False"),
    # masks
    (lambda: attention(ONE, ONE, ONE, np.ones((3, 3), int)), TypeError, "attention: mask holds int64; expected booleans (True = may attend) or floats (added to the scaled scores)"),
    (lambda: attention(ONE, ONE, ONE, [[True], [True, False]]), ValueError, "attention: mask is not a regular array: its rows differ in length"),
    (lambda: attention(ONE, ONE, ONE, np.ones(3, bool)), ValueError, "attention: mask has shape (3,); expected (n_queries, n_keys) = (3, 3), or (1, 3) to hide the same keys from all queries"),
    (lambda: attention(ONE, ONE, ONE, True), ValueError, "attention: mask has shape (); expected (n_queries, n_keys) = (3, 3), or (1, 3) to hide the same keys from all queries"),
    (lambda: attention(ONE, ONE, ONE, np.ones((2, 3), bool)), ValueError, "attention: mask has shape (2, 3); expected (..., n_queries, n_keys) = (3, 3)"),
    (lambda: attention(np.ones((2, 3, 4)), ONE, ONE, np.ones((5, 3, 3), bool)), ValueError, "attention: the leading (batch or head) axes do not fit together; each pair must be equal, or one of them 1 (Q is (2, 3, 4), K is (3, 4), V is (3, 4), mask is (5, 3, 3))"),
    (lambda: attention(ONE, ONE, ONE, np.full((3, 3), np.nan)), ValueError, "attention: mask has nan at (0, 0); expected moderate numbers or -inf"),
    (lambda: attention(ONE, ONE, ONE, np.full((3, 3), np.inf)), ValueError, "attention: mask has inf at (0, 0); expected moderate numbers or -inf"),
    (lambda: attention(ONE, ONE, ONE, np.full((3, 3), -1e308)), ValueError, "attention: mask has -1e+308 at (0, 0); expected moderate numbers or -inf"),
    (lambda: attnlib.causal_mask(0), ValueError, "causal_mask: n_queries is 0; expected at least 1"),
    (lambda: attnlib.causal_mask(2**70), ValueError, "causal_mask: n_queries is 1180591620717411303424; expected at most 100000000"),
    (lambda: attnlib.causal_mask(np.ones((2, 2))), TypeError, "causal_mask: n_queries is array([[1., 1.], [1., 1.]]) (ndarray); expected a whole number"),
    (lambda: attnlib.causal_mask(2, "3"), TypeError, "causal_mask: n_keys is '3' (str); expected a whole number"),
    (lambda: attnlib.padding_mask([1, 5], 4), ValueError, "padding_mask: lengths has 5; expected whole numbers from 0 to 4"),
    (lambda: attnlib.padding_mask([-1], 4), ValueError, "padding_mask: lengths has -1; expected whole numbers from 0 to 4"),
    (lambda: attnlib.padding_mask([1.0], 4), TypeError, "padding_mask: lengths holds float64; expected whole numbers"),
    # heads
    (lambda: attnlib.split_heads(ONE, 3), ValueError, "split_heads: 4 columns cannot be cut into 3 equal heads (X is (3, 4))"),
    (lambda: attnlib.split_heads(ONE, 0), ValueError, "split_heads: num_heads is 0; expected at least 1"),
    (lambda: attnlib.merge_heads(ONE), ValueError, "merge_heads: H has shape (3, 4); expected (..., num_heads, n, d)"),
    (lambda: heads(W_Q=np.ones((2, 4, 4))), ValueError, "MultiHeadAttention: W_Q has shape (2, 4, 4); expected two axes (d_in, d_out)"),
    (lambda: heads(W_Q=np.full((4, 4), np.nan)), ValueError, "MultiHeadAttention: W_Q has nan at (0, 0); expected finite numbers"),
    (lambda: heads(num_heads=3, num_kv_heads=2), ValueError, "MultiHeadAttention: 3 query heads cannot share 2 key/value heads evenly; num_heads must be a multiple of num_kv_heads"),
    (lambda: heads(num_heads=3), ValueError, "MultiHeadAttention: W_Q has 4 columns, which cannot be cut into 3 equal heads (W_Q is (4, 4))"),
    (lambda: heads(W_K=np.ones((4, 2))), ValueError, "MultiHeadAttention: each query head has d_k = 2 columns but each key head 1; they must have the same (W_Q is (4, 4), W_K is (4, 2))"),
    (lambda: heads(W_V=np.ones((3, 4))), ValueError, "MultiHeadAttention: W_K takes rows of 4 numbers but W_V of 3; keys and values are made from the same rows (W_K is (4, 4), W_V is (3, 4))"),
    (lambda: heads(W_O=np.ones((5, 4))), ValueError, "MultiHeadAttention: the heads side by side have 4 columns but W_O has 5 rows (W_V is (4, 4), W_O is (5, 4))"),
    (lambda: heads()(np.ones((3, 5))), ValueError, "MultiHeadAttention: the rows of X have 5 numbers but W_Q takes 4 (X is (3, 5), W_Q is (4, 4))"),
    (lambda: heads()(ONE, np.ones((3, 5))), ValueError, "MultiHeadAttention: the rows of context have 5 numbers but W_K takes 4 (context is (3, 5), W_K is (4, 4))"),
    (lambda: heads()(ONE, mask=np.ones((2, 2), bool)), ValueError, "MultiHeadAttention: mask has shape (2, 2); expected (..., n_queries, n_keys) = (3, 3)"),
    (lambda: MultiHeadAttention.from_rng(7, 4, 2), TypeError, "MultiHeadAttention.from_rng: rng is 7 (int); expected np.random.default_rng(seed)"),
    (lambda: MultiHeadAttention.from_rng(RNG, 4, 3), ValueError, "MultiHeadAttention.from_rng: d_model = 4 cannot be cut into num_heads = 3 equal heads"),
    (lambda: MultiHeadAttention.from_rng(RNG, 4, 2, dtype=int), TypeError, "MultiHeadAttention.from_rng: dtype is <class 'int'>; expected np.float32 or np.float64"),
    (lambda: heads()(ONE * 1e308), ValueError, "MultiHeadAttention: Q could reach 8e+308, more than float64 can hold; scale the input or the weights down".replace("8e+308", "inf")),
    (lambda: heads(W_O=EYE * 1e305)(ONE * 1e10, mask=None), ValueError, "MultiHeadAttention: the output could reach inf, more than float64 can hold; scale the input or the weights down"),
    (lambda: heads()(np.ones((2, 3, 4)), np.ones((5, 3, 4))), ValueError, "MultiHeadAttention: the leading (batch or head) axes do not fit together; each pair must be equal, or one of them 1 (X is (2, 3, 4), context is (5, 3, 4))"),
    (lambda: heads()(ONE, causal=1), TypeError, "MultiHeadAttention: causal is 1 (int); expected True or False"),
    # positions and tokens
    (lambda: attnlib.embed([], ONE), ValueError, "embed: ids is empty; expected at least one whole number"),
    (lambda: attnlib.embed([[1], [1, 2]], ONE), ValueError, "embed: ids is not a regular array: its rows differ in length"),
    (lambda: Vocabulary([["a"]]), TypeError, "Vocabulary: ['a'] is list; every token is a str"),
    (lambda: Vocabulary(5), TypeError, "Vocabulary: tokens is 5 (int); expected a list of tokens"),
    (lambda: Vocabulary(np.array(3.0)), TypeError, "Vocabulary: tokens is array(3.) (ndarray); expected a list of tokens"),
    (lambda: Vocabulary(["a"]).ids(np.array(3.0)), TypeError, "Vocabulary.ids: tokens is array(3.) (ndarray); expected a list of tokens"),
    (lambda: Vocabulary({"a"}), TypeError, "Vocabulary: tokens is a set, which has no order; expected a list of tokens"),
    (lambda: Vocabulary(["a"]).ids([["a"]]), TypeError, "Vocabulary.ids: ['a'] is list; every token is a str"),
    (lambda: attnlib.sinusoidal_positions(3, 5), ValueError, "sinusoidal_positions: d_model is 5; expected an even number, one sine and one cosine each"),
    (lambda: attnlib.embed([0, 3], ONE), ValueError, "embed: ids has 3; expected whole numbers from 0 to 2"),
    (lambda: attnlib.embed([0.0], ONE), TypeError, "embed: ids holds float64; expected whole numbers"),
    (lambda: attnlib.embed([0], np.ones((2, 3, 4))), ValueError, "embed: table has shape (2, 3, 4); expected two axes (size, d)"),
    (lambda: attnlib.one_hot([-1], 3), ValueError, "one_hot: ids has -1; expected whole numbers from 0 to 2"),
    (lambda: Vocabulary("a b"), TypeError, "Vocabulary: tokens is one text; expected a list of tokens, such as text.split()"),
    (lambda: Vocabulary(["a", 1]), TypeError, "Vocabulary: 1 is int; every token is a str"),
    (lambda: Vocabulary(["a", "b", "a"]), ValueError, "Vocabulary: 'a' is there twice; each token needs one id"),
    (lambda: Vocabulary([]), ValueError, "Vocabulary: no tokens; expected at least one"),
    (lambda: Vocabulary(["a"]).ids("a b"), ValueError, "Vocabulary.ids: 'b' is not among the 1 known tokens"),
    (lambda: Vocabulary(["a"]).words([1]), ValueError, "Vocabulary.words: ids has 1; expected whole numbers from 0 to 0"),
    # models
    (lambda: SenseModel(0), TypeError, "SenseModel: rng is 0 (int); expected np.random.default_rng(seed)"),
    (lambda: sense(d_model=0), ValueError, "SenseModel: d_model is 0; expected at least 1"),
    (lambda: sense(spread=-1), ValueError, "SenseModel: spread is -1.0; expected a number of at least 0"),
    (lambda: sense(spread=1e200).attend(SOME.ids), ValueError, "attention: the scores could reach inf, more than float64 can hold; scale Q or K down"),
    (lambda: sense(spread=1e308), ValueError, "SenseModel: the table could reach inf, more than float64 can hold; use a smaller spread"),
    (lambda: sense(spread=5e306).attend(SOME.ids), ValueError, "SenseModel: Q could reach inf, more than float64 can hold; scale the input or the weights down"),
    (lambda: sense().attend([0, 1]), ValueError, "SenseModel: ids has shape (2,); expected (sentences, n) with n of at least 3"),
    (lambda: sense().logits([[99] * 8]), ValueError, "SenseModel: ids has 99; expected whole numbers from 0 to 32"),
    (lambda: sense().accuracy(7), TypeError, "SenseModel.accuracy: part is 7 (int); expected a Corpus, such as corpus()"),
    (lambda: sense().gradients(Corpus(SOME.ids, [0])), ValueError, "SenseModel.gradients: senses has shape (1,); expected (3,), one for each sentence"),
    (lambda: split(corpus(), 6912, RNG), ValueError, "split: n_train is 6912, but only 6911 sentences may be trained on: one is held out"),
    (lambda: split(corpus(), 10, 0), TypeError, "split: rng is 0 (int); expected np.random.default_rng(seed)"),
    (lambda: train(None, SOME, 3), TypeError, "train: model is None (NoneType); expected a SenseModel"),
    (lambda: train(sense(), SOME, 1.5), TypeError, "train: steps is 1.5 (float); expected a whole number"),
    (lambda: train(sense(), SOME, 3, rate=-1), ValueError, "AdamW: rate is -1.0; expected a number of at least 0"),
    (lambda: language(num_heads=3), ValueError, "LanguageModel: d_model = 8 cannot be cut into num_heads = 3 equal heads"),
    (lambda: language(d_model=5, num_heads=1), ValueError, "LanguageModel: d_model is 5; positions need an even one, for a sine and a cosine each"),
    (lambda: language(use_positions=1), TypeError, "LanguageModel: use_positions is 1 (int); expected True or False"),
    (lambda: language().logits([0, 1]), ValueError, "LanguageModel: ids has shape (2,); expected (texts, n)"),
    (lambda: language().logits([[0, 5]]), ValueError, "LanguageModel: ids has 5; expected whole numbers from 0 to 4"),
    (lambda: language().norm("4", ONE), ValueError, "LanguageModel.norm: place is '4'; expected '1', '2' or '3'"),
    (lambda: language().attend(ONE), ValueError, "LanguageModel.attend: the rows of X have 4 numbers but W_Q takes 8 (X is (3, 4), W_Q is (8, 8))"),
    (lambda: language().generate([[0]], 3, 4), ValueError, "LanguageModel.generate: ids has shape (1, 1); expected one text, (n,)"),
    (lambda: language().generate([0], -1, 4), ValueError, "LanguageModel.generate: count is -1; expected at least 0"),
    (lambda: language().generate([0], 3, 0), ValueError, "LanguageModel.generate: window is 0; expected at least 1"),
    (lambda: train_language(language(), [[0, 1]], [[1, 2]], -1), ValueError, "train: steps is -1; expected at least 1"),
    (lambda: train_language(None, [[0, 1]], [[1, 2]], 1), TypeError, "train: model is None (NoneType); expected a LanguageModel"),
    (lambda: explorers.real_model("MiniLM"), TypeError, "real_model: model is 'MiniLM' (str); expected what minilm.load() gives"),
    # pictures
    (lambda: pictures.heat_map(ROWS, ["a", "b"]), TypeError, 'heat_map: matrices is [[0.5, 0.5], [0.2, 0.8]] (list); expected a dict, such as {"weights": [[0.5, 0.5]]}'),
    (lambda: pictures.heat_map({"w": ROWS}, ["a"]), ValueError, "heat_map: there are 1 tokens for 2 rows of 'w'; each needs one name"),
    (lambda: pictures.heat_map({"w": ROWS}, ["a", "b"], keys=["a"]), ValueError, "heat_map: there are 1 keys for 2 columns of 'w'; each needs one name"),
    (lambda: pictures.heat_map({"w": ROWS}, "ab"), TypeError, "heat_map: tokens is 'ab' (str); expected a list of texts"),
    (lambda: pictures.heat_map({"w": ROWS}, [1, 2]), TypeError, "heat_map: one of tokens is 1 (int); expected a text"),
    (lambda: pictures.heat_map({"w": [0.5, 0.5]}, ["a", "b"]), ValueError, "heat_map: 'w' has shape (2,); expected (n_queries, n_keys), not empty"),
    (lambda: pictures.heat_map({"w": [["x"]]}, ["a"]), TypeError, "heat_map: 'w' holds <U1; expected numbers"),
    (lambda: pictures.heat_map({"w": [[-np.inf]]}, ["a"]), ValueError, "heat_map: 'w' has -inf at (0, 0); a picture needs numbers below 1e+06 in size"),
    (lambda: pictures.heat_map({"w": [[1.0]]}, ["a"], kind="weight"), ValueError, "heat_map: kind is 'weight'; expected one of 'query', 'key', 'value', 'scores', 'weights', 'output'"),
    (lambda: pictures.heat_map({"w": [[1.0]]}, ["a"], digits=10), ValueError, "heat_map: digits is 10; expected at most 9"),
    (lambda: pictures.heat_map({"w": [[1.0]]}, ["a"], sides=("rows",)), ValueError, "heat_map: sides has 1 texts; expected 2"),
    (lambda: pictures.heat_map({"w": np.ones((300, 300))}, ["a"] * 300), ValueError, "heat_map: the picture would be 257 by 188 inches; draw fewer rows, columns or parts at once"),
    (lambda: pictures.bars({"w": [1.0, 2.0]}, ["a"]), ValueError, "bars: there are 1 labels for 2 numbers of 'w'; each needs one name"),
    (lambda: pictures.bars({"w": [1.0] * 400}, ["a"] * 400), ValueError, "bars: the picture would be 301 by 3 inches; draw fewer rows, columns or parts at once"),
    (lambda: pictures.bars({"w": [1.0]}, ["a"], colours=["key", "key"]), ValueError, "bars: there are 2 colours for 1 groups; each needs one"),
    (lambda: pictures.bars({"w": [1.0]}, ["a"], colours=["red"]), ValueError, "bars: a colour is 'red'; expected one of 'query', 'key', 'value', 'scores', 'weights', 'output'"),
    (lambda: curves(y=[1.0]), ValueError, "curves: 'line' has 1 numbers but x has 2; each needs its own"),
    (lambda: curves(y=[1.0, 0.0], log="y"), ValueError, "curves: 'line' has 0.0 at (1,); a picture needs numbers above 0 and below 1e+100"),
    (lambda: curves(log="z"), ValueError, "curves: log is 'z'; expected one of '', 'x', 'y', 'xy'"),
    (lambda: curves(title=3), TypeError, "curves: title is 3 (int); expected a text"),
    (lambda: pictures.plane({"a": [1, 2, 3]}), ValueError, "plane: 'a' has shape (3,); expected (2,), not empty"),
    (lambda: pictures.plane({"a": [1, 2]}, moves=[("a", "b")]), ValueError, "plane: one of a move is 'b'; expected one of 'a'"),
    (lambda: pictures.plane({"a": [1, 2], "b": [0, 0]}, angle=("a", "b")), ValueError, "plane: 'b' has no length, so no direction; it makes no angle"),
    (lambda: pictures.plane({"a": [1, 2]}, kinds={"a": "red"}), ValueError, "plane: the kind of 'a' is 'red'; expected one of 'query', 'key', 'value', 'scores', 'weights', 'output'"),
    (lambda: pictures.stripes([1.0], xlabel="x", ylabel="y"), ValueError, "stripes: matrix has shape (1,); expected (n, m), not empty"),
    (lambda: pictures.circles([[1.0, 2.0]], ["a", "b"]), ValueError, "circles: there are 2 tokens for 1 rows of matrix; each needs one name"),
    (lambda: pictures.arcs([0.5, 0.5], ["a", "b"], 2), ValueError, "arcs: query is 2; expected a whole number from 0 to 1"),
    (lambda: pictures.arcs([1.5], ["a"], 0), ValueError, "arcs: weights has 1.5 at (0,); expected shares from 0 to 1"),
    (lambda: product(right=[[1.0, 2.0]]), ValueError, "matrix_product: the rows of left have 2 numbers but the columns of right 1; they must have the same (left is (2, 2), right is (1, 2))"),
    (lambda: product(kinds=("key", "key")), ValueError, "matrix_product: there are 2 kinds for 3 matrices; each needs one name"),
    (lambda: product(size=3), ValueError, "matrix_product: size has shape (); expected (2,), not empty"),
    (lambda: product(size=(3, 0.5)), ValueError, "matrix_product: size is (3, 0.5); expected a width and a height of at least 1 inch"),
    (lambda: product(size=(200, 200)), ValueError, "matrix_product: the picture would be 200 by 200 inches; draw fewer rows, columns or parts at once"),
    (lambda: product(right=np.ones((2, 400)), columns=["c"] * 400), ValueError, "matrix_product: the picture would be 580 by 2 inches; draw fewer rows, columns or parts at once"),
    (lambda: product(row=5), ValueError, "matrix_product: row is 5; expected a whole number from 0 to 1"),
    # numbers so large that the result, or a gradient, could not be held
    (lambda: layers.layer_norm([[1.0, 2.0]], [1e308, 1.0], [1.0, 1.0]), ValueError, "layer_norm: the output could reach 1e+308, more than float64 can hold; scale gain or bias down"),
    (lambda: layers.layer_norm(np.ones((1, 2), np.float32), [1, 1], [1, 1], eps=1e-60), ValueError, "layer_norm: eps is 1e-60; expected a number that float32 can hold"),
    (lambda: layers.layer_norm_backward([[1.0, 2.0]], [1.0, 1.0], [[1e308, 0.0]]), ValueError, "layer_norm_backward: the gradient could reach inf, more than float64 can hold; scale d_output down"),
    (lambda: layers.gelu_backward([1.0], [1e308]), ValueError, "gelu_backward: the gradient could reach inf, more than float64 can hold; scale d_output down"),
    (lambda: layers.feed_forward([[1e200]], [[1e200]], [0.0], [[1.0]], [0.0]), ValueError, "feed_forward: the output could reach inf, more than float64 can hold; scale the input or the weights down"),
    (lambda: layers.feed_forward_backward([[1.0]], [[1.0]], [0.0], [[1.0]], [0.0], [[1e308]]), ValueError, "feed_forward_backward: the gradient could reach inf, more than float64 can hold; scale d_output down"),
    (lambda: gradients.softmax_backward([0.5, 0.5], [1e308, 1e308]), ValueError, "softmax_backward: the gradient could reach inf, more than float64 can hold; scale d_weights down"),
    (lambda: gradients.attention_backward(ONE, ONE, ONE, ONE * 1e308), ValueError, "attention_backward: the gradient could reach inf, more than float64 can hold; scale d_output down"),
    (lambda: gradients.linear_backward([[1.0]], [[1e10]], [[1e300]]), ValueError, "linear_backward: the gradient could reach inf, more than float64 can hold; scale d_output down"),
    (lambda: gradients.embedding_backward([0, 0], np.full((2, 1), 1e308), 1), ValueError, "embedding_backward: the sum could reach inf, more than float64 can hold; scale d_X down"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), TABLE, ids=[row[2][:60] for row in TABLE])
def test_bad_input(call, kind, message):
    assert_complains(call, kind, message)
