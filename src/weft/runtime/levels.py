"""Levels of instructions: kernels are compiled for a level, so that all machines of the level share them.

Levels are those of the x86-64 psABI, which compilers accept as ``-march=x86-64-v3``. Results have equal bits on all
machines of one level. With ``-march=native`` each machine would be tuned, and so would sum, in its own way.
"""

from __future__ import annotations

import os
from functools import lru_cache

_V2 = frozenset(["cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"])
_V3 = _V2 | frozenset(["abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"])
_V4 = _V3 | frozenset(["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"])
LEVELS = {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2}
"""The flags that Linux reports for each level of x86-64, the highest first."""
_ARM = "armv8-a"  # every 64-bit ARM has NEON


@lru_cache(maxsize=1)
def cpu_identity() -> str:
    """Return a description of the CPU, on which the code of ``-march=native`` depends.

    A cache that machines share must keep their kernels apart by it.
    """
    lines: list[str] = []
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            # The first processor stands for all. Only fields that do not change with time are kept.
            first = file.read(8192).decode("utf-8", "replace").split("\n\n")[0]
        kept = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features", "isa", "cpu",
                "CPU implementer", "CPU variant", "CPU part", "CPU revision")  # fmt: skip
        lines = [line for line in first.splitlines() if line.split(":")[0].strip() in kept]
    except OSError:
        pass
    machine = os.uname()
    if not lines:  # a description of the CPU would take another process: each host has its own kernels instead
        lines = [machine.nodename]
    return "\n".join([machine.sysname, machine.machine, *lines])


@lru_cache(maxsize=1)
def machine_level() -> str | None:
    """Return the highest level of instructions that this machine has; None if it has no levels."""
    if os.uname().machine in ("aarch64", "arm64"):
        return _ARM
    if os.uname().machine not in ("x86_64", "amd64"):
        return None
    lines = (line.partition(":") for line in cpu_identity().splitlines())
    flags = next(({*value.split()} for name, _, value in lines if name.strip() == "flags"), set())
    return next((level for level, needed in LEVELS.items() if needed <= flags), None)


def family() -> tuple[str, ...]:
    """Return the levels of this kind of machine, the highest first, including those that this machine does not have."""
    own = machine_level()
    return tuple(LEVELS) if own in LEVELS else () if own is None else (own,)


def levels_here() -> tuple[str, ...]:
    """Return the levels that this machine has, the highest first."""
    own, levels = machine_level(), family()
    return levels[levels.index(own) :] if own is not None else ()
