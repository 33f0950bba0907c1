"""The worked examples of the study notes, as data, with the figures that the notes print beside them.

The course recomputes every one of these figures; many of the printed ones are wrong (chapter 06 finds out which).
"write a poem" is a well-known public example; the Korean sentence and its figures come from one study note, the
3 × 3 weight matrix from another.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from attnlib.checks import Array


class WorkedExample(NamedTuple):
    """A small attention problem. All arrays are read-only.

    >>> write_a_poem
    WorkedExample('write a poem', 3 tokens x 2 dimensions)
    >>> (write_a_poem.X @ write_a_poem.W_Q).round(2)[0]
    array([ 0.76, -0.04])
    """

    tokens: tuple[str, ...]
    X: Array
    """the tokens' vectors, positions included: (n, d_model)"""
    W_Q: Array
    W_K: Array
    W_V: Array
    printed: Mapping[str, Array]
    """the figures as the study notes print them, right or wrong"""
    gloss: tuple[str, ...] = ()
    """the tokens in English"""

    def __repr__(self) -> str:
        """Show the sentence and the sizes."""
        n, d = self.X.shape
        return f"WorkedExample({' '.join(self.tokens)!r}, {n} tokens x {d} dimensions)"


def _fixed(rows: Any) -> Array:
    array = np.array(rows, dtype=float)
    array.setflags(write=False)
    return array


write_a_poem = WorkedExample(
    tokens=("write", "a", "poem"),
    X=_fixed([[1.16, 0.23], [0.57, 1.36], [4.41, -2.16]]),
    W_Q=_fixed([[0.5406, -0.1657], [0.5869, 0.6496]]),
    W_K=_fixed([[-0.1549, -0.3443], [0.1427, 0.4153]]),
    W_V=_fixed([[0.6233, 0.6146], [-0.5188, 0.1323]]),
    printed=MappingProxyType(
        {
            "query_write": _fixed([0.76, -0.05]),
            "key_write": _fixed([-0.14, -0.30]),
            "dot_product_write_write": _fixed(-0.09),
            "weights_write": _fixed([0.36, 0.4, 0.24]),
        }
    ),
)

