"""Draw the chart of the front page from asv_benchmarks/speed.json, once for each theme."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # tests draw the chart without Sphinx
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "asv_benchmarks" / "speed.json"
FOLDER = ROOT / "docs" / "_generated"
LEFT = 0.2  # the left end of the axis, where labels begin
PEERS = ("SciPy", "pydata/sparse")


@dataclass(frozen=True)
class Colours:
    """The colours of a theme."""

    text: str
    faint: str
    peers: tuple[str, str]


THEMES = {
    "light": Colours("#1f2430", "#c9ced6", ("#0b6e70", "#d9782d")),
    "dark": Colours("#e6e8eb", "#4a515c", ("#4cc3c5", "#f2a65a")),
}


def draw(results: dict[str, Any], colours: Colours, target: Path) -> None:
    """Write the chart: for each peer a bar to the median of its time over weft's, and a line over quartiles."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter

    settings = {"svg.hashsalt": "weft", "svg.fonttype": "none", "font.size": 10, "text.color": colours.text}
    with mpl.rc_context(settings):
        figure, axes = plt.subplots(figsize=(6, 0.62 * len(results["rows"]) + 1.6))
        y = 0.0
        longest = max(ratio["high"] for row in results["rows"] for ratio in row["peers"].values())
        for group, rows in groupby(results["rows"], key=lambda row: row["group"]):
            axes.text(LEFT, y, group, fontweight="bold", va="center", ha="left")
            y += 0.9
            for row in rows:
                axes.text(LEFT, y, row["label"], family="monospace", fontsize=8.5, va="center", ha="left")
                y += 0.62
                y = _bars(axes, row["peers"], y, colours) + 0.3
            y += 0.45
        axes.set(xscale="log", xlim=(LEFT, longest * 3), ylim=(y - 0.4, -1.2))
        axes.set_xticks([10.0**power for power in range(4) if 10.0**power <= longest])
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
        axes.xaxis.tick_top()
        axes.tick_params(axis="x", which="both", colors=colours.text, length=0)
        axes.set_yticks([])
        for side in axes.spines.values():
            side.set_visible(False)
        handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours.peers]
        figure.legend(
            handles,
            PEERS,
            loc="upper left",
            bbox_to_anchor=(0, 0.982),
            ncols=2,
            frameon=False,
            labelcolor=colours.text,
            fontsize=9,
        )
        figure.text(0.02, 0.985, "time over weft's, 1x is as fast", fontsize=9, va="top", ha="left")
        figure.subplots_adjust(left=0.02, right=0.99, top=0.93, bottom=0.01)
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None})
        plt.close(figure)


def _bars(axes: Any, peers: dict[str, dict[str, float]], y: float, colours: Colours) -> float:
    """Draw the bars of one row from ``y`` downwards, and return where the next row begins."""
    begin = y - 0.36
    for peer, colour in zip(PEERS, colours.peers, strict=True):
        if peer not in peers:
            continue
        ratio = peers[peer]["median"]
        axes.barh(y, ratio - 1, left=1, height=0.5, color=colour)
        axes.hlines(y, peers[peer]["low"], peers[peer]["high"], color=colours.text, linewidth=0.8)
        axes.text(max(peers[peer]["high"], 1) * 1.06, y, ratio_text(ratio), fontsize=8.5, va="center", ha="left")
        y += 0.56
    axes.vlines(1, begin, y - 0.2, color=colours.text, linewidth=1)
    return y


def ratio_text(ratio: float) -> str:
    """Return a ratio with two digits or all that it has before the point."""
    digits = 0 if ratio >= 9.95 else 1 if ratio >= 0.995 else 2
    return f"{ratio:.{digits}f}x"


def caption(results: dict[str, Any]) -> str:
    """Return the words under the chart: the machine, the date and the inputs."""
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items() if name != "weft")
    rows: dict[str, list[str]] = {}
    for row in results["rows"]:
        rows.setdefault(row["data"], []).append(row["label"])
    sizes = "; ".join(f"{name}: {size}" for name, size in results["data"].items())
    return (
        f"One thread of: {results['machine']}. Measured on {results['date']} with {versions}. "
        f"Inputs: {sizes}. Medians of interleaved runs on compiled kernels; see [Benchmarks](reference/benchmarks.md)."
    )


def write(app: Sphinx) -> None:
    """Draw the charts before the pages are read."""
    FOLDER.mkdir(exist_ok=True)
    results = json.loads(RESULTS.read_text("utf-8"))
    for theme, colours in THEMES.items():
        draw(results, colours, FOLDER / f"speed_{theme}.svg")
    (FOLDER / "speed_caption.md").write_text(caption(results) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
