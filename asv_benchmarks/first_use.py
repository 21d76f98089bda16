"""How long a session of ordinary expressions waits in a new process: nothing compiled yet, everything, and no compiler.

``python -m asv_benchmarks.first_use`` prints the three for the lines and for the workloads.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence

__all__ = ["LINES", "SETTINGS", "WORKLOADS", "FirstUse", "differing", "session"]

SETUP = """
import os, numpy as np, scipy.sparse as sp, weft
n = int(os.environ.get("N", 200))
rng = np.random.default_rng(0)
A, C = (weft.asarray(sp.random_array((n, n), density=0.05, rng=rng, format=f)) for f in ("csr", "csc"))
x, D = np.ones(n), np.ones((n, 8))
mask, rows = np.arange(n) % 3 == 0, np.array([5, 3, 150, 3])
"""
LINES = """
A @ x
A + A
A @ A
A * 2
A * A
A.T @ x
A - C
A.sum()
A.sum(axis=0)
A.sum(axis=1)
A.max()
A.max(axis=0)
A.max(axis=1)
A.mean(axis=0)
A.std(axis=0)
A > 0.5
A[A > 0.5]
A[5]
A[:, 5]
A[10:50]
A[:, 10:50]
A[rows]
A[mask]
A.T.tocsr()
A.tocsc()
A.tocoo()
A.todense()
A.asformat("dia")
A.asformat("bsr", blocksize=(2, 2))
np.sin(A)
np.expm1(A)
abs(A)
np.where(A > 0.5, A, 0)
weft.vstack([A, A])
weft.hstack([A, A])
A @ D
A * x
weft.einsum("ij,ij->", A, A)
"""
"""38 ordinary expressions with one matrix."""

WORKLOADS = {
    "pagerank": """
        d = np.maximum(A.sum(axis=1).todense(), 1e-9)
        p = np.full(n, 1 / n)
        for _ in range(3): p = 0.15 / n + 0.85 * ((p / d) @ A)
        p
    """,
    "pagerank in notation": "weft.evaluate('y(j) = A(i,j)*p(i)/d(i)', A=A, p=x, d=x + 1)",
    "tf-idf": """
        df = (A > 0).sum(axis=0).todense()
        w = A * np.log(n / (1 + df))
        norm = np.sqrt((w * w).sum(axis=1).todense())
        w = w * (1 / np.maximum(norm, 1e-9))[:, None]
        w @ w.T
    """,
    "three hops": "((A @ A) @ A) > 0",
    "triangles": "weft.einsum('ij,jk,ki->', A, A, A)",
    "row normalisation": "A / np.maximum(A.sum(axis=1).todense(), 1e-9)[:, None]",
    "laplacian": "weft.diags(A.sum(axis=1).todense()) - A",
    "conjugate gradients": "weft.linalg.cg(A @ A.T + 10 * weft.eye(n), x, maxiter=3)",
    "cosines": "A @ A.T",
    "sampled product": "weft.evaluate('E(i,j) = A(i,j)*U(i,k)*V(j,k)', A=A, U=D, V=D, format='csr')",
    "attention": """
        E = np.exp(weft.evaluate('E(i,j) = A(i,j)*U(i,k)*V(j,k)', A=A, U=D, V=D, format='csr'))
        (E @ D) / E.sum(axis=1).todense()[:, None]
    """,
    "mttkrp": """
        T = weft.asarray(sp.random_array((20, 30, 40), density=0.1, rng=rng)).asformat('csf')
        weft.einsum('ijk,jr,kr->ir', T, np.ones((30, 4)), np.ones((40, 4)))
    """,
    "group by": """
        G = weft.csr_array((np.ones(n), (np.arange(n) % 7, np.arange(n))), shape=(7, n))
        G @ x
    """,
    "single cells": """
        s = A.sum(axis=1).todense()
        L = np.log1p(A * (1e4 / np.maximum(s, 1))[:, None])
        L.mean(axis=0), L.var(axis=0)
    """,
    "shortest paths": "weft.evaluate('d(j) = min(i, A(i,j) + p(i))', A=weft.asarray(A, fill_value=None), p=x)",
}
"""15 small workloads."""

SETTINGS = ("empty cache", "full cache", "no compiler")
NO_COMPILER = {"PATH": "", "WEFT_COMPILE": "never"}
_RUN = """
import sys, textwrap, time
begin = time.perf_counter()
failed = []
for text in PARTS:
    try:
        exec(textwrap.dedent(text), globals())
    except weft.errors.CompilerError:
        failed.append(text)
