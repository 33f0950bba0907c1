"""House rules for the notebooks, each with its reason.

Use: ``python tests/notebook_linter.py [files]`` (default: all of ``notebooks/``).
Cell numbers count all cells of the notebook, from 1.
"""

from __future__ import annotations

import ast
import html
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mistune
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.validator import iter_validate

from attnlib.catching_up import line as catch_up_line
from attnlib.cells import in_sections

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
MOST_LINES = 20
FILE_NAME = re.compile(r"(\d\d)-[a-z0-9]+(?:-[a-z0-9]+)*\.ipynb")
IGNORING = {"nbval-ignore-output", "nbval-skip"}
# nbval knows these comments only in capitals and alone on their line.
IGNORING_COMMENTS = {"NBVAL_IGNORE_OUTPUT", "NBVAL_SKIP", "PYTEST_VALIDATE_IGNORE_OUTPUT"}
LIVE = {"interact", "interact_manual", "interactive", "interactive_output", "Output", "*"}

# Why each rule exists, and what to do.
RULES = {
    "file-name": "the number orders the chapters, and plain names make links that work on every system: "
    "call the file NN-words.ipynb, in lower case",
    "unique-number": "the number says which chapter is next: give each chapter its own",
    "format": "editors add random ids to other formats, so that every save is a change: "
    "run tools/refresh.py, which stores format 4.5 with stable, unique ids",
    "widget-state": "saved widget state is large and changes with every run: run tools/refresh.py, which drops it",
    "notebook-metadata": "other metadata shows whose Python ran the notebook, not what it says: "
    "run tools/refresh.py, which stores the standard set",
    "title": "the table of contents and the links show it: begin the first cell with the only H1, "
    "'# NN Title', with the file's number",
    "heading-level": "screen readers and the table of contents follow the levels: go down one at a time",
    "last-cell": "a reader leaves with words and a way on: end with a Markdown cell",
    "neighbour-links": "learners go from chapter to chapter by links: "
    "link the chapters before and after in the last Markdown cell",
    "executed": "nbval runs, but never compares, a cell that was not executed, and readers without a kernel "
    "see no result: run tools/refresh.py",
    "empty-code": "an empty cell looks like something lost: delete it",
    "long-code": f"more than {MOST_LINES} lines do not fit in the reader's head or on the screen: "
    "split the cell, or move code to attnlib",
    "code-run": "the rhythm is text, code, text: put a Markdown cell before the third code cell in a row",
    "error-output": "a traceback looks like the reader's mistake: mend the code, or tag the cell "
    "raises-exception when the error is the lesson",
    "warning-output": "a warning worries the reader and differs between versions: remove its cause",
    "trailing-semicolon": "nbval sees the hidden output all the same, often with an address in it: "
    "assign the value to _ instead",
    "live-output": "output that a callback writes later is not in the stored notebook, and nbval does not "
    "see it: change the value of a widget, such as HTML or Image, from observe()",
    "input": "a test cannot type: set a variable and invite the reader to change it",
    "magic": "magics and shell commands differ between systems and are not Python: write Python",
    "absolute-path": "it exists on one machine only: use a path relative to the notebook, or none",
    "memory-address": "it is another in each run: print a value instead of the object",
    "numpy-repr": "the repr of a scalar differs between NumPy versions, explicit, formatted prints stay "
    "the same: print(f'{x:.3f}')",
    "ignored-output": "an output that nobody compares can rot, so it needs a reason: tag the cell (nbval "
    "reads the tag, not this comment) and add '# nbval-ignore-output: three words or more'",
    "link-scope": "learners read a copy of the notebooks and images in a folder of their own, where other "
    "files are not: link only to notebooks here, to ../images/ or to http(s)",
    "link-target": "a dead link loses the reader: name a file that exists, in the same upper and lower case",
    "link-anchor": "a dead anchor opens the top of the page, silently: use the target heading's text, with - "
    "for each space (JupyterLab), or in lower case without punctuation (GitHub)",
    "remote-image": "everything must work offline: copy the image to ../images/",
    "image-place": "only ../images/ is copied with the notebooks: put the image there",
    "image-alt": "who cannot see the image needs its message in words: write an alt text",
    "emoji": "they look different on each system and screen readers spell them out: use words",
    "filler": "a learner who is stuck is never told that something is obvious: leave the word out",
    "catch-up": "who comes late goes on from any section by that line: begin the first code cell of each numbered "
    "section with it, and no other cell",
    "math": "one lost dollar sign turns the rest of the text to math: close each $ and $$, and write \\$ "
    "for money",
}

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.M | re.S)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
MATH = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.S)
FILLER = re.compile(
    r"\b(?:simply|obvious|obviously|trivial|of\s+course|worth\s+noting|needless\s+to\s+say|let['’]s\s+dive)\b",
    re.I,
)
EMOJI = re.compile("[\U0001f000-\U0001faff☀-⛿✅✊-✍✨❌❎❓-❗❤➕-➗⬛⬜⭐⭕\ufe0f]")
ABSOLUTE = re.compile(
    r"(?<![\w.~/:<*-])/(?:home|Users|tmp|root|usr|var|opt|etc|mnt|private|Volumes|work(?=/))\b"
    r"|\bfile://|(?<![A-Za-z0-9])[A-Za-z]:(?:/|\\{1,2})(?=[\w.~])"
)
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}|\b0x(?:0000)?[0-9a-fA-F]{9,12}\b")
NUMPY_REPR = re.compile(r"\bnp\.(?:float|int|uint|complex|longdouble|bool|str|bytes)\w*\(")
WARNING = re.compile(r"\b[A-Z]\w*Warning:")
REASON = re.compile(r"^\s*#\s*nbval-(?:ignore-output|skip)\b[ \t:]*(.*)$", re.M)

