"""Elementwise operators: planned once for each combination of types, then run.

Two tensors become an assignment over their axes, broadcast by NumPy's rules. An operator on one tensor, or on a tensor
and a scalar, keeps the structure. Such an operator becomes an assignment over the stored values, and is applied to the
fill value, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import execution
from ..dtypes import adds_alike, name_of
from ..errors import ShapeError
from ..execution.plan_cache import kept, plans
from ..formats import Compressed, Dense, Format, LevelFormat, TensorType
from ..formats.capabilities import Append, ArrayEditing
from ..formats.soundness import why_unsound
from ..index_notation.dtype_promotion import COMPARISONS, holds, loop_dtypes, result_dtype
from ..index_notation.nodes import Access, Apply, Assignment, Expr, Literal
from ..index_notation.operator_table import ABSENT_ANSWERS, operator
from ..records import replace
from ..remapping import Remapping
from ..runtime.devices import in_use
from ..storage import Storage, fill_of, tensor_type
from . import foreign_tensors
from .canonical import drop_explicit_fill
from .operands import describe, refusal, scalar_storage
from .shapes import broadcast_shapes

if TYPE_CHECKING:
    from ..execution import Plan
    from ..variant import Variant

_FLAT = Format.dense(1)


def plan_operation(
    assignment: Assignment,
    types: tuple[TensorType, ...],
    format: Format | None = None,
    prune: bool = False,
    looked: execution.Absorbed | None = None,
    variant: Variant | None = None,
) -> Plan:
    """Return a plan for operands of certain types, which announces large results and leaves out what ``prune`` says."""
    plain = None if format is None else format.unconditional
    plan = execution.plan_for(assignment, types, format=plain, prune=prune, variant=variant)
    if prune:
        plan = _pruning(plan)
    if (plain is None or not plain.is_dense) and plan.facts.spreads:
        check = partial(_announce, looked or execution.Absorbed(assignment), plan)
        plan = replace(plan, check=check)
    return plan


def _pruning(plan: Plan) -> Plan:
    """Return a plan that drops entries equal to the fill value afterwards, if its kernel cannot leave them out.

    Below a diagonal that is stored, all entries are.
    """
    levels = plan.target.format.levels
    if plan.target.format.is_dense or any(level.implied for level in levels) or plan.prunes:
        return plan
    last = (len(plan.inputs) + len(plan.steps) - 1,)
    step = execution.Prune(last, plan.target, "the kernel cannot leave out fill values", drop_explicit_fill)
    return replace(plan, steps=(*plan.steps, step), replan=lambda variant: _pruning(plan.replan(variant)))


def _announce(looked: Any, plan: Plan, storages: Sequence[Storage]) -> None:
    """Look at the size of a result that has elements which no operand stores."""
    if plan.check is not None:
        plan.check(storages)
    operands = dict(zip(plan.inputs, storages, strict=True))
    execution.announce(looked.assignment, looked, operands, plan.target, spelling="operator")


def plan_elementwise(
    op: str, operands: Sequence[Storage | Literal], dtype: np.dtype[Any] | None = None
) -> tuple[Plan, list[Storage]]:
    """Return the plan of an operator, in a dtype that all its values have, and the operands with which to run it.

    The operands may have lost axes of size 1.
    """
    shape = common_shape(op, [x for x in operands if isinstance(x, Storage)])
    # C(i0,i1,...) = A(...) op B(...), in which an operand lacks the variables of axes along which it stretches.
    target = tuple(f"i{axis}" for axis in range(len(shape)))
    args, storages = list[Expr](), dict[str, Storage]()
    for name, x in zip("ABC", operands, strict=False):
        if isinstance(x, Storage):
            storages[name], access = _access(name, x, shape)
        args.append(x if isinstance(x, Literal) else access)
    value: Expr = Apply(op, tuple(args))
    if dtype is not None and result_dtype(value, {name: s.dtype for name, s in storages.items()}) != dtype:
        value = Apply(dtype.name, (value,))
    assignment, looked = Assignment(Access("CCCD"[len(args)], target), value), None
    # An operator may absorb only beside certain values.
    if len(args) == 2 and depends_on_values(op, *storages.values()):
        looked = execution.looked_up(assignment, storages)
        assignment = looked.assignment
    # As in scipy and sparse, results equal to the fill value are not stored: A != B has entries only where the two
    # differ. A device, which makes no structures, stores them, and a choice keeps -0.0.
    tensors = [*storages.values()]
    types, variant = tuple([s.type for s in tensors]), execution.variant_for(tensors)
    prune = not (operator(op).chooses or any(s.format.is_dense for s in tensors)) and variant is None
    key = ("elementwise", *[type.number for type in types], assignment, variant)
    plan = plans.get(key, lambda: plan_operation(assignment, types, prune=prune, looked=looked, variant=variant))
    return plan, tensors


def common_shape(op: str, operands: Sequence[Storage]) -> tuple[int, ...]:
    """Return the shape to which operands broadcast."""
    try:
        return broadcast_shapes(*[s.shape for s in operands])
    except ValueError:
        shown = " and ".join(map(describe, operands))
        raise ShapeError(f"{operator(op).name}: shapes do not broadcast: {shown}") from None


def known_number(number: np.generic) -> Storage | Literal:
    """Return a number as an operand that tells its value, which may decide the structure of a result."""
    if not number or isinstance(number, np.bool_):
        return Literal(number.item())
    return telling(Storage.dense(np.asarray(number)))


def telling(number: Storage) -> Storage:
    """Return a number whose type tells its value, so that fill values follow from it."""
    known = tensor_type(number.type.dtype, number.format, (), fill_of(number.dtype, number.vals[0]))
    return Storage((), known, (), number.vals)


def depends_on_values(op: str, left: Storage, right: Storage) -> bool:
    """Return whether the format of ``left op right`` depends on values: of an array, or of axes that one lacks."""
    sparse = [k for k, x in enumerate((left, right)) if not x.format.is_dense]
    if not operator(op).near_annihilators or (left.shape == right.shape and len(sparse) == 2):
        return False
    return any(operator(op).near(k, (left, right)[k].type.fill) for k in sparse)


def _access(name: str, storage: Storage, shape: tuple[int, ...]) -> tuple[Storage, Expr]:
    """Return an operand without the axes of size 1 that stretch, and its access in a result of ``shape``."""
    offset = len(shape) - len(storage.shape)
    stretched = [axis for axis, size in enumerate(storage.shape) if size != shape[axis + offset]]
    indices = [f"i{axis + offset}" for axis in range(len(storage.shape)) if axis not in stretched]
    return without_axes(storage, stretched), Access(name, tuple(indices))


def without_axes(storage: Storage, axes: list[int]) -> Storage:
    """Return the tensor without some axes of size 1.

    The arrays are shared if possible. Else the entries are stored anew, with these axes in outer dense levels that are
    then dropped.
    """
    if axes:
        storage = _plainly(storage)
    result = storage
    for axis in sorted(axes, reverse=True):  # from the last, so that the numbers of the other axes stay valid
        smaller = without_axis(result, axis)
        if smaller is None:
            break
        result = smaller
    else:
        return result
    # A level cannot be dropped: the axes become dense outer levels, which store nothing.
    old = dict(zip(storage.format.mode_order, storage.format.levels, strict=True))
    modes = (*axes, *(axis for axis in storage.format.mode_order if axis not in axes))
    levels = [old[axis] if axis not in axes and _stores_nothing(old[axis]) else Compressed() for axis in modes]
    packed = foreign_tensors.convert(storage, Format(Remapping(modes), [*(Dense(),) * len(axes), *levels[len(axes) :]]))
    for axis in sorted(axes, reverse=True):
        smaller = without_axis(packed, axis)
        assert smaller is not None
        packed = smaller
    return packed


def _plainly(storage: Storage) -> Storage:
    """Return the tensor in its plain format if its format is structured, else the tensor itself."""
    return foreign_tensors.convert(storage, storage.plain_format) if storage.format.is_structured else storage


def _stores_nothing(level: LevelFormat) -> bool:
    return level.row_major and not level.roles


def with_axes(storage: Storage, axes: tuple[int, ...]) -> Storage:
    """Return the same arrays with axes of size 1 inserted, at the places ``axes`` of the result.

    A tensor of a structured format is first converted to its plain format.
    """
    if not axes:
        return storage
    storage = _plainly(storage)
    given = iter(storage.shape)
    shape = tuple([1 if axis in axes else next(given) for axis in range(len(storage.shape) + len(axes))])
    return Storage(shape, _type_with_axes(storage.type, axes), storage.arrays, storage.vals)


@lru_cache(maxsize=1024)
def _type_with_axes(old: TensorType, axes: tuple[int, ...]) -> TensorType:
    format = old.format
    order = format.order + len(axes)
    others = [axis for axis in range(order) if axis not in axes]
    modes = (*axes, *(others[mode] for mode in format.mode_order))
    if format.is_dense:  # the place of an axis of size 1 does not matter; the usual order of axes does
        modes = tuple(range(order)) if format.remapping.is_identity else modes
    levels = (*(Dense(),) * len(axes), *format.levels)
    return tensor_type(old.dtype, Format(Remapping(modes), levels), old.index_dtypes, old.fill)


def without_axis(storage: Storage, axis: int) -> Storage | None:
    """Return the same arrays without an axis of size 1, or None if its level cannot be dropped.

    A level can be dropped if it stores nothing. The root can be dropped if it has one position. A level above a
    branchless one takes the coordinates of that one in place of its own.
    """
    format = storage.format
    if format.is_structured:
        return None
    # The type alone decides, unless the level is a root whose positions must be counted.
    levels = _without_level(storage.type, axis, False)
    if levels is None and format.mode_order[0] == axis:
        root = format.levels[0]
        if root.gapless and root.size(1, 1, dict(zip(root.roles, storage.arrays, strict=False))) == 1:
            levels = _without_level(storage.type, axis, True)
    if levels is None:
        return None
    smaller, kept = levels
    shape = storage.shape[:axis] + storage.shape[axis + 1 :]
    return Storage(shape, smaller, tuple([storage.arrays[n] for n in kept]), storage.vals)


@lru_cache(maxsize=1024)
def _without_level(old: TensorType, axis: int, single: bool) -> tuple[TensorType, tuple[int, ...]] | None:
    """Return the type without the level of an axis of size 1, and the arrays that remain; or None.

    If ``single``, the level is a root with one position.
    """
    format = old.format
    k = format.mode_order.index(axis)
    above, level, below = format.levels[:k], format.levels[k], format.levels[k + 1 :]
    given_up = level.roles
    # The two levels store one coordinate for each entry; the upper one keeps its positions, with the lower coordinates.
    if below and below[0].branchless:
        edited = level.capability(ArrayEditing)
        narrowed = None if edited is None else edited.narrowed(below[0])
        if narrowed is None:
            return None
        below, given_up = (narrowed, *below[1:]), below[0].roles
    # Any other level must have one position under each parent, since its positions are then those of the parents.
    elif not (single or _stores_nothing(level)):
        return None
    modes = tuple(mode - (mode > axis) for mode in format.mode_order if mode != axis)
    rest, levels = Remapping(modes), above + below
    if why_unsound(rest, levels) is not None:
        return None
    # The arrays that remain. With a branchless level below, that level's coordinates replace those of the dropped
    # level.
    roles = [(j, role) for j, lv in enumerate(format.levels) for role in lv.roles]
    kept = tuple(n for n, (j, role) in enumerate(roles) if j != k or role not in given_up)
    return tensor_type(old.dtype, Format(rest, levels), tuple(old.index_dtypes[n] for n in kept), old.fill), kept


def apply_scalar(op: str, storage: Storage, scalar: Any, scalar_first: bool) -> Storage:
    """Return ``storage op scalar``, or ``scalar op storage`` if ``scalar_first``.

    The result has the same structure, other values and another fill value. The result of a question, such as a
    comparison, has no entries equal to its fill value.
    """
    key = (op, storage.type.number, type(scalar), scalar_first)
    away = in_use and storage.is_on_device
    warm: ScalarPlan | None = None if away else plans.find(key)
    if warm is not None and warm.takes(scalar):
        return warm.run(storage, scalar)
    other = scalar_beside(op, scalar, storage.dtype, scalar_first)
    linear = _distributes(op, storage.dtype, other.vals, scalar_first)
    args: tuple[Expr, Expr] = (Access("A", ("i",)), Access("B", ()))
    args = args[::-1] if scalar_first else args
    # The types of Python scalars alone decide the plan, so that the next call takes the short way.
    if not away and type(scalar) in (int, float, complex) and _keeps_structure(storage, linear=False):
        plans.keep(key, ScalarPlan(op, args, storage.type, other, scalar_first))
    return _pruned_answers(op, _map(op, storage, args, (other,), linear, scalar_first))


def _distributes(op: str, dtype: np.dtype[Any], scalar: np.ndarray[Any, Any], scalar_first: bool) -> bool:
    """Return whether an operator with a scalar distributes over a sum, in the dtype of the sum.

    Duplicates then need not be summed first.
    """
    if op not in ("multiply", "divide") or (op == "divide" and (scalar_first or not scalar.all())):
        return False
    made = loop_dtypes(op, (scalar.dtype, dtype) if scalar_first else (dtype, scalar.dtype))[-1]
    return bool(np.isfinite(scalar).all()) and adds_alike(dtype, made)


def _pruned_answers(op: str, answers: Storage) -> Storage:
    """Return the boolean result of a question without entries that equal its fill value.

    Results of other operators are returned unchanged.
    """
    if answers.dtype.kind != "b" or answers.format.is_dense or not _asks(op):
        return answers
    if answers.is_on_device:
        raise refusal(answers, op)
    true = np.count_nonzero(answers.vals)
    # The number of answers that equal the answer for implicit entries.
    absent = true if answers.type.fill else len(answers.vals) - true
    if not absent:
        return answers
    # A format that appends its entries is copied by one kernel that leaves some out.
    if not appends_alone(answers.format):
        return drop_explicit_fill(answers)
    return _pruning_copy(answers.type).run((answers,))


@kept
def _pruning_copy(type: TensorType) -> Plan:
    indices = tuple(f"i{axis}" for axis in range(type.format.order))
    copy = Assignment(Access("C", indices), Access("A", indices))
    return plan_operation(copy, (type,), type.format, prune=True)


@cache
def appends_alone(format: Format) -> bool:
    """Return whether entries of a format are appended one by one, so that a kernel may leave some out."""
    if not format.levels or not format.is_unique or format.is_structured:
        return False
    return format.levels[-1].capability(Append) is not None


@cache
def _asks(op: str) -> bool:
    """Return whether an operator is a question with a boolean result, whatever its operands are."""
    return operator(op).c in COMPARISONS or op.startswith(("logical_", "is", "signbit"))


class ScalarPlan:
    """Plan of ``tensor op scalar`` for tensors of one type and Python scalars of one type.

    All that does not depend on the scalar's value is prepared. The type of a result depends on the scalar by its fill
    value. The result types of up to ``_SCALARS`` scalars are kept.
    """

    __slots__ = (
        "_answers", "_asked", "_dtype", "_fill", "_first", "_limits", "_op", "_plan", "_results", "_scalar", "_type",
        "_vector",
    )  # fmt: skip

    def __init__(self, op: str, args: tuple[Expr, Expr], type: TensorType, other: Storage, first: bool):
        self._type = type
        self._first = first
        self._dtype, self._scalar = other.dtype, other.type
        self._limits = np.iinfo(self._dtype) if self._dtype.kind in "iu" else None
        self._vector = tensor_type(type.dtype, _FLAT)
        types = (other.type, self._vector) if self._first else (self._vector, other.type)
        self._plan = _flat_plan(Apply(op, args), types)
        self._fill = np.dtype(type.dtype).type(type.fill)
        self._results: dict[Any, TensorType] = {}
        self._op = op
        self._asked: dict[Any, Plan] = {}  # by the scalar; no question depends on the sign of a zero
        self._answers: dict[bool, Plan] | None = {} if _asks(op) and appends_alone(type.format) else None

    def takes(self, scalar: Any) -> bool:
        """Return whether the scalar fits into the dtype of the plan."""
        limits = self._limits
        return limits is None or limits.min <= scalar <= limits.max

    def run(self, storage: Storage, scalar: Any) -> Storage:
        other = Storage((), self._scalar, (), np.array([scalar], self._dtype))
        # A question about appended entries stores only answers other than that for implicit entries.
        if self._answers is not None:
            plan = self._asked.get(scalar)
            if plan is None:
                plan = self._answering(bool(self._absent(other.vals[0])))
                if len(self._asked) < _SCALARS:
                    self._asked[scalar] = plan
            return plan.run((other, storage) if self._first else (storage, other))
        values = storage.vals
        # All other results keep the structure: the stored values are computed as a vector.
        flat = Storage(values.shape, self._vector, (), values)
        vals = self._plan.run((other, flat) if self._first else (flat, other)).vals
        type = self._results.get(scalar)
        if type is None:
            fill, old = self._absent(other.vals[0]), self._type
            type = tensor_type(name_of(vals.dtype), old.format, old.index_dtypes, fill_of(vals.dtype, fill))
            if scalar and not isinstance(scalar, complex) and len(self._results) < _SCALARS:
                # 0.0 and -0.0 are equal as keys but give different fill values; so do parts of complex numbers.
                self._results[scalar] = type
        return _pruned_answers(self._op, Storage(storage.shape, type, storage.arrays, vals))

    def _absent(self, beside: Any) -> Any:
        """Return the result for an implicit entry."""
        row = operator(self._op)
        return row.implicit(1, beside, self._fill) if self._first else row.implicit(0, self._fill, beside)

    def _answering(self, absent: bool) -> Plan:
        """Return the plan that asks about each entry, and stores answers that differ from the implicit one."""
        assert self._answers is not None
        plan = self._answers.get(absent)
        if plan is None:
            indices = tuple(f"i{axis}" for axis in range(self._type.format.order))
            args = (Access("A", indices), Access("B", ()))
            question = Apply(self._op, args[::-1] if self._first else args)
            answer = Assignment(Access("C", indices), Apply(ABSENT_ANSWERS[absent], (question,)))
            types = (self._scalar, self._type) if self._first else (self._type, self._scalar)
            plan = self._answers[absent] = plan_operation(answer, types, self._type.format, prune=True)
        return plan


_SCALARS = 256


def _keeps_structure(storage: Storage, linear: bool) -> bool:
    """Return whether an operator may be applied to each stored value alone.

    Duplicates must be summed first, unless the operator is linear.
    """
    return linear or storage.format.is_dense or storage.format.is_unique


def scalar_beside(op: str, value: Any, beside: np.dtype[Any], first: bool) -> Storage:
    """Return a scalar as storage, in the dtype in which the operator takes the scalar beside ``beside``."""
    if type(value) in (int, float, complex):
        weak: tuple[Any, Any] = (type(value), beside) if first else (beside, type(value))
        dtype = loop_dtypes(op, weak)[0 if first else 1]
        if type(value) is int and not holds(dtype, value):
            if operator(op).c not in COMPARISONS:
                raise OverflowError(f"Python integer {value} out of bounds for {dtype} in {op}")
            dtype = np.asarray(value).dtype  # a comparison takes the integer by its value, as in NumPy
            if dtype.kind == "O":  # beyond all integers of 64 bits, as infinity is
                value, dtype = math.copysign(math.inf, value), np.dtype(np.float64)
        return Storage.dense(np.asarray(value, dtype))
    return scalar_storage(value, beside)


def apply_unary(op: str, storage: Storage) -> Storage:
    """Return ``op storage``: the same structure, other values, another fill value."""
    away = in_use and storage.is_on_device
    warm = None if away else plans.find((op, storage.type.number))
    if warm is not None:
        plan, vector_type, type = warm
        values = storage.vals
        found = plan.run((Storage(values.shape, vector_type, (), values),)).vals
        return _pruned_answers(op, Storage(storage.shape, type, storage.arrays, found))
    args, linear = (Access("A", ("i",)),), op in ("negative", "positive")
    result = _map(op, storage, args, (), linear, False)
    if not away and _keeps_structure(storage, linear):
        vector_type = tensor_type(storage.type.dtype, _FLAT)
        plan = _flat_plan(Apply(op, args), (vector_type,))
        plans.keep((op, storage.type.number), (plan, vector_type, result.type))
    return _pruned_answers(op, result)


def _map(
    op: str, storage: Storage, args: tuple[Expr, ...], others: tuple[Storage, ...], linear: bool, reverse: bool
) -> Storage:
    if not _keeps_structure(storage, linear):
        storage = foreign_tensors.convert(storage, storage.format.canonical())  # sums duplicates
    vals = vector(storage.vals)
    storages = (*others, vals) if reverse else (vals, *others)
    result = flat_map(Apply(op, args), storages)
    # A dense tensor has no implicit entries, and keeps its fill value.
    fill = storage.type.fill
    if not storage.format.is_dense:
        scalars = [s.vals[0] for s in others]
        own, row = storage.dtype.type(fill), operator(op)
        fill = row.implicit(len(scalars), *scalars, own) if reverse else row.implicit(0, own, *scalars)
    return storage.with_values(result, fill)


def vector(vals: np.ndarray[Any, Any]) -> Storage:
    """Return values as the storage of a dense vector."""
    return Storage(vals.shape, tensor_type(name_of(vals.dtype), _FLAT), (), vals)


def flat_map(value: Expr, storages: tuple[Storage, ...]) -> np.ndarray[Any, Any]:
    """Return an expression over vectors ``(i)`` and scalars ``()``, computed for each ``i``."""
    plan = _flat_plan(value, tuple([s.type for s in storages]), execution.variant_for(storages))
    return plan.run(storages).vals  # type: ignore[no-any-return]


@kept
def _flat_plan(value: Expr, types: tuple[TensorType, ...], variant: Variant | None = None) -> Plan:
    return plan_operation(Assignment(Access("C", ("i",)), value), types, variant=variant)


def as_number(storage: Storage) -> Storage:
    """Return a tensor of one element as a number, whose type does not tell its value."""
    return storage if storage.is_on_device or not storage.shape else Storage.dense(np.asarray(only_element(storage)))


def only_element(storage: Storage) -> Any:
    """Return the only element of a tensor, as a NumPy scalar."""
    if not storage.format.is_dense:
        storage = execution.convert(storage, Format.dense(len(storage.shape)))
    return storage.vals[0]
