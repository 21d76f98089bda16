"""Changes of the fill value, for operations that join tensors with different fill values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import execution
from ..config import config
from ..dtypes import VALUE_DTYPES, as_values
from ..errors import DensifyError, DTypeError
from ..formats import Format
from ..storage import Storage, fill_of, tensor_type
from . import foreign_tensors
from .operands import StorageHolder, is_scalar, storage_of


def same_fill(a: Any, b: Any) -> bool:
    """Return whether two fill values are equal bit by bit, as in pydata/sparse.

    NaN equals NaN, and -0.0 differs from 0.0.
    """
    return bool(np.asarray(a).tobytes() == np.asarray(b).tobytes()) or bool(a != a and b != b)


def same_number(a: Any, b: Any) -> bool:
    """Return whether two fill values are equal, apart from the sign of a zero.

    The fill value of ``-A`` is -0.0, which may serve as 0.
    """
    return bool(a == b) or same_fill(a, b)


def relabel_fill(storage: Storage, fill: Any) -> Storage:
    """Return the same arrays with another fill value, which changes the value of all implicit entries."""
    old = storage.type
    found = tensor_type(old.dtype, old.format, old.index_dtypes, fill_of(storage.dtype, fill))
    return Storage(storage.shape, found, storage.arrays, storage.vals)


def other_fill(storage: Storage, fill: Any) -> Storage:
    """Return the same entries with another fill value, which elements between the entries get, too."""
    if not is_scalar(fill):
        raise DTypeError(f"a fill value is a number, not {fill!r} of type {type(fill).__name__}")
    try:
        value = as_values(fill, storage.dtype)[()]
        if storage.dtype.kind in "iub" and value != fill:  # a fraction
            raise ValueError
    except (OverflowError, ValueError, TypeError):
        whole = isinstance(fill, int | np.integer)
        wider = np.result_type(storage.dtype, np.min_scalar_type(fill) if whole else fill)
        ways = f"; write A.astype({wider.name!r}).with_fill({fill!r})" if wider.name in VALUE_DTYPES else ""
        raise DTypeError(f"{storage.dtype} does not hold the fill value {fill!r}{ways}") from None
    old, format = storage.type.fill, storage.format
    if not format.levels or (format.is_compact and "crd" in format.levels[-1].roles):
        return relabel_fill(storage, value)
    absent = storage.vals == old if old == old else storage.vals != storage.vals
    return storage.with_values(np.where(absent, value, storage.vals), value)


def change_fill(storage: Storage, fill: Any) -> Storage:
    """Return the same elements with another fill value.

    All implicit entries are stored, and entries equal to the new fill value become implicit. Zeros of either sign count
    as one value, so that ``vstack([A, -A])`` stores only the entries of both.
    """
    old_fill, new_fill = storage.dtype.type(storage.type.fill), storage.dtype.type(fill)
    if storage.format.is_dense or same_number(old_fill, new_fill):
        return relabel_fill(storage, fill)
    require_dense(
        storage.shape, storage.dtype, f"elements of {old_fill}, which the fill value {new_fill} would not be,"
    )
    whole = execution.convert(storage, Format.dense(len(storage.shape)))
    return execution.convert(relabel_fill(whole, fill), storage.format)


def require_dense(shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> None:
    """Raise an error if a tensor is too large to have all its elements stored without the user's consent."""
    needed = math.prod(shape) * dtype.itemsize
    if needed > config.max_densify_bytes:
        raise DensifyError(
            f"{what} take {needed} bytes for shape {shape}, more than weft.config.max_densify_bytes, "
            f"{config.max_densify_bytes}; call todense() if you mean that, or raise the limit"
        )


def as_array(x: Any) -> Any:
    """Return an argument for a function of NumPy, with ndarrays in place of tensors, also of those in lists."""
    if isinstance(x, (list, tuple)):
        found = [as_array(each) for each in x]
        return found if isinstance(x, list) else tuple(found)
    if not isinstance(x, StorageHolder):
        return x
    storage = storage_of(x)
    require_dense(storage.shape, storage.dtype, "all elements of an argument")
    return foreign_tensors.convert(storage, "dense").to_dense_array()