_markdown = mistune.create_markdown(renderer=None)
_transformer = TransformerManager()


@dataclass(frozen=True)
class Problem:
    """One broken rule: the cell's number (None: the file), the rule's name, and what, why and what to do."""

    cell: int | None
    rule: str
    message: str


@dataclass
class Page:
    """What the Markdown of one cell holds: headings, link targets, and images as (source, alt text)."""

    headings: list[tuple[int, str]]
    links: list[str]
    images: list[tuple[str, str]]


class _Html(HTMLParser):
    """Collects headings, links and images from raw HTML."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if re.fullmatch(r"h[1-6]", tag):
            self.page.headings.append((int(tag[1]), ""))
        elif tag == "a" and "href" in values:
            self.page.links.append(values["href"])
        elif tag == "img":
            self.page.images.append((values.get("src", ""), values.get("alt", "")))


def _text(token: dict[str, Any]) -> str:
    return token.get("raw", "") + "".join(map(_text, token.get("children", [])))


def read_page(source: str) -> Page:
    """Find the headings, links and images of a Markdown text.

    Parameters
    ----------
    source : str
        The text.

    Returns
    -------
    Page
        In the order of the text.
    """
    page = Page([], [], [])

    def walk(tokens: Sequence[dict[str, Any]]) -> None:
        for token in tokens:
            kind, attrs = token["type"], token.get("attrs", {})
            if kind == "heading":
                page.headings.append((attrs["level"], html.unescape(_text(token))))
            elif kind == "link":
                page.links.append(html.unescape(attrs["url"]))
            elif kind == "image":
                page.images.append((html.unescape(attrs["url"]), _text(token)))
            elif kind in ("block_html", "inline_html"):
                _Html(page).feed(token["raw"])
            walk(token.get("children", []))

    code = [match.span() for pattern in (FENCE, CODE_SPAN) for match in pattern.finditer(source)]

    def without_math(match: re.Match[str]) -> str:  # $f[i](x)$ is no link
        return match[0] if any(start <= match.start() < end for start, end in code) else "math"

    walk(_markdown(MATH.sub(without_math, source)))
    return page


def prose(source: str) -> str:
    """Return a Markdown text without its code and its escaped dollar signs.

    Parameters
    ----------
    source : str
        The text.

    Returns
    -------
    str
        The rest, with math.
    """
    return CODE_SPAN.sub(" ", FENCE.sub(" ", source)).replace("\\$", " ")


def anchors(heading: str) -> set[str]:
    """Return the anchors that lead to a heading.

    Parameters
    ----------
    heading : str
        The heading's text.

    Returns
    -------
    set of str
        JupyterLab's (a ``-`` for each space, all else kept) and GitHub's (also in lower case and without
        punctuation).

    Examples
    --------
    >>> sorted(anchors("Why divide?"))
    ['Why-divide?', 'why-divide']
    """
    dashed = heading.strip().replace(" ", "-")
    return {dashed, re.sub(r"[^\w-]", "", dashed.lower())}


def load(path: Path) -> dict[str, Any]:
    """Read a notebook as it is in the file, but with each text in one string.

    Parameters
    ----------
    path : Path
        The notebook.

    Returns
    -------
    dict
        The notebook.
    """

    def join(value: Any) -> Any:
        return "".join(value) if isinstance(value, list) and all(isinstance(v, str) for v in value) else value

    nb: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["source"] = join(cell["source"])
        for output in cell.get("outputs", []):
            output.update({key: join(output[key]) for key in ("text",) if key in output})
            output.update({"data": {k: join(v) for k, v in output["data"].items()}} if "data" in output else {})
    return nb


def chapters(folder: Path) -> dict[str, str]:
    """List the chapters of a folder.

    Parameters
    ----------
    folder : Path
        The notebooks' folder.

    Returns
    -------
    dict
        File name by number, in order.
    """
    names = sorted(path.name for path in folder.glob("*.ipynb"))
    return {match[1]: name for name in names if (match := FILE_NAME.fullmatch(name))}


def count_ignored(path: Path) -> list[tuple[int, str]]:
    """List the cells whose outputs nbval does not compare.

    Parameters
    ----------
    path : Path
        The notebook.

    Returns
    -------
    list of (int, str)
        Cell number and stated reason ("" when there is none).
    """
    cells = [(n, cell) for n, cell in enumerate(load(path)["cells"], start=1) if cell["cell_type"] == "code"]
    return [(n, _reason(cell["source"])) for n, cell in cells if _is_ignored(cell)]


def _is_ignored(cell: dict[str, Any]) -> bool:
    comments = {line.strip().lstrip("#").strip() for line in cell["source"].splitlines() if "#" in line}
    return bool(IGNORING & set(cell["metadata"].get("tags", [])) or IGNORING_COMMENTS & comments)


def _reason(source: str) -> str:
    found = REASON.search(source)
    return found[1].strip() if found else ""


def lint(path: Path, notebooks_dir: Path) -> list[Problem]:
    """Check a notebook against all rules.

    Parameters
    ----------
    path : Path
        The notebook.
    notebooks_dir : Path
        The folder of all chapters; the images are in ``images`` beside it.

    Returns
    -------
    list of Problem
        Empty when all is well.
    """
    try:
        nb = load(path)
        broken = [error.message for error in iter_validate(nb, version=4, version_minor=5)]
        ids = [cell.get("id") for cell in nb["cells"]]
    except (KeyError, TypeError, ValueError) as error:
        return [_problem(None, "format", f"not a notebook ({error})")]
    if (nb["nbformat"], nb["nbformat_minor"]) != (4, 5):
        broken.append(f"format {nb['nbformat']}.{nb['nbformat_minor']}")
    broken += [f"cell id {name!r} is not unique" for name in sorted({i for i in ids if ids.count(i) > 1 and i})]
    if broken:
        return [_problem(None, "format", broken[0])]

    cells = list(enumerate(nb["cells"], start=1))
    code = [(n, cell) for n, cell in cells if cell["cell_type"] == "code"]
    pages = {n: read_page(cell["source"]) for n, cell in cells if cell["cell_type"] == "markdown"}
    found = [*_check_file(path, notebooks_dir, nb), *_check_order(cells, code), *_check_headings(path, nb, pages)]
    found += [*_check_neighbours(path, notebooks_dir, pages), *_check_catch_up(path, nb)]
    modules = {name for _, cell in code for name in _widget_modules(_parse(cell["source"]))}
    for n, cell in cells:
        if cell["cell_type"] == "markdown":
            checks = [_check_text(cell["source"]), _check_links(pages[n], path, notebooks_dir)]
        elif cell["cell_type"] == "code":
            checks = [_check_source(cell["source"], modules), _check_marks(cell), _check_outputs(cell)]
        else:
            checks = []
        found += [_problem(n, rule, what) for check in checks for rule, what in check]
    return found


def _problem(cell: int | None, rule: str, what: str) -> Problem:
    return Problem(cell, rule, f"{what}. Why, and what to do: {RULES[rule]}.")


def _check_file(path: Path, folder: Path, nb: dict[str, Any]) -> Iterator[Problem]:
    match = FILE_NAME.fullmatch(path.name)
    if not match:
        yield _problem(None, "file-name", f"{path.name!r} is not NN-words.ipynb")
    elif twins := [p.name for p in folder.glob(f"{match[1]}-*.ipynb") if p.name != path.name]:
        yield _problem(None, "unique-number", f"{sorted(twins)[0]} has the same number")
    metadata = dict(nb["metadata"])
    if "widgets" in metadata:
        yield _problem(None, "widget-state", "metadata.widgets is there")
        del metadata["widgets"]
    if metadata != METADATA:
        yield _problem(None, "notebook-metadata", "the metadata is not the standard set")


def _check_order(
    cells: Sequence[tuple[int, dict[str, Any]]], code: Sequence[tuple[int, dict[str, Any]]]
) -> Iterator[Problem]:
    for expected, (n, cell) in enumerate(code, start=1):
        if cell["execution_count"] != expected:
            yield _problem(n, "executed", f"execution count {cell['execution_count']}, not {expected}")
    in_a_row = 0
    for n, cell in cells:
        in_a_row = in_a_row + 1 if cell["cell_type"] == "code" else 0
        if in_a_row == 3:
            yield _problem(n, "code-run", "the third code cell in a row")
    if not cells or cells[-1][1]["cell_type"] != "markdown":
        yield _problem(len(cells) or None, "last-cell", "the last cell is not Markdown")


def _check_headings(path: Path, nb: dict[str, Any], pages: dict[int, Page]) -> Iterator[Problem]:
    match = FILE_NAME.fullmatch(path.name)
    number = match[1] if match else r"\d\d"
    headings = [(n, level) for n, page in pages.items() for level, _ in page.headings]
    titles = [n for n, level in headings if level == 1]
    if 1 not in pages or not re.match(rf"# {number} \S", nb["cells"][0]["source"]):
        yield _problem(1, "title", f"the notebook does not begin with '# {number} '")
    elif len(titles) > 1:
        yield _problem(titles[1], "title", "a second H1")
    before = 1
    for n, level in headings:
        if level > before + 1:
            yield _problem(n, "heading-level", f"from H{before} to H{level}")
        before = level


def _check_neighbours(path: Path, folder: Path, pages: dict[int, Page]) -> Iterator[Problem]:
    names = list(chapters(folder).values())
    if path.name not in names:
        return
    at = names.index(path.name)
    linked = {unquote(urlsplit(link).path) for link in (pages[max(pages)].links if pages else [])}
    for name in [*names[max(at - 1, 0) : at], *names[at + 1 : at + 2]]:
        if not linked & {name, f"./{name}"}:
            yield _problem(max(pages, default=None), "neighbour-links", f"no link to {name}")


def _check_catch_up(path: Path, nb: dict[str, Any]) -> Iterator[Problem]:
    done = {0}
    for n, (section, cell) in enumerate(in_sections(nb), start=1):
        if cell["cell_type"] == "code":
            wanted = [] if section in done else [catch_up_line(path.name[:2], section)]
            done.add(section)
            lines = cell["source"].splitlines()
            if [row for row in lines if "catch_up(" in row] != wanted or (wanted and lines[:1] != wanted):
                yield _problem(n, "catch-up", f"it should begin with {wanted[0]!r}" if wanted else "no first cell")


def _check_text(source: str) -> Iterator[tuple[str, str]]:
    text = prose(source)
    if text.count("$$") % 2 or MATH.sub("", text).count("$"):
        yield "math", "an unbalanced $ or $$"
    words = MATH.sub(" ", text)
    for rule, pattern in (("filler", FILLER), ("emoji", EMOJI)):
        for found in pattern.findall(words):
            yield rule, repr(found)
    if found := ABSOLUTE.search(MATH.sub(" ", source)):
        yield "absolute-path", repr(found[0])


def _exists(target: Path) -> bool:
    """Tell if a file is there, in exactly this spelling, also where the file system ignores case."""
    return target.parent.is_dir() and target.name in {entry.name for entry in target.parent.iterdir()}


def _check_links(page: Page, path: Path, folder: Path) -> Iterator[tuple[str, str]]:
    here, images = folder.resolve(), folder.resolve().parent / "images"

    def locate(url: str) -> Path:
        return (here / unquote(urlsplit(url).path)).resolve()

    for source, alt in page.images:
        if not alt.strip():
            yield "image-alt", f"{source!r} has no alt text"
        if re.match(r"(?:https?:)?//", source, re.I):
            yield "remote-image", repr(source)
        elif urlsplit(source).scheme or images not in locate(source).parents:
            yield "image-place", f"{source!r} is not in ../images/"
        elif not _exists(locate(source)):
            yield "link-target", f"there is no {source!r}"
    for url in page.links:
        parts, target = urlsplit(url), locate(url)
        if parts.scheme in ("http", "https"):
            continue
        if not parts.path and not parts.netloc and not parts.scheme:
            target = path.resolve()
        is_chapter = target.parent == here and target.suffix == ".ipynb"
        if parts.scheme or parts.netloc or not (is_chapter or images in target.parents):
            yield "link-scope", repr(url)
        elif not _exists(target):
            yield "link-target", f"there is no {url!r}"
        elif parts.fragment and (not is_chapter or unquote(parts.fragment) not in _all_anchors(target)):
            yield "link-anchor", f"no heading for {url!r}"


def _all_anchors(path: Path) -> set[str]:
    try:
        sources = [cell["source"] for cell in load(path)["cells"] if cell["cell_type"] == "markdown"]
    except (KeyError, TypeError, ValueError):  # the other notebook's own problem
        return set()
    return {anchor for s in sources for _, heading in read_page(s).headings for anchor in anchors(heading)}


def _parse(source: str) -> ast.Module | None:
    """Return the cell's syntax tree; None when an intended SyntaxError is the lesson."""
    try:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(_transformer.transform_cell(source), "cell", "exec", flags, dont_inherit=True)
    except SyntaxError:
        return None
    assert isinstance(tree, ast.Module)
    return tree


