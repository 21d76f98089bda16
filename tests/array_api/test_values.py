"""Every function of the standard against NumPy, which has the same functions, of dense and of sparse tensors."""

import numpy as np
import pytest
from tests.array_api.states import STANDARD

import weft

X = np.array([[0.0, 1.5, 0.0, -2.0], [0.0, 0.0, 0.25, 0.0], [3.0, 0.0, 0.0, 0.5]])
Y = np.array([[0.0, 2.0, -1.0, 0.0], [0.0, 0.0, 0.5, 1.0], [3.0, 0.0, 0.0, 0.0]])
N, M = X.astype(np.int64) + (X > 1), Y.astype(np.int64)
AT = np.array([2, 0, 1])

UNARY = """
    abs acos acosh asin asinh atan atanh ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log10 log1p
    log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan tanh trunc
"""
BINARY = """
    add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and
    logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
"""
BITS = "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor"
CALLS = {
    **{name: lambda xp, x, y, n, m, f=name: getattr(xp, f)(x) for name in UNARY.split()},
    **{name: lambda xp, x, y, n, m, f=name: getattr(xp, f)(x, y) for name in BINARY.split()},
    **{name: lambda xp, x, y, n, m, f=name: getattr(xp, f)(n, abs(m)) for name in BITS.split()},
    "bitwise_invert": lambda xp, x, y, n, m: xp.bitwise_invert(n),
    "clip": lambda xp, x, y, n, m: xp.clip(x, -1.0, 1.0),
    "arange": lambda xp, x, y, n, m: xp.arange(1, 7, 2),
    "asarray": lambda xp, x, y, n, m: xp.asarray([[1.0, 2.0]]),
    "empty": lambda xp, x, y, n, m: xp.empty((2, 0)),
    "empty_like": lambda xp, x, y, n, m: xp.empty_like(x[:0, :]),
    "eye": lambda xp, x, y, n, m: xp.eye(3, 4, k=1),
    "from_dlpack": lambda xp, x, y, n, m: xp.from_dlpack(xp.asarray([1.0, 2.0])),
    "full": lambda xp, x, y, n, m: xp.full((2, 3), 7),
    "full_like": lambda xp, x, y, n, m: xp.full_like(x, 7.0),
    "linspace": lambda xp, x, y, n, m: xp.linspace(0, 1, 5, endpoint=False),
    "meshgrid": lambda xp, x, y, n, m: xp.meshgrid(x[0, :], y[:, 0], indexing="ij"),
    "ones": lambda xp, x, y, n, m: xp.ones((2, 3)),
    "ones_like": lambda xp, x, y, n, m: xp.ones_like(x),
    "zeros": lambda xp, x, y, n, m: xp.zeros((2, 3)),
    "zeros_like": lambda xp, x, y, n, m: xp.zeros_like(x),
    "tril": lambda xp, x, y, n, m: xp.tril(x, k=1),
    "triu": lambda xp, x, y, n, m: xp.triu(x, k=1),
    "astype": lambda xp, x, y, n, m: xp.astype(x, xp.int64),
    "can_cast": lambda xp, x, y, n, m: xp.can_cast(x.dtype, xp.int64),
    "finfo": lambda xp, x, y, n, m: float(xp.finfo(x.dtype).eps),
    "iinfo": lambda xp, x, y, n, m: xp.iinfo(n.dtype).max,
    "isdtype": lambda xp, x, y, n, m: xp.isdtype(x.dtype, "real floating"),
    "result_type": lambda xp, x, y, n, m: xp.result_type(x, n) == xp.float64,
    "take": lambda xp, x, y, n, m: xp.take(x, xp.asarray(AT), axis=1),
    "take_along_axis": lambda xp, x, y, n, m: xp.take_along_axis(x, xp.asarray(AT[None]), axis=1),
    "matmul": lambda xp, x, y, n, m: xp.matmul(x, xp.matrix_transpose(y)),
    "matrix_transpose": lambda xp, x, y, n, m: xp.matrix_transpose(x),
    "tensordot": lambda xp, x, y, n, m: xp.tensordot(x, y, axes=((1,), (1,))),
    "vecdot": lambda xp, x, y, n, m: xp.vecdot(x, y, axis=0),
    "linalg.cross": lambda xp, x, y, n, m: xp.linalg.cross(x, y, axis=0),
    "linalg.diagonal": lambda xp, x, y, n, m: xp.linalg.diagonal(x, offset=1),
    "linalg.matmul": lambda xp, x, y, n, m: xp.linalg.matmul(x, xp.linalg.matrix_transpose(y)),
    "linalg.matrix_norm": lambda xp, x, y, n, m: (xp.linalg.matrix_norm(x), xp.linalg.matrix_norm(x, ord=1)),
    "linalg.matrix_power": lambda xp, x, y, n, m: xp.linalg.matrix_power(x[:, :3], 3),
    "linalg.matrix_transpose": lambda xp, x, y, n, m: xp.linalg.matrix_transpose(x),
    "linalg.outer": lambda xp, x, y, n, m: xp.linalg.outer(x[0, :], y[1, :]),
    "linalg.tensordot": lambda xp, x, y, n, m: xp.linalg.tensordot(x, y, axes=2),
    "linalg.trace": lambda xp, x, y, n, m: xp.linalg.trace(x, offset=1),
    "linalg.vecdot": lambda xp, x, y, n, m: xp.linalg.vecdot(x, y),
    "linalg.vector_norm": lambda xp, x, y, n, m: xp.linalg.vector_norm(x, axis=0, keepdims=True, ord=3),
    "broadcast_arrays": lambda xp, x, y, n, m: xp.broadcast_arrays(x, y[:1, :]),
    "broadcast_shapes": lambda xp, x, y, n, m: xp.broadcast_shapes((3, 1), (1, 4)),
    "broadcast_to": lambda xp, x, y, n, m: xp.broadcast_to(x, (2, 3, 4)),
    "concat": lambda xp, x, y, n, m: (xp.concat([x, y], axis=1), xp.concat([x, y], axis=None)),
    "expand_dims": lambda xp, x, y, n, m: xp.expand_dims(x, axis=1),
    "flip": lambda xp, x, y, n, m: xp.flip(x, axis=1),
    "moveaxis": lambda xp, x, y, n, m: xp.moveaxis(x, 0, 1),
    "permute_dims": lambda xp, x, y, n, m: xp.permute_dims(x, (1, 0)),
    "repeat": lambda xp, x, y, n, m: xp.repeat(x, 2, axis=1),
    "reshape": lambda xp, x, y, n, m: xp.reshape(x, (2, 6)),
    "roll": lambda xp, x, y, n, m: xp.roll(x, 1, axis=1),
    "squeeze": lambda xp, x, y, n, m: xp.squeeze(x[:1, :], axis=0),
    "stack": lambda xp, x, y, n, m: xp.stack([x, y], axis=1),
    "tile": lambda xp, x, y, n, m: xp.tile(x, (2, 1)),
    "unstack": lambda xp, x, y, n, m: xp.unstack(x, axis=1),
    "argmax": lambda xp, x, y, n, m: xp.argmax(x, axis=1, keepdims=True),
    "argmin": lambda xp, x, y, n, m: xp.argmin(x, axis=1),
    "count_nonzero": lambda xp, x, y, n, m: xp.count_nonzero(x, axis=1, keepdims=True),
    "nonzero": lambda xp, x, y, n, m: xp.nonzero(x),
    "searchsorted": lambda xp, x, y, n, m: xp.searchsorted(xp.sort(x[0, :]), y[0, :], side="right"),
    "where": lambda xp, x, y, n, m: xp.where(x > 0, x, y),
    "isin": lambda xp, x, y, n, m: xp.isin(x, y, invert=True),
    "unique_all": lambda xp, x, y, n, m: tuple(xp.unique_all(x)),
    "unique_counts": lambda xp, x, y, n, m: tuple(xp.unique_counts(x)),
    "unique_inverse": lambda xp, x, y, n, m: tuple(xp.unique_inverse(x)),
    "unique_values": lambda xp, x, y, n, m: xp.unique_values(x),
    "argsort": lambda xp, x, y, n, m: xp.argsort(x, axis=1, stable=True),
    "sort": lambda xp, x, y, n, m: xp.sort(x, axis=1),
    "cumulative_prod": lambda xp, x, y, n, m: xp.cumulative_prod(x, axis=1),
    "cumulative_sum": lambda xp, x, y, n, m: xp.cumulative_sum(x, axis=1, include_initial=True),
    **{name: lambda xp, x, y, n, m, f=name: (getattr(xp, f)(x), getattr(xp, f)(x, axis=1, keepdims=True))
       for name in ("max", "mean", "min", "prod", "std", "sum", "var", "all", "any")},
    "diff": lambda xp, x, y, n, m: xp.diff(x, axis=1),
    "e": lambda xp, *_: xp.e, "inf": lambda xp, *_: xp.inf, "pi": lambda xp, *_: xp.pi, "nan": lambda xp, *_: xp.nan,
    "newaxis": lambda xp, x, *_: x[:, xp.newaxis],
}  # fmt: skip


