"""Make a deck of slides for each chapter from its notebook: ``python tools/slides.py [number ...]``.

Tags on the cells say what is shown (see CONTRIBUTING.md); a rule cuts long texts, so that there is no second copy
of them; what a slide leaves out stands in the speaker's notes, with the chapter's plan from TEACHING.md and the
named mistakes of the exercises. Nothing is run: the outputs are the stored ones.
"""

from __future__ import annotations

import argparse
import html
import itertools
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pages
from pages import Cell, PageError, Token

from attnlib.chapters import Chapter
from attnlib.exercises import find
from attnlib.exercises.messages import text_of

SLIDES = pages.ROOT / "slides"
PLAN = pages.ROOT / "TEACHING.md"
TABLE = "Section by section"
ROOM = 13.6  # lines of text that fit below a title
LINE = 66  # characters in such a line
LEAD = 190  # characters of a first paragraph, in whole sentences
LONG_CODE = 12, 9  # lines, of ordinary and of wide code; longer code is not shown, only what it gives
PAIR = 80  # characters; code and output that need no more stand side by side
WIDE = 1.75  # a picture of this shape (width by height) or wider stands below its text


@dataclass
class Block:
    """A piece of a slide: its HTML, its height in lines of text, and how it behaves."""

    html: str
    height: float
    step: bool = False
    """it appears at a key press of its own"""
    joined: bool = False
    """it stays on one slide with the block before it"""
    beside: bool = False
    """a picture that is tall enough to stand beside a text"""


@dataclass
class Slide:
    """One slide: at most one idea."""

    title: str
    """HTML"""
    section: str = ""
    """the words of its section's heading"""
    kind: str = "idea"
    blocks: list[Block] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """HTML, for the speaker alone"""
    more: bool = False
    """it goes on with the slide before"""


# --- what is shown of a text ----------------------------------------------------------------------------------


def bold(token: Token) -> bool:
    """Tell whether a paragraph has words in bold: what its author marked."""
    return any(child["type"] == "strong" for child in token.get("children", ()))


def lead(token: Token) -> tuple[Token, bool]:
    """Give the first sentences of a paragraph, and whether that is all of it."""
    shown: list[Token] = []
    length = 0
    for sentence in sentences(token["children"]):
        size = sum(len(pages.words(part)) for part in sentence)
        if shown and length + size > LEAD:
            return {**token, "children": shown}, False
        shown += sentence
        length += size
    return token, True


def sentences(parts: Sequence[Token]) -> Iterator[list[Token]]:
    """Cut the inner parts of a paragraph after each full stop, question mark or colon that ends a sentence."""
    sentence: list[Token] = []
    for part in parts:
        if part["type"] != "text":
            sentence.append(part)
            continue
        rest = part["raw"]
        while (cut := _end(rest)) is not None:
            yield [*sentence, {"type": "text", "raw": rest[:cut]}]
            sentence, rest = [], rest[cut:]
        sentence.append({"type": "text", "raw": rest})
        if rest.endswith((".", "?", "!")):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _end(text: str) -> int | None:
    """Give the place after the first sentence of a text that goes on, if there is one."""
    for place, character in enumerate(text[:-2]):
        if character in ".?!" and text[place + 1] == " " and not text[place + 2].islower():
            return place + 1
    return None


def is_way(token: Token) -> bool:
    """Tell whether a paragraph only leads to other chapters."""
    return token["type"] == "paragraph" and any(child["type"] == "link" for child in token["children"])


def choose(tokens: Sequence[Token], *, headed: bool, everything: bool) -> tuple[list[Token], list[Token]]:
    """Say what of a text is shown and what is left to the speaker.

    Parameters
    ----------
    tokens : blocks without headings
    headed : they open a slide, so that the first paragraph is shown, too
    everything : an exercise needs all its words

    Returns
    -------
    tuple of two lists of blocks
        Shown are: lists, tables, formulas, images, paragraphs with words in bold, and the first sentences of an
        opening paragraph.
    """
    shown: list[Token] = []
    left: list[Token] = []
    for token in tokens:
        if is_way(token):
            continue
        opening = headed and token["type"] == "paragraph" and not shown
        if everything or token["type"] != "paragraph" or bold(token) or is_image(token):
            shown.append(token)
        elif opening or leads_on(token, tokens):
            first, whole = lead(token)
            shown.append(first)
            left += [] if whole else [token]
        else:
            left.append(token)
    return shown, left


