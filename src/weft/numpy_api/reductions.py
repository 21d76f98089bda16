"""Reductions, with the work of the stored entries and of the result alone.

One kernel is enough where any number of absent entries come to what one makes, and the axes that stay are outermost
(the largest element of each row of csr). Elsewhere what an operator makes of the stored entries and what it makes of
the absent ones are computed apart: a kernel reduces the stored ones, as if the fill value were the operator's start;
another counts them; and where entries are absent, the operator's repetition (a multiple for a sum, a power for a
product) says what as many fill values make.

Examples
--------
>>> import weft
>>> A = weft.from_coords([[0, 1], [2, 0]], [5.0, 2.0], shape=(2, 1000), format="csr", fill_value=1)
>>> sum(A, axis=1).todense()
array([1004., 1001.])
>>> float(max(A)), max(A, axis=0).fill_value
(5.0, np.float64(1.0))
"""

from __future__ import annotations

import builtins
import math
import operator
import warnings
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..analysis.implicit_values import same_value
from ..dtypes import INT64_MAX, name_of, value_dtype
from ..errors import DTypeError, IndexOverflowError, ShapeError
from ..formats import Compressed, Dense, Format, TensorType
from ..index_notation.dtype_promotion import loop_dtypes
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Reduce
from ..index_notation.operator_table import OPERATORS, REDUCTIONS, REPETITIONS
from ..operations import foreign_tensors, select
from ..operations.canonical import stored_only
from ..operations.elementwise import ElementwisePlan, apply_scalar, apply_unary, flat_map, vector, with_axes
from ..operations.fill_change import relabel_fill
from ..operations.indexing import has_long_array
from ..operations.operands import StorageHolder, as_operand, storage_of
from ..records import record
from ..remapping import Remapping
from ..storage import Storage
from ..tensor.operators import wrap_result
from ..tensor.out_argument import write_out
from ..tensor.sparse_tensor import SparseTensor

__all__ = [
    "Axes", "Axis", "all", "any", "count_nonzero", "count_stored", "finish_reduction",
    "kept_first", "max", "min", "nanmax", "nanmin", "nanprod", "nansum", "operand", "prod", "reduce_storage",
    "reduce_ufunc", "same_structure", "sum",
]  # fmt: skip

Axis = int | tuple[int, ...] | None


@record
class Axes:
    """The axes of one reduction: those that go, and those that stay."""

    gone: tuple[int, ...]
    kept: tuple[int, ...]
    count: int  # elements that are reduced to one

    @classmethod
    def of(cls, axis: Any, shape: tuple[int, ...]) -> Axes:
        """As NumPy takes them: an integer, several, or None for all."""
        return _usual_axes(axis, shape) if axis is None or type(axis) is int else cls._of(axis, shape)

    @classmethod
    def _of(cls, axis: Any, shape: tuple[int, ...]) -> Axes:
        n = len(shape)
        if not n and not isinstance(axis, tuple) and axis is not None and operator.index(axis) in (0, -1):
            axis = None  # NumPy lets these stand for all of an element
        given = range(n) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        gone = []
        for one in given:
            place = operator.index(one)
            if not -n <= place < n:
                raise np.exceptions.AxisError(place, n)
            gone.append(place % n)
        if len(set(gone)) != len(gone):
            raise ValueError("duplicate value in 'axis'")
        kept = tuple(a for a in range(n) if a not in gone)
        return cls(tuple(sorted(gone)), kept, math.prod(shape[a] for a in gone))


_ALL = Axes((0,), (), 0)
"""The only axis of a vector."""
_usual_axes = lru_cache(maxsize=1024)(Axes._of)
_plans: dict[tuple[Any, ...], ElementwisePlan] = {}


def _reduce_stored(
    op: str,
    chain: tuple[str, ...],
    storage: Storage,
    axes: Axes,
    format: Format | None = None,
    beside: Storage | None = None,
) -> Storage:
    """The stored entries, after the unary operators of ``chain``, reduced by a kernel; the fill is the start.

    So is a scalar ``beside`` them, if there is one.
    """
    if not axes.kept:
        storage, axes = vector(storage.vals), _ALL
    operands = (storage,) if beside is None else (storage, beside)
    key = (op, chain, id(storage.type), axes.gone, format, len(operands))  # which a plan keeps alive
    plan = _plans.get(key)
    if plan is None:
        indices = tuple(f"i{axis}" for axis in range(len(storage.shape)))
        value: Expr = Access("A", indices)
        for name in chain:
            value = Apply(name, (value,))
        if axes.gone:
            value = Reduce(op, tuple(indices[a] for a in axes.gone), value)
        if beside is not None:
            value = Apply(op, (value, Access("f", ())))
        target = Access("C", tuple(indices[a] for a in axes.kept))
        plan = _plans[key] = ElementwisePlan(Assignment(target, value), tuple(s.type for s in operands), format)
    return plan.run(operands)


