"""npz files that weft and the package sparse exchange."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import FileFormatError
from weft.io.npz import _own_arrays
from weft.storage import check

sparse = pytest.importorskip("sparse")

rng = np.random.default_rng(3)
X = rng.random((3, 4, 5)) * (rng.random((3, 4, 5)) < 0.4)


def written(save, *args, **kwargs):
    stream = io.BytesIO()
    save(stream, *args, **kwargs)
    stream.seek(0)
    return stream


@pytest.mark.parametrize("fill", [0.0, 2.0, np.nan])
@pytest.mark.parametrize("format", ["coo", "gcxs"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_files_of_either_load_in_both(format, axes, fill):
    x = np.where(X == 0, fill, X)[(0,) * (3 - axes)]
    if format == "gcxs" and axes == 1:
        S = sparse.GCXS.from_numpy(x, fill_value=fill)  # weft has no such vectors
        np.testing.assert_array_equal(weft.load_npz(written(sparse.save_npz, S)).todense(), x)
        return
    A = weft.from_coords(np.nonzero(x == x), x[x == x], x.shape, format=format, fill_value=fill).pruned()
    files = [(sparse.save_npz, A), (sparse.save_npz, A.to_pydata_sparse(format))]
    if (format, axes, fill) != ("gcxs", 2, 0.0):  # which is csr, and laid out as scipy has it
        files.append((weft.save_npz, A))
    for load in (weft.load_npz, sparse.load_npz):
        for save, tensor in files:
            found = load(written(save, tensor))
            np.testing.assert_array_equal(found.todense(), x)
            np.testing.assert_array_equal(found.fill_value, fill)
    found = weft.load_npz(written(weft.save_npz, A))
    check(found._storage)
    assert found.layout == A.layout
    assert found.nnz == A.nnz


def test_what_scipy_reads_of_a_list_of_coordinates():
    A = weft.asarray(X, format="coo")
    for tensor in (A, A[0]):
        found = sp.load_npz(written(weft.save_npz, tensor))
        assert isinstance(found, sp.coo_array)
        np.testing.assert_array_equal(found.toarray(), tensor.todense())
    with pytest.raises(ValueError, match="COO"):  # it would read the fill value as zero
        sp.load_npz(written(weft.save_npz, weft.exp(A)))


def test_arrays_are_not_written_twice():
    for format in ("coo", "gcxs", "csf"):
        A = weft.asarray(X, format=format)
        with zipfile.ZipFile(written(weft.save_npz, A, compressed=False)) as file:
            stored = sum(info.file_size for info in file.infolist())
        assert stored < A.nbytes + 16 * 200


def test_files_of_earlier_versions():
    for format in ("coo", "gcxs"):
        A = weft.exp(weft.asarray(X, format=format))
        found = weft.load_npz(written(np.savez, **_own_arrays(A._storage)))
        assert (found.format, found.fill_value) == (A.format, 1.0)
        np.testing.assert_array_equal(found.todense(), A.todense())


def test_axes_of_different_index_dtypes():
    A = weft.from_coords([np.array([0, 1], np.int32), np.array([2**40, 5])], [1.0, 2.0], (2, 2**41))
    assert len({rows.dtype for rows in A._storage.arrays[1:]}) == 2
    found = weft.load_npz(written(weft.save_npz, weft.exp(A)))
    assert [a.dtype for a in found._storage.arrays] == [a.dtype for a in A._storage.arrays]
    assert found[0, 2**40] == np.exp(1.0)


@pytest.mark.parametrize(
    "broken",
    [{"format": "dok"}, {"coords": np.array([[9], [0]])}, {"coords": np.zeros((3, 1), int)},
     {"shape": np.array([-1, 2])}, {"data": np.ones(2)}, {"fill_value": np.array("a")}, {"data": np.array(["a"])}],
)  # fmt: skip
def test_broken_files(broken):
    whole = {
        "format": "coo", "shape": np.array([2, 3]), "coords": np.zeros((2, 1), int), "data": np.ones(1),
        "fill_value": 0.0,
    }  # fmt: skip
    assert weft.load_npz(written(np.savez, **whole)).nnz == 1
    with pytest.raises(FileFormatError):
        weft.load_npz(written(np.savez, **{**whole, **broken}))
    with pytest.raises(FileFormatError):
        weft.load_npz(written(np.savez, **{**whole, "format": "gcxs"}))
