"""Dimensions far larger than memory: no array is over one, and coordinates are as exact as small ones.

What is computed on huge axes is computed beside it on small dense ones: the same entries under other coordinates.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.storage import check

HUGE = 2**42
FEW = 5


class Axis:
    """A few coordinates of a huge axis, in order: the small coordinate is which of them."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.labels = np.sort(rng.choice(HUGE, FEW, replace=False)) if seed else np.array([0, 1, 7, HUGE - 2, HUGE - 1])


def spread(dense, axes, format):
    """A tensor with the entries of a small array at coordinates of huge axes."""
    places = np.nonzero(dense)
    coords = [axis.labels[p] for axis, p in zip(axes, places, strict=True)]
    if not coords:
        return dense
    tensor = weft.from_coords(np.stack(coords), dense[places], shape=(HUGE,) * len(axes), format=format)
    check(tensor._storage)
    return tensor


def gathered(tensor, axes):
    """The other way round; nothing may stand anywhere else."""
    tensor = weft.asarray(tensor)
    check(tensor._storage)
    coords, vals = tensor.to_coo()
    dense = np.zeros((FEW,) * len(axes))
    places = []
    for axis, row in zip(axes, coords, strict=True):
        place = np.searchsorted(axis.labels, row)
        np.testing.assert_array_equal(axis.labels[np.minimum(place, FEW - 1)], row)
        places.append(place)
    dense[tuple(places)] = vals
    return dense


def drawn(rng, order, density):
    shape = (FEW,) * order
    return np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(float)


MATRIX = ["coo", "dcsr", "dcsc", "dok", "hicoo", "coo_aos"]
RESULTS = [None, "coo", "dcsr", "dok"]


@settings(max_examples=25)
@given(st.integers(0, 50), st.sampled_from(MATRIX), st.sampled_from(MATRIX), st.sampled_from(RESULTS))
def test_matrices(seed, left, right, result):
    rng = np.random.default_rng(seed)
    i, j, k = (Axis(s) for s in (0, seed + 1, seed + 2))
    a, b, c = (
        np.where(rng.random((FEW, FEW)) < 0.5, rng.integers(1, 9, (FEW, FEW)), 0).astype(float) for _ in range(3)
    )
    x = drawn(rng, 1, 0.6)
    A, B, C, X = spread(a, (i, j), left), spread(b, (i, j), right), spread(c, (j, k), right), spread(x, (j,), "coo")
    for text, expected, axes, operands in [
        ("ij,ij->ij", a * b, (i, j), (A, B)),
        ("ij,jk->ik", a @ c, (i, k), (A, C)),
        ("ij,ij->ji", (a * b).T, (j, i), (A, B)),
        ("ij,jk->ki", (a @ c).T, (k, i), (A, C)),
        ("ij,j->i", a @ x, (i,), (A, X)),
        ("ij->j", a.sum(0), (j,), (A,)),
        ("ij->i", a.sum(1), (i,), (A,)),
        ("ij,ij->", (a * b).sum(), (), (A, B)),
    ]:
        found = weft.einsum(text, *operands, format=result if len(axes) == 2 else None)
        np.testing.assert_array_equal(gathered(found, axes) if axes else found, expected, err_msg=text)
    np.testing.assert_array_equal(gathered(A + B, (i, j)), a + b)
    np.testing.assert_array_equal(gathered(A - 2 * B, (i, j)), a - 2 * b)
    np.testing.assert_array_equal(gathered(A.T, (j, i)), a.T)
    np.testing.assert_array_equal(gathered(weft.maximum(A, B), (i, j)), np.maximum(a, b))
    np.testing.assert_array_equal(gathered(A.max(axis=1), (i,)), a.max(1))


@settings(max_examples=15)
@given(st.integers(0, 30), st.sampled_from(["coo", "csf", "dok", "hicoo", "coo_aos"]))
def test_tensors(seed, format):
    rng = np.random.default_rng(seed)
    i, j, k, r = (Axis(s) for s in (0, seed + 1, seed + 2, seed + 3))
    t, b, c = drawn(rng, 3, 0.3), drawn(rng, 2, 0.5), drawn(rng, 2, 0.5)
    T, B, C = spread(t, (i, j, k), format), spread(b, (j, r), "dcsr"), spread(c, (k, r), "coo")
    x = drawn(rng, 1, 0.6)
    X = spread(x, (k,), "coo")
    found = weft.einsum("ijk,jr,kr->ir", T, B, C)
    np.testing.assert_array_equal(gathered(found, (i, r)), np.einsum("ijk,jr,kr->ir", t, b, c))
    np.testing.assert_array_equal(gathered(weft.einsum("ijk,k->ij", T, X), (i, j)), t @ x)
    np.testing.assert_array_equal(gathered(weft.einsum("ijk->ki", T), (k, i)), t.sum(1).T)
    np.testing.assert_array_equal(gathered(T + T, (i, j, k)), 2 * t)


@pytest.mark.parametrize("format", MATRIX)
def test_sums_of_integers_that_are_tensors_of_their_own(format):
    """They wrap around, and are computed first; what has no array over an axis then is no other's operand."""
    rng = np.random.default_rng(3)
    i, j, k = (Axis(s) for s in range(3))
    a, b = ((100 * drawn(rng, 2, 0.5)).astype(np.int8) for _ in range(2))
    c, x = drawn(rng, 2, 0.5), drawn(rng, 1, 0.5)
    A, B, C, X = spread(a, (i, j), format), spread(b, (k, j), "coo"), spread(c, (i, k), format), spread(x, (i,), "coo")
    with np.errstate(over="ignore"):
        rows, products = a.sum(1, dtype=np.int8), a @ b.T
    found = weft.evaluate("y(i) = sum(j, A(i,j)) + x(i)", A=A, x=X)
    np.testing.assert_array_equal(gathered(found, (i,)), rows + x)
    found = weft.evaluate("y(i,k) = sum(j, A(i,j)*B(k,j)) + C(i,k)", A=A, B=B, C=C)
    np.testing.assert_array_equal(gathered(found, (i, k)), products + c)


@pytest.mark.parametrize("format", ["csr", "csc", "lil", "skyline", "dense", "ell", "bsr", "csb"])
def test_arrays_over_a_huge_dimension_are_refused(format):
    A = weft.from_coords([[0, HUGE - 1], [HUGE - 1, 5]], [1.0, 2.0], shape=(HUGE, HUGE))
    with pytest.raises((weft.errors.ResultTooLargeError, weft.errors.DensifyError), match="bytes"):
        A.asformat(format)
