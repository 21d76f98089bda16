"""Programs for a device, made of the IR function that computes the values of a result.

A program depends on how threads share its work (``Choice``), for which there is a rule: lanes share the innermost
loops. If these are over a dense dimension, there are as many lanes as it has coordinates, up to 32; if they are over
segments of positions, as many as a fourth of the mean length of a segment, up to 16.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from .code_options import CodeOptions
from .codegen.cuda_printer import BLOCK, CudaKernel, cuda_text
from .compiler import LoweredFunction, PlannedLoops
from .device_program import Binding, Choice, DeviceFacts, DeviceProgram, Fill, Launch, Scan, Scratch, Size
from .errors import DeviceError
from .formats.append_chains import append_chains
from .ir import Binary, Cast, Const, Expr, For, Function, Load, Var
from .ir import Scan as Totals
from .ir.passes.lanes import MOST
from .ir.passes.launches import Kernel, Launches, Memory, launches, length_name
from .ir.printer import expression_text
from .ir.traversal import statements, used_names, walk
from .lowering.context import LoweringContext


class Module(Protocol):
    """The parts of a module that are read: its loops, and the function that computes the values of a result."""

    loops: PlannedLoops
    options: CodeOptions

    @property
    def described(self) -> str: ...
    @property
    def context(self) -> LoweringContext: ...
    @property
    def evaluation(self) -> LoweredFunction: ...


DTYPES = ("bool", "int32", "int64", "float32", "float64")
"""The dtypes of values that devices compute with."""
LONG = 64
"""Mean lengths of a segment from which on the longest one asks for equal shares."""
FEWEST_IN_SHARES = 8
"""Fewest lanes that take an equal share."""
FEWEST, MOST_OF_SEGMENTS = 4, 16
"""Entries of a segment for each lane, and most lanes that share a segment."""


def device_facts(module: Module) -> DeviceFacts:
    """Return the facts on which it depends how threads share the work of a module; raise if a device has no code."""
    function = _function(module)
    bindings = tuple(_bindings(function))
    launched = _launches(function, module, Choice(2, balanced=True))
    known = {b.name: b for b in bindings}
    segments, entries = tuple[str, ...](), ""
    inner: tuple[str, ...] = ()
    lengths = next((s.lengths for s in launched.balanced), None)
    if lengths:
        segments, entries = lengths, _below(lengths[0], bindings)
    for loop in (loop for step in launched.steps if isinstance(step, Kernel) for loop in step.loops):
        stop = loop.stop
        if isinstance(stop, Const):
            continue
        positions = [n.array.name for n in walk(stop) if isinstance(n, Load) and isinstance(n.array, Var)]
        if positions and not segments:
            segments = (positions[0],)
            entries = _below(positions[0], bindings)
        elif isinstance(stop, Var) and stop.name in known:
            inner = (stop.name,)
    for s in statements(function.body):
        match s:  # a dense dimension in strips, of which the widest come first
            case For(stop=Binary("/", Var(name), Const())) if name in known and not inner:
                inner = (name,)
    return DeviceFacts(bindings, segments, entries, inner, lengths is not None, lengths == ())


def _below(positions: str, bindings: Iterable[Binding]) -> str:
    """Return the name of the array with an element for each position between the ends that an array holds."""
    above = next(b for b in bindings if b.name == positions)
    return next((b.name for b in bindings if b.part == "array" and _follows(b, above)), "")


def _follows(array: Binding, positions: Binding) -> bool:
    """Return whether an array has an element for each position between the ends that another one holds."""
    return array.tensor == positions.tensor and array.index == positions.index + 1


def choose(facts: DeviceFacts, known: Mapping[str, int], longest: int, options: CodeOptions) -> Choice:
    """Return how threads share work, given dimensions and lengths by name, and the length of the longest segment."""
    if not options.enabled("lanes"):
        return Choice()
    if facts.inner:
        most = min(MOST, max(1, min(known[name] for name in facts.inner)))
    elif facts.segments and facts.entries:
        most = int(min(MOST_OF_SEGMENTS, max(1, _mean(known[facts.entries], known[facts.segments[0]]) / FEWEST)))
    else:
        most = 1
    lanes = 1 << most.bit_length() - 1
    balanced = facts.balances and options.enabled("equal-shares")
    if balanced and not facts.runs:
        balanced = longest > LONG * _mean(known[facts.entries], known[facts.segments[-1]])
    # Each lane would have many elements of a strip, most of them behind its end.
    narrow = tuple([(name, 2 * lanes) for name in facts.inner if known[name] < 2 * lanes <= MOST])
    return Choice(max(lanes, FEWEST_IN_SHARES) if balanced else lanes, balanced, narrow)


def _mean(entries: int, edges: int) -> float:
    """Return the mean number of entries of segments, given the number of their edges."""
    return entries / max(1, edges - 1)


def usual_choice(module: Module) -> Choice:
    """Return how threads share work if dimensions have a thousand coordinates, and segments eight entries."""
    facts = device_facts(module)
    known = {b.name: 8001 if b.name == facts.entries else 1001 for b in facts.bindings}
    return choose(facts, known, 0, module.options)


def device_program(module: Module, choice: Choice = Choice()) -> DeviceProgram:  # noqa: B008
    """Return the program of a module; raise ``DeviceError`` if it does what devices do not."""
    function = _function(module)
    launched = _launches(function, module, choice)
    return program_of(function, launched, module.described, _notes(launched, choice))


def program_of(function: Function, launched: Launches, described: str, notes: tuple[str, ...] = ()) -> DeviceProgram:
    """Return the program of the launches that a function becomes."""
    bindings = tuple(_bindings(function))
    numbers = _Numbers({b.name: b for b in bindings}, {m.var.name: m for m in launched.memory})
    kernels: list[CudaKernel] = []
    steps: list[Launch | Fill | Scan] = []
    for step in launched.steps:
        match step:
            case Var(name, ty):
                steps.append(Fill(name, ty == "bool*" and False))
            case Totals(_, Var(name), start, stop, op):
                steps.append(Scan(name, numbers.exactly(start), numbers.exactly(stop), op))  # type: ignore[arg-type]
            case Kernel():
                kernel = CudaKernel(f"weft_{function.name}_{len(kernels) + 1}", step.body, step.lanes)
                kernels.append(kernel)
                arguments = tuple([v.name for v in kernel.arguments])
                if missing := [n for n in arguments if n not in numbers.bindings and n not in numbers.memory]:
                    raise DeviceError(f"{described} uses {missing[0]}, which devices do not have")
                steps.append(Launch(kernel.name, numbers.size(step.teams[0]), step.lanes, BLOCK, arguments))
    used = {n for s in steps if isinstance(s, Launch) for n in s.arguments}
    scratch = tuple(
        Scratch(m.var.name, m.var.ty[:-1], numbers.size(m.size)) for m in launched.memory if m.var.name in used
    )
    steps = [s for s in steps if isinstance(s, Launch) or s.array in used or s.array in numbers.bindings]
    tensors = tuple([p.name for p in function.params])
    return DeviceProgram(cuda_text(kernels), tensors, bindings, scratch, tuple(steps), notes)


def _function(module: Module) -> Function:
    """Return the function that computes the values of a result; raise if devices cannot run it."""
    loops, what = module.loops, module.described
    advice = "compute it on the CPU, with tensors of to_device('cpu')"
    if loops.schedule.insertion is not None or (loops.appends and append_chains(loops.schedule.result.format)):
        raise DeviceError(
            f"{what} makes a sparse result with a structure of its own, which devices do not make yet; ask for a dense "
            f"result, or {advice}"
        )
    if loops.schedule.conversions or loops.converts_to is not None:
        raise DeviceError(f"{what} converts tensors, which devices do not do yet; {advice}")
    for name, type in module.context.types.items():
        if type.dtype not in DTYPES:
            taken = ", ".join(DTYPES)
            raise DeviceError(f"{name} is {type.dtype}, and devices compute with {taken}, in {what}; {advice}")
    return module.evaluation.ir


def _launches(function: Function, module: Module, choice: Choice) -> Launches:
    try:
        narrow = dict(choice.narrow)
        return launches(function, choice.lanes, not module.options.reassociate, choice.balanced, narrow)
    except DeviceError as error:
        raise DeviceError(
            f"{error}, so that {module.described} does not run on a device; compute it on the CPU, with tensors of "
            "to_device('cpu')"
        ) from None


def _bindings(function: Function) -> Iterator[Binding]:
    for p in function.params:
        yield from (Binding(v.name, p.name, "dimension", n, "int64") for n, v in enumerate(p.dimensions))
        arrays = [*enumerate(p.arrays), (-1, p.vals)]
        yield from (Binding(v.name, p.name, "array", n, v.ty[:-1]) for n, v in arrays)
        yield from (Binding(length_name(v.name), p.name, "length", n, "int64") for n, v in arrays)


class _Numbers:
    """Sizes in terms of dimensions and of lengths of arrays."""

    def __init__(self, bindings: Mapping[str, Binding], memory: Mapping[str, Memory]):
        self.bindings, self.memory = bindings, memory

    def size(self, expr: Expr) -> Size:
        """Return an upper bound of an expression."""
        over, times, factor, share = list[str](), list[str](), 1, 1
        for part in _operands(expr, "*"):
            match part:
                case Const(value):
                    factor *= max(1, int(value))  # type: ignore[arg-type]
                case Binary("/", inner, Const(value)) if share == 1:
                    share = int(value)  # type: ignore[arg-type]
                    over = [name for each in _operands(inner, "*") for name in self._names(each)]
                case _:
                    times += self._names(part)
        return Size(tuple(over), share, tuple(times), factor) if share > 1 else Size(tuple(times), factor=factor)

    def _names(self, part: Expr) -> list[str]:
        """Return the name of the number that a factor is, or of one by which it is bounded, in a list; or none."""
        names = [part.name] if isinstance(part, Var) and part.name in self.bindings else self._bound(part)
        if not names:
            raise DeviceError(f"the length of a loop, {part}, has no bound that is known before a kernel runs")
        return names

    def exactly(self, expr: Expr) -> tuple[Size, ...]:
        """Return sizes whose sum is an expression; raise if a device does not know it before kernels run."""
        sizes = []
        for summand in _operands(expr, "+"):
            names, factor = [], 1
            for part in _operands(summand, "*"):
                match part:
                    case Const(value):
                        factor *= int(value)  # type: ignore[arg-type]
                    case Var(name) if name in self.bindings and self.bindings[name].part != "array":
                        names.append(name)
                    case _:
                        raise DeviceError(f"running totals reach to {expression_text(expr)}, which kernels compute")
            sizes.append(Size(over=tuple(names), factor=factor))
        return tuple(sizes)

    def _bound(self, expr: Expr) -> list[str]:
        """Return the name of a number that an expression does not exceed by much, in a list; or none."""
        arrays = [n.array.name for n in walk(expr) if isinstance(n, Load) and isinstance(n.array, Var)]
        bound = [self.bindings[name] for name in arrays if name in self.bindings]
        for array in bound:
            below = [b.name for b in self.bindings.values() if b.part == "array" and _follows(b, array)]
            if below:
                return below
        if bound:  # positions of the last level
            return [b.name for b in self.bindings.values() if b.tensor == bound[0].tensor and b.index == -1][:1]
        return [name for name in sorted(used_names(expr)) if name in self.bindings][:1]


def _operands(expr: Expr, op: str) -> Iterator[Expr]:
    """Yield the factors of a product, or the summands of a sum, without conversions."""
    parts = [expr]
    while parts:
        match parts.pop(0):
            case Binary(found, a, b) if found == op:
                parts = [a, b, *parts]
            case Cast(a):
                parts.insert(0, a)
            case part:
                yield part


_SUFFIX = re.compile(r"(_inside)?(_[0-9]+)?$")
"""What tells the loops over one variable apart."""


def _notes(launched: Launches, choice: Choice) -> tuple[str, ...]:
    """Return lines on how threads share the work."""
    kernels = [step for step in launched.steps if isinstance(step, Kernel)]
    shared = dict.fromkeys(_SUFFIX.sub("", loop.var.name) for k in kernels if k.lanes > 1 for loop in k.loops)
    lanes = max((k.lanes for k in kernels if k.loops), default=1)
    count = f"{len(kernels)} kernel{'s' * (len(kernels) != 1)}"
    if launched.balanced:
        of = ", ".join(dict.fromkeys(_SUFFIX.sub("", segments.over) for segments in launched.balanced))
        why = ", as some rows are long" if any(segments.lengths for segments in launched.balanced) else ""
        return (f"{count}, teams of {choice.lanes} lanes take equal shares of the positions {of}{why}",)
    if not shared:
        return (f"{count}, one thread for each iteration of the outermost loop",)
    return (f"{count}, {lanes} lanes share each loop over {', '.join(shared)}",)
