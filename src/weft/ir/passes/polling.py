"""Kernels that can be stopped: loops ask, every so many elements, whether to go on.

A loop with no loop around it goes over strips of elements and asks between two of them, so that the loop over a strip
is compiled as before. A loop with loops inside counts down by what it and they visit, which their bounds say
beforehand, and asks when that is spent; the innermost loops are left alone. Functions that take long are given the
watch, and ask for themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from ...records import record, replace
from ..builder import (
    add,
    block,
    cast,
    gt,
    if_,
    land,
    lit,
    lt,
    maximum,
    sub,
)
from ..nodes import (
    Array,
    Binary,
    Call,
    Cast,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Load,
    Parallel,
    Poll,
    Select,
    Set,
    Stmt,
    Store,
    Update,
    Var,
    While,
)
from ..traversal import Node, assigned_names, rebuild, rewrite, used_names, walk

__all__ = ["LongCalls", "with_polls"]

STRIP = 1 << 16
"""Elements between two questions: some ten microseconds where they are cheap, some milliseconds where they are not."""


@record
class LongCalls:
    """Functions whose calls take longer than a few steps.

    Parameters
    ----------
    watched : frozenset of str
        Those that ask for themselves: the watch becomes their last argument.
    searches : mapping
        Those that go over a range, each with the slice of its arguments that says where it begins and ends.
    """

    watched: frozenset[str] = frozenset()
    searches: Mapping[str, tuple[int, int]] = field(default_factory=dict)


NONE = LongCalls()


def with_polls(function: Function, long: LongCalls = NONE) -> Function:
    """The same function, whose loops can be stopped.

    Parameters
    ----------
    function : Function
        Any; it is printed after this.
    long : LongCalls
        The functions that it may call and that take long.

    Examples
    --------
    >>> from weft.ir.printer import function_text
    >>> n, i, y = Var("n"), Var("i"), Var("y", "float64*")
    >>> loop = For(i, lit(0), n, Store(y, i, lit(0.0, "float64")))
    >>> print(function_text(with_polls(Function("g", (), loop))), end="")
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
    start = (Array(watch, 2), Store(watch, lit(0), lit(0)), Store(watch, lit(1), lit(0)))
    return replace(function, body=block(*start, body))


