"""Expressions around a sum: the result has entries where the sum has some."""

import numpy as np
import pytest

import weft


def operands(dtype="float64", size=30):
    rng = np.random.default_rng(0)
    X = (rng.integers(-5, 9, (size, size)) * (rng.random((size, size)) < 0.06)).astype(dtype)
    Y = (rng.integers(-5, 9, (size, size)) * (rng.random((size, size)) < 0.06)).astype(dtype)
    return X, Y, rng.random(size) + 1, rng.random(size) + 1


@pytest.mark.parametrize("result", ["csr", "csc", "dcsr", "coo", "hash", None])
@pytest.mark.parametrize(
    ("text", "compute"),
    [
        ("C(i,k) = 2*sum(j, A(i,j)*B(j,k))", lambda X, Y, u, v: 2 * (X @ Y)),
        ("C(i,k) = sum(j, A(i,j)*B(j,k))/2", lambda X, Y, u, v: (X @ Y) / 2),
        ("C(i,k) = -3*sum(j, A(i,j)*B(k,j))", lambda X, Y, u, v: -3 * (X @ Y.T)),
        ("C(i,k) = sum(j, A(i,j)*B(j,k))*(u(i)*v(k))", lambda X, Y, u, v: (X @ Y) * np.outer(u, v)),
        ("C(i,k) = abs(sum(j, A(i,j)*B(j,k)))", lambda X, Y, u, v: abs(X @ Y)),
        ("C(i,k) = sum(j, A(i,j)*B(j,k))/(u(i)*v(k))", lambda X, Y, u, v: (X @ Y) / np.outer(u, v)),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_only_entries_of_the_sum_are_stored(text, compute, result, threads):
    X, Y, u, v = operands()
    given = {"A": weft.asarray(X, format="csr"), "B": weft.asarray(Y, format="csr"), "u": u, "v": v}
    given = {name: value for name, value in given.items() if f"{name}(" in text}
    with weft.config.override(num_threads=threads, parallel_threshold=0):
        C = weft.evaluate(text, format=result, **given)
        product = weft.evaluate("C(i,k) = A(i,j)*B(j,k)", A=given["A"], B=given["B"], format="csr")
    np.testing.assert_allclose(C.todense(), compute(X, Y, u, v), atol=1e-12)
    assert C.nnz <= 2 * product.nnz < X.size  # hash has room for more


@pytest.mark.parametrize("result", ["csr", "dcsr", None])
def test_only_entries_of_both_terms_are_stored(result):
    X, Y, *_ = operands()
    A, B = weft.asarray(X, format="csr"), weft.asarray(Y, format="csr")
    C = weft.evaluate("C(i,k) = A(i,k) - sum(j, A(i,j)*B(j,k))", format=result, A=A, B=B)
    np.testing.assert_array_equal(C.todense(), X - X @ Y)
    assert C.nnz <= A.nnz + (A @ B).nnz < X.size


@pytest.mark.parametrize("dtype", ["int8", "bool", "float32", "complex128"])
def test_a_sum_is_in_its_own_dtype(dtype):
    X, Y, *_ = operands(dtype)
    A, B = weft.asarray(X, format="csr"), weft.asarray(Y, format="csr")
    C = weft.evaluate("C(i,k) = sum(j, A(i,j)*B(j,k))*1.5", A=A, B=B)
    expected = np.einsum("ij,jk->ik", X, Y) * 1.5
    np.testing.assert_allclose(C.todense(), expected)
    assert C.dtype == expected.dtype


@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0, 2), (1, 1, 1)])
def test_without_entries(shape):
    A, B = weft.zeros(shape[:2], format="csr"), weft.zeros(shape[1:], format="csr")
    C = weft.evaluate("C(i,k) = 2*sum(j, A(i,j)*B(j,k))", A=A, B=B)
    assert (C.shape, C.nnz) == ((shape[0], shape[2]), 0)


def test_values_that_absent_entries_would_get_are_all_stored():
    X, Y, *_ = operands(size=8)
    A, B = weft.asarray(X, format="csr"), weft.asarray(Y, format="csr")
    for text, expected in {
        "C(i,k) = sum(j, A(i,j)*B(j,k)) + 1": X @ Y + 1,
        "C(i,k) = exp(sum(j, A(i,j)*B(j,k)))": np.exp(X @ Y),
        "C(i,k) = max(j, A(i,j)*B(j,k))*2": (X[:, :, None] * Y[None]).max(1) * 2,
    }.items():
        np.testing.assert_allclose(weft.evaluate(text, A=A, B=B, format="csr").todense(), expected)


@pytest.mark.parametrize("result", ["csr", "lil", "coo", "dcsr", "hash", None])
@pytest.mark.parametrize("factors", ["sum(k, E(k,j))", "sum(k, A(i,k)*E(k,j))"])
def test_arrays_beside_a_sum_have_values_where_it_is_absent(factors, result):
    """Room was made for the coordinates of the sum, but all of the array's were appended."""
    E, z = np.zeros((9, 7), "float32"), np.linspace(-1, 4, 9, dtype="float32")
    E[2, 3] = 5
    given = {
        "A": weft.asarray(np.eye(9, dtype="float32"), format="csr"),
        "E": weft.asarray(E, format="coo_aos"),
        "z": z,
    }
    summed = np.broadcast_to(E.sum(0), (9, 7)) if "A" not in factors else E
    for text, expected in {
        "maximum(maximum({}, 2), z(i))": np.maximum(np.maximum(summed, 2), z[:, None]),
        "maximum({}, z(i))": np.maximum(summed, z[:, None]),
        "{}*z(i) + z(i)": summed * z[:, None] + z[:, None],
    }.items():
        named = {name: value for name, value in given.items() if f"{name}(" in text + factors}
        found = weft.evaluate(f"y(i,j) = {text.format(factors)}", format=result, **named)
        np.testing.assert_allclose(
            found if result is None and not hasattr(found, "todense") else found.todense(), expected
        )


def test_an_operand_that_is_read_twice_is_stored_again_once():
    A = weft.asarray(operands()[0], format="csr")
    report = weft.explain("C(i,k) = 2*sum(j, A(i,j)*A(k,j))", A=A)
    assert report.count("each call converts") == 1


@pytest.mark.parametrize("result", ["jad", "csr", "dense"])
@pytest.mark.parametrize("format", ["skyline", "banded", "dia", "ell"])
def test_each_access_of_an_operand_must_fit_the_loops(format, result):
    """One access is stored again, the other walked as it is: intervals beside lists began too late to meet them."""
    X, Y, u, _ = operands(size=16)
    A, B = weft.asarray(X, format=format), weft.asarray(Y, format=format)
    C = weft.evaluate("C(i,j) = u(i)*A(i,k)*B(k,j) - 3*A(i,j)", A=A, B=B, u=u, format=result)
    np.testing.assert_allclose(C.todense() if result != "dense" else np.asarray(C), np.diag(u) @ X @ Y - 3 * X)


@pytest.mark.parametrize("result", ["coo", "csr", "dcsr", "csc"])
def test_minima_are_stored_where_they_have_entries(result):
    X, Y, *_ = operands()
    X, Y = (np.where(Z == 0, np.inf, Z) for Z in (X, Y))
    A, B = (weft.asarray(Z, format="csr", fill_value=np.inf) for Z in (X, Y))
    C = weft.evaluate("C(i,j) = min(k, A(i,k) + B(k,j))", A=A, B=B, format=result)
    expected = (X[:, :, None] + Y[None]).min(1)
    np.testing.assert_array_equal(C.todense(), expected)
    assert C.nnz == np.isfinite(expected).sum() < expected.size
