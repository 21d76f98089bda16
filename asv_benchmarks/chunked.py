"""Statements over chunks beside loops by hand, SciPy's chunks and dask's own spelling.

``python -m asv_benchmarks.chunked`` prints the table. Chunks are computed one after the other, by dask's synchronous
scheduler and on one thread, so that the ratios are of work and not of waiting; all of a row run in turns.
The last rows are of real clusters, and need a quiet machine.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster, wait
from distributed.protocol import deserialize, serialize

import weft

from .inputs import scaled
from .measure import Ratio, Run, forget_peak, interleaved, memory_of, threads

__all__ = ["ROWS", "Row", "main", "measured"]

CHUNKS = 8


@dataclass(frozen=True)
class Row:
    """Runs of one computation: the first is compared with each of the others, whose ratios have targets."""

    runs: Callable[[], dict[str, Run]]
    targets: dict[str, float]


@cache
def blocks() -> list[Any]:
    """Blocks of rows like documents: 20 entries a row, columns by a power law."""
    rng, found = np.random.default_rng(0), []
    rows, columns = scaled(60_000), scaled(20_000)
    for _ in range(CHUNKS):
        i = np.repeat(np.arange(rows), rng.poisson(20, rows))
        j = (columns * rng.random(len(i)) ** 3).astype(np.int64)
        found.append(sp.csr_array((rng.integers(1, 5, len(i)).astype(float), (i, j)), shape=(rows, columns)))
    return found


@cache
def tensors() -> list[Any]:
    """The blocks as tensors."""
    return [weft.asarray(block) for block in blocks()]


@cache
def array() -> Any:
    """The blocks as a dask array in memory."""
    return da.concatenate([weft.dask.from_tensor(part, entries=10**9) for part in tensors()]).persist()


def computed(x: Any, scheduler: str = "synchronous", **options: Any) -> Run:
    return lambda: x.compute(scheduler=scheduler, **options)


def _sum(parts: list[Any]) -> Any:
    while len(parts) > 1:
        parts = [sum(parts[k + 1 : k + 2], parts[k]) for k in range(0, len(parts), 2)]
    return parts[0]


def gram() -> dict[str, Run]:
    """The product of the transpose and the matrix, of few columns."""
    few = [block[:, : max(1, block.shape[1] // 8)] for block in blocks()]
    own = [weft.asarray(block) for block in few]
    x = da.concatenate([weft.dask.from_tensor(part, entries=10**9) for part in own]).persist()
    return {
        "statement": computed(weft.dask.evaluate("C(j,k) = X(i,j)*Y(i,k)", X=x, Y=x)),
        "weft by hand": lambda: _sum([weft.evaluate("C(j,k) = X(i,j)*Y(i,k)", X=a, Y=a) for a in own]),
        "SciPy by hand": lambda: _sum([a.T @ a for a in few]),
        "dask's spelling": computed(x.T @ x),
    }


def tfidf() -> dict[str, Run]:
    """Weighted logarithms, divided by the norm of their row, and added up by columns."""
    x, w = array(), np.random.default_rng(1).random(blocks()[0].shape[1])
    weighted = weft.dask.evaluate("T(i,j) = log1p(X(i,j))*w(j)", X=x, w=w)
    total = weft.dask.evaluate("s(j) = T(i,j)/sqrt(sum(k, T(i,k)*T(i,k)))", T=weighted)

    def scipy() -> Any:
        found = []
        for block in blocks():
            t = block.log1p() @ sp.diags_array(w)
            norms = np.sqrt(np.asarray(t.multiply(t).sum(axis=1))).ravel()
            found.append((sp.diags_array(1 / np.where(norms, norms, 1)) @ t).sum(axis=0))
        return _sum(found)

    t = da.log1p(x) * w
    spelled = (t / da.sqrt((t * t).sum(axis=1, keepdims=True))).sum(axis=0)
    return {
        "statements": computed(total),
        "SciPy by hand": scipy,
        "dask's spelling": computed(spelled),
    }


def moments() -> dict[str, Run]:
    """The variance of each column."""

    def scipy() -> Any:
        count = CHUNKS * blocks()[0].shape[0]
        total = _sum([block.sum(axis=0) for block in blocks()])
        squares = _sum([block.multiply(block).sum(axis=0) for block in blocks()])
        return squares / count - (total / count) ** 2

    return {"weft.dask.var": computed(weft.dask.var(array(), axis=0)), "SciPy by hand": scipy}


def both_threads() -> dict[str, Run]:
    """A product with 16 vectors, on dask's threaded scheduler."""
    x, v = array(), np.random.default_rng(1).random((blocks()[0].shape[1], 16))
    product = weft.dask.evaluate("Y(i,r) = X(i,j)*V(j,r)", X=x, V=v)
    return {"two threads": computed(product, "threads", num_workers=2), "one": computed(product)}


