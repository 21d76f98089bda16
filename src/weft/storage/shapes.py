"""Checks of the shapes of new tensors."""

from __future__ import annotations

from ..dtypes import INT64_MAX
from ..errors import ShapeError


def checked_shape(shape: tuple[int, ...], what: str = "a tensor") -> tuple[int, ...]:
    """Return the shape of a new tensor, after a check that 64-bit integers can count along each axis."""
    if shape and max(shape) > INT64_MAX:
        raise ShapeError(
            f"{what} has shape {shape}, with an axis of {max(shape)} elements; 64-bit integers count up to {INT64_MAX}"
        )
    return shape
