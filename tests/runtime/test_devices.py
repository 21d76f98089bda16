"""Devices: the emulated one, and CUDA devices through a stand-in for CuPy that has its functions on NumPy's arrays."""

from __future__ import annotations

import sys
import types
from functools import partial

import numpy as np
import pytest

from weft.errors import CompilerError, DeviceError
from weft.runtime import cuda, devices, emulated
from weft.runtime.emulated import EmulatedArray

DOUBLE = """
static __device__ inline double twice(double x) { return 2 * x; }
WEFT_KERNEL(doubled)(const double *from, double *to, int64_t count) {
  const int64_t first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int64_t i = first; i < count; i += gridDim.x * blockDim.x) to[i] = twice(from[i]);
}
WEFT_EMULATED(doubled)
WEFT_KERNEL(stuck)(int64_t count) {
  if (threadIdx.x < count) __syncthreads();
}
WEFT_EMULATED(stuck)
"""


class Array:
    """An array of the stand-in for CuPy."""

    __module__ = "cupy"

    def __init__(self, values, number=0):
        self.values, self.device = np.array(values), types.SimpleNamespace(id=number)

    def __getattr__(self, name):
        return getattr(self.values, name)

    def __getitem__(self, key):
        part = Array(0, self.device.id)
        part.values = self.values[key]
        return part

    def fill(self, value):
        self.values[...] = value


class Current:
    """A device of the stand-in, which is the current one within a ``with`` block."""

    def __init__(self, cupy, number):
        self.cupy, self.number = cupy, number

    def __enter__(self):
        self.before, self.cupy.current = self.cupy.current, self.number

    def __exit__(self, *error):
        self.cupy.current = self.before


class Cupy(types.ModuleType):
    """A stand-in for CuPy with two devices."""

    ndarray = Array

    def __init__(self):
        super().__init__("cupy")
        self.current, self.launched = 0, []
        runtime = types.SimpleNamespace(getDeviceCount=lambda: 2, getDevice=lambda: self.current)
        stream = types.SimpleNamespace(ptr=0)
        self.cuda = types.SimpleNamespace(
            runtime=runtime, Device=partial(Current, self), get_current_stream=lambda: stream, stream=stream
        )

    def empty(self, size, dtype):
        return Array(np.empty(size, dtype), self.current)

    def asarray(self, array):
        return array if isinstance(array, Array) else Array(array, self.current)

    def asnumpy(self, array):
        return array.values.copy()

    def cumsum(self, array, dtype, out):
        np.cumsum(array.values, dtype=dtype, out=out.values)

    def argsort(self, keys, kind):
        return Array(np.argsort(keys.values, kind=kind))

    def from_dlpack(self, obj):
        return Array(obj.held)

    def RawModule(self, code, options, backend):  # noqa: N802
        def get_function(name):
            def call(grid, block, arguments):
                self.launched.append((self.current, code, name, grid, block, arguments))

            return call

        return types.SimpleNamespace(get_function=get_function, options=options, backend=backend)


@pytest.fixture
def cupy(monkeypatch):
    stand_in = Cupy()
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    yield from _without_kept(monkeypatch, stand_in)


def _without_kept(monkeypatch, module):
    """Yield a module while nothing is kept of another one."""
    for function in (cuda._cupy, cuda._device):
        function.cache_clear()
    monkeypatch.setattr(devices, "in_use", [])
    monkeypatch.setattr(devices, "_known", {})
    yield module
    for function in (cuda._cupy, cuda._device):
        function.cache_clear()


@pytest.mark.parametrize("name", ["emulated", "cuda", "cuda:1"])
def test_devices_hold_arrays(cupy, name):
    device = devices.device(name)
    values = np.array([3, 1, 2, 1], np.int64)
    there = device.copy_in(values)
    assert device.device_of(there) == device.name == devices.name_of(there)
    assert devices.is_array(there)
    assert devices.adopted(there) is there
    assert (device.copy_out(there) == values).all()
    values[0] = 9
    assert device.copy_out(there)[0] == 3
    assert (device.copy_out(device.sort_keys(there)) == [1, 3, 2, 0]).all()
    device.scan(there, 1, 4, "+")
    assert (device.copy_out(there) == [3, 1, 3, 4]).all()
    room = device.empty(3, np.dtype(np.float32))
    assert (room.dtype, room.shape) == (np.float32, (3,))
    device.fill(room, 1.5)
    assert (device.copy_out(room) == 1.5).all()
    assert device.device_of(values) is None
    assert device.current_stream() == 1


