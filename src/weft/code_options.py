"""Code options: the settings that decide which code is made for an expression and given types."""

from __future__ import annotations

from functools import cache
from typing import Any
from typing import Literal as OneOf

from .records import record

_FOR_CPUS = {
    "tiling",
    "register-blocks",
    "row-fill",
    "whole-blocks",
    "direct-insertion",
    "nearest-format",
    "factor-hoisting",
    "merge-branches",
    "positions",
    "prefetch",
    "prefetch-rows",
    "stored-totals",
}
"""Optimisations that fit loops to the caches and registers of CPUs, or make structures, which devices do not."""


@record
class CodeOptions:
    """Settings that affect code; equal ones are one object, which ``code_options`` returns.

    Every cache of plans has them in its keys, so that they can be changed at any time.
    """

    reassociate: bool = True  # True if reductions may be reassociated
    vector_functions: bool = True  # True if mathematical functions may be computed by functions for SIMD vectors
    disabled: frozenset[str] = frozenset()  # names of the optimisations that are switched off
    verify: bool = False  # True if the result of every pass of the compiler is checked
    # The settings with which C is compiled: ``cc``, ``cflags``, ``optimization`` and ``sanitize``.
    build: tuple[str | None, str, int, bool] = (None, "", 3, False)
    target: OneOf["c", "cuda"] = "c"  # the language in which functions are printed

    # Equal options are one object, so that a key with them is hashed and compared as fast as one without.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def enabled(self, name: str) -> bool:
        """Return whether an optimisation is switched on, and is one for the target."""
        return name not in self.disabled and not (self.target == "cuda" and name in _FOR_CPUS)

    def of_target(self, target: str) -> CodeOptions:
        """Return the same settings for code of another target."""
        settings = {name: getattr(self, name) for name in CodeOptions.__match_args__}
        return code_options(**{**settings, "target": target})

    @property
    def reassociates(self) -> bool:
        """True if sums are reassociated: they may be, and it is not switched off as an optimisation."""
        return self.reassociate and self.enabled("simd-reductions")


@cache
def _only(*values: Any) -> CodeOptions:
    return CodeOptions(*values)


def code_options(**settings: Any) -> CodeOptions:
    """Return the options with some settings, and the defaults of the others."""
    default = CodeOptions()
    return _only(*(settings.pop(name, getattr(default, name)) for name in CodeOptions.__match_args__))
