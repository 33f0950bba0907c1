"""Make a printable handout for each chapter from its notebook: ``python tools/handout.py [number ...]``.

First the predictions and exercises with room to write, then, on pages of their own, the formulas and pictures to
keep. It holds no answers: not those of the exercises, nor what the code prints, nor a picture that comes after a
question of its section.
"""

from __future__ import annotations

import argparse
import html
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import pages
from pages import Cell, PageError, Token

from attnlib.chapters import Chapter

HANDOUT = pages.ROOT / "handout"
LINES = {"predict": 2, "short": 3, "code": 7}  # ruled lines to write on
KEPT = ("block_math", "table")
WAY = "![The way of the data: text, tokens, X, then Q, K and V, then scores, scaled scores, weights and output]"
WAY += "(../images/pipeline.svg)"


@dataclass
class Section:
    """What a handout takes from one section of a chapter, as HTML."""

    title: str
    work: list[str] = field(default_factory=list)
    """predictions and exercises"""
    keep: list[str] = field(default_factory=list)
    """formulas and pictures"""


def ruled(kind: str) -> str:
    """Give empty lines to write on."""
    return f'<div class="lines" aria-hidden="true">{"<div></div>" * LINES[kind]}</div>'


def sections(cells: Sequence[Cell]) -> list[Section]:
    """Sort a chapter's cells into what is worked on and what is kept, section by section."""
    found = [Section("")]
    task: list[str] = []
    before = ""
    asked = False  # the text or picture that follows may hold the answer
    for cell in cells:
        if cell["kind"] == "markdown":
            context: list[str] = []
            for token in pages.parse(cell["source"]):
                content = pages.to_html([token])
                if token["type"] == "heading":
                    title = pages.to_html(token["children"])
                    if token["attrs"]["level"] == 2:
                        found.append(Section(title))
                    task = [] if token["attrs"]["level"] == 2 else [f"<h3>{title}</h3>"]
                    context, asked = [], False
                    continue
                if token["type"] == "paragraph" and pages.words(token).startswith("Predict:"):
                    told = "" if asked else "".join(context)
                    found[-1].work.append(f'<div class="item">{told}{content}{ruled("predict")}</div>')
                    asked = True
                elif token["type"] in KEPT and cell["tag"] != "skip":
                    found[-1].keep.append(f'<div class="item">{before}{content}</div>')
                task.append(content)
                context.append(content)
                before = caption(token)
        elif pages.exercise_of(cell):
            code = pages.stub(cell)
            room = ruled("code" if code.startswith("def ") else "short")
            shown = pages.code_block(code, "code") if code else ""
            found[-1].work.append(f'<div class="item">{"".join(task)}{shown}{room}</div>')
            asked = True
        else:
            drawn = pages.drawings(cell) if cell["tag"] != "skip" and not asked else []
            found[-1].keep += [f'<div class="item">{before}{pages.picture(*one)}</div>' for one in drawn]
            if task and task[0].startswith("<h3>Exercise"):
                task += [pages.code_block(cell["source"], "code"), pages.code_block(pages.printed(cell), "output")]
    return found


def caption(token: Token) -> str:
    """Give a paragraph that can stand above a formula or a picture; nothing for what cannot."""
    if token["type"] != "paragraph" or pages.words(token).startswith("Predict:"):
        return ""
    return pages.to_html([token])


def recap(cells: Sequence[Cell]) -> str:
    """Give the sentences to say aloud: the last list of the chapter."""
    lists = [token for token in pages.parse(cells[-1]["source"]) if token["type"] == "list"]
    return pages.to_html(lists[-1:])


def sheet(chapter: Chapter, cells: Sequence[Cell]) -> str:
    """Give a chapter's handout as one page."""
    tokens = pages.parse(cells[0]["source"])
    if not tokens or tokens[0]["type"] != "heading":
        raise PageError(f"{chapter.file}: the first cell must begin with the title")
    question = next((t for t in tokens if pages.words(t).startswith("The question")), None)
    work, keep = [], []
    for section in sections(cells):
        if section.work:
            work.append(f"<section><h2>{section.title}</h2>{''.join(section.work)}</section>")
        if section.keep:
            kept = "".join(dict.fromkeys(section.keep))
            keep.append(f"<section><h2>{section.title}</h2>{kept}</section>")
    if not any("<img" in part for part in keep):  # all of its pictures would tell too much: the one of the course
        keep.insert(0, f"<section><h2>The way of the data</h2>{pages.to_html(pages.parse(WAY))}</section>")
    keep.append(f"<section><h2>Say it to your study group</h2><div class='item'>{recap(cells)}</div></section>")
    name = html.escape(f"{chapter.number} {chapter.title}".replace("\n", " "))
    body = (
        f"<main>\n<header><h1>{pages.to_html(tokens[0]['children'])}</h1>"
        f"{pages.to_html([question]) if question else ''}<p class='name'>Name:</p></header>\n"
        f"{''.join(work)}\n<div class='keep'>\n<h1>{name}: to keep</h1>\n{''.join(keep)}</div>\n</main>"
    )
    return pages.page(f"Handout {name}", body, styles=("pages.css", "handout.css"))


def build(numbers: Sequence[str] = ()) -> dict[str, str]:
    """Give the handouts of these chapters, or of all: file name → page."""
    return {
        chapter.file.replace(".ipynb", ".html"): sheet(chapter, cells)
        for chapter, cells in pages.chapters(numbers)
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the handouts, or say in a sentence why not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("chapters", nargs="*", help="numbers of chapters, such as 05 (default: all)")
    try:
        pages.write(HANDOUT, build(parser.parse_args(arguments).chapters))
    except PageError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
