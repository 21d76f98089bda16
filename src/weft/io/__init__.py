"""Files of tensors: Matrix Market, FROSTT ``.tns``, npz, groups of HDF5 and Zarr, and parquet."""

from .files import load, open, save, save_parts
from .frostt import read_tns, write_tns
from .matrix_market import read_mtx, write_mtx
from .npz import load_npz, save_npz
from .tensor_files import TensorFile

__all__ = [
    "TensorFile", "load", "load_npz", "open", "read_mtx", "read_tns", "save", "save_npz", "save_parts", "write_mtx",
    "write_tns",
]  # fmt: skip
