"""The hand-written C of this folder, built with the flags of weft's kernels and called through cffi.

Every function allocates its result as NumPy does, like the peers, so that page faults count for all alike.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from weft.runtime import toolchain

from ..inputs import Tensor

__all__ = ["Csf", "add", "convert", "csf", "innerprod", "mattransmul", "mttkrp", "plus3", "read", "residual",
           "sddmm", "spgemm", "spmm", "spmv", "spmv_bsr3", "spmv_coo", "spmv_dia", "spmv_ell", "summed", "ttm",
           "ttv"]  # fmt: skip

FOLDER = Path(__file__).parent
FILES = ("conversions.c", "dense_results.c", "merges.c", "spgemm.c", "spmv_formats.c", "tensors.c")


@cache
def library() -> tuple[Any, Any]:
    """cffi's FFI object and the library, built afresh once a process."""
    import cffi

    ffi = cffi.FFI()
    ffi.cdef((FOLDER / "reference.h").read_text())
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "reference.so")
        text = "".join(f'#include "{FOLDER / name}"\n' for name in FILES)
        toolchain.current().compile(text, output)
        return ffi, ffi.dlopen(output)


def pointer(array: np.ndarray) -> Any:
    """The array's memory as C sees it; the array must outlive the call."""
    kind = {"int32": "int32_t *", "float64": "double *"}[array.dtype.name]
    if not array.flags.c_contiguous:
        raise ValueError("reference kernels take contiguous arrays")
    return library()[0].cast(kind, array.ctypes.data)


def call(name: str, *args: Any) -> Any:
    return getattr(library()[1], name)(*(pointer(a) if isinstance(a, np.ndarray) else a for a in args))


