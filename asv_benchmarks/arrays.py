"""What users do with arrays beyond products, beside SciPy and pydata/sparse."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from . import inputs
from .measure import Ratio, installed, interleaved, threads

__all__ = ["CASES", "SIZES", "TARGETS", "Arrays", "ratios", "rows"]

SIZES = {
    "10x10": ((10, 10), 20),
    "5000x5000": ((5000, 5000), 25_000),
    "1e6x1e6": ((1_000_000, 1_000_000), 5_000_000),
    "200^3 sparse": ((200,) * 3, 8_000),
    "200^3": ((200,) * 3, 1_000_000),
}
"""Shapes and how many entries."""
TARGETS = {"scipy": 1.0, "pydata": 0.2}


def _mask(a: Any) -> np.ndarray[Any, Any]:
    return np.arange(a.shape[0]) % 3 == 0


@cache
def _index(rows: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).integers(0, rows, max(rows // 10, 3))


@cache
def _dense(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(7).uniform(0.5, 1.5, shape)


# What each does with the module that has the functions, a tensor, and another of its shape.
CASES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "A + B": lambda xp, a, b: a + b,
    "A * B": lambda xp, a, b: a.multiply(b) if isinstance(a, sp.sparray) and a.ndim == 2 else a * b,
    "A * 2": lambda xp, a, b: a * 2,
    "abs(A)": lambda xp, a, b: abs(a),
    "log1p(A)": lambda xp, a, b: a.log1p() if isinstance(a, sp.sparray) else np.log1p(a),
    "A ** 3": lambda xp, a, b: a.power(3) if isinstance(a, sp.sparray) else a**3,
    "A > 0.5": lambda xp, a, b: a > 0.5,
    "A.sum(0)": lambda xp, a, b: a.sum(axis=0),
    "A.sum(1)": lambda xp, a, b: a.sum(axis=1),
    "A.max(0)": lambda xp, a, b: a.max(axis=0),
    "A.max(1)": lambda xp, a, b: a.max(axis=1),
    "A.mean()": lambda xp, a, b: a.mean(),
    "A.max()": lambda xp, a, b: a.max(),
    "A.diagonal()": lambda xp, a, b: a.diagonal() if xp.__name__ != "sparse" else xp.diagonal(a),
    "A[i]": lambda xp, a, b: a[a.shape[0] // 2],
    "A[i:j]": lambda xp, a, b: a[a.shape[0] // 4 : a.shape[0] // 2],
    "A[:, j]": lambda xp, a, b: a[:, a.shape[1] // 2],
    "A[:, idx]": lambda xp, a, b: a[:, _index(a.shape[1])],
    "A[mask]": lambda xp, a, b: a[_mask(a)],
    "A[idx]": lambda xp, a, b: a[_index(a.shape[0])],
    "A.T": lambda xp, a, b: a.T,
    "reshape": lambda xp, a, b: a.reshape((a.shape[0] * 2, a.shape[1] // 2, *a.shape[2:])),
    "vstack": lambda xp, a, b: _stacked(xp, 0, a, b),
    "hstack": lambda xp, a, b: _stacked(xp, 1, a, b),
    "kron": lambda xp, a, b: xp.kron(a, _corner(xp)),
    "A / d": lambda xp, a, b: a / _dense(a.shape[0])[:, None],
    "A @ X.T": lambda xp, a, b: a @ _dense(8, a.shape[1]).T,
    "X @ A": lambda xp, a, b: _dense(8, a.shape[0]) @ a,
    "A ** 2": lambda xp, a, b: a.power(2) if isinstance(a, sp.sparray) else a**2,
    "A.sum()": lambda xp, a, b: xp.einsum("ij->", a) if xp.__name__ == "weft" and a.ndim == 2 else a.sum(),
    "pickle": lambda xp, a, b: pickle.loads(pickle.dumps(a)),
    "A[A > t] = 0": lambda xp, a, b: _thresholded(a, 0),
    "A[A > t] = 1": lambda xp, a, b: _thresholded(a, 1),
    "setdiag": lambda xp, a, b: a.copy().setdiag(1),
    "A[idx][:, idx]": lambda xp, a, b: a[_index(a.shape[0])][:, _index(a.shape[1])],
}
ONLY_SCIPY = {"A[A > t] = 0", "A[A > t] = 1", "setdiag", "A[idx][:, idx]"}
ONLY_MATRICES = {"kron", "A.diagonal()", "A / d", "A @ X.T", "X @ A"} | ONLY_SCIPY
ENDLESS = {"A[:, idx]", "A[idx]", "A[mask]"}
"""What takes pydata/sparse minutes on the largest matrix."""


def _thresholded(a: Any, value: float) -> Any:
    changed = a.copy()
    changed[changed > 0.9] = value
    return changed.nnz


@cache
def _corner(xp: Any) -> Any:
    """A sparse unit matrix of a package's own."""
    eye = sp.csr_array(np.eye(2))
    return eye if xp is sp else xp.COO(np.eye(2)) if xp.__name__ == "sparse" else xp.asarray(eye)


