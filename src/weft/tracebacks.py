"""Tracebacks of a user's own mistakes, which end where the user called weft.

Several functions inside weft read and check the arguments of a public function, and say nothing to the user. So the
public function drops them from the tracebacks of weft's errors: with :func:`end_at_caller` and ``raise``, which cost
nothing until there is an error, or as a function that :func:`ends_at_caller` decorates. ``config.full_tracebacks``
keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from .config import config
from .errors import LoweringError, ResultTooLargeError, WeftError

_Function = TypeVar("_Function", bound=Callable[..., Any])


def end_at_caller(error: WeftError) -> None:
    """Drop the frames that an error has passed, so that ``raise`` goes on at the caller; bugs of weft keep theirs."""
    if not (config.full_tracebacks or isinstance(error, LoweringError)):
        error.__traceback__ = None


def tell_operands(error: WeftError, what: str, operands: Mapping[str, Any]) -> None:
    """Add what was computed to an error on a size, with the shapes and formats of operands, unless it says so."""
    if not isinstance(error, ResultTooLargeError) or ", with " in str(error):
        return
    told = list[str]()
    for name, x in operands.items():
        with suppress(WeftError, AttributeError):  # a lazy tensor may be what is too large
            told.append(f"{name}: {x.shape} {getattr(x, 'format', 'dense')}")
    if told:
        error.args = (f"{error}; in {what}, with {', '.join(told)}",)


def ends_at_caller(function: _Function) -> _Function:
    """Return a function whose errors have tracebacks that end at its caller; it should be slower than one more call."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except WeftError as error:
            end_at_caller(error)
            names = [*signature(function).parameters]
            of = dict(zip(names, arguments, strict=False)) | named
            tell_operands(error, f"{function.__name__}({', '.join(of)})", of)
            raise

    return call  # type: ignore[return-value]
