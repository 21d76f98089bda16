"""NumPy's ufuncs on tensors: results of ``SparseTensor.__array_ufunc__``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..operations.fill_change import require_dense
from ..operations.operands import StorageHolder
from ..storage import Storage
from ..tensor.construction import from_coords
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from . import linalg
from .reductions import reduce_ufunc
from .ufuncs import ROWS, _converted, apply, divmod, outer
from .unlisted_ufuncs import call_ufunc

__all__ = ["array_ufunc"]


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of ``SparseTensor.__array_ufunc__``, after all inputs were recognized as operands.

    Parameters
    ----------
    ufunc : numpy.ufunc
        The ufunc.
    method : str
        The method that was called, such as ``"__call__"`` or ``"reduce"``.
    inputs : tuple
        The operands.
    kwargs : dict
        The keyword arguments. ``out`` is removed.

    Raises
    ------
    TypeError
        If tensors do not support the ufunc, the method or an argument.
    """
    name = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
    op = ROWS.get(ufunc)
    outs = kwargs.pop("out", None)
    out = outs[0] if outs is not None and len(outs) == 1 else outs
    if ufunc is np.divmod and method == "__call__" and not kwargs and outs is None:
        return divmod(*inputs)
    # Ufuncs over axes are products of weft.linalg.
    if ufunc.__name__ in _OVER_AXES and method == "__call__" and set(kwargs) <= {"dtype", "axis"}:
        dtype = kwargs.pop("dtype", None)
        given = inputs if dtype is None else _converted(ufunc, ufunc.__name__, inputs, dtype)
        result = getattr(linalg, ufunc.__name__)(*given, **kwargs)
        return result if out is None else write_out(result, out, name)
    # Rows of the operator table are compiled.
    known = {"__call__": {"dtype", "where"}, "outer": {"dtype"}}
    if op is not None and method in known and set(kwargs) <= known[method]:
        if method == "outer" and len(inputs) == 2:
            dtype = kwargs.get("dtype")
            inputs = inputs if dtype is None else _converted(ufunc, op, inputs, dtype)
            return outer(op, *inputs) if out is None else write_out(outer(op, *inputs), out, name)
        return apply(op, inputs, out=out, **kwargs)
    # NumPy computes any other ufunc of single elements on stored values.
    if op is None and method == "__call__" and ufunc.signature is None and set(kwargs) <= {"dtype"}:
        found = call_ufunc(ufunc, inputs, **kwargs)
        if outs is None:
            return found
        many = found if isinstance(found, tuple) else (found,)
        stored = tuple(f if o is None else write_out(f, o, name) for f, o in zip(many, outs, strict=True))
        return stored if isinstance(found, tuple) else stored[0]
    if op is not None and method == "reduce" and isinstance(inputs[0], StorageHolder):
        return reduce_ufunc(op, name, inputs[0], out=out, **kwargs)
    if method == "accumulate" and isinstance(inputs[0], StorageHolder):
        return _accumulated(ufunc, inputs[0], out=out, **kwargs)
    if method == "at" and ufunc in (np.add, np.subtract) and isinstance(inputs[0], StorageHolder) and not kwargs:
        return _added_at(inputs[0], inputs[1], inputs[2] if ufunc is np.add else -np.asarray(_array(inputs[2])))
    extra = f" with {', '.join(kwargs)}" if kwargs else ""
    raise TypeError(f"{name}{extra} does not take SparseTensors; use their todense()")


_OVER_AXES = ("matmul", "matvec", "vecdot", "vecmat")


def _array(x: Any) -> Any:
    return x.todense() if isinstance(x, SparseTensor) else x


def _accumulated(ufunc: np.ufunc, x: Any, axis: int = 0, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """Return ``ufunc.accumulate``, a dense tensor: the result has no value that most elements share."""
    storage = x._storage
    require_dense(storage.shape, storage.dtype, f"the elements of np.{ufunc.__name__}.accumulate")
    found = ufunc.accumulate(x.todense(), axis=axis, dtype=dtype)
    return (
        SparseTensor(Storage.dense(found)) if out is None else write_out(found, out, f"np.{ufunc.__name__}.accumulate")
    )


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
    x._become((x + more).asformat(x.format)._storage)


_SMALL = 1 << 24
