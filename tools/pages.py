"""What slides and handouts share: notebooks as blocks, Markdown with formulas, fonts, self-contained pages.

Nothing is run here: pages are made from the notebooks' texts and stored outputs. Fonts come from packages of the
course (Matplotlib, koreanize-matplotlib, ziamath), cut to the characters of each page, so that a page looks the
same on every machine, with or without fonts for Hangul and mathematics.
"""

from __future__ import annotations

import base64
import html
import io
import json
import re
import string
import struct
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import mistune
from fontTools import subset
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert_to_element
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from attnlib.chapters import CHAPTERS, Chapter
from attnlib.pictures import COLOURS

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
HERE = Path(__file__).resolve().parent
Token = dict[str, Any]
Cell = dict[str, Any]

TAGS = ("slide", "subslide", "fragment", "skip", "notes")
CATCH_UP = re.compile(r"^# from attnlib import catch_up\b.*\n?", re.M)
REASON = re.compile(r"^# nbval-(?:ignore-output|skip)\b.*\n?", re.M)
CHECK = re.compile(r"^check\(\s*\"([^\"]+)\"", re.M)
ADDRESS = re.compile(r"(?:\b(?:https?|wss?|ftp):)?//[\w-]+(?:\.[\w-]+)+", re.I)
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
# Named widths, which browsers no longer know.
SPACES = {"negativethinmathspace": "-0.167em", "thinmathspace": "0.167em", "thickmathspace": "0.278em"}
WIDTHS = (("short", 58), ("medium", 72), ("long", 94))  # characters in the longest line of code
LONG_FORMULA = 70  # signs; a longer one is set smaller on paper
BRACES = {"munder": "⏟", "mover": "⏞"}
FONTS = (  # family, weight, package, file in it
    ("Course Sans", 400, "matplotlib", "mpl-data/fonts/ttf/DejaVuSans.ttf"),
    ("Course Sans", 700, "matplotlib", "mpl-data/fonts/ttf/DejaVuSans-Bold.ttf"),
    ("Course Mono", 400, "matplotlib", "mpl-data/fonts/ttf/DejaVuSansMono.ttf"),
    ("Course Hangul", 400, "koreanize_matplotlib", "fonts/NanumGothic.ttf"),
    ("Course Math", 400, "ziamath", "fonts/STIXTwoMath-Regular.ttf"),
)


class PageError(Exception):
    """A page could not be made; the message says where and why."""


# --- notebooks --------------------------------------------------------------------------------------------


def chapters(numbers: Sequence[str], folder: Path = NOTEBOOKS) -> list[tuple[Chapter, list[Cell]]]:
    """Give the chapters with these numbers, or all, each with its cells.

    Parameters
    ----------
    numbers : such as ["05"]; none means all
    folder : where the notebooks are
    """
    known = {chapter.number: chapter for chapter in CHAPTERS}
    for number in numbers:
        if number not in known:
            raise PageError(f"There is no chapter {number!r}: choose from {', '.join(known)}.")
    chosen = [chapter for chapter in CHAPTERS if not numbers or chapter.number in numbers]
    return [(chapter, read(folder / chapter.file)) for chapter in chosen]


