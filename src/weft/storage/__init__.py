"""Level arrays of one tensor: their holder, their invariants, coordinates as such storage, and a walk over it."""

from .coordinates import coordinate_format, coordinate_storage, segment_order
from .invariants import check
from .storage import Storage, checked_shape, fill_of, is_far_longer, tensor_type
from .walk import Walk, entries

__all__ = [
    "Storage",
    "Walk",
    "check",
    "checked_shape",
    "coordinate_format",
    "coordinate_storage",
    "entries",
    "fill_of",
    "is_far_longer",
    "segment_order",
    "tensor_type",
]
