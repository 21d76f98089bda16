"""Drawings of stored tensors: what is read from the levels, where it lies, and that all of it is there."""

import inspect
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from formats.test_descriptions import CATALOGUE, FIGURE, stored
from strategies import own_formats
from weft.drawing import MAX_CELLS, Drawing, draw, storage_svg
from weft.drawing.scene import Box
from weft.drawing.storage_layout import storage_scene
from weft.drawing.stored_levels import read_levels
from weft.drawing.value_text import value_text
from weft.errors import FormatError, ShapeError, StorageError
from weft.formats import Compressed, Dense, Format, Hashed, LevelFormat, Singleton, Sliced, Squeezed
from weft.ir import Load, Select
from weft.ir.builder import add, cast, eq, ge, lit, mul, sub
from weft.storage import entries

from .geometry import SVG, checked, checked_svg


class Bitmap(LevelFormat):
    """A level of a user's: an array says which coordinates are present."""

    letter = "m"
    compact = False
    gapless = False
    roles = ("present",)

    def pos_bounds(self, m, parent):
        return mul(parent, m.dimension), mul(add(parent, lit(1)), m.dimension)

    def pos_access(self, m, p, parent, coords):
        there = eq(cast(Load(m["present"], p), "int64"), lit(1))
        return Select(there, sub(p, mul(parent, m.dimension)), lit(-1))

    def valid(self, m, coord):
        return ge(coord, lit(0))

    def size(self, parent_size, dimension, arrays):
        return parent_size * dimension

    def array_sizes(self, parent_size, size, dimension):
        return (size,)


THREE = np.zeros((2, 3, 4))
THREE[[0, 0, 0, 1, 1, 1], [0, 0, 2, 1, 1, 2], [1, 3, 0, 1, 2, 3]] = [1, 2, 3, 4, 5, 6]
FOUR = weft.from_coords([[0, 1, 1], [0, 0, 1], [1, 0, 1], [0, 1, 1]], [1, 2, 3], shape=(2, 2, 2, 2))
OWN = {
    "table of rows": Format("(i,j) -> (i,j)", (Hashed(), Compressed())),
    "rows with tables": Format("(i,j) -> (i,j)", (Compressed(), Hashed())),
    "columns of blocks": Format("(i,j) -> (j/2,i/2,j%2,i%2)", (Compressed(), Compressed(), Dense(), Dense())),
    "sorted by diagonal": Format("(i,j) -> (j-i,i,j)", (Compressed(), Compressed(), Singleton())),
    "slices": Format("(i,j) -> (#i,i,j)", (Sliced(), Dense(), Singleton(padded=True))),
    "columns that occur": Format("(i,j) -> (i,j)", (Dense(), Squeezed())),
    "three digits": Format("(i,j) -> (i/4,i/2%2,i%2,j)", (Dense(), Dense(), Compressed(), Compressed())),
}
ODD = {  # made where they are drawn
    "no entries": lambda: weft.zeros((3, 4), format="csr"),
    "no rows": lambda: weft.zeros((0, 4), format="csr"),
    "no columns": lambda: weft.zeros((4, 0), format="dcsr"),
    "one element": lambda: weft.from_coords([[0], [0]], [7], shape=(1, 1), format="coo"),
    "a vector": lambda: weft.from_coords([[1, 5, 7]], [1.5, 2.0, 3.0], shape=(9,), format="csf"),
    "a vector of zeros": lambda: weft.zeros((5,), format="hash_vector"),
    "three axes": lambda: weft.asarray(THREE, format="csf"),
    "three axes in a list": lambda: weft.asarray(THREE, format="coo"),
    "three axes in blocks": lambda: weft.asarray(THREE, format="mode_generic"),
    "three axes in tables": lambda: weft.asarray(THREE, format="hash"),
    "four axes": lambda: FOUR.asformat("csf"),
    "four axes side by side": lambda: FOUR.asformat("coo_aos"),
    "duplicates": lambda: weft.from_coords([[1, 0, 1], [0, 2, 0]], [1.0, 2.0, 3.0], shape=(2, 3), duplicates="keep"),
    "explicit zeros": lambda: weft.from_coords([[1, 0], [0, 2]], [0.0, 2.0], shape=(2, 3), format="csr"),
    "another fill value": lambda: weft.from_coords([[1, 0], [0, 2]], [0.0, np.inf], shape=(2, 3), fill_value=np.nan),
    "large integers": lambda: weft.from_coords([[1, 0], [0, 2]], [2**62 + 1, -(2**63)], shape=(2, 3), format="csr"),
    "complex": lambda: weft.from_coords([[1, 0], [0, 2]], [1 + 2j, -3.25j], shape=(2, 3), format="dia"),
    "bool": lambda: weft.from_coords([[1, 0], [0, 2]], [True, False], shape=(2, 3), format="ell"),
    "long": lambda: weft.random((12, 15), density=0.2, format="csr", rng=0),
    "long blocks": lambda: weft.random((5, 7), density=0.3, format="bsr", rng=0),
    "long tables": lambda: weft.random((3, 9), density=0.6, format="hash", rng=0),
    "a slice": lambda: weft.random((12, 15), density=0.2, format="csr", rng=0)[2:9:2],
    "a slice of columns": lambda: weft.random((12, 15), density=0.2, format="csr", rng=0)[:, 1:9],
    "rows that are picked": lambda: weft.random((12, 15), density=0.2, format="csr", rng=0)[[1, 5, 3]],
}


