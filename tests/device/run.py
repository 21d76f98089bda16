"""Check and measure the kernels of a device: ``python tests/device/run.py``, with a GPU, CuPy and, at best, torch.

Values come first: expressions, formats and dtypes against dense NumPy, each with the same bits on five calls. Ratios
beside cupyx and torch follow, from timings by events in turn, and then compute-sanitizer on six small kernels. Each
part has a share of the time, goes on after an error, and prints what it has at once. The exit status is 1 after a wrong
value. ``--device emulated --small`` runs the checks without a GPU.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any

BEGIN = time.perf_counter()
os.environ.setdefault("CUPY_CACHE_DIR", tempfile.mkdtemp())  # so that kernels are cold

import numpy as np  # noqa: E402

import weft  # noqa: E402
from weft.operations.operands import storage_anywhere  # noqa: E402

CALLS = 5
FORMATS = ("csr", "csc", "coo", "dcsr", "ell", "bsr", "own")
DTYPES = ("float64", "float32", "int64", "int32", "bool")
MATRIX = {
    "SpMV": ("y(i) = A(i,j)*x(j)", lambda A, x, X, U: A @ x),
    "A.T @ x": ("y(j) = A(i,j)*z(i)", lambda A, x, X, U: A.T @ U[:, 0]),
    "SpMM": ("Y(i,k) = A(i,j)*X(j,k)", lambda A, x, X, U: A @ X),
    "SDDMM": ("C(i,j) = A(i,j)*U(i,k)*X(j,k)", lambda A, x, X, U: A * (U @ X.T)),
    "row sums": ("y(i) = A(i,j)", lambda A, x, X, U: A.sum(axis=1, dtype=A.dtype)),
    "residual": ("y(i) = z(i) - A(i,j)*x(j)", lambda A, x, X, U: U[:, 0] - A @ x),
    "min-plus": ("y(i) = min(j, A(i,j) + x(j))", None),
    "row maxima": ("y(i) = max(j, A(i,j))", lambda A, x, X, U: A.max(axis=1)),
}
CUBE = {
    "MTTKRP": ("M(i,r) = T(i,j,k)*B(j,r)*C(k,r)", "ijk,jr,kr->ir"),
    "TTV": ("Y(i,j) = T(i,j,k)*c(k)", "ijk,k->ij"),
}


class Report:
    """What was seen: lines for the table, wrong values, and what could not be done."""

    def __init__(self, seconds: float):
        self.end = BEGIN + seconds
        self.rows: list[tuple[str, ...]] = []
        self.wrong: list[str] = []
        self.refused: dict[str, str] = {}
        self.failed: list[str] = []
        self.checked = 0

    @property
    def left(self) -> float:
        return self.end - time.perf_counter()

    @contextmanager
    def part(self, title: str) -> Iterator[None]:
        """Announce a part, and go on after an error in it."""
        begin = time.perf_counter()
        print(f"\n== {title} ({self.left:.0f} s left)", flush=True)
        try:
            yield
        except Exception as error:
            self.failed.append(f"{title}: {type(error).__name__}: {str(error)[:300]}")
            print("".join(traceback.format_exception(error)[-6:]), flush=True)
        print(f"   {time.perf_counter() - begin:.1f} s", flush=True)

    def row(self, *cells: Any) -> None:
        self.rows.append(tuple(map(str, cells)))
        print("   " + "  ".join(map(str, cells)), flush=True)

    def check(self, what: str, found: Any, expected: Any, tolerance: float) -> None:
        self.checked += 1
        found, expected = np.asarray(found), np.asarray(expected)
        if found.shape != expected.shape or found.dtype != expected.dtype:
            self.wrong.append(f"{what}: {found.dtype} {found.shape} instead of {expected.dtype} {expected.shape}")
        elif found.dtype.kind in "iub":
            if not (found == expected).all():
                self.wrong.append(f"{what}: {int((found != expected).sum())} of {found.size} elements differ")
        else:
            # Infinite elements are compared as they are, others by the largest of their deviations.
            same = np.isfinite(expected) == np.isfinite(found)
            finite = np.isfinite(expected) & np.isfinite(found)
            scale = np.abs(expected[finite]).max(initial=1.0)
            if not same.all() or np.abs(found[finite] - expected[finite]).max(initial=0.0) > tolerance * scale:
                self.wrong.append(
                    f"{what}: a largest deviation of {np.abs(found - expected)[finite].max(initial=0.0):.2e}"
                )


# -- values -----------------------------------------------------------------------------------------------------------
def matrix(rng: np.random.Generator, dtype: str, shape: tuple[int, int], kind: str) -> np.ndarray:
    """Return a matrix with empty rows, with one row that has all entries, or with few long rows, as an ndarray."""
    values = numbers(rng, dtype, shape)
    if kind == "long":
        stored = rng.random(shape) < 0.002
        stored[shape[0] // 2] = stored[-1, : shape[1] // 2] = True
        return np.where(stored, values, np.zeros((), dtype))
    stored = rng.random(shape) < 0.15
    stored[::3] = False
    if kind == "skewed":
        stored[:] = False
        stored[shape[0] // 2] = True
    return np.where(stored, values, np.zeros((), dtype))


def numbers(rng: np.random.Generator, dtype: str, shape: Any) -> np.ndarray:
    if dtype == "bool":
        return rng.random(shape) < 0.5
    return (rng.random(shape) + 0.5).astype(dtype) if dtype[0] == "f" else rng.integers(1, 9, shape).astype(dtype)


def stored(dense: np.ndarray, format: str) -> weft.SparseTensor:
    if format == "own":
        return weft.asarray(dense, format=weft.Format("(i,j) -> (j,i)", [weft.Compressed(), weft.Compressed()]))
    if format == "bsr":
        return weft.asarray(dense).asformat("bsr", blocksize=(2, 3))
    return weft.asarray(dense, format=format)


def cases(small: bool) -> Iterator[tuple[str, str, str, str]]:
    """Yield kinds of data, expressions, formats and dtypes; the most telling first."""
    for dtype in DTYPES[:1] if small else DTYPES:
        for format, name in product(FORMATS, MATRIX):
            # All expressions in float64; in other dtypes one of each way of adding up.
            is_usual = name in ("SpMV", "A.T @ x", "SpMM", "row maxima") and format in ("csr", "coo")
            if dtype == "float64" or is_usual:
                yield "uniform", name, format, dtype
    for name in ("SpMV", "A.T @ x", "SDDMM"):
        for format in ("csr", "coo"):
            yield "skewed", name, format, "float64"
    for name in ("SpMM", "SDDMM", "SpMV", "min-plus", "A.T @ x", "row maxima", "residual"):
        for format in ("csr", "coo", "dcsr"):
            yield "long", name, format, "float64"


def min_plus(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the least ``A + x`` of each row, in which entries that are not stored count as infinite."""
    return (np.where(A == 0, np.inf, A) + x).min(axis=1)


