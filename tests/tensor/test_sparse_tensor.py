from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.errors import DensifyError, FormatError, ShapeError
from weft.formats import parse_format

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 3.0]])
A = weft.from_coords([[0, 1, 1], [1, 0, 2]], [1.5, 2.0, 3.0], shape=(2, 3), format="csr")


def test_attributes():
    assert A.shape == (2, 3)
    assert A.ndim == 2
    assert A.size == 6
    assert len(A) == 2
    assert A.dtype == np.float64
    assert A.nnz == 3
    assert A.nbytes == 3 * 4 + 3 * 4 + 3 * 8
    assert A.format == parse_format("csr", 2)
    assert A.fill_value == 0
    assert isinstance(A.fill_value, np.float64)
    assert A.device == "cpu"
    assert repr(A) == "<SparseTensor: shape=(2, 3), dtype=float64, format=csr, nnz=3, fill_value=0>"
    assert repr(A > 0).endswith("fill_value=False>")


def test_transposes_share_arrays():
    assert str(A.T.format) == "csc"
    assert A.T._storage.vals is A._storage.vals
    assert A.T.T._storage.type is A._storage.type
    assert A.T.T.shape == A.shape
    B = weft.random((2, 3, 4), nnz=6, rng=0)
    assert B.mT.shape == (2, 4, 3)
    np.testing.assert_array_equal(B.mT.todense(), B.todense().swapaxes(1, 2))
    np.testing.assert_array_equal(B.transpose(1, 2, 0).todense(), B.todense().transpose(1, 2, 0))
    np.testing.assert_array_equal(B.transpose((-1, 0, 1)).todense(), B.todense().transpose(2, 0, 1))
    np.testing.assert_array_equal(B.transpose().todense(), B.todense().T)
    with pytest.raises(ShapeError, match="permutation"):
        B.transpose(0, 0, 1)
    with pytest.raises(ShapeError, match="two axes"):
        _ = weft.asarray([1.0]).mT


@pytest.mark.parametrize("source", ["dense", "csr", "csc", "dcsr", "dcsc", "coo", "ss:1,0", "sd", "dd:1,0", "sd:1,0"])
@pytest.mark.parametrize("target", ["dense", "csr", "csc", "dcsr", "dcsc", "coo", "ss:1,0", "sd", "dd:1,0", "sd:1,0"])
def test_asformat(source, target):
    B = weft.asarray(X, format=source).asformat(target)
    assert B.format == parse_format(target, 2)
    np.testing.assert_array_equal(B.todense(), X)


def test_asformat_is_lazy_and_takes_index_dtypes():
    assert A.asformat("csr") is A
    assert {a.dtype.name for a in A.asformat("csc", index_dtype="int64")._storage.arrays} == {"int64"}
    assert {a.dtype.name for a in A.asformat("csr", index_dtype="int64")._storage.arrays} == {"int64"}
    assert str(A.tocsc().format) == "csc"
    assert str(A.tocsr().format) == "csr"
    assert str(A.tocoo().format) == "coo"
    with pytest.raises(FormatError):
        A.asformat("nonsense")


def test_astype_real_imag_copy():
    B = A.astype("complex64") * (1 + 2j)
    assert B.dtype == np.complex64
    np.testing.assert_allclose(B.real.todense(), X, rtol=1e-6)
    np.testing.assert_allclose(B.imag.todense(), 2 * X, rtol=1e-6)
    assert B.imag._storage.arrays is B._storage.arrays
    assert A.astype("f8", copy=False) is A
    C = A.copy()
    assert not np.shares_memory(C._storage.vals, A._storage.vals)
    np.testing.assert_array_equal(C.todense(), X)


def test_dense_conversions():
    np.testing.assert_array_equal(A.todense(), X)
    np.testing.assert_array_equal(A.to_numpy(), X)
    coords, values = A.to_coo()
    np.testing.assert_array_equal(coords, [[0, 1, 1], [1, 0, 2]])
    np.testing.assert_array_equal(values, [1.5, 2.0, 3.0])
    with pytest.raises(DensifyError, match=r"todense\(\)"):
        np.asarray(A)


def test_single_elements():
    B = weft.asarray([[2.5]], format="csr")
    assert B.item() == 2.5
    assert float(B) == 2.5
    assert int(B) == 2
    assert complex(B) == 2.5
    assert bool(B)
    assert not weft.asarray([[0.0]], format="csr")
    with pytest.raises(ShapeError, match="one element"):
        A.item()
    with pytest.raises(TypeError, match="without axes"):
        len(weft.asarray(1.0))


def test_fill_values_are_kept():
    B = A + 1
    for format in ("csc", "coo", "dense"):
        np.testing.assert_array_equal(B.asformat(format).todense(), X + 1)
    np.testing.assert_array_equal(B.T.todense(), X.T + 1)
