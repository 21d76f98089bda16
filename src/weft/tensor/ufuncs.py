"""The functions of the operator table, as NumPy and the array API standard name them, and NumPy's ufuncs on tensors.

Each function takes tensors, arrays of NumPy and of other packages, and scalars, and broadcasts them.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 1.0], [0.0, 0.0]], format="csr")
>>> weft.cos(A)  # where nothing is stored it is the cosine of nothing
<SparseTensor: shape=(2, 2), dtype=float64, format=csr, nnz=1, fill_value=1.0>
>>> weft.maximum(A, 0.5).todense()
array([[0.5, 1. ],
       [0.5, 0.5]])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import value_dtype
from ..errors import DTypeError
from ..index_notation.operator_table import ALIASES, OPERATORS, operator
from ..storage import Storage
from .elementwise import apply_unary, with_axes
from .operands import Tensor, adopt, is_scalar
from .operators import elementwise, finish
from .operators import power as power_of
from .sparse_tensor import SparseTensor

__all__ = [
    "FUNCTIONS", "ROWS", "apply", "as_dtype", "clip", "divmod", "isneginf", "isposinf", "outer", "round", "store",
]  # fmt: skip

ROWS: dict[np.ufunc, str] = {
    row.ufunc: name for name, row in OPERATORS.items() if isinstance(row.ufunc, np.ufunc) and not row.absorbs
}
"""The row of each of NumPy's ufuncs."""


def apply(
    op: str, inputs: tuple[Any, ...], *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
) -> Any:
    """A row of the operator table on operands of any kind.

    Parameters
    ----------
    op : str
        The row.
    inputs : tuple
        As many operands as it takes.
    out : ndarray or SparseTensor, optional
        Where to put the result; a tensor keeps its format and dtype.
    dtype : dtype, optional
        Of the result, as NumPy's ufuncs take it: the operands are converted to the dtypes that give it.
    where : array_like of bool
        Which elements of ``out`` are written; without ``out`` only True.

    Raises
    ------
    DTypeError
        For operands of types weft does not know, or of dtypes that NumPy refuses.
    """
    if where is not True and out is None:
        raise TypeError(f"{op} of SparseTensors takes where= with out= only: it says what is left as it was")
    if len(inputs) != operator(op).arity:
        raise TypeError(f"{op} takes {operator(op).arity} operands, not {len(inputs)}")
    if dtype is not None:
        inputs = _converted(operator(op).ufunc, op, inputs, dtype)
    if len(inputs) == 1:
        operand = adopt(inputs[0])
        found = NotImplemented if operand is None else None
        if operand is not None:
            found = finish(SparseTensor, apply_unary(op, operand.storage), operand.is_array)
    elif op == "power":
        found = power_of(inputs[0], inputs[1], SparseTensor, exact=True)
    else:
        found = elementwise(op, inputs[0], inputs[1], SparseTensor)
    if found is NotImplemented:
        unknown = next(x for x in inputs if adopt(x) is None)
        raise DTypeError(f"{op} takes tensors, arrays and numbers, not {type(unknown).__name__}")
    return found if out is None else store(found, out, op, where)


def _converted(ufunc: Any, op: str, inputs: tuple[Any, ...], dtype: DTypeLike) -> tuple[Any, ...]:
    """The operands in the dtypes by which the operator gives ``dtype``."""
    wanted = value_dtype(dtype)
    weak = [type(x) if type(x) in (int, float, complex) else _dtype_of(op, x) for x in inputs]
    if not isinstance(ufunc, np.ufunc):
        raise TypeError(f"{op} takes no dtype=")
    try:
        loop = ufunc.resolve_dtypes((*weak, None), signature=(*(None,) * len(inputs), wanted))
    except TypeError as error:
        raise DTypeError(f"{op} with dtype={wanted}: {error}") from None
    return tuple(as_dtype(x, d) for x, d in zip(inputs, loop, strict=False))


def _dtype_of(op: str, x: Any) -> np.dtype[Any]:
    operand = adopt(x)
    if operand is None:
        raise DTypeError(f"{op} takes tensors, arrays and numbers, not {type(x).__name__}")
    return operand.storage.dtype


def as_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    """An operand converted; itself where it has the dtype."""
    if is_scalar(x):
        return np.asarray(x, value_dtype(dtype))[()]
    operand = adopt(x)
    assert operand is not None
    if operand.storage.dtype == dtype:
        return x
    converted = apply_unary(value_dtype(dtype).name, operand.storage)
    return finish(SparseTensor, converted, operand.is_array)


