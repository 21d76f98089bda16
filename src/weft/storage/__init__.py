"""Level arrays of one tensor: their holder, their invariants, storage of coordinates, and iteration over levels."""

from .coordinates import coordinate_format, coordinate_storage
from .entry_order import segment_order
from .hierarchy import Walk, entries
from .invariants import check
from .shapes import checked_shape
from .storage import Storage, current, fill_of, is_far_longer, tensor_type
from .transfers import in_transfer

__all__ = [
    "Storage",
    "Walk",
    "check",
    "checked_shape",
    "coordinate_format",
    "coordinate_storage",
    "current",
    "entries",
    "fill_of",
    "in_transfer",
    "is_far_longer",
    "segment_order",
    "tensor_type",
]
