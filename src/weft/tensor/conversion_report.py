"""Reports on conversions between formats, for ``weft.explain(A.asformat, "dia")``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import checked_index_dtype
from ..errors import DeviceError
from ..formats import Format, FormatLike, FormatOptions
from ..index_notation.nodes import Access, Assignment
from ..operations.operands import storage_anywhere, storage_of
from ..storage import Storage
from .compiled_kernel import stage_texts, titled
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from ..execution.conversion_request import Conversion

METHODS = (
    "asformat", "change_compressed_axes", "tobsr", "tocoo", "tocsc", "tocsr", "todense", "todia", "todok", "tolil",
)  # fmt: skip
"""Methods of tensors that end in ``asformat``, or convert to a dense format."""


class PlannedTensor(SparseTensor):
    """A tensor that plans a conversion where others do it: methods such as ``tocsr`` end in ``asformat``."""

    __slots__ = ("conversion", "wanted")

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.conversion: Conversion | None = None
        self.wanted: Format | None = None

    def asformat(
        self,
        format: FormatLike | None,
        copy: bool = False,
        *,
        index_dtype: DTypeLike | None = None,
        sort: bool = True,
        **options: Unpack[FormatOptions],
    ) -> SparseTensor:
        """Plan the conversion that this method makes of other tensors, and return the tensor as it is."""
        index = None if index_dtype is None else checked_index_dtype(index_dtype).name
        self.wanted = self._requested(format, sort, options)
        if not storage_anywhere(self).is_on_device:
            self.conversion = execution.plan_of(storage_of(self), self.wanted, strict=True, index_dtype=index)
        return self

    def todense(self, order: Any = None, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """Plan the conversion that this method makes of other tensors; the array has no elements of the tensor."""
        self.asformat("dense_f" if order == "F" and self.ndim else "dense")
        return np.empty(0) if out is None else out


def converts(function: Any) -> bool:
    """Return whether a function is a method of a tensor that converts it."""
    return (
        isinstance(function, MethodType)
        and isinstance(function.__self__, SparseTensor)
        and function.__name__ in METHODS
    )


def explain_conversion(
    method: MethodType, arguments: Sequence[Any], named: Mapping[str, Any], stages: bool | str | Iterable[str]
) -> str:
    """Report how a method of a tensor converts it to another format."""
    tensor: SparseTensor = method.__self__  # type: ignore[assignment]
    storage = storage_anywhere(tensor)
    planned = PlannedTensor(storage)
    getattr(planned, method.__name__)(*arguments, **named)
    if planned.conversion is None:
        return _on_device(storage, planned.wanted)
    return conversion_text(planned.conversion, stages)


def conversion_text(conversion: Conversion, stages: bool | str | Iterable[str]) -> str:
    """Report a conversion, or stages of it."""
    report = execution.ConversionReport(conversion)
    return titled(stage_texts(report, stages)) if stages else report.text


def _on_device(storage: Storage, wanted: Format | None) -> str:
    """Report how a tensor on a device is copied to a dense format, or why it is not converted."""
    axes = tuple(f"i{axis}" for axis in range(len(storage.shape)))
    assert wanted is not None
    target = f"{storage.format} {storage.type.dtype} is converted to {wanted} {storage.type.dtype} on {storage.device}"
    try:
        if not wanted.is_dense:
            execution.convert(storage, wanted)
            return f"{target}: it has this format"
        copy, variant = Assignment(Access("C", axes), Access("A", axes)), execution.variant_for((storage,))
        plan = execution.plan_for(copy, (storage.type,), format=wanted, variant=variant)
    except DeviceError as error:
        return f"{target}\n{execution.refused_line(error)}"
    return f"{target}\n{execution.PlanReport(plan, (storage,)).summary()}"
