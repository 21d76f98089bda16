"""Values of concrete index notation: nodes with a decided dtype, and implicit values.

Three nodes are added to those of index notation. ``CastExpr`` and ``TypedLiteral`` make NumPy's promotion visible.
``ImplicitValue`` is an operand that has its fill value, since it has no stored entry. A fill value that no row of the
operator table names is a ``RuntimeValue``: kernels read it when they run. An operator with such an operand gives
another ``RuntimeValue``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import same_scalar
from ..index_notation.nodes import Apply, Expr, Literal
from ..index_notation.traversal import rewrite
from ..records import record


class _Unknown:
    """Implicit value of an expression that is not known at compile time."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


@record
class CastExpr(Expr):
    """An expression converted to another dtype."""

    expr: Expr
    dtype: str

    children = property(lambda self: (self.expr,))

    def with_children(self, children: tuple[Any, ...]) -> CastExpr:
        return CastExpr(children[0], self.dtype)


@record
class TypedLiteral(Expr):
    """A literal whose dtype is decided; ``0.0`` and ``-0.0`` differ, and NaN equals NaN."""

    value: bool | int | float | complex
    dtype: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedLiteral) and self.dtype == other.dtype and same_value(self.value, other.value)

    def __hash__(self) -> int:
        return hash((self.dtype, self.value if self.value == self.value else "nan"))

    def __str__(self) -> str:
        return repr(self.value)


@record
class ImplicitValue(Expr):
    """An operand that has its fill value, since it has no stored entry; values are equal as for ``TypedLiteral``."""

    value: Any
    dtype: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImplicitValue) and self.dtype == other.dtype and same_value(self.value, other.value)

    def __hash__(self) -> int:
        return hash((self.dtype, self.value if self.value == self.value else "nan"))


@record
class RuntimeValue:
    """A value, in terms of fill values, that is known when a kernel runs; two are the same if their expressions are."""

    __array_ufunc__ = None  # NumPy's scalars leave comparisons to this class

    expr: Expr  # the value, in terms of accesses without indices, each of which stands for the fill value of an operand
    dtype: str  # Dtype of the value
    # Values that are known, since the plan is for fill values of which these expressions have these values.
    answers: tuple[tuple[Expr, Any], ...] = ()

    def item(self) -> RuntimeValue:
        """Return the value itself, since it has no Python scalar."""
        return self

    def of(self, expr: Expr, dtype: str) -> Any:
        """Return the value of an expression over the same fill values: a scalar if it is known."""
        for known, value in self.answers:
            if known == expr:
                return typed(value, dtype)
        return RuntimeValue(expr, dtype, self.answers)

    def __repr__(self) -> str:
        return str(self.expr)


def same_value(a: Any, b: Any) -> bool:
    """Return whether two fill values are the same: NaN equals NaN, -0.0 does not equal 0.0."""
    if a is UNKNOWN or b is UNKNOWN:
        return False
    if isinstance(a, RuntimeValue) or isinstance(b, RuntimeValue):
        return bool(a == b)
    return same_scalar(a, b)


def neutral_in_sum(absent: Any, neutral: Any) -> Any:
    """Return ``absent`` if it and ``neutral`` are zeros, whose signs do not change a sum, else ``neutral``."""
    return absent if absent is not UNKNOWN and neutral is not UNKNOWN and absent == 0 == neutral else neutral


def typed(value: Any, dtype: str) -> Any:
    """Return a fill value as a scalar of its dtype, so that operators treat it as they treat stored values."""
    if value is UNKNOWN or not dtype:
        return value
    if isinstance(value, RuntimeValue):
        return value if value.dtype == dtype else value.of(CastExpr(value.expr, dtype), dtype)
    array = np.asarray(value)
    if array.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        array = array.real  # as kernels convert, and without NumPy's warning
    with np.errstate(all="ignore"):
        return array.astype(dtype)[()]


def without_conversions(expr: Expr) -> Expr:
    """Return an expression as index notation again, for decisions that depend on operands and operators only."""
    return rewrite(expr, _without_conversion)


def _without_conversion(expr: Expr) -> Expr | None:
    match expr:
        case CastExpr(expr=inner):
            return inner
        case TypedLiteral(value=value) | ImplicitValue(value=value):
            return Literal(value)
    return None


def is_constant(expr: Expr) -> bool:
    """Return whether an expression is made of literals alone, none of which is an implicit value."""
    # Each part of a long product asks this of its operands: the walk ends at the first access, which is near its root.
    if not isinstance(expr, _OF_LITERALS):
        return False
    stack = [expr]
    while stack:
        for node in stack.pop().children:
            if not isinstance(node, _OF_LITERALS):
                return False
            stack.append(node)
    return True


_OF_LITERALS = (Literal, TypedLiteral, CastExpr, Apply)
