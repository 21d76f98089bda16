# ruff: noqa: I001
"""The level formats for checkers of types; ``make stubs`` makes this file of the modules beside it."""

from .banded import Banded
from .compressed import Compressed
from .dense import Dense
from .growable import Growable
from .hashed import Hashed
from .hashed import Slots
from .hybrid import Capped
from .hybrid import Spilled
from .interleaved import InterleavedCompressed
from .interleaved import InterleavedSingleton
from .jagged import Jagged
from .morton import Morton
from .offset import Offset
from .range import Range
from .singleton import Singleton
from .sliced import Ragged
from .sliced import Sliced
from .spanned import Spanned
from .squeezed import Bitset
from .squeezed import Squeezed
from .window import Picked
from .window import Window

__all__ = [
    "Banded",
    "Bitset",
    "Capped",
    "Compressed",
    "Dense",
    "Growable",
    "Hashed",
    "InterleavedCompressed",
    "InterleavedSingleton",
    "Jagged",
    "Morton",
    "Offset",
    "Picked",
    "Ragged",
    "Range",
    "Singleton",
    "Sliced",
    "Slots",
    "Spanned",
    "Spilled",
    "Squeezed",
    "Window",
]