def store(result: Any, out: Any, op: str, where: Any = True, casting: Any = "same_kind") -> Any:
    """The result in what the caller gave for it, as ``x += T`` does: all of it, or the elements of a mask."""
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, np.ndarray | SparseTensor):
        raise TypeError(f"{op} cannot write into a {type(out).__name__}, only into an ndarray or a SparseTensor")
    if np.shape(result) != out.shape:
        raise ValueError(f"{op}: a result of shape {np.shape(result)} does not fit out of {out.shape}")
    if isinstance(out, np.ndarray) or out.layout.is_dense:
        value, mask = (x.todense() if isinstance(x, SparseTensor) else x for x in (result, where))
        np.copyto(out if isinstance(out, np.ndarray) else out.todense(), value, casting=casting, where=mask)
        return out
    made = result if isinstance(result, SparseTensor) else SparseTensor(Storage.dense(np.asarray(result)))
    if not np.can_cast(made.dtype, out.dtype, casting):
        raise TypeError(f"{op} cannot write {made.dtype} into out of {out.dtype} by casting {casting!r}")
    if where is not True:
        from .masked import merged

        made = merged(made, out, where)
    out._become(made.astype(out.dtype).asformat(out.format)._storage)
    return out


def outer(op: str, left: Any, right: Any) -> Any:
    """Every element of ``left`` with every element of ``right``."""
    first, second = adopt(left), adopt(right)
    if first is None or second is None:
        raise DTypeError(f"{op} takes tensors, arrays and numbers, not {type(left).__name__}, {type(right).__name__}")
    n, m = len(first.storage.shape), len(second.storage.shape)
    column = SparseTensor(with_axes(first.storage, tuple(range(n, n + m))))
    return apply(op, (column, right if second.is_array else SparseTensor(second.storage)))


