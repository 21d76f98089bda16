from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from typing import ClassVar
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import CompilerError, MissingPackageError, ShapeError
from weft.formats import Format, LevelFormat
from weft.ir import Binary
from weft.ir.builder import add, lit, mul, sub
from weft.remapping.nodes import evaluate
from weft.storage import Storage, entries, tensor_type
from weft.tensor import display
from weft.tensor.display import picture, svg
from weft.tensor.tree import level_names

mpl.use("Agg")

# The matrix of the 2018 paper's Fig. 2e.
FIGURE = np.array([
    [5, 1, 0, 0, 0, 0],
    [7, 3, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0],
    [8, 0, 0, 4, 9, 0],
])  # fmt: skip
FORMATS = ["dense", "dense_f", "coo", "csr", "csc", "dcsr", "dcsc", "sd", "sd:1,0"]


def figure(format: str) -> weft.SparseTensor:
    return weft.asarray(FIGURE, format=format)


# -- walking storage -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", FORMATS)
def test_entries_are_what_is_stored(format):
    A = figure(format)
    found = np.zeros_like(FIGURE)
    modes = A.layout.mode_order
    positions = []
    for coords, position in entries(A._storage):
        logical = [0, 0]
        for axis, coordinate in zip(modes, coords, strict=True):
            logical[axis] = coordinate
        found[tuple(logical)] += A.data.ravel()[position]
        positions.append(position)
    np.testing.assert_array_equal(found, FIGURE)
    assert sorted(positions) == list(range(A.nnz))


@pytest.mark.parametrize("format", ["csf", "coo", "dss", "sds:2,0,1", "ddd", "ssd"])
def test_entries_of_three_axes(format):
    B = weft.random((3, 4, 5), nnz=9, rng=1, format=format)
    found = np.zeros((3, 4, 5))
    turned = found.transpose(B.layout.mode_order)
    for coords, position in entries(B._storage):
        turned[coords] = B.data[position]
    np.testing.assert_array_equal(found, B.todense())


def test_entries_without_axes_and_without_entries():
    assert entries(weft.asarray(2.0)._storage) == [((), 0)]
    assert entries(weft.random((3, 0), nnz=0, format="csr")._storage) == []


# -- trees -----------------------------------------------------------------------------------------------------
TREES = {
    "coo": """\
coo, int64, shape (4, 6), 7 stored, fill value 0
levels of (i,j) -> (i,j): i compressed(¬U), j singleton
root
├─ i=0 ─ j=0: 5
├─ i=0 ─ j=1: 1
├─ i=1 ─ j=0: 7
├─ i=1 ─ j=1: 3
├─ i=3 ─ j=0: 8
├─ i=3 ─ j=3: 4
└─ i=3 ─ j=4: 9""",
    "csr": """\
csr, int64, shape (4, 6), 7 stored, fill value 0
levels of (i,j) -> (i,j): i dense, j compressed
root
├─ i=0
│  ├─ j=0: 5
│  └─ j=1: 1
├─ i=1
│  ├─ j=0: 7
│  └─ j=1: 3
├─ i=2
└─ i=3
   ├─ j=0: 8
   ├─ j=3: 4
   └─ j=4: 9""",
    "dcsc": """\
dcsc, int64, shape (4, 6), 7 stored, fill value 0
levels of (i,j) -> (j,i): j compressed, i compressed
root
├─ j=0
│  ├─ i=0: 5
│  ├─ i=1: 7
│  └─ i=3: 8
├─ j=1
│  ├─ i=0: 1
│  └─ i=1: 3
├─ j=3
│  └─ i=3: 4
└─ j=4
   └─ i=3: 9""",
}


@pytest.mark.parametrize("format", TREES)
def test_trees_of_the_papers_figure(format):
    tree = figure(format).tree()
    assert tree == TREES[format]
    assert repr(tree) == str(tree) == TREES[format]


