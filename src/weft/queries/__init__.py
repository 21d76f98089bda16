"""The attribute query language: statistics of a tensor's structure (2020 paper, section 5).

Conversions and users query tensors. Level formats are defined with queries, so ``import weft`` loads this package. The
modules ``parser``, ``canonical`` and ``table1_rewrites`` are loaded with the first evaluation of a query.
"""

from .nodes import Aggregate, Query
from .statement import Map, Reference, Statement, Width

__all__ = ["Aggregate", "Map", "Query", "Reference", "Statement", "Width"]