def check_case(report: Report, device: str, kind: str, name: str, format: str, dtype: str) -> None:
    what = f"{name} {format} {dtype} {kind}"
    rng = np.random.default_rng(zlib.crc32(f"{kind} {dtype}".encode()))
    (rows, columns), width = ((200, 1500), 170) if kind == "long" else ((36, 48), 8)
    A = matrix(rng, dtype, (rows, columns), kind)
    x, X, U = numbers(rng, dtype, columns), numbers(rng, dtype, (columns, width)), numbers(rng, dtype, (rows, width))
    text, reference = MATRIX[name]
    expected = min_plus(A, x) if reference is None else reference(A, x, X, U)
    operands: dict[str, Any] = {"x": x, "X": X, "U": U, "z": np.ascontiguousarray(U[:, 0])}
    names = set(re.findall(r"\b\w+(?=\()", text.partition("=")[2]))
    named = {n: weft.asarray(v).to_device(device) for n, v in operands.items() if n in names}
    sparse = stored(A, format)
    named["A"] = (sparse.with_fill(np.inf) if name == "min-plus" else sparse).to_device(device)
    target = named["A"].layout if name == "SDDMM" else "dense"
    compare(report, what, text, named, expected, 1e-5 if dtype == "float32" else 1e-12, target)


