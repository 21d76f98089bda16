"""Programs of the grid: expressions, formats and dtypes, with dense references by NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import weft
from weft import execution
from weft.code_options import code_options
from weft.device_code import device_program
from weft.device_program import Choice, DeviceProgram
from weft.execution import planning
from weft.execution.plan_facts import KernelPlan, PlanRequest, WithFills
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.module import Module
from weft.operations.operands import storage_of
from weft.records import record
from weft.storage import Storage
from weft.tensor.sparse_tensor import SparseTensor
from weft.variant import Variant

from .emulated import run

ON_DEVICE = code_options(target="cuda", verify=True)
SIZES = {"i": 13, "j": 11, "k": 5, "l": 37, "r": 9}


@record
class Expression:
    """An expression with one sparse operand ``A``, and NumPy's value of it."""

    text: str
    dense: Callable[..., Any]  # of the operands by name
    fill: float = 0  # the fill value of A
    like: bool = False  # whether the result shares the structure of A


def _min_plus(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (A + x).min(axis=1)


MATRIX = {
    "spmv": Expression("y(i) = A(i,j)*x(j)", lambda A, x: A @ x),
    "transposed": Expression("y(j) = A(i,j)*x(i)", lambda A, x: A.T @ x),
    "spmm": Expression("Y(i,l) = A(i,j)*X(j,l)", lambda A, X: A @ X),
    "spmm_t": Expression("Y(i,k) = A(i,j)*X(k,j)", lambda A, X: A @ X.T),
    "residual": Expression("r(i) = b(i) - A(i,j)*x(j)", lambda b, A, x: b - A @ x),
    "sddmm": Expression("C(i,j) = A(i,j)*U(i,k)*V(j,k)", lambda A, U, V: A * (U @ V.T), like=True),
    "min_plus": Expression("d(i) = min(j, A(i,j) + x(j))", _min_plus, np.inf),
    "row_max": Expression("m(i) = max(j, A(i,j))", lambda A: A.max(axis=1)),
    "column_max": Expression("m(j) = max(i, A(i,j))", lambda A: A.max(axis=0)),
    "row_sum": Expression("s(i) = A(i,j)", lambda A: A.sum(axis=1)),
    "total": Expression("s = A(i,j)", lambda A: A.sum()),
}
CUBE = {
    "mttkrp": Expression(
        "M(i,r) = A(i,j,k)*B(j,r)*C(k,r)", lambda A, B, C: np.einsum("ijk,jr,kr->ir", A, B, C, optimize=True)
    ),
    "ttv": Expression("Y(i,j) = A(i,j,k)*v(k)", lambda A, v: A @ v),
    "row_sum_3": Expression("s(i) = A(i,j,k)", lambda A: A.sum(axis=(1, 2))),
    "total_3": Expression("s = A(i,j,k)", lambda A: A.sum()),
}
EXPRESSIONS = MATRIX | CUBE
OWN = weft.Format("(i,j) -> (j,i)", [weft.Compressed(), weft.Compressed()])
FORMATS: dict[str, Any] = {**{name: name for name in ("csr", "csc", "coo", "dcsr", "ell", "bsr", "csf")}, "own": OWN}
NOT_THERE = {("column_max", "bsr")}
"""What no loops compute without a conversion."""


LANES = (1, 4, 32)
DTYPES = ("bool", "int32", "int64", "float32")
ALSO = ("spmv", "transposed", "spmm", "row_max", "total")  # one of each way to add up, in the other dtypes


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Yield the expression, the format, the dtype and the index dtype of each case."""
    for name in EXPRESSIONS:
        for format in formats_of(name):
            yield name, format, "float64", "int64" if format in ("csr", "coo") and name in ALSO else "int32"
    for dtype in DTYPES:
        for name in ALSO:
            for format in ("csr", "coo"):
                yield name, format, dtype, "int32"


def formats_of(name: str) -> list[str]:
    """The formats of the grid for an expression."""
    if name in CUBE:
        return ["csf", "coo"]
    return [format for format in FORMATS if (name, format) not in NOT_THERE]


def module_of(
    expression: Expression, format: Any, dtype: str = "float64", index: str = "int32", options: Any = ON_DEVICE
) -> tuple[Module, dict[str, Any]]:
    """The module of an expression for a device, and the fill values that it reads."""
    assignment = parse(expression.text)
    types = {}
    for a in assignment.value.distinct_accesses:
        mine = a.tensor == "A"
        of = parse_format(format if mine else "dense", len(a.indices))
        types[a.tensor] = TensorType.of(dtype, of, index, expression.fill if mine else 0)
    if expression.fill:  # whose fill value absorbs finite ones
        ones = {a.tensor: np.ones([1] * len(a.indices)) for a in assignment.value.distinct_accesses}
        held = {
            n: storage_of(weft.asarray(v, format=types[n].format, fill_value=types[n].fill)) for n, v in ones.items()
        }
        assignment = execution.looked_up(assignment, held).assignment
    target = types["A"].format if expression.like else None

    def plan(operands: Mapping[str, TensorType]) -> Any:
        request = PlanRequest(assignment, tuple(operands.values()), target, None, False, Variant(options=options))
        return planning.plan(request).how

    how, fills = plan(types), {}
    if isinstance(how, WithFills):
        fills, how = dict(how.fills), plan(how.types)
    assert isinstance(how, KernelPlan), how
    return how.loops.module, fills


def program_of(module: Module, lanes: int, balanced: bool = False) -> DeviceProgram:
    return device_program(module, Choice(lanes, balanced))


def values_of(
    expression: Expression, A: np.ndarray, dtype: str, rng: np.random.Generator, sizes: Mapping[str, int] = SIZES
) -> dict[str, np.ndarray]:
    """Operands of an expression by name: ``A``, and dense ones of fitting shapes."""
    values = {}
    for a in parse(expression.text).value.distinct_accesses:
        shape = tuple(sizes[v] for v in a.indices)
        values[a.tensor] = A if a.tensor == "A" else rng.integers(0, 7, shape).astype(dtype)
        if a.tensor != "A" and dtype.startswith("float"):
            values[a.tensor] = (rng.random(shape) - 0.5).astype(dtype)
    return values


def storages(
    module: Module, program: DeviceProgram, values: Mapping[str, np.ndarray], fills: Mapping[str, Any],
    index: str = "int32",
    sizes: Mapping[str, int] = SIZES,
) -> tuple[Storage, list[Storage]]:  # fmt: skip
    """The storage of the result, with values that nothing may keep, and those of dense operands in their formats."""
    operands = []
    for tensor in program.tensors[1:]:
        if tensor in module.fills:
            operands.append(Storage.dense(np.asarray(fills[tensor])))
            continue
        type = module.loops.types[tensor]
        fill = fills.get(f"{tensor}.fill", 0)
        stored = weft.asarray(values[tensor], format=type.format, fill_value=fill)
        operands.append(storage_of(stored.asformat(type.format, index_dtype=index) if type.format.roles else stored))
    target, result = module.schedule.target, module.schedule.result
    shape = tuple(sizes[v] for v in target.indices)
    if module.loops.lead is None:
        return Storage(shape, result, (), np.full(int(np.prod(shape)), 55).astype(result.dtype)), operands
    lead = operands[program.tensors[1:].index(module.loops.lead.tensor)]
    return Storage(shape, result, lead.arrays, np.zeros(len(lead.vals), result.dtype)), operands


def computed(
    library: ctypes.CDLL, name: str, program: DeviceProgram, held: tuple[Storage, list[Storage]], seed: int = 1
) -> np.ndarray:
    """The dense result of a program."""
    result, operands = held
    run(library, name, program, result, operands, seed=seed)
    return np.asarray(SparseTensor(result).todense())
