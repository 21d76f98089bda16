"""Reductions, in time proportional to the stored entries and the result.

One kernel suffices if any number of implicit entries reduce to one of them, and the axes that stay are outermost (the
largest element of each row of csr). Otherwise the stored and the implicit entries are reduced separately. A kernel
reduces the stored ones, with the start of the operator as their fill value. Another kernel counts them. If there are
implicit entries, the operator's repetition (a multiple for a sum, a power for a product) reduces them to one value.

Examples
--------
>>> import weft
>>> coords = [[0, 1], [2, 0]]
>>> A = weft.from_coords(coords, [5.0, 2.0], (2, 1000), format="csr", fill_value=1)
>>> sum(A, axis=1).todense()
array([1004., 1001.])
>>> float(max(A)), max(A, axis=0).fill_value
(5.0, np.float64(1.0))
"""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import INT64_MAX, name_of, same_scalar, value_dtype
from ..errors import DTypeError, IndexOverflowError, ShapeError
from ..execution import thresholds
from ..execution.plan_cache import kept, plans
from ..formats import Compressed, Dense, Format, TensorType
from ..index_notation.dtype_promotion import loop_dtypes
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operator_table import OPERATORS, REDUCTIONS, REPETITIONS
from ..operations import foreign_tensors, select
from ..operations.axes import reduced_axes
from ..operations.canonical import stored_only
from ..operations.elementwise import apply_scalar, apply_unary, flat_map, plan_operation, vector
from ..operations.fill_change import relabel_fill
from ..operations.indexing import expanded
from ..operations.operands import StorageHolder, as_operand, operand_anywhere, storage_of, touches_device
from ..records import record
from ..remapping import Remapping
from ..runtime import devices
from ..runtime.devices import in_use
from ..storage import Storage, tensor_type
from ..tensor.lazy import is_lazy
from ..tensor.operators import element, wrap_result
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from ..tensor.types import Array, Operand, Scalar

Axis = int | tuple[int, ...] | None
F = TypeVar("F", bound=Callable[..., Any])


def typed_as(model: F) -> Callable[[Callable[..., Any]], F]:
    """Return a decorator for a function with the overloads of another, which it leaves as it is."""
    return lambda function: function  # type: ignore[return-value]


@record
class Axes:
    """Axes of one reduction: those that it is over, and the free ones that stay."""

    over: tuple[int, ...]
    free: tuple[int, ...]
    count: int  # elements that are reduced to one

    @classmethod
    def of(cls, axis: Any, shape: tuple[int, ...]) -> Axes:
        """Return the axes of NumPy's argument ``axis``: an integer, several, or None for all."""
        return _usual_axes(axis, shape) if axis is None or type(axis) is int else cls._of(axis, shape)

    @classmethod
    def _of(cls, axis: Any, shape: tuple[int, ...]) -> Axes:
        over = reduced_axes(axis, len(shape))
        free = tuple(a for a in range(len(shape)) if a not in over)
        return cls(over, free, math.prod(shape[a] for a in over))


_ALL = Axes((0,), (), 0)
"""The only axis of a vector."""
_usual_axes = lru_cache(maxsize=1024)(Axes._of)


def _reduce_stored(
    op: str,
    chain: tuple[str, ...],
    storage: Storage,
    axes: Axes,
    format: Format | None = None,
    extra: Storage | None = None,
) -> Storage:
    """Return entries, whose fill value is the operator's start, and ``extra``, reduced by a kernel after ``chain``."""
    if not axes.free:
        # Coordinates do not matter if all axes are reduced.
        storage, axes = vector(storage.vals), _ALL
    if extra is None:
        return _reduction_plan(op, chain, (storage.type,), axes.over, format).run((storage,))
    return _reduction_plan(op, chain, (storage.type, extra.type), axes.over, format).run((storage, extra))


