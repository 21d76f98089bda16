"""The state of the playground: what is typed and chosen on the page, within limits."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import permutations, product
from urllib.parse import urlencode

from ..errors import FormatError, WeftError
from ..formats import formats, parse_format
from ..records import record

EXPRESSION_LENGTH = 300
SCHEDULE_LENGTH = 600
MOST_TENSORS = 8
MOST_AXES = 5
MOST_VARIABLES = 8
MOST_COMMANDS = 12
_NAME_LENGTH = 40
_PREFIX = "format."


class RefusedError(WeftError):
    """Error for a state that the playground refuses."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@record
class State:
    """The contents of the page's fields."""

    expression: str
    # The chosen format of each tensor by its name. Operands without one are dense; weft chooses that of a result.
    formats: tuple[tuple[str, str], ...] = ()
    schedule: str = ""  # Scheduling commands, which change the automatic schedule

    @property
    def query(self) -> str:
        """The state as the query of a link, which :func:`state_of` reads."""
        chosen = [(f"{_PREFIX}{name}", format) for name, format in self.formats if format]
        schedule = [("schedule", self.schedule)] if self.schedule else []
        return urlencode([("expression", self.expression), *chosen, *schedule])


@record
class Choices:
    """Formats that the page offers for a tensor, in two groups."""

    named: tuple[str, ...]  # Formats of the catalogue
    lettered: tuple[str, ...]  # Dense and compressed levels, a letter for each, with orders of the axes

    def __contains__(self, name: str) -> bool:
        return name in self.named or name in self.lettered


@lru_cache
def choices(axes: int) -> Choices:
    """Return the formats that the page offers for tensors with a number of axes.

    Examples
    --------
    >>> choices(1).lettered
    ('d', 's')
    >>> "ds:1,0" in choices(2), "dia" in choices(3)
    (True, False)
    """
    named = tuple(name for name in formats if _exists(name, axes))
    if axes == 0:
        return Choices(named=("dense",), lettered=())
    letters = ["".join(each) for each in product("ds", repeat=axes)]
    if axes > 3:  # in their own order: there are too many others for a list
        return Choices(named, tuple(letters))
    orders = [",".join(map(str, order)) for order in permutations(range(axes))]
    return Choices(named, (*letters, *(f"{each}:{order}" for order in orders[1:] for each in letters)))


def _exists(name: str, axes: int) -> bool:
    try:
        parse_format(name, axes)
    except FormatError:
        return False
    return True


def state_of(pairs: Iterable[tuple[str, str]]) -> State:
    """Return the state that the fields of a form or the query of a link describe.

    Examples
    --------
    >>> state = state_of([("expression", " y(i) = A(i,j)*x(j) "), ("format.A", "csr")])
    >>> state.expression, state.formats
    ('y(i) = A(i,j)*x(j)', (('A', 'csr'),))
    >>> state.query
    'expression=y%28i%29+%3D+A%28i%2Cj%29%2Ax%28j%29&format.A=csr'
    """
    fields = dict(pairs)
    expression = " ".join(fields.get("expression", "").splitlines())  # a long one may be typed in several lines
    expression = _checked("expression", expression, EXPRESSION_LENGTH)
    schedule = _checked("schedule", fields.get("schedule", "").replace("\r\n", "\n"), SCHEDULE_LENGTH, "\n")
    chosen = {key.removeprefix(_PREFIX): value for key, value in fields.items() if key.startswith(_PREFIX)}
    if len(chosen) > 2 * MOST_TENSORS:
        raise RefusedError("formats", f"the playground takes at most {MOST_TENSORS} tensors")
    for name, format in chosen.items():
        _checked("formats", name, _NAME_LENGTH)
        _checked("formats", format, _NAME_LENGTH)
    return State(expression, tuple(chosen.items()), schedule)


def _checked(field: str, text: str, most: int, allowed: str = "") -> str:
    text = text.strip()
    if len(text) > most:
        raise RefusedError(field, f"the text has {len(text)} characters; the playground takes at most {most}")
    bad = next((char for char in text if not char.isprintable() and char not in allowed), None)
    if bad is not None:
        raise RefusedError(field, f"the text contains the control character {bad!r}")
    return text
