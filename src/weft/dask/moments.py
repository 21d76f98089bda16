"""Means, variances and standard deviations over chunks.

Each chunk has a count, a mean and a sum of squared distances from it, which weft computes of stored entries. Those of
two chunks give those of both by the pairwise rule of Chan, Golub and LeVeque (1979), which loses no digits to a mean
that is large beside the deviation. No chunk is made dense.
"""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array
from dask.base import tokenize
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.typing import DTypeLike

from ..dtypes import value_dtype
from ..errors import ShapeError
from ..numpy_api import moments
from ..operations.fill_change import as_array, require_dense
from ..operations.operands import StorageHolder
from ..records import record
from ..tensor import SparseTensor, asarray
from .statement import evaluate
from .steps import Operand, Step, noted
from .trees import tree

Axis = int | tuple[int, ...] | None


@record
class Moments:
    """Count, mean, and sum of squared distances from the mean, over the axes that are reduced."""

    count: int
    mean: Any
    squares: Any

    def merged(self, other: Moments) -> Moments:
        """Return the moments of the elements of both."""
        if not self.count or not other.count:
            return self if self.count else other
        count = self.count + other.count
        apart = other.mean - self.mean
        middle = self.mean + apart * (other.count / count)
        between = (apart * np.conj(apart)).real * (self.count * (other.count / count))
        return Moments(count, middle, self.squares + other.squares + between)


@record
class OfChunk:
    """Task that computes the moments of a chunk."""

    axes: tuple[int, ...]
    dtype: str

    def __call__(self, chunk: Any) -> Moments:
        """Return the moments."""
        shape = tuple(n for a, n in enumerate(chunk.shape) if a not in self.axes)
        require_dense(shape, np.dtype(self.dtype), "the means of all slices")
        count = math.prod(chunk.shape[a] for a in self.axes)
        if not count:
            return Moments(0, np.zeros(shape, self.dtype), np.zeros(shape, np.zeros(0, self.dtype).real.dtype))
        middle, squares = moments.mean_and_squares(chunk, axis=self.axes, dtype=self.dtype)
        return Moments(
            count, *[np.asarray(as_array(x) if isinstance(x, SparseTensor) else x) for x in (middle, squares)]
        )


@record
class Finish:
    """Variance, or its root, of moments."""

    ddof: float
    root: bool
    dtype: str
    is_sparse: bool

    def __call__(self, moments: Moments) -> Any:
        """Return a chunk of the result."""
        with np.errstate(all="ignore"):
            variance = moments.squares / np.float64(max(moments.count - self.ddof, 0))
        result = np.asarray(np.sqrt(variance) if self.root else variance).astype(self.dtype)
        return asarray(result) if self.is_sparse and result.ndim else result[()]


@record
class Whole:
    """Variance of two chunks alone."""

    finish: Finish

    def __call__(self, left: Moments, right: Moments) -> Any:
        """Return a chunk of the result."""
        return self.finish(left.merged(right))


def _variance(
    X: Any, axis: Axis, ddof: float, dtype: DTypeLike | None, keepdims: bool, root: bool, split_every: int
) -> Any:
    axes = normalize_axis_tuple(range(X.ndim) if axis is None else axis, X.ndim)
    value_type = np.dtype(X.dtype) if dtype is None else value_dtype(dtype)
    computed = "complex128" if value_type.kind == "c" else "float64"
    result = np.zeros(0, value_type if value_type.kind in "fc" else np.float64).real.dtype
    remaining = tuple(a for a in range(X.ndim) if a not in axes)
    what, order = "std" if root else "var", (*remaining, *axes)
    task = OfChunk(axes, computed)
    partial = da.blockwise(
        task, order, X, tuple(range(X.ndim)),
        name=f"weft: moments of chunks-{tokenize(X.name, axes, computed)}",
        adjust_chunks={a: (1,) * X.numblocks[a] for a in axes}, meta=np.empty((0,) * X.ndim), dtype=np.float64,
        concatenate=None,
    )  # fmt: skip
    is_sparse = isinstance(meta_from_array(X), StorageHolder)
    meta: Any = np.empty((0,) * len(remaining), result)
    meta = asarray(meta) if is_sparse and remaining else meta
    finish = Finish(ddof, root, result.name, is_sparse and bool(remaining))
    statistic = tree(partial, len(remaining), Moments.merged, finish, meta, f"weft: {what}", split_every)
    operand = Operand(X.name, X.chunks, meta_from_array(X))
    of_chunks, merges = Operand(partial.name, partial.chunks, meta), len(statistic.dask) - len(partial.dask)
    noted(partial.name, Step("moments of chunks", task, (("X", operand),), math.prod(X.numblocks), of_chunks))
    result_of, summary = Operand(statistic.name, statistic.chunks, meta), Whole(finish)
    noted(statistic.name, Step(what, summary, (("moments", of_chunks),), merges, result_of, is_merge=True))
    return _with_axes(statistic, axes, X.ndim) if keepdims else statistic


