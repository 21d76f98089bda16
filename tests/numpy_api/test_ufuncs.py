"""Every elementwise function against NumPy on dense arrays, pairwise over formats, dtypes, fill values, densities."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tests.kernel_batches import together

import weft
from weft.errors import DTypeError, ShapeError
from weft.index_notation.operator_table import OPERATORS
from weft.numpy_api.ufuncs import FUNCTIONS, ROWS
from weft.storage import check

STANDARD = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
    bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
    greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and
    logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real
    reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc
"""
UNARY = sorted(name for name in ROWS.values() if OPERATORS[name].arity == 1)
BINARY = sorted(name for name in ROWS.values() if OPERATORS[name].arity == 2 and name != "ldexp")
FORMATS = ["coo", "csr", "csc", "dcsr", "dense", "csf"]
DTYPES = ["float64", "int8", "uint64", "bool", "float32", "complex128", "int64"]
FILLS = [0, 1, np.nan, np.inf, -0.0, -2]
DENSITIES = [0.3, 0.0, 1.0, "one"]


@pytest.fixture(autouse=True)
def _quick():
    with np.errstate(all="ignore"):
        yield


def tensor(dtype, fill, density, format, seed=0, shape=(4, 5)):
    """A tensor, and the same as an ndarray."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "ub":
        fill = abs(int(fill)) if np.isfinite(fill) else 1
    elif dtype.kind == "i":
        fill = int(fill) if np.isfinite(fill) else 1
    dense = np.full(shape, fill).astype(dtype)
    stored = rng.random(shape) < density if density != "one" else np.arange(dense.size).reshape(shape) == 3
    values = rng.integers(0, 7, shape)
    if dtype.kind in "fc":
        values = (values - 3) / 4
    if dtype.kind == "i":
        values = values - 3
    dense[stored] = values[stored].astype(dtype)
    if dtype.kind == "c":
        dense[stored] += 1j * values[::-1][stored]
    A = weft.from_coords(np.argwhere(stored).T, dense[stored], shape=shape, fill_value=dense.dtype.type(fill))
    return A.asformat(format), dense


def agree(found, expected):
    if isinstance(found, weft.SparseTensor):
        check(found._storage)
        found = found.todense()
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert np.shape(found) == np.shape(expected)
    if np.asarray(expected).dtype.kind in "fc":
        single = np.asarray(expected).dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(found, expected, rtol=2e-6 if single else 1e-14, atol=1e-300)
    else:
        np.testing.assert_array_equal(found, expected)


def compare(call, reference, *pairs):
    """Both give the same, or both refuse; what NumPy computes in float16 weft refuses too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = reference(*(x for _, x in pairs))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        with pytest.raises(kind):
            call(*(A for A, _ in pairs))
        return False
    if np.asarray(expected).dtype in (np.float16, object):
        with pytest.raises(DTypeError, match="float16"):
            call(*(A for A, _ in pairs))
        return False
    agree(call(*(A for A, _ in pairs)), expected)
    return True


def test_the_standard_s_functions_are_all_there():
    assert not [name for name in STANDARD.split() if not callable(getattr(weft, name))]
    assert set(STANDARD.split()) <= set(dir(weft))
    assert not [name for name in FUNCTIONS if getattr(weft, name).__name__ != name]
    assert "numpy.cos" in weft.cos.__doc__


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    done = []

    def compute(n):
        k = n + UNARY.index(name)
        pair = tensor(DTYPES[n], FILLS[k % 6], DENSITIES[k % 4], FORMATS[k % 6])
        done.append(compare(getattr(weft, name), getattr(np, name), pair))
        if n % 3 == 0:
            compare(getattr(np, name), getattr(np, name), pair)

    together(range(len(DTYPES)), compute)
    assert any(done)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    done = []

    def compute(n):
        k, dtype = n + BINARY.index(name), DTYPES[n]
        first = tensor(dtype, FILLS[k % 6], DENSITIES[k % 4], FORMATS[k % 6])
        second = tensor(dtype, FILLS[(k + 1) % 6], 0.4, FORMATS[(k * 2 + 1) % 6], seed=1)
        ufunc = getattr(np, name)
        if name == "power" and np.dtype(dtype).kind == "i":
            second = tensor(dtype, 2, 0.0, "csr")
        if name != "multiply" or (np.isfinite(first[0].fill_value) and np.isfinite(second[0].fill_value)):
            done.append(compare(getattr(weft, name), ufunc, first, second))
        if n % 3 == k % 3:
            compare(getattr(weft, name), ufunc, first, (2, 2))
            compare(getattr(weft, name), ufunc, (3, 3), second)

    together(range(len(DTYPES)), compute)
    assert any(done)


