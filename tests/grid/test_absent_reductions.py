"""Reductions in which absent entries count: they do, and are not walked."""

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.storage import check

RNG = np.random.default_rng(3)
MATRICES = ["csr", "csc", "coo", "dcsr", "dia", "ell", "bsr", "hash", "dok", "lil", "hicoo", "jad", "skyline", "csb"]
REDUCERS = {"max": np.max, "min": np.min, "prod": np.prod, "any": np.any, "all": np.all}
LARGE = 2**40


def matrix(sign, dtype="float64"):
    """A full row, an empty one, a row with one gap, and others, all of numbers of one sign, or of both."""
    a = RNG.integers(1, 4, (6, 5)) * (RNG.random((6, 5)) < 0.4)
    a[1], a[2], a[4] = RNG.integers(1, 4, 5), 0, [1, 2, 0, 3, 1]
    signs = np.full(a.shape, sign) if sign else RNG.choice([-1, 1], a.shape)
    return (a * signs).astype(dtype)


def dense(x):
    return x.todense() if hasattr(x, "todense") else np.asarray(x)


def lattices(text, **operands):
    return weft.explain(text, **operands, stages=True).split("== lattices")[1].split("== ir")[0]


@pytest.mark.parametrize("format", MATRICES)
@pytest.mark.parametrize("name", REDUCERS)
def test_as_numpy(name, format):
    reduce = REDUCERS[name]
    for sign in (-1, 0, 1):
        a, b = matrix(sign), matrix(-sign)
        A, B = weft.asarray(a, format=format), weft.asarray(b, format="csr")
        x = RNG.integers(-2, 3, 5).astype(float)
        for text, wanted, given in (
            (f"y(i) = {name}(j, A(i,j))", reduce(a, axis=1), {"A": A}),
            (f"y(j) = {name}(i, A(i,j))", reduce(a, axis=0), {"A": A}),
            (f"y = {name}(i, {name}(j, A(i,j)))", reduce(a), {"A": A}),
            (f"y(i) = {name}(j, A(i,j)*x(j))", reduce(a * x, axis=1), {"A": A, "x": x}),
            (f"y(i) = {name}(j, A(i,j)+B(i,j))", reduce(a + b, axis=1), {"A": A, "B": B}),
            (f"y(i) = {name}(j, A(i,j)*B(i,j)) - {name}(j, B(i,j))", None, {"A": A, "B": B}),
        ):
            if wanted is None:
                if name in ("any", "all"):
                    continue
                wanted = reduce(a * b, axis=1) - reduce(b, axis=1)
            found = weft.evaluate(text, **given)
            if isinstance(found, weft.SparseTensor):
                check(found._storage)
            np.testing.assert_array_equal(dense(found), wanted)


@pytest.mark.parametrize("fill", [0.0, -2.0, np.inf, np.nan, -0.0])
@pytest.mark.parametrize("name", ["max", "min", "prod"])
def test_other_fill_values(name, fill):
    a = matrix(0)
    stored = np.nonzero(a)
    whole = np.where(a != 0, a, fill)
    for format in ("csr", "coo", "dcsr", "csc"):
        A = weft.from_coords(stored, a[stored], shape=a.shape, format=format, fill_value=fill)
        with np.errstate(invalid="ignore"):
            wanted = [REDUCERS[name](whole, axis=axis) for axis in (1, 0)]
        for text, expected in zip((f"y(i) = {name}(j, A(i,j))", f"y(j) = {name}(i, A(i,j))"), wanted, strict=True):
            found = dense(weft.evaluate(text, A=A))
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "bool", "complex64"])
def test_other_dtypes(dtype):
    a = matrix(1, dtype)
    A = weft.asarray(a, format="csr")
    for name in ("max", "min", "all") if dtype != "bool" else ("any", "all"):
        wanted = REDUCERS[name](a, axis=1)
        np.testing.assert_array_equal(dense(weft.evaluate(f"y(i) = {name}(j, A(i,j))", A=A)), wanted)


def test_stored_zeros_and_duplicates_are_entries():
    rows, columns = [0, 0, 0, 0, 1, 1], [0, 1, 2, 2, 0, 0]
    A = weft.asarray(sp.coo_array(([-1.0, 0.0, -1.0, -1.0, -1.0, -2.0], (rows, columns)), shape=(2, 3)))
    assert not A.is_unique
    for format in (None, "csr", "csc"):
        B = A if format is None else A.asformat(format)
        np.testing.assert_array_equal(dense(weft.evaluate("y(i) = min(j, B(i,j))", B=B)), [-2, -3])
        np.testing.assert_array_equal(dense(weft.evaluate("y(i) = max(j, B(i,j))", B=B)), [0, 0])


