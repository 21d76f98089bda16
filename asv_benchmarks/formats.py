"""Products and sums by format, and conversions between formats: ratios to SciPy's own, to hand-written C, to csr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from . import inputs, mkl
from .measure import Ratio, Run, interleaved, threads

__all__ = [
    "CONVERSIONS",
    "PRODUCTS",
    "SUMS",
    "TARGETS",
    "Conversion",
    "Product",
    "addition",
    "conversion",
    "conversion_runs",
    "multiplication",
    "product",
    "sparse_vector",
]

# Which format on which inputs.
PRODUCTS = {
    "csr": ("ecology1", "blocked3", "uniform", "powerlaw"),
    "coo": ("ecology1", "blocked3", "uniform", "powerlaw"),
    "dia": ("ecology1", "atmosmodd"),
    "bsr": ("blocked3",),
    "ell": ("ecology1", "atmosmodd", "uniform"),
    "sell": ("powerlaw", "uniform"),
}
SUMS = ("csr", "coo")
PAIRS = [("coo", "coo"), ("csr", "coo"), ("csc", "csc"), ("csc", "csr"), ("dcsr", "dcsr"), ("bsr", "bsr")]
"""Formats of the factors of a product of two matrices."""
VECTORS = {"1%": 0.01, "25%": 0.25}
"""How many of a sparse vector's elements are stored."""
REFERENCES = [("coo", "csr"), ("csr", "csc"), ("csr", "dia"), ("coo", "dia"), ("unsorted", "dia"), ("csc", "dia"),
              ("csr", "ell"), ("csc", "ell")]  # fmt: skip
"""Conversions that are compared with hand-written C; the first of a pair may be a coo in no order."""
REFERENCE_TARGET = 1.1
MKL = [("coo", "csr"), ("csr", "csc"), ("csr", "coo"), ("coo", "csc"), ("csr", "bsr"), ("bsr", "csr")]
"""Conversions that MKL has, too; the target is of their geometric mean."""
MKL_TARGET = 1.0
TARGETS = {"scipy": 1.0, "ref": 1.05, "csr first": 1.0, "weft csr": 1.0}
"""The most that weft may take of each peer's time."""
CONVERSIONS = {
    ("coo", "csr"): 1.0,
    ("csr", "csc"): 1.0,
    ("csr", "coo"): 1.0,
    ("coo", "csc"): 1.0,
    ("csr", "bsr"): 1.0,
    ("csc", "bsr"): 1.0,
    ("bsr", "csr"): 1.0,
    ("csr", "dia"): 0.5,
    ("coo", "dia"): 0.5,
    ("csc", "dia"): 0.5,
    ("dia", "csr"): 1.0,
    ("dia", "csc"): 1.0,
    ("dia", "coo"): 1.0,
}
TAKEN = {"csr": 0.5, "csc": 0.5, "coo": 0.5}
"""Formats of SciPy that ``asarray`` takes in, and the most that it may take of the time of ``A @ x``."""
UNSORTED = ("coo", "csr")
"""Formats whose entries come in any order, to be sorted as csr."""


def stored(a: sp.csr_array, format: str) -> Any:
    """The matrix in one of SciPy's formats."""
    return a.tobsr(blocksize=(3, 3)) if format == "bsr" else a.asformat(format)


def sources(formats: tuple[str, str]) -> tuple[str, ...]:
    """Inputs that a conversion is meant for: diagonals of stencils, blocks of blocked matrices."""
    if "dia" in formats or "ell" in formats:
        return ("ecology1", "atmosmodd")
    return ("blocked3",) if "bsr" in formats else ("ecology1", "blocked3", "uniform", "powerlaw")


