"""From notation to results: kernels, the plans that run them, and conversions.

Names of this package are imported on first use. ``import weft``, and sessions that only look at tensors, therefore
load no part of the compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..analysis.result_type import dense_format
    from ..compiler import Lowered, plan_loops
    from ..scheduling.user_schedule import LoopNest
    from .conversion import convert, in_dtype, plan_of
    from .conversion_text import ConversionReport
    from .data_annihilators import Absorbed, assumed
    from .entry_lists import count_entries
    from .full_results import announce, full_line, may_spread, spreading
    from .hash_growth import InsertionTarget, insertion_target, takes_insertions
    from .kernel import Kernel
    from .plan import (
        Plan,
        accumulation,
        compile,
        evaluate,
        looked_up,
        plan_for,
        require_operands,
        target_type,
        under_standard_names,
    )
    from .result_buffers import entry_bytes
    from .steps import anonymous
    from .summary import compiled_line
    from .verification import verify, verify_entries

__all__ = [
    "Absorbed",
    "ConversionReport",
    "InsertionTarget",
    "Kernel",
    "LoopNest",
    "Lowered",
    "Plan",
    "accumulation",
    "announce",
    "anonymous",
    "assumed",
    "compile",
    "compiled_line",
    "convert",
    "count_entries",
    "dense_format",
    "entry_bytes",
    "evaluate",
    "full_line",
    "in_dtype",
    "insertion_target",
    "looked_up",
    "may_spread",
    "plan_for",
    "plan_loops",
    "plan_of",
    "require_operands",
    "spreading",
    "takes_insertions",
    "target_type",
    "under_standard_names",
    "verify",
    "verify_entries",
]  # fmt: skip

_MODULES = {
    "..analysis.result_type": "dense_format",
    "..compiler": "Lowered plan_loops",
    "..scheduling.user_schedule": "LoopNest",
    ".conversion": "convert in_dtype plan_of",
    ".conversion_text": "ConversionReport",
    ".data_annihilators": "Absorbed assumed",
    ".entry_lists": "count_entries",
    ".hash_growth": "InsertionTarget insertion_target takes_insertions",
    ".full_results": "announce full_line may_spread spreading",
    ".kernel": "Kernel",
    ".plan": (
        "Plan accumulation compile evaluate looked_up plan_for require_operands target_type under_standard_names"
    ),
    ".result_buffers": "entry_bytes",
    ".steps": "anonymous",
    ".summary": "compiled_line",
    ".verification": "verify verify_entries",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # with this function, a type checker would accept every name

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_PLACES[name], __name__), name)
        return found
