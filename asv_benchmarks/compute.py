"""One thread: ratios to hand-written C of the same algorithm under the same flags, and to SciPy."""

from __future__ import annotations

from typing import Any

from .cases import CASES, runs_of
from .measure import interleaved, threads

__all__ = ["benchmark_class"]


def benchmark_class(name: str) -> type:
    """An asv class with a ``track_ratio_PEER`` for each peer of a case."""
    case = CASES[name]

    def setup(self: Any, source: str) -> None:
        self.runs = runs_of(name, source)

    def tracker(peer: str) -> Any:
        def track(self: Any, source: str) -> float:
            with threads(1):
                found = interleaved({"weft": self.runs["weft"], peer: self.runs[peer]})
            return found.ratio("weft", peer).median

        track.unit = "ratio"  # type: ignore[attr-defined]
        return track

    members = {f"track_ratio_{peer}": tracker(peer) for peer in case.targets}
    title = name.replace(" ", "").replace("+", "plus").replace("*", "times")
    return type(
        title,
        (),
        {
            "__module__": __name__,
            "__doc__": f"{name}, one thread.",
            "params": list(case.available),
            "param_names": ["input"],
            "timeout": 600,
            "setup": setup,
            **members,
        },
    )


for _name in CASES:
    _made = benchmark_class(_name)
    globals()[_made.__name__] = _made
del _made
