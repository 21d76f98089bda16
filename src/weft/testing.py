"""Assertions on tensors for tests, under the names of ``numpy.testing``; nothing is made dense.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
>>> weft.testing.assert_allclose(A * (1 + 1e-9), A.tocsc())
>>> try:
...     weft.testing.assert_equal(A, A.T)
... except AssertionError as error:
...     print(error)
Tensors are not equal
2 of 4 elements differ:
(0, 1): 1.0 is not 2.0
(1, 0): 2.0 is not 1.0
"""

from __future__ import annotations

from typing import Any

from .numpy_api.comparing import isclose
from .numpy_api.ufuncs import apply
from .tensor import SparseTensor, asarray

__all__ = ["assert_allclose", "assert_equal"]

_SHOWN = 5


def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float = 1e-07,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = "",
    verbose: bool = True,
) -> None:
    """Raise if an element is further than ``atol + rtol * abs(desired)`` from the desired one.

    Parameters
    ----------
    actual, desired : array_like
        Tensors of any format, arrays, SciPy's and sparse's arrays, or numbers.
    rtol, atol : float
        The relative and the absolute tolerance.
    equal_nan : bool
        True if two NaN are close.
    err_msg : str
        Text for the error.
    verbose : bool
        True to show elements that differ.

    Raises
    ------
    AssertionError
        When shapes or elements differ.

    Examples
    --------
    >>> import weft
    >>> A = weft.eye(3, format="csr")
    >>> weft.testing.assert_allclose(A, A + 1e-9 * A)
    """
    first, second = _operands(actual, desired, err_msg)
    near = isclose(first, second, rtol=rtol, atol=atol, equal_nan=equal_nan)
    title = f"Tensors are not equal to tolerance rtol={rtol:g}, atol={atol:g}"
    _require(near, first, second, title, "is not close to", err_msg, verbose)


def assert_equal(actual: Any, desired: Any, err_msg: str = "", verbose: bool = True) -> None:
    """Raise if two tensors have another shape, or elements that are not equal; two NaN are equal.

    Parameters
    ----------
    actual, desired : array_like
        Tensors of any format, arrays, SciPy's and sparse's arrays, or numbers.
    err_msg : str
        Text for the error.
    verbose : bool
        True to show elements that differ.

    Raises
    ------
    AssertionError
        When shapes or elements differ.

    Examples
    --------
    >>> import weft
    >>> A = weft.eye(3, format="csr")
    >>> weft.testing.assert_equal(A, A.tocoo())
    """
    first, second = _operands(actual, desired, err_msg)
    equal = apply("equal", (first, second))
    if first.dtype.kind in "fc" and second.dtype.kind in "fc":
        equal = apply(
            "logical_or", (equal, apply("logical_and", (apply("isnan", (first,)), apply("isnan", (second,)))))
        )
    _require(equal, first, second, "Tensors are not equal", "is not", err_msg, verbose)


def _operands(actual: Any, desired: Any, err_msg: str) -> tuple[SparseTensor, SparseTensor]:
    first, second = asarray(actual), asarray(desired)
    if first.shape != second.shape and first.ndim and second.ndim:  # as in NumPy, a number stands for all elements
        raise AssertionError(_lines(f"Shapes differ: {first.shape} and {second.shape}", err_msg))
    return first, second


def _require(
    holds: Any, first: SparseTensor, second: SparseTensor, title: str, verb: str, err_msg: str, verbose: bool
) -> None:
    wrong = asarray(apply("logical_not", (holds,)))
    count = int(wrong.sum())
    if not count:
        return
    lines = [_lines(title, err_msg), f"{count} of {wrong.size} elements differ:"]
    places = zip(*(axis[:_SHOWN].tolist() for axis in wrong.nonzero()), strict=True) if wrong.ndim else [()]
    for place in places if verbose else ():
        a, b = (x[place] if x.ndim else x.item() for x in (first, second))
        lines.append(f"{place}: {a} {verb} {b}")
    if verbose and count > _SHOWN:
        lines.append(f"... and {count - _SHOWN} more")
    raise AssertionError("\n".join(lines))


def _lines(title: str, err_msg: str) -> str:
    return f"{title}\n{err_msg}" if err_msg else title
