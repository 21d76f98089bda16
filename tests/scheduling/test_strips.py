"""Strips of dense levels in registers: every width and what is left of it, formats, dtypes, sums of terms, threads."""

import re

import numpy as np
import pytest

import weft
from weft.config import config
from weft.scheduling.accumulate import WIDTHS

SIZES = [0, 1, 2, 3, 7, 8, 11, 31, 32, 33, 43, 64, 75]
STRIPPED = ["csr", "dcsr", "coo", "dense", "lil", "ell", "dok"]


def random(rng, shape, dtype="float64", density=1.0):
    d = rng.integers(-9, 10, shape) if np.dtype(dtype).kind in "bi" else rng.random(shape)
    return np.where(rng.random(shape) < density, d, 0).astype(dtype)


def dense(found):
    return found.todense() if isinstance(found, weft.SparseTensor) else found


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("format", STRIPPED)
def test_products_with_matrices_of_any_width(format, threads):
    rng = np.random.default_rng(0)
    d = random(rng, (9, 7), density=0.4)
    d[3] = 0
    A = weft.asarray(d).asformat(format)
    with config.override(num_threads=threads, parallel_threshold=1):
        for size in SIZES:
            X, Z = random(rng, (7, size)), random(rng, (9, size))
            np.testing.assert_allclose(A @ X, d @ X)
            np.testing.assert_allclose(
                dense(weft.evaluate("Y(i,k) = Z(i,k) - A(i,j)*X(j,k)", A=A, X=X, Z=Z)), Z - d @ X
            )
            out = weft.evaluate("Y(i,k) = A(i,j)*X(j,k) + A(i,j)*X(j,k)", A=A, X=X, format="dense")
            np.testing.assert_allclose(dense(out), 2 * (d @ X))
            out = weft.evaluate("Y(i,k) = -A(i,j)*X(j,k)*X(j,k)", A=A, X=X, format="dense")
            np.testing.assert_allclose(dense(out), -(d @ X**2))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "uint16", "int64", "float32", "float64", "complex128"])
def test_every_dtype(dtype):
    rng = np.random.default_rng(1)
    d = random(rng, (6, 5), dtype, 0.5)
    A = weft.asarray(d).asformat("csr")
    for size in (1, 10, 43):
        X = random(rng, (5, size), dtype)
        found = A @ X
        assert found.dtype == dtype
        np.testing.assert_allclose(found, d @ X, rtol=1e-5)


def test_what_absent_entries_meet_is_not_reached():
    d = np.array([[0.0, 2.0], [0.0, 0.0]])
    X = np.array([[np.nan, np.inf] * 20, [1.0, -0.0] * 20])
    np.testing.assert_array_equal(weft.asarray(d).asformat("csr") @ X, [[2.0, 0.0] * 20, [0.0] * 40])


@pytest.mark.parametrize("result", ["ddd", "ssd", "dsd"])
@pytest.mark.parametrize("format", ["csf", "coo", "dense"])
def test_fibres_below_what_is_appended(format, result):
    rng = np.random.default_rng(2)
    d = random(rng, (4, 5, 6), density=0.3)
    d[1] = 0
    B = weft.asarray(d).asformat(format)
    for size in (2, 16, 41):
        C = random(rng, (6, size))
        found = weft.evaluate("A(i,j,l) = B(i,j,k)*C(k,l)", B=B, C=C, format=result)
        np.testing.assert_allclose(dense(found), d @ C)


@pytest.mark.parametrize(
    ("text", "formats", "stripped"),
    [
        ("C(i,j) = A(i,k)*B(k,j)", {"A": "csr"}, True),
        ("C(j,i) = A(i,k)*B(k,j)", {"A": "csr"}, True),
        ("C(i,j) += A(i,k)*B(k,j)", {"A": "csr"}, True),
        ("C(i,j) = A(i,k)*B(k,j)", {"A": "csc"}, False),  # rows of the result are reached in any order
        ("C(i,j) = A(i,k)*B(k,j)", {"A": "csr", "B": "csr"}, False),
        ("C(i,j) = A(i,k)*B(j,k)", {"A": "csr"}, True),  # B is stored in the other order
        ("C(i,j) = A(i,k)*B(k,j)", {"A": "csr", "B": "dense_f"}, True),
        ("C(i,j) = A(i,k,l)*B(k,j)*D(l,j)", {"A": "csf"}, False),  # what is below would be walked for each strip
        ("y(i) = A(i,k)*x(k)", {"A": "csr"}, False),
    ],
)
def test_where_there_are_strips(text, formats, stripped):
    target = {text[0]: "dense"}
    assert ("strips of" in weft.compile(text, **formats, **target).explain(stages=True)) == stripped


def test_terms_over_the_same_rows_are_one_parallel_loop():
    k = weft.compile("Y(i,k) = Z(i,k) - A(i,j)*X(j,k)", A="csr", Y="dense")
    assert k.explain(stages=True).count("forall i parallel") == 1
    k = weft.compile("Y(i,k) = D(i,k) + A(i,j)*X(j,k)", A="csr", D="csr", Y="dense")
    assert "forall i parallel\n  fill Y(i,k) = 0\n" in k.explain(stages=True)
    k = weft.compile("Y(i,k) = D(i,k) + A(i,j)*X(j,k)", A="csr", D="csc", Y="dense")
    assert not re.search(r"forall \w+ parallel", k.explain(stages=True))  # columns and rows


def test_loops_scheduled_by_hand_are_whole():
    k = weft.compile("C(i,j) = A(i,k)*B(k,j)", A="csr", C="dense", schedule=lambda s: s.reorder("k", "j"))
    assert "strips" not in k.explain(stages=True)


def test_each_width_is_unrolled():
    source = weft.compile("C(i,j) = A(i,k)*B(k,j)", A="csr", C="dense").source
    for width in WIDTHS:
        assert source.count(f"#pragma GCC unroll {width}\n") == 3  # begin, sum and store
    assert "#pragma omp simd\n" not in source
    assert WIDTHS[-1] == 1