@kept
def _reduction_plan(
    op: str, chain: tuple[str, ...], types: tuple[TensorType, ...], over: tuple[int, ...], format: Format | None
) -> execution.Plan:
    """Return the plan of a reduction over some axes, after a chain of unary operators; a second operand is joined."""
    reduced = _reduced(op, chain, types[0].format.order, over)
    if len(types) > 1:
        reduced = Assignment(reduced.target, Apply(op, (reduced.value, Access("f", ()))))
    return plan_operation(reduced, types, format)


def _reduced(op: str, chain: tuple[str, ...], order: int, over: tuple[int, ...]) -> Assignment:
    """Return a reduction of ``A`` over some axes, after a chain of unary operators, as index notation."""
    indices = tuple(f"i{axis}" for axis in range(order))
    value: Expr = Access("A", indices)
    for name in chain:
        value = Apply(name, (value,))
    if over:
        value = Reduce(op, tuple(indices[a] for a in over), value)
    return Assignment(Access("C", tuple(v for axis, v in enumerate(indices) if axis not in over)), value)


def _is_total_of_values(op: str, chain: tuple[str, ...], type: TensorType) -> bool:
    """Return whether the reduction of all elements is that of the stored values, however many are not stored."""
    format = type.format
    if format.is_dense or not (format.is_compact and format.is_unique):
        return False
    fill = _chained(chain, type)
    return same_scalar(fill.vals[0], OPERATORS[op].start(fill.type.dtype))


def reduce_storage(op: str, chain: tuple[str, ...], storage: Storage, axes: Axes) -> Storage:
    """Return a reduction over some axes of a tensor, after the unary operators of ``chain``."""
    if in_use and storage.is_on_device:
        return _reduce_on_device(op, chain, storage, axes)
    row = OPERATORS[op]
    dense = storage.format.is_dense
    # Padding of structured formats holds the fill value. If that is zero, padding does not change a sum.
    if not (op == "add" and axes.free and not chain and same_scalar(storage.type.fill, 0)):
        storage = stored_only(storage)
    if not (dense or storage.format.is_unique):
        storage = foreign_tensors.convert(storage, storage.format.canonical())
    if not (dense or axes.free) and axes.count:
        return _reduce_all(op, chain, storage, axes)
    if chain and not dense:
        fill_value = _chained(chain, storage.type)
        if not same_scalar(fill_value.vals[0], row.start(fill_value.type.dtype)):
            # The chain maps the fill value to another value than the start: it is applied to all values first.
            for name in chain:
                storage = apply_unary(name, storage)
            chain = ()
    if row.skips_nan and not becomes_array(storage, axes):
        storage = free_first(storage, axes)
    dtype = storage.type.dtype
    if axes.count == 0 and not row.has_identity:
        raise ShapeError(f"zero-size array to reduction operation {op} which has no identity")
    if axes.count == 0 or math.prod(storage.shape) == 0:
        return _unreduced(op, chain, storage, axes)
    if dense or chain:
        return _reduce_stored(op, chain, storage, axes)
    # The rest is for sparse tensors without a chain.
    start = row.start(dtype)
    fill = storage.type.fill
    if axes.free and not row.has_identity and row.collapses(fill) and _is_free_first(storage.format, axes):
        return _reduce_stored(op, chain, storage, axes)  # it sees implicit entries
    # A fill value equal to the start adds nothing. Any other one is relabeled and counted.
    neutral = same_scalar(fill, start)
    bare = storage if neutral else storage.with_values(storage.vals, start)
    stored = _reduce_stored(op, chain, bare, axes)
    if neutral:
        return stored
    counts = count_stored(storage, axes, stored.format)
    if not same_structure(stored, counts):
        format = Format.dense(len(axes.free))
        stored, counts = foreign_tensors.convert(stored, format), foreign_tensors.convert(counts, format)
    return _with_absent(op, stored, counts, axes.count, storage.dtype.type(fill))


