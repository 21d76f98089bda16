"""Workspaces: temporaries inside a kernel, allocated once for each thread.

- A ``scalar`` workspace is a variable.
- A ``dense`` workspace is an array that is filled before use.
- A ``list`` workspace is an array with flags and a list of the coordinates that were written. Its cost depends only on
  the number of written coordinates. The list is sorted for the consumer if that needs order.
- A ``hash`` workspace is a hash table with such a list, for dimensions too large for an array.
- A ``flags`` workspace is an array with a flag for each coordinate, and may be over several dimensions. It is used
  once, for a whole result of which most coordinates are expected to be written.
- A ``whole`` workspace is an array that is filled before use, and of which all elements are written, or none.
- A ``pairs`` workspace is a list of coordinates and a list of their values. It only sorts, and reduces nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..concrete_notation.nodes import SMALL_WORKSPACE, Assign, RegisterStrips, Where, Workspace
from ..concrete_notation.traversal import result_of
from ..formats import LevelVars
from ..formats.tensor_vars import TensorVars
from ..ir import nodes as ir
from ..ir.builder import block, cast, eq, gt, if_, increment, lit, not_, product, sub
from ..ir.passes.simplify import simplify_expression
from .emitter import Emitter
from .environment import Environment
from .function_kind import FunctionKind
from .function_state import FunctionState
from .implicit_entries import add_implicit
from .operand_values import scalar, value_of
from .positions import position
from .scalar_expressions import update
from .workspace_types import LISTED, neutral_of

_VISITS = ir.Var("visits")


def declare(emitter: Emitter, count_widest: Callable[[ir.Var], ir.Stmt]) -> None:
    """Declare the arrays of every workspace, and add their allocation and release to the state of the function.

    ``count_widest`` returns loops that count the values which reach a workspace, before it is allocated.
    """
    f, context = emitter.state, emitter.context
    for w in context.workspaces.values():
        if w.kind == "scalar":
            continue
        name = context.names[w.name]
        arrays: dict[str, ir.Var] = {}
        if w.kind == "whole":
            arrays = {"size": ir.Var(f"{name}_size")}
            if f.holds_values:
                _values(f, w, name, _extent(f, w))
        elif f.kind not in (FunctionKind.BOUND, FunctionKind.WIDEST):
            widest = None
            if w.kind == "hash" or w.repeats:
                widest = ir.Var(f"{name}_widest")
                f.scratch += [ir.Declare(widest, lit(0)), count_widest(widest)]
            if w.kind == "hash" and widest is not None:
                arrays = _hashed(f, w, name, widest)
            elif w.kind == "pairs":
                arrays = _paired(f, w, name, widest or _extent(f, w))
            else:
                arrays = _array(f, w, name, sorts=w.kind == "list" and _in_order(emitter, w))
        # To the loops a workspace is a tensor like any other.
        vals = ir.Var(f"{name}_vals", f"{w.dtype}*")
        variables = tuple(LevelVars(k, context.extents[v], arrays) for k, v in enumerate(w.indices))
        f.tensors[w.name] = TensorVars(name, context.types[w.name], (), (), vals, variables)


def _in_order(emitter: Emitter, w: Workspace) -> bool:
    """Return whether a workspace is to be sorted: to copy a segment, or for a consumer that needs order.

    A result in which coordinates are located does not, and neither does a count of the listed coordinates alone.
    """
    context = emitter.context
    counts = emitter.state.kind is FunctionKind.COUNT and context.reaches_stored_only
    return w.copies or not (emitter.appending is None or counts or context.takes_any_order(w))


def _scratch(f: FunctionState, var: ir.Var, size: ir.Expr, zero: bool = False) -> ir.Var:
    f.scratch.append(ir.Allocate(var, size, zero))
    f.release.append(ir.Free(var))
    return var


def _values(f: FunctionState, w: Workspace, name: str, size: ir.Expr) -> None:
    """Add the array of values, and counters of visits for each element if implicit entries are counted."""
    _scratch(f, ir.Var(f"{name}_vals", f"{w.dtype}*"), size)
    absences = f.context.implicit_entries.get(w.name)
    if absences is not None and absences.passing is None and w.kind != "flags":
        _scratch(f, absences.visited, size)


def _extent(f: FunctionState, w: Workspace, env: Environment | None = None) -> ir.Expr:
    """Return the number of elements of a workspace, or with ``env`` of those in the current register strips."""
    widths = {s.inner: lit(s.width) for s in env.strips.values()} if env else {}
    return product(widths.get(v, f.context.extents[v]) for v in w.indices)


def _few(f: FunctionState, w: Workspace) -> int | None:
    """Return the number of elements if it is a constant of at most ``SMALL_WORKSPACE``, or a strip's, else None."""
    size = simplify_expression(_extent(f, w))
    found = int(size.value) if isinstance(size, ir.Const) else SMALL_WORKSPACE + 1  # type: ignore[arg-type]
    in_strip = any(isinstance(s, RegisterStrips) and w.indices == (s.inner,) for s in f.context.program.splits)
    return found if found <= SMALL_WORKSPACE or in_strip else None


