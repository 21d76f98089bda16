"""Expressions ready for lowering: every conversion explicit, absent operands simplified away by the operator table.

Two nodes join those of index notation: ``CastExpr`` (NumPy's promotion made visible) and ``ImplicitValue`` (an operand
that is known to be its fill value here, as it has no stored entry).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..concrete_notation.nodes import Assign, Fill, Forall, Sequence, Stmt, Where, accesses, assignments, result_of
from ..dtypes import adds_alike
from ..index_notation import dtype_promotion
from ..index_notation.nodes import Access, Apply, Expr, Literal
from ..index_notation.operator_table import OPERATORS
from ..records import record

__all__ = [
    "UNKNOWN",
    "CastExpr",
    "ImplicitValue",
    "TypedLiteral",
    "adds_in_place",
    "annihilates",
    "application_dtypes",
    "asked_of",
    "convert",
    "converted",
    "drop_implicit_operands",
    "implicit_value",
    "is_constant",
    "literal_dtype",
    "loop_dtypes",
    "neutral_in_sum",
    "same_value",
    "specialize",
    "typed",
    "without_conversions",
]  # fmt: skip


class _Unknown:
    """The fill value of an expression whose absent value is not known when compiling."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


@record
class CastExpr(Expr):
    """``expr`` in another dtype."""

    expr: Expr
    dtype: str


@record
class TypedLiteral(Expr):
    """A literal with its dtype decided."""

    value: bool | int | float | complex
    dtype: str

    def __str__(self) -> str:
        return repr(self.value)


@record
class ImplicitValue(Expr):
    """An operand without a stored entry: it has its fill value."""

    value: Any
    dtype: str


def same_value(a: Any, b: Any) -> bool:
    """Equality of fill values: NaN equals NaN, -0.0 does not equal 0.0."""
    if a is UNKNOWN or b is UNKNOWN:
        return False
    if a != a or b != b:
        return bool(a != a and b != b)
    return bool(a == b) and math.copysign(1, a.real) == math.copysign(1, b.real)


def neutral_in_sum(absent: Any, neutral: Any) -> Any:
    """What absent entries of a sum need not be other than: zero of either sign, which a sum from zero does not see."""
    return absent if absent is not UNKNOWN and neutral is not UNKNOWN and absent == 0 == neutral else neutral


@lru_cache(maxsize=4096)
def loop_dtypes(op: str, dtypes: tuple[Any, ...]) -> tuple[str, ...]:
    """The names of the dtypes an operator's operands are converted to, and of its result's."""
    return tuple(d.name for d in dtype_promotion.loop_dtypes(op, _known(dtypes)))


@lru_cache(maxsize=4096)
def application_dtypes(expr: Apply, dtypes: tuple[Any, ...]) -> tuple[str, ...]:
    """The same, of an operator with its operands."""
    return tuple(d.name for d in dtype_promotion.application_dtypes(expr, _known(dtypes)))


def literal_dtype(value: complex) -> Any:
    """The name of the dtype of a number in an expression; its Python type where it is weak."""
    dtype = dtype_promotion.literal_dtype(value)
    return dtype if isinstance(dtype, type) else dtype.name


def _known(dtypes: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.dtype(d) if isinstance(d, str) else d for d in dtypes)


def convert(expr: Expr, dtypes: Mapping[str, str]) -> tuple[Expr, Any]:
    """``expr`` with NumPy's promotion made explicit, and its dtype (a Python type where it is a bare literal)."""
    match expr:
        case Access(tensor=tensor):
            return expr, dtypes[tensor]
        case Literal(value=value):
            return expr, literal_dtype(value)
        case Apply(op=op, args=args):
            done = [convert(arg, dtypes) for arg in args]
            if all(isinstance(d, type) for _, d in done):
                done = [(_typed(a, np.result_type(d).name), np.result_type(d).name) for a, d in done]
            *wanted, result = application_dtypes(expr, tuple(d for _, d in done))
            return Apply(op, tuple(_cast(a, d, w) for (a, d), w in zip(done, wanted, strict=True))), result
    raise TypeError(f"cannot lower {expr!r}")


def _typed(expr: Expr, dtype: str) -> Expr:
    return TypedLiteral(expr.value, dtype) if isinstance(expr, Literal) else expr


