"""The examples of the gallery and the tutorials: what each has, and that some run."""

import ast
import importlib
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import weft

DOCS = Path(__file__).resolve().parents[2] / "docs"
GALLERY = DOCS / "gallery"
EXAMPLES = sorted(GALLERY.glob("*/plot_*.py"))
TUTORIALS = ["ratings", "graph", "stencils", "tensor", "text", "gradients"]
HEADING = r"# %%\n# (.+)\n# (-+)\n"
PICTURE = r"!\[([^\]]+)\]\(\.\./examples/(\w+)/images/sphx_glr_(\w+)_001\.svg\)"
PAGE = r"\{doc\}`(?:[^<`]*<)?\.\./examples/(\w+)/(\w+)>?`"


def calls(tree):
    """Return the names and attributes that are called."""
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {function.attr if isinstance(function, ast.Attribute) else function.id for function in functions}


@pytest.fixture
def example_data(monkeypatch):
    """Return the module that the examples load their data with."""
    monkeypatch.syspath_prepend(str(GALLERY))
    return importlib.import_module("example_data")


def test_there_are_enough_examples_in_each_section():
    sections = {path.parent.name for path in EXAMPLES}
    assert len(EXAMPLES) >= 16
    assert sections == {path.name for path in GALLERY.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert all((GALLERY / section / "GALLERY_HEADER.rst").exists() for section in sections)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_steps_output_a_check_and_a_figure(path):
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    title, underline, blank, *problem = ast.get_docstring(tree).splitlines()
    assert underline == "=" * len(title)
    assert blank == ""
    assert len(" ".join(problem)) > 80
    steps = re.findall(HEADING, text)
    assert len(steps) >= 3
    assert all(len(dashes) == len(step) for step, dashes in steps)
    assert "print" in calls(tree)
    assert "subplots" in calls(tree)
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_uses_public_names_alone(path):
    attributes = [node.attr for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)]
    assert not [name for name in attributes if re.match(r"_[^_]", name)]


@pytest.mark.users_thresholds
@pytest.mark.parametrize("name", ["formats/plot_own_format", "equations/plot_heat", "graphs/plot_breadth_first"])
def test_examples_run_without_the_collections(name, example_data, monkeypatch, tmp_path, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.setenv("WEFT_BENCH_DATA", str(tmp_path))
    runpy.run_path(str(GALLERY / f"{name}.py"))
    drawn = [axes for number in plt.get_fignums() for axes in plt.figure(number).axes]
    plt.close("all")
    assert drawn
    assert capsys.readouterr().out


def test_generated_data_are_of_the_same_kind(example_data, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("WEFT_BENCH_DATA", str(tmp_path))
    graph = example_data.matrix("p2p-Gnutella31", lambda: example_data.power_law_graph(1000, 3000), format="csc")
    assert graph.format == "csc"
    assert np.all(graph.data == 1)
    assert weft.diagonal(graph).sum() == 0
    facts = example_data.tensor("kg_FB15K237", (50, 10, 50), 500)
    assert facts.shape == (50, 10, 50)
    assert facts.is_canonical
    stars = example_data.ratings()
    assert set(np.unique(stars.data)) == {1, 2, 3, 4, 5}
    assert capsys.readouterr().out.count("generated instead.") == 3


def test_data_are_read_where_they_are_at_hand(example_data, monkeypatch, tmp_path):
    monkeypatch.setenv("WEFT_BENCH_DATA", str(tmp_path))
    weft.write_mtx(tmp_path / "small.mtx.gz", weft.eye(3, format="csr"))
    weft.write_tns(tmp_path / "small.tns.gz", weft.random((3, 4, 5), nnz=7, rng=0))
    assert example_data.matrix("small", lambda: pytest.fail("the file is there")).nnz == 3
    assert example_data.tensor("small", (1, 1, 1), 1).nnz == 7
    monkeypatch.setenv("WEFT_BENCH_DATA", str(tmp_path / "missing"))
    assert example_data.folder() is None


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_shows_what_its_blocks_print(name):
    """The page's own test compares each output with that of the block in front of it."""
    page = (DOCS / "tutorials" / f"{name}.md").read_text("utf-8")
    shown = re.findall(r"^```$\n\n```text\n", page, re.MULTILINE)
    assert len(shown) == len(re.findall(r"^```text\n", page, re.MULTILINE)) >= 6


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_has_a_picture_and_links_to_examples(name):
    page = (DOCS / "tutorials" / f"{name}.md").read_text("utf-8")
    pictures = [(section, example) for _, section, example in re.findall(PICTURE, page)]
    assert pictures
    examples = {(path.parent.name, path.stem) for path in EXAMPLES}
    assert {*pictures, *re.findall(PAGE, page)} <= examples
    cards = (DOCS / "tutorials" / "index.md").read_text("utf-8")
    assert f":link: {name}\n" in cards
    assert name in cards.splitlines()
