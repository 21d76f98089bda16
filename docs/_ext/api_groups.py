"""The groups of the API reference, and the pages that are made of them.

``PAGES`` is the one list of what the reference holds. ``python docs/_ext/api_groups.py`` writes a page for each entry
into docs/reference/api; a test compares the pages with this table, and the table with the names that weft has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ELSEWHERE", "NOT_LISTED", "OPERATORS", "PAGES", "PROTOCOLS", "Group", "Page", "names", "texts"]

FOLDER = Path(__file__).resolve().parents[1] / "reference" / "api"


@dataclass(frozen=True)
class Group:
    """Names under one heading.

    Parameters
    ----------
    title : str
        The heading.
    names : str
        Objects with a page each, separated by spaces: names in ``weft``, such as ``"linalg.spsolve"``.
    constants : dict of str to str
        Names that are described here, in one line each.
    """

    title: str
    names: str = ""
    constants: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """A page of groups.

    Parameters
    ----------
    slug : str
        The name of its file.
    title : str
        Its title.
    summary : str
        Its line in the index.
    text : str
        The paragraphs at its top.
    groups : tuple of Group
        Its groups.
    """

    slug: str
    title: str
    summary: str
    groups: tuple[Group, ...]
    text: str = ""


def members(owner: str, listed: str) -> str:
    """Return names of members with the name of their owner in front."""
    return " ".join(f"{owner}.{name}" for name in listed.split())


def tensor(listed: str) -> str:
    """Return names of members of ``SparseTensor``."""
    return members("SparseTensor", listed)


def of_scipy(listed: str) -> dict[str, str]:
    """Return descriptions of objects of ``weft.linalg`` that are SciPy's own."""
    return {f"linalg.{name}": f"SciPy's own, :obj:`scipy.sparse.linalg.{name}`." for name in listed.split()}