def _reduce_on_device(op: str, chain: tuple[str, ...], storage: Storage, axes: Axes) -> Storage:
    """Return a reduction of a tensor on a device by one kernel, whose loops count implicit entries themselves."""
    if axes.count == 0 and not OPERATORS[op].has_identity:
        raise ShapeError(f"zero-size array to reduction operation {op} which has no identity")
    if math.prod(storage.shape) == 0:
        return _on_device_of(storage, _unreduced(op, chain, storage, axes))
    assignment = _reduced(op, chain, len(storage.shape), axes.over)
    reduced: Storage = execution.evaluate(assignment, {"A": storage})
    return reduced


def _on_device_of(beside: Storage, dense: Storage) -> Storage:
    """Return a dense tensor of the CPU on the device of another tensor."""
    if not beside.is_on_device:
        return dense
    return Storage(dense.shape, dense.type, (), devices.device(beside.device).copy_in(dense.vals))


def _reduce_all(op: str, chain: tuple[str, ...], storage: Storage, axes: Axes) -> Storage:
    """Return the reduction of all elements: of the values, after the chain, and of the implicit entries."""
    row, count = OPERATORS[op], len(storage.vals)
    fill = _chained(chain, storage.type)
    adds = axes.count > count and not same_scalar(fill.vals[0], row.start(fill.type.dtype))
    # One implicit entry replaces all of them if the operator collapses them.
    extra = fill if adds and row.collapses(fill.vals[0]) else None
    if not count:
        stored = _unreduced(op, chain, storage, axes) if extra is None else Storage.dense(np.array(fill.vals[0]))
    else:
        stored = _reduce_stored(op, chain, storage, axes, extra=extra)
    if not adds or extra is not None:
        return stored
    return _with_absent(op, stored, count_stored(storage, axes, Format.dense(0)), axes.count, fill.vals[0])


@lru_cache(maxsize=1024)
def _chained(chain: tuple[str, ...], type: TensorType) -> Storage:
    """Return the fill value after unary operators, as a cached scalar that no result may share."""
    dtype = np.dtype(type.dtype)
    fill = dtype.type(type.fill)
    for name in chain:
        dtype = loop_dtypes(name, (dtype,))[-1]
        with np.errstate(all="ignore"):
            fill = OPERATORS[name].ufunc(fill)
    return Storage.dense(np.asarray(fill, dtype))


def becomes_array(storage: Storage, axes: Axes) -> bool:
    """Return whether the result is an array over one axis."""
    return len(axes.free) == 1 and storage.shape[axes.free[0]] <= thresholds.THRESHOLDS.longest_array


def _has_room(storage: Storage, axis: int) -> bool:
    """Return whether an array along an axis is not much larger than the stored entries."""
    return storage.shape[axis] <= _ROOM + 4 * len(storage.vals)


def free_first(storage: Storage, axes: Axes) -> Storage:
    """Return a tensor whose outermost axes stay, so that one loop nest iterates over each slice without a break."""
    if storage.format.is_dense or not axes.free or _is_free_first(storage.format, axes):
        return storage
    modes = storage.format.mode_order
    order = (*(m for m in modes if m in axes.free), *(m for m in modes if m not in axes.free))
    # If there is room for a count of each row, entries are inserted by counts; otherwise they are sorted.
    counted = len(order) == 2 and _has_room(storage, order[0])
    return execution.convert(storage, _ordered(order, counted))


def _is_free_first(format: Format, axes: Axes) -> bool:
    return set(format.mode_order[: len(axes.free)]) == set(axes.free)


@lru_cache(maxsize=256)
def _ordered(order: tuple[int, ...], counted: bool) -> Format:
    first = Dense() if counted else Compressed()
    return Format(Remapping(order), (first, *(Compressed(),) * (len(order) - 1)))


_ROOM = 1 << 16


def same_structure(*storages: Storage) -> bool:
    """Return whether tensors of one shape store the same coordinates in the same format."""
    first, *others = storages
    return builtins.all(
        len(other.vals) == len(first.vals)
        and other.format == first.format
        and builtins.all(map(np.array_equal, first.arrays, other.arrays))
        for other in others
    )


