"""A real cluster of two processes that nobody has prepared: statements, sizes, rechunking, spilling, lost workers."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster, wait
from distributed.protocol import deserialize, serialize
from distributed.protocol import pickle as distributeds

import weft
from weft.errors import StorageError
from weft.execution.plan_cache import plans
from weft.runtime import loader
from weft.storage import Storage

from .statements import STATEMENTS, dense, operand

pytestmark = pytest.mark.compiles_alone

LIMIT = 400 << 20


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    spill = tmp_path_factory.mktemp("spill")
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "60s", "distributed.worker.memory.target": 0.01}),
        LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0", memory_limit=LIMIT,
            local_directory=str(spill),
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


def test_workers_that_nobody_prepared_know_sizes(client):
    def size():
        import dask.sizeof

        import weft

        A = weft.eye(1000, format="csr")
        return dask.sizeof.sizeof(A) >= A.nbytes, "weft.dask" in __import__("sys").modules

    assert all(known for known, _ in client.run(size).values())


@pytest.mark.parametrize("text", ["y(i) = A(i,j)*x(j)", "C(j,k) = A(i,j)*F(i,k)", "P(i,j) = A(i,j)/sum(k, A(i,k))"])
def test_statements_on_workers_equal_those_of_tensors(client, text):
    rng = np.random.default_rng(7)
    pairs = {name: operand(rng, axes, np.float64, sparse=name in "AF") for name, axes in STATEMENTS[text].items()}
    found = weft.dask.evaluate(text, **{n: b for n, (_, b) in pairs.items()}).compute()
    wanted = weft.evaluate(text, **{n: a for n, (a, _) in pairs.items()})
    np.testing.assert_allclose(dense(found), dense(wanted))


def test_operators_and_moments_on_workers(client):
    A = weft.random((300, 200), nnz=3000, rng=0, format="csr")
    X = weft.dask.from_tensor(A, entries=500)
    np.testing.assert_allclose(dense(weft.dask.var(X, axis=0).compute()), dense(A.var(axis=0)))
    np.testing.assert_allclose(dense((A + X).sum(axis=0).compute()), dense(2 * A.sum(axis=0)))
    np.testing.assert_allclose(dense((X.T @ X).compute()), dense(A.T @ A))
    assert da.percentile(X[0], [50], method="linear").compute().shape == (1,)


def test_only_what_a_cluster_moves_is_not_checked(client):
    """A tensor with wrong arrays, which a check refuses, arrives as it was; a pickle in other hands is checked."""
    good = weft.eye(3, format="csr")
    storage = good._storage
    wrong = Storage(storage.shape, storage.type, (storage.arrays[0], storage.arrays[1] + 7), storage.vals)
    for sent in (weft.SparseTensor(wrong), {"nested": [weft.SparseTensor(wrong)]}):
        header, frames = serialize(sent)
        deserialize(header, frames)
        buffers = []
        text = distributeds.dumps(sent, buffer_callback=buffers.append)
        distributeds.loads(text, buffers=buffers)
        for load in (
            lambda text=text, buffers=buffers: pickle.loads(text, buffers=buffers),
            lambda sent=sent: pickle.loads(pickle.dumps(sent)),
            lambda sent=sent: distributeds.loads(pickle.dumps(sent)),
        ):
            with pytest.raises(StorageError, match="outside"):
                load()
    ell = weft.asarray([[1.0, 2.0], [0.0, 3.0]], format="ell")  # of a format whose entries are compared, too
    np.testing.assert_array_equal(dense(deserialize(*serialize(ell))), dense(ell))
    twice = np.array([0, 1, 0, -1], ell._storage.arrays[-1].dtype)
    repeated = Storage(ell.shape, ell._storage.type, (*ell._storage.arrays[:-1], twice), ell._storage.vals)
    deserialize(*serialize(weft.SparseTensor(repeated)))
    with pytest.raises(StorageError, match="twice"):
        pickle.loads(pickle.dumps(weft.SparseTensor(repeated)))
    sent = client.scatter(weft.SparseTensor(wrong))
    assert client.submit(lambda A: A._storage.arrays[1].tolist(), sent).result() == [7, 8, 9]
    assert sent.result()._storage.arrays[1].tolist() == [7, 8, 9]


PROGRAM = """
import {first}
import {second}
from distributed import Client, LocalCluster
import dask, weft

if __name__ == "__main__":
    options = dict(n_workers=1, processes=True, threads_per_worker=1, dashboard_address=":0")
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        made = client.submit(weft.random, (50, 40), density=0.1, rng=0, format="csr")  # before any contact here
        A = made.result()
        assert (client.submit(lambda B: B.sum(), client.scatter(A + A)).result() == 2 * A.sum()).all()
        X = weft.dask.from_tensor(A, entries=80).persist()
        assert abs(weft.dask.var(X).compute() - A.var()) < 1e-12
        print((A + X).sum().compute().round(6) == (2 * A.sum()).round(6))
