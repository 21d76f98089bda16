"""Conversion between formats, by the compiler: an assignment that copies.

A source that is traversed in the target's order is appended directly. From any other, entries are inserted where
queries have found their places (2020, section 6). Where that would leave them out of order, or several have one place,
they become a coordinate list: put one by one into hash tables that grow, or sorted by the target's order of levels and
appended or inserted from there, duplicates summed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..analysis.append_chains import is_appendable, is_unordered_list
from ..analysis.implicit_values import same_value
from ..assembly.hash_insertion import tables_of
from ..config import config
from ..dtypes import adds_alike
from ..errors import FormatError, IndexOverflowError, ResultTooLargeError, StorageError
from ..formats import Compressed, Dense, Format, Singleton, TensorType
from ..remapping import Remapping
from ..remapping.nodes import counters_of
from ..runtime import get_num_threads, memory
from ..scheduling.operand_conversions import coordinate_list_format
from ..storage import Storage, tensor_type
from ..storage.fitness import why_unfit
from .entry_lists import copier, count_entries, list_entries, sort_coordinate_list
from .hash_growth import empty_tables, inserted
from .insertion import InsertionKernel, insertion_kernel
from .kernel import Kernel
from .result_buffers import sorting_bytes

__all__ = ["convert", "convert_result", "count_entries", "in_dtype", "list_entries", "sort_coordinate_list"]


def convert(
    storage: Storage,
    format: Format,
    *,
    dtype: str | None = None,
    index_dtype: str | None = None,
    prune: bool = False,
    strict: bool = False,
) -> Storage:
    """The same tensor in another format.

    Parameters
    ----------
    storage : Storage
        Any tensor.
    format : Format
        Of the same order.
    dtype : str, optional
        Of the values.
    index_dtype : str, optional
        ``int32`` or ``int64``; chosen by size where not given.
    prune : bool
        Leave out entries equal to the fill value, where no dense level keeps them. Duplicates are compared one by one.
    strict : bool
        Raise where the format cannot hold the entries. Else the result has the format without what it asks of the data.

    Raises
    ------
    StorageError
        Names the level and two coordinates.
    """
    try:
        warm = _warm.get((id(storage.type), id(format))) if dtype is None and not prune else None
        if warm is not None and (warm[0].chunked or storage.vals.size < config.parallel_threshold):
            return warm[0].run((storage,))
        return _converted(storage, format, dtype or storage.type.dtype, index_dtype, prune, strict)
    except ResultTooLargeError as error:
        what = f"converting a tensor of shape {storage.shape} from {storage.format} to {format}"
        raise ResultTooLargeError(f"{error}; in {what}") from None


def _converted(
    storage: Storage, format: Format, dtype: str, index_dtype: str | None, prune: bool, strict: bool
) -> Storage:
    source = storage.type
    if not prune and (relabelled := _reuse_arrays(storage, format, dtype, index_dtype)):
        return relabelled
    if (reason := _why_unfit(storage, format, prune)) is not None:
        if strict:
            raise StorageError(reason)
        format = format.unconditional
    onto_others = format.is_dense and not same_value(source.fill, 0)
    if not source.format.is_unique and (onto_others or not adds_alike(storage.dtype, np.dtype(dtype))):
        # Duplicates can be summed in place onto zeros only, and in the dtype that they have.
        storage = convert(storage, source.format.canonical())
        source = storage.type
    index = index_dtype or _index_dtype(storage, format)
    target = tensor_type(dtype, format, (index,) * len(format.roles), source.fill)
    # A dense source holds mostly fill values, which a sparse result does not store.
    skip_fill = prune or (source.format.is_dense and not format.is_dense)
    if format.is_dense and dtype == source.dtype and not prune:
        found = _direct_step(source, target, skip_fill)
        if isinstance(found, Kernel):
            _warm[id(source), id(format)] = found, source, format
    return _convert(storage, target, skip_fill) if index_dtype else _widened(storage, target, skip_fill)


def in_dtype(storage: Storage, dtype: np.dtype[Any]) -> Storage:
    """The same entries in another dtype, on the same index arrays.

    Those that have one coordinate are summed first where a sum in the other dtype is another.
    """
    if not storage.format.is_unique and not adds_alike(storage.dtype, dtype):
        storage = convert(storage, storage.format.canonical())
    return storage.with_values(storage.vals.astype(dtype), storage.type.fill)


_warm: dict[tuple[int, int], tuple[Kernel, TensorType, Format]] = {}
"""What makes arrays, whose type follows from the source's, by identity; with what has it, to keep that alive."""


