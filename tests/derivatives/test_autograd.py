"""Statements in functions that the package ``autograd`` differentiates, beside differences and its own gradients."""

import numpy as np
import pytest
from tests.derivatives.statements import STATEMENTS, split, values_of

import weft
from weft.errors import NotationError, UnsupportedError

autograd = pytest.importorskip("autograd")
from autograd import numpy as anp  # noqa: E402
from autograd.test_util import check_grads  # noqa: E402

evaluate = weft.autograd.evaluate
A = weft.random((4, 3), density=0.5, format="csr", rng=0)
x = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("text", STATEMENTS)
def test_values_and_gradients(text):
    arrays, joined = split(STATEMENTS[text])

    def computed(*replaced):
        return values_of(evaluate(text, **joined(weft.autograd, replaced)))

    expected = values_of(weft.evaluate(text, **STATEMENTS[text]))
    np.testing.assert_allclose(computed(*arrays), expected, rtol=1e-12)
    check_grads(computed, modes=["rev"], order=1)(*arrays)


def test_gradients_of_complex_numbers_are_those_of_autograd():
    C, z = (A * (1 + 2j)).tocoo(), x - 1j * x[::-1]

    def by_weft(values, z):
        return evaluate("y(i) = C(i,j)*square(z(j))", C=weft.autograd.with_values(C, values), z=z)

    def by_autograd(values, z):
        terms = values * (z**2)[C.col]
        return anp.stack([anp.sum(terms[C.row == i]) for i in range(4)])

    for gradient, of_result in (
        (autograd.grad, lambda y: anp.sum(anp.abs(y) ** 2)),
        (autograd.holomorphic_grad, anp.sum),
    ):
        for which in (0, 1):
            found, expected = (
                gradient(lambda *each, f=f, g=of_result: g(f(*each)), which)(C.data, z) for f in (by_weft, by_autograd)
            )
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_numbers_take_the_dtype_of_what_is_beside_them():
    narrow = x.astype("float32")
    assert evaluate("y(i) = b*x(i)", x=narrow, b=2.0).dtype == "float32"
    assert autograd.grad(lambda b: evaluate("s = b*x(i)", x=x, b=b))(2.0) == 6
    assert autograd.grad(lambda x: evaluate("s = b*x(i)", x=x, b=2.0))(narrow).dtype == "float32"


def test_errors():
    with pytest.raises(NotationError, match=r"\+= has no derivative"):
        evaluate("y(i) += A(i,j)*x(j)", A=A, x=x, y=np.ones(4))
    with pytest.raises(UnsupportedError, match="first derivatives alone"):
        autograd.hessian(lambda x: evaluate("s = x(i)*x(i)", x=x))(x)


def test_values_of_another_package_are_on_no_device_once_devices_are_in_use():
    assert A.to_device("emulated").device == "emulated"
    gradient = autograd.grad(lambda values: anp.sum(weft.autograd.with_values(A, values).data))
    np.testing.assert_array_equal(gradient(A.data), np.ones(A.nnz))
