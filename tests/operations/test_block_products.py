"""Products of matrices in blocks and of diagonals, whose results have the same structure."""

import numpy as np
import pytest

import weft
from weft.formats import Compressed, Dense
from weft.runtime import memory
from weft.storage import check

SHAPES = [((9, 14), (14, 11)), ((8, 8), (8, 8)), ((1, 3), (3, 1)), ((0, 3), (3, 5)), ((5, 7), (7, 30))]


def matrices(first, second, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    return [(rng.integers(1, 9, shape) * (rng.random(shape) < 0.3)).astype(dtype) for shape in (first, second)]


@pytest.mark.parametrize(("first", "second"), SHAPES)
@pytest.mark.parametrize("sizes", [((2, 2), (2, 2)), ((2, 3), (3, 4)), ((4, 1), (1, 2))])
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_times_blocks_are_blocks(first, second, sizes, threads):
    X, Y = matrices(first, second)
    A, B = (weft.asarray(x).asformat("bsr", blocksize=size) for x, size in zip((X, Y), sizes, strict=True))
    with weft.config.override(num_threads=threads, parallel_threshold=0):
        C = A @ B
        assert weft.einsum("ij,jk->ik", A, B).format == C.format == "bsr"
    assert C.blocksize == (sizes[0][0], sizes[1][1])
    np.testing.assert_array_equal(C.todense(), X @ Y)
    assert C.asformat("csr").has_sorted_indices


OWN = weft.Format("(i,j) -> (i/3,j/3,i%3,j%3)", [Dense(), Compressed(ordered=False), Dense(), Dense()])


@pytest.mark.parametrize("rows", ["even", "one row", "none"])
@pytest.mark.parametrize("format", ["bsr", OWN], ids=str)
def test_threads_change_no_bit(format, rows):
    rng = np.random.default_rng(4)
    X, Y = (np.where(rng.random((n, n)) < 0.2, rng.normal(size=(n, n)), 0) for n in (31, 31))
    X[np.arange(31) != 5 if rows == "one row" else np.full(31, rows == "none")] = 0
    A, B = (weft.asarray(x).asformat(format) for x in (X, Y))
    results = []
    for threads in (1, 2, 3, 7):
        with weft.config.override(num_threads=threads, parallel_threshold=0):
            results.append(weft.evaluate("C(i,j) = A(i,k)*B(k,j)", A=A, B=B, format=format))
    np.testing.assert_allclose(results[0].todense(), X @ Y, atol=1e-12)
    for found in results[1:]:
        check(found._storage)
        for mine, theirs in zip(found._storage.arrays, results[0]._storage.arrays, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(found._storage.vals, results[0]._storage.vals)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64", "bool"])
def test_dtypes_of_block_products(dtype):
    X, Y = matrices((9, 14), (14, 11), dtype=dtype)
    A, B = (weft.asarray(x, format="bsr") for x in (X, Y))
    C = A @ B
    assert (C.format, C.dtype) == ("bsr", (X @ Y).dtype)
    np.testing.assert_array_equal(C.todense(), X @ Y)


def test_values_that_are_not_finite_stay_in_their_blocks():
    """Padding inside a stored block counts as in a dense product of the blocks that meet."""
    X, Y = np.zeros((6, 6)), np.zeros((6, 6))
    X[0, 0], Y[0, 1], X[4, 4], Y[4, 5] = np.inf, 2.0, np.nan, 1.0
    A, B = (weft.asarray(x).asformat("bsr", blocksize=(1, 1)) for x in (X, Y))
    found = (A @ B).todense()
    assert found[0, 1] == np.inf
    assert np.isnan(found[4, 5])
    assert np.isfinite(np.delete(np.delete(found, 0, 0), 3, 0)).all()


@pytest.mark.parametrize(
    ("first", "second"), [("bsr", "csr"), ("csr", "bsr"), ("bsr", "dia"), ("csb", "csb"), ("ell", "ell")]
)
def test_products_of_other_pairs_are_csr(first, second):
    X, Y = matrices((9, 14), (14, 11))
    C = weft.asarray(X, format=first) @ weft.asarray(Y, format=second)
    assert C.format == "csr"
    np.testing.assert_array_equal(C.todense(), X @ Y)


def test_blocks_that_do_not_fit_make_csr():
    X, Y = matrices((9, 14), (14, 11))
    A, B = weft.asarray(X).asformat("bsr", blocksize=(2, 3)), weft.asarray(Y).asformat("bsr", blocksize=(2, 4))
    assert (A @ B).format == "csr"
    np.testing.assert_array_equal((A @ B).todense(), X @ Y)


@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_diagonals_times_diagonals_are_diagonals(first, second):
    X, Y = matrices(first, second)
    C = weft.asarray(X, format="dia") @ weft.asarray(Y, format="dia")
    assert C.format == "dia"
    np.testing.assert_array_equal(C.todense(), X @ Y)


def test_other_reductions_and_fills_keep_their_formats():
    X, Y = matrices((8, 8), (8, 8))
    A, B = (weft.asarray(x, format="bsr") for x in (X, Y))
    assert weft.evaluate("C(i,j) = max(k, A(i,k)*B(k,j))", A=A, B=B).format != "bsr"
    assert weft.evaluate("C(i,j) = A(k,i)*B(k,j)", A=A, B=B).format != "bsr"
    assert weft.evaluate("C(i) = A(i,k)*B(k,i)", A=A, B=B).shape == (8,)


OWN_COLUMNS = weft.Format("(i,j) -> (j/2,i,j%2)", [Compressed(), Compressed(), Dense()])


@pytest.mark.parametrize("disable", [set(), {"whole-blocks"}], ids=str)
@pytest.mark.parametrize("format", ["bsr", "mode_generic", OWN, OWN_COLUMNS], ids=str)
def test_blocks_hold_fill_values_beyond_edges(format, disable, monkeypatch):
    """And not what memory held before, which differs from run to run."""
    size = {"blocksize": (2, 3)} if isinstance(format, str) and format == "bsr" else {}
    X = np.arange(1.0, 36).reshape(7, 5)
    Y = X * (X > 20)
    A, B, expected = (weft.asarray(x).asformat(format, **size) for x in (X, Y, X + Y))
    monkeypatch.setattr(memory, "empty", lambda shape, dtype: np.full(shape, 99, dtype))
    for threads in (1, 2):
        with weft.config.override(num_threads=threads, parallel_threshold=0, disable=disable):
            found = weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=A, B=B, format=A.layout)
        np.testing.assert_array_equal(found._storage.vals, expected._storage.vals)
