"""One operand that an expression reads several times, where some of its accesses are stored again and others not."""

import numpy as np
import pytest

import weft

EXPRESSIONS = {
    "C(i,j) = A(i,k)*A(k,j) + A(j,i)": lambda X: X @ X + X.T,
    "C(i,j) = A(k,i)*A(k,j) - 2*A(j,i)": lambda X: X.T @ X - 2 * X.T,
    "C(i,j) = A(i,k)*A(j,k)*A(i,j)": lambda X: (X @ X.T) * X,
    "C(i,l) = A(i,j)*A(j,k)*A(k,l)": lambda X: X @ X @ X,
    "C(i,j) = 3*sum(k, A(k,i)*A(j,k))": lambda X: 3 * (X.T @ X.T),
}


@pytest.mark.parametrize("result", ["csr", "coo"])
@pytest.mark.parametrize("format", ["csr", "coo", "skyline", "dia", "hash"])
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_beside_numpy(text, format, result):
    rng = np.random.default_rng(0)
    X = (rng.random((9, 9)) < 0.4) * rng.random((9, 9))
    C = weft.evaluate(text, A=weft.asarray(X, format=format), format=result)
    np.testing.assert_allclose(C.todense(), EXPRESSIONS[text](X), atol=1e-12)