@pytest.mark.parametrize("format", ["csf", "coo", "dense", "dds"])
def test_three_axes(format):
    a, b = tensor("float64", 1, 0.3, format, 0, (2, 3, 4)), tensor("float64", 2, 0.5, "csf", 1, (3, 1))
    for name in ("add", "maximum", "less", "power", "arctan2"):
        compare(getattr(weft, name), getattr(np, name), a, b)
        compare(getattr(weft, name), getattr(np, name), b, a)
    compare(weft.cos, np.cos, a)


SHAPES = [((4, 5), (1, 5)), ((4, 1), (1, 5)), ((4, 5), (5,)), ((2, 4, 5), (4, 1)), ((1, 1), (4, 5)), ((4, 5), ())]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize(("format", "other"), [("csf", "csf"), ("coo", "coo"), ("dense", "csf"), ("csf", "dense")])
def test_broadcasting_keeps_fill_values(shapes, format, other):
    for fill in (0, 3.0, -0.0):
        if shapes[1]:
            first, second = (
                tensor("float64", f, 0.5, form, s, shape)
                for f, form, s, shape in ((fill, format, 0, shapes[0]), (2.0, other, 1, shapes[1]))
            )
        else:
            first, second = tensor("float64", fill, 0.5, format, 0, shapes[0]), (np.float64(2), np.float64(2))
        for name in ("add", "copysign", "equal"):
            compare(getattr(weft, name), getattr(np, name), first, second)
            compare(getattr(weft, name), getattr(np, name), second, first)
        if format == other == "csf" and shapes[1]:
            assert not weft.add(first[0], second[0]).layout.is_dense


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_signed_and_unsigned_integers_are_compared_by_value(name):
    x = np.array([[-1, 0, 5, 2**62]])
    y = np.array([[2**64 - 1, 0, 5, 2**63]], np.uint64)
    A, B = weft.asarray(x, format="coo"), weft.asarray(y, format="coo")
    compare(getattr(operator, name), getattr(operator, name), (A, x), (B, y))
    compare(getattr(operator, name), getattr(operator, name), (B, y), (A, x))
    compare(getattr(operator, name), getattr(operator, name), (A, x), (2**63, 2**63))
    compare(getattr(operator, name), getattr(operator, name), tensor("int8", 0, 0.5, "csr"), (300, 300))


def test_ldexp():
    A, x = tensor("float64", 1, 0.4, "csr")
    E, e = tensor("int64", 0, 0.6, "csr", 3)
    compare(weft.ldexp, np.ldexp, (A, x), (E, e))
    compare(weft.ldexp, np.ldexp, (A, x), (3, 3))


OPERATORS_OF_PYTHON = {
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@pytest.mark.parametrize("symbol", OPERATORS_OF_PYTHON)
@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "bool"])
def test_operators(symbol, dtype):
    op = OPERATORS_OF_PYTHON[symbol]
    (A, x), (B, y) = tensor(dtype, 0, 0.5, "csr"), tensor(dtype, 0, 0.5, "csc", 1)
    if symbol == "**" and dtype == "int64":
        B, y = abs(B), abs(y)
    compare(op, op, (A, x), (B, y))
    compare(op, op, (A, x), (y, y))
    compare(op, op, (A, x), (sp.csr_array(y), y))
    compare(op, op, (y, y), (A, x)) if symbol != "**" else None
    compare(op, op, (A, x), (2, 2))
    compare(op, op, (2, 2), (B, y))


