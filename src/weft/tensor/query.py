"""``weft.query``: statistics of a tensor's structure, by attribute queries (2020 paper, section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import pipeline
from ..dtypes import index_dtype
from ..errors import NotationError
from ..formats import Format
from ..queries import Query, Statement, Stored, Width, canonical, optimize, parse
from ..queries.nodes import Aggregate
from ..remapping.inverse import interval_of
from ..remapping.nodes import Axis, Counter, IndexExpr, counters_of, evaluate
from ..storage import Storage, coordinate_storage
from .indexing import coordinates
from .manipulation import storage_of
from .reductions import max as largest
from .reductions import sum as total
from .refill import require_dense
from .sparse_tensor import SparseTensor

__all__ = ["Statistics", "query"]


class Statistics(Mapping[str, np.ndarray[Any, Any]]):
    """The results of a query by label.

    Attributes
    ----------
    origin : tuple of int
        The lowest coordinate of each axis of the results: not 0 where coordinates such as ``j-i`` are selected by.
    statements : dict
        What was computed for each label, in concrete index notation.
    """

    def __init__(
        self, results: dict[str, np.ndarray[Any, Any]], origin: tuple[int, ...], statements: dict[str, Statement]
    ) -> None:
        self._results, self.origin, self.statements = results, origin, statements

    def __getitem__(self, label: str) -> np.ndarray[Any, Any]:
        return self._results[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return "\n".join(f"{label}: {result}" for label, result in self._results.items())


def query(x: Any, text: str | Query) -> Statistics:
    """Statistics of what a tensor stores.

    Parameters
    ----------
    x : array_like
        Any tensor, its axes called ``i``, ``j``, ``k``, ... What is stored counts, zeros among it, but what formats
        store to fill blocks, bands or diagonals does not; a coordinate that is stored twice counts once.
    text : str or Query
        ``select [i] -> count(j) as nnz, max(j) as last``. What is selected by, and aggregated, may be any expression of
        coordinate remapping notation, such as ``j-i`` and ``i/2``; ``max`` may be of a counter ``#i``.

    Returns
    -------
    Statistics
        For each label an array over what is selected by: of int64 for ``count``, ``max`` and ``min``, of bool for
        ``id``. Where there is no entry ``max`` is one less than the lowest coordinate there can be, and ``min`` one
        more than the highest.

    Raises
    ------
    NotationError
        When the query is malformed; it points at the place.

    Notes
    -----
    The query is brought to canonical form and optimised by the transformations of Table 1 of the 2020 paper;
    ``statements`` of the result shows what is left of it. Source: 2020, section 5.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 0, 2], [0, 2, 1]], [1.0, 2.0, 3.0], shape=(3, 3), format="csr")
    >>> found = weft.query(A, "select [i] -> count(j) as nnz, max(j) as last")
    >>> found
    nnz: [2 0 1]
    last: [ 2 -1  1]
    >>> print(found.statements["nnz"])
    ∀i Q(i) = width(B(i))*1
    """
    storage = storage_of(x)
    asked = parse(text, len(storage.shape)) if isinstance(text, str) else text
    stored = _stored(storage)
    results: dict[str, np.ndarray[Any, Any]] = {}
    statements: dict[str, Statement] = {}
    for aggregate in asked.aggregates:
        if aggregate.label in results:
            raise NotationError(f"two results are called {aggregate.label} in {asked}")
        stmt = optimize(canonical(asked, aggregate, storage.shape), stored)
        statements[aggregate.label] = stmt
        known = _widths(storage, stmt)
        results[aggregate.label] = _computed(storage, asked, aggregate) if known is None else known
    origin = tuple(_interval(e, storage.shape)[0] for e in asked.over)
    return Statistics(results, origin, statements)


def _stored(storage: Storage) -> Stored:
    """What the query's passes may know of a format."""
    format = storage.format
    if format.is_structured or not format.levels:
        return Stored()
    above, last = format.levels[:-1], format.levels[-1]
    tells = last.unique and all(level.has_every for level in above) and "pos" in last.roles and last.gapless
    innermost = format.mode_order[-1] if tells else None
    return Stored(innermost, only_nonzeros=_entries_alone(format) and format.is_unique)


def _entries_alone(format: Format) -> bool:
    """Whether what is stored was put there: not to fill blocks, bands or diagonals."""
    return format.is_compact and all(level.has_every or level.iteration == "position" for level in format.levels)


