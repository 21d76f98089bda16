"""Concrete index notation to imperative IR: the code generation algorithm of 2017 (Fig. 11) and 2018 (Fig. 9).

``Lowerer`` walks the statement. For each ``forall`` it builds the merge lattice, emits one loop for each set of
co-iterated levels and, inside, one case for each lattice point, and recurses on the statement that is left when the
operands without a value there are taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..concrete_notation.nodes import (
    Assign,
    Fill,
    Forall,
    Program,
    Sequence as Seq,
    Stmt,
    Where,
    Workspace,
    accesses,
    assignments,
)
from ..errors import LoweringError
from ..formats import Dense, Format, TensorType
from ..formats.levels import Listed
from ..index_notation.nodes import Access, Apply, Expr, Literal
from ..index_notation.operators import OPERATORS
from ..ir import nodes as ir
from ..ir.builder import add, block, cast, eq, ge, if_, increment, land, lit, lt, minimum, mul
from ..remapping import Remapping
from . import lattice
from .expressions import lower_expr, update
from .iteration_graph import is_full, is_linear
from .lattice import Iterator, Point
from .target import COUNTS, Mode, Target
from .tensors import TensorVars
from .values import UNKNOWN, fill_of, same_value, specialize, without_conversions

__all__ = ["CHUNKS_PER_THREAD", "Env", "Lowerer"]

CHUNKS_PER_THREAD = 16
THREADS = ir.Var("threads")
_DENSE = Dense()


@dataclass(frozen=True)
class Env:
    """What is known at a place in the loop nest.

    ``coords`` are the coordinates of the enclosing loops, ``pos`` the positions reached in each access's levels,
    ``segments`` the ends of runs of duplicates, ``values`` values already summed.
    """

    coords: Mapping[str, ir.Expr] = field(default_factory=dict)
    pos: Mapping[tuple[Access, int], ir.Expr] = field(default_factory=dict)
    segments: Mapping[tuple[Access, int], ir.Expr] = field(default_factory=dict)
    values: Mapping[Access, ir.Expr] = field(default_factory=dict)

    def parent(self, access: Access, level: int) -> ir.Expr | None:
        return lit(0) if level == 0 else self.pos.get((access, level - 1))


class Lowerer:
    """Lowers one program to one function of a module.

    Parameters
    ----------
    program : Program
        The statement and its workspaces; expressions have their conversions explicit.
    target : Access
        The result.
    types : mapping
        The type of every tensor by name, the result's included.
    names : mapping
        A legal and unique C name for every tensor, workspace and index variable.
    mode : Mode
        Which function.
    skip_fill : bool
        Do not append entries whose value is the result's fill value: what a conversion from a dense operand wants.
    """

    def __init__(
        self,
        program: Program,
        target: Access,
        types: Mapping[str, TensorType],
        names: Mapping[str, str],
        mode: Mode,
        skip_fill: bool = False,
    ):
        self.skip_fill = skip_fill
        self.program, self.types, self.names, self.mode = program, types, names, mode
        self.workspaces = {w.name: w for w in program.workspaces}
        self.tensors = {name: TensorVars.of(names[name], type, str) for name, type in types.items()}
        self.target = Target(self.tensors[target.tensor], target, mode)
        self.extents: dict[str, ir.Expr] = {}
        self._fresh: dict[str, int] = {}
        self.scratch: list[ir.Stmt] = []
        self.release: list[ir.Stmt] = []
        self.chunked = False
        self.lattices: list[tuple[str, tuple[Point, ...]]] = []
        found = [a for s in assignments(program.stmt) for a in (*accesses(s.value), s.target)]
        for access in [*found, target]:
            if access.tensor in self.tensors:
                for var, dimension in zip(access.indices, self.tensors[access.tensor].dimensions, strict=True):
                    self.extents.setdefault(var, dimension)
        self._declare_workspaces()

    # -- the function -------------------------------------------------------------------------------------------
    def lower(self, operands: Sequence[str]) -> ir.Function:
        """The whole function; ``operands`` are the parameters after the result."""
        stmt = self.program.stmt
        prologue, stmt = _split_fills(stmt)
        before = block(*(self.statement(s, Env()) for s in prologue))
        if isinstance(stmt, Forall) and stmt.parallel and (chunked := self._chunked(stmt)) is not None:
            main = chunked
        else:
            body = self.statement(stmt, Env())
            main = block(*self.scratch, self.target.start(lit(0)), body, self.target.finish(lit(0)), *self.release)
        totals = self._totals()
        names = [self.target.access.tensor, *operands]
        params = tuple(self.tensors[n].param(output=n == names[0]) for n in names)
        ends = self.target.finalize(tuple(v for v, _ in totals)) if totals else block()
        after = block(*(d for _, d in totals), ends) if ends != block() else block()
        return ir.Function(self.mode.value, params, block(self.target.init(), before, main, after))

    @property
    def chunks(self) -> ir.Expr:
        return ir.Select(
            ir.Binary(">", THREADS, lit(1)), mul(THREADS, lit(CHUNKS_PER_THREAD)), lit(1)
        ) if self.chunked else lit(1)

    def _totals(self) -> list[tuple[ir.Var, ir.Stmt]]:
        n = len(self.target.chains)
        totals = []
        for k in range(n):
            v = ir.Var(f"total{k + 1}")
            totals.append((v, ir.Declare(v, ir.Load(COUNTS, add(mul(self.chunks, lit(n)), lit(k))))))
        return totals

    def _chunked(self, stmt: Forall) -> ir.Stmt | None:
        """The outermost loop cut into chunks that threads share; None when it is not a plain loop."""
        points = self._lattice(stmt, Env(), record=False)
        if len(points) != 1 or len(points[0].coiterate) != 1:
            return None
        (driver,) = points[0].coiterate
        if not (driver.full or (driver.level == 0 and driver.format.unique)):
            return None
        self.chunked = True
        chunk, n = ir.Var("chunk"), ir.Var("chunks")
        lo, hi = ir.Var("chunk_begin"), ir.Var("chunk_end")
        begin, end = self._bounds(driver, stmt.var, Env())
        span = end if begin == lit(0) else ir.Binary("-", end, begin)
        cut = [
            ir.Declare(lo, add(begin, ir.Binary("/", mul(span, chunk), n))),
            ir.Declare(hi, add(begin, ir.Binary("/", mul(span, add(chunk, lit(1))), n))),
        ]
        body = self.forall(stmt, Env(), bounds=(lo, hi))
        loop = ir.For(chunk, lit(0), n, block(*cut, self.target.start(chunk), body, self.target.finish(chunk)))
        region = ir.Parallel(THREADS, block(*self.scratch), loop, block(*self.release))
        return block(ir.Declare(n, self.chunks), region)

    # -- statements ---------------------------------------------------------------------------------------------
    def statement(self, stmt: Stmt, env: Env) -> ir.Stmt:
        match stmt:
            case Assign():
                return self.assign(stmt, env)
            case Forall():
                return self.forall(stmt, env)
            case Where():
                return self.where(stmt, env)
            case Seq(stmts=stmts):
                return block(*(self.statement(s, env) for s in stmts))
            case Fill(target=target, value=value):
                return self.fill(target, value, env)
        raise LoweringError(f"cannot lower {stmt!r}")

    def assign(self, stmt: Assign, env: Env) -> ir.Stmt:
        name = stmt.target.tensor
        if name in self.workspaces:
            return self._assign_workspace(self.workspaces[name], stmt, env)
        if not self.mode.values:
            return block()
        value = cast(lower_expr(stmt.value, lambda a: self._read(a, env)), self.types[name].dtype)
        vals, p = self.target.vars.vals, self._position(stmt.target, env)
        return ir.Store(vals, p, value) if stmt.op is None else update(stmt.op, ir.Load(vals, p), value)

    def fill(self, target: Access, value: Any, env: Env) -> ir.Stmt:
        if target.tensor in self.workspaces:
            raise LoweringError("workspaces are filled where they are declared")
        env, decls = self._resolve(env, [target])
        resolved = 0
        while (target, resolved) in env.pos:
            resolved += 1
        base = env.pos[(target, resolved - 1)] if resolved else lit(0)
        return block(*decls, self.target.fill(resolved, base, lit(value, self.types[target.tensor].dtype)))

    def _read(self, access: Access, env: Env) -> ir.Expr:
        if access in env.values:
            return env.values[access]
        if access.tensor in self.workspaces:
            w = self.workspaces[access.tensor]
            if w.kind == "scalar":
                return self._scalar(w)
        return ir.Load(self.tensors[access.tensor].vals, self._position(access, env))

    def _position(self, access: Access, env: Env) -> ir.Expr:
        order = self.types[access.tensor].format.order
        if order == 0:
            return lit(0)
        p = env.pos.get((access, order - 1))
        if p is None:
            raise LoweringError(f"no position of {access} at {sorted(env.coords)}")
        return p

    # -- workspaces ---------------------------------------------------------------------------------------------
    def _declare_workspaces(self) -> None:
        types = dict(self.types)
        for w in self.workspaces.values():
            n = len(w.indices)
            level = Listed() if w.kind == "listed" else _DENSE
            types[w.name] = TensorType.of(w.dtype, Format(Remapping.identity(n), (level,) * n), "int64")
            if w.kind == "scalar":
                continue
            name = self.names[w.name]
            dims = tuple(self.extents[v] for v in w.indices)
            vals = ir.Var(f"{name}_vals", f"{w.dtype}*")
            size: ir.Expr = lit(1)
            for d in dims:
                size = mul(size, d)
            arrays: dict[str, ir.Var] = {}
            if self.mode.values:
                self._scratch(vals, size, zero=False)
            if w.kind == "listed":
                arrays = {"list": ir.Var(f"{name}_list", "int32*"), "size": ir.Var(f"{name}_size")}
                self._scratch(ir.Var(f"{name}_mark", "bool*"), size, zero=True)
                self._scratch(arrays["list"], size, zero=False)
                if self.mode is not Mode.COUNT:
                    self._scratch(ir.Var(f"{name}_spare", "int32*"), size, zero=False)
                self.scratch.append(ir.Declare(arrays["size"], lit(0)))
            levels = tuple(_level_vars(k, d, arrays) for k, d in enumerate(dims))
            self.tensors[w.name] = TensorVars(name, types[w.name], (), (), vals, levels)
        self.types = types

    def _scratch(self, var: ir.Var, size: ir.Expr, zero: bool) -> None:
        self.scratch.append(ir.Allocate(var, size, zero))
        self.release.append(ir.Free(var))

    def _scalar(self, w: Workspace) -> ir.Var:
        return ir.Var(self.names[w.name], w.dtype)

    def _neutral_of(self, w: Workspace) -> Any:
        return OPERATORS[w.op].identity

    def where(self, stmt: Where, env: Env) -> ir.Stmt:
        first = next(assignments(stmt.producer))
        w = self.workspaces[first.target.tensor]
        if not self.mode.values and w.kind != "listed":
            return self.statement(stmt.consumer, env)
        start = self._neutral_of(w)
        before: ir.Stmt = block()
        after: ir.Stmt = block()
        tensor = self.tensors.get(w.name)
        if w.kind == "scalar":
            before = ir.Declare(self._scalar(w), lit(start, w.dtype))
        elif w.kind == "dense":
            assert tensor is not None
            size: ir.Expr = lit(1)
            for v in w.indices:
                size = mul(size, self.extents[v])
            q = self._name("q")
            before = ir.For(q, lit(0), size, ir.Store(tensor.vals, q, lit(start, w.dtype)))
        else:
            assert tensor is not None
            (m,) = tensor.levels
            q = self._name("q")
            mark = ir.Var(f"{tensor.name}_mark", "bool*")
            clear = ir.For(q, lit(0), m["size"], ir.Store(mark, ir.Load(m["list"], q), lit(False, "bool")))
            after = block(clear, ir.Set(m["size"], lit(0)))
        producer = self.statement(stmt.producer, env)
        if w.kind == "listed" and self.mode is not Mode.COUNT:
            assert tensor is not None
            (m,) = tensor.levels
            mark = ir.Var(f"{tensor.name}_mark", "bool*")
            sort = ir.Call("weft_sort_int32", (m["list"], m["size"], ir.Var(f"{tensor.name}_spare", "int32*")), "int64")
            producer = block(producer, ir.Evaluate(sort))
        return block(before, producer, self.statement(stmt.consumer, env), after)

    def _assign_workspace(self, w: Workspace, stmt: Assign, env: Env) -> ir.Stmt:
        value = lower_expr(stmt.value, lambda a: self._read(a, env)) if self.mode.values else lit(0)
        if w.kind == "scalar":
            var = self._scalar(w)
            value = cast(value, w.dtype)
            return ir.Set(var, value) if stmt.op is None else update(stmt.op, var, value)
        tensor = self.tensors[w.name]
        if w.kind == "dense":
            p = self._position(stmt.target, env)
            value = cast(value, w.dtype)
            return ir.Store(tensor.vals, p, value) if stmt.op is None else update(stmt.op, ir.Load(tensor.vals, p), value)
        coord = env.coords[w.indices[0]]
        (m,) = tensor.levels
        mark = ir.Var(f"{tensor.name}_mark", "bool*")
        first: list[ir.Stmt] = [
            ir.Store(mark, coord, lit(True, "bool")),
            ir.Store(m["list"], m["size"], cast(coord, "int32")),
            increment(ir.Var(m["size"].name)),
        ]
        again: ir.Stmt = block()
        if self.mode.values:
            value = cast(value, w.dtype)
            first.append(ir.Store(tensor.vals, coord, value))
            again = update(stmt.op or "add", ir.Load(tensor.vals, coord), value)
        return if_(ir.Unary("!", ir.Load(mark, coord)), block(*first), again if again != block() else None)

    # -- loops --------------------------------------------------------------------------------------------------
    def _lattice(self, stmt: Forall, env: Env, record: bool = True) -> tuple[Point, ...]:
        v = stmt.var
        universe = Iterator(None, 0, _DENSE, v.upper() if v.upper() != v else f"{v}_all")
        neutral = self._neutral(list(assignments(stmt.body))[-1])[0]
        points = lattice.build(
            self._view(stmt.body), lambda a: self._iterators(a, v), self._fill, universe, neutral
        )
        if record:
            self.lattices.append((v, points))
        return points

    def _iterators(self, access: Access, v: str) -> tuple[Iterator, ...]:
        format = self.types[access.tensor].format
        name = self.names[access.tensor]
        return tuple(
            Iterator(access, k, level, f"{name}{k + 1}")
            for k, (axis, level) in enumerate(zip(format.mode_order, format.levels, strict=True))
            if access.indices[axis] == v
        )

    def _fill(self, access: Access) -> Any:
        if access.tensor in self.workspaces:
            return self._neutral_of(self.workspaces[access.tensor]) if access.indices else UNKNOWN
        return self.types[access.tensor].fill if access.indices else UNKNOWN

    def _neutral(self, stmt: Assign) -> tuple[Any, str]:
        """What the target of an assignment holds where nothing is assigned."""
        type = self.types[stmt.target.tensor]
        w = self.workspaces.get(stmt.target.tensor)
        if stmt.op is not None:
            return OPERATORS[stmt.op].identity, type.dtype
        return (self._neutral_of(w) if w else type.fill), type.dtype

    def _view(self, stmt: Stmt) -> Expr:
        """The statement as one expression, workspaces replaced by what is computed into them."""
        match stmt:
            case Assign(value=value):
                return value
            case Forall(body=body):
                return self._view(body)
            case Where(consumer=consumer, producer=producer):
                made = self._view(producer)
                last = list(assignments(producer))[-1]
                if not same_value(fill_of(made, self._fill), self._neutral(last)[0]):
                    made = Literal(0)
                return _substitute(self._view(consumer), last.target, made)
            case Seq(stmts=stmts):
                parts = [self._view(s) for s in stmts if not isinstance(s, Fill)]
                whole = parts[0]
                for part in parts[1:]:
                    whole = Apply("add", (whole, part))
                return whole
        raise LoweringError(f"no expression in {stmt!r}")

    @cached_property
    def whole(self) -> Expr:
        """The whole program as one expression, without explicit conversions."""
        return without_conversions(self._view(self.program.stmt))

    def forall(self, stmt: Forall, env: Env, bounds: tuple[ir.Expr, ir.Expr] | None = None) -> ir.Stmt:
        v = stmt.var
        points = self._lattice(stmt, env)
        writes = any(a.target.tensor == self.target.access.tensor for a in assignments(stmt.body))
        level = self.target.level_of(v) if writes else None
        code = _Merge(self, stmt, points, env, level, bounds).emit()
        chain = self.target.chain_starting(level) if level is not None else None
        if chain is None or chain.first == 0:
            return code
        parent = env.parent(self.target.access, chain.first)
        if parent is None:
            raise LoweringError(f"the parent of {self.target.vars.name}{chain.first + 1} is not known in forall {v}")
        sequenced = all(
            is_full(self.whole, self.target.variable(k), self.types)
            for k in range(chain.first)
            if not any(c.first <= k <= c.last for c in self.target.chains)
        )
        counter = self.target.counters[chain.index]
        begin = ir.Var(f"{counter.name}_begin")
        declare = block() if sequenced else ir.Declare(begin, counter)
        return block(declare, code, self.target.edges(chain, parent, begin, sequenced))

    def _bounds(self, it: Iterator, v: str, env: Env) -> tuple[ir.Expr, ir.Expr]:
        """Where an iterator begins and ends: coordinates or positions."""
        if it.access is None:
            return lit(0), self.extents[v]
        m = self.tensors[it.access.tensor].levels[it.level]
        if it.format.iteration == "value":
            return it.format.coord_bounds(m, tuple(env.coords.values()))
        parent = env.parent(it.access, it.level)
        if parent is None:
            raise LoweringError(f"{it} is iterated before its parent")
        end = env.segments.get((it.access, it.level - 1))
        begin, stop = it.format.pos_bounds(m, parent)
        if end is not None:
            # Iterator chaining (2018, section 4.3): the children of a run of duplicates are one segment.
            stop = it.format.pos_bounds(m, ir.Binary("-", end, lit(1)))[1] if not it.format.branchless else end
        return begin, stop

    def _coordinate(self, it: Iterator, p: ir.Expr, env: Env) -> ir.Expr:
        assert it.access is not None
        m = self.tensors[it.access.tensor].levels[it.level]
        return it.format.pos_access(m, p, tuple(env.coords.values()))

    def _resolve(self, env: Env, targets: Sequence[Access]) -> tuple[Env, list[ir.Stmt]]:
        """Locate every level whose parent and coordinate are known."""
        pos = dict(env.pos)
        decls: list[ir.Stmt] = []
        for access in dict.fromkeys(targets):
            if access.tensor not in self.tensors:
                continue
            tensor = self.tensors[access.tensor]
            format = tensor.type.format
            for k, level in enumerate(format.levels):
                if (access, k) in pos:
                    continue
                parent = lit(0) if k == 0 else pos.get((access, k - 1))
                coord = env.coords.get(access.indices[format.mode_order[k]])
                if parent is None or coord is None or level.locates != "direct":
                    break
                p = level.locate(tensor.levels[k], parent, coord)
                if not isinstance(p, ir.Var | ir.Const):
                    name = self._name(f"p{tensor.name}{k + 1}")
                    decls.append(ir.Declare(name, p))
                    p = name
                pos[(access, k)] = p
        return replace(env, pos=pos), decls

    def _name(self, stem: str) -> ir.Var:
        """A variable that no other place declares."""
        n = self._fresh.get(stem, 0)
        self._fresh[stem] = n + 1
        return ir.Var(stem if n == 0 else f"{stem}_{n}")

    @cached_property
    def reassociates(self) -> bool:
        from .. import config as settings

        return bool(getattr(getattr(settings, "config", None), "reassociate", True))


class _Merge:
    """The loops of one ``forall``."""

    def __init__(
        self,
        owner: Lowerer,
        stmt: Forall,
        points: tuple[Point, ...],
        env: Env,
        level: int | None,
        bounds: tuple[ir.Expr, ir.Expr] | None,
    ):
        self.owner, self.stmt, self.points, self.env, self.level, self.bounds = owner, stmt, points, env, level, bounds
        self.coord = owner._name(owner.names[stmt.var])
        sets = dict.fromkeys(frozenset(p.coiterate) for p in points)
        self.loops = sorted(
            ([it for it in self._ordered() if it in s] for s in sets), key=lambda loop: -len(loop)
        )
        self.p = {it: owner._name(f"p{it.name}") for it in self._ordered() if it.format.iteration == "position"}
        self.end = {it: ir.Var(f"{p.name}_end") for it, p in self.p.items()}
        self.here = {it: ir.Var(f"{owner.names[stmt.var]}{p.name[1:]}") for it, p in self.p.items()}

    def _ordered(self) -> list[Iterator]:
        return list(dict.fromkeys(it for p in self.points for it in p.coiterate))

    def emit(self) -> ir.Stmt:
        if len(self.loops) == 1 and len(self.loops[0]) == 1:
            return self._plain(self.loops[0][0])
        if self.bounds is not None:
            raise LoweringError("only plain loops are cut into chunks")
        return self._merged()

    # -- one iterator: a for loop -------------------------------------------------------------------------------
    def _plain(self, it: Iterator) -> ir.Stmt:
        owner, env = self.owner, self.env
        begin, end = self.bounds or owner._bounds(it, self.stmt.var, env)
        if it.format.iteration == "value":
            return ir.For(self.coord, begin, end, self._cases([it], env), self._simd())
        p = self.p[it]
        chained = it.access is not None and (it.access, it.level - 1) in env.segments
        if it.format.branchless and not chained:
            inner = replace(env, pos={**env.pos, (it.access, it.level): begin})
            decl = ir.Declare(self.coord, owner._coordinate(it, begin, env))
            return block(decl, self._cases([it], inner, bound=True))
        if it.format.unique or self._may_revisit(it):
            inner = replace(env, pos={**env.pos, (it.access, it.level): it.format.child_pos(p, self.coord)})
            decl = ir.Declare(self.coord, owner._coordinate(it, p, env))
            return ir.For(p, begin, end, block(decl, self._cases([it], inner, bound=True)))
        self._require_order([it])
        run, segment, inner = self._deduplicate(it, env)
        step = block(
            ir.Declare(self.coord, owner._coordinate(it, p, env)),
            *run,
            self._cases([it], inner, bound=True),
            ir.Set(p, segment),
        )
        return block(
            ir.Declare(p, begin), ir.Declare(self.end[it], end), ir.While(lt(p, self.end[it]), step)
        )

    def _simd(self) -> tuple[tuple[str, str], ...] | None:
        """Reassociate a sum over a dense loop, where allowed."""
        body = self.stmt.body
        if isinstance(body, Assign) and body.op == "add" and self.owner.reassociates and self.owner.mode.values:
            w = self.owner.workspaces.get(body.target.tensor)
            if w is not None and w.kind == "scalar" and w.dtype in ("float32", "float64"):
                return (("+", self.owner._scalar(w).name),)
        return None

    def _may_revisit(self, it: Iterator) -> bool:
        """Whether the body may run once for each duplicate, instead of once for all of them.

        Everything in it must accumulate where any coordinate can be located, or append duplicates to a result that
        may hold them; and where entries themselves are duplicated, the sum must be over a product of them.
        """
        owner, body = self.owner, self.stmt.body
        if _has_where(body):
            return False
        target = owner.target.access.tensor
        repeatable = owner.target.format.levels != () and not owner.target.format.levels[-1].unique
        last = it.access is not None and not owner.types[it.access.tensor].format.levels[-1].unique
        for a in assignments(body):
            appends = a.target.tensor == target and owner.target.chains != ()
            if appends and not repeatable:
                return False
            if not appends and a.op is None:
                return False
            if last and it.access is not None and not is_linear(without_conversions(a.value), it.access):
                return False
        return True

    def _deduplicate(self, it: Iterator, env: Env) -> tuple[list[ir.Stmt], ir.Var, Env]:
        """Find the end of a run of equal coordinates, and sum its values where it is the last level (2018, 4.3)."""
        owner = self.owner
        assert it.access is not None
        p, end = self.p[it], self.end[it]
        segment = ir.Var(f"{p.name}_segend")
        coord = self.here[it] if len(self.loops[0]) > 1 or len(self.loops) > 1 else self.coord
        more = land(lt(segment, end), eq(owner._coordinate(it, segment, env), coord))
        stmts: list[ir.Stmt] = [
            ir.Declare(segment, add(p, lit(1))),
            ir.While(more, increment(segment)),
        ]
        tensor = owner.tensors[it.access.tensor]
        new = replace(env, pos={**env.pos, (it.access, it.level): p})
        if it.level + 1 < len(tensor.type.format.levels):
            return stmts, segment, replace(new, segments={**env.segments, (it.access, it.level): segment})
        if not owner.mode.values:
            return stmts, segment, new
        total = owner._name(f"{tensor.name}_sum")
        total = ir.Var(total.name, tensor.type.dtype)
        q = owner._name("q")
        stmts += [
            ir.Declare(total, ir.Load(tensor.vals, p)),
            ir.For(q, add(p, lit(1)), segment, update("add", total, ir.Load(tensor.vals, q))),
        ]
        return stmts, segment, replace(new, values={**env.values, it.access: total})

    def _require_order(self, iterators: Sequence[Iterator]) -> None:
        for it in iterators:
            if not it.format.ordered:
                raise LoweringError(f"{it} is not ordered and cannot be merged in place")

    # -- several iterators: while loops -------------------------------------------------------------------------
    def _merged(self) -> ir.Stmt:
        owner = self.owner
        iterators = self._ordered()
        self._require_order([it for it in iterators if it in self.p])
        stmts: list[ir.Stmt] = []
        for it in iterators:
            begin, end = owner._bounds(it, self.stmt.var, self.env)
            if it in self.p:
                stmts += [ir.Declare(self.p[it], begin), ir.Declare(self.end[it], end)]
            else:
                stmts.append(ir.Declare(self.coord, begin))
        stmts += [self._while(loop) for loop in self.loops]
        return block(*stmts)

    def _while(self, loop: list[Iterator]) -> ir.Stmt:
        owner, env = self.owner, self.env
        full = next((it for it in loop if it.format.iteration == "value"), None)
        merged = [it for it in loop if it is not full]
        conds = [lt(self.p[it], self.end[it]) for it in merged]
        body: list[ir.Stmt] = []
        advance: list[ir.Stmt] = []
        if full is not None and not merged:
            _, end = owner._bounds(full, self.stmt.var, env)
            step = increment(self.coord)
            return ir.While(lt(self.coord, end), block(self._cases(loop, env), step))
        for it in merged:
            body.append(ir.Declare(self.here[it], owner._coordinate(it, self.p[it], env)))
        if full is None:
            body.append(ir.Declare(self.coord, minimum(*(self.here[it] for it in merged))))
        for it in merged:
            p = self.p[it]
            if it.format.unique:
                env = replace(env, pos={**env.pos, (it.access, it.level): it.format.child_pos(p, self.here[it])})
                step = increment(p) if len(loop) == 1 else increment(p, cast(eq(self.here[it], self.coord), "int64"))
                advance.append(step)
            else:
                run, segment, env = self._deduplicate(it, env)
                body += run
                step = ir.Set(p, segment)
                advance.append(step if len(loop) == 1 else if_(eq(self.here[it], self.coord), step))
        if full is not None:
            # Only while every sparse operand has values left; the last loop goes on to the end.
            advance.append(increment(self.coord))
        return ir.While(land(*conds), block(*body, self._cases(loop, env), *advance))

    # -- cases: one for each lattice point ----------------------------------------------------------------------
    def _cases(self, loop: list[Iterator], env: Env, bound: bool = False) -> ir.Stmt:
        owner, v = self.owner, self.stmt.var
        env = replace(env, coords={**env.coords, v: self.coord})
        mine = set(loop)
        points = [p for p in self.points if set(p.coiterate) <= mine]
        points.sort(key=lambda p: -len(p.iterators))
        involved = [a for a in dict.fromkeys(accesses(owner._view(self.stmt.body))) if owner._iterators(a, v)]
        searched = list(dict.fromkeys(it for p in points for it in p.locate if not it.locatable))
        decls: list[ir.Stmt] = []
        found: dict[Iterator, ir.Expr] = {}
        for it in searched:
            assert it.access is not None
            env, more = owner._resolve(env, [it.access])
            parent = env.parent(it.access, it.level)
            if parent is None:
                raise LoweringError(f"{it} is searched before its parent")
            p = owner._name(f"p{it.name}")
            locate = it.format.locate(owner.tensors[it.access.tensor].levels[it.level], parent, self.coord)
            decls += [*more, ir.Declare(p, locate)]
            env = replace(env, pos={**env.pos, (it.access, it.level): p})
            found[it] = ge(p, lit(0))
        merged = [it for it in loop if it.format.iteration != "value"]
        several = len(loop) > 1
        branches: list[tuple[ir.Expr, ir.Stmt]] = []
        singles = {p.coiterate[0] for p in points if len(p.coiterate) == 1}
        for n, point in enumerate(points):
            conds = [eq(self.here[it], self.coord) for it in point.coiterate if several and it in merged]
            last = n == len(points) - 1 and len(merged) == len(loop) and set(loop) <= singles
            if last and len(point.coiterate) == 1 and not searched:
                conds = []
            conds += [found[it] for it in point.locate if it in found]
            present = set(point.iterators)
            absent = {
                a: (owner._fill(a), owner.types[a.tensor].dtype)
                for a in involved
                if not all(it in present for it in owner._iterators(a, v))
            }
            stmt = specialize(self.stmt.body, absent, owner._neutral) if absent else self.stmt.body
            branches.append((land(*conds), self._body(stmt, env) if stmt is not None else block()))
        code: ir.Stmt = block()
        for cond, body in reversed(branches):
            code = if_(cond, body, code if code != block() else None)
        return block(*decls, code)

    def _body(self, stmt: Stmt, env: Env) -> ir.Stmt:
        """What one case does at this coordinate: locate, compute, append."""
        owner, target = self.owner, self.owner.target
        used = [a for s in assignments(stmt) for a in (*accesses(s.value), s.target)]
        env, decls = owner._resolve(env, [*used, target.access] if self.level is not None else used)
        chain = target.chain_ending(self.level) if self.level is not None else None
        if chain is None:
            return block(*decls, owner.statement(stmt, env))
        counter = target.counters[chain.index]
        env = replace(env, pos={**env.pos, (target.access, chain.last): counter})
        env, more = owner._resolve(env, [target.access])
        code = target.append(chain, env.coords, block(*more, owner.statement(stmt, env)))
        if owner.skip_fill and chain is target.chains[-1] and isinstance(stmt, Assign):
            value = lower_expr(stmt.value, lambda a: owner._read(a, env))
            code = if_(ir.Binary("!=", value, lit(owner.types[target.access.tensor].fill, value.ty)), code)
        return block(*decls, code)


def _level_vars(k: int, dimension: ir.Expr, arrays: Mapping[str, ir.Var]) -> Any:
    from ..formats import LevelVars

    return LevelVars(k, dimension, arrays)


def _split_fills(stmt: Stmt) -> tuple[list[Stmt], Stmt]:
    """Leading fills of the whole target, and the rest."""
    if isinstance(stmt, Seq) and isinstance(stmt.stmts[0], Fill):
        rest = stmt.stmts[1:]
        return [stmt.stmts[0]], rest[0] if len(rest) == 1 else Seq(rest)
    return [], stmt


def _substitute(expr: Expr, old: Access, new: Expr) -> Expr:
    match expr:
        case Access():
            return new if expr == old else expr
        case Apply(op=op, args=args):
            return Apply(op, tuple(_substitute(a, old, new) for a in args))
        case _ if hasattr(expr, "expr"):
            return replace(expr, expr=_substitute(expr.expr, old, new))  # type: ignore[type-var]
    return expr


def _has_where(stmt: Stmt) -> bool:
    match stmt:
        case Where():
            return True
        case Forall(body=body):
            return _has_where(body)
        case Seq(stmts=stmts):
            return any(_has_where(s) for s in stmts)
    return False
