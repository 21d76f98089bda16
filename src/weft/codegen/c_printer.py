"""Printing of functions of the IR as C.

Each function of the IR becomes an exported C function, which unpacks the tensors, and a static one with the loops. A
parallel region becomes a static function of its own, which each thread calls with the variables that all of them
share, and which takes iterations until none is left. The pointers stay ``restrict``, since they are parameters.

Scratch pointers are declared as NULL at the top of their function and freed at its end, under the label ``done``. A
failed allocation jumps to this label, and so does a poll of a function that was told to stop. In a parallel region they
jump to the loop instead, of which the thread then takes no more iterations.
"""

from __future__ import annotations

from collections.abc import Iterable

from .. import abi
from ..errors import LoweringError
from ..ir import (
    Allocate,
    Array,
    Call,
    Const,
    Declare,
    Evaluate,
    Expr,
    For,
    Free,
    Function,
    If,
    Load,
    Parallel,
    Poll,
    Return,
    Select,
    Set,
    Stmt,
    Store,
    Update,
    Var,
    While,
    free_variables,
    walk,
)
from ..ir.traversal import assigned_names, children, statements
from ..ir.types import is_pointer
from ..records import replace
from . import symbols
from .c_expressions import Expressions
from .names import NameMaker
from .statements import Statements, filled
from .types import type_name

_TAKEN = ("int64_t *weft_next", "int64_t weft_end")  # the iteration that a thread takes next, and the end
_LANES = 8
"""Lanes of loops whose iterations are independent."""
_UNROLLED = 16
"""Most iterations of a loop that GCC unrolls whole."""


