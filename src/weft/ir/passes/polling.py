"""Polls, which make kernels interruptible: loops ask at intervals whether to stop.

An innermost loop that is in no other loop is split into strips of elements, with a poll between two strips. The loop
over a strip is compiled as the loop was before. A loop with loops inside has a budget of elements. The budget is
reduced by the elements that the loop and the loops inside it visit, and there is a poll when the budget is spent. The
number of elements of an innermost loop is known from its bounds, so that its body does not change. Support functions
that take long have the watch as an argument, and poll by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from ...records import record, replace
from .. import nodes as ir
from ..builder import add, block, cast, gt, if_, land, lit, lt, maximum, sub
from ..traversal import Node, assigned_names, called, fresh_variables, rebuild_statements, rewrite, statements, walk

STRIP = 1 << 16
"""Elements between two polls: about ten microseconds for cheap elements, some milliseconds for expensive ones."""


@record
class LongCalls:
    """Functions whose calls may take long."""

    # The names of the functions that poll by themselves. The watch becomes their last argument.
    watched: frozenset[str] = frozenset()
    # The names of the functions that search a range, each with the slice of its arguments that are the bounds of the
    # range.
    searches: Mapping[str, tuple[int, int]] = field(default_factory=dict)


NONE = LongCalls()


def with_polls(function: ir.Function, long: LongCalls = NONE) -> ir.Function:
    """Return the function with polls, so that its loops can be stopped.

    Examples
    --------
    >>> from weft.ir.printer import function_text
    >>> n, i, y = ir.Var("n"), ir.Var("i"), ir.Var("y", "float64*")
    >>> loop = ir.For(i, lit(0), n, ir.Store(y, i, lit(0.0, "float64")))
    >>> print(function_text(with_polls(ir.Function("g", (), loop))), end="")
    function g()
      watch: int64[2]
      watch[0] = 0
      watch[1] = 0
      i_next: int64 = 0
      while i_next < n:
        i_end: int64 = i_next + 65536 if n - i_next > 65536 else n
        for i in i_next .. i_end:
          y[i] = 0.0
        i_next = i_end
        if i_next < n:
          poll watch
    """
    polls = _Polls(function, long)
    body = polls.outermost(function.body)
    if not polls.used:
        return function
    watch = polls.watch
    start = (ir.Array(watch, 2), ir.Store(watch, lit(0), lit(0)), ir.Store(watch, lit(1), lit(0)))
    return replace(function, body=block(*start, body))


class _Polls:
    """State of the pass for one function."""

    def __init__(self, function: ir.Function, long: LongCalls):
        self.long = long
        # Most functions have no calls that may take long, so that only statements are looked at.
        calls = called(function.body)
        self.calls = not calls.isdisjoint(long.watched) or not calls.isdisjoint(long.searches)
        self.nodes = walk if self.calls else statements
        # New variables must differ from all names of the function.
        params = {v.name for p in function.params for v in (*p.dimensions, *p.arrays, p.vals)}
        self.name = fresh_variables(function.body, params)
        self.watch, self.budget = self.name("watch", "int64*"), self.name("until_poll")
        self.used = self.spends = False
        self.assigned = assigned_names(function.body)
        self.spent: set[tuple[ir.Var, ir.Var]] = set()  # ranges counted already in this iteration of a counting loop
        # The variables that are declared as elements of arrays, and as nothing else: bounds of segments.
        declared = [n for n in statements(function.body) if isinstance(n, ir.Declare)]
        loaded = {n.var.name for n in declared if n.value is not None and _is_load(n.value)}
        self.edges = loaded - {n.var.name for n in declared if n.value is None or not _is_load(n.value)}

    def poll(self, *, asks: bool = True) -> ir.Poll:
        self.used = True
        return ir.Poll(self.watch, asks)

    # -- loops ----------------------------------------------------------------------------------------------------
    def outermost(self, stmt: ir.Stmt) -> ir.Stmt:
        """Return the body of a function or of a parallel loop with polls, and with a budget if it needs one."""
        # Each thread has a budget of its own: it is declared in the iteration of a parallel loop.
        saved, self.spends = self.spends, False
        body: ir.Stmt = self.outside(stmt)  # type: ignore[assignment]
        if self.spends:
            body = block(ir.Declare(self.budget, lit(STRIP)), body)
        self.spends = saved
        return body

    def outside(self, node: Node) -> Node:
        """Rewrite a node that is in no loop but parallel ones."""
        match node:
            case ir.Parallel(loop=loop):
                return self.shared(node, loop)
            case ir.For() if self.is_long(node):
                return self.in_strips(node) if self.is_innermost(node) else self.counting(node)
            case ir.While():
                return self.merged_in_strips(node) if self.ends(node) else self.counting(node)
        return self.calling(node, self.outside)

    def shared(self, region: ir.Parallel, loop: ir.For) -> ir.Stmt:
        """Rewrite a parallel region, whose threads skip the remaining iterations if one of them was told to stop."""
        body = self.outermost(loop.body)
        if self.loops_in(loop.body):
            body = block(self.poll(asks=False), body)
        prologue, epilogue = self.outermost(region.prologue), self.outermost(region.epilogue)
        return replace(region, prologue=prologue, loop=replace(loop, body=body), epilogue=epilogue)

    def inside(self, node: Node) -> Node:
        """Rewrite a node that is inside a counting loop."""
        match node:
            case ir.Parallel(loop=loop):
                return self.shared(node, loop)
            case ir.For() if self.is_long(node):
                return self.counted(node) if self.is_innermost(node) else self.counting(node)
            case ir.While():
                # Ranges of a merging loop are counted before it, but for those that an earlier loop has counted.
                ends = self.ends(node)
                new = [pair for pair in ends if pair not in self.spent]
                self.spent.update(new)
                return block(*[self.spend(sub(end, p)) for p, end in new], node) if ends else self.counting(node)
            case ir.If(cond, then, orelse):
                # A branch may not run, so that its ranges count as spent in the branch only.
                before = self.spent
                branches: list[Any] = []
                for branch in (then, orelse):
                    self.spent = set(before)
                    branches.append(branch and self.inside(branch))
                self.spent = before
                return ir.If(cond, *branches)
            case ir.Declare(var):  # a new variable, whose range is not counted yet
                self.spent = {pair for pair in self.spent if var not in pair}
        return self.calling(node, self.inside)

    def in_strips(self, loop: ir.For) -> ir.Stmt:
        """Split an innermost loop that is in no other loop into strips, with a poll between two strips."""
        ty, stop = loop.var.ty, loop.stop
        before = block()
        # The end is evaluated once, unless it is a variable that does not change.
        if not (isinstance(stop, ir.Var) and stop.name not in self.assigned):
            stop = self.name(f"{loop.var.name}_stop", ty)
            before = ir.Declare(stop, loop.stop)
        next, end = (self.name(f"{loop.var.name}_{what}", ty) for what in ("next", "end"))
        strip = block(
            ir.Declare(end, _strip_end(next, stop)),
            replace(loop, start=next, stop=end),
            ir.Set(next, end),
            if_(lt(next, stop), self.poll()),
        )
        return block(before, ir.Declare(next, loop.start), ir.While(lt(next, stop), strip))

    def merged_in_strips(self, loop: ir.While) -> ir.Stmt:
        """Split a merging loop that is in no other loop: positions advance by at most a strip between two polls."""
        stops, parts = [], []
        for p, end in self.ends(loop):
            stop = self.name(f"{p.name}_stop", p.ty)
            stops.append(ir.Declare(stop, _strip_end(p, end)))
            parts.append(lt(p, stop))
        return replace(loop, body=block(*stops, replace(loop, cond=land(*parts)), if_(loop.cond, self.poll())))

    def ends(self, loop: ir.While) -> tuple[tuple[ir.Var, ir.Var], ...]:
        """Return the positions that a merging loop advances, each with its end.

        There are none if the loop may visit other elements than those between the positions and their ends.
        """
        pairs, moved = _compared(loop.cond), assigned_names(loop.body)
        # The condition must be made of comparisons p < end, where the body changes p and not end.
        merges = all(p.name in moved and end.name not in moved for p, end in pairs)
        complete = len(pairs) == len(list(_conjuncts(loop.cond)))
        return pairs if merges and complete and self.stays_within(loop, {end for _, end in pairs}) else ()

    def stays_within(self, loop: ir.While, ends: set[ir.Var]) -> bool:
        """Return whether the loops inside a merging loop iterate over parts of its ranges only.

        Each of them must end at an end of these ranges, or at a position that a loop before it has reached.
        """
        reached: set[ir.Expr] = set()
        for node in self.nodes(loop.body):
            match node:
                # A variable that is declared as a reached position is one, too.
                case ir.Declare(var, value) if value in reached:
                    reached.add(var)
                case ir.While(cond):
                    inside = [p for p, end in _compared(cond) if end in ends or end in reached]
                    if not inside:
                        return False
                    reached.update(inside)
                case ir.For(stop=stop) if self.is_long(node) and stop not in reached:
                    return False
                case ir.Call() if self.is_loop(node):
                    return False
        return True

    def counting(self, loop: ir.For | ir.While) -> ir.Stmt:
        """Rewrite a loop as a counting loop, which polls each time it and the loops inside have visited a strip."""
        before, self.spent = self.spent, set()
        inner: ir.Stmt = self.inside(loop.body)  # type: ignore[assignment]
        self.spent = before
        # An iteration counts as one element, since the loops inside it may be empty.
        ask = if_(lt(self.budget, lit(0)), block(ir.Set(self.budget, lit(STRIP)), self.poll()))
        return replace(loop, body=block(inner, self.spend(lit(1)), ask))

    def counted(self, loop: ir.For) -> ir.Stmt:
        """Rewrite an innermost loop inside a counting loop: its elements are counted before it."""
        # Bounds with calls are evaluated once, into variables.
        bounds, ends = [loop.start, loop.stop], []
        for k, what in enumerate(("start", "stop")):
            if any(isinstance(n, ir.Call) for n in walk(bounds[k])):
                name = self.name(f"{loop.var.name}_{what}", loop.var.ty)
                ends.append(ir.Declare(name, bounds[k]))
                bounds[k] = name
        return block(*ends, self.spend(self.length(*bounds)), replace(loop, start=bounds[0], stop=bounds[1]))

    def length(self, start: ir.Expr, stop: ir.Expr) -> ir.Expr:
        """Return the number of elements from ``start`` to ``stop``, or 0 if ``stop`` is less.

        The test is omitted if ``stop`` cannot be less: between edges of a segment, and from a constant to a size.
        """
        n = sub(stop, start)
        from_zero = isinstance(start, ir.Const) and isinstance(stop, ir.Var | ir.Load)
        return n if from_zero or (self.is_edge(start) and self.is_edge(stop)) else maximum(n, lit(0, n.ty))

    def is_edge(self, bound: ir.Expr) -> bool:
        """Return whether a bound of a loop is an edge of a segment, which is an element of a level array."""
        return bound.name in self.edges if isinstance(bound, ir.Var) else _is_load(bound)

    def spend(self, elements: ir.Expr) -> ir.Stmt:
        self.spends = True
        return ir.Update("-", self.budget, cast(elements, "int64"))

    # -- calls ----------------------------------------------------------------------------------------------------
    def calling(self, node: Node, change: Callable[[Node], Node]) -> Node:
        """Rewrite a node that is no loop: its long calls take the watch, and the ranges of its searches are counted."""
        if self.calls and isinstance(node, ir.Evaluate | ir.Declare | ir.Set):
            calls = [n for n in walk(node) if isinstance(n, ir.Call)]
            ranges = [c.args[slice(*self.long.searches[c.name])] for c in calls if c.name in self.long.searches]
            # There is a budget inside counting loops only.
            searched = [self.spend(self.length(*bounds)) for bounds in ranges] if change == self.inside else []
            if not any(c.name in self.long.watched for c in calls):
                return block(*searched, node) if searched else node
            # A watched call that was stopped returns early, so that its results are not to be used.
            return block(*searched, rewrite(node, self.watched), self.poll(asks=False))  # type: ignore[arg-type]
        return rebuild_statements(node, change)

    def watched(self, node: Node) -> Node | None:
        if isinstance(node, ir.Call) and node.name in self.long.watched:
            return replace(node, args=(*node.args, self.watch))
        return None

    # -- predicates -----------------------------------------------------------------------------------------------
    def is_loop(self, node: Node) -> bool:
        """Return whether a node is a loop that may be long, or a call that may take long."""
        if isinstance(node, ir.Call):
            return node.name in self.long.watched or node.name in self.long.searches
        return isinstance(node, ir.While) or (isinstance(node, ir.For) and self.is_long(node))

    def loops_in(self, body: ir.Stmt) -> bool:
        """Return whether there are such loops or calls in a statement."""
        return any(self.is_loop(n) for n in self.nodes(body) if type(n) in (ir.For, ir.While, ir.Call))

    def is_long(self, loop: ir.For) -> bool:
        """Return whether a loop has bounds that are not constant, or a loop or call inside that may take long."""
        few = isinstance(loop.start, ir.Const) and isinstance(loop.stop, ir.Const)
        return not few or self.loops_in(loop.body)

    def is_innermost(self, loop: ir.For | ir.While) -> bool:
        # A loop that is vectorized has no polls inside, though it may contain searches.
        vectors = isinstance(loop, ir.For) and loop.simd is not None
        return vectors or not self.loops_in(loop.body)


def _strip_end(start: ir.Var, stop: ir.Expr) -> ir.Expr:
    """Return the end of the strip that begins at ``start``, without overflow if ``stop`` is the greatest integer."""
    return ir.Select(gt(sub(stop, start), lit(STRIP, start.ty)), add(start, lit(STRIP, start.ty)), stop)


def _is_load(value: ir.Expr) -> bool:
    """Return whether a value is an element of an array, possibly cast to another type."""
    return isinstance(value.a if isinstance(value, ir.Cast) else value, ir.Load)


def _compared(cond: ir.Expr) -> tuple[tuple[ir.Var, ir.Var], ...]:
    """Return the pairs of variables whose first one a condition requires to be less than the second one."""
    pairs = [(p.a, p.b) for p in _conjuncts(cond) if isinstance(p, ir.Binary) and p.op == "<"]
    return tuple((p, end) for p, end in pairs if isinstance(p, ir.Var) and isinstance(end, ir.Var))


def _conjuncts(cond: ir.Expr) -> Iterator[ir.Expr]:
    match cond:
        case ir.Binary("&&", a, b):
            yield from _conjuncts(a)
            yield from _conjuncts(b)
        case _:
            yield cond
