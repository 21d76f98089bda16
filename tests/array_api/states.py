"""What weft has of the array API standard (2025.12), NumPy, scipy.sparse and ``sparse``, name by name.

``docs/reference/array_api.md`` is made of it.
"""

from __future__ import annotations

__all__ = ["DEVIATIONS", "EXPLANATIONS", "NUMPY", "PEERS", "STANDARD", "STATES", "WHY", "state_of"]

STANDARD: dict[str, str] = {
    "constants": "e inf nan newaxis pi",
    "creation": """
        arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
        zeros_like
    """,
    "dtypes": """
        astype bool can_cast complex128 complex64 finfo float32 float64 iinfo int16 int32 int64 int8 isdtype
        result_type uint16 uint32 uint64 uint8
    """,
    "elementwise": """
        abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
        bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide
        greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp
        logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive
        pow real reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc
    """,
    "indexing": "take take_along_axis",
    "inspection": "__array_api_version__ __array_namespace_info__",
    "linear algebra": "matmul matrix_transpose tensordot vecdot",
    "linalg": """
        linalg.cholesky linalg.cross linalg.det linalg.diagonal linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh
        linalg.inv linalg.matmul linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose
        linalg.outer linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot
        linalg.trace linalg.vecdot linalg.vector_norm
    """,
    "fft": """
        fft.fft fft.ifft fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfftn fft.irfftn fft.hfft fft.ihfft fft.fftfreq
        fft.rfftfreq fft.fftshift fft.ifftshift
    """,
    "manipulation": """
        broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll
        squeeze stack tile unstack
    """,
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "sets": "isin unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistics": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utility": "all any diff",
}

NUMPY: dict[str, str] = {
    "elementwise": """
        absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt conjugate deg2rad degrees divmod exp2
        float_power fmax fmin fmod gcd heaviside invert lcm ldexp left_shift logaddexp2 mod power rad2deg radians
        right_shift rint true_divide interp map bitwise_not isneginf isposinf angle around bitwise_count fabs fix frexp
        i0 iscomplex iscomplexobj isreal isrealobj modf nan_to_num piecewise polyval real_if_close sinc spacing unwrap
    """,
    "reductions and statistics": """
        nanmax nanmean nanmin nanprod nansum median nanmedian percentile quantile nanquantile cumprod cumsum average
        histogram bincount ptp nanstd nanvar nanargmax nanargmin corrcoef cov amax amin nancumprod nancumsum
        nanpercentile histogram2d histogramdd histogram_bin_edges
    """,
    "products": """
        dot einsum einsum_path inner kron outer trace vdot linalg.norm convolve correlate cross matvec vecmat
        linalg.multi_dot
    """,
    "comparisons": "allclose array_equal array_equiv isclose",
    "differences": "ediff1d gradient trapezoid",
    "assignments": "copyto fill_diagonal place put put_along_axis putmask",
    "functions of lines": "apply_along_axis apply_over_axes",
    "polynomials": "poly polyadd polyder polydiv polyfit polyint polymul polysub roots vander",
    "linalg beyond it": "linalg.cond linalg.lstsq linalg.tensorinv linalg.tensorsolve",
    "shapes": """
        array_split atleast_1d atleast_2d atleast_3d block column_stack concatenate dsplit dstack fliplr flipud hsplit
        hstack pad ravel rollaxis rot90 split swapaxes transpose vsplit vstack append delete insert resize compress
        extract ndim shape size trim_zeros
    """,
    "searching and sets": """
        argwhere flatnonzero unique partition argpartition lexsort choose select digitize intersect1d setdiff1d
        setxor1d union1d sort_complex
    """,
    "diagonals and creation": """
        diag diagonal identity promote_types array copy diag_indices_from diagflat geomspace logspace tri
        tril_indices_from triu_indices_from
    """,
    "bits": "packbits unpackbits",
    "fft beyond it": "fft.fft2 fft.ifft2 fft.irfft2 fft.rfft2",
}

PEERS: dict[str, str] = {
    "classes of scipy.sparse": "bsr_array coo_array csc_array csr_array dia_array dok_array lil_array",
    "functions of scipy.sparse": """
        block_array block_diag bmat diags diags_array eye_array find issparse kronsum rand random_array spdiags
    """,
    "the package sparse": "COO DOK GCXS SparseArray asCOO as_coo asnumpy diagonalize elemwise nanreduce",
}

