"""Compiling printed C and calling it on NumPy arrays."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import cffi
import numpy as np

from ir.examples import verify
from weft.codegen import POINTERS, STRUCT, declaration, symbol
from weft.compiler import generate
from weft.config import config
from weft.runtime._ffi import ffi as runtime_ffi
from weft.runtime.loader import open_all, pool_of_threads

FLAGS = ("-O1", "-fwrapv", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
FFI = cffi.FFI()
FFI.cdef(STRUCT)


def build(text, flags=("-fopenmp-simd",), declarations=""):
    """Compile C text that must raise no warning; the loaded library, with the pool of threads."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "module.c", Path(folder) / "module.so"
        source.write_text(text, encoding="utf-8")
        command = ["gcc", *FLAGS, *flags, str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stderr}\n{text}"
        ffi = cffi.FFI()
        pointers = [name for name in POINTERS if f"(*{name})(" in text]
        ffi.cdef(f"{STRUCT}{declarations}" + "".join(f"extern void *{name};" for name in pointers))
        opened = ffi.dlopen(str(library))
        for name in pointers:
            setattr(opened, name, ffi.cast("void *", pool_function(POINTERS[name])))
        return ffi, opened


@cache
def pool_function(name):
    """Address of a function of the pool."""
    (library,) = open_all([pool_of_threads()])
    return int(runtime_ffi.cast("uintptr_t", library.address(name)))


def module(*functions, flags=("-fopenmp-simd",)):
    """Verify, print, compile and load functions: a dict of Python functions over tensors."""
    for function in functions:
        verify(function)
    declarations = "\n".join(declaration(f.name, len(f.params)) for f in functions)
    ffi, library = build(generate(functions, config.code), flags, declarations)

    def caller(function):
        def call(*tensors, counts=None, threads=1):
            kept = []
            args = [struct(ffi, *t, kept) for t in tensors]
            counting = ffi.NULL if counts is None else ffi.cast("int64_t *", counts.ctypes.data)
            return getattr(library, symbol(function.name))(*args, counting, threads)

        return call

    return {f.name: caller(f) for f in functions}


def struct(ffi, dimensions, arrays, vals, kept):
    """A ``weft_tensor`` over arrays; ``kept`` collects what must stay alive."""
    sizes = np.array(dimensions, dtype=np.int64)
    tensor = ffi.new("weft_tensor *")
    pointers = ffi.new("void *[]", [ffi.cast("void *", a.ctypes.data) for a in arrays] or 1)
    tensor.dimensions = ffi.cast("int64_t *", sizes.ctypes.data)
    tensor.arrays = pointers
    tensor.vals = ffi.NULL if vals is None else ffi.cast("void *", vals.ctypes.data)
    kept += [sizes, pointers, tensor, arrays, vals]
    return tensor


def dense(array):
    """The tensor of a dense array."""
    return array.shape, (), array
