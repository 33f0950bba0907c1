"""The chapters keep the house rules, and each rule can fail."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat import v4
from notebook_linter import METADATA, NOTEBOOKS, RULES, count_ignored, lint, main

from attnlib.catching_up import line as catch_up_line

CHAPTERS = sorted(NOTEBOOKS.glob("*.ipynb"))


def test_there_are_chapters():
    assert CHAPTERS


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name)
def test_chapter_is_lint_free(path):
    assert lint(path, NOTEBOOKS) == []


class Draft:
    """A clean chapter 05 between chapters 04 and 07, to be broken."""

    def __init__(self, folder: Path):
        self.folder, self.name = folder / "notebooks", "05-softmax.ipynb"
        self.folder.mkdir()
        (folder / "images" / "sub").mkdir(parents=True)
        (folder / "images" / "a.png").touch()
        (folder / "README.md").touch()
        for name in ("04-before.ipynb", "07-after.ipynb"):
            cells = [v4.new_markdown_cell("# 04 Before\n\n## What is `x`?")]
            nbformat.write(v4.new_notebook(cells=cells), self.folder / name)
        out = v4.new_output("stream", name="stdout", text="2\n")
        self.first = v4.new_markdown_cell("# 05 Softmax\n\nAbout $x$.", id="a")
        self.code = v4.new_code_cell("print(1 + 1)", id="b", execution_count=1, outputs=[out])
        self.last = v4.new_markdown_cell("## The end\n\n[4](04-before.ipynb), [7](07-after.ipynb)", id="c")
        self.nb = v4.new_notebook(cells=[self.first, self.code, self.last], metadata=METADATA)

    def lint(self):
        path = self.folder / self.name
        path.write_text(json.dumps(self.nb), encoding="utf-8")
        return lint(path, self.folder)


def name(new):
    return lambda draft: setattr(draft, "name", new)


def text(words):
    return lambda draft: setattr(draft.first, "source", f"{draft.first.source}\n\n{words}")


def first(words):
    return lambda draft: setattr(draft.first, "source", words)


def last(words):
    return lambda draft: setattr(draft.last, "source", words)


def code(source, tags=()):
    return lambda draft: draft.code.update(source=source, metadata={"tags": list(tags)} if tags else {})


def out(printed):
    return lambda draft: draft.code.outputs[0].update(text=printed)


def stream(which, printed):
    return lambda draft: draft.code.outputs.append(v4.new_output("stream", name=which, text=printed))


def show(**data):
    data = {key.replace("_", "/"): value for key, value in data.items()}
    return lambda draft: draft.code.outputs.append(v4.new_output("display_data", data=data))


def error(*tags):
    def edit(draft):
        draft.code.metadata = {"tags": list(tags)}
        draft.code.outputs = [v4.new_output("error", ename="ValueError", evalue="no", traceback=["no"])]

    return edit


def count(number):
    return lambda draft: draft.code.update(execution_count=number)


def add(*kinds):
    """Insert cells before the last; code cells get the next numbers."""

    def edit(draft):
        for n, kind in enumerate(kinds):
            number = 2 + kinds[:n].count("code")
            text, run = v4.new_markdown_cell("Text."), v4.new_code_cell("x = 1", execution_count=number)
            draft.nb.cells.insert(-1, text if kind == "text" else run)

    return edit


def twin(other):
    return lambda draft: (draft.folder / other).write_text("{}")


def metadata(**more):
    return lambda draft: draft.nb.metadata.update(more)


def both(*edits):
    return lambda draft: [edit(draft) for edit in edits]


def late(head, section="## 3. Late"):
    return lambda draft: (text(section)(draft), code(f"{head}\nprint(1 + 1)")(draft))


WIDGETS = "import ipywidgets as w\n"

# For each rule: what breaks it (and no other), and what comes near without harm.
CASES = {
    "file-name": ([name("softmax.ipynb"), name("05-Soft max.ipynb")], [name("05-softmax-2.ipynb")]),
    "unique-number": ([twin("05-other.ipynb")], [twin("050-other.ipynb")]),
    "format": (
        [
            lambda draft: draft.nb.update(nbformat_minor=4),
            lambda draft: draft.code.pop("id"),
            lambda draft: draft.code.update(id="a"),
            lambda draft: draft.code.update(id="no spaces"),
            lambda draft: draft.nb.pop("cells"),
        ],
        [lambda draft: draft.code.update(id="A-good_id-2")],
    ),
    "widget-state": ([metadata(widgets={})], [code("widgets = {}")]),
    "notebook-metadata": (
        [metadata(language_info={"name": "python", "version": "3.12.1"}), metadata(author="x")],
        [lambda draft: draft.code.metadata.update(slideshow={"slide_type": "slide"})],
    ),
    "title": (
        [
            first("# 04 Softmax"),
            first("# Softmax"),
            first("## 05 Softmax"),
            text("# 05 Again"),
            text("Again\n====="),
            text("<h1>Again</h1>"),
            lambda draft: draft.nb.cells.insert(0, v4.new_markdown_cell("Hello.", id="z")),
        ],
        [text("```\n# a comment\n```"), text("\\# no heading")],
    ),
    "heading-level": ([text("### Deep"), text("## A\n\n#### Deep")], [text("## A\n\n### B\n\n## C")]),
    "last-cell": (
        [lambda draft: draft.nb.cells.append(draft.nb.cells.pop(1))],
        [last("[4](04-before.ipynb) [7](07-after.ipynb)")],
    ),
    "neighbour-links": (
        [
            last("[4](04-before.ipynb)"),
            last("[7](07-after.ipynb)"),
            both(text("[4](04-before.ipynb)"), last("[7](07-after.ipynb)")),
        ],
        [
            last("[4](./04-before.ipynb), [7](07-after.ipynb#04-Before)"),
            both(name("09-end.ipynb"), first("# 09 End"), last("[7](07-after.ipynb)")),
        ],
    ),
    "executed": ([count(None), count(2), both(add("text", "code"), count(3))], [add("text", "code")]),
    "empty-code": ([code(""), code(" \n")], [code("# words only")]),
    "long-code": ([code("x = 1\n" * 20 + "x")], [code("x = 1\n" * 19 + "x")]),
    "code-run": ([add("code", "code")], [add("code", "text", "code")]),
    "error-output": ([error()], [error("raises-exception")]),
    "warning-output": (
        [stream("stderr", "hm\n"), out("RuntimeWarning: overflow\n"), show(text_plain="UserWarning: x")],
        [out("A warning: read on.\n")],
    ),
    "trailing-semicolon": (
        [code("print(2);"), code("print(2);  # quiet\n\n# end")],
        [code("x = 1; print(x)"), code("print(';')  # ;")],
    ),
    "live-output": (
        [
            code("from ipywidgets import interact"),
            code("from ipywidgets import *"),
            code(WIDGETS + "w.Output()"),
            code(WIDGETS + "@w.interact\ndef f(): pass"),
            code("import ipywidgets\nipywidgets.widgets.interactive_output"),
        ],
        [code(WIDGETS + "w.HTML()"), code("from attnlib import Output\nOutput()"), code("model.Output")],
    ),
    "input": ([code("x = input('?')")], [code("model.input(2)"), code("input = 2")]),
    "magic": (
        [
            code("%matplotlib inline"),
            code("x = 1\n!ls"),
            code("files = !ls"),
            code("%%time\nx = 1"),
            code("print?"),
        ],
        [code("5 % 2"), code("x = '''\n%time\n!ls\n'''"), code("x = (5\n% 2)"), code("x != 1")],
    ),
    "absolute-path": (
        [
            text("See /home/me/x."),
            text("See `C:\\Users\\me`."),
            code("open('/tmp/x')"),
            code("open('C:\\\\data\\\\x')"),
            code("x = 1  # /Users/me"),
            code("open(f'{x}') or '/work/x"),
            out("/usr/lib/python\n"),
            show(text_html="<p>D:/data</p>"),
        ],
        [
            text("Either/or, <https://example.org/home/x>, $f:\\mathbb{R}$, ../images and and/tmp."),
            code("print('Q:\\nK:/')"),
            code("x = a /home"),
            show(text_html="<var>x</var>"),
        ],
    ),
    "memory-address": (
        [out("<object at 0x7f1cbc616f90>"), show(text_plain="0x000001F4A2B3C4D5")],
        [out("0xff 0x3f800000 at 0x1")],
    ),
    "numpy-repr": (
        [out("np.float64(0.5)"), show(text_plain="[np.int64(1)]")],
        [code("np.float64(2)"), out("np.array(1)")],
    ),
    "ignored-output": (
        [
            code("x", ["nbval-ignore-output"]),
            code("# nbval-ignore-output: two words\nx", ["nbval-ignore-output"]),
            code("# NBVAL_SKIP\nx"),
            code("# nbval-ignore-output: the machine's own speed\nx"),
            code("# nbval-ignore-output\nx"),
        ],
        [
            code("# nbval-ignore-output: the machine's own speed\nx", ["nbval-ignore-output"]),
            code("# NBVAL_SKIP\n# nbval-skip: needs a second screen\nx"),
            code("x", ["nbval-check-output"]),
        ],
    ),
    "link-scope": (
        [
            text("[r](../README.md)"),
            text('<a href="../README.md">r</a>'),
            text("[m](mailto:a@b.c)"),
            text("[r][1]\n\n[1]: /x"),
        ],
        [
            text("[i](../images/a.png) and [h](https://example.org/README.md)"),
            text("`[r](../README.md)`"),
            text("$f[i](x)$"),
        ],
    ),
    "link-target": (
        [
            text("[6](06-none.ipynb)"),
            text("[4](04-Before.ipynb)"),
            text("![a](../images/none.png)"),
            text('<img src="../images/A.png" alt="a">'),
        ],
        [text("[4](04-before.ipynb)"), text("![a](../images/a.png)")],
    ),
    "link-anchor": (
        [text("[4](04-before.ipynb#Nothing)"), text("[e](#the_end)"), text("[a](../images/a.png#x)")],
        [text("[4](04-before.ipynb#What-is-x?), [4](04-before.ipynb#what-is-x), [e](#The-end), [e](#the-end)")],
    ),
    "remote-image": (
        [
            text("![a](https://example.org/a.png)"),
            text('<img alt="a" src="//x.org/a">'),
            show(text_html="<img src='http://x.org/a'>"),
        ],
        [text("[a](https://example.org/a.png)"), show(text_html="<img src='data:image/png;base64,AA'>")],
    ),
    "image-place": (
        [text("![a](../README.md)"), text("![a](attachment:a.png)"), text("![a](data:image/png;base64,AA)")],
        [text("![a](../images/a.png)")],
    ),
    "image-alt": (
        [text("![ ](../images/a.png)"), text('<img src="../images/a.png">')],
        [text('<img src="../images/a.png" alt="One arrow">')],
    ),
    "emoji": (
        [text("Done 🎉"), text("Careful ⚠️"), text("✅ yes")],
        [text("a → b, 2 × 3, √d ≈ 1.4 ✓"), code("x = '🎉'")],
    ),
    "filler": (
        [
            text("Simply add."),
            text("It is obvious."),
            text("Of\ncourse."),
            text("Let’s dive in."),
            text("A trivial case."),
        ],
        [text("A simple sum; just add. `trivial` $trivial$ trivially")],
    ),
    "catch-up": (
        [
            text("## 3. Late"),
            late(catch_up_line("05", 2)),
            late(catch_up_line("04", 3)),
            late("x = 1\n" + catch_up_line("05", 3)),
            late(catch_up_line("05", 3), section="## Not numbered"),
        ],
        [late(catch_up_line("05", 3)), text("## Not numbered")],
    ),
    "math": (
        [text("It costs $5."), text("$$x"), text("$x$ and $y")],
        [text("It costs \\$5, `$HOME`, $x$,\n\n$$\ny\n$$\n\n```\n$\n```")],
    ),
}


def cases(which):
    return [
        pytest.param(rule, edit, id=f"{rule}-{n}") for rule in CASES for n, edit in enumerate(CASES[rule][which])
    ]


def test_every_rule_has_cases():
    assert CASES.keys() == RULES.keys()
    assert all(broken and near for broken, near in CASES.values())


def test_clean_draft(tmp_path):
    assert Draft(tmp_path).lint() == []


@pytest.mark.parametrize(("rule", "edit"), cases(0))
def test_broken(tmp_path, rule, edit):
    draft = Draft(tmp_path)
    edit(draft)
    problems = draft.lint()
    assert {problem.rule for problem in problems} == {rule}
    assert all(RULES[rule] in problem.message for problem in problems)


@pytest.mark.parametrize(("rule", "edit"), cases(1))
def test_near_miss(tmp_path, rule, edit):
    draft = Draft(tmp_path)
    edit(draft)
    assert draft.lint() == []


def test_problem_names_the_cell(tmp_path):
    draft = Draft(tmp_path)
    code("input()")(draft)
    assert [problem.cell for problem in draft.lint()] == [2]


def test_count_ignored(tmp_path):
    draft = Draft(tmp_path)
    code("# nbval-ignore-output: the machine's own speed\nx", ["nbval-ignore-output"])(draft)
    draft.lint()
    assert count_ignored(draft.folder / draft.name) == [(2, "the machine's own speed")]
    assert count_ignored(draft.folder / "04-before.ipynb") == []


def test_command_line(tmp_path, capsys):
    draft = Draft(tmp_path)
    draft.lint()
    path = str(draft.folder / draft.name)
    assert main([path]) == 0
    code("x = 1;")(draft)
    draft.lint()
    assert main([path]) == 1
    assert capsys.readouterr().out.startswith(f"{path}: cell 2: trailing-semicolon: ")
