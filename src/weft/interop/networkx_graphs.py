"""Graphs of networkx as adjacency matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from ..doors import optional
from ..errors import DTypeError
from ..formats import FormatLike
from ..tensor import SparseTensor, asarray
from ..tracebacks import ends_at_caller


@ends_at_caller
def from_networkx(
    G: Any,
    nodelist: Sequence[Any] | None = None,
    *,
    dtype: DTypeLike | None = None,
    weight: str | None = "weight",
    format: FormatLike = "csr",
) -> SparseTensor:
    """Return the adjacency matrix of a graph of networkx.

    Parameters
    ----------
    G : networkx.Graph
        The graph. Edges between the same nodes of a multigraph are summed.
    nodelist : sequence, optional
        The nodes in the order of rows and columns. By default all, as the graph lists them.
    dtype : dtype, optional
        The dtype of the values.
    weight : str or None, optional
        The attribute of edges that has their values, 1 where an edge has none. None writes 1 for each edge.
    format : str or Format, optional
        The format of the result.

    Returns
    -------
    SparseTensor
        A matrix with a row and a column for each node. ``networkx.Graph(A)`` goes the other way.

    Raises
    ------
    DTypeError
        When it is no graph, or values are no numbers.

    Examples
    --------
    >>> import networkx as nx
    >>> import weft
    >>> G = nx.Graph([("a", "b"), ("b", "c")])
    >>> weft.from_networkx(G, ["a", "b", "c"]).todense()
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    with optional("graphs are read with networkx", "interop"):
        import networkx as nx
    if not isinstance(G, nx.Graph):
        raise DTypeError(f"from_networkx takes a graph of networkx, not a {type(G).__name__}")
    if not len(G) and nodelist is None:
        from_nothing = asarray([], dtype="int64" if dtype is None else dtype).reshape((0, 0))
        return from_nothing.asformat(format)
    return asarray(nx.to_scipy_sparse_array(G, nodelist, dtype=dtype, weight=weight), format=format)