def _unreduced(op: str, chain: tuple[str, ...], storage: Storage, axes: Axes) -> Storage:
    """Return a result without elements, or one whose elements are all the start of the operator."""
    shape = tuple(storage.shape[a] for a in axes.free)
    dtype = storage.dtype
    for name in chain:
        dtype = loop_dtypes(name, (dtype,))[-1]
    return Storage.dense(np.full(shape, OPERATORS[op].start(name_of(dtype)), dtype))


def count_stored(storage: Storage, axes: Axes, format: Format) -> Storage:
    """Return the number of stored entries that are reduced to each entry of the result."""
    if not axes.free:
        return Storage.dense(np.array(len(storage.vals)))
    ones = storage.with_values(np.ones(len(storage.vals), np.int64), 0)
    return _reduce_stored("add", (), ones, axes, format)


def number(count: int) -> np.ndarray[Any, Any]:
    """Return a number of elements as an operand."""
    if count > INT64_MAX:
        raise IndexOverflowError(f"{count} elements are more than 64-bit integers count")
    return np.array(count, np.int64)


def _with_absent(op: str, stored: Storage, counts: Storage, count: int, fill: Any) -> Storage:
    """Return the reduction of all ``count`` elements, from that of the stored entries and their numbers."""
    # stored op (repetition of the fill value, once for each implicit entry)
    absent = Apply("subtract", (Access("n", ()), Access("K", ("i",))))
    value = Apply(op, (Access("S", ("i",)), Apply(REPETITIONS[op], (absent, Access("f", ())))))
    operands = (
        vector(stored.vals),
        Storage.dense(number(count)),
        vector(counts.vals),
        Storage.dense(np.asarray(fill)),
    )
    vals = flat_map(value, operands)
    if OPERATORS[op].idempotent:
        return stored.with_values(vals, fill)  # any number of them reduces to one
    with np.errstate(all="ignore"):
        everything = OPERATORS[REPETITIONS[op]].ufunc(number(count), fill)
    return stored.with_values(vals, everything)


# -- the arguments of NumPy's functions -----------------------------------------------------------------------------
def operand(x: Any, name: str, read: Callable[[Any], Any] = as_operand) -> tuple[Storage, bool]:
    # Returns the storage of an argument, and whether the argument was an ndarray; ``read`` may take those on devices.
    argument = read(x)
    if argument is None:
        raise DTypeError(f"{name} takes tensors and arrays, not {type(x).__name__}")
    return argument.storage, argument.is_array


def as_tensor(x: Any, name: str, out: Any = None, read: Callable[[Any], Any] = as_operand) -> Any:
    # Returns an argument as a tensor or an array; a lazy one is computed if the result goes into ``out``.
    if type(x) is SparseTensor or (out is None and is_lazy(x)) or (type(x) is np.ndarray and x.ndim):
        if in_use and not is_lazy(x):
            read(x)  # which refuses tensors on devices
        return x
    storage, is_array = operand(x, name, read)
    return storage.to_dense_array() if is_array and storage.shape else SparseTensor(storage)


def finish_reduction(
    result: Storage, axes: Axes, keepdims: bool, has_array: bool, out: Any, name: str, casting: str = "unsafe"
) -> Any:
    # Returns the result as the caller gets it: a scalar, an ndarray, a tensor, or ``out``.
    if keepdims:
        result = expanded(result, axes.over)
    value = element(result) if not result.shape else wrap_result(SparseTensor, result, has_array)
    return value if out is None else write_out(value, out, name, casting=casting)