@pytest.mark.parametrize("name", REDUCERS)
def test_only_what_is_stored_is_walked(name):
    """In matrices so large that walking all of them would not end."""
    coords, values = [[0, 0, 2], [5, LARGE - 2, 0]], [-1.0, -2.0, 4.0]
    A = weft.from_coords(coords, values, shape=(3, LARGE), format="csr")
    wanted = {"max": 4.0, "min": -2.0, "prod": 0.0, "any": True, "all": False}[name]
    rows = {"max": [0, 0, 4], "min": [-2, 0, 0], "prod": [0, 0, 0], "any": [1, 0, 1], "all": [0, 0, 0]}[name]
    assert weft.evaluate(f"y = {name}(i, {name}(j, A(i,j)))", A=A) == wanted
    np.testing.assert_array_equal(dense(weft.evaluate(f"y(i) = {name}(j, A(i,j))", A=A)), rows)
    if name in ("prod", "all"):
        return  # a row without elements would come to 1, and true: no row is passed over
    A = weft.from_coords(coords, values, shape=(LARGE, LARGE), format="dcsr")
    assert weft.evaluate(f"y = {name}(i, {name}(j, A(i,j)))", A=A) == wanted
    y = weft.evaluate(f"y(i) = {name}(j, A(i,j))", A=A)
    assert y.nnz == 2
    assert [y[0], y[1], y[2]] == rows


def test_lattices_have_no_universe():
    A, B = (weft.asarray(matrix(0), format="csr") for _ in range(2))
    assert lattices("y(i) = max(j, A(i,j))", A=A).split() == ["i:", "(A1)", "j:", "(A2)"]
    assert "J" not in lattices("y(i) = prod(j, A(i,j) + B(i,j))", A=A, B=B)
    assert "J" not in lattices("y(i) = prod(j, 2 + A(i,j))", A=A)  # a power of two for those that are absent
    assert "visited" not in weft.explain("y(i) = max(j, A(i,j))", A=np.ones((2, 3)), stages=True)


@pytest.mark.parametrize(
    ("format", "made"), [*((f, None) for f in MATRICES), *(("csr", m) for m in ("dense", "csc", "coo", "dcsr", "dia"))]
)
@pytest.mark.parametrize("name", ["max", "min", "prod"])
def test_of_products(name, format, made):
    """Each coordinate of the result has its own number of absent products."""
    for sign in (-1, 0, 1):
        a, b = matrix(sign), matrix(sign).T
        A, B = weft.asarray(a, format=format), weft.asarray(b, format="csr")
        found = weft.evaluate(f"C(i,j) = {name}(k, A(i,k)*B(k,j))", A=A, B=B, format=made)
        if isinstance(found, weft.SparseTensor):
            check(found._storage)
        np.testing.assert_array_equal(dense(found), REDUCERS[name](a[:, :, None] * b, axis=1))


@pytest.mark.parametrize("name", ["max", "min"])
def test_products_that_are_absent_are_not_stored(name):
    """In matrices so large that all pairs of rows and columns would not be met in a lifetime."""
    coords, values = [[0, 0, 2, LARGE - 1], [5, LARGE - 2, 0, 3]], [-1.0, -2.0, 4.0, 0.0]
    A = weft.from_coords(coords, values, shape=(LARGE, LARGE), format="dcsr")
    B = weft.from_coords(coords[::-1], values, shape=(LARGE, LARGE), format="dcsr")
    C = weft.evaluate(f"C(i,j) = {name}(k, A(i,k)*B(k,j))", A=A, B=B)
    check(C._storage)
    squares = {"max": [4.0, 16.0, 0.0], "min": [0.0, 0.0, 0.0]}[name]
    np.testing.assert_array_equal(C.to_coo()[0], [[0, 2, LARGE - 1]] * 2)
    np.testing.assert_array_equal(C.to_coo()[1], squares)
    tall = weft.from_coords([[0, 0, 2], [1, 2, 0]], [-1.0, -2.0, 4.0], shape=(LARGE, 3), format="dcsr")
    D = weft.evaluate(f"C(i,j) = {name}(k, A(i,k)*B(j,k))", A=tall, B=tall)
    np.testing.assert_array_equal(D.to_coo()[1], squares[:2])


