"""The front page and the indexes of the folders."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from .extension import DOCS

FOLDERS = ("tutorials", "how_to", "explanation", "reference", "development")


def toctree(page):
    """Return the entries of a page's tables of contents."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_index_lists_every_page_of_its_folder_and_links_to_it(folder):
    index = DOCS / folder / "index.md"
    entries, text = Counter(toctree(index)), index.read_text("utf-8")
    pages = {path.stem for path in (DOCS / folder).glob("*.md")} - {"index"}
    assert {entry for entry in entries if "/" not in entry} == pages
    assert set(entries.values()) <= {1}
    assert not [entry for entry in entries if f"]({entry}.md)" not in text and f":link: {entry}\n" not in text]


@pytest.mark.parametrize("wanted", ["install", "weft.einsum", "how_to/scikit_learn", "how_to/choose_a_format"])
def test_the_front_page_leads_at_once_to(wanted):
    links = re.findall(r":link: (\S+)", (DOCS / "index.md").read_text("utf-8"))
    assert any(link.endswith(wanted) for link in links)


def test_the_output_on_the_front_page_is_that_of_the_code(capsys):
    code, output = re.findall(r"^```(?:python|text)\n(.*?)^```", (DOCS / "index.md").read_text(), re.M | re.S)[:2]
    exec(compile(code, "index.md", "exec"), {})
    assert capsys.readouterr().out == output


BLOCK = re.compile(r"^(`{3,})(python|sh|console)\n(.*?)^\1", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_lines_of_code_fit_into_their_column(page):
    """A column of the site holds 84 characters; output is wrapped."""
    blocks = [(found[2], found[3]) for found in BLOCK.finditer(page.read_text("utf-8"))]
    lines = [line for kind, text in blocks for line in text.splitlines() if kind != "console" or line[:1] == "$"]
    assert [line for line in lines if len(line) > 84] == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("gallery/*/plot_*.py")), ids=lambda page: page.stem)
def test_lines_of_examples_fit_into_their_column(page):
    code = re.sub(r'\A""".*?"""|^#.*?$', "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in code.splitlines() if len(line) > 84] == []


@pytest.mark.parametrize("words", ["groupby", "top k", "one-hot", "softmax", "pagerank"])
def test_what_users_search_for_is_in_the_guides(words):
    pages = [page.read_text("utf-8").lower() for page in (DOCS / "how_to").glob("*.md")]
    assert any(words in page for page in pages)
