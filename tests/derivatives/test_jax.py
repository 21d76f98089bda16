"""Statements in programs of JAX, beside differences and JAX's own gradients of dense arrays."""

import re
import subprocess
import sys

import numpy as np
import pytest
from tests.derivatives.statements import STATEMENTS, split, values_of

import weft
from weft.errors import NotationError, ShapeError, UnsupportedError

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

pytestmark = pytest.mark.compiles_alone  # JAX calls kernels in threads of its own
evaluate = weft.jax.evaluate
A = weft.random((4, 3), density=0.5, format="csr", rng=0)
x = np.array([1.0, 2.0, 3.0])
SPMV = "y(i) = A(i,j)*x(j)"


@pytest.mark.parametrize("text", STATEMENTS)
def test_values_and_gradients(text):
    arrays, joined = split(STATEMENTS[text])

    @jax.jit
    def computed(*replaced):
        return values_of(evaluate(text, **joined(weft.jax, replaced)))

    with jax.enable_x64(True):
        arrays = [jnp.asarray(array) for array in arrays]
        expected = values_of(weft.evaluate(text, **STATEMENTS[text]))
        np.testing.assert_allclose(computed(*arrays), expected, rtol=1e-12)
        check_grads(computed, arrays, order=1, modes=["rev"])


def test_a_tensor_is_a_tree_whose_leaf_is_its_values():
    leaves, tree = jax.tree.flatten({"A": A})
    assert leaves[0] is A.data
    double = jax.tree.map(lambda values: 2 * jnp.asarray(values), A)
    assert isinstance(double, weft.SparseTensor)
    assert isinstance(double.data, np.ndarray)
    np.testing.assert_allclose(double.todense(), 2 * A.todense(), rtol=1e-6)
    assert tree == jax.tree.structure({"A": weft.asarray(A.todense(), format="csr").astype("float32")})
    assert tree != jax.tree.structure({"A": A.asformat("csc")})
    assert tree != jax.tree.structure({"A": weft.random((4, 3), nnz=A.nnz, format="csr", rng=5)})


def test_structures_are_constants_of_a_program():
    traced = []

    @jax.jit
    def scaled(A, x):
        traced.append(1)
        return evaluate("B(i,j) = A(i,j)*x(j)", A=A, x=x)

    for factor in (1, 2):
        B = scaled(A * factor, x)
        assert B.format == "csr"
        np.testing.assert_allclose((B + B).todense(), 2 * factor * A.todense() * x, rtol=1e-6)
    assert len(traced) == 1


def test_gradients_of_tensors_are_tensors_of_their_structure():
    def loss(A, x):
        B = evaluate("B(i,j) = A(i,j)*x(j)", A=A, x=x)
        return jnp.sum(evaluate("y(i) = B(i,j)*x(j)", B=B, x=x) ** 2)

    def dense(A, x):
        return jnp.sum(((A * x) @ x) ** 2)

    value, (by_A, by_x) = jax.jit(jax.value_and_grad(loss, (0, 1)))(A, x)
    expected, (dense_A, dense_x) = jax.value_and_grad(dense, (0, 1))(A.todense(), x)
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    np.testing.assert_allclose(by_A.todense(), np.where(A.todense() != 0, dense_A, 0), rtol=1e-5)
    np.testing.assert_allclose(by_x, dense_x, rtol=1e-5)


def test_vmap_goes_through_one_after_the_other():
    many = jnp.stack([x, 2 * x])
    of_vectors = jax.vmap(lambda x: evaluate(SPMV, A=A, x=x))(many)
    np.testing.assert_allclose(of_vectors, many @ A.todense().T, rtol=1e-5)
    of_tensors = jax.vmap(lambda A: evaluate(SPMV, A=A, x=x))(jax.tree.map(lambda v: jnp.stack([v, 2 * v]), A))
    np.testing.assert_allclose(of_tensors, np.outer([1, 2], A.todense() @ x), rtol=1e-5)
    gradients = jax.jit(jax.vmap(jax.grad(lambda x: jnp.sum(evaluate(SPMV, A=A, x=x) ** 2))))(many)
    np.testing.assert_allclose(gradients, 2 * many @ (A.todense().T @ A.todense()), rtol=1e-5)