PAGES: tuple[Page, ...] = (
    Page(
        "tensor",
        "SparseTensor",
        "the class of tensors: attributes and methods",
        (
            Group("The class", "SparseTensor"),
            Group(
                "Attributes",
                tensor("shape ndim size dtype fill_value nnz density itemsize nbytes kept base device T mT real imag"),
            ),
            Group(
                "Format and structure",
                tensor("""
                format layout tree is_canonical is_ordered is_unique count_explicit_fill pruned canonical
                with_fill suggest_format
            """),
            ),
            Group(
                "Conversion",
                tensor("""
                asformat astype copy drop_kept todense toarray to_numpy to_scipy to_scipy_sparse to_pydata_sparse to_coo
                tobsr tocoo tocsc tocsr todia todok tolil tolist to_device item
            """),
            ),
            Group("Index notation", tensor("called")),
            Group(
                "Reductions and statistics",
                tensor("""
                all any sum prod max min amax amin nanmax nanmin mean std var argmax argmin count_nonzero cumsum cumprod
                trace reduce
            """),
            ),
            Group(
                "Elementwise",
                tensor("""
                arcsin arcsinh arctan arctanh ceil clip conj conjugate deg2rad expm1 floor isinf isnan log1p maximum
                minimum multiply power rad2deg rint round round_ sign sin sinh sqrt tan tanh trunc
            """),
            ),
            Group("Products", tensor("dot matvec matmat rmatvec rmatmat tensordot")),
            Group("Shape", tensor("reshape resize ravel flatten transpose swapaxes squeeze broadcast_to repeat")),
            Group(
                "Parts and assignment",
                tensor("""
                choose compress diagonal fill nonzero put setdiag take
            """),
            ),
            Group("Sorting and searching", tensor("argpartition argsort partition searchsorted sort")),
            Group(
                "Arrays of the formats", tensor("row col coords data indices indptr offsets blocksize compressed_axes")
            ),
            Group(
                "Names of scipy.sparse and sparse",
                tensor("""
                has_canonical_format has_sorted_indices sort_indices sorted_indices sum_duplicates eliminate_zeros prune
                check_format change_compressed_axes enable_caching maybe_densify get_nodes get items keys values
            """),
            ),
        ),
        "Attributes and methods, by what they are for. [Operators](operators.md) have a page of their own. Tensors "
        "come from [`asarray`](creation.md) and its kin, not from the class.",
    ),
    Page(
        "index_notation",
        "Index notation and kernels",
        "`einsum`, `evaluate`, `compile`, `explain`, derivatives, and queries about structure",
        (
            Group("Expressions", "einsum evaluate compile explain einsum_path"),
            Group("Lazy tensors", "lazy compute fused"),
            Group("Derivatives", "vjp value_and_grad jvp derivative"),
            Group("Queries", "query"),
            Group(
                "Kernels",
                "tensor.compiled_kernel.CompiledKernel "
                + members(
                    "tensor.compiled_kernel.CompiledKernel",
                    "assemble compute explain kernels stages passes",
                ),
            ),
        ),
        "[Notation](../notation.md) describes the language, [What a call costs](../../how_to/read_explain.md) the "
        "output of `explain`.",
    ),
    Page(
        "creation",
        "Creation",
        "make tensors of coordinates, arrays, shapes and other packages' arrays",
        (
            Group("From data", "asarray array from_coords from_levels from_dlpack copy"),
            Group("Of one value", "zeros zeros_like ones ones_like full full_like empty empty_like"),
            Group("Matrices", "eye identity diag diagflat tri tril triu"),
            Group("Random", "random"),
            Group("Ranges", "arange linspace logspace geomspace meshgrid"),
            Group(
                "Builders of scipy.sparse",
                """
                block_array block_diag bmat diags diags_array eye_array kronsum rand random_array spdiags
            """,
            ),
            Group("Classes of scipy.sparse", "bsr_array coo_array csc_array csr_array dia_array dok_array lil_array"),
            Group("Tables and graphs", "from_series from_networkx"),
            Group("Names of sparse", "COO DOK GCXS SparseArray as_coo asCOO diagonalize"),
        ),
    ),
    Page(
        "conversion",
        "Conversion and inspection",
        "hand tensors to other packages, change dtypes, ask for shapes",
        (
            Group("To other packages", "to_scipy asnumpy SparseTensor.to_series"),
            Group("Entries", "find issparse"),
            Group("Shape and size", "shape ndim size"),
            Group("Threads", "get_num_threads set_num_threads"),
            Group("Versions", "show_versions"),
        ),
        "The methods of [SparseTensor](tensor.md) convert between formats.",
    ),
    Page(
        "elementwise",
        "Elementwise functions",
        "arithmetic, comparisons, exponentials, bits: NumPy's ufuncs",
        (
            Group(
                "Arithmetic",
                """
                add subtract multiply divide true_divide floor_divide remainder mod fmod divmod negative positive abs
                absolute fabs reciprocal sign pow power float_power square sqrt cbrt gcd lcm
            """,
            ),
            Group("Comparisons", "equal not_equal less less_equal greater greater_equal isclose"),
            Group("Extremes", "maximum minimum fmax fmin clip"),
            Group("Rounding", "ceil floor trunc fix rint round around"),
            Group("Exponentials and logarithms", "exp exp2 expm1 log log10 log1p log2 logaddexp logaddexp2"),
            Group(
                "Trigonometric",
                """
                sin cos tan asin acos atan atan2 arcsin arccos arctan arctan2 hypot sinc deg2rad rad2deg degrees radians
            """,
            ),
            Group("Hyperbolic", "sinh cosh tanh asinh acosh atanh arcsinh arccosh arctanh"),
            Group("Logic", "logical_and logical_or logical_xor logical_not"),
            Group(
                "Bits",
                """
                bitwise_and bitwise_or bitwise_xor bitwise_invert bitwise_not invert bitwise_left_shift left_shift
                bitwise_right_shift right_shift bitwise_count
            """,
            ),
            Group("Complex numbers", "real imag conj conjugate angle iscomplex isreal iscomplexobj isrealobj"),
            Group(
                "Floating point",
                """
                isfinite isinf isnan isposinf isneginf signbit copysign nextafter spacing frexp ldexp modf nan_to_num
            """,
            ),
            Group("Other functions", "heaviside i0 interp polyval piecewise map elemwise"),
        ),
        "Operands are broadcast. The fill value of a result is the function of the operands' fill values: `weft.cos` "
        "of a sparse tensor is sparse with the fill value 1.",
    ),
    Page(
        "reductions",
        "Reductions",
        "sums, extremes, means and cumulative sums along axes",
        (
            Group("Sums and products", "sum prod nansum nanprod trace"),
            Group("Extremes", "max min amax amin nanmax nanmin ptp argmax argmin nanargmax nanargmin"),
            Group("Logic", "all any count_nonzero allclose array_equal array_equiv"),
            Group("Cumulative", "cumsum cumprod cumulative_sum cumulative_prod nancumsum nancumprod"),
            Group("Differences", "diff ediff1d gradient trapezoid"),
            Group("Along lines", "apply_along_axis apply_over_axes nanreduce"),
        ),
    ),
    Page(
        "statistics",
        "Statistics",
        "means, variances, quantiles and histograms",
        (
            Group("Averages and variances", "mean average std var nanmean nanstd nanvar cov corrcoef"),
            Group("Quantiles", "median percentile quantile nanmedian nanpercentile nanquantile"),
            Group("Histograms", "histogram bincount digitize"),
        ),
    ),
    Page(
        "products",
        "Products",
        "products of vectors, matrices and tensors",
        (
            Group("Products", "matmul dot vdot vecdot inner outer matvec vecmat tensordot kron cross"),
            Group("Convolutions", "convolve correlate"),
        ),
        "[`einsum`](index_notation.md) computes any other. [Linear algebra](linalg.md) has norms, solvers and "
        "factorisations.",
    ),
    Page(
        "linalg",
        "Linear algebra: weft.linalg",
        "solvers, eigenvalues, norms: SciPy's functions for tensors of any format",
        (
            Group(
                "Products",
                members(
                    "linalg",
                    """
                cross dot inner matmul matvec multi_dot outer tensordot vdot vecdot vecmat
            """,
                ),
            ),
            Group(
                "Norms, powers and diagonals",
                members(
                    "linalg",
                    """
                norm matrix_norm vector_norm matrix_power matrix_transpose diagonal trace onenormest spbandwidth
                is_sptriangular
            """,
                ),
            ),
            Group(
                "Direct solvers",
                members("linalg", "spsolve spsolve_triangular factorized splu spilu inv"),
            ),
            Group(
                "Iterative solvers",
                members(
                    "linalg",
                    """
                cg cgs bicg bicgstab gmres lgmres gcrotmk minres qmr tfqmr lsqr lsmr
            """,
                ),
            ),
            Group("Eigenvalues and singular values", members("linalg", "eigs eigsh lobpcg svds")),
            Group("Functions of matrices", members("linalg", "expm expm_multiply funm_multiply_krylov")),
            Group("Operators", "linalg.aslinearoperator", of_scipy("LinearOperator LaplacianNd")),
            Group(
                "For dense tensors",
                members(
                    "linalg",
                    """
                cholesky cond det eig eigh eigvals eigvalsh lstsq matrix_rank pinv qr slogdet solve svd svdvals
                tensorinv tensorsolve
            """,
                ),
            ),
            Group(
                "More of SciPy",
                constants=of_scipy("SuperLU use_solver ArpackError ArpackNoConvergence MatrixRankWarning"),
            ),
        ),
        "The solvers are SciPy's own. Those that need products alone multiply with weft, in the format of the tensor; "
        "the others get csr or csc, without a copy where the tensor is stored so. The functions *for dense tensors* "
        "are NumPy's, and raise for a sparse tensor with the name of the function to call instead.",
    ),
    Page(
        "csgraph",
        "Graphs: weft.csgraph",
        "shortest paths, components, trees, matchings: SciPy's functions for tensors of any format",
        (
            Group(
                "Shortest paths",
                members(
                    "csgraph",
                    """
                shortest_path dijkstra bellman_ford floyd_warshall johnson yen reconstruct_path construct_dist_matrix
            """,
                ),
            ),
            Group(
                "Traversal and trees",
                members(
                    "csgraph",
                    """
                breadth_first_order breadth_first_tree depth_first_order depth_first_tree minimum_spanning_tree
            """,
                ),
            ),
            Group(
                "Components, flows and matchings",
                members(
                    "csgraph",
                    """
                connected_components laplacian maximum_flow maximum_bipartite_matching
                min_weight_full_bipartite_matching
                reverse_cuthill_mckee structural_rank
            """,
                ),
            ),
            Group(
                "Dense graphs",
                members(
                    "csgraph",
                    """
                csgraph_from_dense csgraph_from_masked csgraph_masked_from_dense csgraph_to_dense csgraph_to_masked
            """,
                ),
            ),
            Group(
                "Errors",
                constants={
                    "csgraph.NegativeCycleError": "SciPy's own, :obj:`scipy.sparse.csgraph.NegativeCycleError`.",
                },
            ),
        ),
        "A stored entry `(i, j)` is an edge from `i` to `j`, also a stored zero, unless it is "
        "[padding](../../explanation/formats.md#padding-is-no-entry).",
    ),
    Page(
        "fft",
        "Fourier transforms: weft.fft",
        "NumPy's transforms for tensors that store every element",
        (
            Group(
                "Transforms",
                members(
                    "fft",
                    """
                fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft
            """,
                ),
            ),
            Group("Frequencies and shifts", members("fft", "fftfreq rfftfreq fftshift ifftshift")),
        ),
        'The transform of a sparse tensor is dense: call `A.asformat("dense")` first. The shifts take any format.',
    ),
    Page(
        "manipulation",
        "Shapes and joins",
        "reshape, transpose, join, split, pad",
        (
            Group(
                "Shape",
                """
                reshape ravel resize squeeze expand_dims atleast_1d atleast_2d atleast_3d broadcast_to broadcast_arrays
                broadcast_shapes
            """,
            ),
            Group("Axes", "transpose permute_dims matrix_transpose moveaxis rollaxis swapaxes"),
            Group("Joins", "concat concatenate stack hstack vstack dstack column_stack block append"),
            Group("Splits", "split array_split hsplit vsplit dsplit unstack"),
            Group("Order of elements", "flip fliplr flipud rot90 roll"),
            Group("Repetition and borders", "repeat tile pad trim_zeros"),
            Group("Insertion and deletion", "insert delete"),
        ),
    ),
    Page(
        "indexing",
        "Indexing and assignment",
        "take, choose, put, and indices of diagonals",
        (
            Group("Parts", "take take_along_axis compress extract diagonal choose select where"),
            Group("Assignment", "copyto fill_diagonal place put put_along_axis putmask"),
            Group("Indices", "diag_indices_from tril_indices_from triu_indices_from"),
        ),
        "`A[key]` and `A[key] = value` take the keys that NumPy takes: "
        "[Indexing and assignment](../../how_to/indexing.md).",
    ),
    Page(
        "searching",
        "Searching and sorting",
        "positions of elements, and their order",
        (
            Group("Searching", "nonzero argwhere flatnonzero searchsorted"),
            Group("Sorting", "sort argsort lexsort partition argpartition"),
        ),
    ),
    Page(
        "sets",
        "Set functions",
        "unique elements, unions, intersections",
        (
            Group("Unique elements", "unique unique_all unique_counts unique_inverse unique_values"),
            Group("Sets", "isin intersect1d union1d setdiff1d setxor1d"),
        ),
    ),
    Page(
        "dtypes",
        "Dtypes and constants",
        "the dtypes of values, their limits and promotion; constants",
        (
            Group(
                "Functions",
                "astype can_cast finfo iinfo result_type",
                {
                    "isdtype": "NumPy's function, :obj:`numpy.isdtype`.",
                    "promote_types": "NumPy's function, :obj:`numpy.promote_types`.",
                },
            ),
            Group(
                "Dtypes",
                constants={
                    "bool": "Boolean.",
                    **{f"int{bits}": f"Signed integer of {bits} bits." for bits in (8, 16, 32, 64)},
                    **{f"uint{bits}": f"Unsigned integer of {bits} bits." for bits in (8, 16, 32, 64)},
                    "float32": "Floating-point number of 32 bits.",
                    "float64": "Floating-point number of 64 bits.",
                    "complex64": "Complex number of two 32-bit parts.",
                    "complex128": "Complex number of two 64-bit parts.",
                },
            ),
            Group(
                "Constants",
                constants={
                    "e": "Euler's number, 2.718…",
                    "pi": "The circumference of a circle over its diameter, 3.141…",
                    "inf": "Positive infinity.",
                    "nan": "The floating-point number that is not a number.",
                    "newaxis": "None, which adds an axis in an index.",
                },
            ),
            Group(
                "The standard",
                constants={
                    "__version__": "The version of weft.",
                    "__array_api_version__": "The version of the array API standard that weft implements.",
                    "__array_namespace_info__": "Return the object that describes the namespace: its capabilities, "
                    "dtypes and devices.",
                },
            ),
        ),
        "The dtypes are NumPy's own objects: `weft.float64 is numpy.float64`.",
    ),
    Page(
        "io",
        "Input and output",
        "files: npz, Matrix Market, FROSTT, HDF5, Zarr, binsparse and parquet",
        (
            Group("By the end of the file's name", "load save open"),
            Group("Open files", "TensorFile TensorFile.load TensorFile.cuts TensorFile.nnz TensorFile.ndim"),
            Group("Matrix Market", "read_mtx write_mtx"),
            Group("FROSTT", "read_tns write_tns"),
            Group("NumPy", "load_npz save_npz"),
            Group("Tables", "from_table to_table"),
        ),
        "[Files](../../how_to/io.md) shows them at work.",
    ),
    Page(
        "display",
        "Display",
        "pictures of tensors",
        (Group("Pictures", "spy SparseTensor.draw"),),
        "[Looking at tensors](../../how_to/display.md) has the rest.",
    ),
    Page(
        "dask",
        "Chunks: weft.dask",
        "tensors in chunks, on dask: larger than memory, and on clusters",
        (
            Group("Computing", members("dask", "evaluate einsum mean var std svd")),
            Group("Chunks and files", members("dask", "from_tensor open save rechunk entries")),
            Group("Reports and kernels", members("dask", "explain warm")),
        ),
        "[dask](../../how_to/dask.md) and [out of core](../../how_to/out_of_core.md) show them at work. They need "
        "dask: `pip install 'weft[dask]'`.",
    ),
    Page(
        "xarray",
        "Named axes: weft.xarray",
        "the accessor `weft` of xarray's arrays, and windows",
        (
            Group(
                "The accessor",
                "xarray.Accessor "
                + members(
                    "xarray.Accessor", "isel sel interp polyfit idxmax idxmin to_series to_dataframe todense tensor"
                ),
            ),
            Group("Series", members("xarray", "from_series")),
            Group("Windows", members("lib.stride_tricks", "sliding_window_view")),
        ),
        "[xarray](../../how_to/xarray.md) shows them at work. They need xarray: `pip install 'weft[interop]'`.",
    ),
    Page(
        "testing",
        "Tests: weft.testing",
        "assertions on tensors",
        (Group("Assertions", members("testing", "assert_allclose assert_equal")),),
    ),
    Page(
        "formats",
        "Formats and levels",
        "the catalogue of formats, your own formats, and the levels that they are made of",
        (
            Group(
                "Formats",
                "Format register_format",
                {
                    "formats": "The catalogue: a mapping from the names of formats to formats. "
                    '``help(weft.formats["csr"])`` describes one.',
                },
            ),
            Group(
                "Attributes and methods of a format",
                members(
                    "Format",
                    """
                order letters mode_order options is_dense is_full is_canonical is_unique is_structured is_compact
                is_padded canonical permuted reordered level_shape
            """,
                ),
            ),
            Group(
                "Levels of the 2018 paper",
                "Dense Compressed Singleton LevelFormat "
                + members(
                    "formats",
                    "Range Offset Hashed",
                ),
            ),
            Group(
                "More levels",
                members(
                    "formats",
                    """
                Banded Bitset Capped Growable InterleavedCompressed InterleavedSingleton Jagged Morton Picked Ragged
                Sliced Slots Spanned Spilled Squeezed Window
            """,
                ),
            ),
            Group(
                "Capabilities of levels",
                members(
                    "formats",
                    """
                Append ArrayEditing ChildlessEdges ComputedCoordinates CurveOrder ElementLookup GrowingSegments
                HashTable Insertion Locate PositionIteration PositionTiles QueriedEdges SequencedEdges SharedPositions
                ShiftedEdges UnsequencedEdges ValueIteration WholeLookup
            """,
                ),
            ),
        ),
        "[Formats](../../explanation/formats.md) describes every format of the catalogue, "
        "[Your own format](../../how_to/own_format.md) makes one. Level formats and capabilities are imported "
        "from `weft.formats`: `from weft.formats import Banded`.",
    ),
    Page(
        "configuration",
        "Settings",
        "read and change settings",
        (Group("The settings", members("config.Config", "override reset as_dict")),),
        "`weft.config` is the one object of class `Config`. [Configuration](../configuration.md) lists its settings.",
    ),
    Page(
        "frameworks",
        "Derivatives in other packages: weft.jax, weft.torch, weft.autograd",
        "index notation in programs of JAX, PyTorch and autograd, which differentiate it",
        (
            Group("JAX", members("jax", "evaluate with_values")),
            Group("PyTorch", members("torch", "evaluate with_values")),
            Group("autograd", members("autograd", "evaluate with_values")),
        ),
        "[Derivatives](../../how_to/derivatives.md) shows them at work. Each needs its package: "
        "`pip install 'weft[jax]'`, `'weft[torch]'` or `'weft[autograd]'`. Importing `weft.jax` makes tensors pytrees.",
    ),
    Page(
        "errors",
        "Errors",
        "the exceptions of weft",
        (
            Group("Base class", "WeftError"),
            Group(
                "Errors",
                members(
                    "errors",
                    """
                NotationError ShapeError FormatError StorageError FileFormatError DTypeError DensifyError
                UnsupportedError ScheduleError LoweringError CompilerError NotCompiledError DeviceError MissingNameError
                MissingPackageError ResultTooLargeError IndexOverflowError
            """,
                ),
            ),
            Group("Warnings", members("errors", "DensifyWarning")),
        ),
        "Each error derives from `WeftError`, and from the built-in error that a NumPy user would catch. The classes "
        "are in `weft.errors`.",
    ),
)

