"""Functions of the operator table for which NumPy has no ufunc, with the interface that a row needs.

Like a ufunc, a function computes with arrays. Its method ``resolve_dtypes`` says in which dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import VALUE_DTYPES


class Function:
    """Function of arrays, with a rule for its dtypes."""

    def __init__(
        self,
        name: str,
        compute: Callable[..., Any],
        dtypes: Callable[..., tuple[np.dtype[Any], ...]],
        promotes: bool = False,
    ) -> None:
        self.__name__, self._compute, self._dtypes, self._promotes = name, compute, dtypes, promotes

    def __call__(self, *args: Any) -> Any:
        """Return the value; for scalars a NumPy scalar, as a ufunc does."""
        found = self._compute(*map(np.asarray, args))
        return found[()] if isinstance(found, np.ndarray) else found

    def resolve_dtypes(self, dtypes: tuple[Any, ...]) -> tuple[np.dtype[Any], ...]:
        """Return the dtypes of the operands and of the result, like the method of a ufunc.

        ``dtypes`` ends with None for the result. ``int``, ``float`` and ``complex`` mean int64, float64 and complex128,
        unless the function promotes its operands.
        """
        return self._dtypes(*(dtypes[:-1] if self._promotes else map(np.dtype, dtypes[:-1])))

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


def _part(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], ...]:
    return dtype, np.empty(0, dtype).real.dtype


def _same(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], ...]:
    return dtype, dtype


real = Function("real", np.real, _part)
imag = Function("imag", np.imag, _part)
as_it_is = Function("as_it_is", lambda x: x, _same)
nan_as_zero = Function("nan_as_zero", lambda x: np.where(np.isnan(x), x.dtype.type(0), x), _same)
nan_as_one = Function("nan_as_one", lambda x: np.where(np.isnan(x), x.dtype.type(1), x), _same)

select = Function(
    "select",
    lambda chosen, x: np.where(chosen, x, x.dtype.type(0)),
    lambda chosen, dtype: (np.dtype(bool), dtype, dtype),
)
"""The second operand if the first is true, else zero: a product that leaves infinity and NaN unchanged."""

kept = Function("kept", select._compute, select._dtypes)
"""The same, of which the elements where the first operand is false have no entries."""

where = Function(
    "where", np.where, lambda _, yes, no: (np.dtype(bool), *np.maximum.resolve_dtypes((yes, no, None))), True
)
"""The second operand if the first is true, else the third."""

left = Function(
    "left", lambda x, other: np.broadcast_arrays(x, other)[0], lambda dtype, other: (dtype, np.dtype(bool), dtype)
)
"""The first operand; the result has an entry wherever one of the two operands has one."""


def _conversion(name: str) -> Function:
    wanted = np.dtype(name)

    def compute(x: Any) -> Any:
        # As in C: real parts are converted, without the warning of NumPy.
        return (x.real if x.dtype.kind == "c" and wanted.kind in "iuf" else x).astype(wanted)

    return Function(name, compute, lambda dtype: (dtype, wanted))


CONVERSIONS: tuple[Function, ...] = tuple(map(_conversion, VALUE_DTYPES))


def _repetition(op: str, compute: Callable[..., Any]) -> Function:
    return Function(f"repeat_{op}", compute, lambda count, dtype: (np.dtype(np.int64), dtype, dtype))


def _logical(op: str, compute: Callable[..., Any]) -> Function:
    of_bool = np.dtype(bool)
    return Function(f"repeat_{op}", compute, lambda count, dtype: (np.dtype(np.int64), of_bool, of_bool))


def _bitwise(op: str, compute: Callable[..., Any]) -> Function:
    def dtypes(count: Any, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], ...]:
        np.bitwise_and.resolve_dtypes((dtype, dtype, None))  # raises an error for dtypes without bitwise operators
        return np.dtype(np.int64), dtype, dtype

    return Function(f"repeat_{op}", compute, dtypes)


def _if_odd(count: Any, x: Any) -> Any:
    return np.where(count & 1, x, x.dtype.type(0))


def _imaginary(part: Any, dtype: np.dtype[Any]) -> Any:
    found = np.zeros(part.shape, dtype)
    found.imag = part
    return found


def _times(count: Any, x: Any) -> Any:
    if x.dtype == bool:
        return (count > 0) & x
    if x.dtype.kind == "c":  # by parts: infinity times zero is NaN
        return _times(count, x.real) + _imaginary(_times(count, x.imag), x.dtype)
    # No copies give 0, also of infinity and NaN.
    return np.where(count == 0, x.dtype.type(0), count.astype(x.dtype) * x)


def _power(count: Any, x: Any) -> Any:
    match x.dtype.kind:
        case "b":
            return (count == 0) | x
        case "i" | "u":  # modulo a power of two, so that the unsigned power has the bits of the signed one
            return np.power(x.astype(np.uint64), count.astype(np.uint64)).astype(x.dtype)
    return np.power(x, count.astype(np.float64)).astype(x.dtype)


def repetitions(start: Callable[[str, str], Any]) -> dict[str, Function]:
    """Return the functions that repeat an operator, by operator."""

    def or_start(op: str) -> Callable[..., Any]:
        """Return the repetition of an idempotent operator.

        One or more copies of an operand give the operand. No copies give the start of a reduction.
        """
        return lambda count, x: np.where(count == 0, np.asarray(start(op, x.dtype.name), x.dtype), x)

    return {
        # A sum of k copies is a product with k, and a product of k copies is a power.
        "add": _repetition("add", _times),
        "multiply": _repetition("multiply", _power),
        **{op: _repetition(op, or_start(op)) for op in ("minimum", "maximum", "fmin", "fmax")},
        **{op: _bitwise(op, or_start(op)) for op in ("bitwise_and", "bitwise_or")},
        # Pairs of copies cancel.
        "bitwise_xor": _bitwise("bitwise_xor", _if_odd),
        **{op: _logical(op, or_start(op)) for op in ("logical_and", "logical_or")},
        "logical_xor": _logical("logical_xor", _if_odd),
    }
