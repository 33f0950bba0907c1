"""AdamW: how the parameters follow their gradients (chapter 09)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import (
    FLOAT32,
    FLOAT64,
    Array,
    as_floats,
    as_held,
    as_real,
    as_regular,
    brief,
    length_of_all,
    require_bounded,
    require_finite,
    require_shape,
)

RATE = "a number of at least 0"
MODERATE = 1e18  # float32 can hold its square


class AdamW:
    """Move each parameter against its gradient, by steps of about `rate`, and all of them a little towards 0.

    `step` changes the parameter arrays **in place**. It is the one place in attnlib where arrays that were passed
    in are changed: they are the optimiser's own, and whoever else holds them sees them learn.

    Parameters
    ----------
    parameters : name -> array of float32 or float64, any shape
    rate : the size of a step; `optimiser.rate` may be set anew before any step
    betas : how slowly the running means of the gradient and of its square forget; from 0 to below 1
    eps : keeps a parameter whose gradient is 0 from dividing by 0
    decay : each step first takes this share, times `rate`, off every parameter ("decoupled weight decay")

    Examples
    --------
    >>> parameters = {"w": np.array([4.0, -4.0])}
    >>> optimiser = AdamW(parameters, rate=0.5, decay=0.0)
    >>> optimiser.step({"w": np.array([100.0, -0.001])})  # the first step has one size for every gradient
    >>> parameters["w"].round(3)
    array([ 3.5, -3.5])
    """

    def __init__(
        self,
        parameters: Mapping[str, Array],
        *,
        rate: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        decay: float = 0.01,
    ) -> None:
        if not isinstance(parameters, Mapping) or not parameters:
            found = brief(parameters)
            raise TypeError(f"AdamW: parameters is {found}; expected a dict of at least one name and array")
        for name, parameter in parameters.items():
            _require_changeable(name, parameter)
        if not isinstance(betas, (tuple, list)) or len(betas) != 2:
            raise TypeError(f"AdamW: betas is {brief(betas)}; expected two numbers, such as (0.9, 0.999)")
        self.parameters = dict(parameters)
        self.rate = as_real("AdamW", "rate", rate, RATE)
        self.betas = tuple(as_real("AdamW", "betas", beta, "a number from 0 to below 1") for beta in betas)
        for parameter in parameters.values():
            as_held("AdamW", "eps", eps, parameter.dtype)
        self.eps = float(eps)
        self.decay = as_real("AdamW", "decay", decay, "a number of at least 0")
        self.steps = 0
        self.steepest = 0.0  # the length of the longest gradient so far
        self.means = {name: np.zeros_like(parameter) for name, parameter in parameters.items()}
        self.squares = {name: np.zeros_like(parameter) for name, parameter in parameters.items()}

    def step(self, gradients: Mapping[str, ArrayLike]) -> None:
        """Update every parameter in place, from gradients of the same names and shapes.

        Where a parameter could become too large to be held, that is said, and nothing has moved.

        >>> parameters = {"w": np.array([1.0])}
        >>> AdamW(parameters, rate=0.1, decay=0.5).step({"w": [0.0]})  # no gradient: only the decay, 0.1 · 0.5
        >>> parameters["w"]
        array([0.95])
        """
        checked = self._check(gradients)  # all of them, before any parameter moves
        self.steps += 1
        beta_1, beta_2 = self.betas
        for name, parameter in self.parameters.items():
            gradient, mean, square = checked[name], self.means[name], self.squares[name]
            mean *= beta_1
            mean += (1 - beta_1) * gradient
            square *= beta_2
            square += (1 - beta_2) * gradient**2
            unbiased_mean = mean / (1 - beta_1**self.steps)  # both began at 0: too small by this factor
            unbiased_square = square / (1 - beta_2**self.steps)
            parameter *= 1 - self.rate * self.decay
            parameter -= self.rate * unbiased_mean / (np.sqrt(unbiased_square) + self.eps)

    def _check(self, gradients: Mapping[str, ArrayLike]) -> dict[str, Array]:
        who, names = "AdamW.step", ", ".join(self.parameters)
        if not isinstance(gradients, Mapping):
            raise TypeError(f"{who}: gradients is a {type(gradients).__name__}; expected a dict with {names}")
        for name in [*self.parameters, *gradients]:
            if name not in gradients:
                raise ValueError(f"{who}: gradients has no {name!r}; expected one for each parameter: {names}")
            if name not in self.parameters:
                raise ValueError(f"{who}: gradients has {name!r}, which is no parameter; expected {names}")
        checked, steepest = {}, self.steepest
        for name, parameter in self.parameters.items():
            label = f"gradients[{name!r}]"
            (gradient,) = as_floats(who, 0, **{label: gradients[name]})
            require_shape(who, label, gradient, parameter.shape, "the shape of the parameter")
            size = length_of_all(gradient)
            if not size < MODERATE:  # NaN is not, either
                require_finite(who, **{label: gradient})
                require_bounded(who, f"the square of {label}", size * size, parameter.dtype, "scale the loss down")
            checked[name] = gradient.astype(parameter.dtype, copy=False)
            steepest = max(steepest, size)
        rate = as_real(who, "rate", self.rate, RATE)
        longest = rate * (steepest / self.eps + 1)  # no step is longer: no mean of gradients is longer than they
        for name, parameter in self.parameters.items():
            reach = abs(1 - rate * self.decay) * (length_of_all(parameter) + 1) + longest
            if not reach < MODERATE:
                require_bounded(who, f"parameter {name!r}", reach, parameter.dtype, "use a smaller rate")
        self.steepest = steepest
        return checked


def descend(
    optimiser: AdamW, look: Callable[[], tuple[float, Mapping[str, ArrayLike]]], steps: int
) -> Iterator[tuple[int, float]]:
    """Go `steps` steps down, and yield each step's number and the loss before it.

    Parameters
    ----------
    optimiser : what moves the parameters
    look : gives the loss where the parameters are now, and its gradient by each of them
    steps : how many

    Examples
    --------
    >>> parameters = {"x": np.array([3.0])}
    >>> downhill = descend(AdamW(parameters, rate=1.0), lambda: (parameters["x"][0] ** 2, {"x": [1.0]}), steps=2)
    >>> [(step, round(float(loss), 1)) for step, loss in downhill]
    [(1, 9.0), (2, 3.9)]
    """
    for step in range(1, steps + 1):
        loss, gradients = look()
        optimiser.step(gradients)
        yield step, loss


def _require_changeable(name: str, parameter: Array) -> None:
    if not isinstance(name, str):
        raise TypeError(f"AdamW: {brief(name)} names a parameter ({type(name).__name__}); expected a str")
    as_regular("AdamW", f"parameter {name!r}", parameter)
    if not isinstance(parameter, np.ndarray) or parameter.dtype not in (FLOAT32, FLOAT64):
        kind = getattr(parameter, "dtype", type(parameter).__name__)
        raise TypeError(f"AdamW: parameter {name!r} is {kind}; expected an array of float32 or float64")
    if not parameter.flags.writeable:
        raise ValueError(f"AdamW: parameter {name!r} is read-only; expected an array that can be changed in place")
    require_finite("AdamW", **{f"parameter {name!r}": parameter})