def _cast(expr: Expr, dtype: Any, wanted: str) -> Expr:
    if isinstance(expr, Literal):
        return TypedLiteral(expr.value, wanted)
    return expr if dtype == wanted else CastExpr(expr, wanted)


def converted(expr: Expr, dtypes: Mapping[str, str], wanted: str) -> Expr:
    """``expr`` with promotion made explicit, converted to ``wanted`` at the end."""
    done, dtype = convert(expr, dtypes)
    return _cast(done, dtype, wanted)


def adds_in_place(expr: Expr, access: Access, dtype: str) -> bool:
    """Tell whether a linear expression of one part of a sum after another adds up to that of the sum, in its dtype.

    A conversion on the way must not depend on what is summed.

    Examples
    --------
    >>> from weft.index_notation import parse
    >>> A = parse("y = A(i)").value
    >>> wide = CastExpr(Access("A", ("i",)), "float64")
    >>> [adds_in_place(wide, Access("A", ("i",)), dtype) for dtype in ("float32", "int8", "bool")]
    [True, False, False]
    """
    return _passed(expr, access, np.dtype(dtype)) is not None


def _passed(expr: Expr, access: Access, dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype that a sum is in after the conversions of an expression; None where one of them depends on it."""
    match expr:
        case CastExpr(expr=inner, dtype=wanted) if access in accesses(inner):
            found, to = _passed(inner, access, dtype), np.dtype(wanted)
            return to if found is not None and adds_alike(found, to) else None
        case Apply(args=args):
            found = dtype
            for arg in args:
                if access in accesses(arg):
                    inside = _passed(arg, access, dtype)
                    if inside is None:
                        return None
                    found = inside
            return found
    return dtype


def without_conversions(expr: Expr) -> Expr:
    """``expr`` as index notation again, for what depends on operands and operators only."""
    match expr:
        case CastExpr(expr=inner):
            return without_conversions(inner)
        case TypedLiteral(value=value) | ImplicitValue(value=value):
            return Literal(value)
        case Apply(op=op, args=args):
            return Apply(op, tuple(without_conversions(arg) for arg in args))
    return expr


def typed(value: Any, dtype: str) -> Any:
    """A fill value as a scalar of its dtype, so that operators on it compute as they do on stored values."""
    if value is UNKNOWN or not dtype:
        return value
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)[()]


def _apply(op: str, values: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        return OPERATORS[op].ufunc(*values)


def _decided(op: str, value: Any) -> Any:
    """The result that an absent operand ``value`` decides."""
    row = OPERATORS[op]
    if row.absorbed is None:
        return value
    own = np.asarray(value).dtype.name
    return typed(row.absorbed, loop_dtypes(op, (own, own))[-1])


def implicit_value(expr: Expr, fills: Callable[[Access], Any]) -> Any:
    """The value of an expression where every operand is absent: the operator applied to the fill values (law 5)."""
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
            for position, value in enumerate(values):
                if annihilates(op, args, position, value):
                    return _decided(op, value)
            if any(v is UNKNOWN for v in values):
                stated = OPERATORS[op].absent
                return UNKNOWN if stated is None else stated
            return _apply(op, tuple(values))
    raise TypeError(f"no fill value of {expr!r}")


def asked_of(expr: Expr) -> Access | None:
    """The one tensor whose entries are asked, where an operator states what the answer is without an entry."""
    match expr:
        case Apply(op=op, args=(arg,)) if OPERATORS[op].absent is not None:
            (asked,) = dict.fromkeys(a for a in accesses(arg) if a.indices)
            return asked
    return None


def is_constant(expr: Expr) -> bool:
    """Whether an expression is made of literals alone."""
    match expr:
        case Literal() | TypedLiteral():
            return True
        case CastExpr(expr=inner):
            return is_constant(inner)
        case Apply(args=args):
            return all(is_constant(arg) for arg in args)
    return False


def annihilates(op: str, args: tuple[Expr, ...], position: int, fill: Any) -> bool:
    """Whether the absence of an operand, whose fill value is ``fill``, decides the result alone.

    A literal is never absent: zero times NaN is NaN.
    """
    if fill is UNKNOWN or not OPERATORS[op].annihilates(position, fill):
        return False
    return not is_constant(args[position])


def drop_implicit_operands(
    expr: Expr, absent: Mapping[Access, tuple[Any, str]], fills: Callable[[Access], Any] = lambda a: UNKNOWN
) -> Expr:
    """``expr`` where the accesses in ``absent`` have their fill values, simplified by the operator table.

    Only an absent operand simplifies: a stored zero times infinity stays NaN. An identity is left out where it leaves
    the fill value of the other operand as it is, too: zero added to -0.0 does not.
    """
    match expr:
        case Access():
            return ImplicitValue(*absent[expr]) if expr in absent else expr
        case CastExpr(expr=inner, dtype=dtype):
            inner = drop_implicit_operands(inner, absent, fills)
            if isinstance(inner, ImplicitValue):
                return ImplicitValue(typed(inner.value, dtype).item(), dtype)
            return CastExpr(inner, dtype)
        case Apply(op=op, args=args):
            args = tuple(drop_implicit_operands(arg, absent, fills) for arg in args)
            row = OPERATORS[op]
            for position, arg in enumerate(args):
                if isinstance(arg, ImplicitValue) and row.annihilates(position, arg.value):
                    made = _decided(op, typed(arg.value, arg.dtype))
                    return arg if row.absorbed is None else ImplicitValue(made.item(), made.dtype.name)
            known = [arg for arg in args if isinstance(arg, ImplicitValue | TypedLiteral)]
            if len(known) == len(args) and any(isinstance(arg, ImplicitValue) for arg in args):
                dtypes = tuple(arg.dtype for arg in known)
                value = _apply(op, tuple(typed(arg.value, arg.dtype) for arg in known))
                return ImplicitValue(value.item(), loop_dtypes(op, dtypes)[-1])
            if row.arity == 2:
                for position, other in ((0, 1), (1, 0)):
                    arg = args[position]
                    if isinstance(arg, ImplicitValue) and row.is_identity(position, arg.value):
                        rest, whole = implicit_value(args[other], fills), implicit_value(Apply(op, args), fills)
                        if whole is UNKNOWN or same_value(rest, whole):
                            return args[other]
            return Apply(op, args)
    return expr


def specialize(
    stmt: Stmt,
    absent: Mapping[Access, tuple[Any, str]],
    neutral: Callable[[Assign], tuple[Any, str]],
    fills: Callable[[Access], Any],
) -> Stmt | None:
    """``stmt`` where some accesses are absent, while ``fills`` are those of all; None when nothing is left of it.

    An assignment of an absent value vanishes when that value is what its target holds anyway (``neutral``: the value
    and dtype). A producer that vanishes makes its workspace absent in the consumer; where the consumer does not read it
    any more the producer goes.
    """
    match stmt:
        case Assign(target=target, value=value, op=op):
            new = drop_implicit_operands(value, absent, fills)
            if isinstance(new, ImplicitValue):
                kept = neutral(stmt)[0]
                if same_value(new.value, neutral_in_sum(new.value, kept) if op == "add" else kept):
                    return None
            return stmt if new == value else Assign(target, new, op)
        case Forall(var=var, body=body, parallel=parallel):
            inner = specialize(body, absent, neutral, fills)
            return None if inner is None else stmt if inner is body else Forall(var, inner, parallel)
        case Where(consumer=consumer, producer=producer):
            made = specialize(producer, absent, neutral, fills)
            if made is None:
                made_into = result_of(producer)
                return specialize(consumer, {**absent, made_into.target: neutral(made_into)}, neutral, fills)
            used = specialize(consumer, absent, neutral, fills)
            name = result_of(made).target.tensor
            if used is None or all(a.tensor != name for each in assignments(used) for a in accesses(each.value)):
                return used  # without what made it, nobody asks for the workspace
            return Where(used, made)
        case Sequence(stmts=stmts):
            kept = tuple(s for s in (specialize(each, absent, neutral, fills) for each in stmts) if s is not None)
            if not any(next(assignments(each), None) for each in kept):
                return None
            return kept[0] if len(kept) == 1 else Sequence(kept)
        case Fill():
            return stmt
    raise TypeError(f"not a statement: {stmt!r}")
