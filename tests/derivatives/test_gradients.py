"""Gradients against central differences, in every format: values, structure and memory."""

from functools import partial

import numpy as np
import pytest

import weft
from weft import SparseTensor
from weft.errors import DTypeError, NotationError, ShapeError, UnsupportedError
from weft.operations.operands import storage_of

STEP = 1e-5
MATRICES = (
    "csr", "csc", "coo", "coo_aos", "dia", "ell", "hyb", "jad", "bsr", "csb", "hicoo", "mode_generic", "hash", "dok",
    "lil", "skyline", "banded", "gcxs",
)  # fmt: skip


def dense(x):
    return x.todense() if isinstance(x, SparseTensor) else np.asarray(x)


def moved(x, position, step):
    """An operand with another value at one position of its memory."""
    values = (storage_of(x).vals if isinstance(x, SparseTensor) else x).copy()
    values.reshape(-1)[position] += step
    storage = storage_of(x)
    return SparseTensor(storage.with_values(values, storage.type.fill)) if isinstance(x, SparseTensor) else values


def differences(text, operands, name, bar):
    """Central differences by each stored value of an operand."""
    values = storage_of(operands[name]).vals
    found = np.zeros(values.size)
    for position in range(values.size):
        both = [
            (dense(weft.evaluate(text, **{**operands, name: moved(operands[name], position, step)})) * bar).sum()
            for step in (STEP, -STEP)
        ]
        found[position] = (both[0] - both[1]) / (2 * STEP)
    return found


def check(text, **operands):
    """Check all gradients of an expression, and its tangent, against differences."""
    value, pullback = weft.vjp(text, **operands)
    bar = np.random.default_rng(0).random(np.shape(value)) + 0.5
    gradients = pullback(bar)
    for name, operand in operands.items():
        found, wanted = gradients[name], storage_of(operand)
        if isinstance(operand, SparseTensor):
            assert all(a is b for a, b in zip(storage_of(found).arrays, wanted.arrays, strict=True))
        assert type(found) is type(operand) or not np.ndim(operand)
        np.testing.assert_allclose(
            storage_of(found).vals, differences(text, operands, name, bar), rtol=1e-6, atol=1e-7, err_msg=name
        )
    return gradients


def matrix(format, seed=0, n=4):
    rng = np.random.default_rng(seed)
    values = (rng.random((n, n)) + 0.5) * (rng.random((n, n)) < 0.5)
    if format == "skyline":
        values = np.tril(values)
    values[0, 0] = 1.5
    if format == "duplicates":
        coords = rng.integers(0, n, (2, 9))
        return weft.from_coords(coords, rng.random(9) + 0.5, (n, n), duplicates="keep")
    return weft.asarray(values, format="csr").asformat(format)


@pytest.mark.parametrize("format", [*MATRICES, "duplicates"])
def test_formats(format):
    """A sampled product, which takes the operand's arrays over, and one with another sparse operand."""
    rng = np.random.default_rng(1)
    check("C(i,k) = A(i,j)*X(j,k)", A=matrix(format), X=rng.random((4, 2)))


def test_sparse_beside_sparse():
    check("C(i,j) = A(i,j)*exp(B(i,j))", A=matrix("csr"), B=matrix("csc", 1))


def test_three_axes():
    """The gradients of MTTKRP: a sampled product, and two other MTTKRPs."""
    rng = np.random.default_rng(2)
    T = weft.random((3, 4, 2), nnz=9, rng=0).asformat("csf")
    X, Y = rng.random((4, 2)), rng.random((2, 2))
    check("M(i,r) = T(i,j,k)*X(j,r)*Y(k,r)", T=T, X=X, Y=Y)


@pytest.mark.parametrize(
    "text",
    [
        "y(i) = A(i,i)*x(i)",  # a repeated index
        "C(i,k) = A(i,j)*A(j,k)",  # an operand in two places
        "y(i) = A(i,j)*sum(k, A(j,k)*x(k))",
        "y(i) = log(sum(j, exp(A(i,j)*x(j))))",
        "C(i,j) = A(i,j)/(1 + x(j))",
        "s = sum(i, j, square(A(i,j) - x(i)*x(j)))",
        "y(i) = prod(j, A(i,j) + x(j))",
        "y(i) = max(j, A(i,j)*x(j))",
        "y(i) = x(i)",
        "y(i) = sum(j, A(i,j) + x(i))",
    ],
)
def test_expressions(text):
    rng = np.random.default_rng(3)
    operands = {"A": matrix("csr"), "x": rng.random(4) + 0.5}
    check(text, **{name: operand for name, operand in operands.items() if f"{name}(" in text})