bae = WorkedExample(
    tokens=("어제", "밤에", "배", "가", "고파서", "치킨을", "시켜서", "먹었다"),
    gloss=(
        "yesterday",
        "at night",
        "bae (belly / pear / boat)",
        "(subject particle)",
        "being hungry",
        "chicken (object)",
        "ordered and",
        "ate",
    ),
    X=_fixed(
        [
            [0.1, 0.2, 0.1, 0.3],
            [0.0, 0.1, 0.2, 0.4],
            [0.5, 0.3, 0.2, 0.1],
            [0.1, 0.1, 0.1, 0.2],
            [0.2, 0.3, 0.1, 0.0],
            [0.4, 0.0, 0.3, 0.2],
            [0.3, 0.1, 0.4, 0.1],
            [0.5, 0.2, 0.0, 0.1],
        ]
    ),
    W_Q=_fixed(
        [
            [0.5, 0.1, 0.2, 0.2],
            [0.2, 0.3, 0.1, 0.4],
            [0.1, 0.5, 0.3, 0.1],
            [0.3, 0.1, 0.4, 0.2],
        ]
    ),
    W_K=_fixed(
        [
            [0.4, 0.2, 0.1, 0.3],
            [0.1, 0.3, 0.2, 0.5],
            [0.2, 0.4, 0.5, 0.1],
            [0.3, 0.2, 0.1, 0.4],
        ]
    ),
    W_V=_fixed(
        [
            [0.3, 0.1, 0.2, 0.4],
            [0.1, 0.4, 0.3, 0.2],
            [0.4, 0.2, 0.1, 0.3],
            [0.2, 0.3, 0.4, 0.1],
        ]
    ),
    printed=MappingProxyType(
        {
            "Q": _fixed(
                [
                    [0.17, 0.24, 0.17, 0.22],
                    [0.17, 0.28, 0.23, 0.2],
                    [0.36, 0.27, 0.26, 0.25],
                    [0.11, 0.15, 0.13, 0.14],
                    [0.16, 0.18, 0.12, 0.16],
                    [0.28, 0.16, 0.26, 0.24],
                    [0.31, 0.18, 0.27, 0.25],
                    [0.32, 0.19, 0.2, 0.22],
                ]
            ),
            "K": _fixed(
                [
                    [0.15, 0.22, 0.2, 0.28],
                    [0.18, 0.3, 0.28, 0.32],
                    [0.33, 0.31, 0.27, 0.3],
                    [0.1, 0.15, 0.13, 0.18],
                    [0.14, 0.2, 0.16, 0.19],
                    [0.28, 0.18, 0.23, 0.26],
                    [0.27, 0.24, 0.25, 0.27],
                    [0.26, 0.24, 0.2, 0.24],
                ]
            ),
            "scores": _fixed(
                [
                    [0.156, 0.212, 0.199, 0.119, 0.158, 0.211, 0.229, 0.217],
                    [0.17, 0.236, 0.22, 0.131, 0.175, 0.233, 0.248, 0.23],
                    [0.274, 0.374, 0.342, 0.204, 0.266, 0.352, 0.375, 0.34],
                    [0.114, 0.154, 0.143, 0.085, 0.11, 0.147, 0.158, 0.144],
                    [0.131, 0.174, 0.159, 0.095, 0.126, 0.166, 0.176, 0.159],
                    [0.239, 0.315, 0.288, 0.173, 0.227, 0.302, 0.321, 0.293],
                    [0.264, 0.346, 0.316, 0.189, 0.249, 0.328, 0.349, 0.319],
                    [0.258, 0.339, 0.311, 0.186, 0.243, 0.32, 0.34, 0.313],
                ]
            ),
            "scaled": _fixed(
                [
                    [0.078, 0.106, 0.1, 0.06, 0.079, 0.106, 0.115, 0.109],
                    [0.085, 0.118, 0.11, 0.065, 0.087, 0.117, 0.124, 0.115],
                    [0.137, 0.187, 0.171, 0.102, 0.133, 0.176, 0.188, 0.17],
                    [0.057, 0.077, 0.071, 0.043, 0.055, 0.074, 0.079, 0.072],
                    [0.065, 0.087, 0.08, 0.048, 0.063, 0.083, 0.088, 0.08],
                    [0.12, 0.158, 0.144, 0.087, 0.114, 0.151, 0.16, 0.146],
                    [0.132, 0.173, 0.158, 0.095, 0.125, 0.164, 0.175, 0.16],
                    [0.129, 0.17, 0.156, 0.093, 0.121, 0.16, 0.17, 0.157],
                ]
            ),
            "exp_row_bae": _fixed([1.147, 1.205, 1.187, 1.108, 1.143, 1.193, 1.207, 1.186]),
            "softmax_row_bae": _fixed([0.122, 0.129, 0.127, 0.118, 0.122, 0.127, 0.129, 0.127]),
            "weights": _fixed(
                [
                    [0.123, 0.127, 0.126, 0.121, 0.123, 0.127, 0.128, 0.127],
                    [0.123, 0.127, 0.126, 0.12, 0.123, 0.127, 0.128, 0.126],
                    [0.122, 0.129, 0.127, 0.118, 0.122, 0.127, 0.129, 0.127],
                    [0.124, 0.127, 0.126, 0.122, 0.124, 0.126, 0.127, 0.126],
                    [0.124, 0.127, 0.126, 0.122, 0.124, 0.126, 0.127, 0.126],
                    [0.122, 0.127, 0.125, 0.118, 0.122, 0.126, 0.127, 0.125],
                    [0.123, 0.128, 0.126, 0.118, 0.122, 0.127, 0.128, 0.126],
                    [0.123, 0.128, 0.126, 0.119, 0.122, 0.127, 0.128, 0.126],
                ]
            ),
            "V": _fixed(
                [
                    [0.17, 0.18, 0.18, 0.18],
                    [0.22, 0.2, 0.18, 0.18],
                    [0.32, 0.26, 0.23, 0.21],
                    [0.13, 0.13, 0.13, 0.12],
                    [0.17, 0.17, 0.15, 0.12],
                    [0.3, 0.21, 0.23, 0.2],
                    [0.32, 0.23, 0.24, 0.21],
                    [0.29, 0.22, 0.2, 0.18],
                ]
            ),
            "output_row_bae": _fixed([0.275, 0.222, 0.206, 0.183]),
            "output": _fixed(
                [
                    [0.267, 0.219, 0.204, 0.181],
                    [0.267, 0.219, 0.204, 0.181],
                    [0.275, 0.222, 0.206, 0.183],
                    [0.263, 0.218, 0.203, 0.18],
                    [0.263, 0.218, 0.203, 0.18],
                    [0.27, 0.221, 0.205, 0.182],
                    [0.272, 0.221, 0.205, 0.182],
                    [0.271, 0.22, 0.204, 0.181],
                ]
            ),
            "final_output_quoted": _fixed([0.73, 0.32]),
        }
    ),
)

abstract_3x3: Array = _fixed([[0.1, 0.7, 0.2], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3]])
"""a weight matrix with no names attached: rows sum to 1"""
