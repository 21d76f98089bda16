"""The kernels that are installed with weft: which expressions they serve, and how their libraries are built.

``python -m weft.shipping build DIRECTORY`` runs the expressions of :mod:`weft.shipping.expressions` with compiling put
off: what they lack is compiled together, and they run again, until nothing is lacking. What was compiled is linked to
one shared object for each level of instructions.
"""

from .build import build, warm
from .record import Recorder, record_all

__all__ = ["Recorder", "build", "record_all", "warm"]