def test_tree_is_cut_off_with_a_note():
    A = figure("csr")
    lines = A.tree().splitlines()
    for most, shown, kept in [(0, 0, 0), (1, 1, 2), (3, 3, 5), (4, 4, 6), (5, 4, 7), (7, 6, 10)]:
        cut = A.tree(max_entries=most).splitlines()
        assert cut[:-1] == lines[: 3 + kept]
        assert cut[-1] == f"… {shown} of 7 stored values shown, max_entries={most}"
    assert A.tree(max_entries=8) == A.tree()
    with pytest.raises(ValueError, match="-1"):
        A.tree(max_entries=-1)


def test_tree_of_a_large_tensor_reads_only_what_it_shows():
    A = weft.from_coords([[5], [7]], [1.0], shape=(10**6, 10**6), format="csr")
    lines = A.tree(max_entries=2).splitlines()
    assert lines[2:] == ["root", "├─ i=0", "├─ i=1", "… 0 of 1 stored values shown, max_entries=2"]
    dense = weft.asarray(np.broadcast_to(np.float32(0.1), (1000, 1000)).copy())
    assert dense.tree(1).splitlines()[3:] == [
        "├─ i=0", "│  ├─ j=0: 0.1", "… 1 of 1000000 stored values shown, max_entries=1",
    ]  # fmt: skip


def test_trees_of_other_orders():
    assert weft.asarray(2.5).tree().splitlines()[1:] == ["levels of () -> (): none", "root: 2.5"]
    v = weft.from_coords([[1, 3]], [True, False], shape=(4,), fill_value=True)
    assert v.tree().splitlines() == [
        "coo, bool, shape (4,), 2 stored, fill value True", "levels of (i) -> (i): i compressed",
        "root", "├─ i=1: True", "└─ i=3: False",
    ]  # fmt: skip
    assert weft.random((0, 2), nnz=0, format="csr").tree().splitlines()[2:] == ["root"]
    t = weft.from_coords([[0, 0], [1, 1], [0, 2]], [1, 2], shape=(1, 2, 3))
    assert t.tree().splitlines()[3:] == ["├─ i=0 ─ j=1 ─ k=0: 1", "└─ i=0 ─ j=1 ─ k=2: 2"]


def test_tree_keeps_duplicates_and_order():
    A = weft.from_coords([[1, 0, 1], [0, 2, 0]], [1, 2, 3], shape=(2, 3), duplicates="keep")
    assert A.tree().splitlines()[1:] == [
        "levels of (i,j) -> (i,j): i compressed(¬O¬U), j singleton(¬O¬U)",
        "root", "├─ i=1 ─ j=0: 1", "├─ i=0 ─ j=2: 2", "└─ i=1 ─ j=0: 3",
    ]  # fmt: skip


@pytest.mark.parametrize("format", [name for name in weft.formats if name != "hash_vector"])
def test_every_format_shows_its_entries(format):
    A = figure(format)
    inverse = A.layout.remapping.inverse()
    found = np.zeros_like(FIGURE)
    for coords, position in entries(A._storage):
        found[tuple(evaluate(e, coords, shape=A.shape) for e in inverse)] += A.data.ravel()[position]
    np.testing.assert_array_equal(found, FIGURE)
    assert len(entries(A._storage)) == A.nnz
    assert str(A.format) in A.tree()
    assert ("<pre>" if A.layout.is_dense else "<svg") in A._repr_html_()


def test_tree_of_diagonals():
    A = weft.from_coords([[0, 1, 1], [0, 1, 0]], [1, 2, 3], shape=(2, 2), format="dia")
    assert A.tree().splitlines()[1:] == [
        "levels of (i,j) -> (j-i,j,i): j-i squeezed, j range, i offset",
        "root", "├─ j-i=-1", "│  └─ j=0 ─ i=1: 3", "└─ j-i=0", "   ├─ j=0 ─ i=0: 1", "   └─ j=1 ─ i=1: 2",
    ]  # fmt: skip


