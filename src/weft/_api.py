"""The public names that are imported when they are first used, each with the place that defines it.

These are data alone, for the package itself, for the stubs that are made of them, and for tests.
"""

FUNCTIONS = {
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
    "versions": "show_versions",
    "interop.arrow_tables": "from_table to_table",
    "interop.networkx_graphs": "from_networkx",
    "interop.pandas_series": "from_series",
    "io": "TensorFile load load_npz open read_mtx read_tns save save_npz write_mtx write_tns",
}
"""Functions of ``weft``: those of the array API and NumPy, and those for files, by their modules."""

METHODS = {
    "all": "numpy_api.array_methods:all",
    "any": "numpy_api.array_methods:any",
    "argmax": "numpy_api.array_methods:argmax",
    "argmin": "numpy_api.array_methods:argmin",
    "argpartition": "numpy_api.array_methods:argpartition",
    "argsort": "numpy_api.array_methods:argsort",
    "broadcast_to": "numpy_api.array_methods:broadcast_to",
    "clip": "numpy_api.array_methods:clip",
    "compress": "numpy_api.array_methods:compress",
    "conj": "numpy_api.array_methods:conj",
    "count_nonzero": "numpy_api.array_methods:count_nonzero",
    "cumprod": "numpy_api.array_methods:cumprod",
    "cumsum": "numpy_api.array_methods:cumsum",
    "diagonal": "numpy_api.array_methods:diagonal",
    "fill": "numpy_api.array_methods:fill",
    "flatten": "numpy_api.array_methods:flatten",
    "matvec": "numpy_api.array_methods:matvec",
    "max": "numpy_api.array_methods:max",
    "mean": "numpy_api.array_methods:mean",
    "min": "numpy_api.array_methods:min",
    "nonzero": "numpy_api.array_methods:nonzero",
    "with_fill": "numpy_api.array_methods:with_fill",
    "partition": "numpy_api.array_methods:partition",
    "prod": "numpy_api.array_methods:prod",
    "put": "numpy_api.array_methods:put",
    "reshape": "numpy_api.array_methods:reshape",
    "rmatvec": "numpy_api.array_methods:rmatvec",
    "round": "numpy_api.array_methods:round",
    "searchsorted": "numpy_api.array_methods:searchsorted",
    "sort": "numpy_api.array_methods:sort",
    "std": "numpy_api.array_methods:std",
    "sum": "numpy_api.array_methods:sum",
    "take": "numpy_api.array_methods:take",
    "tensordot": "numpy_api.array_methods:tensordot",
    "tolist": "numpy_api.array_methods:tolist",
    "trace": "numpy_api.array_methods:trace",
    "var": "numpy_api.array_methods:var",
    "conjugate": "numpy_api.array_methods:conj",
    "matmat": "numpy_api.array_methods:matvec",
    "rmatmat": "numpy_api.array_methods:rmatvec",
    "dot": "numpy_api.linalg:dot",
    "to_scipy": "interop:to_scipy",
    "to_series": "interop.pandas_series:to_series",
    "ravel": "numpy_api.manipulation:ravel",
    "repeat": "numpy_api.manipulation:repeat",
    "squeeze": "numpy_api.manipulation:squeeze",
    "swapaxes": "numpy_api.manipulation:swapaxes",
    "amax": "numpy_api.reductions:max",
    "amin": "numpy_api.reductions:min",
    "nanmax": "numpy_api.reductions:nanmax",
    "nanmin": "numpy_api.reductions:nanmin",
    "choose": "numpy_api.select_list:choose",
    "arcsin": "numpy_api.ufuncs:arcsin",
    "arcsinh": "numpy_api.ufuncs:arcsinh",
    "arctan": "numpy_api.ufuncs:arctan",
    "arctanh": "numpy_api.ufuncs:arctanh",
    "ceil": "numpy_api.ufuncs:ceil",
    "deg2rad": "numpy_api.ufuncs:deg2rad",
    "expm1": "numpy_api.ufuncs:expm1",
    "floor": "numpy_api.ufuncs:floor",
    "isinf": "numpy_api.ufuncs:isinf",
    "isnan": "numpy_api.ufuncs:isnan",
    "log1p": "numpy_api.ufuncs:log1p",
    "maximum": "numpy_api.ufuncs:maximum",
    "minimum": "numpy_api.ufuncs:minimum",
    "multiply": "numpy_api.ufuncs:multiply",
    "rad2deg": "numpy_api.ufuncs:rad2deg",
    "rint": "numpy_api.ufuncs:rint",
    "round_": "numpy_api.ufuncs:round",
    "sign": "numpy_api.ufuncs:sign",
    "sin": "numpy_api.ufuncs:sin",
    "sinh": "numpy_api.ufuncs:sinh",
    "sqrt": "numpy_api.ufuncs:sqrt",
    "tan": "numpy_api.ufuncs:tan",
    "tanh": "numpy_api.ufuncs:tanh",
    "trunc": "numpy_api.ufuncs:trunc",
    "draw": "drawing.storage_drawing:draw",
    "change_compressed_axes": "interop.peer_methods:change_compressed_axes",
    "check_format": "interop.peer_methods:check_format",
    "eliminate_zeros": "interop.peer_methods:eliminate_zeros",
    "enable_caching": "interop.peer_methods:enable_caching",
    "get_nodes": "interop.peer_methods:get_nodes",
    "maybe_densify": "interop.peer_methods:maybe_densify",
    "power": "interop.peer_methods:power",
    "prune": "interop.peer_methods:prune",
    "reduce": "interop.peer_methods:reduce",
    "resize": "interop.peer_methods:resize",
    "setdiag": "interop.peer_methods:setdiag",
    "sort_indices": "interop.peer_methods:sum_duplicates",
    "sorted_indices": "interop.peer_methods:sorted_indices",
    "sum_duplicates": "interop.peer_methods:sum_duplicates",
}
"""Methods of ``SparseTensor``, each with the function that it is: its first argument is the tensor."""

PROPERTIES = {
    "blocksize": "interop.peer_attributes:blocksize",
    "col": "interop.peer_attributes:col",
    "compressed_axes": "interop.peer_attributes:compressed_axes",
    "coords": "interop.peer_attributes:coords",
    "data": "interop.peer_attributes:data",
    "indices": "interop.peer_attributes:indices",
    "indptr": "interop.peer_attributes:indptr",
    "offsets": "interop.peer_attributes:offsets",
    "row": "interop.peer_attributes:row",
    "density": "interop.peer_methods:density",
    "get": "interop.peer_methods:get",
    "has_canonical_format": "interop.peer_methods:has_canonical_format",
    "has_sorted_indices": "interop.peer_methods:has_sorted_indices",
    "items": "interop.peer_methods:items",
    "keys": "interop.peer_methods:keys",
    "values": "interop.peer_methods:values",
}
"""Properties of ``SparseTensor``, each with the property object that it is."""
