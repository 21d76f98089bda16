"""Launches: the kernels that a function becomes on a device, each of which runs one loop of the function.

A loop on the top level is run by a grid of teams, each of which takes every n-th iteration. The loop is of one of these
kinds: its iterations have places of their own; or they *scatter*: all they do to an array is to combine values with its
elements, by an operator whose result does not depend on the order; or they reduce to scalars. Sums of floating-point
numbers do depend on the order, so they are scattered into accumulators which represent every value exactly enough for
the total to be the same in any order: one kernel finds the range of each sum, a second one adds, a third one rounds.
A reduction is cut into a fixed number of shares, whose results a second kernel combines in order.

A statement that is none of these raises ``DeviceError``, which names the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ...errors import DeviceError
from ...records import record, replace
from .. import nodes as ir
from ..builder import add, block, cast, eq, lit, minimum, mul, sub
from ..scans import combined as combined_totals
from ..traversal import assigned_names, declared_names, free_variables, statements, used_names, walk
from .equal_shares import Segments, operator_of, segments_of
from .lanes import (
    MOST,
    Shared,
    accesses_of,
    combined,
    neutral,
    own_places,
    rewritten,
    share_among_lanes,
    spelled_out,
    written,
)

TEAM, TEAMS = ir.Var("team"), ir.Var("teams")
SHARES = 1024
"""Shares of a reduction. Their number is fixed, so that the order of operations is, too."""
EMPTY: Mapping[str, int] = MappingProxyType({})
_ORDERLESS = ("minimum", "maximum")
_WORK = ("bool", "int32", "int64", "float32", "float64")


@record
class Kernel:
    """A kernel: what each thread runs, and for how many teams."""

    body: ir.Stmt
    teams: tuple[ir.Expr, int]  # the iterations of its loop, and how many of them one team takes at once
    lanes: int
    loops: tuple[ir.For, ...]  # the loops that lanes share, as they were


@record
class Memory:
    """Scratch memory that the kernels of a function share."""

    var: ir.Var
    size: ir.Expr
    zero: bool


@record
class Launches:
    """The kernels of a function in the order in which they run, each after the memory that it sets to zero."""

    memory: tuple[Memory, ...]
    steps: tuple[Kernel | ir.Var | ir.Scan, ...]  # an array is set to zero, or becomes its running totals
    balanced: tuple[Segments, ...]  # loops over segments whose positions are shared equally


def launches(
    function: ir.Function, lanes: int, in_order: bool = False, balanced: bool = False,
    narrow: Mapping[str, int] = EMPTY,
) -> Launches:  # fmt: skip
    """Return the kernels of a function, in teams of ``lanes``.

    Sums stay in order if ``in_order``. Teams take equal shares of the positions of segments, if ``balanced``. Some
    dimensions do not exceed the numbers of ``narrow``.
    """

    def shorter(n: Any) -> ir.Stmt | None:
        match n:
            case ir.For(stop=ir.Select(ir.Binary("<", ir.Const(most), ir.Binary("-", ir.Var(name), _) as rest))) if (
                name in narrow
            ):
                return replace(n, stop=minimum(lit(min(int(most), narrow[name])), rest))  # type: ignore[arg-type]
        return None

    body = rewritten(rewritten(function.body, _of_devices), shorter)
    maker = _Launches(replace(function, body=body), lanes, in_order, balanced)
    maker.visit(body, ())
    return Launches(tuple(maker.memory.values()), tuple(maker.steps), tuple(maker.balanced))


def _of_devices(n: Any) -> ir.Stmt | ir.Expr | None:
    """Return a node as it is for devices: an update where logic combines with the old value; None if it is already."""
    match n:
        case ir.Call("weft_unvectorized", (a,)):  # for compilers of CPUs alone
            return a
        case ir.Set(target, ir.Binary("||" | "&&" as op, a, value)) if a == target:
            return ir.Update("+" if op == "||" else "*", target, value)
        case ir.Store(array, index, ir.Binary("||" | "&&" as op, a, value)) if a == ir.Load(array, index):
            return ir.Update("+" if op == "||" else "*", a, value)
        case ir.Set(target, ir.Call(name, (a, value))) if a == target and name in _LOGIC:
            return ir.Update(_LOGIC[name], target, value)
        case ir.Store(array, index, ir.Call(name, (a, value))) if a == ir.Load(array, index) and name in _LOGIC:
            return ir.Update(_LOGIC[name], a, value)
    return None


_LOGIC = {"weft_logical_or_bool": "+", "weft_logical_and_bool": "*"}


class _Launches:
    def __init__(self, function: ir.Function, lanes: int, in_order: bool, balances: bool):
        self.lanes, self.in_order, self.balances = lanes, in_order, balances
        self.balanced: list[Segments] = []
        self.steps: list[Kernel | ir.Var | ir.Scan] = []
        self.memory: dict[str, Memory] = {}
        self.known: dict[str, ir.Declare] = {}  # declarations that kernels repeat
        self.taken = {*declared_names(function.body)} | {
            v.name for p in function.params for v in (*p.dimensions, *p.arrays, p.vals)
        }
        self.lengths = _lengths(function)
        # Scalars that are assigned after their declaration are elements of arrays between kernels.
        top = {s.var.name for s in _top(function.body) if isinstance(s, ir.Declare)}
        self.carried = {name: ir.Var("") for name in top & assigned_names(function.body)}

    def fresh(self, name: str) -> str:
        text, n = name, 0
        while text in self.taken:
            n += 1
            text = f"{name}_{n}"
        self.taken.add(text)
        return text

    def scratch(self, name: str, ty: str, size: ir.Expr, zero: bool = False) -> ir.Var:
        """Return new memory that kernels share."""
        var = ir.Var(self.fresh(name), f"{ty}*")
        self.memory[var.name] = Memory(var, size, zero)
        if zero:
            self.steps.append(var)
        return var

    # -- statements -------------------------------------------------------------------------------------------------
    def visit(self, s: ir.Stmt, conditions: tuple[ir.Expr, ...], independent: bool = False) -> None:
        """Add the kernels of a statement, which runs under conditions."""
        match s:
            case ir.Block(stmts):
                self.sequence(stmts, conditions, independent)
            case ir.Declare(var, value) if var.name in self.carried:
                self.carried[var.name] = self.scratch(f"{var.name}_total", var.ty, lit(1))
                if value is not None:
                    self.single(ir.Set(var, value), conditions)
            case ir.Declare(var):
                self.known[var.name] = s
            case ir.Allocate(var, size, zero):
                self.taken.discard(var.name)
                self.scratch(var.name, var.ty[:-1], size, zero)
            case ir.Free() | ir.Comment() | ir.Poll():
                pass
            case ir.If(cond, then, orelse) if any(isinstance(n, ir.For | ir.While | ir.Scan) for n in statements(s)):
                for branch, holds in ((then, cond), (orelse, ir.Unary("!", cond))):
                    before = dict(self.known)
                    self.sequence(() if branch is None else (branch,), (*conditions, holds), independent)
                    self.known = before
            case ir.Parallel(prologue=prologue, loop=loop, epilogue=epilogue):
                self.region(loop, (prologue, epilogue), conditions)
            case ir.For():
                self.loop(s, conditions, independent)
            case ir.Scan():
                self.scan(s, conditions)
            case ir.While():
                raise DeviceError(f"{_named(s)} is no loop that a device shares")
            case _:
                self.single(s, conditions)

    def sequence(self, stmts: tuple[ir.Stmt, ...], conditions: tuple[ir.Expr, ...], independent: bool) -> None:
        """Add the kernels of statements in order."""
        for s in stmts:
            self.visit(s, conditions, independent)

    def region(self, loop: ir.For, around: tuple[ir.Stmt, ...], conditions: tuple[ir.Expr, ...]) -> None:
        """Add the kernels of a parallel region, whose iterations are independent."""
        private = [s.var.name for part in (*around, loop) for s in statements(part) if isinstance(s, ir.Allocate)]
        if private:
            raise DeviceError(f"each thread would need the workspace {private[0].removesuffix('_vals')} of its own")
        self.known[loop.var.name] = ir.Declare(loop.var, loop.start)
        self.visit(loop.body, conditions, independent=True)

    def scan(self, s: ir.Scan, conditions: tuple[ir.Expr, ...]) -> None:
        """Add the step that computes running totals, which the device does itself."""
        if conditions:
            raise DeviceError(f"the running totals of {s.array.name} depend on a condition")
        known = {name: d.value for name, d in self.known.items() if d.value is not None}
        start, stop = (spelled_out(number, known) for number in (s.start, s.stop))
        if s.first is not None:  # it is combined with the first element, if there is one
            first = combined_totals(s.op, ir.Load(s.array, s.start), cast(s.first, s.array.ty[:-1]))
            self.single(ir.If(ir.Binary("<", s.start, s.stop), first), ())
        self.steps.append(replace(s, start=start, stop=stop, first=None))

    def single(self, s: ir.Stmt, conditions: tuple[ir.Expr, ...]) -> None:
        """Add a kernel of one thread that runs a statement."""
        self.add(s, conditions, (lit(1), 1), 1, ())

    def loop(self, s: ir.For, conditions: tuple[ir.Expr, ...], independent: bool) -> None:
        """Add the kernels of a loop."""
        if totals := [n.array.name for n in statements(s) if isinstance(n, ir.Scan)]:
            raise DeviceError(f"{_named(s)} computes running totals of {totals[0]} again and again")
        if independent and not self.in_order:
            s = replace(s, body=rewritten(s.body, self.in_scalar))
        if independent and self.balances and (segments := segments_of(s, not self.in_order)) is not None:
            return self.equal_shares(segments, frozenset(), conditions)
        if not independent and (places := _fixed_places(s)):
            return self.sums_at_places(s, places, conditions)
        changed = assigned_names(s.body) - {*declared_names(s.body)}
        if changed:
            return self.reduction(s, sorted(changed), conditions)
        scattered: dict[str, str] = {}
        if not independent:
            for name in _written(s.body) - {*declared_names(s.body)}:
                if not own_places(name, s) and (op := _scatter(name, s)) is not None:
                    scattered[name] = op
        exact = {n: a.var for n, a in self._arrays(s).items() if scattered.get(n) == "+" and a.is_float}
        if exact:
            return self.exact_sums(s, exact, scattered, conditions)
        return self.grid(s, _with_atomics(s.body, scattered), frozenset(scattered), conditions)

    def grid(self, s: ir.For, body: ir.Stmt, atomic: frozenset[str], conditions: tuple[ir.Expr, ...]) -> None:
        """Add the kernel in which teams share the iterations of a loop."""
        if (
            atomic
            and self.balances
            and (segments := segments_of(replace(s, body=body), not self.in_order, atomic)) is not None
        ):
            self.equal_shares(segments, atomic, conditions)
            return
        lanes = self.lanes
        shared = share_among_lanes(body, lanes, atomic)
        if not shared.loops and lanes > 1:  # nothing for lanes to do
            shared, lanes = share_among_lanes(body, 1, atomic), 1
        self.teams(s.var, (s.start, s.stop), shared, lanes, conditions)

    def teams(
        self, var: ir.Var, limits: tuple[ir.Expr, ir.Expr], shared: Shared, lanes: int, conditions: tuple[ir.Expr, ...]
    ) -> None:
        """Add the kernel in which each team takes every n-th iteration, from its own number on."""
        start, stop = limits
        over = ir.For(var, add(start, TEAM), stop, shared.body, step=TEAMS)
        self.add(over, conditions, (sub(stop, start), 1), lanes, shared.loops)

    def add(
        self, s: ir.Stmt, conditions: tuple[ir.Expr, ...], teams: tuple[ir.Expr, int], lanes: int,
        loops: tuple[ir.For, ...],
    ) -> None:  # fmt: skip
        """Add a kernel, with the declarations that it uses before it."""
        for condition in reversed(conditions):
            s = ir.If(condition, s)
        loads, stores = [], []
        changed = assigned_names(s)
        free = free_variables(s)
        for name, array in self.carried.items():
            if name in free:
                var = ir.Var(name, array.ty[:-1])
                loads.append(ir.Declare(var, ir.Load(array, lit(0))))
                stores += [ir.Store(array, lit(0), var)] if name in changed else []
        needed = {n: v for n, v in free.items() if n not in self.carried}
        before: list[ir.Declare] = []
        for name, declared in reversed(self.known.items()):
            if name in needed:
                before.insert(0, declared)
                assert declared.value is not None
                needed |= free_variables(declared.value)
        s = block(*loads, s, *stores)
        if TEAM.name not in used_names(s):  # one team is enough
            s = ir.If(eq(TEAM, lit(0)), s)
        self.steps.append(Kernel(block(*before, s), teams, lanes, loops))

    # -- reductions -------------------------------------------------------------------------------------------------
    def sums_at_places(self, s: ir.For, places: Mapping[str, ir.Load], conditions: tuple[ir.Expr, ...]) -> None:
        """Add the kernels of a loop that reduces to the same element of an array in every iteration."""
        values = {name: ir.Var(self.fresh(f"{name}_value"), place.ty) for name, place in places.items()}

        def rule(n: Any) -> ir.Expr | None:
            if isinstance(n, ir.Load) and isinstance(n.array, ir.Var) and n in places.values():
                return values[n.array.name]
            return None

        body = rewritten(s.body, rule)
        for name, value in values.items():
            self.carried[value.name] = self.scratch(f"{value.name}_total", value.ty, lit(1))
            self.single(ir.Set(value, places[name]), conditions)
        self.loop(replace(s, body=body), conditions, independent=False)
        for name, value in values.items():
            self.single(ir.Store(places[name].array, places[name].index, value), conditions)

    def reduction(self, s: ir.For, names: list[str], conditions: tuple[ir.Expr, ...]) -> None:
        """Add the kernels of a loop that reduces to scalars: one for its shares, and one that combines them."""
        ops = {name: _reduces(name, s) for name in names}
        types = {n.name: n.ty for n in walk(s.body) if isinstance(n, ir.Var)}
        for name, op in ops.items():
            if op is None or name not in self.carried:
                raise DeviceError(f"{_named(s)} keeps {name} from one iteration to the next")
        stores = _written(s.body) - {*declared_names(s.body)}
        if wrong := [n for n in stores if not own_places(n, s)]:
            raise DeviceError(f"{_named(s)} stores to {wrong[0]} and reduces at the same time")
        shares = 1 if self.in_order and any(types[n].startswith("float") for n in names) else SHARES
        values = {n: ir.Var(n, types[n]) for n in names}
        parts = {n: self.scratch(f"{n}_parts", types[n], lit(shares)) for n in names}
        share, length = ir.Var(self.fresh("share")), sub(s.stop, s.start)
        edges = [add(s.start, ir.Binary("/", mul(length, e), lit(shares))) for e in (share, add(share, lit(1)))]
        partial_sums = {n: ir.Var(self.fresh(f"{n}_part"), types[n]) for n in names}

        def to_own(stmt: ir.Stmt) -> ir.Stmt:
            return rewritten(stmt, lambda n: partial_sums.get(n.name) if isinstance(n, ir.Var) else None)

        simd = tuple((op, partial_sums[n].name) for n, op in ops.items() if op is not None)
        inner = any(isinstance(n, ir.For) and n.simd is not None for n in statements(s.body))
        loop = replace(s, start=edges[0], stop=edges[1], body=to_own(_renamed_simd(s.body, partial_sums)))
        loop = replace(loop, simd=None if inner or shares == 1 else simd)
        body = block(
            *(ir.Declare(partial_sums[n], neutral(op or "", partial_sums[n].ty, values[n])) for n, op in ops.items()),
            loop,
            *(ir.Store(parts[n], share, partial_sums[n]) for n in names),
        )
        shared = share_among_lanes(body, 1 if shares == 1 else MOST)
        self.teams(share, (lit(0), lit(shares)), shared, 1 if shares == 1 else MOST, conditions)
        q = ir.Var(self.fresh("q"))
        total = block(*(combined(op or "", values[n], ir.Load(parts[n], q)) for n, op in ops.items()))
        whole = ir.For(q, lit(0), lit(shares), total, tuple((op or "", n) for n, op in ops.items()))
        self.add(
            share_among_lanes(whole, MOST).body if shares > 1 else replace(whole, simd=None),
            conditions, (lit(1), 1), MOST if shares > 1 else 1, (),
        )  # fmt: skip

    def in_scalar(self, n: Any) -> ir.Stmt | None:
        """Return a loop that reduces to one element of an array as one that reduces to a scalar first."""
        if not isinstance(n, ir.For) or any(isinstance(s, ir.For | ir.While) for s in statements(n.body)):
            return None
        inside = {*declared_names(n.body), n.var.name}
        names = written(n.body) - inside
        array = next((v for v in free_variables(n.body).values() if v.name in names), None)
        if array is None or len(names) > 1 or assigned_names(n.body) - inside:
            return None
        indices, op = {*accesses_of(array.name, n.body)}, operator_of(array.name, n.body)
        if op is None or len(indices) > 1 or used_names(place := indices.pop()) & inside:
            return None
        total, old = ir.Var(self.fresh(f"{array.name}_sum"), array.ty[:-1]), ir.Load(array, place)

        def rule(s: Any) -> ir.Stmt | None:
            match s:
                case ir.Update(by, target, value) if target == old:
                    return ir.Update(by, total, value)
                case ir.Store(to, _, ir.Call(name, (_, value), ty)) if to == array:
                    return ir.Set(total, ir.Call(name, (total, value), ty))
            return None

        loop = replace(n, body=rewritten(n.body, rule), simd=((op, total.name),))
        by_call = op.startswith("weft_")
        new = ir.Store(array, place, ir.Call(op, (old, total), total.ty)) if by_call else ir.Update(op, old, total)
        return block(ir.Declare(total, neutral(op, total.ty, old)), loop, new)

    # -- equal shares -----------------------------------------------------------------------------------------------
    def equal_shares(self, segments: Segments, atomic: frozenset[str], conditions: tuple[ir.Expr, ...]) -> None:
        """Add the kernels of a loop over segments whose positions are shared equally."""
        self.balanced.append(segments)
        for var, limits, body, with_lanes in segments.kernels(self.fresh, self.scratch):
            lanes = self.lanes if with_lanes else 1
            self.teams(var, limits, share_among_lanes(body, lanes, atomic), lanes, conditions)

    # -- sums in any order ------------------------------------------------------------------------------------------
    def exact_sums(
        self, s: ir.For, arrays: Mapping[str, ir.Var], scattered: Mapping[str, str], conditions: tuple[ir.Expr, ...]
    ) -> None:
        """Add the kernels of a loop that scatters sums of floating-point numbers."""
        others = {n: op for n, op in scattered.items() if n not in arrays}
        size = {n: self.length(v) for n, v in arrays.items()}
        ranges = {n: self.scratch(f"{n}_range", "int32", size[n], True) for n in arrays}
        sums = {n: self.scratch(f"{n}_sums", "int64", mul(size[n], lit(2)), True) for n in arrays}
        find = {n: ("weft_sum_range", (ranges[n],)) for n in arrays}
        put = {n: ("weft_sum_add", (ranges[n], sums[n])) for n in arrays}
        first = _without(_with_calls(s.body, find), others)
        self.grid(s, first, frozenset(v.name for v in ranges.values()), conditions)
        second = _with_atomics(_with_calls(s.body, put), others)
        atomic = frozenset(v.name for v in (*ranges.values(), *sums.values()))
        self.grid(s, second, atomic | others.keys(), conditions)
        for n, array in arrays.items():
            q = ir.Var(self.fresh("q"))
            total = ir.Call("weft_sum_total", (ranges[n], sums[n], q), "float64")
            body = ir.Update("+", ir.Load(array, q), cast(total, array.ty[:-1]))
            self.grid(ir.For(q, lit(0), size[n], body), body, frozenset(), conditions)

    def length(self, array: ir.Var) -> ir.Expr:
        """Return the number of elements of an array."""
        memory = self.memory.get(array.name)
        return self.lengths[array.name] if memory is None else memory.size

    def _arrays(self, s: ir.For) -> dict[str, _Array]:
        return {n: _Array(v) for n, v in free_variables(s).items() if v.ty.endswith("*")}


@record
class _Array:
    var: ir.Var

    @property
    def is_float(self) -> bool:
        return self.var.ty.startswith("float")


def length_name(array: str) -> str:
    """Return the name of the number of elements of an array of a tensor."""
    return f"{array}_length"


def _lengths(function: ir.Function) -> dict[str, ir.Expr]:
    arrays = [v for p in function.params for v in (*p.arrays, p.vals)]
    return {v.name: ir.Var(length_name(v.name)) for v in arrays}


def _top(s: ir.Stmt) -> Iterator[ir.Stmt]:
    """Yield the statements that no loop encloses."""
    stmts = [s]
    while stmts:
        match stmts.pop():
            case ir.Block(inner):
                stmts += inner
            case ir.If(_, then, orelse):
                stmts += [then, orelse or ir.Block()]
            case other:
                yield other


def _named(s: ir.For | ir.While) -> str:
    """Return words for a loop."""
    if isinstance(s, ir.For):
        return f"the loop over {s.var.name}"
    return f"the loop over {', '.join(sorted(used_names(s.cond)))}"


def _written(s: ir.Stmt) -> set[str]:
    """Return the names of arrays to which a statement stores."""
    names: set[str] = set()
    for n in statements(s):
        match n:
            case ir.Store(ir.Var(name)) | ir.Update(_, ir.Load(ir.Var(name))):
                names.add(name)
            case ir.Store() | ir.Update(_, ir.Load()):
                raise DeviceError("a loop stores through a pointer into an array")
            case ir.Evaluate(call) if not call.name.startswith("weft_prefetch"):
                raise DeviceError(f"a device has no function {call.name}")
    return names


# -- scattering -----------------------------------------------------------------------------------------------------
def _scatter(name: str, loop: ir.For) -> str:
    """Return the one operator by which a loop combines values with the elements of an array; raise if there is none."""
    ops: set[str] = set()
    reads = len(accesses_of(name, loop.body))
    ty = next(n.array.ty for n in walk(loop.body) if isinstance(n, ir.Load | ir.Store) and _is(n.array, name))
    for s in statements(loop.body):
        match s:
            case ir.Update(op, ir.Load(array)) if _is(array, name):
                ops.add("+" if op == "-" and ty != "bool*" else op)
                reads -= 1
            case ir.Store(array, _, ir.Const()) if _is(array, name):  # the same value, whoever stores it
                ops.add("=")
                reads -= 1
            case ir.Store(array, index, ir.Call(op, (ir.Load(same, at), _))) if _is(array, name):
                if same != array or at != index or op.split("_")[1] not in _ORDERLESS:
                    raise DeviceError(f"{_named(loop)} stores to places of {name} that several iterations share")
                ops.add(op.split("_")[1])
                reads -= 2
            case ir.Store(array) if _is(array, name):
                raise DeviceError(f"{_named(loop)} stores to places of {name} that several iterations share")
    if reads or len(ops) > 1:
        raise DeviceError(f"{_named(loop)} reads places of {name} that several iterations change")
    (op,) = ops
    dtype = ty[:-1]
    if dtype not in _WORK or (op == "*" and dtype != "bool") or op in ("&", "|", "^"):
        raise DeviceError(f"{_named(loop)} combines {dtype} values by {op} at places that several iterations share")
    return op


def _is(array: ir.Expr, name: str) -> bool:
    return isinstance(array, ir.Var) and array.name == name


def _with_atomics(body: ir.Stmt, scattered: Mapping[str, str]) -> ir.Stmt:
    """Return a statement whose changes of some arrays are atomic."""
    calls = {n: (f"weft_scatter_{_OPS.get(op, op)}", ()) for n, op in scattered.items() if op != "="}
    return _with_calls(body, calls)


_OPS = {"+": "add", "*": "multiply"}


def _with_calls(body: ir.Stmt, calls: Mapping[str, tuple[str, tuple[ir.Var, ...]]]) -> ir.Stmt:
    """Return a statement that calls functions, given with their first arguments, in place of changes of arrays."""

    def call(array: ir.Var, index: ir.Expr, value: ir.Expr) -> ir.Stmt:
        name, arguments = calls[array.name]
        if arguments:  # accumulators hold float64
            return ir.Evaluate(ir.Call(name, (*arguments, index, cast(value, "float64")), "void"))
        return ir.Evaluate(ir.Call(f"{name}_{array.ty[:-1]}", (array, index, value), "void"))

    def rule(n: Any) -> ir.Stmt | None:
        match n:
            case ir.Update(op, ir.Load(ir.Var(name) as array, index), value) if name in calls:
                return call(array, index, ir.Unary("-", value) if op == "-" else value)
            case ir.Store(ir.Var(name) as array, index, ir.Call(_, (_, value))) if name in calls:
                return call(array, index, value)
        return None

    return rewritten(body, rule)


def _without(body: ir.Stmt, arrays: Mapping[str, str]) -> ir.Stmt:
    """Return a statement without its stores to some arrays."""

    def rule(n: Any) -> ir.Stmt | None:
        match n:
            case ir.Update(_, ir.Load(ir.Var(name))) | ir.Store(ir.Var(name)) if name in arrays:
                return ir.Block()
        return None

    return rewritten(body, rule)


# -- reductions -----------------------------------------------------------------------------------------------------
def _fixed_places(loop: ir.For) -> dict[str, ir.Load]:
    """Return the elements of arrays that a loop updates, and of whose arrays it uses no other elements."""
    inside = {*declared_names(loop.body), loop.var.name}
    places: dict[str, ir.Load] = {}
    for name in _written(loop.body) - inside:
        uses = {n for n in walk(loop.body) if isinstance(n, ir.Load | ir.Store) and _is(n.array, name)}
        (first, *others) = uses
        if isinstance(first, ir.Load) and not others and not used_names(first.index) & inside:
            places[name] = first
    return places


def _reduces(name: str, loop: ir.For) -> str | None:
    """Return the operator by which a loop reduces to a scalar; None if it does something else with it."""
    ops: set[str] = set()
    uses = sum(isinstance(n, ir.Var) and n.name == name for n in walk(loop.body))
    for s in statements(loop.body):
        match s:
            case ir.Update("+" | "*" | "|" | "&" | "^" as op, ir.Var(target)) if target == name:
                ops.add(op)
                uses -= 1
            case ir.Set(ir.Var(target), ir.Call(op, (ir.Var(same), _))) if target == name == same:
                if op.split("_")[1] not in _ORDERLESS:
                    return None
                ops.add(op)
                uses -= 2
    return ops.pop() if len(ops) == 1 and not uses else None


def _renamed_simd(body: ir.Stmt, names: Mapping[str, ir.Var]) -> ir.Stmt:
    def rule(n: Any) -> ir.Stmt | None:
        if isinstance(n, ir.For) and n.simd is not None:
            return replace(n, simd=tuple((op, names[v].name if v in names else v) for op, v in n.simd))
        return None

    return rewritten(body, rule)
