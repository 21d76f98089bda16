"""Checker of the IR, which lists the reasons why a function is not well-formed."""

from __future__ import annotations

from . import nodes as ir
from .builder import lit
from .precedence import BINARY
from .printer import expression_text
from .traversal import assigned_names, declared_names, free, statements, variables
from .types import SCALARS, is_complex, is_integer, is_pointer

_LOGIC = ("&&", "||")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_INTEGER_ONLY = ("%", "&", "|", "^", "<<", ">>")
_UPDATES = ("+", "-", "*", "&", "|", "^")
_TYPES = {*SCALARS, *(f"{ty}*" for ty in SCALARS)}
_SIMPLE = (ir.Set, ir.Store, ir.Update, ir.Evaluate, ir.Comment)
# The variables that each function has beside those of its parameters.
COUNTS, THREADS = ir.Var("counts", "int64*"), ir.Var("threads", "int64")


def problems(function: ir.Function) -> list[str]:
    """Return the reasons why a function is not well-formed, or an empty list if it is."""
    checker = _Checker()
    # The names of the parameters are in an outer scope, so that the body may declare them anew.
    outer: dict[str, str] = {}
    for param in function.params:
        for var in (*param.dimensions, *param.arrays, param.vals):
            if outer.setdefault(var.name, var.ty) != var.ty:
                checker.say(f"{var.name} is unpacked with two types, {outer[var.name]} and {var.ty}")
        for var in (*param.arrays, param.vals):
            if not is_pointer(var.ty):
                checker.say(f"the array {var.name} of {param.name} is a {var.ty}, not a pointer")
    outer.setdefault(COUNTS.name, COUNTS.ty)
    outer.setdefault(THREADS.name, THREADS.ty)
    checker.names = outer
    checker.stmt(function.body)
    # Scratch pointers are declared at the top of a C function, so that their names must differ in all its scopes.
    parts = [s for s in statements(function.body) if isinstance(s, ir.Parallel)] if checker.scratch else []
    for names in (declared_names(function.body, regions=False), *map(declared_names, parts)):
        for name in sorted({name for name in checker.scratch if names.count(name) > 1}):
            checker.say(f"the scratch array {name} shares its name with another variable")
    for name in sorted(checker.scratch - checker.freed):
        checker.say(f"the scratch array {name} is never freed")
    return checker.reasons


