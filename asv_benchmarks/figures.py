"""Tables and charts of README and the documentation from the figures in figures.toml and speed.json.

``python -m asv_benchmarks.figures`` writes the tables between the markers of pages, and draws the charts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import speed_chart
from .charts import FAINT, PEERS, STYLE, TEXT, save

__all__ = ["CHARTS", "FIGURES", "PAGES", "TABLES", "draw", "filled"]

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
PAGES = tuple(DOCS / name for name in ("reference/benchmarks.md", "why.md", "index.md"))
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
    return markdown(["computation", "SciPy (Xeon)", "SciPy (EPYC)", "C (Xeon)", "C (EPYC)"], rows)


def speed_table() -> str:
    return markdown(["computation", "input", "SciPy", "pydata/sparse"], speed_chart.table_rows())


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
                found.setdefault(FIGURES["machines"][machine]["name"], {}).setdefault(what, []).append(value)
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
    "beside": lambda: plain("beside"),
    "sparse_vector": sparse_vector_table,
    "functions": lambda: plain("functions"),
    "latency": lambda: plain("latency"),
    "pyttb": lambda: plain("pyttb"),
    "semirings": lambda: plain("semirings"),
    "speed": speed_table,
    "speed_caption": lambda: f"\n{speed_chart.caption()}\n\n",
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


def chart(title: str, groups: Groups) -> Any:
    """Return a figure: a line for each computation, a dot for each input and peer, on a logarithmic axis."""
    from matplotlib import pyplot as plt

    labels = list(dict.fromkeys(label for group in groups.values() for label in group))
    figure, axes = plt.subplots(figsize=(7, 1.2 + 0.22 * len(labels)), layout="constrained")
    axes.axvline(1, color=TEXT, linewidth=1)
    for (peer, group), color, marker in zip(groups.items(), PEERS, "osD^", strict=False):
        points = [(value, labels.index(label)) for label, values in group.items() for value in values]
        axes.scatter(*zip(*points, strict=True), s=22, color=color, marker=marker, label=peer)
    axes.set_xscale("log")
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.grid(color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    low, high = axes.get_xlim()
    ticks = [tick for tick in (FINE if high < 10 * low else COARSE) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)
    heading = {"size": 11, "weight": "bold"}
    figure.legend(loc="outside upper left", ncols=4, title=title, title_fontproperties=heading, alignment="left")
    return figure


BELOW = "weft's time over that of others"
CHARTS: dict[str, tuple[str, Callable[[], Any]]] = {
    "compute": ("reference/benchmarks_compute", lambda: chart(f"{BELOW}: EPYC, means", compute_chart())),
    "threads": ("reference/benchmarks_threads", lambda: chart("Time on one thread over time on two", threads())),
    "formats": ("reference/benchmarks_formats", lambda: chart(f"{BELOW}: A @ x, EPYC", by_peer("formats"))),
    "conversions": ("reference/benchmarks_conversions", lambda: chart(f"{BELOW}: Xeon", by_peer("conversions"))),
    "functions": ("reference/benchmarks_functions", lambda: chart(f"{BELOW}: 1,000,000 rows", functions_chart())),
    "speed": ("_static/speed", speed_chart.chart),
    "speed on a dark page": ("_static/speed_dark", speed_chart.chart),
}
"""The file below docs and the figure of each chart."""


def draw(name: str, path: Path) -> None:
    """Write a chart."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = CHARTS[name][1]()
        save(figure, path, dark=name.endswith("dark page"))
        plt.close(figure)


def main() -> None:
    """Write the tables of the pages and the charts."""
    for page in PAGES:
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
    for name, (file, _) in CHARTS.items():
        draw(name, DOCS / f"{file}.svg")


if __name__ == "__main__":
    main()