print(time.perf_counter() - begin, len(failed))
"""


def parts(what: str) -> list[str]:
    """Return the texts of the lines or of the workloads."""
    return [line for line in LINES.splitlines() if line] if what == "lines" else list(WORKLOADS.values())


def session(what: str, setting: str, times: int = 7) -> tuple[float, int]:
    """Run the lines or the workloads in new processes.

    Parameters
    ----------
    what : {"lines", "workloads"}
        Which.
    setting : {"empty cache", "full cache", "no compiler"}
        What the process finds. Without a compiler it has an empty cache, too, and an empty PATH.
    times : int
        How many processes are timed.

    Returns
    -------
    float, int
        Seconds from the first text to the last, the median, and how many texts found no kernel.
    """
    script = f"{SETUP}\nPARTS = {parts(what)!r}\n{_RUN}"
    found = []
    with tempfile.TemporaryDirectory() as full:
        if setting == "full cache":
            _process(script, {"WEFT_CACHE_DIR": full})
        for _ in range(times):
            with tempfile.TemporaryDirectory() as empty:
                environ = {"WEFT_CACHE_DIR": full if setting == "full cache" else empty}
                if setting == "no compiler":
                    environ |= NO_COMPILER
                found.append(_process(script, environ))
    return statistics.median(seconds for seconds, _ in found), found[0][1]


def _process(script: str, environ: dict[str, str]) -> tuple[float, int]:
    seconds, failed = _printed(script, environ).split()
    return float(seconds), int(failed)


def _printed(script: str, environ: dict[str, str]) -> str:
    command, environ = [sys.executable, "-c", script], {**os.environ, **environ}
    return subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=True).stdout


_DIGESTS = """
import hashlib, textwrap
def bytes_of(x):
    if isinstance(x, weft.SparseTensor):
        return b"".join(bytes_of(a) for a in (*x._storage.arrays, x._storage.vals))
    return b"".join(map(bytes_of, x)) if isinstance(x, tuple) else np.ascontiguousarray(x).tobytes()
for text in PARTS:
    *before, last = textwrap.dedent(text).strip().splitlines()
    try:
        exec("\\n".join(before), globals())
        print(hashlib.sha256(bytes_of(eval(last, globals()))).hexdigest())
    except weft.errors.CompilerError:
        print("no kernel")
"""


def differing(sizes: Sequence[int] = (200, 2000)) -> dict[str, list[int]]:
    """Return the lines and workloads whose results have other bytes by shipped kernels than by compiled ones.

    Parameters
    ----------
    sizes : sequence of int
        The numbers of rows and columns to try.

    Returns
    -------
    dict
        For each such text the sizes.
    """
    texts = [*parts("lines"), *parts("workloads")]
    script = f"{SETUP}\nPARTS = {texts!r}\n{_DIGESTS}"
    found: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for size in sizes:
            environ = {"N": str(size), "WEFT_CACHE_DIR": cache}
            # Nothing is taken from what is shipped where WEFT_CC names a compiler.
            settings = (NO_COMPILER, {"WEFT_CC": "cc"})
            shipped, compiled = (_printed(script, environ | setting).splitlines() for setting in settings)
            for text, a, b in zip(texts, shipped, compiled, strict=True):
                if a not in (b, "no kernel"):
                    found.setdefault(text, []).append(size)
    return found


class FirstUse:
    """Seconds, and texts without a kernel."""

    timeout = 600
    params = (["lines", "workloads"], list(SETTINGS))
    param_names = ("what", "setting")

    def track_seconds(self, what: str, setting: str) -> float:
        return session(what, setting)[0]

    def track_failures(self, what: str, setting: str) -> int:
        return session(what, setting, times=1)[1]

    track_seconds.unit = "seconds"  # type: ignore[attr-defined]
    track_failures.unit = "texts"  # type: ignore[attr-defined]


if __name__ == "__main__":
    if sys.argv[1:] == ["--without-a-compiler"]:  # for continuous integration: which of the lines are not served
        lacking = [session(what, "no compiler", times=1)[1] for what in ("lines", "workloads")]
        print(
            f"without a compiler {lacking[0]} of {len(parts('lines'))} lines lack a kernel, and {lacking[1]} workloads"
        )
        sys.exit(lacking[0] > 0)
    if sys.argv[1:] == ["--equal-bytes"]:  # likewise: shipped and compiled kernels compute the same
        found = differing()
        print("\n".join(f"other bytes at {sizes}: {text}" for text, sizes in found.items()) or "equal bytes")
        sys.exit(len(found) > 0)
    for what in ("lines", "workloads"):
        for setting in SETTINGS:
            seconds, failed = session(what, setting)
            print(f"{what:10} {setting:12} {seconds:6.2f} s, {failed} of {len(parts(what))} without a kernel")
