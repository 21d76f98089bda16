"""``weft.query``: statistics of a tensor's structure, by attribute queries (2020 paper, section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import execution
from ..dtypes import INT64_MAX, index_dtype
from ..errors import IndexOverflowError, NotationError
from ..execution.run_queries import bounds, optimized, run_queries
from ..formats import Format
from ..operations.fill_change import require_dense
from ..operations.indexing import coordinates
from ..operations.operands import storage_of
from ..queries import Query, Statement
from ..queries.canonical import canonical
from ..queries.nodes import Aggregate
from ..queries.parser import parse
from ..records import replace
from ..remapping.inverse import interval_of
from ..remapping.nodes import Axis, Counter, IndexExpr, counters_of, evaluate, to_text
from ..storage import Storage, coordinate_storage
from ..tracebacks import ends_at_caller
from ..trees import walk
from .sparse_tensor import SparseTensor


class Statistics(Mapping[str, np.ndarray[Any, Any]]):
    """Results of a query, by label; ``origin`` has the lowest coordinate of each axis."""

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


@ends_at_caller
def query(x: Any, text: str | Query) -> Statistics:
    """Compute statistics of a tensor's stored entries, by an attribute query.

    Parameters
    ----------
    x : array_like
        Any tensor, whose axes are called ``i``, ``j``, ``k``, ... Stored entries count, zeros among them. Elements that
        formats store to fill blocks, bands or diagonals do not count. A coordinate that is stored twice counts once.
    text : str or Query
        The query, such as ``select [i] -> count(j) as nnz, max(j) as last``. Any expression of coordinate remapping
        notation, such as ``j-i`` and ``i/2``, may be selected or aggregated. ``max`` also takes a counter ``#i``.

    Returns
    -------
    Statistics
        An array over the selected coordinates for each label. Its dtype is int64 for ``count``, ``max`` and ``min``,
        and bool for ``id``. If there is no entry, ``max`` is one less than the lowest possible coordinate, and ``min``
        is one more than the highest.

    Raises
    ------
    TypeError
        When the query is neither a text nor a Query.
    NotationError
        When the query is malformed; the message points at the place.
    IndexOverflowError
        When an expression, or a part of one, may have values that 64-bit integers do not hold.

    Notes
    -----
    The query is made canonical and optimized by the transformations of Table 1 of the 2020 paper. The
    resulting ``statements`` are compiled to one pass over the tensor, as the queries of conversions are. Source: 2020,
    section 5.

    Examples
    --------
    >>> import weft
    >>> coords = [[0, 0, 2], [0, 2, 1]]
    >>> A = weft.from_coords(coords, [1.0, 2.0, 3.0], (3, 3), format="csr")
    >>> found = weft.query(A, "select [i] -> count(j) as nnz, max(j) as last")
    >>> found
    nnz: [2 0 1]
    last: [ 2 -1  1]
    >>> print(found.statements["nnz"])
    ∀i Q(i) = width(B(i))*1
    """
    storage = storage_of(x)
    if not isinstance(text, str | Query):
        raise TypeError(f"a query is a text such as 'select [i] -> count(j) as nnz', not {text!r}")
    request = parse(text, len(storage.shape)) if isinstance(text, str) else text
    labels = [a.label for a in request.aggregates]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise NotationError(f"two results are called {twice} in {request}; give each its own name")
    for expr in (*request.over, *(e for a in request.aggregates for e in a.args)):
        for part in reversed([*walk(expr)]):  # the innermost part that is too large is named
            _require_int64(part, storage.shape, request)
    # From here on each stored position is an entry, and each coordinate is stored once.
    storage = _entries_of(storage)
    require_dense(_sizes(request.over, storage.shape), np.dtype(np.int64), f"the results of {request}")
    canonicals = [_canonical(request, a, len(storage.shape)) for a in request.aggregates]
    statements = optimized(tuple(canonicals), storage.type)
    results: dict[str, np.ndarray[Any, Any]] = {}
    # Queries with small temporaries share one pass. The others are answered one by one.
    small = [n for n, s in enumerate(statements) if _temporary(s, storage.shape) <= _LARGEST]
    for n, found in zip(small, run_queries(storage, [statements[n] for n in small]), strict=True):
        results[labels[n]] = _decoded(found, request.aggregates[n], storage.shape)
    for n in range(len(labels)):
        if n not in small:
            results[labels[n]] = _by_distinct(storage, request, request.aggregates[n], statements[n])
    origin = tuple(bounds(e, storage.shape)[0] for e in request.over)
    ordered = {label: results[label] for label in labels}
    return Statistics(ordered, origin, dict(zip(labels, statements, strict=True)))


def _require_int64(expr: IndexExpr, shape: tuple[int, ...], request: Query) -> None:
    """Raise an error unless the values of an expression, and their number, fit 64-bit integers."""
    interval = interval_of(expr, shape)
    if interval is None or math.prod(shape) == 0:
        return
    low, high = interval
    if low < -INT64_MAX or max(high, high - low) > INT64_MAX:
        names = "ijklmnopqrstuvwxyzabcdefgh" if len(shape) <= 26 else [f"i{axis}" for axis in range(len(shape))]
        reach = f"{to_text(expr, names)} may be {low} to {high - 1} in a tensor of shape {shape}"
        raise IndexOverflowError(f"{reach}, which 64-bit integers do not count, in {request}")


_LARGEST = 1 << 24
"""Largest number of elements of a temporary over all possible coordinates."""


def _canonical(request: Query, aggregate: Aggregate, order: int) -> Statement:
    counted = [counter for e in aggregate.args for counter in counters_of(e)]
    if counted and (aggregate.op != "max" or not isinstance(aggregate.args[0], Counter)):
        raise NotationError(f"a query of a counter such as #i is max(#i), not {aggregate}")
    return canonical(request, aggregate, order)


def _entries_of(storage: Storage) -> Storage:
    """Return a tensor without padding, and with each coordinate stored once."""
    format = storage.format
    if format.is_dense or not _entries_alone(format):
        return execution.convert(storage, coordinates(len(storage.shape)))
    return storage if format.is_unique else execution.convert(storage, format.canonical())


def _entries_alone(format: Format) -> bool:
    """Return whether a format stores entries alone, without padding of rows, blocks, bands or diagonals."""
    *above, last = format.levels
    listed = all(level.has_every or level.iteration == "position" for level in above)
    return format.is_compact and listed and last.iteration == "position"


def _sizes(over: tuple[IndexExpr, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(high - low for low, high in (bounds(e, shape) for e in over))


def _temporary(s: Statement, shape: tuple[int, ...]) -> int:
    """Return the number of elements of a statement's temporary."""
    return 0 if s.where is None else math.prod(_sizes(s.where.target.indices, shape))


