"""Functions of single elements that the operator table has no row for: NumPy computes them, on the stored values.

Several operands are joined first. Each gets the numbers of its entries as values; a compiled sum of those, each
weighed by how many numbers the operands before it have, is stored where an operand is, and tells which entry of each
stands there.

Examples
--------
>>> import numpy as np
>>> import weft
>>> A = weft.asarray([[0.0, 2.5], [0.0, -1.5]], format="csr")
>>> weft.sinc(A).fill_value, np.modf(A)[1].todense().tolist()
(np.float64(1.0), [[0.0, 2.0], [0.0, -1.0]])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import execution
from ..dtypes import value_dtype
from ..errors import DTypeError
from ..operations.fill_change import relabel_fill
from ..operations.operands import is_scalar, storage_of
from ..storage import Storage
from ..tensor.operators import elementwise
from ..tensor.sparse_tensor import SparseTensor

__all__ = ["call_ufunc", "frexp", "map", "mapped", "modf"]


def map(function: Callable[[np.ndarray[Any, Any]], Any], x: Any, /) -> SparseTensor:
    """A function of single elements: of the stored values, as one array, and of the fill value.

    Parameters
    ----------
    function : callable
        From an array to an array of as many elements.
    x : array_like
        Any tensor.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 2.0]], format="csr")
    >>> weft.map(lambda v: v + 1, A).fill_value
    np.float64(1.0)
    """
    storage = _unique(x)
    vals = np.asarray(function(storage.vals))
    if vals.shape != storage.vals.shape:
        raise ValueError(f"the function makes shape {vals.shape} of {len(storage.vals)} values")
    return _with(storage, vals, np.asarray(function(np.array([storage.type.fill], storage.dtype))))


def _unique(x: Any) -> Storage:
    """Storage of a tensor that has one value for each element."""
    storage = storage_of(x)
    if not storage.format.is_unique:
        storage = execution.convert(storage, storage.format.canonical())
    return storage


def _with(storage: Storage, vals: np.ndarray[Any, Any], fill: np.ndarray[Any, Any]) -> SparseTensor:
    """Other values and another fill value, of what dtype they have."""
    vals = np.ascontiguousarray(vals, value_dtype(vals.dtype))
    return SparseTensor(storage.with_values(vals.reshape(storage.vals.shape), fill.astype(vals.dtype).reshape(-1)[0]))


def mapped(name: str) -> Callable[..., Any]:
    """NumPy's function of single elements as weft's: what else it takes it takes here."""
    numpy: Any = getattr(np, name)

    def function(x: Any, /, *args: Any, **options: Any) -> SparseTensor:
        return map(lambda values: numpy(values, *args, **options), x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``numpy.{name}`` of the stored values and of the fill value."
    return function


def call_ufunc(ufunc: Callable[..., Any], inputs: tuple[Any, ...], **options: Any) -> Any:
    """Any function of single elements, such as those of ``scipy.special``, on tensors, arrays and numbers.

    Parameters
    ----------
    ufunc : ufunc or callable
        From arrays of one length to an array of that length, or a tuple of some.
    inputs : tuple
        The operands; they are broadcast.
    **options
        For the function.

    Returns
    -------
    SparseTensor or tuple of SparseTensor
        Stored where an operand is.

    Raises
    ------
    DTypeError
        For results that are no numbers.
    """
    tensors = [k for k, x in enumerate(inputs) if not is_scalar(x)]
    storages = {k: _unique(inputs[k]) for k in tensors}
    which, joined = _entries(list(storages.values()))
    values, fills = list(inputs), list(inputs)
    for (k, storage), entry in zip(storages.items(), which, strict=True):
        fill = np.asarray(storage.type.fill, storage.dtype)
        values[k] = np.append(storage.vals, fill)[entry]
        fills[k] = fill.reshape(1)
    results, around = ufunc(*values, **options), ufunc(*fills, **options)
    if not isinstance(results, tuple):
        return _result(ufunc, joined, results, around)
    return tuple(_result(ufunc, joined, r, f) for r, f in zip(results, around, strict=True))


def _result(ufunc: Any, joined: Storage, values: Any, fill: Any) -> SparseTensor:
    found = np.asarray(values)
    if found.dtype.kind not in "biufc":
        name = getattr(ufunc, "__name__", type(ufunc).__name__)
        raise DTypeError(f"{name} of tensors makes {found.dtype}; weft stores numbers")
    return _with(joined, np.broadcast_to(found, joined.vals.shape), np.asarray(fill))


def _entries(storages: list[Storage]) -> tuple[list[np.ndarray[Any, Any]], Storage]:
    """For each operand the place of its value at every entry of the joined tensor, -1 for its fill value."""
    if len(storages) == 1:
        return [np.arange(len(storages[0].vals))], storages[0]
    weight, found = 1, None
    if math.prod(len(storage.vals) + 1 for storage in storages) >= 2**63:
        raise OverflowError(f"operands with {[len(s.vals) for s in storages]} entries cannot be joined by numbers")
    for storage in storages:
        numbers = np.arange(1, len(storage.vals) + 1, dtype=np.int64) * weight
        one = SparseTensor(relabel_fill(storage.with_values(numbers, 0), 0))
        found = one if found is None else elementwise("add", found, one, SparseTensor)
        weight *= len(storage.vals) + 1
    joined = _unique(found)
    which, rest = [], joined.vals
    for storage in storages:
        rest, number = np.divmod(rest, len(storage.vals) + 1)
        which.append(number - 1)
    return which, joined


def modf(x: Any, /) -> Any:
    """The fractional and the integral part of each element."""
    return call_ufunc(np.modf, (x,))


def frexp(x: Any, /) -> Any:
    """The mantissa of each element, and the exponent of two."""
    return call_ufunc(np.frexp, (x,))


_MAPPED = "angle bitwise_count fabs fix i0 iscomplex isreal nan_to_num sinc spacing"
__all__ += _MAPPED.split()
for _name in _MAPPED.split():
    globals()[_name] = mapped(_name)
