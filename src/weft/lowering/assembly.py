"""Assembly by insertion (2020 paper, section 6): what fills a structure whose coordinates cannot be appended in order.

The loops over the source run once for each level that has something to find out, from the root down (its attribute
query), and once more to insert every entry. A level places an entry by what its query found (``get_pos``) or takes
the next free position of its parent (``yield_pos``).

Two things that are arrays in general are scalars where the order of the loops allows it (section 4.2): the counter
``#i`` where the loop over ``i`` is outside the others, and the next free position where entries come in its order.

Threads share a pass by the outermost loop. What a query writes each of them has for itself, and it is put together
afterwards: of histograms the sums, which also say where the entries of each thread go, so that they come out in the
same order as from one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ..concrete_notation.nodes import Assign, Forall, Program, Stmt, assignments, foralls_of
from ..formats import Format, LevelFormat, LevelVars, TensorType
from ..index_notation.nodes import Access
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, gt, if_, increment, lit, lor, mul, ne, sub
from ..remapping.inverse import significance
from ..remapping.nodes import Axis, Counter, IndexExpr, axes_of
from .env import Env
from .expressions import lower_expr
from .iteration_graph import reads
from .lower import CHUNKS_PER_THREAD, THREADS, Lowerer
from .physical import path
from .target import COUNTS, Mode
from .values import without_conversions

__all__ = [
    "Arrival", "Assembly", "Phase", "arrival", "can_insert", "counters", "phases", "private_roles", "scalar_counters",
    "scratch_dtype", "scratch_roles", "shareable", "shared",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Phase:
    """One pass over the source: the query of a level, its collection, or the insertion of every entry."""

    name: str
    level: int | None = None
    collects: bool = False


def phases(format: Format, arrival: Arrival) -> tuple[Phase, ...]:
    """The passes that assembling a format takes."""
    found = []
    for k, level in enumerate(format.levels):
        if _asks(level):
            found.append(Phase(f"query{k + 1}", k))
        if k in shared(format, arrival):
            found.append(Phase(f"collect{k + 1}", k, collects=True))
    return (*found, Phase("insert"))


@lru_cache(maxsize=1024)
def shared(format: Format, arrival: Arrival) -> tuple[int, ...]:
    """The levels at whose positions several entries meet that come together, but in any order."""
    levels = format.levels
    met = () if arrival.sorts(format) else _met(format)
    return tuple(k for k in met if levels[k].shares and levels[k].unique)


def _met(format: Format) -> tuple[int, ...]:
    """The levels that yield positions at which several entries meet: what is below them takes more than one."""
    levels = format.levels
    return tuple(
        k
        for k, level in enumerate(levels)
        if level.placing == "yield" and not all(u.branchless for u in levels[k + 1 :])
    )


@lru_cache(maxsize=1024)
def grouped(format: Format, arrival: Arrival) -> dict[int, range]:
    """The same where entries come sorted, so that those of one position follow each other.

    For each the levels that decide whether it is the same position: itself, and the branchless ones below.
    """
    chains = {chain.start: chain for chain in format.chains}
    return {k: chains[k] for k in _met(format)} if arrival.sorts(format) else {}


def _asks(level: LevelFormat) -> bool:
    kind = type(level)
    return kind.query is not LevelFormat.query or kind.insert_edges is not LevelFormat.insert_edges


@lru_cache(maxsize=1024)
def counters(format: Format) -> tuple[int, ...]:
    """The levels whose coordinates count entries."""
    return tuple(k for k, c in enumerate(format.remapping.coordinates) if isinstance(c, Counter))


def can_insert(format: Format, arrival: Arrival) -> str | None:
    """Why entries cannot be inserted in the order in which they come; None when they can.

    A position that is taken stays taken: below a level that yields positions there is one for each entry, and what
    the level and those below it promise about order, the order in which entries come must keep.
    """
    coordinates, source = format.remapping.coordinates, arrival.order
    for k, level in enumerate(format.levels):
        if level.placing is None:
            return f"{level} cannot place an entry"
        if arrival.sorts(format):
            continue
        if level.placing == "yield" or (level.roles and level.placing == "get" and level.branchless):
            above = {a for c in coordinates[:k] for a in axes_of(c) if len(axes_of(c)) == 1 and not _divides(c)}
            rest = tuple(axis for axis in source if axis not in above)
            below = significance(coordinates[k:])
            if k in shared(format, arrival):
                if any(lower.placing != "get" or lower.roles for lower in format.levels[k + 1 :]):
                    return f"a level below {level} does not find positions by arithmetic"
                leading = all(axes_of(c) == {source[0]} for c in coordinates[:k]) if source else False
                return None if leading else f"the entries below one parent of {level} do not come together"
            if any(not lower.branchless for lower in format.levels[k + 1 :]):
                return f"{format.levels[k + 1]} is below {level}, which yields a position for each entry"
            if level.ordered and rest != below:
                return f"entries come in another order than {level} has"
            return None
    return None


@dataclass(frozen=True, slots=True)
class Arrival:
    """How the entries of a source come.

    Parameters
    ----------
    order : tuple of int
        The axes by which they are ordered, the first deciding first; empty where by none.
    grouped : tuple of int
        The axes of the outermost loops, as far as each visits no coordinate twice.
    follows : bool
        Whether the positions of the source's last level are its entries, one by one from 0, in this order.
    by : tuple of IndexExpr
        What they are sorted by, none of them twice.
    """

    order: tuple[int, ...] = ()
    grouped: tuple[int, ...] = ()
    follows: bool = False
    by: tuple[IndexExpr, ...] = ()

    def sorts(self, format: Format) -> bool:
        """Whether entries come in the order that a format has."""
        return self.by == format.remapping.coordinates and not format.is_curved


UNSORTED = Arrival()


def arrival(source: Format, loops: Sequence[str]) -> Arrival:
    """How the entries of a tensor with the axes ``i0, i1, ...`` come that loops over its levels visit."""
    variables = path(Access("A", tuple(f"i{axis}" for axis in range(source.order))), source)
    levels = dict(zip(variables, zip(source.levels, source.remapping.coordinates, strict=True), strict=True))
    entries = all(level.compact and level.gapless and not level.partial for level in source.levels)
    known = significance(source.remapping.coordinates) is not None  # nothing is stored beyond an edge
    follows = entries and known and source.is_unique and tuple(loops) == variables
    order: list[IndexExpr] = []
    grouped: list[int] = []
    ordered = True
    for n, v in enumerate(loops):
        level, coordinate = levels.get(v, (None, None))
        if level is None or coordinate is None:
            return Arrival((), tuple(grouped))
        order.append(coordinate)
        ordered &= level.ordered
        if len(grouped) == n and level.unique and isinstance(coordinate, Axis):
            grouped.append(coordinate.number)
    by = tuple(order) if ordered and source.is_unique else ()
    return Arrival((ordered and significance(order)) or (), tuple(grouped), follows, by)


def _divides(coordinate: object) -> bool:
    return not hasattr(coordinate, "number") and not isinstance(coordinate, Counter)


def scalar_counters(format: Format, arrival: Arrival) -> dict[int, int]:
    """The levels whose counters are scalars, and how many loops are outside: those over what each counts for."""
    found = {}
    for k in counters(format):
        over = {axis for e in format.remapping.coordinates[k].over for axis in axes_of(e)}  # type: ignore[attr-defined]
        if over and set(arrival.grouped[: len(over)]) == over:
            found[k] = len(over)
    return found


def running(format: Format, arrival: Arrival) -> int | None:
    """The level whose next free position is a scalar.

    One parent has one next position; below levels that find theirs by arithmetic the order of the entries must be
    that of the positions.
    """
    found = next((k for k, level in enumerate(format.levels) if level.placing == "yield"), None)
    if found is None or found in _met(format) or not format.levels[found].appends:
        return None
    order = significance(format.remapping.coordinates)
    plain = all(level.has_every and not level.roles for level in format.levels[:found])
    return found if found == 0 or (plain and order == arrival.order) else None


def shareable(format: Format, arrival: Arrival) -> bool:
    """Whether threads can share the passes: no entry's place hangs on another's, but by what queries found."""
    plain = all(
        level.combined is not None or (level.apart and type(level).query is LevelFormat.query)
        for level in format.levels
    )
    counted = set(counters(format)) == set(scalar_counters(format, arrival))
    in_order = running(format, arrival) is None or arrival.follows
    return plain and counted and in_order and not _met(format)


class Assembly(Lowerer):
    """Lowers the passes that assemble a result by insertion.

    Parameters
    ----------
    program : Program
        Loops over the source around one assignment to the result.
    target : Access
        The result.
    types : mapping
        The type of every tensor.
    names : mapping
        C names.
    phase : Phase
        Which pass.
    skip_fill : bool
        Leave out entries equal to the fill value.
    arrival : Arrival
        In which order entries come.
    threads : bool
        Whether threads share the pass.
    """

    apart = True

    def __init__(
        self,
        program: Program,
        target: Access,
        types: Mapping[str, TensorType],
        names: Mapping[str, str],
        phase: Phase,
        skip_fill: bool = False,
        arrival: Arrival = UNSORTED,
        threads: bool = False,
    ):
        mode = Mode.COMPUTE if phase.level is None or skip_fill else Mode.ASSEMBLE
        super().__init__(program, target, types, names, mode, skip_fill)
        self.phase = phase
        self.shared = shared(types[target.tensor].format, arrival)
        self.grouped = grouped(types[target.tensor].format, arrival)
        self.target.chains = ()
        tensor = self.tensors[target.tensor]
        extra = scratch_roles(tensor.type.format, arrival)
        ty = f"{scratch_dtype(tensor.type)}*"
        arrays = {(k, role): ir.Var(f"{tensor.name}{k + 1}_{role}", ty) for k, role in extra}
        if threads:
            for k, role in private_roles(tensor.type.format):
                ty = arrays[k, role].ty if (k, role) in arrays else tensor.levels[k].arrays[role].ty
                arrays[k, "private"] = ir.Var(f"{tensor.name}{k + 1}_private", ty)
        levels = tuple(
            replace(m, arrays={**m.arrays, **{role: v for (at, role), v in arrays.items() if at == k}})
            for k, m in enumerate(tensor.levels)
        )
        self.made = replace(tensor, arrays=(*tensor.arrays, *arrays.values()), levels=levels)
        self.tensors[target.tensor] = self.made
        self.format = tensor.type.format
        self.path = path(target, self.format)
        self.arrival, self.running = arrival, running(self.format, arrival)
        self.next = ir.Var(f"p{tensor.name}_next")
        self.threads = threads
        self.source = next(a for s in assignments(program.stmt) for a in reads(without_conversions(s.value)))
        self.follows = arrival.follows and not skip_fill
        self.own = tuple(self._own(k) for k in range(len(levels)))
        loops = list(foralls_of(program.stmt))
        self.counted = {k: loops[n - 1].body for k, n in scalar_counters(self.format, arrival).items()}

    def _own(self, k: int) -> LevelVars:
        """The variables of a level as a query or an insertion writes them: a thread's own, where threads share."""
        m, combined = self.made.levels[k], self.format.levels[k].combined
        if not self.threads or combined is None or combined[1] == "same":
            return m
        role, how = combined
        writes = self.phase.level == k or (self.phase.level is None and how == "sum" and k != self.running)
        if not writes:
            return m
        return replace(m, arrays={**m.arrays, role: ir.Var(f"{self.made.name}{k + 1}_own", m.arrays["private"].ty)})

    @property
    def chunks(self) -> ir.Expr:
        private = any(own is not m for own, m in zip(self.own, self.made.levels, strict=True))
        return THREADS if private else mul(THREADS, lit(CHUNKS_PER_THREAD))

    def start(self, chunk: ir.Expr) -> ir.Stmt:
        owns = []
        for k, role in private_roles(self.format):
            m, own = self.made.levels[k], self.own[k]
            if own is not m:
                owns.append(ir.Declare(own.arrays[role], add(m.arrays["private"], mul(chunk, ir.Load(COUNTS, lit(k))))))
        return block(*owns)

    def _among_threads(self, query: ir.Stmt) -> ir.Stmt:
        """A query of which several threads may write the same into one element."""
        combined = self.format.levels[self.phase.level or 0].combined
        match query:
            case ir.Store(array=array, index=index, value=value) if self.threads and combined and combined[1] == "same":
                return ir.Evaluate(ir.Call(f"weft_store_same_{value.ty}", (array, index, value), "int64"))
        return query

    def finish(self, chunk: ir.Expr) -> ir.Stmt:
        return block()

    def _combine(self, k: int) -> ir.Stmt:
        """What the threads found, put together; of sums also where each thread's entries begin."""
        role, how = self.format.levels[k].combined or ("", "")
        m, size = self.made.levels[k], ir.Load(COUNTS, lit(k))
        whole, parts = m.arrays[role], m.arrays["private"]
        t, q, total = ir.Var("t"), ir.Var("q"), ir.Var("total")
        if how == "max":
            part = ir.Load(parts, add(mul(t, size), q))
            larger = if_(gt(part, ir.Load(whole, q)), ir.Store(whole, q, part))
            edges = self.format.levels[k].insert_edges(m, self._size(k - 1))
            return block(ir.For(t, lit(0), THREADS, ir.For(q, lit(0), size, larger)), edges)
        here, one = ir.Load(parts, add(add(mul(t, size), q), lit(1))), ir.Var("one")
        each = block(
            ir.Declare(one, cast(here, "int64")),
            ir.Store(parts, add(mul(t, size), q), cast(total, parts.ty[:-1])),
            increment(total, one),
        )
        parent = block(ir.For(t, lit(0), THREADS, each), ir.Store(whole, add(q, lit(1)), cast(total, whole.ty[:-1])))
        return block(ir.Declare(total, lit(0)), ir.For(q, lit(0), sub(size, lit(1)), parent))

    def statement(self, stmt: Stmt, env: Env) -> ir.Stmt:
        k = self.phase.level
        if k is not None and self.counted.get(k) is stmt and self.format.levels[k].largest:
            width = self._width(stmt, env)
            if width is not None:
                coords = tuple(sub(width, lit(1)) if n == k else lit(0) for n in range(len(self.format.levels)))
                return self.format.levels[k].query(self.own[k], lit(0), coords)
        starts = [ir.Declare(self._counter(k), lit(0)) for k, body in self.counted.items() if body is stmt]
        return block(*starts, super().statement(stmt, env))

    def _width(self, stmt: Stmt, env: Env) -> ir.Expr | None:
        """How many entries the innermost loop visits, where that is the distance of two positions (Table 1)."""
        if self.phase.level != 0 or self.skip_fill or not isinstance(stmt, Forall) or not isinstance(stmt.body, Assign):
            return None
        found = {it for point in self._lattice(stmt, env) for it in point.coiterate}
        it = found.pop()
        one_by_one = it.format.unique and it.format.gapless and not it.format.branchless
        if found or it.format.iteration != "position" or not one_by_one:
            return None
        begin, end = self._bounds(it, stmt.var, env)
        return sub(end, begin)

    def _counter(self, k: int) -> ir.Var:
        return ir.Var(f"count{k + 1}")

    def lower(self, operands: Sequence[str]) -> ir.Function:
        k = self.phase.level
        asks = k is None or type(self.format.levels[k]).query is not LevelFormat.query
        stmt, among_threads = self.program.stmt, None
        if self.threads and asks and isinstance(stmt, Forall):
            among_threads = self._chunked(stmt)
        body = among_threads or (self.statement(stmt, Env()) if asks else block())
        if k is None and self.running is not None and not self.follows:
            body = block(ir.Declare(self.next, lit(0)), body)
        q = ir.Var(f"q{self.made.name}")
        ends = [
            level.finalize_yield_pos(m, self._size(n - 1), q)
            for n, (level, m) in enumerate(zip(self.format.levels[:k], self.made.levels[:k], strict=True))
            if asks and level.placing == "yield" and n not in {*self.shared, self.running} and self.own[n] is m
        ]
        if k is None:
            pass
        elif self.phase.collects:
            ends.append(self.format.levels[k].shared_finish(self.made.levels[k], self._size(k - 1)))
        elif self.own[k] is not self.made.levels[k]:
            ends.append(self._combine(k))
        else:
            ends.append(self.format.levels[k].insert_edges(self.made.levels[k], self._size(k - 1)))
        met = [v for n in self.grouped if k is None or n <= k for v in self._last(n)]
        body = block(*(ir.Declare(v, lit(-1)) for v in met), body)
        names = [self.target.access.tensor, *operands]
        params = tuple(self.tensors[n].param(output=n == names[0]) for n in names)
        scratch, release = ((), ()) if among_threads else (self.scratch, self.release)
        return ir.Function(self.phase.name, params, block(*scratch, body, *ends, *release))

    def _size(self, level: int) -> ir.Expr:
        """Positions of a level above the one that is assembled."""
        size: ir.Expr = lit(1)
        for k in range(level + 1):
            size = self.format.levels[k].get_size(self.made.levels[k], size)
        return size

    def _resolve(self, env: Env, targets: Sequence[Access]) -> tuple[Env, list[ir.Stmt]]:
        return super()._resolve(env, [a for a in targets if a != self.target.access])

    def assign(self, stmt: Assign, env: Env) -> ir.Stmt:
        """One entry: to the query of this pass, or to its place."""
        value = cast(lower_expr(stmt.value, lambda a: self.read(a, env)), self.made.type.dtype)
        coords, stmts = self._count(env)
        last = len(self.format.levels) if self.phase.level is None else self.phase.level
        parent: ir.Expr = lit(0)
        for k in range(last):
            level, m = self.format.levels[k], self.own[k]
            p = self.name(f"p{self.made.name}{k + 1}")
            if k in self.shared:
                stmts.append(level.shared_pos(m, parent, coords, p))
            elif k in self.grouped:
                stmts += self._grouped(k, parent, coords, p)
            elif k == self.running and self.follows:
                stmts.append(ir.Declare(p, self.position(self.source, env)))
            elif k == self.running:
                stmts += [ir.Declare(p, self.next), increment(self.next)]
            elif level.placing == "yield":
                stmts.append(level.yield_pos(m, parent, p))
            else:
                stmts.append(ir.Declare(p, level.get_pos(m, parent, coords)))
            if (self.phase.level is None or level.placing == "find") and k not in self.shared:
                stmts.append(level.insert_coord(m, p, coords[k]))
            parent = p
        if self.phase.level is None:
            stmts.append(ir.Store(self.made.vals, parent, value))
        else:
            level, m = self.format.levels[last], self.own[last]
            if self.phase.collects:
                stmts.append(level.shared_collect(m, parent, coords))
            else:
                ask = level.shared_query if last in self.shared else level.query
                asked = self._among_threads(ask(m, parent, coords))
                stmts.append(self._if_new(last, parent, coords, (asked,)) if last in self.grouped else asked)
        code = block(*stmts)
        if self.skip_fill:
            code = if_(ne(value, lit(self.made.type.fill, value.ty)), code)
        return code

    def _last(self, k: int) -> tuple[ir.Var, ...]:
        """Of the entry before, where those of one position follow each other: its position, parent and coordinates."""
        what = ("position", "parent", *(f"coord{n + 1}" for n in self.grouped[k]))
        return tuple(ir.Var(f"last{k + 1}_{name}") for name in what)

    def _if_new(self, k: int, parent: ir.Expr, coords: tuple[ir.Expr, ...], then: Sequence[ir.Stmt]) -> ir.Stmt:
        """``then``, for the first of the entries that meet at a position of level ``k``."""
        last = self._last(k)[1:]
        now = (parent, *(coords[n] for n in self.grouped[k]))
        differs = ne(last[0], now[0])
        for before, here in zip(last[1:], now[1:], strict=True):
            differs = lor(differs, ne(before, here))
        same = [ir.Set(before, here) for before, here in zip(last, now, strict=True)]
        return if_(differs, block(*then, *same))

    def _grouped(self, k: int, parent: ir.Expr, coords: tuple[ir.Expr, ...], p: ir.Var) -> list[ir.Stmt]:
        """The position that the entry before has, or the next one."""
        position, new = self._last(k)[0], self.name(f"new{k + 1}")
        take = self.format.levels[k].yield_pos(self.own[k], parent, new)
        return [self._if_new(k, parent, coords, (take, ir.Set(position, new))), ir.Declare(p, position)]

    def _count(self, env: Env) -> tuple[tuple[ir.Expr, ...], list[ir.Stmt]]:
        """The coordinates in every level, counters advanced."""
        coords: list[ir.Expr] = []
        stmts: list[ir.Stmt] = []
        for k, c in enumerate(self.format.remapping.coordinates):
            if not isinstance(c, Counter):
                coords.append(env.coords[self.path[k]])
                continue
            count: ir.Var | ir.Load = self._counter(k)
            if k not in self.counted:
                at: ir.Expr = lit(0)
                for e in c.over:
                    (axis,) = axes_of(e)
                    at = add(mul(at, self.made.dimensions[axis]), env.coords[self.target.access.indices[axis]])
                count = ir.Load(self.made.levels[k].arrays["counter"], at)
            nth = self.name(f"nth{k + 1}")
            stmts += [ir.Declare(nth, cast(count, "int64")), increment(count)]
            coords.append(nth)
        return tuple(coords), stmts


def scratch_dtype(type: TensorType) -> str:
    """Of arrays that only assembly needs: what holds the result's coordinates and positions holds all that they do."""
    return "int32" if all(dtype == "int32" for dtype in type.index_dtypes) else "int64"


@lru_cache(maxsize=1024)
def private_roles(format: Format) -> tuple[tuple[int, str], ...]:
    """``(level, role)`` of every array that each thread has for itself."""
    found = ((k, level.combined) for k, level in enumerate(format.levels))
    return tuple((k, combined[0]) for k, combined in found if combined is not None and combined[1] != "same")


@lru_cache(maxsize=1024)
def scratch_roles(format: Format, arrival: Arrival) -> tuple[tuple[int, str], ...]:
    """``(level, role)`` of every array that only assembly needs."""
    found = []
    for k, (level, c) in enumerate(zip(format.levels, format.remapping.coordinates, strict=True)):
        found += [(k, role) for role in level.scratch(0, 0)]
        if k in shared(format, arrival):
            found += [(k, role) for role in level.shared_scratch(0, 0)]
        if isinstance(c, Counter):
            found.append((k, "counter"))
    return tuple(found)
