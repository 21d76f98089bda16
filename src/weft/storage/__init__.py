"""Level arrays of one tensor: what holds them, what they must satisfy, and coordinates as such storage."""

from .coordinates import coordinate_storage, segment_order
from .invariants import check
from .storage import Storage, fill_of, tensor_type

__all__ = ["Storage", "check", "coordinate_storage", "fill_of", "segment_order", "tensor_type"]