ELSEWHERE = {
    "array_api": "[The array API standard](../array_api.md): the namespace of `A.__array_namespace__()`",
    "autograd": "[Derivatives in other packages](frameworks.md)",
    "config": "[Configuration](../configuration.md)",
    "csgraph": "[Graphs](csgraph.md)",
    "dask": "[Chunks](dask.md)",
    "errors": "[Errors](errors.md)",
    "fft": "[Fourier transforms](fft.md)",
    "interop": "[Conversion](conversion.md)",
    "jax": "[Derivatives in other packages](frameworks.md)",
    "lib": "[Windows](xarray.md)",
    "linalg": "[Linear algebra](linalg.md)",
    "testing": "[Tests](testing.md)",
    "torch": "[Derivatives in other packages](frameworks.md)",
    "xarray": "[Named axes](xarray.md)",
}
"""The modules and objects of ``weft`` that have a page of their own."""

OPERATORS: dict[str, tuple[str, str]] = {
    "A + B": ("__add__ __radd__ __iadd__", "add"),
    "A - B": ("__sub__ __rsub__ __isub__", "subtract"),
    "A * B": ("__mul__ __rmul__ __imul__", "multiply"),
    "A / B": ("__truediv__ __rtruediv__ __itruediv__", "divide"),
    "A // B": ("__floordiv__ __rfloordiv__ __ifloordiv__", "floor_divide"),
    "A % B": ("__mod__ __rmod__ __imod__", "remainder"),
    "divmod(A, B)": ("__divmod__ __rdivmod__", "divmod"),
    "A ** B": ("__pow__ __rpow__ __ipow__", "power"),
    "A @ B": ("__matmul__ __rmatmul__ __imatmul__", "matmul"),
    "A & B": ("__and__ __rand__ __iand__", "bitwise_and"),
    "A | B": ("__or__ __ror__ __ior__", "bitwise_or"),
    "A ^ B": ("__xor__ __rxor__ __ixor__", "bitwise_xor"),
    "A << B": ("__lshift__ __rlshift__ __ilshift__", "left_shift"),
    "A >> B": ("__rshift__ __rrshift__ __irshift__", "right_shift"),
    "A == B": ("__eq__", "equal"),
    "A != B": ("__ne__", "not_equal"),
    "A < B": ("__lt__", "less"),
    "A <= B": ("__le__", "less_equal"),
    "A > B": ("__gt__", "greater"),
    "A >= B": ("__ge__", "greater_equal"),
    "-A": ("__neg__", "negative"),
    "+A": ("__pos__", "positive"),
    "~A": ("__invert__", "invert"),
    "abs(A)": ("__abs__", "abs"),
    "round(A)": ("__round__", "round"),
}
"""Operators with their methods, and the function of ``weft`` that each is."""

