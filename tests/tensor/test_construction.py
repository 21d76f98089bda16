from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DTypeError, FormatError, ShapeError, StorageError
from weft.formats import formats, parse_format
from weft.storage import check

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 3.0]])


@pytest.mark.parametrize("format", [name for name in formats if name != "hash_vector"])
@pytest.mark.parametrize("dtype", ["float64", "int16", "complex64", "bool"])
def test_asarray_in_every_format(format, dtype):
    x = X.astype(dtype)
    A = weft.asarray(x, format=format)
    assert A.format == parse_format(format, 2)
    assert A.dtype == x.dtype
    assert A.shape == x.shape
    check(A._storage)
    np.testing.assert_array_equal(A.todense(), x)
    np.testing.assert_array_equal(A.T.todense(), x.T)


def test_asarray_of_arrays_shares_memory():
    x = X.copy()
    assert np.shares_memory(weft.asarray(x).todense(), x)
    assert np.shares_memory(weft.asarray(x.T).todense(), x)
    assert not np.shares_memory(weft.asarray(x, copy=True).todense(), x)


def test_asarray_copy_false():
    x = X.copy()
    assert np.shares_memory(weft.asarray(x, copy=False).todense(), x)
    S = sp.csr_array(X)
    assert weft.asarray(S, copy=False)._storage.vals is S.data
    A = weft.asarray(S)
    assert weft.asarray(A, copy=False)._storage is A._storage
    assert weft.asarray(A) is A
    for obj, options in ((S, {"format": "csc"}), (S, {"dtype": "f4"}), (X[:, ::2], {}), (X.tolist(), {})):
        with pytest.raises(ValueError, match="copy"):
            weft.asarray(obj, copy=False, **options)
    copied = weft.asarray(S, copy=True)
    assert not np.shares_memory(copied._storage.vals, S.data)
    assert not np.shares_memory(copied._storage.arrays[1], S.indices)


def test_asarray_of_lists_and_scalars():
    np.testing.assert_array_equal(weft.asarray([[1, 2], [3, 4]]).todense(), [[1, 2], [3, 4]])
    assert weft.asarray(2.5).shape == ()
    assert weft.asarray(2.5).item() == 2.5


def test_asarray_dtype_and_fill_value():
    A = weft.asarray(X, format="csr", dtype=np.float32)
    assert A.dtype == np.float32
    B = weft.asarray([[1.0, 2.0], [1.0, 1.0]], format="csr", fill_value=1.0)
    assert B.nnz == 1
    assert B.fill_value == 1.0
    np.testing.assert_array_equal(B.todense(), [[1.0, 2.0], [1.0, 1.0]])
    with pytest.raises(StorageError, match="fill value"):
        weft.asarray(B, fill_value=0.0)
    N = weft.asarray(sp.csr_array(X), fill_value=np.nan)
    np.testing.assert_array_equal(N.todense(), np.where(X == 0, np.nan, X))


@pytest.mark.parametrize("obj", [np.array([None]), np.array(["a"]), [object()], "text", np.zeros(2, "f2"), {}])
def test_asarray_of_what_has_no_c_type(obj):
    with pytest.raises(DTypeError):
        weft.asarray(obj)


@pytest.mark.parametrize(("format", "error"), [("nonsense", FormatError), ("sss", FormatError), (3, FormatError)])
def test_unknown_formats(format, error):
    with pytest.raises(error):
        weft.asarray(X, format=format)


# -- from_coords -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", ["coo", "csr", "csc", "dcsr", "dense", "ds:1,0"])
def test_from_coords_sums_duplicates(format):
    A = weft.from_coords([[1, 0, 1, 1], [2, 1, 0, 2]], [1.0, 1.5, 2.0, 2.0], shape=(2, 3), format=format)
    np.testing.assert_array_equal(A.todense(), X)
    assert A.layout.is_canonical
    check(A._storage)


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("format", ["coo", "csf", "dense"])
def test_from_coords_of_any_order(ndim, format):
    rng = np.random.default_rng(ndim)
    shape = (3, 4, 2, 5)[:ndim]
    coords = np.stack([rng.integers(0, n, 20) for n in shape])
    values = rng.integers(1, 5, 20).astype(float)
    expected = np.zeros(shape)
    np.add.at(expected, tuple(coords), values)
    A = weft.from_coords(coords, values, shape, format=format)
    np.testing.assert_array_equal(A.todense(), expected)
    found, vals = A.to_coo()
    assert found.shape == (ndim, len(vals))
    rebuilt = np.zeros(shape)
    rebuilt[tuple(found)] = vals
    np.testing.assert_array_equal(rebuilt, expected)


def test_from_coords_infers_the_shape_and_broadcasts_values():
    A = weft.from_coords([[0, 4], [2, 0]], 1)
    assert A.shape == (5, 3)
    assert A.dtype == np.int64
    assert A.nnz == 2
    assert weft.from_coords([[], []], []).shape == (0, 0)
    assert weft.from_coords(np.zeros((0, 1), int), [3.0], ()).item() == 3.0


def test_from_coords_shares_sorted_coordinates():
    i, j, v = np.array([0, 1], np.int32), np.array([1, 0], np.int64), np.ones(2)
    A = weft.from_coords([i, j], v, (2, 2))
    assert A._storage.arrays[1] is i
    assert A._storage.arrays[2] is j
    assert A._storage.vals is v


