"""Projector: JupyterLab really shows larger type and pictures, by a call or by the switch, and only then."""

import lab as labs
import nbformat
import pytest

CELLS = (
    "import attnlib\nfrom attnlib import explorers, pictures",
    "attnlib.projector({on})",
    'pictures.bars({{"weights": [0.36, 0.40, 0.24]}}, ["write", "a", "poem"])',
    "explorers.soft_lookup()",
)
SIZES = """() => {
    const images = [...document.querySelectorAll('.jp-Notebook .jp-OutputArea img')];
    const size = selector => parseFloat(getComputedStyle(document.querySelector(selector)).fontSize);
    return images.length === 2 && images.every(image => image.complete && image.naturalWidth > 0) && {
        code: size('.jp-CodeCell .cm-line'),
        text: size('.jp-MarkdownOutput p'),
        words: size('.widget-html p[role]'),
        pictures: images.map(image => image.naturalWidth),
    };
}"""


@pytest.fixture
def room(tmp_path):
    """Give a folder whose desk holds notebooks that switch the large type on, off, and not at all."""
    folder = tmp_path / "desk" / "notebooks"
    folder.mkdir(parents=True)
    write(folder / "plain.ipynb", [CELLS[0], *(cell.format() for cell in CELLS[2:])])
    for name, on in (("on.ipynb", "True"), ("off.ipynb", "False")):
        write(folder / name, [cell.format(on=on) for cell in CELLS])
    return tmp_path


def write(path, sources):
    cells = [nbformat.v4.new_markdown_cell("# A title\n\nA line of text.")]
    cells += [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


def sizes(page, lab, file):
    labs.Notebook(page, lab, file).run_all()
    return page.wait_for_function(SIZES).json_value()


def assert_larger(large, usual):
    for name in ("code", "text", "words"):
        assert large[name] >= 1.4 * usual[name]
    for one, other in zip(large["pictures"], usual["pictures"], strict=True):
        assert one == pytest.approx(1.5 * other, rel=0.02)


def test_a_call_makes_type_and_pictures_large_and_another_takes_it_back(room, open_page, artefacts):
    with labs.running(room) as lab:
        page = open_page(1600, 900)
        usual = sizes(page, lab, "plain.ipynb")
        large = sizes(page, lab, "on.ipynb")
        page.screenshot(path=artefacts / "projector-call.png")
        back = sizes(page, lab, "off.ipynb")
    assert usual == back
    assert_larger(large, usual)
    assert (page.outside, page.crashes) == ([], [])


def test_the_switch_holds_for_one_start(room, open_page, artefacts):
    with labs.running(room, "--projector") as lab:
        page = open_page(1600, 900)
        large = sizes(page, lab, "plain.ipynb")
        page.screenshot(path=artefacts / "projector-switch.png")
        back = sizes(page, lab, "off.ipynb")
    with labs.running(room) as lab:
        usual = sizes(open_page(1600, 900), lab, "plain.ipynb")
    assert_larger(large, usual)
    assert back == usual
