"""Functions of scipy.sparse that take tensors: solvers, factorizations, eigenvalues and graph algorithms.

The functions are SciPy's own. A table says in which format each function takes its matrices. Tensors are passed in this
format, without a copy if they have it already. Sparse results are returned as tensors.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np

from ..errors import ShapeError, UnsupportedError
from ..operations import foreign_tensors
from ..operations.operands import storage_of
from ..storage import Storage
from ..tensor import SparseTensor
from ..tensor.results import change_values
from .wrapped_examples import with_example

Hand: TypeAlias = Literal[
    "csr", "csr alone", "csc", "csr or csc", "operator", "operator unless sigma", "operator of few", "as it is"
]
"""Formats in which functions take matrices.

``"csr alone"`` is for functions that take no arrays, so that tensors in dense formats are handed over as csr, too.
``"operator"`` is for functions that need products alone: weft computes these in the format of the tensor.
``"operator of few"`` is for functions that compute some eigenvalues, and solve densely if these are many;
``"operator unless sigma"`` for those that also factorize a matrix if ``sigma`` is given. ``"as it is"`` is for classes
and exceptions.
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
            "aslinearoperator", "bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "lsmr", "lsqr", "minres",
            "qmr", "svds", "tfqmr",
        ),
        "operator",
    ),
    **dict.fromkeys(("eigs", "eigsh"), "operator unless sigma"),
    "lobpcg": "operator of few",
    **dict.fromkeys(
        (
            "ArpackError", "ArpackNoConvergence", "LaplacianNd", "LinearOperator", "MatrixRankWarning", "SuperLU",
            "use_solver",
        ),
        "as it is",
    ),
}  # fmt: skip
"""Functions of scipy.sparse.linalg, except ``norm`` and ``matrix_power``, which weft computes itself."""

CSGRAPH: Mapping[str, Hand] = {
    **dict.fromkeys(
        (
            "bellman_ford", "breadth_first_order", "breadth_first_tree", "connected_components",
            "construct_dist_matrix", "csgraph_from_dense", "csgraph_from_masked", "csgraph_masked_from_dense",
            "depth_first_order", "depth_first_tree", "dijkstra", "floyd_warshall", "johnson", "laplacian",
            "minimum_spanning_tree", "reconstruct_path", "shortest_path", "yen",
        ),
        "csr",
    ),
    **dict.fromkeys(
        (
            "csgraph_to_dense", "csgraph_to_masked", "maximum_bipartite_matching", "maximum_flow",
            "min_weight_full_bipartite_matching", "reverse_cuthill_mckee", "structural_rank",
        ),
        "csr alone",
    ),
    "NegativeCycleError": "as it is",
}  # fmt: skip
"""Functions of scipy.sparse.csgraph."""


def taking_tensors(module: str, name: str, hand: Hand) -> Any:
    """Return a function of SciPy that takes tensors wherever it takes arrays."""
    function = getattr(import_module(module), name)
    if hand == "as it is":
        return function
    # Only the signature says which argument is given by position.
    bind = inspect.signature(function).bind if hand in ("operator unless sigma", "operator of few") else None

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        how: str = hand
        if bind is not None:
            how = _of_eigenvalues(bind(*args, **kwargs))
        given = [_handed(x, name, how) for x in args]
        return change_values(function(*given, **{key: _handed(x, name, how) for key, x in kwargs.items()}), _as_tensor)

    run.__module__ = __name__
    run.__doc__ = _docstring(module, name, function, hand)
    return run


_SMALL = "and as arrays if a fifth of the eigenvalues or more are requested, which SciPy may then compute densely"


def _of_eigenvalues(bound: inspect.BoundArguments) -> str:
    """Return how a function of eigenvalues takes its matrices, by its arguments.

    SciPy solves densely if a fifth of the eigenvalues or more are requested (``lobpcg``), or nearly all (``eigs`` and
    ``eigsh``). The array is then no larger than five times the eigenvectors.
    """
    bound.apply_defaults()
    arguments = bound.arguments
    size, count = np.shape(arguments["A"])[:1], np.shape(arguments["X"])[1:2] if "X" in arguments else (arguments["k"],)
    if size and count and isinstance(count[0], int | np.integer) and size[0] <= 5 * count[0]:
        return "dense"
    return "operator" if arguments.get("sigma") is None else "csc"


