import threading

import numpy as np
import pytest
from tiny_kernels import PRELUDE, make_source

from weft.codegen import print_module, shared_by
from weft.config import config
from weft.errors import CompilerError, ShapeError
from weft.ir import Call, Evaluate, Function, Param
from weft.ir.builder import cast, lit, var
from weft.runtime import cache, counts_pointer, ffi_build, loader, tensor_struct
from weft.runtime._ffi import ffi
from weft.runtime.loader import Functions, load
from weft.runtime.structs import NULL

pytestmark = pytest.mark.compiles_alone

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


def test_what_is_in_memory_is_not_opened_again(monkeypatch):
    first = load(make_source(1), ["compute"], 1, "a test")["compute"]
    monkeypatch.setattr(loader, "open_all", None)
    assert load(make_source(1), ("compute",), 1, "a test")["compute"] == first


def test_functions_are_compiled_when_they_are_asked_for():
    asked = []

    def text_of(name):
        asked.append(name)
        return make_source(len(asked)).replace("weft_compute", f"weft_{name}")

    functions = Functions(text_of, 1, "a test")
    assert asked == []
    assert not functions.at_hand("first")  # by its text, which is not made again
    assert functions["first"](NULL, NULL, 1) == 1
    assert (asked, cache.info().entries) == (["first"], 1)
    assert functions.have("second", "first", "third")["third"](NULL, NULL, 1) == 3
    assert (asked, cache.info().entries) == (["first", "second", "third"], 3)
    with pytest.raises(CompilerError, match="status 1"):
        Functions(lambda name: "int64_t broken" if name == "b" else make_source(9), 1, "a test").have("compute", "b")


SORTING = """
#include <stdint.h>
void (*weft_sort_many_int32)(int32_t *list, int64_t n, int32_t *scratch, int64_t *watch);
int64_t weft_%s(int64_t *counts, int64_t threads) {
  int64_t watch[2] = {0};
  int32_t list[6] = {5, 4, 3, 2, 1, 0}, scratch[6];
  weft_sort_many_int32(list, 6, scratch, watch);
  return list[4] * 10 + list[%d];
}
"""


def test_support_functions_that_kernels_share_are_compiled_once(monkeypatch):
    monkeypatch.setattr("weft.runtime.shipped.find", lambda text, names: None)
    assert shared_by(SORTING) == ["weft_sort_many_int32"]
    assert load(SORTING % ("a", 3), ["a"], 0, "a test")["a"](NULL, 1) == 43
    assert cache.info().entries == 2
    functions = Functions(lambda name: SORTING % (name, len(name)), 0, "a test").have("b", "bb")
    assert [functions[name](NULL, 1) for name in ("b", "bb")] == [41, 42]
    assert cache.info().entries == 4
    loader.forget()
    with config.override(compile="never"):
        assert load(SORTING % ("a", 3), ["a"], 0, "a test")["a"](NULL, 1) == 43


def test_what_is_printed_for_the_loader_shares_functions():
    printed = [print_module([sorting()], shared=shared) for shared in (False, True)]
    assert [shared_by(text) for text in printed] == [[], ["weft_sort_many_int32"]]
    assert "weft_sort_tiny_int32" in printed[1]
    assert "weft_sort_long_int32" not in printed[1]


def sorting():
    given = [var("L_vals", "int32*"), lit(5), cast(var("L_vals", "int32*"), "int32*")]
    body = Evaluate(Call("weft_sort_int32", tuple(given), "void"))
    return Function("sort", (Param("L", (), (), var("L_vals", "int32*"), output=True),), body)


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
