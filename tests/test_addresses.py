"""Nothing that a learner opens reaches out to the network: every address in it is listed here, with its reason."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("notebooks", "images", "slides", "handout", "handouts")  # the last three only where they are built
KINDS = (".ipynb", ".svg", ".html", ".css", ".js", ".md", ".json", ".xml", ".pdf")
ADDRESS = re.compile(
    r"""(?<![\w])(?:https?|wss?|ftp):(?:\\?/){2}[^\s"'<>)\\\]]+   # http://host/path, also with the \/ of JSON
    |(?<=["'(=\s])//[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'<>)\\]*       # //host.name/path, which takes the page's http
    |@import\s+[^;]+;""",
    re.VERBOSE | re.IGNORECASE,
)

# Addresses that are names, not places to fetch from: no browser and no program asks for them.
ALLOWED = {
    r"http://www\.w3\.org/\S*": "the names of XML's own vocabularies, such as SVG, XHTML and MathML",
    r"http://purl\.org/dc/\S*": "the names of the vocabulary for an image's metadata",
    r"http://creativecommons\.org/ns#": "the name of the vocabulary for a licence",
    r"https://matplotlib\.org/": "Matplotlib signs the images that it draws",
}


def files():
    return [
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix.lower() in KINDS and path.is_file() and ".ipynb_checkpoints" not in path.parts
    ]


def addresses(text):
    """List the addresses of a text that are not allowed."""
    found = [match[0].strip() for match in ADDRESS.finditer(text)]
    return [address for address in found if not any(re.fullmatch(name, address) for name in ALLOWED)]


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_address_leads_outside(path):
    assert addresses(path.read_text(encoding="utf-8", errors="replace")) == []


def test_there_is_something_to_look_at():
    folders = {path.relative_to(ROOT).parts[0] for path in files()}
    assert {"notebooks", "images"} <= folders


def test_every_allowed_address_has_a_reason_and_is_a_name():
    for name, reason in ALLOWED.items():
        assert len(reason.split()) > 3, name


@pytest.mark.parametrize(
    "text",
    [
        "see https://example.org/a",
        '{"source": "https:\\/\\/example.org"}',
        '<script src="//cdn.example.org/x.js">',
        "url(//fonts.example.org/f.woff)",
        "new WebSocket('ws://example.org')",
        "wss://example.org/socket",
        "@import 'fonts.css';",
        "http://www.w3.org.example.org/",
    ],
)
def test_an_address_is_found(text):
    assert len(addresses(text)) == 1


@pytest.mark.parametrize(
    "text", ["7 // 2", "a // b.c", "# // comment", 'xmlns="http://www.w3.org/2000/svg"', "d //= n"]
)
def test_what_is_no_address(text):
    assert addresses(text) == []