def test_more_operators():
    (A, x), (B, y) = tensor("float64", 0, 0.5, "csr"), tensor("float64", 1, 0.5, "csr", 1)
    for left, right, first, second in ((A, B, x, y), (A, 2, x, 2), (2, B, 2, y)):
        agree(divmod(left, right)[0], np.floor_divide(first, second))
        agree(divmod(left, right)[1], np.remainder(first, second))
    agree(np.divmod(A, B)[1], np.divmod(x, y)[1])
    for exponent in (2, 0.5, -1, 1, 3, 0):
        agree(A**exponent, x**exponent)
    I, i = tensor("int8", 0, 0.5, "csr")
    agree(~I, ~i)
    agree(abs(I), abs(i))
    agree(+I, i)
    with pytest.raises(ValueError, match="negative integer powers"):
        abs(I) ** -1
    J = I.copy()
    J //= 2
    agree(J, i // 2)
    agree(I, i)
    out = y.copy()
    out *= A
    agree(out, x * y)


def test_the_fill_value_of_a_function_is_that_of_the_fill_value():
    A = weft.asarray(np.eye(3), format="csr")
    C = weft.cos(A)
    assert (C.fill_value, C.nnz, str(C.format)) == (1.0, 3, "csr")
    E = A == 0
    assert (E.fill_value, E.dtype, E.nnz) == (True, bool, 3)
    assert (~weft.asarray(np.array([1, 0], np.uint8), format="coo")).fill_value == 255
    small = weft.from_coords([[0]], np.array([1.0], np.float32), shape=(3,), fill_value=np.float32(1))
    agree(weft.nextafter(small, small * 2), np.nextafter(np.ones(3, np.float32), np.float32(2)))


def test_what_ufuncs_take():
    (A, x), (B, y) = tensor("int64", 0, 0.5, "csr"), tensor("int64", 0, 0.5, "coo", 1)
    agree(np.add(A, B, dtype=np.float32), np.add(x, y, dtype=np.float32))
    agree(np.sin(A, dtype=np.float32), np.sin(x, dtype=np.float32))
    agree(weft.multiply(A, 2.5, dtype=np.complex64), np.multiply(x, 2.5, dtype=np.complex64))
    out = np.empty((4, 5))
    assert np.sqrt(weft.abs(A), out=out) is out
    agree(out, np.sqrt(abs(x)))
    agree(np.multiply.outer(A, [1, 2]), np.multiply.outer(x, [1, 2]))
    agree(np.subtract.outer(B, A), np.subtract.outer(y, x))
    agree(np.multiply.outer(A, B, dtype=np.float64), np.multiply.outer(x, y, dtype=np.float64))
    agree(np.matmul(A, B.T, dtype=np.complex64), np.matmul(x, y.T, dtype=np.complex64))
    with pytest.raises(TypeError, match="same_kind"):
        np.matmul(A * 1j, B.T, dtype=np.float64)
    agree(np.vecdot(A, B, axis=0, dtype=np.float64), np.vecdot(x, y, axis=0, dtype=np.float64))
    agree(np.add(A, B, where=True), x + y)
    agree(weft.add([[1, 2]], 3), np.array([[4, 5]]))
    assert isinstance(weft.sin(0.5), np.float64)
    assert isinstance(weft.sin(np.ones(3)), np.ndarray)


def test_clip_and_round():
    A, x = tensor("float64", -2, 0.6, "csr")
    agree(weft.clip(A, -0.5, 0.5), np.clip(x, -0.5, 0.5))
    agree(np.clip(A, None, 0.0), np.clip(x, None, 0.0))
    agree(A.clip(x, 1), np.clip(x, x, 1))
    agree(np.round(A * 1.234567, 2), np.round(x * 1.234567, 2))
    agree(weft.round(A), np.round(x))
    I, i = tensor("int64", 0, 0.6, "csr")
    agree(weft.round(I * 17, -1), np.round(i * 17, -1))
    agree(weft.round(I, 2), np.round(i, 2))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda A: np.add(A, np.ones((3, 3))), ShapeError, r"\(4, 5\)"),
        (lambda A: np.add(A, A, where=np.ones((4, 5), bool)), TypeError, "where"),
        (lambda A: np.add.reduceat(A, [0]), TypeError, "reduceat"),
        (lambda A: np.add(A, A, order="F"), TypeError, "order"),
        (lambda A: weft.sin("text"), DTypeError, "str"),
        (lambda A: weft.add(A, None), DTypeError, "NoneType"),
        (lambda A: np.add(A, A, out=np.ones(3)), ValueError, "does not fit"),
        (lambda A: np.add(A, A, out=np.ones((4, 5), int)), TypeError, "same_kind"),
        (lambda A: np.sin(A, dtype=int), DTypeError, "sin"),
        (lambda A: A & A, DTypeError, "bitwise_and"),
        (lambda A: ~A, DTypeError, "invert"),
        (lambda A: weft.nothing, AttributeError, "nothing"),
        (lambda A: weft.asarray(np.ones(3, np.int8)) + 300, OverflowError, "300"),
    ],
)
def test_errors(call, error, message):
    A, _ = tensor("float64", 0, 0.5, "csr")
    with pytest.raises(error, match=message):
        call(A)


def test_numbers_of_python_take_the_dtype_of_numpy_s():
    for a in (np.uint8(7), np.float32(1.5), np.array(3, np.uint8), True, 2):
        for b in (0, 2.5, 1j):
            for x, y in ((a, b), (b, a)):
                for name in ("add", "multiply"):
                    found, expected = getattr(weft, name)(x, y), getattr(np, name)(x, y)
                    assert (found, found.dtype) == (expected, expected.dtype)
    assert weft.clip(np.uint8(0), max=0).dtype == np.uint8


def test_operands_that_an_array_fills_decide_nothing():
    """The maximum beside an array has a value everywhere: its fill value says nothing of the minimum."""
    dense, x = np.array([[0.0, 1], [2, 0]]), np.array([1.0, 2])
    A = weft.asarray(dense, format="csr")
    expected = np.clip(dense, x, dense + 1)
    text = "C(i,j) = minimum(maximum(A(i,j), x(j)), B(i,j))"
    for result in (weft.evaluate(text, A=A, B=A + 1, x=x), weft.compute(np.clip(weft.lazy(A), x, weft.lazy(A) + 1))):
        np.testing.assert_array_equal(result.todense(), expected)
