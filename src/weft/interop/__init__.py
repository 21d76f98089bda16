"""Tensors of other packages as weft's storage and back.

Each file serves one package and registers itself with ``tensor.foreign``; none imports the package it serves before
it is given, or asked for, one of its tensors.
"""

from . import pydata_sparse, scipy_sparse

__all__ = ["pydata_sparse", "scipy_sparse"]
