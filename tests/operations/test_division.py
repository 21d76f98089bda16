"""Operators that make zero of zero beside most values: sparse results where an array has no other values."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.errors import DensifyError

OPERATORS = [np.divide, np.floor_divide, np.remainder, np.fmod, np.power, np.float_power, np.arctan2]


def as_dense(found):
    return found.todense() if isinstance(found, weft.SparseTensor) else found


def example():
    return weft.random((6, 6), density=0.3, rng=0, format="csr")


def divisors():
    rng = np.random.default_rng(1)
    whole = rng.random((6, 6)) + 0.5
    yield from (whole, np.asfortranarray(whole), whole[0], whole[:, :1], weft.asarray(whole), whole.astype("float32"))


FORMATS = ["csr", "csc", "coo", "dcsr", "dia", "bsr", "ell", "dok", "hash", "lil", "skyline"]
CASES = [*((np.divide, f) for f in FORMATS), *((op, f) for op in OPERATORS[1:] for f in ("csr", "coo"))]


@pytest.mark.parametrize(("op", "format"), CASES, ids=lambda case: case if isinstance(case, str) else case.__name__)
def test_sparse_by_an_array_without_zeros(op, format):
    A = example().asformat(format)
    for divisor in divisors():
        found = op(A, divisor)
        expected = op(A.todense(), as_dense(divisor))
        assert isinstance(found, weft.SparseTensor)
        assert not found.layout.is_dense
        assert found.fill_value == 0
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.todense(), expected, rtol=1e-14)


@pytest.mark.parametrize("value", [0.0, -0.0, np.nan, np.inf, -2.0])
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_what_the_array_holds_decides_each_time(op, value):
    matrix = example()
    divisor = np.full((6, 6), 2.0)
    first = op(matrix, divisor)
    divisor[1, 2] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = op(matrix.todense(), divisor)
        zero = op(0.0, value) == 0
        for array in (divisor, weft.asarray(divisor)):
            found = op(matrix, array)
            np.testing.assert_allclose(as_dense(found), expected, rtol=1e-14)
            assert (isinstance(found, weft.SparseTensor) and not found.layout.is_dense) == zero
    np.testing.assert_array_equal(op(matrix, np.full((6, 6), 2.0)).todense(), first.todense())


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "complex64"])
def test_dtypes(dtype):
    A = (weft.random((6, 6), density=0.4, rng=0) * 100).astype(dtype)
    divisor = np.arange(1, 7).astype(dtype)
    ops = [np.divide] if dtype == "complex64" else [np.divide, np.floor_divide, np.remainder]
    for op in ops:
        found, expected = op(A, divisor), op(A.todense(), divisor)
        assert found.dtype == expected.dtype
        assert not found.layout.is_dense
        np.testing.assert_allclose(found.todense(), expected, rtol=1e-6)
    if dtype == "int64":
        np.testing.assert_array_equal((A << divisor).todense(), A.todense() << divisor)


def test_stored_zeros_infinities_and_nans():
    values = [0.0, np.inf, np.nan, -np.inf, -1.0]
    A = weft.from_coords([[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]], values, shape=(5, 5)).asformat("csr")
    divisor = np.full(5, np.inf)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal((A / divisor).todense(), A.todense() / divisor)


def test_duplicates_are_one_entry():
    A = weft.asarray(scipy.sparse.coo_array(([5.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))
    assert not A.layout.is_unique
    np.testing.assert_array_equal((A // np.full(2, 3.0)).todense(), [[0, 2], [1, 0]])


def test_other_fill_values_and_arrays_on_the_left():
    A = weft.full((3, 4), 2.0, format="csr") * 1.0
    np.testing.assert_array_equal(as_dense(A / np.full(4, 4.0)), np.full((3, 4), 0.5))
    B = weft.random((3, 4), density=0.5, rng=0)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(as_dense(np.ones((3, 4)) / B), 1 / B.todense())


def test_rows_are_normalised_in_place_and_at_any_size():
    matrix = example()
    sums = np.abs(np.random.default_rng(2).random((6, 1))) + 1
    expected = matrix.todense() / sums
    matrix /= sums
    assert str(matrix.format) == "csr"
    np.testing.assert_allclose(matrix.todense(), expected)
    huge = weft.from_coords([[0, 10**9 - 1], [5, 10**9 - 1]], [3.0, 4.0], shape=(10**9, 10**9))
    found = huge / weft.from_coords([[0]], [1.0], shape=(1,)).todense()
    assert found.nnz == 2
    tall = weft.from_coords([[0, 10**6 - 1], [5, 10**6 - 1]], [3.0, 4.0], shape=(10**6, 10**6))
    found = tall / np.full((10**6, 1), 2.0)
    assert found.nnz == 2
    np.testing.assert_array_equal(found.data, [1.5, 2.0])
    with pytest.raises(DensifyError, match=r"0/B\(i0\) is nan at i0 = 0, 1, 2 .*: 10{12} .*write A\(i0,i1\)\*\(1/B"):
        tall / np.zeros((10**6, 1))