def _reduction(
    name: str, steps: tuple[str, ...], x: Any, axis: Axis, keepdims: bool, initial: Any, out: Any, where: Any = True
) -> Any:
    """Return a reduction by the last operator of ``steps``, after the unary operators before it."""
    if is_lazy(x) and initial is None and out is None and where is True:
        return x.reduced(steps[-1], steps[:-1], axis, keepdims)
    key = None
    usual = type(x) is SparseTensor and not (in_use and touches_device(x))
    if axis is None and usual and initial is None and out is None and where is True and not keepdims:
        # A small tensor is reduced in little more time than these checks take.
        whole = storage_of(x)
        values, key = whole.vals, ("total", steps, whole.type.number)
        total = plans.find(key)
        if total is not None and values.size:
            plan, flat = total
            return plan.run((Storage(values.shape, flat, (), values),)).vals[0]
    *unary, op = steps
    chain, (storage, has_array) = tuple(unary), operand(x, name, operand_anywhere)
    if key is not None and values.size and _is_total_of_values(op, chain, storage.type):
        flat = tensor_type(storage.type.dtype, Format.dense(1))
        plans.keep(key, (_reduction_plan(op, chain, (flat,), _ALL.over, None), flat))
    if where is not True:
        storage = _chosen(op, chain, x, where, initial)
    axes = Axes.of(axis, storage.shape)
    # An operator without identity reduces no elements to ``initial`` alone.
    if initial is not None and axes.count == 0 and OPERATORS[op].identity is None:
        shape = tuple(storage.shape[a] for a in axes.free)
        result = _on_device_of(storage, Storage.dense(np.full(shape, initial, storage.dtype)))
    else:
        result = reduce_storage(op, chain, storage, axes)
        if initial is not None:
            result = apply_scalar(op, result, result.dtype.type(initial), False)
    return finish_reduction(result, axes, keepdims, has_array, out, name)


def _chosen(op: str, chain: tuple[str, ...], x: Any, where: Any, initial: Any) -> Storage:
    """Return a tensor in which elements that a mask leaves out have a value that does not change the reduction."""
    row = OPERATORS[op]
    start = row.start(name_of(operand(x, row.name)[0].dtype)) if row.has_identity else None
    if op.startswith("logical"):
        # Elements that are left out are false in any(), and true in all().
        start = row.start("bool")
        x = x != 0 if chain else x
    elif start is None:
        if initial is None:
            raise ValueError(
                f"reduction operation '{op}' does not have an identity, so to use a where mask one has to specify "
                "'initial'"
            )
        start = initial
    return select.chosen(storage_of(x), storage_of(where), start)


def _widened(x: Any, dtype: DTypeLike | None, name: str) -> tuple[str, ...]:
    """Return the conversion that NumPy makes before it sums or multiplies, as a chain of operators."""
    source = x.dtype if isinstance(x, SparseTensor) else operand(x, name, operand_anywhere)[0].dtype
    if dtype is not None:
        target = value_dtype(dtype)
    # NumPy sums small integers as its default integer of the same signedness.
    elif source.kind in "bi" and source.itemsize < np.dtype(int).itemsize:
        target = np.dtype(int)
    elif source.kind == "u" and source.itemsize < np.dtype(np.uint).itemsize:
        target = np.dtype(np.uint)
    else:
        return ()
    return () if target == source else (target.name,)


