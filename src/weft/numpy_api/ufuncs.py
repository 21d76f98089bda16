"""Functions of the operator table, under the names of NumPy and the array API standard.

Each function takes tensors, arrays of NumPy and of other packages, and scalars. The operands are broadcast.

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

from collections.abc import Callable
from inspect import cleandoc
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..dtypes import value_dtype
from ..errors import DTypeError
from ..index_notation.operator_table import ALIASES, OPERATORS, operator
from ..operations.elementwise import apply_unary, with_axes
from ..operations.operands import as_operand, is_scalar, operand_anywhere
from ..tensor.lazy import is_lazy, record
from ..tensor.operators import elementwise, wrap_result
from ..tensor.operators import power as power_of
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor
from .ufunc_examples import with_example

ROWS: dict[np.ufunc, str] = {
    row.ufunc: name for name, row in OPERATORS.items() if isinstance(row.ufunc, np.ufunc) and not row.absorbs
}
"""The row of each of NumPy's ufuncs."""


def apply(
    op: str, inputs: tuple[Any, ...], *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True
) -> Any:
    """Return the result of an operator on operands of any kind; a tensor ``out`` keeps its format and dtype."""
    if where is not True and out is None:
        raise TypeError(
            f"{op} of SparseTensors takes where= only with out=, whose elements stay where the mask is False"
        )
    if len(inputs) != operator(op).arity:
        raise TypeError(f"{op} takes {operator(op).arity} operands, not {len(inputs)}")
    if is_lazy(*inputs) and out is None and dtype is None:
        return record(op, *inputs)
    if dtype is not None:
        inputs = converted_operands(operator(op).ufunc, op, inputs, dtype)
    if len(inputs) == 1:
        operand = operand_anywhere(inputs[0])
        result = NotImplemented if operand is None else None
        if operand is not None:
            result = wrap_result(SparseTensor, apply_unary(op, operand.storage), operand.is_array)
    # power() refuses negative exponents of integers.
    elif op == "power":
        result = power_of(inputs[0], inputs[1], SparseTensor, exact=True)
    else:
        result = elementwise(op, inputs[0], inputs[1], SparseTensor)
    # An operand that is neither tensor, array nor number.
    if result is NotImplemented:
        unknown = next(x for x in inputs if as_operand(x) is None)
        raise DTypeError(f"{op} takes tensors, arrays and numbers, not {type(unknown).__name__}")
    return result if out is None else write_out(result, out, op, where)


def converted_operands(ufunc: Any, op: str, inputs: tuple[Any, ...], dtype: DTypeLike) -> tuple[Any, ...]:
    """Return the operands in the dtypes for which the operator returns ``dtype``."""
    target = value_dtype(dtype)
    # NumPy promotes Python's numbers by their type alone.
    weak = [type(x) if type(x) in (int, float, complex) else _dtype_of(op, x) for x in inputs]
    if not isinstance(ufunc, np.ufunc):
        raise TypeError(f"{op} takes no dtype=")
    try:
        loop = ufunc.resolve_dtypes((*weak, None), signature=(*(None,) * len(inputs), target))
    except TypeError as error:
        raise DTypeError(f"{op} with dtype={target}: {error}") from None
    return tuple(as_dtype(x, d) for x, d in zip(inputs, loop, strict=False))


def _dtype_of(op: str, x: Any) -> np.dtype[Any]:
    operand = None if is_lazy(x) else as_operand(x)
    if operand is None and not is_lazy(x):
        raise DTypeError(f"{op} takes tensors, arrays and numbers, not {type(x).__name__}")
    return x.dtype if operand is None else operand.storage.dtype


def as_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    """Return an operand converted to a dtype, or the operand itself if it has the dtype."""
    if is_scalar(x):
        return np.asarray(x, value_dtype(dtype))[()]
    if is_lazy(x):
        return x.astype(dtype, copy=False)
    operand = as_operand(x)
    assert operand is not None
    if operand.storage.dtype == dtype:
        return x
    converted = apply_unary(value_dtype(dtype).name, operand.storage)
    return wrap_result(SparseTensor, converted, operand.is_array)


def outer(op: str, left: Any, right: Any) -> Any:
    """Return an operator's results on every element of ``left`` with every one of ``right``, whose axes come last."""
    first, second = as_operand(left), as_operand(right)
    if first is None or second is None:
        raise DTypeError(f"{op} takes tensors, arrays and numbers, not {type(left).__name__}, {type(right).__name__}")
    n, m = len(first.storage.shape), len(second.storage.shape)
    # The left operand gets an axis of size 1 for each axis of the right one, and broadcasts.
    column = SparseTensor(with_axes(first.storage, tuple(range(n, n + m))))
    return apply(op, (column, right if second.is_array else SparseTensor(second.storage)))


