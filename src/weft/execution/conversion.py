"""Conversion between formats, by the compiler: an assignment that copies.

Types and a few facts about the data decide how a tensor is converted (``execution/conversion_plan.py``). This module
finds these facts, checks what only the entries can tell, and runs the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config import config
from ..doors import Door
from ..dtypes import adds_alike
from ..errors import DeviceError, IndexOverflowError, ResultTooLargeError, StorageError
from ..formats import Format, TensorType
from ..index_notation.nodes import Access, Assignment
from ..records import record
from ..runtime.devices import in_use
from ..storage import Storage, tensor_type
from ..storage.fitness import why_unfit
from . import kept_conversions
from .conversion_request import (
    Conversion,
    DataFacts,
    leaves_out_fill,
    plan_conversion,
    plan_format,
)
from .device_assembly import variant_for
from .entry_lists import list_entries
from .plan_cache import plans
from .steps import Append, Insert, ReuseArrays, Step

if TYPE_CHECKING:
    from . import evaluation
else:
    evaluation = Door("weft.execution.evaluation")


def convert(
    storage: Storage,
    format: Format,
    *,
    dtype: str | None = None,
    index_dtype: str | None = None,
    prune: bool = False,
    strict: bool = False,
    keep_padding: bool = False,
) -> Storage:
    """Convert a tensor to another format."""
    if in_use and storage.is_on_device:
        return _on_device(storage, format, dtype or index_dtype or prune)
    try:
        plain = dtype is index_dtype is None and not (prune or keep_padding)
        # For types that were converted before, and alone decide the plan, the checks below need not be repeated.
        warm = plans.find(("conversion", storage.type.number, format.number)) if plain else None
        if warm is not None:
            run, suits = warm
            if suits is False:
                suits = storage.vals.size < config.parallel_threshold
            if suits is True or suits == DataFacts.of(format, storage.shape, storage.vals.size):
                return run((storage,))  # type: ignore[no-any-return]
        conversion = plan_of(
            storage, format, dtype=dtype, index_dtype=index_dtype, prune=prune, strict=strict, keep_padding=keep_padding
        )
        if plain:
            _remember(conversion, format)
        return conversion.plan.run((storage,)) if index_dtype else _widened(conversion, storage)
    except ResultTooLargeError as error:
        what = f"converting a tensor of shape {storage.shape} from {storage.format} to {format}"
        raise ResultTooLargeError(f"{error}; in {what}") from None


def _on_device(storage: Storage, format: Format, changes: Any) -> Storage:
    """Return a tensor on a device as it is, if that is the format which is asked for."""
    if storage.format == format and not changes:
        return storage
    raise DeviceError(
        f"a conversion from {storage.format} to {format} does not run on {storage.device} yet; A.to_device('cpu') "
        "copies the tensor"
    )


def plan_of(
    storage: Storage,
    format: Format,
    *,
    dtype: str | None = None,
    index_dtype: str | None = None,
    prune: bool = False,
    strict: bool = False,
    keep_padding: bool = False,
) -> Conversion:
    """Return the way in which :func:`convert` converts."""
    source = storage.type
    prune = prune or (leaves_out_fill(source.format, format) and (source.format.is_dense or not keep_padding))
    facts = DataFacts.of(format, storage.shape, storage.vals.size)
    conversion = plan_format(source, format, facts, dtype or source.dtype, index_dtype, prune)
    if not format.conditions or isinstance(conversion.steps[0], ReuseArrays):
        return conversion
    if (reason := _why_unfit(storage, format, prune)) is None:
        return conversion
    if strict:
        raise StorageError(reason)
    return plan_of(storage, format.unconditional, dtype=dtype, index_dtype=index_dtype, prune=prune)


def _widened(conversion: Conversion, storage: Storage) -> Storage:
    """Convert a tensor, once more with int64 index arrays if positions do not fit narrower ones."""
    try:
        return conversion.plan.run((storage,))
    except IndexOverflowError:
        target = conversion.target
        wide = ("int64",) * len(target.index_dtypes)
        if target.index_dtypes == wide:
            raise
        widened = tensor_type(target.dtype, target.format, wide, target.fill)
        return plan_conversion(conversion.source, widened, conversion.facts).plan.run((storage,))


def _remember(conversion: Conversion, format: Format) -> None:
    """Keep a plan of one step with the data that it suits: any, few entries (False), or those of equal facts."""
    steps = conversion.plan.steps
    suits: bool | DataFacts | None = None
    match steps[0]:
        case ReuseArrays() if conversion.target.format == format:
            suits = True
        case Append() as step if format.is_dense:
            suits = step.kernel.chunked
        case Insert() as step if not format.conditions and step.copies_entries:
            suits = conversion.facts
    if suits is not None and len(steps) == 1:
        plans.keep(("conversion", conversion.source.type.number, format.number), (conversion.plan.run, suits))


def in_dtype(storage: Storage, dtype: np.dtype[Any]) -> Storage:
    """Return a tensor with the same entries in another dtype, on the same index arrays.

    Duplicates are summed first if their sum in the other dtype would differ.
    """
    if storage.is_on_device:
        return storage if storage.dtype == dtype else _in_dtype_on_device(storage, dtype)
    if not storage.format.is_unique and not adds_alike(storage.dtype, dtype):
        storage = convert(storage, storage.format.canonical())
    return storage.with_values(storage.vals.astype(dtype), storage.type.fill)


def _in_dtype_on_device(storage: Storage, dtype: np.dtype[Any]) -> Storage:
    """Return a tensor on a device in another dtype: a kernel copies its values."""
    if not storage.format.is_unique and not adds_alike(storage.dtype, dtype):
        convert(storage, storage.format.canonical())  # raises
    vector = tensor_type(storage.type.dtype, Format.dense(1))
    copy, variant = Assignment(Access("C", ("i",)), Access("A", ("i",))), variant_for((storage,))
    plan = evaluation.plan_for(copy, (vector,), format=vector.format, dtype=dtype.name, variant=variant)
    values = plan.run((Storage(storage.vals.shape, vector, (), storage.vals),)).vals
    return storage.with_values(values, storage.type.fill)


def converted_type(source: TensorType, format: Format) -> TensorType:
    """Return the type of an operand in another format, with index arrays as wide as it has."""
    return tensor_type(source.dtype, format, (_index(source),) * len(format.roles), source.fill)


def _index(type: TensorType) -> str:
    return "int64" if "int64" in type.index_dtypes else "int32"


@record
class Convert(Step):
    """A step that converts an operand.

    Sizes, entries and threads decide how, so that the plan of the conversion is found when the step runs.
    """

    kind = "convert"

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        (storage,) = storages
        return kept_conversions.converted(storage, self.makes.format, self._convert)

    def _convert(self, storage: Storage) -> Storage:
        return convert(storage, self.makes.format, index_dtype=_index(storage.type), keep_padding=True)


@record
class Copy(Convert):
    """A step that copies an operand, with its axes in another order, as a conversion does; values are not shared."""

    axes: tuple[int, ...]  # for each axis of the result the one of the operand
    kind = "copy"

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        (storage,) = storages
        copy = convert(self._permuted(storage), self.makes.format, strict=True)
        is_shared = copy.vals is storage.vals or (
            not storage.is_on_device and np.may_share_memory(copy.vals, storage.vals)
        )
        return copy.with_values(copy.vals.copy(), copy.type.fill) if is_shared else copy

    def conversion(self, storage: Storage) -> Conversion:
        """Return the way in which an operand is copied."""
        return plan_of(self._permuted(storage), self.makes.format, strict=True)

    def _permuted(self, storage: Storage) -> Storage:
        return storage if self.axes == (*range(len(self.axes)),) else storage.permuted(self.axes)


@record
class ConvertResult(Convert):
    """A step that converts the result of a kernel to the format that is planned for it."""

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        (result,) = storages
        wanted = self.makes
        if result.type == wanted:
            return result
        to = partial(convert, result, wanted.format, dtype=wanted.dtype, strict=True, keep_padding=True)
        try:
            return to(index_dtype=_index(wanted))
        except IndexOverflowError:
            return to(index_dtype="int64")


def _why_unfit(storage: Storage, format: Format, prune: bool) -> str | None:
    """Return the reason why a format cannot hold the entries of a tensor; None if it can hold them.

    Entries equal to the fill value are not considered if ``prune`` is true.
    """
    if not format.conditions:
        return None
    entries = list_entries(storage)
    stored = slice(None)
    if prune:
        fill = storage.type.fill
        stored = entries.vals != fill if fill == fill else ~np.isnan(entries.vals)  # NaN is not equal to itself
    reason = why_unfit(format, storage.shape, [crd[stored] for crd in entries.arrays[1:]])
    return None if reason is None else f"{reason}; a tensor of shape {storage.shape} does not fit the format {format}"
