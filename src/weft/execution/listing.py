"""C of plans for users: text that stands alone, below comments on how to call it and on what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast

from ..codegen import emit_bundle
from ..errors import FormatError
from ..formats.append_chains import is_unordered_list
from ..index_notation import to_text
from .conversion import Convert
from .format_names import described, is_name_of
from .kernel import Kernel
from .plan import Plan
from .plan_facts import InSteps
from .plan_report import PlanReport
from .steps import ComputePart, Prune, Step
from .summary import formats_line

Phase = Literal["assemble", "compute"]
"""A part of a kernel: the functions that write the structure of a result, or its values."""


def listing(plan: Plan, phase: Phase | None = None) -> str:
    """Return the C of a plan, or of one of its two phases."""
    if phase is None:
        texts = [kernel.module.source for kernel in PlanReport(plan).kernels]
    else:
        (kernel,) = plan.kernels
        texts = [kernel.module.standing_alone(_functions(plan, phase))]
    source = texts[0] if len(texts) == 1 else emit_bundle(texts)
    comments = [*_usage(plan, source), *missing(plan)]
    return "\n".join(["/*", *[f" * {line}" for line in comments], " */", source])


def missing(plan: Plan) -> list[str]:
    """Return a line for each step that the C does not take."""
    names, lines = [*plan.inputs, *[""] * len(plan.steps)], list[str]()
    for step in plan.steps:
        if isinstance(step, ComputePart):
            lines += missing(cast(Plan, step.plan))
        elif (line := _missing(step, names[step.reads[0]], plan)) is not None:
            lines.append(line)
    return lines


def _missing(step: Step, name: str, plan: Plan) -> str | None:
    """Return the line for a step, which reads the operand of this name, or what other steps make; None for no line."""
    if isinstance(step, Prune):
        return f"missing: entries of {plan.result} that equal the fill value are left out at the end"
    if not isinstance(step, Convert):
        return None
    # A result is converted from what the kernel makes, an operand from what is given.
    source, when = (plan.inputs[name], "first") if name else (plan.kernel.type, "at the end")
    line = f"missing: {name or plan.result} is converted from {described(source.format)} to "
    line += f"{described(step.makes.format)} {when}"
    if is_unordered_list(source.format):
        return f"{line}: its entries are sorted, and those of equal coordinates are added up"
    if is_name_of(source.format) and is_name_of(step.makes.format):
        return f"{line}; see weft convert --from {source.format} --to {step.makes.format} --print c"
    return line


def _usage(plan: Plan, source: str) -> Iterator[str]:
    """Yield lines on the functions in the order of their calls, and on the arrays that they take."""
    if isinstance(plan.facts.how, InSteps):
        yield "computed in steps, which kernels below take in the order of the statements:"
        yield from [to_text(statement) for statement in plan.facts.how.program.statements]
    for kernel in PlanReport(plan).kernels:
        facts = kernel.facts
        yield facts.text
        types = {name: kernel.module.context.types[name] for name in kernel.operands}
        yield formats_line({facts.target.tensor: kernel.type, **types})
        names = [spec.partition("/")[2] for spec in kernel.module.specs if f"weft_{spec.partition('/')[2]}(" in source]
        if len(plan.kernels) == 1:
            yield f"functions, in order: {', '.join(f'weft_{name}' for name in dict.fromkeys(names))}"
        if arrays := ", ".join(f"{role} of level {k + 1}" for k, role in kernel.type.format.roles):
            yield f"arrays of {facts.target.tensor}: {arrays}"
        if facts.insertion is not None and facts.inserted.roles:
            scratch = ", ".join(f"{role} of level {k + 1}" for k, role in facts.inserted.roles)
            yield f"after them, arrays that only the assembly needs: {scratch}"


def _functions(plan: Plan, phase: Phase) -> list[str]:
    """Return the functions of a phase; raise if the phases cannot be separate."""
    kernel = plan.kernel
    if (reason := _why_inseparable(plan, kernel)) is not None:
        raise FormatError(f"{kernel.facts.text} has no separate {phase} function, since {reason}")
    return ["kernel/count", "kernel/assemble"] if phase == "assemble" else ["kernel/compute"]


def _why_inseparable(plan: Plan, kernel: Kernel) -> str | None:
    """Return why no function writes the structure of a result alone; None if one does."""
    result = plan.result
    if plan.is_in_steps:
        return "it is computed in several steps"
    if plan.phases is None:
        return "operands or the result are converted at each call; --print explain says which formats avoid this"
    if kernel.facts.insertion is not None:
        return f"the last pass writes coordinates of {result} together with its values"
    if kernel.facts.lead is not None:
        return f"{result} shares the index arrays of {kernel.facts.lead}: all of its C computes values"
    return None if kernel.facts.chains else f"{result} has no structure: all of its C computes values"
