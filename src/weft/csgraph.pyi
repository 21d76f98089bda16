"""The names of ``weft.csgraph`` for checkers of types; SciPy's functions are found when they are used."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse.csgraph import NegativeCycleError as NegativeCycleError
from scipy.sparse.linalg import LinearOperator

from .tensor.sparse_tensor import SparseTensor
from .tensor.types import Array

_Masked: TypeAlias = np.ma.MaskedArray[Any, Any]

class _Flow:
    flow_value: int
    flow: SparseTensor

# -- shortest paths ---------------------------------------------------------------------------------------------------
@overload
def bellman_ford(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: Literal[False] = False,
    unweighted: bool = False,
) -> Array: ...  # fmt: skip
@overload
def bellman_ford(
    csgraph: Any, directed: bool = True, indices: Any = None, *, return_predecessors: Literal[True],
    unweighted: bool = False,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def floyd_warshall(
    csgraph: Any, directed: bool = True, return_predecessors: Literal[False] = False,
    unweighted: bool = False, overwrite: bool = False,
) -> Array: ...  # fmt: skip
@overload
def floyd_warshall(
    csgraph: Any, directed: bool = True, *, return_predecessors: Literal[True],
    unweighted: bool = False, overwrite: bool = False,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def johnson(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: Literal[False] = False,
    unweighted: bool = False,
) -> Array: ...  # fmt: skip
@overload
def johnson(
    csgraph: Any, directed: bool = True, indices: Any = None, *, return_predecessors: Literal[True],
    unweighted: bool = False,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def shortest_path(
    csgraph: Any, method: Literal["auto", "FW", "D", "BF", "J"] = "auto", directed: bool = True,
    return_predecessors: Literal[False] = False, unweighted: bool = False, overwrite: bool = False, indices: Any = None,
) -> Array: ...  # fmt: skip
@overload
def shortest_path(
    csgraph: Any, method: Literal["auto", "FW", "D", "BF", "J"] = "auto", directed: bool = True,
    *, return_predecessors: Literal[True], unweighted: bool = False, overwrite: bool = False, indices: Any = None,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: Literal[False] = False,
    unweighted: bool = False, limit: float = ..., min_only: bool = False,
) -> Array: ...  # fmt: skip
@overload
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, *, return_predecessors: Literal[True],
    unweighted: bool = False, limit: float = ..., min_only: Literal[False] = False,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, *, return_predecessors: Literal[True],
    unweighted: bool = False, limit: float = ..., min_only: Literal[True],
) -> tuple[Array, Array, Array]: ...  # fmt: skip
@overload
def yen(
    csgraph: Any, source: int, sink: int, K: int, *, directed: bool = True, return_predecessors: Literal[False] = False,
    unweighted: bool = False,
) -> Array: ...  # fmt: skip
@overload
def yen(
    csgraph: Any, source: int, sink: int, K: int, *, directed: bool = True, return_predecessors: Literal[True],
    unweighted: bool = False,
) -> tuple[Array, Array]: ...  # fmt: skip
def construct_dist_matrix(graph: Any, predecessors: Any, directed: bool = True, null_value: float = ...) -> Array: ...
def reconstruct_path(csgraph: Any, predecessors: Any, directed: bool = True) -> SparseTensor: ...

# -- walks and trees --------------------------------------------------------------------------------------------------
@overload
def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: Literal[True] = True
) -> tuple[Array, Array]: ...
@overload
def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, *, return_predecessors: Literal[False]
) -> Array: ...
@overload
def depth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: Literal[True] = True
) -> tuple[Array, Array]: ...
@overload
def depth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, *, return_predecessors: Literal[False]
) -> Array: ...
def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> SparseTensor: ...
def depth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> SparseTensor: ...
def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> SparseTensor: ...

# -- structure --------------------------------------------------------------------------------------------------------
@overload
def connected_components(
    csgraph: Any, directed: bool = True, connection: Literal["weak", "strong"] = "weak",
    return_labels: Literal[True] = True,
) -> tuple[int, Array]: ...  # fmt: skip
@overload
def connected_components(
    csgraph: Any, directed: bool = True, connection: Literal["weak", "strong"] = "weak", *,
    return_labels: Literal[False],
) -> int: ...  # fmt: skip
@overload
def laplacian(
    csgraph: Any, normed: bool = False, return_diag: Literal[False] = False, use_out_degree: bool = False, *,
    copy: bool = True, form: Literal["array"] = "array", dtype: DTypeLike | None = None, symmetrized: bool = False,
) -> SparseTensor | Array: ...  # fmt: skip
@overload
def laplacian(
    csgraph: Any, normed: bool = False, *, return_diag: Literal[True], use_out_degree: bool = False,
    copy: bool = True, form: Literal["array"] = "array", dtype: DTypeLike | None = None, symmetrized: bool = False,
) -> tuple[SparseTensor | Array, Array]: ...  # fmt: skip
@overload
def laplacian(
    csgraph: Any, normed: bool = False, return_diag: bool = False, use_out_degree: bool = False, *,
    copy: bool = True, form: Literal["function", "lo"], dtype: DTypeLike | None = None, symmetrized: bool = False,
) -> Callable[[Any], Array] | LinearOperator | tuple[Any, Array]: ...  # fmt: skip
def maximum_bipartite_matching(graph: Any, perm_type: Literal["row", "column"] = "row") -> Array: ...
def maximum_flow(
    csgraph: Any, source: int, sink: int, *, method: Literal["dinic", "edmonds_karp"] = "dinic"
) -> _Flow: ...
def min_weight_full_bipartite_matching(biadjacency: Any, maximize: bool = False) -> tuple[Array, Array]: ...
def reverse_cuthill_mckee(graph: Any, symmetric_mode: bool = False) -> Array: ...
def structural_rank(graph: Any) -> int | np.integer[Any]: ...

# -- conversions ------------------------------------------------------------------------------------------------------
def csgraph_from_dense(
    graph: Any, null_value: float | None = 0, nan_null: bool = True, infinity_null: bool = True
) -> SparseTensor: ...
def csgraph_from_masked(graph: _Masked) -> SparseTensor: ...
def csgraph_masked_from_dense(
    graph: Any, null_value: float | None = 0, nan_null: bool = True, infinity_null: bool = True, copy: bool = True
) -> _Masked: ...
def csgraph_to_dense(csgraph: Any, null_value: float = 0) -> Array: ...
def csgraph_to_masked(csgraph: Any) -> _Masked: ...
