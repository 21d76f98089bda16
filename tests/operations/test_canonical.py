from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.dtypes import VALUE_DTYPES
from weft.operations.canonical import drop_explicit_fill
from weft.storage import check

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 3.0], [0.0, 0.0, 4.0]])
FORMATS = ["coo", "csr", "csc", "dcsr", "dcsc"]


def messy() -> weft.SparseTensor:
    return weft.from_coords([[2, 0, 2, 1], [1, 2, 1, 0]], [1.0, 2.0, -1.0, 0.0], shape=(3, 3), duplicates="keep")


def with_zeros(format: str, value: float = 0.0, fill: float = 0.0) -> weft.SparseTensor:
    """``X`` with what was 2 stored as ``value``."""
    A = weft.asarray(X, format=format)
    return weft.SparseTensor(A._storage.with_values(np.where(A.data == 2, value, A.data), fill))


@pytest.mark.parametrize("format", [*FORMATS, "dense", "sd"])
def test_what_is_canonical_stays_itself(format):
    A = weft.asarray(X, format=format)
    assert (A.is_ordered, A.is_unique, A.is_canonical) == (True, True, True)
    assert A.canonical() is A


def test_duplicates_out_of_order():
    A = messy()
    assert (A.is_ordered, A.is_unique, A.is_canonical) == (False, False, False)
    B = A.canonical()
    assert B.is_canonical
    assert str(B.format) == str(A.format)
    coords, values = B.to_coo()
    np.testing.assert_array_equal(coords, [[0, 1, 2], [2, 0, 1]])
    np.testing.assert_array_equal(values, [2.0, 0.0, 0.0])  # a sum that is zero is stored
    check(B._storage)


def test_sorted_duplicates():
    S = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 2]), np.array([0, 2, 3])), shape=(2, 3))
    A = weft.asarray(S)
    assert (A.is_ordered, A.is_unique, A.is_canonical) == (True, False, False)
    np.testing.assert_array_equal(A.canonical().todense(), S.toarray())
    assert A.canonical().nnz == 2


def test_equal_fibers_are_duplicates():
    A = weft.from_levels((2, 3), "us", [([0, 2], [0, 0]), ([0, 1, 2], [1, 1])], [1.0, 2.0])
    assert A.is_ordered
    assert not A.is_unique


@pytest.mark.parametrize("format", FORMATS)
def test_explicit_zeros_are_counted_and_pruned(format):
    A = with_zeros(format)
    assert A.count_explicit_fill() == 1
    B = A.pruned()
    assert (A.nnz, B.nnz) == (4, 3)
    assert B.format == A.format
    assert B.count_explicit_fill() == 0
    assert B.pruned() is B
    np.testing.assert_array_equal(B.todense(), np.where(X == 2, 0, X))
    check(B._storage)


def test_negative_zero_is_zero():
    A = with_zeros("csr", -0.0)
    assert A.count_explicit_fill() == 1
    assert A.pruned().nnz == 3


@pytest.mark.parametrize("fill", [7.0, np.nan])
@pytest.mark.parametrize("format", FORMATS)
def test_other_fill_values(format, fill):
    A = with_zeros(format, fill, fill)
    assert A.count_explicit_fill() == 1
    assert A.pruned().nnz == 3
    np.testing.assert_array_equal(A.pruned().todense(), A.todense())
    zeros = with_zeros(format, 0.0, fill)  # zero is no fill value here
    assert zeros.count_explicit_fill() == 0
    assert zeros.pruned() is zeros


def test_duplicates_are_summed_before_they_are_pruned():
    B = messy().pruned()
    assert B.nnz == 1
    np.testing.assert_array_equal(B.todense(), messy().todense())
    assert messy().count_explicit_fill() == 1


def test_dense_levels_keep_what_they_store():
    D = weft.asarray(X)
    assert D.count_explicit_fill() == 5
    assert D.pruned() is D
    B = weft.asarray(X, format="sd").pruned()
    np.testing.assert_array_equal(B.todense(), X)


@pytest.mark.parametrize("format", ["csf", "coo", "dss", "sds:2,0,1", "dds"])
def test_three_axes(format):
    A = weft.random((3, 4, 5), nnz=20, rng=0, format=format)
    A = weft.SparseTensor(A._storage.with_values(np.where(A.data > 0.5, A.data, 0), 0))
    zeros = np.count_nonzero(A.data == 0)
    assert zeros
    assert A.count_explicit_fill() == zeros
    B = A.pruned()
    assert B.nnz == A.nnz - zeros
    np.testing.assert_array_equal(B.todense(), A.todense())
    check(B._storage)


def test_dense_sources_leave_out_nan_where_it_is_the_fill_value():
    x = np.array([[np.nan, 1.0], [np.nan, np.nan]])
    A = weft.asarray(x, format="csr", fill_value=np.nan)
    assert A.nnz == 1
    np.testing.assert_array_equal(A.todense(), x)


@pytest.mark.parametrize("dtype", VALUE_DTYPES)
def test_every_dtype(dtype):
    A = weft.from_coords([np.arange(300)], np.arange(300) % 3, shape=(300,), dtype=dtype)
    assert A.count_explicit_fill() == 100
    B = A.pruned()
    assert B.nnz == 200
    assert B.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(B.todense(), A.todense())


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_nothing_stored(shape):
    A = weft.asarray(np.zeros(shape), format="coo")
    assert A.count_explicit_fill() == A.nnz
    np.testing.assert_array_equal(A.pruned().todense(), A.todense())


@pytest.mark.parametrize("format", ["dok", "hash"])
def test_empty_places_of_tables_are_no_entries(format):
    A = weft.asarray(X, format=format)
    assert A.count_explicit_fill() == 0
    assert A.pruned() is A
    A[0, 1] = 0
    stored = A.nnz - np.count_nonzero(A.todense())
    assert A.count_explicit_fill() == stored


def test_blocks_are_left_out_as_a_whole():
    for format in ("bsr", "mode_generic"):
        A = weft.asarray(np.kron([[1.0, 0, 2], [0, 3, 0]], [[1, 0], [0, 5]])).asformat(format)
        kept = drop_explicit_fill(A._storage)
        assert kept.vals.size == A._storage.vals.size
        np.testing.assert_array_equal(weft.SparseTensor(kept).todense(), A.todense())
        A[2, 2] = A[3, 3] = 0.0
        fewer = drop_explicit_fill(A._storage)
        assert fewer.vals.size < kept.vals.size
        np.testing.assert_array_equal(weft.SparseTensor(fewer).todense(), A.todense())
