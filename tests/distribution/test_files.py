"""Arrays of files: tasks read their parts, passes read anew, results are written by blocks, memory is bounded."""

from __future__ import annotations

import os
import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pytest

import weft
from weft.errors import DensifyError, FileFormatError, ShapeError

from .statements import dense

pytestmark = pytest.mark.compiles_alone

PROGRAM = """
import os, sys, numpy as np, weft
path = sys.argv[1]
if os.fork() == 0:  # so that the memory of what is written is not this process's
    weft.save_npz(path, weft.random((100_000, 20_000), nnz=4_000_000, rng=0, format="csr"), compressed=False)
    os._exit(0)
os.wait()

def memory(name):
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(name))

x = np.ones(20_000)
for entries in (200_000, 199_000):  # kernels are loaded the first time
    X = weft.dask.open(path, entries=entries)
    jobs = [weft.dask.evaluate("y(i) = X(i,j)*x(j)", X=X, x=x), weft.dask.var(X, axis=0),
            weft.dask.evaluate("s = X(i,j)/sum(k, X(k,j))", X=X)]
    open("/proc/self/clear_refs", "w").write("5")
    before = memory("VmRSS")
    for job in jobs:
        job.compute(scheduler="threads", num_workers=2)
print(os.path.getsize(path) / 1e6, memory("VmHWM") - before)
"""


@pytest.fixture(scope="module", name="A")
def matrix():
    return weft.random((300, 40), density=0.2, rng=0, format="csr")


@pytest.mark.parametrize("name", ["a.npz", "a.mtx", "a.tns", "a.zarr", "a.h5", "a.parquet"])
def test_each_task_reads_its_part(A, tmp_path, name):
    pytest.importorskip({"zarr": "zarr", "h5": "h5py", "parquet": "pyarrow"}.get(name.split(".")[1], "numpy"))
    path = str(tmp_path / name)
    weft.save_npz(path, A, compressed=False) if name.endswith("npz") else weft.save(path, A)
    X = weft.dask.open(path, entries=700)
    assert X.numblocks[0] >= 3
    assert X._meta.format == ("coo" if name[2:] in ("mtx", "tns", "parquet") else "csr")
    assert weft.dask.open(path, entries=700, format="dcsr").blocks[1].compute().format == "dcsr"
    np.testing.assert_allclose(dense(X.compute()), dense(A))
    total = weft.dask.evaluate("y(j) = X(i,j)*X(i,j)", X=X)
    assert len(dask.optimize(total)[0].__dask_graph__()) <= X.numblocks[0] + 2  # reading is a part of the task
    np.testing.assert_allclose(dense(total.compute()), dense((A * A).sum(axis=0)))
    assert "2400 entries" in weft.dask.explain(total)
    assert weft.dask.open(path, entries=700).name == X.name
    again = A * 2
    weft.save_npz(path, again, compressed=False) if name.endswith("npz") else weft.save(path, again)
    os.utime(path, (1, 1))
    assert weft.dask.open(path, entries=700).name != X.name


def test_passes_read_anew_and_share_no_chunk(A, tmp_path):
    path = str(tmp_path / "a.npz")
    weft.save_npz(path, A, compressed=False)
    X = weft.dask.open(path, entries=700)
    shares = weft.dask.evaluate("P(i,j) = X(i,j)/sum(k, X(k,j))", X=X)
    reads = [name for name in shares.dask.layers if name.startswith("weft: read")]
    assert len(reads) == 2
    np.testing.assert_allclose(dense(shares.compute()), dense(weft.evaluate("P(i,j) = X(i,j)/sum(k, X(k,j))", X=A)))
    text = "v(j) = sum(i, X(i,j)*X(i,j))/300 - (sum(i, X(i,j))/300)*(sum(i, X(i,j))/300)"
    variance = weft.dask.evaluate(text, X=X)
    assert len([name for name in variance.dask.layers if name.startswith("weft: read")]) == 1  # of all three sums
    np.testing.assert_allclose(dense(variance.compute()), dense(A.var(axis=0)))
    both = weft.dask.evaluate("P(i,j) = X(i,j)/sum(k, X(k,j)/sum(l, X(k,l)*sum(m, X(m,l))))", X=X)
    assert len([name for name in both.dask.layers if name.startswith("weft: read")]) == 3
    assert len([name for name, needed in both.dask.dependencies.items() if X.name in needed]) == 1  # the result alone
    array = dense(A)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(dense(both.compute()), array / (array.T / (array @ array.sum(axis=0))).sum(axis=1))
    loaded = weft.dask.from_tensor(A, entries=700)
    held = weft.dask.evaluate("P(i,j) = X(i,j)/sum(k, X(k,j))", X=loaded)
    assert len([name for name in held.dask.layers if name.startswith("weft: chunks")]) == 1


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("ending", ["zarr", "h5", "h5ad"])
def test_results_are_saved_block_by_block(A, tmp_path, ending, format):
    pytest.importorskip("zarr" if ending == "zarr" else "h5py")
    X = weft.dask.from_tensor(A.asformat(format), chunks=(70, 15))
    shares = weft.dask.evaluate("P(i,j) = X(i,j)/sum(k, X(k,j))", X=X, format=format)
    path = str(tmp_path / f"a.{ending}")
    weft.dask.save(path, shares)
    np.testing.assert_allclose(dense(weft.load(path)), dense(shares.compute()))
    assert weft.open(path).format == ("csc" if format == "csc" else "csr")
    assert weft.dask.open(path, entries=500).numblocks != (1, 1)


def test_dasks_own_writing_names_what_to_call(A, tmp_path):
    pytest.importorskip("zarr")
    X = weft.dask.from_tensor(A)
    for write in (lambda: da.store(X, np.zeros(A.shape)), lambda: X.to_zarr(str(tmp_path / "a.zarr"))):
        with pytest.raises(DensifyError, match=r"to files, and weft\.dask\.save dask arrays of tensors"):
            write()
    with pytest.raises(DensifyError) as caught:
        np.asarray(A)
    assert "dask" not in str(caught.value)


def test_what_cannot_be_saved_or_opened_is_refused(A, tmp_path):
    X = weft.dask.from_tensor(A)
    with pytest.raises(FileFormatError, match=r"not written by parts; those ending in \.h5ad"):
        weft.dask.save(str(tmp_path / "a.npz"), X)
    with pytest.raises(ShapeError, match="matrix of known shape"):
        weft.dask.save(str(tmp_path / "a.zarr"), X[0])
    with pytest.raises(FileNotFoundError):
        weft.dask.open(str(tmp_path / "none.npz"))
    with pytest.raises(FileFormatError, match="kind of the file"):
        weft.dask.open(str(tmp_path / "none.txt"))
    assert not os.listdir(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_the_memory_of_streaming_does_not_depend_on_the_file(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "a.npz")]
    size, added = map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert size > 45
    assert added < size / 2, (size, added)  # some chunks of 2.4 MB at a time, with what is made of them
