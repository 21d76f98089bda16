"""One file a level format."""

from .compressed import Compressed
from .dense import Dense
from .listed import Listed
from .singleton import Singleton

__all__ = ["Compressed", "Dense", "Listed", "Singleton"]
