"""Operands as users hold them: duplicates, no order, explicit zeros, NaN and infinity; recomputing; real matrices."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import weft
from weft import execution
from weft.config import config
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.storage import check

DATA = Path(os.environ.get("WEFT_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
RNG = np.random.default_rng(5)


def messy(kind: str) -> tuple[weft.SparseTensor, np.ndarray]:
    """A tensor that is not canonical, and what it means."""
    row = np.array([3, 0, 2, 0, 3, 1, 0])
    col = np.array([1, 4, 2, 0, 1, 3, 4])
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    if kind == "explicit zeros":
        values[[1, 3]] = 0.0
    dense = np.zeros((4, 5))
    np.add.at(dense, (row, col), values)
    if kind in ("coo", "explicit zeros"):
        return weft.asarray(sp.coo_array((values, (row, col)), shape=(4, 5))), dense
    order = np.lexsort((-col, row))
    pos = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=4))]).astype(np.int32)
    csr = sp.csr_array((values[order], col[order].astype(np.int32), pos), shape=(4, 5))
    return weft.asarray(csr), dense


@pytest.mark.parametrize("kind", ["coo", "explicit zeros", "csr"])
@pytest.mark.parametrize(
    ("text", "numpy"),
    [
        ("y(i) = A(i,j)*x(j)", lambda a, b, x: a @ x),
        ("y(j) = A(i,j)*z(i)", lambda a, b, x: a.T @ x[:4]),
        ("C(i,j) = A(i,j) + B(i,j)", lambda a, b, x: a + b),
        ("C(i,j) = A(i,j)*A(i,j)", lambda a, b, x: a * a),
        ("C(i,j) = A(i,j)*B(i,j)", lambda a, b, x: a * b),
        ("C(j,i) = A(i,j)", lambda a, b, x: a.T),
        ("C(i,k) = A(i,j)*B(k,j)", lambda a, b, x: a @ b.T),
        ("y(i) = A(i,j)*A(i,j)", lambda a, b, x: (a * a).sum(1)),
    ],
)
@pytest.mark.parametrize("format", [None, "dense", "csf"])
def test_operands_as_they_are(kind, text, numpy, format):
    A, a = messy(kind)
    b = RNG.random((4, 5)) * (RNG.random((4, 5)) < 0.4)
    x = RNG.random(5)
    operands = {"A": A, "B": weft.asarray(b, format="csr"), "x": x, "z": x[:4]}
    named = {name: t for name, t in operands.items() if f"{name}(" in text.split("=")[1]}
    got = weft.evaluate(text, format=format, **named)
    if isinstance(got, weft.SparseTensor):
        check(got._storage)
        got = got.todense()
    np.testing.assert_allclose(got, numpy(a, b, x))


def test_nan_and_infinity_stay():
    a = np.array([[np.nan, 0.0, -0.0], [np.inf, 2.0, 0.0]])
    A = weft.from_coords([[0, 0, 1, 1], [0, 2, 0, 1]], [np.nan, -0.0, np.inf, 2.0], shape=(2, 3), format="csr")
    np.testing.assert_array_equal((A + A).todense(), a + a)
    np.testing.assert_array_equal(weft.evaluate("y(i) = A(i,j)*x(j)", A=A, x=np.ones(3)), [np.nan, np.inf])
    # A stored zero times infinity is NaN; an entry that is not stored is absent, whatever it meets.
    Z = weft.from_coords([[0], [0]], [0.0], shape=(1, 2), format="csr")
    np.testing.assert_array_equal(Z @ np.array([np.inf, 1.0]), [np.nan])
    np.testing.assert_array_equal(Z @ np.array([1.0, np.inf]), [0.0])
    assert np.signbit((-(weft.asarray(np.array([0.0, 1.0])))).todense()[0])


@pytest.mark.parametrize("text", ["C(i,j) = A(i,j) + B(i,j)", "C(i,k) = A(i,j)*B(j,k)", "C(i,j) = A(i,j)*B(i,j)"])
@pytest.mark.parametrize("format", ["ds", "ss", "dd"])
def test_assemble_then_compute(text, format):
    a, b = (RNG.integers(1, 9, (6, 6)) * (RNG.random((6, 6)) < 0.4) * 1.0 for _ in range(2))
    A, B = (weft.asarray(x, format="csr")._storage for x in (a, b))
    types = {"A": A.type, "B": B.type, "C": TensorType.of("float64", parse_format(format, 2))}
    kernel = execution.compile(parse(text), types).kernel
    whole = kernel.run((A, B))
    result = kernel.assemble((A, B))
    kernel.compute(result, (A, B))
    check(result)
    for one, other in zip(whole.arrays, result.arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(result.vals, whole.vals)
    twice = A.with_values(2 * A.vals, 0)
    kernel.compute(result, (twice, B))
    np.testing.assert_allclose(result.vals, kernel.run((twice, B)).vals)


def test_compiled_kernels_return_the_format_that_they_are_compiled_for():
    """Loops make csr, which is converted to dok: also by a kernel, which then has no separate phases."""
    A = weft.random((5, 5), nnz=9, format="csr", rng=0)
    kernel = weft.compile("C(i,j) = A(i,k)*B(k,j)", A="csr", B="csr", C="dok")
    assert "C: dok" in repr(kernel)
    assert kernel(A, A).format == "dok"
    np.testing.assert_allclose(kernel(A, A).todense(), A.todense() @ A.todense())
    with pytest.raises(weft.errors.FormatError, match="converts operands or the result at each call"):
        kernel.assemble(A, A)


def test_a_huge_dimension_takes_a_hashed_workspace():
    n = 10**9
    A = weft.from_coords([[0, 1, n - 1], [5, 7, n - 2]], [1.0, 2.0, 3.0], shape=(n, n), format="dcsr")
    B = weft.from_coords([[5, 7, n - 2, 7], [3, 10**8, 1, 2]], [1.0, 2.0, 3.0, 4.0], shape=(n, n), format="dcsr")
    coords, values = (A @ B).to_coo()
    np.testing.assert_array_equal(coords, [[0, 1, 1, n - 1], [3, 2, 10**8, 1]])
    np.testing.assert_array_equal(values, [1.0, 8.0, 4.0, 9.0])


def real(name: str) -> sp.csr_array:
    path = DATA / f"{name}.mtx.gz"
    if not path.exists():
        pytest.skip(f"the data set is not here: {path.name}")
    return sp.csr_array(scipy.io.mmread(path, spmatrix=False)).astype(float)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["bcsstk16", "cage8", "email-Enron", "well1033", "bayer10", "mbeacxc", "olm1000"])
def test_real_matrices(name, threads):
    S = real(name)
    A = weft.asarray(S)
    x = np.linspace(0, 1, S.shape[1])
    with config.override(num_threads=threads, parallel_threshold=0):
        np.testing.assert_allclose(A @ x, S @ x, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            A.T @ x[:1] if S.shape[0] == 1 else A.T @ np.ones(S.shape[0]), S.T @ np.ones(S.shape[0])
        )
        total = (A + A.T if S.shape[0] == S.shape[1] else A + A).to_scipy_sparse()
        expected = S + S.T if S.shape[0] == S.shape[1] else S + S
        assert abs(sp.csr_array(total) - expected).max() < 1e-9
        if S.nnz < 10**5:
            product = A @ A.T
            check(product._storage)
            expected = S @ S.T
            assert abs(sp.csr_array(product.to_scipy_sparse()) - expected).max() <= 1e-9 * abs(expected).max()


def test_one_operand_in_two_orders():
    """It is converted twice, to two formats, and both are operands of the kernel."""
    rng = np.random.default_rng(8)
    coords = np.stack([rng.integers(0, n, 40) for n in (4, 5, 5)])
    D = weft.from_coords(coords, rng.random(40), (4, 5, 5), format="coo")
    dense = D.todense()
    for result, subscripts in (("y", "jkl,jlk->"), ("y(k,l)", "jkl,jlk->kl")):
        found = weft.evaluate(f"{result} = D(j,k,l)*D(j,l,k)", D=D)
        found = found.todense() if isinstance(found, weft.SparseTensor) else found
        np.testing.assert_allclose(found, np.einsum(subscripts, dense, dense))