class CFunction(Statements):
    """C text of one function of the IR, in ``text``, and the C functions that it calls, in ``calls``."""

    def __init__(self, function: Function, suffix: str = ""):
        names = NameMaker()
        for special in (symbols.COUNTS, symbols.THREADS):
            names.keep(special.name)
        super().__init__(function.body, names, Expressions(names.name))
        self.watches = {n.watch.name for n in statements(function.body) if isinstance(n, Poll)}
        # Scratch arrays overlap with no other array.
        self.apart = {n.var.name for n in statements(function.body) if isinstance(n, Allocate | Array)}
        self.parts: list[str] = []
        self.symbol = symbols.symbol(function.name) + suffix
        self.label = 0
        self.regions = 0
        # State of the C function that is being printed. ``escape`` is the label to which failures jump.
        self.scratch: dict[str, Var] = {}
        self.can_fail = False
        self.escape = "done"
        self.text = self._function(function)

    # Functions

    def _function(self, function: Function) -> str:
        used = free_variables(function)
        tensors = symbols.parameters(function)
        params: list[str] = []
        args: list[str] = []
        unused: list[str] = []
        outputs: dict[str, bool] = {}
        # Only the variables that the body uses are unpacked and passed to the static function.
        for param, tensor in zip(function.params, tensors, strict=True):
            before = len(args)
            for var, source, output in symbols.unpacked(param, tensor):
                if used.pop(var.name, None) is None:
                    continue
                outputs[var.name] = output
                params.append(self._parameter(var, output))
                cast = f"({'' if output else 'const '}{type_name(var.ty)})" if is_pointer(var.ty) else ""
                args.append(cast + source)
            if len(args) == before:  # named in a statement, so that compilers do not warn
                unused.append(tensor)
        for special in (symbols.COUNTS, symbols.THREADS):
            if used.pop(special.name, None) is None:
                unused.append(special.name)
            else:
                params.append(self._parameter(special, True))
                args.append(special.name)
                outputs[special.name] = True
        # Free variables that are left come from no parameter.
        if used:
            raise LoweringError(f"{function.name} uses what it does not declare: {', '.join(used)}")
        self.outputs = outputs
        # Printing the body adds the functions of its parallel regions to ``parts``, which come first.
        body = self._body(function.body)
        loops = f"{self.symbol}_loops"
        head = ", ".join([*(f"weft_tensor *{t}" for t in tensors), "int64_t *counts", "int64_t threads"])
        codes = f"{abi.OK}; {abi.OUT_OF_MEMORY} if there is no memory; {abi.INTERRUPTED} if told to stop"
        lines = [f"  (void){name};" for name in unused]
        lines.append(filled("  return ", f"{loops}(", args, ");"))
        return "\n".join(
            [
                *self.parts,
                "/* The loops, on the arrays of the tensors. */",
                filled("static int64_t ", f"{loops}(", params or ["void"], ") {"),
                *body,
                "}",
                "",
                f"/* Returns {codes}. */",
                f"int64_t {self.symbol}({head}) {{",
                *lines,
                "}",
                "",
            ]
        )

    def _parameter(self, var: Var, output: bool, restrict: bool = True) -> str:
        if not is_pointer(var.ty):
            return f"{type_name(var.ty)} {self.names.name(var.name)}"
        const = "" if output else "const "
        # All threads read the watch, and one of them writes it.
        restrict = restrict and var.name not in self.watches
        return f"{const}{type_name(var.ty)}{'restrict ' if restrict else ''}{self.names.name(var.name)}"

    def _derived(self, shared: Iterable[Var]) -> bool:
        """Return whether a pointer may point into the array of another one, so that none may be ``restrict``."""
        return any(is_pointer(v.ty) and v.name not in self.outputs and v.name not in self.apart for v in shared)

    def _body(self, *stmts: Stmt, region: Parallel | None = None) -> list[str]:
        """Return the lines of the body of a C function for statements, or for the parallel region with these parts.

        The lines declare the scratch pointers, execute the statements, free the scratch memory and return the status.
        """
        # The body of a region is printed while that of its function is: the state is restored at the end.
        saved = self.scratch, self.can_fail, self.escape
        inside = [node for s in stmts for node in statements(s, regions=False)]
        allocates = [n for n in inside if isinstance(n, Allocate)]
        self.scratch = {n.var.name: n.var for n in allocates}
        if len(self.scratch) < len(allocates):
            raise LoweringError("two scratch arrays share a name: " + ", ".join(n.var.name for n in allocates))
        # A parallel region in a function may fail as a whole. Regions are not nested.
        leaving = (Allocate, Poll, Parallel) if region is None else (Allocate, Poll)
        self.can_fail = any(isinstance(n, leaving) for n in inside)
        self.escape = "done" if region is None else "ready"
        lines = []
        if self.can_fail:
            lines.append(f"  int64_t weft_status = {abi.OK};")
        lines += [f"  {type_name(v.ty)}restrict {self.names.name(v.name)} = NULL;" for v in self.scratch.values()]
        if region is None:
            for s in stmts:
                lines += self._stmt(s, 1)
        else:
            lines += self._region(region)
        if self.can_fail:
            if region is None:
                if lines[-1] == f"  {self._leave()}":  # a jump to the next line
                    lines.pop()
                if any("goto done;" in line for line in lines):
                    lines.append("done:;")
            lines += [f"  weft_free({self.names.name(name)});" for name in self.scratch]
        lines.append("  return weft_status;" if self.can_fail else f"  return {abi.OK};")
        self.scratch, self.can_fail, self.escape = saved
        return lines

    # Parallel regions

    def _parallel(self, s: Parallel, pad: str) -> list[str]:
        self.regions += 1
        number = self.regions
        # The caller evaluates the number of threads and the bounds, so that they are no arguments of the region.
        loop = replace(s.loop, start=Const(0), stop=Const(0))
        shared = list(free_variables(Parallel(Const(1), s.prologue, loop, s.epilogue)).values())
        inside = self._body(s.prologue, s.loop, s.epilogue, region=s)
        # A pointer that comes from another one excludes ``restrict`` for all of them.
        derived = self._derived(shared)
        params = [self._parameter(v, self._writable(v), not derived) for v in shared]
        head = filled("static int64_t ", f"{self.symbol}_thread{number}(", [*_TAKEN, *params], ") {")
        self.parts.append("\n".join(["/* The share of one thread. */", head, *inside, "}", ""]))
        names = [self.names.name(v.name) for v in shared]
        members = [f"  {self._parameter(v, self._writable(v), False)};" for v in shared]
        self.parts.append(_entrance(self.symbol, number, names, members))
        # A caller that waits for others goes on asking whether to stop.
        watch = next((name for v, name in zip(shared, names, strict=True) if v.name in self.watches), None)
        asks = ("NULL", "NULL") if watch is None else (self.expressions.use("weft_poll"), watch)
        variables, pointer = [], "NULL"
        if names:
            variables = [filled(f"{pad}struct {self.symbol}_shared{number} weft_shared{number} = ", "{", names, "};")]
            pointer = f"&weft_shared{number}"
        numbers = (self.text_of(s.loop.start), self.text_of(s.loop.stop), self.text_of(s.threads))
        args = [f"{self.symbol}_enter{number}", pointer, *numbers, *asks]
        call = filled(f"{pad}weft_status |= ", f"{self.expressions.use('weft_parallel')}(", args, ");")
        return [*variables, call, pad + self._leave()]

    def _leave(self) -> str:
        return f"if (weft_status != {abi.OK}) goto {self.escape};"

    def _region(self, s: Parallel) -> list[str]:
        # A thread that fails in the prologue takes no iteration.
        lines = self._stmt(s.prologue, 1)
        if _may_leave(s.prologue):
            lines.append("ready:;")
        name, unless = self.names.name(s.loop.var.name), f"weft_status == {abi.OK} && " if self.can_fail else ""
        take = self.expressions.call("weft_take", "weft_next")
        lines.append(f"  for (int64_t {name}; {unless}({name} = {take}) < weft_end;) {{")
        if self.can_fail:
            self.escape = "next"  # a failure ends the iteration, and then the loop
        lines += self._chunk(s.loop.body) or self._stmt(s.loop.body, 2)
        if any("goto next;" in line for line in lines):
            lines.append("  next:;")
        lines.append("  }")
        # The epilogue is skipped after a failure, and its own failures jump to its end.
        self.escape = "done"
        epilogue = self._stmt(s.epilogue, 2)
        if self.can_fail and epilogue:
            done = ["done:;"] if _may_leave(s.epilogue) else []
            return [*lines, f"  if (weft_status == {abi.OK}) {{", *epilogue, "  }", *done]
        return lines + epilogue

    def _chunk(self, body: Stmt) -> list[str] | None:
        """Return the call of a separate C function for an iteration of a parallel loop, or None.

        The result is None if the iteration allocates memory, returns, or assigns variables of the thread. The loop that
        takes iterations needs so many registers that too few would be left for the loops inside it.
        """
        shared = free_variables(body)
        if any(isinstance(n, Allocate | Return) for n in statements(body)) or assigned_names(body) & shared.keys():
            return None
        name = f"{self.symbol}_chunk{self.regions}"
        derived = self._derived(shared.values())
        params = [self._parameter(v, self._writable(v), not derived) for v in shared.values()]
        leaves = _may_leave(body)
        kind = f"static __attribute__((noinline)) {'int64_t' if leaves else 'void'} "
        head = filled(kind, f"{name}(", params or ["void"], ") {")
        lines = self._body(body) if leaves else self._stmt(body, 1)
        self.parts.append("\n".join(["/* One iteration of the loop that threads share. */", head, *lines, "}", ""]))
        return [
            filled("    weft_status = " if leaves else "    ", f"{name}(", [self.names.name(v) for v in shared], ");")
        ]

    def _writable(self, var: Var) -> bool:
        # Parameters say themselves whether they are written.
        return self.outputs.get(var.name, var.name in self.scratch or var.name in self.written)

    # Statements

    def _stmt(self, stmt: Stmt, depth: int) -> list[str]:
        """Return the lines of a statement, indented by ``depth``."""
        return self._parallel(stmt, "  " * depth) if isinstance(stmt, Parallel) else super()._stmt(stmt, depth)

    def _loop(self, stmt: For, depth: int) -> list[str]:
        pad = "  " * depth
        # The pragmas must directly precede the loop; the checker excludes both for one loop.
        lines = [f"#pragma GCC unroll {self.text_of(stmt.stop)}"] if stmt.unroll else []
        if _masks_loads(stmt):
            self.expressions.calls["weft_rolled"] = None
            lines = [f"{pad}WEFT_ROLLED"]
        if stmt.simd is not None:
            clauses = "".join(f" reduction({op}:{self.names.name(name)})" for op, name in stmt.simd)
            # GCC 12 would make vectors of 16 lanes for AVX-512, which take long to fill one element at a time.
            clauses = clauses or f" simdlen({_LANES})"
            lines.append(f"#pragma omp simd{clauses}")
        head = self._loop_head(stmt, pad, single=stmt.simd is not None)
        return [*lines, head, *self._nest(stmt.body, depth)]

    def _simple(self, stmt: Stmt, pad: str) -> list[str]:
        """Return the lines of a statement that contains no other statement."""
        match stmt:
            case Allocate(var, size, zero):
                return self._allocate(var, size, zero, pad)
            case Free(var):
                name = self.names.name(var.name)
                # NULL, since the end of the function frees all scratch pointers again.
                return [f"{pad}{self.expressions.call('weft_free', name)};", f"{pad}{name} = NULL;"]
            case Poll(watch, asks):
                name = self.expressions.call("weft_poll" if asks else "weft_stopped", self.names.name(watch.name))
                return [f"{pad}if ({name}) {{", *self._fail(abi.INTERRUPTED, pad), f"{pad}}}"]
            case Return(value):
                if self.can_fail:
                    return [f"{pad}weft_status = {self.text_of(value)};", f"{pad}goto done;"]
                return [f"{pad}return {self.text_of(value)};"]
        return super()._simple(stmt, pad)

    def _allocate(self, var: Var, size: Expr, zero: bool, pad: str) -> list[str]:
        name, element = self.names.name(var.name), type_name(var.ty[:-1])
        flag = "true" if zero else "false"
        call = self.expressions.call("weft_alloc", self.text_of(size), f"sizeof({element})", flag)
        self.expressions.calls["weft_free"] = None  # called at the end of the function
        return [
            f"{pad}{name} = ({element} *){call};",
            f"{pad}if ({name} == NULL) {{",
            *self._fail(abi.OUT_OF_MEMORY, pad),
            f"{pad}}}",
        ]

    def _fail(self, status: int, pad: str) -> list[str]:
        """Return the lines inside an ``if`` that set the status and jump to the exit."""
        return [f"{pad}  weft_status = {status};", f"{pad}  goto {self.escape};"]


