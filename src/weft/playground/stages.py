"""From the state of the page to everything that it shows: the stages of the compiler as texts and drawings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from .. import execution
from ..derivatives import gradient_statement
from ..errors import UnsupportedError, WeftError
from ..execution import PlanReport
from ..formats import TensorType, parse_format
from ..index_notation import accesses, parse, to_text
from ..index_notation.nodes import Assignment
from ..records import record
from ..scheduling.commands import Command, parse_commands, scheduler
from ..tensor.compiled_kernel import operand_names, orders, report
from .drawings import Drawing, format_drawings, graph_drawings, lattice_drawings
from .outside import command_line, python_code
from .state import MOST_AXES, MOST_COMMANDS, MOST_TENSORS, MOST_VARIABLES, RefusedError, State, choices

_LONGEST = 200_000
"""Characters of a stage that the page shows."""

_TITLES = {
    "steps": ("Steps", "plain", "A long expression is computed in several steps; equal ones share a kernel."),
    "concrete notation": ("Loops", "notation", "Concrete index notation: loops, and the workspaces that they use."),
    "c": ("C", "c", "The functions of the kernel."),
    "index notation": ("Index notation", "notation", "The expression, with its sums written out."),
    "schedule": ("Decisions", "plain", "Which loops were chosen."),
    "attribute queries": (
        "Attribute queries", "notation", "Questions about the entries, answered before these are inserted.",
    ),
    "lattices": (
        "Merge lattices", "notation", "The cases of each loop: levels that it walks | levels that it searches.",
    ),
    "ir": ("IR", "notation", "The function that computes the result, before it is made faster."),
}  # fmt: skip


@record
class Tensor:
    """A tensor of the expression, with the formats to choose from."""

    name: str
    axes: int  # the number of axes
    format: str  # the chosen format; empty for a result whose format weft chooses
    is_result: bool  # True for the tensor on the left-hand side
    named: tuple[str, ...]  # the formats to choose from, by name
    lettered: tuple[str, ...]  # and by letters


@record
class Section:
    """One part of the page."""

    key: str  # a short name, used in links within the page
    title: str
    about: str  # One sentence below the heading
    language: str = "plain"  # the language of ``text``, by which it is coloured
    text: str = ""  # the text of a stage
    more: str = ""  # Text that is folded, such as the support functions of C
    drawings: tuple[Drawing, ...] = ()  # Drawings above the text


@record
class Trouble:
    """A message, and the field that it belongs to."""

    field: str  # ``expression``, ``formats`` or ``schedule``
    message: str  # the reason, with a caret on a line of its own if there is a place to point at

    @property
    def reason(self) -> str:
        """The message without the place."""
        return self.message.partition("\n  ")[0]

    @property
    def place(self) -> str:
        """The text with the caret below it; empty if there is no place to point at."""
        return self.message[len(self.reason) :].removeprefix("\n")


@record
class Answer:
    """Everything that the page shows for a state."""

    tensors: tuple[Tensor, ...] = ()  # the tensors of the expression; empty if it does not parse
    sections: tuple[Section, ...] = ()  # the stages of the compiler; empty if there is an error
    trouble: Trouble | None = None


def answer(state: State) -> Answer:
    """Return all that the page shows for a state. No kernel is compiled to machine code, and none runs.

    Examples
    --------
    >>> found = answer(State("y(i) = A(i,j)*x(j)", (("A", "csr"),)))
    >>> [tensor.name for tensor in found.tensors]
    ['A', 'x', 'y']
    >>> print(answer(State("y(i = A(i,j)")).trouble.message)
    expected ',' or the ')' for the '(' at column 2, not '='
      y(i = A(i,j)
          ^
    """
    tensors: tuple[Tensor, ...] = ()
    field = "expression"
    try:
        assignment = _parsed(state.expression)
        tensors = _tensors(assignment, dict(state.formats))
        _require_offered(tensors)
        field = "schedule"
        commands = parse_commands(state.schedule)
        if len(commands) > MOST_COMMANDS:
            raise commands[MOST_COMMANDS].error(f"the playground takes at most {MOST_COMMANDS} commands")
        change = scheduler(commands)
        field = "schedule" if change else "expression"
        types = _types(assignment, tensors)
        looked = execution.assumed(assignment, {name: types[name] for name in operand_names(assignment)})
        kernel = execution.PlanReport(execution.compile(looked.assignment, types, change))
        # Origins are left out: this machine is not asked for its compiler, nor whether it has the kernel.
        text = report(kernel, assignment, looked, (), assumed=True).rpartition("\n")[0]
        outside = [*_derivatives(assignment, tensors)]
        outside += _outside(state.expression, operand_names(assignment), tensors, commands)
        return Answer(tensors, tuple(_sections(text, outside, kernel, tensors)))
    except RefusedError as error:
        return Answer(tensors, trouble=Trouble(error.field, str(error)))
    except WeftError as error:
        return Answer(tensors, trouble=Trouble(field, str(error)))
    except RecursionError:
        return Answer(tensors, trouble=Trouble(field, "the expression is nested too deeply"))
    except MemoryError:
        return Answer(tensors, trouble=Trouble(field, "the compiler needs more memory than the playground gives it"))


def _parsed(text: str) -> Assignment:
    if not text:
        raise RefusedError("expression", "type an expression, such as y(i) = A(i,j)*x(j)")
    assignment = parse(text)
    axes_of = orders(assignment)
    if len(axes_of) > MOST_TENSORS:
        raise RefusedError("expression", f"{len(axes_of)} tensors; the playground takes at most {MOST_TENSORS}")
    for name, axes in axes_of.items():
        if axes > MOST_AXES:
            raise RefusedError("expression", f"{name} has {axes} axes; the playground takes at most {MOST_AXES}")
    uses = (assignment.target, *accesses(assignment.value))
    variables = {v for access in uses for v in access.indices}
    if len(variables) > MOST_VARIABLES:
        raise RefusedError("expression", f"{len(variables)} variables; the playground takes at most {MOST_VARIABLES}")
    return assignment


def _tensors(assignment: Assignment, chosen: Mapping[str, str]) -> tuple[Tensor, ...]:
    result = assignment.target.tensor
    axes = orders(assignment)
    tensors = []
    for name in dict.fromkeys((*operand_names(assignment), result)):
        offered = choices(axes[name])
        usual = "" if name == result else "dense"
        format = chosen.get(name) or usual
        tensors.append(Tensor(name, axes[name], format, name == result, offered.named, offered.lettered))
    return tuple(tensors)


def _require_offered(tensors: tuple[Tensor, ...]) -> None:
    for tensor in tensors:
        if tensor.format and tensor.format not in choices(tensor.axes):
            count = f"{tensor.axes} {'axis' if tensor.axes == 1 else 'axes'}"
            raise RefusedError(
                "formats", f"{tensor.name} has {count}; there is no format {tensor.format!r} for it: choose another"
            )


def _types(assignment: Assignment, tensors: tuple[Tensor, ...]) -> dict[str, TensorType]:
    """Return the types of the tensors whose formats are chosen, as ``weft.compile`` does."""
    types: dict[str, TensorType] = {}
    for tensor in tensors:  # the operands come first
        if tensor.format:
            format = parse_format(tensor.format, tensor.axes)
            types[tensor.name] = (
                execution.target_type(assignment, types, format, None)
                if tensor.is_result
                else TensorType.of("float64", format)
            )
    return types


def _derivatives(assignment: Assignment, tensors: tuple[Tensor, ...]) -> Iterator[Section]:
    """Yield the statements of the gradients by all operands, or the reason why there are none."""
    lines: list[str] = []
    for tensor in tensors:
        if tensor.is_result:
            continue
        stored = not parse_format(tensor.format, tensor.axes).is_dense
        try:
            lines.append(to_text(gradient_statement(assignment, tensor.name, stored)))
        except UnsupportedError as error:
            lines = [str(error)]
            break
    about = "Gradients of the operands: index notation again, which weft.vjp computes."
    yield Section("derivatives", "Derivatives", about, "notation", "\n".join(lines))


def _outside(
    expression: str, operands: tuple[str, ...], tensors: tuple[Tensor, ...], commands: tuple[Command, ...]
) -> Iterator[Section]:
    (result,) = (tensor.name for tensor in tensors if tensor.is_result)
    formats = {tensor.name: tensor.format for tensor in tensors if tensor.format}
    code = python_code(expression, operands, result, formats, commands)
    yield Section("python", "Python", "The same kernel in a program.", "python", code)
    line = command_line(expression, formats, commands)
    yield Section("command", "Command line", "The same C in a terminal; -o FILE writes it to a file.", text=line)


def _sections(
    text: str, outside: Iterable[Section], kernel: PlanReport, tensors: tuple[Tensor, ...]
) -> Iterator[Section]:
    yield Section("report", "In short", "The report of weft.explain.", text=text)
    stages = _grouped(kernel.stages)
    for name, (title, language, about) in _TITLES.items():
        if name == "schedule":
            lead = "The loops, from the outermost at the top, and the path of each tensor through them."
            yield Section("graph", "Iteration graph", lead, drawings=graph_drawings(kernel))
        if name == "ir":
            yield from _storage(tensors)
        if text := stages.get(name, ""):
            more = stages["support"] if name == "c" else ""
            drawings = lattice_drawings(kernel) if name == "lattices" else ()
            yield Section(name.replace(" ", "-"), title, about, language, _cut(text), _cut(more), drawings)
        if name == "c":
            yield from outside


def _storage(tensors: tuple[Tensor, ...]) -> Iterator[Section]:
    drawings = format_drawings({tensor.name: (tensor.format, tensor.axes) for tensor in tensors if tensor.format})
    if drawings:
        yield Section(
            "storage", "Storage", "A small tensor in each of these formats, level by level.", drawings=drawings
        )


def _grouped(stages: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each stage, and of the support functions of C; in several steps, those of all kernels."""
    lines = (line.partition(": ") for line in stages.get("steps", "").splitlines())
    titles = {name: f"{name}, {title}" for name, colon, title in lines if colon and name.startswith("kernel ")}
    texts_of: dict[str, list[str]] = {}
    for full, text in stages.items():
        name, _, kernel = full.partition(", ")
        if name == "c":
            support, text = _split_c(text)
            texts_of.setdefault("support", []).append(support)
        if kernel and text:
            title = titles.get(kernel, kernel)
            text = f"/* {title} */\n{text}" if name == "c" else f"{title}:\n{text}"
        texts_of.setdefault(name, []).append(text.rstrip())
    return {name: "\n\n".join(filter(None, dict.fromkeys(texts))) for name, texts in texts_of.items()}


# The comments by which the C printer begins the functions of a kernel.
_KERNEL_FUNCTION = re.compile(
    r"^/\* (?:One iteration of the loop that|The share of one thread|The loops, on the arrays|Returns 0;)", re.MULTILINE
)


def _split_c(text: str) -> tuple[str, str]:
    """Return the support code and the functions of the kernel, from a complete file."""
    start = _KERNEL_FUNCTION.search(text)
    return ("", text) if start is None else (text[: start.start()].rstrip(), text[start.start() :])


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n... and {len(text) - _LONGEST} characters more: weft.explain shows all"