def test_fill_values():
    """Elements that are not stored are constants, whatever their value is."""
    A = weft.asarray(np.array([[2.0, 3.0, 1.5], [1.5, 1.5, 4.0]]), format="csr", fill_value=1.5)
    assert A.nnz == 3
    gradients = check("y(i) = A(i,j)*square(A(i,j))", A=A)
    assert gradients["A"].fill_value == 0
    check("y(i) = prod(j, A(i,j))", A=A)


def test_extremes_share_the_gradient():
    A = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    _, pullback = weft.vjp("y(i) = max(j, A(i,j))", A=A)
    np.testing.assert_array_equal(pullback(np.ones(2))["A"], [[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    _, pullback = weft.vjp("y(i) = maximum(x(i), z(i))", x=np.array([1.0, 2.0]), z=np.array([1.0, 3.0]))
    gradients = pullback(np.array([1.0, np.inf]))
    np.testing.assert_array_equal(gradients["x"], [0.5, 0])
    np.testing.assert_array_equal(gradients["z"], [0.5, np.inf])


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_with_zeros(zeros):
    x = np.array([2.0, 3.0, 5.0, 7.0])
    x[:zeros] = 0
    _, pullback = weft.vjp("y = prod(i, x(i))", x=x)
    others = [np.prod(np.delete(x, n)) for n in range(4)]
    np.testing.assert_array_equal(pullback(1.0)["x"], others)


def test_duplicates_each_have_the_gradient_of_their_sum():
    A = weft.from_coords([[0, 1, 0], [1, 0, 1]], [1.0, 2.0, 3.0], (2, 2), duplicates="keep")
    _, pullback = weft.vjp("y(i) = square(A(i,j))", A=A)
    found = pullback(np.ones(2))["A"]
    assert storage_of(found).arrays is storage_of(A).arrays
    np.testing.assert_array_equal(storage_of(found).vals, [8, 4, 8])


def test_explicit_zeros_are_parameters():
    A = weft.from_coords([[0, 1], [1, 0]], [0.0, 2.0], (2, 2), format="csr")
    _, pullback = weft.vjp("y(i) = A(i,j)*x(j)", A=A, x=np.array([3.0, 5.0]))
    np.testing.assert_array_equal(pullback(np.ones(2))["A"].data, [5, 3])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1)])
def test_empty_and_single(shape):
    A = weft.asarray(np.full(shape, 2.0), format="csr")
    _, pullback = weft.vjp("y(i) = A(i,j)*x(j)", A=A, x=np.ones(shape[1]))
    gradients = pullback(np.ones(shape[0]))
    assert gradients["A"].nnz == A.nnz
    np.testing.assert_array_equal(gradients["x"], A.todense().sum(axis=0))


def test_all_elements():
    A, x = matrix("csr"), np.arange(4.0)
    _, pullback = weft.vjp("y(i) = A(i,j)*x(j)", structure="all", A=A, x=x)
    np.testing.assert_array_equal(dense(pullback(np.ones(4))["A"]), np.ones((4, 1)) * x)


def test_results_are_memory_of_their_own():
    """A gradient that equals the given one, or another, may be changed without changing these."""
    x, z, bar = np.ones(3), np.ones(3), np.arange(3.0)
    _, pullback = weft.vjp("y(i) = x(i) + z(i)", x=x, z=z)
    gradients = pullback(bar)
    assert not np.shares_memory(gradients["x"], bar)
    assert not np.shares_memory(gradients["x"], gradients["z"])
    A = matrix("csr")
    _, pullback = weft.vjp("C(i,j) = A(i,j)", A=A)
    assert not np.shares_memory(pullback(A)["A"].data, A.data)


def test_a_value_that_is_read_later_may_be_changed():
    x = np.arange(3.0)
    value, pullback = weft.vjp("y(i) = exp(sum(j, A(i,j)*x(j)))", wrt="x", A=np.eye(3), x=x)
    expected = value.copy()
    value += 1
    np.testing.assert_array_equal(pullback(np.ones(3))["x"], expected)


def test_kinds_of_operands():
    """Scalars have scalars; sparse gradients of results are taken; float32 stays float32."""
    A, x = matrix("csr").astype(np.float32), np.ones(4, np.float32)
    value, pullback = weft.vjp("C(i,j) = b*A(i,j)*x(j)", A=A, x=x, b=2.0)
    gradients = pullback(value)
    assert gradients["A"].dtype == gradients["x"].dtype == np.float32
    assert np.ndim(gradients["b"]) == 0
    np.testing.assert_allclose(gradients["b"], (dense(value) * dense(A)).sum(), rtol=1e-6)
    _, pullback = weft.vjp("ij,j->i", A, x)
    assert set(pullback(x)) == {0, 1}
    by_place = [weft.jvp("ij,j->i", [A, x], changes)[1] for changes in ((None, 2 * x), {1: 2 * x})]
    np.testing.assert_array_equal(by_place, [2 * dense(A).sum(axis=1)] * 2)