def compare(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other)
        return
    array = found.todense() if isinstance(found, weft.SparseTensor) else np.asarray(found)
    assert (array.shape, array.dtype) == (np.shape(expected), np.asarray(expected).dtype)
    np.testing.assert_allclose(array, expected, rtol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("format", ["dense", "csr"])
@pytest.mark.parametrize("name", CALLS)
def test_function(name, format):
    tensors = (weft.asarray(array, format=format) for array in (X, Y, N, M))
    compare(CALLS[name](weft, *tensors), CALLS[name](np, X, Y, N, M))


def test_every_function_is_called():
    names = {
        n for kind, names in STANDARD.items() if kind not in ("linalg", "fft", "inspection") for n in names.split()
    }
    assert {n for n in names if not isinstance(getattr(weft, n), type)} == {n for n in CALLS if "." not in n}


@pytest.mark.parametrize(("dtype", "wanted"), [("float32", "complex64"), ("float64", "complex128")])
def test_eigenvalues_are_complex_whatever_they_are(dtype, wanted):
    dense = np.array([[2, 1], [1, 3]], dtype)
    found = weft.array_api.linalg.eig(weft.asarray(dense))
    assert found.eigenvalues.dtype == found.eigenvectors.dtype == wanted
    alone = weft.array_api.linalg.eigvals(weft.asarray(dense))
    assert alone.dtype == wanted
    np.testing.assert_allclose(alone.todense(), np.linalg.eigvals(dense))
    assert weft.linalg.eigvals(weft.asarray(dense)).dtype == np.linalg.eigvals(dense).dtype  # by the version of NumPy