def check_cube(report: Report, device: str, name: str, format: str, dtype: str, is_long: bool = False) -> None:
    rng = np.random.default_rng(3)
    shape, density = ((200, 40, 45), 0.001) if is_long else ((9, 8, 7), 0.2)
    T = np.where(rng.random(shape) < density, numbers(rng, dtype, shape), np.zeros((), dtype))
    T[4] = 1 if is_long else 0
    text, subscripts = CUBE[name]
    B, C = numbers(rng, dtype, (shape[1], 32)), numbers(rng, dtype, (shape[2], 32))
    others = {"B": B, "C": C} if name == "MTTKRP" else {"c": np.ascontiguousarray(C[:, 0])}
    expected = np.einsum(subscripts, T, *others.values())
    named = {n: weft.asarray(v).to_device(device) for n, v in others.items()}
    named["T"] = weft.asarray(T, format=format).to_device(device)
    compare(
        report,
        f"{name} {format} {dtype}{' long' * is_long}",
        text,
        named,
        expected,
        1e-5 if dtype == "float32" else 1e-12,
    )


def compare(
    report: Report, what: str, text: str, named: dict[str, Any], expected: Any, tolerance: float, format: Any = "dense"
) -> None:
    """Compute an expression several times, and compare values with the expected ones, and bits with each other."""
    kinds = set()
    try:
        for _ in range(CALLS):
            found = weft.evaluate(text, format=format, **named)
            found = found.to_device("cpu").todense() if isinstance(found, weft.SparseTensor) else found.get()
            kinds.add(found.tobytes())
    except weft.errors.DeviceError as error:
        report.refused[what] = str(error)[:160]
        return
    except Exception as error:
        report.wrong.append(f"{what}: {type(error).__name__}: {str(error)[:200]}")
        return
    report.check(what, found, expected, tolerance)
    if len(kinds) > 1:
        report.wrong.append(f"{what}: {len(kinds)} different results of {CALLS} calls")


def check_surface(report: Report, device: str) -> None:
    """Check what keeps a structure, and what goes from one device to another."""
    rng = np.random.default_rng(5)
    dense = matrix(rng, "float64", (36, 48), "uniform")
    A = weft.asarray(dense, format="csr").to_device(device)
    x = weft.asarray(rng.random(48)).to_device(device)
    there: Callable[[Any], np.ndarray] = lambda T: T.to_device("cpu").todense()  # noqa: E731
    report.check("to_device", there(A), dense, 0)
    report.check("2*A", there(2 * A), 2 * dense, 0)
    report.check("A*2", there(A * 2), dense * 2, 0)
    report.check("np.float64(2)*A", there(np.float64(2) * A), 2 * dense, 0)
    report.check("-A", there(-A), -dense, 0)
    report.check("abs(-A)", there(abs(-A)), np.abs(dense), 0)
    report.check("astype", there(A.astype("float32")), dense.astype("float32"), 0)
    report.check("todense", A.todense().get(), dense, 0)
    report.check("A @ x", there(A @ x), dense @ there(x), 1e-12)
    report.check("A @ x as an array", (A @ x.todense()).get(), dense @ there(x), 1e-12)
    report.check("A.T @ y", there(A.T @ (A @ x)), dense.T @ (dense @ there(x)), 1e-12)
    kernel = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense")
    report.check("weft.compile", there(kernel(A, x)), dense @ there(x), 1e-12)
    report.check("weft.sum", weft.sum(A).get(), dense.sum(), 1e-12)
    for function in (lambda: A @ np.ones(48), lambda: weft.argmax(A), lambda: A[0]):
        try:
            function()
            report.wrong.append("a function that is not ported gave a result")
        except weft.errors.DeviceError:
            report.checked += 1


def check_values(report: Report, device: str, small: bool, seconds: float) -> None:
    end = min(time.perf_counter() + seconds, report.end)
    check_surface(report, device)
    work = [partial(check_case, report, device, *case) for case in cases(small)]
    for dtype, format, name in product(("float64",) if small else ("float64", "float32"), ("csf", "coo"), CUBE):
        work += [partial(check_cube, report, device, name, format, dtype, is_long) for is_long in (False, True)]

    def run(each: Callable[[], None]) -> bool:
        if time.perf_counter() > end:
            return True
        each()
        return False

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        late = sum(pool.map(run, work))
    print(f"   {report.checked} results checked, {len(report.refused)} refused by name, {late} not reached", flush=True)
    for what, reason in list(report.refused.items())[:20]:
        print(f"   refused: {what}: {reason}", flush=True)
    for line in report.wrong[:40]:
        print(f"   WRONG: {line}", flush=True)


