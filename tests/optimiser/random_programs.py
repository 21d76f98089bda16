"""Random statements with operands, and what their programs compute by NumPy and by kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.oracle import evaluate_dense

import weft
from weft.code_options import code_options
from weft.execution import numbers_of
from weft.index_notation import parse
from weft.index_notation.nodes import Assignment
from weft.index_notation.program import Program
from weft.optimiser import contraction, optimise, parts
from weft.storage import Storage

SIZES = dict(zip("ijkl", (4, 3, 5, 2), strict=True))
FORMATS = {
    0: ["dense"],
    1: ["dense", "dense", "s"],
    2: ["csr", "csr", "csc", "coo", "dense"],
    3: ["csf", "coo", "dense"],
}
SUMS = ("own-tensors", "invariant-parts")  # rules that change no bit


@dataclass
class Case:
    """A statement with its operands."""

    assignment: Assignment
    arrays: dict[str, np.ndarray]
    storages: dict[str, Storage]

    def program(self, **options: Any) -> Program:
        types = {name: s.type for name, s in self.storages.items()}
        numbers = dict(zip(types, numbers_of(list(self.storages.values())), strict=True))
        return optimise(self.assignment, types, numbers, code_options(**options))


class Statements:
    """A source of random statements of a few kinds, which the rules of the optimiser are about."""

    def __init__(
        self, seed: int, dtypes: tuple[str, ...] = ("float64",), values: tuple[float, ...] = (), fills: bool = False
    ):
        self.rng = np.random.default_rng(seed)
        self.dtypes, self.values, self.fills = dtypes, values, fills
        self.used: dict[str, tuple[str, ...]] = {}

    def pick(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def access(self, must: str = "", may: str = "ijkl", most: int = 3) -> str:
        """Return an access to a new tensor, or to one that there is."""
        if self.used and self.rng.random() < 0.2:
            name = self.pick(*self.used)
            axes = self.used[name]
            same = [v for v in may if SIZES[v] in [SIZES[u] for u in axes]]
            if len(same) >= len(axes) and not must:
                return f"{name}({','.join(axes)})"
        rest = [v for v in may if v not in must]
        self.rng.shuffle(rest)
        axes = tuple(must) + tuple(rest[: max(0, self.rng.integers(1, most + 1) - len(must))])
        axes = tuple(self.rng.permutation(axes)) if axes else ()
        name = "ABDEFGHKMN"[len(self.used)]
        self.used[name] = axes
        return f"{name}({','.join(axes)})" if axes else name

    def product(self, may: str, many: int) -> str:
        return "*".join(self.access(may=may, most=2) for _ in range(many))

    def text(self, kind: str) -> str:
        a = self.access
        match kind:
            case "contraction":
                return f"{self.target('ij', 2)} = {self.product('ijkl', self.rng.integers(3, 5))}"
            case "nested":
                inner = f"sum(k, {a('jk')}*{self.product('jkl', self.rng.integers(1, 3))})"
                return f"{self.target('i', 1)} = {a('ij')}*{inner}"
            case "scaled":
                return f"C(i,j) = {a('ij', most=2)}*sum(k, {a('ik', most=2)}*{a('jk', most=2)})"
            case "inside":
                op = self.pick("sum", "max", "min", "sum")
                first = f"{op}(k, {a('ik', most=2)}*{a('kj', most=2)})"
                second = self.pick(
                    f"{op}(l, {a('il', most=2)})", f"exp({a('j', most=1)})", first, f"sum(l, {a('jl', most=2)})"
                )
                return (
                    f"C(i,j) = {first}{self.pick('*', '*', '-', '/')}({second} {self.pick('+', '*')} {a('ij', most=2)})"
                )
            case "quotient":
                rows = [a("i", may="i", most=1) for _ in range(2)]
                columns = a("j", may="j", most=1)
                return f"{self.target('j', 1)} = {a('ij', most=2)}*({rows[0]}/{rows[1]})*{columns}"
            case "deep":
                outer, op = a("ij", most=2), self.pick("max", "min", "sum")
                inner = f"sum(k, {a('ik', most=2)}*{op}(l, {a('il', most=2)}{self.pick('', '*' + a('l', most=1))}))"
                return f"y(j) = sum(i, {outer}{self.pick('*', '+')}{inner})*{a('j', most=1)}"
            case "split":
                first = a("ij", most=2)
                rows = f"{a('i', may='i', most=1)}*{a('j', may='j', most=1)}"
                second = self.pick(
                    a("ij", most=2), a("j", may="j", most=1), rows, f"{rows}/2", "2", f"2*{a('ij', most=2)}"
                )
                scaled = self.pick("", f"{a('j', most=1)}*", "2*")
                by = self.pick("", "", "/4", f"/(2 + abs({a('j', may='j', most=1)}))")
                first = self.pick(first, first, f"cos({first})", f"{first}*{a('i', may='i', most=1)}")
                total = f"{scaled}(({first} {self.pick('+', '-')} {second}){by})"
                return f"y(i) = {self.pick(total, f'sum(j, {total})*2', f'sum(j, {total})')}"
            case "counted":
                first, rows = a("ij", most=2), a("i", may="i", most=1)
                other = self.pick(rows, rows, f"{rows}*{a('i', may='i', most=1)}", f"sum(k, {a('ik', most=2)})/2", "k")
                other = a("k", may="k", most=1) if other == "k" else other
                op = self.pick("square", "abs", "exp", "")
                inner = f"{op}({first} {self.pick('+', '-')} {other})"
                return f"{self.target('i', 1)} = {self.pick('', '2*')}{inner}"
            case "twice":
                op = self.pick("sum", "max", "min", "prod")
                return f"{self.target('i', 1)} = {op}(j, {op}(k, {a('ijk')}*{a('jk', may='ijk')}))"
            case "terms":
                signs = [self.pick("+", "-") for _ in range(2)]
                first, last = f"{a('ij')}*{a('jk')}*{a('k', most=1)}", f"{a('il', most=2)}*{a('l', most=1)}"
                return f"y(i) = {first} {signs[0]} 2*{a('i', most=1)} {signs[1]} {last}"
        raise ValueError(kind)

    def target(self, axes: str, most: int) -> str:
        axes = axes[: self.rng.integers(0, most + 1)]
        return f"C({','.join(axes)})" if axes else "C"

    def case(self, kind: str) -> Case:
        while True:
            self.used = {}
            text = self.text(kind)
            target, value = text.split(" = ")
            names = set(re.sub("exp|cos|sum|max|min|prod|abs|square", "", value))
            if set(target.partition("(")[2]) & set("ijkl") <= names:
                break
        arrays, storages = {}, {}
        for name, axes in self.used.items():
            if f"{name}(" not in text and not axes and name not in value:
                continue
            arrays[name], storages[name] = self.operand(axes)
        assignment = parse(text)
        read = dict.fromkeys(access.tensor for access in assignment.value.distinct_accesses)
        return Case(assignment, {n: arrays[n] for n in read}, {n: storages[n] for n in read})

    def operand(self, axes: tuple[str, ...]) -> tuple[np.ndarray, Storage]:
        shape, dtype = tuple(SIZES[v] for v in axes), np.dtype(self.pick(*self.dtypes))
        array = self.rng.integers(-3, 4, shape) if dtype.kind != "f" else self.rng.integers(-8, 9, shape) / 4
        if dtype.kind in "ub":
            array = np.abs(array)
        array = np.where(self.rng.random(shape) < 0.5, array, 0)
        if self.values and dtype.kind == "f":
            array = np.where(self.rng.random(shape) < 0.15, self.pick(*self.values), array)
        array = array.astype(dtype)
        fill = self.pick(0, 0, 1, np.inf, np.nan) if self.fills and dtype.kind == "f" else 0
        format = self.pick(*FORMATS[len(axes)])
        array = np.where(array == 0, dtype.type(fill), array).astype(dtype) if fill else array
        if format == "dense" or not axes:
            return array, Storage.dense(array)
        tensor = weft.asarray(array, format=format, fill_value=fill) if fill else weft.asarray(array, format=format)
        return array, tensor._storage


def by_numpy(program: Program, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return what the statements of a program compute, one after the other."""
    known = dict(arrays)
    for statement in program.statements:
        read = {access.tensor for access in statement.value.distinct_accesses}
        known[statement.target.tensor] = evaluate_dense(statement, {name: known[name] for name in read})
    return known[program.last.target.tensor]


def always_apart(monkeypatch: Any) -> None:
    """Make every part pay, so that small operands have programs too."""
    monkeypatch.setattr(parts, "WORTH", 0.0)
    monkeypatch.setattr(parts, "GAIN", float("-inf"))
    monkeypatch.setattr(contraction, "KERNEL", -1e6)
