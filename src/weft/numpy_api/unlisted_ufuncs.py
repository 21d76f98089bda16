"""Functions of single elements without a row in the operator table: NumPy computes them, on stored values.

Several operands are joined first. The entries of each operand are numbered, and the numbers take the place of values. A
compiled sum adds them, each weighted so that the sum identifies the entry of every operand. The sum is stored at
coordinates at which any operand has a stored entry.

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
from .ufunc_examples import with_example


def map(function: Callable[[np.ndarray[Any, Any]], Any], x: Any, /) -> SparseTensor:
    """Return the results of a function of single elements, called with the stored values and with the fill value.

    Parameters
    ----------
    function : callable
        A function from an array to an array of the same shape.
    x : array_like
        The tensor.

    Returns
    -------
    SparseTensor
        A tensor in the format of ``x``. The result for the fill value is its fill value.

    Raises
    ------
    ValueError
        If the function returns another number of values.

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
        raise ValueError(
            f"the function returned shape {vals.shape} for {len(storage.vals)} values; it returns a value for each"
        )
    return _with(storage, vals, np.asarray(function(np.array([storage.type.fill], storage.dtype))))


def _unique(x: Any) -> Storage:
    """Return the storage of a tensor with one stored value for each element."""
    storage = storage_of(x)
    if not storage.format.is_unique:
        storage = execution.convert(storage, storage.format.canonical())
    return storage


def _with(storage: Storage, vals: np.ndarray[Any, Any], fill: np.ndarray[Any, Any]) -> SparseTensor:
    """Return a tensor with other values and another fill value, in the dtype of the values."""
    vals = np.ascontiguousarray(vals, value_dtype(vals.dtype))
    return SparseTensor(storage.with_values(vals.reshape(storage.vals.shape), fill.astype(vals.dtype).reshape(-1)[0]))


def mapped(name: str) -> Callable[..., Any]:
    """Return weft's version of NumPy's function of single elements; further arguments are passed on to NumPy."""
    numpy: Any = getattr(np, _SYNONYMS.get(name, name))

    def function(x: Any, /, *args: Any, **options: Any) -> SparseTensor:
        return map(lambda values: numpy(values, *args, **options), x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_example(name, f"Apply ``numpy.{name}`` to the stored values and to the fill value.")
    return function


def call_ufunc(ufunc: Callable[..., Any], inputs: tuple[Any, ...], **options: Any) -> Any:
    """Return a function of single elements on any operands; an entry is stored if an operand stores it."""
    tensors = [k for k, x in enumerate(inputs) if not is_scalar(x)]
    storages = {k: _unique(inputs[k]) for k in tensors}
    which, joined = _entries(list(storages.values()))
    values, fills = list(inputs), list(inputs)
    for (k, storage), entry in zip(storages.items(), which, strict=True):
        fill = np.asarray(storage.type.fill, storage.dtype)
        # The number -1 selects the fill value, which is appended.
        values[k] = np.append(storage.vals, fill)[entry]
        fills[k] = fill.reshape(1)
    # One call computes the stored values, a second one the fill value.
    results, around = ufunc(*values, **options), ufunc(*fills, **options)
    if not isinstance(results, tuple):
        return _result(ufunc, joined, results, around)
    return tuple(_result(ufunc, joined, r, f) for r, f in zip(results, around, strict=True))


def _result(ufunc: Any, joined: Storage, values: Any, fill: Any) -> SparseTensor:
    vals = np.asarray(values)
    if vals.dtype.kind not in "biufc":
        name = getattr(ufunc, "__name__", type(ufunc).__name__)
        raise DTypeError(f"{name} of tensors makes {vals.dtype}; weft stores numbers")
    return _with(joined, np.broadcast_to(vals, joined.vals.shape), np.asarray(fill))


def _entries(storages: list[Storage]) -> tuple[list[np.ndarray[Any, Any]], Storage]:
    """Return for each operand the position of its value at every joined entry, or -1 for its fill value."""
    if len(storages) == 1:
        return [np.arange(len(storages[0].vals))], storages[0]
    weight, total = 1, None
    if math.prod(len(storage.vals) + 1 for storage in storages) >= 2**63:
        raise OverflowError(
            f"operands with {[len(s.vals) for s in storages]} entries have more pairs than 64-bit integers count"
        )
    for storage in storages:
        # Zero is the number of an implicit entry. The weight is the base of a mixed radix system.
        numbers = np.arange(1, len(storage.vals) + 1, dtype=np.int64) * weight
        one = SparseTensor(relabel_fill(storage.with_values(numbers, 0), 0))
        total = one if total is None else elementwise("add", total, one, SparseTensor)
        weight *= len(storage.vals) + 1
    # The sums are greater than zero at every coordinate that an operand stores.
    joined = _unique(total)
    which, rest = [], joined.vals
    for storage in storages:
        # The digits of the sum are the numbers.
        rest, number = np.divmod(rest, len(storage.vals) + 1)
        which.append(number - 1)
    return which, joined


def modf(x: Any, /) -> Any:
    """Return the fractional and the integral part of each element.

    Unlike NumPy's, the function has no ``out``, and the results are tensors as sparse as ``x``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 2.5], format="coo")
    >>> fraction, whole = weft.modf(x)
    >>> fraction.todense(), whole.todense()
    (array([0. , 0.5]), array([0., 2.]))
    """
    return call_ufunc(np.modf, (x,))


def frexp(x: Any, /) -> Any:
    """Return the mantissa and the exponent of two of each element.

    Unlike NumPy's, the function has no ``out``, and the results are tensors as sparse as ``x``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, 6.0], format="coo")
    >>> mantissa, exponent = weft.frexp(x)
    >>> mantissa.todense(), exponent.todense()
    (array([0.  , 0.75]), array([0, 3], dtype=int32))
    """
    return call_ufunc(np.frexp, (x,))


_SYNONYMS = {"fix": "trunc"}  # of which newer versions of NumPy warn
_MAPPED = "angle bitwise_count fabs fix i0 iscomplex isreal nan_to_num sinc spacing"
for _name in _MAPPED.split():
    globals()[_name] = mapped(_name)