def _paired(f: FunctionState, w: Workspace, name: str, size: ir.Expr) -> dict[str, ir.Var]:
    """Add the lists of a ``pairs`` workspace, in order of writing and sorted, and return them by role."""
    types = {"come": "int32*", "list": "int32*", "order": "int32*", "keys": "int64*", "spare": "int64*"}
    if f.holds_values:
        types["values"] = f"{w.dtype}*"
        _values(f, w, name, size)
    arrays = {role: _scratch(f, ir.Var(f"{name}_{role}", ty), size) for role, ty in types.items()}
    return {**arrays, "size": ir.Var(f"{name}_size")}


def _array(f: FunctionState, w: Workspace, name: str, sorts: bool) -> dict[str, ir.Var]:
    size = _extent(f, w)
    if w.kind == "dense" and _few(f, w) is not None:
        return {}  # declared where it is used
    if f.holds_values:
        _values(f, w, name, size)
    if w.kind not in ("list", "flags"):
        return {}
    if w.kind == "flags" and (absences := f.context.implicit_entries.get(w.name)) is not None:
        return {"mark": _scratch(f, absences.visited, size, zero=True)}
    arrays = {"mark": _scratch(f, ir.Var(f"{name}_mark", "bool*"), size, zero=True)}
    if w.kind == "flags":
        return arrays
    arrays["list"] = _scratch(f, ir.Var(f"{name}_list", "int32*"), size)
    if sorts:
        arrays["spare"] = _scratch(f, ir.Var(f"{name}_spare", "int32*"), size)
    arrays["size"] = ir.Var(f"{name}_size")
    return arrays


def _hashed(f: FunctionState, w: Workspace, name: str, widest: ir.Var) -> dict[str, ir.Var]:
    """Add a hash table with room for all values, so that it never grows, and return its arrays by role."""
    size, mask = ir.Var(f"{name}_room"), ir.Var(f"{name}_mask")
    f.scratch += [
        ir.Declare(size, ir.Call("weft_hash_size", (widest,), "int64")),
        ir.Declare(mask, sub(size, lit(1))),
    ]
    # Key -1 is a free slot.
    keys = _scratch(f, ir.Var(f"{name}_keys", "int64*"), size)
    q = f.name("q")
    f.scratch.append(ir.For(q, lit(0), size, ir.Store(keys, q, lit(-1))))
    if f.holds_values:
        _values(f, w, name, size)
    arrays = {"keys": keys, "mask": mask, "size": ir.Var(f"{name}_size")}
    for role in ("list", "slots", "spare"):
        arrays[role] = _scratch(f, ir.Var(f"{name}_{role}", "int64*"), widest)
    return arrays


def _nothing(w: Workspace) -> Any:
    """Return a start value that leaves the first reduced value unchanged: 0.0 would turn a sum of -0.0 into 0.0."""
    if w.op != "add":
        return neutral_of(w)
    return {"f": -0.0, "c": complex(-0.0, -0.0)}.get(np.dtype(w.dtype).kind, 0)


def _written_by(f: FunctionState, stmt: Where) -> Workspace:
    """Return the workspace that the producer of a statement writes."""
    return f.context.workspaces[result_of(stmt.producer).target.tensor]


def scalar_sum(emitter: Emitter, stmt: Where, env: Environment) -> ir.Stmt:
    """Return the code that computes a scalar workspace."""
    f = emitter.state
    w = _written_by(f, stmt)
    if not f.holds_values:
        return block()
    producer = emitter.statement(stmt.producer, env)
    begin = ir.Declare(scalar(f, w), lit(neutral_of(w), w.dtype))
    if (absences := f.context.implicit_entries.get(w.name)) is None:
        return block(begin, producer)
    rest = add_implicit(f, absences, scalar(f, w), absences.visited)
    return block(begin, ir.Declare(absences.visited, lit(0)), producer, rest)


