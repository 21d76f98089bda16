"""Shapes and kinds of tensors, and the broadcasting of shapes.

Shapes broadcast whatever their size. NumPy refuses shapes of more than 2^63 elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .operands import as_operand


def shape(a: Any) -> tuple[int, ...]:
    """Return the sizes of the axes.

    Parameters
    ----------
    a : object
        A tensor, an array, a sequence or a number.

    Raises
    ------
    TypeError
        If weft does not take the object.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.shape(A)
    (2, 2)
    """
    operand = as_operand(a)
    if operand is None:
        raise TypeError(f"weft takes tensors, arrays and numbers, not {type(a).__name__}")
    return operand.storage.shape


def ndim(a: Any) -> int:
    """Return the number of axes.

    Parameters
    ----------
    a : object
        A tensor, an array, a sequence or a number.

    Raises
    ------
    TypeError
        If weft does not take the object.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.ndim(A)
    2
    """
    return len(shape(a))


def size(a: Any, axis: int | None = None) -> int:
    """Return the number of elements, or of those along an axis.

    Parameters
    ----------
    a : object
        A tensor, an array, a sequence or a number.
    axis : int, optional
        The axis; by default all elements are counted.

    Raises
    ------
    TypeError
        If weft does not take the object.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.size(A), A.nnz
    (4, 2)
    """
    return math.prod(shape(a)) if axis is None else shape(a)[axis]


def iscomplexobj(x: Any) -> bool:
    """Return whether the elements are complex numbers.

    Parameters
    ----------
    x : object
        A tensor, an array, a sequence or a number.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.iscomplexobj(A), weft.iscomplexobj(1j * A)
    (False, True)
    """
    operand = as_operand(x)
    return operand is not None and operand.storage.dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    """Return whether the elements are not complex numbers.

    Parameters
    ----------
    x : object
        A tensor, an array, a sequence or a number.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> weft.isrealobj(A), weft.isrealobj(1j * A)
    (True, False)
    """
    return not iscomplexobj(x)


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """Return the shape to which arrays of these shapes broadcast.

    Parameters
    ----------
    *shapes : int or tuple of int
        Any number of shapes.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> broadcast_shapes((10**12, 1, 10**12), (7, 1))
    (1000000000000, 7, 1000000000000)
    """
    tuples = [(one,) if isinstance(one, int) else tuple(map(int, one)) for one in shapes]
    if not tuples or all(one == tuples[0] for one in tuples):
        return tuples[0] if tuples else ()
    axes = max(map(len, tuples))
    result = [1] * axes
    first: list[int] = [0] * axes  # the shape that decided each axis, for the message
    for k, one in enumerate(tuples):
        # Shapes align at their last axes.
        for axis, length in enumerate(one, axes - len(one)):
            if length in (1, result[axis]):
                continue
            if result[axis] != 1:
                n = first[axis]
                raise ValueError(
                    "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between "
                    f"arg {n} with shape {tuples[n]} and arg {k} with shape {one}."
                )
            result[axis], first[axis] = length, k
    return tuple(result)
