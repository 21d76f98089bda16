"""Gradients against central differences, in every format: values, structure and memory."""

import numpy as np
import pytest

import weft
from weft import SparseTensor
from weft.errors import DTypeError, NotationError, ShapeError
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
    with pytest.raises(NotationError, match=r"names x, which is not given"):
        weft.vjp("y(i) = A(i,j)*x(j)", A=A)
