"""Tables and charts of docs/reference/benchmarks.md from the figures in figures.toml.

``python -m asv_benchmarks.figures`` writes the tables between the page's markers, and draws the charts beside the page.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["CHARTS", "FIGURES", "PAGE", "TABLES", "draw", "filled"]

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "reference" / "benchmarks.md"
FIGURES: dict[str, Any] = tomllib.loads((HERE / "figures.toml").read_text("utf-8"))
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
NAMES = {
    "RESIDUAL": "b - A @ x",
    "MATTRANSMUL": "a*A.T @ x + b*z",
    "SpMM 32": "A @ X, 32 columns",
    "SpMM 128": "A @ X, 128 columns",
    "SDDMM 64": "A * (U @ V.T), 64 columns",
    "CSR+CSR": "A + B",
    "PLUS3": "A + B + C",
    "SpGEMM": "A @ A",
    "SpMV": "A @ x",
    "TTV": "tensor times vector",
    "TTM 16": "tensor times matrix, 16 columns",
    "MTTKRP 25": "MTTKRP, 25 columns",
    "INNERPROD": "inner product of tensors",
}
COARSE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
FINE = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 2.5)
Groups = Mapping[str, Mapping[str, Sequence[float]]]


def markdown(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n" + "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n\n"


def written(name: str) -> str:
    """Return a name as a cell of a table: expressions are code."""
    expression, comma, rest = name.partition(",")
    return f"`{expression}`{comma}{rest}" if re.search(r"[@*+]", expression) else name


def number(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def compute_table() -> str:
    """Return the ratios of both machines, one line a computation."""
    first, second = (FIGURES["compute"][machine]["rows"] for machine in ("xeon", "epyc"))
    rows = [
        [written(NAMES[a[0]]), number(a[2]), number(b[2]), number(a[1]), number(b[1])]
        for a, b in zip(first, second, strict=True)
    ]
    return markdown(["computation", "SciPy, A", "SciPy, B", "C, A", "C, B"], rows)


def spread(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def grouped(name: str, key: int, value: int, peer: str | None = None) -> dict[str, list[float]]:
    """Return the figures of all inputs, by what is computed."""
    found: dict[str, list[float]] = {}
    for row in FIGURES[name]["rows"]:
        if peer is None or row[2] == peer:
            found.setdefault(row[key], []).append(row[value])
    return found


def by_peer(name: str) -> dict[str, dict[str, list[float]]]:
    """Return the figures of all inputs, by peer and then by what is computed."""
    peers = dict.fromkeys(row[2] for row in FIGURES[name]["rows"])
    return {peer: grouped(name, 0, 3, peer) for peer in peers}


def by_peer_table(name: str) -> str:
    """Return a table with a line for what is computed and a column for each peer."""
    peers = by_peer(name)
    rows = dict.fromkeys(row[0] for row in FIGURES[name]["rows"])
    cells = [[row, *(spread(found[row]) if row in found else "" for found in peers.values())] for row in rows]
    return markdown([FIGURES[name]["columns"][0], *peers], cells)


def threads() -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for machine in ("xeon", "epyc"):
        for what, given, value, *_ in FIGURES["threads"][machine]["rows"]:
            if given != "jnlbrng1":
                found.setdefault(f"machine {FIGURES['machines'][machine]['name']}", {}).setdefault(what, []).append(
                    value
                )
    return found


def threads_table() -> str:
    machines = threads()
    rows = dict.fromkeys(what for found in machines.values() for what in found)
    cells = [
        [written(row), *(spread(found[row]) if row in found else "" for found in machines.values())] for row in rows
    ]
    return markdown(["computation", *machines], cells)


def operators_table() -> str:
    return markdown(["computation", "SciPy"], [[written(k), spread(v)] for k, v in grouped("operators", 0, 2).items()])


def plain(name: str) -> str:
    figures = FIGURES[name]
    return markdown(figures["columns"], [[number(cell) for cell in row] for row in figures["rows"]])


def missed_table() -> str:
    """Return the single inputs on which weft takes longer than a peer, by computation."""
    rows = [
        [written(NAMES[row[0]]), FIGURES["machines"][machine]["name"], row[3]]
        for machine in ("xeon", "epyc")
        for row in FIGURES["compute"][machine]["rows"]
        if len(row) > 3 and row[3]
    ]
    return markdown(["computation", "machine", "ratio above 1"], rows)


def sparse_vector_table() -> str:
    rows = [[row[0], row[1], number(row[2])] for row in FIGURES["sparse_vector"]["rows"]]
    return markdown(FIGURES["sparse_vector"]["columns"][:3], rows)


TABLES = {
    "compute": compute_table,
    "missed": missed_table,
    "threads": threads_table,
    "formats": lambda: by_peer_table("formats"),
    "operators": operators_table,
    "conversions": lambda: by_peer_table("conversions"),
    "sparse_vector": sparse_vector_table,
    "functions": lambda: plain("functions"),
    "latency": lambda: plain("latency"),
    "pyttb": lambda: plain("pyttb"),
    "semirings": lambda: plain("semirings"),
}


def filled(text: str) -> str:
    """Return the page with its tables as the figures have them."""
    return MARKED.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def compute_chart() -> Groups:
    rows = FIGURES["compute"]["epyc"]["rows"]
    return {
        peer: {NAMES[row[0]]: [row[k]] for row in rows if row[k] != ""}
        for k, peer in ((2, "SciPy"), (1, "hand-written C"))
    }


def functions_chart() -> Groups:
    """Return the ratios for matrices with 1,000,000 rows, beside both peers."""
    peers: dict[str, dict[str, list[float]]] = {"SciPy": {}, "pydata/sparse": {}}
    for what, _, _, large, *_ in FIGURES["functions"]["rows"]:
        for peer, text in zip(peers.values(), large.split(" / "), strict=False):
            peer[what.replace("`", "").rstrip(" *")] = [float(text.lstrip("< "))]
    return peers


CHARTS: dict[str, tuple[str, Any]] = {
    "compute": ("weft's time over the peer's (machine B)", compute_chart),
    "threads": ("time on one thread over time on two", threads),
    "formats": ("weft's time over the peer's (machine B), A @ x", lambda: by_peer("formats")),
    "conversions": ("weft's time over the peer's (machine A)", lambda: by_peer("conversions")),
    "functions": ("weft's time over the peer's, 1,000,000 rows", functions_chart),
}


def draw(name: str, path: Path) -> None:
    """Draw a chart: a line for each computation, a dot for each input and peer, on a logarithmic axis."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    title, groups = CHARTS[name][0], CHARTS[name][1]()
    labels = list(dict.fromkeys(label for group in groups.values() for label in group))
    grey = "#808080"  # legible on a light and on a dark page
    style = {"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 9, "text.color": grey, "axes.labelcolor": grey,
             "xtick.color": grey, "ytick.color": grey, "axes.edgecolor": grey}  # fmt: skip
    with mpl.rc_context(style):
        figure, axes = plt.subplots(figsize=(7, 0.9 + 0.22 * len(labels)), layout="constrained")
        axes.axvline(1, color=grey, linewidth=1)
        for (peer, group), color, marker in zip(
            groups.items(), ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"), "osD^", strict=False
        ):
            points = [(value, labels.index(label)) for label, values in group.items() for value in values]
            axes.scatter(*zip(*points, strict=True), s=22, color=color, marker=marker, label=peer, alpha=0.85)
        axes.set_xscale("log")
        axes.set_yticks(range(len(labels)), labels)
        axes.invert_yaxis()
        axes.grid(color=grey, alpha=0.25, linewidth=0.5)
        axes.set_xlabel(title)
        low, high = axes.get_xlim()
        ticks = [tick for tick in (FINE if high < 10 * low else COARSE) if low <= tick <= high]
        axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None})
        plt.close(figure)


def main() -> None:
    """Write the tables of the page and its charts."""
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
    for name in CHARTS:
        draw(name, PAGE.parent / f"benchmarks_{name}.svg")


if __name__ == "__main__":
    main()