def _function(name: str, op: str) -> Callable[..., Any]:
    row = OPERATORS[op]

    def unary(x: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any:
        return apply(op, (x,), out=out, dtype=dtype, where=where)

    def binary(x1: Any, x2: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any:
        return apply(op, (x1, x2), out=out, dtype=dtype, where=where)

    function: Any = unary if row.arity == 1 else binary
    params = "x : array_like" if row.arity == 1 else "x1, x2 : array_like"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""``numpy.{row.ufunc.__name__}``, element by element, for sparse operands too.

    Parameters
    ----------
    {params}
        SparseTensors, ndarrays, arrays of scipy.sparse, numbers{"; broadcast" if row.arity == 2 else ""}.
    out : ndarray, optional
        Where to put the result.
    dtype : dtype, optional
        Of the result.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        An ndarray where the result is dense and an operand is an ndarray.
    """
    return function  # type: ignore[no-any-return]


_INTERNAL = ("left", "select")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _function(name, op)
    for name, op in {**{name: name for name in OPERATORS}, **ALIASES}.items()
    if OPERATORS[op].c != "cast"
    and not OPERATORS[op].absorbs
    and not (op in _INTERNAL or op.startswith(("nan_as", "repeat_")))
}
"""The functions by their public names."""


def __getattr__(name: str) -> Any:
    """The functions are attributes of the module, but no globals of it: some have names of Python's own."""
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def clip(x: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """``x`` where it is between ``min`` and ``max``, else the one that it is beyond.

    A Python integer that is less than all integers of the dtype of ``x``, or more, is no lower or no upper bound.

    Examples
    --------
    >>> import weft
    >>> clip(weft.asarray([-2.0, 0.0, 5.0]), -1, 3).todense()
    array([-1.,  0.,  3.])
    """
    operand = adopt(x)
    if operand is not None and operand.storage.dtype.kind in "iu":
        limits = np.iinfo(operand.storage.dtype)
        min = None if type(min) is int and min <= limits.min else min
        max = None if type(max) is int and max >= limits.max else max
    found = x
    if min is not None:
        found = apply("maximum", (found, min))
    if max is not None:
        found = apply("minimum", (found, max))
    if found is x:
        found = apply("positive", (x,))
    return found if out is None else store(found, out, "clip")


def round(x: Any, decimals: int = 0, *, out: Any = None) -> Any:
    """``x`` rounded to a number of decimals; halves go to the even neighbour.

    Examples
    --------
    >>> import weft
    >>> round(weft.asarray([0.5, 1.26]), 1).todense()
    array([0.5, 1.3])
    """
    operand = adopt(x)
    integer = operand is not None and operand.storage.dtype.kind in "iu"
    if integer and decimals >= 0:
        found = apply("positive", (x,))
    elif decimals == 0:
        found = apply("rint", (x,))
    else:
        steps = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
        scale = 10.0 ** abs(decimals)
        found = apply(steps[1], (apply("rint", (apply(steps[0], (x, scale)),)), scale))
        if integer:
            assert operand is not None
            found = as_dtype(found, operand.storage.dtype)
    return found if out is None else store(found, out, "round")


def divmod(x1: Any, x2: Any, /) -> tuple[Any, Any]:
    """``floor_divide`` and ``remainder``."""
    return apply("floor_divide", (x1, x2)), apply("remainder", (x1, x2))


def isposinf(x: Any, /, *, out: Any = None) -> Any:
    """Tell whether an element is positive infinity; complex numbers have none that is."""
    _refuse_complex(x)
    return apply("equal", (x, np.inf), out=out)


def isneginf(x: Any, /, *, out: Any = None) -> Any:
    """Tell whether an element is negative infinity; complex numbers have none that is."""
    _refuse_complex(x)
    return apply("equal", (x, -np.inf), out=out)


def _refuse_complex(x: Any) -> None:
    operand = adopt(x)
    if operand is not None and operand.storage.dtype.kind == "c":
        dtype = operand.storage.dtype
        raise DTypeError(f"This operation is not supported for {dtype} values because it would be ambiguous.")


around = round
FUNCTIONS.update({f.__name__: f for f in (clip, divmod, isneginf, isposinf, round)})


def call(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``SparseTensor.__array_ufunc__`` answers, once all inputs are known to be operands."""
    name = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
    op = ROWS.get(ufunc)
    outs = kwargs.pop("out", None)
    out = outs[0] if outs is not None and len(outs) == 1 else outs
    if ufunc is np.divmod and method == "__call__" and not kwargs and outs is None:
        return divmod(*inputs)
    if ufunc.__name__ in _OVER_AXES and method == "__call__" and set(kwargs) <= {"dtype", "axis"}:
        from . import linalg

        dtype = kwargs.pop("dtype", None)
        given = inputs if dtype is None else _converted(ufunc, ufunc.__name__, inputs, dtype)
        result = getattr(linalg, ufunc.__name__)(*given, **kwargs)
        return result if out is None else store(result, out, name)
    known = {"__call__": {"dtype", "where"}, "outer": {"dtype"}}
    if op is not None and method in known and set(kwargs) <= known[method]:
        if method == "outer" and len(inputs) == 2:
            dtype = kwargs.get("dtype")
            inputs = inputs if dtype is None else _converted(ufunc, op, inputs, dtype)
            return outer(op, *inputs) if out is None else store(outer(op, *inputs), out, name)
        return apply(op, inputs, out=out, **kwargs)
    if op is None and method == "__call__" and ufunc.signature is None and set(kwargs) <= {"dtype"}:
        from .mapping import call_ufunc

        found = call_ufunc(ufunc, inputs, **kwargs)
        if outs is None:
            return found
        many = found if isinstance(found, tuple) else (found,)
        stored = tuple(f if o is None else store(f, o, name) for f, o in zip(many, outs, strict=True))
        return stored if isinstance(found, tuple) else stored[0]
    if op is not None and method == "reduce" and isinstance(inputs[0], Tensor):
        from .reductions import reduce_ufunc

        return reduce_ufunc(op, name, inputs[0], out=out, **kwargs)
    if method == "accumulate" and isinstance(inputs[0], Tensor):
        return _accumulated(ufunc, inputs[0], out=out, **kwargs)
    if method == "at" and ufunc in (np.add, np.subtract) and isinstance(inputs[0], Tensor) and not kwargs:
        return _added_at(inputs[0], inputs[1], inputs[2] if ufunc is np.add else -np.asarray(_array(inputs[2])))
    extra = f" with {', '.join(kwargs)}" if kwargs else ""
    raise TypeError(f"{name}{extra} does not take SparseTensors; use their todense()")


_OVER_AXES = ("matmul", "matvec", "vecdot", "vecmat")


def _array(x: Any) -> Any:
    return x.todense() if isinstance(x, SparseTensor) else x


def _accumulated(ufunc: np.ufunc, x: Any, axis: int = 0, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """``ufunc.accumulate``: what accumulates has no value that most elements share, and is dense."""
    from .refill import require_dense

    storage = x._storage
    require_dense(storage.shape, storage.dtype, f"the elements of np.{ufunc.__name__}.accumulate")
    found = ufunc.accumulate(x.todense(), axis=axis, dtype=dtype)
    return SparseTensor(Storage.dense(found)) if out is None else store(found, out, f"np.{ufunc.__name__}.accumulate")


def _added_at(x: Any, key: Any, values: Any) -> None:
    """``np.add.at``: every value is added, those for one element one after another."""
    keys = tuple(_array(k) for k in (key if isinstance(key, tuple) else (key,)))
    if math.prod(x.shape) <= _SMALL:  # whatever NumPy takes for a key, asked of the numbers of the elements
        linear = np.arange(math.prod(x.shape)).reshape(x.shape)[keys]
        coords = np.unravel_index(linear, x.shape)
    elif len(keys) == x.ndim and all(isinstance(k, (int, np.integer, np.ndarray, list)) for k in keys):
        coords = np.broadcast_arrays(*(np.asarray(k).astype(np.int64, casting="same_kind") for k in keys))
        coords = tuple(np.where(k < 0, k + n, k) for k, n in zip(coords, x.shape, strict=True))
    else:
        raise TypeError(f"np.add.at of a large SparseTensor takes an array of indices for each of its {x.ndim} axes")
    given = np.broadcast_to(_array(values), coords[0].shape).ravel()
    from .construction import from_coords

    flat = np.array([np.ravel(k) for k in coords])
    more = from_coords(flat, given.astype(x.dtype, casting="same_kind"), x.shape)
    x._become((x + more).asformat(x.format)._storage)


_SMALL = 1 << 24