# -- times ------------------------------------------------------------------------------------------------------------
class Timer:
    """Times by events, of several functions in turn."""

    def __init__(self, cupy: Any):
        self.cp = cupy

    def __call__(
        self, functions: dict[str, Callable[[], Any]], repeats: int = 11, each: int = 3
    ) -> dict[str, list[float]]:
        """Return the milliseconds of each function, one after the other in each repeat."""
        event = self.cp.cuda.Event
        for function in functions.values():
            for _ in range(2):
                function()
        self.cp.cuda.Device().synchronize()
        pairs: dict[str, list[Any]] = {name: [] for name in functions}
        for _ in range(repeats):
            for name, function in functions.items():
                begin, end = event(), event()
                begin.record()
                for _ in range(each):
                    function()
                end.record()
                pairs[name].append((begin, end))
        self.cp.cuda.Device().synchronize()
        elapsed = self.cp.cuda.get_elapsed_time
        return {name: [elapsed(a, b) / each for a, b in times] for name, times in pairs.items()}


def uniform(cp: Any, rows: int, each: int, seed: int) -> Any:
    """Return a csr matrix of cupyx with as many entries in each row, at random places."""
    import cupyx.scipy.sparse as sparse

    rng = cp.random.default_rng(seed)
    columns = cp.sort(rng.integers(0, rows - each, (rows, each)).astype(cp.int32), axis=1)
    columns += cp.arange(each, dtype=cp.int32)  # so that none is there twice
    pos = cp.arange(0, rows * each + 1, each, dtype=cp.int32)
    return _sorted(sparse.csr_matrix((rng.random(rows * each), columns.ravel(), pos), shape=(rows, rows)))


def stencil27(cp: Any, n: int) -> Any:
    """Return the csr matrix of the 27 neighbours in a cube of n**3 points."""
    import cupyx.scipy.sparse as sparse

    points = cp.arange(n**3, dtype=cp.int32)
    place = points // (n * n), points // n % n, points % n
    inside, columns = [], []
    for a in (-1, 0, 1):
        for b in (-1, 0, 1):
            for c in (-1, 0, 1):
                near = [p + d for p, d in zip(place, (a, b, c), strict=True)]
                inside.append(cp.stack([(q >= 0) & (q < n) for q in near]).all(axis=0))
                columns.append(points + (a * n * n + b * n + c))
    mask = cp.stack(inside, axis=1)
    pos = cp.zeros(n**3 + 1, cp.int32)
    pos[1:] = cp.cumsum(mask.sum(axis=1))
    crd = cp.stack(columns, axis=1)[mask].astype(cp.int32)
    return _sorted(sparse.csr_matrix((cp.random.default_rng(2).random(len(crd)), crd, pos), shape=(n**3, n**3)))