@pytest.mark.parametrize("made", [None, "csr", "dense"])
def test_products_of_nothing(made):
    A, B = weft.zeros((2, 0), format="csr"), weft.zeros((0, 3), format="csr")
    with pytest.raises(ValueError, match="no identity"):
        weft.evaluate("C(i,j) = max(k, A(i,k)*B(k,j))", A=A, B=B, format=made)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("format", ["csr", "coo", "dcsr"])
def test_larger_ones(format, threads):
    shape = (400, 300)
    a = -np.where(RNG.random(shape) < 0.1, RNG.random(shape), 0)
    a[7] = -1 - RNG.random(300)
    A = weft.asarray(a, format=format)
    before = weft.get_num_threads()
    weft.set_num_threads(threads)
    try:
        np.testing.assert_array_equal(dense(A.max(axis=1)), a.max(axis=1))
        np.testing.assert_array_equal(dense(A.max(axis=0)), a.max(axis=0))
        assert weft.evaluate("y = max(i, max(j, A(i,j)))", A=A) == 0
    finally:
        weft.set_num_threads(before)


def test_how_many_are_absent():
    """Sums and powers of fill values, of as many as are not stored."""
    n = 2**30
    A = weft.from_coords([[0, 0, 2], [5, n - 2, 0]], [-1.0, -2.0, 4.0], shape=(3, n), format="csr")
    np.testing.assert_array_equal(dense(weft.evaluate("y(i) = sum(j, A(i,j) + 1)", A=A)), [n - 3, n, n + 4])
    assert weft.evaluate("y = sum(i, sum(j, (A(i,j) - 1) * (A(i,j) - 1)))", A=A) == 3 * n - 3 + 4 + 9 + 9
    assert weft.evaluate("y = prod(i, prod(j, 1 - A(i,j)))", A=A) == 2 * 3 * -3
    a = matrix(0)
    for format in MATRICES:
        A = weft.asarray(a, format=format)
        np.testing.assert_array_equal(dense(weft.evaluate("y(i) = prod(j, 2 + A(i,j))", A=A)), (2 + a).prod(1))
        np.testing.assert_array_equal(dense(weft.evaluate("y(j) = sum(i, 3 - A(i,j))", A=A)), (3 - a).sum(0))
        assert weft.evaluate("y = sum(i, sum(j, A(i,j) * A(i,j) + 1))", A=A) == (a * a + 1).sum()
    ones = weft.from_coords([[1], [2]], [5.0], shape=(3, 4), fill_value=1)
    np.testing.assert_array_equal(dense(weft.einsum("ij->i", ones)), [4, 8, 4])
    np.testing.assert_array_equal(dense(weft.einsum("ij,ij->", ones, ones)), 11 + 25)


@pytest.mark.parametrize("format", ["hash_vector", "coo", "s", "dense"])
def test_sums_of_absent_ones_beside_a_number(format):
    """Added to a scalar one by one, what is absent is not counted; a table that has no order is stored again."""
    B = weft.from_coords([[1, 3]], [5.0, 2.0], shape=(6,), fill_value=1.0, format=format)
    assert weft.evaluate("y = 2 + sum(i, B(i))", B=B) == 13


def test_more_than_can_be_counted():
    A = weft.from_coords([[3], [LARGE - 2]], [-1.0], shape=(LARGE, LARGE), format="dcsr")
    assert weft.evaluate("y = max(i, max(j, A(i,j)))", A=A) == 0
    with pytest.raises(weft.errors.IndexOverflowError, match="than int64 counts"):
        weft.evaluate("y = sum(i, sum(j, A(i,j) + 1))", A=A)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("format", ["csr", "coo", "dcsr"])
def test_of_nothing(format, shape):
    A = weft.zeros(shape, format=format)
    a = np.zeros(shape)
    for text, wanted in (
        ("y(i) = prod(j, A(i,j))", a.prod(1)),
        ("y(i) = all(j, A(i,j))", a.all(1)),
        ("y(i) = sum(j, 1 + A(i,j))", (1 + a).sum(1)),
        ("y = sum(i, sum(j, 1 + A(i,j)))", (1 + a).sum()),
        ("y = all(i, all(j, A(i,j)))", a.all()),
    ):
        np.testing.assert_array_equal(dense(weft.evaluate(text, A=A)), wanted)