@pytest.mark.parametrize("x64", [False, True])
def test_dtypes_are_those_of_weft_within_what_jax_has(x64):
    narrow, whole = A.astype("float32"), np.arange(3)
    with jax.enable_x64(x64):
        wide = "float64" if x64 else "float32"
        assert evaluate(SPMV, A=A, x=x).dtype == wide
        assert evaluate(SPMV, A=narrow, x=x.astype("float32")).dtype == "float32"
        assert evaluate("y(i) = b*A(i,j)*x(j)", A=narrow, x=x.astype("float32"), b=2.0).dtype == "float32"
        assert jax.jit(lambda b: evaluate("y(i) = b*x(i)", x=x.astype("float32"), b=b))(2.0).dtype == "float32"
        assert evaluate("y(i) = n(i)*n(i)", n=whole).dtype == ("int64" if x64 else "int32")
        quotient = evaluate("y(i) = n(i)/m(i)", n=whole, m=whole + 1)
        assert quotient.dtype == wide
        np.testing.assert_allclose(quotient, whole / (whole + 1), rtol=1e-6)
        gradient = jax.grad(lambda x: evaluate("s = n(i)*x(i)", n=whole, x=x))(x)
        assert gradient.dtype == wide
        np.testing.assert_allclose(gradient, whole)


def test_gradients_of_complex_numbers_are_those_of_jax():
    C, z = A * (1 + 2j), x - 1j * x[::-1]
    values = jnp.asarray(C.data)

    def computed(values, z):
        return evaluate("y(i) = C(i,j)*square(z(j))", C=weft.jax.with_values(C, values), z=z)

    def dense(values, z):
        return jnp.zeros(C.shape, values.dtype).at[C.tocoo().row, C.tocoo().col].set(values) @ z**2

    for is_holomorphic, of_result in ((False, lambda y: jnp.sum(jnp.abs(y) ** 2)), (True, jnp.sum)):
        by_weft, by_jax = (
            jax.grad(lambda *each, f=f, g=of_result: g(f(*each)), (0, 1), holomorphic=is_holomorphic)(values, z)
            for f in (computed, dense)
        )
        for found, expected in zip(by_weft, by_jax, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4)
    by_real = jax.grad(lambda r: evaluate("s = C(i,j)*r(j)", C=C, r=r).imag)(jnp.asarray(x))
    np.testing.assert_allclose(by_real, C.todense().imag.sum(axis=0), rtol=1e-5)


def test_the_format_of_a_result_can_be_asked_for():
    assert evaluate("B(i,j) = A(i,j)*x(j)", A=A, x=x, format="csc").format == "csc"
    B = evaluate("B(i,j) = A(i,j)*x(j)", A=A, x=x, format="dense")
    np.testing.assert_allclose(B, A.todense() * x, rtol=1e-6)
    gradient = jax.grad(lambda x: jnp.sum(evaluate("B(i,j) = A(i,j)*x(j)", A=A, x=x, format="dense")))(x)
    np.testing.assert_allclose(gradient, A.todense().sum(axis=0), rtol=1e-6)


def test_errors_come_where_a_program_is_traced():
    with pytest.raises(NotationError, match="x is missing"):
        evaluate(SPMV, A=A, X=x)
    with pytest.raises(NotationError, match="x not given"):
        evaluate(SPMV, A=A)
    with pytest.raises(ShapeError, match="j is 3 in"):
        jax.jit(lambda x: evaluate(SPMV, A=A, x=x))(x[:2])
    with pytest.raises(NotationError, match=r"\+= has no derivative"):
        evaluate("y(i) += A(i,j)*x(j)", A=A, x=x, y=np.ones(4))
    with pytest.raises(UnsupportedError, match=r"^any has no derivative"):
        jax.grad(lambda x: evaluate("s = float32(any(i, x(i)))", x=x))(x)
    with pytest.raises(ShapeError, match="stores"):
        weft.jax.with_values(A, x)
    with pytest.raises(Exception, match="format='dense'"):
        jax.block_until_ready(evaluate("B(i,j) = A(i,j)/d(j)", A=A, d=np.zeros(3)).data)
    with pytest.raises(Exception, match="forward-mode"):
        jax.hessian(lambda x: evaluate("s = x(i)*x(i)", x=x))(x)


LARGE = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import jax, numpy as np, weft
x = np.ones(1_000_000, "float32")
f = jax.jit(lambda x: weft.jax.evaluate("y(i) = x(i)*x(i)", x=x + 1).sum())
print(f(x), jax.grad(f)(x)[-1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a process chooses its cores on Linux alone")
def test_large_arrays_of_a_process_with_one_core():
    """The only thread of JAX is in the kernel, so that whoever waits for a copy by JAX waits forever."""
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, timeout=250, check=False)
    assert re.fullmatch(r"4(\.0|e\+0?6|000000\.0) 4\.0\n", done.stdout), done.stdout + done.stderr