"""


@pytest.mark.parametrize(("first", "second"), [("weft", "distributed"), ("distributed", "weft")])
def test_the_order_of_imports_does_not_matter(first, second, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(first=first, second=second))
    found = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert found.stdout.strip() == "True", found.stderr


def test_twenty_row_chunks_become_twenty_column_chunks(client):
    A = weft.random((400, 400), nnz=8000, rng=0, format="csr")
    X = weft.dask.from_tensor(A, chunks=(20, 400)).persist()
    for Y in (weft.dask.rechunk(X, (400, 20)), X.rechunk((400, 20)), da.rechunk(X, (400, 20))):
        assert Y.numblocks == (1, 20)
        np.testing.assert_array_equal(dense(Y.compute()), dense(A))
    ndarrays = X.map_blocks(lambda c: c.todense(), meta=np.empty((0, 0))).rechunk((400, 20))
    assert any("p2p" in name for name in ndarrays.dask.layers)  # dask's choice for others stays


def test_chunks_are_spilled_by_their_true_sizes(client):
    """Workers spill from a hundredth of their memory on: 8 arrays of 4 MB are 32 MB, of which 8 MB stay."""
    make = dask.delayed(lambda seed: weft.random((1000, 100_000), nnz=330_000, rng=seed, format="csr"), pure=True)
    meta = weft.zeros((0, 0), format="csr")
    parts = [da.from_delayed(make(seed), (1000, 100_000), meta=meta) for seed in range(8)]
    X = da.concatenate(parts).persist()
    wait(X, timeout=60)
    spilled = client.run(lambda dask_worker: len(dask_worker.data.slow))
    assert sum(spilled.values()) >= 5, spilled
    found = weft.dask.evaluate("s = X(i,j)*X(i,j)", X=X).compute()
    wanted = sum(float((part**2).sum()) for part in (make(seed).compute(scheduler="sync") for seed in range(2)))
    assert np.isclose(weft.dask.evaluate("s = X(i,j)*X(i,j)", X=X[:2000]).compute(), wanted)
    assert found > wanted


def test_a_matrix_of_three_times_the_memory_streams_through(client, tmp_path):
    """48 MB of a file, in chunks of 5 MB, of which workers keep 8 MB in memory: no pass may hold many of them."""
    A = weft.random((100_000, 2000), nnz=4_000_000, rng=0, format="csr")
    path = str(tmp_path / "a.npz")
    weft.save_npz(path, A, compressed=False)
    X = weft.dask.open(path, entries=400_000)
    rng = np.random.default_rng(0)
    B = weft.random((2000, 300), nnz=2000, rng=1, format="csr")
    beside = {"x": rng.random(2000), "V": rng.random((2000, 3)), "B": B, "d": np.asarray(A.std(axis=0).todense())}
    texts = (
        "y(i) = X(i,j)*x(j)",
        "Y(i,r) = X(i,j)*V(j,r)",
        "n(i) = sum(j, (X(i,j)/d(j))*(X(i,j)/d(j)))",
        "t(j) = log1p(X(i,j))*x(j)/sqrt(sum(k, X(i,k)*X(i,k)))",
    )
    jobs = []
    for text in texts:
        names = {name: beside[name] for name in beside if f"{name}(" in text.partition("=")[2]}
        jobs.append((weft.dask.evaluate(text, X=X, **names), weft.evaluate(text, X=A, **names)))
    jobs += [(weft.dask.mean(X, axis=0), A.mean(axis=0)), (weft.dask.var(X, axis=0), A.var(axis=0))]
    product = weft.dask.evaluate("C(i,k) = X(i,j)*B(j,k)", X=X, B=B)
    jobs[0][0].compute()
    client.run(_memory, reset=True)
    before = client.run(_memory)
    for job, wanted in jobs:
        np.testing.assert_allclose(dense(job.compute()), dense(wanted), rtol=1e-9)
    product = product.persist()  # as large as the matrix, and spilled
    np.testing.assert_allclose(dense(weft.dask.var(product, axis=0).compute()), dense((A @ B).var(axis=0)))
    largest = weft.dask.svd(X, 2, seed=0)[1].compute()[0]
    np.testing.assert_allclose(largest, weft.linalg.svds(A, k=1, return_singular_vectors=False)[0], rtol=1e-4)
    added = [peak - before[worker] for worker, peak in client.run(_memory, peak=True).items()]
    assert max(added) < 36, added


def _memory(reset=False, peak=False):
    """Return the memory of a process in MB, now or at most since the last reset."""
    if reset:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM" if peak else "VmRSS"))


def test_a_worker_that_is_killed_costs_time_alone(client):
    A = weft.random((2000, 300), nnz=20_000, rng=0, format="csr")
    X = weft.dask.from_tensor(A, entries=1000)

    def slow(block):
        time.sleep(0.05)
        return block

    Y = X.map_blocks(slow, meta=X._meta)
    future = client.compute(weft.dask.evaluate("C(j,k) = A(i,j)*A(i,k)", A=Y))
    time.sleep(0.3)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    np.testing.assert_allclose(dense(future.result(timeout=60)), dense(A.T @ A))
    client.wait_for_workers(2, timeout=30)


def test_kernels_are_sent_to_workers_that_may_not_compile(client, tmp_path):
    def settle(folder):
        weft.config.cache_dir, weft.config.compile, weft.config.shipped = folder, "never", False

    A = weft.random((200, 60), nnz=900, rng=0, format="csr")
    X = weft.dask.from_tensor(A, entries=300)
    text = f"C(j,k) = X(i,j)*X(i,k)*sum(l, X(l,k))*{time.time()!r}"  # which nobody has compiled
    found = weft.dask.evaluate(text, X=X)
    client.run(settle, str(tmp_path / "workers"))
    plans.clear()
    loader.forget()  # what tests before this one have compiled, several kernels together
    try:
        with pytest.raises(weft.errors.NotCompiledError, match="is not compiled yet"):
            found.compute()
        with weft.config.override(cache_dir=str(tmp_path / "client")):
            assert weft.dask.warm(client, found) > 0
        np.testing.assert_allclose(dense(found.compute()), dense(weft.evaluate(text, X=A)))
    finally:
        client.run(lambda: weft.config.reset())