def arrays(a: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return a.indptr, a.indices, a.data


def int32(count: int) -> np.ndarray:
    return np.empty(count, np.int32)


def read(*arrays: np.ndarray) -> int:
    """The sum of all whole words of some arrays: no kernel that reads them can be faster."""
    ffi, _ = library()
    words = [(a.nbytes // 8, ffi.cast("uint64_t *", a.ctypes.data)) for a in arrays]
    return sum(call("ref_read", *each) for each in words)


def spmv(a: sp.csr_array, x: np.ndarray) -> np.ndarray:
    """``y = A x``."""
    y = np.empty(a.shape[0])
    call("ref_spmv", a.shape[0], *arrays(a), x, y)
    return y


def spmv_coo(a: sp.coo_array, x: np.ndarray) -> np.ndarray:
    """``y = A x`` of a coordinate list."""
    y = np.empty(a.shape[0])
    call("ref_spmv_coo", a.shape[0], a.nnz, *a.coords, a.data, x, y)
    return y


def spmv_dia(a: sp.dia_array, x: np.ndarray) -> np.ndarray:
    """``y = A x`` of diagonals, tile by tile of the rows."""
    y = np.empty(a.shape[0])
    call("ref_spmv_dia", *a.shape, *a.data.shape, a.offsets, a.data, x, y)
    return y


def spmv_ell(m: int, columns: np.ndarray, values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """``y = A x`` of slices of one entry a row, -1 for a column where there is none."""
    y = np.empty(m)
    call("ref_spmv_ell", m, len(columns) // m, columns, values, x, y)
    return y


def spmv_bsr3(a: sp.bsr_array, x: np.ndarray) -> np.ndarray:
    """``y = A x`` of blocks of 3 x 3."""
    y = np.empty(a.shape[0])
    call("ref_spmv_bsr3", a.shape[0] // 3, a.indptr, a.indices, a.data.reshape(-1), x, y)
    return y


def residual(a: sp.csr_array, x: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``y = b - A x``."""
    y = np.empty(a.shape[0])
    call("ref_residual", a.shape[0], *arrays(a), x, b, y)
    return y


def mattransmul(a: sp.csr_array, alpha: float, x: np.ndarray, beta: float, z: np.ndarray) -> np.ndarray:
    """``y = alpha A^T x + beta z``."""
    y = np.empty(a.shape[1])
    call("ref_mattransmul", *a.shape, *arrays(a), alpha, x, beta, z, y)
    return y


def spmm(a: sp.csr_array, x: np.ndarray) -> np.ndarray:
    """``Y = A X``, ``X`` row by row."""
    y = np.empty((a.shape[0], x.shape[1]))
    call("ref_spmm", a.shape[0], x.shape[1], *arrays(a), x, y)
    return y


def sddmm(b: sp.csr_array, c: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``A(i,j) = B(i,j) * C(i,k) * D(j,k)`` as csr arrays."""
    pos, crd, val = int32(b.shape[0] + 1), int32(b.nnz), np.empty(b.nnz)
    call("ref_sddmm", b.shape[0], c.shape[1], *arrays(b), c, d, pos, crd, val)
    return pos, crd, val


def add(a: sp.csr_array, b: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``A + B`` as csr arrays."""
    size = a.nnz + b.nnz
    pos, crd, val = int32(a.shape[0] + 1), int32(size), np.empty(size)
    count = call("ref_add", a.shape[0], *arrays(a), *arrays(b), pos, crd, val)
    return pos, crd[:count], val[:count]


def plus3(a: sp.csr_array, b: sp.csr_array, c: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``A + B + C`` as csr arrays."""
    size = a.nnz + b.nnz + c.nnz
    pos, crd, val = int32(a.shape[0] + 1), int32(size), np.empty(size)
    count = call("ref_plus3", a.shape[0], *arrays(a), *arrays(b), *arrays(c), pos, crd, val)
    return pos, crd[:count], val[:count]


def spgemm(a: sp.csr_array, b: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``A B`` as csr arrays, coordinates sorted."""
    pos = int32(a.shape[0] + 1)
    count = call("ref_spgemm_count", a.shape[0], b.shape[1], *arrays(a)[:2], *arrays(b)[:2], pos)
    crd, val = int32(count), np.empty(count)
    if call("ref_spgemm_fill", a.shape[0], b.shape[1], *arrays(a), *arrays(b), pos, crd, val) < 0 or count < 0:
        raise MemoryError
    return pos, crd, val


def convert(a: Any, to: str) -> tuple[np.ndarray, ...]:
    """The arrays of a SciPy matrix in another format, by the algorithms of the 2020 paper's Fig. 6."""
    m, n = a.shape
    match a.format, to:
        case ("coo", "csr"):
            pos, crd, val = int32(m + 1), int32(a.nnz), np.empty(a.nnz)
            call("ref_coo_csr", m, a.nnz, *a.coords, a.data, pos, crd, val)
            return pos, crd, val
        case ("csr", "csc"):
            pos, crd, val = int32(n + 1), int32(a.nnz), np.empty(a.nnz)
            call("ref_csr_csc", m, n, *arrays(a), pos, crd, val)
            return pos, crd, val
        case (have, "dia"):
            rank, offsets = np.zeros(m + n - 1, np.int32), int32(m + n - 1)
            given = (a.nnz, *a.coords, a.data) if have == "coo" else arrays(a)
            count = call(f"ref_{have}_dia_offsets", m, n, *given[:-1], rank, offsets)
            val = np.zeros((count, n))
            call(f"ref_{have}_dia", m, n, *given, rank, val)
            return offsets[:count], val
        case ("csr", "ell"):
            width = call("ref_csr_ell_width", m, a.indptr)
            crd, val = np.full(width * m, -1, np.int32), np.zeros(width * m)
            call("ref_csr_ell", m, *arrays(a), crd, val)
            return crd, val
        case ("csc", "ell"):
            counts = np.zeros(m, np.int32)
            width = call("ref_csc_ell_width", m, n, a.indptr, a.indices, counts)
            crd, val = np.full(width * m, -1, np.int32), np.zeros(width * m)
            call("ref_csc_ell", m, n, *arrays(a), counts, crd, val)
            return crd, val
    raise ValueError(f"no reference converts {a.format} to {to}")


def summed(a: sp.coo_array, to: str) -> tuple[np.ndarray, ...]:
    """The arrays of a coordinate list in another format, its entries in any order and some of them more than once."""
    m, n = a.shape
    given = (a.nnz, *a.coords, a.data)
    match to:
        case "dia":
            rank, offsets = np.zeros(m + n - 1, np.int32), int32(m + n - 1)
            count = call("ref_coo_dia_offsets", m, n, *given[:-1], rank, offsets)
            val = np.zeros((count, n))
            call("ref_coo_dia_sums", m, n, *given, rank, val)
            return offsets[:count], val
        case "ell":
            rows = (int32(m + 1), int32(m), int32(a.nnz), np.empty(a.nnz))
            width = call("ref_coo_rows", m, *given, *rows)
            crd, val = int32(width * m), np.empty(width * m)
            call("ref_rows_ell", m, width, *rows, crd, val)
            return crd, val
    raise ValueError(f"no reference sums what comes to {to}")


@dataclass(frozen=True, eq=False)
class Csf:
    """The arrays of three compressed levels."""

    shape: tuple[int, ...]
    index: tuple[np.ndarray, ...]  # pos1, crd1, pos2, crd2, pos3, crd3
    values: np.ndarray


def csf(t: Tensor) -> Csf:
    """A 3rd-order tensor with three compressed levels."""
    count = t.coords.shape[1]
    index: list[np.ndarray] = []
    starts = np.array([0, count])  # of the parent's segments
    fresh = np.arange(count) == 0
    for k in range(3):
        fresh[1:] |= t.coords[k, 1:] != t.coords[k, :-1]
        heads = np.flatnonzero(fresh) if k < 2 else np.arange(count)
        index += [np.searchsorted(heads, starts).astype(np.int32), t.coords[k][heads]]
        starts = np.append(heads, count)
    return Csf(t.shape, tuple(index), t.values)


def ttv(b: Csf, c: np.ndarray) -> tuple[np.ndarray, ...]:
    """``A(i,j) = B(i,j,k) * c(k)``, both levels of ``A`` compressed."""
    outer = [np.empty_like(array) for array in b.index[:4]]
    out = np.empty(len(b.index[3]))
    call("ref_ttv", *b.index, b.values, c, *outer, out)
    return (*outer, out)


def ttm(b: Csf, c: np.ndarray) -> tuple[np.ndarray, ...]:
    """``A(i,j,k) = B(i,j,l) * C(l,k)``, two levels of ``A`` compressed and the last one dense."""
    outer = [np.empty_like(array) for array in b.index[:4]]
    out = np.empty((len(b.index[3]), c.shape[1]))
    call("ref_ttm", c.shape[1], *b.index, b.values, c, *outer, out)
    return (*outer, out)


def mttkrp(b: Csf, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """``A(i,j) = B(i,k,l) * C(k,j) * D(l,j)``."""
    rank = c.shape[1]
    out = np.empty((b.shape[0], rank))
    call("ref_mttkrp", b.shape[0], rank, *b.index, b.values, c, d, np.empty(rank), out)
    return out


def innerprod(b: Csf, c: Csf) -> float:
    """``a = B(i,j,k) * C(i,j,k)``."""
    return float(call("ref_innerprod", *b.index, b.values, *c.index, c.values))
