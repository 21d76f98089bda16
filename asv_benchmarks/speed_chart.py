"""The figures of speed.json as a chart, a table and words, for README and the front page."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import groupby
from typing import Any

from .charts import FAINT, PEERS, TEXT
from .speed import FILE

__all__ = ["caption", "chart", "ratio_text", "speeds", "table_rows"]

NAMES = ("SciPy", "pydata/sparse")
EDGE = 0.7  # the left end of the axis


@cache
def speeds() -> dict[str, Any]:
    """Return what was measured."""
    measured: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return measured


def chart() -> Any:
    """Return a figure: for each peer a bar to the median of its time over weft's, and a line over the quartiles."""
    from matplotlib import pyplot as plt

    rows = speeds()["rows"]
    figure, axes = plt.subplots(figsize=(6.6, 0.36 * len(rows) + 1.35))
    ticks, y = [], 0.0
    for _, group in groupby(rows, key=lambda row: row["group"]):
        for row in group:
            ticks.append((y, row["label"]))
            _bars(axes, row["peers"], y)
            y += 1
        y += 0.35
    longest = max(ratio["high"] for row in rows for ratio in row["peers"].values())
    axes.axvline(1, color=TEXT, linewidth=1)
    axes.set(xscale="log", xlim=(EDGE, longest * 2.6), ylim=(y - 0.8, -0.6))
    powers = [10**power for power in range(4) if 10**power <= longest]
    axes.set_xticks(powers, [f"{power}x" if power > 1 else "as fast" for power in powers])
    axes.minorticks_off()
    axes.set_yticks(*zip(*ticks, strict=True), family="monospace", ha="left")
    axes.tick_params(length=0)
    axes.tick_params(axis="y", pad=217)
    axes.tick_params(axis="x", labeltop=True, labelbottom=False)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    figure.text(0.01, 0.985, "Time that others take for each second of weft", fontsize=11, weight="bold", va="top")
    handles = [plt.Rectangle((0, 0), 1, 1, color=color) for color in PEERS]
    figure.legend(handles[: len(NAMES)], NAMES, loc="upper left", bbox_to_anchor=(0, 0.945), ncols=2)
    figure.subplots_adjust(left=0.47, right=0.99, top=0.82, bottom=0.01)
    return figure


def _bars(axes: Any, peers: dict[str, dict[str, float]], y: float) -> None:
    """Draw the bars of one row around ``y``."""
    present = [(name, color) for name, color in zip(NAMES, PEERS, strict=False) if name in peers]
    height = 0.8 / 2
    y -= height / 2 * (len(present) - 1)
    for name, color in present:
        ratio = peers[name]
        axes.barh(y, ratio["median"] - 1, left=1, height=height, color=color)
        axes.hlines(y, ratio["low"], ratio["high"], color=TEXT, linewidth=0.8)
        place = max(ratio["high"], 1) * 1.08
        axes.text(place, y, ratio_text(ratio["median"]), fontsize=8, va="center_baseline")
        y += height


def ratio_text(ratio: float) -> str:
    """Return a ratio with two digits or all that it has before the point."""
    digits = 0 if ratio >= 9.95 else 1 if ratio >= 0.995 else 2
    return f"{ratio:.{digits}f}x"


def table_rows() -> list[list[str]]:
    """Return what is computed, the input and the ratio to each peer."""
    return [
        [
            re.sub(r"^(.*?)((?:, [^)]*)?)$", r"`\1`\2", row["label"]),
            row["data"],
            *(ratio_text(row["peers"][name]["median"]) if name in row["peers"] else "" for name in NAMES),
        ]
        for row in speeds()["rows"]
    ]


def caption() -> str:
    """Return the words under the chart: the machine, the date and the inputs."""
    measured = speeds()
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items() if name != "weft")
    sizes = "; ".join(f"{name}: {size}" for name, size in measured["data"].items())
    machine = measured["machine"].partition(";")[0]
    return f"One thread of: {machine}; {measured['date']}; {versions}. Inputs: {sizes}."
