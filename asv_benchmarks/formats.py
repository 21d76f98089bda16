"""SpMV in every format, and conversions between formats: ratios to SciPy's own, or to weft's csr where it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from . import inputs
from .measure import Ratio, interleaved, threads

__all__ = ["CONVERSIONS", "PRODUCTS", "Conversion", "Product", "conversion", "product"]

# Which format on which inputs; the target is the most that weft may take of the peer's time.
PRODUCTS = {
    "csr": (("ecology1", "blocked3", "uniform"), 1.0),
    "coo": (("ecology1", "blocked3", "uniform"), 1.0),
    "dia": (("ecology1", "atmosmodd"), 1.0),
    "bsr": (("blocked3",), 1.0),
    "ell": (("ecology1", "atmosmodd"), 1.0),
}
CONVERSIONS = {
    ("coo", "csr"): 1.0,
    ("csr", "csc"): 1.0,
    ("csr", "coo"): 1.0,
    ("coo", "csc"): 1.0,
    ("csr", "bsr"): 1.0,
    ("bsr", "csr"): 1.0,
    ("csr", "dia"): 0.5,
    ("coo", "dia"): 0.5,
    ("csc", "dia"): 0.5,
}


def stored(a: sp.csr_array, format: str) -> Any:
    """The matrix in one of SciPy's formats."""
    return a.tobsr(blocksize=(3, 3)) if format == "bsr" else a.asformat(format)


def sources(formats: tuple[str, str]) -> tuple[str, ...]:
    """Inputs that a conversion is meant for: diagonals of stencils, blocks of blocked matrices."""
    if "dia" in formats:
        return ("ecology1", "atmosmodd")
    return ("blocked3",) if "bsr" in formats else ("ecology1", "blocked3", "uniform", "powerlaw")


def product(format: str, source: str) -> Ratio:
    """``A @ x`` in a format."""
    import weft

    a = inputs.matrix(source)
    if max(a.shape) % 3 and format == "bsr":
        a = a[: a.shape[0] // 3 * 3, : a.shape[1] // 3 * 3]
    x = np.random.default_rng(0).random(a.shape[1])
    if format in ("csr", "coo", "dia", "bsr"):
        peer = stored(a, format)
        made = weft.asarray(peer)
    else:
        peer, made = weft.asarray(a), weft.asarray(a).asformat(format)
    np.testing.assert_allclose(made @ x, a @ x)
    return _ratio(lambda: made @ x, lambda: peer @ x)


def conversion(formats: tuple[str, str], source: str) -> Ratio:
    """``A.asformat(target)``."""
    import weft

    have, wanted = formats
    a = inputs.matrix(source)
    if "bsr" in formats:
        a = a[: a.shape[0] // 3 * 3, : a.shape[1] // 3 * 3]
    peer = stored(a, have)
    made = weft.asarray(peer)
    options = {"blocksize": (3, 3)} if wanted == "bsr" else {}
    return _ratio(lambda: made.asformat(wanted, **options), lambda: stored(peer, wanted))


def _ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> Ratio:
    with threads(1):
        return interleaved({"weft": ours, "peer": theirs}).ratio("weft", "peer")


def rows(only: str) -> Iterator[tuple[str, str, str, Ratio, float]]:
    """Name, input, peer, ratio and target of every line."""
    for format, (names, target) in PRODUCTS.items():
        for source in names:
            if only in f"spmv {format}":
                peer = "scipy" if format in ("csr", "coo", "dia", "bsr") else "weft csr"
                yield f"SpMV {format}", source, peer, product(format, source), target
    for formats, target in CONVERSIONS.items():
        for source in sources(formats):
            if only in f"convert {formats[0]}_{formats[1]}":
                yield f"convert {'_'.join(formats)}", source, "scipy", conversion(formats, source), target


class Product:
    """SpMV by format, one thread."""

    params: ClassVar[list[str]] = [f"{format} {source}" for format, (names, _) in PRODUCTS.items() for source in names]
    param_names: ClassVar[list[str]] = ["case"]
    timeout = 600

    def track_ratio(self, case: str) -> float:
        return product(*case.split()).median

    track_ratio.unit = "ratio"  # type: ignore[attr-defined]


class Conversion:
    """Conversions, one thread."""

    params: ClassVar[list[str]] = [f"{a} {b} {source}" for a, b in CONVERSIONS for source in sources((a, b))]
    param_names: ClassVar[list[str]] = ["case"]
    timeout = 600

    def track_ratio(self, case: str) -> float:
        a, b, source = case.split()
        return conversion((a, b), source).median

    track_ratio.unit = "ratio"  # type: ignore[attr-defined]
