"""Equal shares: teams of a device take as many positions each, wherever segments begin and end.

A loop over *segments* of positions, such as the rows of a matrix, has loops inside which run over the positions of one
segment. A team walks over the segments of its share of all positions. The sums of a segment that the border of a share
cuts are kept as *parts*: one of the segment that began before the share, one of the segment that goes on behind it. A
second kernel combines the parts of each segment in order, so that bits depend on no number of teams, and does with the
sums what the loop does with those of whole segments.

Segments adjoin, each beginning where the one before it ends (``Adjoining``), over any number of levels; or they are
runs of positions with equal coordinates (``Runs``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from functools import partial
from typing import Any, TypeAlias

from ...records import record, replace
from .. import nodes as ir
from ..builder import add, block, eq, gt, if_, increment, land, le, lit, lor, lt, maximum, minimum, mul, ne, sub
from ..traversal import assigned_names, declared_names, rebuild, statements, used_names, walk
from .adjacent_ranges import adjoin, put
from .lanes import combined, definitions, own_places, spelled_out, written
from .simplify import simplify_expression

SHARE = 512
"""Positions in a share."""
Stmts = tuple[ir.Stmt, ...]


@record
class Sum:
    """A variable, or a small array of ``size`` elements, to which a loop over positions reduces by an operator."""

    var: ir.Var
    op: str
    size: int | None = None

    @property
    def dtype(self) -> str:
        return self.var.ty.removesuffix("*")

    def element(self, q: ir.Expr) -> ir.Var | ir.Load:
        """Return the sum, or the element ``q`` of it."""
        return self.var if self.size is None else ir.Load(self.var, q)


@record
class Frame:
    """Statements of one segment: a loop over its positions, and what is done before and after it with its sums."""

    body: ir.Stmt
    before: Stmts
    loop: ir.For
    after: Stmts
    sums: tuple[Sum, ...]
    around: tuple[ir.For, ...]  # loops around the frame for one segment, such as over strips of a row
    room: ir.Expr  # the most values that one sum has for a segment


Loop: TypeAlias = tuple[ir.Var, tuple[ir.Expr, ir.Expr], ir.Stmt, bool]
"""A loop that teams share: its variable, its limits, its body, and whether lanes share what is inside."""


Place: TypeAlias = tuple[ir.For, ir.Stmt, tuple[ir.For, ...]]
"""A loop over segments, a statement inside, and the loops around this for one segment."""


class _NotSharedError(Exception):
    """A loop is none over segments, or its positions cannot be shared."""


def segments_of(loop: ir.For, may_sum: bool, atomic: Set[str] = frozenset()) -> Segments | None:
    """Return the segments over which a loop is; None if it is over none, or their positions cannot be shared.

    Sums are cut only if ``may_sum``. Changes of the arrays ``atomic`` may come from anywhere.
    """
    for kind in (Adjoining, Runs):
        try:
            segments = kind(loop, atomic)
        except _NotSharedError:
            continue
        return segments if may_sum or not segments.frames else None
    return None


class Segments:
    """A loop over segments of positions."""

    def __init__(self, loop: ir.For, atomic: Set[str]):
        self.loop, self.atomic = loop, atomic
        self.known = definitions(loop.body)
        self.inner: list[ir.For] = []  # the loops over positions
        self.frames: dict[ir.Stmt, tuple[ir.For, Frame]] = {}  # with the loop over its segments
        places: list[Place] = [(loop, self.body, ())]
        while places:
            places += self.read(*places.pop())
        if not self.inner:
            raise _NotSharedError

    # -- what differs between kinds of segments ------------------------------------------------------------------
    body: ir.Stmt  # what is done for one segment
    first: ir.Expr  # the first of all positions
    end: ir.Expr  # the position behind all

    def runs_over(self, loop: ir.For, outer: ir.For) -> bool:
        """Return whether a loop is over positions of the segment that a loop around it has reached."""
        raise NotImplementedError

    def is_last(self, loop: ir.For) -> bool:
        """Return whether a loop over positions is over single ones, rather than over segments of others."""
        raise NotImplementedError

    # -- analysis ------------------------------------------------------------------------------------------------
    def read(self, outer: ir.For, body: ir.Stmt, around: tuple[ir.For, ...]) -> Iterator[Place]:
        """Yield the places below one: a loop over segments, what is done for each, and the loops around that."""
        stmts = body.stmts if isinstance(body, ir.Block) else (body,)
        loops = [n for n, s in enumerate(stmts) if isinstance(s, ir.For) and self.runs_over(s, outer)]
        if len(loops) > 1 or body in self.frames:
            raise _NotSharedError
        place = loops[0] if loops else len(stmts)
        before, after = stmts[:place], stmts[place + 1 :]
        loop = stmts[place] if loops else None
        if isinstance(loop, ir.For) and after:
            self.frames[body] = outer, self.frame(body, before, loop, after, around)
            self.inner += self.below(loop)
            return
        for s in before:
            if isinstance(s, ir.For) and self.loops_over(outer, s.body):
                yield outer, s.body, (*around, s)
            elif not isinstance(s, ir.Declare | ir.Comment):
                raise _NotSharedError
        if isinstance(loop, ir.For):
            self.inner.append(loop)
            if not self.is_last(loop):
                yield loop, loop.body, around
                return
            self.check_last(loop)
            inside = {*declared_names(loop.body)}
            stored = written(loop.body) - inside
            own = all(own_places(name, loop) for name in stored - self.atomic)
            if not (stored and own) or assigned_names(loop.body) - inside:
                raise _NotSharedError

    def loops_over(self, outer: ir.For, stmt: ir.Stmt) -> list[ir.For]:
        """Return the loops in a statement over positions of the segment that a loop around it has reached."""
        return [s for s in statements(stmt) if isinstance(s, ir.For) and self.runs_over(s, outer)]

    def below(self, loop: ir.For) -> list[ir.For]:
        """Return a loop over positions whose sums a frame has, and those inside it."""
        loops = [loop]
        while not self.is_last(loops[-1]):
            inside = self.loops_over(loops[-1], loops[-1].body)
            if len(inside) != 1:
                raise _NotSharedError
            loops += inside
        self.check_last(loops[-1])
        return loops

    def check_last(self, loop: ir.For) -> None:
        """Raise if a loop over single positions looks at others, as where it takes duplicates together."""
        for s in statements(loop.body):
            if isinstance(s, ir.While) or (isinstance(s, ir.If) and loop.var.name in used_names(s.cond)):
                raise _NotSharedError

    def frame(self, body: ir.Stmt, before: Stmts, loop: ir.For, after: Stmts, around: tuple[ir.For, ...]) -> Frame:
        """Return the frame around a loop."""
        inside = {*declared_names(loop.body)}
        names = (assigned_names(loop.body) | written(loop.body)) - inside
        starts = {s.var.name: s for s in before if isinstance(s, ir.Declare | ir.Array)}
        fills = {n: s for s in before if isinstance(s, ir.For) for n in written(s)}
        sums = []
        for name in sorted(names):
            start, value, size = starts.get(name), None, None
            if isinstance(start, ir.Declare):
                value = start.value
            elif isinstance(start, ir.Array):
                fill, size = fills.get(name), start.size
                if fill is not None and isinstance(fill.stop, ir.Const) and isinstance(fill.body, ir.Store):
                    value, size = fill.body.value, min(int(fill.stop.value), size)  # type: ignore[arg-type]
            else:
                raise _NotSharedError
            if (op := operator_of(name, loop.body)) is None:
                raise _NotSharedError
            neutral = {"+": 0, "|": 0, "^": 0, "*": 1}.get(op)
            if neutral is not None and not (isinstance(value, ir.Const) and value.value == neutral):
                raise _NotSharedError
            sums.append(Sum(start.var, op, size))
        arrays = {s.var.name for s in sums if s.size is not None}
        plain = all(isinstance(s, ir.Declare | ir.Array | ir.Comment) or written(s) <= arrays for s in before)
        if not sums or not plain or any(self.loops_over(self.loop, s) for s in after):
            raise _NotSharedError
        return Frame(body, before, loop, after, tuple(sums), around, self.room(around, sums))

    def room(self, around: tuple[ir.For, ...], sums: list[Sum]) -> ir.Expr:
        """Return a number that the values of one sum for a segment do not exceed: a constant or a dimension."""
        size = max(s.size or 1 for s in sums)
        if not around:
            return lit(size)
        if len(around) > 1 or around[0].start != lit(0):
            raise _NotSharedError
        match simplify_expression(spelled_out(around[0].stop, self.known)):
            case ir.Var() as all:
                return mul(all, lit(size))
            case ir.Binary("/", ir.Var() as all, ir.Const(width)) if int(width) >= size:  # type: ignore[arg-type]
                return all
            # Strips of what strips of another width leave.
            case ir.Binary("/", ir.Binary("+", rest, ir.Const(more)), ir.Const(width)) if most := _rest(rest):
                return lit((most + int(more)) // int(width) * size)  # type: ignore[arg-type]
        raise _NotSharedError

    @property
    def over(self) -> str:
        """The name of the positions."""
        return next(s.var.name for s in self.inner if self.is_last(s))

    @property
    def lengths(self) -> tuple[str, ...] | None:
        """The arrays that say where segments begin, each with indices into the one before; None if there is no such.

        Without arrays, the lengths are not known before the loop.
        """
        return ()

    # -- kernels -------------------------------------------------------------------------------------------------
    @property
    def count(self) -> ir.Expr:
        """The number of shares."""
        return ir.Binary("/", add(sub(self.end, self.first), lit(SHARE - 1)), lit(SHARE))

    def edge(self, number: ir.Expr) -> ir.Expr:
        """Return the first position of a share."""
        return add(self.first, mul(number, lit(SHARE)))

    @property
    def edges(self) -> Stmts:
        """The declarations of the positions between which a share is."""
        return (
            ir.Declare(self.low, self.edge(self.number)),
            ir.Declare(self.high, minimum(add(self.low, lit(SHARE)), self.end)),
        )

    def kernels(self, fresh: Callable[[str], str], scratch: Callable[[str, str, ir.Expr], ir.Var]) -> Iterator[Loop]:
        """Yield the loops of kernels, given what makes new names and scratch memory."""
        self.fresh = fresh
        self.number, self.low, self.high = (ir.Var(fresh(n)) for n in ("share", "share_begin", "share_end"))
        self.parts = {
            (frame.body, s.var.name): [
                scratch(f"{s.var.name}_{which}", s.dtype, mul(self.count, frame.room)) for which in ("head", "tail")
            ]
            for _, frame in self.frames.values()
            for s in frame.sums
        }
        walk = block(*self.edges, self.walk())
        yield self.number, (lit(0), self.count), walk, True
        if self.frames:
            arrays = any(s.size is not None for _, frame in self.frames.values() for s in frame.sums)
            yield *self.joins(), arrays

    def walk(self) -> ir.Stmt:
        """Return the work of a team on its share."""
        raise NotImplementedError

    def joins(self) -> tuple[ir.Var, tuple[ir.Expr, ir.Expr], ir.Stmt]:
        """Return the loop that combines the parts of segments: its variable, its limits and its body."""
        raise NotImplementedError

    def place(self, frame: Frame, number: ir.Expr, q: ir.Expr) -> ir.Expr:
        """Return the place of the part of a sum that a share has."""
        most = max(s.size or 1 for s in frame.sums)
        for loop in frame.around:
            number = add(mul(number, loop.stop), loop.var)
        return add(mul(number, lit(most)), q)

    def each(self, s: Sum, make: Callable[[ir.Expr], ir.Stmt]) -> ir.Stmt:
        """Return a statement for each value of a sum."""
        if s.size is None:
            return make(lit(0))
        q = ir.Var(self.fresh("q"))
        return ir.For(q, lit(0), lit(s.size), make(q), unroll=True)

    def kept(self, frame: Frame, which: int) -> ir.Stmt:
        """Return the statement that keeps the sums of a frame as a part, of the first segment or of the last one."""

        def store(s: Sum) -> ir.Stmt:
            part = self.parts[frame.body, s.var.name][which]
            return self.each(s, lambda q: ir.Store(part, self.place(frame, self.number, q), s.element(q)))

        return block(*map(store, frame.sums))

    def combined(self, frame: Frame, first: ir.Expr, last: ir.Expr) -> ir.Stmt:
        """Return the statement that combines the parts of a segment, from those of one share to those of another."""
        number = ir.Var(self.fresh("part"))

        def step(which: int, number: ir.Expr) -> Iterator[ir.Stmt]:
            for s in frame.sums:
                part = self.parts[frame.body, s.var.name][which]
                yield self.each(s, partial(self.added, s, part, frame, number))

        rest = ir.For(number, add(first, lit(1)), add(last, lit(1)), block(*step(0, number)))
        return block(*step(1, first), rest)

    def added(self, s: Sum, part: ir.Var, frame: Frame, number: ir.Expr, q: ir.Expr) -> ir.Stmt:
        """Return the statement that combines an element of a sum with that of a part."""
        value = ir.Load(part, self.place(frame, number, q))
        if s.size is None:
            return combined(s.op, s.var, value)
        if s.op.startswith("weft_"):
            return ir.Store(s.var, q, ir.Call(s.op, (ir.Load(s.var, q), value), s.dtype))
        return ir.Update(s.op, ir.Load(s.var, q), value)

    def with_sums(self, body: ir.Stmt, sums: Callable[[Frame], ir.Stmt]) -> ir.Stmt:
        """Return what is done for one segment, with other statements in the place of loops over positions."""

        def rule(n: Any) -> ir.Stmt | None:
            if isinstance(n, ir.Block) and n in self.frames:
                frame = self.frames[n][1]
                return block(*frame.before, sums(frame), *frame.after)
            return None

        return _replaced(body, rule)  # type: ignore[no-any-return]


def _replaced(node: Any, rule: Callable[[Any], ir.Stmt | None]) -> Any:
    """Return a statement with a rule applied to those in it, those around others first."""
    result = rule(node)
    return rebuild(node, lambda n: _replaced(n, rule)) if result is None else result


def operator_of(name: str, stmt: ir.Stmt) -> str | None:
    """Return the operator by which a statement combines values with a variable or elements of an array, if one."""
    ops: set[str] = set()
    uses = sum(isinstance(n, ir.Var) and n.name == name for n in walk(stmt))
    for s in statements(stmt):
        match s:
            case ir.Update(op, ir.Var(target) | ir.Load(ir.Var(target))) if target == name:
                ops.add("+" if op == "-" else op)
                uses -= 1
            case ir.Set(ir.Var(target), ir.Call(op, (ir.Var(same), _))) if target == name == same:
                ops.add(op)
                uses -= 2
            case ir.Store(ir.Var(target), index, ir.Call(op, (ir.Load(ir.Var(same), at), _))) if (
                target == name == same and index == at
            ):
                ops.add(op)
                uses -= 2
    if len(ops) != 1 or uses or not (ops & {"+", "*", "|", "^"} or _is_extreme(*ops)):
        return None
    return ops.pop()


def _is_extreme(op: str) -> bool:
    return op.startswith(("weft_minimum_", "weft_maximum_"))


def _rest(expr: ir.Expr) -> int:
    """Return the greatest remainder of a division that an expression computes; 0 if it computes none."""
    match expr:
        case ir.Binary("-", a, ir.Binary("*", ir.Binary("/", b, ir.Const(by)), ir.Const(again))):
            return int(by) - 1 if (a, by) == (b, again) else 0  # type: ignore[arg-type]
    return 0


class Adjoining(Segments):
    """Segments of which each begins where the one before it ends, and which may consist of segments themselves."""

    def __init__(self, loop: ir.For, atomic: Set[str]):
        self.body = loop.body
        super().__init__(loop, atomic)
        if used_names(self.begin(loop)) & {*declared_names(loop.body)}:
            raise _NotSharedError
        self.first, self.end = (put(self.begin(loop), loop.var, edge) for edge in (loop.start, loop.stop))

    @property
    def lengths(self) -> tuple[str, ...] | None:
        expr, names = self.begin(self.loop), list[str]()
        while expr != self.loop.var:
            match expr:
                case ir.Cast(a):
                    expr = a
                case ir.Load(ir.Var(name), index):
                    names.append(name)
                    expr = index
                case _:
                    return None
        return tuple(names)

    def runs_over(self, loop: ir.For, outer: ir.For) -> bool:
        return adjoin(loop.start, loop.stop, outer.var)

    def is_last(self, loop: ir.For) -> bool:
        return not any(isinstance(s, ir.For) and self.runs_over(s, loop) for s in statements(loop.body))

    def begin(self, outer: ir.For) -> ir.Expr:
        """Return the first position of the segment that a loop has reached."""
        begins = set()
        for path in map(self.path, filter(self.is_last, self.inner)):
            if outer not in path:
                continue
            begin: ir.Expr = path[0].var
            for inner in path[: path.index(outer)]:
                begin = put(begin, inner.var, inner.start)
            begins.add(begin)
        if len(begins) != 1:
            raise _NotSharedError
        return begins.pop()

    def path(self, loop: ir.For) -> list[ir.For]:
        """Return a loop over positions and those around it, the outermost last."""
        loops = [loop]
        while loops[-1] != self.loop:
            loops.append(next(s for s in (self.loop, *self.inner) if self.runs_over(loops[-1], s)))
        return loops

    def behind(self, outer: ir.For) -> ir.Expr:
        """Return the position behind the segment that a loop has reached."""
        return put(self.begin(outer), outer.var, add(outer.var, lit(1)))

    def search(
        self, name: str, outer: ir.For, limits: tuple[ir.Expr, ir.Expr], position: ir.Expr
    ) -> tuple[ir.Var, Stmts]:
        """Return a variable, and statements that declare it as the number of the segment with a position."""
        here, above, middle = (ir.Var(self.fresh(n)) for n in (name, f"{name}_above", f"{name}_middle"))
        reached = le(put(self.begin(outer), outer.var, middle), position)
        halve = block(
            ir.Declare(middle, ir.Binary("/", add(here, above), lit(2))),
            ir.If(reached, ir.Set(here, middle), ir.Set(above, middle)),
        )
        start, stop = limits
        search = ir.While(gt(sub(above, here), lit(1)), halve)
        return here, (ir.Declare(here, start), ir.Declare(above, stop), search)

    def walk(self) -> ir.Stmt:
        loop = self.loop
        here, search = self.search(f"{loop.var.name}_first", loop, (loop.start, loop.stop), self.low)
        searches = [*search, ir.Declare(loop.var, here)]
        bounds: dict[tuple[ir.Expr, ir.Expr], tuple[ir.Expr, ir.Expr]] = {}
        for inner in self.inner:  # loops over the same positions have the same bounds
            if self.is_last(inner):
                bounds[inner.start, inner.stop] = self.low, self.high
            elif (inner.start, inner.stop) not in bounds:
                limits = self.all_of(inner)
                name = inner.var.name
                one, find_one = self.search(f"{name}_low", inner, limits, self.low)
                last, find_last = self.search(f"{name}_high", inner, limits, sub(self.high, lit(1)))
                searches += [*find_one, *find_last]
                bounds[inner.start, inner.stop] = one, add(last, lit(1))

        def rule(n: Any) -> ir.Stmt | None:
            if isinstance(n, ir.For) and n in self.inner:
                low, high = bounds[n.start, n.stop]
                return replace(n, start=maximum(n.start, low), stop=minimum(n.stop, high), body=of_segment(n))
            if isinstance(n, ir.Block) and n in self.frames:
                outer, frame = self.frames[n]
                finish = ir.If(gt(self.behind(outer), self.high), self.kept(frame, 1), block(*frame.after))
                finish = ir.If(lt(self.begin(outer), self.low), self.kept(frame, 0), finish)
                return block(*frame.before, _replaced(frame.loop, rule), finish)
            return None

        def of_segment(outer: ir.For) -> ir.Stmt:
            body = _replaced(outer.body, rule)
            # The second kernel takes segments without positions, which the last share would not reach.
            return if_(lt(self.begin(outer), self.behind(outer)), body) if self.has_frame(outer) else body

        goes_on = land(lt(loop.var, loop.stop), lt(self.begin(loop), self.high))
        return block(*searches, ir.While(goes_on, block(of_segment(loop), increment(loop.var))))

    def has_frame(self, outer: ir.For) -> bool:
        """Return whether the sums are those of the segments over which a loop is."""
        return any(where == outer for where, _ in self.frames.values())

    def all_of(self, inner: ir.For) -> tuple[ir.Expr, ir.Expr]:
        """Return the limits of what a loop runs over for all segments together."""
        *path, outer = self.path(inner)
        start, stop = outer.start, outer.stop
        for loop in reversed(path):
            start, stop = put(loop.start, outer.var, start), put(loop.start, outer.var, stop)
            outer = loop
        return start, stop

    def joins(self) -> tuple[ir.Var, tuple[ir.Expr, ir.Expr], ir.Stmt]:
        loop = self.loop

        def rule(n: Any) -> ir.Stmt | None:
            return replace(n, body=self.joined(n)) if isinstance(n, ir.For) and self.has_frame(n) else None

        joined = self.joined(loop) if self.has_frame(loop) else _replaced(loop.body, rule)
        return loop.var, (loop.start, loop.stop), joined

    def joined(self, outer: ir.For) -> ir.Stmt:
        """Return what is done for a segment: its parts are combined, if there are any, or if it has no positions."""
        begin, end = self.begin(outer), self.behind(outer)
        one, last = (ir.Var(self.fresh(name)) for name in ("share_of_first", "share_of_last"))
        shares = [ir.Binary("/", sub(p, self.first), lit(SHARE)) for p in (begin, sub(end, lit(1)))]
        cut = self.with_sums(outer.body, lambda frame: self.combined(frame, one, last))
        return ir.If(
            eq(begin, end),
            self.with_sums(outer.body, lambda _: block()),
            block(ir.Declare(one, shares[0]), ir.Declare(last, shares[1]), if_(lt(one, last), cut)),
        )


@record
class Key:
    """A coordinate of a run: its variable, and what it is at a position."""

    var: ir.Var
    value: ir.Expr
    position: ir.Var

    def at(self, position: ir.Expr) -> ir.Expr:
        """Return the coordinate of a position."""
        return put(self.value, self.position, position)


class Runs(Segments):
    """Runs of positions with equal coordinates, as a loop that takes a whole run where it meets the first of it.

    Such a loop may be inside another one: runs of several equal coordinates.
    """

    def __init__(self, loop: ir.For, atomic: Set[str]):
        self.first, self.end, self.keys = loop.start, loop.stop, list[Key]()
        inner: ir.Stmt | None = loop
        passed = set[str]()
        while isinstance(inner, ir.For) and (run := _run(inner)) is not None:
            key, self.behind, rest = run
            self.position = inner.var
            self.keys.append(key)
            *before, inner = rest
            if not all(isinstance(s, ir.Declare) for s in before) or not self.is_child(inner):
                break
            passed |= {s.var.name for s in before if isinstance(s, ir.Declare)}
        if not self.keys:
            raise _NotSharedError
        self.body = block(*rest)
        super().__init__(loop, atomic)
        outside = _replaced(self.body, lambda n: block() if isinstance(n, ir.For) and n in self.inner else None)
        if {self.position.name, self.behind.name} & used_names(outside) or passed & used_names(self.body):
            raise _NotSharedError

    def is_child(self, stmt: ir.Stmt) -> bool:
        """Return whether a statement is a loop over the positions of a run."""
        return isinstance(stmt, ir.For) and (stmt.start, stmt.stop) == (self.position, self.behind)

    def runs_over(self, loop: ir.For, outer: ir.For) -> bool:
        return outer is self.loop and self.is_child(loop)

    def is_last(self, loop: ir.For) -> bool:
        return True

    def walk(self) -> ir.Stmt:
        position, behind = self.position, self.behind
        step = ir.Var(self.fresh("step"))
        is_cut, goes_on = (ir.Var(self.fresh(name), "bool") for name in ("is_cut", "goes_on"))
        more = land(le(add(behind, step), self.high), self.is_in_run(sub(add(behind, step), lit(1))))
        # Steps grow as long as all positions that they pass are in the run, and shrink until none is left.
        shrink = block(if_(more, increment(behind, step)), ir.Set(step, ir.Binary("/", step, lit(2))))
        search = block(
            ir.Declare(behind, add(position, lit(1))),
            ir.Declare(step, lit(1)),
            ir.While(more, block(increment(behind, step), increment(step, step))),
            ir.While(gt(step, lit(0)), shrink),
        )
        borders = block(
            ir.Declare(is_cut, land(eq(position, self.low), gt(self.low, self.first), self.same(self.low))),
            ir.Declare(goes_on, land(eq(behind, self.high), lt(self.high, self.end), self.same(self.high))),
        )

        def rule(n: Any) -> ir.Stmt | None:
            if isinstance(n, ir.Block) and n in self.frames:
                frame = self.frames[n][1]
                finish = ir.If(goes_on, self.kept(frame, 1), block(*frame.after))
                return block(*frame.before, frame.loop, ir.If(is_cut, self.kept(frame, 0), finish))
            return None

        run = block(
            *self.coordinates(position), search, borders if self.frames else None,
            _replaced(self.body, rule), ir.Set(position, behind),
        )  # fmt: skip
        return block(ir.Declare(position, self.low), ir.While(lt(position, self.high), run))

    def coordinates(self, position: ir.Expr) -> Iterator[ir.Stmt]:
        """Yield the declarations of the coordinates of a position."""
        for key in self.keys:
            yield ir.Declare(key.var, key.at(position))

    def is_in_run(self, position: ir.Expr) -> ir.Expr:
        """Return whether a position has the coordinates that are declared."""
        return land(*(eq(key.at(position), key.var) for key in self.keys))

    def same(self, edge: ir.Expr) -> ir.Expr:
        """Return whether the positions before and behind an edge are in one run."""
        return land(*(eq(key.at(sub(edge, lit(1))), key.at(edge)) for key in self.keys))

    def joins(self) -> tuple[ir.Var, tuple[ir.Expr, ir.Expr], ir.Stmt]:
        last = ir.Var(self.fresh("share_of_last"))
        after = add(last, lit(1))
        earlier = (ne(key.at(sub(self.low, lit(1))), key.at(self.high)) for key in self.keys)
        of_run = block(
            *self.coordinates(self.high),
            ir.Declare(last, add(self.number, lit(1))),
            ir.While(land(lt(after, self.count), self.is_in_run(self.edge(after))), increment(last)),
            self.with_sums(self.body, lambda frame: self.combined(frame, self.number, last)),
        )
        goes_on = land(lt(self.high, self.end), self.same(self.high))
        body = ir.If(land(goes_on, lor(eq(self.low, self.first), *earlier)), of_run)
        return self.number, (lit(0), self.count), block(*self.edges, body)


def _run(loop: ir.For) -> tuple[Key, ir.Var, Stmts] | None:
    """Return the coordinate of a run, the variable of the position behind it, and what is done; None for no run."""
    match loop.body:
        case ir.Block(
            (ir.Declare(coordinate, ir.Expr() as value),
             ir.If(first, ir.Block((ir.Declare(behind), ir.While(ir.Binary("&&", _, more), step), *rest)), None))
        ):  # fmt: skip
            key = Key(coordinate, value, loop.var)
            is_first = lor(eq(loop.var, loop.start), ne(key.at(sub(loop.var, lit(1))), coordinate))
            if (first, more, step) == (is_first, eq(key.at(behind), coordinate), increment(behind)):
                return key, behind, tuple(rest)
    return None