def _widths(storage: Storage, stmt: Statement) -> np.ndarray[Any, Any] | None:
    """A query that is left with nothing but the widths of the last level."""
    if not isinstance(stmt.value, Width) or stmt.op is not None:
        return None
    order = storage.format.mode_order[:-1]
    wanted = tuple(e.number for e in stmt.target.indices if isinstance(e, Axis))
    if len(wanted) != len(stmt.target.indices) or sorted(wanted) != sorted(order):
        return None
    widths = np.diff(storage.level_arrays(len(order))["pos"]).astype(np.int64)
    whole = widths.reshape([storage.shape[axis] for axis in order])
    return whole.transpose([order.index(axis) for axis in wanted])


def _interval(expr: IndexExpr, shape: tuple[int, ...]) -> tuple[int, int]:
    """The coordinates that an expression can have, half-open."""
    if isinstance(expr, Axis):
        return 0, shape[expr.number]
    if math.prod(shape) == 0:
        return 0, 0
    found = interval_of(expr, shape)
    return (0, 1) if found is None else (found[0], max(found))


def _computed(storage: Storage, asked: Query, aggregate: Aggregate) -> np.ndarray[Any, Any]:
    """One aggregate, by reductions over the distinct coordinates that it is about."""
    args = aggregate.args
    if any(counters_of(e) for e in args):
        return _counters(storage, asked, aggregate)
    exprs = (*asked.over, *args)
    intervals = [_interval(e, storage.shape) for e in exprs]
    shape = tuple(high - low for low, high in intervals)
    require_dense(shape[: len(asked.over)], np.dtype(np.int64), f"the results of {asked}")
    pattern = _pattern(storage, exprs, [low for low, _ in intervals], shape)
    gone = tuple(range(len(asked.over), len(exprs)))
    if not len(pattern.vals):
        low, high = intervals[-1] if intervals else (0, 0)
        nothing = {"id": False, "count": 0, "max": low - 1, "min": high}[aggregate.op]
        return np.full(shape[: len(asked.over)], nothing)
    match aggregate.op:
        case "id":
            return _dense(pattern).astype(bool)
        case "count":
            ones = pattern.with_values(np.ones(len(pattern.vals), np.int64), 0)
            return _dense(total(SparseTensor(ones), axis=gone))
    low, high = intervals[-1]
    column = pattern.arrays[-1].astype(np.int64) + low
    if aggregate.op == "max":
        return _dense(largest(SparseTensor(pattern.with_values(column, low - 1)), axis=gone))
    return -_dense(largest(SparseTensor(pattern.with_values(-column, -high)), axis=gone))


def _dense(found: Any) -> np.ndarray[Any, Any]:
    if isinstance(found, Storage):
        found = SparseTensor(found)
    return np.asarray(found.todense() if isinstance(found, SparseTensor) else found)


def _pattern(storage: Storage, exprs: tuple[IndexExpr, ...], lows: list[int], shape: tuple[int, ...]) -> Storage:
    """Where a tensor whose coordinates are some expressions has entries: a canonical tensor of true."""
    coo = pipeline.convert(storage, coordinates(len(storage.shape)), prune=not _entries_alone(storage.format))
    if not exprs:
        return Storage.dense(np.asarray(len(coo.vals) > 0))
    own = [row.astype(np.int64) for row in coo.arrays[1:]]
    rows = []
    for expr, low, size in zip(exprs, lows, shape, strict=True):
        row = np.broadcast_to(evaluate(expr, own, shape=storage.shape), coo.vals.shape)
        rows.append(np.ascontiguousarray(row - low).astype(index_dtype(size)))
    vals = np.ones(len(coo.vals), bool)
    return pipeline.convert(coordinate_storage(shape, rows, vals, False), coordinates(len(shape)))


def _counters(storage: Storage, asked: Query, aggregate: Aggregate) -> np.ndarray[Any, Any]:
    """The largest counter is one less than the most entries that share its coordinates."""
    (counter,) = aggregate.args
    if aggregate.op != "max" or not isinstance(counter, Counter):
        raise NotationError(f"of counters there is the max of one alone, not {aggregate}")
    over = (*asked.over, *(e for e in counter.over if e not in asked.over))
    rest = tuple(Axis(axis) for axis in range(len(storage.shape)) if Axis(axis) not in over)
    label = aggregate.label
    most = query(
        SparseTensor(storage),
        Query(over, (Aggregate("count", rest, label),) if rest else (Aggregate("id", (), label),)),
    )
    counts = most[label].astype(np.int64)
    gone = tuple(range(len(asked.over), len(over)))
    return counts.max(axis=gone, initial=0) - 1 if gone else counts - 1
