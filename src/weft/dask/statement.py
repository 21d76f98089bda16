"""Statements of index notation as graphs of dask's.

The compiler's own front end parses a statement. Every index variable has one cut into chunks, which all operands share,
and each combination of chunks is a task that calls weft's ``evaluate`` with the text. Reductions over variables with
several chunks are finished by trees, with the operator of the reduction. A reduction inside an expression, such as the
sum that a row is divided by, is an array of its own if its variables have several chunks, and else stays in the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array
from dask.base import tokenize
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import value_dtype
from ..errors import NotationError
from ..formats import Format, FormatLike, TensorType, parse_format
from ..index_notation import (
    OPERATORS,
    REDUCTIONS,
    Access,
    Apply,
    Assignment,
    Expr,
    Reduce,
    accesses,
    explicit_sums,
    infer_extents,
    parse,
    parse_einsum,
    rebuild,
    to_text,
    variables,
)
from ..index_notation.program import Numbers
from ..index_notation.traversal import free_variables, rewrite
from ..operations.operands import StorageHolder, is_scalar, scalar_storage, storage_of
from ..records import record
from ..storage import Storage
from ..tensor import einsum as notation
from ..tensor.compiled_kernel import check_names, operand_names
from ..tensor.contraction_paths import steps_of
from ..tracebacks import ends_at_caller
from .alignment import aligned, cut_beside
from .chunks import again, kept_entries
from .kinds import Kind
from .steps import Operand, Step, noted
from .trees import shown, tree

_GUESS = 0.01
"""Density of sparse operands whose entries nobody has counted."""


# -- what workers run -----------------------------------------------------------------------------------------------
@record
class Block:
    """Task that computes a statement on one chunk of each operand."""

    text: str
    names: tuple[str, ...]
    numbers: tuple[tuple[str, Any], ...]
    format: Any
    dtype: Any
    kind: Kind

    def __call__(self, *chunks: Any) -> Any:
        """Return the chunk of the result."""
        operands = {name: _only(chunk) for name, chunk in zip(self.names, chunks, strict=True)}
        found = notation.evaluate(self.text, format=self.format, dtype=self.dtype, **operands, **dict(self.numbers))
        return self.kind.of(found)


def _only(chunk: Any) -> Any:
    """Return the one chunk along a variable that no result has; dask hands over lists."""
    while isinstance(chunk, list):
        (chunk,) = chunk
    return chunk


@record
class Merge:
    """Operator of a reduction, which combines two partial results."""

    op: str
    kind: Kind

    def __call__(self, left: Any, right: Any) -> Any:
        """Return the two combined."""
        return self.kind.of(OPERATORS[self.op].ufunc(left, right))


# -- the graph ------------------------------------------------------------------------------------------------------
class _Graph:
    """Arrays of a statement by name: its operands, and the reductions that are arrays of their own."""

    def __init__(
        self, arrays: Mapping[str, Any], numbers: Mapping[str, Any], dtype: DTypeLike | None, split_every: int
    ) -> None:
        self.arrays = dict(arrays)
        self.numbers = numbers
        self.dtype = None if dtype is None else value_dtype(dtype)
        self.split_every = split_every
        self._passes: dict[str, int] = {}  # the pass over its operands after which a reduction is known

    def compute(self, target: Access, expr: Expr, format: FormatLike | None) -> Any:
        """Return the array of an assignment."""
        # The whole statement decides what chunks are: reductions that become arrays might decide otherwise.
        kind = self._kind(Assignment(target, expr), format)
        whole, expr = expr, self._cut(expr, root=True)
        if format is None and expr != whole:
            format = kind.format
        assignment = Assignment(target, expr)
        indices_of = {a.tensor: a.indices for a in accesses(expr) if a.tensor in self.arrays}
        chunks, arrays = aligned(
            {name: (self.arrays[name], indices) for name, indices in indices_of.items()}, assignment
        )
        reduced = expr.vars if isinstance(expr, Reduce) else ()
        split = tuple(v for v in reduced if len(chunks[v]) > 1)
        names = {a.tensor for a in accesses(expr)}
        numbers = tuple((name, x) for name, x in self.numbers.items() if name in names)
        task = Block(to_text(assignment), tuple(indices_of), numbers, format, self.dtype, kind)
        order = len(target.indices) + len(split)
        blocks = da.blockwise(
            task, (*target.indices, *split), *(x for name in indices_of for x in (arrays[name], indices_of[name])),
            name=_name(task.text, format, self.dtype, numbers, *(x.name for x in arrays.values())),
            meta=np.empty((0,) * order, kind.dtype) if split else kind.meta(order), dtype=kind.dtype,
            adjust_chunks={v: (1,) * len(chunks[v]) for v in split}, align_arrays=False, concatenate=None,
        )  # fmt: skip
        read_arrays = tuple((name, Operand(x.name, x.chunks, meta_from_array(x))) for name, x in arrays.items())
        partial = Operand(blocks.name, blocks.chunks, kind.meta(len(target.indices)))
        noted(blocks.name, Step(task.text, task, read_arrays, math.prod(blocks.numblocks), partial))
        if not split or not isinstance(expr, Reduce):
            return blocks
        merge, meta = Merge(expr.op, kind), kind.meta(len(target.indices))
        merged = tree(blocks, len(target.indices), merge, None, meta, f"weft: merge {task.text}", self.split_every)
        merges = len(merged.dask) - len(blocks.dask)
        reads, result = (("partial results", partial),), Operand(merged.name, merged.chunks, meta)
        noted(merged.name, Step(f"merge {task.text}", merge, reads, merges, result, is_merge=True))
        return merged

    def _cut(self, expr: Expr, root: bool = False, repeated: bool = False, last: bool = True) -> Expr:
        """Return an expression with inner reductions replaced by arrays of their own, where a kernel would not do.

        These are the reductions over several chunks, and those that a reduction around them would compute repeatedly.
        Each array reads its operands in a pass over them: a reduction over several chunks is needed as a whole before
        the first task of what needs it, which would otherwise hold all that was read until then. Reductions that do not
        need each other share a pass. The last pass is that of the result, and reads the operands as they are.
        """
        inside, is_split = repeated or isinstance(expr, Reduce), not root and self._is_split(expr)
        expr = rebuild(expr, lambda part: self._cut(part, repeated=inside, last=last and not is_split))
        if root or not isinstance(expr, Reduce):
            return expr
        names = [a.tensor for a in accesses(expr) if a.tensor in self.arrays]
        if not (is_split or (repeated and names)):
            return expr
        name = _unused("T", {*self.arrays, *self.numbers})
        target = Access(name, free_variables(expr))
        passes = max((self._passes.get(other, 0) for other in names), default=0)  # after this pass
        own_pass = 0 if last and not is_split else passes + 1
        arrays = {other: again(x, own_pass) if other in names else x for other, x in self.arrays.items()}
        self._passes[name] = passes + is_split
        self.arrays[name] = _Graph(arrays, self.numbers, self.dtype, self.split_every).compute(target, expr, None)
        return target

    def _is_split(self, expr: Expr) -> bool:
        """Return whether an expression is a reduction over several chunks."""
        return isinstance(expr, Reduce) and any(
            len(self.arrays[a.tensor].chunks[k]) > 1
            for a in accesses(expr) if a.tensor in self.arrays
            for k, v in enumerate(a.indices) if v in expr.vars
        )  # fmt: skip

    def _kind(self, assignment: Assignment, format: FormatLike | None) -> Kind:
        """Return what the chunks of a result will be, by the rules of single results, without compiling."""
        names = dict.fromkeys(a.tensor for a in accesses(assignment.value))
        metas = {name: meta_from_array(self.arrays[name]) for name in names if name in self.arrays}
        types = {name: storage_of(meta).type if isinstance(meta, StorageHolder) else _dense(meta.dtype, meta.ndim)
                 for name, meta in metas.items()}  # fmt: skip
        beside = [np.dtype(type.dtype) for type in types.values()]
        for name in names.keys() - types.keys():
            types[name] = scalar_storage(self.numbers[name], np.result_type(*beside)).type
        order = len(assignment.target.indices)
        requested = None if format is None else parse_format(format, order)
        dtype = None if self.dtype is None else self.dtype.name
        # Divisors are expected to hold no zero, as by compiled kernels: one format serves all chunks.
        likely = execution.assumed(assignment, types, dtype).assignment
        target = execution.target_type(likely, types, requested, dtype)
        has_array = any(not isinstance(meta, StorageHolder) and meta.ndim for meta in metas.values())
        if (order == 0 and format is None) or (has_array and target.format.is_dense):
            return Kind(None, target.dtype)
        return Kind(target.format, target.dtype, target.fill)


def _dense(dtype: Any, order: int) -> TensorType:
    return Storage.dense(np.empty((0,) * order, value_dtype(dtype))).type


def _name(text: str, *parts: Any) -> str:
    return f"{shown('weft: ' + text)}-{tokenize(text, *parts)}"


def _unused(stem: str, names: set[str]) -> str:
    number = 0
    while (name := f"{stem}{number}") in names:
        number += 1
    return name


# -- what users call ------------------------------------------------------------------------------------------------
@ends_at_caller
def evaluate(
    text: str,
    /,
    *,
    format: FormatLike | None = None,
    dtype: DTypeLike | None = None,
    chunks: Mapping[str, Any] | None = None,
    split_every: int = 8,
    **operands: Any,
) -> Any:
    """Compute an expression in tensor index notation over dask arrays, chunk by chunk.

    Parameters
    ----------
    text : str
        The expression, as :func:`weft.evaluate` takes it.
    format : str or Format, optional
        The format of each chunk of the result; by default it is inferred from the operands.
    dtype : dtype, optional
        The dtype of the result; by default NumPy's promotion of the operands' dtypes.
    chunks : mapping, optional
        Sizes of chunks by index variable, for operands that are in one piece.
    split_every : int, optional
        Number of partial results that a task combines.
    **operands : array_like
        Dask arrays of tensors or of ndarrays, and tensors, ndarrays and numbers beside them, by their names.

    Returns
    -------
    dask.array.Array
        The result, which nothing has computed yet. Its chunks are tensors where those of :func:`weft.evaluate` are.

    Raises
    ------
    NotationError
        When the expression does not parse, or an operand is missing.
    ShapeError
        When the shapes of the operands do not fit together, or unknown sizes of chunks would have to.

    Examples
    --------
    >>> import numpy as np, weft
    >>> A = weft.random((1000, 300), nnz=6000, format="csr", rng=0)
    >>> X = weft.dask.from_tensor(A, entries=2000)
    >>> y = weft.dask.evaluate("y(j) = X(i,j)*X(i,j)", X=X)
    >>> np.allclose(y.compute().todense(), (A * A).sum(axis=0).todense())
    True
    """
    assignment = parse(text)
    used = set(operand_names(assignment))
    if assignment.op is not None:
        used.add(assignment.target.tensor)
    if not operands.keys() <= used:
        check_names(text, operands, sorted(used), ("format", "dtype", "chunks", "split_every"))
    lacking = sorted(used - operands.keys())
    if lacking:
        raise NotationError(f"{', '.join(lacking)} not given\n  {text}")
    if assignment.op is not None:  # += adds to the operand on the left-hand side
        # Sums are explicit first: those of the right-hand side do not range over the operand on the left.
        value = Apply(assignment.op, (assignment.target, explicit_sums(assignment).value))
        assignment = Assignment(Access(_unused("out", used), assignment.target.indices), value)
    return _computed(explicit_sums(assignment), operands, format, dtype, chunks or {}, split_every)


def _computed(
    assignment: Assignment, operands: Mapping[str, Any], format: Any, dtype: Any, chunks: Mapping[str, Any],
    split_every: int,
) -> Any:  # fmt: skip
    numbers = {name: x for name, x in operands.items() if not isinstance(x, da.Array) and is_scalar(x)}
    shapes = {name: () if name in numbers else tuple(np.shape(x)) for name, x in operands.items()}
    if not any(math.isnan(n) for shape in shapes.values() for n in shape):
        infer_extents(assignment, shapes)
    if split_every < 2:
        raise ValueError(f"split_every is at least 2, not {split_every}")
    assignment, arrays = _read_once(assignment, {name: x for name, x in operands.items() if name not in numbers})
    reads = {a.tensor: a.indices for a in accesses(assignment.value)}
    arrays = cut_beside(arrays, reads, chunks)
    if not arrays:
        raise NotationError(f"{to_text(assignment)} has no operand with axes to cut: call weft.evaluate")
    return _Graph(arrays, numbers, dtype, split_every).compute(assignment.target, assignment.value, format)


def _read_once(assignment: Assignment, operands: Mapping[str, Any]) -> tuple[Assignment, dict[str, Any]]:
    """Return an assignment in which each name has one list of indices; others are further names of the operand."""
    names: dict[Access, str] = {}
    unique: dict[str, Any] = {}

    def renamed(expr: Expr) -> Expr | None:
        if not isinstance(expr, Access) or expr.tensor not in operands:
            return None
        if expr not in names:
            name = expr.tensor
            if name in unique:
                name = _unused(f"{name}_", {*operands, *unique, *variables(assignment)})
            names[expr] = name
            unique[name] = operands[expr.tensor]
        return Access(names[expr], expr.indices)

    return Assignment(assignment.target, rewrite(assignment.value, renamed)), unique


@ends_at_caller
def einsum(
    *operands: Any,
    format: FormatLike | None = None,
    dtype: DTypeLike | None = None,
    reduce: str = "sum",
    split_every: int = 8,
) -> Any:
    """Compute an Einstein summation over dask arrays, chunk by chunk.

    Parameters
    ----------
    *operands : str and array_like
        Subscripts and operands, as :func:`weft.einsum` takes them; dask arrays, tensors and ndarrays.
    format, dtype, split_every
        The parameters of :func:`weft.dask.evaluate`.
    reduce : {'sum', 'prod', 'min', 'max', 'any', 'all'}
        The reduction of the products over the indices that the result does not have.

    Returns
    -------
    dask.array.Array
        The result, which nothing has computed yet. Three operands and more are contracted in the order of
        :func:`weft.einsum_path`, by estimates.

    Examples
    --------
    >>> import numpy as np, weft
    >>> A = weft.random((1000, 300), nnz=6000, format="csr", rng=0)
    >>> X = weft.dask.from_tensor(A, entries=2000)
    >>> C = weft.dask.einsum("ij,ik->jk", X, X).compute()
    >>> np.allclose(C.todense(), (A.T @ A).todense())
    True
    """
    if reduce not in REDUCTIONS:
        raise ValueError(f"reduce is one of {', '.join(REDUCTIONS)}, not {reduce!r}")
    parsed, arrays = parse_einsum(operands)
    named = dict(zip(parsed.names, arrays, strict=True))
    assignment = parsed.assignment
    if reduce != "sum":
        assignment = notation.reduced(assignment, REDUCTIONS[reduce])
    elif len(arrays) > 2:
        steps = _steps(parsed, arrays)
        if len(steps) > 1:
            return _by_steps(steps, arrays, format, dtype, split_every)
    return _computed(explicit_sums(assignment), named, format, dtype, {}, split_every)


def _steps(parsed: Any, arrays: Sequence[Any]) -> list[tuple[tuple[int, ...], str]]:
    """Return the contractions of an einsum: the places of the operands of each, and its subscripts."""
    shapes = [tuple(np.shape(x)) for x in arrays]
    if any(math.isnan(n) for shape in shapes for n in shape):
        return []
    types = tuple([_type(x) for x in arrays])
    numbers = tuple([_numbers(x) for x in arrays])
    return steps_of(execution.chosen_program(parsed.assignment, types, numbers), parsed)


def _type(x: Any) -> TensorType:
    """Return the type by which the program is chosen: sparse operands are read level by level."""
    format = Format.dense(np.ndim(x)) if _density(x) == 1.0 else parse_format("coo", np.ndim(x))
    return TensorType.of("float64", format)


def _numbers(x: Any) -> Numbers:
    shape = tuple(np.shape(x))
    entries = round(_density(x) * math.prod(shape))
    return Numbers(shape, tuple([min(entries, math.prod(shape[: k + 1])) for k in range(len(shape))]))


def _density(x: Any) -> float:
    """Return the density of an operand, or a guess."""
    size = max(1, math.prod(np.shape(x)))
    if isinstance(x, da.Array):
        known = kept_entries(x)
        if known is not None:
            return min(1.0, float(known) / float(size))
        return _GUESS if isinstance(meta_from_array(x), StorageHolder) else 1.0
    return min(1.0, storage_of(x).nnz / float(size))


def _by_steps(
    steps: Sequence[tuple[tuple[int, ...], str]], arrays: Sequence[Any], format: Any, dtype: Any, split_every: int
) -> Any:
    """Contract operands step by step, in their common dtype; the last step has the wishes of the user."""
    common = np.result_type(*(x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype for x in arrays), dtype)
    pending = list(arrays)
    for number, (places, subscripts) in enumerate(steps, 1):
        last = number == len(steps)
        operands = [pending.pop(place) for place in sorted(places, reverse=True)]
        options = {"format": format, "dtype": dtype or common} if last else {"dtype": common}
        if any(isinstance(x, da.Array) for x in operands):
            pending.append(einsum(subscripts, *operands, split_every=split_every, **options))
        else:
            pending.append(notation.einsum(subscripts, *operands, optimize=False, **options))
    return pending[0]