PROTOCOLS: dict[str, tuple[str, str]] = {
    "A[key]": ("__getitem__", "a part, with NumPy's keys"),
    "A[key] = x": ("__setitem__", "assignment, with NumPy's keys"),
    "x in A": ("__contains__", "True if an element equals `x`"),
    "len(A)": ("__len__", "the size of the first axis"),
    "for a in A": ("__iter__", "the parts along the first axis, one after the other"),
    "bool(A), int(A), float(A), complex(A)": ("__bool__ __int__ __float__ __complex__ __index__", "the one element"),
    'str(A), repr(A), f"{A:.2f}"': ("__str__ __repr__ __format__", "text; formatted if there are no axes"),
    "copy.copy(A), copy.deepcopy(A)": ("__copy__ __deepcopy__", "a copy"),
    "NumPy's functions": ("__array_function__ __array_ufunc__ __array_priority__", "weft's functions of these names"),
    "pickle.dumps(A)": ("__reduce__", "pickling"),
    "sys.getsizeof(A)": ("__sizeof__", "the bytes of all arrays, by which dask places and spills"),
    "dask.base.tokenize(A)": ("__dask_tokenize__", "the name of a tensor in graphs, by its type, shape and arrays"),
    "numpy.asarray(A)": ("__array__", "an error for a sparse tensor, the array of a dense one"),
    "the array API": ("__array_namespace__", "the namespace `weft.array_api`"),
}
"""Other syntax and protocols with their methods, and the meaning of each."""