def where(emitter: Emitter, stmt: Where, env: Environment) -> ir.Stmt:
    """Return the code of the producer, which writes a workspace, and of the consumer, which reads it."""
    f = emitter.state
    w = _written_by(f, stmt)
    kind = f.kind
    # Functions without values need only those workspaces that tell coordinates; bounds and widths need none.
    if not f.holds_values and w.kind not in LISTED:
        undecided = emitter.appending is not None and emitter.appending.undecided is not None
        producer = emitter.statement(stmt.producer, env) if undecided else block()
        return block(producer, emitter.statement(stmt.consumer, env))
    if kind is FunctionKind.BOUND and w.kind != "whole":  # which is as long as it is
        return emitter.statement(stmt.producer, env)
    if kind is FunctionKind.WIDEST:
        keep = if_(gt(_VISITS, f.widest), ir.Set(f.widest, _VISITS))
        return block(ir.Declare(_VISITS, lit(0)), emitter.statement(stmt.producer, env), keep)
    if w.kind == "scalar":
        return block(scalar_sum(emitter, stmt, env), emitter.statement(stmt.consumer, env))
    producer = emitter.statement(stmt.producer, env)
    tensor = f.tensors[w.name]
    q = f.name("q")
    # A dense workspace is filled; one with few elements is an array on the stack.
    if w.kind == "dense":
        begin, few = ir.Store(tensor.vals, q, lit(neutral_of(w), w.dtype)), _few(f, w)
        reset = ir.For(q, lit(0), _extent(f, w, env), begin, unroll=bool(env.strips))
        array = block() if few is None else ir.Array(tensor.vals, few)
        absences = f.context.implicit_entries.get(w.name)
        none = block() if absences is None else ir.Declare(absences.visited, lit(0))
        rests = _rests(f, w, env)
        return block(array, reset, none, producer, rests, emitter.statement(stmt.consumer, env))
    # Flags are zero when allocated and are not cleared, since the workspace is used once.
    if w.kind == "flags":
        start = ir.For(q, lit(0), _extent(f, w), ir.Store(tensor.vals, q, lit(_nothing(w), w.dtype)))
        stmts = (start if f.holds_values else block(), producer, _rests(f, w, env))
        return block(*stmts, emitter.statement(stmt.consumer, env))
    (m,) = tensor.levels
    empty = ir.Declare(m["size"], lit(0))
    if w.kind == "whole":
        start = ir.For(q, lit(0), _extent(f, w), ir.Store(tensor.vals, q, lit(_nothing(w), w.dtype)))
        filled = start if f.holds_values else block()
        return block(filled, empty, producer, emitter.statement(stmt.consumer, env))
    # Pairs are sorted by coordinate through a permutation.
    if w.kind == "pairs":
        lists = (m["come"], m["size"], m["order"], m["keys"], m["spare"])
        order, place = ir.Evaluate(ir.Call("weft_order_int32", lists, "int64")), ir.Load(m["order"], q)
        moved = [ir.Store(m["list"], q, ir.Load(m["come"], place))]
        if f.holds_values:
            moved.append(ir.Store(tensor.vals, q, ir.Load(m["values"], place)))
        move = ir.For(q, lit(0), m["size"], block(*moved))
        return block(empty, producer, order, move, emitter.statement(stmt.consumer, env))
    # After the consumer only the elements on the list are cleared.
    clear: ir.Stmt
    if w.kind == "list":
        clear = ir.Store(m["mark"], ir.Load(m["list"], q), lit(False, "bool"))
    else:
        clear = ir.Store(m["keys"], ir.Load(m["slots"], q), lit(-1))
    sort: ir.Stmt = block()
    if _in_order(emitter, w):
        ty = m["list"].ty[:-1]
        sort = ir.Evaluate(ir.Call(f"weft_sort_{ty}", (m["list"], m["size"], m["spare"]), "int64"))
    return block(
        empty,
        producer,
        _rests(f, w, env),
        sort,
        emitter.statement(stmt.consumer, env),
        ir.For(q, lit(0), m["size"], clear),
    )


def _rests(f: FunctionState, w: Workspace, env: Environment) -> ir.Stmt:
    """Return a loop that reduces implicit entries into each coordinate that may have been written, if they count."""
    absences = f.context.implicit_entries.get(w.name)
    if absences is None or not f.holds_values:
        return block()
    tensor, q = f.tensors[w.name], f.name("q")
    m, size = tensor.levels[-1], _extent(f, w, env)
    slot: ir.Expr = q
    if w.kind in ("list", "hash"):
        slot, size = ir.Load(m["list" if w.kind == "list" else "slots"], q), m["size"]
    visited = absences.visited if absences.passing else ir.Load(absences.visited, slot)
    rest = add_implicit(f, absences, ir.Load(tensor.vals, slot), visited)
    return ir.For(q, lit(0), size, rest, unroll=w.kind == "dense" and bool(env.strips))


