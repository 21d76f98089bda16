"""Functions that NumPy has in ``numpy.lib``."""

from . import stride_tricks

__all__ = ["stride_tricks"]
