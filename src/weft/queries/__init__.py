"""The attribute query language (2020 paper, section 5): what conversions, and users, ask about a tensor's structure.

Level formats are made with queries, so ``import weft`` loads this package; ``parser``, ``canonical`` and
``table1_rewrites`` come with what asks them.
"""

from .nodes import Aggregate, Query
from .statement import Map, Reference, Statement, Width

__all__ = ["Aggregate", "Map", "Query", "Reference", "Statement", "Width"]