NOT_LISTED = {
    "Format": """
        block_sizes conditions dense is_curved is_partial is_signed level_groups list_of looked_up plain roles sorted_by
        unconditional uncurved unsorted walked_levels
    """,
}
"""Members that are for the compiler alone, by their class."""


def names() -> Iterator[str]:
    """Yield every name of the reference."""
    for page in PAGES:
        for group in page.groups:
            yield from group.names.split()
            yield from group.constants


def texts() -> dict[str, str]:
    """Return the pages by the names of their files."""
    found = {f"{page.slug}.md": _page(page) for page in PAGES}
    return {"index.md": _index(), "operators.md": _operators(), **found}


IN_PLACE = {name for name in names() if any(other.startswith(f"{name}.") for other in names())}
"""Classes that have no page of their own: the page that lists their attributes and methods describes them."""
NOTE = "<!-- made by docs/_ext/api_groups.py: change its table and run it -->\n"


def _page(page: Page) -> str:
    parts = [f"# {page.title}\n", NOTE, *([page.text + "\n"] if page.text else [])]
    for group in page.groups:
        parts.append(f"## {group.title}\n")
        entries = group.names.split()
        parts += [_directive([f".. autoclass:: weft.{name}"]) for name in entries if name in IN_PLACE]
        if others := [_short(name) for name in entries if name not in IN_PLACE]:
            options = [".. autosummary::", "   :toctree: generated/", "   :nosignatures:", ""]
            parts.append(_directive([*options, *(f"   {name}" for name in others)]))
        for name, text in group.constants.items():
            parts.append(f"```{{eval-rst}}\n.. py:data:: weft.{name}\n\n   {text}\n```\n")
    return "\n".join(parts)