def leads_on(token: Token, tokens: Sequence[Token]) -> bool:
    """Tell whether a paragraph ends in a colon or a question, and a list, a table or a formula follows."""
    place = next(i for i, other in enumerate(tokens) if other is token)
    following = tokens[place + 1]["type"] if place + 1 < len(tokens) else ""
    return pages.words(token).rstrip().endswith((":", "?")) and following in ("list", "table", "block_math")


def is_image(token: Token) -> bool:
    """Tell whether a paragraph is an image."""
    return token["type"] == "paragraph" and [child["type"] for child in token["children"]] == ["image"]


def height(token: Token) -> float:
    """Estimate how many lines of text a block takes on a slide, with the space above it."""
    if is_image(token):
        return ROOM - 2
    if token["type"] == "block_math":
        return 3.4 if "frac" in token["raw"] else 2.2
    if token["type"] == "table":
        head, body = token["children"]
        rows = [head, *body["children"]]
        return 0.6 + sum(1.35 if len(pages.words(row)) < 95 else 2.5 for row in rows)
    if token["type"] == "list":
        return 0.5 + sum(math.ceil(len(pages.words(item)) / (LINE - 4)) + 0.15 for item in token["children"])
    if token["type"] == "block_code":
        return 0.8 + 0.85 * token["raw"].count("\n")
    return 0.5 + math.ceil(len(pages.words(token)) / LINE)


def text_block(token: Token, *, step: bool = False) -> Block:
    """Give a block of text; a question to predict is marked as one."""
    content = pages.to_html([token])
    if is_image(token):
        content = content.replace("<p>", '<p class="figure">')
    elif pages.words(token).startswith("Predict:"):
        content = content.replace("<p>", '<p class="predict">', 1)
    return Block(content, height(token), step)


def code_blocks(cell: Cell) -> list[Block]:
    """Give what a code cell shows: a picture alone, or short code and then, as a step, what it printed."""
    drawn = pages.drawings(cell)
    if drawn:
        return [
            Block(f'<p class="figure">{pages.picture(*one)}</p>', 8.0, beside=pages.shape(one[0]) < WIDE)
            for one in drawn
        ]
    code, said = cell["source"], pages.printed(cell)
    if pages.exercise_of(cell):
        code, said = pages.stub(cell), ""
    code = re.sub(r"\n{3,}", "\n\n", code)
    if len(code.splitlines()) - code.count("\n\n") > LONG_CODE[pages.columns(code) > pages.WIDTHS[1][1]]:
        code = ""
    if not code or not said:
        one = [(text, kind) for text, kind in ((code, "code"), (said, "output")) if text]
        return [Block(pages.code_block(text, kind), _lines(text)) for text, kind in one]
    tall = _lines(code) + _lines(said)
    if tall > ROOM / 2 and pages.columns(code) + pages.columns(said) <= PAIR:
        answer = pages.code_block(said, "output").replace("<pre", "<pre data-step", 1)
        pair = f'<div class="pair">{pages.code_block(code, "code")}{answer}</div>'
        return [Block(pair, 1.8 + 0.72 * max(code.count("\n"), said.count("\n")))]
    return [
        Block(pages.code_block(code, "code"), _lines(code)),
        Block(pages.code_block(said, "output"), _lines(said), step=True, joined=True),
    ]


