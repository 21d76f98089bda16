"""From notation to results: the passes, the kernels they make, and the plans that run them."""

from .absorbing import assumed
from .convert import convert, count_entries, in_dtype
from .hand import Loops
from .infer import dense_format
from .kernel import Kernel
from .passes import Lowered, lower
from .plan import Executable, compile, evaluate, executable, looked_up
from .room import entry_bytes
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
