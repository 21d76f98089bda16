"""Series of pandas with an index of several levels, one for each axis of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..doors import optional
from ..errors import DTypeError, ShapeError, StorageError
from ..formats import FormatLike
from ..tensor import SparseTensor, asarray, from_coords
from ..tracebacks import ends_at_caller


def pandas() -> Any:
    """Return the package pandas; raise ``MissingPackageError`` if it is not installed."""
    with optional("series are made with pandas", "interop"):
        import pandas
    return pandas


@ends_at_caller
def from_series(series: Any, *, format: FormatLike = "coo", fill_value: Any = 0) -> SparseTensor:
    """Make a tensor of a Series whose index has a level for each axis.

    Parameters
    ----------
    series : pandas.Series
        The entries. The coordinates are the positions of labels in the levels of the index, ``series.index.levels``,
        and the sizes of the levels are the shape. Entries with equal labels are summed. A Series with an index of one
        level is a vector.
    format : str or Format, optional
        The format of the result.
    fill_value : scalar, optional
        The value of elements without an entry.

    Returns
    -------
    SparseTensor
        The tensor.

    Raises
    ------
    StorageError
        When a label is missing.
    DTypeError
        When it is no Series, or one whose values weft does not have.

    Examples
    --------
    >>> import pandas as pd
    >>> import weft
    >>> users, items = ["ann", "bob", "ann"], ["tea", "tea", "milk"]
    >>> index = pd.MultiIndex.from_arrays([users, items])
    >>> series = pd.Series([3, 1, 2], index)
    >>> weft.from_series(series).todense()
    array([[2, 3],
           [0, 1]])
    >>> [list(level) for level in series.index.levels]
    [['ann', 'bob'], ['milk', 'tea']]
    """
    index = getattr(series, "index", None)
    if index is None or getattr(series, "ndim", 0) != 1 or not hasattr(index, "nlevels"):
        raise DTypeError(f"from_series takes a Series of pandas, not a {type(series).__name__}")
    if index.nlevels == 1:
        return asarray(_values(series), format=format)
    codes = [np.asarray(code) for code in index.codes]
    for name, code in zip(index.names, codes, strict=True):
        if len(code) and code.min() < 0:
            raise StorageError(f"{int((code < 0).sum())} labels of level {name!r} are missing; leave these rows out")
    return from_coords(codes, _values(series), index.levshape, format=format, fill_value=fill_value)


def _values(series: Any) -> Any:
    """Return the values of a Series; of a sparse one with all of its elements, which an index lists anyway."""
    values = series.to_numpy()
    if values.dtype == object:  # extension dtypes with missing values, and labels
        raise DTypeError(f"a Series of dtype {series.dtype} holds no numbers; convert it, as by astype(float)")
    return values


@ends_at_caller
def to_series(
    A: SparseTensor,
    levels: Sequence[Any] | None = None,
    *,
    names: Sequence[Any] | None = None,
    name: Any = None,
) -> Any:
    """Return a Series of the entries of a tensor, with an index that has a level for each axis.

    Parameters
    ----------
    A : SparseTensor
        The tensor.
    levels : sequence of array_like, optional
        The labels of each axis. By default numbers from 0.
    names : sequence, optional
        The names of the axes.
    name : object, optional
        The name of the Series.

    Returns
    -------
    pandas.Series
        An element for each entry, in the order of coordinates; the elements that are not stored are not in it.

    Raises
    ------
    ShapeError
        When there are not as many labels as an axis has places.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0, 3], [1, 0]], format="csr")
    >>> A.to_series([["ann", "bob"], ["milk", "tea"]], names=["user", "item"])
    user  item
    ann   tea     3
    bob   milk    1
    dtype: int64
    """
    A = asarray(A)
    if A.ndim == 0:
        raise ShapeError("a tensor without axes has no entries to list; A.item() is its element")
    pd = pandas()
    labels = [pd.RangeIndex(size) for size in A.shape] if levels is None else [pd.Index(level) for level in levels]
    if [len(level) for level in labels] != [*A.shape] or (names is not None and len(names) != A.ndim):
        raise ShapeError(f"labels of {[len(level) for level in labels]} places for a tensor of shape {A.shape}")
    coords, values = A.to_coo()
    if A.ndim == 1:
        index = labels[0].take(coords[0]).rename(None if names is None else names[0])
    elif all(level.is_unique for level in labels):
        index = pd.MultiIndex(levels=labels, codes=[*coords], names=names, verify_integrity=False)
    else:
        arrays = [level.take(crd) for level, crd in zip(labels, coords, strict=True)]
        index = pd.MultiIndex.from_arrays(arrays, names=names)
    return pd.Series(values, index=index, name=name)