def _decoded(answer: np.ndarray[Any, Any], aggregate: Aggregate, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Convert an answer in canonical form, in which zero means that there is no entry, to the result of a query."""
    match aggregate.op:
        case "id":
            return answer.astype(bool)
        case "count":
            return answer
    (coordinate,) = aggregate.args
    low, high = (0, 0) if isinstance(coordinate, Counter) else bounds(coordinate, shape)
    return answer + (low - 1) if aggregate.op == "max" else high - answer


def _by_distinct(storage: Storage, request: Query, aggregate: Aggregate, s: Statement) -> np.ndarray[Any, Any]:
    """Answer a query whose temporary is too large for an array, by a query on a tensor of its coordinates."""
    assert s.where is not None
    # The set of its coordinates cannot replace a temporary that counts, which must therefore be allowed as an array.
    if s.where.op == "+":
        require_dense(_sizes(s.where.target.indices, storage.shape), np.dtype(np.int64), f"counting for {request}")
        return _decoded(run_queries(storage, [s])[0], aggregate, storage.shape)
    n = len(request.over)
    exprs = (*request.over, *aggregate.args)
    again = replace(aggregate, args=tuple(map(Axis, range(n, len(exprs)))))
    found = query(SparseTensor(_pattern(storage, exprs)), Query(tuple(map(Axis, range(n))), (again,)))
    return found[aggregate.label]


def _pattern(storage: Storage, exprs: tuple[IndexExpr, ...]) -> Storage:
    """Return a boolean tensor in canonical form that is true at the values of some expressions of coordinates."""
    coo = execution.convert(storage, coordinates(len(storage.shape)))
    coords = [row.astype(np.int64) for row in coo.arrays[1:]]
    shape = _sizes(exprs, storage.shape)
    rows = []
    for expr, size in zip(exprs, shape, strict=True):
        row = np.broadcast_to(evaluate(expr, coords, shape=storage.shape), coo.vals.shape)
        rows.append(np.ascontiguousarray(row - bounds(expr, storage.shape)[0]).astype(index_dtype(size)))
    vals = np.ones(len(coo.vals), bool)
    return execution.convert(coordinate_storage(shape, rows, vals, False), coordinates(len(shape)))
