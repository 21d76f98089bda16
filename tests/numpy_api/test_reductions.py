"""Reductions against NumPy on dense arrays: formats, dtypes, fill values, densities, axes."""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tests.kernel_batches import together

import weft
from weft.errors import DTypeError, ShapeError
from weft.storage import check

NAMES = ["sum", "prod", "min", "max", "mean", "var", "std", "any", "all"]
NANS = ["nansum", "nanprod", "nanmin", "nanmax", "nanmean"]
FORMATS = {2: ["coo", "csr", "csc", "dcsr", "dense"], 3: ["csf", "coo", "dds", "dense"]}
DTYPES = ["float64", "int8", "uint64", "bool", "float32", "complex128"]
SHAPES = {2: (4, 5), 3: (2, 3, 4)}
AXES = {2: [None, 0, 1, -1, (0, 1)], 3: [None, 1, (0, 2), -1, (1, 2)]}
DENSITIES = [0.3, 0.0, 1.0, "one"]


@pytest.fixture(autouse=True)
def _quick():
    with np.errstate(all="ignore"):
        yield


def tensor(shape, dtype, fill, density, format, seed=0):
    rng = np.random.default_rng(seed)
    dense = np.full(shape, fill).astype(dtype)
    stored = rng.random(shape) < density if density != "one" else np.arange(dense.size).reshape(shape) == 3
    values = rng.integers(0, 5, shape)
    if np.dtype(dtype).kind in "ifc":
        values = values - 2
    dense[stored] = values[stored].astype(dtype)
    if np.dtype(dtype).kind == "c":
        dense[stored] += 1j * values[::-1][stored]
    A = weft.from_coords(np.argwhere(stored).T, dense[stored], shape=shape, fill_value=dense.dtype.type(fill))
    return A.asformat(format), dense


def agree(found, expected, dtype=None):
    if isinstance(found, weft.SparseTensor):
        check(found._storage)
        found = found.todense()
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype == (dtype or np.asarray(expected).dtype)
    single = np.asarray(expected).dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if single else 1e-12, atol=1e-6 if single else 1e-12)


CASES = [
    (ndim, format, dtype, density)
    for ndim in (2, 3)
    for n, dtype in enumerate(DTYPES)
    for format, density in zip(
        FORMATS[ndim][n % 2 :: 2], itertools.islice(itertools.cycle(DENSITIES), n, None), strict=False
    )
]


@pytest.mark.parametrize(("ndim", "format", "dtype", "density"), CASES)
def test_as_numpy(ndim, format, dtype, density):
    A, x = tensor(SHAPES[ndim], dtype, 0, density, format)
    for n, name in enumerate(NAMES):
        for axis in (AXES[ndim][n % 5], AXES[ndim][(n + 2) % 5]):
            keepdims = bool(n % 2)
            agree(getattr(weft, name)(A, axis=axis, keepdims=keepdims), getattr(x, name)(axis=axis, keepdims=keepdims))


@pytest.mark.filterwarnings("ignore:All-NaN slice", "ignore:Mean of empty slice")
@pytest.mark.parametrize("fill", [1.0, -2.5, np.nan, np.inf, -0.0])
@pytest.mark.parametrize(("format", "axis"), [("csr", 0), ("csr", 1), ("coo", None), ("csc", 1), ("csf", (0, 2))])
def test_fill_values_are_counted(fill, format, axis):
    shape = SHAPES[3 if format == "csf" else 2]
    for density in (0.4, 0.0):
        A, x = tensor(shape, "float64", fill, density, format)
        for name in NAMES + NANS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = getattr(np, name)(x, axis=axis)
            agree(getattr(weft, name)(A, axis=axis), expected)
        agree(weft.count_nonzero(A, axis=axis), np.asarray(np.count_nonzero(x, axis=axis)), np.int64)


@pytest.mark.parametrize(("dtype", "fill"), [("int8", 3), ("uint64", 2), ("complex128", 1 + 2j), ("bool", True)])
def test_fill_values_of_other_dtypes(dtype, fill):
    A, x = tensor((4, 5), dtype, fill, 0.4, "csr")
    for name in NAMES:
        for axis in (None, 0, 1):
            agree(getattr(weft, name)(A, axis=axis), getattr(x, name)(axis=axis))


