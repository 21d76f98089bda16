"""Sums over long rows in another order: the same on any number of threads, and only where allowed."""

import shutil

import numpy as np
import pytest

import weft
from weft.config import config
from weft.runtime.levels import levels_here


def rows(lengths, rng):
    """A matrix whose rows have these numbers of entries."""
    i = np.repeat(np.arange(len(lengths)), lengths)
    j = np.concatenate([rng.choice(500, n, replace=False) for n in lengths])
    return weft.from_coords(np.array([i, j]), rng.random(len(i)) - 0.5, (len(lengths), 500), format="csr")


def test_threads_change_no_value():
    rng = np.random.default_rng(0)
    x = rng.random(500)
    # On average long or short, while the parts that threads have are the other.
    for lengths in ([100] * 200 + [1] * 200, [100] * 20 + [1] * 380, [3] * 400, [60] * 400, [0, 500], [0] * 5):
        A = rows(lengths, rng)
        found = []
        for threads in (1, 2, 3):
            with config.override(num_threads=threads, parallel_threshold=1):
                found.append(A @ x)
        assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
        np.testing.assert_allclose(found[0], A.todense() @ x, rtol=1e-12, atol=1e-12)


def test_the_average_decides():
    source = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense").source
    assert "A2_pos[A1_dim] - (int64_t)A2_pos[0] >= 32 * A1_dim" in source
    assert source.count("t = t + t1 + (t2 + t3);") == 1
    assert "#pragma omp simd" not in source
    with config.override(disable={"partial-sums"}):
        simd = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense").source
        assert simd.count("#pragma omp simd reduction(+:t)") == 1
    assert "- pA2_from >= 32" not in source  # no row is asked


def test_not_where_it_is_switched_off_or_not_a_plain_sum():
    for setting in ({"reassociate": False}, {"disable": {"simd-reductions"}}):
        with config.override(**setting):
            source = weft.compile("z(i) = D(i,j)*x(j)", D="csr", x="dense", z="dense").source
            assert "simd" not in source
            assert "t1" not in source
    assert "simd" not in weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="hash_vector", y="dense").source


def test_levels_below_sparse_ones():
    rng = np.random.default_rng(1)
    d = np.where(rng.random((6, 40, 60)) < 0.5, rng.random((6, 40, 60)), 0)
    d[2] = 0
    A, x = weft.asarray(d, format="csf"), rng.random(60)
    np.testing.assert_allclose(weft.evaluate("y(i,j) = A(i,j,k)*x(k)", A=A, x=x).todense(), d @ x)


def in_order(terms):
    return np.cumsum(np.append(terms.dtype.type(0), terms))[-1]


def in_parts(terms):
    """The sum that C computes: of every fourth term, but for the last ones, which belong to the first part."""
    whole, others = np.split(terms, [len(terms) - len(terms) % 8])
    a, b, c, d = (in_order(np.append(whole[k::4], others if k == 0 else others[:0])) for k in range(4))
    return (a + b) + (c + d)


COMPILERS = [None, *(name for name in ("gcc", "clang") if shutil.which(name))]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_order_of_sums_of_gathers_is_known(dtype):
    rng = np.random.default_rng(2)
    lengths = [*range(20), 300, 400, *[60] * 20]
    A, x = rows(lengths, rng).astype(dtype), (rng.random(500) - 0.5).astype(dtype)
    terms = np.split(A.data * x[A.indices], np.cumsum(lengths)[:-1])
    expected = np.array([in_parts(row) for row in terms])
    assert (expected != np.array([in_order(row) for row in terms])).any()
    ways = [{"cflags": f"-march={level}", "cc": cc} for level in levels_here() for cc in COMPILERS]
    for way in ({}, {"optimization": 0}, *ways):
        with config.override(**way):
            assert (A @ x).tobytes() == expected.tobytes(), way


def test_counts_beside_sums_are_in_parts_too():
    rng = np.random.default_rng(3)
    A, x = rows([40, 0, 500, 37], rng), rng.random(500)
    y = weft.evaluate("y(i) = sum(j, A(i,j)*x(j) + 1)", A=A, x=x)
    np.testing.assert_allclose(y, A.todense() @ x + 500)
