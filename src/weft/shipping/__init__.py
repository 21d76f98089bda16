"""Kernels that are installed with weft: their expressions, and the build of their libraries.

``python -m weft.shipping build DIRECTORY`` runs the expressions of :mod:`weft.shipping.expressions` without compiling.
Then it compiles all missing kernels together, and runs the expressions again, until no kernel is missing. The compiled
kernels are linked to one shared object for each level of instructions.
"""

from .build import build, warm
from .record import Recorder, record_all

__all__ = ["Recorder", "build", "record_all", "warm"]
