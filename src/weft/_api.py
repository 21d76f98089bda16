"""The public names that are imported when they are first used, each with the place that defines it.

These are data alone, for the package itself, for the stubs that are made of them, and for tests.
"""

FUNCTIONS = {
    "tensor.derivative": "derivative jvp value_and_grad vjp",
    "tensor.lazy": "compute fused lazy",
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
        diag diag_indices_from diagflat diagonal trace tri tril tril_indices_from triu triu_indices_from
    """,
    "numpy_api.differences": "ediff1d gradient trapezoid",
    "tensor.display": "spy",
    "numpy_api.insert_delete": "append compress delete extract insert resize trim_zeros",
    "numpy_api.linalg": "cross dot inner matmul matvec outer tensordot vdot vecdot vecmat",
    "numpy_api.manipulation": """
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes broadcast_to expand_dims flip fliplr flipud
        matrix_transpose moveaxis pad permute_dims ravel repeat reshape roll rollaxis rot90 squeeze swapaxes take
        take_along_axis tile transpose
    """,
    "numpy_api.unlisted_ufuncs": """
        angle bitwise_count fabs fix frexp i0 iscomplex isreal map modf nan_to_num sinc spacing
    """,
    "numpy_api.moments": "mean nanmean nanstd nanvar std var",
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
    "versions": "show_versions",
    "interop.arrow_tables": "from_table to_table",
    "interop.networkx_graphs": "from_networkx",
    "interop.pandas_series": "from_series",
    "io": "TensorFile load load_npz open read_mtx read_tns save save_npz write_mtx write_tns",
}
"""Functions of ``weft``: those of the array API and NumPy, and those for files, by their modules."""

METHODS = {
    "drawing.storage_drawing": "draw",
    "interop": "to_scipy",
    "interop.pandas_series": "to_series",
    "interop.peer_methods": """
        change_compressed_axes check_format eliminate_zeros enable_caching get_nodes maybe_densify power prune reduce
        resize setdiag sort_indices sorted_indices sum_duplicates
    """,
    "numpy_api.cumulative": "cumprod cumsum",
    "numpy_api.diagonals": "diagonal trace",
    "numpy_api.linalg": "dot tensordot",
    "numpy_api.manipulation": "broadcast_to ravel repeat squeeze swapaxes take",
    "numpy_api.moments": "mean std var",
    "numpy_api.ndarray_methods": """
        compress conj conjugate fill flatten matmat matvec nonzero partition put reshape rmatmat rmatvec sort tolist
        with_fill
    """,
    "numpy_api.reductions": "all amax amin any count_nonzero max min nanmax nanmin prod sum",
    "numpy_api.searching": "argmax argmin searchsorted",
    "numpy_api.select_list": "choose",
    "numpy_api.sorting": "argpartition argsort",
    "numpy_api.ufuncs": """
        arcsin arcsinh arctan arctanh ceil clip deg2rad expm1 floor isinf isnan log1p maximum minimum multiply rad2deg
        rint round round_ sign sin sinh sqrt tan tanh trunc
    """,
}
"""Methods of ``SparseTensor``, by the modules with the functions that they are: the first argument is the tensor."""

PROPERTIES = {
    "interop.peer_attributes": "blocksize col compressed_axes coords data indices indptr offsets row",
    "interop.peer_methods": "density get has_canonical_format has_sorted_indices items keys values",
}
"""Properties of ``SparseTensor``, by the modules with the property objects that they are."""
