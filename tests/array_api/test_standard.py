"""What the array API standard (2025.12) says of types, attributes and devices, beyond the values of functions."""

import inspect

import numpy as np
import pytest

import weft


@pytest.fixture
def dense():
    return weft.asarray(np.arange(6.0).reshape(2, 3))


def test_dlpack_is_of_dense_formats_alone(dense):
    for x in (dense, dense.T, weft.asarray(2.0)):
        np.testing.assert_array_equal(np.from_dlpack(x), x.todense())
        assert np.shares_memory(np.from_dlpack(x), x.todense())
        assert x.__dlpack_device__() == (1, 0)
        np.testing.assert_array_equal(weft.from_dlpack(x).todense(), x.todense())
    for name in ("__dlpack__", "__dlpack_device__"):
        assert not hasattr(weft.SparseTensor, name)
        assert not hasattr(weft.eye(2), name)
        with pytest.raises(AttributeError, match=f"csr have no dense memory, and no {name}; todense"):
            getattr(weft.eye(2, format="csr"), name)
    with pytest.raises(AttributeError, match="todense"):
        np.from_dlpack(weft.eye(2))
    keywords = dict.fromkeys(("stream", "max_version", "dl_device", "copy"))
    parameters = inspect.signature(dense.__dlpack__).parameters.values()
    assert {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY} == keywords
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert not np.shares_memory(np.from_dlpack(dense, copy=True), dense.todense())


def test_devices():
    info = weft.__array_namespace_info__()
    assert info.devices() == (info.default_device(),)
    for device in (*info.devices(), None):
        assert info.dtypes(device=device) == info.dtypes()
        x = weft.zeros((2, 2), device=device)
        assert x.device in info.devices()
        assert x.to_device(x.device) is x
    x = weft.asarray(np.ones(2))
    makers = [
        *(lambda d, f=f: getattr(weft, f)((2,), device=d) for f in ("empty", "ones", "zeros")),
        *(lambda d, f=f: getattr(weft, f)(x, device=d) for f in ("empty_like", "ones_like", "zeros_like", "asarray")),
        lambda d: weft.full((2,), 1, device=d), lambda d: weft.full_like(x, 1, device=d),
        lambda d: weft.eye(2, device=d), lambda d: weft.arange(2, device=d), lambda d: weft.linspace(0, 1, 2, device=d),
        lambda d: weft.from_dlpack(x, device=d), lambda d: weft.astype(x, weft.int8, device=d), x.to_device,
        lambda d: info.dtypes(device=d), lambda d: info.default_dtypes(device=d),
    ]  # fmt: skip
    for make in makers:
        make("cpu")
        for device in ("gpu", 0, x, ["cpu"]):
            with pytest.raises(ValueError, match=r"tensors are made on device 'cpu', not|there is no device"):
                make(device)
    with pytest.raises(ValueError, match="streams"):
        x.to_device("cpu", stream=1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_limits_are_python_numbers(dtype):
    limits, expected = weft.finfo(dtype), np.finfo(dtype)
    for name in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(limits, name)) is float
        assert getattr(limits, name) == float(getattr(expected, name))
    assert type(limits.bits) is int
    assert limits.dtype == expected.dtype
    assert weft.finfo(weft.zeros(2, dtype)).eps == limits.eps
    assert repr(limits) == repr(expected)


def test_sequences_of_tensors_are_tuples(dense):
    for found in (weft.broadcast_arrays(dense, 1.0), weft.meshgrid(dense[0], dense[1]), weft.unstack(dense)):
        assert type(found) is tuple
    assert weft.meshgrid() == weft.broadcast_arrays() == ()


