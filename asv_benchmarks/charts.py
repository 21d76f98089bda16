"""The look of charts: colors that are legible on a light and on a dark page, in one file of SVG."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

__all__ = ["FAINT", "PEERS", "STYLE", "TEXT", "save", "themed"]

TEXT, FAINT = "#1f2430", "#c9ced6"
PEERS = ("#0b6e70", "#d9782d", "#5b4fb0", "#b03a5b")
"""Colors of the things that are compared."""
DARK = {TEXT: "#e6e8eb", FAINT: "#4a515c"} | dict(zip(PEERS, ("#4cc3c5", "#f2a65a", "#a79df0", "#f08aa6"), strict=True))
"""The color on a dark page of each color on a light one."""
STYLE = {
    "svg.fonttype": "none", "font.size": 9, "font.sans-serif": ["DejaVu Sans"], "text.color": TEXT,
    "axes.labelcolor": TEXT, "xtick.color": TEXT, "ytick.color": TEXT, "axes.edgecolor": TEXT,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "legend.frameon": False,
}  # fmt: skip
"""Parameters of matplotlib with which every color of a chart is known here."""


def themed(svg: str, *, dark: bool = False) -> str:
    """Return SVG with other colors where the page that shows it is dark, or, with ``dark``, everywhere."""
    # A picture takes the color scheme of the element that embeds it.
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{other}!important}}'
        for light, other in DARK.items()
        for what in ("fill", "stroke")
    )
    style = f"<style>{rules if dark else f'@media (prefers-color-scheme:dark){{{rules}}}'}</style>"
    head, mark, body = svg.partition("<svg ")
    tag, end, rest = body.partition(">")
    return f"{head}{mark}{tag}{end}\n {style}{rest}"


def save(figure: Any, path: Path, *, dark: bool = False) -> None:
    """Write a figure that was drawn with `STYLE`."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    path.write_text(themed(text.getvalue(), dark=dark), encoding="utf-8")
