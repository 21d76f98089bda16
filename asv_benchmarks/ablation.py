"""The worth of each optimisation: ``python -m asv_benchmarks.ablation [--markdown] [NAME ...]``.

Every case of an optimisation runs with and without it, in turns, in one process. A ratio is the time without it for
each second with it, so that an optimisation that pays has one above 1. The last columns tell how many lines of IR and C
the case's functions have with it, and without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from time import perf_counter, process_time
from typing import Any

import numpy as np

import weft
from weft import compiler
from weft.config import config
from weft.ir.nodes import Function
from weft.ir.printer import function_text
from weft.optimizations import OPTIMIZATIONS, Optimization

from .inputs import blocked, matrix, redrawn, scaled, shifted, stencil, tensor
from .measure import Ratio, Run, interleaved, threads

__all__ = ["CASES", "Lines", "Row", "lines_of", "main", "measured"]

WORTH = 1.05
"""The ratio below which an optimisation does not earn its place."""

HEADER = ("optimisation", "geometric mean", "worst case", "cases", "IR with/without", "C with/without")


def csr(name: str) -> Any:
    return weft.asarray(matrix(name))


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape)


def unsorted_entries() -> Run:
    found = matrix("uniform").tocoo()
    order = np.random.default_rng(1).permutation(found.nnz)
    coords, values = np.array([found.row, found.col])[:, order], found.data[order]
    return lambda: weft.from_coords(coords, values, found.shape, format="csr")


def taken_in(format: str) -> Run:
    found = matrix("uniform").asformat(format)
    return lambda: weft.asarray(found)


def unordered() -> Run:
    a = csr("uniform").asformat("dok")
    return lambda: a.asformat("csr")


def few_unsorted_rows() -> Run:
    found = matrix("uniform").tocsr()
    rows, entries = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr)), np.random.default_rng(1)
    order = np.lexsort((entries.random(found.nnz), rows))
    levels = [{}, {"pos": found.indptr, "crd": found.indices[order]}]
    unordered = weft.Format("(i,j) -> (i,j)", [weft.Dense(), weft.Compressed(ordered=False)])
    a = weft.from_levels(found.shape, unordered, levels, found.data[order])
    mask = np.where(np.arange(found.shape[0]) % 100, 0.0, 1.0)
    b = weft.evaluate("B(i,j) = m(i)*A(i,j)", m=weft.asarray(mask, format="s"), A=csr("uniform"), format="dcsr")
    return lambda: weft.evaluate("C(i,j) = A(i,j)*B(i,j)", A=a, B=b)


def two_sums() -> Run:
    a, b = csr("ecology1"), csr("Lin")
    n = min(a.shape[0], b.shape[0])
    a, b, x, z = a[:n, :n], b[:n, :n], numbers(n), numbers(n)
    return lambda: weft.evaluate("y(i) = A(i,j)*x(j)*B(i,k)*z(k)", A=a, B=b, x=x, z=z)


def statement(text: str, rows: int = 100_000) -> Callable[[], Run]:
    """A statement of sparse matrices and vectors, with parts that may come first."""

    def make() -> Run:
        n = max(min(rows, 3000), scaled(rows))
        given = {name: weft.random((n, n), nnz=10 * n, format="csr", rng=k) for k, name in enumerate("AB")}
        given |= {name: weft.asarray(numbers(n)) for name in "xd"}
        read = {name: value for name, value in given.items() if f"{name}(" in text}
        return lambda: weft.evaluate(text, **read)

    return make


def mttkrp(b: Any) -> Run:
    c, d = numbers(b.shape[1], 25), numbers(b.shape[2], 25)
    return lambda: weft.evaluate("A(i,j) = B(i,k,l)*C(k,j)*D(l,j)", B=b, C=c, D=d, format="dense")


def converted_mttkrp() -> Run:
    b = tensor("uniform3d")
    t = weft.from_coords(b.coords, b.values, b.shape, format="csf")
    c, d = numbers(t.shape[0], 25), numbers(t.shape[1], 25)
    text = "A(l,j) = B(i,k,l)*C(i,j)*D(k,j)"
    return lambda: weft.evaluate(text, B=t, C=c, D=d, format="sd")


def other_order() -> Run:
    a, b = csr("uniform"), csr("uniform").asformat("csc")
    return lambda: weft.evaluate("C(i,j) = A(i,j)*B(i,j)", A=a, B=b)


def short_fibres() -> Run:
    t = tensor("uniform3d")
    return mttkrp(weft.from_coords(t.coords, t.values, t.shape, format="csf"))


def long_fibres() -> Run:
    return mttkrp(weft.random((scaled(100), 100, 1000), nnz=10_000 * scaled(100), format="csf", rng=0))


def single_entries() -> Run:
    n = scaled(30_000)
    return mttkrp(weft.random((n, n, n), nnz=30 * n, format="csf", rng=0))


def scaled_rows() -> Run:
    a = csr("denormal")
    x, y, z = (numbers(n) for n in (a.shape[1], a.shape[0], a.shape[0]))
    return lambda: weft.evaluate("r(i) = z(i)*y(i)*A(i,j)*x(j)", A=a, x=x, y=y, z=z)


def scaled_columns() -> Run:
    a = csr("uniform")
    d = weft.diags_array(numbers(a.shape[1]))
    return lambda: a @ d


def product(name: str, format: str, columns: int = 0) -> Callable[[], Run]:
    def make() -> Run:
        a = csr(name).asformat(format)
        x = numbers(a.shape[1], columns) if columns else numbers(a.shape[1])
        return lambda: a @ x

    return make


def block_product() -> Run:
    found = blocked(3000, 24_000)
    a, b = (weft.asarray(m).asformat("bsr", blocksize=(3, 3)) for m in (found, shifted(found, 3)))
    return lambda: a @ b


def dense_product() -> Run:
    a, b = weft.asarray(numbers(scaled(300), scaled(300))), numbers(scaled(300), scaled(300))
    return lambda: weft.evaluate("C(i,k) = A(i,j)*B(j,k)", A=a, B=b)


def conversion(source: Callable[[], Any], format: str) -> Callable[[], Run]:
    def make() -> Run:
        a = source()
        return lambda: a.asformat(format)

    return make


def dense_dot() -> Run:
    x, y = numbers(scaled(200_000)), numbers(scaled(200_000) + 1)[1:].copy()
    return lambda: weft.evaluate("a = x(i)*y(i)", x=x, y=y)


def long_rows() -> Run:
    a = weft.random((scaled(1000), 20_000), nnz=scaled(1_000_000), format="csr", rng=0)
    x = numbers(a.shape[1])
    return lambda: a @ x


def rows_of_45(text: str) -> Callable[[], Run]:
    """A statement of a matrix that has the entries of 45 neighbours on a grid in each row."""

    def make() -> Run:
        box = [(a, b, c) for a in range(-1, 2) for b in range(-1, 2) for c in range(-2, 3)]
        a = weft.asarray(stencil((30, 30, 60), box))
        x, z = numbers(a.shape[1]), numbers(a.shape[0])
        read = {"A": a, "x": x} | ({"z": z} if "z(" in text else {})
        return lambda: weft.evaluate(text, **read)

    return make


def unary(name: str, run: Callable[[Any], Any]) -> Callable[[], Run]:
    def make() -> Run:
        a = csr(name)
        return lambda: run(a)

    return make


def reshape(format: str) -> Callable[[], Run]:
    def make() -> Run:
        n = scaled(1000)
        a = weft.random((4 * n, 6 * n), nnz=40 * n, format=format, rng=0)
        return lambda: a.reshape((6 * n, 4 * n))

    return make


def scattered_rows() -> Run:
    a = csr("uniform")
    order = np.random.default_rng(0).permutation(a.shape[0])
    return lambda: a[order]


def scattered_sddmm(format: str) -> Callable[[], Run]:
    def make() -> Run:
        a = csr("uniform").asformat(format)
        given = {"A": a, "C": numbers(a.shape[0], 32), "D": numbers(a.shape[1], 32)}
        return lambda: weft.evaluate("E(i,j) = A(i,j)*C(i,k)*D(j,k)", **given)

    return make


def binary(name: str, run: Callable[[Any, Any], Any], format: str = "csr") -> Callable[[], Run]:
    def make() -> Run:
        a, b = (weft.asarray(s).asformat(format) for s in (matrix(name), shifted(matrix(name), 1)))
        return lambda: run(a, b)

    return make


def independent_sum() -> Run:
    a, b = (weft.asarray(s) for s in (matrix("uniform"), redrawn(matrix("uniform"))))
    return lambda: a + b


def into(result: str, text: str, format: str = "csr", name: str = "Lin") -> Callable[[], Run]:
    """A result in another format than that of its operands, of which ``B`` has other coordinates than ``A``."""

    def make() -> Run:
        a, b = csr(name).asformat(format), weft.asarray(shifted(matrix(name), 1)).asformat(format)
        read = {"A": a, "B": b} if "B(" in text else {"A": a}
        return lambda: weft.evaluate(f"C(i,j) = {text}", format=result, **read)

    return make


def dot() -> Run:
    x, y = numbers(scaled(2_000_000)), numbers(scaled(2_000_000))
    return lambda: weft.einsum("i,i->", x, y)


def bilinear(format: str) -> Run:
    a = csr("uniform").asformat(format)
    y, x = numbers(a.shape[0]), numbers(a.shape[1])
    return lambda: weft.einsum("i,ij,j->", y, a, x, optimize=False)


def long_row() -> Run:
    n, rng = scaled(100_000), np.random.default_rng(1)
    whole = np.full(20 * n, n // 2), np.arange(20 * n)
    others = rng.integers(0, n, 2 * n), rng.integers(0, 20 * n, 2 * n)
    coords = np.concatenate([whole, others], axis=1)
    a, x = weft.from_coords(coords, numbers(22 * n), (n, 20 * n), format="csr"), numbers(20 * n)
    return lambda: a @ x


def total(format: str) -> Callable[[], Run]:
    def make() -> Run:
        a = csr("uniform").asformat(format)
        return lambda: weft.evaluate("s = A(i,j)", A=a)

    return make


def in_notation(name: str, format: str, text: str) -> Callable[[], Run]:
    """A result with the structure of ``A``: beside ``B``, which has other values, or a vector ``x``."""

    def make() -> Run:
        a = csr(name).asformat(format)
        operands = {"A": a, "B": (a * 2.0).copy(), "x": numbers(a.shape[1])}
        read = {key: value for key, value in operands.items() if f"{key}(" in text}
        return lambda: weft.evaluate(f"C(i,j) = {text}", format=a.layout, **read)

    return make


def full_columns() -> Run:
    a = csr("uniform")
    x = numbers(a.shape[0])
    return lambda: weft.evaluate("y(j) = A(i,j)*x(i)", A=a, x=x, format="s")


def full_product() -> Run:
    n = scaled(400)
    a, b = (weft.random((20 * n, n), nnz=60 * n, format="csr", rng=k) for k in range(2))
    return lambda: weft.evaluate("C(i,j) = A(k,i)*B(k,j)", A=a, B=b, format="csr")


def full_rows(order: int) -> Callable[[], Run]:
    def make() -> Run:
        if order == 2:
            a, text = csr("uniform"), "C(i,r) = A(i,j)*X(j,r)"
        else:
            n = scaled(200)
            a = weft.random((n, n, 200), nnz=500 * n, format="csf", rng=0)
            text = "C(i,j,r) = A(i,j,k)*X(k,r)"
        x, format = numbers(a.shape[-1], 16), "csr" if order == 2 else "csf"
        return lambda: weft.evaluate(text, A=a, X=x, format=format)

    return make


def sparse_vector() -> Run:
    a = weft.random((scaled(20_000), 100_000), nnz=10 * scaled(20_000), format="csr", rng=0)
    x = weft.random((a.shape[1],), nnz=1000, format="s", rng=1)
    return lambda: weft.evaluate("y(i) = A(i,j)*x(j)", A=a, x=x)


def transposed(name: str, columns: int) -> Callable[[], Run]:
    def make() -> Run:
        a = csr(name).T
        x = numbers(a.shape[1], columns)
        return lambda: a @ x

    return make


CASES: dict[str, Callable[[], Run]] = {
    "two products, nested": statement("y(i) = sum(k, sum(j, A(i,j)*B(j,k))*x(k))"),
    "two products": statement("y(i) = A(i,j)*B(j,k)*x(k)"),
    "product of sums": statement("C(i,k) = sum(j, A(i,j)*B(j,k))*sum(j, B(i,j)*A(j,k))", 1000),
    "scaled by quotients": statement("y(i) = A(i,j)*(x(j)/d(j))"),
    "scaled columns": scaled_columns,
    "squares of distances": statement("y(i) = square(A(i,j) - x(i))", 1000),
    "sum of two, times a vector": statement("y(i) = (A(i,j) + B(i,j))*x(j)"),
    "two sums": two_sums,
    "MTTKRP, long fibres": long_fibres,
    "MTTKRP, short fibres": short_fibres,
    "MTTKRP, single entries": single_entries,
    "scaled rows": scaled_rows,
    "dia SpMV": product("Lin", "dia"),
    "ell SpMV": product("uniform", "ell"),
    "dia to csr": conversion(lambda: csr("Lin").asformat("dia"), "csr"),
    "SpMM 32": product("Lin", "csr", 32),
    "ell SpMM": product("uniform", "ell", 32),
    "dense product": dense_product,
    "bsr SpMV": product("blocked3", "bsr"),
    "bsr SpMM": product("blocked3", "bsr", 32),
    "bsr @ bsr": block_product,
    "dense dot": dense_dot,
    "long rows SpMV": long_rows,
    "rows of 45 SpMV": rows_of_45("y(i) = A(i,j)*x(j)"),
    "rows of 45 residual": rows_of_45("r(i) = z(i) - A(i,j)*x(j)"),
    "sum of values": unary("uniform", lambda a: a.sum()),
    "column sums": unary("uniform", lambda a: a.sum(axis=0)),
    "column extremes": unary("uniform", lambda a: a.max(axis=0)),
    "csr reshape": reshape("csr"),
    "coo reshape": reshape("coo"),
    "log1p": unary("uniform", np.log1p),
    "square": unary("uniform", lambda a: np.power(a, 2)),
    "cube": unary("uniform", lambda a: a**3),
    "root": unary("uniform", lambda a: np.power(a, 0.5)),
    "power": unary("uniform", lambda a: a**1.7),
    "short rows SpMV": product("ecology1", "csr"),
    "scattered SpMV": product("powerlaw", "csr"),
    "coo SpMV": product("uniform", "coo"),
    "csr to csc": conversion(lambda: csr("uniform"), "csc"),
    "scattered rows": scattered_rows,
    "SDDMM, scattered rows": scattered_sddmm("csr"),
    "SDDMM by coo": scattered_sddmm("coo"),
    "threads: SDDMM, scattered rows": scattered_sddmm("csr"),
    "coo to csf": conversion(lambda: csr("uniform").asformat("coo"), "csf"),
    "full columns": full_columns,
    "full product": full_product,
    "TTM into csf": full_rows(3),
    "SpMM into csr": full_rows(2),
    "sparse vector SpMV": sparse_vector,
    "threads: csc SpMM": product("Lin", "csc", 32),
    "threads: A.T @ X": transposed("uniform", 32),
    "threads: dot": dot,
    "threads: coo form": lambda: bilinear("coo"),
    "threads: long row": long_row,
    "threads: A + B": binary("uniform", lambda a, b: a + b),
    "threads: dcsr + dcsr": binary("uniform", lambda a, b: a + b, "dcsr"),
    "A + B": binary("uniform", lambda a, b: a + b),
    "A + B, independent": independent_sum,
    "A * B": binary("Lin", lambda a, b: a * b),
    "SpGEMM": binary("Lin", lambda a, b: a @ b),
    "MTTKRP, converted": converted_mttkrp,
    "A * B, csr and csc": other_order,
    "csr to coo": conversion(lambda: csr("uniform"), "coo"),
    "coo to csr": conversion(lambda: csr("uniform").asformat("coo"), "csr"),
    "csr taken in": lambda: taken_in("csr"),
    "coo taken in": lambda: taken_in("coo"),
    "unsorted to csr": unsorted_entries,
    "few unsorted rows": few_unsorted_rows,
    "dok to csr": unordered,
    "csr to bsr": conversion(lambda: csr("blocked3"), "bsr"),
    "csc to bsr": conversion(lambda: csr("uniform").asformat("csc"), "bsr"),
    "dense to jad": conversion(lambda: weft.asarray(matrix("uniform")[:1000, :1000]).asformat("dense"), "jad"),
    "2 * A into dia": into("dia", "2*A(i,j)"),
    "2 * A into hash": into("hash", "2*A(i,j)"),
    "A + B into csc": into("csc", "A(i,j) + B(i,j)"),
    "A + B into hash": into("hash", "A(i,j) + B(i,j)"),
    "bsr + bsr into csr": into("csr", "A(i,j) + B(i,j)", "bsr", "blocked3"),
    "2 * dia": in_notation("Lin", "dia", "2*A(i,j)"),
    "ell * x": in_notation("Lin", "ell", "A(i,j)*x(j)"),
    "csr * x": in_notation("uniform", "csr", "A(i,j)*x(j)"),
    "csr total": total("csr"),
    "coo total": total("coo"),
    "bsr + bsr, equal": in_notation("blocked3", "bsr", "A(i,j) + B(i,j)"),
    "csr + csr, equal": in_notation("uniform", "csr", "A(i,j) + B(i,j)"),
}
"""What is run, by name; cases whose names begin with ``threads`` have two threads, the others one."""

_runs = count()
made = cache(lambda case: CASES[case]())


@dataclass
class Lines:
    """Lines of IR and C that were generated."""

    functions: list[Function] = field(default_factory=list)
    ir: int = 0
    c: int = 0


@dataclass(frozen=True)
class Row:
    """The worth of one optimisation."""

    name: str
    ratios: dict[str, Ratio]
    ir: tuple[int, int]
    c: tuple[int, int]

    @property
    def mean(self) -> float:
        return float(np.exp(np.mean([np.log(ratio.median) for ratio in self.ratios.values()])))

    @property
    def settled(self) -> bool:
        """True if both quartiles of each case lie on the same side of ``WORTH``; cases may differ."""
        return all((r.low >= WORTH) == (r.high >= WORTH) for r in self.ratios.values())

    def cells(self) -> tuple[str, ...]:
        worst = min(self.ratios, key=lambda case: self.ratios[case].median)
        doubt = "" if self.settled else " (not settled)"
        cases = "; ".join(f"{case} {ratio}" for case, ratio in self.ratios.items())
        mean, least = f"{self.mean:.2f}{doubt}", f"{self.ratios[worst].median:.2f}, {worst}"
        return (self.name, mean, least, cases, *(f"{a} / {b}" for a, b in (self.ir, self.c)))


@contextmanager
def recorded() -> Iterator[Lines]:
    """Count the lines of all functions that are printed as C."""
    found, own = Lines(), compiler.print_module

    def counting(functions: Sequence[Function], **options: Any) -> Any:
        text = own(functions, **options)
        found.functions += functions
        found.ir += sum(len(function_text(function).splitlines()) for function in functions)
        found.c += len(text.splitlines())
        return text

    compiler.print_module = counting
    try:
        yield found
    finally:
        compiler.print_module = own


def lines_of(run: Run, disabled: Sequence[str]) -> Lines:
    """The lines that a first run generates without some optimisations."""
    # Plans are kept by the settings that affect code: a flag that nothing reads makes the plans of this run new ones.
    mark = f"-DWEFT_ABLATION_{next(_runs)}"
    with recorded() as found, config.override(disable=disabled, cflags=mark, optimization=0):
        run()
    return found


def in_turns(name: str, run: Run) -> dict[str, Run]:
    """The same run with an optimisation and without it."""

    def without(disabled: Sequence[str]) -> Run:
        def call() -> object:
            config.disable = disabled
            return run()

        return call

    return {"with": without(()), "without": without((name,))}


def measured(optimization: Optimization, budget: float) -> Row:
    """Time every case of an optimisation with and without it."""
    ratios, ir, c = {}, [0, 0], [0, 0]
    before = config.disable
    for case in optimization.cases:
        run = made(case)
        try:
            together = case.startswith("threads")
            with threads(2 if together else 1):
                # The time of the process alone, without what others take of the CPU, where there is one thread.
                clock = perf_counter if together else process_time
                samples = interleaved(in_turns(optimization.name, run), budget=budget, clock=clock)
                ratios[case] = samples.ratio("without", "with")
                for k, disabled in enumerate([(), (optimization.name,)]):
                    lines = lines_of(run, disabled)
                    ir[k], c[k] = ir[k] + lines.ir, c[k] + lines.c
        finally:
            config.disable = before
    return Row(optimization.name, ratios, (ir[0], ir[1]), (c[0], c[1]))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="the worth of each optimisation")
    parser.add_argument("names", nargs="*", metavar="NAME", help="optimisations; all by default")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds for each case, more or less (2)")
    given = parser.parse_args(argv)
    known = {one.name: one for one in OPTIMIZATIONS}
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"there is no optimisation {unknown[0]!r}; there are {', '.join(known)}")
    if given.markdown:
        print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")
    for name in given.names or known:
        cells = measured(known[name], given.budget).cells()
        print("| " + " | ".join(cells) + " |" if given.markdown else "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
