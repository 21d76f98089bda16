"""Statements for the tests of adapters: each has what a package differentiates by, and constants beside it."""

import numpy as np

import weft

rng = np.random.default_rng(0)


def sparse(*shape, format="csr"):
    return weft.random(shape, density=0.5, format=format, rng=1, data_rvs=lambda n: 1 + rng.random(n))


U, V, X, W = (1 + rng.random(shape) for shape in ((4, 2), (3, 2), (3, 2), (2, 2)))
x, d, z = 1 + rng.random(3), 1 + rng.random(3), 1 + rng.random(4)
A = sparse(4, 3)

STATEMENTS = {
    "y(i) = A(i,j)*x(j)": {"A": A, "x": x},
    "C(i,k) = A(i,j)*X(j,k)": {"A": sparse(4, 3, format="csc"), "X": X},
    "B(i,j) = A(i,j)*U(i,k)*V(j,k)": {"A": A, "U": U, "V": V},
    "s = square(M(i,j)*(R(i,j) - U(i,k)*V(j,k)))": {"M": A != 0, "R": A, "U": U, "V": V},
    "Y(i,r) = T(i,j,k)*B(j,r)*C(k,r)": {"T": sparse(4, 3, 3, format="csf"), "B": V, "C": X},
    "H(i,f) = tanh(sum(j, sum(k, A(i,j)*X(j,k)*W(k,f))))": {"A": sparse(4, 3, format="dia"), "X": X / 9, "W": W / 9},
    "y(i) = max(j, A(i,j)*x(j))": {"A": A, "x": x},
    "P(i,j) = A(i,j)/sum(k, A(i,k)*d(k))": {"A": sparse(4, 3, format="coo") + weft.eye(4, 3), "d": d},
    "s = S(i,j)*z(i)*z(j)": {"S": sparse(4, 4), "z": z},
    "y(i) = b*exp(E(i,j)*x(j))": {"E": weft.asarray(A.todense() / 9, format="ell"), "x": x, "b": np.array(2.0)},
}


def split(operands):
    """Return the arrays to differentiate by, and the function that makes operands of them with a module's tensors."""
    arrays = {name: each.data if isinstance(each, weft.SparseTensor) else each for name, each in operands.items()}
    arrays = {name: array for name, array in arrays.items() if array.dtype.kind == "f"}

    def joined(module, replaced):
        traced = dict(zip(arrays, replaced, strict=True))
        tensors = {name for name in arrays if isinstance(operands[name], weft.SparseTensor)}
        return operands | {
            name: module.with_values(operands[name], each) if name in tensors else each for name, each in traced.items()
        }

    return [*arrays.values()], joined


def values_of(result):
    """Return the values that a result stores, or the array that it is."""
    return result.data if isinstance(result, weft.SparseTensor) else result