def scene_of(A):
    return storage_scene(read_levels(A._storage), A.format)


def check(A):
    """Check the drawing of a tensor against the tensor."""
    scene = scene_of(A)
    root = checked(scene)
    assert checked_svg(storage_svg(A)) is not None
    values = [box for box in scene.items if isinstance(box, Box) and box.tip.startswith("vals[")]
    assert [box.text for box in values] == [value_text(v) for v in A._storage.vals]
    assert {value_text(v) for v in A._storage.vals} <= {text.text for text in root.iter(f"{SVG}text")}
    # Each element of each array is there, once.
    for level in read_levels(A._storage).levels:
        for role, array in level.arrays.items():
            shown = [box.text for box in scene.items if isinstance(box, Box) and box.tip.startswith(f"{role}[")]
            assert [str(v) for v in array.tolist()] == shown or len(shown) > len(array)  # levels share names of arrays
    # The elements on the left are those of the dense array.
    elements = [box for box in scene.items if isinstance(box, Box) and box.tip.startswith("element ")]
    assert len(elements) == A.size


@pytest.mark.parametrize("name", CATALOGUE)
def test_formats_of_the_catalogue(name):
    check(stored(name))


@pytest.mark.parametrize("name", OWN)
def test_formats_of_ones_own(name):
    check(weft.asarray(FIGURE).asformat(OWN[name]))


@pytest.mark.parametrize("name", ODD)
def test_tensors(name):
    check(ODD[name]())


def test_levels_of_ones_own():
    format = Format("(i,j) -> (i,j)", (Dense(), Bitmap()))
    array = np.array([[0.0, 1, 2], [3, 0, 0]])
    A = weft.from_levels((2, 3), format, [{}, {"present": (array != 0).astype(np.int32).ravel()}], array.ravel())
    check(A)
    colored = [
        box.text
        for box in scene_of(A).items
        if isinstance(box, Box) and box.tip.startswith("vals[") and box.color is not None
    ]
    assert colored == ["1", "2", "3"]


@settings(max_examples=12)
@given(own_formats(2), st.integers(0, 9))
def test_formats_of_anyone(format, seed):
    A = weft.random((4, 6), density=0.3, rng=seed)
    try:
        B = A.asformat(format)
    except (FormatError, StorageError):  # the data do not satisfy a condition of the format
        return
    if B._storage.nnz + sum(map(len, B._storage.arrays)) > MAX_CELLS:  # tables below tables have many slots
        with pytest.raises(ShapeError, match="draw a slice"):
            storage_svg(B)
    else:
        check(B)


@pytest.mark.parametrize("name", CATALOGUE)
def test_elements_are_those_of_an_iteration(name):
    A = stored(name)
    found = read_levels(A._storage)
    inverse = {q: path for path, q in entries(A._storage)}
    assert found.elements.keys() == inverse.keys()
    dense = A.todense()
    for q, axes in found.elements.items():
        assert dense[axes] == A._storage.vals[q]
    # All but fill values that the format cannot tell from entries have a color.
    assert {axes for q, axes in found.elements.items() if q not in found.filled} == set(
        zip(*map(list, np.nonzero(dense)), strict=True)
    )


