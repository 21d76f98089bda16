"""Conversions that append entries in the order in which the source stores them take over its values."""

import numpy as np
import pytest

import weft
from weft.storage import check

MATRICES = [("csr", "coo"), ("coo", "csr"), ("csr", "csf"), ("csf", "csr"), ("coo", "csf"), ("csf", "coo")]
CUBES = [("coo", "csf"), ("csf", "coo"), ("sss", "dss"), ("ssd", "dsd"), ("dsd", "ssd")]
BLOCKS = [("bsr", "mode_generic"), ("mode_generic", "bsr")]
PAIRS = [(*pair, (5, 4)) for pair in MATRICES + BLOCKS] + [(*pair, (5, 4, 4)) for pair in CUBES]


def entries(shape):
    """Return a tensor with an explicit zero, a row without entries, and a negative zero."""
    coords = np.array([[0, 0, 1, 3], [1, 2, 0, 2], [0, 3, 3, 1]])[: len(shape)]
    return weft.from_coords(coords, [1.0, 0.0, -0.0, np.nan], shape)


@pytest.mark.parametrize(("source", "target", "shape"), PAIRS)
def test_values_are_shared_where_entries_keep_their_order(source, target, shape):
    for A in (entries(shape), weft.zeros(shape)):
        A = A.asformat(source)
        with weft.config.override(disable=["shared-arrays"]):
            copied = A.asformat(target)
        assert not np.shares_memory(copied._storage.vals, A._storage.vals)
        for threads in (1, 2):
            with weft.config.override(num_threads=threads, parallel_threshold=0):
                B = A.asformat(target)
            check(B._storage)
            assert B._storage.vals.size == 0 or np.shares_memory(B._storage.vals, A._storage.vals)
            if A.nnz and (source, target) in MATRICES and A._storage.type.index_dtypes[-1] == "int32":
                assert np.shares_memory(B._storage.arrays[-1], A._storage.arrays[-1])  # the columns
            arrays = [(*each.arrays, each.vals) for each in (B._storage, copied._storage)]
            for mine, other in zip(*arrays, strict=True):
                assert (mine.dtype, mine.tobytes()) == (other.dtype, other.tobytes())


@pytest.mark.parametrize(("source", "target"), [("csr", "csf"), ("bsr", "mode_generic")])
def test_what_is_assigned_to_one_does_not_reach_the_other(source, target):
    A = entries((5, 4)).asformat(source)
    B = A.asformat(target)
    A[0, 1] = 7
    B[3, 2] = 8
    assert (B[0, 1], A[0, 1], B[3, 2]) == (1, 7, 8)
    assert np.isnan(A[3, 2])


@pytest.mark.parametrize("change", ["dtype", "duplicates", "order", "pruned"])
def test_values_are_copied_where_others_are_stored(change):
    A = entries((5, 4)).asformat("csr")
    if change == "dtype":
        B = A.astype("float32").asformat("csr").astype("float64")
    elif change == "duplicates":
        A = weft.from_coords([[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 3.0], (2, 3), duplicates="keep")
        B = A.asformat("csf")
        assert B.nnz == 2
    elif change == "order":
        B = A.asformat("csc")
    else:
        B = A.pruned().asformat("csf")
        assert B.nnz == 2
    assert not np.shares_memory(B._storage.vals, A._storage.vals)
    np.testing.assert_array_equal(B.todense(), A.todense())
