"""Lists of the entries of tensors, and sorting of such lists, for conversions that have no direct step."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config import config
from ..doors import Door
from ..formats import Compressed, Format, Singleton, TensorType
from ..formats.append_chains import coordinate_list_format
from ..remapping import Remapping
from ..runtime import loader, memory
from ..runtime._ffi import ffi
from ..runtime.interrupts import fail
from ..storage import Storage, tensor_type
from ..variant import Variant
from .append_assembly import AppendAssembly
from .facts import LoopRequest, Source
from .kernel import Kernel, has_zero_fill
from .loops import Loops
from .plan_cache import kept
from .result_buffers import sorting_bytes

if TYPE_CHECKING:
    from ..analysis import runtime_fills
else:
    runtime_fills = Door("weft.analysis.runtime_fills")

SORTER = "weft_sort_tuples"
"""The support function that sorts coordinate lists."""

_BLOCK = 1 << 22  # elements of one call of NumPy, during which no signal is handled


def count_entries(storage: Storage) -> int:
    """Count the entries that a tensor stores, without padding."""
    assembly = _lister(storage.type).assembly
    assert isinstance(assembly, AppendAssembly)
    return assembly.count((storage,), storage.shape)


def list_entries(storage: Storage) -> Storage:
    """List the entries of a tensor with their coordinates, in the order in which loops over it visit them."""
    return _lister(storage.type).run((storage,))


def _lister(type: TensorType) -> Kernel:
    loose = coordinate_list_format(Remapping.identity(type.format.order))
    return copier(Source.copy(type), tensor_type(type.dtype, loose, ("int64",) * len(loose.roles), type.fill))


@kept
def copier(source: Source, target: TensorType) -> Kernel:
    """Return the kernel that copies a tensor by loops that append to the result."""
    if not (has_zero_fill(source.type) and has_zero_fill(target)):
        read, made, fills = runtime_fills.with_runtime_conversion(source.type, target)
        if fills:
            return Kernel(copier(Source.copy(read, source.skip_fill), made).loops, fills, target)
    variant = Variant(conversion=True, options=config.code)
    return Kernel(Loops(LoopRequest(source.assignment, source.with_result(target), variant, source.skip_fill)))


def sort_coordinate_list(
    coordinate_list: Storage, order: tuple[int, ...], keep: tuple[int, ...] | None = None
) -> Storage:
    """Sort a coordinate list lexicographically, level ``order[0]`` first.

    The sort is stable, so that sums of duplicates keep their order.
    """
    keep = order if keep is None else keep
    # The support function sorts coordinates that begin at zero. Remapped ones, such as diagonals, may begin lower.
    intervals = [coordinate_list.format.remapping.extents(coordinate_list.shape)[k] or (0, 0) for k in order]
    columns = [
        coordinate_list.arrays[1 + k] - low if low else coordinate_list.arrays[1 + k]
        for k, (low, _) in zip(order, intervals, strict=True)
    ]
    n = len(coordinate_list.vals)
    # All that the sort needs is required at once: see runtime.memory.
    memory.require(
        n * sorting_bytes(coordinate_list.type), f"sorting {n} entries of a tensor of shape {coordinate_list.shape}"
    )
    permutation = memory.empty(n, np.dtype(np.int64))
    # Columns that are kept and not shifted are written in order by the sort itself.
    ordered = {
        k: memory.empty(n, column.dtype)
        for k, column, (low, _) in zip(order, columns, intervals, strict=True)
        if low == 0 and k in keep
    }
    lists = ffi.new("void *[]", [ffi.from_buffer(c) for c in columns])
    widths = ffi.new("int64_t[]", [c.itemsize for c in columns])
    dimensions = ffi.new("int64_t[]", [max(high - low, 1) for low, high in intervals])
    wanted = ffi.new("void *[]", [ffi.from_buffer(ordered[k]) if k in ordered else ffi.NULL for k in order])
    status = _sorter()(n, len(order), lists, widths, dimensions, ffi.from_buffer("int64_t[]", permutation), wanted)
    # A negative status says that the list was in order already: its arrays are taken over.
    if status > 0:
        fail(status, f"sorting {n} entries of a tensor of shape {coordinate_list.shape}")
    coords, vals = [coordinate_list.arrays[1 + k] for k in keep], coordinate_list.vals
    if status == 0:
        coords = [ordered[k] if k in ordered else _taken(coordinate_list.arrays[1 + k], permutation) for k in keep]
        vals = _taken(vals, permutation)
    type = sorted_type(coordinate_list.type, keep)
    return Storage(coordinate_list.shape, type, (coordinate_list.arrays[0], *coords), vals)


def sorted_type(type: TensorType, keep: tuple[int, ...]) -> TensorType:
    """Return the type of a sorted coordinate list."""
    pos, *crd = type.index_dtypes
    format = _sorted_format(type.format.remapping, keep)
    return tensor_type(type.dtype, format, (pos, *(crd[k] for k in keep)), type.fill)


def _taken(array: np.ndarray[Any, Any], places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the elements at the given indices.

    The elements are copied block by block, so that handlers of signals can run in between.
    """
    elements = memory.empty(len(places), array.dtype)
    for begin in range(0, len(places), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        np.take(array, places[block], out=elements[block], mode="clip")  # mode "raise" would copy the output
    return elements


@lru_cache(maxsize=1024)
def _sorted_format(old: Remapping, keep: tuple[int, ...]) -> Format:
    levels = (Compressed(unique=False), *(Singleton(unique=False) for _ in keep[1:]))
    return Format(Remapping(tuple(old.coordinates[k] for k in keep), old.order), levels)


@kept
def _sorter() -> Any:
    (library,) = loader.open_all([loader.support_function(SORTER)])
    signature = "int64_t(*)(int64_t, int64_t, void **, int64_t *, int64_t *, int64_t *, void **)"
    return ffi.cast(signature, library.address(SORTER))
