"""Conversion between formats, by the compiler: an assignment that copies.

A source that is traversed in the order of the target is appended directly. Entries of any other source are inserted
at positions that attribute queries have computed (2020, section 6). Insertion is not possible if it would leave the
entries out of order, or if several entries have one position. Such entries become a coordinate list. The list is
inserted entry by entry into hash tables that grow, or it is sorted by the levels of the target and then appended or
inserted. Duplicates are summed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..analysis.append_chains import is_appendable, is_unordered_list
from ..analysis.implicit_values import same_value
from ..assembly.hash_insertion import tables_of
from ..code_options import CodeOptions
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
from .plan_cache import kept
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
    """Convert a tensor to another format.

    Parameters
    ----------
    storage : Storage
        Any tensor.
    format : Format
        Format of the result, for tensors of the same order.
    dtype : str, optional
        Dtype of the values of the result; that of ``storage`` by default.
    index_dtype : str, optional
        Dtype of the index arrays, ``int32`` or ``int64``; chosen by size by default.
    prune : bool
        If true, leave out entries equal to the fill value, unless a dense level stores them. Each duplicate is compared
        on its own.
    strict : bool
        If true, raise if the format cannot hold the entries. Otherwise such a result gets the format without its
        conditions on the data (``Format.unconditional``).

    Returns
    -------
    Storage
        The converted tensor. Arrays may be those of ``storage``.

    Raises
    ------
    StorageError
        The format cannot hold the entries, and ``strict`` is true. The message names the level and two coordinates.
    ResultTooLargeError
        The result, or a step on the way to it, does not fit in memory.
    """
    try:
        # The types decide everything about a conversion to a dense format: the checks below need not be repeated.
        warm = _warm.get((id(storage.type), id(format), config.code)) if dtype is None and not prune else None
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
    # The arrays may already be those of the other format: nothing is copied then.
    if not prune and (relabelled := _reuse_arrays(storage, format, dtype, index_dtype)):
        return relabelled
    if (reason := _why_unfit(storage, format, prune)) is not None:
        if strict:
            raise StorageError(reason)
        format = format.unconditional
    # A dense result starts as fill values; several entries of one coordinate are added to these.
    onto_others = format.is_dense and not same_value(source.fill, 0)
    if not source.format.is_unique and (onto_others or not adds_alike(storage.dtype, np.dtype(dtype))):
        # Duplicates can be summed in place onto zeros only, and in the dtype that they have.
        storage = convert(storage, source.format.canonical())
        source = storage.type
    # Index arrays are as narrow as they can be, unless the caller names a dtype.
    index = index_dtype or _index_dtype(storage, format)
    target = tensor_type(dtype, format, (index,) * len(format.roles), source.fill)
    # A dense source holds mostly fill values, which a sparse result does not store.
    skip_fill = prune or (source.format.is_dense and not format.is_dense)
    if format.is_dense and dtype == source.dtype and not prune:
        found = _direct_step(source, target, skip_fill)
        if isinstance(found, Kernel):
            _warm[id(source), id(format), config.code] = found, source, format
    return _convert(storage, target, skip_fill) if index_dtype else _widened(storage, target, skip_fill)


def in_dtype(storage: Storage, dtype: np.dtype[Any]) -> Storage:
    """Return a tensor with the same entries in another dtype, on the same index arrays.

    Duplicates are summed first if their sum in the other dtype would differ.

    Parameters
    ----------
    storage : Storage
        Any tensor.
    dtype : dtype
        Dtype of the values of the result.

    Returns
    -------
    Storage
        The tensor with converted values.
    """
    if not storage.format.is_unique and not adds_alike(storage.dtype, dtype):
        storage = convert(storage, storage.format.canonical())
    return storage.with_values(storage.vals.astype(dtype), storage.type.fill)


_warm: dict[tuple[int, int, CodeOptions], tuple[Kernel, TensorType, Format]] = {}
"""Kernels of conversions to dense formats, by the identities of source type and target format.