def loading() -> dict[str, Run]:
    """A tensor that a worker has sent, beside a copy of its arrays."""
    header, frames = serialize(tensors()[0])
    raw = [np.frombuffer(frame, np.uint8) for frame in frames[1:]]
    return {"loading": lambda: deserialize(header, frames), "copy": lambda: [a.copy() for a in raw]}


ROWS = {
    "A.T @ A": Row(gram, {"weft by hand": 1.1, "SciPy by hand": 0.75, "dask's spelling": 0.5}),
    "TF-IDF": Row(tfidf, {"SciPy by hand": 0.4, "dask's spelling": 0.25}),
    "variance": Row(moments, {"SciPy by hand": 0.6}),
    "threads": Row(both_threads, {"one": 0.6}),
    "loading": Row(loading, {"copy": 0.05}),
}


def measured(name: str) -> dict[str, Ratio]:
    """Return the ratios of a row by what the first is compared with."""
    row = ROWS[name]
    with threads(2 if name == "threads" else 1):  # each of two threads has one of weft's
        runs = row.runs()
        clock = perf_counter if name == "threads" else process_time
        samples = interleaved(runs, clock=clock)
    first = next(iter(runs))
    return {peer: samples.ratio(first, peer) for peer in row.targets}


def graph_seconds() -> float:
    """Return how long a graph of 10,000 tasks takes to be made."""
    x = da.zeros((5000, 10), chunks=(1, 10))
    begin = perf_counter()
    found = weft.dask.evaluate("s(j) = X(i,j)*X(i,j)", X=x)
    tasks = len(found.__dask_graph__())
    return (perf_counter() - begin) * 10_000 / tasks


def _part(seed: int) -> Any:
    """A block of rows that a worker makes."""
    return weft.random((scaled(60_000), 2000), nnz=40 * scaled(60_000), rng=seed, format="csr")


def _cluster(stack: ExitStack, workers: int, **options: Any) -> Client:
    cluster = LocalCluster(n_workers=workers, processes=True, threads_per_worker=1, dashboard_address=":0", **options)
    return stack.enter_context(Client(stack.enter_context(cluster)))


def product_seconds(workers: int) -> float:
    """Return how long a cluster of some processes takes for the product of 16 blocks, about 10 s in all."""
    with ExitStack() as stack:
        _cluster(stack, workers)
        meta = weft.zeros((0, 0), format="csr")
        parts = [da.from_delayed(dask.delayed(_part)(k), (scaled(60_000), 2000), meta=meta) for k in range(16)]
        x = da.concatenate(parts).persist()
        for split in (8, 4):  # kernels are compiled, and blocks made, the first time; another split is another task
            begin = perf_counter()
            wait(weft.dask.evaluate("C(j,k) = X(i,j)*Y(i,k)", X=x, Y=x, format="dense", split_every=split).persist())
        return perf_counter() - begin


def peaks() -> dict[str, float]:
    """Return what streaming a file adds to the memory of a worker at most, over the bytes of two chunks."""
    matrix = weft.random((scaled(500_000), 5000), nnz=20 * scaled(500_000), rng=0, format="csr")
    with TemporaryDirectory() as folder, ExitStack() as stack:
        path = f"{folder}/a.npz"
        weft.save_npz(path, matrix, compressed=False)
        x = weft.dask.open(path, entries=max(1, matrix.nnz // 10))
        client = _cluster(stack, 2, local_directory=folder)
        jobs = {
            "product with a vector": weft.dask.evaluate("y(i) = X(i,j)*v(j)", X=x, v=np.ones(5000)),
            "variances of columns": weft.dask.var(x, axis=0),
        }
        found = {}
        for name, job in jobs.items():
            job.compute()
            client.run(forget_peak)
            before = client.run(memory_of, "VmRSS")
            job.compute()
            added = [peak - before[worker] for worker, peak in client.run(memory_of, "VmHWM").items()]
            found[name] = max(added) / (matrix.nbytes / 5)
        return found


def main() -> None:
    """Print the table."""
    print("| what | over | ratio | target |\n|---|---|---|---|")
    for name, row in ROWS.items():
        for peer, ratio in measured(name).items():
            print(f"| {name} | {peer} | {ratio} | {row.targets[peer]:.2f} |", flush=True)
    with dask.config.set(scheduler="synchronous"):
        print(f"| graph of 10,000 tasks | second | {graph_seconds():.2f} | 0.50 |")
    for name, added in peaks().items():
        print(f"| memory of {name} | two chunks | {added:.2f} | 2.00 |", flush=True)
    one = product_seconds(1)
    print(f"| product on two processes | one ({one:.1f} s) | {product_seconds(2) / one:.2f} | 0.60 |")


if __name__ == "__main__":
    main()