def read(path: Path) -> list[Cell]:
    """Give a notebook's cells as {id, kind, tag, source, outputs}, without comments that only learners need."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError) as error:
        raise PageError(f"{path.name} cannot be read as a notebook: {error}") from error
    cells = []
    for number, cell in enumerate(raw, start=1):
        tag = cell["metadata"].get("slideshow", {}).get("slide_type", "skip")
        if tag not in TAGS:
            raise PageError(
                f"{path.name}, cell {number}: the slide type is {tag!r}; choose one of {', '.join(TAGS)}"
            )
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            source = REASON.sub("", CATCH_UP.sub("", source)).strip("\n")
        cells.append(
            {
                "id": cell["id"],
                "kind": cell["cell_type"],
                "tag": tag,
                "source": source,
                "outputs": cell.get("outputs", []),
            }
        )
    return cells


def exercise_of(cell: Cell) -> str | None:
    """Give the id of the exercise that a code cell checks, if it checks one."""
    found = CHECK.search(cell["source"]) if cell["kind"] == "code" else None
    return found[1] if found else None


def stub(cell: Cell) -> str:
    """Give what a learner has to fill in: the code above the check, or nothing if that is only a name and dots."""
    above = CHECK.split(cell["source"])[0].strip()
    lines = [line for line in above.splitlines() if not line.startswith(("from ", "import "))]
    above = "\n".join(lines).strip()
    return "" if re.fullmatch(r"\w+ = \.\.\.", above) else above


def printed(cell: Cell) -> str:
    """Give what a code cell printed, and the text of a result that is no picture."""
    texts = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            texts.append("".join(output["text"]))
        elif "text/plain" in output.get("data", {}) and output["output_type"] == "execute_result":
            data = output["data"]
            if "image/png" not in data:
                texts.append("".join(data["text/plain"]))
    return "\n".join(text.strip("\n") for text in texts)


def drawings(cell: Cell) -> list[tuple[str, str]]:
    """Give the pictures that a code cell stored: (PNG as base64, what it shows in words)."""
    found = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            png = "".join(data["image/png"]).replace("\n", "")
            found.append((png, "".join(data.get("text/plain", "")).strip()))
    return found


# --- Markdown and formulas ----------------------------------------------------------------------------------


def _math(md: mistune.Markdown) -> None:
    """Teach mistune the dollar signs, on one line or over several."""

    def block(_: Any, m: re.Match[str], state: Any) -> int:
        state.append_token({"type": "block_math", "raw": m["block_text"].strip()})
        return m.end()

    def inline(_: Any, m: re.Match[str], state: Any) -> int:
        state.append_token({"type": "inline_math", "raw": m["inline_text"].strip()})
        return m.end()

    md.block.register("block_math", r"^ {0,3}\$\$(?P<block_text>[^$]+)\$\$[ \t]*$", block, before="list")
    md.inline.register("inline_math", r"\$(?P<inline_text>[^$]+)\$", inline, before="link")


_markdown = mistune.create_markdown(renderer=None, plugins=["table", _math])


class _Renderer(mistune.HTMLRenderer):
    """HTML with formulas as MathML, links as words, and images inside the page."""

    def __init__(self) -> None:
        super().__init__(escape=True)
        for name in ("table", "table_head", "table_body", "table_row", "table_cell"):
            self.register(name, getattr(mistune.plugins.table, f"render_{name}"))

    def block_math(self, text: str) -> str:
        return formula(text, display=True)

    def inline_math(self, text: str) -> str:
        return formula(text, display=False)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return text  # a slide or a sheet of paper leads nowhere

    def image(self, text: str, url: str, title: str | None = None) -> str:
        path = NOTEBOOKS / url
        if path.suffix != ".svg" or not path.is_file():
            raise PageError(f"the image {url} is not an SVG file of the course; draw it in tools/images.py")
        content = base64.b64encode(path.read_bytes()).decode()
        return f'<img class="drawing" alt="{html.escape(text)}" src="data:image/svg+xml;base64,{content}">'

    def block_code(self, code: str, info: str | None = None) -> str:
        return code_block(code.strip("\n"), "code")


def parse(text: str) -> list[Token]:
    """Give the blocks of a Markdown text, without the empty lines."""
    return [token for token in _markdown(text) if token["type"] != "blank_line"]


def to_html(tokens: Iterable[Token]) -> str:
    """Give blocks as HTML."""
    return _Renderer()(tokens, mistune.BlockState()).strip()


def words(token: Token) -> str:
    """Give the words of a block, without marks; a formula counts as its source."""
    inner = token.get("children")
    if inner is None:
        return " " if token["type"] in ("softbreak", "linebreak") else str(token.get("raw", ""))
    return "".join(map(words, inner))


@cache
def formula(latex: str, *, display: bool) -> str:
    """Give a formula as MathML, which browsers set by themselves and screen readers can read."""
    try:
        root = convert_to_element(" ".join(latex.split()), display="block" if display else "inline")
    except Exception as error:  # the converter raises errors of its own and others
        raise PageError(f"the formula {latex!r} cannot be set: {error or type(error).__name__}") from error
    root.attrib.pop("xmlns", None)  # HTML needs no name space, and it is written as an address
    for node in root.iter():
        upright = re.fullmatch(r"&#x0*[0-7][0-9A-F];", node.text or "")  # so the converter writes \\mathrm
        node.text = html.unescape(node.text or "")
        if node.tag == "mi" and upright:
            node.set("mathvariant", "normal")
        if node.tag == "msqrt" and node.find(".//mfrac") is not None:
            raise PageError(f"the formula {latex!r} has a fraction in a root; write it with a low root")
        if "\\" in node.text:
            raise PageError(f"the formula {latex!r} cannot be set: {node.text} is not known")
    for node in root.iter():
        _mend(node)
    if display and len("".join(root.itertext())) > LONG_FORMULA:
        root.set("class", "long")
    return ET.tostring(root, encoding="unicode")


def _mend(node: ET.Element) -> None:
    """Write a part of a formula so that browsers set it as TeX does."""
    if node.tag == "mspace":
        node.set("width", SPACES.get(node.get("width", ""), node.get("width", "")))
    if node.tag in BRACES and len(node) == 2 and node[1].text == BRACES[node.tag]:
        # A long brace is cut off at both ends (in Chromium 156): a line marks the part as well.
        node.set("class", f"marked {node.tag}")
        node.tag = "mrow"
        node.remove(node[1])
    before = ET.Element("mo")
    before.text = ""
    for part in node:
        if part.text in ("max", "∞"):  # no operators
            part.tag = "mi"
        if part.tag == "mo" and part.text == "|":
            part.attrib.update(lspace="0", rspace="0")
        if part.text in ("-", "−") and _opens(before):
            part.set("form", "prefix")
        for name, other, side in ((before, part, "right"), (part, before, "left")):
            if name.tag == other.tag == "mi" and len(name.text or "") > 1:  # sin a
                name.set("style", f"padding-{side}: 0.167em")
        before = part


def _opens(before: ET.Element) -> bool:
    """Tell whether a minus after this part is a sign and not a difference."""
    text = (before.text or "").strip()
    return (before.tag == "mo" and text in "([=,·/→⋅") or (before.tag == "mtext" and text.endswith(","))


def code_block(code: str, kind: str) -> str:
    """Give code, coloured, or what it printed, plain; its class says how wide it is, so that it can be large."""
    width = next((name for name, most in WIDTHS if columns(code) <= most), "wide")
    if kind == "code":
        inside = highlight(code, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).rstrip("\n")
    else:
        inside = html.escape(code)
    return f'<pre class="{kind} {width}"><code>{inside}</code></pre>'


def columns(text: str) -> int:
    """Give the length of the longest line; a Hangul letter is as wide as two others."""
    return max((len(line) + len(HANGUL.findall(line)) for line in text.expandtabs(8).splitlines()), default=0)


def shape(png: str) -> float:
    """Give the width of a PNG picture divided by its height."""
    width, height = struct.unpack(">II", base64.b64decode(png[:64])[16:24])
    return float(width / height)


def picture(png: str, description: str) -> str:
    """Give a stored picture with its description."""
    return f'<img class="picture" alt="{html.escape(description)}" src="data:image/png;base64,{png}">'


# --- the page -----------------------------------------------------------------------------------------------


@cache
def _font(package: str, file: str, characters: str) -> str:
    """Give a font cut to these characters, as base64; nothing if it has none of them."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise PageError(f"the package {package}, which carries a font, is missing; run make setup")
    options = subset.Options(layout_features=["*"], hinting=False, notdef_outline=True, name_IDs=[0, 13, 14])
    options.drop_tables += ["FFTM", "TSI0", "TSI1", "TSI2", "TSI3", "TSI5"]  # of the font's makers
    font = TTFont(Path(next(iter(folders))) / file, recalcTimestamp=False)  # the same bytes each time
    wanted = {ord(character) for character in characters} & set(font.getBestCmap())
    if not wanted:
        return ""
    if package == "ziamath":
        # A browser leaves room for the widest form of a root, even where it draws the narrowest. The course has
        # only low roots: without the tall forms there is no gap behind them.
        forms = font["MATH"].table.MathVariants
        root = forms.VertGlyphConstruction[forms.VertGlyphCoverage.glyphs.index(font.getBestCmap()[ord("√")])]
        root.MathGlyphVariantRecord, root.GlyphAssembly = root.MathGlyphVariantRecord[:1], None
        root.VariantCount = 1
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted)
    cutter.subset(font)
    font.flavor = "woff"
    with io.BytesIO() as out:
        font.save(out, reorderTables=None)
        return base64.b64encode(out.getvalue()).decode()


