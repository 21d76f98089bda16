"""Formats: level formats, their compositions, and the catalogue (2018 paper, section 3)."""

from .catalogue import FormatLike, formats, name_of, parse_format, register_format
from .format import Format, TensorType
from .level import LevelFormat, LevelVars
from .levels import Compressed, Dense, Singleton

__all__ = [
    "Compressed",
    "Dense",
    "Format",
    "FormatLike",
    "LevelFormat",
    "LevelVars",
    "Singleton",
    "TensorType",
    "formats",
    "name_of",
    "parse_format",
    "register_format",
]
