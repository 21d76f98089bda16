"""Arguments that NumPy's functions have: out=, mode=, weights=, axis1=, casting=, methods of quantiles, 0-d tensors."""

import numpy as np
import pytest

import weft
from weft.config import config
from weft.errors import DensifyError

D = np.array([[0, 2.0, 0], [1, 0, 3], [0, 0, 4]])
A = weft.asarray(D, format="csr")
T = weft.asarray(np.arange(24.0).reshape(2, 3, 4) % 5, format="csf")
W = np.arange(9.0).reshape(3, 3)


def dense(x):
    return x.todense() if isinstance(x, weft.SparseTensor) else np.asarray(x)


@pytest.mark.parametrize(
    "call",
    [
        lambda w, a, t: w.quantile(a, [0.3, 0.7], axis=0, method="inverted_cdf", weights=W),
        lambda w, a, t: w.percentile(a, [30, 60], method="inverted_cdf", weights=W),
        lambda w, a, t: w.nanpercentile(a, 30, axis=1, method="inverted_cdf", weights=W),
        lambda w, a, t: w.sum(a, 0, np.float32),
        lambda w, a, t: w.prod(t, (0, 2), None, None, True, 2.0, t > 0),
        lambda w, a, t: w.nansum(a, 0, None, None, True),
        lambda w, a, t: w.max(a, 1, None, True, 3.5, a > 1),
        lambda w, a, t: w.nanmin(a, 1, None, True),
        lambda w, a, t: w.any(a, 0, None, True, where=a > 1),
        lambda w, a, t: w.mean(t, 1, np.float32, None, True),
        lambda w, a, t: w.nanmean(a, 0, None, None, True),
        lambda w, a, t: w.var(a, 0, None, None, 1, True),
        lambda w, a, t: w.nanstd(a, 0, None, None, 1, True),
        lambda w, a, t: w.count_nonzero(a, 0),
        lambda w, a, t: w.sort(a, 0, "stable"),
        lambda w, a, t: w.argsort(a, 0, "stable", None),
        lambda w, a, t: w.reshape(t, (4, 6), "F"),
        lambda w, a, t: w.diff(t, 1, -1, 1.0, 2.0),
        lambda w, a, t: w.searchsorted(a[1], 1.0, "right", np.array([1, 0, 2])),
        lambda w, a, t: w.take(a, indices=[2, 0], axis=1),
        lambda w, a, t: w.fft.fftshift(a, 0),
        lambda w, a, t: w.isin(a, [0.0, 2.0], False, True, kind="sort"),
        lambda w, a, t: w.copy(a, "C"),
        lambda w, a, t: a.astype(np.float32, "K", "same_kind", True, False),
        lambda w, a, t: a.copy("F"),
        lambda w, a, t: np.array([t.item(5), t.item(-1), t.item(1, 0, 2), t.item((0, 2, 1)), a[:1, 1:2].item()]),
        lambda w, a, t: w.trace(a, 1),
        lambda w, a, t: w.trace(t),
        lambda w, a, t: w.trace(t, 1, 2, 0),
        lambda w, a, t: w.trace(t, axis1=0, axis2=1, dtype=np.float32),
        lambda w, a, t: w.take(a, [[5, -1], [0, -7]], 1, mode="wrap"),
        lambda w, a, t: w.take(a, [[5, -1], [0, -7]], 1, mode="clip"),
        lambda w, a, t: w.take(t, [50, -1], None, None, "wrap"),
        lambda w, a, t: w.concatenate([a, a], dtype=np.float32),
        lambda w, a, t: w.stack([a, a], dtype=complex),
        lambda w, a, t: w.concat([a, a], dtype=int, casting="unsafe"),
    ],
)
def test_arguments(call):
    expected = call(np, D, T.todense())
    for found in (call(weft, A, T), call(np, A, T)):
        np.testing.assert_allclose(dense(found), expected)
        assert dense(found).dtype == expected.dtype


@pytest.mark.parametrize("method", ["nearest", "midpoint", "inverted_cdf", "hazen", "weibull", "closest_observation"])
def test_methods_of_quantiles(method):
    for function in ("quantile", "nanquantile"):
        for axis in (None, 1):
            expected = getattr(np, function)(D, [0.3, 0.6], axis=axis, method=method, keepdims=True)
            found = getattr(weft, function)(A, [0.3, 0.6], axis=axis, method=method, keepdims=True)
            np.testing.assert_allclose(dense(found), expected)
    with config.override(max_densify_bytes=8), pytest.raises(DensifyError):
        weft.quantile(A, 0.5, method="hazen")