def product(format: str, source: str) -> dict[str, Ratio]:
    """``A @ x`` in a format, to each of its peers."""
    import weft

    from . import reference

    a = inputs.matrix(source)
    if format == "bsr":
        a = a[: a.shape[0] // 3 * 3, : a.shape[1] // 3 * 3]
    x = np.random.default_rng(0).random(a.shape[1])
    csr = weft.asarray(a)
    peer = stored(a, format) if format not in ("ell", "sell") else None
    made = weft.asarray(peer) if peer is not None else csr.asformat(format)
    runs: dict[str, Callable[[], Any]] = {"weft": lambda: made @ x}
    if peer is not None:
        runs["scipy"] = lambda: peer @ x
    match format:
        case "csr":
            runs["ref"] = lambda: reference.spmv(a, x)
        case "coo":
            runs["ref"] = lambda: reference.spmv_coo(peer, x)
            runs["csr first"] = lambda: made.asformat("csr") @ x
        case "dia":
            runs["ref"] = lambda: reference.spmv_dia(peer, x)
        case "bsr":
            runs["ref"] = lambda: reference.spmv_bsr3(peer, x)
        case "ell":
            _, columns = made._storage.arrays
            runs["ref"] = lambda: reference.spmv_ell(a.shape[0], columns, made._storage.vals, x)
    if format in ("dia", "ell", "sell"):
        runs["weft csr"] = lambda: csr @ x
    for run in runs.values():
        np.testing.assert_allclose(run(), a @ x)
    with threads(1):
        samples = interleaved(runs)
    return {name: samples.ratio("weft", name) for name in runs if name != "weft"}


def addition(format: str, source: str) -> Ratio:
    """``A + B`` of matrices that share about half of their coordinates."""
    import weft

    a = inputs.matrix(source)
    b = inputs.shifted(a, 1)
    mine = weft.asarray(stored(a, format)), weft.asarray(stored(b, format))
    theirs = stored(a, format), stored(b, format)
    return _ratio(lambda: weft.add(*mine).asformat(format), lambda: (theirs[0] + theirs[1]).asformat(format))


def multiplication(formats: tuple[str, str], source: str) -> Ratio:
    """``A @ A``, of two formats; SciPy's, of csr where it has not these, with sorted columns."""
    import weft

    a = inputs.matrix(source)
    if "bsr" in formats:
        a = a[: a.shape[0] // 3 * 3, : a.shape[1] // 3 * 3]
    theirs = [stored(a, "csr" if format == "dcsr" else format) for format in formats]
    mine = [weft.asarray(b).asformat(format) for b, format in zip(theirs, formats, strict=True)]

    def peer() -> sp.csr_array:
        found = theirs[0] @ theirs[1]
        found.sort_indices()
        return found

    return _ratio(lambda: mine[0] @ mine[1], peer)


def sparse_vector(format: str, density: float, source: str) -> Ratio:
    """``A @ v`` of a vector that is a list of coordinates."""
    import weft

    a = inputs.matrix(source)
    v = np.where(np.random.default_rng(0).random(a.shape[1]) < density, 1.0, 0.0)
    mine = weft.asarray(a.asformat(format)), weft.asarray(v, format="coo")
    theirs = a.asformat(format), sp.coo_array(v)
    return _ratio(lambda: mine[0] @ mine[1], lambda: theirs[0] @ theirs[1])


def _operands(formats: tuple[str, str], source: str) -> tuple[Any, Any, dict[str, Any]]:
    """scipy's matrix in the first of two formats, weft's over the same arrays, and the options of the second."""
    import weft

    have, wanted = formats
    a = inputs.matrix(source)
    if "bsr" in formats:
        a = a[: a.shape[0] // 3 * 3, : a.shape[1] // 3 * 3]
    peer = stored(a, have)
    return peer, weft.asarray(peer), {"blocksize": (3, 3)} if wanted == "bsr" else {}


def conversion_runs(formats: tuple[str, str], source: str) -> dict[str, Run]:
    """``A.asformat(target)`` of weft and SciPy."""
    peer, made, options = _operands(formats, source)
    return {"weft": lambda: made.asformat(formats[1], **options), "scipy": lambda: stored(peer, formats[1])}


def conversion(formats: tuple[str, str], source: str) -> Ratio:
    """``A.asformat(target)`` beside SciPy."""
    return _ratio(*conversion_runs(formats, source).values())


def taken_in(format: str, source: str) -> Ratio:
    """``weft.asarray`` of SciPy's matrix over ``A @ x`` of the tensor."""
    import weft

    peer = stored(inputs.matrix(source), format)
    x, made = np.random.default_rng(0).random(peer.shape[1]), weft.asarray(peer)
    return _ratio(lambda: weft.asarray(peer), lambda: made @ x)


def bound(source: str) -> Ratio:
    """``A @ x`` of csr over one read of the arrays of ``A`` and ``x``."""
    import weft

    from . import reference

    a = inputs.matrix(source)
    x, made = np.random.default_rng(0).random(a.shape[1]), weft.asarray(a)
    return _ratio(lambda: made @ x, lambda: reference.read(a.indptr, a.indices, a.data, x))


def products_of_mkl(source: str) -> dict[str, Ratio]:
    """``A @ x`` and ``A.T @ x`` of csr beside Intel MKL, with its inspector and without."""
    import weft

    a = inputs.matrix(source)
    made, found = weft.asarray(a), {}
    for name, transposed in (("A @ x", False), ("A.T @ x", True)):
        mine = made.T if transposed else made
        x = np.random.default_rng(0).random(mine.shape[1])
        peers = {
            "mkl": mkl.multiplier(a, x, transposed=transposed),
            "mkl inspected": mkl.multiplier(a, x, transposed=transposed, inspected=True),
        }
        for peer in peers.values():
            np.testing.assert_allclose(peer(), mine @ x)
        with threads(1):
            samples = interleaved({"weft": lambda mine=mine, x=x: mine @ x, **peers})
        found |= {f"{name} {peer}": samples.ratio("weft", peer) for peer in peers}
    return found


def sorting(format: str, source: str) -> Ratio:
    """Entries in any order, all of a coo or those of each row of a csr, to rows in order."""
    import weft

    made = weft.asarray(shuffled(source)).asformat(format, sort=False)
    peer = made.to_scipy_sparse()

    def theirs() -> Any:
        found = peer.tocsr(copy=True)
        found.has_sorted_indices = False
        found.sort_indices()
        return found

    np.testing.assert_array_equal(made.asformat("csr").canonical().indices, theirs().indices)
    return _ratio(lambda: made.asformat("csr").canonical(), theirs)


def shuffled(source: str) -> sp.coo_array:
    """The entries of an input in any order."""
    coo = inputs.matrix(source).tocoo()
    order = np.random.default_rng(0).permutation(coo.nnz)
    return sp.coo_array((coo.data[order], (coo.row[order], coo.col[order])), shape=coo.shape)


def beside_reference(formats: tuple[str, str], source: str) -> Ratio:
    """``A.asformat(target)`` beside hand-written C."""
    import weft

    from . import reference

    have, wanted = formats
    peer = shuffled(source) if have == "unsorted" else stored(inputs.matrix(source), have)
    made = weft.asarray(peer)
    ours, theirs = made.asformat(wanted)._storage, reference.convert(peer, wanted)
    np.testing.assert_array_equal(ours.vals, theirs[-1].reshape(-1))
    return _ratio(lambda: made.asformat(wanted), lambda: reference.convert(peer, wanted))


def beside_mkl(formats: tuple[str, str], source: str) -> Ratio:
    """``A.asformat(target)`` beside Intel MKL."""
    peer, made, options = _operands(formats, source)
    return _ratio(lambda: made.asformat(formats[1], **options), mkl.converter(peer, formats[1]))


def _ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> Ratio:
    with threads(1):
        return interleaved({"weft": ours, "peer": theirs}).ratio("weft", "peer")


def rows(only: str) -> Iterator[tuple[str, str, str, Ratio, float | None]]:
    """Name, input, peer, ratio and target of every line."""
    for format, names in PRODUCTS.items():
        for source in names:
            if only in f"spmv {format}":
                for peer, ratio in product(format, source).items():
                    yield f"SpMV {format}", source, peer, ratio, TARGETS[peer]
    for format in SUMS:
        for source in PRODUCTS[format]:
            if only in f"sum {format}":
                yield f"sum {format}", source, "scipy", addition(format, source), TARGETS["scipy"]
    for formats in PAIRS:
        for source in ("blocked3",) if "bsr" in formats else ("ecology1", "blocked3"):
            if only in f"matmul {formats[0]}@{formats[1]}":
                ratio = multiplication(formats, source)
                yield f"matmul {'@'.join(formats)}", source, "scipy", ratio, TARGETS["scipy"]
    for format in ("csr", "coo"):
        for name, density in VECTORS.items():
            if only in f"vector {format}":
                ratio = sparse_vector(format, density, "ecology1")
                yield f"vector {format}, {name}", "ecology1", "scipy", ratio, TARGETS["scipy"]
    for formats, target in CONVERSIONS.items():
        for source in sources(formats):
            if only in f"convert {formats[0]}_{formats[1]}":
                yield f"convert {'_'.join(formats)}", source, "scipy", conversion(formats, source), target
    for format, target in TAKEN.items():
        for source in PRODUCTS["csr"]:
            if only in f"asarray {format}":
                yield f"asarray {format}", source, "A @ x", taken_in(format, source), target
    for source in PRODUCTS["csr"]:
        if only in "bound spmv csr":
            yield "SpMV csr", source, "one read of A and x", bound(source), None
        if only in "spmv csr mkl" and mkl.available():
            for name, ratio in products_of_mkl(source).items():
                what, _, peer = name.partition(" mkl")
                yield what, source, f"mkl{peer}", ratio, None
    for format in UNSORTED:
        for source in PRODUCTS[format]:
            if only in f"sort {format}":
                yield f"sort {format}", source, "scipy", sorting(format, source), TARGETS["scipy"]
    for formats in REFERENCES:
        for source in sources(formats):
            if only in f"convert {formats[0]}_{formats[1]}":
                ratio = beside_reference(formats, source)
                yield f"convert {'_'.join(formats)}", source, "ref", ratio, REFERENCE_TARGET
    for formats in MKL if mkl.available() else ():
        for source in sources(formats):
            if only in f"convert {formats[0]}_{formats[1]} mkl":
                ratio = beside_mkl(formats, source)
                yield f"convert {'_'.join(formats)}", source, "mkl", ratio, MKL_TARGET


class Product:
    """SpMV by format, one thread: the ratio to the fastest peer."""

    params: ClassVar[list[str]] = [f"{format} {source}" for format, names in PRODUCTS.items() for source in names]
    param_names: ClassVar[list[str]] = ["case"]
    timeout = 600

    def track_ratio(self, case: str) -> float:
        return max(ratio.median for ratio in product(*case.split()).values())

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
