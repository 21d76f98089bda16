"""What two threads gain over one."""

from __future__ import annotations

from typing import Any, ClassVar

from . import inputs
from .cases import CASES, runs_of
from .formats import stored
from .measure import Ratio, Run, interleaved, threads

__all__ = ["CONVERSIONS", "CONVERSION_SPEEDUP", "conversion_speedup", "speedup"]

CONVERSIONS = {("coo", "csr"): ("ecology1", "uniform", "powerlaw"), ("csr", "csc"): ("ecology1", "uniform", "powerlaw"),
               ("csr", "dia"): ("ecology1", "atmosmodd")}  # fmt: skip
CONVERSION_SPEEDUP = 1.6


def speedup(case: str, source: str, count: int = 2) -> Ratio:
    """Time on one thread over time on ``count``, in turns."""
    return _gain(runs_of(case, source)["weft"], count)


def conversion_speedup(formats: tuple[str, str], source: str, count: int = 2) -> Ratio:
    """The same of a conversion between two formats."""
    import weft

    have, wanted = formats
    made = weft.asarray(stored(inputs.matrix(source), have))
    return _gain(lambda: made.asformat(wanted), count)


def _gain(run: Run, count: int) -> Ratio:
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
        "Threads" + name.replace(" ", "").replace("+", "plus").replace("*", "times"),
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


class ThreadsConversion:
    """Conversions, two threads over one."""

    params: ClassVar[list[str]] = [f"{a} {b} {source}" for (a, b), names in CONVERSIONS.items() for source in names]
    param_names: ClassVar[list[str]] = ["case"]
    timeout = 600

    def track_speedup(self, case: str) -> float:
        a, b, source = case.split()
        return conversion_speedup((a, b), source).median

    track_speedup.unit = "ratio"  # type: ignore[attr-defined]


for _name, _case in CASES.items():
    if _case.speedup is not None:
        _made = benchmark_class(_name)
        globals()[_made.__name__] = _made
del _made