def assign(emitter: Emitter, w: Workspace, stmt: Assign, env: Environment) -> ir.Stmt:
    """Return the code that reduces one value into a workspace."""
    f = emitter.state
    kind = f.kind
    if kind is FunctionKind.WIDEST:
        return increment(_VISITS)
    # Each write may become one coordinate of every chain that ends in a variable of the workspace.
    if kind is FunctionKind.BOUND and w.kind != "whole":
        writer = emitter.appending
        ends = () if writer is None else zip(writer.counters, writer.chains, strict=True)
        return block(*[increment(n) for n, c in ends if writer and writer.path[c.last] in w.indices])
    if not f.holds_values and w.kind not in LISTED:
        return block()
    value = cast(value_of(f, stmt.value, env), w.dtype) if f.holds_values else lit(0)
    if w.kind == "scalar":
        var = scalar(f, w)
        reduced = ir.Set(var, value) if stmt.op is None else update(stmt.op, var, value)
        absences = f.context.implicit_entries.get(w.name)
        return reduced if absences is None else block(reduced, increment(absences.visited))
    tensor = f.tensors[w.name]
    if w.kind == "dense":
        at = ir.Load(tensor.vals, position(f, stmt.target, env))
        return ir.Store(at.array, at.index, value) if stmt.op is None else update(stmt.op, at, value)
    m = tensor.levels[-1]
    if w.kind == "flags":
        at = ir.Load(tensor.vals, position(f, stmt.target, env))
        count = ir.Load(m["mark"], at.index)
        set_mark = ir.Store(m["mark"], at.index, lit(True, "bool")) if count.ty == "bool" else increment(count)
        return block(set_mark, update(stmt.op or "add", at, value)) if f.holds_values else set_mark
    coord = env.coords[w.indices[0]]
    if w.kind == "whole":
        reached = ir.Set(m["size"], m.dimension)
        return (
            block(reached, update(stmt.op or "add", ir.Load(tensor.vals, coord), value)) if f.holds_values else reached
        )
    entered = ir.Store(m["come" if w.kind == "pairs" else "list"], m["size"], cast(coord, m["list"].ty[:-1]))
    if w.kind == "pairs":
        store = ir.Store(m["values"], m["size"], value) if f.holds_values else block()
        return block(entered, store, increment(m["size"]))
    # The first value of a coordinate is stored and listed, later ones are reduced into it.
    slot, before, seen, mark = _SLOTS[w.kind](f, m, coord)
    new = [mark, entered, increment(m["size"])]
    if not f.holds_values:
        return block(before, if_(not_(seen), block(*new)))
    new.append(ir.Store(tensor.vals, slot, value))
    more = update(stmt.op or "add", ir.Load(tensor.vals, slot), value)
    if (absences := f.context.implicit_entries.get(w.name)) is not None:
        visited = ir.Load(absences.visited, slot)
        new.append(ir.Store(visited.array, slot, lit(1)))
        more = block(more, increment(visited))
    return block(before, if_(not_(seen), block(*new), more))


def _array_slot(f: FunctionState, m: LevelVars, coord: ir.Expr) -> _Slot:
    """Return the slot of a coordinate in an array over the dimension, with a flag for each coordinate."""
    return coord, block(), ir.Load(m["mark"], coord), ir.Store(m["mark"], coord, lit(True, "bool"))


def _hash_slot(f: FunctionState, m: LevelVars, coord: ir.Expr) -> _Slot:
    """Return the slot of a coordinate in a hash table, whose keys say which coordinates it has."""
    slot = f.name("slot")
    located = ir.Declare(slot, ir.Call("weft_hash_slot", (m["keys"], m["mask"], coord), "int64"))
    mark = block(ir.Store(m["keys"], slot, coord), ir.Store(m["slots"], m["size"], slot))
    return slot, located, eq(ir.Load(m["keys"], slot), coord), mark


_Slot = tuple[ir.Expr, ir.Stmt, ir.Expr, ir.Stmt]
"""Slot of a coordinate, code that locates it, the condition that it has a value, and code that marks it so."""
_SLOTS: Mapping[str, Callable[[FunctionState, LevelVars, ir.Expr], _Slot]] = {"list": _array_slot, "hash": _hash_slot}