Each entry holds the type and the format, too, so that neither identity is given to another object.
"""


def _widened(storage: Storage, target: TensorType, skip_fill: bool) -> Storage:
    """Convert a tensor, once more with int64 index arrays if positions do not fit narrower ones."""
    try:
        return _convert(storage, target, skip_fill)
    except IndexOverflowError:
        wide = ("int64",) * len(target.index_dtypes)
        if target.index_dtypes == wide:
            raise
        return _convert(storage, tensor_type(target.dtype, target.format, wide, target.fill), skip_fill)


def _convert(storage: Storage, target: TensorType, skip_fill: bool) -> Storage:
    found = _direct_step(storage.type, target, skip_fill)
    # A kernel that cannot be shared by threads is replaced by an insertion that can, if there is enough work.
    shared = get_num_threads() > 1 and storage.vals.size >= config.parallel_threshold
    if shared and isinstance(found, Kernel) and not found.chunked:
        found = _for_threads(storage.type, target, skip_fill) or found
    if isinstance(found, Kernel):
        return _appended(found, storage, target, skip_fill)
    if not isinstance(found, str):
        return found.run(storage)
    # There is no direct step: the entries take another form on the way.
    for step in _DETOURS:
        if (result := step(storage, target, skip_fill)) is not None:
            return result
    # Last of all, the plain format of dense and compressed levels is the intermediate form.
    plain = storage.plain_format
    if storage.format == plain:
        shape = storage.shape
        raise FormatError(f"a tensor of shape {shape} cannot be converted from {plain} to {target.format}: {found}")
    return _convert(_convert(storage, _over(plain, storage, target), skip_fill), target, False)


def _appended(kernel: Kernel, storage: Storage, target: TensorType, skip_fill: bool) -> Storage:
    """Return the entries appended by a kernel, in the order of their traversal."""
    format = target.format
    if skip_fill and kernel.chains and kernel.chains[-1].last + 1 < len(format.levels):
        # Levels below the appended ones store every coordinate of their parents, fill values among them. Only in a
        # format whose levels are all compressed is it known which coordinates lead to entries.
        stored = Format(format.remapping, (Compressed(),) * len(format.levels))
        return _convert(_convert(storage, _over(stored, storage, target), True), target, False)
    return kernel.run((storage,))


def _by_tables(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Return the entries inserted one by one into hash tables, which sum duplicates; None for other formats."""
    if tables_of(target.format) is None:
        return None
    return _inserted(_as_coordinate_list(storage, target, Remapping.identity(target.format.order), skip_fill), target)


