"""Sparse tensors for Python, computed by C that is compiled for your formats.

Examples
--------
>>> import numpy as np
>>> import weft
>>> A = weft.from_coords([[0, 0, 1], [0, 2, 1]], [1.0, 2.0, 3.0], shape=(2, 3), format="csr")
>>> weft.einsum("ij,j->i", A, np.array([1.0, 1.0, 1.0]))
array([3., 3.])
"""

from . import errors as errors
from . import interop as interop
from .config import config as config
from .errors import WeftError as WeftError
from .formats import Compressed as Compressed
from .formats import Dense as Dense
from .formats import Format as Format
from .formats import LevelFormat as LevelFormat
from .formats import Singleton as Singleton
from .formats import formats as formats
from .formats import register_format as register_format
from .runtime import get_num_threads as get_num_threads
from .runtime import set_num_threads as set_num_threads
from .tensor import SparseTensor as SparseTensor
from .tensor import asarray as asarray
from .tensor import from_coords as from_coords
from .tensor import from_levels as from_levels
from .tensor import random as random

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

_EAGER = """
    Compressed Dense Format LevelFormat Singleton SparseTensor WeftError asarray config errors formats from_coords
    from_levels get_num_threads interop random register_format set_num_threads
"""
# What is imported when it is used: expressions, the functions of the array API and NumPy, and those for files, by
# their modules.
_LAZY = {
    "tensor.einsum": "compile einsum einsum_path evaluate explain",
    "numpy_api.dtypes": """
        astype bool can_cast complex128 complex64 e finfo float32 float64 iinfo inf int16 int32 int64 int8 isdtype nan
        newaxis pi promote_types result_type uint16 uint32 uint64 uint8
    """,
    "numpy_api.apply_along": "apply_along_axis apply_over_axes piecewise polyval",
    "numpy_api.comparing": "allclose array_equal array_equiv isclose",
    "interop.scipy_builders": """
        block_array block_diag bmat diags diags_array eye_array find issparse kronsum rand random_array spdiags
    """,
    "numpy_api.select_list": "choose select",
    "numpy_api.convolution": "convolve correlate",
    "numpy_api.covariance": "corrcoef cov",
    "numpy_api.creation": """
        arange array copy empty empty_like eye from_dlpack full full_like geomspace identity linspace logspace meshgrid
        ones ones_like zeros zeros_like
    """,
    "numpy_api.cumulative": "cumprod cumsum cumulative_prod cumulative_sum diff interp nancumprod nancumsum",
    "numpy_api.diagonals": """
        diag diag_indices_from diagflat diagonal tri tril tril_indices_from triu triu_indices_from
    """,
    "numpy_api.differences": "ediff1d gradient trapezoid",
    "tensor.display": "spy",
    "numpy_api.insert_delete": "append compress delete extract insert resize trim_zeros",
    "numpy_api.linalg": "cross dot inner matmul matvec outer tensordot trace vdot vecdot vecmat",
    "numpy_api.manipulation": """
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes broadcast_to expand_dims flip fliplr flipud
        matrix_transpose moveaxis pad permute_dims ravel repeat reshape roll rollaxis rot90 squeeze swapaxes take
        take_along_axis tile transpose
    """,
    "numpy_api.unlisted_ufuncs": """
        angle bitwise_count fabs fix frexp i0 iscomplex isreal map modf nan_to_num sinc spacing
    """,
    "numpy_api.masked": "nanstd nanvar",
    "numpy_api.moments": "mean nanmean std var",
    "interop.peer_classes": """
        COO DOK GCXS SparseArray asCOO as_coo asnumpy bsr_array coo_array csc_array csr_array dia_array diagonalize
        dok_array elemwise lil_array nanreduce
    """,
    "tensor.query": "query",
    "numpy_api.reductions": "all amax amin any count_nonzero max min nanmax nanmin nanprod nansum prod sum",
    "numpy_api.searching": "argmax argmin argwhere flatnonzero isin nonzero searchsorted where",
    "numpy_api.sets": """
        intersect1d setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values
    """,
    "operations.shapes": "iscomplexobj isrealobj ndim shape size",
    "numpy_api.sorting": """
        argpartition argsort lexsort median nanmedian nanpercentile nanquantile partition percentile quantile sort
    """,
    "numpy_api.stacking": """
        array_split block column_stack concat concatenate dsplit dstack hsplit hstack kron split stack unstack vsplit
        vstack
    """,
    "numpy_api.statistics": "average bincount digitize histogram nanargmax nanargmin ptp",
    "numpy_api.ufuncs": """
        abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh around asin asinh atan atan2
        atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor cbrt
        ceil clip conj conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 float_power floor
        floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot imag invert isfinite isinf isnan isneginf
        isposinf lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not
        logical_or logical_xor maximum minimum mod multiply negative nextafter not_equal positive pow power rad2deg
        radians real reciprocal remainder right_shift rint round sign signbit sin sinh sqrt square subtract tan tanh
        true_divide trunc
    """,
    "numpy_api.assign_functions": "copyto fill_diagonal place put put_along_axis putmask",
    "interop": "to_scipy",
    "io": "load load_npz read_mtx read_tns save save_npz write_mtx write_tns",
}
_PLACES = {name: module for module, names in _LAZY.items() for name in names.split()}
_MODULES = ("array_api", "csgraph", "fft", "linalg")  # imported when they are used, too
_ELSEWHERE = {
    **{name.replace("_array", "_matrix"): name for name in _PLACES if name.endswith("_array")},
    "sparray": "SparseTensor", "spmatrix": "SparseTensor", "tensor": "asarray", "as_tensor": "asarray",
    "sparse_coo_tensor": "from_coords", "read": "load", "mmread": "read_mtx", "mmwrite": "write_mtx",
    "contract": "einsum", "full_matrix": "full", "to_scipy_sparse": "to_scipy",
}  # fmt: skip
"""Names by what other packages call the same."""

# There is no __all__, by which help() would print the documentation of every name in full: dir() lists what is public,
# and the names stand here. Type checkers read __init__.pyi.
__doc__ = "\n".join(
    [__doc__ or "", "Names, by what they are for:", ""]  # which -OO takes away
    + [
        f"{module.rpartition('.')[2]}\n    " + "\n    ".join(line.strip() for line in names.strip().splitlines())
        for module, names in {"first of all": _EAGER, **_LAZY}.items()
    ]
)


def __array_namespace_info__() -> object:  # noqa: N807
    """What the array API standard asks a namespace about itself."""
    from .numpy_api.info import Info

    return Info()


def __getattr__(name: str) -> object:
    module = name if name in _MODULES else _PLACES.get(name)
    if module is None:
        from .hints import MissingNameError

        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}", name, __dir__, _ELSEWHERE)
    from importlib import import_module

    place = import_module(f".{module}", __name__)
    found = globals()[name] = place if name in _MODULES else getattr(place, name)
    return found


def __dir__() -> list[str]:
    standard = ("__array_api_version__", "__array_namespace_info__", "__doc__", "__name__", "__version__")
    return sorted({*standard, *_EAGER.split(), *_PLACES, *_MODULES})