def reduce_storage(op: str, chain: tuple[str, ...], storage: Storage, axes: Axes) -> Storage:
    """A reduction of what the unary operators of ``chain`` make of a tensor, over some axes."""
    row = OPERATORS[op]
    dense = storage.format.is_dense
    if not (op == "add" and axes.kept and not chain and same_value(storage.type.fill, 0)):
        storage = stored_only(storage)
    if not (dense or storage.format.is_unique):
        storage = foreign_tensors.convert(storage, storage.format.canonical())
    if not (dense or axes.kept) and axes.count:
        return _reduce_all(op, chain, storage, axes)
    if chain and not dense:
        made = _chained(chain, storage.type)
        if not same_value(made.vals[0], row.start(made.type.dtype)):
            # What the operators make of the fill value is no start: they go before, over the values.
            for name in chain:
                storage = apply_unary(name, storage)
            chain = ()
    wanted = None if dense else _vector_format(storage, axes)
    if row.skips_nan and wanted is None:
        storage = kept_first(storage, axes)
    dtype = storage.type.dtype
    if axes.count == 0 and not row.has_identity:
        raise ShapeError(f"zero-size array to reduction operation {op} which has no identity")
    if axes.count == 0 or math.prod(storage.shape) == 0:
        return _unreduced(op, chain, storage, axes)
    if dense or chain:
        return _reduce_stored(op, chain, storage, axes, wanted)
    start = row.start(dtype)
    fill = storage.type.fill
    if axes.kept and not row.has_identity and row.collapses(fill) and _is_kept_first(storage.format, axes):
        return _reduce_stored(op, chain, storage, axes, wanted)  # which sees whether entries are absent
    neutral = same_value(fill, start)
    bare = storage if neutral else storage.with_values(storage.vals, start)
    stored = _reduce_stored(op, chain, bare, axes, wanted)
    if neutral:
        return stored
    counts = count_stored(storage, axes, stored.format)
    if not same_structure(stored, counts):
        format = Format.dense(len(axes.kept))
        stored, counts = foreign_tensors.convert(stored, format), foreign_tensors.convert(counts, format)
    return _with_absent(op, stored, counts, axes.count, storage.dtype.type(fill))


def _reduce_all(op: str, chain: tuple[str, ...], storage: Storage, axes: Axes) -> Storage:
    """Every element to one: the values, after the chain, and what it makes of the fill as often as that is absent."""
    row, count = OPERATORS[op], len(storage.vals)
    fill = _chained(chain, storage.type)
    adds = axes.count > count and not same_value(fill.vals[0], row.start(fill.type.dtype))
    beside = fill if adds and row.collapses(fill.vals[0]) else None
    if not count:
        stored = _unreduced(op, chain, storage, axes) if beside is None else Storage.dense(np.array(fill.vals[0]))
    else:
        stored = _reduce_stored(op, chain, storage, axes, beside=beside)
    if not adds or beside is not None:
        return stored
    return _with_absent(op, stored, count_stored(storage, axes, Format.dense(0)), axes.count, fill.vals[0])


@lru_cache(maxsize=1024)
def _chained(chain: tuple[str, ...], type: TensorType) -> Storage:
    """What unary operators make of a fill value, as a scalar that no result may share: it is remembered."""
    dtype = np.dtype(type.dtype)
    fill = dtype.type(type.fill)
    for name in chain:
        dtype = loop_dtypes(name, (dtype,))[-1]
        with np.errstate(all="ignore"):
            fill = OPERATORS[name].ufunc(fill)
    return Storage.dense(np.asarray(fill, dtype))


def _vector_format(storage: Storage, axes: Axes) -> Format | None:
    """Dense for a sum that leaves one axis of what has an array as long as an axis anyway; None leaves it open."""
    open_ended = len(axes.kept) != 1 or not has_long_array(storage.format)
    return None if open_ended or not _has_room(storage, axes.kept[0]) else Format.dense(1)