@pytest.mark.parametrize(
    "text",
    [
        "y(i) = x(i)*exp(z(i))",
        "s = sum(i, absolute(x(i)*r(i)))",
        "y(i) = conjugate(x(i))/z(i)",
        "y(i) = imag(x(i))*r(i)",
        # Real functions beside complex factors, and complex numbers beside real operands.
        "y(i) = imag(x(i))*z(i)",
        "y(i) = absolute(x(i))*z(i)",
        "y(i) = float64(real(x(i)))*ldexp(r(i), 2)*z(i)",
        "y(i) = 2j*exp(r(i))",
        "y(i) = sqrt(complex128(r(i) - 9))",
        "y(i) = imag(2 + imag(r(i)))",
    ],
)
def test_complex_operands(text):
    """The result changes by the real part of ``conj(gradient)*change``, for changes in both directions."""
    rng = np.random.default_rng(4)
    x, z = rng.random((2, 3)) + 1j * rng.random((2, 3)) + 0.2
    operands = {"x": x, "z": z, "r": rng.random(3)}
    operands = {name: operand for name, operand in operands.items() if f"{name}(" in text}
    value, pullback = weft.vjp(text, **operands)
    bar = rng.random(np.shape(value)) + 1j * rng.random(np.shape(value)) * np.iscomplexobj(value)
    for name, gradient in pullback(bar if np.iscomplexobj(value) else bar.real).items():
        assert gradient.dtype == operands[name].dtype
        for change in (1, 1j) if np.iscomplexobj(operands[name]) else (1,):
            for n in range(3):
                step = np.zeros(3, gradient.dtype)
                step[n] = change * STEP
                both = [weft.evaluate(text, **{**operands, name: operands[name] + sign * step}) for sign in (1, -1)]
                slope = np.sum((np.conj(bar) * (both[0] - both[1])).real) / (2 * STEP)
                np.testing.assert_allclose((np.conj(gradient[n]) * change).real, slope, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_tangents_of_complex_numbers_that_are_cast():
    _, tangent = weft.jvp("y(i) = float64(x(i))", {"x": np.ones(1, complex)}, {"x": np.array([3 + 4j])})
    np.testing.assert_array_equal(tangent, [3])


def test_numbers_are_real_beside_complex_operands():
    z = np.array([1 + 2j, 3 - 1j])
    _, pullback = weft.vjp("y(i) = b*c*z(i)", b=2.0, c=1j, z=z)
    gradients = pullback(z)
    assert gradients["b"] == 0
    assert gradients["b"].dtype == np.float64
    assert gradients["c"] == 30


def test_tangents_that_lack_a_variable():
    x = np.arange(3.0)
    _, tangent = weft.jvp("s = sum(i, b + x(i))", {"b": 2.0, "x": x}, {"b": 1.0})
    assert tangent == 3
    _, tangent = weft.jvp("y(j) = sum(i, x(j) + A(i,j))", {"A": matrix("csr"), "x": x[[0, 1, 2, 0]]}, {"x": np.ones(4)})
    np.testing.assert_array_equal(dense(tangent), np.full(4, 4.0))


def test_signs_of_complex_numbers():
    with pytest.raises(UnsupportedError, match=r"sign of complex numbers.*write x/absolute\(x\)"):
        weft.vjp("y(i) = sign(x(i))*x(i)", x=np.ones(2, complex))


def test_nothing_of_the_size_of_a_dense_operand_is_made():
    """The gradient of a product by a sparse matrix of a million rows, and of the loss of a factorisation."""
    n = 1_000_000
    A = weft.random((n, n), nnz=1000, format="csr", rng=0)
    rng = np.random.default_rng(0)
    X, bar = rng.random((n, 2)), rng.random((n, 2))
    _, pullback = weft.vjp("C(i,k) = A(i,j)*X(j,k)", wrt="A", A=A, X=X)
    found = pullback(bar)["A"]
    rows, columns = A.coords
    np.testing.assert_allclose(found.data, (bar[rows] * X[columns]).sum(axis=1))
    assert storage_of(found).arrays[0] is storage_of(A).arrays[0]
    text = "s = sum(i, j, M(i,j)*square(R(i,j) - sum(k, U(i,k)*V(j,k))))"
    _, pullback = weft.vjp(text, wrt="U", M=A != 0, R=A, U=X, V=bar)
    assert "computed again: its 1000000000000 elements" in pullback.explain()
    residual = np.zeros((n, 2))
    np.add.at(residual, rows, (-2 * (A.data - (X[rows] * bar[columns]).sum(axis=1)))[:, None] * bar[columns])
    np.testing.assert_allclose(pullback(1.0)["U"], residual, atol=1e-12)


def test_what_is_kept_is_explained():
    A, x = matrix("csr"), np.ones(4)
    _, pullback = weft.vjp("y(i) = z(i)*tanh(sum(j, A(i,j)*x(j)))", wrt="x", A=A, x=x, z=x)
    assert pullback.explain().splitlines() == [
        "value: y(i) = z(i)*kept(i)",
        "kept(i) = tanh(sum(j, A(i,j)*x(j))): kept from the forward pass, in format dense",
        "gradient: x_bar(j) = sum(i, y_bar(i)*z(i)*(1 - square(kept(i)))*A(i,j))",
    ]


def test_against_jax():
    """The gradient of the dense expression, for extremes among equal elements, too."""
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x = np.array([[1.0, 2.0, 2.0], [0.0, 3.0, 0.5]], np.float32)
    expressions = {
        "s = sum(i, max(j, x(i,j)))": lambda np, x: np.max(x, axis=1).sum(),
        "s = sum(i, prod(j, x(i,j)))": lambda np, x: np.prod(x, axis=1).sum(),
        "s = sum(i, j, log(1 + exp(maximum(x(i,j), 2))))": lambda np, x: np.log1p(np.exp(np.maximum(x, 2))).sum(),
        "s = sum(i, j, power(x(i,j), 3)/(1 + x(i,j)))": lambda np, x: (x**3 / (1 + x)).sum(),
        "s = sum(i, sqrt(sum(j, square(x(i,j)))))": lambda np, x: np.sqrt(np.square(x).sum(axis=1)).sum(),
    }
    for text, function in expressions.items():
        _, gradients = weft.value_and_grad(text)(x=x)
        expected = jax.grad(partial(function, jax.numpy))(x)
        np.testing.assert_allclose(gradients["x"], expected, rtol=1e-5, err_msg=text)


def test_tangents():
    A, x, dx = matrix("csr"), np.arange(4.0), np.ones(4)
    value, tangent = weft.jvp("ij,j->i", [A, x], {1: dx})
    np.testing.assert_allclose(value, A @ x)
    np.testing.assert_allclose(tangent, A @ dx)
    _, tangent = weft.jvp("y(i) = A(i,j)*floor(x(j))", {"A": A, "x": x}, {"x": dx})
    np.testing.assert_array_equal(tangent, np.zeros(4))
    assert tangent.dtype == float
    with pytest.raises(ShapeError, match=r"the tangent of x has the shape \(2,\), and x has \(4,\)"):
        weft.jvp("y(i) = A(i,j)*x(j)", {"A": A, "x": x}, {"x": np.ones(2)})


def test_errors():
    A, x = matrix("csr"), np.ones(4)
    with pytest.raises(DTypeError, match=r"no gradient by x, which is of int64.*x\.astype\('float64'\)"):
        weft.vjp("y(i) = A(i,j)*x(j)", wrt="x", A=A, x=x.astype(int))
    with pytest.raises(DTypeError, match="all are of integers or booleans"):
        weft.vjp("y(i) = 2*x(i)", x=x.astype(int))
    _, pullback = weft.vjp("y(i) = A(i,j)*x(j)", A=A, x=x.astype(int))  # by A alone
    assert set(pullback(x)) == {"A"}
    with pytest.raises(ShapeError, match=r"the gradient of y has the shape \(3,\), and y has \(4,\)"):
        pullback(np.ones(3))
    with pytest.raises(ShapeError, match=r"has the shape \(4,\) and not one number.*weft\.vjp"):
        weft.value_and_grad("y(i) = A(i,j)*x(j)")(A=A, x=x)
    with pytest.raises(UnsupportedError, match=r"write the sum.*: y_new\(i\) = y\(i\) \+ A\(i,j\)\*x\(j\)$"):
        weft.vjp("y(i) += A(i,j)*x(j)", A=A, x=x, y=x)
    with pytest.raises(NotationError, match=r"names x, which is not given"):
        weft.vjp("y(i) = A(i,j)*x(j)", A=A)
    with pytest.raises(UnsupportedError, match=r"\+= has no derivative"):
        weft.vjp("y(i) += A(i,j)*x(j)", A=A, x=x, y=x)
