"""Every function of the standard takes its arguments as the standard has them: by place, by name, or either way."""

import inspect

import pytest
from tests.array_api.states import STANDARD

import weft

SIGNATURES = """
    arange(start, /, stop, step, *, dtype, device)
    asarray(obj, /, *, dtype, device, copy)
    empty(shape, *, dtype, device) ones(shape, *, dtype, device) zeros(shape, *, dtype, device)
    empty_like(x, /, *, dtype, device) ones_like(x, /, *, dtype, device) zeros_like(x, /, *, dtype, device)
    eye(n_rows, n_cols, /, *, k, dtype, device)
    from_dlpack(x, /, *, device, copy)
    full(shape, fill_value, *, dtype, device) full_like(x, /, fill_value, *, dtype, device)
    linspace(start, stop, /, num, *, dtype, device, endpoint)
    meshgrid(a, b, /, *, indexing) tril(x, /, *, k) triu(x, /, *, k)
    astype(x, dtype, /, *, copy, device) can_cast(from_, to, /) finfo(type, /) iinfo(type, /)
    isdtype(dtype, kind) result_type(a, b, /)
    clip(x, /, min, max)
    take(x, indices, /, *, axis) take_along_axis(x, indices, /, *, axis)
    __array_namespace_info__()
    matmul(x1, x2, /) matrix_transpose(x, /) tensordot(x1, x2, /, *, axes) vecdot(x1, x2, /, *, axis)
    broadcast_arrays(a, b, /) broadcast_shapes(a, b, /) broadcast_to(x, /, shape)
    concat(arrays, /, *, axis) stack(arrays, /, *, axis) unstack(x, /, *, axis)
    expand_dims(x, /, axis) squeeze(x, /, axis) flip(x, /, *, axis) moveaxis(x, source, destination, /)
    permute_dims(x, /, axes) repeat(x, repeats, /, *, axis) reshape(x, /, shape, *, copy)
    roll(x, /, shift, *, axis) tile(x, repetitions, /)
    argmax(x, /, *, axis, keepdims) argmin(x, /, *, axis, keepdims) count_nonzero(x, /, *, axis, keepdims)
    nonzero(x, /) searchsorted(x1, x2, /, *, side, sorter) where(condition, x1, x2, /)
    isin(x1, x2, /, *, invert)
    unique_all(x, /) unique_counts(x, /) unique_inverse(x, /) unique_values(x, /)
    argsort(x, /, *, axis, descending, stable) sort(x, /, *, axis, descending, stable)
    cumulative_prod(x, /, *, axis, dtype, include_initial) cumulative_sum(x, /, *, axis, dtype, include_initial)
    max(x, /, *, axis, keepdims) min(x, /, *, axis, keepdims) mean(x, /, *, axis, keepdims)
    prod(x, /, *, axis, dtype, keepdims) sum(x, /, *, axis, dtype, keepdims)
    std(x, /, *, axis, correction, keepdims) var(x, /, *, axis, correction, keepdims)
    all(x, /, *, axis, keepdims) any(x, /, *, axis, keepdims) diff(x, /, *, axis, n, prepend, append)
    linalg.cross(x1, x2, /, *, axis) linalg.diagonal(x, /, *, offset) linalg.matmul(x1, x2, /)
    linalg.matrix_norm(x, /, *, keepdims, ord) linalg.matrix_power(x, n, /) linalg.matrix_transpose(x, /)
    linalg.outer(x1, x2, /) linalg.tensordot(x1, x2, /, *, axes) linalg.trace(x, /, *, offset, dtype)
    linalg.vecdot(x1, x2, /, *, axis) linalg.vector_norm(x, /, *, axis, keepdims, ord)
    linalg.cholesky(x, /, *, upper) linalg.det(x, /) linalg.eig(x, /) linalg.eigh(x, /) linalg.eigvals(x, /)
    linalg.eigvalsh(x, /) linalg.inv(x, /) linalg.matrix_rank(x, /, *, rtol) linalg.pinv(x, /, *, rtol)
    linalg.qr(x, /, *, mode) linalg.slogdet(x, /) linalg.solve(x1, x2, /) linalg.svd(x, /, *, full_matrices)
    linalg.svdvals(x, /)
"""
TWO = """
    add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal
    floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum
    minimum multiply nextafter not_equal pow remainder subtract
"""
GIVEN = dict(text.rstrip(")").split("(") for text in SIGNATURES.replace(")", ")|").split("|") if text.strip())
GIVEN = {name.strip(): text for name, text in GIVEN.items()}
ELEMENTWISE = set(STANDARD["elementwise"].split()) - {"clip"}


def binds(function, text):
    """Whether a call with all arguments of a signature is one that the function takes, the free ones in both ways."""
    place, _, rest = text.rpartition("/")
    free, _, named = rest.partition("*")
    place, free, named = ([n for n in part.replace(",", " ").split() if n] for part in (place, free, named))
    signature = inspect.signature(function)
    signature.bind(*place, *free, **dict.fromkeys(named))
    signature.bind(*place, **dict.fromkeys([*free, *named]))


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_functions(name):
    place, _, function = f"weft.{name}".rpartition(".")
    binds(getattr(weft if place == "weft" else weft.linalg, function), GIVEN[name])


def test_elementwise_functions():
    for name in ELEMENTWISE:
        binds(getattr(weft, name), "x1, x2, /" if name in TWO.split() else "x, /")


def test_nothing_is_missing():
    values = "constants", "fft", "elementwise"
    names = {n for kind, text in STANDARD.items() if kind not in values for n in text.split()}
    assert names - {"__array_api_version__"} - {n for n in names if isinstance(getattr(weft, n, None), type)} == (
        set(GIVEN) - {"clip"}
    )
    assert set(TWO.split()) <= ELEMENTWISE
    tensor = weft.asarray([1.0])
    binds(tensor.to_device, "device, /, *, stream")
    binds(tensor.__dlpack__, "*, stream, max_version, dl_device, copy")
    binds(tensor.__dlpack_device__, "")
    binds(tensor.__array_namespace__, "*, api_version")
