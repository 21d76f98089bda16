"""Functions of scipy.sparse that take tensors: solvers, factorisations, eigenvalues and graph algorithms.

They are SciPy's own. A table says how each wants its matrices; tensors are handed over as that, without a copy where
they are stored so, and sparse results come back as tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np

from ..errors import ShapeError, UnsupportedError
from ..operations import foreign_tensors
from ..storage import Storage
from ..tensor import SparseTensor
from ..tensor.results import change_values

__all__ = ["CSGRAPH", "LINALG", "Hand", "taking_tensors"]

Hand: TypeAlias = Literal["csr", "csc", "csr or csc", "operator", "operator unless sigma", "as it is"]
"""Names how a function wants its matrices.

``"operator"`` is for what needs products alone: these are computed by weft, in the format that the tensor has.
``"operator unless sigma"`` factorises where ``sigma`` is given. ``"as it is"`` is for classes and exceptions.
"""

LINALG: Mapping[str, Hand] = {
    **dict.fromkeys(("expm", "factorized", "inv", "spilu", "splu"), "csc"),
    **dict.fromkeys(
        (
            "expm_multiply", "funm_multiply_krylov", "is_sptriangular", "onenormest", "spbandwidth", "spsolve",
            "spsolve_triangular",
        ),
        "csr or csc",
    ),
    **dict.fromkeys(
        (
            "aslinearoperator", "bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "lobpcg", "lsmr", "lsqr",
            "minres", "qmr", "svds", "tfqmr",
        ),
        "operator",
    ),
    **dict.fromkeys(("eigs", "eigsh"), "operator unless sigma"),
    **dict.fromkeys(
        (
            "ArpackError", "ArpackNoConvergence", "LaplacianNd", "LinearOperator", "MatrixRankWarning", "SuperLU",
            "use_solver",
        ),
        "as it is",
    ),
}  # fmt: skip
"""The functions of scipy.sparse.linalg that weft has not itself (``norm`` and ``matrix_power`` it has)."""

CSGRAPH: Mapping[str, Hand] = {
    **dict.fromkeys(
        (
            "bellman_ford", "breadth_first_order", "breadth_first_tree", "connected_components",
            "construct_dist_matrix", "csgraph_from_dense", "csgraph_from_masked", "csgraph_masked_from_dense",
            "csgraph_to_dense", "csgraph_to_masked", "depth_first_order", "depth_first_tree", "dijkstra",
            "floyd_warshall", "johnson", "laplacian", "maximum_bipartite_matching", "maximum_flow",
            "min_weight_full_bipartite_matching", "minimum_spanning_tree", "reconstruct_path",
            "reverse_cuthill_mckee", "shortest_path", "structural_rank", "yen",
        ),
        "csr",
    ),
    "NegativeCycleError": "as it is",
}  # fmt: skip
"""The functions of scipy.sparse.csgraph."""


def taking_tensors(module: str, name: str, hand: Hand) -> Any:
    """Return a function of SciPy's that takes tensors wherever it takes arrays.

    Parameters
    ----------
    module : str
        SciPy's, as ``"scipy.sparse.linalg"``.
    name : str
        The function's name there.
    hand : Hand
        How it wants its matrices.

    Raises
    ------
    AttributeError
        Where the SciPy that is installed does not have it.
    """
    function = getattr(import_module(module), name)
    if hand == "as it is":
        return function
    bind = inspect.signature(function).bind if hand == "operator unless sigma" else None

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        how: str = hand
        if bind is not None:
            how = "operator" if bind(*args, **kwargs).arguments.get("sigma") is None else "csc"
        given = [_handed(x, name, how) for x in args]
        return change_values(function(*given, **{key: _handed(x, name, how) for key, x in kwargs.items()}), _as_tensor)

    run.__module__ = __name__
    run.__doc__ = _docstring(module, name, function, hand)
    return run


def _docstring(module: str, name: str, function: Callable[..., Any], hand: Hand) -> str:
    summary = (inspect.getdoc(function) or "").partition("\n\n")[0]
    matrices = {
        "operator": "Tensors of any format are used as they are: weft multiplies with them.",
        "operator unless sigma": "Tensors are used as they are, or with ``sigma`` as csc.",
    }.get(hand, f"Tensors of any format are handed over as {hand}, without a copy where they are stored so.")
    return (
        f"{summary}\n\nThis is :func:`{module}.{name}`, which has the parameters and the results. {matrices} "
        f"Sparse results are tensors.\n\nSee Also\n--------\n{module}.{name}"
    )


def _handed(x: Any, name: str, hand: str) -> Any:
    """Return an argument as SciPy takes it: a matrix, an operator, or an ndarray of what is dense or a vector.

    Raises
    ------
    ShapeError, UnsupportedError
        For sparse tensors that are neither vectors nor matrices, or have a fill value.
    """
    if not isinstance(x, SparseTensor):
        return x
    storage = x._storage
    if storage.format.is_dense or len(storage.shape) < 2:
        return x.todense()
    if len(storage.shape) > 2:
        raise ShapeError(f"{name} takes matrices and vectors, not {x!r}")
    if hand == "operator":
        return x
    if storage.type.fill != 0:
        raise UnsupportedError(f"{name} takes matrices whose absent entries are 0, not {x!r}")
    wanted = ("csr", "csc") if hand == "csr or csc" else (hand,)
    kind = next((kind for kind in wanted if storage.format == kind), wanted[0])
    return _narrowed(foreign_tensors.write("scipy", storage, kind), storage)


def _narrowed(matrix: Any, storage: Storage) -> Any:
    """Return a matrix with int32 coordinates where these fit: most of SciPy's solvers know no others."""
    most = max(*matrix.shape, matrix.nnz)
    if matrix.indices.dtype == np.int32 == matrix.indptr.dtype or most > np.iinfo(np.int32).max:
        return matrix
    narrow = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return type(matrix)(narrow, shape=storage.shape)


def _as_tensor(found: Any) -> Any:
    """Return a sparse array as a tensor, and anything else as it is."""
    from scipy.sparse import issparse

    storage = foreign_tensors.read(found) if issparse(found) else None
    return found if storage is None else SparseTensor(storage)
