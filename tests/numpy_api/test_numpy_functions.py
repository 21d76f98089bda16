"""NumPy's functions on tensors, called as ``np.f`` and as ``weft.f``, beside the same of dense arrays."""

import numpy as np
import pytest
import scipy.special

import weft

A = np.array([[0.0, 2.5, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, -2.5, 0.25]])
B = np.array([[0.0, 2.5, 1.0, 0.0], [0.0, 0.0, 0.0, 4.0], [3.0 + 1e-9, 0.0, 0.0, 0.25]])
N = np.array([[0.0, np.nan, 0.0, np.inf], [1.0, -np.inf, 0.0, 0.0], [np.nan, 2.0, 0.0, 0.0]])
C = A + 1j * B
I = np.array([[3, 0, 0, 7], [0, 0, 255, 0], [-1, 0, 2, 0]])
LOWEST = np.array([[-128, 5], [127, 0]], np.int8)
V = np.array([0.0, 0.0, 1.5, 0.0, -2.0, 0.0, 4.0, 0.0, 0.0])
W = np.array([1.0, 0.0, -1.0])


def dense(x):
    if isinstance(x, (tuple, list)):
        return [dense(item) for item in x]
    return x.todense() if isinstance(x, weft.SparseTensor) else x


def same(got, wanted):
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            same(g, w)
        return
    got, wanted = np.asarray(dense(got)), np.asarray(wanted)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)


