"""Where a token stands: positions as vectors (chapter 01)."""

from __future__ import annotations

import numpy as np

from attnlib.checks import Array, as_count


def sinusoidal_positions(n: int, d_model: int) -> Array:
    """Give each of n positions a vector of sines and cosines, from fast waves to slow ones.

    Columns 2i and 2i + 1 hold sin(p / 10000^(2i / d_model)) and cos of the same, for position p.

    Parameters
    ----------
    n : number of positions
    d_model : numbers per position; even, because sines and cosines come in pairs

    Returns
    -------
    (n, d_model) of float64. The dot product of two rows depends only on how far apart they are.

    Examples
    --------
    >>> sinusoidal_positions(3, 4).round(3)
    array([[ 0.   ,  1.   ,  0.   ,  1.   ],
           [ 0.841,  0.54 ,  0.01 ,  1.   ],
           [ 0.909, -0.416,  0.02 ,  1.   ]])
    """
    n = as_count("sinusoidal_positions", "n", n)
    d_model = as_count("sinusoidal_positions", "d_model", d_model)
    if d_model % 2:
        raise ValueError(
            f"sinusoidal_positions: d_model is {d_model}; expected an even number, one sine and one cosine each"
        )
    speed = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    angle = np.arange(n)[:, None] * speed  # (n, d_model / 2)
    positions = np.empty((n, d_model))
    positions[:, 0::2] = np.sin(angle)
    positions[:, 1::2] = np.cos(angle)
    return positions
