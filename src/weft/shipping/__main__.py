"""Command line ``python -m weft.shipping build DIRECTORY`` and ``python -m weft.shipping list``."""

from __future__ import annotations

import argparse
import time

from ..runtime.shipped import DIRECTORY
from .build import build
from .expressions import EXPRESSIONS, operands


def main() -> None:
    """Build the shipped kernels, or list the expressions that they serve and the tensors that these are for."""
    parser = argparse.ArgumentParser("python -m weft.shipping", description=main.__doc__)
    parser.add_argument("action", choices=("build", "list"))
    parser.add_argument("directory", nargs="?", default=DIRECTORY, help="where to put the libraries")
    parser.add_argument("--every-level", action="store_true", help="build for all levels of instructions")
    parser.add_argument("--machine", action="store_true", help="build fewer kernels, in less time")
    parser.add_argument("--seconds", type=float, help="after how long to stop compiling")
    options = parser.parse_args()
    if options.action == "list":
        print(EXPRESSIONS.strip(), *operands(options.machine), sep="\n")
        return
    begin = time.monotonic()
    texts = build(options.directory, every_level=options.every_level, machine=options.machine, seconds=options.seconds)
    print(f"{len(texts)} kernels in {time.monotonic() - begin:.1f} s, in {options.directory}")


if __name__ == "__main__":
    main()
