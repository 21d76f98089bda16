"""``with_fill``: the same entries, another value for the elements that are not stored."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.errors import DTypeError, StorageError

A = np.array([[0, 4.0, 0, 0], [2, 0, 0, 0], [0, 0, 3, 1]])


@pytest.mark.parametrize("format", [name for name in weft.formats if name != "hash_vector"])
def test_every_format_gives_the_same_elements(format):
    W = weft.asarray(A, format=format)
    found = W.with_fill(np.inf)
    assert (found.format, found.fill_value, found.dtype) == (W.format, np.inf, W.dtype)
    wanted = np.where(A == 0, np.inf, A)
    np.testing.assert_array_equal(found.todense(), wanted)
    np.testing.assert_array_equal(found.asformat("csf").todense(), wanted)
    np.testing.assert_array_equal(found.with_fill(0).todense(), A)
    np.testing.assert_array_equal(found.with_fill(np.nan).with_fill(0).todense(), A)
    np.testing.assert_array_equal(W.todense(), A)


def test_entries_stay_also_those_that_equal_the_old_fill_value():
    W = weft.from_coords([[0, 1, 1], [1, 0, 0]], [0.0, 2.0, 3.0], (2, 2))
    np.testing.assert_array_equal(W.with_fill(7).todense(), [[7, 0], [5, 7]])
    other = W.with_fill(7)
    other[0, 0] = 1.0
    np.testing.assert_array_equal(W.todense(), [[0, 0], [5, 0]])
    assert weft.asarray(3.0).with_fill(1).todense() == 3.0
    assert weft.zeros((0, 3), format="csr").with_fill(1).shape == (0, 3)


def test_missing_edges_are_infinite():
    W = weft.asarray(A[:, :3], format="csr").with_fill(np.inf)
    dense = W.todense()
    found = weft.evaluate("D(i,j) = min(k, W(i,k) + W(k,j))", W=W)
    np.testing.assert_array_equal(found.todense(), (dense[:, :, None] + dense[None]).min(axis=1))
    assert found.nnz < 9


@pytest.mark.parametrize("value", [np.inf, 1j, 2.5, 300, "x", None, [1]])
def test_a_dtype_must_hold_the_value(value):
    W = weft.asarray(A.astype("int8"), format="csr")
    with pytest.raises(DTypeError, match=r"fill value .* write A.astype\('\w+'\)|a fill value is a number"):
        W.with_fill(value)


@pytest.mark.parametrize(
    ("dtype", "value"), [("uint8", -1), ("uint8", 256), ("int8", 2**40), ("uint64", -1), ("bool", 2)]
)
def test_the_dtype_that_the_message_names_holds_the_value(dtype, value):
    W = weft.asarray(A.astype(dtype), format="csr")
    with pytest.raises(DTypeError) as error:
        W.with_fill(value)
    wider = str(error.value).partition("astype('")[2].partition("'")[0]
    assert wider != dtype
    assert W.astype(wider).with_fill(value).fill_value == value


def test_no_dtype_holds_huge_integers():
    with pytest.raises(DTypeError, match=rf"does not hold the fill value {10**30}$"):
        weft.asarray(A.astype("int8"), format="csr").with_fill(10**30)


def test_asarray_names_the_way():
    with pytest.raises(StorageError, match=r"weft.asarray\(A\).with_fill\(inf\)"):
        weft.asarray(weft.asarray(A, format="csr"), fill_value=np.inf)
