"""The attribute query language (2020 paper, section 5): what conversions, and users, ask about a tensor's structure."""

from .canonical import canonical
from .nodes import Aggregate, Query
from .parser import parse
from .statement import Map, Reference, Statement, Width
from .table1_rewrites import (
    SourceFacts,
    counter_to_histogram,
    fold_constants,
    inline_temporary,
    optimize,
    reduction_to_assign,
    simplify_width_count,
)

__all__ = [
    "Aggregate",
    "Map",
    "Query",
    "Reference",
    "SourceFacts",
    "Statement",
    "Width",
    "canonical",
    "counter_to_histogram",
    "fold_constants",
    "inline_temporary",
    "optimize",
    "parse",
    "reduction_to_assign",
    "simplify_width_count",
]