@pytest.mark.parametrize("format", ["dense", "coo"])
@pytest.mark.parametrize(
    "x",
    [np.array(3.0), np.array([np.nan, 1.0, np.nan, 0.0, -0.0]), np.zeros((0, 2)), np.array([[1, 0], [0, 1]]),
     np.array([True, False, True]), np.array([1j, 0, np.nan, 1j])],
)  # fmt: skip
def test_different_elements(x, format):
    tensor = weft.asarray(x, format=format if x.ndim else "dense")
    values, indices, inverse, counts = weft.unique_all(tensor)
    expected = np.unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    np.testing.assert_array_equal(values.todense(), expected[0])
    np.testing.assert_array_equal(indices.todense(), expected[1])
    np.testing.assert_array_equal(counts.todense(), expected[3])
    assert inverse.shape == x.shape
    np.testing.assert_array_equal(values.todense()[inverse.todense()], x)
    again = weft.unique_inverse(tensor)
    assert again.inverse_indices.shape == x.shape
    np.testing.assert_array_equal(again.values.todense(), expected[0])
    np.testing.assert_array_equal(again.inverse_indices.todense(), inverse.todense())
    np.testing.assert_array_equal(weft.unique_values(tensor).todense(), expected[0])
    np.testing.assert_array_equal(weft.unique_counts(tensor).counts.todense(), expected[3])


@pytest.mark.parametrize("format", ["dense", "csr"])
@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0), (0, 0)])
def test_a_mask_without_elements_chooses_none(shape, format):
    x, mask = np.ones((3, 4)), np.zeros(shape, bool)
    A = weft.asarray(x, format=format)
    for key in (mask, weft.asarray(mask)):
        assert A[key].shape == x[mask].shape
    A[mask] = 5.0
    np.testing.assert_array_equal(A.todense(), x)
    with pytest.raises(IndexError, match="did not match"):
        A[np.zeros(2, bool)]


def test_a_diagonal_beyond_the_matrix():
    for k in (2**31, -(2**31), 2**62):
        np.testing.assert_array_equal(weft.eye(3, 2, k=k).todense(), np.zeros((3, 2)))


INF, NAN = np.inf, np.nan
PARTS = [0.0, -0.0, 1.5, -1.5, INF, -INF, NAN]


@pytest.mark.parametrize("format", ["dense", "coo"])
@pytest.mark.parametrize("name", ["floor_divide", "expm1", "tanh"])
def test_what_numpy_computes_otherwise_is_computed_so(name, format):
    parts = [x for x in PARTS if format == "dense" or not np.signbit(x) or x]  # -0.0 is not stored beside 0
    x, y = (a.ravel() for a in np.meshgrid(parts, parts))
    with np.errstate(all="ignore"):
        if name == "floor_divide":
            operands = [x, y]
            known = {(INF, 1.5): NAN, (-INF, 1.5): NAN, (1.5, -INF): -1.0, (-1.5, INF): -1.0}
            assert all(np.array_equal(np.floor_divide(*k), v, equal_nan=True) for k, v in known.items())
        else:
            z = np.empty(x.shape, complex)
            z.real, z.imag = x, y
            operands = [z]
        expected = getattr(np, name)(*operands)
        if name == "expm1":
            assert np.isnan(expected[(x == INF) & (y == 0)].imag).all()
    found = getattr(weft, name)(*(weft.asarray(a, format=format) for a in operands)).todense()
    np.testing.assert_array_equal(found, expected)
    for part in ("real", "imag") if format == "dense" else ():
        zero = getattr(expected, part) == 0
        signs = [np.signbit(getattr(result, part)[zero]) for result in (found, expected)]
        np.testing.assert_array_equal(*signs)


@pytest.mark.parametrize("format", ["dense", "coo"])
def test_asarray_of_a_tensor_is_the_tensor_unless_it_is_copied(format):
    x = weft.asarray(np.eye(2), format=format)
    assert weft.asarray(x) is weft.asarray(x, copy=False) is x
    y = weft.asarray(x, copy=True)
    x[0, 0] = 5.0
    assert (x[0, 0], y[0, 0]) == (5.0, 1.0)
    with pytest.raises(ValueError, match="copy"):
        weft.asarray(x, copy=False, dtype="float32")
