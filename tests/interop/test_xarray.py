"""xarray on tensors: what it does by itself, and the accessor, beside what it does on NumPy's arrays."""

import numpy as np
import pandas as pd
import pytest

import weft
from weft.errors import DensifyError, ShapeError, UnsupportedError

xr = pytest.importorskip("xarray")
import weft.xarray  # noqa: E402

T = weft.random((6, 9, 10), density=0.2, rng=0)
N = T.todense()


def array(data):
    coords = {"time": pd.date_range("2020", periods=6), "y": np.arange(9.0)[::-1], "x": np.arange(10.0), "name": 3}
    return xr.DataArray(data, dims=("time", "y", "x"), coords=coords, name="rain", attrs={"unit": "mm"})


rain, dense = array(T), array(N)
P, Q = xr.DataArray([0, 1, 2], dims="p", coords={"p": [7, 8, 9]}), xr.DataArray([3, 4, -1], dims="p")
PQ = xr.DataArray([[0, 1], [2, 3]], dims=("p", "q"))


def require_same(found, wanted):
    assert isinstance(found.data, weft.SparseTensor)
    assert found.dims == wanted.dims
    xr.testing.assert_allclose(found.copy(data=found.data.todense()), wanted)
    assert {*found.coords} == {*wanted.coords}


@pytest.mark.parametrize(
    "do",
    [
        lambda a: a.rolling(time=2).sum(),
        lambda a: a.rolling(time=3, center=True).mean(),
        lambda a: a.rolling(x=3, y=2).sum(),
        lambda a: a.rolling(x=4, min_periods=1).max(),
        lambda a: a.rolling(time=2).construct("w", fill_value=0),
        lambda a: a.rolling(x=3).std(),
    ],
)
def test_windows(do):
    require_same(do(rain), do(dense))


@pytest.mark.parametrize(
    ("shape", "window", "axis"),
    [((5,), 2, None), ((5, 6), (2, 3), None), ((5, 6), 3, 1), ((5, 6), 5, 0), ((4, 5, 3), (2, 2), (0, 2)),
     ((5, 6), (2, 2), (1, 1)), ((5, 6), 1, -1), ((0, 3), 2, 1)],
)  # fmt: skip
@pytest.mark.parametrize("format", ["coo", "csf", "dense"])
def test_sliding_windows(shape, window, axis, format):
    A = weft.random(shape, density=0.4, rng=1, fill_value=2.0).asformat(format)
    wanted = np.lib.stride_tricks.sliding_window_view(A.todense(), window, axis)
    found = weft.lib.stride_tricks.sliding_window_view(A, window, axis)
    np.testing.assert_array_equal(found.todense(), wanted)
    assert found.layout.is_dense or found.fill_value == A.fill_value
    np.testing.assert_array_equal(np.lib.stride_tricks.sliding_window_view(A, window, axis).todense(), wanted)


def test_windows_that_do_not_fit():
    A = weft.eye(3, format="csr")
    for window, axis in ((4, 0), (-1, 0), ((2, 2), 0), (2, None)):
        with pytest.raises(ShapeError, match=r"do not fit axis 0|a size for each axis"):
            weft.lib.stride_tricks.sliding_window_view(A, window, axis)


@pytest.mark.parametrize(
    "key",
    [
        {"y": P, "x": Q},
        {"time": P, "x": Q},
        {"time": P, "x": Q, "y": slice(2, 4)},
        {"time": PQ, "x": xr.DataArray([3, 4], dims="q"), "y": 3},
        {"y": PQ},
        {"y": xr.DataArray([0, -1], dims="x2")},
        {"y": [1, 2], "x": 3},
        {"y": xr.Variable("p", [1, 2])},
        {"y": xr.DataArray([True] * 3 + [False] * 6, dims="y")},
    ],
)
def test_vectorized_indexing(key):
    require_same(rain.weft.isel(key), dense.isel(key))
    require_same(rain.weft.isel(**key), dense.isel(**key))
    assert rain.weft.isel(key).attrs == dense.attrs


