"""Products of other semirings than + and *: tropical ones, whose zero is infinity, max-times and or-and."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph
from tests.formats_for_tests import sparse

import weft
from weft.storage import check

RNG = np.random.default_rng(11)
FORMATS = ["csr", "csc", "coo", "dcsr", "dense", "ell", "dia", "hash", "dok", "bsr"]
TROPICAL = {"min": np.inf, "max": -np.inf}
LARGE = 2**40


def matrix(fill, shape=(6, 6), density=0.3):
    return np.where(RNG.random(shape) < density, RNG.integers(-4, 9, shape).astype(float), fill)


def product(op, a, b):
    with np.errstate(invalid="ignore"):
        return getattr(np, op)(a[:, :, None] + b, axis=1)


def values(found):
    if isinstance(found, weft.SparseTensor):
        check(found._storage)
        return found.todense()
    return found


@pytest.mark.parametrize("op", TROPICAL)
@pytest.mark.parametrize(("first", "second"), [*zip(FORMATS, FORMATS, strict=True), ("csr", "dense"), ("dense", "csc")])
def test_tropical_products(op, first, second):
    fill = TROPICAL[op]
    for density, made in itertools.product([0, 0.3, 1], [None, "csr", "dense"]):
        a, b = matrix(fill, (5, 6), density), matrix(fill, (6, 7), density)
        A, B = sparse(a, fill, first), sparse(b, fill, second)
        C = weft.evaluate(f"C(i,j) = {op}(k, A(i,k) + B(k,j))", A=A, B=B, format=made)
        assert C.fill_value == fill
        np.testing.assert_array_equal(values(C), product(op, a, b))
        x = matrix(fill, (6,), density)
        for vector in (x, sparse(x, fill, "s")):
            y = weft.evaluate(f"y(i) = {op}(k, A(i,k) + x(k))", A=A, x=vector)
            np.testing.assert_array_equal(values(y), product(op, a, x[:, None])[:, 0])


@pytest.mark.parametrize("op", TROPICAL)
def test_only_what_both_store_is_visited(op):
    fill = TROPICAL[op]
    coords, stored = [[0, 0, 2, LARGE - 1], [5, LARGE - 2, 0, 3]], [-1.0, -2.0, 4.0, 0.0]
    A = weft.from_coords(coords, stored, shape=(LARGE, LARGE), format="dcsr", fill_value=fill)
    B = weft.from_coords(coords[::-1], stored, shape=(LARGE, LARGE), format="dcsr", fill_value=fill)
    C = weft.evaluate(f"C(i,j) = {op}(k, A(i,k) + B(k,j))", A=A, B=B)
    check(C._storage)
    np.testing.assert_array_equal(C.to_coo()[0], [[0, 2, LARGE - 1]] * 2)
    np.testing.assert_array_equal(C.to_coo()[1], [-2 if op == "max" else -4, 8, 0])
    D = weft.evaluate(f"D(i,j) = {op}(k, A(i,k) + B(k,j) + 1)", A=A, B=B)
    np.testing.assert_array_equal(D.to_coo()[1], C.to_coo()[1] + 1)
    report = weft.explain(f"C(i,j) = {op}(k, A(i,k) + B(k,j))", A=A, B=B, stages=True)
    assert "absorbing add(A(i,k), B(k,j))" in report


@pytest.mark.parametrize("op", TROPICAL)
@pytest.mark.parametrize("held", [np.nan, "other"])
def test_what_infinity_does_not_decide(op, held):
    """Beside its negative infinity is NaN, and so is what is beside NaN: then all has to be visited."""
    fill = TROPICAL[op]
    for where, first, second in itertools.product("abx", ["csr", "dense", "coo"], ["csr", "csc"]):
        a, b, x = matrix(fill, (3, 3)), matrix(fill, (3, 4)), matrix(fill, (3,))
        {"a": a, "b": b, "x": x}[where].flat[1] = -fill if held == "other" else held
        A, B = sparse(a, fill, first), sparse(b, fill, second)
        C = weft.evaluate(f"C(i,j) = {op}(k, A(i,k) + B(k,j))", A=A, B=B)
        np.testing.assert_array_equal(values(C), product(op, a, b))
        y = weft.evaluate(f"y(i) = {op}(k, A(i,k) + x(k))", A=A, x=x)
        np.testing.assert_array_equal(values(y), product(op, a, x[:, None])[:, 0])


def test_sums_that_overflow():
    """The largest negative numbers make minus infinity, and that beside infinity NaN."""
    large = np.finfo(np.float32).min
    a = np.array([[large, np.inf]], np.float32)
    A = sparse(a, np.inf, "csr")
    b = np.array([large, 0], np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for text, wanted in (("A(i,k) + b(k) + A(i,k)", a + b + a), ("b(k) + b(k) + A(i,k)", b + b + a)):
            y = weft.evaluate(f"y(i) = min(k, {text})", A=A, b=b)
            np.testing.assert_array_equal(values(y), wanted.min(axis=1))


def test_sums_that_wrap_around_and_duplicates():
    """What operands hold says nothing of the sums of small integers, nor of those of entries that come twice."""
    a, b = np.array([[0, 0], [2, 0]], np.int8), np.array([[100, 0], [100, 100]], np.int8)
    A, B = weft.asarray(a, format="csr"), weft.asarray(b, format="csr")
    C = weft.evaluate("C(i,j) = max(k, minimum(A(i,k), B(k,j) + B(k,j)))", A=A, B=B)
    np.testing.assert_array_equal(C.todense(), np.minimum(a[:, :, None], b + b).max(axis=1))
    twice = weft.from_coords([[0, 0, 1, 1], [1] * 4], [-4.0] * 4, (2, 2), fill_value=-5.0, duplicates="keep")
    x = sparse(np.array([[-5.0, -5.0], [0.0, -5.0]]), -5.0, "csr")
    C = weft.evaluate("C(i,j) = max(k, minimum(x(i,k), B(k,j)))", x=x, B=twice)
    np.testing.assert_array_equal(values(C), np.minimum(x.todense()[:, :, None], twice.todense()).max(axis=1))


def test_shortest_paths():
    """Squaring a matrix of distances in min-plus until nothing changes finds all shortest paths."""
    weights = sp.csr_array(np.where(RNG.random((60, 60)) < 0.05, 1 + RNG.random((60, 60)), 0) * (1 - np.eye(60)))
    rows, columns = weights.nonzero()
    coords = [[*rows, *range(60)], [*columns, *range(60)]]
    paths = weft.from_coords(coords, [*weights[rows, columns], *[0.0] * 60], (60, 60), format="csr", fill_value=np.inf)
    for _ in range(6):
        paths = weft.evaluate("C(i,j) = min(k, A(i,k) + A(k,j))", A=paths)
    np.testing.assert_allclose(paths.todense(), csgraph.shortest_path(weights))
    assert paths.nnz == np.isfinite(csgraph.shortest_path(weights)).sum()


@pytest.mark.parametrize(
    ("sign", "least", "dtype"),
    [*itertools.product([1, -1], [0, -3], ["float64", "int16"]), (1, 0, "uint8"), (1, 0, "float32")],
)
def test_widest_paths(sign, least, dtype):
    """Zero decides beside what is on one side of it, and else nothing."""
    outer, inner = ("max", "minimum") if sign > 0 else ("min", "maximum")
    for first, second, made in itertools.product(["csr", "coo", "dense"], ["csr", "csc"], [None, "dense"]):
        a, b = (
            (sign * np.where(RNG.random(s) < 0.4, RNG.integers(least, 9, s), 0)).astype(dtype) for s in ((4, 5), (5, 6))
        )
        if least:
            b[2, 3] = -sign * 2
        A, B = weft.asarray(a, format=first), weft.asarray(b, format=second)
        C = weft.evaluate(f"C(i,j) = {outer}(k, {inner}(A(i,k), B(k,j)))", A=A, B=B, format=made)
        wanted = getattr(np, outer)(getattr(np, inner)(a[:, :, None], b), axis=1)
        np.testing.assert_array_equal(values(C), wanted)
        if isinstance(C, weft.SparseTensor) and not (least or C.layout.is_dense):
            assert C.nnz == np.count_nonzero((a != 0).astype(int) @ (b != 0)) or first == "dense"


def test_a_side_decides_alone():
    """Of different fill values one may decide: the smallest of a minimum, infinity beside zeros."""
    a, b = matrix(-5.0, (4, 5)), matrix(0.0, (5, 6))
    for first, second in itertools.product(["csr", "dcsr"], ["csr", "coo"]):
        A, B = sparse(a, -5.0, first), sparse(b, 0.0, second)
        C = weft.evaluate("C(i,j) = max(k, minimum(A(i,k), B(k,j)))", A=A, B=B)
        np.testing.assert_array_equal(values(C), np.minimum(a[:, :, None], b).max(axis=1))
        C = weft.evaluate("C(i,j) = max(k, minimum(B(k,j), A(i,k)))", A=A, B=B)
        np.testing.assert_array_equal(values(C), np.minimum(a[:, :, None], b).max(axis=1))
    c = matrix(np.inf, (4, 5))
    C = weft.evaluate("C(i,j) = min(k, A(i,k) + B(k,j))", A=sparse(c, np.inf, "csr"), B=sparse(b, 0.0, "csr"))
    np.testing.assert_array_equal(values(C), product("min", c, b))


def test_reachability():
    a = RNG.random((9, 9)) < 0.2
    A = weft.asarray(a, format="csr")
    two = weft.evaluate("C(i,j) = any(k, A(i,k)*A(k,j))", A=A)
    np.testing.assert_array_equal(two.todense(), a @ a)
    assert two.nnz == (a @ a).sum()
