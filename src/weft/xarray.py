"""The accessor ``weft`` of xarray's ``DataArray``: what xarray itself does with NumPy's arrays alone.

Importing the module registers it. ``array.weft.isel(...)`` indexes with arrays that share a dimension,
``array.weft.interp(...)`` and ``array.weft.polyfit(...)`` stay sparse, ``array.weft.to_series()`` lists stored entries.

Examples
--------
>>> import weft.xarray
>>> import xarray as xr
>>> A = xr.DataArray(weft.eye(3), dims=("y", "x"), coords={"y": [1, 2, 3], "x": ["a", "b", "c"]})
>>> A.weft.to_series()
y  x
1  a    1.0
2  b    1.0
3  c    1.0
dtype: float64
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np

from .doors import optional
from .errors import DTypeError, ShapeError, UnsupportedError
from .formats import FormatLike
from .interop.pandas_series import from_series as _tensor_of_series
from .interop.pandas_series import to_series as _series_of_tensor
from .numpy_api.linalg import tensordot
from .numpy_api.manipulation import moveaxis, permute_dims
from .numpy_api.searching import where
from .tensor import SparseTensor, asarray, from_coords
from .tracebacks import ends_at_caller

with optional("weft.xarray needs xarray", "interop"):
    import xarray as xr

__all__ = ["Accessor", "from_series"]


@ends_at_caller
def from_series(series: Any, *, format: FormatLike = "coo", fill_value: Any = np.nan) -> Any:
    """Make a ``DataArray`` of a Series whose index has a level for each dimension; it stores the entries alone.

    Parameters
    ----------
    series : pandas.Series
        The entries. The names of the levels are the dimensions, and their labels the coordinates.
    format : str or Format, optional
        The format of the data.
    fill_value : scalar, optional
        The value of elements without an entry. By default NaN, as in xarray's own function; 0 for integers stays 0.

    Returns
    -------
    xarray.DataArray
        The array, with a tensor as data.

    Examples
    --------
    >>> import pandas as pd
    >>> import weft.xarray
    >>> labels = [["ann", "bob"], ["tea", "milk"]]
    >>> index = pd.MultiIndex.from_arrays(labels, names=["u", "i"])
    >>> found = weft.xarray.from_series(pd.Series([3.0, 1.0], index), fill_value=0)
    >>> found.dims, found.data.todense()
    (('u', 'i'), array([[0., 3.],
           [1., 0.]]))
    """
    index: Any = getattr(series, "index", None)
    if getattr(index, "nlevels", 1) > 1:
        series = series.copy(deep=False)
        series.index = index = index.remove_unused_levels()
    data = _tensor_of_series(series, format=format, fill_value=fill_value)
    levels = index.levels if index.nlevels > 1 else [index]
    names = [f"dim_{k}" if name is None else name for k, name in enumerate(index.names)]
    return xr.DataArray(data, dims=names, coords=dict(zip(names, levels, strict=True)), name=series.name)


@xr.register_dataarray_accessor("weft")
class Accessor:
    """Methods for a ``DataArray`` with a tensor as data: ``array.weft``.

    Parameters
    ----------
    array : xarray.DataArray
        The array.

    Examples
    --------
    >>> import weft.xarray
    >>> import xarray as xr
    >>> A = xr.DataArray(weft.eye(3, format="csr"), dims=("y", "x"))
    >>> A.weft.tensor
    <SparseTensor: shape=(3, 3), dtype=float64, format=csr, nnz=3, fill_value=0>
    """

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def tensor(self) -> SparseTensor:
        """The data, as a tensor.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> xr.DataArray(weft.eye(3, format="csr"), dims=("y", "x")).weft.tensor.format
        'csr'
        """
        return _tensor(self._array)

    @ends_at_caller
    def isel(self, indexers: Mapping[Hashable, Any] | None = None, **named: Any) -> Any:
        """Index by positions, with arrays that may share dimensions, as ``DataArray.isel`` does for NumPy's arrays.

        Parameters
        ----------
        indexers : mapping, optional
            The positions by dimension: numbers, slices, arrays, or DataArrays whose dimensions the result gets.
        **named
            The same by keyword.

        Returns
        -------
        xarray.DataArray
            The elements, with a tensor as data.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> A = xr.DataArray(weft.eye(3), dims=("y", "x"))
        >>> y, x = xr.DataArray([0, 1], dims="p"), xr.DataArray([0, 2], dims="p")
        >>> A.weft.isel(y=y, x=x).data.todense()
        array([1., 0.])
        """
        array = self._array
        keys: dict[Any, Any] = {**(indexers or {}), **named}
        vectors: dict[Hashable, Any] = {}
        for dim, key in keys.items():
            key = xr.DataArray(key.variable) if isinstance(key, xr.DataArray) and dim in key.coords else key
            result = xr.DataArray(key) if isinstance(key, xr.Variable) else key
            if isinstance(result, xr.DataArray) and result.dims not in ((), (dim,)):
                vectors[dim] = result
        array = array.isel({dim: key for dim, key in keys.items() if dim not in vectors})
        if not vectors:
            return array
        missing = [dim for dim in vectors if dim not in array.dims]
        if missing:
            raise ValueError(f"dimensions {missing} do not exist; the array has {array.dims}")
        places = xr.broadcast(*vectors.values())
        new = places[0].dims
        axes = [array.get_axis_num(dim) for dim in vectors]
        rest = [axis for axis in range(array.ndim) if axis not in axes]
        turned = permute_dims(_tensor(array), (*axes, *rest))
        data = turned[tuple(np.asarray(place.data) for place in places)]
        dims = [*new, *(array.dims[axis] for axis in rest)]
        # Every dimension has a variable here, so that those without coordinates may be indexed, too.
        marks = {f"_{dim}_": (dim, np.arange(array.sizes[dim])) for dim in vectors}
        frame = array.coords.to_dataset().assign(marks).isel(vectors).drop_vars(marks)
        result = xr.DataArray(data, dims=dims, coords=frame.coords, name=array.name)
        order: list[Hashable] = []
        for dim in array.dims:  # new dimensions come where the first of those that they replace was
            order += [d for d in (new if dim in vectors else (dim,)) if d not in order]
        result.attrs = dict(array.attrs)
        return result.transpose(*order)

    @ends_at_caller
    def sel(self, indexers: Mapping[Hashable, Any] | None = None, method: str | None = None, **named: Any) -> Any:
        """Index by labels, with arrays that may share dimensions, as ``DataArray.sel`` does for NumPy's arrays.

        Parameters
        ----------
        indexers : mapping, optional
            The labels by dimension: labels, slices, arrays, or DataArrays whose dimensions the result gets.
        method : str, optional
            ``"nearest"``, ``"pad"`` or ``"backfill"`` for labels that are not there.
        **named
            The same by keyword.

        Returns
        -------
        xarray.DataArray
            The elements, with a tensor as data.

        Raises
        ------
        KeyError
            When a label is not there.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> A = xr.DataArray(weft.eye(3), coords={"y": [10, 20, 30], "x": list("abc")})
        >>> y, x = xr.DataArray([10, 20], dims="p"), xr.DataArray(["a", "c"], dims="p")
        >>> A.weft.sel(y=y, x=x).data.todense()
        array([1., 0.])
        """
        array, vectors = self._array, {}
        keys: dict[Any, Any] = {**(indexers or {}), **named}
        for dim, key in keys.items():
            result = xr.DataArray(key) if isinstance(key, xr.Variable) else key
            if isinstance(result, xr.DataArray) and result.dims not in ((), (dim,)) and dim in array.indexes:
                labels = np.asarray(result.data)
                places = array.indexes[dim].get_indexer(labels.ravel(), method=method)
                if (places < 0).any():
                    raise KeyError(f"not all of {labels.ravel()[places < 0][:5]!r} are labels of dimension {dim!r}")
                vectors[dim] = result.copy(data=places.reshape(labels.shape))
        rest = {dim: key for dim, key in keys.items() if dim not in vectors}
        return (array.sel(rest, method=method) if rest else array).weft.isel(vectors)

    @ends_at_caller
    def interp(
        self,
        coords: Mapping[Hashable, Any] | None = None,
        method: Literal["linear", "nearest"] = "linear",
        *,
        fill_value: Any = np.nan,
        **named: Any,
    ) -> Any:
        """Interpolate along dimensions, one after the other; the result is sparse.

        Parameters
        ----------
        coords : mapping, optional
            The new coordinates by dimension.
        method : {"linear", "nearest"}
            How elements between two coordinates follow from them.
        fill_value : scalar, optional
            The value beyond the first and the last coordinate. It is stored.
        **named
            The new coordinates by keyword.

        Returns
        -------
        xarray.DataArray
            The array at the new coordinates, with a tensor as data.

        Raises
        ------
        UnsupportedError
            For other methods.
        ValueError
            When coordinates are not increasing or decreasing.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> A = xr.DataArray(weft.eye(3), dims=("y", "x"), coords={"x": [0.0, 1.0, 2.0]})
        >>> A.weft.interp(x=[0.5, 1.5]).data.todense()
        array([[0.5, 0. ],
               [0.5, 0.5],
               [0. , 0.5]])
        """
        if method not in ("linear", "nearest"):
            raise UnsupportedError(f"interpolation of tensors is 'linear' or 'nearest', not {method!r}")
        array = self._array
        new: dict[Any, Any] = {**(coords or {}), **named}
        for dim, wanted in new.items():
            array = _interpolated(array, dim, wanted, method, fill_value)
        return array

    @ends_at_caller
    def polyfit(self, dim: Hashable, deg: int) -> Any:
        """Fit polynomials along a dimension, by least squares; the coefficients are sparse.

        Parameters
        ----------
        dim : hashable
            The dimension, whose coordinates are those of the polynomials.
        deg : int
            The degree.

        Returns
        -------
        xarray.Dataset
            ``polyfit_coefficients`` with a dimension ``degree``, as ``DataArray.polyfit`` names them. A NaN that is
            stored makes its coefficients NaN.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> data = weft.asarray([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]], format="csr")
        >>> A = xr.DataArray(data, dims=("t", "x"))
        >>> A.weft.polyfit("t", 1).polyfit_coefficients.data.todense().round(6) + 0.0
        array([[0., 1.],
               [0., 0.]])
        """
        array = self._array
        axis = array.get_axis_num(dim)
        x = _numbers(array, dim)
        powers = np.vander(x, deg + 1)
        scale = np.sqrt((powers * powers).sum(axis=0))
        solving = np.linalg.pinv(powers / scale, rcond=len(x) * np.finfo(float).eps) / scale[:, None]
        data = tensordot(asarray(solving, format="csr"), _tensor(array), axes=(1, axis))
        rest = [d for d in array.dims if d != dim]
        kept: dict[Any, Any] = {d: array.coords[d] for d in rest if d in array.coords}  # as xarray keeps them
        kept["degree"] = np.arange(deg, -1, -1)
        found = xr.DataArray(data, dims=["degree", *rest], coords=kept, name="polyfit_coefficients")
        return found.to_dataset()

    @ends_at_caller
    def idxmax(self, dim: Hashable, *, skipna: bool | None = None, fill_value: Any = None) -> Any:
        """Return the label of the largest element along a dimension, of arrays of any number of dimensions.

        Parameters
        ----------
        dim : hashable
            The dimension, which has coordinates.
        skipna : bool, optional
            True to skip NaN, which is the default for floats and complex numbers.
        fill_value : scalar, optional
            The result where every element is NaN; by default what xarray takes for missing labels, such as NaN.

        Returns
        -------
        xarray.DataArray
            The labels, as an ndarray.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> A = xr.DataArray(weft.eye(3), dims=("y", "x"), coords={"x": [10, 20, 30]})
        >>> A.weft.idxmax("x").values
        array([10., 20., 30.])
        """
        return _label_of(self._array, "argmax", dim, skipna, fill_value)

    @ends_at_caller
    def idxmin(self, dim: Hashable, *, skipna: bool | None = None, fill_value: Any = None) -> Any:
        """Return the label of the smallest element along a dimension; see :meth:`idxmax`, with whose parameters.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> A = xr.DataArray(-weft.eye(3), dims=("y", "x"), coords={"x": [10, 20, 30]})
        >>> A.weft.idxmin("x").values
        array([10., 20., 30.])
        """
        return _label_of(self._array, "argmin", dim, skipna, fill_value)

    @ends_at_caller
    def to_series(self, name: Any = None) -> Any:
        """Return a pandas Series of the stored entries, with the labels of the dimensions as its index.

        Parameters
        ----------
        name : object, optional
            The name of the Series. By default the name of the array.

        Returns
        -------
        pandas.Series
            An element for each entry; :func:`from_series` goes the other way.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> xr.DataArray(weft.eye(2), dims=("y", "x"), name="n").weft.to_series().to_list()
        [1.0, 1.0]
        """
        array = self._array
        levels = [array.get_index(dim) for dim in array.dims]
        name = array.name if name is None else name
        return _series_of_tensor(_tensor(array), levels, names=[*array.dims], name=name)

    @ends_at_caller
    def to_dataframe(self, name: Any = None) -> Any:
        """Return a pandas DataFrame of the stored entries: a column with their values, and the labels as its index.

        Parameters
        ----------
        name : object, optional
            The name of the column. By default the name of the array.

        Returns
        -------
        pandas.DataFrame
            A row for each entry.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> A = xr.DataArray(weft.eye(2), dims=("y", "x"))
        >>> A.weft.to_dataframe("n").columns.to_list()
        ['n']
        """
        name = self._array.name if name is None else name
        if name is None:
            raise ValueError("the array has no name for the column; give name=")
        return self.to_series(name).to_frame()

    @ends_at_caller
    def todense(self) -> Any:
        """Return the array with an ndarray as data.

        Examples
        --------
        >>> import weft.xarray
        >>> import xarray as xr
        >>> type(xr.DataArray(weft.eye(2), dims=("y", "x")).weft.todense().data).__name__
        'ndarray'
        """
        return self._array.copy(data=_tensor(self._array).todense())


def _tensor(array: Any) -> SparseTensor:
    """Return the data of an array as a tensor; those in chunks are computed, as xarray does for values."""
    return asarray(array.compute().data)


def _label_of(array: Any, which: str, dim: Hashable, skipna: bool | None, fill_value: Any) -> Any:
    """Return the labels at the places that ``argmax`` or ``argmin`` gives."""
    if dim not in array.coords:
        raise KeyError(f"dimension {dim!r} has no coordinates; the coordinates are {tuple(array.coords)}")
    missing = None
    if skipna or (skipna is None and array.dtype.kind in "cf"):
        missing = array.isnull().all(dim)
        array = array.where(~missing, 0)
        missing = missing.copy(data=np.asarray(_tensor(missing).todense()))
    places = getattr(array, which)(dim, skipna=skipna)
    labels = array[dim].to_numpy()[np.asarray(_tensor(places).todense())]
    labelled = places.copy(data=labels).rename(dim)
    if missing is None:
        return labelled
    return labelled.where(~missing) if fill_value is None else labelled.where(~missing, fill_value)


def _numbers(array: Any, dim: Hashable) -> np.ndarray[Any, Any]:
    """Return the coordinates of a dimension as numbers; of dates, nanoseconds since 1970."""
    index = array.get_index(dim)
    if index.dtype.kind in "mM":
        return np.asarray(index).astype(f"{index.dtype.kind}8[ns]").astype(np.int64).astype(float)
    if index.dtype.kind not in "iuf":
        raise DTypeError(f"dimension {dim!r} has coordinates of dtype {index.dtype}, which are no numbers")
    return np.asarray(index, float)


def _interpolated(array: Any, dim: Hashable, targets: Any, method: str, fill_value: Any) -> Any:
    axis = array.get_axis_num(dim)
    points = targets if isinstance(targets, xr.DataArray) else xr.DataArray(targets)
    if points.ndim > 1 or (points.ndim and isinstance(targets, xr.DataArray) and points.dims != (dim,)):
        raise ShapeError(
            f"new coordinates of dimension {dim!r} are a number or one array, not of dimensions {points.dims}"
        )
    new = np.atleast_1d(np.asarray(points.data))
    index = array.get_index(dim)
    if index.dtype.kind in "mM":
        new = new.astype(f"{index.dtype.kind}8[ns]").astype(np.int64)
    x, at = _numbers(array, dim), new.astype(float)
    order = np.argsort(x, kind="stable")
    x = x[order]
    if len(x) < 2 or not (np.diff(x) > 0).all():
        raise ValueError(f"dimension {dim!r} is to have two coordinates or more, none of them twice")
    left = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    share = (at - x[left]) / (x[left + 1] - x[left])
    if method == "nearest":
        share = np.where(share > 0.5, 1.0, 0.0)
    outside = (at < x[0]) | (at > x[-1]) | np.isnan(at)
    share = np.where(outside, 0, share)
    rows = np.arange(len(at))
    coords = [np.concatenate([rows, rows]), np.concatenate([order[left], order[left + 1]])]
    values = np.concatenate([1 - share, share])
    keep = values != 0  # a NaN or infinity beside the coordinate itself takes no part
    weights = from_coords([c[keep] for c in coords], values[keep], (len(at), len(x)), format="csr")
    data = moveaxis(tensordot(weights, _tensor(array), axes=(1, axis)), 0, axis)
    if outside.any():
        shape = [len(at) if k == axis else 1 for k in range(array.ndim)]
        data = where(asarray(outside.reshape(shape), format="coo"), np.asarray(fill_value, data.dtype), data)
    kept = {name: c for name, c in array.coords.items() if dim not in c.dims}
    kept[dim] = xr.Variable((dim,), np.atleast_1d(np.asarray(points.data)))
    found = xr.DataArray(data, dims=array.dims, coords=kept, name=array.name, attrs=array.attrs)
    return found.isel({dim: 0}) if not points.ndim else found