def _has_room(storage: Storage, axis: int) -> bool:
    """Whether an array along an axis is not much more than what is stored."""
    return storage.shape[axis] <= _ROOM + 4 * len(storage.vals)


def kept_first(storage: Storage, axes: Axes) -> Storage:
    """The tensor with the axes that stay outermost, so that one loop nest finds all entries of a slice in a row."""
    if storage.format.is_dense or not axes.kept or _is_kept_first(storage.format, axes):
        return storage
    modes = storage.format.mode_order
    order = (*(m for m in modes if m in axes.kept), *(m for m in modes if m not in axes.kept))
    # Entries find their rows by counting where there is room for a count of each; else they are sorted.
    counted = len(order) == 2 and _has_room(storage, order[0])
    return execution.convert(storage, _ordered(order, counted))


def _is_kept_first(format: Format, axes: Axes) -> bool:
    return set(format.mode_order[: len(axes.kept)]) == set(axes.kept)


@lru_cache(maxsize=256)
def _ordered(order: tuple[int, ...], counted: bool) -> Format:
    first = Dense() if counted else Compressed()
    return Format(Remapping(order), (first, *(Compressed(),) * (len(order) - 1)))


_ROOM = 1 << 16


def same_structure(*storages: Storage) -> bool:
    """Whether tensors of one shape store the same coordinates in the same way."""
    first, *others = storages
    return builtins.all(
        len(other.vals) == len(first.vals)
        and other.format == first.format
        and builtins.all(map(np.array_equal, first.arrays, other.arrays))
        for other in others
    )


def _unreduced(op: str, chain: tuple[str, ...], storage: Storage, axes: Axes) -> Storage:
    """A result of no elements, or whose elements are all the start."""
    shape = tuple(storage.shape[a] for a in axes.kept)
    dtype = storage.dtype
    for name in chain:
        dtype = loop_dtypes(name, (dtype,))[-1]
    return Storage.dense(np.full(shape, OPERATORS[op].start(name_of(dtype)), dtype))


def count_stored(storage: Storage, axes: Axes, format: Format) -> Storage:
    """How many entries are stored for each entry of a reduction."""
    if not axes.kept:
        return Storage.dense(np.array(len(storage.vals)))
    ones = storage.with_values(np.ones(len(storage.vals), np.int64), 0)
    return _reduce_stored("add", (), ones, axes, format)


def number(count: int) -> np.ndarray[Any, Any]:
    """How many elements there are, as an operand.

    Raises
    ------
    IndexOverflowError
        Where that is more than 64-bit integers count.
    """
    if count > INT64_MAX:
        raise IndexOverflowError(f"{count} elements are more than 64-bit integers count")
    return np.array(count, np.int64)


def _with_absent(op: str, stored: Storage, counts: Storage, count: int, fill: Any) -> Storage:
    """What the stored entries make, together with what as many absent ones make as are missing to ``count``."""
    absent = Apply("subtract", (Access("n", ()), Access("K", ("i",))))
    value = Apply(op, (Access("S", ("i",)), Apply(REPETITIONS[op], (absent, Access("f", ())))))
    operands = (
        vector(stored.vals),
        Storage.dense(number(count)),
        vector(counts.vals),
        Storage.dense(np.asarray(fill)),
    )
    found = flat_map(value, operands)
    if OPERATORS[op].idempotent:
        return stored.with_values(found, fill)  # many of it make it
    with np.errstate(all="ignore"):
        everything = OPERATORS[REPETITIONS[op]].ufunc(number(count), fill)
    return stored.with_values(found, everything)


# -- the arguments of NumPy's functions -----------------------------------------------------------------------------
def operand(x: Any, name: str) -> tuple[Storage, bool]:
    found = as_operand(x)
    if found is None:
        raise DTypeError(f"{name} takes tensors and arrays, not {type(x).__name__}")
    return found.storage, found.is_array


def finish_reduction(result: Storage, axes: Axes, keepdims: bool, has_array: bool, out: Any, name: str) -> Any:
    if keepdims:
        result = with_axes(result, axes.gone)
    found = result.vals[0] if not result.shape else wrap_result(SparseTensor, result, has_array)
    return found if out is None else write_out(found, out, name, casting="unsafe")