@overload
def sum(
    x: SparseTensor | Array, /, axis: None = None, dtype: DTypeLike | None = None, out: None = None,
    keepdims: Literal[False] = False, initial: Any = None, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def sum(
    x: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Operand | Any: ...  # fmt: skip
@overload
def sum(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any: ...  # fmt: skip
def sum(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the sum over some axes.

    Signed integers and booleans that are smaller than int64 are summed as int64, and unsigned ones as uint64, as in
    NumPy.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int or tuple of int, optional
        The axes that are reduced, by default all.
    dtype : dtype, optional
        The dtype of the computation and of the result.
    keepdims : bool
        True to keep the reduced axes with size 1.
    initial : scalar, optional
        A value that is reduced with the elements.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.
    where : array_like of bool
        A mask of the elements that are reduced, broadcast.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        A scalar if no axis is left; a dense result is an ndarray if ``x`` is one.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    DTypeError
        If ``x`` is not a tensor, an array or a number.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.sum(A), weft.sum(A, axis=1).todense()
    (np.float64(3.0), array([1., 2.]))
    """
    return _reduction("sum", (*_widened(x, dtype, "sum"), "add"), x, axis, keepdims, initial, out, where)


@overload
def prod(
    x: SparseTensor | Array, /, axis: None = None, dtype: DTypeLike | None = None, out: None = None,
    keepdims: Literal[False] = False, initial: Any = None, where: Any = True,
) -> Scalar: ...  # fmt: skip
@overload
def prod(
    x: Operand, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Operand | Any: ...  # fmt: skip
@overload
def prod(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any: ...  # fmt: skip
def prod(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the product over some axes.

    The dtypes, arguments, results and errors are those of :func:`sum`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.prod(A + 1), weft.prod(A + 1, axis=0).todense()
    (np.float64(6.0), array([3., 2.]))
    """
    return _reduction("prod", (*_widened(x, dtype, "prod"), "multiply"), x, axis, keepdims, initial, out, where)


@overload
def min(
    x: SparseTensor | Array, /, axis: None = None, out: None = None, keepdims: Literal[False] = False,
    initial: Any = None, where: Any = True, *, explicit: bool = False,
) -> Scalar | Any: ...  # fmt: skip
@overload
def min(
    x: Operand, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True,
    *, explicit: bool = False,
) -> Operand | Any: ...  # fmt: skip
@overload
def min(
    x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True, *,
    explicit: bool = False,
) -> Any: ...  # fmt: skip
def min(
    x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True, *,
    explicit: bool = False,
) -> Any:  # fmt: skip
    """Return the minimum over some axes; a slice with NaN has the minimum NaN.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int or tuple of int, optional
        The axes that are reduced, by default all.
    keepdims : bool
        True to keep the reduced axes with size 1.
    initial : scalar, optional
        A value that is reduced with the elements. It is required with ``where``.
    out : ndarray or SparseTensor, optional
        The array into which the result is written.
    where : array_like of bool
        A mask of the elements that are reduced, broadcast.
    explicit : bool
        True to reduce stored entries only. A slice without any has the fill value, as in scipy.sparse.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        A scalar if no axis is left; a dense result is an ndarray if ``x`` is one.

    Raises
    ------
    ShapeError
        If there are no elements and no ``initial``.
    ValueError
        If ``where`` is given without ``initial`` or with ``explicit``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.min(A), weft.min(A, axis=0, explicit=True).todense()
    (np.float64(0.0), array([2., 1.]))
    """
    if explicit:
        return _explicit_extreme("min", "minimum", x, axis, keepdims, initial, out, where)
    return _reduction("min", ("minimum",), x, axis, keepdims, initial, out, where)


@overload
def max(
    x: SparseTensor | Array, /, axis: None = None, out: None = None, keepdims: Literal[False] = False,
    initial: Any = None, where: Any = True, *, explicit: bool = False,
) -> Scalar | Any: ...  # fmt: skip
@overload
def max(
    x: Operand, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True,
    *, explicit: bool = False,
) -> Operand | Any: ...  # fmt: skip
@overload
def max(
    x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True, *,
    explicit: bool = False,
) -> Any: ...  # fmt: skip
def max(
    x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True, *,
    explicit: bool = False,
) -> Any:  # fmt: skip
    """Return the maximum over some axes; a slice with NaN has the maximum NaN.

    The arguments, results and errors are those of :func:`min`.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.max(A), weft.max(A, axis=1).todense()
    (np.float64(2.0), array([1., 2.]))
    """
    if explicit:
        return _explicit_extreme("max", "maximum", x, axis, keepdims, initial, out, where)
    return _reduction("max", ("maximum",), x, axis, keepdims, initial, out, where)


def _explicit_extreme(
    name: str, op: str, x: Any, axis: Axis, keepdims: bool, initial: Any, out: Any, where: Any
) -> Any:
    """Return the extreme of stored entries; the fill value is relabeled as the operator's worst value."""
    if where is not True:
        raise ValueError(f"{name} takes explicit= or where=, not both: each selects the elements")
    storage, has_array = operand(x, name)
    axes = Axes.of(axis, storage.shape)
    storage = stored_only(storage)
    if not storage.format.is_unique:
        storage = foreign_tensors.convert(storage, storage.format.canonical())
    fill, dtype = storage.type.fill, storage.dtype
    # No element is worse than the relabeled fill value, so that implicit entries do not change the result.
    lowest, highest = _limits(dtype)
    bare = storage if storage.format.is_dense else relabel_fill(storage, lowest if op == "maximum" else highest)
    extremes = SparseTensor(reduce_storage(op, (), bare, axes))
    # Slices without stored entries have the fill value.
    held = SparseTensor(count_stored(storage, axes, Format.dense(len(axes.free))))
    operands = (storage_of(held > 0)), storage_of(extremes), Storage.dense(np.asarray(fill, dtype))
    result = select.where(operands, np.result_type(extremes.dtype, dtype))
    if initial is not None:
        result = apply_scalar(op, result, dtype.type(initial), False)
    return finish_reduction(result, axes, keepdims, has_array, out, name)


def _limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the least and the greatest value of a dtype."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min, np.iinfo(dtype).max
    return (False, True) if dtype.kind == "b" else (-np.inf, np.inf)


amax = max
amin = min


@overload
def any(
    x: SparseTensor | Array, /, axis: None = None, out: None = None, keepdims: Literal[False] = False, *,
    where: Any = True,
) -> np.bool_: ...  # fmt: skip
@overload
def any(
    x: Operand, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Operand | Any: ...
@overload
def any(x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any: ...
def any(x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Return whether any element over some axes is nonzero.

    The arguments, results and errors are those of :func:`sum`, without ``dtype`` and ``initial``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.any(A), weft.any(A, axis=1).todense()
    (np.True_, array([ True,  True]))
    """
    return _reduction("any", (*_as_bool(x, "any"), "logical_or"), x, axis, keepdims, None, out, where)


@overload
def all(
    x: SparseTensor | Array, /, axis: None = None, out: None = None, keepdims: Literal[False] = False, *,
    where: Any = True,
) -> np.bool_: ...  # fmt: skip
@overload
def all(
    x: Operand, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Operand | Any: ...
@overload
def all(x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any: ...
def all(x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Return whether all elements over some axes are nonzero.

    The arguments, results and errors are those of :func:`sum`, without ``dtype`` and ``initial``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.all(A), weft.all(A, axis=1).todense()
    (np.False_, array([False, False]))
    """
    return _reduction("all", (*_as_bool(x, "all"), "logical_and"), x, axis, keepdims, None, out, where)


def _as_bool(x: Any, name: str) -> tuple[str, ...]:
    dtype = x.dtype if isinstance(x, SparseTensor) else operand(x, name, operand_anywhere)[0].dtype
    return () if dtype.kind == "b" else ("bool",)


@overload
def count_nonzero(x: SparseTensor | Array, /, axis: None = None, keepdims: Literal[False] = False) -> np.int64: ...
@overload
def count_nonzero(x: Operand, /, axis: Axis = None, keepdims: bool = False) -> Operand | Any: ...
@overload
def count_nonzero(x: Any, /, axis: Axis = None, keepdims: bool = False) -> Any: ...
def count_nonzero(x: Any, /, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the number of nonzero elements over some axes.

    Implicit entries count if the fill value is nonzero, and stored zeros do not count.

    Parameters
    ----------
    x : array_like
        The tensor.
    axis : int or tuple of int, optional
        The axes that are reduced, by default all.
    keepdims : bool
        True to keep the reduced axes with size 1.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        The numbers as int64, a scalar if no axis is left.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.count_nonzero(A), weft.count_nonzero(A, axis=0).todense()
    (np.int64(2), array([1, 1]))
    """
    steps = (*_as_bool(x, "count_nonzero"), "int64", "add")
    return _reduction("count_nonzero", steps, x, axis, keepdims, None, None)


@typed_as(sum)
def nansum(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the sum over some axes of the elements that are not NaN.

    The arguments, results and errors are those of :func:`sum`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nansum(x)
    np.float64(2.0)
    """
    steps = ("nan_as_zero", *_widened(x, dtype, "nansum"), "add")
    return _reduction("nansum", steps, x, axis, keepdims, initial, out, where)


@typed_as(sum)
def nanprod(
    x: Any, /, axis: Axis = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return the product over some axes of the elements that are not NaN.

    The arguments, results and errors are those of :func:`sum`.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([3.0, float("nan"), 2.0], format="coo")
    >>> weft.nanprod(x)
    np.float64(6.0)
    """
    steps = ("nan_as_one", *_widened(x, dtype, "nanprod"), "multiply")
    return _reduction("nanprod", steps, x, axis, keepdims, initial, out, where)


def with_warning(result: Any) -> Any:
    """Return a result of elements that are not NaN; as in NumPy, warn of slices of NaN alone."""
    storage = storage_of(result)
    holds_fill = len(storage.vals) < math.prod(storage.shape)
    if np.isnan(storage.vals).any() or (holds_fill and np.isnan(storage.type.fill)):
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
    return result


def nanmin(
    x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """Return the minimum over some axes of the elements that are not NaN.

    The arguments, results and errors are those of :func:`min`, without ``explicit``. A slice of NaN alone has the
    minimum NaN, with a ``RuntimeWarning``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nanmin(x)
    np.float64(0.0)
    """
    return with_warning(_reduction("nanmin", ("fmin",), x, axis, keepdims, initial, out, where))


def nanmax(
    x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """Return the maximum over some axes of the elements that are not NaN.

    The arguments, results and errors are those of :func:`max`, without ``explicit``. A slice of NaN alone has the
    maximum NaN, with a ``RuntimeWarning``.

    Examples
    --------
    >>> import weft
    >>> x = weft.asarray([0.0, float("nan"), 2.0], format="coo")
    >>> weft.nanmax(x)
    np.float64(2.0)
    """
    return with_warning(_reduction("nanmax", ("fmax",), x, axis, keepdims, initial, out, where))


_BY_UFUNC: dict[str, Any] = {
    "add": sum, "multiply": prod, "minimum": min, "maximum": max, "logical_and": all, "logical_or": any,
    "fmin": nanmin, "fmax": nanmax,
}  # fmt: skip


def _reduce_bits(
    op: str, x: StorageHolder, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """Return a reduction by a bitwise operator or by ``logical_xor``."""
    chain = _as_bool(x, op) if op == "logical_xor" else ()
    if not chain:
        dtype = operand(x, op)[0].dtype
        loop_dtypes(op, (dtype, dtype))  # raises for dtypes without bitwise operators
    return _reduction(op, (*chain, op), x, axis, keepdims, initial, out, where)


def reduce_ufunc(
    op: str, x: StorageHolder, axis: Axis = 0, dtype: DTypeLike | None = None, out: Any = None,
    keepdims: bool = False, initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """Return ``ufunc.reduce`` of a tensor, by default over the first axis."""
    name, function = f"np.{OPERATORS[op].ufunc.__name__}.reduce", _BY_UFUNC.get(op)
    if function is None and op in REDUCTIONS.values():
        function = partial(_reduce_bits, op)
    if function is None:
        raise TypeError(f"{name} does not take SparseTensors; use their todense()")
    # The functions take fewer arguments than NumPy's ufunc.reduce.
    more: dict[str, Any] = {}
    if dtype is not None:
        if op not in ("add", "multiply"):
            raise TypeError(f"{name} of SparseTensors takes no dtype=")
        more["dtype"] = dtype
    if initial is not None:
        if op.startswith("logical"):
            raise TypeError(f"{name} of SparseTensors takes no initial=")
        more["initial"] = initial
    return function(x, axis=axis, keepdims=keepdims, out=out, where=where, **more)
