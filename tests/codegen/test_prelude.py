import re
import subprocess

import numpy as np
import pytest

from weft.codegen import emit_library
from weft.codegen.prelude import PRELUDE, required
from weft.dtypes import VALUE_DTYPES
from weft.index_notation.operator_table import OPERATORS
from weft.ir import Call, For, Function, Param, Store
from weft.ir.builder import lit, load, var

from .compiled import build, dense, module

CALLED = {row.c.removeprefix("call:"): row for row in OPERATORS.values() if row.c.startswith("call:")}


TRANSCENDENTAL = """
    arccos arccosh arcsin arcsinh arctan arctanh cbrt cos cosh exp exp2 expm1 log log10 log1p log2 sin sinh tan tanh
    arctan2 hypot logaddexp logaddexp2 power float_power absolute sqrt divide reciprocal
"""
EITHER_ZERO = {"minimum", "maximum", "fmin", "fmax"}


def close(found, expected):
    """Within four units of the last place of a value; a complex number counts as a whole."""
    eps = np.finfo(expected.dtype).eps
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    bounded = finite & np.isfinite(found)
    np.testing.assert_array_equal(bounded, finite)
    assert (abs(found[finite] - expected[finite]) <= 4 * eps * abs(expected[finite])).all()
    infinite = np.isinf(expected)
    if expected.dtype.kind == "f":
        np.testing.assert_array_equal(found[infinite], expected[infinite])
    else:
        np.testing.assert_array_equal(np.isinf(found), infinite)


def operands(ty, name=""):
    """All pairs of interesting values."""
    dtype = np.dtype(ty)
    if dtype.kind == "b":
        values = np.array([False, True])
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = np.array([info.min, info.min + 1, 0, 1, 5, info.max - 1, info.max], dtype=dtype)
        values = np.concatenate([values, np.array([-1, -7]).astype(dtype)])
    else:
        parts = [0.0, 1.0, -2.5, 3.0, np.inf, -np.inf, np.nan]
        values = np.array(parts, dtype=dtype)
        if dtype.kind == "c":
            values = np.array([complex(p, q) for p in parts for q in parts], dtype=dtype)
    a, b = np.meshgrid(values, values, indexing="ij")
    if name == "power" and dtype.kind == "i":
        b = np.where(b < 0, 3, b)  # NumPy refuses negative powers
    return np.ascontiguousarray(a.ravel()), np.ascontiguousarray(b.ravel())


def kernel(name, ty, arity, result):
    i = var("i")
    out = Param("Y", (var("Y1_dim"),), (), var("Y_vals", f"{result}*"), output=True)
    ins = [Param(n, (), (), var(f"{n}_vals", f"{ty}*")) for n in "AB"]
    call = Call(name, tuple(load(p.vals, i) for p in ins[:arity]), result)
    return Function(name[5:], (out, *ins), For(i, lit(0), var("Y1_dim"), Store(out.vals, i, call), ()))


def cases():
    for ty in VALUE_DTYPES:
        for name, row in CALLED.items():
            repeated = name.startswith("repeat_") or name == "ldexp"  # their operands are of two dtypes
            if f"weft_{name}_{ty}" in PRELUDE and not repeated:
                yield ty, name, row.arity, row.ufunc
        for name in ("multiply", "divide", "less", "less_equal", "greater", "greater_equal"):
            if f"weft_{name}_{ty}" in PRELUDE:
                yield ty, name, 2, getattr(np, name)


@pytest.fixture(scope="module")
def functions():
    built = []
    for ty, name, arity, ufunc in cases():
        a, b = operands(ty, name)
        with np.errstate(all="ignore"):
            result = ufunc(a, b) if arity == 2 else ufunc(a)
        built.append(kernel(f"weft_{name}_{ty}", ty, arity, result.dtype.name))
    return module(*built, flags=("-fopenmp-simd", "-ffp-contract=off"))


def test_every_called_operator_is_there():
    missing = []
    for row in CALLED.values():
        spelling = row.c.removeprefix("call:")
        for ty in VALUE_DTYPES:
            try:
                *wanted, _ = row.ufunc.resolve_dtypes((*(np.dtype(ty),) * row.arity, None))
            except TypeError:
                continue
            name = f"weft_{spelling}_{wanted[-1].name if 'repeat' in spelling else wanted[0].name}"
            if "float16" not in name and name not in PRELUDE:
                missing.append(name)
    assert not missing