def _docstring(module: str, name: str, function: Callable[..., Any], hand: Hand) -> str:
    summary = (inspect.getdoc(function) or "").partition("\n\n")[0]
    summary = re.sub(r"(\s+from)?(,?\s*\[\d+\]_)+", "", summary)  # SciPy's list of literature is not copied
    matrices = {
        "operator": "Tensors of any format are used as they are: weft multiplies with them.",
        "operator of few": f"Tensors are used as they are, {_SMALL}.",
        "operator unless sigma": f"Tensors are used as they are, or with ``sigma`` as csc, {_SMALL}.",
    }.get(
        hand,
        f"Tensors of any format are handed over as {hand.removesuffix(' alone')}, without a copy if stored so.",
    )
    text = (
        f"{summary}\n\nThis is :func:`{module}.{name}`, which has the parameters and the results. {matrices} "
        f"Sparse results are tensors.\n\nSee Also\n--------\n{module}.{name}"
    )
    return with_example(f"{module.rpartition('.')[2]}.{name}", text)


def _handed(x: Any, name: str, hand: str) -> Any:
    """Return an argument as SciPy takes it: a matrix or an operator; an ndarray for dense tensors and vectors."""
    if not isinstance(x, SparseTensor):
        return x
    storage = storage_of(x)
    if hand == "csr alone" and storage.format.is_dense and len(storage.shape) == 2:
        storage, hand = Storage.dense(storage.to_dense_array()), "csr"  # whatever the fill value, zeros are left out
    elif storage.format.is_dense or len(storage.shape) < 2 or (hand == "dense" and len(storage.shape) == 2):
        array = x.todense()
        return np.array(array, order="C") if hand == "csr" else array  # csgraph needs C order, and writes into some
    if len(storage.shape) > 2:
        raise ShapeError(f"{name} takes matrices and vectors, not {x!r}")
    if hand == "operator":
        return x
    if storage.type.fill != 0:
        raise UnsupportedError(f"{name} takes matrices whose fill value is 0, not {x!r}")
    wanted = ("csr", "csc") if hand == "csr or csc" else (hand.removesuffix(" alone"),)
    kind = next((kind for kind in wanted if storage.format == kind), wanted[0])
    return _narrowed(foreign_tensors.write("scipy", storage, kind), storage)


def _narrowed(matrix: Any, storage: Storage) -> Any:
    """Return a matrix with int32 index arrays if int32 is sufficient, since most solvers of SciPy take no others."""
    most = max(*matrix.shape, matrix.nnz)
    if matrix.indices.dtype == np.int32 == matrix.indptr.dtype or most > np.iinfo(np.int32).max:
        return matrix
    narrow = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return type(matrix)(narrow, shape=storage.shape)


class Factors:
    """Factors of a sparse matrix: what SciPy's ``SuperLU`` has, with tensors for its matrices.

    Examples
    --------
    >>> import weft
    >>> factors = weft.linalg.splu(weft.asarray([[4.0, 0.0], [1.0, 2.0]], format="csc"))
    >>> factors.U
    <SparseTensor: shape=(2, 2), dtype=float64, format=csc, nnz=2, fill_value=0>
    """

    L: SparseTensor
    U: SparseTensor
    perm_c: np.ndarray[Any, Any]
    perm_r: np.ndarray[Any, Any]
    shape: tuple[int, int]
    nnz: int

    def __init__(self, factors: Any) -> None:
        self._factors = factors

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return _as_tensor(getattr(self._factors, name))

    def __dir__(self) -> list[str]:
        return dir(self._factors)

    def __repr__(self) -> str:
        """Return the shape and the number of entries.

        Examples
        --------
        >>> import weft
        >>> weft.linalg.splu(weft.eye(3, format="csc"))
        <factors of a matrix: shape=(3, 3), nnz=6>
        """
        return f"<factors of a matrix: shape={self._factors.shape}, nnz={self._factors.nnz}>"

    def solve(self, rhs: Any, trans: str = "N") -> np.ndarray[Any, Any]:
        """Solve a system with the matrix, for one right side or for several.

        Examples
        --------
        >>> import weft
        >>> weft.linalg.splu(2 * weft.eye(2, format="csc")).solve(weft.asarray([2.0, 4.0]))
        array([1., 2.])
        """
        solution: np.ndarray[Any, Any] = self._factors.solve(
            rhs.todense() if isinstance(rhs, SparseTensor) else rhs, trans
        )
        return solution


def _as_tensor(result: Any) -> Any:
    """Convert a sparse array to a tensor, also that of a flow, and return anything else as it is."""
    from scipy.sparse import issparse
    from scipy.sparse.linalg import SuperLU

    if isinstance(result, SuperLU):
        return Factors(result)
    if hasattr(result, "flow_value"):
        result.flow = _as_tensor(result.flow)
        return result
    storage = foreign_tensors.read(result) if issparse(result) else None
    return result if storage is None else SparseTensor(storage)
