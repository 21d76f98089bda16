"""Chunks by entries, moments over chunks, and how dask and tensors meet."""

from __future__ import annotations

import gc
import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr
from dask.sizeof import sizeof

import weft
from weft.errors import DensifyError, ShapeError
from weft.runtime import for_work

from .statements import dense


def test_tensors_are_cut_by_entries():
    A = weft.random((1000, 10**6), nnz=5000, rng=0, format="csr")
    X = weft.dask.from_tensor(A, entries=1000)
    counts = weft.dask.entries(X)
    assert counts.sum() == 5000
    assert 5 <= len(counts) <= 7
    assert counts.max() <= 1000
    assert weft.dask.from_tensor(A).numblocks == (1, 1)
    assert (weft.dask.entries(X + X) == counts).all()
    rows = weft.dask.rechunk(X.rechunk((100, 10**6)), entries=1000)
    assert weft.dask.entries(rows).max() <= 1000
    assert rows.numblocks[0] <= 7
    full = weft.dask.from_tensor(np.ones((3, 50)), entries=60)
    assert full.chunks == ((1, 1, 1), (50,))
    with pytest.raises(ValueError, match="positive number, not 0"):
        weft.dask.from_tensor(A, entries=0)
    with pytest.raises(TypeError, match="chunks or entries"):
        weft.dask.rechunk(X)
    for empty in (weft.zeros((0, 4)), weft.zeros((4, 0)), weft.zeros((2, 2))):
        assert weft.dask.from_tensor(empty).compute().shape == empty.shape
    vector = weft.asarray([0.0, 1.0, 2.0], format="coo")
    assert weft.dask.from_tensor(vector, entries=1).chunks == ((2, 1),)


@pytest.mark.parametrize(
    ("axis", "dtype"), [(None, np.int64), (0, np.float64), (1, np.complex128), ((0, 1), np.float32), (-1, np.bool_)]
)
def test_moments_equal_those_of_tensors(axis, dtype):
    rng = np.random.default_rng(0)
    D = np.where(rng.random((37, 12)) < 0.3, rng.integers(-4, 9, (37, 12)), 0).astype(dtype)
    D = D * (1 + 2j) if dtype is np.complex128 else D
    A = weft.asarray(D, format="csr").with_fill(dtype(0))
    for X in (weft.dask.from_tensor(A, entries=20), weft.dask.from_tensor(A, chunks=((0, 30, 7), (5, 7)))):
        for name in ("mean", "var", "std"):
            for keepdims in (False, True):
                options = {} if name == "mean" else {"ddof": 1}
                found = getattr(weft.dask, name)(X, axis=axis, keepdims=keepdims, **options)
                wanted = getattr(np, name)(D, axis=axis, keepdims=keepdims, **options)
                chunk = found.compute(scheduler="synchronous")
                np.testing.assert_allclose(dense(chunk), wanted, rtol=1e-5 if dtype is np.float32 else 1e-12)
                assert found.shape == chunk.shape == wanted.shape
                assert found.dtype == chunk.dtype == wanted.dtype


def test_variances_beside_a_large_mean_are_as_exact_as_numpys():
    D = np.random.default_rng(0).normal(1e6, 1, (3000, 5))
    X = weft.dask.from_tensor(weft.asarray(D, format="csr"), entries=1000)
    np.testing.assert_allclose(dense(weft.dask.var(X, axis=0).compute()), D.var(axis=0), rtol=1e-9)


def test_moments_of_other_fill_values():
    A = weft.random((30, 8), density=0.3, rng=0, format="csr").with_fill(2.0)
    X = weft.dask.from_tensor(A, entries=20)
    np.testing.assert_allclose(dense(weft.dask.var(X, axis=0).compute()), A.todense().var(axis=0))
    np.testing.assert_allclose(dense(weft.dask.mean(X, axis=0).compute()), A.todense().mean(axis=0))


def test_dasks_and_xarrays_variances_refuse_to_make_chunks_dense():
    A = weft.random((8000, 40_000), nnz=8000, rng=0, format="csr")
    X = weft.dask.from_tensor(A, entries=4000)
    for variance in (da.var(X, axis=0), xr.DataArray(X, dims=("a", "b")).var("a", skipna=False).data):
        with pytest.raises(DensifyError, match=r"weft\.dask\.var"):
            variance.compute(scheduler="synchronous")
    found = weft.dask.var(X, axis=0).compute()
    np.testing.assert_allclose(dense(found), dense(A.var(axis=0)))


MEETINGS = [
    "A + D", "D + A", "A * D", "np.add(A, D)", "np.add(D, A)", "np.concatenate([A, D])", "np.concatenate([D, A])",
    "A @ D.T", "D.T @ A", "A > D", "D < A", "np.where(A > 0, A, D)", "2 * D - A",
]  # fmt: skip


def test_operators_know_dask_by_contact():
    """Each as the first meeting of a process: what makes tensors known is undone between them."""
    program = f"""
import sys, numpy as np, weft
A = weft.random((30, 20), density=0.2, rng=0, format="csr")
assert "dask" not in sys.modules and "weft.dask" not in sys.modules
import dask.array as da
from dask.array.chunk_types import _HANDLED_CHUNK_TYPES as known
D = da.from_array(A, chunks=(8, 20), asarray=False)
for text in {MEETINGS}:
    for loaded in [name for name in sys.modules if name.startswith("weft.dask.hooks")]:
        del sys.modules[loaded]
    known[:] = [each for each in known if each is not weft.SparseTensor]
    weft.tensor.lazy_methods.resolve.cache_clear()
    found, wanted = eval(text), eval(text, dict(globals(), D=A))
    assert isinstance(found, da.Array), text
    found = found.compute(scheduler="synchronous")
    np.testing.assert_allclose(found.todense(), wanted.todense(), err_msg=text)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_import_of_weft_dask_imports_no_dask():
    program = "import sys, weft; dir(weft.dask); print('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "False"


def test_without_dask_the_error_says_what_to_install():
    program = """
