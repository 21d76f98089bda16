"""What does not fit in memory is refused before it is made, with sizes; what costs only its entries does not grow."""

import subprocess
import sys

import numpy as np
import pytest

import weft
from weft import control_groups
from weft.errors import ResultTooLargeError, ShapeError
from weft.runtime import clear_pool, memory

MIB = 1 << 20
rng = np.random.default_rng(3)


@pytest.fixture
def little_memory(monkeypatch):
    """A machine with 256 MiB, where no array that another test leaves behind comes back to the pool."""
    monkeypatch.setattr(memory, "_available", lambda: 256 * MIB)
    with weft.config.override(memory_pool=0):
        clear_pool()
        yield


def column(n, format="coo"):
    return weft.from_coords([[0, n - 1], [0, 1]], [1.0, 2.0], (n, 2), format=format)


# -- shapes -----------------------------------------------------------------------------------------------------------
B = 2**62
TOO_LONG = {
    "zeros": lambda: weft.zeros((2 * B,)),
    "full": lambda: weft.full((2 * B, 2), 3),
    "eye": lambda: weft.eye(2 * B),
    "random": lambda: weft.random((2 * B, 2), nnz=1),
    "from_coords": lambda: weft.from_coords([[0]], [1.0], (2 * B,)),
    "from_coords of a coordinate": lambda: weft.from_coords([[2 * B - 1]], [1.0]),
    "from_levels": lambda: weft.from_levels((2 * B,), "coo", [([0, 1], [0])], [1.0], check=False),
    "concat": lambda: weft.concat([column(B), column(B)]),
    "concat of compressed levels": lambda: weft.concat([column(B, "dcsr")] * 2),
    "hstack": lambda: weft.hstack([weft.from_coords([[0]], [1.0], (B,))] * 2),
    "block": lambda: weft.block([[column(B)], [column(B)]]),
    "append": lambda: weft.append(column(B), column(B), axis=0),
    "insert": lambda: weft.insert(column(2 * B - 1), 0, 1.0, axis=0),
    "kron": lambda: weft.kron(column(B), column(B)),
    "pad": lambda: weft.pad(column(B), ((B, 0), (0, 0))),
    "tile": lambda: weft.tile(column(B), (2, 1)),
    "repeat": lambda: weft.repeat(column(B), 2, axis=0),
    "reshape": lambda: weft.zeros((0, 3)).reshape(2 * B, 0),
    "ravel": lambda: weft.ravel(column(B)),
    "broadcast_to": lambda: weft.broadcast_to(weft.from_coords([[0]], [1.0], (1,)), (2 * B,)),
    "diag": lambda: weft.diag(weft.from_coords([[0]], [1.0], (B,)), B),
    "diags_array": lambda: weft.diags_array([np.ones(3)], offsets=[2 * B]),
}


@pytest.mark.parametrize("make", TOO_LONG.values(), ids=TOO_LONG)
def test_axes_that_64_bit_integers_do_not_count(make):
    with pytest.raises((ShapeError, weft.errors.IndexOverflowError), match=r"\d{19}"):
        make()


# -- memory -----------------------------------------------------------------------------------------------------------
def sparse(n, nnz, format="csr"):
    return weft.random((n, n), nnz=nnz, format=format, rng=0)


