"""Formats: level formats, their compositions, and the catalogue (2018 paper, section 3)."""

from .catalogue import FormatLike, formats, name_of, parse_format, register_format
from .format import Format, TensorType
from .level import LevelFormat, LevelVars
from .levels import (
    Banded,
    Compressed,
    Dense,
    Growable,
    Hashed,
    InterleavedCompressed,
    InterleavedSingleton,
    Jagged,
    Offset,
    Picked,
    Range,
    Singleton,
    Sliced,
    Slots,
    Squeezed,
    Window,
)

__all__ = [
    "Banded",
    "Compressed",
    "Dense",
    "Format",
    "FormatLike",
    "Growable",
    "Hashed",
    "InterleavedCompressed",
    "InterleavedSingleton",
    "Jagged",
    "LevelFormat",
    "LevelVars",
    "Offset",
    "Picked",
    "Range",
    "Singleton",
    "Sliced",
    "Slots",
    "Squeezed",
    "TensorType",
    "Window",
    "formats",
    "name_of",
    "parse_format",
    "register_format",
]
