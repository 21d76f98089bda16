"""The kernel that the page shows outside the page: as Python, and as a command line that prints its C."""

from __future__ import annotations

import json
import keyword
import shlex
from collections.abc import Mapping, Sequence
from textwrap import wrap

from ..scheduling.commands import Command

_WIDTH = 64  # of the card that shows the code
_ARGUMENTS = ("dtypes", "schedule")  # of weft.compile, so that no tensor of such a name can have a format


def python_code(
    expression: str, operands: Sequence[str], result: str, formats: Mapping[str, str], commands: Sequence[Command]
) -> str:
    """Return Python that compiles the kernel and prints its C.

    Examples
    --------
    >>> print(python_code("y(i) = A(i,j)*x(j)", ("A", "x"), "y", {"A": "csr"}, ()))
    import weft
    <BLANKLINE>
    kernel = weft.compile("y(i) = A(i,j)*x(j)", A="csr")
    print(kernel.source)  # the C
    # y = kernel(A=A, x=x) computes it
    """
    if taken := _taken(formats):
        return f"# {taken}"
    plain = {name: text for name, text in formats.items() if name.isidentifier() and not keyword.iskeyword(name)}
    others = {name: text for name, text in formats.items() if name not in plain}
    named = [f"{name}={_quoted(text)}" for name, text in plain.items()]
    named += [f"**{json.dumps(others, ensure_ascii=False)}"] if others else []
    calls = "".join(f"\n        {command.python}" for command in commands)
    loops = [f"schedule=lambda loops: loops{calls}"] if commands else []
    call = f"kernel = weft.compile({', '.join([_quoted(expression), *named, *loops])})"
    if len(call) > _WIDTH or commands:
        lines = [_quoted(expression), *wrap(", ".join(named), _WIDTH - 5), *loops]
        call = "\n    ".join(["kernel = weft.compile(", *(f"{line.removesuffix(',')}," for line in lines)]) + "\n)"
    given = ", ".join(f"{name}={name}" for name in operands)
    return f"import weft\n\n{call}\nprint(kernel.source)  # the C\n# {result} = kernel({given}) computes it"


def command_line(expression: str, formats: Mapping[str, str], commands: Sequence[Command]) -> str:
    """Return the command that prints the C of the kernel.

    Examples
    --------
    >>> print(command_line("y(i) = A(i,j)*x(j)", {"A": "csr", "y": "dense"}, ()))
    weft "y(i) = A(i,j)*x(j)" -f A:csr -f y:dense
    """
    if taken := _taken(formats):
        return f"# {taken}"
    words = [_for_shell(expression)]
    words += [f"-f {shlex.quote(f'{name}:{text}')}" for name, text in formats.items()]
    words += [f"--schedule {_for_shell('; '.join(map(str, commands)))}"] if commands else []
    return f"weft {' '.join(words)}"


def _taken(formats: Mapping[str, str]) -> str:
    return next(
        (f"weft.compile has an argument {name}: give the tensor {name} another name"
         for name in formats if name in _ARGUMENTS),
        "",
    )  # fmt: skip


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _for_shell(text: str) -> str:
    """Return a text as a word of a shell, in double quotes, which most shells know, unless it needs others."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'