TOO_LARGE = {
    "eye": lambda: weft.eye(10**8),
    "random": lambda: weft.random((10**6, 10**6), nnz=10**8),
    "random of density 1": lambda: weft.random((10**4, 10**4), density=1),
    "diags_array": lambda: weft.diags_array([1.0, 2.0], offsets=[0, 1], shape=(10**8, 10**8)),
    "tri": lambda: weft.tri(10**4),
    "vstack": lambda: weft.vstack([sparse(10**6, 10**5)] * 400),
    "arange": lambda: weft.arange(10**9),
    "diag_indices_from": lambda: weft.diag_indices_from(weft.zeros((10**9, 10**9))),
    "broadcast_to": lambda: weft.broadcast_to(weft.asarray([[1.0]], format="coo"), (2**20, 2**20)),
    "insert": lambda: weft.insert(column(2**31), 0, 1.0, axis=1),
    "kron": lambda: weft.kron(sparse(10**4, 10**4), sparse(10**4, 10**4)),
    "product of vectors": lambda: weft.einsum("i,j->ij", sparse(4000, 10**5)[:, 0] + 1.0, np.ones(10**5)),
    "outer": lambda: weft.evaluate("C(i,j)=a(i)*b(j)", a=weft.from_coords([range(10**4)], 1.0),
                                   b=weft.from_coords([range(10**4)], 1.0)),
    "sparse plus dense": lambda: sparse(10**4, 10) + np.ones((1, 10**4)),
    "todense": lambda: sparse(10**4, 10).todense(),
    "csr of many rows": lambda: weft.from_coords([[0], [0]], [1.0], (10**8, 2)).asformat("csr"),
    "bsr": lambda: sparse(10**5, 10**5).asformat("bsr", blocksize=(32, 32)),
    "dia": lambda: sparse(10**5, 10**4).asformat("dia"),
}  # fmt: skip


@pytest.mark.parametrize("make", TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_does_not_fit_is_refused_with_sizes(make, little_memory):
    match = r"would take [\d,]{11,} bytes of memory; 268,435,456 are available"
    with weft.config.override(max_densify_bytes=2**50), pytest.raises(ResultTooLargeError, match=match):
        make()
    assert issubclass(ResultTooLargeError, MemoryError)


def test_a_sum_of_arrays_counts(little_memory):
    """Three arrays each of which would fit, but not all of them."""
    n = 12 * MIB  # int32 rows and columns of 48 MiB each, values of 96 MiB, and as much of rows in order
    rows = np.arange(n, dtype=np.int32)
    with pytest.raises(ResultTooLargeError, match=r"bytes of memory"):
        weft.from_coords([rows[::-1].copy(), rows], np.ones(n), (n, n)).asformat("csr")


def test_parts_are_checked_together():
    clear_pool()
    made = memory.Budget("an operation")
    made.available = 100 * MIB
    made.take(60 * MIB)
    made.take(40 * MIB)
    with pytest.raises(ResultTooLargeError, match=r"an operation would take 104,857,601 bytes.*104,857,600"):
        made.take(1)


def test_small_requests_ask_nobody(monkeypatch):
    def asked():
        raise AssertionError

    monkeypatch.setattr(memory, "_available", asked)
    memory.require(memory.CHECKED - 1, "nothing")
    A = sparse(100, 50)
    assert (A @ A + A).shape == (100, 100)


LIMITED = """
import resource, weft
from weft.errors import ResultTooLargeError
weft.eye(3) @ weft.eye(3)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20),) * 2)
Z = weft.random((10**6, 10**6), nnz=1000, rng=0, format="csr")
makers = [
    lambda: weft.eye(10**9),
    lambda: weft.kron(Z, weft.kron(Z, weft.kron(Z, Z))),
    lambda: weft.ones(10**9, format="dense"),
    lambda: weft.linspace(0, 1, 10**9),
    lambda: weft.gradient(weft.from_coords([[0]], [1.0], (10**9,))),
    lambda: weft.bincount([10**9]),
]
for make in makers:
    try:
        make()
    except ResultTooLargeError as error:
        print(error)
"""


def test_limits_of_the_process_are_kept():
    """What once was ended by the system, after more than a minute in one case."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=120, check=True)
    found = done.stdout.splitlines()
    assert len(found) == 6, done.stdout + done.stderr
    assert all("bytes of memory" in line for line in found[:3])
    assert all("there is no memory for the result of" in line for line in found[3:])


def test_control_groups(tmp_path, monkeypatch):
    """Of both versions, and of every group around the process's own."""
    outer = tmp_path / "a"
    inner = outer / "b"
    (tmp_path / "memory").mkdir()
    inner.mkdir(parents=True)
    for folder, most, used in ((outer, 3000 * MIB, 2000 * MIB), (inner, "max", 10)):
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 5\ninactive_file {MIB}\n")
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text(f"{800 * MIB}\n")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text(f"{100 * MIB}\n")
    (tmp_path / "memory" / "memory.stat").write_text(f"inactive_file 7\ntotal_inactive_file {2 * MIB}\n")
    cgroup = tmp_path / "cgroup"
    cgroup.write_text("4:memory:/elsewhere/c\n3:cpu:/x\n0::/a/b\n")
    monkeypatch.setattr(control_groups, "_ROOT", str(tmp_path))
    monkeypatch.setattr(control_groups, "_OWN", str(cgroup))
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**50)
    memory._groups.cache_clear()
    try:
        assert sorted(memory._of_groups()) == [702 * MIB, 1001 * MIB]
    finally:
        memory._groups.cache_clear()


