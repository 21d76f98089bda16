"""Padding that is added without branches: it changes no bit of a sum, whatever lies at coordinate 0."""

import numpy as np
import pytest

import weft
from weft.formats.levels import Singleton, Sliced

SLICED = weft.Format("(i,j) -> (i/4,#i,i%4,j)", [weft.Dense(), Sliced(), weft.Dense(), Singleton(padded=True)])
SHAPES = {"rectangular": (37, 50), "one row": (1, 9), "one column": (9, 1), "no column": (9, 0), "no row": (0, 9)}


def operands(shape, dtype, entries, rng):
    """A matrix with rows of different lengths, and a vector that begins with what must not leak."""
    dense = rng.integers(-3, 4, shape) * (rng.random(shape) < rng.random((shape[0], 1)) * 2 * entries)
    dense, x = dense.astype(dtype), rng.integers(-3, 4, shape[1]).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        dense[rng.random(shape) < 0.1] = -0.0
        x[:1] = rng.choice([np.nan, np.inf, -0.0])
        dense[:, :1] = 0  # nothing is stored there
    return dense, x


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex128"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_keep_their_bits(shape, dtype):
    rng = np.random.default_rng(len(shape) + len(dtype))
    for entries in (0.0, 0.02, 0.3, 1.0):
        dense, x = operands(SHAPES[shape], dtype, entries, rng)
        A, expected = weft.asarray(dense, format="ell"), dense[:, 1:] @ x[1:]
        results = []
        for threads in (1, 2, 3, 7):
            for disable in (set(), {"padding-masks"}, {"tiling"}):
                with weft.config.override(num_threads=threads, parallel_threshold=1, disable=disable):
                    results.append(A @ x)
        np.testing.assert_array_equal(results[0], expected if np.dtype(dtype).kind in "fc" else dense @ x)
        assert {y.tobytes() for y in results} == {results[0].tobytes()}


def test_padding_alone_adds_nothing_to_negative_zero():
    size = np.array([3], np.int32)
    arrays = [{"size": size}, {}, {"crd": np.full(12, -1, np.int32)}]
    A = weft.from_levels((4, 5), "ell", arrays, np.full(12, np.nan))
    y = np.full(4, -0.0)
    added = weft.evaluate("y(i) += A(i,j)*x(j)", A=A, x=np.full(5, np.inf), y=y)
    assert np.signbit(added).all()
    assert not added.any()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("y(i) = A(i,j)*x(j)", True),
        ("y(i) = b(i)*A(i,j)*(x(j) + 1)", True),
        ("y(i) = max(j, A(i,j)*x(j))", False),  # -0.0 is no neutral value of it
        ("y(j) = A(i,j)*b(i)", False),  # iterations may add to the same element
        ("y(i) = A(i,j)/x(j)", False),
    ],
)
def test_only_sums_of_what_exists_have_no_branch(text, masked):
    rng = np.random.default_rng(1)
    A = weft.random((30, 30), nnz=200, format="ell", rng=rng)
    given = {name: rng.normal(size=30) for name in "xb" if f"{name}(" in text}
    kernel = weft.compile(text, A="ell", y="dense", **dict.fromkeys(given, "dense"))
    assert ("weft_present_" in kernel.source) == masked
    expected = weft.evaluate(text, A=A.asformat("csr"), **given, format="dense")
    np.testing.assert_allclose(weft.evaluate(text, A=A, **given, format="dense"), expected)


@pytest.mark.parametrize("format", ["ell", "hyb", "sell", "jad", SLICED], ids=str)
def test_formats_of_slots_times_matrices_walk_their_own_levels(format):
    A = weft.random((50, 40), nnz=300, format="csr", rng=2)
    X = np.random.default_rng(3).normal(size=(40, 11))
    own = A.asformat(format)
    np.testing.assert_allclose(own @ X, A.todense() @ X)
    assert "converted" not in weft.explain("Y(i,k) = A(i,j)*X(j,k)", A=own, X=X)
