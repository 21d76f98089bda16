"""``A[key]`` against NumPy: every format, every kind of key, any fill value."""

import re
from math import inf
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies
from tests.formats_for_tests import FORMATS, SHAPES, drawn, sparse

import weft
from weft.execution import convert
from weft.formats import Picked
from weft.storage import check
from weft.storage.views import part_of


def compare(found, expected, fill):
    if isinstance(found, weft.SparseTensor):
        check(found._storage)
        assert found.dtype == expected.dtype
        if not found.layout.is_dense:
            np.testing.assert_equal(found.fill_value, expected.dtype.type(fill))
        found = found.todense()
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_array_equal(found, expected)


def ways(way):
    """Few coordinates below each parent are found one by one, or passed by: each always, or as it is less."""
    searches, passed = {"found": (inf, 0), "passed by": (-inf, inf), "less": (0, 16)}[way]
    return patch.multiple("weft.operations.indexing", _SEARCHES=searches, _PASSED=passed)


WAYS = ("found", "passed by", "less")


@given(data=st.data())
def test_keys(data):
    shape = data.draw(st.sampled_from(SHAPES))
    fill = data.draw(st.sampled_from([0.0, 0.0, -0.0, 2.0, np.nan, np.inf]))
    dense = drawn(data, shape, fill)
    A = sparse(dense, fill, data.draw(st.sampled_from(FORMATS[len(shape)])))
    key = data.draw(strategies.keys(shape))
    try:
        expected = dense[key]
    except IndexError as error:
        message = str(error).strip()
    else:
        with ways(data.draw(st.sampled_from(WAYS))):
            compare(A[key], expected, fill)
        return
    with pytest.raises(IndexError, match=re.escape(message)):
        A[key]


@pytest.mark.parametrize("way", WAYS[:2])
@pytest.mark.parametrize("format", FORMATS[2])
def test_every_format(format, way):
    rng = np.random.default_rng(4)
    dense = np.where(rng.random((6, 7)) < 0.4, rng.integers(1, 9, (6, 7)), 0)
    A = weft.asarray(dense, format=format)
    mask = rng.random((6, 7)) < 0.5
    keys = [2, (slice(None), 3), slice(1, 5, 2), (slice(None, None, -1), slice(5, 0, -2)), [4, 0, 4], (..., [1, 1]),
            mask, mask[:, 0], (mask[:, 0], slice(2)), ([0, 1], [2, 3]), np.ix_([3, 1], [0, 5]), (None, 0),
            slice(3, 3), (-1, -1), slice(None, None, 2**64),
            (slice(4, None, -(2**70)), slice(None, None, 2**40))]  # fmt: skip
    with ways(way):
        for key in keys:
            compare(A[key], dense[key], 0)
    stays = A[1:, ::2]
    assert stays.format == A.format


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("format", [*FORMATS[3], "sss:2,0,1", "sss:1,2,0", "dss", "sds", "dds"])
def test_every_axis_of_three(format, way):
    rng = np.random.default_rng(7)
    dense = np.where(rng.random((5, 6, 7)) < 0.3, rng.integers(1, 9, (5, 6, 7)), 0)
    dense[3] = 0
    A = weft.asarray(dense, format=format)
    whole, index, mask = slice(None), [4, 0, 0, 3], [True, False, True, True, False, False, False]
    some = slice(4, 1, -1)
    keys = [(whole, 2), (..., 4), (3, whole, 2), (1, 2), (whole, index), (..., mask), (index,), (some, index),
            (1, index, some), (some, 2, mask), (whole, [], 1), (whole, slice(2, 2), 1), (0, [5]), (3, index),
            np.ix_(index, [5, -6], [6, 0, 6]), (whole, *np.ix_(index, mask)), np.ix_([0], [], mask)]  # fmt: skip
    with ways(way):
        for key in keys:
            compare(A[key], dense[key], 0)


@pytest.mark.compiles_alone
def test_a_column_of_fibers_is_searched_for():
    """Where few are asked for, and stored anew nothing but what is found."""
    A = weft.random((20, 300, 8), density=0.2, format="csf", rng=1)
    expected = A.todense()
    with patch("weft.operations.indexing.execution.convert", wraps=convert) as converted:
        found = A[:, [7, 250, 7]]
    compare(found, expected[:, [7, 250, 7]], 0)
    (view, format), *others = (call.args for call in converted.call_args_list)
    assert isinstance(view.format.levels[1], Picked)
    assert (format, others) == (A.layout, [])


