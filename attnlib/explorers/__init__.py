"""Explorers: move something, and see what follows. One or none in each chapter.

Each explorer is a pure function, from the values of its controls to a picture and a sentence, and a thin shell
of widgets around it (`attnlib.explorers.shell`). Without a kernel, on GitHub or on paper, the picture of its start
and a table of sentences say the same.
"""

from attnlib.explorers.chapter01 import positions
from attnlib.explorers.chapter02 import soft_lookup
from attnlib.explorers.chapter03 import two_vectors
from attnlib.explorers.chapter04 import spread
from attnlib.explorers.chapter05 import temperature
from attnlib.explorers.chapter06 import steps
from attnlib.explorers.chapter07 import heads
from attnlib.explorers.chapter08 import masks
from attnlib.explorers.chapter09 import training
from attnlib.explorers.chapter11 import window
from attnlib.explorers.chapter12 import real_model
from attnlib.explorers.shell import Explorer, View

ALL = (
    positions,
    soft_lookup,
    two_vectors,
    spread,
    temperature,
    steps,
    heads,
    masks,
    training,
    window,
    real_model,
)
"""every explorer of the course, in the order of the chapters"""

__all__ = ["ALL", "Explorer", "View", *(explorer.__name__ for explorer in ALL)]
