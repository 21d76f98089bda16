"""A level format that the library has never seen, defined here alone, through the whole grid."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pytest
import scipy.sparse as sp
from tests.compositions import wrong

import weft
from grid.test_catalogue import MATRIX_OPERATIONS, PAIRS, RESULTS, SHAPES, A, B, C, V, W, dense, run, x, z
from own_levels import Apart, ApartByPosition, Backwards, Reversed, Rotated
from weft.errors import StorageError
from weft.formats import Compressed, Dense, Format, LevelFormat, PositionIteration, ValueIteration, parse_format
from weft.ir import Load, Select, Store
from weft.ir.builder import add, cast, eq, ge, lit, mul, sub
from weft.storage import check


@dataclass(frozen=True)
class Bitmap(LevelFormat):
    """A dense array says which coordinates are present; the position of coordinate ``i`` is ``p_{k-1} * N + i``."""

    letter: ClassVar[str] = "m"
    locates: ClassVar[Literal["direct", "probe", "search"] | None] = "probe"
    placing: ClassVar[Literal["get", "yield"] | None] = "get"
    compact: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = ("present",)

    @property
    def gapless(self):
        return False

    # access
    def pos_bounds(self, m, parent):
        return mul(parent, m.dimension), mul(add(parent, lit(1)), m.dimension)

    def pos_access(self, m, p, parent, coords):
        return Select(self.is_there(m, p), sub(p, mul(parent, m.dimension)), lit(-1))

    def valid(self, m, coord):
        return ge(coord, lit(0))

    def locate(self, m, parent, coord):
        p = add(mul(parent, m.dimension), coord)
        return Select(self.is_there(m, p), p, lit(-1))

    def is_there(self, m, p):
        return eq(cast(Load(m["present"], p), "int64"), lit(1))

    def get_size(self, m, parent_size):
        return mul(parent_size, m.dimension)

    # assembly
    def first_arrays(self, parent_size, dimension):
        return {"present": parent_size * dimension}

    def get_pos(self, m, parent, coords):
        return add(mul(parent, m.dimension), coords[m.level])

    def insert_coord(self, m, p, coord):
        present = m["present"]
        return Store(present, p, lit(1, present.ty[:-1]))

    # storage
    def array_sizes(self, parent_size, size, dimension):
        return (size,)

    def size(self, parent_size, dimension, arrays):
        return parent_size * dimension

    def check(self, parent_size, dimension, arrays):
        if set(np.unique(arrays["present"])) - {0, 1}:
            return "present holds something else than 0 and 1"
        return None


FORMATS = [
    Format("(i,j) -> (i,j)", [Dense(), Bitmap()]),
    Format("(i,j) -> (j,i)", [Dense(), Bitmap()]),
    Format("(i,j) -> (i,j)", [Bitmap(), Bitmap()]),
    Format("(i,j) -> (i/2,j/3,i%2,j%3)", [Dense(), Bitmap(), Dense(), Dense()]),
]


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_construct_convert_and_print(format):
    tensor = weft.asarray(A, format=format)
    check(tensor._storage)
    np.testing.assert_array_equal(tensor.todense(), A)
    for other in ["csr", "csc", "coo", "dia", "ell", "bsr", "hash", "dok", "dense", *FORMATS]:
        there = tensor.asformat(other)
        check(there._storage)
        np.testing.assert_array_equal(there.todense(), A)
        np.testing.assert_array_equal(there.asformat(format).todense(), A)
    assert "bitmap" in tensor.tree()
    assert "bitmap" in tensor._repr_html_()
    for array in SHAPES.values():
        np.testing.assert_array_equal(weft.asarray(array, format=format).todense(), array)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_operations(format):
    tensor = weft.asarray(A, format=format)
    for text, wanted in MATRIX_OPERATIONS.items():
        for result in (None, "csr", format):
            if result is None or (np.ndim(wanted) == 2 and text in RESULTS):
                found = run(text, result, A=tensor, x=x, z=z, C=C, V=V, W=W)
                np.testing.assert_allclose(dense(found), wanted, err_msg=text)


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("other", ["csr", "csc", "coo", "dia", "bsr", "dense", *FORMATS[:1]], ids=str)
def test_pairs(format, other):
    first, second = weft.asarray(A, format=format), weft.asarray(B, format=other)
    for text, wanted in PAIRS.items():
        np.testing.assert_allclose(dense(weft.evaluate(text, A=first, B=second)), wanted, err_msg=text)
        np.testing.assert_allclose(dense(weft.evaluate(text, A=first, B=second, format=format)), wanted, err_msg=text)


def test_a_product_asks_the_bitmap_instead_of_walking_it():
    """Its locate is used: what walks is the sparse operand."""
    text = weft.explain(
        "y(i) = A(i,j)*B(i,j)", A=weft.asarray(A, format="csr"), B=weft.asarray(B, format=FORMATS[0]), stages=True
    )
    assert "j: (A2 | B2)" in text


def test_mixed_with_scipy():
    tensor = weft.asarray(sp.csr_array(A), format=FORMATS[0])
    np.testing.assert_allclose((tensor + sp.csr_array(B)).todense(), A + B)
    np.testing.assert_allclose(tensor @ x, A @ x)
    assert tensor.nnz == np.count_nonzero(A)


def test_by_name():
    weft.register_format("bitmap", lambda n: Format(weft.formats["dense"](n).remapping, [Bitmap()] * n))
    tensor = weft.asarray(A, format="bitmap")
    assert str(tensor.format) == "bitmap"
    np.testing.assert_array_equal((tensor * 2).todense(), 2 * A)


def test_what_it_refuses():
    with pytest.raises(StorageError, match="something else than 0 and 1"):
        weft.from_levels((2, 2), FORMATS[0], [None, {"present": [0, 1, 2, 0]}], np.zeros(4))
    assert Compressed() != Bitmap()


@pytest.mark.parametrize(
    ("remapping", "levels"),
    [
        ("(i,j) -> (i,j)", [Dense(), Backwards()]),
        ("(i,j) -> (j,i)", [Backwards(), Compressed()]),
        ("(i,j) -> (i,j)", [Reversed(), Rotated()]),
        ("(i,j) -> (i/2,j,i%2)", [Dense(), Compressed(), Rotated()]),
        ("(i,j) -> (i,j)", [Compressed(), Apart()]),
        ("(i,j) -> (i,j)", [ApartByPosition(), Dense()]),
    ],
)
def test_full_levels_whose_positions_are_not_row_major(remapping, levels):
    own, dense = Format(remapping, levels), np.where(np.arange(12) % 5, np.arange(12.0), 0).reshape(4, 3)
    B = weft.asarray(dense, format="coo")
    A = B.asformat(own)
    assert not own.is_dense
    assert wrong(A, dense, B, own, parse_format("csc", 2), str(own)) is None
    if own.is_full:  # no element is implicit
        assert np.array_equal(np.asarray(A), dense)
    assert np.array_equal(A[..., 0].todense(), dense[..., 0])
    assert np.array_equal(A[A > 3].todense(), dense[dense > 3])
    assert np.array_equal(weft.cumsum(A, axis=1).todense(), np.cumsum(dense, axis=1))
    assert np.array_equal(weft.einsum("ij->ij", A, format=own).todense(), dense)
    A[1, 2], A[::2, 1] = 50, 7
    dense[1, 2], dense[::2, 1] = 50, 7
    assert np.array_equal(A.todense(), dense)


def test_a_full_level_is_iterated_by_value():
    level = Backwards()
    assert (level.iteration, level.has_every, level.row_major, level.ordered) == ("value", True, False, False)
    assert level.capability(PositionIteration) is None
    assert level.capability(ValueIteration) is level


def test_order_may_be_given_without_an_annotation():
    @dataclass(frozen=True)
    class Loose(Backwards):
        ordered = False
        unique = False

    assert (Loose().ordered, Loose().unique, Loose(unique=True).unique) == (False, False, True)