def _masks_loads(loop: For) -> bool:
    """Return whether a loop may be unrolled and has loads that loaded numbers decide on, so that masks come about."""
    ends = [n.value for n in (loop.start, loop.stop) if isinstance(n, Const) and isinstance(n.value, int)]
    few = len(ends) == 2 and 1 < ends[1] - ends[0] <= _UNROLLED
    inner = list(statements(loop.body)) if few else []
    if any(isinstance(s, For | While | Allocate | Poll | Evaluate | Free) for s in inner):
        return False
    # Positions that are counted up cannot be computed in lanes.
    counted = {n.name for s in inner if isinstance(s, Update) and isinstance(n := s.target, Var)}
    loaded: set[str] = set()  # variables whose values follow from loads

    def follows(expr: Expr, names: set[str]) -> bool:
        return any(type(n) is Load or (type(n) is Var and n.name in names) for n in walk(expr))

    for node in inner:
        if isinstance(node, Declare | Set) and node.value is not None and follows(node.value, loaded):
            loaded.add(node.var.name)
    guards = (n for n in walk(loop.body) if isinstance(n, If | Select) and follows(n.cond, loaded)) if few else ()
    reads = [n for guard in guards for part in children(guard)[1:] for n in walk(part) if isinstance(n, Load)]
    places = [n.index for n in (*reads, *inner) if isinstance(n, Load | Store)]
    calls = any(isinstance(n, Call) for n in walk(loop.body)) if reads else False
    return (
        bool(reads)
        and not calls
        and not any(type(n) is Var and n.name in counted for place in places for n in walk(place))
    )


def _may_leave(stmt: Stmt) -> bool:
    """Return whether a failure or a poll may jump out of ``stmt``."""
    return any(isinstance(n, Allocate | Poll) for n in statements(stmt))


def _entrance(symbol: str, number: int, names: list[str], members: list[str]) -> str:
    """Return the struct of the variables that threads share, and the function that unpacks it for one thread."""
    lines = [f"static int64_t {symbol}_enter{number}(void *weft_shared, {', '.join(_TAKEN)}) {{"]
    if names:
        struct = f"struct {symbol}_shared{number}"
        lines = [f"{struct} {{", *members, "};", *lines, f"  const {struct} *weft_all = weft_shared;"]
    else:
        lines.append("  (void)weft_shared;")
    args = ["weft_next", "weft_end", *(f"weft_all->{name}" for name in names)]
    return "\n".join([*lines, filled("  return ", f"{symbol}_thread{number}(", args, ");"), "}", ""])


def print_function(function: Function, suffix: str = "") -> CFunction:
    """Return a function printed as C."""
    return CFunction(function, suffix)
