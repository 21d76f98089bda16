"""Typed errors, which repeat the user's input and derive from the built-in error that a NumPy user would catch."""

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
    """Base class of all errors that weft raises on purpose."""


class NotationError(WeftError, ValueError):
    """Error for text that does not parse, or whose meaning is not valid.

    Parameters
    ----------
    message : str
        The reason of the error.
    text : str, optional
        The user's text, which is shown with a caret under ``position``.
    position : int, optional
        The offset of the invalid character in ``text``.
    """

    def __init__(self, message: str, text: str | None = None, position: int | None = None):
        self.text, self.position = text, position
        if text is not None:
            message = f"{message}\n  {text}"
            if position is not None:
                message += "\n  " + " " * position + "^"
        super().__init__(message)


class ShapeError(WeftError, ValueError):
    """Error for shapes, numbers of axes or numbers of operands that do not fit together."""


class FormatError(WeftError, ValueError):
    """Error for a format that does not exist, or does not fit the tensor or the operation."""


class StorageError(WeftError, ValueError):
    """Error for level arrays that break an invariant of their format."""


class FileFormatError(WeftError, ValueError):
    """Error for a file that is not valid for its kind; the message has the number of the line if there are lines."""


class DTypeError(WeftError, TypeError):
    """Error for a dtype that weft does not compute with, or for a conversion that would lose precision."""


class DensifyError(WeftError, TypeError):
    """Error for an implicit conversion to a dense array, which weft never makes."""


class UnsupportedError(WeftError, NotImplementedError):
    """Error for a function without a meaning for sparse tensors; the message says what to use instead."""


class ScheduleError(WeftError, ValueError):
    """Error for a scheduling command that cannot be applied; the message says why."""


class LoweringError(WeftError, RuntimeError):
    """Error for a statement that the compiler cannot lower, which is always a bug in weft."""


class CompilerError(WeftError, RuntimeError):
    """Error for a missing C compiler, or for a compiler that failed."""


class NotCompiledError(CompilerError):
    """Error for a kernel that is neither shipped nor in the cache, and may not or cannot be compiled."""


class MissingPackageError(WeftError, ImportError):
    """Error for an optional package that is not installed; the message names the extra that installs it."""


class ResultTooLargeError(WeftError, MemoryError):
    """Error for a result that would not fit in memory."""


class IndexOverflowError(WeftError, OverflowError):
    """Error for a coordinate or position that its index dtype cannot hold."""
