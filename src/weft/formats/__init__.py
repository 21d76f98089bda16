"""Formats: level formats, their compositions, and the catalogue (2018 paper, section 3)."""

from . import levels
from .capabilities import (
    Append,
    ArrayEditing,
    ChildlessEdges,
    ComputedCoordinates,
    CurveOrder,
    ElementLookup,
    GrowingSegments,
    HashTable,
    Insertion,
    Locate,
    PositionIteration,
    PositionTiles,
    QueriedEdges,
    SequencedEdges,
    SharedPositions,
    ShiftedEdges,
    UnsequencedEdges,
    ValueIteration,
    WholeLookup,
)
from .catalogue import (
    FormatLike,
    FormatName,
    check_keywords,
    formats,
    name_of,
    options_of,
    parse_format,
    register_format,
    shown_name,
)
from .format import Format, TensorType
from .level import LevelFormat, LevelVars
from .levels import *  # noqa: F403
from .options import SYNONYMS, FormatOptions

__all__ = [
    "SYNONYMS",
    "Append",
    "ArrayEditing",
    "ChildlessEdges",
    "ComputedCoordinates",
    "CurveOrder",
    "ElementLookup",
    "Format",
    "FormatLike",
    "FormatName",
    "FormatOptions",
    "GrowingSegments",
    "HashTable",
    "Insertion",
    "LevelFormat",
    "LevelVars",
    "Locate",
    "PositionIteration",
    "PositionTiles",
    "QueriedEdges",
    "SequencedEdges",
    "SharedPositions",
    "ShiftedEdges",
    "TensorType",
    "UnsequencedEdges",
    "ValueIteration",
    "WholeLookup",
    "check_keywords",
    "formats",
    "name_of",
    "options_of",
    "parse_format",
    "register_format",
    "shown_name",
]

__all__ += levels.__all__
