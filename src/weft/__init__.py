"""Sparse tensors for Python, computed by C that is compiled for your formats."""

__version__ = "0.1.0"