CALLS = {
    "isclose": [
        lambda f, t: f(t(A), t(B)), lambda f, t: f(t(A), t(A), 0, 0), lambda f, t: f(t(N), t(N)),
        lambda f, t: f(t(N), t(N), equal_nan=True), lambda f, t: f(t(A), 0.0, atol=0.5), lambda f, t: f(t(C), t(A)),
        lambda f, t: f(t(I), t(I[:1])), lambda f, t: f(t(LOWEST), 0), lambda f, t: f(0, t(LOWEST)),
        lambda f, t: f(t(LOWEST), t(LOWEST[::-1])),
    ],
    "allclose": [lambda f, t: f(t(A), t(A)), lambda f, t: f(t(A), t(B)), lambda f, t: f(t(N), t(N), equal_nan=True)],
    "array_equal": [
        lambda f, t: f(t(A), t(A)), lambda f, t: f(t(A), t(B)), lambda f, t: f(t(A), t(A.T)),
        lambda f, t: f(t(N), t(N)), lambda f, t: f(t(N), t(N), equal_nan=True),
    ],
    "array_equiv": [
        lambda f, t: f(t(A), t(A)), lambda f, t: f(t(np.ones((2, 3))), t(np.ones(3))), lambda f, t: f(t(A), t(A.T)),
    ],
    "clip": [
        lambda f, t: f(t(LOWEST), 0, 300), lambda f, t: f(t(LOWEST), -300, 4), lambda f, t: f(t(LOWEST), -1, None),
        lambda f, t: f(t(I.astype(np.uint8)), -1, 256),
    ],
    "power": [
        lambda f, t: f(t(np.array([1, 2, 3], np.uint64)), t(np.array([0, -1, 2], np.int16))), lambda f, t: f(t(A), -2),
    ],
    "vdot": [lambda f, t: f(t(LOWEST), t(LOWEST)), lambda f, t: f(t(C), t(A)), lambda f, t: f(t(A > 0), t(B > 0))],
    "angle": [lambda f, t: f(t(C)), lambda f, t: f(t(A)), lambda f, t: f(t(C), deg=True)],
    "bitwise_count": [lambda f, t: f(t(I)), lambda f, t: f(t(I.astype(np.uint8)))],
    "fabs": [lambda f, t: f(t(A)), lambda f, t: f(t(I))],
    "i0": [lambda f, t: f(t(A))],
    "iscomplex": [lambda f, t: f(t(C)), lambda f, t: f(t(A))],
    "isreal": [lambda f, t: f(t(C)), lambda f, t: f(t(A))],
    "iscomplexobj": [lambda f, t: f(t(C)), lambda f, t: f(t(A))],
    "isrealobj": [lambda f, t: f(t(C)), lambda f, t: f(t(A))],
    "isposinf": [lambda f, t: f(t(N)), lambda f, t: f(t(A))],
    "isneginf": [lambda f, t: f(t(N))],
    "shape": [lambda f, t: f(t(A))],
    "ndim": [lambda f, t: f(t(A))],
    "size": [lambda f, t: f(t(A)), lambda f, t: f(t(A), 1)],
    "nan_to_num": [lambda f, t: f(t(N)), lambda f, t: f(t(N), nan=7.0, posinf=8.0, neginf=-9.0)],
    "sinc": [lambda f, t: f(t(A))],
    "spacing": [lambda f, t: f(t(A))],
    "around": [lambda f, t: f(t(A), 1)],
    "amax": [lambda f, t: f(t(A)), lambda f, t: f(t(A), 0)],
    "amin": [lambda f, t: f(t(A), axis=1)],
    "nancumsum": [lambda f, t: f(t(N), axis=1), lambda f, t: f(t(N[:, 2:]))],
    "nancumprod": [lambda f, t: f(t(N), axis=0)],
    "nanpercentile": [lambda f, t: f(t(N), 30), lambda f, t: f(t(A), [10, 50], axis=1)],
    "ediff1d": [
        lambda f, t: f(t(V)), lambda f, t: f(t(A)), lambda f, t: f(t(V), to_begin=-99, to_end=[1.0, 2.0]),
        lambda f, t: f(t(np.array([3.0]))),
    ],
    "gradient": [
        lambda f, t: f(t(V)), lambda f, t: f(t(V), 2.0), lambda f, t: f(t(A)), lambda f, t: f(t(A), axis=1),
        lambda f, t: f(t(A), 2.0, 3.0), lambda f, t: f(t(V), edge_order=2),
        lambda f, t: f(t(V), np.array([0, 1, 1.5, 3, 4, 6, 7, 9, 9.5])),
        lambda f, t: f(t(V), np.array([0, 1, 1.5, 3, 4, 6, 7, 9, 9.5]), edge_order=2), lambda f, t: f(t(V[1:3])),
        lambda f, t: f(t(V[2:5]), edge_order=2), lambda f, t: f(t(I), axis=0),
    ],
    "trapezoid": [
        lambda f, t: f(t(V)), lambda f, t: f(t(A), dx=0.5), lambda f, t: f(t(A), np.array([0.0, 1.0, 3.0]), axis=0),
        lambda f, t: f(t(A), np.cumsum(np.ones((3, 4)), axis=1)),
    ],
    "compress": [
        lambda f, t: f([True, False, True], t(A), axis=0), lambda f, t: f([False, True], t(A)),
        lambda f, t: f(t(np.array([True, False, False, True])), t(A), 1),
    ],
    "extract": [lambda f, t: f(t(A) > 0, t(A)), lambda f, t: f(t(B) != 0, t(A))],
    "trim_zeros": [lambda f, t: f(t(V)), lambda f, t: f(t(V), "f"), lambda f, t: f(t(V), trim="b")],
    "union1d": [lambda f, t: f(t(A), t(B))],
    "intersect1d": [lambda f, t: f(t(A), t(B)), lambda f, t: f(t(I), t(I.T), return_indices=True)],
    "setdiff1d": [lambda f, t: f(t(A), t(B)), lambda f, t: f(t(V), t(W), assume_unique=True)],
    "setxor1d": [lambda f, t: f(t(A), t(B))],
    "diagflat": [lambda f, t: f(t(A)), lambda f, t: f(t(W), 1), lambda f, t: f(t(W), -2)],
    "tril_indices_from": [lambda f, t: f(t(A)), lambda f, t: f(t(A), k=-1)],
    "triu_indices_from": [lambda f, t: f(t(A)), lambda f, t: f(t(A), 1)],
    "diag_indices_from": [lambda f, t: f(t(A[:3, :3]))],
    "correlate": [
        lambda f, t: f(t(V), t(W)), lambda f, t: f(t(V), t(W), "full"), lambda f, t: f(t(V), t(W), "same"),
        lambda f, t: f(t(W), t(V), "same"), lambda f, t: f(t(W[:2]), t(V), "same"), lambda f, t: f(t(C[0]), t(C[2])),
        lambda f, t: f(t(W), t(V), "full"),
    ],
    "apply_along_axis": [
        lambda f, t: f(lambda v: v.sum(), 0, t(A)), lambda f, t: f(lambda v: v * 2, 1, t(A)),
        lambda f, t: f(lambda v: v[:2], -1, t(A)), lambda f, t: f(lambda v: v[:2], 0, t(A)),
    ],
    "apply_over_axes": [
        lambda f, t: f(lambda x, axis: x.sum(axis=axis), t(A), [0, 1]),
        lambda f, t: f(lambda x, axis: x.sum(axis=axis, keepdims=True), t(A), 1),
    ],
    "piecewise": [
        lambda f, t: f(t(V), [t(V) < 0, t(V) > 1], [-1, lambda v: v * 2]), lambda f, t: f(t(V), t(V) > 0, [7.0, 5.0]),
        lambda f, t: f(t(V), [t(V) < 0], [lambda v, k: v + k, 3], 2.0),
    ],
    "polyval": [lambda f, t: f(np.array([2.0, 0.0, 1.0]), t(A)), lambda f, t: f(np.array([3, 1]), t(I))],
    "copy": [lambda f, t: f(t(A))],
    "linalg.multi_dot": [
        lambda f, t: f([t(A), t(A.T), t(B)]), lambda f, t: f([t(W), t(A), t(B.T)]), lambda f, t: f([t(A), t(V[:4])]),
    ],
    "cross": [
        lambda f, t: f(t(A[:, :3]), t(B[:, 1:])), lambda f, t: f(t(A), t(B), axis=0),
        lambda f, t: f(t(A[:, :3]), t(B[:, 1:]), axisa=0, axisb=1, axisc=0),
    ],
    "matvec": [lambda f, t: f(t(A), t(V[:4])), lambda f, t: f(t(np.stack([A, B])), t(V[:4]))],
    "vecmat": [lambda f, t: f(t(W), t(A)), lambda f, t: f(t(C[:, 1]), t(C))],
    "vecdot": [
        lambda f, t: f(t(A), t(B)), lambda f, t: f(t(C), t(C)), lambda f, t: f(t(LOWEST), t(LOWEST)),
        lambda f, t: f(t(C), t(A), axis=0), lambda f, t: f(t(A > 0), t(B > 0)),
    ],
    "modf": [lambda f, t: f(t(A)), lambda f, t: f(t(N))],
    "frexp": [lambda f, t: f(t(A))],
}  # fmt: skip
NAMES = [(name, k) for name, calls in CALLS.items() for k in range(len(calls))]
FORMATS = {1: ("coo", "s", "dense"), 2: ("csr", "coo", "dense", "dia"), 3: ("coo", "csf")}


