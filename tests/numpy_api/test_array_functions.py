"""Searching, sorting, sets, cumulative functions, statistics, linear algebra: against NumPy, for any fill value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats_for_tests import FORMATS, SHAPES, drawn, sparse

import weft
from weft.config import config
from weft.storage import check
from weft.tensor import dispatch


def compare(found, expected, close=False):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other, close)
        return
    if isinstance(found, weft.SparseTensor):
        check(found._storage)
        found = found.todense()
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape
    assert np.asarray(found).dtype == expected.dtype
    if close:
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        np.testing.assert_array_equal(found, expected)


def tensor(data, shape=None):
    shape = shape or data.draw(st.sampled_from(SHAPES))
    fill = data.draw(st.sampled_from([0.0, 0.0, -0.0, 2.0, -1.0, np.nan, np.inf]))
    dense = drawn(data, shape, fill)
    if data.draw(st.booleans()):
        some = np.random.default_rng(data.draw(st.integers(0, 9))).random(shape)
        dense = np.where(some < 0.1, np.nan, np.where(some < 0.3, -dense, dense))
    return sparse(dense, fill, data.draw(st.sampled_from(FORMATS[len(shape)]))), dense


OF_ONE_AXIS = {
    "argmax": lambda w, x, axis: w.argmax(x, axis=axis),
    "argmin": lambda w, x, axis: w.argmin(x, axis=axis),
    "argmin, keepdims": lambda w, x, axis: w.argmin(x, axis=axis, keepdims=True),
    "sort": lambda w, x, axis: w.sort(x, axis=axis),
    "diff": lambda w, x, axis: w.diff(x, axis=axis),
    "diff twice": lambda w, x, axis: w.diff(x, n=2, axis=axis, prepend=1.0),
    "ptp": lambda w, x, axis: w.ptp(x, axis=axis, keepdims=True),
    "nanargmax": lambda w, x, axis: w.nanargmax(x, axis=axis),
    "nanargmin": lambda w, x, axis: w.nanargmin(x, axis=axis, keepdims=True),
    "average": lambda w, x, axis: w.average(x, axis=axis),
    "weighted average": lambda w, x, axis: w.average(x, axis=axis, weights=np.arange(1.0, x.shape[axis] + 1)),
    "append": lambda w, x, axis: w.append(x, x, axis=axis),
    "delete": lambda w, x, axis: w.delete(x, 0, axis=axis),
    "delete some": lambda w, x, axis: w.delete(x, [0, -1], axis=axis),
    "delete a slice": lambda w, x, axis: w.delete(x, slice(None, None, 2), axis=axis),
    "insert": lambda w, x, axis: w.insert(x, 0, 7.0, axis=axis),
    "insert some": lambda w, x, axis: w.insert(x, [0, x.shape[axis], 0], 7.0, axis=axis),
    "cumsum": lambda w, x, axis: w.cumsum(x, axis=axis),
    "cumprod": lambda w, x, axis: w.cumprod(x, axis=axis),
}
STATISTICS = {
    "median": lambda w, x, axis: w.median(x, axis=axis),
    "median, keepdims": lambda w, x, axis: w.median(x, axis=axis, keepdims=True),
    "nanmedian": lambda w, x, axis: w.nanmedian(x, axis=axis),
    "quantile": lambda w, x, axis: w.quantile(x, 0.3, axis=axis),
    "quantiles": lambda w, x, axis: w.quantile(x, [[0, 0.5], [0.77, 1]], axis=axis, keepdims=True),
    "percentile": lambda w, x, axis: w.percentile(x, 90, axis=axis, method="lower"),
    "nanquantile": lambda w, x, axis: w.nanquantile(x, 0.6, axis=axis, method="higher"),
    "midpoint": lambda w, x, axis: w.quantile(x, 0.4, axis=axis, method="midpoint"),
    "nearest": lambda w, x, axis: w.quantile(x, 0.35, axis=axis, method="nearest"),
}
OF_ALL = {
    "argmax": lambda w, x: w.argmax(x),
    "argmin": lambda w, x: w.argmin(x),
    "nonzero": lambda w, x: w.nonzero(x),
    "argwhere": lambda w, x: w.argwhere(x),
    "flatnonzero": lambda w, x: w.flatnonzero(x),
    "isin": lambda w, x: w.isin(x, np.array([1.0, 2.0, np.inf])),
    "is not in": lambda w, x: w.isin(x, np.array([1.0, 0.0]), invert=True),
    "unique": lambda w, x: w.unique(x),
    "unique, counts": lambda w, x: w.unique(x, return_counts=True),
    "unique_counts": lambda w, x: tuple(w.unique_counts(x)),
    "unique_all": lambda w, x: tuple(w.unique_all(x)),
    "unique_inverse": lambda w, x: tuple(w.unique_inverse(x)),
    "unique_values": lambda w, x: w.unique_values(x),
    "bincount": lambda w, x: w.bincount((w.isfinite(x) * 3).astype(np.int64).ravel(), minlength=2),
    "digitize": lambda w, x: w.digitize(x, np.array([0.0, 2.0, 5.0]), right=True),
    "append": lambda w, x: w.append(x, 3.0),
    "delete": lambda w, x: w.delete(x, []),
    "insert": lambda w, x: w.insert(x, 0, [1.0, 2.0]),
    "resize": lambda w, x: w.resize(x, (3, 7)),
    "interp": lambda w, x: w.interp(x, np.array([0.0, 1.0, 5.0]), np.array([1.0, 3.0, 2.0])),
}


@pytest.mark.filterwarnings("ignore:Mean of empty|Mean or variance:RuntimeWarning")
@pytest.mark.parametrize("name", OF_ONE_AXIS)
@settings(max_examples=settings.default.max_examples // 10)
@given(data=st.data())
def test_along_an_axis(name, data):
    function = OF_ONE_AXIS[name]
    A, dense = tensor(data)
    axis = data.draw(st.integers(-A.ndim, A.ndim - 1))
    with np.errstate(all="ignore"):
        try:
            expected = function(np, dense, axis)
        except (ValueError, IndexError, ZeroDivisionError) as error:
            expected = error
        if isinstance(expected, Exception):
            with pytest.raises(type(expected), match=str(expected)):
                function(weft, A, axis)
            return
        compare(function(weft, A, axis), expected, close=name.startswith("cum") or "average" in name)


@pytest.mark.filterwarnings("ignore:All-NaN|invalid value|Mean of empty:RuntimeWarning")
@pytest.mark.parametrize("name", STATISTICS)
@settings(max_examples=settings.default.max_examples // 10)
@given(data=st.data())
def test_statistics(name, data):
    function = STATISTICS[name]
    A, dense = tensor(data, data.draw(st.sampled_from([s for s in SHAPES if 0 not in s])))
    dense[np.isinf(dense)] = 3
    A = sparse(dense, 3.0 if A.fill_value == np.inf else A.fill_value, str(A.format))
    axis = data.draw(st.one_of(st.none(), st.integers(-A.ndim, A.ndim - 1), st.just(tuple(range(A.ndim)))))
    compare(function(weft, A, axis), function(np, dense, axis), close=True)


@pytest.mark.parametrize("name", OF_ALL)
@settings(max_examples=settings.default.max_examples // 10)
@given(data=st.data())
def test_of_all_elements(name, data):
    function = OF_ALL[name]
    A, dense = tensor(data)
    try:
        expected = function(np, dense)
    except ValueError:
        with pytest.raises(ValueError, match="empty sequence"):
            function(weft, A)
        return
    compare(function(weft, A), expected)


@given(data=st.data())
def test_sort_descending_and_argsort(data):
    A, dense = tensor(data)
    axis = data.draw(st.integers(0, A.ndim - 1))
    ascending = np.sort(dense, axis=axis)
    count = np.isnan(dense).sum(axis=axis, keepdims=True)
    place = np.arange(dense.shape[axis]).reshape([-1 if a == axis else 1 for a in range(A.ndim)])
    turned = np.where(place < dense.shape[axis] - count, dense.shape[axis] - count - 1 - place, place)
    compare(weft.sort(A, axis=axis, descending=True), np.take_along_axis(ascending, turned, axis))
    for descending in (False, True):
        order = weft.argsort(A, axis=axis, descending=descending).todense()
        sorted_ = weft.sort(A, axis=axis, descending=descending).todense()
        np.testing.assert_array_equal(np.take_along_axis(dense, order, axis), sorted_)
    np.testing.assert_array_equal(weft.argsort(A, axis=axis).todense(), np.argsort(dense, axis=axis, kind="stable"))


@settings(max_examples=settings.default.max_examples // 2)  # each of which has five kernels or more
@given(data=st.data())
def test_where(data):
    shape = data.draw(st.sampled_from([(4, 5), (5,), (3, 4, 2)]))
    (A, a), (B, b), (C, c) = (tensor(data, shape) for _ in range(3))
    with np.errstate(invalid="ignore"):
        compare(weft.where(A > 1, B, C), np.where(a > 1, b, c))
        compare(weft.where(A, B, 2), np.where(a, b, 2))
        compare(weft.where(a > 1, B, -0.0), np.where(a > 1, b, -0.0))
        compare(weft.compute(weft.where(weft.lazy(A) > 1, B, C)), np.where(a > 1, b, c))
    compare(weft.where(A), np.where(a))
    row = A[..., :1]
    compare(weft.where(row != 0, B, C), np.where(a[..., :1] != 0, b, c))


@given(data=st.data())
def test_where_of_several_formats(data):
    """Formats that store more than the entries, each in its own places."""
    formats = st.sampled_from(FORMATS[2])
    shape = data.draw(st.sampled_from([(4, 5), (1, 3), (5, 2)]))
    dense = [drawn(data, shape, data.draw(st.sampled_from([0.0, 1.0, np.nan]))) for _ in range(2)]
    chosen = drawn(data, shape, 0.0) > 4
    a, b = (sparse(d, data.draw(st.sampled_from([0.0, 1.0, np.nan])), data.draw(formats)) for d in dense)
    found = weft.where(sparse(chosen, False, data.draw(formats)), a, b)
    compare(found, np.where(chosen, *dense))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("fill", [0, 1 + 2j, np.nan])
def test_medians_of_complex_numbers(fill, dtype):
    rng = np.random.default_rng(4)
    parts = rng.integers(-2, 3, (6, 5)) + 1j * rng.integers(-2, 3, (6, 5))
    a = np.where(rng.random((6, 5)) < 0.4, parts, fill).astype(dtype)
    A = weft.COO(a, fill_value=fill)
    for axis in (None, 0, 1):
        compare(weft.median(A, axis=axis), np.median(a, axis=axis))
    with pytest.raises(TypeError, match="real"):
        weft.quantile(A, 0.3)


@pytest.mark.parametrize("fill", [0.0, np.inf, -np.inf])
def test_medians_beside_infinity(fill):
    """The mean of a number and infinity is infinite; half the way between them is no number."""
    a = np.array([[1.0, np.inf, -np.inf, np.inf, fill], [np.inf, np.inf, np.inf, 2.0, 3.0]])
    A = sparse(a, fill, "csr")
    with np.errstate(invalid="ignore"):
        compare(weft.median(A, axis=0), np.median(a, axis=0))
        compare(weft.median(A, axis=1), np.median(a, axis=1))
        compare(weft.nanmedian(A[:, 3:], axis=0), np.nanmedian(a[:, 3:], axis=0))


def test_where_takes_values_as_they_are():
    A = weft.from_coords([[0, 1]], [complex(np.inf, 1), complex(-0.0, np.nan)], shape=(3,))
    found = weft.where(weft.asarray([True, True, False]), A, 1j).todense()
    assert found.tobytes() == np.where([True, True, False], A.todense(), 1j).tobytes()
    C, B = weft.asarray([0, 1, 2, 0], format="coo"), weft.asarray([-0.0, np.inf, 0.0, 5.0], format="coo")
    for yes, no in ((B, -0.0), (-0.0, B), (B, -B), (B.with_fill(-0.0), np.inf), (B, 2), (np.nan, B)):
        x, y = ("(i)" * isinstance(side, weft.SparseTensor) for side in (yes, no))
        spelt = weft.evaluate(f"R(i) = where(C(i), x{x}, y{y})", C=C, x=yes, y=no)
        ours = weft.where(C, yes, no), weft.compute(weft.where(weft.lazy(C), yes, no)), weft.asarray(spelt)
        wanted = np.where(*(x.todense() if isinstance(x, weft.SparseTensor) else x for x in (C, yes, no)))
        assert [found.todense().tobytes() for found in ours] == [wanted.tobytes()] * 3


def test_lines_of_large_tensors_cost_what_is_stored():
    A = weft.from_coords([[3, 7], [5, 10**8]], [2.0, -4.0], shape=(10, 10**9), format="coo")
    assert weft.argmax(A, axis=1).todense()[3] == 5
    assert weft.argmin(A) == 7 * 10**9 + 10**8
    assert weft.sort(A, axis=1)[3, 10**9 - 1] == 2
    assert weft.sort(A, axis=1).nnz == 2
    assert weft.median(A) == 0
    assert weft.unique_counts(A).counts.todense().tolist() == [1, 10**10 - 2, 1]
    with pytest.raises(weft.errors.DensifyError, match="max_densify_bytes"):
        weft.cumsum(A, axis=1)


@pytest.mark.parametrize("format", ["csr", "coo", "dia", "dense"])
def test_linear_algebra(format):
    rng = np.random.default_rng(2)
    a = np.where(rng.random((4, 4)) < 0.5, rng.random((4, 4)), 0)
    t = np.where(rng.random((2, 4, 4)) < 0.5, rng.random((2, 4, 4)), 0)
    v, z = np.array([1.0, 0, 2, 0]), np.array([1j, 0, 2, 1 - 1j])
    A, T, V, Z = (
        weft.asarray(a, format=format),
        weft.asarray(t, format="csf"),
        *(weft.asarray(x, format="s") for x in (v, z)),
    )
    LOWEST = weft.asarray(np.array([-128, 5, 127, 0], np.int8), format="s")
    pairs = [
        (weft.matmul(A, A), a @ a), (weft.tensordot(T, A, axes=1), np.tensordot(t, a, 1)),
        (weft.tensordot(T, T, axes=([0, 2], [0, 1])), np.tensordot(t, t, ([0, 2], [0, 1]))),
        (weft.tensordot(A, A), np.tensordot(a, a)), (weft.tensordot(V, V, axes=0), np.tensordot(v, v, 0)),
        (weft.vecdot(Z, V), np.vecdot(z, v)), (weft.vdot(Z, Z), np.vdot(z, z)), (weft.outer(V, V), np.outer(v, v)),
        (weft.dot(A, V), np.dot(a, v)), (weft.dot(T, A), np.dot(t, a)), (weft.dot(A, 3), np.dot(a, 3)),
        (weft.inner(A, A), np.inner(a, a)), (weft.trace(A), np.trace(a)),
        (weft.linalg.trace(T, offset=1), np.linalg.trace(t, offset=1)),
        (weft.linalg.diagonal(T), np.linalg.diagonal(t)), (weft.linalg.matrix_transpose(T), np.matrix_transpose(t)),
        (weft.linalg.cross(A[:, :3], A[0, 1:]), np.cross(a[:, :3], a[0, 1:])),
        *((weft.linalg.matrix_power(A, n), np.linalg.matrix_power(a, n)) for n in (0, 1, 2, 5)),
        *((weft.linalg.vector_norm(T, axis=1, ord=o), np.linalg.vector_norm(t, axis=1, ord=o))
          for o in (0, 1, 2, 3.5, np.inf, -np.inf)),
        *((weft.linalg.vector_norm(LOWEST, ord=o), np.linalg.vector_norm(LOWEST.todense(), ord=o))
          for o in (1, 2, 3, np.inf, -np.inf, 0)),
        *((weft.linalg.matrix_norm(T, ord=o), np.linalg.matrix_norm(t, ord=o))
          for o in ("fro", 1, -1, np.inf, -np.inf)),
        *((weft.linalg.norm(A, *arguments), np.linalg.norm(a, *arguments))
          for arguments in ((), (1,), ("fro",), (np.inf, 0), (None, 1), (2, (1,)), (1, None, True), (1, (0, 1), True))),
    ]  # fmt: skip
    for found, expected in pairs:
        found = found.todense() if isinstance(found, weft.SparseTensor) else found
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected)
    if not A.layout.is_dense:
        with pytest.raises(NotImplementedError, match="svds"):
            weft.linalg.matrix_norm(A, ord="nuc")


def test_creation():
    same = [
        (weft.zeros((2, 3)), np.zeros((2, 3))), (weft.ones(3, dtype=np.int8), np.ones(3, np.int8)),
        (weft.full((2, 2), 1 + 2j), np.full((2, 2), 1 + 2j)), (weft.full((), 3), np.full((), 3)),
        (weft.eye(3, 4, k=-1), np.eye(3, 4, k=-1)), (weft.eye(2, 5, k=3, dtype=bool), np.eye(2, 5, k=3, dtype=bool)),
        (weft.eye(3, k=7), np.eye(3, k=7)), (weft.identity(3), np.identity(3)), (weft.arange(5), np.arange(5)),
        (weft.arange(1, 10, 3, dtype=np.float32), np.arange(1, 10, 3, np.float32)),
        (weft.arange(5, step=2), np.arange(0, 5, 2)),
        (weft.linspace(0, 1, 7, endpoint=False), np.linspace(0, 1, 7, endpoint=False)),
        (weft.zeros_like(weft.eye(3, format="csr")), np.zeros((3, 3))), (weft.from_dlpack(np.arange(4)), np.arange(4)),
        *zip(weft.meshgrid(np.arange(3), np.arange(2)), np.meshgrid(np.arange(3), np.arange(2)), strict=True),
        *zip(weft.meshgrid(np.arange(3), np.arange(2), indexing="ij"),
             np.meshgrid(np.arange(3), np.arange(2), indexing="ij"), strict=True),
        *zip(weft.meshgrid(weft.eye(2, format="csr"), [1.0, 2.0]), np.meshgrid(np.eye(2), [1.0, 2.0]), strict=True),
    ]  # fmt: skip
    for found, expected in same:
        compare(found, expected)
    assert weft.ones((10**9, 10**9)).nnz == 0
    assert str(weft.zeros_like(weft.eye(3, format="csr")).format) == "csr"
    for wrong in (lambda: weft.zeros(3, device="gpu"), lambda: weft.meshgrid(np.arange(2), indexing="ji")):
        with pytest.raises(ValueError, match=r"cpu|indexing"):
            wrong()


def test_numpy_functions_dispatch():
    rng = np.random.default_rng(2)
    a = np.where(rng.random((4, 6)) < 0.5, rng.random((4, 6)), 0)
    A = weft.asarray(a, format="csr")
    calls = [
        lambda x: np.sum(x, 1), lambda x: np.mean(x, axis=0), lambda x: np.concatenate([x, x], axis=1),
        lambda x: np.einsum("ij,ij->i", x, x), lambda x: np.tensordot(x, x, 2), lambda x: np.dot(x, a.T),
        lambda x: np.where(x > 0.5, x, 0), lambda x: np.linalg.norm(x, axis=1), lambda x: np.vstack([x, a]),
        lambda x: np.reshape(x, (6, 4)), lambda x: np.roll(x, 1, 1), lambda x: np.argmax(x, axis=1),
        lambda x: np.kron(x, x),
        lambda x: np.sort(x, axis=0), lambda x: np.count_nonzero(x), lambda x: np.median(x), lambda x: np.flip(x, 0),
        lambda x: np.tril(x, 1), lambda x: np.diagonal(x), lambda x: np.moveaxis(x, 0, 1), lambda x: np.nonzero(x),
        lambda x: np.take(x, [1, 0], axis=1), lambda x: np.stack([x, x], axis=1), lambda x: np.expand_dims(x, 1),
        lambda x: np.broadcast_to(x, (2, 4, 6)), lambda x: np.clip(x, 0.1, 0.5), lambda x: np.round(x, 1), np.transpose,
        lambda x: np.isin(x, [0.0]), lambda x: np.diff(x, axis=0), lambda x: np.trace(x),
        lambda x: np.cumsum(x, axis=1),
        lambda x: np.repeat(x, 2, 0), lambda x: np.tile(x, (1, 2)), lambda x: np.pad(x, 1), lambda x: np.max(x, axis=1),
        lambda x: np.nansum(x, axis=1), lambda x: np.shape(x), lambda x: np.ndim(x), np.size, np.zeros_like,
        np.iscomplexobj,
    ]  # fmt: skip
    for function in calls:
        found, expected = function(A), function(a)
        if isinstance(expected, (tuple, int)):
            compare(found, expected) if isinstance(found, tuple) and isinstance(found[0], weft.SparseTensor) else None
            assert isinstance(found, type(expected))
            continue
        found = found.todense() if isinstance(found, weft.SparseTensor) else found
        np.testing.assert_allclose(found, expected)
    with pytest.raises(NotImplementedError, match=r"fft\.fft.*todense"):
        np.fft.fft(A)


def test_limits_name_the_setting():
    with (
        config.override(max_densify_bytes=100),
        pytest.raises(TypeError, match="max_densify_bytes, 100"),
    ):
        weft.argsort(weft.zeros((10, 10)))


@settings(max_examples=settings.default.max_examples // 4)
@given(data=st.data())
def test_histogram(data):
    A, dense = tensor(data)
    dense[~np.isfinite(dense)] = 3
    A = sparse(dense, A.fill_value if np.isfinite(A.fill_value) else 3.0, str(A.format))
    for options in [{}, {"bins": 3}, {"bins": [0.0, 1.5, 9.0]}, {"range": (-1, 4), "density": dense.size > 0}]:
        with np.errstate(invalid="ignore"):
            compare(weft.histogram(A, **options), np.histogram(dense, **options))
    with pytest.raises(TypeError, match="number of bins"):
        weft.histogram(A, "auto")


NEED_INITIAL = {"max": {"initial": -9.0}, "min": {"initial": 9.0}}


@pytest.mark.filterwarnings("ignore:Mean of empty|Degrees of freedom|invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std"])
@settings(max_examples=settings.default.max_examples // 10)
@given(data=st.data())
def test_reductions_of_a_mask(name, data):
    A, dense = tensor(data)
    axis = data.draw(st.one_of(st.none(), st.integers(-A.ndim, A.ndim - 1)))
    mask = np.random.default_rng(data.draw(st.integers(0, 9))).random(dense.shape) < 0.6
    mask = data.draw(st.sampled_from([mask, mask[..., :1], np.bool_(True)]))
    given = {"axis": axis, "keepdims": data.draw(st.booleans()), **NEED_INITIAL.get(name, {})}
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(dense, where=mask, **given)
        ours = mask if not mask.ndim or data.draw(st.booleans()) else weft.asarray(mask, format="coo")
        compare(getattr(weft, name)(A, where=ours, **given), expected, close=True)
        compare(getattr(np, name)(A, where=mask, **given), expected, close=True)


@pytest.mark.filterwarnings("ignore:Degrees of freedom:RuntimeWarning")
@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
@settings(max_examples=settings.default.max_examples // 4)
@given(data=st.data())
def test_variance_of_what_is_not_nan(name, data):
    A, dense = tensor(data)
    axis = data.draw(st.one_of(st.none(), st.integers(-A.ndim, A.ndim - 1)))
    given = {"axis": axis, "ddof": data.draw(st.integers(0, 2)), "keepdims": data.draw(st.booleans())}
    with np.errstate(all="ignore"):
        compare(getattr(weft, name)(A, **given), getattr(np, name)(dense, **given), close=True)


def test_masks_are_booleans_and_what_has_no_identity_needs_a_start():
    A = weft.eye(3, format="csr")
    for function in (weft.sum, weft.mean, weft.var):
        with pytest.raises(TypeError, match="where= takes booleans"):
            function(A, where=np.ones((3, 3)))
    with pytest.raises(ValueError, match="one has to specify 'initial'"):
        weft.max(A, where=A > 0)


@pytest.mark.parametrize("format", ["csr", "coo", "dia", "dok", "dense"])
def test_accumulate_and_at(format):
    rng = np.random.default_rng(4)
    dense = np.where(rng.random((5, 4)) < 0.5, rng.integers(1, 5, (5, 4)).astype(float), 0)
    A = weft.asarray(dense, format=format)
    for ufunc in (np.add, np.multiply, np.maximum, np.subtract):
        compare(ufunc.accumulate(A, axis=1), ufunc.accumulate(dense, axis=1))
    for key in [([0, 0, 4], [1, 1, -1]), (slice(1, 3), 2), 3, ([1, 1],)]:
        for ufunc in (np.add, np.subtract):
            B, expected = weft.asarray(dense, format=format), dense.copy()
            ufunc.at(B, key, 2.0)
            ufunc.at(expected, key, 2.0)
            compare(B, expected)
            assert B.format == A.format
    large = weft.from_coords([[3], [7]], [1.0], (10**9, 10**9), format="coo")
    np.add.at(large, ([3, -1], [7, 0]), [2.0, 5.0])
    assert large.nnz == 2
    assert large[3, 7] == 3
    with pytest.raises(TypeError, match="array of indices"):
        np.add.at(large, ([3],), 2.0)
    with pytest.raises(TypeError):
        np.multiply.at(A, 0, 2.0)


def test_what_editing_refuses():
    A = weft.eye(3, format="csr")
    with pytest.raises(IndexError, match="out of bounds"):
        weft.delete(A, 3, axis=0)
    with pytest.raises(IndexError, match="out of bounds"):
        weft.insert(A, 4, 1.0, axis=0)
    with pytest.raises(ValueError, match="non-negative"):
        weft.resize(A, (-1, 2))
    with pytest.raises(ValueError, match="All-NaN"):
        weft.nanargmax(weft.from_coords([[0], [0]], [np.nan], (2, 1), fill_value=np.nan))
    with pytest.raises(ZeroDivisionError):
        weft.average(A, axis=0, weights=np.zeros(3))
    with pytest.raises(TypeError, match="Axis must be specified"):
        weft.average(A, weights=np.ones(3))
    row = weft.asarray([[1.0, 2.0, 3.0]])
    compare(weft.insert(A, 1, row, axis=0), np.insert(np.eye(3), 1, [1.0, 2.0, 3.0], axis=0))
    compare(weft.insert(A, 1, [4.0, 5.0, 6.0], axis=1), np.insert(np.eye(3), 1, [4.0, 5.0, 6.0], axis=1))


X0, X1 = weft.asarray(np.array(1.0)), weft.asarray([1.0, 2.0, 4.0], format="coo")


@pytest.mark.parametrize(
    "weight", [weft.ones(3, dtype="int64"), weft.asarray([1, 2, 1], format="coo"), np.arange(1, 4)]
)
@pytest.mark.parametrize(
    "call",
    [
        lambda w, x, v, n: w.linspace(x, 5.0, 3),
        lambda w, x, v, n: w.linspace(0.0, v, 3),
        lambda w, x, v, n: w.logspace(x, 2, 3),
        lambda w, x, v, n: w.geomspace(x, 8.0, 3),
        lambda w, x, v, n: w.cov(v, aweights=n),
        lambda w, x, v, n: w.cov(v, fweights=n),
        lambda w, x, v, n: w.histogram(v, bins=w.linspace(x, 4.0, 3))[0],
        lambda w, x, v, n: w.histogram(v, bins=2, range=(0, 3), weights=n)[0],
        lambda w, x, v, n: w.histogram(v, weights=n, density=True)[0],
        lambda w, x, v, n: w.histogram(v, weights=w.sqrt(n))[1],
    ],
)
def test_parameters_that_are_tensors(call, weight):
    expected = call(np, 1.0, X1.todense(), weight if isinstance(weight, np.ndarray) else weight.todense())
    compare(call(weft, X0, X1, weight), expected)
    compare(call(np, X0, X1, weight), expected)
    with config.override(max_densify_bytes=0), pytest.raises(weft.errors.DensifyError):
        weft.linspace(0.0, X1, 3)
    assert not hasattr(dispatch._running, "calls") or not dispatch._running.calls


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 0)])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_extremes_of_nothing_have_no_place(name, shape):
    """However many lines there are: NumPy refuses an axis of no elements even where no line would have an answer."""
    A = weft.zeros(shape, format="coo")
    for axis in range(len(shape)):
        try:
            expected = getattr(np, name)(np.zeros(shape), axis=axis)
        except ValueError:
            with pytest.raises(ValueError, match="empty sequence"):
                getattr(weft, name)(A, axis=axis)
        else:
            compare(getattr(weft, name)(A, axis=axis), expected)
