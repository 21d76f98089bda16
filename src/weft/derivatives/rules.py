"""Rules: the partial derivatives of operators and reductions, as expressions of their operands and results."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ..errors import UnsupportedError
from ..index_notation import expression_text, fold_literals, parse
from ..index_notation.nodes import Access, Apply, Expr, Literal, Reduce
from ..index_notation.operator_table import OPERATORS, REDUCTIONS
from ..index_notation.traversal import rewrite
from ..trees import walk

Value = Callable[[Expr], Expr]
"""The expression by which a derivative reads the value of a part: the part itself, or a tensor that holds the value."""

ZERO, ONE = Literal(0), Literal(1)


@lru_cache(maxsize=1024)
def _rule(text: str, is_real: bool) -> Expr:
    rule = parse(f"result = {text}").value
    return rewrite(rule, _without_real) if is_real else rule


def _without_real(node: Expr) -> Expr | None:
    return node.args[0] if isinstance(node, Apply) and node.op == "real" else None


def tangent_of(node: Apply, n: int, dot: Expr, value: Value) -> Expr | None:
    """Return the tangent of an operator's result for the tangent ``dot`` of operand ``n``; None for zero."""
    return _applied(node, _rule(partials(node)[n], False), dot, value, False)


def gradient_of(node: Apply, n: int, bar: Expr, value: Value, conjugate: bool) -> Expr | None:
    """Return the gradient of operand ``n`` for the gradient ``bar`` of an operator's result; None for zero.

    Factors are conjugated where any part of the expression is complex; else real parts are the numbers themselves.
    """
    adjoints = OPERATORS[node.op].adjoints
    text = partials(node)[n] if adjoints is None else adjoints[n]
    return _applied(node, _rule(text, not conjugate), bar, value, conjugate)


def partials(node: Apply) -> tuple[str, ...]:
    """Return the texts of an operator's partial derivatives; raise if it has none."""
    texts = OPERATORS[node.op].partials
    if texts is None:
        raise UnsupportedError(
            f"{node.op} has no derivative, in {expression_text(node)}; compute this part first, and pass its value as "
            "an operand that is a constant"
        )
    return texts


def _applied(node: Apply, rule: Expr, dot: Expr, value: Value, conjugate: bool) -> Expr | None:
    by_name = {**dict(zip("xyz", node.args, strict=False)), "value": node, "dot": dot}
    names = {each.tensor for each in walk(rule) if isinstance(each, Access)}
    parts = {name: dot if name == "dot" else value(by_name[name]) for name in names}
    part = simplified(rewrite(rule, lambda each: parts[each.tensor] if isinstance(each, Access) else None))
    if "dot" in names:
        return None if part == ZERO else part
    return times(dot, part, conjugate)


def conjugated(factor: Expr) -> Expr:
    """Return the complex conjugate of a factor; that of a number is computed."""
    return Literal(factor.value.conjugate()) if isinstance(factor, Literal) else Apply("conjugate", (factor,))


def times(bar: Expr, factor: Expr, conjugate: bool = False) -> Expr | None:
    """Return a product, with signs in front, quotients behind, and no factors of one; None for zero.

    The factor is conjugated on request.
    """
    is_negative, divisors = False, list[Expr]()
    match bar:
        case Apply(op="negative", args=(inner,)):
            bar, is_negative = inner, True
    while isinstance(factor, Apply) and factor.op in ("negative", "divide"):
        if factor.op == "divide":
            divisors.append(factor.args[1])
        else:
            is_negative = not is_negative
        factor = factor.args[0]
    if isinstance(factor, Literal) and factor.value == -1:
        factor, is_negative = ONE, not is_negative
    if isinstance(factor, Literal) and factor.value == 0:
        return None
    if conjugate:
        factor, divisors = conjugated(factor), [conjugated(divisor) for divisor in divisors]
    is_one = isinstance(factor, Literal) and factor.value == 1
    product = bar if is_one else factor if bar == ONE else Apply("multiply", (bar, factor))
    for divisor in reversed(divisors):
        product = Apply("divide", (product, divisor))
    return Apply("negative", (product,)) if is_negative else product


def simplified(expr: Expr) -> Expr:
    """Return a rule with its literals computed: a square has the derivative ``2*x``, not that of any power."""

    def rule(node: Expr) -> Expr | None:
        match node:
            case Apply(op="select", args=(Literal(value=chosen), x)):
                return x if chosen else ZERO
            case Apply(op="power", args=(x, Literal(value=1 | 1.0))):
                return x
            case Apply(op="power", args=(_, Literal(value=0 | 0.0))):
                return ONE
            case Apply(op="multiply", args=(Literal(value=1 | 1.0), x) | (x, Literal(value=1 | 1.0))):
                return x
        return None

    return rewrite(fold_literals(expr), rule)


# -- reductions -------------------------------------------------------------------------------------------------------
def of_reduction(node: Reduce, part: Expr, value: Value, conjugate: bool = False) -> Expr | None:
    """Return the gradient of the body for the gradient ``part`` of a reduction, or the tangent of each of its elements.

    A sum passes the gradient on. The greatest elements share it equally. Each element of a product has the product of
    the others, also beside zeros.
    """
    # The variables of the reductions below are those of this one, which are bound around them, too.
    body = node.body

    def count(condition: Expr) -> Expr:
        return value(Reduce("add", node.vars, Apply("int64", (condition,))))

    match node.op:
        case "add":
            return part
        case "maximum" | "minimum" | "fmax" | "fmin":
            chosen = Apply("equal", (value(body), value(node)))
            return Apply("select", (chosen, Apply("divide", (part, count(Apply("equal", (body, node)))))))
        case "multiply":
            is_zero = Apply("equal", (body, ZERO))
            other = Apply("add", (body, is_zero))  # the element, or one in place of zero
            others = Apply("divide", (value(Reduce("multiply", node.vars, other)), value(other)))
            product = times(part, others, conjugate)
            assert product is not None
            alone = Apply("equal", (count(is_zero), Apply("int64", (value(is_zero),))))
            return Apply("select", (alone, product))
    name = next(name for name, op in REDUCTIONS.items() if op == node.op)
    raise UnsupportedError(f"{name} has no derivative, in {expression_text(node)}; sum, prod, max and min have one")