@pytest.mark.parametrize(("ty", "name", "arity", "ufunc"), list(cases()), ids=lambda v: getattr(v, "__name__", str(v)))
def test_as_numpy(functions, ty, name, arity, ufunc):
    a, b = operands(ty, name)
    with np.errstate(all="ignore"):
        expected = ufunc(a, b) if arity == 2 else ufunc(a)
    found = np.zeros_like(expected)
    assert functions[f"{name}_{ty}"](dense(found), dense(a), dense(b)) == 0
    if name in TRANSCENDENTAL.split() and expected.dtype.kind in "fc":
        close(found, expected)
    else:
        np.testing.assert_array_equal(found, expected)
        if expected.dtype.kind == "f" and name not in EITHER_ZERO:
            np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[found == 0]))


def test_required_puts_dependencies_first():
    names = required(["weft_sort_int32"])
    assert names[-1] == "weft_sort_int32"
    assert names.index("weft_rank") < names.index("weft_sort_short_int32")
    assert len(names) == len(set(names))


def test_parts_need_what_they_use():
    texts = {name: re.sub(r"/\*.*?\*/", "", PRELUDE[name].text, flags=re.DOTALL) for name in PRELUDE}
    provider = {}
    for name, text in texts.items():
        heads = re.findall(r"^(?:static|typedef|int64_t|})[^\n]*?\b(weft_\w+)(?:[(;)]| __)", text, re.MULTILINE)
        macros = {*re.findall(r"#define (\w+)", text)} - {*re.findall(r"#undef (\w+)", text)}
        for each in {name, *heads, *macros}:
            provider.setdefault(each, name)
    for name, text in texts.items():
        used = {provider[word] for word in re.findall(r"\b(?:weft|WEFT)_\w+", text) if word in provider} - {name}
        assert set(PRELUDE[name].needs) <= used <= set(required([name])), name


def test_each_part_compiles_on_its_own(tmp_path):
    files = [tmp_path / f"{name}.c" for name in PRELUDE.structure if "weft_each" not in name]
    for file in files:
        file.write_text(emit_library([file.stem]))
    command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-fopenmp-simd", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_everything_compiles_without_a_warning():
    build(emit_library(PRELUDE))
    build(emit_library(PRELUDE), flags=("-O3", "-fopenmp-simd"))


def test_huge_allocations_fail():
    ffi, library = build(
        emit_library(["weft_alloc", "weft_free"]),
        declarations="void *weft_alloc(int64_t, size_t, bool); void weft_free(void *);",
    )
    for count, size in [(1 << 62, 8), (1 << 60, 8), (-1, 1), (1 << 63 - 1, 16)]:
        assert library.weft_alloc(count, size, False) == ffi.NULL
    for count in (0, 1, 1000, 1 << 21):
        memory = library.weft_alloc(count, 8, True)
        assert memory != ffi.NULL
        assert bytes(ffi.buffer(memory, count * 8)) == bytes(count * 8)
        library.weft_free(memory)


@pytest.mark.parametrize("flags", [(), ("-march=native",)])
def test_copies_are_exact(flags):
    declarations = "void weft_stream(void *, const void *, int64_t);"
    ffi, library = build(emit_library(["weft_stream"]), declarations=declarations, flags=flags)
    source = np.random.default_rng(0).integers(0, 256, 1 << 18).astype(np.uint8)
    for size in (0, 1, 40, 65535, 65536, 65541, 131070):
        for to, begin in ((0, 0), (1, 3), (31, 4), (32, 0), (60, 7)):
            made = np.zeros(1 << 18, np.uint8)
            library.weft_stream(ffi.from_buffer(made) + to, ffi.from_buffer(source) + begin, size)
            np.testing.assert_array_equal(made[to : to + size], source[begin : begin + size])
            assert not made[:to].any()
            assert not made[to + size :].any()