def _stacked(xp: Any, axis: int, a: Any, b: Any) -> Any:
    if xp is sp:
        return (sp.vstack, sp.hstack)[axis]([a, b], format="csr")
    return xp.concat([a, b], axis=axis)


@cache
def operands(size: str) -> dict[str, tuple[Any, Any, Any]]:
    """For each package its module and two tensors."""
    import weft

    shape, count = SIZES[size]
    count = count if count <= 25_000 else int(count * inputs.scale())
    rng = np.random.default_rng(0)
    pairs: dict[str, list[Any]] = {"weft": [], "scipy": [], "pydata": []}
    for _ in range(2):
        coords = np.stack([rng.integers(0, n, count) for n in shape])
        values = rng.random(count)
        if len(shape) == 2:
            csr = sp.csr_array((values, tuple(coords)), shape=shape)
            pairs["scipy"].append(csr)
            pairs["weft"].append(weft.asarray(csr))
        else:
            pairs["weft"].append(weft.from_coords(coords, values, shape, format="coo").asformat("csf"))
        if installed("sparse"):
            import sparse

            pairs["pydata"].append(sparse.COO(coords, values, shape=shape))
    modules: dict[str, Any] = {"weft": weft, "scipy": sp}
    if installed("sparse"):
        import sparse

        modules["pydata"] = sparse
    return {name: (modules[name], *pair) for name, pair in pairs.items() if pair}


def ratios(case: str, size: str) -> dict[str, Ratio]:
    """weft's time over each peer's."""
    run = CASES[case]
    runs: dict[str, Callable[[], Any]] = {}
    for name, (module, a, b) in operands(size).items():
        if name != "pydata" or not (case in ONLY_SCIPY or size == "10x10" or (size == "1e6x1e6" and case in ENDLESS)):
            runs[name] = lambda module=module, a=a, b=b: run(module, a, b)
    with threads(1):
        samples = interleaved(runs, budget=1.0)
    return {name: samples.ratio("weft", name) for name in runs if name != "weft"}


def rows(only: str) -> Iterator[tuple[str, str, str, Ratio, float]]:
    """Name, input, peer, ratio and target of every line."""
    for size, (shape, _) in SIZES.items():
        for case in CASES:
            if only in f"arrays {case} {size}".lower() and not (case in ONLY_MATRICES and len(shape) != 2):
                for peer, ratio in ratios(case, size).items():
                    yield case, size, peer, ratio, TARGETS[peer]
        operands.cache_clear()


class Arrays:
    """Array functions, one thread: the ratio to SciPy, or where it has no such tensors to pydata/sparse."""

    params: ClassVar[tuple[list[str], list[str]]] = (list(CASES), list(SIZES))
    param_names: ClassVar[list[str]] = ["case", "size"]
    timeout = 600

    def setup(self, case: str, size: str) -> None:
        if len(SIZES[size][0]) != 2 and (case in ONLY_MATRICES or not installed("sparse")):
            raise NotImplementedError

    def track_ratio(self, case: str, size: str) -> float:
        return next(iter(ratios(case, size).values())).median

    track_ratio.unit = "ratio"  # type: ignore[attr-defined]
