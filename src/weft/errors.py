"""Typed errors, which repeat the user's input and derive from the built-in error that a NumPy user would catch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .hints import did_you_mean

__all__ = [
    "CompilerError",
    "DTypeError",
    "DensifyError",
    "DensifyWarning",
    "DeviceError",
    "FileFormatError",
    "FormatError",
    "IndexOverflowError",
    "LoweringError",
    "MissingNameError",
    "MissingPackageError",
    "NotCompiledError",
    "NotationError",
    "ResultTooLargeError",
    "ScheduleError",
    "ShapeError",
    "StorageError",
    "UnsupportedError",
    "WeftError",
]


class WeftError(Exception):
    """Base class of all errors that weft raises on purpose.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.einsum("ij,jk->", [[1.0]])
    ... except weft.WeftError as error:
    ...     print(type(error).__name__)
    ShapeError
    """


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

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.evaluate("y(i) = A(i,j) x(j)", A=weft.eye(2), x=[1.0, 2.0])
    ... except weft.errors.NotationError as error:
    ...     print(error)
    expected an operator or the end, not 'x'
      y(i) = A(i,j) x(j)
                    ^
    """

    def __init__(self, message: str, text: str | None = None, position: int | None = None):
        self.text, self.position = text, position
        if text is not None:
            message = f"{message}\n  {text}"
            if position is not None:
                message += "\n  " + " " * position + "^"
        super().__init__(message)


class ShapeError(WeftError, ValueError):
    """Error for shapes, numbers of axes or numbers of operands that do not fit together.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.eye(2, format="csr") @ [1.0, 2.0, 3.0]
    ... except weft.errors.ShapeError as error:
    ...     print(error)
    matmul: the inner sizes differ: (2, 2) csr float64 @ (3,) dense float64
    """


class FormatError(WeftError, ValueError):
    """Error for a format that does not exist, or does not fit the tensor or the operation.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.eye(2, format="crs")
    ... except weft.errors.FormatError as error:
    ...     print(str(error).partition(";")[0])
    no format 'crs'
    """


class StorageError(WeftError, ValueError):
    """Error for level arrays that break an invariant of their format.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.from_levels((2, 2), "csr", [None, {"pos": [0, 1], "crd": [0]}], [1.0])
    ... except weft.errors.StorageError as error:
    ...     print(error)
    level 2 (compressed): pos has 2 entries; 2 parents need 3; the tensor has shape (2, 2) and format csr
    """


class FileFormatError(WeftError, ValueError):
    """Error for a file that is not valid for its kind; the message has the number of the line if there are lines.

    Examples
    --------
    >>> import io, weft.errors
    >>> try:
    ...     weft.read_mtx(io.StringIO("not a matrix"))
    ... except weft.errors.FileFormatError as error:
    ...     print(error)
    not a Matrix Market file that can be read: it does not begin with %%MatrixMarket
    """


class DTypeError(WeftError, TypeError):
    """Error for a dtype that weft does not compute with, or for a conversion that would lose precision.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.asarray(["a", "b"])
    ... except weft.errors.DTypeError as error:
    ...     print(str(error).partition(";")[0])
    weft has no values of dtype <U1
    """


class DensifyError(WeftError, TypeError):
    """Error for an implicit conversion to a dense array, which weft never makes.

    Examples
    --------
    >>> import numpy as np
    >>> import weft.errors
    >>> try:
    ...     np.asarray(weft.eye(2, format="csr"))
    ... except weft.errors.DensifyError as error:
    ...     print(str(error).rpartition("; ")[2])
    A.todense() makes an ndarray of 32 bytes
    """


class DensifyWarning(UserWarning):
    """Warning of a large result, within ``config.max_densify_bytes``, whose elements no operand stores.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import weft.errors
    >>> A = weft.eye(3000, format="csr")
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     dense = A + np.ones((3000, 1))
    >>> caught[0].category is weft.errors.DensifyWarning
    True
    """


