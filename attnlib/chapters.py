"""The chapters of the course, in reading order: the one list that the map, the README and the tests share."""

from __future__ import annotations

from typing import NamedTuple


class Chapter(NamedTuple):
    """One chapter.

    >>> CHAPTERS[0].file
    '00-start-here.ipynb'
    """

    number: str
    slug: str
    title: str
    """short, as on the map; two lines at most"""
    question: str
    """the question that the chapter answers"""
    minutes: int

    @property
    def file(self) -> str:
        """The notebook's file name."""
        return f"{self.number}-{self.slug}.ipynb"


CHAPTERS = (
    Chapter("00", "start-here", "Start here", "How does this course work, and is my machine ready?", 15),
    Chapter("01", "embeddings", "Embeddings", "How does a text become a matrix of numbers?", 40),
    Chapter(
        "02",
        "queries-keys-values",
        "Queries,\nkeys, values",
        "How does a word say what it looks for, and what does it get?",
        45,
    ),
    Chapter(
        "03",
        "dot-product-and-cosine",
        "Dot product\nand cosine",
        "How alike are a query and a key, and does length count?",
        45,
    ),
    Chapter("04", "scaling", "Scaling", "Why are the scores divided by the root of d_k?", 40),
    Chapter("05", "softmax", "Softmax", "How do scores become weights that sum to 1?", 45),
    Chapter(
        "06",
        "self-attention",
        "Self-attention,\nwhole",
        "What comes out of it all, and is the published example right?",
        50,
    ),
    Chapter(
        "07",
        "multi-head-attention",
        "Multi-head\nattention",
        "What if a word needs to know several things at once?",
        50,
    ),
    Chapter(
        "08",
        "masks-and-cross-attention",
        "Masks and\ncross-attention",
        "How is a word hidden so that nothing leaks?",
        45,
    ),
    Chapter("09", "learning-to-attend", "Learning\nto attend", "Where do the three matrices come from?", 50),
    Chapter("10", "transformer-block", "The block\naround it", "What does a model need around attention?", 50),
    Chapter(
        "11", "what-attention-costs", "What it\ncosts", "What does attention cost, and what is done about it?", 45
    ),
    Chapter("12", "inside-a-real-model", "Inside a\nreal model", "Does this happen in a real, trained model?", 40),
)
