"""Versions and settings of an installation, for reports of bugs."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from .config import config
from .errors import CompilerError
from .runtime import cache, shipped, toolchain
from .runtime.loader import one_thread

_PACKAGES = (
    "weft",
    "numpy",
    "scipy",
    "cffi",
    "opt_einsum",
    "sparse",
    "dask",
    "xarray",
    "networkx",
    "scikit-learn",
    "pandas",
)


def show_versions() -> None:
    """Print the versions of weft, Python and packages, the kernels and the compiler, for a report of a bug.

    Examples
    --------
    >>> import weft
    >>> weft.show_versions()  # doctest: +ELLIPSIS
    python    ...
    """
    print(f"python    {sys.version.split()[0]} on {platform.platform()}")
    for name in _PACKAGES:
        try:
            print(f"{name:9} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    print(installation())


def installation() -> str:
    """Return lines on the kernels that are shipped and compiled, on the compiler, and on threads."""
    compiled, installed = cache.info(), shipped.shipped()
    library = installed.library
    lines = [f"shipped   {f'{library.path}, for {installed.level}' if library else f'none: {installed.reason}'}"]
    if installed.served is not None:
        lines.append(f"          {installed.served}")
    lines.append(
        f"compiled  {compiled.path}: {compiled.entries} kernels, {compiled.bytes} bytes of at most {compiled.limit}"
    )
    try:
        tool = toolchain.current()
        lines.append(f"compiler  {' '.join(tool.command)}, -O{tool.optimization}: {tool.version.partition(chr(10))[0]}")
        lines += [f"          refuses {flag}, which is tried again after a day" for flag in sorted(tool.refused)]
    except CompilerError as error:
        lines.append(f"compiler  none: {error}")
    reason = one_thread()
    lines.append(f"threads   {f'one: {reason}' if reason else config.num_threads}")
    return "\n".join(lines)
