"""Operators against NumPy, for every pair of kinds of operand."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DTypeError, ShapeError
from weft.storage import check

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
FORMATS = ["csr", "csc", "dcsr", "coo", "dense"]


def matrix(seed=0, shape=(5, 4), dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.integers(1, 9, shape) * (rng.random(shape) < 0.5)).astype(dtype)


def dense(x):
    return x.todense() if isinstance(x, weft.SparseTensor) else x


def same(found, expected):
    found = dense(found)
    np.testing.assert_array_equal(found, expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


@pytest.fixture(autouse=True)
def _division():
    with np.errstate(all="ignore"):
        yield


KINDS = {
    "csr": lambda x: weft.asarray(x, format="csr"),
    "csc": lambda x: weft.asarray(x, format="csc"),
    "coo": lambda x: weft.asarray(x, format="coo"),
    "dense": weft.asarray,
    "ndarray": lambda x: x,
    "fortran": np.asfortranarray,
    "list": lambda x: x.tolist(),
    "scipy csr": sp.csr_array,
    "scipy coo": sp.coo_array,
    "scipy matrix": sp.csc_matrix,
}
WEFT = ["csr", "csc", "coo", "dense"]
PRODUCTS = [
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 3)),
    ((2, 3, 4), (2, 4, 5)),
    ((1, 3, 4), (2, 4, 5)),
    ((6, 2, 3, 4), (2, 4, 5)),
]
BROADCASTS = [
    ((5, 4), (4,)),
    ((5, 4), (5, 1)),
    ((5, 4), (1, 4)),
    ((5, 1), (1, 4)),
    ((5, 4), (1, 1)),
    ((5, 4), (1,)),
    ((3, 5, 4), (5, 4)),
    ((3, 5, 4), (3, 1, 4)),
    ((0, 4), (1, 4)),
    ((1, 1), (1, 1)),
]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("mine", WEFT)
@pytest.mark.parametrize("other", KINDS)
def test_elementwise_with_any_operand_on_either_side(op, mine, other):
    x, y, f = matrix(0), matrix(1), OPERATORS[op]
    same(f(KINDS[mine](x), KINDS[other](y)), f(x, y))
    same(f(KINDS[other](y), KINDS[mine](x)), f(y, x))


@pytest.mark.parametrize("format", ["csr", "coo", "dense", "dok"])
def test_matmul_with_one_column(format):
    d = matrix()
    A = weft.asarray(d).asformat(format)
    for dtype in ("float64", "int8", "complex64", "bool"):
        X = matrix(1, (4, 1), dtype)
        found = A @ X
        assert found.shape == (5, 1)
        assert found.dtype == (d @ X).dtype
        same(found, d @ X)
    same(A @ np.ones((8, 1))[::2], d @ np.ones((4, 1)))
    with pytest.raises(ShapeError, match=r"\(3, 1\)"):
        A @ np.ones((3, 1))
    with pytest.raises(ShapeError):
        weft.asarray(2.0) @ np.ones((1, 1))
    same((A + 1) @ np.ones((4, 1)), (d + 1) @ np.ones((4, 1)))


@pytest.mark.parametrize("mine", WEFT)
@pytest.mark.parametrize("other", KINDS)
def test_matmul_with_any_operand_on_either_side(mine, other):
    x, y, z = matrix(0, (5, 4)), matrix(1, (4, 3)), matrix(2, (3, 5))
    same(KINDS[mine](x) @ KINDS[other](y), x @ y)
    same(KINDS[other](z) @ KINDS[mine](x), z @ x)


@pytest.mark.parametrize("mine", WEFT)
def test_products_with_vectors(mine):
    x, v, w = matrix(), np.arange(1.0, 5.0), np.arange(1.0, 6.0)
    A = KINDS[mine](x)
    for _ in range(2):  # cold and warm
        assert type(A @ v) is np.ndarray
        same(A @ v, x @ v)
        same(w @ A, w @ x)
        same(A.T @ w, x.T @ w)
        same(A @ v[::-1], x @ v[::-1])
        same(A @ v.astype(">f8"), x @ v)
        same(A @ weft.asarray(v, format="coo"), x @ v)
    assert weft.asarray(v, format="coo") @ v == v @ v
    assert np.isscalar(weft.asarray(v, format="coo") @ v)


@pytest.mark.parametrize("shapes", PRODUCTS)
@pytest.mark.parametrize("format", ["dense", "csf", "coo"])
def test_batched_products(shapes, format):
    x, y = matrix(0, shapes[0]), matrix(1, shapes[1])
    same(weft.asarray(x, format=format) @ y, x @ y)
    same(x @ weft.asarray(y, format=format), x @ y)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("shapes", BROADCASTS)
@pytest.mark.parametrize("formats", [("csf", "csf"), ("coo", "dense"), ("dense", "csf")])
def test_broadcasting(op, shapes, formats):
    x, y, f = matrix(0, shapes[0]), matrix(1, shapes[1]), OPERATORS[op]
    same(f(weft.asarray(x, format=formats[0]), weft.asarray(y, format=formats[1])), f(x, y))
    same(f(y, weft.asarray(x, format=formats[0])), f(y, x))


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("scalar", [2, 0, 2.5, True, 1j, np.float32(3), np.int8(3), np.array(2.0), np.inf, np.nan])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex64", "bool"])
def test_scalars(op, scalar, dtype):
    x, f = matrix(dtype=dtype), OPERATORS[op]
    A = weft.asarray(x, format="csr")
    for left, right, mine, theirs in ((x, scalar, A, scalar), (scalar, x, scalar, A)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = f(left, right)
                if op == "*" and not np.isfinite(scalar):  # what is missing decides a product
                    expected = np.where(x == 0, np.zeros_like(expected), expected)
        except TypeError:
            with pytest.raises(TypeError):
                f(mine, theirs)
            continue
        found = f(mine, theirs)
        np.testing.assert_allclose(dense(found), expected, rtol=1e-6)
        assert found.dtype == expected.dtype
        assert str(found.format) == "csr"
        assert found.nnz == A.nnz


def test_scalars_set_the_fill_value():
    A = weft.asarray(matrix(), format="csr")
    assert (A + 1).fill_value == 1
    assert (A * 3).fill_value == 0
    assert (1 / A).fill_value == np.inf
    assert np.isnan((A / 0).fill_value)
    assert (A + 1)._storage.arrays is A._storage.arrays


def test_duplicates_are_summed_before_what_is_not_linear():
    A = weft.from_coords([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 4.0], shape=(2, 2), duplicates="keep")
    x = np.array([[0.0, 3.0], [4.0, 0.0]])
    same(A + 1, x + 1)
    same(A * 2, x * 2)
    same(-A, -x)
    same(abs(A - A - A), abs(-x))
    same(1 / A, 1 / x)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex128"])
def test_unary(format, dtype):
    x = matrix(dtype=dtype) * np.dtype(dtype).type(-1)
    A = weft.asarray(x, format=format)
    same(-A, -x)
    same(+A, x)
    same(abs(A), abs(x))
    same(np.negative(A), -x)
    same(np.absolute(A), abs(x))


def test_ufuncs():
    x, y = matrix(0), matrix(1)
    A = weft.asarray(x, format="csr")
    same(np.add(A, y), x + y)
    same(np.multiply(y, A), y * x)
    same(np.matmul(A, y.T), x @ y.T)
    same(np.float64(2) * A, 2 * x)
    out = y.copy()
    out += A
    same(out, x + y)
    assert np.multiply(A, y, out=out) is out
    same(out, x * y)


@pytest.mark.parametrize(
    "call",
    [
        np.subtract.reduce,
        lambda A: np.add.reduceat(A, [0]),
        lambda A: np.add(A, 1, where=np.ones(A.shape, bool)),
        lambda A: np.add(A, A, out=A.astype(int)),
        lambda A: np.add(A, A, out=A, where=np.ones(A.shape)),
    ],
)
def test_other_ufuncs_say_so(call):
    with pytest.raises(TypeError, match=r"SparseTensor|into"):
        call(weft.asarray(matrix(), format="csr"))


@pytest.mark.parametrize("format", ["csr", "coo", "dia", "dense"])
def test_ufuncs_write_into_tensors(format):
    x = matrix()
    A, out = weft.asarray(x, format=format), weft.asarray(x[::-1].copy(), format=format)
    assert np.add(A, 1, out=out) is out
    assert out.format == A.format
    same(out, x + 1)
    mask = x > 0
    for where in (mask, weft.asarray(mask, format="coo"), mask[:1]):
        out, dense = weft.asarray(x[::-1].copy(), format=format), x[::-1].copy()
        np.multiply(A, 3, out=out, where=where)
        np.multiply(x, 3, out=dense, where=where.todense() if isinstance(where, weft.SparseTensor) else where)
        same(out, dense)
        array = x[::-1].copy()
        np.multiply(A, 3, out=array, where=where)
        same(array, dense)
    with pytest.raises(ValueError, match="does not fit"):
        np.add(A, 1, out=weft.asarray(x[:2]))


def test_in_place_operators_change_the_tensor_and_no_other():
    x = matrix()
    A = B = weft.asarray(x, format="csr")
    turned, vals = A.T, A.data.copy()
    A += A
    same(A, x + x)
    assert A is B
    same(turned, x.T)
    np.testing.assert_array_equal(turned.data, vals)
    y = matrix()
    D = weft.asarray(y)
    D -= 1
    same(D, x - 1)
    np.testing.assert_array_equal(y, x - 1)  # a dense tensor shares memory, as np.asarray does


def test_what_is_dense_is_an_ndarray_where_one_came_in():
    A, y = weft.asarray(matrix(), format="csr"), matrix(1)
    assert isinstance(A + y, np.ndarray)
    assert isinstance(A @ y.T, np.ndarray)
    assert isinstance(A * y, weft.SparseTensor)
    assert isinstance(A + A, weft.SparseTensor)
    assert str((A + A).format) == "csr"
    assert isinstance(A + weft.asarray(y), weft.SparseTensor)


def test_the_product_of_rows_and_columns_is_sparse():
    A = weft.asarray(matrix(), format="csr")
    assert str((A @ A.T).format) == "csr"


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_index_dtypes(index):
    S = sp.csr_array(matrix())
    S.indptr, S.indices = S.indptr.astype(index), S.indices.astype(index)
    A = weft.asarray(S)
    same(A @ np.ones(4), S @ np.ones(4))
    same(A + A, (S + S).toarray())


def test_unsorted_and_repeated_entries():
    indices, indptr = np.array([3, 0, 3, 1, 0], np.int32), np.array([0, 3, 5], np.int32)
    S = sp.csr_array((np.arange(1.0, 6.0), indices, indptr), shape=(2, 4))
    A, x = weft.asarray(S), S.toarray()
    same(A @ np.arange(4.0), x @ np.arange(4.0))
    same(A + A, x + x)
    same(A * A, x * x)
    same(A @ A.T, x @ x.T)
    same(A.asformat("csr"), x)
    assert A.asformat("csr").nnz == 4


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda A: A + np.ones((3, 3)), ShapeError, r"\(5, 4\) csr.*\(3, 3\) dense"),
        (lambda A: A @ A, ShapeError, r"\(5, 4\) csr.*\(5, 4\) csr"),
        (lambda A: A @ np.ones(5), ShapeError, r"\(5, 4\) csr.*\(5,\) dense"),
        (lambda A: np.ones(4) @ A, ShapeError, r"\(4,\) dense.*\(5, 4\) csr"),
        (lambda A: A @ 2, ShapeError, "scalar"),
        (lambda A: A + np.full((5, 4), "a"), DTypeError, "dtype <U1"),
        (lambda A: A + np.full((5, 4), None), DTypeError, "dtype object"),
        (lambda A: A + None, TypeError, "unsupported operand"),
        (lambda A: A @ object(), TypeError, "unsupported operand"),
        (lambda A: A * np.ma.ones((5, 4)), TypeError, "masked"),
        (lambda A: A < None, TypeError, "not supported"),
        (bool, ValueError, "ambiguous"),
        (hash, TypeError, "unhashable"),
        (lambda A: iter(A.sum(keepdims=True)[0, 0, ...]), TypeError, "0-d"),
    ],
)  # fmt: skip
def test_bad_operands(call, error, message):
    A = weft.asarray(matrix(), format="csr")
    with pytest.raises(error, match=message):
        call(A)
    A @ np.ones(4)
    with pytest.raises(error, match=message):
        call(A)


@pytest.mark.parametrize("op", [np.add, np.subtract])
@pytest.mark.parametrize("format", ["coo", "csr", "dcsr", "csc", "dia", "dok"])
def test_zeros_of_both_signs(format, op):
    """0 + (-0.0) is 0: where one operand has no row, the other's fill value is not what the sum has there."""
    x, y = np.zeros((3, 4)), np.full((3, 4), -0.0)
    x[0, 2], y[0, [1, 3]], y[2, 0] = 5, [-2.5, 1], 4
    A = weft.asarray(x, format=format)
    B = weft.from_coords(np.array(y.nonzero()), y[y.nonzero()], y.shape, fill_value=-0.0, format=format)
    for left, right, first, second in ((A, B, x, y), (B, A, y, x), (B, B, y, y), (A * -1, A, x * -1, x)):
        found = op(left, right)
        same(found, op(first, second))
        assert np.signbit(found.fill_value) == np.signbit(op(first[1, 1], second[1, 1]))
        found.check_format()
    same(1 / (A + B), 1 / (x + y))


