"""Scheduling commands as text, which are read and applied but never evaluated as Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..errors import NotationError
from ..hints import did_you_mean
from ..records import record
from .user_schedule import LoopNest

_USAGE = {
    "reorder": "reorder(k, j)",
    "precompute": "precompute(A(i,j)*B(j,k), k, name=w)",
    "split": "split(i, i0, i1, 32)",
    "parallelize": "parallelize(i0)",
    "positions": "positions(A, 2)",
}
_START = re.compile(r"[\s.;]*([A-Za-z_]*)\s*(\(?)")
_VARIABLE = re.compile(r"[A-Za-z_]\w{0,19}", re.ASCII)
_LARGEST_BLOCK = 1 << 20


@record
class Command:
    """One scheduling command."""

    name: str  # the name of the method of :class:`LoopNest`
    arguments: tuple[str, ...]  # Its arguments as they are written, without quotes
    line: str  # the line of the text that it stands in
    position: int  # the place in this line at which it begins

    def error(self, message: str) -> NotationError:
        """Return an error with a caret under the command."""
        return NotationError(message, self.line, self.position)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"

    @property
    def python(self) -> str:
        """The call of the method, as Python.

        Examples
        --------
        >>> [command.python for command in parse_commands("split(i, i0, i1, 32); precompute(A(i)*B(i), i)")]
        ['.split("i", "i0", "i1", 32)', '.precompute("A(i)*B(i)", "i", name="w")']
        """
        values = [arg if arg.isdecimal() else f'"{arg}"' for arg in self.arguments]
        if self.name == "precompute":
            names, name = self.workspace
            values = [f'"{arg}"' for arg in (self.arguments[0], *names)] + [f'name="{name}"']
        return f".{self.name}({', '.join(values)})"

    @property
    def workspace(self) -> tuple[tuple[str, ...], str]:
        """The variables and the name of the workspace of ``precompute``."""
        names = tuple(arg for arg in self.arguments[1:] if "=" not in arg)
        named = (arg.partition("=")[2].strip().strip("\"'") for arg in self.arguments[1:] if "=" in arg)
        return names, next(named, "w")


def parse_commands(text: str) -> tuple[Command, ...]:
    """Return the scheduling commands of a text.

    Examples
    --------
    >>> [(command.name, command.arguments) for command in parse_commands("reorder(k, j).parallelize('k')")]
    [('reorder', ('k', 'j')), ('parallelize', ('k',))]
    >>> parse_commands("tile(i)")
    Traceback (most recent call last):
    weft.errors.NotationError: there is no command 'tile'; write split(i, i0, i1, 32) or another of the five
      tile(i)
      ^
    """
    return tuple(command for line in text.splitlines() for command in _commands_of(line))


def _commands_of(line: str) -> Iterator[Command]:
    at = 0
    while line[at:].strip(" \t.;"):
        start = _START.match(line, at)
        assert start is not None  # every part of the pattern may be empty
        name, place = start[1], start.start(1)
        if name not in _USAGE:
            hint = did_you_mean(name, _USAGE) or f"; write {_USAGE['split']} or another of the five"
            named = f"there is no command {name!r}" if name else "a command is expected here"
            raise NotationError(f"{named}{hint}", line, place)
        if not start[2]:
            raise NotationError(f"{name} takes arguments: {_USAGE[name]}", line, start.end(1))
        end = _closing(line, start.end())
        yield Command(name, _arguments(line[start.end() : end]), line, place)
        at = end + 1


def _closing(line: str, start: int) -> int:
    """Return the place of the parenthesis that closes the one before ``start``."""
    depth = 1
    for place in range(start, len(line)):
        depth += {"(": 1, ")": -1}.get(line[place], 0)
        if depth == 0:
            return place
    raise NotationError("this parenthesis is not closed", line, start - 1)


def _arguments(text: str) -> tuple[str, ...]:
    """Split a text at the commas outside parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(part.strip().strip("\"'").strip() for part in parts)


def scheduler(commands: tuple[Command, ...]) -> Callable[[LoopNest], LoopNest] | None:
    """Return the function that changes the automatic schedule by commands; None if there are none."""
    steps = [_step(command) for command in commands]
    if not steps:
        return None

    def changed(loops: LoopNest) -> LoopNest:
        for step in steps:
            loops = step(loops)
        return loops

    return changed


def _step(command: Command) -> Callable[[LoopNest], LoopNest]:
    args = command.arguments
    if command.name == "precompute":
        names, name = command.workspace
        if args[0] and all(map(_VARIABLE.fullmatch, (*names, name))):
            return lambda loops: loops.precompute(args[0], *names, name=name)
    elif command.name == "split":
        numeric = len(args) == 4 and args[3].isascii() and args[3].isdecimal() and len(args[3]) < 10
        if numeric and all(map(_VARIABLE.fullmatch, args[:3])):
            if not 1 <= int(args[3]) <= _LARGEST_BLOCK:
                raise command.error(f"a block has between 1 and {_LARGEST_BLOCK} iterations")
            return lambda loops: loops.split(args[0], args[1], args[2], int(args[3]))
    elif command.name == "positions":
        if len(args) == 2 and _VARIABLE.fullmatch(args[0]) and args[1].isascii() and args[1].isdecimal():
            return lambda loops: loops.positions(args[0], int(args[1]))
    elif command.name == "parallelize":
        if len(args) == 1 and _VARIABLE.fullmatch(args[0]):
            return lambda loops: loops.parallelize(args[0])
    elif all(map(_VARIABLE.fullmatch, args)):
        return lambda loops: loops.reorder(*args)
    raise command.error(f"{command.name} takes arguments such as {_USAGE[command.name]}")
