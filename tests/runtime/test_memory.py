import gc
import os
import threading

import numpy as np
import pytest

from weft.config import config
from weft.errors import ResultTooLargeError
from weft.runtime import clear_pool, empty, memory, pool_info, shrink, zeros

pytestmark = pytest.mark.compiles_alone

MIB = 1 << 20


@pytest.fixture(autouse=True, scope="module")
def others_are_over():
    gc.collect()
    gc.freeze()  # what is left stays, so that it need not be looked through before each test


@pytest.fixture(autouse=True)
def clean():
    gc.collect()  # else arrays of other tests come to the pool in the middle
    clear_pool()
    with config.override(memory_pool=64 * MIB):
        yield
    clear_pool()


def resident(array):
    """Bytes of the array's mapping that are in memory."""
    address = array.ctypes.data
    found = False
    with open("/proc/self/smaps") as file:
        for line in file:
            head = line.split()[0]
            if "-" in head and not head.endswith(":"):
                low, high = (int(part, 16) for part in head.split("-"))
                found = low <= address < high
            elif found and head == "Rss:":
                return int(line.split()[1]) * 1024
    raise AssertionError


@pytest.mark.parametrize("shape", [0, 3, (), (0, 5), (3, 4), 2 * MIB, (1024, 2048)])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float64", "complex128"])
def test_shape_dtype_and_flags(shape, dtype):
    for make in (empty, zeros):
        array = make(shape, np.dtype(dtype))
        assert array.shape == ((shape,) if isinstance(shape, int) else shape)
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.flags.aligned
        if make is empty and array.nbytes >= memory.POOLED:
            assert array.ctypes.data % memory.HUGE == 0
    assert not zeros(shape, dtype).any()


def test_numpy_integers_as_counts():
    assert empty(np.int64(MIB), np.float64).shape == (MIB,)
    assert zeros(np.int32(3), np.int8).shape == (3,)


def test_freed_memory_is_used_again_when_the_last_view_dies():
    array = empty(MIB, np.float64)
    address = array.ctypes.data
    view = array[5:].reshape(-1)[::2]
    del array
    assert pool_info().buffers == 0
    del view
    assert pool_info() == memory.PoolInfo(1, 8 * MIB, 64 * MIB)
    again = empty(MIB - 1000, np.float64)
    assert again.ctypes.data == address
    assert pool_info().buffers == 0


def test_two_live_arrays_never_share():
    arrays = [empty(MIB, np.int64) for _ in range(4)]
    for k, array in enumerate(arrays):
        array.fill(k)
    assert [int(array.sum()) for array in arrays] == [k * MIB for k in range(4)]
    assert len({array.ctypes.data for array in arrays}) == 4


def test_a_small_request_does_not_take_a_large_buffer():
    del (array := [empty(4 * MIB, np.float64)])[0]
    del array
    assert pool_info().buffers == 1
    _small = empty(MIB, np.float64)
    assert pool_info().buffers == 1


def test_the_pool_is_bounded():
    arrays = [empty(MIB, np.float64) for _ in range(20)]
    del arrays
    assert pool_info() == memory.PoolInfo(8, 64 * MIB, 64 * MIB)
    big = empty(9 * MIB, np.float64)
    del big
    assert pool_info().bytes <= 64 * MIB
    assert pool_info().buffers == 8
    with config.override(memory_pool=0):
        del (array := [empty(3 * MIB, np.float64)])[0]
        del array
        assert pool_info().buffers == 0
    clear_pool()
    assert pool_info().bytes == 0


def test_shrink_gives_memory_back():
    array = empty(4 * MIB, np.float64)
    array.fill(1)
    assert resident(array) >= 32 * MIB
    small = shrink(array, MIB)
    del array
    assert small.shape == (MIB,)
    assert (small == 1).all()
    assert resident(small) <= 8 * MIB + 2 * memory.HUGE


def test_shrink_copies_what_is_small():
    array = empty(4 * MIB, np.float64)
    array[:10] = np.arange(10)
    small = shrink(array, 10)
    del array
    assert small.tolist() == list(range(10))
    assert small.base is None
    assert pool_info().buffers == 1
    array = empty(1000, np.int32)
    assert shrink(array, 1000) is array
    assert shrink(array, 999).base is array
    assert shrink(array, 10).base is None
    assert shrink(array, 0).shape == (0,)


def test_shrunk_memory_is_used_again():
    array = empty(4 * MIB, np.float64)
    array.fill(3)
    array = shrink(array, 3 * MIB)
    del array
    again = empty(4 * MIB, np.float64)
    again.fill(2)
    assert (again == 2).all()


@pytest.mark.parametrize("make", [empty, zeros])
@pytest.mark.parametrize("shape", [2**45, (2**31, 2**31), 2**70, (10**9, 10**9, 10**9)])
def test_too_large(make, shape):
    with pytest.raises(ResultTooLargeError, match=r"[\d,]{10,} bytes"):
        make(shape, np.float64)


def test_available_memory_is_asked_before_anything_is_touched(monkeypatch):
    monkeypatch.setattr(memory, "_available", lambda: 100 * MIB)
    with pytest.raises(ResultTooLargeError, match=r"134,217,728 bytes.*104,857,600"):
        empty(16 * MIB, np.float64)
    assert empty(12 * MIB, np.float64).size == 12 * MIB


def test_the_pool_makes_room_for_a_large_request(monkeypatch):
    del (array := [empty(7 * MIB, np.float64)])[0]
    del array
    monkeypatch.setattr(memory, "_available", lambda: 100 * MIB)
    assert empty(16 * MIB, np.float64).nbytes == 128 * MIB
    assert pool_info().buffers == 0


def test_available_memory():
    assert memory._available() > 100 * MIB


def test_mapping_that_fails_is_a_typed_error(monkeypatch):
    def fail(*args, **kwargs):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(memory.mmap, "mmap", fail)
    with pytest.raises(ResultTooLargeError, match="8,388,608 bytes"):
        empty(MIB, np.float64)


def test_arrays_in_cycles_return_their_memory():
    class Holder:
        pass

    holder = Holder()
    holder.me, holder.array = holder, empty(MIB, np.float64)
    del holder
    gc.collect()
    assert pool_info().buffers == 1


def test_threads():
    def work():
        for k in range(50):
            array = empty(MIB // 4 * (1 + k % 3), np.int64)
            array.fill(k)
            errors.extend([] if (array == k).all() else [k])

    errors = []
    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
    assert pool_info().bytes <= 64 * MIB


def test_fork_shares_nothing():
    array = empty(MIB, np.int64)
    array.fill(1)
    held = empty(2 * MIB, np.int64)
    del held
    memory._pool.lock.acquire()  # as another thread may at the moment of the fork
    pid = os.fork()
    if pid == 0:
        array.fill(2)
        mine = empty(2 * MIB, np.int64)
        mine.fill(3)
        os._exit(7 if (array == 2).all() and (mine == 3).all() else 1)
    memory._pool.lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert (array == 1).all()