import sys
sys.modules["dask"] = sys.modules["dask.array"] = None
import weft
try:
    weft.dask.evaluate
except ImportError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'weft[dask]'" in found.stdout, found


def test_sizes_and_tokens_are_those_of_the_arrays():
    A = weft.random((300, 200), nnz=5000, rng=0, format="csr")
    assert A.nbytes <= sizeof(A) <= A.nbytes + 400
    token = dask.base.tokenize(A)
    assert token == dask.base.tokenize(A.copy())
    others = (A * 2, A.asformat("csc"), A.with_fill(1.0), A.astype("float32"), A[:299])
    assert len({token, *map(dask.base.tokenize, others)}) == 6


def test_what_dask_looks_up_by_type():
    x = weft.random((100,), nnz=60, rng=0)
    X = weft.dask.from_tensor(x, entries=20)
    found = da.percentile(X, [50], method="linear").compute(scheduler="synchronous")
    assert found.shape == (1,)
    assert isinstance(X.map_blocks(lambda c: c).compute(), weft.SparseTensor)


def test_elements_are_assigned():
    A = weft.random((30, 20), density=0.2, rng=0, format="csr")
    D, X = A.todense(), weft.dask.from_tensor(A, entries=40)
    for key, value in (((0, 0), 5), (slice(2, 4), 1.0), ((slice(None), 3), np.arange(30.0)), (None, -1)):
        X[X > 0.7 if key is None else key] = value
        D[D > 0.7 if key is None else key] = value
        found = X.compute(scheduler="synchronous")
        np.testing.assert_allclose(dense(found), D)
        assert isinstance(found, weft.SparseTensor)
    assert isinstance(np.asanyarray([1.0, 0.0], like=A), weft.SparseTensor)
    np.testing.assert_array_equal(dense(da.isin(X, [0.0, 5.0]).compute()), np.isin(D, [0.0, 5.0]))


def _share(chunk):
    return np.array([for_work(10**9)])


@pytest.mark.compiles_alone
def test_kernels_in_threads_of_dask_share_wefts():
    X = da.zeros((8,), chunks=2)
    shares = X.map_blocks(_share, dtype=int, chunks=(1,))
    with weft.config.override(num_threads=6):
        assert set(shares.compute(scheduler="threads", num_workers=2).tolist()) == {3}
        assert set(shares.compute(scheduler="threads", num_workers=8).tolist()) == {1}
        assert set(shares.compute(scheduler="synchronous").tolist()) == {6}
        assert for_work(10**9) == 6


def test_singular_values_of_wide_and_complex_matrices():
    """Those of single precision, of more columns than rows, and of columns in chunks."""
    rng = np.random.default_rng(0)
    left, right = np.linalg.qr(rng.normal(size=(300, 4)))[0], np.linalg.qr(rng.normal(size=(60, 4)))[0]
    values = np.array([9.0, 5.0, 2.0, 1.0])
    D = (left * values) @ right.T
    for array, chunks in ((D.astype("f4"), (100, 60)), (D.T, (20, 300)), (D * (1 + 2j), (90, 25))):
        X = weft.dask.from_tensor(weft.asarray(array, format="csr"), chunks=chunks)
        u, s, v = dask.compute(*weft.dask.svd(X, 3, seed=0), scheduler="synchronous")
        np.testing.assert_allclose(s, values[:3] * (np.sqrt(5) if array.dtype.kind == "c" else 1), rtol=1e-4)
        np.testing.assert_allclose(u.conj().T @ u, np.eye(3), atol=1e-5)
        rank3 = np.linalg.svd(array, full_matrices=False)
        np.testing.assert_allclose((u * s) @ v, (rank3[0][:, :3] * rank3[1][:3]) @ rank3[2][:3], atol=1e-4)
    with pytest.raises(ShapeError, match="k is between 1 and 60"):
        weft.dask.svd(X, 61)
    assert gc.isenabled()  # slices of dask switch it off, and on again if it was when dask was imported


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dense"])
@pytest.mark.parametrize("chunks", [(7, 40), (7, 9), (30, 9), (31, 41)])
def test_nonzero_elements_are_found_by_chunks(format, chunks):
    A = weft.random((30, 40), density=0.1, rng=0, format="csr")
    A[3, 4] = 0  # stored
    D = da.from_array(A.asformat(format), chunks=chunks, asarray=False)
    for find in (da.argwhere, da.nonzero, da.flatnonzero, da.where, lambda x: x.nonzero()):
        (found,), (expected,) = dask.compute(find(D)), dask.compute(find(da.from_array(A.todense(), chunks=chunks)))
        np.testing.assert_equal(np.array(found), np.array(expected))
    vector = da.from_array(weft.asarray([0.0, 2, 0, 3], format="coo"), chunks=3, asarray=False)
    np.testing.assert_equal(da.argwhere(vector).compute(), [[1], [3]])
    cube = weft.random((4, 5, 6), density=0.2, rng=1, format="csf")
    found = da.argwhere(da.from_array(cube > 0.5, chunks=(2, 3, 6), asarray=False))
    np.testing.assert_equal(found.compute(), np.argwhere(cube.todense() > 0.5))
