"""Implicit values: expressions with explicit conversions, simplified for operands that have no stored entry.

The operator table decides how an operand without a stored entry simplifies an expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..concrete_notation.nodes import Assign, Fill, Forall, Sequence, Stmt, Where
from ..concrete_notation.traversal import assignments, result_of
from ..concrete_notation.values import (
    UNKNOWN,
    CastExpr,
    ImplicitValue,
    RuntimeValue,
    TypedLiteral,
    is_constant,
    neutral_in_sum,
    same_value,
    typed,
)
from ..formats import TensorType
from ..index_notation import dtype_promotion
from ..index_notation.nodes import Access, Apply, Expr, Literal, Reduce
from ..index_notation.operator_table import OPERATORS, REPETITIONS
from ..index_notation.traversal import accesses, rewrite


@lru_cache(maxsize=4096)
def loop_dtypes(op: str, dtypes: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of the dtypes to which an operator converts its operands, and last that of its result."""
    return tuple(d.name for d in dtype_promotion.loop_dtypes(op, _known(dtypes)))


@lru_cache(maxsize=4096)
def application_dtypes(expr: Apply, dtypes: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the dtypes of `loop_dtypes` for an operator together with its operands.

    Integer literals among the operands must fit the dtype to which they are converted, or are compared by value.
    """
    return tuple(d.name for d in dtype_promotion.application_dtypes(expr, _known(dtypes)))


def literal_dtype(value: complex) -> Any:
    """Return the name of the dtype of a literal, or its Python type if the literal is weak."""
    if isinstance(value, RuntimeValue):  # an implicit operand that index notation shows as a literal
        return value.dtype
    dtype = dtype_promotion.literal_dtype(value)
    return dtype if isinstance(dtype, type) else dtype.name


def _known(dtypes: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.dtype(d) if isinstance(d, str) else d for d in dtypes)


def convert(expr: Expr, dtypes: Mapping[str, str]) -> tuple[Expr, Any]:
    """Return an expression with NumPy's promotion made explicit, and its dtype."""
    match expr:
        case Access(tensor=tensor):
            return expr, dtypes[tensor]
        case Literal(value=value):
            return expr, literal_dtype(value)
        case Apply(op=op, args=args):
            operands = [convert(arg, dtypes) for arg in args]
            # Literals alone have no dtype to adapt to: they take NumPy's default dtypes.
            if all(isinstance(d, type) for _, d in operands):
                operands = [(_typed(a, np.result_type(d).name), np.result_type(d).name) for a, d in operands]
            *dtypes_in, result = application_dtypes(expr, tuple(d for _, d in operands))
            new = Apply(op, tuple(_cast(a, d, w) for (a, d), w in zip(operands, dtypes_in, strict=True)))
            # An implicit operand that decides the result does so in its own dtype.
            decides = any(dtypes_in[position] != result for position, _ in OPERATORS[op].annihilators)
            return CastExpr(new, result) if decides else new, result
        case Reduce(op=op, vars=vars, body=body):
            inner, dtype = convert(body, dtypes)
            dtype = np.result_type(dtype).name if isinstance(dtype, type) else dtype
            return Reduce(op, vars, _typed(inner, dtype)), dtype
    raise TypeError(f"cannot lower {expr!r}")


def _typed(expr: Expr, dtype: str) -> Expr:
    return TypedLiteral(expr.value, dtype) if isinstance(expr, Literal) else expr


def _cast(expr: Expr, dtype: Any, to: str) -> Expr:
    if isinstance(expr, Literal):
        return TypedLiteral(expr.value, to)
    return expr if dtype == to else CastExpr(expr, to)


def converted(expr: Expr, dtypes: Mapping[str, str], new: str) -> Expr:
    """Return an expression with NumPy's promotion made explicit, converted to the dtype ``new``."""
    explicit, dtype = convert(expr, dtypes)
    return _cast(explicit, dtype, new)


def _apply(op: str, values: tuple[Any, ...]) -> Any:
    """Return the result of an operator for implicit values, which depends on the run if one of the values does."""
    if (runtime := next((v for v in values if isinstance(v, RuntimeValue)), None)) is not None:
        dtypes = tuple([v.dtype if isinstance(v, RuntimeValue) else _dtype_of(v) for v in values])
        return runtime.of(Apply(op, tuple([_as_expr(v) for v in values])), loop_dtypes(op, dtypes)[-1])
    with np.errstate(all="ignore"):
        return OPERATORS[op].ufunc(*values)


def _dtype_of(value: Any) -> Any:
    return value.dtype.name if isinstance(value, np.generic) else literal_dtype(value)


def _as_expr(value: Any) -> Expr:
    if isinstance(value, RuntimeValue):
        return value.expr
    return TypedLiteral(value.item(), value.dtype.name) if isinstance(value, np.generic) else Literal(value)


def _decided(op: str, value: Any) -> Any:
    """Return the result that an implicit operand with the fill value ``value`` decides."""
    row = OPERATORS[op]
    if row.absorbed is None:
        return value
    own = value.dtype if isinstance(value, RuntimeValue) else np.asarray(value).dtype.name
    return typed(row.absorbed, loop_dtypes(op, (own, own))[-1])


def _chosen(op: str, values: list[Any]) -> int | None:
    """Return the position of the implicit operand that a choice returns; None if it is not known."""
    row = OPERATORS[op]
    same = row.chooses and same_value(values[1], values[2])
    return row.chosen(values[0]) or (1 if same else None)


def implicit_value(expr: Expr, fills: Callable[[Access], Any]) -> Any:
    """Return the operator applied to fill values (law 5): the value where no operand has a stored entry."""
    match expr:
        case Access():
            return fills(expr)
        case Literal(value=value):
            return value
        case TypedLiteral(value=value, dtype=dtype) | ImplicitValue(value=value, dtype=dtype):
            return typed(value, dtype)
        case CastExpr(expr=inner, dtype=dtype):
            return typed(implicit_value(inner, fills), dtype)
        case Apply(op=op, args=args):
            values = [implicit_value(arg, fills) for arg in args]
            # An annihilator decides the result even if the other operand is not known.
            for position, value in enumerate(values):
                if annihilates(op, args, position, value):
                    return _decided(op, value)
            if (chosen := _chosen(op, values)) is not None:
                return values[chosen]
            if any(v is UNKNOWN for v in values):
                stated = OPERATORS[op].absent
                return UNKNOWN if stated is None else stated
            return _apply(op, tuple(values))
        case Reduce(op=op, body=body):
            # The number of reduced entries is not known: the value is known only if that number does not matter.
            row, value = OPERATORS[op], implicit_value(body, fills)
            value = neutral_in_sum(row.identity, value) if op == "add" else value
            stays = value is not UNKNOWN and (row.collapses(value) or same_value(value, row.identity))
            return value if stays else UNKNOWN
    raise TypeError(f"no fill value of {expr!r}")


def typed_implicit_value(expr: Expr, types: Mapping[str, TensorType]) -> object:
    """Return the implicit value of an expression with reductions, computed in the dtypes of its values."""
    return _typed_implicit_value(
        expr, tuple([(a.tensor, types[a.tensor].without_structure) for a in expr.distinct_accesses])
    )


@lru_cache(maxsize=4096)
def _typed_implicit_value(expr: Expr, kinds: tuple[tuple[str, TensorType], ...]) -> object:
    types = dict(kinds)

    expr = convert(expr, {name: type.dtype for name, type in kinds})[0]
    return implicit_value(expr, lambda access: absent_value(access, types[access.tensor]))


def absent_value(access: Access, type: TensorType) -> Any:
    """Return the value of what an operand does not store; that of a number is its type's fill value, unless it is 0."""
    return typed(type.fill, type.dtype) if access.indices or type.fill != 0 else UNKNOWN


def is_counted(op: str, absent: Any) -> bool:
    """Return whether the number of implicit entries determines what they contribute to a reduction."""
    return op in REPETITIONS or OPERATORS[op].collapses(absent)


def is_never_empty(op: str, absent: Any) -> bool:
    """Return whether a reduction of implicit entries alone has their value, and one of no entries has no value."""
    row = OPERATORS[op]
    return absent is not UNKNOWN and not row.has_identity and row.collapses(absent)


def asked_of(expr: Expr) -> Access | None:
    """Return the operand whose stored structure an operator with a stated ``absent`` result tests, or None."""
    match expr:
        case Apply(op=op, args=(arg,)) if OPERATORS[op].absent is not None:
            (asked,) = dict.fromkeys(a for a in accesses(arg) if a.indices)
            return asked
    return None


def annihilates(op: str, args: tuple[Expr, ...], position: int, fill: Any) -> bool:
    """Return whether an implicit operand decides the result alone; literals are not implicit, as 0 times NaN is NaN."""
    if fill is UNKNOWN or not OPERATORS[op].annihilates(position, fill):
        return False
    return not is_constant(args[position])


def deciding(expr: Apply, implicit: Callable[[Expr], Any]) -> tuple[int, ...]:
    """Return the operands of an operator without which it has no value, by their implicit values."""
    row = OPERATORS[expr.op]
    if not (row.annihilators or row.absorbs):
        return ()
    args = expr.args
    return tuple([k for k, arg in enumerate(args) if annihilates(expr.op, args, k, implicit(arg))])


def drop_implicit_operands(
    expr: Expr, absent: Mapping[Access, tuple[Any, str]], fills: Callable[[Access], Any] = lambda a: UNKNOWN
) -> Expr:
    """Return an expression in which some accesses have their fill values, simplified by the operator table.

    Only implicit entries simplify: a stored zero times infinity stays NaN. An identity is left out only if that does
    not change the implicit value of the expression. Zero plus -0.0 is 0.0, so that this zero stays.
    """

    def dropped(node: Expr) -> Expr | None:
        match node:
            case Access() if node in absent:
                return ImplicitValue(*absent[node])
            case CastExpr(expr=ImplicitValue(value=value), dtype=dtype):
                return ImplicitValue(typed(value, dtype).item(), dtype)
            case Apply() if any(isinstance(arg, ImplicitValue) for arg in node.args):
                return _without_implicit(node, fills)
        return None

    return rewrite(expr, dropped)


def _without_implicit(expr: Apply, fills: Callable[[Access], Any]) -> Expr | None:
    """Return an operator with an implicit operand in a simpler form; None if there is none."""
    op, args, row = expr.op, expr.args, OPERATORS[expr.op]
    # An annihilator decides the result.
    for position, arg in enumerate(args):
        if isinstance(arg, ImplicitValue) and row.annihilates(position, arg.value):
            result, implicit = _decided(op, typed(arg.value, arg.dtype)), implicit_value(expr, fills)
            if implicit is not UNKNOWN and not same_value(typed(implicit, arg.dtype), typed(result, arg.dtype)):
                return None  # elsewhere, another operand decides for a zero of the other sign
            return arg if row.absorbed is None else ImplicitValue(result.item(), result.dtype.name)
    # A condition leaves the operand that it chooses. It does not matter between two that are the same.
    if row.chooses:
        values = [typed(a.value, a.dtype) if isinstance(a, ImplicitValue | TypedLiteral) else UNKNOWN for a in args]
        left = None if (chosen := _chosen(op, values)) is None else args[chosen]
        return ImplicitValue(left.value, left.dtype) if isinstance(left, TypedLiteral) else left
    # If all operands have values, so has the result.
    constants = [arg for arg in args if isinstance(arg, ImplicitValue | TypedLiteral)]
    if len(constants) == len(args):
        value = _apply(op, tuple(typed(arg.value, arg.dtype) for arg in constants))
        return ImplicitValue(value.item(), loop_dtypes(op, tuple(arg.dtype for arg in constants))[-1])
    # An identity leaves the other operand.
    for position, other in ((0, 1), (1, 0)) if row.arity == 2 else ():
        arg = args[position]
        if isinstance(arg, ImplicitValue) and row.is_identity(position, arg.value):
            rest, result = implicit_value(args[other], fills), implicit_value(expr, fills)
            if result is UNKNOWN or same_value(rest, result):
                return args[other]
    return None


def specialize(
    stmt: Stmt,
    absent: Mapping[Access, tuple[Any, str]],  # the fill value of each, and its dtype
    neutral: Callable[[Assign], tuple[Any, str]],  # the value that a target holds anyway, and its dtype
    fills: Callable[[Access], Any],
) -> Stmt | None:
    """Return a statement in which some accesses have no stored entry; None if nothing is left of it.

    An assignment of an implicit value vanishes if its target holds that value anyway. If a producer vanishes, its
    workspace has no entries in the consumer. A producer also vanishes if the consumer no longer reads its workspace.
    """
    match stmt:
        case Assign(target=target, value=value, op=op):
            new = drop_implicit_operands(value, absent, fills)
            if isinstance(new, ImplicitValue):
                # The sign of a zero does not change a sum.
                held = neutral(stmt)[0]
                if same_value(new.value, neutral_in_sum(new.value, held) if op == "add" else held):
                    return None
            return stmt if new == value else Assign(target, new, op)
        case Forall(var=var, body=body, parallel=parallel):
            inner = specialize(body, absent, neutral, fills)
            return None if inner is None else stmt if inner is body else Forall(var, inner, parallel)
        case Where(consumer=consumer, producer=producer):
            # The producer comes first: if it vanishes, the consumer reads a workspace without entries.
            new_producer = specialize(producer, absent, neutral, fills)
            if new_producer is None:
                last = result_of(producer)
                return specialize(consumer, {**absent, last.target: neutral(last)}, neutral, fills)
            new_consumer = specialize(consumer, absent, neutral, fills)
            name = result_of(new_producer).target.tensor
            if new_consumer is None or all(
                a.tensor != name for each in assignments(new_consumer) for a in accesses(each.value)
            ):
                return new_consumer  # the consumer no longer reads the workspace
            return Where(new_consumer, new_producer)
        case Sequence(stmts=stmts):
            parts = tuple(s for s in (specialize(each, absent, neutral, fills) for each in stmts) if s is not None)
            # A sequence of fills alone counts as vanished: it assigns nothing.
            if not any(assignments(each) for each in parts):
                return None
            return parts[0] if len(parts) == 1 else Sequence(parts)
        case Fill():
            return stmt
    raise TypeError(f"not a statement: {stmt!r}")