OUT = {
    "median": (lambda w, a, t, out: w.median(a, 0, out), (3,), float),
    "nanmedian": (lambda w, a, t, out: w.nanmedian(a, axis=0, out=out), (3,), float),
    "quantile": (lambda w, a, t, out: w.quantile(a, [0.3, 0.6], 0, out), (2, 3), float),
    "percentile": (lambda w, a, t, out: w.percentile(a, 30, axis=1, out=out), (3,), float),
    "nanpercentile": (lambda w, a, t, out: w.nanpercentile(a, 30, axis=1, out=out), (3,), float),
    "argmax": (lambda w, a, t, out: w.argmax(a, 0, out), (3,), int),
    "argmin": (lambda w, a, t, out: w.argmin(a, axis=0, out=out, keepdims=True), (1, 3), int),
    "nanargmax": (lambda w, a, t, out: w.nanargmax(a, axis=0, out=out), (3,), int),
    "cumsum": (lambda w, a, t, out: w.cumsum(a, 0, None, out), (3, 3), float),
    "nancumprod": (lambda w, a, t, out: w.nancumprod(a, axis=0, out=out), (3, 3), float),
    "cumulative_sum": (lambda w, a, t, out: w.cumulative_sum(a, axis=1, out=out, include_initial=True), (3, 4), float),
    "sum": (lambda w, a, t, out: w.sum(a, 0, None, out), (3,), float),
    "std": (lambda w, a, t, out: w.std(a, 0, None, out), (3,), float),
    "min": (lambda w, a, t, out: w.min(a, 0, out), (3,), float),
    "all": (lambda w, a, t, out: w.all(a, 0, out), (3,), bool),
    "round": (lambda w, a, t, out: w.round(a, 0, out), (3, 3), float),
    "clip": (lambda w, a, t, out: w.clip(a, 1, 2, out), (3, 3), float),
    "trace": (lambda w, a, t, out: w.trace(t, 0, 0, 1, None, out), (4,), float),
    "take": (lambda w, a, t, out: w.take(a, [1, 5], 0, out, "clip"), (2, 3), float),
    "stack": (lambda w, a, t, out: w.stack([a, a], 1, out), (3, 2, 3), float),
    "concat": (lambda w, a, t, out: w.concat([a, t], axis=None, out=out), (33,), float),
    "concatenate": (lambda w, a, t, out: w.concatenate([a, a], out=out), (6, 3), np.float32),
    "outer": (lambda w, a, t, out: w.outer(a[0], a[1], out), (3, 3), float),
}


@pytest.mark.parametrize("name", OUT)
def test_out(name):
    call, shape, dtype = OUT[name]
    expected = call(np, D, T.todense(), np.zeros(shape, dtype))
    for namespace in (weft, np):
        for out in (np.full(shape, 9, dtype), weft.zeros(shape, dtype=dtype)):
            assert call(namespace, A, T, out) is out
            np.testing.assert_allclose(dense(out), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda w, a: w.concatenate([a, a], dtype=int),
        lambda w, a: w.stack([a, a], dtype=int),
        lambda w, a: w.concatenate([a, a], out=np.zeros((6, 3)), dtype=float),
        lambda w, a: w.concatenate([a, a], out=np.zeros((6, 3), int)),
        lambda w, a: w.quantile(a, 0.5, axis=0, out=np.zeros(3, int)),
        lambda w, a: w.std(a, axis=0, out=np.zeros(3, int)),
        lambda w, a: w.nanmean(a, axis=0, out=np.zeros(3, int)),
        lambda w, a: w.nanvar(a, axis=0, out=np.zeros(3, int)),
        lambda w, a: w.nanstd(a, axis=0, out=np.zeros(3, int)),
    ],
)
def test_casts_that_are_refused(call):
    for namespace, operand in ((np, D), (weft, A), (np, A)):
        with pytest.raises(TypeError):
            call(namespace, operand)


@pytest.mark.parametrize("name", ["sort", "argsort", "partition", "argpartition"])
def test_an_order_of_fields_is_refused(name):
    arguments = (1, 0, "introselect") if "partition" in name else (0, None)
    for namespace, operand in ((np, D), (weft, A), (np, A)):
        with pytest.raises(ValueError, match="Cannot specify order when the array has no fields"):
            getattr(namespace, name)(operand, *arguments, "x")


