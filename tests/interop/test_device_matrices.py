"""Sparse matrices of cupyx and torch on a device: stand-ins with their attributes, on the emulated device."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DeviceError, FormatError
from weft.operations.operands import storage_anywhere
from weft.runtime import emulated

DENSE = np.array([[0.0, 2.0, 0.0, 1.0], [1.0, 0.0, 3.0, 0.0]])


def on_device(array) -> emulated.EmulatedArray:
    return emulated.device().copy_in(np.ascontiguousarray(array))


class Cupyx:
    """A matrix as cupyx has it."""

    __module__ = "cupyx.scipy.sparse._csr"

    def __init__(self, matrix):
        self.format, self.shape, self.data = matrix.format, matrix.shape, on_device(matrix.data)
        self.has_sorted_indices, self.has_canonical_format = True, True
        names = ("row", "col") if matrix.format == "coo" else ("indptr", "indices")
        for name in names:
            setattr(self, name, on_device(getattr(matrix, name).astype(np.int32)))


class Torch:
    """A sparse tensor as torch has it."""

    __module__ = "torch"

    def __init__(self, kind, shape, values, is_cuda=True, **parts):
        self.layout, self.shape, self.is_cuda, self.held = f"torch.sparse_{kind}", shape, is_cuda, on_device(values)
        self.parts = {name: on_device(part) for name, part in parts.items()}
        self.coalesced = True

    def __getattr__(self, name):
        if name.startswith("__") or name not in self.parts:
            raise AttributeError(name)
        return lambda: self.parts[name]

    def values(self):
        return self.held

    def indices(self):
        return [on_device(self.parts["rows"].get()), on_device(self.parts["columns"].get())]

    def is_coalesced(self):
        return self.coalesced

    def dense_dim(self):
        return 0


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_matrices_of_cupyx_are_taken_without_a_copy(format):
    matrix = Cupyx(getattr(sp, f"{format}_array")(DENSE))
    A = weft.asarray(matrix)
    assert (A.format, A.device) == (format, "emulated")
    assert storage_anywhere(A).vals is matrix.data
    assert (A.to_device("cpu").todense() == DENSE).all()


def test_matrices_that_are_not_sorted_promise_no_order():
    matrix = Cupyx(sp.csr_array(DENSE))
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    assert not weft.asarray(matrix).is_ordered
    assert not weft.asarray(matrix).is_unique


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_compressed_tensors_of_torch(format):
    S = getattr(sp, f"{format}_array")(DENSE)
    names = ("crow_indices", "col_indices") if format == "csr" else ("ccol_indices", "row_indices")
    parts = dict(zip(names, (S.indptr.astype(np.int64), S.indices.astype(np.int64)), strict=True))
    tensor = Torch(format, S.shape, S.data, **parts)
    A = weft.asarray(tensor)
    assert (A.format, A.device) == (format, "emulated")
    assert storage_anywhere(A).vals is tensor.values()
    assert (A.to_device("cpu").todense() == DENSE).all()


def test_blocks_and_coordinates_of_torch():
    B = sp.bsr_array(DENSE, blocksize=(2, 2))
    tensor = Torch("bsr", B.shape, B.data, crow_indices=B.indptr, col_indices=B.indices)
    assert (weft.asarray(tensor).to_device("cpu").todense() == DENSE).all()
    C = sp.coo_array(DENSE)
    tensor = Torch("coo", C.shape, C.data, rows=C.row, columns=C.col)
    assert weft.asarray(tensor).format == "coo"
    assert (weft.asarray(tensor).to_device("cpu").todense() == DENSE).all()
    tensor.coalesced = False
    with pytest.raises(FormatError, match=r"coalesce\(\)"):
        weft.asarray(tensor)


def test_other_kinds_are_refused():
    S = sp.csr_array(DENSE)
    matrix = Cupyx(S)
    matrix.format = "dia"
    with pytest.raises(FormatError, match="cupyx, not dia"):
        weft.asarray(matrix)
    with pytest.raises(FormatError, match="not bsc of shape"):
        weft.asarray(Torch("bsc", S.shape, S.data))


def test_operands_beside_a_matrix_of_cupyx():
    matrix = Cupyx(sp.csr_array(DENSE))
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert np.allclose(weft.einsum("ij,j->i", matrix, on_device(x)).get(), DENSE @ x)
    with pytest.raises(DeviceError, match="on the CPU"):
        weft.einsum("ij,j->i", matrix, x)


def test_levels_on_a_device():
    S = sp.csr_array(DENSE)
    pos, crd, vals = on_device(S.indptr), on_device(S.indices), on_device(S.data)
    A = weft.from_levels(S.shape, "csr", [None, (pos, crd)], vals, check=False)
    assert A.device == "emulated"
    assert all(a is b for a, b in zip(storage_anywhere(A).arrays, (pos, crd), strict=True))
    assert (A.to_device("cpu").todense() == DENSE).all()
    with pytest.raises(DeviceError, match="check=False"):
        weft.from_levels(S.shape, "csr", [None, (pos, crd)], vals)
    with pytest.raises(DeviceError, match="on one device, not on cpu and emulated"):
        weft.from_levels(S.shape, "csr", [None, (S.indptr, crd)], vals, check=False)


def test_dense_tensors_are_exported_by_the_arrays_own_protocols(monkeypatch):
    seen = []
    monkeypatch.setattr(
        emulated.EmulatedArray, "__dlpack__", lambda array, **options: seen.append((array.shape, options)) or "capsule"
    )
    A = weft.asarray(DENSE).to_device("emulated")
    assert A.__dlpack__(stream=7, max_version=(1, 0)) == "capsule"
    assert seen == [(DENSE.shape, {"stream": 7, "max_version": (1, 0)})]
    assert A.__dlpack_device__() == (12, 0)
    assert not hasattr(A, "__cuda_array_interface__")  # the memory is no CUDA device's
    assert not hasattr(weft.asarray(DENSE), "__cuda_array_interface__")
    assert not hasattr(weft.asarray(DENSE, format="csr").to_device("emulated"), "__dlpack__")
    monkeypatch.setattr(type(storage_anywhere(A)), "device", "cuda:0")
    monkeypatch.setattr(emulated.EmulatedArray, "__cuda_array_interface__", {"version": 3}, raising=False)
    assert A.__cuda_array_interface__ == {"version": 3}
