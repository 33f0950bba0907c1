"""AdamW: how the parameters follow their gradients (chapter 09)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import FLOAT32, FLOAT64, Array, as_numbers, as_real, brief, require_finite, require_shape


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
        self.rate = as_real("AdamW", "rate", rate, "a number of at least 0")
        self.betas = tuple(as_real("AdamW", "betas", beta, "a number from 0 to below 1") for beta in betas)
        self.eps = as_real("AdamW", "eps", eps, "a number above 0")
        self.decay = as_real("AdamW", "decay", decay, "a number of at least 0")
        self.steps = 0
        self.means = {name: np.zeros_like(parameter) for name, parameter in parameters.items()}
        self.squares = {name: np.zeros_like(parameter) for name, parameter in parameters.items()}

    def step(self, gradients: Mapping[str, ArrayLike]) -> None:
        """Update every parameter in place, from gradients of the same names and shapes.

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
        checked = {}
        for name, parameter in self.parameters.items():
            label = f"gradients[{name!r}]"
            gradient = as_numbers(who, label, gradients[name]).astype(parameter.dtype, copy=False)
            require_shape(who, label, gradient, parameter.shape, "the shape of the parameter")
            require_finite(who, **{label: gradient})
            checked[name] = gradient
        return checked


def _require_changeable(name: str, parameter: Array) -> None:
    if not isinstance(parameter, np.ndarray) or parameter.dtype not in (FLOAT32, FLOAT64):
        kind = getattr(parameter, "dtype", type(parameter).__name__)
        raise TypeError(f"AdamW: parameter {name!r} is {kind}; expected an array of float32 or float64")
    if not parameter.flags.writeable:
        raise ValueError(f"AdamW: parameter {name!r} is read-only; expected an array that can be changed in place")
    require_finite("AdamW", **{f"parameter {name!r}": parameter})