def _widened(storage: Storage, target: TensorType, skip_fill: bool) -> Storage:
    """A conversion, with wider index arrays where positions turn out not to fit."""
    try:
        return _convert(storage, target, skip_fill)
    except IndexOverflowError:
        wide = ("int64",) * len(target.index_dtypes)
        if target.index_dtypes == wide:
            raise
        return _convert(storage, tensor_type(target.dtype, target.format, wide, target.fill), skip_fill)


def _convert(storage: Storage, target: TensorType, skip_fill: bool) -> Storage:
    found = _direct_step(storage.type, target, skip_fill)
    shared = get_num_threads() > 1 and storage.vals.size >= config.parallel_threshold
    if shared and isinstance(found, Kernel) and not found.chunked:
        found = _for_threads(storage.type, target, skip_fill) or found
    if isinstance(found, Kernel):
        return _appended(found, storage, target, skip_fill)
    if not isinstance(found, str):
        return found.run(storage)
    for step in _DETOURS:
        if (result := step(storage, target, skip_fill)) is not None:
            return result
    plain = storage.plain_format
    if storage.format == plain:
        shape = storage.shape
        raise FormatError(f"a tensor of shape {shape} cannot be converted from {plain} to {target.format}: {found}")
    return _convert(_convert(storage, _over(plain, storage, target), skip_fill), target, False)


def _appended(kernel: Kernel, storage: Storage, target: TensorType, skip_fill: bool) -> Storage:
    """Return the entries appended by a kernel, in the order of their traversal."""
    format = target.format
    if skip_fill and kernel.chains and kernel.chains[-1].last + 1 < len(format.levels):
        # Which coordinates lead to entries is known only where all levels store theirs.
        stored = Format(format.remapping, (Compressed(),) * len(format.levels))
        return _convert(_convert(storage, _over(stored, storage, target), True), target, False)
    return kernel.run((storage,))