def test_explicit_zeros_are_entries_where_the_format_can_tell():
    zero = weft.from_coords([[0, 1], [1, 1]], [0.0, 2.0], shape=(2, 2), format="csr")
    assert not read_levels(zero._storage).filled
    assert len(read_levels(zero.asformat("dense")._storage).filled) == 3
    assert not read_levels(zero.asformat("ell")._storage).filled


def test_segments():
    _, level = read_levels(stored("csr")._storage).levels
    assert level.segments == ((0, 2), (2, 4), (4, 4), (4, 7))
    assert (level.edges, level.aligned, level.starts) == (("pos",), ("crd",), ())
    _, level = read_levels(stored("lil")._storage).levels
    assert (level.edges, level.aligned, level.starts) == ((), ("crd",), ("begin",))
    _, level = read_levels(stored("skyline")._storage).levels
    assert (level.segments, level.edges) == (((0, 2), (2, 4), (0, 0), (4, 9)), ("pos",))
    diagonals, columns, rows = read_levels(stored("dia")._storage).levels
    assert diagonals.aligned == ("crd",)
    assert columns.segments == ((0, 6), (6, 12), (12, 18), (18, 24))  # with the padding of short diagonals
    assert (columns.is_chain, rows.is_chain) == (False, True)


def test_rules():
    levels = read_levels(stored("csr")._storage).levels
    assert [level.rules for level in levels] == [
        ("0 ≤ i < 4", "position i"),
        ("positions pos[p] : pos[p + 1]", "j = crd[q]"),
    ]
    levels = read_levels(stored("dia")._storage).levels
    assert levels[1].rules == ("max(0, (j-i)) ≤ j < min(6, 4 + (j-i), width[0])", "position p * width[0] + j")
    assert levels[2].rules == ("position p", "i = j - (j-i)")


def test_colors_are_the_same_in_the_matrix_and_in_the_values():
    scene = scene_of(stored("csc"))
    boxes = [box for box in scene.items if isinstance(box, Box)]
    left = {box.text: box.color for box in boxes if box.tip.startswith("element ") and box.style == "stored"}
    right = {box.text: box.color for box in boxes if box.tip.startswith("vals[")}
    assert left == right
    assert len(set(left.values())) == 3  # rows with entries


@pytest.mark.parametrize("name", ["csr", "dia", "hash"])
def test_golden(name, golden):
    golden(f"{name}.svg", storage_svg(stored(name)) + "\n")


def test_the_limit_is_the_one_of_the_signature():
    assert inspect.signature(draw).parameters["max_cells"].default == MAX_CELLS


def test_large_tensors_are_refused():
    A = weft.random((40, 40), nnz=10, rng=0, format="csr")
    with pytest.raises(ShapeError, match=r"at most 600 cells.* has 1600 elements.*draw a slice, such as A\[:8, :8\]"):
        A.draw()
    check(A[:8, :8])
    assert A.draw(max_cells=1600).svg.startswith("<svg")
    with pytest.raises(ShapeError, match="at most 9 cells"):
        weft.eye(3, format="csr").draw(max_cells=9)


def test_drawing(tmp_path):
    drawing = weft.eye(3, format="csr").draw()
    assert isinstance(drawing, Drawing)
    assert drawing.svg == drawing._repr_svg_() == str(drawing)
    assert type(drawing.svg) is str
    assert repr(drawing) == f"<drawing, {len(drawing)} characters of SVG; save(path) writes it to a file>"
    drawing.save(tmp_path / "eye.svg")
    assert (tmp_path / "eye.svg").read_text(encoding="utf-8") == f"{drawing}\n"
    ElementTree.parse(tmp_path / "eye.svg")


def test_text_is_escaped():
    scene = storage_scene(read_levels(weft.eye(2, format="csr")._storage), "<a & b>")
    root = checked(scene)
    assert "<a & b>" in [text.text for text in root.iter(f"{SVG}text")]