def _widget_modules(tree: ast.Module | None) -> set[str]:
    imports = [node for node in ast.walk(tree or ast.Module([], [])) if isinstance(node, ast.Import)]
    aliases = [alias for node in imports for alias in node.names]
    return {alias.asname or "ipywidgets" for alias in aliases if alias.name.split(".")[0] == "ipywidgets"}


def _check_source(source: str, widget_modules: set[str]) -> Iterator[tuple[str, str]]:
    if not source.strip():
        yield "empty-code", "nothing in it"
        return
    if (lines := source.count("\n") + 1) > MOST_LINES:
        yield "long-code", f"{lines} lines"
    if "get_ipython()" in _transformer.transform_cell(source).replace(source, ""):
        yield "magic", "a magic, a shell command or a ?"
    tree, texts = _parse(source), [source]
    if tree is not None:
        nodes = list(ast.walk(tree))
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        yield from _check_nodes(nodes, widget_modules)
    tokens = _tokens(source)
    texts += [token.string for token in tokens if token.type == tokenize.COMMENT]
    code = [
        token for token in tokens if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER, tokenize.STRING)
    ]
    if code and code[-1].string == ";":
        yield "trailing-semicolon", "it ends with ;"
    if found := next(filter(None, (ABSOLUTE.search(MATH.sub(" ", text)) for text in texts)), None):
        yield "absolute-path", repr(found[0])


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return []


