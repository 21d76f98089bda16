"""Reports on arrays that weft computes chunk by chunk: their steps, chunks, tasks and loops."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from .. import execution
from ..operations.operands import storage_of
from ..tensor import SparseTensor
from ..tensor import einsum as notation
from .chunks import kept_entries_of
from .statement import Block, evaluate
from .steps import Operand, Step, steps_of

_LINES = ("loops: ", "values over ", "parallel: ")


def explain(array: Any, /, **operands: Any) -> str:
    """Report how an array is computed chunk by chunk, without computing it.

    Parameters
    ----------
    array : dask.array.Array or str
        A result of :func:`weft.dask.evaluate` or of another function of ``weft.dask``; or an expression.
    **operands : array_like
        For an expression, the arguments of :func:`weft.dask.evaluate`.

    Returns
    -------
    str
        For each step the number of tasks, the chunks that they make and those that they read, with the bytes where the
        entries are known, and the loops of the kernel. Merges combine partial results of several chunks.

    Examples
    --------
    >>> import weft
    >>> A = weft.random((1000, 300), nnz=6000, format="csr", rng=0)
    >>> X = weft.dask.from_tensor(A, entries=2000)
    >>> print(weft.dask.explain("s(j) = X(i,j)", X=X))
    s(j) = sum(i, X(i,j)): 4 tasks
      reads X: 4 chunks of csr, shape (1000, 300), 6000 entries in 72 kB, each by 1 task
      loops: every i; j stored in X
      parallel: shares of the entries of X, whose sums are joined in order
    merge s(j) = sum(i, X(i,j)): 1 task
      reads 4 partial results: dense
    result: 1 chunk of dense, shape (300,), float64; graph of 9 tasks
    """
    x = evaluate(array, **operands) if isinstance(array, str) else array
    lines = [line for step in steps_of(x).values() for line in _lines(step)]
    result = _described(Operand(x.name, x.chunks, da.utils.meta_from_array(x)))
    return "\n".join([*lines, f"result: {result}, {x.dtype}; graph of {len(x.__dask_graph__())} tasks"])


def _lines(step: Step) -> list[str]:
    lines = [f"{step.title}: {_counted(step.tasks, 'task')}"]
    for name, operand in step.operands:
        if step.is_merge:
            kind = operand.meta.format if isinstance(operand.meta, SparseTensor) else "ndarrays"
            lines.append(f"  reads {_counted(operand.count, 'partial result')}: {kind}")
            continue
        times = _counted(step.tasks // max(1, operand.count), "task")
        lines.append(f"  reads {name}: {_described(operand)}, each by {times}")
    if isinstance(step.call, Block):
        lines += [f"  {line}" for line in _loops(step, step.call)]
    return lines


def _loops(step: Step, block: Block) -> list[str]:
    """Return the lines of the report on a single tensor that say how the kernel goes about it."""
    formats: dict[str, Any] = {}
    for name, operand in step.operands:
        if isinstance(operand.meta, SparseTensor):
            formats[name] = storage_of(operand.meta).format
    report = notation.compile(block.text, **formats).explain()
    return [
        line for line in report.splitlines() if line.startswith(_LINES) and not line.startswith("parallel: nothing")
    ]


def _described(operand: Operand) -> str:
    meta = operand.meta
    kind = meta.format if isinstance(meta, SparseTensor) else "ndarrays"
    shape = tuple("?" if math.isnan(n) else int(n) for n in map(sum, operand.chunks))
    text = (
        f"{_counted(operand.count, 'chunk')} of {kind}, shape ({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
    )
    if not isinstance(meta, SparseTensor):
        known = "?" not in shape and operand.chunks
        return (
            f"{text}, {_size(math.prod(map(int, map(sum, operand.chunks))) * meta.dtype.itemsize)}" if known else text
        )
    entries = kept_entries_of(operand.name)
    if entries is None:
        return text
    each = execution.entry_bytes(
        storage_of(meta).format, np.dtype(meta.dtype), tuple(map(int, map(sum, operand.chunks)))
    )
    return f"{text}, {entries} entries in {_size(entries * each)}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