def test_the_emulated_device_scans_maxima():
    device = emulated.device()
    there = device.copy_in(np.array([1, 3, 2, 5]))
    device.scan(there, 0, 4, "maximum")
    assert (device.copy_out(there) == [1, 3, 3, 5]).all()


def test_kernels_run_on_the_emulated_device():
    device = emulated.device()
    kernels = device.compile(DOUBLE)
    values, result = device.copy_in(np.arange(100.0)), device.empty(100, np.dtype(float))
    device.launch(kernels["doubled"], 2, 32, (values, result, 100))
    assert (result.get() == 2 * np.arange(100)).all()
    with pytest.raises(DeviceError, match="kernel stuck fails on the emulated device: some threads"):
        device.launch(kernels["stuck"], 1, 32, (5,))
    with pytest.raises(CompilerError, match="no function emulate_other"):
        kernels["other"]
    with pytest.raises(CompilerError, match="expected"):
        device.compile("WEFT_KERNEL(broken)(")["broken"]


def test_kernels_are_launched_on_their_device(cupy):
    for name, number in (("cuda", 0), ("cuda:1", 1)):
        device = devices.device(name)
        kernel = device.compile("text")["doubled"]
        device.launch(kernel, 7, 256, (1, 2))
        assert cupy.launched.pop() == (number, "text", "doubled", (7,), (256,), (1, 2))
    with pytest.raises(DeviceError, match=r"there is no device 'cuda:2': there are 2, from 'cuda:0'"):
        devices.device("cuda:2")


def test_other_packages_arrays_are_adopted(cupy):
    class WithInterface:
        held = np.arange(3.0)

        @property
        def __cuda_array_interface__(self):
            return {"version": 3}

    class OnCpu:
        def __dlpack_device__(self):
            return 1, 0

    class OnCuda(WithInterface):
        __cuda_array_interface__ = None

        def __dlpack_device__(self):
            return 2, 0

    class NoInterface:
        @property
        def __cuda_array_interface__(self):
            raise AttributeError("tensors of the CPU have none")

    assert isinstance(devices.adopted(WithInterface()), Array)
    assert (devices.adopted(OnCuda()).values == OnCuda.held).all()
    for obj in (np.arange(3), 1.5, [1], OnCpu(), NoInterface(), object()):
        assert devices.adopted(obj) is None


def test_without_cupy_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    for _ in _without_kept(monkeypatch, None):
        with pytest.raises(DeviceError, match=r"needs CuPy: pip install 'weft\[cuda\]' for CUDA 13"):
            devices.device("cuda")


def test_without_a_driver_an_error_says_so(monkeypatch, cupy):
    def count():
        raise RuntimeError("CUDA driver version is insufficient")

    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", count)
    with pytest.raises(DeviceError, match="finds no CUDA device here: CUDA driver version is insufficient"):
        devices.device("cuda")
    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 0)
    with pytest.raises(DeviceError, match="finds no CUDA device here"):
        devices.device("cuda")


@pytest.mark.parametrize(
    "read",
    [
        np.asarray, np.sum, np.sin, list, bool, float, int, lambda a: a[0], lambda a: np.add(a, 1), lambda a: a == 1,
        lambda a: a < 1, memoryview, lambda a: np.concatenate([a, a]), lambda a: np.empty(1).__setitem__(0, a),
        lambda a: np.copyto(np.empty(3), a), np.from_dlpack,
    ],
)  # fmt: skip
def test_nothing_on_the_cpu_reads_arrays_of_the_emulated_device(read):
    there = emulated.device().copy_in(np.arange(3.0))
    with pytest.raises((DeviceError, TypeError, ValueError, BufferError, RuntimeError)):
        read(there)
    assert (there.get() == np.arange(3.0)).all()


def test_arrays_of_the_emulated_device_have_the_shapes_of_numpys():
    there = EmulatedArray(np.arange(6.0))
    turned = there.reshape(2, 3).T
    assert (turned.shape, turned.ndim, turned.size, len(turned), turned.nbytes) == ((3, 2), 2, 6, 3, 48)
    assert turned.strides == (8, 24)
    assert not turned.flags.c_contiguous
    assert turned.copy().flags.c_contiguous
    assert repr(turned) == "<array of the emulated device: shape=(3, 2), dtype=float64>"
    assert (np.from_dlpack(_Asking(turned)) == np.arange(6.0).reshape(2, 3).T).all()


class _Asking:
    """What asks an array for a copy on the CPU, as ``from_dlpack`` with a device does."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        return self.array.__dlpack__(dl_device=(1, 0))