class UnsupportedError(WeftError, NotImplementedError):
    """Error for a function without a meaning for sparse tensors; the message says what to use instead.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.linalg.svd(weft.eye(3, format="csr"))
    ... except weft.errors.UnsupportedError as error:
    ...     print(str(error).rpartition("; ")[2])
    use weft.linalg.svds(A), for some of the singular values
    """


class ScheduleError(WeftError, ValueError):
    """Error for a scheduling command that cannot be applied; the message says why.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     formats = {"A": "csr", "x": "dense", "y": "dense"}
    ...     other_order = lambda loops: loops.reorder("j", "i")
    ...     weft.compile("y(i) = A(i,j) * x(j)", **formats, schedule=other_order)
    ... except weft.errors.ScheduleError as error:
    ...     print(str(error).partition(";")[0])
    the loops over j, i are not directly nested in one another
    """


class LoweringError(WeftError, RuntimeError):
    """Error for a statement that the compiler cannot lower, which is always a bug in weft.

    Examples
    --------
    >>> import weft.errors
    >>> issubclass(weft.errors.LoweringError, RuntimeError)
    True
    """


class CompilerError(WeftError, RuntimeError):
    """Error for a missing C compiler, or for a compiler that failed.

    Examples
    --------
    >>> import weft.errors
    >>> issubclass(weft.errors.CompilerError, RuntimeError)
    True
    """


class DeviceError(WeftError, RuntimeError):
    """Error for what a device cannot do, or for operands on different devices; the message says what to do instead.

    Examples
    --------
    >>> import weft.errors
    >>> issubclass(weft.errors.DeviceError, RuntimeError)
    True
    """


class NotCompiledError(CompilerError):
    """Error for a kernel that is neither shipped nor in the cache, and may not or cannot be compiled.

    Examples
    --------
    >>> import weft.errors
    >>> issubclass(weft.errors.NotCompiledError, weft.errors.CompilerError)
    True
    """


class MissingPackageError(WeftError, ImportError):
    """Error for an optional package that is not installed; the message names the extra that installs it.

    Examples
    --------
    >>> import weft.errors
    >>> issubclass(weft.errors.MissingPackageError, ImportError)
    True
    """


class ResultTooLargeError(WeftError, MemoryError):
    """Error for a result that would not fit in memory.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.eye(10**7, format="csr").todense()
    ... except weft.errors.ResultTooLargeError as error:
    ...     print("too large")
    too large
    """


class IndexOverflowError(WeftError, OverflowError):
    """Error for a coordinate or position that its index dtype cannot hold.

    Examples
    --------
    >>> import weft.errors
    >>> issubclass(weft.errors.IndexOverflowError, OverflowError)
    True
    """


class MissingNameError(WeftError, AttributeError):
    """Error for a name that does not exist; the message has the nearest name, or what to write instead.

    Parameters
    ----------
    message : str
        The error without a suggestion.
    name : str, optional
        The name that does not exist.
    known : callable, optional
        A function that returns the names that exist.
    others : mapping, optional
        By names in other packages, the names of the same things in weft, or what to write instead.

    Examples
    --------
    >>> import weft.errors
    >>> try:
    ...     weft.eye(2).to_csr
    ... except weft.errors.MissingNameError as error:
    ...     print(error)
    'SparseTensor' object has no attribute 'to_csr'; did you mean 'tocsr'?
    """

    def __init__(
        self,
        message: str,
        name: str | None = None,
        known: Callable[[], Iterable[str]] = tuple,
        others: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.name = name  # not by keyword: Python would add a suggestion of its own
        self._known, self._others = known, others

    def __str__(self) -> str:
        # Names are compared when the error is shown, since hasattr and the like often read what does not exist.
        message = super().__str__()
        return message if self.name is None else message + did_you_mean(self.name, self._known(), self._others)

    def __reduce__(self) -> tuple[Any, ...]:  # the function that returns the known names may not be picklable
        return type(self), (str(self),)
