"""A few expressions in a process of their own: ``shipped_session.py build|run|modules|core DIRECTORY``.

``build`` makes a library of their kernels in a directory; ``run`` computes them with the kernels of that directory in
the place of those that are installed, and prints where each kernel came from and a digest of the results. ``modules``
prints which parts of weft the most ordinary of them load, ``core`` which expressions of the core lack a kernel in their
first call, or in the second.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import warnings

import numpy as np

import weft
from weft.config import config
from weft.execution.plan_cache import plans
from weft.records import replace
from weft.runtime import loader, plan_index, shipped
from weft.runtime.levels import machine_level
from weft.runtime.loader import pool_of_threads
from weft.shipping import Recorder, expressions
from weft.shipping.build import Builder
from weft.shipping.record import Missing

D = np.arange(48.0).reshape(6, 8) * (np.random.default_rng(0).random((6, 8)) < 0.5) / 7
x = np.random.default_rng(1).random(8)


def csr(dense: np.ndarray) -> weft.SparseTensor:
    where = [None, (np.r_[0, (dense != 0).sum(1).cumsum()], dense.nonzero()[1])]
    return weft.from_levels(dense.shape, "csr", where, dense[dense != 0])


def ordinary() -> list[np.ndarray]:
    A, B, C = csr(D), csr(D * (D > 2)), csr(D.T)
    sampled = weft.einsum("ij,ik,kj->ij", A, np.ones((6, 2)), np.ones((2, 8)))
    return [
        A @ x,
        (A @ C).todense(),
        (A + B).todense(),
        A[A > 0.5].todense(),
        sampled.todense(),
        A.asformat("bsr").todense(),
    ]


def results() -> list[np.ndarray]:
    A = csr(D)
    coords = weft.from_coords([[1, 0, 1], [2, 1, 0]], [1.0, 2, 3], (3, 3))
    return [*ordinary(), (A.T @ A).todense(), A.std(axis=0).todense(), coords.to_coo()[0]]


def build(directory: str) -> None:
    level = machine_level()
    assert level is not None
    recorder, builder = Recorder(), Builder(level, directory)
    with recorder.installed():
        while True:
            plans.clear()  # second calls of a process take other ways
            try:
                results()
                break
            except Missing:
                recorder.libraries |= builder.libraries(recorder.missing)
        pool_of_threads().opened("", "")
    builder.support([pool_of_threads()])
    builder.link(f"{directory}/{level}.so")
    plan_index.write(f"{directory}/{plan_index.FILE}", recorder.answers)


def run(directory: str) -> None:
    logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.DEBUG)
    shipped.DIRECTORY = directory
    found = b"".join(np.ascontiguousarray(each).tobytes() for each in results())
    print(hashlib.sha256(found).hexdigest())


def core(directory: str) -> None:
    shipped.DIRECTORY = directory
    runs = expressions.core()
    spaces = {kind: expressions.names(replace(kind, threads=1)) for kind in {kind for kind, _ in runs}}
    with config.override(cache_dir=f"{directory}/empty", compile="never"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, line in runs:
            plans.clear()
            loader.forget()
            threshold = 0 if kind.threads > 1 else config.parallel_threshold
            with config.override(num_threads=kind.threads, parallel_threshold=threshold):
                try:
                    for _ in range(2):
                        eval(line, dict(spaces[kind]))
                except weft.errors.NotCompiledError as error:
                    print(kind, line, error)
                except Exception:
                    pass  # of operands that do not fit, which need no kernel


def modules(directory: str) -> None:
    shipped.DIRECTORY = directory
    before = {name for name in sys.modules if name.startswith("weft.")}
    ordinary()
    print(*sorted({name for name in sys.modules if name.startswith("weft.")} - before), sep="\n")


if __name__ == "__main__":
    {"build": build, "run": run, "modules": modules, "core": core}[sys.argv[1]](sys.argv[2])
