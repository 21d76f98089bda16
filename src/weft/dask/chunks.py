"""Chunks of tensors: cut by entries, not by shape, and made anew in tasks that any worker can run."""

from __future__ import annotations

import math
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array
from dask.graph_manipulation import clone
from dask.highlevelgraph import HighLevelGraph

from ..operations.foreign_tensors import count_entries
from ..operations.operands import StorageHolder, storage_of
from ..tensor import SparseTensor, asarray
from . import hooks

READ = "weft: read "
"""Start of the names of layers whose tasks read files."""
ENTRIES = 10_000_000
"""Entries of a chunk: about 120 MB, and enough work to be worth a task."""
_registered = hooks.registered  # chunks are of a type that dask knows, from here on
_counts: dict[str, np.ndarray[Any, Any]] = {}  # entries of each chunk, by the names of arrays
_totals: dict[str, int] = {}  # those of all chunks together, where no more is known
_KEPT = 1024


def tasks(x: Any, chunks: Any) -> Any:
    """Return an array in other chunks, cut by tasks: the other method of clusters moves memory of ndarrays alone."""
    return x if tuple(x.chunks) == tuple(chunks) else x.rechunk(chunks, method="tasks")


def again(x: Any, number: int) -> Any:
    """Return an array for another pass over it: chunks of files are read anew, and not held between the passes."""
    read = [name for name in x.dask.layers if name.startswith(READ)] if number else []
    if not read or set(x.dask.layers) != set(read):
        return x
    found, total = clone(x, seed=number), kept_entries(x)
    return found if total is None else remember_total(found, total)


