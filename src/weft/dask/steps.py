"""Steps of the graphs that weft makes, by the names of their layers: what the tasks do, and to which arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..records import record


@record
class Operand:
    """Array that a step reads, by its name in graphs, and what is known of its chunks."""

    name: str
    chunks: tuple[tuple[float, ...], ...]
    meta: Any

    @property
    def count(self) -> int:
        """Number of chunks."""
        return math.prod(map(len, self.chunks))


@record
class Step:
    """Tasks of a layer, each of which calls a function with one chunk of each operand, or with two chunks of one."""

    title: str
    call: Callable[..., Any]
    operands: tuple[tuple[str, Operand], ...]
    tasks: int
    result: Operand
    is_merge: bool = False


_steps: dict[str, Step] = {}
_KEPT = 4096


def noted(name: str, step: Step) -> None:
    """Keep the step of a layer."""
    while len(_steps) >= _KEPT:
        _steps.pop(next(iter(_steps)))
    _steps[name] = step


def steps_of(x: Any) -> dict[str, Step]:
    """Return the steps of an array by the names of their layers, operands before what is made of them."""
    steps: dict[str, Step] = {}
    seen: set[str] = set()
    pending = [(x.name, False)]
    while pending:
        name, below = pending.pop()
        if below:
            if name in _steps:
                steps[name] = _steps[name]
        elif name not in seen:
            seen.add(name)
            pending += [(name, True), *((other, False) for other in sorted(x.dask.dependencies.get(name, ())))]
    return steps