class _Checker:
    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.names: dict[str, str] = {}  # the types of the variables that can be used
        self.scope: set[str] = set()  # those that the innermost scope declares
        self.loop_variables: set[str] = set()
        self.scratch: set[str] = set()
        self.freed: set[str] = set()
        self.in_parallel = False

    def say(self, reason: str) -> None:
        self.reasons.append(reason)

    def declare(self, var: ir.Var) -> None:
        if var.ty not in _TYPES:
            self.say(f"{var.name} has no known type: {var.ty}")
        if var.name in self.scope:
            self.say(f"{var.name} is declared twice in one scope")
        self.scope.add(var.name)
        self.names[var.name] = var.ty

    def want(self, expr: ir.Expr, ty: str, where: str) -> None:
        """Check ``expr``, and that its type is ``ty``."""
        if (found := self.expr(expr)) != ty:
            self.say(f"{where} {expression_text(expr)} is {found}, not {ty}")

    def want_integer(self, expr: ir.Expr, where: str) -> None:
        if not is_integer(found := self.expr(expr)):
            self.say(f"{where} {expression_text(expr)} is {found}, not an integer")

    def expr(self, expr: ir.Expr) -> str:
        """Check ``expr``, and return its type."""
        if type(expr) is ir.Var:
            if self.names.get(expr.name) != expr.ty:
                self.variable(expr)
            return expr.ty
        # An expression that was checked after an earlier pass has new scopes at most.
        facts = getattr(expr, "__dict__", {})
        if "_checked" in facts:
            names = self.names
            for var in variables(expr):  # no call for each variable that is declared so
                if names.get(var.name) != var.ty:
                    self.variable(var)
            return expr.ty
        before = len(self.reasons)
        ty = self.new(expr)
        if len(self.reasons) == before:
            facts["_checked"] = True
        return ty

    def variable(self, var: ir.Var) -> None:
        """Check that a variable is declared as it is used; the innermost declaration of its name counts."""
        declared = self.names.get(var.name)
        if declared is None:
            self.say(f"{var.name} is used before it is declared")
        elif declared != var.ty:
            self.say(f"{var.name} is declared {declared} and used as {var.ty}")

    def new(self, expr: ir.Expr) -> str:
        """Check an expression that is no variable, and return its type."""
        match expr:
            case ir.Const(value, ty):
                self.constant(value, ty)
            case ir.Load(array, index):
                return self.access(array, index)
            case ir.Binary(op, a, b):
                return self.binary(op, a, b)
            case ir.Unary(op, a):
                return self.unary(op, a)
            case ir.Call(_, args):  # the printer refuses prelude functions that do not exist
                for a in args:
                    self.expr(a)
            case ir.Cast(a, ty):
                if is_pointer(self.expr(a)) or ty not in SCALARS:
                    self.say(f"the cast of {expression_text(a)} to {ty}")
            case ir.Select(cond, a, b):
                self.want(cond, "bool", "the condition")
                ty = self.expr(a)
                self.want(b, ty, "the other choice")
                return ty
            case _:
                self.say(f"not an expression: {expr!r}")
                return "?"
        return expr.ty

    def constant(self, value: object, ty: str) -> None:
        # An int is a value of all types but bool; bool is a subclass of int, so types are compared exactly.
        kinds: list[type] = [bool] if ty == "bool" else [int] if is_integer(ty) else [int, float]
        kinds += [complex] if is_complex(ty) else []
        if ty not in SCALARS or type(value) not in kinds:
            self.say(f"the constant {value!r} cannot be {ty}")

    def unary(self, op: str, a: ir.Expr) -> str:
        ty = self.expr(a)
        if (op == "!" and ty != "bool") or (op == "~" and not is_integer(ty)) or (op == "-" and ty == "bool"):
            self.say(f"{op} of {expression_text(a)}, which is {ty}")
        if op not in ("-", "!", "~"):
            self.say(f"there is no unary operator {op}")
        return "bool" if op == "!" else ty

    def binary(self, op: str, a: ir.Expr, b: ir.Expr) -> str:
        if op not in BINARY:
            self.say(f"there is no operator {op}")
        ty = self.expr(a)
        if is_pointer(ty):  # pointer + integer is the one operation on different types
            if op != "+":
                self.say(f"{op} of the pointer {expression_text(a)}")
            self.want_integer(b, "the offset")
            return ty
        self.want(b, "bool" if op in _LOGIC else ty, f"the right side of {op}:")
        if op in _LOGIC and ty != "bool":
            self.say(f"the left side of {op}: {expression_text(a)} is {ty}, not bool")
        if op in _INTEGER_ONLY and not (is_integer(ty) or (ty == "bool" and op in ("&", "|", "^"))):
            self.say(f"{op} of {ty} operands")
        return "bool" if op in _LOGIC or op in _COMPARISONS else ty

    def access(self, array: ir.Expr, index: ir.Expr) -> str:
        """Check ``array[index]``, and return the type of the element."""
        ty = self.expr(array)
        if not is_pointer(ty):
            self.say(f"{expression_text(array)} is indexed and is no array but {ty}")
        self.want_integer(index, "the index")
        return ty[:-1] if is_pointer(ty) else ty

    def nested(self, *stmts: ir.Stmt, loop: ir.Var | None = None) -> None:
        """Check the statements in a scope of their own, which may be inside a loop."""
        outside = self.names, self.scope, self.loop_variables
        self.names, self.scope = dict(self.names), set()
        if loop is not None:
            self.declare(loop)
            self.loop_variables = {*self.loop_variables, loop.name}
        for s in stmts:
            self.stmt(s)
        self.names, self.scope, self.loop_variables = outside

    def loop(self, loop: ir.For) -> None:
        if not is_integer(loop.var.ty):
            self.say(f"the loop variable {loop.var.name} is {loop.var.ty}, not an integer")
        self.want(loop.start, loop.var.ty, "the start of a loop:")
        self.want(loop.stop, loop.var.ty, "the end of a loop:")
        if loop.step is not None:
            self.want(loop.step, loop.var.ty, "the step of a loop:")
        for op, name in loop.simd or ():
            if not (op in _UPDATES or op.startswith("weft_")) or name not in self.names:
                self.say(f"the simd reduction {op}: {name}")
        # Loops are unrolled by a pragma that takes a constant, and that excludes the pragma of vectors.
        counted = isinstance(loop.start, ir.Const) and isinstance(loop.stop, ir.Const)
        if loop.unroll and (loop.simd is not None or not counted):
            self.say(f"the loop over {loop.var.name} cannot be unrolled")
        # The loop variable is in the scope of the body; its bounds, checked above, do not see it.
        self.nested(loop.body, loop=loop.var)

    def assign(self, var: ir.Var, value: ir.Expr, how: str = "assigned") -> None:
        if var.name in self.loop_variables:
            self.say(f"the loop variable {var.name} is {how}")
        self.want(value, self.expr(var), f"the value {how} to {var.name}:")

    def stmt(self, stmt: ir.Stmt) -> None:
        if type(stmt) in _SIMPLE:
            self.simple(stmt)
            return
        match stmt:
            case ir.Block(stmts):
                for s in stmts:
                    self.simple(s) if type(s) in _SIMPLE else self.stmt(s)
            case ir.If(cond, then, orelse):
                self.want(cond, "bool", "the condition")
                self.nested(then)
                if orelse is not None:
                    self.nested(orelse)
            case ir.While(cond, body):
                self.want(cond, "bool", "the condition")
                self.nested(body)
            case ir.For():
                self.loop(stmt)
            case ir.Parallel():
                self.parallel(stmt)
            case ir.Declare() | ir.Allocate() | ir.Array() | ir.Free():
                self.storage(stmt)
            case _:
                self.simple(stmt)

    def storage(self, stmt: ir.Declare | ir.Allocate | ir.Array | ir.Free) -> None:
        """Check a statement that declares a variable or an array, or frees an array."""
        match stmt:
            case ir.Declare(var, value):
                if value is not None:
                    self.want(value, var.ty, f"the initial value of {var.name}:")
                self.declare(var)
            case ir.Allocate(var, size):
                self.want_integer(size, "the size")
                if not is_pointer(var.ty):
                    self.say(f"the scratch array {var.name} is a {var.ty}, not a pointer")
                self.declare(var)
                self.scratch.add(var.name)
            case ir.Array(var, size):
                if not is_pointer(var.ty) or size < 1:
                    self.say(f"the array {var.name} of {size} elements is a {var.ty}, not a pointer to at least one")
                self.declare(var)
            case ir.Free(var):
                # A parameter or a pointer into another array cannot be freed.
                self.expr(var)
                if var.name not in self.scratch:
                    self.say(f"{var.name} is freed and was not allocated")
                self.freed.add(var.name)

    def simple(self, stmt: ir.Stmt) -> None:
        """Check a statement that contains no other statement and declares no variable."""
        match stmt:
            case ir.Set(var, value):
                self.assign(var, value)
            case ir.Store(array, index, value):
                self.want(value, self.access(array, index), "the value stored:")
            case ir.Update(op, target, value):
                self.update(op, target, value)
            case ir.Evaluate(call):
                self.expr(call)
            case ir.Return(value):
                self.want(value, "int64", "the status")
                if self.in_parallel:
                    self.say("a return inside a parallel region")
            case ir.Scan():
                self.scan(stmt)
            case ir.Poll(watch):
                self.want(watch, "int64*", "the watch")
            case ir.Comment():
                pass
            case _:
                self.say(f"not a statement: {stmt!r}")

    def scan(self, scan: ir.Scan) -> None:
        if not is_integer(ty := self.access(scan.array, scan.start)) or scan.op not in ("+", "maximum"):
            self.say(f"there is no scan {scan.op} of {ty}")
        for number in (scan.start, scan.stop, *([] if scan.first is None else [scan.first])):
            self.want(number, "int64", "a number of a scan:")
        self.nested(ir.Declare(scan.var, lit(0)))

    def update(self, op: str, target: ir.Var | ir.Load, value: ir.Expr) -> None:
        if isinstance(target, ir.Var):
            self.assign(target, value, "added")
        else:
            self.want(value, self.expr(target), "the value added:")
        integer = is_integer(target.ty) or target.ty == "bool"
        if op not in _UPDATES or (op in _INTEGER_ONLY and not integer) or is_pointer(target.ty):
            self.say(f"there is no update {op}= of {target.ty}")

    def parallel(self, stmt: ir.Parallel) -> None:
        self.want(stmt.threads, "int64", "the number of threads")
        if self.in_parallel:
            self.say("a parallel region inside another")
        # Threads may write to shared arrays, but to no shared variable: that would be a race.
        # A variable that is not declared before the region is none of these.
        shared = self.names.keys() & assigned_names(stmt)
        outside = free(stmt) if shared else {}
        for part in (stmt.prologue, stmt.loop, stmt.epilogue):
            for name in sorted(assigned_names(part) & outside.keys()):
                self.say(f"a parallel region changes {name}, which its threads share")
        if stmt.loop.simd:
            self.say("a parallel loop with a simd reduction")
        for bound in (stmt.loop.start, stmt.loop.stop):
            self.want(bound, "int64", "a bound of a parallel loop:")
        # The loop and the epilogue see the declarations of the prologue.
        self.in_parallel = True
        self.nested(stmt.prologue, stmt.loop, stmt.epilogue)
        self.in_parallel = False