class _Polls:
    """One function, on its way to one that can be stopped."""

    def __init__(self, function: Function, long: LongCalls):
        self.long = long
        self.names = used_names(function.body)
        self.names |= {v.name for p in function.params for v in (*p.dimensions, *p.arrays, p.vals)}
        self.watch, self.budget = self.name("watch", "int64*"), self.name("budget")
        self.used = self.spends = False
        self.assigned = assigned_names(function.body)
        self.spent: set[tuple[Var, Var]] = set()  # the ranges counted already in an iteration of a loop that counts
        declared = [n for n in walk(function.body) if isinstance(n, Declare)]
        loaded = {n.var.name for n in declared if n.value is not None and _is_load(n.value)}
        self.edges = loaded - {n.var.name for n in declared if n.value is None or not _is_load(n.value)}

    def name(self, wanted: str, ty: str = "int64") -> Var:
        while wanted in self.names:
            wanted += "_"
        self.names.add(wanted)
        return Var(wanted, ty)

    def poll(self, *, asks: bool = True) -> Poll:
        self.used = True
        return Poll(self.watch, asks)

    # -- loops ----------------------------------------------------------------------------------------------------
    def outermost(self, stmt: Stmt) -> Stmt:
        """Return a function's body, or an iteration that threads share, with the polls of its loops."""
        saved, self.spends = self.spends, False
        done: Stmt = self.outside(stmt)  # type: ignore[assignment]
        if self.spends:
            done = block(Declare(self.budget, lit(STRIP)), done)
        self.spends = saved
        return done

    def outside(self, node: Node) -> Node:
        """Outside of loops."""
        match node:
            case Parallel(loop=loop):
                return self.shared(node, loop)
            case For() if self.is_long(node):
                return self.in_strips(node) if self.is_innermost(node) else self.counting(node)
            case While():
                return self.merged_in_strips(node) if self.ends(node) else self.counting(node)
        return self.calling(node, self.outside)

    def shared(self, region: Parallel, loop: For) -> Stmt:
        """Loops that threads share leave out what is left to do when one of them has been told to stop."""
        body = self.outermost(loop.body)
        if any(self.is_loop(n) for n in walk(loop.body)):
            body = block(self.poll(asks=False), body)
        prologue, epilogue = self.outermost(region.prologue), self.outermost(region.epilogue)
        return replace(region, prologue=prologue, loop=replace(loop, body=body), epilogue=epilogue)

    def inside(self, node: Node) -> Node:
        """Inside of loops that count."""
        match node:
            case For() if self.is_long(node):
                return self.counted(node) if self.is_innermost(node) else self.counting(node)
            case While():
                ends = self.ends(node)
                new = [pair for pair in ends if pair not in self.spent]
                self.spent.update(new)
                return block(*[self.spend(sub(end, p)) for p, end in new], node) if ends else self.counting(node)
            case If(cond, then, orelse):
                before = self.spent
                branches: list[Any] = []
                for branch in (then, orelse):
                    self.spent = set(before)
                    branches.append(branch and self.inside(branch))
                self.spent = before
                return If(cond, *branches)
            case Declare(var):
                self.spent = {pair for pair in self.spent if var not in pair}
        return self.calling(node, self.inside)

    def in_strips(self, loop: For) -> Stmt:
        """An innermost loop with none around it."""
        ty, stop = loop.var.ty, loop.stop
        before = block()
        if not (isinstance(stop, Var) and stop.name not in self.assigned):
            stop = self.name(f"{loop.var.name}_stop", ty)
            before = Declare(stop, loop.stop)
        next, end = (self.name(f"{loop.var.name}_{what}", ty) for what in ("next", "end"))
        strip = block(
            Declare(end, _strip_end(next, stop)),
            replace(loop, start=next, stop=end),
            Set(next, end),
            if_(lt(next, stop), self.poll()),
        )
        return block(before, Declare(next, loop.start), While(lt(next, stop), strip))

    def merged_in_strips(self, loop: While) -> Stmt:
        """A loop that merges, with none around it: no position goes further than a strip at a time."""
        stops, parts = [], []
        for p, end in self.ends(loop):
            stop = self.name(f"{p.name}_stop", p.ty)
            stops.append(Declare(stop, _strip_end(p, end)))
            parts.append(lt(p, stop))
        return replace(loop, body=block(*stops, replace(loop, cond=land(*parts)), if_(loop.cond, self.poll())))

    def ends(self, loop: While) -> tuple[tuple[Var, Var], ...]:
        """The positions that a merging loop moves, each with its end; none where it may visit more than is between."""
        pairs, moved = _compared(loop.cond), assigned_names(loop.body)
        merges = all(p.name in moved and end.name not in moved for p, end in pairs)
        complete = len(pairs) == len(list(_conjuncts(loop.cond)))
        return pairs if merges and complete and self.stays_within(loop, {end for _, end in pairs}) else ()

    def stays_within(self, loop: While, ends: set[Var]) -> bool:
        """Tell whether loops inside of one go over parts of its range: each ends where one before it ended."""
        reached: set[Expr] = set()
        for node in walk(loop.body):
            match node:
                case Declare(var, value) if value in reached:
                    reached.add(var)
                case While(cond):
                    inside = [p for p, end in _compared(cond) if end in ends or end in reached]
                    if not inside:
                        return False
                    reached.update(inside)
                case For(stop=stop) if self.is_long(node) and stop not in reached:
                    return False
                case Call() if self.is_loop(node):
                    return False
        return True

    def counting(self, loop: For | While) -> Stmt:
        """A loop that asks when what it and those inside have visited exceeds a strip."""
        before, self.spent = self.spent, set()
        inner: Stmt = self.inside(loop.body)  # type: ignore[assignment]
        self.spent = before
        ask = if_(lt(self.budget, lit(0)), block(Set(self.budget, lit(STRIP)), self.poll()))
        return replace(loop, body=block(inner, self.spend(lit(1)), ask))

    def counted(self, loop: For) -> Stmt:
        """An innermost loop in one that counts, which counts its elements beforehand."""
        bounds, ends = [loop.start, loop.stop], []
        for k, what in enumerate(("start", "stop")):
            if any(isinstance(n, Call) for n in walk(bounds[k])):
                name = self.name(f"{loop.var.name}_{what}", loop.var.ty)
                ends.append(Declare(name, bounds[k]))
                bounds[k] = name
        return block(*ends, self.spend(self.length(*bounds)), replace(loop, start=bounds[0], stop=bounds[1]))

    def length(self, start: Expr, stop: Expr) -> Expr:
        """Return the number of elements from ``start`` to ``stop``, which may be before it unless both are edges."""
        n = sub(stop, start)
        from_zero = isinstance(start, Const) and isinstance(stop, Var | Load)
        return n if from_zero or (self.is_edge(start) and self.is_edge(stop)) else maximum(n, lit(0, n.ty))

    def is_edge(self, bound: Expr) -> bool:
        """Tell whether a bound of a loop is an edge of a segment, as level arrays hold them."""
        return bound.name in self.edges if isinstance(bound, Var) else _is_load(bound)

    def spend(self, elements: Expr) -> Stmt:
        self.spends = True
        return Update("-", self.budget, cast(elements, "int64"))

    # -- calls ----------------------------------------------------------------------------------------------------
    def calling(self, node: Node, change: Callable[[Node], Node]) -> Node:
        """A statement that is no loop: its long calls are watched, or what they visit is counted."""
        if isinstance(node, Expr):
            return node
        if isinstance(node, Evaluate | Declare | Set):
            calls = [n for n in walk(node) if isinstance(n, Call)]
            ranges = [c.args[slice(*self.long.searches[c.name])] for c in calls if c.name in self.long.searches]
            searched = [self.spend(self.length(*bounds)) for bounds in ranges] if change == self.inside else []
            if not any(c.name in self.long.watched for c in calls):
                return block(*searched, node) if searched else node
            return block(*searched, rewrite(node, self.watched), self.poll(asks=False))  # type: ignore[arg-type]
        return rebuild(node, change)

    def watched(self, node: Node) -> Node | None:
        if isinstance(node, Call) and node.name in self.long.watched:
            return replace(node, args=(*node.args, self.watch))
        return None

    # -- questions ------------------------------------------------------------------------------------------------
    def is_loop(self, node: Node) -> bool:
        """Tell whether a node by itself may take long."""
        if isinstance(node, Call):
            return node.name in self.long.watched or node.name in self.long.searches
        return isinstance(node, While) or (isinstance(node, For) and self.is_long(node))

    def is_long(self, loop: For) -> bool:
        """Tell whether a loop may have many iterations, or has loops inside that may."""
        few = isinstance(loop.start, Const) and isinstance(loop.stop, Const)
        return not few or any(self.is_loop(n) for n in walk(loop.body))

    def is_innermost(self, loop: For | While) -> bool:
        vectors = isinstance(loop, For) and loop.simd is not None
        return vectors or not any(self.is_loop(n) for n in walk(loop.body))


def _strip_end(start: Var, stop: Expr) -> Expr:
    """Return where a strip ends, which may be at the last number that there is."""
    return Select(gt(sub(stop, start), lit(STRIP, start.ty)), add(start, lit(STRIP, start.ty)), stop)


def _is_load(value: Expr) -> bool:
    """Tell whether a value is an element of an array, in any type."""
    return isinstance(value.a if isinstance(value, Cast) else value, Load)


def _compared(cond: Expr) -> tuple[tuple[Var, Var], ...]:
    """The variables that a condition asks to be less than others."""
    pairs = [(p.a, p.b) for p in _conjuncts(cond) if isinstance(p, Binary) and p.op == "<"]
    return tuple((p, end) for p, end in pairs if isinstance(p, Var) and isinstance(end, Var))


def _conjuncts(cond: Expr) -> Iterator[Expr]:
    match cond:
        case Binary("&&", a, b):
            yield from _conjuncts(a)
            yield from _conjuncts(b)
        case _:
            yield cond