def _check_nodes(nodes: Sequence[ast.AST], widget_modules: set[str]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "input":
            yield "input", "it calls input()"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ipywidgets":
            for name in sorted(LIVE & {alias.name for alias in node.names}):
                yield "live-output", f"ipywidgets' {name}"
        elif isinstance(node, ast.Attribute) and node.attr in LIVE:
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in widget_modules:
                yield "live-output", f"ipywidgets' {node.attr}"


def _check_marks(cell: dict[str, Any]) -> Iterator[tuple[str, str]]:
    ignored, reason = _is_ignored(cell), _reason(cell["source"])
    if ignored and len(reason.split()) < 3:
        yield "ignored-output", "no reason is given"
    elif REASON.search(cell["source"]) and not ignored:
        yield "ignored-output", "the comment has no effect without the tag"


def _check_outputs(cell: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for output in cell["outputs"]:
        data = {
            kind: value
            for kind, value in output.get("data", {}).items()
            if kind.startswith(("text/", "image/svg"))
        }
        text = "\n".join([output.get("text", ""), *data.values()])
        if output["output_type"] == "error":
            text = "\n".join([output["evalue"], *output["traceback"]])
            if "raises-exception" not in cell["metadata"].get("tags", []):
                yield "error-output", f"{output['ename']}: {output['evalue']}"
        elif output.get("name") == "stderr" or WARNING.search(text):
            yield "warning-output", repr(text[:60])
        for rule, pattern in (
            ("absolute-path", ABSOLUTE),
            ("memory-address", ADDRESS),
            ("numpy-repr", NUMPY_REPR),
        ):
            if found := pattern.search(text):
                yield rule, f"the output has {found[0]!r}"
        if found := re.search(r"\bsrc\s*=\s*[\"']?((?:https?:)?//[^\s\"'>]+)", data.get("text/html", ""), re.I):
            yield "remote-image", f"the output has {found[1]!r}"


def main(arguments: Sequence[str]) -> int:
    """Print the problems of the named notebooks.

    Parameters
    ----------
    arguments : sequence of str
        Files; none: all of ``notebooks/``.

    Returns
    -------
    int
        1 when there is a problem, else 0.
    """
    paths = [Path(name) for name in arguments] or sorted(NOTEBOOKS.glob("*.ipynb"))
    found = [(path, problem) for path in paths for problem in lint(path, path.resolve().parent)]
    for path, problem in found:
        where = f"cell {problem.cell}: " if problem.cell else ""
        print(f"{path}: {where}{problem.rule}: {problem.message}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