# -- axes that are long, and nearly empty -----------------------------------------------------------------------------
@pytest.mark.parametrize("format", ["coo", "dcsr", "csc"])
def test_huge_axes_cost_their_entries(format, little_memory):
    n = 2**40
    A = column(n, format)
    found = weft.insert(A, [1, n, 1], [[0.0, 3.0], [4.0, 0.0], [5.0, 0.0]], axis=0)
    assert found.shape == (n + 3, 2)
    assert found.to_coo()[0].tolist() == [[0, 1, 2, n + 1, n + 2], [0, 1, 0, 1, 0]]
    assert found.to_coo()[1].tolist() == [1, 3, 5, 2, 4]
    assert weft.insert(A, 7, 0.0, axis=0).nnz == 2
    found = weft.delete(A, [0, 5, -2], axis=0)
    assert found.shape == (n - 3, 2)
    assert found.to_coo()[0].tolist() == [[n - 4], [1]]
    assert weft.delete(A, slice(1, -1, 3), axis=0).to_coo()[0].tolist() == [
        [0, n - 1 - len(range(1, n - 1, 3))],
        [0, 1],
    ]
    assert weft.delete(A, slice(None, 1, -1), axis=0).shape == (2, 2)
    assert weft.broadcast_to(weft.zeros((1, 1)), (n, n)).nnz == 0


@pytest.mark.parametrize("format", ["csr", "coo", "csc", "dok", "bsr", "dia", "ell", "dense"])
@pytest.mark.parametrize("fill", [0.0, 7.0])
def test_delete_and_insert_as_numpy(format, fill):
    if fill and format in ("bsr", "dia", "ell"):
        return
    dense = np.where(rng.random((6, 8)) < 0.4, rng.integers(1, 9, (6, 8)), fill)
    dense[0, 0], dense[1, 1] = np.nan, np.inf
    A = weft.asarray(dense, format=format, fill_value=fill)
    for axis in (0, 1, None):
        n = dense.size if axis is None else dense.shape[axis]
        for key in (0, -1, [0, -1, 0], [], slice(None, None, 2), slice(4, 1, -1), slice(None), np.arange(n) % 3 == 0):
            np.testing.assert_array_equal(weft.delete(A, key, axis=axis).todense(), np.delete(dense, key, axis=axis))
        for key in (0, -1, n, [0, 2, 0], [n, 0], [], slice(1, 4)):
            for value in (0.0, fill, np.nan, [5.0]):
                expected = np.insert(dense, key, value, axis=axis)
                np.testing.assert_array_equal(weft.insert(A, key, value, axis=axis).todense(), expected)


def test_delete_and_insert_keep_what_is_stored():
    A = weft.from_coords([[2, 0, 2, 1], [1, 1, 1, 0]], [1.0, 2.0, 3.0, 0.0], (3, 2), duplicates="keep")
    assert weft.delete(A, 0, axis=0).todense().tolist() == [[0, 0], [0, 4]]
    assert weft.insert(A, 1, 9.0, axis=0).todense().tolist() == [[0, 2], [9, 9], [0, 0], [0, 4]]
    assert weft.delete(A.astype("int8"), 0, axis=0).dtype == np.int8