def _directive(lines: list[str]) -> str:
    return "\n".join(["```{eval-rst}", ".. currentmodule:: weft", "", *lines, "```\n"])


def _short(name: str) -> str:
    """Return the entry of a name in a table, which shows members of classes without the names of these."""
    owner = name.rpartition(".")[0].rpartition(".")[2]
    return f"~{name}" if owner[:1].isupper() else name


def _index() -> str:
    rows = [f"| [{page.title}]({page.slug}.md) | {page.summary} |" for page in PAGES]
    rows.insert(1, "| [Operators](operators.md) | `A + B`, `A @ B`, `A[key]` and other syntax |")
    slugs = [page.slug for page in PAGES]
    slugs.insert(1, "operators")
    return "\n".join([
        "# API reference\n", NOTE,
        "Every function, class and method of weft, grouped by what it is for, with an example each. The badge in front "
        "of a description says how the function is computed:\n",
        "(badges)=\n",
        "| badge | meaning |", "|---|---|",
        *(f"| {{bdg-{colour}}}`{badge}` | {meaning} |" for badge, colour, meaning in BADGES.values()),
        "", "| group | contents |", "|---|---|", *rows,
        "", "```{toctree}", ":hidden:", "", *slugs, "```", "",
    ])  # fmt: skip


BADGES: dict[str, tuple[str, str, str]] = {
    "compiled": ("compiled", "success", "a kernel generated for the formats of the operands"),
    "composed": ("composed", "info", "made of compiled parts, or of NumPy on the arrays of coordinates and values"),
    "dense result": (
        "dense",
        "warning",
        "only stored elements are read where the function allows it; the result is dense",
    ),
    "whole operands": (
        "whole",
        "secondary",
        "NumPy's function, for tensors that store every element; raises for others",
    ),
    "SciPy": (
        "SciPy",
        "secondary",
        "SciPy's function; weft passes the tensor on without a copy where the format allows it",
    ),
}
"""The badges of states: the text, the colour and the meaning of each."""


