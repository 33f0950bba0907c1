"""A soft cap: no score grows beyond a limit, and small scores hardly notice (chapter 11)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attnlib.checks import Array, as_floats, as_held, require_finite


def soft_cap(scores: ArrayLike, cap: float) -> Array:
    """Squeeze scores smoothly between −cap and cap: cap · tanh(scores / cap).

    Do it to the scaled scores *before* masking: the cap would turn −inf, "never", into −cap, "seldom".

    Parameters
    ----------
    scores : (..., n), finite
    cap : the limit, above 0

    Returns
    -------
    the same shape and dtype as `scores`

    Examples
    --------
    >>> soft_cap([0.1, 5.0, 1000.0], cap=10.0).round(3)
    array([ 0.1  ,  4.621, 10.   ])
    """
    (scores,) = as_floats("soft_cap", 1, scores=scores)
    require_finite("soft_cap", scores=scores)
    limit = as_held("soft_cap", "cap", cap, scores.dtype)  # of the same dtype: float32 stays float32
    with np.errstate(over="ignore", under="ignore"):  # tanh(huge) = 1 and tanh(tiny) = tiny are what is meant
        return limit * np.tanh(scores / limit)
