"""Typed errors: every one repeats what the user wrote and derives from the built-in a NumPy user would catch."""

from __future__ import annotations

__all__ = [
    "CompilerError",
    "DTypeError",
    "DensifyError",
    "FileFormatError",
    "FormatError",
    "IndexOverflowError",
    "LoweringError",
    "MissingPackageError",
    "NotationError",
    "ResultTooLargeError",
    "ScheduleError",
    "ShapeError",
    "StorageError",
    "UnsupportedError",
    "WeftError",
]


class WeftError(Exception):
    """Base class of every error that weft raises on purpose."""


class NotationError(WeftError, ValueError):
    """Text that does not parse, or that parses to something without a meaning.

    Parameters
    ----------
    message : str
        What is wrong.
    text : str, optional
        The user's text; it is shown with a caret under ``position``.
    position : int, optional
        Offset into ``text`` of the offending character.
    """

    def __init__(self, message: str, text: str | None = None, position: int | None = None):
        self.text, self.position = text, position
        if text is not None:
            message = f"{message}\n  {text}"
            if position is not None:
                message += "\n  " + " " * position + "^"
        super().__init__(message)


class ShapeError(WeftError, ValueError):
    """Shapes, ranks or operand counts that do not fit together."""


class FormatError(WeftError, ValueError):
    """A format that does not exist, or does not fit the tensor or the operation."""


class StorageError(WeftError, ValueError):
    """Level arrays that break an invariant of their format."""


class FileFormatError(WeftError, ValueError):
    """A file that is not what its kind of file is; the message has the line where there is one."""


class DTypeError(WeftError, TypeError):
    """A dtype weft does not compute with, or one that would lose precision."""


class DensifyError(WeftError, TypeError):
    """An implicit conversion to a dense array, which weft never makes."""


class UnsupportedError(WeftError, NotImplementedError):
    """A function that has no sparse meaning; the message says what to use instead."""


class ScheduleError(WeftError, ValueError):
    """A scheduling command that cannot be applied; the message says why."""


class LoweringError(WeftError, RuntimeError):
    """A statement the compiler cannot lower: a bug in weft, never the user's fault."""


class CompilerError(WeftError, RuntimeError):
    """There is no C compiler, or it failed."""


class NotCompiledError(CompilerError):
    """A kernel is neither shipped nor in the cache, and may not or cannot be compiled."""


class MissingPackageError(WeftError, ImportError):
    """An optional package that is not installed; the message names the extra that brings it."""


class ResultTooLargeError(WeftError, MemoryError):
    """A result that would not fit in memory."""


class IndexOverflowError(WeftError, OverflowError):
    """A coordinate or position that its index dtype cannot hold."""