ONE_AXIS = {
    **{name: functools.partial(getattr(weft, name), axis=1) for name in [*NAMES, *NANS, "argmax", "argmin", "median"]},
    "count_nonzero": functools.partial(weft.count_nonzero, axis=0),
    "ptp": functools.partial(weft.ptp, axis=0),
    "einsum": lambda A: weft.einsum("ij->i", A),
    "columns": lambda A: weft.einsum("ij->j", A),
    "max in notation": lambda A: weft.evaluate("y(i) = max(j, A(i,j))", A=A),
    "of an expression": lambda A: weft.evaluate("y(j) = 1 - sum(i, abs(A(i,j)))/2", A=A),
    "of a product": lambda A: weft.evaluate("y(i) = A(i,j)*B(i,j)", A=A, B=A.asformat("coo")),
    "scaled": lambda A: weft.evaluate("y(i) = A(i,j)*d(i)", A=A, d=weft.asarray(np.arange(4.0))),
    "norm": lambda A: weft.linalg.norm(A, axis=0),
    "ufunc": lambda A: np.add.reduce(A),
}


@pytest.mark.parametrize("name", ONE_AXIS)
def test_a_reduction_to_one_axis_is_dense(name):
    """Whether np.asarray takes a result does not depend on the format of the operand."""
    a = np.array([[0, 2.0, 0], [0, 0, 0], [3, 0, 4], [0, 1, 1]])

    def compute(format):
        found = ONE_AXIS[name](weft.asarray(a, format=format))
        assert found.layout.is_dense
        np.testing.assert_allclose(np.asarray(found), np.asarray(ONE_AXIS[name](weft.asarray(a))))

    formats = "csr csc coo dok lil hash dia bsr ell hyb jad csb hicoo skyline banded mode_generic gcxs dcsr dcsc csf"
    together(formats.split(), compute)


def test_an_axis_too_long_for_an_array_stays_sparse():
    """It is the shape of the result that decides, neither the number of entries nor the other axes."""
    A = weft.from_coords([[1, 1, 2**27], [0, 2**27, 3]], [1.0, 2, 3], (2**28, 2**28), format="coo")
    for result in (A.sum(axis=1), weft.einsum("ij->i", A), A.max(axis=0)):
        assert result.nnz <= 3
    narrow = weft.from_coords([[1, 1], [0, 2**27]], [1.0, 2], (3, 2**28), format="coo")
    for result in (narrow.sum(axis=1), weft.einsum("ij->i", narrow)):
        assert result.layout.is_dense
        np.testing.assert_array_equal(np.asarray(result), [0, 3, 0])
    long = weft.from_coords([[1, 2**20 - 1], [0, 2]], [1.0, 2], (2**20, 3), format="coo")
    assert long.sum(axis=1).layout.is_dense  # however few entries there are


def test_work_and_memory_are_those_of_the_stored_entries():
    n = 10**8  # no result is an array
    A = weft.from_coords([[0, 5, n - 1], [1, 2, n - 1]], [2.0, 3.0, 4.0], shape=(n, n), fill_value=1.0)
    total = A.sum(axis=1)
    assert total.nnz == 3
    assert total.fill_value == n
    np.testing.assert_array_equal(total.to_coo()[1], [n + 1, n + 2, n + 3])
    assert A.sum() == pytest.approx(float(n) * n + 6)
    assert A.max(axis=0).nnz == 3
    assert (A.min(), A.max()) == (1.0, 4.0)
    assert A.var(axis=1).nnz == 3


