"""Sums over rows by SIMD where they are long: the same on any number of threads, and only where allowed."""

import numpy as np

import weft
from weft.config import config


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
    assert source.count("#pragma omp simd reduction(+:t)") == 1
    assert "- pA2_from >= 32" not in source  # no row is asked


def test_not_where_it_is_switched_off_or_not_a_plain_sum():
    with config.override(reassociate=False):
        assert "simd" not in weft.compile("z(i) = D(i,j)*x(j)", D="csr", x="dense", z="dense").source
    assert "simd" not in weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="hash_vector", y="dense").source


def test_levels_below_sparse_ones():
    rng = np.random.default_rng(1)
    d = np.where(rng.random((6, 40, 60)) < 0.5, rng.random((6, 40, 60)), 0)
    d[2] = 0
    A, x = weft.asarray(d, format="csf"), rng.random(60)
    np.testing.assert_allclose(weft.evaluate("y(i,j) = A(i,j,k)*x(k)", A=A, x=x).todense(), d @ x)
