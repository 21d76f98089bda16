"""What two threads gain over one."""

from __future__ import annotations

from typing import Any

from .cases import CASES, runs_of
from .measure import Ratio, interleaved, threads

__all__ = ["speedup"]


def speedup(case: str, source: str, count: int = 2) -> Ratio:
    """Time on one thread over time on ``count``, in turns."""
    run = runs_of(case, source)["weft"]

    def on(number: int) -> object:
        import weft

        weft.set_num_threads(number)
        return run()

    with threads(count):
        return interleaved({"one": lambda: on(1), "many": lambda: on(count)}).ratio("one", "many")


def benchmark_class(name: str) -> type:
    case = CASES[name]

    def track_speedup(self: Any, source: str) -> float:
        return speedup(name, source).median

    track_speedup.unit = "ratio"  # type: ignore[attr-defined]
    return type(
        "Threads" + name.replace(" ", "").replace("+", "plus"),
        (),
        {
            "__module__": __name__,
            "__doc__": f"{name}, two threads over one.",
            "params": list(case.available),
            "param_names": ["input"],
            "timeout": 600,
            "track_speedup": track_speedup,
        },
    )


for _name, _case in CASES.items():
    if _case.speedup is not None:
        _made = benchmark_class(_name)
        globals()[_made.__name__] = _made
del _made