@dataclass(frozen=True)
class Even(LevelFormat):
    """A toy: stores nothing, holds the even coordinates."""

    letter: ClassVar[str] = "e"

    def size(self, parent_size, dimension, arrays):
        return parent_size * -(-dimension // 2)

    def pos_bounds(self, m, parent):
        half = Binary("/", add(m.dimension, lit(1)), lit(2))
        return mul(parent, half), mul(add(parent, lit(1)), half)

    def pos_access(self, m, p, parent, coords):
        return mul(sub(p, self.pos_bounds(m, parent)[0]), lit(2))


def test_a_level_of_the_users_own():
    format = Format("(i,j) -> (j,i)", [Even(), Even()])
    storage = Storage((3, 1), tensor_type("float64", format), (), np.array([1.0, 2.0]))
    assert entries(storage) == [((0, 0), 0), ((0, 2), 1)]
    assert weft.SparseTensor(storage).tree().splitlines()[1:] == [
        "levels of (i,j) -> (j,i): j even, i even", "root", "└─ j=0", "   ├─ i=0: 1.0", "   └─ i=2: 2.0",
    ]  # fmt: skip


def test_a_level_that_cannot_be_walked_says_so():
    @dataclass(frozen=True)
    class Mute(LevelFormat):
        pass

    storage = Storage((3,), tensor_type("float64", Format("(i) -> (i)", [Mute()])), (), np.zeros(0))
    with pytest.raises(NotImplementedError, match="mute"):
        entries(storage)


def test_level_names_are_the_remappings_text():
    assert level_names(weft.formats["bsr"](2, blocksize=(2, 3))) == ("i/2", "j/3", "i%2", "j%3")
    assert level_names(weft.formats["dia"](2)) == ("j-i", "j", "i")
    assert level_names(weft.formats["ell"](2)) == ("#i", "i", "j")
    assert level_names(weft.formats["dense"](0)) == ()


# -- pictures --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", FORMATS)
def test_small_pictures_have_a_cell_for_each_element(format):
    found = picture(figure(format)._storage)
    np.testing.assert_array_equal(found.counts, FIGURE != 0)
    assert found.steps == (1, 1)
    assert found.extents == (4, 6)


@pytest.mark.parametrize("format", ["coo", "csr", "csc", "dcsc"])
@pytest.mark.parametrize("shape", [(1000, 1000), (101, 7), (100, 199), (3, 100_000)])
def test_large_pictures_count_entries(format, shape):
    A = weft.random(shape, nnz=min(5000, math.prod(shape) // 4), rng=3, format=format)
    found = picture(A._storage)
    assert max(found.counts.shape) <= 100
    coords, _ = A.to_coo()
    wanted = np.zeros(found.counts.shape, int)
    np.add.at(wanted, tuple(c // step for c, step in zip(coords, found.steps, strict=True)), 1)
    np.testing.assert_array_equal(found.counts, wanted)


def test_pictures_in_chunks(monkeypatch):
    A = weft.random((300, 300), nnz=1000, rng=3, format="csr")
    whole = picture(A._storage).counts
    monkeypatch.setattr(display, "_CHUNK", 7)
    np.testing.assert_array_equal(picture(A._storage).counts, whole)
    assert whole.sum() == 1000


def test_pictures_count_duplicates_and_explicit_zeros():
    A = weft.from_coords([[1, 0, 1], [0, 2, 0]], [0.0, 2.0, 3.0], shape=(2, 3), duplicates="keep")
    np.testing.assert_array_equal(picture(A._storage).counts, [[0, 0, 1], [2, 0, 0]])


def test_pictures_unfold_tensors():
    B = weft.random((3, 4, 5), nnz=13, rng=1)
    X = B.todense() != 0
    np.testing.assert_array_equal(picture(B._storage).counts, X.reshape(3, 20))
    np.testing.assert_array_equal(picture(B._storage, rows=1).counts, X.transpose(1, 0, 2).reshape(4, 15))
    np.testing.assert_array_equal(picture(B._storage, rows=(0, -2)).counts, X.reshape(12, 5))
    np.testing.assert_array_equal(picture(B._storage, rows=[1, 0]).counts, X.transpose(1, 0, 2).reshape(12, 5))
    np.testing.assert_array_equal(picture(B.transpose(2, 0, 1)._storage).counts, X.transpose(2, 0, 1).reshape(5, 12))
    v = weft.from_coords([[1, 3]], [1.0, 2.0], shape=(4,))
    np.testing.assert_array_equal(picture(v._storage).counts, [[0, 1, 0, 1]])
    np.testing.assert_array_equal(picture(v._storage, rows=0).counts, [[0], [1], [0], [1]])
    np.testing.assert_array_equal(picture(weft.asarray(2.0)._storage).counts, [[1]])
    for rows in (3, (0, 0), (0, -3)):
        with pytest.raises(ShapeError, match=r"\(3, 4, 5\)"):
            picture(B._storage, rows=rows)
    with pytest.raises(ValueError, match="cell"):
        picture(B._storage, cells=0)


def test_pictures_of_more_columns_than_int64_numbers():
    last = 2**40 - 1
    B = weft.from_coords([[0, 1, 1], [0, 2**39, last], [0, 5, last]], [1.0, 2.0, 3.0], shape=(2, 2**40, 2**40))
    found = picture(B._storage, cells=4)
    np.testing.assert_array_equal(found.counts, [[1, 0, 0, 0], [0, 0, 1, 1]])
    assert found.extents == (2, 2**80)


def test_svg_golden():
    assert svg(picture(figure("csr")._storage)) == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="106" viewBox="0 0 6 4" '
        'preserveAspectRatio="none" shape-rendering="crispEdges" style="border:1px solid"><title>7 entries</title>'
        '<g stroke="currentColor" fill="none" transform="translate(0 .5)">'
        '<path stroke-opacity="1" d="M0 0h2M0 1h2M0 3h1M3 3h2"/></g></svg>'
    )


def cells_of(text: str, shape: tuple[int, int]) -> np.ndarray:
    """The opacity of each cell of an SVG."""
    found = np.zeros(shape)
    for path in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}path"):
        for x, y, length in re.findall(r"M(\d+) (\d+)h(\d+)", path.attrib["d"]):
            found[int(y), int(x) : int(x) + int(length)] += float(path.attrib["stroke-opacity"])
    return found


def test_svg_shades_cells_by_count():
    A = weft.random((700, 900), nnz=20_000, rng=5, format="csr")
    found = picture(A._storage)
    text = svg(found)
    assert text == svg(picture(A._storage)) == svg(picture(A.tocsc()._storage))
    np.testing.assert_allclose(cells_of(text, found.counts.shape), np.ceil(found.counts * 5 / found.counts.max()) / 5)
    assert "20000 entries; a cell is 7 by 9" in text


def test_svg_of_thin_and_empty_tensors():
    thin = ElementTree.fromstring(svg(picture(weft.random((10**6,), nnz=9, rng=0)._storage)))
    assert (thin.attrib["width"], thin.attrib["height"]) == ("160", "20")
    assert svg(picture(weft.random((0, 5), nnz=0)._storage)) == ""
    assert "<path" not in svg(picture(weft.random((5, 5), nnz=0)._storage))


# -- HTML ------------------------------------------------------------------------------------------------------
def rows_of(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)  # well-formed
    return {row[0].text: row[1].text for row in root.iter("tr")}


def test_html_golden():
    A = weft.from_coords([[0, 1, 1], [1, 0, 2]], [1.5, 2.0, 3.0], shape=(2, 300), format="csc")
    assert rows_of(A._repr_html_()) == {
        "shape": "(2, 300)",
        "dtype": "float64",
        "format": "csc, (i,j) -> (j,i)",
        "levels": "j: dense, i: compressed",
        "stored": "3 of 600 (0.005)",
        "bytes": "1.211 KiB; dense 4.688 KiB",
        "fill value": "0",
    }
    assert svg(picture(A._storage)) in A._repr_html_()


def test_html_of_messy_and_empty_tensors():
    A = weft.from_coords([[1, 0, 1], [0, 2, 0]], [1, 2, 3], shape=(2, 3), duplicates="keep", fill_value=7)
    rows = rows_of(A._repr_html_())
    assert rows["format"] == "coo, (i,j) -> (i,j); not sorted; may hold duplicates"
    assert rows["fill value"] == "7"
    assert rows_of(weft.random((0, 3), nnz=0)._repr_html_())["stored"] == "0 of 0"
    assert rows_of(weft.asarray(1.0)._repr_html_())["levels"] == "none"
    huge = rows_of(weft.from_coords([[0], [0]], [1.0], shape=(2**60, 2**60))._repr_html_())
    assert huge["bytes"].endswith("dense 8.796e+12 YiB")


def test_html_needs_no_compiler(monkeypatch):
    def fail(*arguments):
        raise CompilerError("there is no C compiler <here>\nmore")

    monkeypatch.setattr(display, "picture", fail)
    text = figure("csr")._repr_html_()
    assert "no picture: there is no C compiler &lt;here&gt;</div>" in text
    assert rows_of(text)["dtype"] == "int64"


def test_html_of_very_many_entries_has_no_picture(monkeypatch):
    monkeypatch.setattr(display, "_DRAWN", 6)
    text = figure("csr")._repr_html_()
    assert "<svg" not in text
    assert "weft.spy" in text
    monkeypatch.setattr(display, "_DRAWN", 7)
    assert "<svg" in figure("csr")._repr_html_()


# -- matplotlib ------------------------------------------------------------------------------------------------
@pytest.fixture
def ax():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    yield ax
    plt.close("all")


@pytest.mark.parametrize("format", ["dense", "csr", "csc", "coo"])
def test_spy(ax, format):
    image = weft.spy(figure(format), ax)
    assert image.axes is ax
    np.testing.assert_array_equal(np.asarray(image.get_array()) > 0, FIGURE != 0)
    assert image.get_extent() == [-0.5, 5.5, 3.5, -0.5]
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, 5.5), (3.5, -0.5))
    ax.figure.canvas.draw()


def test_spy_takes_the_current_axes_options_and_other_packages_arrays(ax):
    image = weft.spy(sp.coo_array(FIGURE), cmap="viridis", aspect="auto")
    assert image.axes is ax
    assert image.get_cmap().name == "viridis"
    assert ax.get_aspect() == "auto"


def test_spy_of_other_orders(ax):
    B = weft.random((3, 4, 5), nnz=9, rng=1)
    image = weft.spy(B, ax, rows=1)
    assert image.get_array().shape == (4, 15)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("axis 1", "axes 0, 2")
    assert weft.spy(weft.random((1000,), nnz=9, rng=1), ax).get_array().shape == (1, 334)
    assert len(ax.get_yticks()) == 0
    weft.spy(weft.random((0, 3), nnz=0), ax)
    ax.figure.canvas.draw()


def test_spy_of_a_large_matrix_keeps_its_coordinates(ax):
    image = weft.spy(weft.random((1001, 5000), nnz=9, rng=1), ax, cells=100)
    assert image.get_array().shape == (91, 100)  # 11 rows in a cell, the last cell reaching beyond
    assert image.get_extent() == [-0.5, 4999.5, 1000.5, -0.5]
    assert ax.get_ylim() == (1000.5, -0.5)


@pytest.mark.parametrize("format", ["coo", "csr", "csc", "dcsr", "dense"])
def test_matplotlibs_spy(ax, format):
    import matplotlib.pyplot as plt

    marks = plt.spy(figure(format))
    assert set(zip(*(map(int, c) for c in marks.get_data()), strict=True)) == set(zip(*FIGURE.T.nonzero(), strict=True))
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, 5.5), (3.5, -0.5))
    plt.spy(figure(format), precision="present")
    ax.figure.canvas.draw()


def test_spy_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'weft\[plot\]'") as caught:
        weft.spy(figure("csr"))
    assert isinstance(caught.value, ImportError)


def test_row_col_and_data():
    A = figure("coo")
    np.testing.assert_array_equal(A.row, FIGURE.nonzero()[0])
    np.testing.assert_array_equal(A.col, FIGURE.nonzero()[1])
    np.testing.assert_array_equal(A.data, FIGURE[FIGURE != 0])
    assert np.shares_memory(A.row, A._storage.arrays[1])
    assert A.data is A._storage.vals
    np.testing.assert_array_equal(A.T.row, A.col)
    for other in (figure("csr"), figure("ell"), weft.random((2, 2, 2), nnz=3, format="csf")):
        assert not hasattr(other, "row")
        with pytest.raises(AttributeError, match=f"format {other.format} have no col"):
            _ = other.col
    np.testing.assert_array_equal(A.T.tocoo().row, FIGURE.T.nonzero()[0])