def cuts(counts: np.ndarray[Any, Any], entries: int) -> tuple[int, ...]:
    """Return sizes of chunks along an axis, so that each has at most ``entries`` entries, or is one slice."""
    if entries < 1:
        raise ValueError(f"entries is a positive number, not {entries}")
    ends = np.cumsum(counts, dtype=np.int64)
    if not len(ends):
        return (0,)
    # As few chunks as there must be, of about as many entries each.
    even = -(-int(ends[-1]) // len(_filled(ends, entries))) + int(np.max(counts))
    return _filled(ends, min(entries, even))


def _filled(ends: np.ndarray[Any, Any], entries: int) -> tuple[int, ...]:
    """Return sizes of chunks, each as large as it may be, by the running number of entries."""
    edges = [0]
    while edges[-1] < len(ends):
        before = int(ends[edges[-1] - 1]) if edges[-1] else 0
        edges.append(max(edges[-1] + 1, int(np.searchsorted(ends, before + entries, side="right"))))
    return tuple(np.diff(edges).tolist())


def remember(x: Any, counts: Any) -> Any:
    """Keep the number of entries of each chunk of an array, which is returned."""
    while len(_counts) >= _KEPT:
        _counts.pop(next(iter(_counts)))
    _counts[x.name] = np.asarray(counts).reshape(x.numblocks)
    return x


def kept_entries(x: Any) -> int | None:
    """Return the number of entries of an array if it is known without computing, else None."""
    return kept_entries_of(x.name)


def kept_entries_of(name: str) -> int | None:
    """Return the number of entries of the array of a name, or None."""
    counts = _counts.get(name)
    return _totals.get(name) if counts is None else int(counts.sum())


def remember_total(x: Any, total: int) -> Any:
    """Keep the number of entries of an array, which is returned."""
    while len(_totals) >= _KEPT:
        _totals.pop(next(iter(_totals)))
    _totals[x.name] = total
    return x


def slice_counts(tensor: Any, axis: int = 0) -> np.ndarray[Any, Any]:
    """Return the number of stored values in each slice along an axis, padding included, which takes memory, too."""
    if not isinstance(tensor, StorageHolder):
        x = np.asarray(tensor)
        return np.full(x.shape[axis], x.size // max(1, x.shape[axis]), np.int64)
    storage = storage_of(tensor)
    ones = SparseTensor(storage.with_values(np.ones(len(storage.vals), np.int64), 0))
    others = tuple(a for a in range(ones.ndim) if a != axis)
    found: Any = ones.sum(axis=others) if others else ones
    return np.asarray(found.todense())


def from_tensor(A: Any, /, *, entries: int = ENTRIES, chunks: Any = None) -> Any:
    """Return a dask array over a tensor, cut along the first axis by entries.

    Parameters
    ----------
    A : array_like
        A tensor, or any argument of :func:`weft.asarray`.
    entries : int, optional
        The largest number of entries of a chunk. A slice with more is a chunk by itself.
    chunks : tuple, optional
        The chunks, as dask writes them, in place of those by entries.

    Returns
    -------
    dask.array.Array
        The array. Each chunk is a tensor of the format of ``A`` where the format can be cut, and travels by itself.

    Examples
    --------
    >>> import weft
    >>> A = weft.random((1000, 300), nnz=6000, format="csr", rng=0)
    >>> X = weft.dask.from_tensor(A, entries=2000)
    >>> X.numblocks, int(weft.dask.entries(X).max()) <= 2000
    ((4, 1), True)
    """
    tensor = asarray(A)
    if chunks is None:
        by_entries = cuts(slice_counts(tensor), entries) if tensor.ndim else ()
        sizes = (by_entries, *((n,) for n in tensor.shape[1:]))[: tensor.ndim]
    else:
        sizes = da.core.normalize_chunks(chunks, shape=tensor.shape, dtype=tensor.dtype)
    name = f"weft: chunks-{dask.base.tokenize(tensor, sizes)}"
    edges = [np.cumsum([0, *lengths]).tolist() for lengths in sizes]
    graph, counts = {}, []
    for place in np.ndindex(*map(len, sizes)):
        key = tuple(slice(starts[k], starts[k + 1]) for starts, k in zip(edges, place, strict=True))
        part = tensor if math.prod(map(len, sizes)) == 1 else tensor[key]
        graph[(name, *place)] = part
        counts.append(count_entries(storage_of(part)))
    meta = meta_from_array(next(iter(graph.values())), ndim=tensor.ndim)
    found = da.Array(HighLevelGraph.from_collections(name, graph), name, sizes, meta=meta)
    return remember(found, counts)


def _count(chunk: Any) -> Any:
    return np.int64(chunk.nnz if hasattr(chunk, "nnz") else np.size(chunk))


def _count_slices(chunk: Any, axis: int) -> Any:
    return slice_counts(chunk, axis)


def entries(X: Any, /) -> np.ndarray[Any, Any]:
    """Return the number of entries of each chunk of a dask array.

    The numbers are known of arrays by :func:`from_tensor`. Otherwise a pass over the array counts
    them, once for each array.

    Parameters
    ----------
    X : dask.array.Array
        The array.

    Returns
    -------
    ndarray
        The numbers, at the places of the chunks.

    Examples
    --------
    >>> import weft
    >>> X = weft.dask.from_tensor(weft.eye(6, format="csr"), entries=2)
    >>> weft.dask.entries(X).tolist()
    [[2], [2], [2]]
    """
    if X.name not in _counts:
        count = dask.delayed(_count)
        remember(X, dask.compute(*[count(chunk) for chunk in X.to_delayed().ravel()]))
    return _counts[X.name]


def rechunk(X: Any, /, chunks: Any = None, *, entries: int | None = None, axis: int = 0) -> Any:
    """Return a dask array in other chunks, which are cut and joined in tasks on every scheduler.

    Parameters
    ----------
    X : dask.array.Array
        The array.
    chunks : tuple or dict, optional
        The new chunks, as ``X.rechunk`` takes them.
    entries : int, optional
        The largest number of entries of a chunk, in place of ``chunks``. Entries are counted by a pass over the array.
    axis : int, optional
        The axis that is cut by ``entries``; the others stay whole.

    Returns
    -------
    dask.array.Array
        The array.

    Raises
    ------
    TypeError
        If neither ``chunks`` nor ``entries`` is given, or both are.

    Examples
    --------
    >>> import weft
    >>> X = weft.dask.from_tensor(weft.eye(6, format="csr"), entries=2)
    >>> weft.dask.rechunk(X, (6, 3)).chunks, weft.dask.rechunk(X, entries=3).chunks
    (((6,), (3, 3)), ((3, 3), (6,)))
    """
    if (chunks is None) == (entries is None):
        raise TypeError("rechunk takes chunks or entries, and one of them alone")
    if entries is None:
        return X.rechunk(chunks, method="tasks")
    uncut = tasks(X, tuple(lengths if a == axis else (sum(lengths),) for a, lengths in enumerate(X.chunks)))
    count = dask.delayed(_count_slices)
    parts = dask.compute(*[count(chunk, axis) for chunk in uncut.to_delayed().ravel()])
    return tasks(
        uncut,
        tuple(cuts(np.concatenate(parts), entries) if a == axis else lengths for a, lengths in enumerate(uncut.chunks)),
    )