def font_faces(body: str) -> str:
    """Give the style sheet's fonts, with just the characters of this page."""
    text = html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"data:[^\"]*", "", body)))
    plain = "".join(sorted({c for c in text + string.ascii_letters + string.digits if c.isprintable()}))
    hangul = "".join(HANGUL.findall(plain))
    math = "".join(sorted({c for part in re.findall(r"<math.*?</math>", body, re.S) for c in _set_in_math(part)}))
    faces = []
    for family, weight, package, file in FONTS:
        characters = {"Course Hangul": hangul, "Course Math": math}.get(family, plain)
        content = _font(package, file, characters) if characters else ""
        if content:
            faces.append(
                f'@font-face {{ font-family: "{family}"; font-weight: {weight}; '
                f'src: url("data:font/woff;base64,{content}") format("woff"); }}'
            )
    return "\n".join(faces)


def _set_in_math(part: str) -> set[str]:
    """Give the characters of a formula, and the slanted letters that a browser puts in place of single ones."""
    plain = set(html.unescape(re.sub(r"<[^>]*>", "", part))) | set("()[]|√")
    slanted = {"ℎ"} if "h" in plain else set()
    for first, start in (("A", 0x1D434), ("a", 0x1D44E), ("α", 0x1D6FC)):
        slanted |= {chr(start + ord(c) - ord(first)) for c in plain if 0 <= ord(c) - ord(first) < 26}
    partial = {"\U0001d715"} if "∂" in plain else set()
    return plain | slanted | partial