def power_law(cp: Any, scale: int, edges: int) -> Any:
    """Return the csr matrix of a recursive random graph, whose rows have very different lengths."""
    import cupyx.scipy.sparse as sparse

    rng, n = cp.random.default_rng(1), 1 << scale
    i, j = cp.zeros(edges, cp.int64), cp.zeros(edges, cp.int64)
    for _ in range(scale):
        u = rng.random(edges)
        i = i * 2 + (u >= 0.76)
        j = j * 2 + (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
    shuffled = cp.random.RandomState(7).permutation(n)
    keys = cp.unique(shuffled[i] * n + shuffled[j])
    i, j = keys >> scale, keys & (n - 1)
    pos = cp.zeros(n + 1, cp.int32)
    pos[1:] = cp.cumsum(cp.bincount(i, minlength=n))
    return _sorted(sparse.csr_matrix((rng.random(len(keys)), j.astype(cp.int32), pos), shape=(n, n)))


def fibres(cp: Any, keys: Any, n: int) -> list[tuple[Any, Any]]:
    """Return the levels of a csf tensor of ``n`` coordinates along each axis, given sorted linear coordinates."""
    levels: list[tuple[Any, Any]] = []
    for _ in range(2):  # the last level first
        above, first = cp.unique(keys // n, return_index=True)
        levels.insert(0, (cp.append(first, len(keys)).astype(cp.int32), (keys % n).astype(cp.int32)))
        keys = above
    return [(cp.array([0, len(keys)], cp.int32), keys.astype(cp.int32)), *levels]


def _sorted(matrix: Any) -> Any:
    """Say that a matrix is sorted and without duplicates, so that nobody has to look."""
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


class Measurements:
    """Ratios beside cupyx and torch, on matrices that are made on the device."""

    def __init__(self, report: Report, small: bool):
        import cupy

        self.report, self.cp, self.timer, self.small = report, cupy, Timer(cupy), small
        try:
            import torch

            self.torch: Any = torch
        except ImportError:
            self.torch = None
        self.scale = 1 / 64 if small else 1.0
        self.kept: dict[str, Any] = {}

    def matrix(self, name: str) -> Any:
        if name not in self.kept:
            cp, entries = self.cp, int(1.6e7 * self.scale)
            if name == "stencil27":
                self.kept[name] = stencil27(cp, 25 if self.small else 100)
            elif name == "rmat20":
                self.kept[name] = power_law(cp, 14 if self.small else 20, int(1.1e7 * self.scale))
            else:
                each = int(name.removeprefix("uniform"))
                self.kept[name] = uniform(cp, entries // each, each, each)
        return self.kept[name]

    def torchs(self, A: Any) -> Any:
        parts = [self.torch.as_tensor(part, device="cuda") for part in (A.indptr, A.indices, A.data)]
        return self.torch.sparse_csr_tensor(*parts, size=A.shape, check_invariants=False)

    def compared(
        self, case: str, functions: dict[str, Callable[[], Any]], bytes: int = 0, tolerance: float = 1e-9, **how: Any
    ) -> None:
        """Time weft's function beside the others, and compare its values with those of the first that runs."""
        runs: dict[str, Callable[[], Any]] = {}
        results = {}
        for name, function in functions.items():
            try:
                results[name] = function()
                runs[name] = function
            except Exception as error:
                print(f"   {case}: {name}: {type(error).__name__}: {str(error)[:160]}", flush=True)
        if "weft" not in runs:
            self.report.failed.append(f"{case}: weft has no result")
            return
        times = self.timer(runs, **how)
        ours = times["weft"]
        peers = {name: statistics.median([p / o for p, o in zip(of, ours, strict=True)]) for name, of in times.items()}
        peers.pop("weft")
        worst = min(peers.values(), default=float("nan"))
        speed = f"{bytes / statistics.median(ours) / 1e6:.0f} GB/s" if bytes else ""
        listed = ", ".join(f"{name} {ratio:.2f}" for name, ratio in peers.items())
        self.report.row(case, f"{statistics.median(ours):.4f} ms", speed, f"ratio {worst:.2f}", f"({listed})")
        others = [r for name, r in results.items() if name != "weft"]
        if others:
            self.same(case, results["weft"], others[0], tolerance)

    def same(self, case: str, ours: Any, theirs: Any, tolerance: float) -> None:
        cp = self.cp
        a, b = (_plain(cp, result) for result in (ours, theirs))
        deviation = float(cp.abs(a - b).max() / (cp.abs(b).max() + 1e-300)) if a.shape == b.shape else float("inf")
        self.report.checked += 1
        if not deviation <= tolerance:
            self.report.wrong.append(f"{case}: deviates by {deviation:.1e} from the peer")

    # -- the rows of the table ----------------------------------------------------------------------------------------
    def operand(self, A: Any, format: str) -> weft.SparseTensor:
        """Return a csr matrix of cupyx as a tensor."""
        if format == "csr":
            return weft.asarray(A)
        cp = self.cp
        rows = (cp.searchsorted(A.indptr, cp.arange(A.nnz), side="right") - 1).astype(cp.int32)
        levels = [(cp.array([0, A.nnz], cp.int32), rows), (A.indices,)]
        return weft.from_levels(A.shape, "coo", levels, A.data, check=False)

    def products(self, name: str, dtype: str, format: str = "csr") -> None:
        cp, torch = self.cp, self.torch
        A = _sorted(self.matrix(name).astype(dtype))
        x, T = cp.random.random(A.shape[1]).astype(dtype), self.operand(A, format)
        functions: dict[str, Callable[[], Any]] = {"weft": lambda: T @ x, "cupyx": lambda: A @ x}
        if torch is not None:
            At, xt = self.torchs(A), torch.as_tensor(x, device="cuda")
            functions["torch"] = lambda: At @ xt
        moved = A.nnz * (A.data.itemsize + 4) + A.shape[0] * (4 + 2 * A.data.itemsize)
        tolerance = 1e-9 if dtype == "float64" else 1e-3
        case = " ".join(["SpMV", *(["coo"] if format == "coo" else []), name, dtype])
        self.compared(case, functions, moved, tolerance)
        bits = {(T @ x).tobytes() for _ in range(CALLS)}
        if len(bits) > 1:
            self.report.wrong.append(f"{case}: {len(bits)} different results of {CALLS} calls")

    def transposed(self, name: str) -> None:
        A = self.matrix(name)
        T, x = weft.asarray(A), self.cp.random.random(A.shape[0])
        self.compared(f"A.T @ x {name} float64", {"weft": lambda: T.T @ x, "cupyx": lambda: A.T @ x})

    def many(self, name: str, columns: int, dtype: str, format: str = "csr") -> None:
        cp, torch = self.cp, self.torch
        A = _sorted(self.matrix(name).astype(dtype))
        T, X = self.operand(A, format), cp.random.random((A.shape[1], columns)).astype(dtype)
        functions: dict[str, Callable[[], Any]] = {"weft": lambda: T @ X}
        if torch is not None:
            At, Xt = self.torchs(A), torch.as_tensor(X, device="cuda")
            functions["torch"] = lambda: At @ Xt
        else:
            functions["cupyx"] = lambda: A @ X
        tolerance = 1e-9 if dtype == "float64" else 1e-3
        case = " ".join(["SpMM", str(columns), *(["coo"] if format == "coo" else []), name, dtype])
        self.compared(case, functions, 0, tolerance, repeats=7, each=2)

    def sampled(self, name: str, dtype: str, width: int = 64) -> None:
        cp, torch = self.cp, self.torch
        A = _sorted(self.matrix(name).astype(dtype))
        A.data[:] = 1  # so that the product by A, which torch does not make, changes nothing
        T = weft.asarray(A)
        U, V = (cp.random.random((n, width)).astype(dtype) for n in A.shape)
        functions: dict[str, Callable[[], Any]] = {"weft": lambda: weft.einsum("ij,ik,jk->ij", T, U, V, optimize=False)}
        if torch is not None:
            At, Ut, Vt = self.torchs(A), torch.as_tensor(U, device="cuda"), torch.as_tensor(V, device="cuda").T
            functions["torch"] = lambda: torch.sparse.sampled_addmm(At, Ut, Vt, beta=0.0)
        tolerance = 1e-9 if dtype == "float64" else 1e-3
        self.compared(f"SDDMM {width} {name} {dtype}", functions, 0, tolerance, repeats=7, each=1)

    def mttkrp(self, kind: str, format: str = "coo", dtype: str = "float64", width: int = 32) -> None:
        cp, torch = self.cp, self.torch
        n, count = (1 << 12, 1 << 17) if self.small else (1 << 16, 10_000_000)
        rng = cp.random.default_rng(9)
        first = rng.random(count) ** 4 if kind == "skewed" else rng.random(count)
        axes = [(u * n).astype(cp.int64) for u in (first, rng.random(count), rng.random(count))]
        keys = cp.unique((axes[0] * n + axes[1]) * n + axes[2])
        i, j, k = ((keys // d % n).astype(cp.int32) for d in (n * n, n, 1))
        vals, bounds = rng.random(len(keys)).astype(dtype), cp.array([0, len(keys)], cp.int32)
        levels = [(bounds, i), (j,), (k,)] if format == "coo" else fibres(cp, keys, n)
        T = weft.from_levels((n, n, n), format, levels, vals, check=False)
        B, C = (rng.random((n, width)).astype(dtype) for _ in range(2))
        functions: dict[str, Callable[[], Any]] = {
            "weft": lambda: weft.einsum("ijk,jr,kr->ir", T, B, C, optimize=False)
        }
        if torch is not None:
            it, jt, kt = (torch.as_tensor(a, device="cuda").long() for a in (i, j, k))
            vt, Bt, Ct = (torch.as_tensor(a, device="cuda") for a in (vals, B, C))
            empty = lambda: torch.zeros((n, width), dtype=Bt.dtype, device="cuda")  # noqa: E731
            functions["torch"] = lambda: empty().index_add_(0, it, vt[:, None] * Bt[jt] * Ct[kt])
        tolerance = 1e-9 if dtype == "float64" else 1e-3
        self.compared(f"MTTKRP {width} {format} {kind} {dtype}", functions, 0, tolerance, repeats=5, each=1)

    def host(self) -> None:
        """Time the host's part of a small product, for which the device does not have to be waited for."""
        A = uniform(self.cp, 1000, 8, 1)
        T, x = weft.asarray(A), self.cp.random.random(1000)
        functions: dict[str, Callable[[], Any]] = {"weft": lambda: T @ x, "cupyx": lambda: A @ x}
        if self.torch is not None:
            At, xt = self.torchs(A), self.torch.as_tensor(x, device="cuda")
            functions["torch"] = lambda: At @ xt
        best: dict[str, float] = {}
        for _ in range(10):
            for name, function in functions.items():
                function()
                self.cp.cuda.Device().synchronize()
                begin = time.perf_counter()
                for _ in range(100):
                    function()
                best[name] = min(best.get(name, 1.0), (time.perf_counter() - begin) / 100)
        self.cp.cuda.Device().synchronize()
        peers = ", ".join(f"{name} {1e6 * t:.1f} us" for name, t in best.items() if name != "weft")
        self.report.row("host time of A @ x", f"{1e6 * best['weft']:.1f} us", "", "", f"({peers})")

    def cold(self) -> None:
        """Time the first call of an expression that no other part has, and the call with all but the module kept."""
        A = uniform(self.cp, 1000, 8, 1)
        T, x = weft.asarray(A), self.cp.random.random(1000)
        self.cp.cuda.Device().synchronize()
        begin = time.perf_counter()
        weft.evaluate("y(i) = A(i,j)*x(j) + 3*x(i)", A=T, x=x)
        self.cp.cuda.Device().synchronize()
        cold = time.perf_counter() - begin
        from weft.execution import device_assembly

        device_assembly._kernels.clear()
        from weft.execution.plan_cache import plans

        plans.clear()
        begin = time.perf_counter()
        weft.evaluate("y(i) = A(i,j)*x(j) + 3*x(i)", A=T, x=x)
        self.cp.cuda.Device().synchronize()
        again = time.perf_counter() - begin
        self.report.row("cold kernel", f"{1e3 * cold:.0f} ms", f"planned anew, from disk {1e3 * again:.0f} ms", "", "")

    def all(self) -> None:
        rmat, balanced = "rmat20", ["uniform4", "uniform8", "uniform16", "uniform64", "uniform256"]
        plan: list[tuple[str, Callable[[], None]]] = [("host time", self.host), ("cold kernel", self.cold)]
        for name in ("stencil27", "uniform16", rmat):
            plan.append((f"SpMV {name}", lambda name=name: [self.products(name, d) for d in ("float64", "float32")]))
        for name in ("stencil27", "uniform16", rmat):
            plan.append((f"A.T @ x {name}", lambda name=name: self.transposed(name)))
            plan.append((f"SpMM 32 {name}", lambda name=name: [self.many(name, 32, d) for d in ("float64", "float32")]))
            plan.append((f"SDDMM {name}", lambda name=name: [self.sampled(name, d) for d in ("float64", "float32")]))
        for kind, format in product(("uniform", "skewed"), ("coo", "csf")):
            plan.append((f"MTTKRP {format} {kind}", lambda kind=kind, format=format: self.mttkrp(kind, format)))
        for name in ("stencil27", rmat):
            plan.append((f"SpMV coo {name}", lambda name=name: self.products(name, "float64", "coo")))
            plan.append((f"SpMM 32 coo {name}", lambda name=name: self.many(name, 32, "float64", "coo")))
        for name in balanced:
            if name != "uniform16":
                plan.append((f"SpMV {name}", lambda name=name: self._products_once(name)))
        for name in ("stencil27", "uniform16", rmat):
            plan.append(
                (f"SpMM 128 {name}", lambda name=name: [self.many(name, 128, d) for d in ("float64", "float32")])
            )
        for title, step in plan:
            if self.report.left < 20:
                print(f"   no time is left for {title} and what follows", flush=True)
                return
            with self.report.part(title):
                step()
            self.cp.get_default_memory_pool().free_all_blocks()

    def _products_once(self, name: str) -> None:
        for dtype in ("float64", "float32"):
            self.products(name, dtype)
        del self.kept[name]


def _plain(cp: Any, result: Any) -> Any:
    """Return a result, or the values of one that shares a structure, as an array of CuPy."""
    if isinstance(result, weft.SparseTensor):
        return storage_anywhere(result).vals
    if type(result).__module__.startswith("torch"):
        return cp.asarray(result.values() if result.layout != __import__("torch").strided else result)
    return result


# -- compute-sanitizer ------------------------------------------------------------------------------------------------
def sanitized() -> int:
    """Run six small kernels; the caller runs this under the tool."""
    report = Report(60)
    for name, format in [("SpMV", "csr"), ("SpMV", "coo"), ("A.T @ x", "csr"), ("SpMM", "csr"), ("SDDMM", "csr")]:
        check_case(report, "cuda", "skewed" if format == "coo" else "uniform", name, format, "float64")
    check_cube(report, "cuda", "MTTKRP", "csf", "float64")
    print(*report.wrong, *report.refused.values(), sep="\n")
    return bool(report.wrong)


def sanitize(report: Report) -> None:
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(tool):
        report.row("compute-sanitizer", "is not here")
        return
    for kind in ("memcheck", "racecheck", "synccheck"):
        if report.left < 15:
            report.row(f"compute-sanitizer {kind}", "no time left")
            continue
        command = [tool, "--tool", kind, "--error-exitcode", "9", sys.executable, __file__, "--sanitized"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=report.left - 3)
        except subprocess.TimeoutExpired:
            report.row(f"compute-sanitizer {kind}", "did not end in time")
            continue
        said = [line for line in done.stdout.splitlines() if "SUMMARY" in line] or done.stderr.splitlines()[-1:]
        report.row(f"compute-sanitizer {kind}", f"status {done.returncode}", *said[-1:])
        if done.returncode == 9:
            report.wrong.append(f"compute-sanitizer {kind}: {' '.join(said)}")
            print(done.stdout[-3000:], flush=True)


# -- all of it --------------------------------------------------------------------------------------------------------
def card(device: str) -> str:
    if device == "emulated":
        return "the emulated device"
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    versions = [f"cupy {cupy.__version__}", f"NVRTC {cupy.cuda.nvrtc.getVersion()}", f"numpy {np.__version__}"]
    with_torch = sys.modules.get("torch")
    return ", ".join([name, *versions, *([f"torch {with_torch.__version__}"] if with_torch else [])])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=200, help="how long all of it may take")
    parser.add_argument("--small", action="store_true", help="fewer values and small matrices")
    parser.add_argument("--sanitized", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.sanitized:
        return sanitized()
    report = Report(arguments.seconds)
    print(f"{card(arguments.device)}; weft imported after {time.perf_counter() - BEGIN:.1f} s", flush=True)
    with report.part("values"):
        check_values(report, arguments.device, arguments.small, arguments.seconds * 0.35)
    if arguments.device != "emulated":
        with report.part("times"):
            Measurements(report, arguments.small).all()
        with report.part("compute-sanitizer"):
            sanitize(report)
    print(f"\n{card(arguments.device)}: {report.checked} values checked in {time.perf_counter() - BEGIN:.0f} s")
    widths = [max((len(row[n]) for row in report.rows if len(row) > n), default=0) for n in range(5)]
    for row in report.rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip())
    for line in report.failed:
        print(f"FAILED {line}")
    for line in report.wrong:
        print(f"WRONG {line}")
    return 1 if report.wrong or report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
