"""Checks of the shapes of new tensors."""

from __future__ import annotations

from ..dtypes import INT64_MAX
from ..errors import ShapeError

__all__ = ["checked_shape"]


def checked_shape(shape: tuple[int, ...], what: str = "a tensor") -> tuple[int, ...]:
    """Return the shape of a new tensor, after a check that 64-bit integers can count along each axis.

    Parameters
    ----------
    shape : tuple of int
        The shape.
    what : str, optional
        The operation or the tensor, for the message.

    Raises
    ------
    ShapeError
        If an axis has more elements than 64-bit integers count.
    """
    if shape and max(shape) > INT64_MAX:
        raise ShapeError(
            f"{what} has shape {shape}, with an axis of {max(shape)} elements; 64-bit integers count up to {INT64_MAX}"
        )
    return shape
