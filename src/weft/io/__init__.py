"""Files of tensors: Matrix Market, FROSTT ``.tns`` and npz."""

from .files import load, save
from .frostt import read_tns, write_tns
from .matrix_market import read_mtx, write_mtx
from .npz import load_npz, save_npz

__all__ = ["load", "load_npz", "read_mtx", "read_tns", "save", "save_npz", "write_mtx", "write_tns"]
