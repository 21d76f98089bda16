"""The level formats of the catalogue and of workspaces, one file for each or for a few that belong together."""

from .banded import Banded
from .compressed import Compressed
from .dense import Dense
from .growable import Growable
from .hashed import Hashed, Slots
from .hybrid import Capped, Spilled
from .interleaved import InterleavedCompressed, InterleavedSingleton
from .jagged import Jagged
from .listed import Listed, ListedHashed, Marked, Paired
from .morton import Morton
from .offset import Offset
from .range import Range
from .singleton import Singleton
from .sliced import Sliced
from .spanned import Spanned
from .squeezed import Squeezed
from .window import Picked, Window

__all__ = [
    "Banded",
    "Capped",
    "Compressed",
    "Dense",
    "Growable",
    "Hashed",
    "InterleavedCompressed",
    "InterleavedSingleton",
    "Jagged",
    "Listed",
    "ListedHashed",
    "Marked",
    "Morton",
    "Offset",
    "Paired",
    "Picked",
    "Range",
    "Singleton",
    "Sliced",
    "Slots",
    "Spanned",
    "Spilled",
    "Squeezed",
    "Window",
]
