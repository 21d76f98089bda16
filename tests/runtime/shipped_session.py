"""A few expressions in a process of their own: ``shipped_session.py build|run DIRECTORY``.

``build`` makes a library of their kernels in a directory; ``run`` computes them with the kernels of that directory in
the place of those that are installed, and prints where each kernel came from and a digest of the results.
"""

from __future__ import annotations

import hashlib
import logging
import sys

import numpy as np

import weft
from weft.runtime import shipped
from weft.runtime.levels import machine_level
from weft.runtime.loader import pool_of_threads
from weft.shipping import Recorder
from weft.shipping.build import Builder
from weft.shipping.record import Missing

D = np.arange(48.0).reshape(6, 8) * (np.random.default_rng(0).random((6, 8)) < 0.5) / 7
x = np.random.default_rng(1).random(8)


def results() -> list[np.ndarray]:
    A = weft.from_levels((6, 8), "csr", [None, (np.r_[0, (D != 0).sum(1).cumsum()], D.nonzero()[1])], D[D != 0])
    coords = weft.from_coords([[1, 0, 1], [2, 1, 0]], [1.0, 2, 3], (3, 3))
    return [A @ x, (A.T @ A).todense(), A.asformat("bsr").todense(), A.std(axis=0).todense(), coords.to_coo()[0]]


def build(directory: str) -> None:
    level = machine_level()
    assert level is not None
    recorder, builder = Recorder(), Builder(level, directory)
    with recorder.installed():
        while True:
            try:
                results()
                break
            except Missing:
                recorder.libraries |= builder.libraries(recorder.missing)
    builder.support([pool_of_threads()])
    builder.link(f"{directory}/{level}.so")


def run(directory: str) -> None:
    logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.DEBUG)
    shipped.DIRECTORY = directory
    found = b"".join(np.ascontiguousarray(each).tobytes() for each in results())
    print(hashlib.sha256(found).hexdigest())


if __name__ == "__main__":
    {"build": build, "run": run}[sys.argv[1]](sys.argv[2])