def _reduction(
    name: str, op: str, chain: tuple[str, ...], x: Any, axis: Axis, keepdims: bool, initial: Any, out: Any,
    where: Any = True,
) -> Any:  # fmt: skip
    storage, has_array = operand(x, name)
    if where is not True:
        storage = _chosen(op, chain, x, where, initial)
    axes = Axes.of(axis, storage.shape)
    if initial is not None and axes.count == 0 and OPERATORS[op].identity is None:
        shape = tuple(storage.shape[a] for a in axes.kept)
        result = Storage.dense(np.full(shape, initial, storage.dtype))
    else:
        result = reduce_storage(op, chain, storage, axes)
        if initial is not None:
            result = apply_scalar(op, result, result.dtype.type(initial), False)
    return finish_reduction(result, axes, keepdims, has_array, out, name)


def _chosen(op: str, chain: tuple[str, ...], x: Any, where: Any, initial: Any) -> Storage:
    """The elements that a reduction is of, and where it is not of them what changes nothing."""
    row = OPERATORS[op]
    start = row.start(name_of(operand(x, row.name)[0].dtype)) if row.has_identity else None
    if op.startswith("logical"):
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
    """The conversion that NumPy makes before it sums or multiplies."""
    own = x.dtype if isinstance(x, SparseTensor) else operand(x, name)[0].dtype
    if dtype is not None:
        wanted = value_dtype(dtype)
    elif own.kind in "bi" and own.itemsize < np.dtype(int).itemsize:
        wanted = np.dtype(int)
    elif own.kind == "u" and own.itemsize < np.dtype(np.uint).itemsize:
        wanted = np.dtype(np.uint)
    else:
        return ()
    return () if wanted == own else (wanted.name,)


