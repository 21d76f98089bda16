"""NVRTC, NVIDIA's compiler of CUDA at run time, which needs no GPU; from the package ``nvidia-cuda-nvrtc``."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path

import pytest


def library() -> ctypes.CDLL:
    """The library of the package; a test is skipped where it is not installed."""
    spec = find_spec("nvidia")
    for folder in [] if spec is None else spec.submodule_search_locations or []:
        for path in sorted(Path(folder).glob("*/lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(path))
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc")


def compiled(nvrtc: ctypes.CDLL, source: str, architecture: str) -> bytes:
    """The machine code of a text."""
    program = ctypes.c_void_p()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None))
    # Machine code that takes little time to make says as much of a text as fast code does.
    options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17", b"-w", b"--Ofast-compile=max"]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    if status:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise AssertionError(log.value.decode()[:3000])
    check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    code = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetCUBIN(program, code))
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


def check(status: int) -> None:
    assert status == 0, f"NVRTC returned {status}"