def test_tensors_without_axes_are_vectors_for_put_place_take_and_repeat():
    for w in (weft, np):
        a = weft.asarray(np.array(5.0))
        w.put(a, [0, -1], [7.0, 8.0])
        assert a.item() == 8
        w.place(a, np.array([True]), [4.0, 5.0])
        assert a.item() == 4
        with pytest.raises(IndexError):
            w.put(a, [1], [1.0])
        assert dense(w.take(a, [0, 0], axis=0)).tolist() == dense(w.repeat(a, 2, axis=-1)).tolist() == [4, 4]
        assert dense(w.take(a, 0, axis=0)) == 4
        for call in (lambda w=w, a=a: w.take(a, [0], axis=1), lambda w=w, a=a: w.repeat(a, 2, axis=1)):
            with pytest.raises(np.exceptions.AxisError):
                call()


def test_builders_of_scipy():
    row, vector = weft.asarray([[1.0, 0, 2]], format="csr"), weft.asarray([0, 3.0, 0], format="coo")
    assert weft.hstack([vector, row]).todense().tolist() == [[0, 3, 0, 1, 0, 2]]
    assert weft.hstack([vector, vector]).shape == (6,)
    for k in (5, -4):
        with pytest.raises(ValueError, match="no diagonal"):
            weft.eye_array(3, k=k)
    assert weft.eye_array(3, 4, k=4).nnz == 0
    made = weft.random(50, 40, 0.1, "csr", np.float32, 0, lambda n: np.full(n, 2.0))
    assert (made.format, made.dtype, made.nnz, set(made.data)) == ("csr", np.float32, 200, {2.0})
    by_name = weft.random((50, 40), density=0.1, format="csr", rng=7)
    assert weft.array_equal(weft.random((50, 40), 0.1, "csr", None, 7), by_name)
    with pytest.raises(TypeError, match="each once"):
        weft.random((3, 3), 0.1, "csr", float, 0, rng=1)


@pytest.mark.parametrize("fill", [0, 2])
def test_distinct_elements_need_no_numbers_of_elements(fill):
    tensor = weft.from_coords([[0, 2**39], [5, 7]], [1.0, 3.0], (2**40, 2**40), fill_value=fill)
    for found in (weft.unique(tensor), weft.unique_values(tensor)):
        assert found.todense().tolist() == sorted({1, 3, fill})
    with pytest.raises(weft.errors.IndexOverflowError):
        weft.unique_counts(tensor)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.sum(a=a, axis=0, dtype=np.float32),
        lambda a: np.clip(a, a_min=1, a_max=2),
        lambda a: np.clip(a, a_max=2, a_min=None),
        lambda a: np.tile(a, reps=(2, 1)),
        lambda a: np.flip(axis=1, m=a),
        lambda a: np.split(ary=a, indices_or_sections=[1], axis=1)[1],
        lambda a: np.moveaxis(a=a, source=0, destination=1),
        lambda a: np.vstack(tup=(a, a)),
        lambda a: np.linalg.matrix_power(a=a, n=2),
    ],
)
def test_functions_of_numpy_take_the_names_that_numpy_has(call):
    np.testing.assert_allclose(dense(call(A)), call(D))


def test_functions_of_numpy_call_the_methods_of_subclasses():
    class Labelled(weft.SparseTensor):
        def sum(self, axis=None):
            return "sum", axis

        def max(self, axis=None):
            return "max", axis

    labelled = Labelled(A._storage)
    assert np.sum(labelled, 0) == np.sum(a=labelled, axis=0) == ("sum", 0)
    assert np.amax(labelled, axis=1) == ("max", 1)
    np.testing.assert_allclose(dense(np.mean(labelled, 0)), np.mean(D, 0))


def test_names_that_neither_has_are_refused():
    with pytest.raises(TypeError, match="nonsense"):
        np.tile(A, reps=2, nonsense=1)
    with pytest.raises(TypeError, match=r"axis|dim"):
        weft.sum(A, dim=0)


@pytest.mark.parametrize("index", [(9,), (-10,), (0,) * 3, ((0, 0, 0),), (3, 0)])
def test_item_refuses_what_is_no_element(index):
    with pytest.raises(IndexError):
        A.item(*index)
