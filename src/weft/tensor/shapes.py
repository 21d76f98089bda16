"""Shapes that broadcast, of any size: NumPy refuses those with more elements than an array can have."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["broadcast_shapes"]


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Parameters
    ----------
    *shapes : int or tuple of int
        Any number of shapes.

    Raises
    ------
    ValueError
        When they do not broadcast.

    Examples
    --------
    >>> broadcast_shapes((10**12, 1, 10**12), (7, 1))
    (1000000000000, 7, 1000000000000)
    """
    given = [(shape,) if isinstance(shape, int) else tuple(map(int, shape)) for shape in shapes]
    if not given or all(shape == given[0] for shape in given):
        return given[0] if given else ()
    axes = max(map(len, given))
    found = [1] * axes
    first: list[int] = [0] * axes
    for k, shape in enumerate(given):
        for axis, size in enumerate(shape, axes - len(shape)):
            if size in (1, found[axis]):
                continue
            if found[axis] != 1:
                n = first[axis]
                raise ValueError(
                    "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between "
                    f"arg {n} with shape {given[n]} and arg {k} with shape {shape}."
                )
            found[axis], first[axis] = size, k
    return tuple(found)
