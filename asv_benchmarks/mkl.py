"""Conversions and products by Intel MKL's inspector-executor routines, through ctypes: sequential, int32.

``pip install mkl`` installs the library.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["available", "converter", "multiplier"]

_ZERO_BASED, _ROW_MAJOR, _AS_IT_IS, _TRANSPOSED, _SEQUENTIAL = 0, 101, 10, 11, 1
_GENERAL, _MANY = 20, 1000


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    """The library where a wheel puts it; None where it is not installed."""
    for folder in (Path(sys.prefix) / "lib", Path(sys.prefix) / "Library" / "bin"):
        for path in (*folder.glob("libmkl_rt.so*"), *folder.glob("mkl_rt*.dll"), *folder.glob("libmkl_rt*.dylib")):
            library = ctypes.CDLL(str(path))
            library.MKL_Set_Threading_Layer(_SEQUENTIAL)
            return library
    print("MKL is not installed, so that its rows are left out: pip install mkl", file=sys.stderr)
    return None


def available() -> bool:
    """Whether MKL is installed."""
    return _library() is not None


def _pointer(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _checked(status: int, what: str) -> None:
    if status:
        raise RuntimeError(f"MKL's {what} failed with status {status}")


def _handle(a: Any) -> ctypes.c_void_p:
    """MKL's view of a scipy matrix, whose arrays it reads."""
    mkl, handle = _library(), ctypes.c_void_p()
    assert mkl is not None
    rows, columns = a.shape
    match a.format:
        case "coo":
            row, column = a.coords
            status = mkl.mkl_sparse_d_create_coo(
                ctypes.byref(handle), _ZERO_BASED, rows, columns, a.nnz, _pointer(row), _pointer(column),
                _pointer(a.data),
            )  # fmt: skip
        case "csr":
            status = mkl.mkl_sparse_d_create_csr(
                ctypes.byref(handle), _ZERO_BASED, rows, columns, _pointer(a.indptr), _pointer(a.indptr[1:]),
                _pointer(a.indices), _pointer(a.data),
            )  # fmt: skip
        case "bsr":
            size = a.blocksize[0]
            status = mkl.mkl_sparse_d_create_bsr(
                ctypes.byref(handle), _ZERO_BASED, _ROW_MAJOR, rows // size, columns // size, size,
                _pointer(a.indptr), _pointer(a.indptr[1:]), _pointer(a.indices), _pointer(a.data),
            )  # fmt: skip
        case other:
            raise ValueError(f"no view of {other}")
    _checked(status, "create")
    return handle


def converter(a: sp.sparray, wanted: str) -> Callable[[], None]:
    """A conversion of a matrix, MKL's result freed again.

    Columns are sorted rows of the transpose, which is how its routines make them.
    """
    mkl, handle = _library(), _handle(a)
    assert mkl is not None

    def run() -> None:
        made = ctypes.c_void_p()
        match wanted:
            case "csr" | "csc":
                operation = _TRANSPOSED if wanted == "csc" else _AS_IT_IS
                status = mkl.mkl_sparse_convert_csr(handle, operation, ctypes.byref(made))
            case "coo":
                status = mkl.mkl_sparse_convert_coo(handle, _AS_IT_IS, ctypes.byref(made))
            case "bsr":
                status = mkl.mkl_sparse_convert_bsr(handle, 3, _ROW_MAJOR, _AS_IT_IS, ctypes.byref(made))
            case other:
                raise ValueError(f"no conversion to {other}")
        _checked(status, f"conversion to {wanted}")
        mkl.mkl_sparse_destroy(made)

    run.kept = a  # type: ignore[attr-defined]
    return run


class _Description(ctypes.Structure):
    """``struct matrix_descr``: the type of a matrix, which triangle counts, and whether the diagonal is one of ones."""

    _fields_ = (("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int))


def multiplier(
    a: sp.sparray, x: np.ndarray[Any, Any], *, transposed: bool = False, inspected: bool = False
) -> Callable[[], np.ndarray[Any, Any]]:
    """``A @ x`` or ``A.T @ x``; if ``inspected``, of what MKL made of ``A`` beforehand for many calls."""
    mkl, handle = _library(), _handle(a)
    assert mkl is not None
    operation, general = _TRANSPOSED if transposed else _AS_IT_IS, _Description(_GENERAL, 0, 0)
    if inspected:
        _checked(mkl.mkl_sparse_set_mv_hint(handle, operation, general, _MANY), "hint")
        _checked(mkl.mkl_sparse_optimize(handle), "inspection")

    def run() -> np.ndarray[Any, Any]:
        y = np.empty(a.shape[1] if transposed else a.shape[0])
        one, none = ctypes.c_double(1.0), ctypes.c_double(0.0)
        status = mkl.mkl_sparse_d_mv(operation, one, handle, general, _pointer(x), none, _pointer(y))
        _checked(status, "product")
        return y

    run.kept = a, x  # type: ignore[attr-defined]
    return run