def test_the_zero_of_a_negated_tensor_joins_others():
    """Its fill value is -0.0: a matrix of 10^10 elements of that beside 0.0 must not be stored whole."""
    A = weft.random((100_000, 100_000), density=1e-8, format="csr", rng=0)
    both = weft.vstack([A, -A])
    assert both.nnz == 2 * A.nnz
    assert weft.hstack([-A, A]).nnz == weft.block_diag([A, A * -1]).nnz == 2 * A.nnz
    assert weft.tril(-A).nnz + weft.triu(-A, 1).nnz == A.nnz
    assert len((-A).nonzero()[0]) == len(weft.find(-A)[2]) == A.nnz
    B, C = -A, A.copy()
    B[:50_000] = 0.0
    C[:50_000] = -A[:50_000]
    assert B.nnz == (A[50_000:]).nnz
    assert C.nnz == A.nnz
    x = matrix()
    K = weft.block_array([[weft.asarray(x, format="csr"), None], [None, -weft.asarray(x.T, format="csr")]])
    same(K, np.block([[x, np.zeros((5, 5))], [np.zeros((4, 4)), -x.T]]))


@pytest.mark.parametrize("fill", [0.0, np.nan])
@pytest.mark.parametrize("format", ["csr", "coo", "dcsr", "bsr", "ell", "dok"])
def test_no_result_stores_the_fill_value(format, fill):
    """What cancels, and answers that are as for what is absent, are left out, as scipy and sparse leave them out."""
    rng = np.random.default_rng(0)
    x, y = (np.where(rng.random((6, 8)) < 0.5, rng.integers(1, 4, (6, 8)), fill) for _ in range(2))
    A, B = (weft.asarray(v, format=format, fill_value=fill) for v in (x, y))
    for f in (np.subtract, np.not_equal, np.equal, np.greater, np.maximum, np.multiply):
        with np.errstate(all="ignore"):
            wanted = f(x, y)
        found = f(A, B)
        np.testing.assert_array_equal(found.todense(), wanted)
        assert found.nnz == found.pruned().nnz, f
    for _ in range(2):  # what was asked before is known the second time
        for f in (lambda v: v > 2, lambda v: v == 1, np.isnan, lambda v: v <= 3, lambda v: v != 2, lambda v: v < -1):
            found = f(A)
            np.testing.assert_array_equal(found.todense(), f(x))
            assert found.nnz == found.pruned().nnz
            assert found.format == format


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "dcsc", "dok", "hash"])
def test_questions_of_little_and_of_nothing(format, threads):
    """Rows without entries, tensors without any, and every entry kept or none: the warm paths ask no less."""
    rng = np.random.default_rng(0)
    with weft.config.override(num_threads=threads, parallel_threshold=0):
        for shape, density in [((40, 30), 0.02), ((3, 200), 0.0), ((0, 4), 0.0), ((1, 1), 1.0), ((12, 9), 1.0)]:
            x = np.where(rng.random(shape) < density, rng.random(shape), 0)
            A = weft.asarray(x, format=format)
            for _ in range(2):
                for ask in (lambda v: v > 0.5, lambda v: v <= 0.3, lambda v: v > 0, lambda v: v > 2):
                    found = ask(A)
                    check(found._storage)
                    np.testing.assert_array_equal(found.todense(), ask(x))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "float64", "complex128"])
