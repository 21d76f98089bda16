"""Lanes: the threads of a team share the innermost loops of what the team computes.

A *team* is a group of ``lanes`` threads that compute together; each thread runs all statements, so that scalars are the
same in all of them. A loop whose iterations are independent becomes a loop in which each lane takes every ``lanes``-th
iteration. Its sums are then added up among the lanes, by exchanges in a fixed order. An array that such loops index by
their variable alone is spread: each lane has its own elements. Other stores are left to lane 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any

from ...records import cached, record, replace
from .. import nodes as ir
from ..builder import add, block, eq, lit, lt, mul
from ..traversal import assigned_names, declared_names, rewrite, statements, used_names, walk

LANE = ir.Var("lane")
MOST = 32
"""Most lanes of a team: the threads that exchange values directly."""


@record
class Shared:
    """Work of one team, and the lane loops in it."""

    body: ir.Stmt  # what each thread of the team runs
    loops: tuple[ir.For, ...]  # the loops that lanes share, as they were


def share_among_lanes(body: ir.Stmt, lanes: int, atomic: Set[str] = frozenset()) -> Shared:
    """Return the work of a team whose lanes share loops; stores to the arrays ``atomic`` may come from any lane."""
    team = _Team(body, lanes, atomic)
    if lanes == 1:
        return Shared(rewritten(body, _in_order), team.loops)
    return Shared(team.stmt(body), team.loops)


def _in_order(node: ir.Expr | ir.Stmt) -> ir.Stmt | None:
    return replace(node, simd=None) if isinstance(node, ir.For) and node.simd is not None else None


class _Team:
    def __init__(self, body: ir.Stmt, lanes: int, atomic: Set[str]):
        self.body, self.lanes, self.atomic = body, lanes, atomic
        self.small = {s.var.name: s for s in statements(body) if isinstance(s, ir.Array)}
        self.chosen = {id(loop) for loop in self.loops}

    # -- which loops ------------------------------------------------------------------------------------------------
    @cached
    def loops(self) -> tuple[ir.For, ...]:
        """Return the innermost loops whose iterations lanes can share."""
        able = [s for s in statements(self.body) if isinstance(s, ir.For) and self._is_shareable(s)]
        inner = [s for s in able if not any(other in able for other in statements(s.body))]
        # A small array is spread over the lanes, or every lane has all of it.
        whole = {name for name in self.small if not self._is_spread(name, inner)}
        return tuple(s for s in inner if not whole & written(s.body))

    def _is_spread(self, name: str, loops: list[ir.For]) -> bool:
        """Return whether all accesses to a small array are in loops that index it by their variable alone."""

        def count(node: ir.Stmt, index: ir.Var | None) -> int:
            return sum(
                1
                for n in walk(node)
                if isinstance(n, ir.Load | ir.Store)
                and n.array == self.small[name].var
                and (index is None or n.index == index)
            )

        whole = [s for s in loops if s.start == lit(0) and _most_iterations(s) is not None]
        return count(self.body, None) == sum(count(s.body, s.var) for s in whole)

    def _is_shareable(self, loop: ir.For) -> bool:
        if any(isinstance(s, ir.Allocate | ir.Parallel | ir.Return | ir.Free) for s in statements(loop.body)):
            return False
        inside = {*declared_names(loop.body)}
        reduced = {name for _, name in loop.simd or ()}
        if not assigned_names(loop.body) - inside <= reduced:
            return False
        return all(self._has_own_places(name, loop) for name in written(loop.body) - inside - self.atomic)

    def _has_own_places(self, name: str, loop: ir.For) -> bool:
        """Return whether each iteration of a loop has places of its own in an array, which no other one reads."""
        return own_places(name, loop)

    # -- statements -------------------------------------------------------------------------------------------------
    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        """Return a statement outside lane loops, which all lanes of a team run."""
        match s:
            case ir.Block(stmts):
                return self.sequence(stmts)
            case ir.For() if id(s) in self.chosen:
                return self.lane_loop(s)
            case ir.For():
                return replace(s, body=self.sequence((s.body,)), simd=None)
            case ir.While(cond, body):
                return ir.While(cond, self.sequence((body,)))
            case ir.If(cond, then, orelse):
                return ir.If(cond, self.sequence((then,)), None if orelse is None else self.sequence((orelse,)))
            case ir.Array(var, size) if self._is_spread(var.name, list(self.loops)):
                return ir.Array(var, -(-size // self.lanes))
            case ir.Store(array) | ir.Update(_, ir.Load(array)) if not self.small.keys() & used_names(array):
                return self.between_barriers(ir.If(eq(LANE, lit(0)), s), s)
            case ir.Evaluate():  # an atomic operation
                return ir.If(eq(LANE, lit(0)), s)
        return s

    def sequence(self, stmts: tuple[ir.Stmt, ...]) -> ir.Stmt:
        """Return statements outside lane loops in order."""
        return block(*map(self.stmt, stmts))

    def between_barriers(self, guarded: ir.Stmt, s: ir.Stmt) -> ir.Stmt:
        """Return what was made of a statement, with barriers around it if lanes read what others store in it."""
        read = {n.array.name for n in walk(self.body) if isinstance(n, ir.Load) and isinstance(n.array, ir.Var)}
        stored = written(s) - self.small.keys() - self.atomic
        if not stored & read:
            return guarded
        barrier = ir.Evaluate(ir.Call("weft_team_sync", (lit(self.lanes),), "void"))
        return block(barrier, guarded, barrier)

    def lane_loop(self, loop: ir.For) -> ir.Stmt:
        """Return a loop whose iterations the lanes share."""
        spread = {name for name in self.small if self._is_spread(name, list(self.loops))} & used_names(loop.body)
        if spread:
            return self.between_barriers(self._over_slots(loop, spread), loop)
        before, after = [], []
        types = {n.name: n.ty for n in walk(loop.body) if isinstance(n, ir.Var)}
        for op, name in loop.simd or ():
            value = ir.Var(name, types[name])
            if op == "+":  # only the sum of this loop is added up
                old = ir.Var(f"{name}_{loop.var.name}_before", value.ty)
                before += [ir.Declare(old, value), ir.Set(value, neutral(op, value.ty, value))]
                after += [*self._combine(op, value), ir.Update("+", value, old)]
            else:
                after += self._combine(op, value)
        shared = replace(loop, start=add(loop.start, LANE), step=lit(self.lanes), simd=None, unroll=False)
        return block(*before, self.between_barriers(shared, loop), *after)

    def _combine(self, op: str, value: ir.Var) -> Iterable[ir.Stmt]:
        """Return the exchanges after which every lane has the total of all lanes."""
        step = self.lanes // 2
        while step:
            other = ir.Call(f"weft_team_other_{value.ty}", (value, lit(step), lit(self.lanes)), value.ty)
            yield combined(op, value, other)
            step //= 2

    def _over_slots(self, loop: ir.For, spread: set[str]) -> ir.Stmt:
        """Return a loop of constant length in which each lane takes its elements of the arrays that are spread."""
        size = _most_iterations(loop)
        assert size is not None
        slot = ir.Var(f"{loop.var.name}_slot")

        def rule(n: ir.Expr | ir.Stmt) -> ir.Expr | ir.Stmt | None:
            match n:
                case ir.Load(ir.Var(name) as array) if name in spread:
                    return ir.Load(array, slot)
                case ir.Store(ir.Var(name) as array, _, value) if name in spread:
                    return ir.Store(array, slot, value)
            return None

        body = rewritten(loop.body, rule)
        if size % self.lanes or not isinstance(loop.stop, ir.Const):
            body = ir.If(lt(loop.var, loop.stop), body)
        here = ir.Declare(loop.var, add(mul(slot, lit(self.lanes)), LANE))
        return ir.For(slot, lit(0), lit(-(-size // self.lanes)), block(here, body), unroll=True)


def _most_iterations(loop: ir.For) -> int | None:
    """Return the constant number of iterations that a loop from zero on does not exceed; None if there is none."""
    match loop.stop:
        case ir.Const(most) | ir.Select(ir.Binary("<", ir.Const(most)), ir.Const(), _):  # a minimum
            return int(most)  # type: ignore[arg-type]
    return None


def rewritten(stmt: ir.Stmt, rule: Callable[[Any], ir.Expr | ir.Stmt | None]) -> ir.Stmt:
    """Return a statement with a rule applied to all nodes under it, children first."""
    result = rewrite(stmt, rule)
    assert isinstance(result, ir.Stmt)
    return result


# -- reductions -----------------------------------------------------------------------------------------------------
def combined(op: str, target: ir.Var, value: ir.Expr) -> ir.Stmt:
    """Return the statement that combines a variable with a value by an operator or a function of two values."""
    if op.startswith("weft_"):
        return ir.Set(target, ir.Call(op, (target, value), target.ty))
    return ir.Update(op, target, value)


def neutral(op: str, ty: str, idempotent: ir.Expr) -> ir.Expr:
    """Return a value that changes no result of an operator; ``idempotent`` for one to which repetitions do nothing."""
    one = {"+": 0, "*": 1, "|": 0, "^": 0, "&": -1}.get(op)
    if one is None:
        return idempotent
    return lit(one != 0 if ty == "bool" else one, ty)


# -- places ---------------------------------------------------------------------------------------------------------
def written(stmt: ir.Stmt) -> set[str]:
    """Return the names of the arrays to which a statement stores."""
    names: set[str] = set()
    for s in statements(stmt):
        match s:
            case ir.Store(ir.Var(name)) | ir.Update(_, ir.Load(ir.Var(name))):
                names.add(name)
            case ir.Evaluate(call):
                names |= {a.name for a in call.args if isinstance(a, ir.Var) and a.ty.endswith("*")}
    return names


def accesses_of(name: str, stmt: ir.Stmt) -> list[ir.Expr]:
    """Return the indices at which a statement reads or writes an array."""
    return [n.index for n in walk(stmt) if isinstance(n, ir.Load | ir.Store) and n.array == ir.Var(name, n.array.ty)]


def own_places(name: str, loop: ir.For) -> bool:
    """Return whether each iteration of a loop has places of its own in an array, which no other one reads."""
    known = definitions(loop.body)
    inside = {*declared_names(loop.body)}
    indices = {spelled_out(index, known) for index in accesses_of(name, loop.body)}
    if len(indices) != 1:
        return False
    (index,) = indices
    factor = coefficient(index, loop.var)
    return factor is not None and factor != 0 and not used_names(index) & inside


def definitions(body: ir.Stmt) -> dict[str, ir.Expr]:
    """Return the values of variables that are declared once in a statement, and not assigned."""
    names = declared_names(body)
    changed = assigned_names(body)
    return {
        s.var.name: s.value
        for s in statements(body)
        if isinstance(s, ir.Declare)
        and s.value is not None
        and names.count(s.var.name) == 1
        and s.var.name not in changed
    }


def spelled_out(expr: ir.Expr, known: dict[str, ir.Expr]) -> ir.Expr:
    """Return an expression with known values in the place of variables."""
    before: ir.Expr | ir.Stmt | None = None
    now: ir.Expr | ir.Stmt = expr
    while now != before:  # values have variables, too
        before, now = now, rewrite(now, lambda n: known.get(n.name) if isinstance(n, ir.Var) else None)
    assert isinstance(now, ir.Expr)
    return now


def coefficient(expr: ir.Expr, var: ir.Var) -> int | None:
    """Return the factor of a variable in an index that is linear in it; None for an index that is not."""
    factors: dict[ir.Expr | ir.Stmt, int | None] = {}
    for n in reversed(walk(expr)):  # operands come before what they are operands of
        match n:
            case ir.Binary("+", a, b):
                factors[n] = _combine(factors[a], factors[b], 1)
            case ir.Binary("-", a, b):
                factors[n] = _combine(factors[a], factors[b], -1)
            case ir.Binary("*", a, ir.Const(value)) | ir.Binary("*", ir.Const(value), a):
                factors[n] = None if (inner := factors[a]) is None else inner * int(value)  # type: ignore[arg-type]
            case ir.Cast(a):
                factors[n] = factors[a]
            case ir.Select(_, a, ir.Const(value)) if value < 0:  # type: ignore[operator]
                factors[n] = factors[a]  # there is no element at a negative index
            case _:
                factors[n] = 1 if n == var else None if var.name in used_names(n) else 0
    return factors[expr]


def _combine(a: int | None, b: int | None, sign: int) -> int | None:
    return None if a is None or b is None else a + sign * b
