from __future__ import annotations

import math

import numpy as np
import pytest

from weft.dtypes import VALUE_DTYPES
from weft.errors import DensifyError, DTypeError
from weft.formats import Format, parse_format
from weft.storage import Storage, fill_of, tensor_type


def test_dense_c_order_is_a_view():
    x = np.arange(24.0).reshape(2, 3, 4)
    s = Storage.dense(x)
    assert str(s.format) == "dense"
    assert np.shares_memory(s.vals, x)
    assert s.struct is s.struct
    np.testing.assert_array_equal(s.to_dense_array(), x)


def test_dense_fortran_order_is_a_view():
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    s = Storage.dense(x)
    assert str(s.format) == "dense_f"
    assert np.shares_memory(s.vals, x)
    np.testing.assert_array_equal(s.vals, x.ravel("F"))
    assert np.shares_memory(s.to_dense_array(), x)
    np.testing.assert_array_equal(s.to_dense_array(), x)


@pytest.mark.parametrize("axes", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_dense_in_any_order_of_axes_is_a_view(axes):
    x = np.arange(24).reshape(2, 3, 4).transpose(axes)
    s = Storage.dense(x)
    assert np.shares_memory(s.vals, x)
    np.testing.assert_array_equal(s.to_dense_array(), x)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(10.0)[::2],
        np.arange(10.0)[::-1],
        np.arange(20.0).reshape(4, 5)[:, ::2],
        np.arange(4.0).astype(">f8"),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.zeros((3, 0, 2)).transpose(2, 0, 1),
        np.array(2.5),
        np.arange(4.0).view(np.recarray),
    ],
)
def test_any_array_becomes_dense_storage(x):
    s = Storage.dense(x)
    assert s.vals.ndim == 1
    assert s.vals.flags.c_contiguous
    assert s.vals.dtype.isnative
    np.testing.assert_array_equal(s.to_dense_array(), x)


@pytest.mark.parametrize("dtype", VALUE_DTYPES)
def test_value_dtypes(dtype):
    s = Storage.dense(np.ones((2, 2), dtype))
    assert s.type.dtype == dtype
    assert s.nbytes == 4 * np.dtype(dtype).itemsize


@pytest.mark.parametrize("x", [np.array([object()]), np.array(["a"]), np.zeros(2, "f2"), np.zeros(2, "M8[s]")])
def test_other_dtypes_are_refused(x):
    with pytest.raises(DTypeError, match=str(x.dtype).replace("<", ".").replace("[", r"\[")):
        Storage.dense(x)


def test_read_only_arrays_are_shared():
    x = np.arange(3.0)
    x.flags.writeable = False
    s = Storage.dense(x)
    assert s.vals is x
    assert s.struct


def csr() -> Storage:
    format = parse_format("csr", 2)
    pos, crd = np.array([0, 1, 3], np.int32), np.array([2, 0, 1], np.int64)
    return Storage((2, 3), tensor_type("float64", format, ("int32", "int64")), (pos, crd), np.array([1.0, 2.0, 3.0]))


def test_attributes_of_sparse_storage():
    s = csr()
    assert s.level_sizes == (2, 3)
    assert s.nnz == 3
    assert s.nbytes == 3 * 4 + 3 * 8 + 3 * 8
    assert list(s.level_arrays(0)) == []
    assert list(s.level_arrays(1)) == ["pos", "crd"]
    with pytest.raises(DensifyError, match="csr"):
        s.to_dense_array()


def test_permuted_shares_arrays():
    s = csr()
    t = s.permuted((1, 0))
    assert t.shape == (3, 2)
    assert str(t.format) == "csc"
    assert t.arrays[0] is s.arrays[0]
    assert t.vals is s.vals
    assert t.permuted((1, 0)).type is s.type


def test_permuting_three_axes_maps_level_to_axis():
    x = np.arange(24).reshape(2, 3, 4)
    for axes in [(0, 2, 1), (1, 2, 0), (2, 0, 1)]:
        np.testing.assert_array_equal(Storage.dense(x).permuted(axes).to_dense_array(), x.transpose(axes))


def test_with_values_shares_the_structure():
    s = csr()
    t = s.with_values(s.vals.astype(np.complex64), math.nan)
    assert t.arrays is s.arrays
    assert t.type.dtype == "complex64"
    assert t.type.fill != t.type.fill


@pytest.mark.parametrize(
    ("dtype", "fill", "expected"),
    [
        ("float64", 0, 0),
        ("float64", 0.0, 0),
        ("float64", 1, 1.0),
        ("int32", 2.0, 2),
        ("bool", True, True),
        ("bool", False, 0),
        ("complex128", 1j, 1j),
        ("float32", np.float64(math.inf), math.inf),
    ],
)
def test_fill_values(dtype, fill, expected):
    found = fill_of(np.dtype(dtype), fill)
    assert found == expected
    assert type(found) is type(expected)


def test_fill_keeps_the_sign_of_zero_and_nan_compares():
    assert math.copysign(1, fill_of(np.dtype("f8"), -0.0)) == -1
    assert fill_of(np.dtype("f8"), np.nan) is fill_of(np.dtype("f4"), math.nan)


def test_equal_types_are_one_object():
    assert csr().type is csr().type
    assert Storage.dense(np.zeros(3)).type is Storage.dense(np.ones(4)).type


def test_types_tell_zeros_of_either_sign():
    for zero in (0.0, 0j):
        first = tensor_type("float64", Format.dense(1), (), zero)
        second = tensor_type("float64", Format.dense(1), (), -0.0)
        assert first != second
        assert str(second.fill) == "-0.0"
        assert first is tensor_type("float64", Format.dense(1), (), 0)
