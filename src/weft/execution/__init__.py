"""From notation to results: kernels, the plans that run them, and conversions.

Names of this package are imported on first use. ``import weft``, and sessions that only look at tensors, therefore
load no part of the compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..compiler import plan_loops
    from ..index_notation.standard_names import anonymous
    from ..scheduling.user_schedule import LoopNest
    from .absorbed import Absorbed
    from .choice import numbers_of
    from .conversion import Copy, convert, in_dtype, plan_of
    from .conversion_text import ConversionReport
    from .data_annihilators import assumed
    from .device_assembly import variant_for
    from .entry_lists import count_entries
    from .evaluation import (
        accumulation,
        chosen_program,
        compile,
        dense_format,
        evaluate,
        expected,
        expected_type,
        looked_up,
        numbers_for,
        plan_for,
        plan_for_operands,
        require_operands,
        target_type,
        under_standard_names,
    )
    from .full_results import announce, full_line, may_spread
    from .hash_growth import InsertionTarget, insertion_target, takes_insertions
    from .kept_conversions import drop_kept, kept_bytes
    from .kernel import Kernel, watched
    from .plan import Plan
    from .plan_report import PlanReport
    from .result_buffers import entry_bytes
    from .steps import Prune
    from .summary import compiled_line, formats_line, refused_line
    from .verification import verify, verify_entries

__all__ = [
    "Absorbed",
    "ConversionReport",
    "Copy",
    "InsertionTarget",
    "Kernel",
    "LoopNest",
    "Plan",
    "PlanReport",
    "Prune",
    "accumulation",
    "announce",
    "anonymous",
    "assumed",
    "chosen_program",
    "compile",
    "compiled_line",
    "convert",
    "count_entries",
    "dense_format",
    "drop_kept",
    "entry_bytes",
    "evaluate",
    "expected",
    "expected_type",
    "formats_line",
    "full_line",
    "in_dtype",
    "insertion_target",
    "kept_bytes",
    "looked_up",
    "may_spread",
    "numbers_for",
    "numbers_of",
    "plan_for",
    "plan_for_operands",
    "plan_loops",
    "plan_of",
    "refused_line",
    "require_operands",
    "takes_insertions",
    "target_type",
    "under_standard_names",
    "variant_for",
    "verify",
    "verify_entries",
    "watched",
]  # fmt: skip

_MODULES = {
    "..compiler": "plan_loops",
    "..index_notation.standard_names": "anonymous",
    "..scheduling.user_schedule": "LoopNest",
    ".absorbed": "Absorbed",
    ".conversion": "Copy convert in_dtype plan_of",
    ".conversion_text": "ConversionReport",
    ".data_annihilators": "assumed",
    ".device_assembly": "variant_for",
    ".choice": "numbers_of",
    ".entry_lists": "count_entries",
    ".hash_growth": "InsertionTarget insertion_target takes_insertions",
    ".evaluation": (
        "accumulation chosen_program compile dense_format evaluate expected expected_type looked_up "
        "numbers_for plan_for plan_for_operands require_operands target_type "
        "under_standard_names"
    ),
    ".full_results": "announce full_line may_spread",
    ".kept_conversions": "drop_kept kept_bytes",
    ".kernel": "Kernel watched",
    ".plan": "Plan",
    ".plan_report": "PlanReport",
    ".result_buffers": "entry_bytes",
    ".steps": "Prune",
    ".summary": "compiled_line formats_line refused_line",
    ".verification": "verify verify_entries",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # with this function, a type checker would accept every name

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_PLACES[name], __name__), name)
        return found