def _lines(text: str) -> float:
    """Estimate the height of code, whose size depends on its longest line."""
    longest = pages.columns(text)
    size = 0.88 if longest <= 58 else 0.82 if longest <= 72 else 0.64
    return 1.1 + size * sum(1 + len(line) // 93 for line in text.splitlines())


# --- the deck ---------------------------------------------------------------------------------------------------


def deck(chapter: Chapter, cells: Sequence[Cell], plan: dict[str, str] | None) -> list[Slide]:
    """Give the slides of a chapter.

    Parameters
    ----------
    chapter : whose slides
    cells : its notebook's cells
    plan : section → notes, from TEACHING.md; None if there is no such file
    """
    slides: list[Slide] = []
    for cell in cells:
        if cell["tag"] == "skip":
            continue
        if not slides and not cell["source"].startswith("# "):
            raise PageError(f"{chapter.file}: the first cell with a slide type must be the one with the title")
        if cell["tag"] == "notes":
            slides[-1].notes.append(pages.to_html(pages.parse(cell["source"])))
        elif cell["kind"] == "markdown":
            add_text(slides, cell)
        else:
            add_code(slides, cell)
    seen = set()
    for slide in slides:
        if plan is not None and slide.section not in seen:
            if slide.section and slide.section not in plan:
                raise PageError(
                    f"TEACHING.md: chapter {chapter.number} has no row for the section {slide.section!r} in its "
                    f"table {TABLE!r}; add one"
                )
            slide.notes.insert(0, plan.get(slide.section, ""))
        seen.add(slide.section)
    return [part for slide in slides for part in flow(slide)]


def add_text(slides: list[Slide], cell: Cell) -> None:
    """Put a Markdown cell on slides: a new one at each heading, and where the tag says so."""
    for number, part in enumerate(parts(pages.parse(cell["source"]))):
        heading = part.pop(0) if part and part[0]["type"] == "heading" else None
        if heading and heading["attrs"]["level"] == 1:
            slides += opening(heading, part)
            continue
        if heading:
            section = pages.words(heading) if heading["attrs"]["level"] == 2 else slides[-1].section
            exercise = pages.words(heading).startswith("Exercise ")
            kind = "exercise" if exercise else "recap" if section == "Recap" else "idea"
            slides.append(Slide(pages.to_html(heading["children"]), section, kind))
        elif number == 0 and cell["tag"] in ("slide", "subslide") and not more_headings(cell):
            slides.append(Slide(section_title(slides), slides[-1].section, more=True))
        slide = slides[-1]
        headed = bool(heading) or not slide.blocks
        shown, left = choose(part, headed=headed, everything=slide.kind == "exercise" and bool(heading))
        slide.blocks += [text_block(token, step=not headed and not is_question(token)) for token in shown]
        for one, other in itertools.pairwise(slide.blocks):
            other.joined = other.joined or one.html.endswith(":</p>")
        if left:
            slide.notes.append("<h3>The notebook also says</h3>" + pages.to_html(left))


def is_question(token: Token) -> bool:
    """Tell whether a paragraph asks to predict; it is there at once, the answer is the step."""
    return pages.words(token).startswith("Predict:")


def more_headings(cell: Cell) -> bool:
    """Tell whether a headless beginning only closes what was before: headings follow it."""
    return any(token["type"] == "heading" for token in pages.parse(cell["source"]))


def section_title(slides: Sequence[Slide]) -> str:
    """Give the title of the last slide that opened a section."""
    return next((s.title for s in reversed(slides) if s.kind == "idea" and not s.more), slides[0].title)


def parts(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut blocks before each heading."""
    cut: list[list[Token]] = [[]]
    for token in tokens:
        if token["type"] == "heading" and cut[-1]:
            cut.append([])
        cut[-1].append(token)
    return cut


def opening(heading: Token, tokens: Sequence[Token]) -> list[Slide]:
    """Give the title slide with the chapter's question, and the slide that says what one will be able to do."""
    title = Slide(pages.to_html(heading["children"]), kind="title")
    question = next((token for token in tokens if pages.words(token).startswith("The question")), None)
    if question:
        title.blocks.append(text_block(question))
    goals = next((token for token in tokens if token["type"] == "list"), None)
    rest = [token for token in tokens if token not in (question, goals)]
    title.notes.append("<h3>The notebook also says</h3>" + pages.to_html(rest))
    if goals is None:
        return [title]
    return [title, Slide("You will be able to", kind="goals", blocks=[text_block(goals)])]


def add_code(slides: list[Slide], cell: Cell) -> None:
    """Put a code cell on the slide before it, or on a new one if its tag says so."""
    last = slides[-1]
    if cell["tag"] in ("slide", "subslide"):
        slides.append(Slide(section_title(slides), last.section, more=True))
    slide = slides[-1]
    asked = bool(slide.blocks) and 'class="predict"' in slide.blocks[-1].html
    for block in code_blocks(cell):
        block.joined = block.joined or asked
        block.step = block.step or (asked and "<img" in block.html)
        slide.blocks.append(block)
        asked = False
    exercise = pages.exercise_of(cell)
    if exercise:
        slide.notes.append(mistakes(exercise))


def mistakes(exercise: str) -> str:
    """Give the named mistakes of an exercise, with what to say to each."""
    rows = [
        f"<li><b>{html.escape(name)}</b>: {html.escape(str(text_of(exercise, 'mistakes', name)))}</li>"
        for name in find(exercise).mistakes
    ]
    return f"<h3>{exercise}: wrong answers to expect</h3><ul>{''.join(rows)}</ul>"


def flow(slide: Slide) -> list[Slide]:
    """Spread a slide that is too full over several, and never part a question from its answer."""
    groups: list[list[Block]] = []
    for block in slide.blocks:
        if groups and block.joined:
            groups[-1].append(block)
        else:
            groups.append([block])
    done = [Slide(slide.title, slide.section, slide.kind, notes=slide.notes, more=slide.more)]
    title = 1.2 if len(re.sub(r"<[^>]*>", "", slide.title)) > 46 else 0.0  # a second line
    used = title
    for group in groups:
        needed = sum(block.height for block in group)
        beside = group[-1].beside and used + needed - group[-1].height < ROOM * 0.6
        room = ROOM * 1.2 if used < 4 else ROOM  # rather small type than a lonely sentence
        if done[-1].blocks and used + needed > room and not beside:
            done.append(Slide(slide.title, slide.section, slide.kind, more=True))
            used = title
        done[-1].blocks += group
        used += needed
    return done


# --- the speaker's plan -----------------------------------------------------------------------------------------


def plans(path: Path = PLAN) -> dict[str, dict[str, str]] | None:
    """Read TEACHING.md: chapter's number → section → notes; None if there is no such file.

    What stands between a chapter's heading and its table is filed under "", for the title.
    """
    if not path.is_file():
        return None
    found: dict[str, dict[str, str]] = {}
    number, place = "", ""
    for token in pages.parse(path.read_text(encoding="utf-8")):
        if token["type"] == "heading":
            title = pages.words(token)
            if token["attrs"]["level"] <= 2:
                number = title[:2] if title[:2].isdigit() else ""
                place = "before" if number else ""
            else:
                place = "table" if number and title == TABLE else ""
        elif place == "before":
            plan = found.setdefault(number, {})
            plan[""] = plan.get("", "") + pages.to_html([token])
        elif place == "table" and token["type"] == "table":
            found.setdefault(number, {}).update(map(row_notes, token["children"][1]["children"]))
            place = ""
    return found


def row_notes(row: Token) -> tuple[str, str]:
    """Give a row of the table as (section, notes)."""
    cells = row["children"]
    if len(cells) != 3:
        raise PageError(f"TEACHING.md: the row {pages.words(row)[:40]!r} needs three columns")
    section, minutes, text = cells
    spoken = pages.to_html(text["children"])
    return pages.words(section), f"<p><b>{html.escape(pages.words(minutes))} minutes.</b> {spoken}</p>"


# --- pages ------------------------------------------------------------------------------------------------------


def slide_html(slide: Slide, number: int, total: int, running: str) -> str:
    """Give a slide as HTML."""
    pieces = []
    for block in slide.blocks:
        marks = " data-step" * block.step + " data-joined" * block.joined
        pieces.append(f'<div class="block"{marks}>{block.html}</div>')
    if len(pieces) > 1 and slide.blocks[-1].beside and not any("<pre" in piece for piece in pieces):
        pieces = ['<div class="column">', *pieces[:-1], "</div>", pieces[-1]]
        slide.kind += " beside"
    level = "h1" if slide.kind == "title" else "h2"
    more = ' <span class="more">(more)</span>' if slide.more else ""
    return (
        f'<section class="slide {slide.kind}" id="s{number}" tabindex="-1" '
        f'aria-label="slide {number} of {total}">\n'
        f"<{level}>{slide.title}{more}</{level}>\n"
        f'<div class="body">{"".join(pieces)}</div>\n'
        f'<footer aria-hidden="true"><span>{running}</span><span>{number} / {total}</span></footer>\n'
        f'<aside class="notes" hidden>{"".join(slide.notes)}</aside>\n</section>'
    )


def deck_page(chapter: Chapter, slides: Sequence[Slide]) -> str:
    """Give a chapter's deck as one page."""
    running = html.escape(f"{chapter.number} {chapter.title}".replace("\n", " "))
    sections = [slide_html(slide, i, len(slides), running) for i, slide in enumerate(slides, start=1)]
    body = f'<main id="deck">\n{"".join(sections)}\n</main>\n{CONTROLS}'
    title = f"{chapter.number} {chapter.title}".replace("\n", " ")
    return pages.page(title, body, styles=("pages.css", "slides.css"), script="slides.js")


CONTROLS = """<nav id="controls" aria-label="slides">
<button type="button" data-key="ArrowLeft" aria-label="back">‹</button>
<button type="button" data-key="ArrowRight" aria-label="on">›</button>
<button type="button" data-key="o">List</button>
<button type="button" data-key="n">Notes</button>
<button type="button" data-key="?">Keys</button>
</nav>
<dialog id="list" aria-label="all slides"><ol></ol></dialog>
<dialog id="keys" aria-label="keys"><table>
<tr><td>→ Space Page Down</td><td>on: the next step or slide</td></tr>
<tr><td>← Page Up</td><td>back</td></tr>
<tr><td>Home, End</td><td>the first slide, the last</td></tr>
<tr><td>n</td><td>a window with the speaker's notes, the next slide and a clock</td></tr>
<tr><td>o</td><td>the list of all slides</td></tr>
<tr><td>f</td><td>the whole screen</td></tr>
<tr><td>p</td><td>larger type for a room, on more slides, and back</td></tr>
<tr><td>b</td><td>a blank screen, and back</td></tr>
<tr><td>Ctrl + p</td><td>print, or save as PDF: a page for each slide, without notes</td></tr>
<tr><td>Esc</td><td>close this</td></tr>
</table></dialog>
<p id="said" role="status"></p>"""


def index_page(made: Sequence[tuple[Chapter, int]]) -> str:
    """Give the page that leads to all decks."""
    rows = "\n".join(
        f'<li><a href="{chapter.file.removesuffix(".ipynb")}.html">{chapter.number} '
        f"{html.escape(chapter.title.replace(chr(10), ' '))}</a>"
        f"<span>{html.escape(chapter.question)}</span><span>{count} slides</span></li>"
        for chapter, count in made
    )
    body = (
        "<main class='index'>\n<h1>Attention, shown: the slides</h1>\n<p>In a deck: the right arrow goes on, n "
        f"opens the speaker's notes, ? lists all keys.</p>\n<ul>\n{rows}\n</ul>\n</main>"
    )
    return pages.page("Attention, shown: the slides", body, styles=("pages.css", "slides.css"))


def build(
    numbers: Sequence[str] = (),
    *,
    notebooks: Path = pages.NOTEBOOKS,
    plan: Path = PLAN,
) -> dict[str, str]:
    """Give the decks of these chapters, or of all with the index: file name → page."""
    planned = plans(plan)
    made: dict[str, str] = {}
    counted = []
    for chapter, cells in pages.chapters(numbers, notebooks):
        if planned is not None and chapter.number not in planned:
            raise PageError(f"TEACHING.md: there is no table {TABLE!r} for chapter {chapter.number}; add one")
        slides = deck(chapter, cells, None if planned is None else planned[chapter.number])
        made[chapter.file.replace(".ipynb", ".html")] = deck_page(chapter, slides)
        counted.append((chapter, len(slides)))
    if not numbers:
        made["index.html"] = index_page(counted)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the decks, or say in a sentence why not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("chapters", nargs="*", help="chapters, such as 05 (default: all, and the index)")
    options = parser.parse_args(arguments)
    try:
        pages.write(SLIDES, build(options.chapters))
    except PageError as problem:
        print(problem, file=sys.stderr)
        return 1
    if not PLAN.is_file():
        print("TEACHING.md is not here: the notes hold the exercises' mistakes, but no plan of the sections.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
