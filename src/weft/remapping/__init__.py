"""Coordinate remapping notation: coordinates of levels, computed from those of axes (2020 paper, section 4)."""

from .nodes import Axis, Binary, Constant, Counter, Extent, IndexExpr
from .remapping import Remapping, inverse_permutation

__all__ = ["Axis", "Binary", "Constant", "Counter", "Extent", "IndexExpr", "Remapping", "inverse_permutation"]