@pytest.mark.parametrize("number", [2**70, -(2**70)])
def test_comparisons_with_integers_beyond_64_bits(dtype, number):
    dense = np.array([[0, 1], [1, 0]], dtype)
    tensor = weft.asarray(dense, format="csr")
    for op in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        for found in (op(tensor, number), op(tensor.asformat("dense"), number)):
            assert np.array_equal(found.todense(), op(dense, number)), op
        assert np.array_equal(op(number, tensor).todense(), op(number, dense)), op
    assert np.array_equal(np.less(tensor, number).todense(), dense < number)


def in_every_spelling(a, s):
    """A vector times a number, in every way in which that can be written."""
    yield from (a * s, s * a, a * np.float64(s), a * np.array(s), a * np.array([s]), a * np.array([[s]]))
    yield from (a * weft.asarray(np.array(s)), a * weft.asarray([s], format="coo"), a * weft.asarray([[s]]))
    yield from (a * np.full(a.shape, s), np.multiply(a, s), np.multiply(np.array([s]), a), a.multiply(s))
    yield from (np.multiply(a, s, dtype=float), np.multiply.outer(a, s), weft.dot(a, s), weft.kron(a, np.array([s])))
    yield from (weft.einsum("i,->i", a, s), weft.einsum("i,j->i", a, np.array([s])), weft.tensordot(a, s, axes=0))
    yield weft.evaluate("y(i) = a(i)*s", a=a, s=s)
    yield weft.evaluate("y(i) = s(j)*a(i)", a=a, s=np.array([s]))
    yield a.copy().__imul__(s)


