"""Command line ``python -m weft.shipping build DIRECTORY`` and ``python -m weft.shipping list``."""

from __future__ import annotations

import argparse
import time

from ..runtime.shipped import DIRECTORY
from .build import build
from .expressions import CORE, MORE


def main() -> None:
    """Build the shipped kernels, or list the expressions that they serve."""
    parser = argparse.ArgumentParser("python -m weft.shipping", description=main.__doc__)
    parser.add_argument("action", choices=("build", "list"))
    parser.add_argument("directory", nargs="?", default=DIRECTORY, help="where to put the libraries")
    parser.add_argument("--every-level", action="store_true", help="build for all levels of instructions")
    parser.add_argument("--machine", action="store_true", help="build fewer kernels, in less time")
    parser.add_argument("--seconds", type=float, help="after how long to stop compiling")
    parser.add_argument("--optimization", type=int, default=3, help="the -O level of the C compiler")
    options = parser.parse_args()
    if options.action == "list":
        print(*CORE, *MORE, sep="\n")
        return
    begin = time.monotonic()
    result = build(
        options.directory, every_level=options.every_level, machine=options.machine, seconds=options.seconds,
        optimization=options.optimization,
    )  # fmt: skip
    print(f"{result.served}: {len(result.texts)} kernels in {time.monotonic() - begin:.1f} s, in {options.directory}")


if __name__ == "__main__":
    main()