@pytest.mark.parametrize("format", ["csr", "csc", "dense"])
def test_arguments(format):
    A, x = tensor((4, 5), "float64", 0, 0.5, format)
    agree(A.sum(1, np.float32), x.sum(1, np.float32))
    agree(A.sum(axis=0, initial=3), x.sum(axis=0, initial=3))
    agree(A.max(initial=100), x.max(initial=100))
    agree(A.min(axis=1, initial=-7), x.min(axis=1, initial=-7))
    agree(A.var(axis=0, ddof=1), x.var(axis=0, ddof=1))
    agree(A.std(correction=2), x.std(ddof=2))
    agree(weft.count_nonzero(A, axis=0, keepdims=True), np.count_nonzero(x, axis=0, keepdims=True))
    out = np.zeros(5)
    assert A.sum(axis=0, out=out) is out
    agree(out, x.sum(axis=0))
    agree(weft.sum(x, axis=0), x.sum(axis=0))
    assert isinstance(weft.sum(x, axis=0), np.ndarray)
    agree(weft.sum(sp.csr_array(x), axis=1), x.sum(axis=1))
    agree(weft.max(A, axis=()), x)


def test_numpy_functions_and_ufunc_reductions():
    A, x = tensor((4, 5), "float64", 0, 0.5, "csr")
    for function in (np.sum, np.prod, np.max, np.min, np.mean, np.var, np.std, np.any, np.all):
        agree(function(A, axis=1), function(x, axis=1))
        agree(function(A), function(x))
    for ufunc in (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or, np.fmax):
        agree(ufunc.reduce(A), ufunc.reduce(x))
        agree(ufunc.reduce(A, axis=1, keepdims=True), ufunc.reduce(x, axis=1, keepdims=True))
    agree(np.add.reduce(A, axis=None, dtype=np.float32, initial=2), np.add.reduce(x, axis=None, dtype=np.float32) + 2)


def test_full_reductions_are_scalars():
    A, _ = tensor((4, 5), "int8", 0, 0.5, "csr")
    assert isinstance(A.sum(), np.int64)
    assert isinstance(A.mean(), np.float64)
    assert isinstance(A.any(), np.bool_)
    assert isinstance(A.max(), np.int8)


@pytest.mark.parametrize("name", ["max", "min", "sum", "prod", "any", "all", "count_nonzero"])
@pytest.mark.parametrize("entries", [0, 1, 12])
def test_results_can_be_written_into(name, entries):
    """They are the caller's own: the next reduction is not changed by it."""

    def made():
        return weft.asarray(np.arange(12.0).reshape(3, 4) * (np.arange(12) < entries).reshape(3, 4), format="csr")

    expected = getattr(np, name)(made().todense())
    found = getattr(weft, name)(made(), keepdims=True)
    found[0, 0] = 1 - expected.astype(int)
    assert getattr(weft, name)(made()) == getattr(weft, name)(made(), keepdims=True).todense() == expected


def test_nan_of_stored_entries():
    A = weft.from_coords([[0, 0, 1], [0, 1, 1]], [np.nan, 2.0, np.nan], shape=(3, 2), format="csr")
    x = A.todense()
    for name in NAMES + NANS:
        for axis in (None, 0, 1):
            agree(getattr(weft, name)(A, axis=axis), getattr(np, name)(x, axis=axis))


def test_duplicates_are_one_entry():
    A = weft.from_coords([[0, 0, 1], [1, 1, 0]], [1.0, -3.0, 4.0], shape=(2, 2), duplicates="keep")
    x = np.array([[0.0, -2.0], [4.0, 0.0]])
    for name in NAMES:
        for axis in (None, 0, 1):
            agree(getattr(weft, name)(A, axis=axis), getattr(x, name)(axis=axis))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("format", ["csr", "coo", "dense"])