def _with_axes(found: Any, gone: tuple[int, ...], order: int) -> Any:
    return found[tuple(None if a in gone else slice(None) for a in range(order))]


def mean(
    X: Any, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False, split_every: int = 8
) -> Any:
    """Return the mean over some axes of a dask array of tensors.

    Parameters
    ----------
    X : dask.array.Array
        The array.
    axis : int or tuple of int, optional
        The axes that are reduced, by default all.
    dtype : dtype, optional
        The dtype of the computation and of the result, by default float64 for integers.
    keepdims : bool, optional
        True to keep the reduced axes with size 1.
    split_every : int, optional
        Number of partial results that a task combines.

    Returns
    -------
    dask.array.Array
        The means, which nothing has computed yet.

    Raises
    ------
    ShapeError
        If sizes of chunks along the axes are unknown.

    Examples
    --------
    >>> import weft
    >>> X = weft.dask.from_tensor(weft.eye(4, format="csr"), entries=2)
    >>> weft.dask.mean(X, axis=0).compute().todense()
    array([0.25, 0.25, 0.25, 0.25])
    """
    axes = normalize_axis_tuple(range(X.ndim) if axis is None else axis, X.ndim)
    count = math.prod(X.shape[a] for a in axes)
    if math.isnan(count):
        raise ShapeError(f"sizes of chunks are unknown in the shape {X.shape}; call X.compute_chunk_sizes() first")
    names = [f"i{a}" for a in range(X.ndim)]
    remaining = [name for a, name in enumerate(names) if a not in axes]
    target = f"mean({','.join(remaining)})" if remaining else "mean"
    value_type = dtype if dtype is not None else np.float64 if X.dtype.kind in "biu" else None
    text = f"{target} = X({','.join(names)})/n" if names else "mean = X/n"
    array = evaluate(text, X=X, n=float(count), dtype=value_type, split_every=split_every)
    return _with_axes(array, axes, X.ndim) if keepdims else array


def var(
    X: Any, /, axis: Axis = None, *, ddof: float = 0, dtype: DTypeLike | None = None, keepdims: bool = False,
    split_every: int = 8,
) -> Any:  # fmt: skip
    """Return the variance over some axes of a dask array of tensors, none of which becomes dense.

    ``da.var(X)`` subtracts means from whole chunks instead, which makes them dense.

    Parameters
    ----------
    X : dask.array.Array
        The array.
    axis : int or tuple of int, optional
        The axes that are reduced, by default all.
    ddof : float, optional
        The number that is subtracted from the number of elements.
    dtype, keepdims, split_every
        The parameters of :func:`weft.dask.mean`.

    Returns
    -------
    dask.array.Array
        The variances, which nothing has computed yet.

    Raises
    ------
    DensifyError
        When it is computed, if the means of all slices of a chunk exceed ``weft.config.max_densify_bytes``.

    Examples
    --------
    >>> import weft
    >>> X = weft.dask.from_tensor(weft.eye(4, format="csr"), entries=2)
    >>> weft.dask.var(X, axis=0).compute().todense()
    array([0.1875, 0.1875, 0.1875, 0.1875])
    """
    return _variance(X, axis, ddof, dtype, keepdims, False, split_every)


def std(
    X: Any, /, axis: Axis = None, *, ddof: float = 0, dtype: DTypeLike | None = None, keepdims: bool = False,
    split_every: int = 8,
) -> Any:  # fmt: skip
    """Return the standard deviation over some axes: the square root of :func:`weft.dask.var`, with its arguments.

    Examples
    --------
    >>> import weft
    >>> X = weft.dask.from_tensor(weft.eye(4, format="csr"), entries=2)
    >>> float(weft.dask.std(X).compute())
    0.4330127018922193
    """
    return _variance(X, axis, ddof, dtype, keepdims, True, split_every)