def _operators() -> str:
    def code(listed: str) -> str:
        return ", ".join(f"`{name}`" for name in listed.split())

    operators = [
        f"| `{text.replace('|', chr(92) + '|')}` | {{py:func}}`weft.{function}` | {code(methods)} |"
        for text, (methods, function) in OPERATORS.items()
    ]
    protocols = [f"| `{text}` | {meaning} | {code(methods)} |" for text, (methods, meaning) in PROTOCOLS.items()]
    return "\n".join([
        "# Operators and protocols\n", NOTE,
        "An operand is a tensor, an array of NumPy or of scipy.sparse, or a number. The operators are functions of "
        "weft:\n",
        "| operator | function | methods |", "|---|---|---|", *operators,
        "\n```python\nimport numpy as np\nimport weft\n\n"
        "A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format=\"csr\")\n"
        "print((A + A.T).todense())\nprint(A @ np.ones(2))\nprint((A > 1).nnz)\n```\n",
        "```text\n[[0. 3.]\n [3. 0.]]\n[1. 2.]\n1\n```\n",
        "`A += B` and its kin change `A` and keep its format and dtype.\n",
        "## Other syntax and protocols\n",
        "| expression | meaning | methods |", "|---|---|---|", *protocols, "",
    ])  # fmt: skip


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
