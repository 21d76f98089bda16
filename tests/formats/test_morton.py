"""Levels in the order of a space-filling curve (2020 paper, section 4.1), beside a count of bits in Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from weft.errors import StorageError
from weft.formats import Compressed, Dense, Format, Morton, Singleton
from weft.formats.levels.morton import morton_codes
from weft.remapping.nodes import Axis, evaluate
from weft.storage import check


def checked(A):
    check(A._storage)
    return A


def interleaved(point):
    """The bits of a point's coordinates side by side, those of the last most significant."""
    n = len(point)
    return sum((c >> b & 1) << n * b + d for d, c in enumerate(point) for b in range(c.bit_length()))


def code_of(words, point):
    total = 0
    for word in words:
        total = (total << 62) + evaluate(word, point)
    return total


@given(st.lists(st.integers(0, 2**40 - 1), min_size=1, max_size=4))
def test_codes(point):
    words = morton_codes([Axis(d) for d in range(len(point))], [(0, 2**40)] * len(point))
    assert code_of(words, point) == interleaved(point)
    assert all(0 <= evaluate(word, point) < 2**62 for word in words)


def test_codes_of_what_begins_below_zero():
    (word,) = morton_codes([Axis(0), Axis(1)], [(-3, 5), (0, 8)])
    assert evaluate(word, (-3, 0)) == 0
    assert evaluate(word, (4, 7)) == 63


@pytest.mark.parametrize("block", [1, 2, (4, 3), 128])
@pytest.mark.parametrize("shape", [(9, 7), (1, 20), (300, 200), (2**40, 2**41)])
def test_entries_of_hicoo_come_in_morton_order(shape, block):
    rng = np.random.default_rng(0)
    coords = np.stack([rng.integers(0, n, 60) for n in shape])
    A = weft.from_coords(coords, np.arange(60.0), shape=shape)
    H = checked(A.asformat("hicoo", block=block))
    sizes = (block, block) if isinstance(block, int) else block
    inner, outer = H._storage.level_arrays(2), H._storage.level_arrays(0)
    within = np.repeat(np.arange(len(outer["crd"])), np.diff(inner["pos"]))
    blocks = np.stack([outer["crd"], H._storage.level_arrays(1)["crd"]])[:, within]
    inside = np.stack([inner["crd"], H._storage.level_arrays(3)["crd"]])
    codes = [(interleaved(b), interleaved(c)) for b, c in zip(blocks.T.tolist(), inside.T.tolist(), strict=True)]
    assert codes == sorted(codes)
    np.testing.assert_array_equal(A.asformat("coo").to_coo()[0], H.asformat("coo").to_coo()[0])
    assert sizes == tuple(c.right.value for c in H.layout.remapping.coordinates[:2])


def test_axes_of_any_number():
    T = weft.random((9, 10, 11), nnz=120, rng=0)
    H = checked(T.asformat("hicoo", block=2))
    np.testing.assert_array_equal(H.todense(), T.todense())
    product = weft.einsum("ijk,k->ij", H, np.arange(11.0)).todense()
    np.testing.assert_allclose(product, T.todense() @ np.arange(11.0))
    doubled = checked(H + H)
    assert doubled.format == H.format
    np.testing.assert_array_equal(doubled.todense(), 2 * T.todense())


def test_duplicates_are_added():
    A = weft.from_coords([[3, 0, 3], [1, 0, 1]], [1.0, 2.0, 4.0], shape=(4, 4), duplicates="keep")
    H = checked(A.asformat("hicoo", block=2))
    assert H.nnz == 2
    np.testing.assert_array_equal(H.todense(), A.todense())


@pytest.mark.parametrize(
    "format",
    [
        Format("(i,j) -> (i,j)", (Morton(unique=False), Singleton(ordered=False))),
        Format("(i,j) -> (j,i)", (Morton(unique=False), Singleton(ordered=False))),
        Format("(i,j) -> (j-i,j)", (Morton(unique=False), Singleton(ordered=False))),
        Format("(i,j) -> (i,j/3,j%3)", (Dense(), Morton(), Dense())),
        Format("(i,j) -> ((i/2)|(j/2),i,j)", (Compressed(), Compressed(), Compressed())),
        Format("(i,j) -> ((i&3)^(j/2),i,j)", (Dense(), Compressed(), Compressed())),
    ],
    ids=str,
)
def test_in_formats_of_ones_own(format):
    A = weft.random((11, 8), nnz=40, rng=1)
    H = checked(A.asformat(format))
    np.testing.assert_array_equal(H.todense(), A.todense())
    np.testing.assert_allclose((H * 2).todense(), 2 * A.todense())
    np.testing.assert_allclose(weft.einsum("ij,j->i", H, np.ones(8)), A.todense().sum(1))
    np.testing.assert_array_equal(checked(H.asformat("csr")).todense(), A.todense())


def test_arrays_out_of_order_are_refused():
    format = Format("(i,j) -> (i,j)", (Morton(unique=False), Singleton(ordered=False)))
    levels = [{"pos": np.array([0, 3]), "crd": np.array([0, 0, 1])}, {"crd": np.array([0, 1, 0])}]
    with pytest.raises(StorageError, match="do not follow the curve"):
        weft.from_levels((2, 2), format, levels, np.ones(3))
    levels = [{"pos": np.array([0, 3]), "crd": np.array([0, 1, 0])}, {"crd": np.array([0, 0, 1])}]
    A = weft.from_levels((2, 2), format, levels, np.array([1.0, 2, 3]))
    np.testing.assert_array_equal(A.todense(), [[1, 3], [2, 0]])
