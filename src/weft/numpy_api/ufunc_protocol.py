"""NumPy's ufuncs on tensors: results of ``SparseTensor.__array_ufunc__``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..operations.fill_change import require_dense
from ..operations.operands import StorageHolder, replace_storage, storage_of
from ..records import record
from ..storage import Storage
from ..tensor.construction import from_coords
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from . import linalg
from .reductions import reduce_ufunc
from .ufuncs import ROWS, apply, converted_operands, divmod, outer
from .unlisted_ufuncs import call_ufunc


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of ``SparseTensor.__array_ufunc__``, after all inputs were recognized as operands."""
    call = UfuncCall.parse(ufunc, method, inputs, kwargs)
    for handler in HANDLERS.get(method, ()):
        if (result := handler(call)) is not NotImplemented:
            return result
    extra = f" with {', '.join(call.options)}" if call.options else ""
    raise TypeError(f"{call.name}{extra} does not take SparseTensors; use their todense()")


@record
class UfuncCall:
    """A call of a ufunc, or of one of its methods."""

    ufunc: np.ufunc
    method: str
    inputs: tuple[Any, ...]
    options: Mapping[str, Any]  # the keyword arguments but for ``out``
    outs: tuple[Any, ...] | None  # the array for each result, or None in its place; None if no array is given

    @classmethod
    def parse(cls, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> UfuncCall:
        """Return the call that NumPy hands over."""
        options = {name: value for name, value in kwargs.items() if name != "out"}
        return cls(ufunc, method, inputs, options, kwargs.get("out"))

    @property
    def name(self) -> str:
        """The name of what is called, for messages."""
        return f"np.{self.ufunc.__name__}" + (f".{self.method}" if self.method != "__call__" else "")

    @property
    def op(self) -> str | None:
        """The row of the operator table; None if the ufunc has no row."""
        return ROWS.get(self.ufunc)

    @property
    def out(self) -> Any:
        """The array for the only result; None if it is not given."""
        return self.outs[0] if self.outs is not None and len(self.outs) == 1 else self.outs

    @property
    def is_of_tensor(self) -> bool:
        """True if the first operand is a tensor."""
        return isinstance(self.inputs[0], StorageHolder)

    def takes(self, *names: str) -> bool:
        """Return whether no other keyword arguments than those of these names are given."""
        return set(self.options) <= set(names)

    def written(self, result: Any) -> Any:
        """Return a result, or each of several, after it is written to the array that is given for it."""
        if self.outs is None:
            return result
        many = result if isinstance(result, tuple) else (result,)
        pairs = zip(many, self.outs, strict=True)
        stored = tuple(found if out is None else write_out(found, out, self.name) for found, out in pairs)
        return stored if isinstance(result, tuple) else stored[0]


# -- calls of the ufunc itself --------------------------------------------------------------------------------------
def call_divmod(call: UfuncCall) -> Any:
    """Return the quotient and the remainder, both of which are compiled."""
    if call.ufunc is not np.divmod or call.options or call.outs is not None:
        return NotImplemented
    return divmod(*call.inputs)


def call_product(call: UfuncCall) -> Any:
    """Return the result of a ufunc over axes, which is a product of ``weft.linalg``."""
    name = call.ufunc.__name__
    if name not in _OVER_AXES or not call.takes("dtype", "axis"):
        return NotImplemented
    options = dict(call.options)
    dtype = options.pop("dtype", None)
    given = call.inputs if dtype is None else converted_operands(call.ufunc, name, call.inputs, dtype)
    return call.written(getattr(linalg, name)(*given, **options))


def call_operator(call: UfuncCall) -> Any:
    """Return the result of a row of the operator table, which is compiled."""
    if call.op is None or not call.takes("dtype", "where"):
        return NotImplemented
    return apply(call.op, call.inputs, out=call.out, **call.options)


def call_unlisted(call: UfuncCall) -> Any:
    """Return the result of any other ufunc of single elements, which NumPy computes on stored values."""
    if call.op is not None or call.ufunc.signature is not None or not call.takes("dtype"):
        return NotImplemented
    return call.written(call_ufunc(call.ufunc, call.inputs, **call.options))


# -- methods of ufuncs ----------------------------------------------------------------------------------------------
def outer_operator(call: UfuncCall) -> Any:
    """Return the results of a row of the operator table on every pair of elements."""
    if call.op is None or not call.takes("dtype"):
        return NotImplemented
    dtype = call.options.get("dtype")
    inputs = call.inputs if dtype is None else converted_operands(call.ufunc, call.op, call.inputs, dtype)
    return call.written(outer(call.op, *inputs))


def reduce(call: UfuncCall) -> Any:
    """Return the reduction of a tensor by a row of the operator table."""
    if call.op is None or not call.is_of_tensor:
        return NotImplemented
    return reduce_ufunc(call.op, call.inputs[0], out=call.out, **call.options)


def accumulate(call: UfuncCall) -> Any:
    """Return the running results along an axis of a tensor."""
    return call.written(_accumulated(call, **call.options)) if call.is_of_tensor else NotImplemented


def add_at(call: UfuncCall) -> Any:
    """Add values to elements of a tensor, or subtract them, in place."""
    if call.ufunc not in (np.add, np.subtract) or not call.is_of_tensor or call.options:
        return NotImplemented
    x, key, values = call.inputs
    _added_at(x, key, values if call.ufunc is np.add else -np.asarray(_array(values)))
    return None


HANDLERS: Mapping[str, tuple[Callable[[UfuncCall], Any], ...]] = {
    "__call__": (call_divmod, call_product, call_operator, call_unlisted),
    "outer": (outer_operator,),
    "reduce": (reduce,),
    "accumulate": (accumulate,),
    "at": (add_at,),
}
"""For each method the handlers in the order in which they are tried. Each returns ``NotImplemented`` if it cannot."""

_OVER_AXES = ("matmul", "matvec", "vecdot", "vecmat")


def _array(x: Any) -> Any:
    return x.todense() if isinstance(x, SparseTensor) else x


def _accumulated(call: UfuncCall, axis: int = 0, dtype: DTypeLike | None = None) -> SparseTensor:
    """Return ``ufunc.accumulate``, a dense tensor: the result has no value that most elements share."""
    x = call.inputs[0]
    require_dense(x.shape, x.dtype, f"the elements of {call.name}")
    return SparseTensor(Storage.dense(call.ufunc.accumulate(x.todense(), axis=axis, dtype=dtype)))


def _added_at(x: Any, key: Any, values: Any) -> None:
    """Add values in place as ``np.add.at`` does: values for one element are added one after another."""
    keys = tuple(_array(k) for k in (key if isinstance(key, tuple) else (key,)))
    if math.prod(x.shape) <= _SMALL:  # NumPy applies any key to the flat indices
        linear = np.arange(math.prod(x.shape)).reshape(x.shape)[keys]
        coords = np.unravel_index(linear, x.shape)
    elif len(keys) == x.ndim and all(isinstance(k, (int, np.integer, np.ndarray, list)) for k in keys):
        coords = np.broadcast_arrays(*(np.asarray(k).astype(np.int64, casting="same_kind") for k in keys))
        coords = tuple(np.where(k < 0, k + n, k) for k, n in zip(coords, x.shape, strict=True))
    else:
        raise TypeError(f"np.add.at of a large SparseTensor takes an array of indices for each of its {x.ndim} axes")
    # The values are a coordinate list, whose duplicates are summed.
    given = np.broadcast_to(_array(values), coords[0].shape).ravel()
    flat = np.array([np.ravel(k) for k in coords])
    more = from_coords(flat, given.astype(x.dtype, casting="same_kind"), x.shape)
    replace_storage(x, storage_of((x + more).asformat(x.format)))


_SMALL = 1 << 24