@pytest.mark.parametrize("ty", ["int32", "int64"])
def test_search(ty):
    name = f"weft_search_{ty}"
    declarations = f"int64_t {name}(const {ty}_t *, int64_t, int64_t, int64_t);"
    declarations += f"int64_t weft_lower_bound_{ty}(const {ty}_t *, int64_t, int64_t, int64_t);"
    declarations += f"int64_t weft_find_{ty}(const {ty}_t *, int64_t, int64_t, int64_t);"
    names = [name, f"weft_lower_bound_{ty}", f"weft_find_{ty}"]
    ffi, library = build(emit_library(names), declarations=declarations)
    lower_bound = getattr(library, f"weft_lower_bound_{ty}")
    rng = np.random.default_rng(0)
    for n in range(40):
        crd = np.sort(rng.integers(0, 60, n)).astype(ty)
        pointer = ffi.cast(f"{ty}_t *", ffi.from_buffer(crd))
        for begin, end in ((0, n), (n // 3, n), (n // 2, n // 2)):
            for value in range(-1, 62):
                place = begin + int(np.searchsorted(crd[begin:end], value))
                assert lower_bound(pointer, begin, end, value) == place
                hit = bool(place < end and crd[place] == value)
                assert getattr(library, name)(pointer, begin, end, value) == (place if hit else -1)
                assert getattr(library, f"weft_find_{ty}")(pointer, begin, end, value) == (place if hit else -1)


DRIVER = """
#include <stdlib.h>
static uint64_t state = 1;
static uint64_t next(void) { state = state * 6364136223846793005u + 1442695040888963407u; return state >> 20; }
int main(void) {
  const int64_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 33, 48, 49, 64, 65, 66, 100, 500, 1500, 9000};
  const uint64_t ranges[] = {1, 3, 60, 3000, 1000000, (uint64_t)1 << 31, (uint64_t)1 << 40};
  for (int k = 0; k < 17; k++) for (int r = 0; r < 7; r++) {
    const int64_t n = sizes[k];
    int64_t *a = malloc(n * 8), *s = malloc(n * 8), *p = malloc(n * 8);
    int32_t *b = malloc(n * 4), *t = malloc(n * 4);
    for (int64_t i = 0; i < n; i++) a[i] = (int64_t)(next() % ranges[r]);
    for (int64_t i = 0; i < n; i++) b[i] = (int32_t)(next() % (ranges[r] >> 1 | 1) & INT32_MAX);
    const void *lists[] = {a, b, a, a};
    const int64_t widths[] = {8, 4, 8, 8}, range = (int64_t)ranges[r], dims[] = {range, range, range, range};
    for (int64_t order = 2; order <= 4; order += 2) { /* in one key, and in several */
      int64_t *c = malloc(n * 8);
      void *sorted[] = {c, NULL, NULL, NULL};
      if (weft_sort_tuples(n, order, lists, widths, dims, p, sorted) == 0)
        for (int64_t i = 0; i < n; i++) if (c[i] != a[p[i]] || (i > 0 && c[i - 1] > c[i])) return 3;
      free(c);
    }
    if (r & 1) for (int64_t i = 0; i < n; i++) { a[i] -= 20; b[i] = ~b[i]; }
    int64_t watch[2] = {0};
    weft_sort_int64(a, n, s, watch);
    weft_sort_int32(b, n, t, watch);
    for (int64_t i = 1; i < n; i++) if (a[i - 1] > a[i] || b[i - 1] > b[i]) return 2;
    if (weft_search_int64(a, 0, n, a[n - 1]) < 0) return 4;
    int64_t *copy = malloc(n * 8);
    weft_stream(copy, a, n * 8);
    for (int64_t i = 0; i < n; i++) if (a[i] != copy[i]) return 5;
    free(copy);
    free(a); free(s); free(p); free(b); free(t);
  }
  return 0;
}
"""


def test_sanitizers_find_nothing(tmp_path):
    source, program = tmp_path / "driver.c", tmp_path / "driver"
    names = [name for name in PRELUDE if "sort" in name or "search" in name or "alloc" in name or "free" in name]
    names.append("weft_stream")
    source.write_text(emit_library(names) + DRIVER)
    flags = ["-g", "-O1", "-march=native", "-std=gnu11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    done = subprocess.run(["gcc", *flags, str(source), "-o", str(program), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