def test_masks_that_are_tensors():
    rng = np.random.default_rng(5)
    dense = np.where(rng.random((6, 7)) < 0.4, rng.random((6, 7)), 0)
    A = weft.asarray(dense, format="csr")
    compare(A[A > 0.5], dense[dense > 0.5], 0)
    compare(A[A < 0.5], dense[dense < 0.5], 0)  # its fill value is true
    compare(A[weft.asarray(np.array([1, 0, 3]), format="coo")], dense[[1, 0, 3]], 0)


def test_infinity_nan_and_signs_are_taken_as_they_are():
    vals = np.array([complex(np.inf, 1), complex(np.nan, -np.inf), complex(-0.0, 2)])
    A = weft.from_coords([[0, 1, 2], [1, 0, 2]], vals, shape=(3, 3), format="csr")
    for key in ([2, 0, 1, 1], ([0, 1, 2], [1, 0, 2]), (slice(None), [1, 0, 2])):
        found, expected = A[key].todense(), A.todense()[key]
        assert found.tobytes() == expected.tobytes()


def test_huge_dimensions():
    """No array over a dimension is made."""
    n = 10**12
    A = weft.from_coords([[3, n - 1], [5, n - 2]], [1.0, 2.0], shape=(n, n), format="coo")
    assert (A[n - 1, n - 2], A[3, 5], A[0, 0]) == (2, 1, 0)
    assert A[[n - 1, 3, n - 1]].todok().nnz == 3
    assert A[-2:, -3:].todense().tolist() == [[0, 0, 0], [0, 2, 0]]
    assert A[:, [5, 5]].nnz == 2


def test_a_view_shares_all_arrays():
    A = weft.random((50, 40), density=0.1, format="csr", rng=1)
    seen = part_of(A._storage, [(4, 3, 10), (39, -1, 40)])
    check(seen)
    assert seen.vals is A._storage.vals
    assert all(any(array is shown for shown in seen.arrays) for array in A._storage.arrays)
    again = part_of(seen, [(9, -2, 3), (1, 2, 4)])
    check(again)
    view, dense = weft.SparseTensor(again), A.todense()[4::3][:10, ::-1][9::-2][:3, 1::2][:, :4]
    np.testing.assert_array_equal(view.asformat("csc").todense(), dense)
    np.testing.assert_allclose(view @ np.ones(4), dense.sum(axis=1))
    picked = part_of(part_of(A._storage, [np.array([3, 3, 1]), (0, 1, 40)]), [np.array([2, 0]), (0, 1, 40)])
    np.testing.assert_array_equal(weft.SparseTensor(picked).asformat("csr").todense(), A.todense()[[1, 3]])


