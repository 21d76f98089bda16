"""Chosen elements, covariances, convolutions and partial orders, beside NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats_for_tests import FORMATS, drawn, sparse

import weft

SHAPES = [(1,), (7,), (4, 6), (1, 5), (3, 2, 4)]


def pair(data, shape=None):
    shape = shape or data.draw(st.sampled_from(SHAPES))
    fill = data.draw(st.sampled_from([0.0, 0.0, 2.0]))
    dense = drawn(data, shape, fill)
    return sparse(dense, fill, data.draw(st.sampled_from(FORMATS[len(shape)]))), dense


def same(found, expected, close=False):
    assert isinstance(found, weft.SparseTensor)
    whole = found.todense()
    assert whole.shape == np.shape(expected)
    assert whole.dtype == np.asarray(expected).dtype
    if close:
        np.testing.assert_allclose(whole, expected, rtol=1e-10, atol=1e-10)
    else:
        np.testing.assert_array_equal(whole, expected)


@settings(max_examples=8)
@given(data=st.data())
def test_select(data):
    A, dense = pair(data, data.draw(st.sampled_from([(7,), (4, 6)])))
    default = data.draw(st.sampled_from([0, 0.0, 3.0, 7]))
    same(np.select([A > 2, A > 0], [A, -A], default), np.select([dense > 2, dense > 0], [dense, -dense], default))


@settings(max_examples=8)
@given(data=st.data(), mode=st.sampled_from(["raise", "wrap", "clip"]))
def test_choose(data, mode):
    A, dense = pair(data, data.draw(st.sampled_from([(7,), (4, 6)])))
    size = 1 if mode == "raise" else 3
    index = np.where(dense > 0, size, 0) * np.where(dense > 3, -1 if mode != "raise" else 1, 1)
    which = weft.asarray(index, format=str(A.format))
    choices = [A, A + 1, 5.0]
    same(np.choose(which, choices, mode=mode), np.choose(index, [dense, dense + 1, 5.0], mode=mode))


@settings(max_examples=25)
@given(data=st.data())
def test_covariance(data):
    A, dense = pair(data, data.draw(st.sampled_from([(7,), (4, 6), (5, 40), (1, 5)])))
    options = data.draw(
        st.sampled_from([{}, {"rowvar": False}, {"bias": True}, {"ddof": 0}, {"dtype": np.complex128}, {"twice": True}])
    )
    with np.errstate(all="ignore"):
        if options.pop("twice", False):
            same(np.cov(A, A), np.cov(dense, dense), close=True)
        elif not (options.get("rowvar") is False and dense.shape[0] == 1):  # one observation of each
            same(np.cov(A, **options), np.cov(dense, **options), close=True)


def test_thin_rows_stay_thin():
    """Rows of a million elements, a few of them stored, are never made dense."""
    A = weft.from_coords([[0, 0, 1], [3, 10**6, 3]], [1.0, 2.0, 5.0], shape=(2, 10**9), format="coo")
    n, sums = 1e9, np.array([3.0, 5.0])
    products = np.array([[5.0, 5.0], [5.0, 25.0]])
    np.testing.assert_allclose(weft.cov(A).todense(), (products - np.outer(sums, sums) / n) / (n - 1))


def test_correlations():
    rng = np.random.default_rng(2)
    dense = np.where(rng.random((4, 50)) < 0.2, rng.random((4, 50)), 0)
    A = weft.asarray(dense, format="csr")
    same(np.corrcoef(A), np.corrcoef(dense), close=True)
    same(np.corrcoef(A[0]), np.corrcoef(dense[0]), close=True)
    dense[1] = 3
    with pytest.warns(RuntimeWarning, match="invalid value"):
        found = np.corrcoef(weft.asarray(dense, format="csr")).todense()
    assert np.isnan(found[1]).all()


@settings(max_examples=25)
@given(data=st.data(), mode=st.sampled_from(["full", "same", "valid"]))
def test_convolve(data, mode):
    A, a = pair(data, (data.draw(st.integers(1, 9)),))
    B, b = pair(data, (data.draw(st.integers(1, 9)),))
    same(np.convolve(A, B, mode), np.convolve(a, b, mode), close=True)


@settings(max_examples=15)
@given(data=st.data())
def test_partition(data):
    A, dense = pair(data)
    axis = data.draw(st.integers(-A.ndim, A.ndim - 1))
    kth = data.draw(st.integers(-dense.shape[axis], dense.shape[axis] - 1))
    found, order = np.partition(A, kth, axis).todense(), np.argpartition(A, kth, axis).todense()
    wanted = np.sort(dense, axis)
    np.testing.assert_array_equal(found.take(kth, axis), wanted.take(kth, axis))
    np.testing.assert_array_equal(np.sort(found, axis), wanted)
    np.testing.assert_array_equal(np.take_along_axis(dense, order, axis).take(kth, axis), wanted.take(kth, axis))
    assert weft.partition(A, 0, axis=None).shape == (dense.size,)


def test_lexsort():
    rng = np.random.default_rng(4)
    keys = rng.integers(0, 3, (3, 20))
    same(weft.lexsort(weft.asarray(keys, format="csr")), np.lexsort(keys))
    same(np.lexsort(tuple(weft.asarray(k, format="coo") for k in keys)), np.lexsort(list(keys)))


def test_rows_one_by_one():
    dense = np.arange(12.0).reshape(3, 4)
    rows = list(weft.asarray(dense, format="csr"))
    np.testing.assert_array_equal([row.todense() for row in rows], dense)
    assert [float(x) for x in rows[1]] == dense[1].tolist()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda A: np.select([A > 0], [A, A]), ValueError, "same length"),
        (lambda A: weft.select([], []), ValueError, "empty condition list"),
        (lambda A: np.select([A], [A]), TypeError, "boolean"),
        (lambda A: np.choose(A, [A, A]), TypeError, "safe"),
        (lambda A: np.choose((A * 5).astype(int), [A, A]), ValueError, "invalid entry"),
        (lambda A: np.cov(A[None]), ValueError, "more than 2 dimensions"),
        (lambda A: np.cov(A, ddof=0.5), ValueError, "integer"),
        (lambda A: np.convolve(A, A[0]), ValueError, "too deep"),
        (lambda A: np.convolve(A[0], []), ValueError, "v cannot be empty"),
        (lambda A: weft.convolve(A[0], [1.0], "none"), ValueError, "mode"),
        (lambda A: np.partition(A, 9), ValueError, "out of bounds"),
        (lambda A: weft.lexsort([]), TypeError, "len > 0"),
    ],
)
def test_bad_arguments(call, error, message):
    A = weft.asarray([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]], format="csr")
    with pytest.raises(error, match=message):
        call(A)