def _by_tables(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Return the entries put one by one into hash tables, which take what comes twice, too."""
    if tables_of(target.format) is None:
        return None
    return _inserted(_as_coordinate_list(storage, target, Remapping.identity(target.format.order), skip_fill), target)


def _by_list(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Return what the list of the coordinates converts to, where insertion makes that by copying rows."""
    format = target.format
    middle = _entry_list_format(format)
    if middle is None or middle == storage.format or format.is_curved:
        return None
    keeping = _direct_step(storage.type, _over(middle, storage, target), skip_fill)
    if isinstance(keeping, Kernel | str) or not keeping.copies:
        return None
    return _convert(keeping.run(storage), target, False)


def _by_rows(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Return what rows convert to, into which entries are inserted first, where there are more entries than rows."""
    source, format = storage.format, target.format
    rows = _rows_of(format)
    if rows is None or storage.vals.size < rows.level_shape(storage.shape)[0]:
        return None
    if format != rows:
        return _convert(_convert(storage, _over(rows, storage, target), skip_fill), target, False)
    apart = Format(rows.remapping, (Dense(), Compressed(ordered=False, unique=source.is_unique)))
    between = _over(apart, storage, target)
    if source == apart or not isinstance(_direct_step(between, target, False), Kernel):
        return None
    into = _insertion_kernel(storage.type, between, skip_fill)
    return None if isinstance(into, str) else _convert(into.run(storage), target, False)


def _by_sorting(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Return the entries appended once they are sorted."""
    if not is_appendable(target.format.uncurved()):
        return None
    return sort_and_append(
        _as_coordinate_list(storage, target, _coordinate_list_columns(target.format, storage.shape), skip_fill), target
    )


def _by_sorted_insertion(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Return the entries inserted once they are sorted, duplicates summed."""
    format = target.format
    middle = _entry_list_format(format)
    if middle is None:
        return None
    between = _over(middle, storage, target)
    into = _insertion_kernel(between, target, False, format.is_curved)
    if isinstance(into, str):
        return None
    coordinate_list = _as_coordinate_list(storage, target, _coordinate_list_columns(format, storage.shape), skip_fill)
    return into.run(_sorted_into(coordinate_list, between, format))


_DETOURS = (_by_tables, _by_list, _by_rows, _by_sorting, _by_sorted_insertion)
"""Ways of converting what cannot be appended or inserted at once, in the order in which they are tried."""


def _as_coordinate_list(storage: Storage, target: TensorType, remapping: Remapping, skip_fill: bool) -> Storage:
    """The entries as they come, with the coordinates that a remapping makes."""
    loose = coordinate_list_format(remapping)
    made = tensor_type(target.dtype, loose, ("int64",) * len(loose.roles), target.fill)
    if not skip_fill and storage.format.is_compact:  # its entries are what will be sorted
        each = sorting_bytes(made) + 8 * len(loose.levels) + storage.dtype.itemsize
        memory.require(storage.nnz * each, f"sorting {storage.nnz} entries")
    return copier(storage.type, made, skip_fill).run((storage,))


def _over(format: Format, storage: Storage, target: TensorType) -> TensorType:
    """What ``target`` holds, in another format on the way to it."""
    return tensor_type(target.dtype, format, (_index_dtype(storage, format),) * len(format.roles), target.fill)


@lru_cache(maxsize=1024)
def _entry_list_format(format: Format) -> Format | None:
    """A sorted list of the coordinates that a format's levels have; None where these count entries."""
    coordinates = format.remapping.coordinates
    if not coordinates or any(counters_of(c) for c in coordinates):
        return None
    n = len(coordinates)
    chain = (Compressed(unique=n == 1), *(Singleton(unique=k == n - 1) for k in range(1, n)))
    return Format(format.remapping, chain)


@lru_cache(maxsize=1024)
def _rows_of(format: Format) -> Format | None:
    """The rows of a matrix that is stored in their order: each is sorted on its own, once its entries are together."""
    plain = format.order == 2 == len(format.levels) and not format.is_structured and is_appendable(format)
    if not plain or format.is_dense or format != format.canonical():
        return None
    return Format(format.remapping, (Dense(), Compressed()))


def _inserted(coordinate_list: Storage, target: TensorType) -> Storage:
    return inserted(empty_tables(coordinate_list.shape, target), coordinate_list, True)


def _coordinate_list_columns(format: Format, shape: tuple[int, ...]) -> Remapping:
    """What is stored of each entry until it is sorted: what the levels are to have, and the codes of their curves."""
    if format.is_curved:
        codes = [e for e in format.sorted_by(shape) if e not in format.remapping.coordinates]
        return Remapping((*format.remapping.coordinates, *codes), format.order)
    return format.remapping if format.is_structured else Remapping.identity(format.order)


def sort_and_append(coordinate_list: Storage, target: TensorType) -> Storage:
    """Triples in any order, with duplicates, into a format that promises order."""
    format = target.format
    if tables_of(format) is not None:
        return _inserted(coordinate_list, target)
    have = coordinate_list.format.remapping
    if have != _coordinate_list_columns(format, coordinate_list.shape) or not is_appendable(format.uncurved()):
        plain = coordinate_list.plain_format
        middle = tensor_type(target.dtype, plain, coordinate_list.type.index_dtypes[:1] * len(plain.roles), target.fill)
        return _convert(sort_and_append(coordinate_list, middle), target, False)
    made = tensor_type(target.dtype, format.uncurved(), target.index_dtypes, target.fill)
    packed = _sorted_into(coordinate_list, made, format)
    return Storage(packed.shape, target, packed.arrays, packed.vals)


def _sorted_into(coordinate_list: Storage, target: TensorType, like: Format) -> Storage:
    """Triples, whose coordinates and codes are those of ``like``, in its order, appended."""
    have = coordinate_list.format.remapping.coordinates
    order = tuple(have.index(e) for e in like.sorted_by(coordinate_list.shape))
    ordered = sort_coordinate_list(coordinate_list, order, tuple(have.index(e) for e in like.remapping.coordinates))
    return copier(ordered.type, target, False).run((ordered,))


def convert_result(result: Storage, target: TensorType) -> Storage:
    """What a kernel made on the way to ``target``, as that."""
    if (reason := _why_unfit(result, target.format, False)) is not None:
        raise StorageError(reason)
    if is_unordered_list(result.format):
        return sort_and_append(result, target)
    return _widened(result, target, False)


def _why_unfit(storage: Storage, format: Format, prune: bool) -> str | None:
    """Return why a format cannot hold the entries of a tensor; those equal to the fill value aside if ``prune``."""
    if not format.conditions:
        return None
    entries = list_entries(storage)
    kept = slice(None)
    if prune or (storage.format.is_dense and not format.is_dense):
        fill = storage.type.fill
        kept = entries.vals != fill if fill == fill else ~np.isnan(entries.vals)
    reason = why_unfit(format, storage.shape, [crd[kept] for crd in entries.arrays[1:]])
    return None if reason is None else f"{reason}; a tensor of shape {storage.shape} does not fit the format {format}"


def _reuse_arrays(storage: Storage, format: Format, dtype: str, index_dtype: str | None) -> Storage | None:
    """The same arrays under another name, where they already are what is asked for."""
    source = storage.type
    if source.dtype != dtype:
        return None
    dtypes = source.index_dtypes
    how = "same" if source.format is format else _array_reuse(source.format, format)
    if how is None or (how != "looked up" and index_dtype is not None and any(d != index_dtype for d in dtypes)):
        return None
    if how == "same":
        return storage
    return Storage(storage.shape, tensor_type(dtype, format, dtypes, source.fill), storage.arrays, storage.vals)


@lru_cache(maxsize=4096)
def _array_reuse(source: Format, format: Format) -> Literal["same", "looked up", "other"] | None:
    """As what the arrays of a format are those of another: as itself, as its whole table, or with more promised."""
    if source.remapping != format.remapping:
        return None
    if format == source.looked_up:
        return "looked up"
    for have, want in zip(source.levels, format.levels, strict=True):
        promised = all(getattr(have, p) or not getattr(want, p) for p in ("ordered", "unique", "full"))
        if type(have) is not type(want) or not promised:
            return None
    return "same" if source == format else "other"


def _index_dtype(storage: Storage, format: Format) -> str:
    """The narrowest that holds every coordinate and position."""
    wide = max((*storage.shape, *format.level_shape(storage.shape), storage.vals.size), default=0) > 2**31 - 2
    return "int64" if wide else "int32"


@lru_cache(maxsize=4096)
def _direct_step(source: TensorType, target: TensorType, skip_fill: bool) -> Kernel | InsertionKernel | str:
    """What converts without anything between: by appending, else by insertion; or why nothing does."""
    if not target.format.is_structured and is_appendable(target.format):
        sharing = _insertion_kernel(source, target, skip_fill)
        if not isinstance(sharing, str) and sharing.shares:
            return sharing
        kernel = copier(source, target, skip_fill)
        if kernel.lowered.schedule.final_format is None:
            # One loop over a coordinate list need not find where a row ends: rows are counted, and the rest is copied.
            listed = bool(source.format.levels) and not source.format.levels[0].unique
            found = _for_threads(source, target, skip_fill) if listed else None
            return found if found is not None and found.copies else kernel
    return _insertion_kernel(source, target, skip_fill)


@lru_cache(maxsize=4096)
def _for_threads(source: TensorType, target: TensorType, skip_fill: bool) -> InsertionKernel | None:
    """What converts by insertion, where threads can share that."""
    found = _insertion_kernel(source, target, skip_fill)
    return found if not isinstance(found, str) and found.shareable else None


def _insertion_kernel(
    source: TensorType, target: TensorType, skip_fill: bool, curved: bool = False
) -> InsertionKernel | str:
    return insertion_kernel(source, target, skip_fill, curved)