@pytest.mark.parametrize("format", ["csr", "csc", "dcsr", "dcsc", "hash"])
def test_a_view_of_coordinates_that_are_searched_for(format):
    """It is an operand and a source like any other tensor."""
    rng = np.random.default_rng(0)
    A = weft.random((12, 15), density=0.3, format=format, rng=1)
    index = rng.integers(0, 15, 9)
    seen, dense = part_of(A._storage, [(0, 1, 12), index]), A.todense()[:, index]
    check(seen)
    view, B = weft.SparseTensor(seen), weft.random((12, 9), density=0.4, format="csr", rng=2)
    b = B.todense()
    for target in FORMATS[2]:
        np.testing.assert_array_equal(view.asformat(target).todense(), dense)
    with weft.config.override(num_threads=2, parallel_threshold=1):
        for target in ("csr", "csc", "coo", "dense"):
            np.testing.assert_array_equal(view.asformat(target).todense(), dense)
    for found, expected in [(view @ np.ones(9), dense.sum(1)), (view + B, dense + b), (view * B, dense * b),
                            (view.T @ B, dense.T @ b), (view.max(axis=0), dense.max(axis=0)), (view + view, 2 * dense),
                            (view > B, dense > b), (view + b, dense + b), (view * b, dense * b)]:  # fmt: skip
        np.testing.assert_allclose(found.todense() if isinstance(found, weft.SparseTensor) else found, expected)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (1.5, "only integers, slices"),
        ("a", "only integers, slices"),
        ((0, 0, 0), "too many indices"),
        ((..., ...), "single ellipsis"),
        (np.zeros(3, bool), "boolean index did not match"),
        (7, "index 7 is out of bounds for axis 0 with size 4"),
        (([0, 1], [0, 1, 2]), "could not be broadcast"),
    ],
)
def test_wrong_keys(key, message):
    A = weft.random((4, 4), density=0.5, format="csr")
    with pytest.raises(IndexError, match=message):
        A[key]


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dok", "lil", "hash", "dcsr", "dia", "bsr", "dense"])
@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
def test_pairs_crossings_and_steps(format, fill):
    """Keys that are found without a join: single elements by arrays, rows by columns, and steps along one axis."""
    rng = np.random.default_rng(3)
    x = np.where(rng.random((7, 9)) < 0.4, rng.integers(1, 9, (7, 9)).astype(float), fill)
    stored = ~((x == fill) | (np.isnan(x) & np.isnan(fill)))
    A = weft.from_coords(np.array(np.nonzero(stored)), x[stored], x.shape, fill_value=fill).asformat(format)
    i, j = np.array([6, 0, 3, 3, -1]), np.array([8, -9, 2, 2, 4])
    mask = rng.random(x.shape) < 0.3
    none = np.empty(0, int)
    for key in (
        (i, j), (i[:, None], j), (i[:, None], j[None]), np.ix_(i, j), np.ix_(none, j), np.ix_(i, none),
        (i.reshape(1, 5), j.reshape(1, 5)), (i[None, :, None], j), (none, none), (mask,), (i, None, j), (None, i, j),
        (slice(None, None, 3),), (slice(5, None, -2),), (slice(None), slice(1, 8, 3)), (slice(6, 1, -1), slice(None)),
        (slice(None, None, -1), slice(None, None, 2)), (3, j), (i, 4),
    ):  # fmt: skip
        found = A[key]
        np.testing.assert_array_equal(found.todense() if hasattr(found, "todense") else found, x[key])
        check(found._storage)
    for key in ((i, j + 9), (i - 9, j), (i[:, None], j + 1), (i, j[:3])):
        with pytest.raises(IndexError):
            A[key]


@pytest.mark.parametrize("format", ["coo", "csf"])
def test_vectors_that_select_by_themselves_are_not_broadcast(format):
    n = 10_000  # together they have a trillion elements
    backwards = np.arange(n)[::-1]
    A = weft.from_coords([[0, 2, 9], [3, 7, 7], [1, 1, n - 1]], [1.0, 2.0, 3.0], (n, n, n)).asformat(format)
    coords, values = A[np.ix_(backwards, backwards, backwards)].to_coo()
    np.testing.assert_array_equal(n - 1 - coords[:, ::-1], [[0, 2, 9], [3, 7, 7], [1, 1, n - 1]])
    np.testing.assert_array_equal(values, [3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    "key", [([0, 1, 3], [4, 2, 0]), (np.eye(4, 5) > 0,), ([[3], [0]], [1, 4]), (slice(None, None, -2),)]
)
def test_pairs_where_entries_repeat(key):
    """Rows with duplicates, in any order, as scipy's may have them."""
    rng = np.random.default_rng(1)
    columns, values = rng.integers(0, 5, 14).astype(np.int32), rng.integers(-3, 4, 14).astype(float)
    pos = np.array([0, 5, 5, 11, 14], np.int32)
    S = scipy.sparse.csr_array((values, columns, pos), shape=(4, 5))
    for A in (weft.asarray(S), weft.asarray(S.tocoo()), weft.asarray(S).T.T):
        found = A[tuple(map(np.asarray, key)) if not isinstance(key[0], slice) else key]
        expected = S.toarray()[tuple(map(np.asarray, key)) if not isinstance(key[0], slice) else key]
        np.testing.assert_array_equal(found.todense(), expected)


@pytest.mark.parametrize("threads", [1, 3])
def test_picked_rows_are_asked_for_ahead(threads):
    """More rows than are asked for at a time, in any order, up to the last."""
    A = weft.random((40, 30), density=0.2, format="csr", rng=1)
    index = np.random.default_rng(3).integers(0, 40, 50)
    index[-3:] = 39
    with weft.config.override(num_threads=threads, parallel_threshold=1):
        compare(A[index], A.todense()[index], 0)
        compare(A.T[:, index], A.todense().T[:, index], 0)
    T = weft.random((40, 5, 6), density=0.2, format="dss", rng=1)
    compare(T[index], T.todense()[index], 0)
