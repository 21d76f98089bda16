"""Operators on two tensors of one structured format, by the coordinates of its levels."""

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.operations import levelwise
from weft.storage import check

SHAPES = [(1, 1), (5, 5), (3, 7), (7, 3), (0, 3), (3, 0)]
OPERATORS = [np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.equal, np.less, np.logical_or, np.copysign]


def diagonals(shape, offsets, seed):
    rng = np.random.default_rng(seed)
    data = rng.integers(-3, 4, (len(offsets), shape[1])).astype(float)
    return weft.asarray(scipy.sparse.dia_array((data, offsets), shape=shape))


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.parametrize("shape", SHAPES)
def test_against_numpy(shape, op):
    for offsets, others in [([0], [0]), ([0, 1], [-1, 0]), ([1, -1], [0]), ([], [0, 1]), ([2, 0, -2], [1, 0])]:
        A, B = diagonals(shape, offsets, 0), diagonals(shape, others, 1)
        found = op(A, B)
        np.testing.assert_array_equal(weft.asarray(found).todense(), op(A.todense(), B.todense()))
        if isinstance(found, weft.SparseTensor):
            check(found._storage)


def test_the_result_has_the_format_and_no_more_diagonals_than_needed():
    A, B = diagonals((50, 50), [0, 3], 0), diagonals((50, 50), [-2, 3], 1)
    assert str((A + B).format) == str((A * B).format) == "dia"
    np.testing.assert_array_equal((A + B).to_scipy_sparse().offsets, [-2, 0, 3])
    np.testing.assert_array_equal((A * B).to_scipy_sparse().offsets, [3])
    np.testing.assert_array_equal((A == B).todense(), A.todense() == B.todense())


def test_arrays_of_other_lengths_take_the_way_over_the_axes():
    A = weft.asarray(scipy.sparse.dia_array((np.ones((1, 4)), [0]), shape=(6, 6)))
    B = diagonals((6, 6), [0, 1], 1)
    assert levelwise.apply("add", A._storage, B._storage) is None
    np.testing.assert_array_equal((A + B).todense(), A.todense() + B.todense())
    C = diagonals((6, 6), [0], 2)  # the same types again, of one length
    np.testing.assert_array_equal((C + B).todense(), C.todense() + B.todense())
    np.testing.assert_array_equal((A + B).todense(), A.todense() + B.todense())


def test_what_other_dtypes_promote_to():
    A = diagonals((6, 6), [0, 1], 0).astype("int32")
    B = diagonals((6, 6), [0, -1], 1).astype("float32")
    assert (A + B).dtype == np.add(A.todense(), B.todense()).dtype
    np.testing.assert_array_equal((A + B).todense(), A.todense() + B.todense())


@pytest.mark.parametrize("format", ["csr", "bsr", "ell", "skyline", "coo"])
def test_formats_without_such_levels(format):
    A = weft.random((6, 6), density=0.4, rng=0, format="csr").asformat(format)
    assert levelwise.apply("add", A._storage, A._storage) is None