def test_vectorized_labels():
    y, x = xr.DataArray([8.0, 1.0], dims="p"), xr.DataArray([3.2, 4.0], dims="p")
    require_same(rain.weft.sel(y=y, x=x, method="nearest"), dense.sel(y=y, x=x, method="nearest"))
    require_same(rain.weft.sel(time="2020-01-02", y=y), dense.sel(time="2020-01-02", y=y))
    with pytest.raises(KeyError, match=r"labels of dimension 'x'"):
        rain.weft.sel(y=y, x=x)
    with pytest.raises(ValueError, match="do not exist"):
        rain.weft.isel(z=P)


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize(
    "coords",
    [{"x": [0.4, 1.6, 9, 12, -1]}, {"y": 3.25}, {"x": [0.4, 2], "y": [3.3, 4]}, {"x": xr.DataArray([1.4], dims="x")},
     {"time": pd.DatetimeIndex(["2020-01-02 07:00", "2020-01-05 00:00"])}],
)  # fmt: skip
def test_interpolation(coords, method):
    pytest.importorskip("scipy")
    require_same(rain.weft.interp(coords, method), dense.interp(coords, method))
    assert rain.weft.interp(x=[0.5, 20], fill_value=0).data.format != "dense"


def test_interpolation_that_is_not_there():
    with pytest.raises(UnsupportedError, match="'linear' or 'nearest', not 'cubic'"):
        rain.weft.interp(x=[0.5], method="cubic")
    with pytest.raises(ShapeError, match="a number or one array"):
        rain.weft.interp(x=PQ)
    with pytest.raises(ValueError, match="two coordinates or more"):
        rain.isel(x=[0]).weft.interp(x=[0.0])
    # infinity at a coordinate does not reach what is interpolated beside another
    data = N.copy()
    data[:, :, 1] = np.inf
    found = rain.copy(data=weft.asarray(data, format="csf")).weft.interp(x=[0.0, 3.5]).data.todense()
    np.testing.assert_allclose(found, dense.interp(x=[0.0, 3.5]).data)


@pytest.mark.parametrize(("dim", "deg"), [("time", 1), ("x", 3), ("y", 0)])
def test_fitted_polynomials(dim, deg):
    found, wanted = rain.weft.polyfit(dim, deg), dense.polyfit(dim, deg)
    require_same(found.polyfit_coefficients, wanted.polyfit_coefficients)


@pytest.mark.parametrize("dim", ["time", "x"])
def test_labels_of_the_largest(dim):
    data = N.copy()
    data[:, 1] = np.nan
    for tensor, array in ((rain, dense), (rain.copy(data=weft.asarray(data, format="coo")), dense.copy(data=data))):
        for which in ("idxmax", "idxmin"):
            found, wanted = getattr(tensor.weft, which)(dim), getattr(array, which)(dim)
            xr.testing.assert_identical(found.drop_attrs(), wanted.drop_attrs())
    assert tensor.weft.idxmax("x", fill_value=-1).min() == array.idxmax("x", fill_value=-1).min()
    with pytest.raises(KeyError, match="has no coordinates"):
        rain.drop_vars("x").weft.idxmax("x")


def test_arrays_in_chunks():
    """The accessor computes them, as xarray does for values."""
    pytest.importorskip("dask.array")
    chunked = rain.copy(data=weft.dask.from_tensor(rain.data, chunks=2))
    for result in (
        lambda a: a.idxmax("time"),
        lambda a: a.todense(),
        lambda a: a.interp(x=[0.5]),
        lambda a: a.polyfit("x", 1),
    ):
        xr.testing.assert_allclose(result(chunked.weft), result(rain.weft))
    pd.testing.assert_series_equal(chunked.weft.to_series(), rain.weft.to_series())


def test_series_and_frames():
    series = rain.weft.to_series()
    wanted = dense.to_series()
    pd.testing.assert_series_equal(series, wanted[wanted != 0])
    pd.testing.assert_frame_equal(rain.weft.to_dataframe(), series.to_frame())
    back = weft.xarray.from_series(series, fill_value=0)
    require_same(back, dense.drop_vars("name").sel(y=back.y, x=back.x, time=back.time))
    unnamed = weft.xarray.from_series(pd.Series([1.0, 2], index=pd.MultiIndex.from_tuples([(3, 4), (5, 6)])))
    assert unnamed.dims == ("dim_0", "dim_1")
    assert np.isnan(unnamed.data.fill_value)
    assert weft.xarray.from_series(series.loc["2020-01-02"], fill_value=0).dims == ("y", "x")
    with pytest.raises(ValueError, match="give name="):
        rain.rename(None).weft.to_dataframe()


def test_dense_and_shown():
    xr.testing.assert_identical(rain.weft.todense(), dense)
    with pytest.raises(DensifyError):
        _ = rain.values
    assert "coo: nnz=108, fill_value=0.0" in repr(rain.to_dataset())
    assert T._repr_inline_(8) == "coo: ..."
    assert rain.weft.tensor is T