def place(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


@pytest.mark.parametrize("which", [0, 1, -1])
@pytest.mark.parametrize(("name", "k"), NAMES, ids=lambda x: str(x))
def test_numpys_functions(name, k, which):
    def tensor(x):
        formats = FORMATS[x.ndim]
        return weft.asarray(x.copy(), format=formats[which % len(formats)])

    call = CALLS[name][k]
    with np.errstate(all="ignore"):
        wanted = call(place(np, name), lambda x: x)
        same(call(place(np, name), tensor), wanted)
        if hasattr(weft, name.split(".")[0]):
            same(call(place(weft, name), tensor), wanted)


def test_fix_is_an_old_name_of_trunc():
    """NumPy 2.5 warns of its own."""
    same(weft.fix(weft.asarray(A, format="csr")), np.trunc(A))


WRITES = {
    "copyto": [
        lambda f, x, t: f(x, t(B)), lambda f, x, t: f(x, 3.0), lambda f, x, t: f(x, t(B[0]), where=t(A) > 0),
    ],
    "fill_diagonal": [
        lambda f, x, t: f(x, 5), lambda f, x, t: f(x, [1, 2]), lambda f, x, t: f(x, t(W)),
        lambda f, x, t: f(x.T, 2.0) if isinstance(x, np.ndarray) else f(x, 2.0),
    ],
    "place": [lambda f, x, t: f(x, t(A) > 0, [7.0, 8.0]), lambda f, x, t: f(x, np.zeros((3, 4), bool), [1])],
    "put": [lambda f, x, t: f(x, [0, -1, 5], [1.0, 2.0]), lambda f, x, t: f(x, [13, -14], 4.0, mode="wrap")],
    "putmask": [lambda f, x, t: f(x, t(A) != 0, t(W)), lambda f, x, t: f(x, t(A) < 1, t(B))],
    "put_along_axis": [
        lambda f, x, t: f(x, np.array([[1], [2], [0]]), 9.0, axis=1),
        lambda f, x, t: f(x, np.array([[1, 2, 0, 1]]), np.array([[5.0, 6.0, 7.0, 8.0]]), axis=0),
    ],
}  # fmt: skip


@pytest.mark.parametrize("format", ["csr", "coo", "dense", "dok"])
@pytest.mark.parametrize(("name", "k"), [(n, k) for n, c in WRITES.items() for k in range(len(c))])
def test_functions_that_write(name, k, format):
    call = WRITES[name][k]
    for module in (np, weft):
        wanted, got = A.copy(), weft.asarray(A.copy(), format=format)
        call(getattr(np, name), wanted, lambda x: x)
        call(getattr(module, name), got, lambda x: weft.asarray(x, format="coo"))
        np.testing.assert_array_equal(got.todense(), wanted)
        assert got.format == format


def test_a_tall_diagonal_goes_on():
    x, y = np.zeros((9, 3)), weft.zeros((9, 3), format="csr")
    np.fill_diagonal(x, [1, 2, 3], wrap=True)
    weft.fill_diagonal(y, [1, 2, 3], wrap=True)
    np.testing.assert_array_equal(y.todense(), x)


def test_what_makes_arrays():
    same(weft.tri(3, 4, 1), np.tri(3, 4, 1))
    same(weft.tri(3, dtype=int), np.tri(3, dtype=int))
    same(weft.logspace(0, 2, 5), np.logspace(0, 2, 5))
    same(weft.geomspace(1, 16, 5), np.geomspace(1, 16, 5))
    same(weft.array([1, 2], ndmin=3), np.array([1, 2], ndmin=3))
    a = weft.asarray(A)
    assert not np.shares_memory(weft.array(a).data, a.data)
    assert np.shares_memory(weft.array(a, copy=False).data, a.data)


# -- functions of other packages -----------------------------------------------------------------------------------

OTHERS = [scipy.special.erf, scipy.special.expit, scipy.special.gammaln, np.spacing, np.frompyfunc]
PAIRS = [scipy.special.xlogy, scipy.special.beta, scipy.special.rel_entr, np.divmod, np.logaddexp]


@pytest.mark.parametrize("format", ["csr", "coo", "dense", "bsr", "dok"])
@pytest.mark.parametrize("f", OTHERS[:-1], ids=lambda f: f.__name__)
def test_any_ufunc(f, format):
    x = weft.asarray(abs(A), format=format)
    same(f(x), f(abs(A)))
    out = np.empty(A.shape)
    assert f(x, out=out) is out
    same(out, f(abs(A)))


@pytest.mark.parametrize("f", PAIRS, ids=lambda f: f.__name__)
def test_any_ufunc_of_several(f):
    x, y, u, v = weft.asarray(abs(A), format="csr"), weft.asarray(B, format="coo"), abs(A), B
    for got, wanted in (
        ((x, y), (u, v)), ((x, v), (u, v)), ((u, y), (u, v)), ((x, 2.0), (u, 2.0)), ((3.0, y), (3.0, v)),
        ((x, y[0]), (u, v[0])), ((x[:, :1], y), (u[:, :1], v)), ((x.T, y.T), (u.T, v.T)), ((x + 1, y), (u + 1, v)),
    ):  # fmt: skip
        with np.errstate(all="ignore"):
            same(f(*got), f(*wanted))
    three = scipy.special.betainc(weft.asarray(abs(B), format="csr"), x, 0.5)
    same(three, scipy.special.betainc(abs(B), u, 0.5))
    assert scipy.special.erf(x).nnz == x.nnz


def test_a_ufunc_that_makes_no_numbers():
    with pytest.raises(TypeError, match=r"makes object.*numbers"):
        np.frompyfunc(lambda v: "x", 1, 1)(weft.asarray(A))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: weft.gradient(x, edge_order=3), ValueError, "edge_order"),
        (lambda x: weft.gradient(x[:1], axis=0), ValueError, "too small"),
        (lambda x: weft.gradient(x, 1.0, 2.0, 3.0), TypeError, "number of arguments"),
        (lambda x: weft.gradient(x, np.ones(7), axis=0), ValueError, "match the length"),
        (lambda x: weft.fill_diagonal(x[0], 1), ValueError, "at least 2-d"),
        (lambda x: weft.copyto(x, 1j), TypeError, "same_kind"),
        (lambda x: weft.trim_zeros(x, "q"), ValueError, "unexpected"),
        (lambda x: weft.linalg.multi_dot([x]), ValueError, "at least two"),
        (lambda x: weft.linalg.multi_dot([x, x[None], x]), np.linalg.LinAlgError, "matrices"),
        (lambda x: weft.piecewise(x, [x > 0], [1, 2, 3]), ValueError, "functions are"),
        (lambda x: weft.apply_along_axis(lambda v: v, 3, x), ValueError, "out of bounds"),
        (lambda x: weft.place(x, x > 0, []), ValueError, "empty"),
        (lambda x: weft.ediff1d(x, to_end=1j), TypeError, "same_kind"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call(weft.asarray(A, format="csr"))


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_tensors_without_axes_are_searched_and_sorted(value):
    x = weft.asarray(np.array(value))
    assert weft.argwhere(x).shape == np.argwhere(value).shape
    for axis in (0, -1, None):
        assert weft.argsort(x, axis=axis).todense().tolist() == np.argsort(np.array(value), axis=axis).tolist()
    with pytest.raises(np.exceptions.AxisError):
        weft.argsort(x, axis=1)


def test_all_elements_are_sorted_as_a_vector():
    for function in (np.sort, np.argsort):
        own = getattr(weft, function.__name__)
        found = own(weft.asarray(A, format="csr"), axis=None)
        np.testing.assert_array_equal(found.todense(), function(A, axis=None, kind="stable"))


@pytest.mark.parametrize("dtype", ["int8", "int32", "float32"])
def test_moments_have_the_dtype_that_is_asked_for(dtype):
    x = np.arange(5)
    for name in ("std", "var", "mean", "nanmean"):
        found, wanted = getattr(weft, name)(weft.asarray(x), dtype=dtype), getattr(np, name)(x, dtype=dtype)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("function", [weft.isposinf, weft.isneginf])
def test_no_complex_number_is_an_infinity_of_one_sign(function):
    with pytest.raises(TypeError, match="ambiguous"):
        function(weft.asarray(np.array([1j, np.inf])))


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "max",
        "min",
        "any",
        "all",
        "argmax",
        "argmin",
        "cumsum",
        "cumprod",
        "count_nonzero",
    ],
)
@pytest.mark.parametrize("axis", [0, -1])
def test_an_axis_of_a_tensor_without_axes(name, axis):
    value = np.array(3.0)
    found = getattr(weft, name)(weft.asarray(value), axis=axis)
    wanted = getattr(np, name)(value, axis=axis)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_array_equal(
        np.asarray(found.todense() if isinstance(found, weft.SparseTensor) else found), wanted
    )
    with pytest.raises(np.exceptions.AxisError):
        getattr(weft, name)(weft.asarray(value), axis=1)


def test_functions_of_bool_and_of_numbers():
    v = np.array([False, True, False, True, True])
    np.testing.assert_array_equal(weft.bincount(weft.asarray(v, format="coo")), np.bincount(v))
    small = np.array([1, 2], "int8")
    for name in ("dot", "inner"):
        found, wanted = getattr(weft, name)(weft.asarray(small), 2), getattr(np, name)(small, 2)
        assert found.dtype == wanted.dtype == np.int64
    np.testing.assert_array_equal(weft.column_stack(weft.asarray([1.0, 2.0])).todense(), np.column_stack([1.0, 2.0]))
