"""Operands that share the chunks of their index variables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import common_blockdim, normalize_chunks
from dask.array.utils import meta_from_array

from ..errors import ShapeError
from ..index_notation import Assignment, to_text
from ..operations.operands import StorageHolder, as_operand
from ..tensor import asarray
from .chunks import from_tensor, tasks

SMALL = 1 << 27
"""Bytes up to which a dense operand is put together where a sparse one would have to be cut."""

Chunks = tuple[float, ...]


def aligned(
    operands: Mapping[str, tuple[Any, tuple[str, ...]]], assignment: Assignment
) -> tuple[dict[str, Chunks], dict[str, Any]]:
    """Return the chunks of each variable, and the operands in them."""
    cut: dict[str, dict[bool, list[Any]]] = {}
    for x, indices in operands.values():
        sparse = isinstance(meta_from_array(x), StorageHolder)
        for axis, v in enumerate(indices):
            cut.setdefault(v, {True: [], False: []})[sparse].append((_without_empty(x.chunks[axis]), x))
    chunks = {v: _common(v, own[True], own[False], assignment) for v, own in cut.items()}
    return chunks, {
        name: tasks(x, tuple(_kept(x.chunks[axis], chunks[v]) for axis, v in enumerate(indices)))
        for name, (x, indices) in operands.items()
    }


def _kept(own: Chunks, wanted: Chunks) -> Chunks:
    """Return the chunks that an axis gets; those of unknown sizes stay."""
    return own if any(map(math.isnan, own)) else wanted


def _without_empty(chunks: Chunks) -> Chunks:
    """Return chunks without empty ones, of which there is no minimum."""
    return tuple(n for n in chunks if n != 0) or (0,)


def _common(v: str, sparse: list[Any], dense: list[Any], assignment: Assignment) -> Chunks:
    """Return the chunks of a variable: those of sparse operands, which cost more to cut than dense ones."""
    every = [*sparse, *dense]
    unknown = [cut for cut, _ in every if any(map(math.isnan, cut))]
    if unknown:
        if any(len(cut) != len(unknown[0]) for cut, _ in every):
            raise ShapeError(
                f"chunks along {v} have unknown sizes, and operands are cut differently; "
                f"call compute_chunk_sizes() of the array first\n  {to_text(assignment)}"
            )
        return tuple(unknown[0])
    if sparse and dense:
        refined = common_blockdim({cut for cut, _ in sparse})
        whole = max(math.prod(x.shape) * x.dtype.itemsize for _, x in dense)
        if len(refined) > 1 or whole <= SMALL:
            return tuple(refined)
    return tuple(common_blockdim({cut for cut, _ in every}))


def cut_beside(
    operands: Mapping[str, Any], reads: Mapping[str, tuple[str, ...]], requested: Mapping[str, Any]
) -> dict[str, Any]:
    """Return operands as dask arrays; those in one piece are cut where the others are, or as requested."""
    chunks_of: dict[str, Any] = {}
    for name, x in operands.items():
        if isinstance(x, da.Array):
            for v, chunks in zip(reads[name], x.chunks, strict=True):
                if v not in chunks_of or len(chunks) > len(chunks_of[v]):
                    chunks_of[v] = chunks
    cuts = {}
    for name, x in operands.items():
        if isinstance(x, da.Array):
            cuts[name] = x
            continue
        operand = as_operand(x)
        array: Any = np.asarray(x) if operand is None or operand.is_array else asarray(x)
        cut = tuple(_own_cut(v, n, chunks_of, requested) for v, n in zip(reads[name], array.shape, strict=True))
        if isinstance(array, np.ndarray):
            cuts[name] = da.from_array(array, chunks=cut, asarray=False)
        else:
            cuts[name] = from_tensor(array, chunks=cut)
    return cuts


def _own_cut(v: str, size: int, chunks_of: Mapping[str, Any], requested: Mapping[str, Any]) -> Chunks:
    if v in requested:
        (cut,) = normalize_chunks((requested[v],), shape=(size,))
        return tuple(cut)
    cut = chunks_of.get(v, (size,))
    return (size,) if any(map(math.isnan, cut)) or sum(cut) != size else tuple(cut)