def test_nothing_to_reduce(shape, format):
    x = np.empty(shape)
    A = weft.asarray(x, format=format)
    for name in ("sum", "prod", "any", "all", "min", "max"):
        for axis in (None, 0, 1):
            try:
                expected = getattr(x, name)(axis=axis)
            except ValueError:
                with pytest.raises(ShapeError, match="no identity"):
                    getattr(A, name)(axis=axis)
            else:
                agree(getattr(A, name)(axis=axis), expected)
    agree(A.max(initial=3), x.max(initial=3))
    with pytest.warns(RuntimeWarning, match="too few"):
        assert np.isnan(A.mean())


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda A: A.sum(axis=2), np.exceptions.AxisError),
        (lambda A: A.max(axis=-3), np.exceptions.AxisError),
        (lambda A: A.sum(axis=(0, 0)), ValueError),
        (lambda A: A.sum(axis=0.5), TypeError),
        (lambda A: A.sum(dtype="S3"), DTypeError),
        (lambda A: A.sum(axis=0, out=np.zeros(3)), ValueError),
        (lambda A: A.var(ddof=1, correction=1), ValueError),
        (lambda A: weft.sum("text"), DTypeError),
        (lambda A: A.max(where=np.ones(A.shape, bool)), ValueError),
        (lambda A: A.sum(where=np.ones(A.shape)), TypeError),
        (lambda A: np.power.reduce(A), TypeError),
        (lambda A: A.max(where=A.todense() > 0, initial=0, explicit=True), ValueError),
    ],
)
def test_errors(call, error):
    A, _ = tensor((4, 5), "float64", 0, 0.5, "csr")
    with pytest.raises(error):
        call(A)


@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanmean", "nanmedian"])
@pytest.mark.parametrize("fill", [0.0, np.nan])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_nothing_but_nan_is_warned_of(name, fill, axis):
    x = np.array([[np.nan, np.nan, np.nan], [1.0, np.nan, 2.0]])
    told = []
    for array in (x, weft.asarray(x, format="csr", fill_value=fill)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(np, name)(array, axis=axis)
        told.append([(w.category, str(w.message)) for w in caught])
    assert told[0] == told[1]


@pytest.mark.parametrize("format", ["csr", "coo", "csc", "dia", "dense", "hash"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64"])
@pytest.mark.parametrize("fill", [0, 1])
def test_reductions_of_bits(format, dtype, fill):
    rng = np.random.default_rng(3)
    d = rng.integers(0, 2, (5, 7)).astype(bool)
    if dtype != "bool":
        info = np.iinfo(dtype)
        d = rng.integers(info.min, info.max, (5, 7), dtype=dtype, endpoint=True)
    d[rng.random(d.shape) < 0.6] = fill
    A, where = weft.asarray(d, fill_value=fill).asformat(format), rng.random(d.shape) < 0.5
    for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_xor):
        for axis in (0, 1, None):
            for more in ({}, {"keepdims": True}, {"where": where}):
                expected, found = ufunc.reduce(d, axis=axis, **more), ufunc.reduce(A, axis=axis, **more)
                found = found.todense() if isinstance(found, weft.SparseTensor) else found
                np.testing.assert_array_equal(found, expected, strict=True)


def test_reductions_of_bits_in_notation():
    rng = np.random.default_rng(4)
    d, e = (np.where(rng.random((6, 8)) < 0.4, rng.integers(-9, 9, (6, 8)), 0) for _ in range(2))
    for name, ufunc in (("bitand", np.bitwise_and), ("bitor", np.bitwise_or), ("bitxor", np.bitwise_xor)):
        for formats in (("csr", "coo"), ("dense", "csc"), ("hash", "dia")):
            A, B = (weft.asarray(x).asformat(f) for x, f in zip((d, e), formats, strict=True))
            rows = weft.evaluate(f"y(i) = {name}(j, A(i,j)*B(i,j))", A=A, B=B)
            np.testing.assert_array_equal(rows.todense(), ufunc.reduce(d * e, axis=1))
            inner = weft.evaluate(f"C(i,k) = {name}(j, A(i,j)*B(k,j))", A=A, B=B)
            np.testing.assert_array_equal(inner.todense(), ufunc.reduce(d[:, None] * e[None], axis=2))
    odd = weft.evaluate("y(j) = xor(i, greater(A(i,j), 0))", A=weft.asarray(d).asformat("csr"))
    np.testing.assert_array_equal(odd.todense(), np.logical_xor.reduce(d > 0, axis=0))


def test_floating_point_numbers_have_no_bits_to_reduce():
    with pytest.raises(TypeError, match="bitwise_or"):
        np.bitwise_or.reduce(weft.asarray(np.eye(2)))
    with pytest.raises(weft.errors.DTypeError, match="bitwise_and of float64"):
        weft.evaluate("y = bitand(i, j, A(i,j))", A=weft.asarray(np.eye(2)).asformat("csr"))