STATES: dict[str, str] = {
    "dense result": """
        arange argmax argmin argsort argwhere cumprod cumsum cumulative_prod cumulative_sum fft.fftfreq fft.rfftfreq
        flatnonzero from_dlpack linspace
        median meshgrid nanmedian nanquantile nonzero percentile quantile searchsorted unique unique_all
        unique_counts unique_inverse unique_values bincount histogram nanargmax nanargmin nanstd nanvar argpartition
        lexsort corrcoef cov asnumpy array_equal array_equiv allclose diag_indices_from geomspace intersect1d logspace
        nancumprod nancumsum nanpercentile ndim setdiff1d setxor1d shape size tril_indices_from triu_indices_from
        union1d iscomplexobj isrealobj
    """,
    "composed": """
        asarray astype bool can_cast clip complex128 complex64 diag divmod e empty empty_like eye finfo float32 float64
        full full_like identity iinfo inf int16 int32 int64 int8 interp isdtype isin map nan newaxis ones ones_like pad
        pi promote_types result_type roll round sort tril triu uint16 uint32 uint64 uint8 where zeros zeros_like
        broadcast_shapes __array_api_version__ __array_namespace_info__ einsum_path column_stack concat concatenate
        dstack hstack stack vstack block matrix_transpose moveaxis permute_dims rollaxis swapaxes transpose
        linalg.matrix_transpose append average delete digitize insert ptp resize choose convolve partition select angle
        fft.fftshift fft.ifftshift linalg.inv
        apply_along_axis apply_over_axes array bitwise_count copy copyto compress correlate diagflat ediff1d extract
        fabs fill_diagonal fix frexp gradient i0 isclose iscomplex isreal modf nan_to_num piecewise place polyval put
        put_along_axis putmask sinc spacing trapezoid tri trim_zeros bsr_array coo_array csc_array csr_array dia_array
        dok_array lil_array COO DOK GCXS SparseArray asCOO as_coo block_array block_diag bmat diags diags_array
        diagonalize elemwise eye_array find isneginf isposinf issparse kronsum nanreduce rand random_array spdiags
    """,
    "whole operands": """
        linalg.cholesky linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.matrix_rank
        linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals fft.fft fft.ifft fft.fftn fft.ifftn
        fft.rfft fft.irfft fft.rfftn fft.irfftn fft.hfft fft.ihfft fft.fft2 fft.ifft2 fft.irfft2 fft.rfft2 linalg.cond
        linalg.lstsq linalg.tensorinv linalg.tensorsolve
    """,
    "unsupported": """
        histogram2d histogramdd histogram_bin_edges packbits poly polyadd polyder polydiv polyfit polyint polymul
        polysub real_if_close roots sort_complex unpackbits unwrap vander
    """,
}  # what is in none of these is compiled

EXPLANATIONS: dict[str, str] = {
    "compiled": "a kernel generated for the operands' formats",
    "composed": "made of compiled parts, of NumPy on the arrays of coordinates and values, or of nothing but types",
    "dense result": "what is stored is all that is looked at where the function allows it; the result has no fill "
    "value and is dense",
    "whole operands": "NumPy's, for tensors that store every element, as those of format `dense`; raises for others, "
    "and says what to use instead",
    "unsupported": "raises, and says what to use instead",
}

WHY: dict[str, str] = {
    "histogram": "edges for several axes are dense; NumPy's of the stored values",
    "poly": "the coefficients of polynomials are dense; NumPy's of `todense()`",
    "": "the work or the result is that of all elements; NumPy's of `todense()`",
}


DEVIATIONS: dict[str, str] = {
    "floor_divide": "an infinity divided by a finite number is NaN, where the standard has an infinity; a finite "
    "number divided by an infinity of the other sign is -1, where the standard has -0",
    "expm1": "of a complex number with an infinite or NaN part, the imaginary part is NaN where the standard has 0, "
    "and both are NaN where it has -1 + 0j; a real part -0 stays -0",
    "tanh": "of a complex number with an infinite real part, the imaginary zero has the sign of `sin(2*imag(x))`",
}


def state_of(name: str) -> str:
    """The state of a name.

    Examples
    --------
    >>> state_of("cos"), state_of("fft.fft")
    ('compiled', 'whole operands')
    """
    return next((state for state, names in STATES.items() if name in names.split()), "compiled")
