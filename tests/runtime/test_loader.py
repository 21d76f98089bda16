import threading

import numpy as np
import pytest
from tiny_kernels import PRELUDE, make_source

from weft.errors import ShapeError
from weft.runtime import counts_pointer, ffi_build, load, tensor_struct
from weft.runtime._ffi import ffi
from weft.runtime.structs import NULL

SUM = (
    PRELUDE
    + """
int64_t weft_arrays(weft_tensor *A, int64_t *counts, int64_t threads) {
  int64_t total = 0;
  for (int64_t k = 0; k < 2; k++)
    for (int64_t i = 0; i < A->dimensions[k]; i++) total += ((const int32_t *)A->arrays[k])[i];
  counts[0] = total;
  return ((const int64_t *)A->vals)[0];
}
"""
)


def test_the_committed_description_is_the_generated_one(tmp_path):
    pytest.importorskip("pycparser")
    ffi_build.main(tmp_path / "_ffi.py")
    committed = ffi_build.OUTPUT.read_text()
    assert (tmp_path / "_ffi.py").read_text() == committed


def test_struct_layout():
    kind = ffi.typeof("weft_tensor")
    assert ffi.sizeof(kind) == 3 * ffi.sizeof("void *")
    assert [name for name, _ in kind.fields] == ["dimensions", "arrays", "vals"]


def test_no_pycparser_at_run_time():
    import subprocess
    import sys

    program = (
        "import sys, weft.runtime as r; print([m for m in ('pycparser', 'cffi', 'subprocess') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pycparser" not in answer.stdout
    assert "'cffi'" not in answer.stdout


@pytest.mark.parametrize("arity", [0, 1, 2, 5, 40])
def test_any_arity(arity):
    parameters = "".join(f"weft_tensor *t{k}, " for k in range(arity))
    body = " + ".join(["threads", *(f"{k + 2} * t{k}->dimensions[0]" for k in range(arity))])
    source = PRELUDE + f"int64_t weft_f({parameters}int64_t *counts, int64_t threads) {{ return {body}; }}"
    tensors = [tensor_struct((10**k % 1009,), (), np.ones(1)) for k in range(arity)]
    expected = 7 + sum((k + 2) * (10**k % 1009) for k in range(arity))
    assert load(source, ["f"], arity, "a test")["f"](*(struct for struct, _ in tensors), NULL, 7) == expected


def test_arrays_reach_the_kernel():
    first, second, counts = np.arange(5, dtype=np.int32), np.arange(3, dtype=np.int32), np.zeros(2, np.int64)
    first.flags.writeable = False
    values = np.array(-8)
    values.flags.writeable = False
    struct, _keep = tensor_struct((5, 3), (first, second), values)
    assert load(SUM, ["arrays"], 1, "a test")["arrays"](struct, counts_pointer(counts), 1) == -8
    assert counts.tolist() == [13, 0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3)])
def test_any_array_has_a_struct(dtype, shape):
    values = np.zeros(shape, dtype)
    struct, _keep = tensor_struct(shape, (values,), values)
    if values.size:
        assert (
            int(ffi.cast("intptr_t", struct.vals)) == values.ctypes.data == int(ffi.cast("intptr_t", struct.arrays[0]))
        )
    assert [struct.dimensions[k] for k in range(len(shape))] == list(shape)


def test_arrays_with_strides_are_refused():
    with pytest.raises(ValueError, match="contiguous"):
        tensor_struct((3,), (), np.arange(6)[::2])


def test_counts_must_be_writable():
    counts = np.zeros(2, np.int64)
    counts.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        counts_pointer(counts)


def test_large_dimensions():
    struct, _keep = tensor_struct((2**62, 1), (), np.ones(1))
    assert struct.dimensions[0] == 2**62
    with pytest.raises(ShapeError, match="64-bit integers"):
        tensor_struct((2**63,), (), np.ones(1))


def test_memory_cache_gives_the_same_module(no_compiler, monkeypatch):
    monkeypatch.undo()
    first = load(make_source(1), ["compute"], 1, "a test")
    assert load(make_source(1), ("compute",), 1, "a test") is first
    assert first.path.endswith(".so")
    assert first.source == make_source(1)


def test_threads_may_load_at_once():
    results, workers = [], []
    for value in range(12):
        source = make_source(value % 3)
        workers.append(
            threading.Thread(
                target=lambda s=source: results.append(load(s, ["compute"], 1, "a test")["compute"](NULL, NULL, 1))
            )
        )
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(results) == sorted(value % 3 for value in range(12))