def _by_list(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Convert by way of a sorted coordinate list that an insertion makes by copying; None if there is no such list."""
    format = target.format
    middle = _entry_list_format(format)
    if middle is None or middle == storage.format or format.is_curved:
        return None
    keeping = _direct_step(storage.type, _over(middle, storage, target), skip_fill)
    if isinstance(keeping, Kernel | str) or not keeping.copies:
        return None
    return _convert(keeping.run(storage), target, False)


def _by_rows(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Convert a matrix by way of its rows, each sorted on its own; None if that is not possible, or too slow.

    Entries are inserted into unsorted rows first. Rows pay only if there are at least as many entries as rows.
    """
    source, format = storage.format, target.format
    rows = _rows_of(format)
    # Each row costs something even if it is empty, so that a sort is faster for a few entries in many rows.
    wanted = config.code.enabled("row-sort")
    if not wanted or rows is None or storage.vals.size < rows.level_shape(storage.shape)[0]:
        return None
    if format != rows:
        return _convert(_convert(storage, _over(rows, storage, target), skip_fill), target, False)
    # Insert the entries into rows in the order in which they come, then sort each row by appending.
    apart = Format(rows.remapping, (Dense(), Compressed(ordered=False, unique=source.is_unique)))
    between = _over(apart, storage, target)
    if source == apart or not isinstance(_direct_step(between, target, False), Kernel):
        return None
    into = _insertion_kernel(storage.type, between, skip_fill)
    return None if isinstance(into, str) else _convert(into.run(storage), target, False)


def _by_sorting(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Return the entries sorted and appended, duplicates summed; None if the format cannot be appended."""
    if not is_appendable(target.format.uncurved()):
        return None
    return sort_and_append(
        _as_coordinate_list(storage, target, _coordinate_list_columns(target.format, storage.shape), skip_fill), target
    )


def _by_sorted_insertion(storage: Storage, target: TensorType, skip_fill: bool) -> Storage | None:
    """Return the entries sorted, duplicates summed, and then inserted; None if the format does not allow insertion."""
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
"""Conversions by way of an intermediate form, in the order in which they are tried."""


def _as_coordinate_list(storage: Storage, target: TensorType, remapping: Remapping, skip_fill: bool) -> Storage:
    """Return the entries as an unsorted coordinate list, with the coordinates that a remapping computes."""
    loose = coordinate_list_format(remapping)
    made = tensor_type(target.dtype, loose, ("int64",) * len(loose.roles), target.fill)
    # A compact source stores nothing but entries, so that the size of the sort is known before the list is made.
    if not skip_fill and storage.format.is_compact:
        each = sorting_bytes(made) + 8 * len(loose.levels) + storage.dtype.itemsize
        memory.require(storage.nnz * each, f"sorting {storage.nnz} entries")
    return copier(storage.type, made, skip_fill).run((storage,))


def _over(format: Format, storage: Storage, target: TensorType) -> TensorType:
    """Return the type of an intermediate form: that of ``target``, but for the format and the index dtypes."""
    return tensor_type(target.dtype, format, (_index_dtype(storage, format),) * len(format.roles), target.fill)


@lru_cache(maxsize=1024)
def _entry_list_format(format: Format) -> Format | None:
    """Return the format of a sorted list of a format's level coordinates; None if it has none, or one is a counter."""
    coordinates = format.remapping.coordinates
    if not coordinates or any(counters_of(c) for c in coordinates):
        return None
    n = len(coordinates)
    # Only the last level is unique: no two tuples are equal, but their first coordinates may be.
    chain = (Compressed(unique=n == 1), *(Singleton(unique=k == n - 1) for k in range(1, n)))
    return Format(format.remapping, chain)


@lru_cache(maxsize=1024)
def _rows_of(format: Format) -> Format | None:
    """Return the format of the rows of a matrix that is stored row by row; None for other formats.

    Each row is sorted on its own, once its entries are together. A format by columns is treated in the same way.
    """
    plain = format.order == 2 == len(format.levels) and not format.is_structured and is_appendable(format)
    if not plain or format.is_dense or format != format.canonical():
        return None
    return Format(format.remapping, (Dense(), Compressed()))


def _inserted(coordinate_list: Storage, target: TensorType) -> Storage:
    return inserted(empty_tables(coordinate_list.shape, target), coordinate_list, True)


def _coordinate_list_columns(format: Format, shape: tuple[int, ...]) -> Remapping:
    """Return the coordinates of the list that a format is sorted from: those of its levels, and codes of its curves."""
    if format.is_curved:
        codes = [e for e in format.sorted_by(shape) if e not in format.remapping.coordinates]
        return Remapping((*format.remapping.coordinates, *codes), format.order)
    return format.remapping if format.is_structured else Remapping.identity(format.order)


def sort_and_append(coordinate_list: Storage, target: TensorType) -> Storage:
    """Sort a coordinate list, which may have duplicates, and append it to a format that is ordered and unique.

    Hash tables take the list unsorted. A list of other coordinates than the format needs is converted to the plain
    format first.

    Parameters
    ----------
    coordinate_list : Storage
        Entries in any order.
    target : TensorType
        Type of the result.

    Returns
    -------
    Storage
        The tensor with duplicates summed.
    """
    format = target.format
    if tables_of(format) is not None:
        return _inserted(coordinate_list, target)
    have = coordinate_list.format.remapping
    if have != _coordinate_list_columns(format, coordinate_list.shape) or not is_appendable(format.uncurved()):
        plain = coordinate_list.plain_format
        middle = tensor_type(target.dtype, plain, coordinate_list.type.index_dtypes[:1] * len(plain.roles), target.fill)
        return _convert(sort_and_append(coordinate_list, middle), target, False)
    # The arrays of a curved format are those of the uncurved one: only the order of the entries differs.
    made = tensor_type(target.dtype, format.uncurved(), target.index_dtypes, target.fill)
    packed = _sorted_into(coordinate_list, made, format)
    return Storage(packed.shape, target, packed.arrays, packed.vals)


def _sorted_into(coordinate_list: Storage, target: TensorType, like: Format) -> Storage:
    """Sort a coordinate list by the levels, or the curves, of the format ``like``, and append it to ``target``.

    The list has the coordinates and codes of ``like``.
    """
    have = coordinate_list.format.remapping.coordinates
    order = tuple(have.index(e) for e in like.sorted_by(coordinate_list.shape))
    ordered = sort_coordinate_list(coordinate_list, order, tuple(have.index(e) for e in like.remapping.coordinates))
    return copier(ordered.type, target, False).run((ordered,))


def convert_result(result: Storage, target: TensorType) -> Storage:
    """Convert the result of a kernel to the format that was planned for it.

    Parameters
    ----------
    result : Storage
        The result of the kernel, in the format in which its loops assemble it.
    target : TensorType
        Type of the final result.

    Returns
    -------
    Storage
        The final result.

    Raises
    ------
    StorageError
        The format of ``target`` cannot hold the entries.
    """
    if (reason := _why_unfit(result, target.format, False)) is not None:
        raise StorageError(reason)
    if is_unordered_list(result.format):
        return sort_and_append(result, target)
    return _widened(result, target, False)


def _why_unfit(storage: Storage, format: Format, prune: bool) -> str | None:
    """Return the reason why a format cannot hold the entries of a tensor; None if it can hold them.

    Entries equal to the fill value are not considered if ``prune`` is true, or if the conversion leaves them out.
    """
    if not format.conditions:
        return None
    entries = list_entries(storage)
    kept = slice(None)
    if prune or (storage.format.is_dense and not format.is_dense):
        fill = storage.type.fill
        kept = entries.vals != fill if fill == fill else ~np.isnan(entries.vals)  # NaN is not equal to itself
    reason = why_unfit(format, storage.shape, [crd[kept] for crd in entries.arrays[1:]])
    return None if reason is None else f"{reason}; a tensor of shape {storage.shape} does not fit the format {format}"


def _reuse_arrays(storage: Storage, format: Format, dtype: str, index_dtype: str | None) -> Storage | None:
    """Return a tensor of the other format on the same arrays; None if that format needs other arrays."""
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
    """Return how a format can take over the arrays of another; None if the format needs other arrays.

    The answer is ``"same"`` for an equal format, ``"looked up"`` for the format that locates whole coordinates of the
    same arrays, and ``"other"`` for a format of the same levels that guarantees no more.
    """
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
    """Return the narrowest index dtype that holds every coordinate and position."""
    wide = max((*storage.shape, *format.level_shape(storage.shape), storage.vals.size), default=0) > 2**31 - 2
    return "int64" if wide else "int32"


@kept
def _direct_step(source: TensorType, target: TensorType, skip_fill: bool) -> Kernel | InsertionKernel | str:
    """Return the kernel that converts in one step, by appending or else by insertion; or the reason why none does."""
    if not target.format.is_structured and is_appendable(target.format):
        # An insertion that takes over arrays of the source writes less than any append.
        sharing = _insertion_kernel(source, target, skip_fill)
        if not isinstance(sharing, str) and sharing.shares:
            return sharing
        kernel = copier(source, target, skip_fill)
        if kernel.lowered.schedule.final_format is None:
            # One loop over a coordinate list need not look for the ends of rows: rows are counted, the rest is copied.
            listed = bool(source.format.levels) and not source.format.levels[0].unique
            found = _for_threads(source, target, skip_fill) if listed else None
            return found if found is not None and found.copies else kernel
    return _insertion_kernel(source, target, skip_fill)


@kept
def _for_threads(source: TensorType, target: TensorType, skip_fill: bool) -> InsertionKernel | None:
    """Return the insertion kernel of a conversion if threads can share its passes, else None."""
    found = _insertion_kernel(source, target, skip_fill)
    return found if not isinstance(found, str) and found.shareable else None


def _insertion_kernel(
    source: TensorType, target: TensorType, skip_fill: bool, curved: bool = False
) -> InsertionKernel | str:
    return insertion_kernel(source, target, skip_fill, curved)
