"""Output of ``config.debug``: the stages and passes of each kernel, printed when it is made."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Protocol

from ..config import config
from ..optimizations import PASSES, VERIFY


class Shown(Protocol):
    """A kernel whose making can be shown."""

    @property
    def text(self) -> str:
        """Return what the kernel computes, as text."""

    @property
    def stages(self) -> Mapping[str, str]:
        """Return the text of every stage, by name."""

    @property
    def passes(self) -> Mapping[str, str]:
        """Return the text of what each pass of the compiler returned, by name, in their order."""


def show(kernel: Shown) -> None:
    """Print the stages and passes of a kernel that ``config.debug`` names."""
    stages = config.debug - {VERIFY}
    if not stages:
        return
    passes = kernel.passes if stages.intersection(PASSES) or "all" in stages else {}
    for name, text in {**passes, **kernel.stages}.items():
        if name in stages or "all" in stages:
            print(f"== {name}: {kernel.text}\n{text}\n", file=sys.stderr)