def colours() -> str:
    """Give the course's colours as variables of a style sheet."""
    return ":root {" + " ".join(f"--{kind}: {colour};" for kind, colour in COLOURS.items()) + "}"


def page(title: str, body: str, *, styles: Sequence[str], script: str = "") -> str:
    """Give a whole page that needs nothing else: no file beside it, no address on the network.

    Parameters
    ----------
    title : the page's title
    body : its HTML
    styles : names of style sheets beside this file
    script : name of a program beside this file
    """
    sheets = "\n".join((HERE / name).read_text(encoding="utf-8") for name in styles)
    program = f"<script>\n{(HERE / script).read_text(encoding='utf-8')}</script>\n" if script else ""
    said = ADDRESS.search(re.sub(r"base64,[A-Za-z0-9+/=]*", "", body + sheets + program))
    if said:
        raise PageError(f"{title}: the page names the address {said[0]}; pages must work without a network")
    style = f"{font_faces(title + body + program)}\n{colours()}\n{sheets}"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style}"
        f"</style>\n</head>\n<body>\n{body}\n{program}</body>\n</html>\n"
    )


def write(folder: Path, pages: dict[str, str]) -> None:
    """Write pages into a folder, which is made if needed, and say so."""
    folder.mkdir(exist_ok=True)
    for name, content in pages.items():
        (folder / name).write_bytes(content.encode())
    first = "index.html" if "index.html" in pages else next(iter(pages))
    print(f"{folder.name}/: {len(pages)} pages written; open {folder.name}/{first}")
