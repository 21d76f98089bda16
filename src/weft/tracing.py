"""Calls of the compiler's passes: what a pass returns can be checked, and kept to be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from .analysis.derived_variables import derived_variables, single_coordinate_levels
from .concrete_notation import to_text as statement_text
from .concrete_notation.checks import why_not_concrete
from .concrete_notation.traversal import assignments
from .errors import LoweringError
from .index_notation import to_text
from .index_notation.nodes import Assignment
from .index_notation.traversal import accesses
from .ir import Function
from .ir.printer import function_text
from .ir.verify import problems
from .scheduling.format_views import FormatView
from .scheduling.schedule import Schedule

P = ParamSpec("P")
T = TypeVar("T")


class Trace:
    """A way to call passes: ``trace(name, function, *args)`` returns ``function(*args)``.

    Examples
    --------
    >>> from weft.index_notation import explicit_sums, parse
    >>> trace = Trace(keep=True)
    >>> assignment = trace("explicit sums", explicit_sums, parse("y(i) = A(i,j)*x(j)"))
    >>> trace.texts()
    {'explicit sums': 'y(i) = sum(j, A(i,j)*x(j))'}
    """

    def __init__(self, *, keep: bool = False, verify: bool = False) -> None:
        self.keep, self.verify = keep, verify
        self.snapshots: dict[str, list[Any]] = {}

    def __call__(self, name: str, run: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
        result = run(*args, **options)
        # A pass that changes nothing returns what it was given, which is checked already.
        if self.verify and not any(result is arg for arg in args) and (reasons := _problems(result)):
            raise LoweringError(f"{name} returned a malformed result: {'; '.join(reasons)}\n{_text(result)}")
        if self.keep:
            self.snapshots.setdefault(name, []).append(result)
        return result

    def texts(self) -> dict[str, str]:
        """Return the text of what each pass returned, in the order of the passes."""
        return {name: _text(results) for name, results in self.snapshots.items()}


def _problems(result: object) -> list[str]:
    """Return the reasons why the result of a pass is not well-formed."""
    match result:
        case Schedule(program=program, target=target, types=types):
            all_accesses = [a for s in assignments(program.stmt) for a in (s.target, *accesses(s.value))]
            stored = [a for a in all_accesses if a.tensor in types]
            follow = (*derived_variables(stored, types), *single_coordinate_levels(stored, types))
            reason = why_not_concrete(program, target, tuple([(d.var, d.needs) for d in follow]))
            return [] if reason is None else [reason]
        case Function():
            return problems(result)
    return []


def _text(result: object) -> str:
    match result:
        case Assignment():
            return to_text(result)
        case FormatView(assignment=assignment, kept=kept, why_not=str(reason)):
            return f"not {to_text(assignment)} by the levels of {', '.join(sorted(kept))}: {reason}"
        case FormatView(assignment=assignment, derived=derived):
            follows = ", ".join(d.var for d in derived)
            return to_text(assignment) + (f", where {follows} follow from others" if follows else "")
        case Schedule(program=program):
            return statement_text(program.stmt)
        case Function():
            return function_text(result)
        case Iterable():
            return "\n".join(_text(one) for one in result)
    return str(result)