@pytest.mark.parametrize("format", ["coo", "s", "hash_vector", "dok"])
@pytest.mark.parametrize("s", [np.inf, -np.inf, np.nan, -1.0, 0.0])
def test_missing_times_anything_is_missing_in_every_spelling(format, s):
    """As beside a vector, whose values no product looks at, beside a number and arrays of one element, too."""
    a = weft.from_coords([[1, 2]], [2.0, 0.0], (4,), format=format)
    with np.errstate(all="ignore"):
        expected = np.array([0, 2.0 * s, 0.0 * s, 0])  # a stored zero does not decide
    for n, found in enumerate(in_every_spelling(a, s)):
        np.testing.assert_array_equal(np.ravel(found.todense()), expected, err_msg=f"spelling {n}")
        assert found.fill_value == 0, n


@pytest.mark.parametrize("op", ["divide", "power", "floor_divide", "remainder", "add", "minimum", "greater"])
def test_an_array_of_one_element_is_a_number(op):
    """The operand keeps its structure, and the fill value is the operator's result for its own."""
    function = getattr(np, op)
    with np.errstate(all="ignore"):
        for s in (0.0, 2.0, np.inf, np.nan):
            a = weft.from_coords([[1]], [2.0], (3,), format="coo")
            for b in (s, np.float64(s), np.array(s), np.array([s]), np.array([[s]]), weft.asarray([[[s]]])):
                expected = function(a.todense(), np.asarray(b.todense() if isinstance(b, weft.SparseTensor) else b))
                found = function(a, b)
                assert found.shape == expected.shape
                np.testing.assert_array_equal(found.todense(), expected)
                np.testing.assert_array_equal(found.fill_value, function(0.0, s))
