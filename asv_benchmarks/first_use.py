"""How long a session of ordinary expressions waits in a new process: nothing compiled yet, everything, and no compiler.

``python -m asv_benchmarks.first_use`` prints the three for the lines and for the workloads.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["LINES", "SETTINGS", "WORKLOADS", "FirstUse", "differing", "session"]

SETUP = """
import os, numpy as np, scipy.sparse as sp, weft
n, entries = int(os.environ.get("N", 200)), int(os.environ.get("ENTRIES", 2000))
rng = np.random.default_rng(0)
random = lambda format: weft.asarray(sp.random_array((n, n), density=entries / n**2, rng=rng, format=format))
A, B, C = random("csr"), random("csr"), random("csc")
x, D = np.ones(n), np.ones((n, 8))
mask, rows = np.arange(n) % 3 == 0, np.array([5, 3, 150, 3])
"""
LINES = """
A @ x
A + B
A @ B
A * 2
A * B
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
A[2:5, ::2]
A[10:50]
A[:, 10:50]
A[rows]
A[mask]
A.T.tocsr()
A.tocsc()
A.tocoo()
A.maximum(B)
A.asformat("dia")
A.asformat("bsr", blocksize=(2, 2))
np.sin(A)
A > B
abs(A)
np.where(A > 0.5, A, 0)
weft.vstack([A, B])
weft.hstack([A, B])
A @ D
A * x
weft.einsum("ij,ij->", A, B)
"""
"""38 ordinary expressions with one matrix or two of different structure."""

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
import json, sys, textwrap, time
begin = time.perf_counter()
failed = []
for text in PARTS:
    try:
        exec(textwrap.dedent(text), globals())
    except weft.errors.CompilerError:
        failed.append(text)
    except weft.errors.ResultTooLargeError:  # a large matrix without structure fits neither dia nor an array
        pass
print(json.dumps([time.perf_counter() - begin, failed]))
"""

PAGES = ("README.md", "docs/index.md", "docs/quickstart.md", "docs/how_to/without_a_compiler.md")
"""Pages whose examples need no compiler."""


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
    return statistics.median(seconds for seconds, _ in found), len(found[0][1])


def lacking(sizes: Mapping[int, int] | None = None, threads: Sequence[int] = (1, 2)) -> list[str]:
    """Return the lines, workloads and examples of pages that find no kernel where there is no compiler.

    Parameters
    ----------
    sizes : mapping, optional
        The numbers of entries of the matrices, by their numbers of rows; small and large ones by default.
    threads : sequence of int
        The numbers of threads.
    """
    found: dict[str, None] = {}
    # Matrices of 20,000 rows need no other kernels than those of 6,000, and their diagonals would take 6 GB.
    for n, entries in (sizes or {200: 2000, 6_000: 200_000}).items():
        for count in threads:
            texts = parts("lines") + (parts("workloads") if n < 1000 else [])
            environ = {"N": str(n), "ENTRIES": str(entries), "WEFT_NUM_THREADS": str(count)}
            found |= dict.fromkeys(_lacking(SETUP, texts, environ))
    for page in PAGES:
        text = Path(page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        found |= dict.fromkeys(f"{page}: {block}" for block in _lacking("import weft", blocks, {}))
    return list(found)


def _lacking(setup: str, texts: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    script = f"{setup}\nPARTS = {texts!r}\n{_RUN}"
    with tempfile.TemporaryDirectory() as empty:
        return _process(script, {**environ, **NO_COMPILER, "WEFT_CACHE_DIR": empty})[1]


def _process(script: str, environ: dict[str, str]) -> tuple[float, list[str]]:
    seconds, failed = json.loads(_printed(script, environ).splitlines()[-1])  # examples print, too
    return seconds, failed


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
            settings = (NO_COMPILER, {"WEFT_SHIPPED": "0"})
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
    if sys.argv[1:] == ["--without-a-compiler"]:  # for continuous integration: what is not served
        missing = lacking()
        print(
            "\n".join(["without a compiler there is no kernel for", *missing]) if missing else "no compiler is needed"
        )
        sys.exit(len(missing) > 0)
    if sys.argv[1:] == ["--equal-bytes"]:  # likewise: shipped and compiled kernels compute the same
        found = differing()
        print("\n".join(f"other bytes at {sizes}: {text}" for text, sizes in found.items()) or "equal bytes")
        sys.exit(len(found) > 0)
    for what in ("lines", "workloads"):
        for setting in SETTINGS:
            seconds, failed = session(what, setting)
            print(f"{what:10} {setting:12} {seconds:6.2f} s, {failed} of {len(parts(what))} without a kernel")
