"""Chapter 09's model, one training step after the other, against the same model in torch (eager)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attnlib.checks import Array
from attnlib.senses import BAE, Corpus, SenseModel, corpus, split, train
from benchmarks import peers
from benchmarks.timing import Measured, interleave, plain, ratio

RATE = 0.01


def measure(quick: bool) -> Measured:
    """Time steps on the chapter's own batch: 400 sentences."""
    rng = np.random.default_rng(1)
    part, _ = split(corpus(), 400, rng)
    model = SenseModel(rng)
    torch = peers.torch()
    calls: dict[str, Callable[[], object]] = {}
    if torch:
        for name in ("float64", "float32"):
            dtype = getattr(torch, name)
            calls[f"torch, {name}"] = torch_step(torch, model.parameters, part, dtype)
            calls[f"torch, {name}, table first"] = torch_step(
                torch, model.parameters, part, dtype, table_first=True
            )
    steps = train(model, part, steps=10**8, rate=RATE)
    calls["attnlib"] = lambda: next(steps)[1]
    rounds, repeat = (1, 1) if quick else (30, 20)
    for _ in range(3):  # the same model: the same losses
        losses = {name: float(str(call())) for name, call in calls.items()}
        for name, loss in losses.items():
            peers.require_equal(f"the loss of {name}", np.array(losses["attnlib"]), np.array(loss), 1e-4)
    times = interleave(calls, rounds, repeat)
    figures = [plain("training, chapter 09: milliseconds of a step", "ms", [1e3 * t for t in times["attnlib"]])]
    for name, goal, note in (
        ("torch, float64", "≥ 1", "the same numbers"),
        ("torch, float64, table first", "", "which also projects the table before it looks up, as attnlib does"),
        ("torch, float32", "", "half the bytes; attnlib trains in float64"),
        ("torch, float32, table first", "", "both"),
    ):
        if name in times:
            line = f"training, chapter 09: steps per second / those of {name}"
            figures.append(ratio(line, times[name], times["attnlib"], goal, note))
    return Measured(figures)


def torch_step(
    torch: Any, parameters: Mapping[str, Array], part: Corpus, dtype: Any, table_first: bool = False
) -> Callable[[], float]:
    """Give a function that does one step of the same model, and gives the loss before it.

    As it is usually written, rows are looked up and then projected; or the table is projected first.
    """
    p = {name: torch.nn.Parameter(torch.tensor(value, dtype=dtype)) for name, value in parameters.items()}
    optimiser = torch.optim.AdamW(p.values(), lr=RATE)
    ids, senses = torch.tensor(part.ids), torch.tensor(part.senses)
    asked = (("W_Q", ids[:, BAE : BAE + 1]), ("W_K", ids), ("W_V", ids))

    def step() -> float:
        if table_first:
            Q, K, V = ((p["table"] @ p[name])[places] for name, places in asked)
        else:
            X = p["table"][ids]
            Q, K, V = X[:, BAE : BAE + 1] @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]
        output = torch.nn.functional.scaled_dot_product_attention(Q, K, V)
        loss = torch.nn.functional.cross_entropy(output[:, 0] @ p["W_S"], senses)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return float(loss.detach())

    return step
