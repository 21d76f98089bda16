"""Coordinate remapping notation (2020 paper, section 4): how a format's levels see a tensor's axes."""

from .nodes import Axis, Binary, Constant, Counter, Extent, IndexExpr
from .remapping import Remapping, inverse_permutation

__all__ = ["Axis", "Binary", "Constant", "Counter", "Extent", "IndexExpr", "Remapping", "inverse_permutation"]
