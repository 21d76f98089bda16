"""scipy.sparse in and out: memory is shared, and what is promised about order is true."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DensifyError, DTypeError, FormatError, StorageError
from weft.storage import check

KINDS = [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.csc_matrix, sp.coo_matrix]
OTHERS = [sp.dia_array, sp.bsr_array, sp.dok_array, sp.lil_array, sp.lil_matrix, sp.bsr_matrix]


def example(kind=sp.csr_array, dtype=np.float64):
    return kind(sp.random_array((5, 7), density=0.4, rng=0).toarray().astype(dtype))


def index_arrays(S):
    return (S.indptr, S.indices) if S.format in ("csr", "csc") else (S.row, S.col)


def promises(A):
    return [(level.ordered, level.unique) for level in A.layout.levels]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_memory_is_shared_both_ways(kind, index):
    S = example(kind)
    if S.format == "coo":
        S.coords = tuple(crd.astype(index) for crd in S.coords)
    else:
        S.indptr, S.indices = S.indptr.astype(index), S.indices.astype(index)
    A = weft.asarray(S)
    assert str(A.format) == S.format
    assert A._storage.vals is S.data
    own = A._storage.arrays if S.format != "coo" else A._storage.arrays[1:]
    assert all(a is b for a, b in zip(own, index_arrays(S), strict=True))
    assert {a.dtype.name for a in A._storage.arrays} == {index}
    back = A.to_scipy_sparse()
    assert back.format == S.format
    assert isinstance(back, sp.sparray)
    assert np.shares_memory(back.data, S.data)
    assert all(np.shares_memory(a, b) for a, b in zip(index_arrays(back), index_arrays(S), strict=True))
    np.testing.assert_array_equal(back.toarray(), S.toarray())
    assert back.has_canonical_format
    check(A._storage)


@pytest.mark.parametrize("kind", OTHERS)
def test_other_formats_of_scipy(kind):
    S = example(kind)
    np.testing.assert_array_equal(weft.asarray(S).to_scipy_sparse().toarray(), S.toarray())


@pytest.mark.parametrize("name", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_to_any_format_of_scipy(name):
    A = weft.asarray(example())
    S = A.to_scipy_sparse(name)
    assert S.format == name
    np.testing.assert_array_equal(S.toarray(), example().toarray())


def test_unsorted_indices_are_told_whatever_the_flag_says():
    S = sp.csr_array((np.ones(3), np.array([2, 0, 1], np.int32), np.array([0, 2, 3], np.int32)), shape=(2, 3))
    S.has_sorted_indices = True  # a lie
    A = weft.asarray(S)
    assert promises(A) == [(True, True), (False, False)]
    assert str(A.format) == "csr"
    assert not A.to_scipy_sparse().has_sorted_indices
    check(A._storage)


def test_duplicates_are_told():
    S = sp.csr_array((np.ones(3), np.array([0, 0, 1], np.int32), np.array([0, 2, 3], np.int32)), shape=(2, 3))
    S.has_canonical_format = True  # a lie
    A = weft.asarray(S)
    assert promises(A) == [(True, True), (True, False)]
    back = A.to_scipy_sparse()
    assert back.has_sorted_indices
    assert not back.has_canonical_format


@pytest.mark.parametrize(
    ("row", "col", "expected"),
    [
        ([0, 0, 1], [0, 2, 1], [(True, False), (True, True)]),
        ([0, 0, 1], [2, 2, 1], [(True, False), (True, False)]),
        ([0, 0, 1], [2, 0, 1], [(True, False), (False, False)]),
        ([1, 0, 0], [0, 1, 2], [(False, False), (False, False)]),
        ([], [], [(True, False), (True, True)]),
    ],
)
def test_the_order_of_coo_is_told(row, col, expected):
    S = sp.coo_array((np.ones(len(row)), (np.array(row, np.int32), np.array(col, np.int32))), shape=(2, 3))
    A = weft.asarray(S)
    assert promises(A) == expected
    check(A._storage)


def test_coo_of_other_orders():
    one = sp.coo_array((np.array([1.0, 2.0]), (np.array([1, 4]),)), shape=(6,))
    A = weft.asarray(one)
    assert A.shape == (6,)
    assert str(A.format) == "coo"
    assert np.shares_memory(A.to_scipy_sparse().data, one.data)
    three = sp.coo_array(
        (np.array([1.0, 2.0]), (np.array([0, 1]), np.array([1, 2]), np.array([3, 0]))), shape=(2, 3, 4)
    )
    B = weft.asarray(three)
    assert B.shape == (2, 3, 4)
    np.testing.assert_array_equal(B.to_scipy_sparse().toarray(), three.toarray())
    with pytest.raises((FormatError, ValueError)):
        B.to_scipy_sparse("csr")


def test_coo_with_rows_and_columns_of_different_dtypes():
    S = example(sp.coo_array)
    S.coords = (S.coords[0].astype(np.int64), S.coords[1].astype(np.int32))
    A = weft.asarray(S)
    assert [a.dtype.name for a in A._storage.arrays] == ["int64", "int64", "int32"]
    S.coords = (S.coords[0].astype(np.uint8), S.coords[1].astype(np.uint64))
    A = weft.asarray(S)
    assert [a.dtype.name for a in A._storage.arrays[1:]] == ["int32", "int64"]
    np.testing.assert_array_equal(A.to_scipy_sparse().toarray(), S.astype(float).toarray())


def test_room_to_spare_is_cut_off():
    S = sp.csr_array(example())
    nnz = S.nnz
    S.data, S.indices = np.append(S.data, 9.0), np.append(S.indices, 99)
    A = weft.asarray(S)
    assert A.nnz == nnz
    assert np.shares_memory(A._storage.vals, S.data)
    check(A._storage)


def test_strided_swapped_and_read_only_arrays():
    S = example()
    R = sp.csr_array(S)
    R.data = np.repeat(S.data, 2)[::2]
    np.testing.assert_array_equal(weft.asarray(R).to_scipy_sparse().toarray(), S.toarray())
    R.data = S.data.astype(">f8")
    A = weft.asarray(R)
    assert A.dtype.isnative
    np.testing.assert_array_equal(A._storage.vals, S.data)
    R.data = S.data.copy()
    for array in (R.data, R.indices, R.indptr):
        array.flags.writeable = False
    A = weft.asarray(R)
    assert A._storage.vals is R.data
    assert A._storage.struct


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda S: S.indices.__setitem__(0, 99), r"outside \[0, 7\)"),
        (lambda S: S.indices.__setitem__(0, -1), r"outside \[0, 7\)"),
        (lambda S: S.indptr.__setitem__(1, 99), "decreases"),
        (lambda S: S.indptr.__setitem__(0, 1), "start at 0"),
        (lambda S: S.indptr.__setitem__(-1, 99), "ends at 99"),
        (lambda S: setattr(S, "indptr", S.indptr[:-1]), "5 segments need 6"),
    ],
)
def test_broken_matrices_are_refused(change, reason):
    S = example()
    change(S)
    with pytest.raises(StorageError, match=reason):
        weft.asarray(S)


def test_broken_coordinates_are_refused():
    S = example(sp.coo_array)
    S.coords[0][0] = 5
    with pytest.raises(StorageError, match=r"outside \[0, 5\)"):
        weft.asarray(S)
    S = example(sp.coo_array)
    S.coords = (S.coords[0][1:], S.coords[1])
    with pytest.raises(StorageError, match="coordinates for"):
        weft.asarray(S)


def test_dtypes_without_a_c_type_are_refused():
    S = example()
    S.data = S.data.astype(np.longdouble)
    with pytest.raises(DTypeError, match=r"longdouble|float128"):
        weft.asarray(S)


def test_fill_values_stay_out_of_scipy():
    A = weft.asarray(example(), fill_value=1.0)
    with pytest.raises(FormatError, match="fill value"):
        A.to_scipy_sparse()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_empty_matrices(shape, kind):
    A = weft.asarray(kind(shape))
    assert A.shape == shape
    assert A.nnz == 0
    check(A._storage)
    assert A.to_scipy_sparse().shape == shape


@pytest.mark.parametrize("convert", [np.asarray, np.asanyarray, np.array, np.packbits])
def test_nothing_becomes_dense_by_itself(convert):
    with pytest.raises(DensifyError, match=r"todense\(\)"):
        convert(weft.asarray(example()))


def test_scipy_constructors_do_not_get_an_object_array():
    with pytest.raises((TypeError, ValueError)):
        sp.csr_array(weft.asarray(example()))


@pytest.mark.parametrize("have", ["csr", "coo", "dcsr", "csc"])
@pytest.mark.parametrize("wanted", ["csr", "coo", "csc"])
def test_what_is_converted_for_scipy_is_its_own(have, wanted):
    A = weft.random((6, 7), nnz=15, format=have, rng=0)
    before = A.todense()
    S = A.to_scipy_sparse(wanted)
    shared = np.shares_memory(S.data, A._storage.vals)
    assert shared == (have == wanted)
    S.data[:] = 7
    if not shared:
        np.testing.assert_array_equal(A.todense(), before)
    vals = A.to_coo()[1]
    assert not np.shares_memory(vals, A._storage.vals)


def test_spdiags_takes_both_sizes():
    rows = [[1.0, 2.0, 3.0]]
    for given in ((), (2, 3), ((3, 2),), (None,)):
        np.testing.assert_array_equal(weft.spdiags(rows, 0, *given).todense(), sp.spdiags(rows, 0, *given).toarray())
    for given in ((3,), (None, 3), ((3,),)):
        with pytest.raises((TypeError, ValueError)):
            weft.spdiags(rows, 0, *given)