def sum(
    x: Any, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False,
    initial: Any = None, out: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """The sum over some axes; small integers are summed as int64, as by NumPy.

    Parameters
    ----------
    x : array_like
        A tensor.
    axis : int or tuple of int, optional
        The axes that go; all by default.
    dtype : dtype, optional
        In which to compute.
    keepdims : bool
        Leave the axes as axes of size 1.
    initial : scalar, optional
        What to begin with.
    out : ndarray, optional
        Where to put the result.
    where : array_like of bool
        Which elements are meant, broadcast; what has no identity needs ``initial`` with it.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        A scalar when no axis is left; an ndarray where ``x`` is one.
    """
    return _reduction("sum", "add", _widened(x, dtype, "sum"), x, axis, keepdims, initial, out, where)


def prod(
    x: Any, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False,
    initial: Any = None, out: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """The product over some axes; the arguments are those of :func:`sum`."""
    return _reduction("prod", "multiply", _widened(x, dtype, "prod"), x, axis, keepdims, initial, out, where)


def min(
    x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None, where: Any = True,
    explicit: bool = False,
) -> Any:  # fmt: skip
    """The smallest element over some axes; NaN where there is one.

    With ``explicit``, which goes without ``where``, absent elements do not count, and a result of none is the fill
    value, as scipy.sparse has it.
    """
    if explicit:
        return _explicit_extreme("min", "minimum", x, axis, keepdims, initial, out, where)
    return _reduction("min", "minimum", (), x, axis, keepdims, initial, out, where)


def max(
    x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None, where: Any = True,
    explicit: bool = False,
) -> Any:  # fmt: skip
    """The largest element over some axes; NaN where there is one.

    With ``explicit``, which goes without ``where``, absent elements do not count, and a result of none is the fill
    value, as scipy.sparse has it.
    """
    if explicit:
        return _explicit_extreme("max", "maximum", x, axis, keepdims, initial, out, where)
    return _reduction("max", "maximum", (), x, axis, keepdims, initial, out, where)


def _explicit_extreme(
    name: str, op: str, x: Any, axis: Axis, keepdims: bool, initial: Any, out: Any, where: Any
) -> Any:
    """The extreme of the stored elements: the others are taken for what no element is beyond."""
    if where is not True:
        raise ValueError(f"{name} takes explicit= or where=, not both: which elements are meant is said once")
    storage, has_array = operand(x, name)
    axes = Axes.of(axis, storage.shape)
    storage = stored_only(storage)
    if not storage.format.is_unique:
        storage = foreign_tensors.convert(storage, storage.format.canonical())
    fill, dtype = storage.type.fill, storage.dtype
    lowest, highest = _limits(dtype)
    bare = storage if storage.format.is_dense else relabel_fill(storage, lowest if op == "maximum" else highest)
    found = SparseTensor(reduce_storage(op, (), bare, axes))
    held = SparseTensor(count_stored(storage, axes, Format.dense(len(axes.kept))))
    given = (held > 0)._storage, found._storage, Storage.dense(np.asarray(fill, dtype))
    result = select.where(given, np.result_type(found.dtype, dtype))
    if initial is not None:
        result = apply_scalar(op, result, dtype.type(initial), False)
    return finish_reduction(result, axes, keepdims, has_array, out, name)


def _limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """What no element is below, and what none is above."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min, np.iinfo(dtype).max
    return (False, True) if dtype.kind == "b" else (-np.inf, np.inf)


amax, amin = max, min


def any(x: Any, /, axis: Axis = None, *, keepdims: bool = False, out: Any = None, where: Any = True) -> Any:
    """Whether an element is not zero."""
    return _reduction("any", "logical_or", _as_bool(x, "any"), x, axis, keepdims, None, out, where)


def all(x: Any, /, axis: Axis = None, *, keepdims: bool = False, out: Any = None, where: Any = True) -> Any:
    """Whether no element is zero."""
    return _reduction("all", "logical_and", _as_bool(x, "all"), x, axis, keepdims, None, out, where)


def _as_bool(x: Any, name: str) -> tuple[str, ...]:
    return () if operand(x, name)[0].type.dtype == "bool" else ("bool",)


def count_nonzero(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero."""
    chain = (*_as_bool(x, "count_nonzero"), "int64")
    return _reduction("count_nonzero", "add", chain, x, axis, keepdims, None, None)


def nansum(
    x: Any, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False,
    initial: Any = None, out: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """The sum of what is not NaN; the arguments are those of :func:`sum`."""
    chain = ("nan_as_zero", *_widened(x, dtype, "nansum"))
    return _reduction("nansum", "add", chain, x, axis, keepdims, initial, out, where)


def nanprod(
    x: Any, /, axis: Axis = None, *, dtype: DTypeLike | None = None, keepdims: bool = False,
    initial: Any = None, out: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """The product of what is not NaN; the arguments are those of :func:`sum`."""
    chain = ("nan_as_one", *_widened(x, dtype, "nanprod"))
    return _reduction("nanprod", "multiply", chain, x, axis, keepdims, initial, out, where)


def with_warning(found: Any) -> Any:
    """A result of what is not NaN; as with NumPy there is a warning where that is nothing."""
    storage = found._storage if isinstance(found, SparseTensor) else Storage.dense(np.asarray(found))
    holds_fill = len(storage.vals) < math.prod(storage.shape)
    if np.isnan(storage.vals).any() or (holds_fill and np.isnan(storage.type.fill)):
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
    return found


def nanmin(
    x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None, where: Any = True
) -> Any:
    """The smallest element that is not NaN; NaN where all are."""
    return with_warning(_reduction("nanmin", "fmin", (), x, axis, keepdims, initial, out, where))


def nanmax(
    x: Any, /, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None, where: Any = True
) -> Any:
    """The largest element that is not NaN; NaN where all are."""
    return with_warning(_reduction("nanmax", "fmax", (), x, axis, keepdims, initial, out, where))


_BY_UFUNC = {
    "add": sum, "multiply": prod, "minimum": min, "maximum": max, "logical_and": all, "logical_or": any,
    "fmin": nanmin, "fmax": nanmax,
}  # fmt: skip


def _reduce_bits(
    op: str, x: StorageHolder, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, out: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """Whether an odd number are true, or what bits all, any or an odd number of integers have."""
    chain = _as_bool(x, op) if op == "logical_xor" else ()
    if not chain:
        dtype = operand(x, op)[0].dtype
        loop_dtypes(op, (dtype, dtype))  # which raises where numbers are not of bits
    return _reduction(op, op, chain, x, axis, keepdims, initial, out, where)


def reduce_ufunc(
    op: str, name: str, x: StorageHolder, axis: Axis = 0, dtype: DTypeLike | None = None, out: Any = None,
    keepdims: bool = False, initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """``ufunc.reduce`` of a tensor, with its arguments."""
    function: Any = _BY_UFUNC.get(op)
    if function is None and op in REDUCTIONS.values():
        function = partial(_reduce_bits, op)
    if function is None:
        raise TypeError(f"{name} does not take SparseTensors; use their todense()")
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
