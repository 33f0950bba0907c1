"""Chapter 06: one query's row, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlib.attention import attention
from attnlib.examples import write_a_poem
from attnlib.explorers.controls import Choice, Slider
from attnlib.explorers.shell import Explorer, View
from attnlib.pictures import Picture, Term, calculation, figure_of, matrix_product

TOKENS = write_a_poem.tokens
SIZE = (8.6, 3.0)
"""inches; the same for every step, so that the page does not jump"""


def steps() -> Explorer:
    """Choose a token, and follow its row from step 0 to step 4.

    >>> steps().sentence[:47]
    'Step 0, the query of "write": its row of X time'
    """
    return Explorer(view, {"token": Choice("token", TOKENS, TOKENS[0]), "step": Slider("step", 0, 4, 0)})


def sum_of(numbers: ArrayLike, others: ArrayLike) -> str:
    """Write out a dot product; the sum is that of all digits, and may differ in the last one shown.

    >>> sum_of([1.0, 2.0], [0.5, -0.25])
    '1.000 · 0.500 + 2.000 · (-0.250) ≈ 0.000'
    """
    left, right = np.asarray(numbers, dtype=float), np.asarray(others, dtype=float)
    terms = " + ".join(f"{written(a)} · {written(b)}" for a, b in zip(left, right, strict=True))
    return f"{terms} ≈ {figure_of(left @ right, 3)}"


def written(factor: float) -> str:
    """Write a factor of a product, a negative one in brackets.

    >>> written(-0.5), written(0.5)
    ('(-0.500)', '0.500')
    """
    text = figure_of(factor, 3)
    return f"({text})" if text.startswith("-") else text


def view(token: str, step: int) -> View:
    """Draw the matrices of one step, the cells of this token framed.

    >>> view("write", 3).sentence
    'Step 3, the weights of "write": softmax turns its row into shares, 0.357, 0.401, 0.242, which sum to 1.'
    """
    row = TOKENS.index(token)
    quoted, first = f'"{token}"', f'"{TOKENS[0]}"'
    X, W_Q = write_a_poem.X, write_a_poem.W_Q
    Q, K, V = X @ W_Q, X @ write_a_poem.W_K, X @ write_a_poem.W_V
    result = attention(Q, K, V)
    said = {name: ", ".join(f"{x:.3f}" for x in getattr(result, name)[row]) for name in result._fields}
    if step == 0:
        picture = matrix_product(
            X,
            W_Q,
            names=("X", "W_Q", "Q"),
            tokens=TOKENS,
            columns=["1", "2"],
            kinds=("scores", "query", "query"),
            row=row,
            size=SIZE,
        )
        sentence = (
            f"Step 0, the query of {quoted}: its row of X times each column of W_Q. First number: "
            f"{sum_of(X[row], W_Q[:, 0])}. Keys and values are made in the same way, with W_K and W_V."
        )
    elif step == 1:
        picture = matrix_product(
            Q, K.T, names=("Q", "Kᵀ", "scores"), tokens=TOKENS, columns=TOKENS, row=row, size=SIZE
        )
        sentence = (
            f"Step 1, the scores of {quoted}: its query meets every key. With {first}: {sum_of(Q[row], K[0])}. "
            f"All three: {said['scores']}."
        )
    elif step == 2:
        picture = row_by_row(
            "Scaling", row, ("scores", result.scores, "scores"), ("scaled", result.scaled, "scores"), "÷ √2"
        )
        sentence = (
            f"Step 2, the scaled scores of {quoted}: every score divided by the root of d_k = 2. From "
            f"{said['scores']} to {said['scaled']}."
        )
    elif step == 3:
        picture = row_by_row(
            "Softmax",
            row,
            ("scaled", result.scaled, "scores"),
            ("weights", result.weights, "weights"),
            "soft-\nmax",
        )
        shares = f"softmax turns its row into shares, {said['weights']}, which sum to 1"
        sentence = f"Step 3, the weights of {quoted}: {shares}."
    else:
        picture = matrix_product(
            result.weights,
            V,
            names=("weights", "V", "output"),
            tokens=TOKENS,
            columns=["1", "2"],
            kinds=("weights", "value", "output"),
            row=row,
            size=SIZE,
        )
        sentence = (
            f"Step 4, the output of {quoted}: of every value its share. First number: "
            f"{sum_of(result.weights[row], V[:, 0])}. All: {said['output']}."
        )
    return View(picture, sentence)


def row_by_row(
    name: str, row: int, before: tuple[str, Any, str], after: tuple[str, Any, str], sign: str
) -> Picture:
    """Draw a step that works on each row by itself: two matrices, one row of both framed.

    >>> row_by_row("Half", 0, ("a", [[2.0]], "scores"), ("b", [[1.0]], "scores"), "÷ 2").description
    'Half, row write. a: 2.00. b: 1.00'
    """
    terms: list[Term] = []
    for title, matrix, kind in (before, after):
        lit = np.zeros(np.shape(matrix), bool)
        lit[row] = True
        names = TOKENS[: len(lit)]
        terms.append(Term(title, matrix, kind, lit, names if not terms else (), TOKENS[: lit.shape[1]]))
    return calculation(terms, [sign], about=f"{name}, row {TOKENS[row]}", size=SIZE)
