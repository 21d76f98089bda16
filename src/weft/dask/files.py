"""Files that are read and written chunk by chunk, so that no memory holds all of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from dask.system import CPU_COUNT

from .. import io
from ..errors import FileFormatError, ShapeError
from ..formats import FormatLike
from ..interop.sparse_groups import Parts, axis_of_parts
from ..numpy_api.creation import full
from ..operations.operands import storage_of
from ..records import record
from ..tensor import SparseTensor, asarray
from .chunks import ENTRIES, READ, remember_total, tasks
from .steps import steps_of
from .trees import shown


@record
class Read:
    """Task that reads a part of a file, in a format if one is given."""

    file: io.TensorFile
    edges: tuple[int, ...]
    format: Any

    def __call__(self, block_id: Any = None) -> SparseTensor:
        """Return the part at the place of a chunk."""
        axis = self.file.axis or 0
        key: list[Any] = [slice(None)] * self.file.ndim
        key[axis] = slice(self.edges[block_id[axis]], self.edges[block_id[axis] + 1])
        part = self.file[tuple(key)]
        return part if self.format is None else part.asformat(self.format)


def open(
    path: str | os.PathLike[str],
    key: str | None = None,
    *,
    entries: int = ENTRIES,
    format: FormatLike | None = None,
    **options: Any,
) -> Any:
    """Return a dask array of a file, of which each task reads its own part.

    Parameters
    ----------
    path, key
        The file, and the group in it, as :func:`weft.open` takes them. On a cluster, all workers see the file.
    entries : int, optional
        The number of entries of a chunk, about.
    format : str or Format, optional
        The format of the chunks. By default that of the file, which is ``"coo"`` for text.
    **options
        Further arguments of :func:`weft.open`.

    Returns
    -------
    dask.array.Array
        The array, in blocks of rows; of columns for csc. A file that can only be read whole is one chunk.

    Raises
    ------
    FileFormatError
        For files that :func:`weft.open` refuses.

    Examples
    --------
    >>> import numpy as np, weft
    >>> from tempfile import TemporaryDirectory
    >>> A = weft.random((1000, 50), density=0.1, rng=0, format="csr")
    >>> with TemporaryDirectory() as folder:
    ...     weft.save_npz(f"{folder}/a.npz", A, compressed=False)
    ...     X = weft.dask.open(f"{folder}/a.npz", entries=2000)
    ...     X.numblocks, np.isclose(X.sum().compute(), A.sum())
    ((3, 1), np.True_)
    """
    file = io.open(path, key, **options)
    if not file.ndim:
        raise FileFormatError(f"{os.fspath(path)!r} has no axis to cut; weft.load reads it")
    axis = file.axis or 0
    cut = file.cuts(entries)
    chunks = tuple(cut if a == axis else (n,) for a, n in enumerate(file.shape))
    task = Read(file, tuple(np.cumsum([0, *cut]).tolist()), format)
    meta = full((0,) * file.ndim, file.fill_value, dtype=file.dtype, format=format or file.format)
    token = tokenize(os.path.abspath(path), _stamp(path), key, cut, str(format), options)
    name = f"{shown(READ + os.path.basename(os.fspath(path).rstrip('/')))}-{token}"
    return remember_total(da.map_blocks(task, chunks=chunks, dtype=file.dtype, meta=meta, name=name), file.nnz)


def _stamp(path: Any) -> Any:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def save(path: str | os.PathLike[str], X: Any, key: str | None = None) -> None:
    """Save a matrix in chunks to a file, block of rows by block of rows, so that no memory holds all of it.

    Some blocks are computed at a time, one for each thread of the scheduler, and written by this process. Sums inside
    the expressions of ``X`` are computed once, before.

    Parameters
    ----------
    path : path
        The file, ``.h5ad``, ``.h5``, ``.hdf5`` or ``.zarr``, with the matrix as anndata writes it: by columns if the
        chunks are csc, and else by rows.
    X : dask.array.Array
        The matrix, with fill value 0.
    key : str, optional
        The path of the group in the file, as :func:`weft.save` takes it.

    Raises
    ------
    FileFormatError
        For other names of files, which :func:`weft.save` writes of tensors, and for arrays that such a file does not
        hold.
    ShapeError
        If sizes of chunks are unknown.

    Examples
    --------
    >>> import weft
    >>> from tempfile import TemporaryDirectory
    >>> X = weft.dask.from_tensor(weft.eye(6, format="csr"), entries=2)
    >>> with TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     weft.dask.save(f"{folder}/a.zarr", 2 * X)
    ...     weft.load(f"{folder}/a.zarr").sum()
    12.0
    """
    if X.ndim != 2 or any(n != n for n in X.shape):
        raise ShapeError(f"save takes a matrix of known shape, not one of shape {X.shape}")
    meta = asarray(meta_from_array(X))
    axis = axis_of_parts(storage_of(meta).format)
    whole = tasks(X, tuple(own if a == axis else (sum(own),) for a, own in enumerate(X.chunks)))
    parts = (storage_of(asarray(part)) for part in _in_order(_with_sums(whole), axis))
    io.save_parts(path, Parts(X.shape, storage_of(meta).type, parts), key)


def _in_order(x: Any, axis: int) -> Iterator[Any]:
    """Yield the chunks along an axis, computed some at a time."""
    count, at_once = x.numblocks[axis], _threads()
    for begin in range(0, count, at_once):
        places = [(k, 0) if axis == 0 else (0, k) for k in range(begin, min(begin + at_once, count))]
        yield from dask.compute(*(x.blocks[place] for place in places))


def _threads() -> int:
    """Return how many tasks run at the same time."""
    try:
        return max(1, int(sum(sys.modules["distributed"].get_client().nthreads().values())))
    except (KeyError, ValueError):
        return int(dask.config.get("num_workers", None) or CPU_COUNT)


def _with_sums(x: Any) -> Any:
    """Return an array whose inner reductions are computed, so that blocks share no pass over files."""
    results = [step.result for name, step in steps_of(x).items() if step.is_merge and name != x.name]
    arrays = [da.Array(x.dask, result.name, result.chunks, meta=result.meta) for result in results]
    layers, dependencies = dict(x.dask.layers), dict(x.dask.dependencies)
    for array in dask.persist(*arrays):
        layers[array.name], dependencies[array.name] = array.dask.layers[array.name], set()
    return da.Array(HighLevelGraph(layers, dependencies), x.name, x.chunks, meta=meta_from_array(x)) if results else x
