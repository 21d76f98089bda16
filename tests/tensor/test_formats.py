"""Reductions and binary operators on every format of the catalogue, with fill values that are not zero among them."""

import numpy as np
import pytest
from tests.beside import FORMATS, sparse

import weft

REDUCTIONS = ["sum", "prod", "min", "max", "mean", "var", "any", "all", "count_nonzero", "nansum", "nanmax", "argmax"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "power", "logical_or"]
SHAPES = {2: [(4, 5), (5, 1)], 3: [(3, 4, 2)]}
CASES = [(n, format) for n in (2, 3) for format in FORMATS[n]]


def dense(shape, fill, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.6, rng.random(shape) + 1, fill)


def same(found, expected):
    found = found.todense() if isinstance(found, weft.SparseTensor) else found
    np.testing.assert_allclose(found, expected)


@pytest.mark.filterwarnings("ignore:All-NaN:RuntimeWarning")
@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
@pytest.mark.parametrize(("n", "format"), CASES)
def test_reductions(n, format, fill):
    for shape in SHAPES[n]:
        d = dense(shape, fill, 0)
        A = sparse(d, fill, format)
        for k, name in enumerate(REDUCTIONS):
            for axis in (None, k % n):
                same(getattr(weft, name)(A, axis=axis), getattr(np, name)(d, axis=axis))


@pytest.mark.parametrize("fill", [0.0, 2.0])
@pytest.mark.parametrize(("n", "format"), CASES)
def test_binary_operators(n, format, fill):
    a, b = (dense(SHAPES[n][0], fill, seed) for seed in (0, 1))
    A, B = sparse(a, fill, format), sparse(b, fill, format)
    with np.errstate(all="ignore"):
        for k, name in enumerate(BINARY):
            ours, theirs = getattr(weft, name), getattr(np, name)
            same(ours(A, B), theirs(a, b))
            if k % 4 == n % 4:
                same(ours(A, B[:1]), theirs(a, b[:1]))
            if k % 4 == 1:
                same(ours(A[:, :1], B), theirs(a[:, :1], b))


@pytest.mark.parametrize("format", FORMATS[2])
def test_index_notation_on_other_fill_values(format):
    d = dense((4, 5), 2.0, 0)
    A = sparse(d, 2.0, format)
    x = np.arange(5.0)
    for text, expected in (("y(i) = A(i,j)", d.sum(1)), ("y(j) = A(i,j)", d.sum(0)), ("C(i,j) = 2 - A(i,j)", 2 - d),
                           ("y(i) = A(i,j)*x(j)", d @ x)):  # fmt: skip
        same(weft.evaluate(text, A=A, **({"x": x} if "x" in text else {})), expected)
