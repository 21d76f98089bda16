"""From notation to results: the passes, the kernels they make, and the plans that run them."""

from ..analysis.result_type import dense_format
from ..compiler import Lowered, lower
from ..scheduling.user_schedule import Loops
from .conversion import convert, count_entries, in_dtype
from .data_annihilators import assumed
from .kernel import Kernel
from .plan import Executable, compile, evaluate, executable, looked_up
from .result_buffers import entry_bytes
from .verify import verify, verify_entries

__all__ = [
    "Executable",
    "Kernel",
    "Loops",
    "Lowered",
    "assumed",
    "compile",
    "convert",
    "count_entries",
    "dense_format",
    "entry_bytes",
    "evaluate",
    "executable",
    "in_dtype",
    "looked_up",
    "lower",
    "verify",
    "verify_entries",
]