def _function(name: str, op: str) -> Callable[..., Any]:
    row = OPERATORS[op]

    def unary(x: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any:
        return apply(op, (x,), out=out, dtype=dtype, where=where)

    def binary(x1: Any, x2: Any, /, *, out: Any = None, dtype: DTypeLike | None = None, where: Any = True) -> Any:
        return apply(op, (x1, x2), out=out, dtype=dtype, where=where)

    function: Any = unary if row.arity == 1 else binary
    # help() shows the parameters of unary or binary operators.
    params = "x : array_like" if row.arity == 1 else "x1, x2 : array_like"
    function.__name__ = function.__qualname__ = name
    text = f"""Apply ``numpy.{row.ufunc.__name__}`` element by element, to sparse operands too.

    Parameters
    ----------
    {params}
        SparseTensors, ndarrays, arrays of scipy.sparse, numbers{"; broadcast" if row.arity == 2 else ""}.
    out : ndarray or SparseTensor, optional
        The array or tensor that receives the result.
    where : array_like of bool, optional
        The elements to compute.
    dtype : dtype, optional
        The dtype of the result.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        An ndarray if the result is dense and an operand is an ndarray.
    """
    function.__doc__ = with_example(name, cleandoc(text))
    return function  # type: ignore[no-any-return]


_INTERNAL = ("kept", "left", "select", "where")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _function(name, op)
    for name, op in {**{name: name for name in OPERATORS}, **ALIASES}.items()
    if OPERATORS[op].c != "cast"
    and not OPERATORS[op].absorbs
    and not (op in _INTERNAL or op.startswith(("nan_as", "repeat_")))
}
"""The functions by their public names."""


def __getattr__(name: str) -> Any:
    """Return a function of the table, which is no global of the module: some have names of built-in functions."""
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def clip(x: Any, min: Any = None, max: Any = None, out: Any = None) -> SparseTensor | Any:
    """Return the elements limited to an interval.

    A Python integer below or above all integers of the dtype of ``x`` is no bound.

    Parameters
    ----------
    x : array_like
        The tensor.
    min, max : scalar or array_like, optional
        The bounds, broadcast. None is no bound.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The limited elements, or ``out``.

    Examples
    --------
    >>> import weft
    >>> clip(weft.asarray([-2.0, 0.0, 5.0]), -1, 3).todense()
    array([-1.,  0.,  3.])
    """
    dtype = _dtype_of("clip", x)
    if dtype.kind in "iu":
        # maximum() and minimum() refuse a Python integer that the dtype cannot hold.
        limits = np.iinfo(dtype)
        min = None if type(min) is int and min <= limits.min else min
        max = None if type(max) is int and max >= limits.max else max
    result = x
    if min is not None:
        result = apply("maximum", (result, min))
    if max is not None:
        result = apply("minimum", (result, max))
    # Without bounds the result is a copy, as in NumPy.
    if result is x:
        result = apply("positive", (x,))
    return result if out is None else write_out(result, out, "clip")


def round(x: Any, decimals: int = 0, out: Any = None) -> SparseTensor | Any:
    """Return the elements rounded to a number of decimals; halves are rounded to the even neighbor.

    Parameters
    ----------
    x : array_like
        The tensor.
    decimals : int
        The number of decimals. A negative number counts digits in front of the decimal point.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The rounded elements, or ``out``.

    Examples
    --------
    >>> import weft
    >>> round(weft.asarray([0.5, 1.26]), 1).todense()
    array([0.5, 1.3])
    """
    operand = as_operand(x)
    integer = operand is not None and operand.storage.dtype.kind in "iu"
    if integer and decimals >= 0:
        result = apply("positive", (x,))
    elif decimals == 0:
        result = apply("rint", (x,))
    else:
        # The scale is a power with a positive exponent, which is exact where a negative one is not.
        steps = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
        scale = 10.0 ** abs(decimals)
        result = apply(steps[1], (apply("rint", (apply(steps[0], (x, scale)),)), scale))
        if integer:
            assert operand is not None
            result = as_dtype(result, operand.storage.dtype)
    return result if out is None else write_out(result, out, "round")


def divmod(x1: Any, x2: Any, /) -> tuple[Any, Any]:
    """Return ``floor_divide`` and ``remainder`` of two operands.

    Unlike NumPy's, the function has no ``out`` and no ``dtype``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0, 7, 9], format="coo")
    >>> quotient, rest = weft.divmod(x, 4)
    >>> quotient.todense(), rest.todense()
    (array([0, 1, 2]), array([0, 3, 1]))
    """
    return apply("floor_divide", (x1, x2)), apply("remainder", (x1, x2))


def isposinf(x: Any, /, out: Any = None) -> SparseTensor | Any:
    """Return whether each element is positive infinity.

    Parameters
    ----------
    x : array_like
        The tensor.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.

    Returns
    -------
    SparseTensor, ndarray or NumPy bool
        The answers, or ``out``.

    Raises
    ------
    DTypeError
        If the tensor is complex.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("inf"), 1.0], format="coo")
    >>> weft.isposinf(x).todense()
    array([False,  True, False])
    """
    _refuse_complex(x)
    return apply("equal", (x, np.inf), out=out)


def isneginf(x: Any, /, out: Any = None) -> SparseTensor | Any:
    """Return whether each element is negative infinity.

    The arguments, results and errors are those of :func:`isposinf`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("-inf"), 1.0], format="coo")
    >>> weft.isneginf(x).todense()
    array([False,  True, False])
    """
    _refuse_complex(x)
    return apply("equal", (x, -np.inf), out=out)


def _refuse_complex(x: Any) -> None:
    operand = as_operand(x)
    if operand is not None and operand.storage.dtype.kind == "c":
        dtype = operand.storage.dtype
        raise DTypeError(f"This operation is not supported for {dtype} values because it would be ambiguous.")


around = round_ = round
FUNCTIONS.update({f.__name__: f for f in (clip, divmod, isneginf, isposinf, round)})
