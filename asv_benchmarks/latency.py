"""How long it takes until a kernel runs, and what a call costs beyond its arithmetic."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

from .derivatives import jax_overhead
from .measure import installed, interleaved, seconds_of, threads

__all__ = ["LATENCIES", "Latency"]

SCRIPT = """
import time
import numpy as np, scipy.sparse as sp
{before}
A = sp.random_array((100, 100), density=0.1, format="csr", rng=np.random.default_rng(0))
x = np.ones(100)
begin = time.perf_counter()
{timed}
print(time.perf_counter() - begin)
"""


def in_new_process(timed: str, before: str = "", *, cache: str | None = None, times: int = 7) -> float:
    """Seconds that ``timed`` takes in a new process, the median; the kernel cache is empty unless given."""
    script = SCRIPT.format(before=before, timed=timed)
    found = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as empty:
            environ = {**os.environ, "WEFT_CACHE_DIR": cache or empty}
            environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode
            run = subprocess.run(
                [sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True
            )
            found.append(float(run.stdout))
    return statistics.median(found)


FIRST_CALL = "weft.asarray(A) @ x"


def import_seconds() -> float:
    return in_new_process("import weft")


def first_call() -> float:
    return in_new_process(FIRST_CALL, "import weft")


def warm_disk() -> float:
    with tempfile.TemporaryDirectory() as cache:
        in_new_process(FIRST_CALL, "import weft", cache=cache, times=1)
        return in_new_process(FIRST_CALL, "import weft", cache=cache)


def lowering() -> float:
    """From index notation to C text in Python, the compiler not included, first time in a process."""
    return in_new_process(
        'weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense").source', "import weft; weft.errors"
    )


def small() -> tuple[sp.csr_array, np.ndarray]:
    s = sp.random_array((10, 10), density=0.3, format="csr", rng=np.random.default_rng(0))
    return s, np.ones(10)


def warm_spmv() -> float:
    s, x = small()
    a = weft.asarray(s)
    with threads(1):
        return seconds_of(lambda: a @ x)


def warm_add() -> float:
    s, _ = small()
    a, b = weft.asarray(s), weft.asarray(s.T.tocsr())
    with threads(1):
        return seconds_of(lambda: a + b)


def warm_solver() -> float:
    """What ``weft.linalg.spsolve`` adds to SciPy's time, on a matrix that is solved at once."""
    s = sp.csc_array(np.diag(np.arange(1.0, 11)))
    a, b = weft.asarray(s), np.ones(10)
    with threads(1):
        own, theirs = (seconds_of(lambda f=f, m=m: f(m, b)) for f, m in ((weft.linalg.spsolve, a), (sla.spsolve, s)))
    return own - theirs


class Latency:
    """One figure with its target, in seconds."""

    def __init__(self, name: str, run: Callable[[], float], target: float, unit: str):
        self.name, self.run, self.target, self.unit = name, run, target, unit

    def text(self, seconds: float) -> str:
        return f"{seconds * {'ms': 1e3, 'us': 1e6}[self.unit]:.1f} {self.unit}"


LATENCIES = (
    Latency("import weft, beyond numpy and scipy.sparse", import_seconds, 60e-3, "ms"),
    Latency("lowering an SpMV in Python", lowering, 15e-3, "ms"),
    Latency("first call ever, compiler included", first_call, 200e-3, "ms"),
    Latency("first call in a process, warm disk cache", warm_disk, 15e-3, "ms"),
    Latency("A @ x, 10 x 10, warm", warm_spmv, 6e-6, "us"),
    Latency("A + B, 10 x 10, warm", warm_add, 20e-6, "us"),
    Latency("weft.linalg.spsolve beyond SciPy's, 10 x 10, warm", warm_solver, 50e-6, "us"),
    *([Latency("weft.jax.evaluate in jit, 10 x 10, warm", jax_overhead, 60e-6, "us")] if installed("jax") else []),
)


class Warm:
    """Ratios to SciPy on 10 x 10."""

    def track_ratio_matvec(self) -> float:
        s, x = small()
        a = weft.asarray(s)
        with threads(1):
            return interleaved({"weft": lambda: a @ x, "scipy": lambda: s @ x}).ratio("weft", "scipy").median

    def track_ratio_add(self) -> float:
        s, _ = small()
        t = s.T.tocsr()
        a, b = weft.asarray(s), weft.asarray(t)
        with threads(1):
            return interleaved({"weft": lambda: a + b, "scipy": lambda: s + t}).ratio("weft", "scipy").median

    track_ratio_matvec.unit = track_ratio_add.unit = "ratio"  # type: ignore[attr-defined]


class Solvers:
    """Ratios to SciPy's own time of functions that are SciPy's, on a matrix of 900 x 900."""

    params = (["spsolve", "eigsh, sigma=0", "cg of dia"],)
    param_names = ("what",)

    def track_ratio(self, what: str) -> float:
        line = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(30, 30))
        s, b = sp.csc_array(sp.kronsum(line, line)), np.ones(900)
        s = s.todia() if what == "cg of dia" else s
        calls = {
            "spsolve": lambda f, m: f.spsolve(m, b),
            "eigsh, sigma=0": lambda f, m: f.eigsh(m, k=3, sigma=0, v0=b),
            "cg of dia": lambda f, m: f.cg(m, b),
        }
        a, call = weft.asarray(s), calls[what]
        with threads(1):
            both = interleaved({"weft": lambda: call(weft.linalg, a), "scipy": lambda: call(sla, s)})
        return both.ratio("weft", "scipy").median

    track_ratio.unit = "ratio"  # type: ignore[attr-defined]


class Cold:
    """Seconds until a first result."""

    timeout = 600
    params = ([latency.name for latency in LATENCIES],)
    param_names = ("what",)

    def track_seconds(self, what: str) -> float:
        return next(latency for latency in LATENCIES if latency.name == what).run()

    track_seconds.unit = "seconds"  # type: ignore[attr-defined]
