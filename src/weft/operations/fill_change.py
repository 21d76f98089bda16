"""The same elements beside another fill value, for what joins tensors whose fill values differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import execution
from ..config import config
from ..errors import DensifyError
from ..formats import Format
from ..storage import Storage, fill_of, tensor_type

__all__ = ["change_fill", "relabel_fill", "require_dense", "same_fill", "same_number"]


def same_fill(a: Any, b: Any) -> bool:
    """Whether two fill values are one, bit by bit as in pydata/sparse: NaN is NaN, and -0.0 is not 0.0."""
    return bool(np.asarray(a).tobytes() == np.asarray(b).tobytes()) or bool(a != a and b != b)


def same_number(a: Any, b: Any) -> bool:
    """Whether two fill values are one but for the sign of a zero: that of ``-A`` is -0.0, and may stand for 0."""
    return bool(a == b) or same_fill(a, b)


def relabel_fill(storage: Storage, fill: Any) -> Storage:
    """The same arrays, said to have another fill value: other elements where nothing is stored."""
    old = storage.type
    found = tensor_type(old.dtype, old.format, old.index_dtypes, fill_of(storage.dtype, fill))
    return Storage(storage.shape, found, storage.arrays, storage.vals)


def change_fill(storage: Storage, fill: Any) -> Storage:
    """The same elements with another fill value: every absent element is stored, and those of the new value are not.

    Zeros of either sign are one value here, so that ``vstack([A, -A])`` stores what the two do.

    Raises
    ------
    DensifyError
        When there are more elements than ``weft.config.max_densify_bytes`` holds.
    """
    own, wanted = storage.dtype.type(storage.type.fill), storage.dtype.type(fill)
    if storage.format.is_dense or same_number(own, wanted):
        return relabel_fill(storage, fill)
    require_dense(storage.shape, storage.dtype, f"elements of {own}, which the fill value {wanted} would not be,")
    whole = execution.convert(storage, Format.dense(len(storage.shape)))
    return execution.convert(relabel_fill(whole, fill), storage.format)


def require_dense(shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> None:
    """Refuse to make every element of a large tensor behind the user's back."""
    needed = math.prod(shape) * dtype.itemsize
    if needed > config.max_densify_bytes:
        raise DensifyError(
            f"{what} take {needed} bytes for shape {shape}, more than weft.config.max_densify_bytes, "
            f"{config.max_densify_bytes}; call todense() if you mean that, or raise the limit"
        )
