"""Work shared by threads: nothing lost, nothing left behind, and BLAS as it was."""

import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from attnlib.attention import attention
from attnlib.blockwise import blockwise_attention
from attnlib.threads import blas_threads, one_blas_thread, share


@pytest.fixture(autouse=True)
def at_first():
    """Let BLAS use two threads (the test command allows one), and see that both come back and no thread stays."""
    before = set(threading.enumerate())
    with threadpool_limits(2, user_api="blas"):
        found = blas_threads()
        assert found == (2 if threadpool_info_of_blas() else 1)  # Apple's BLAS does not tell
        yield found
        assert blas_threads() == found
    assert set(threading.enumerate()) == before


def threadpool_info_of_blas():
    return [library for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("threads", [None, 1, 2, 3, 50])
@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_each_piece_is_worked_on_once_with_blas_on_one_thread(threads, n):
    done, held = [], []

    def work(piece):
        done.append(piece)
        held.append(blas_threads())

    share(work, range(n), threads)
    assert sorted(done) == list(range(n))
    assert held == [1] * n


def test_two_threads_work_at_the_same_time():
    both = threading.Barrier(2, timeout=60)
    share(lambda piece: both.wait(), range(4), threads=2)  # one thread alone would wait in vain


def test_one_thread_is_the_callers_own_and_keeps_the_order():
    seen = []
    share(lambda piece: seen.append((piece, threading.current_thread())), range(5), threads=1)
    assert seen == [(piece, threading.current_thread()) for piece in range(5)]


def test_as_many_threads_as_cores(monkeypatch):
    def most(cores):
        used, all_here = set(), threading.Barrier(cores or 1, timeout=60)

        def work(piece):
            used.add(threading.current_thread())
            all_here.wait()  # fewer threads than cores would wait in vain

        monkeypatch.setattr("os.cpu_count", lambda: cores)
        share(work, range(12))
        return used

    assert most(None) == most(1) == {threading.current_thread()}  # None: Python cannot tell
    assert threading.current_thread() in most(3)  # the caller's own works, too
    assert len(most(3)) == 3


@pytest.mark.parametrize("who", ["the caller's thread", "another thread"])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_arrives_and_work_that_has_not_begun_is_left_out(threads, who):
    begun, caller = [], threading.current_thread()

    def work(piece):
        begun.append(piece)
        mine = threading.current_thread() is caller
        if piece >= 3 and (threads == 1 or mine == (who == "the caller's thread")):
            raise MemoryError("piece 3 is too large")

    with pytest.raises(MemoryError, match="piece 3 is too large"):
        share(work, range(100_000), threads)
    assert 3 in begun
    assert len(begun) < 100_000


def test_the_last_of_two_that_overlap_lets_blas_go(at_first):
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == 1
    second.__exit__(None, None, None)
    assert blas_threads() == at_first


def test_blas_is_let_go_after_an_error(at_first):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        _ = 1 / 0
    assert blas_threads() == at_first


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blockwise_attention_is_the_same_to_the_last_bit_for_any_number_of_threads(causal, dtype):
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=(3, 700, 32)).astype(dtype) for _ in range(3))
    mask = rng.random((700, 700)) < 0.9
    outputs = [
        blockwise_attention(Q, K, V, mask, causal=causal, threads=threads).tobytes() for threads in (1, 2, 3, None)
    ]
    assert len(set(outputs)) == 1


def test_blockwise_attention_from_many_threads_at_once():
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=(300, 16)) for _ in range(3))
    alone = blockwise_attention(Q, K, V, block=64)
    together = [None] * 8

    def call(i):
        together[i] = blockwise_attention(Q, K, V, block=64)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((output == alone).all() for output in together)


def test_an_error_inside_a_block_is_raised_by_blockwise_attention(monkeypatch):
    def full(*arguments, **options):
        raise MemoryError("no room")

    Q = np.ones((9, 2))
    monkeypatch.setattr(np, "matmul", full)
    with pytest.raises(MemoryError, match="no room"):
        blockwise_attention(Q, Q, Q, block=2, threads=2)


@pytest.mark.parametrize(
    "shapes", [((3, 40, 4), (3, 50, 4)), ((2, 3, 40, 4), (3, 50, 4)), ((3, 40, 4), (2, 1, 50, 4))]
)
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"scale": 0.3}, {"mask": "float"}, {"mask": "boolean"}])
def test_heads_that_threads_share_get_what_one_thread_gives_them(shapes, options, monkeypatch):
    rng = np.random.default_rng(0)
    Q, K = (rng.normal(size=shape) for shape in shapes)
    V = rng.normal(size=(3, 50, 5))
    if "mask" in options:
        allowed = rng.random((2, 1, 40, 50)) < 0.5
        options = {"mask": allowed if options["mask"] == "boolean" else np.where(allowed, 0.5, -np.inf)}
    whole = attention(Q, K, V, **options)
    used = []
    monkeypatch.setattr("attnlib.threads.share", lambda work, heads: used.append(len(heads)) or share(work, heads))
    monkeypatch.setattr(sys.modules["attnlib.attention"], "MANY", 40 * 50)
    shared = attention(Q, K, V, **options)
    assert used == [whole.output[..., 0, 0].size]
    assert shared.output.shape == whole.output.shape
    for theirs, ours in zip(whole, shared, strict=True):
        np.testing.assert_allclose(ours, np.broadcast_to(theirs, ours.shape), atol=1e-12)
    assert (shared.masked is shared.scaled) == (whole.masked is whole.scaled)
