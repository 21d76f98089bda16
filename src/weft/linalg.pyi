# ruff: noqa: I001
"""The names of ``weft.linalg`` for checkers of types; SciPy's and NumPy's functions are found when they are used.

Results hang on formats, which types do not include, where they are ``SparseTensor | Array``: SciPy's functions take
tensors in dense formats as arrays.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, overload

from scipy.sparse.linalg import (
    ArpackError as ArpackError,
    ArpackNoConvergence as ArpackNoConvergence,
    LaplacianNd as LaplacianNd,
    LinearOperator as LinearOperator,
    MatrixRankWarning as MatrixRankWarning,
    SuperLU as SuperLU,
)

from .interop.scipy_functions import Factors
from .numpy_api.linalg import (
    cross as cross,
    diagonal as diagonal,
    dot as dot,
    inner as inner,
    matmul as matmul,
    matrix_norm as matrix_norm,
    matrix_power as matrix_power,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    multi_dot as multi_dot,
    norm as norm,
    outer as outer,
    tensordot as tensordot,
    trace as trace,
    vdot as vdot,
    vecdot as vecdot,
    vecmat as vecmat,
    vector_norm as vector_norm,
)
from .tensor.sparse_tensor import SparseTensor
from .tensor.types import Array, Scalar

_Callback: TypeAlias = Callable[..., Any] | None
_Which: TypeAlias = Literal["LM", "SM", "LR", "SR", "LI", "SI"]
_WhichOfSymmetric: TypeAlias = Literal["LM", "SM", "LA", "SA", "BE"]

# -- of dense tensors: NumPy's ----------------------------------------------------------------------------------------
class _Eig(NamedTuple):
    eigenvalues: SparseTensor
    eigenvectors: SparseTensor

class _QR(NamedTuple):
    Q: SparseTensor
    R: SparseTensor

class _Slogdet(NamedTuple):
    sign: SparseTensor | Any
    logabsdet: SparseTensor | Any

class _SVD(NamedTuple):
    U: SparseTensor
    S: SparseTensor
    Vh: SparseTensor

def cholesky(a: Any, /, *, upper: bool = False) -> SparseTensor: ...
def cond(x: Any, p: Any = None) -> SparseTensor | Any: ...
def det(a: Any) -> SparseTensor | Any: ...
def eig(a: Any) -> _Eig: ...
def eigh(a: Any, UPLO: Literal["L", "U"] = "L") -> _Eig: ...
def eigvals(a: Any) -> SparseTensor: ...
def eigvalsh(a: Any, UPLO: Literal["L", "U"] = "L") -> SparseTensor: ...
def inv(A: Any) -> SparseTensor: ...
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[SparseTensor, SparseTensor, int, SparseTensor]: ...
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> SparseTensor | Any: ...
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = ...) -> SparseTensor: ...
@overload
def qr(a: Any, mode: Literal["reduced", "complete"] = "reduced") -> _QR: ...
@overload
def qr(a: Any, mode: Literal["r"]) -> SparseTensor: ...
@overload
def qr(a: Any, mode: Literal["raw"]) -> tuple[SparseTensor, SparseTensor]: ...
def slogdet(a: Any) -> _Slogdet: ...
def solve(a: Any, b: Any) -> SparseTensor: ...
@overload
def svd(a: Any, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False) -> _SVD: ...
@overload
def svd(a: Any, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False) -> SparseTensor: ...
def svdvals(x: Any, /) -> SparseTensor: ...
def tensorinv(a: Any, ind: int = 2) -> SparseTensor: ...
def tensorsolve(a: Any, b: Any, axes: Any = None) -> SparseTensor: ...

# -- systems: SciPy's -------------------------------------------------------------------------------------------------
@overload
def spsolve(A: Any, b: Array, permc_spec: str | None = None, use_umfpack: bool = True) -> Array: ...
@overload
def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True) -> SparseTensor | Array: ...
def spsolve_triangular(
    A: Any, b: Any, lower: bool = True, overwrite_A: bool = False, overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Array: ...  # fmt: skip
def factorized(A: Any) -> Callable[[Any], Array]: ...
def splu(
    A: Any, permc_spec: str | None = None, diag_pivot_thresh: float | None = None, relax: int | None = None,
    panel_size: int | None = None, options: Mapping[str, Any] | None = None,
) -> Factors: ...  # fmt: skip
def spilu(
    A: Any, drop_tol: float | None = None, fill_factor: float | None = None, drop_rule: str | None = None,
    permc_spec: str | None = None, diag_pivot_thresh: float | None = None, relax: int | None = None,
    panel_size: int | None = None, options: Mapping[str, Any] | None = None,
) -> Factors: ...  # fmt: skip

class _Solver(Protocol):
    def __call__(
        self, A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
        M: Any = None, callback: _Callback = None,
    ) -> tuple[Array, int]: ...  # fmt: skip

bicg: _Solver
bicgstab: _Solver
cg: _Solver
cgs: _Solver

def gcrotmk(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int = 1000, M: Any = None,
    callback: _Callback = None, m: int = 20, k: int | None = None, CU: Any = None, discard_C: bool = False,
    truncate: Literal["oldest", "smallest"] = "oldest",
) -> tuple[Array, int]: ...  # fmt: skip
def gmres(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, restart: int | None = None,
    maxiter: int | None = None, M: Any = None, callback: _Callback = None,
    callback_type: Literal["x", "pr_norm", "legacy"] | None = None,
) -> tuple[Array, int]: ...  # fmt: skip
def lgmres(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int = 1000, M: Any = None,
    callback: _Callback = None, inner_m: int = 30, outer_k: int = 3, outer_v: Any = None, store_outer_Av: bool = True,
    prepend_outer_v: bool = False,
) -> tuple[Array, int]: ...  # fmt: skip
def minres(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, shift: float = 0.0, maxiter: int | None = None,
    M: Any = None, callback: _Callback = None, show: bool = False, check: bool = False,
) -> tuple[Array, int]: ...  # fmt: skip
def qmr(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
    M1: Any = None, M2: Any = None, callback: _Callback = None,
) -> tuple[Array, int]: ...  # fmt: skip
def tfqmr(
    A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
    M: Any = None, callback: _Callback = None, show: bool = False,
) -> tuple[Array, int]: ...  # fmt: skip
def lsmr(
    A: Any, b: Any, damp: float = 0.0, atol: float = 1e-06, btol: float = 1e-06, conlim: float = 100000000.0,
    maxiter: int | None = None, show: bool = False, x0: Any = None,
) -> tuple[Array, int, int, float, float, float, float, float]: ...  # fmt: skip
def lsqr(
    A: Any, b: Any, damp: float = 0.0, atol: float = 1e-06, btol: float = 1e-06, conlim: float = 100000000.0,
    iter_lim: int | None = None, show: bool = False, calc_var: bool = False, x0: Any = None,
) -> tuple[Array, int, int, float, float, float, float, float, float, Array]: ...  # fmt: skip
def use_solver(**kwargs: Any) -> None: ...

# -- eigenvalues and singular values: SciPy's -------------------------------------------------------------------------
@overload
def eigs(
    A: Any, k: int = 6, M: Any = None, sigma: complex | None = None, which: _Which = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, return_eigenvectors: Literal[True] = True,
    Minv: Any = None, OPinv: Any = None, OPpart: Literal["r", "i"] | None = None, rng: Any = None,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eigs(
    A: Any, k: int = 6, M: Any = None, sigma: complex | None = None, which: _Which = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, *, return_eigenvectors: Literal[False],
    Minv: Any = None, OPinv: Any = None, OPpart: Literal["r", "i"] | None = None, rng: Any = None,
) -> Array: ...  # fmt: skip
@overload
def eigsh(
    A: Any, k: int = 6, M: Any = None, sigma: float | None = None, which: _WhichOfSymmetric = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, return_eigenvectors: Literal[True] = True,
    Minv: Any = None, OPinv: Any = None, mode: Literal["normal", "buckling", "cayley"] = "normal", rng: Any = None,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eigsh(
    A: Any, k: int = 6, M: Any = None, sigma: float | None = None, which: _WhichOfSymmetric = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, *, return_eigenvectors: Literal[False],
    Minv: Any = None, OPinv: Any = None, mode: Literal["normal", "buckling", "cayley"] = "normal", rng: Any = None,
) -> Array: ...  # fmt: skip
@overload
def lobpcg(
    A: Any, X: Any, B: Any = None, M: Any = None, Y: Any = None, tol: float | None = None, maxiter: int | None = None,
    largest: bool = True, verbosityLevel: int = 0, retLambdaHistory: Literal[False] = False,
    retResidualNormsHistory: Literal[False] = False, restartControl: int = 20,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def lobpcg(
    A: Any, X: Any, B: Any = None, M: Any = None, Y: Any = None, tol: float | None = None, maxiter: int | None = None,
    largest: bool = True, verbosityLevel: int = 0, retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False, restartControl: int = 20,
) -> tuple[Any, ...]: ...  # fmt: skip
@overload
def svds(
    A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: Literal["LM", "SM"] = "LM", v0: Any = None,
    maxiter: int | None = None, return_singular_vectors: Literal[True] = True,
    solver: Literal["arpack", "lobpcg", "propack"] = "arpack", rng: Any = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Array, Array, Array]: ...  # fmt: skip
@overload
def svds(
    A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: Literal["LM", "SM"] = "LM", v0: Any = None,
    maxiter: int | None = None, *, return_singular_vectors: Literal[False],
    solver: Literal["arpack", "lobpcg", "propack"] = "arpack", rng: Any = None,
    options: Mapping[str, Any] | None = None,
) -> Array: ...  # fmt: skip
@overload
def svds(
    A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: Literal["LM", "SM"] = "LM", v0: Any = None,
    maxiter: int | None = None, *, return_singular_vectors: Literal["u", "vh"],
    solver: Literal["arpack", "lobpcg", "propack"] = "arpack", rng: Any = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Array | None, Array, Array | None]: ...  # fmt: skip

# -- functions of matrices, and questions about them: SciPy's ---------------------------------------------------------
def aslinearoperator(A: Any) -> LinearOperator: ...
def expm(A: Any) -> SparseTensor | Array: ...
@overload
def expm_multiply(
    A: Any, B: Array, start: float | None = None, stop: float | None = None, num: int | None = None,
    endpoint: bool | None = None, traceA: complex | None = None,
) -> Array: ...  # fmt: skip
@overload
def expm_multiply(
    A: Any, B: Any, start: float | None = None, stop: float | None = None, num: int | None = None,
    endpoint: bool | None = None, traceA: complex | None = None,
) -> SparseTensor | Array: ...  # fmt: skip
def funm_multiply_krylov(
    f: Callable[..., Any], A: Any, b: Any, *, assume_a: Literal["general", "gen", "hermitian", "her"] = "general",
    t: float = 1.0, atol: float = 0.0, rtol: float = 1e-06, restart_every_m: int | None = None,
    max_restarts: int = 20,
) -> Array: ...  # fmt: skip
def is_sptriangular(A: Any) -> tuple[bool, bool]: ...
def spbandwidth(A: Any) -> tuple[int, int]: ...
@overload
def onenormest(
    A: Any, t: int = 2, itmax: int = 5, compute_v: Literal[False] = False, compute_w: Literal[False] = False
) -> Scalar: ...
@overload
def onenormest(
    A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False
) -> Scalar | tuple[Any, ...]: ...