def test_from_coords_can_refuse_or_keep_duplicates():
    coords, values = [[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 3.0]
    with pytest.raises(StorageError, match="1 coordinates repeat"):
        weft.from_coords(coords, values, duplicates="raise")
    with pytest.raises(StorageError, match="repeat"):
        weft.from_coords(coords, values, duplicates="raise", format="dense")
    assert weft.from_coords([[1, 0], [0, 1]], [1.0, 2.0], duplicates="raise").nnz == 2
    A = weft.from_coords(coords, values, duplicates="keep")
    assert A.nnz == 3
    np.testing.assert_array_equal(A.todense(), [[0.0, 3.0], [3.0, 0.0]])
    assert A.asformat("coo").nnz == 2
    with pytest.raises(StorageError, match="keep"):
        weft.from_coords(coords, values, duplicates="keep", format="csr")
    with pytest.raises(ValueError, match="duplicates"):
        weft.from_coords(coords, values, duplicates="last")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[0, 1], [0]], [1.0, 2.0]), ShapeError, "lengths"),
        (([[0, 1], [0, 1]], [1.0]), ShapeError, "values"),
        (([[0, 1], [0, 1]], [1.0, 2.0], (2,)), ShapeError, "2 rows"),
        (([[0, 2], [0, 1]], [1.0, 2.0], (2, 2)), StorageError, r"axis 0 .*\(2, 2\)"),
        (([[0, -1], [0, 1]], [1.0, 2.0], (2, 2)), StorageError, "axis 0"),
        (([[0.5, 1], [0, 1]], [1.0, 2.0]), DTypeError, "float64"),
        (([[0, 1], [0, 1]], ["a", "b"]), DTypeError, "U1"),
        (([[0, 1], [0, 1]], [1.0, 2.0], (-2, 2)), ShapeError, "negative"),
        (([[0, 1], [0, 1]], [1.0, 2.0], (2.5, 2)), ShapeError, "integers"),
        (([[[0, 1]], [[0, 1]]], [1.0, 2.0]), ShapeError, "ndim"),
    ],
)
def test_from_coords_with_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        weft.from_coords(*arguments)


# -- from_levels -------------------------------------------------------------------------------------------------
def test_from_levels_is_zero_copy():
    pos, crd, vals = np.array([0, 1, 3], np.int32), np.array([1, 0, 2], np.int64), np.array([1.5, 2.0, 3.0])
    for levels in ([None, (pos, crd)], [(), {"crd": crd, "pos": pos}]):
        A = weft.from_levels((2, 3), "csr", levels, vals)
        assert A._storage.arrays[0] is pos
        assert A._storage.arrays[1] is crd
        assert A._storage.vals is vals
        np.testing.assert_array_equal(A.todense(), X)
    B = weft.from_levels((2, 3), "coo", [([0, 3], [0, 1, 1]), np.array([1, 0, 2], np.int32)], vals)
    np.testing.assert_array_equal(B.todense(), X)
    np.testing.assert_array_equal(weft.from_levels((2, 3), "dense", [None, None], X.ravel()).todense(), X)


@pytest.mark.parametrize(
    ("format", "levels", "values", "message"),
    [
        ("csr", [None, ([0, 2, 1], [0, 1])], [1.0], "pos decreases"),
        ("csr", [None, ([0, 1, 2], [0, 3])], [1.0, 2.0], "outside"),
        ("csr", [None, ([0, 1], [0])], [1.0], "need 3"),
        ("csr", [None, ([0, 1, 2], [0, 1])], [1.0], "1 values for 2 positions"),
        ("csr", [None, ([0, 2, 2], [1, 0])], [1.0, 2.0], "sorted|order"),
        ("csr", [None, ([0, 2, 2], [1, 1])], [1.0, 2.0], "duplicates|twice"),
        ("csr", [None, (np.array([0.0, 1, 2]), [0, 1])], [1.0, 2.0], "pos has dtype float64"),
        ("csr", [None, (np.array([0, 1, 2], np.uint8), [0, 1])], [1.0, 2.0], "pos has dtype uint8"),
        ("csr", [None, ([0, 1, 2],)], [1.0, 2.0], "2 arrays"),
        ("csr", [None, {"pos": [0, 1, 2]}], [1.0, 2.0], "stores"),
        ("csr", [None], [1.0, 2.0], "1 levels for the 2 levels"),
        ("csr", [None, ([[0, 1, 2]], [0, 1])], [1.0, 2.0], "axes"),
        ("coo", [([0, 2], [1, 0]), ([0, 1],)], [1.0, 2.0], "order|sorted"),
    ],
)
def test_from_levels_checks(format, levels, values, message):
    with pytest.raises(StorageError, match=message) as caught:
        weft.from_levels((2, 3), format, levels, values)
    assert format in str(caught.value)


# -- random ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", ["coo", "csr", "dense"])
@pytest.mark.parametrize("density", [0, 0.05, 0.5, 1])
def test_random(format, density):
    A = weft.random((20, 30), density=density, format=format, rng=0)
    assert np.count_nonzero(A.todense()) == round(600 * density)
    check(A._storage)
    again = weft.random((20, 30), density=density, format=format, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(A.todense(), again.todense())


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_random_dtypes(dtype):
    A = weft.random((10, 10, 10), nnz=17, dtype=dtype, rng=1)
    assert A.dtype == dtype
    assert A.nnz == 17


def test_random_in_a_huge_shape():
    A = weft.random((2**40, 2**40), nnz=5, rng=0)
    assert A.nnz == 5
    check(A._storage)


@pytest.mark.parametrize("options", [{"density": 2}, {"nnz": 7}, {"nnz": -1}, {"nnz": 1, "density": 0.5}])
def test_random_with_bad_input(options):
    with pytest.raises(ValueError, match=r"density|nnz"):
        weft.random((2, 3), **options)
