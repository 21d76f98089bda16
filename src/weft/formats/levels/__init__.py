"""One file a level format."""

from .compressed import Compressed
from .dense import Dense
from .listed import Hashed, Listed
from .singleton import Singleton

__all__ = ["Compressed", "Dense", "Hashed", "Listed", "Singleton"]
