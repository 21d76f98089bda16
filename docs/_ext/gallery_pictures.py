"""Pictures of the gallery: SVG for light and dark pages, and thumbnails of what is drawn, without its text."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import matplotlib as mpl
from asv_benchmarks.charts import STYLE, themed
from matplotlib import pyplot as plt
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from sphinx.application import Sphinx
from sphinx_gallery.scrapers import matplotlib_scraper

MANY = 500  # more shapes than this are drawn as an image inside the SVG
SIDES = ("labeltop", "labelbottom", "labelleft", "labelright")
ENTRIES = LinearSegmentedColormap.from_list("Greys", ["#1f9a9c00", "#1f9a9c"])
"""Colors for the pictures of `weft.spy`, legible on light and dark, with nothing where nothing is stored."""


def reset(gallery: dict[str, Any], example: str) -> None:
    """Set the parameters of matplotlib for the next example."""
    mpl.rcParams.update({**STYLE, "font.size": 10, "savefig.dpi": 160, "svg.hashsalt": Path(example).stem})


def scrape(block: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Save the figures of a block of an example, and a thumbnail of the first of them."""
    pictures = variables["image_path_iterator"]
    for number in plt.get_fignums():
        _prepare(plt.figure(number))
    before = len(pictures)
    if not before and plt.get_fignums():
        _save_thumbnail(plt.figure(plt.get_fignums()[0]), Path(pictures.image_path.format(1)))
    text: str = matplotlib_scraper(block, variables, gallery, format="svg")
    for path in pictures.paths[before:]:
        _theme(Path(path).with_suffix(".svg"))
    return text


def _prepare(figure: Figure) -> None:
    """Make a figure small as a file, and the ground of pictures of entries transparent."""
    for axes in figure.axes:
        for line in axes.lines if len(axes.lines) > MANY else ():
            line.set_rasterized(True)
    for artist in figure.findobj(Collection):
        count = len(artist.get_offsets() if isinstance(artist, PathCollection) else artist.get_paths())
        artist.set_rasterized(count > MANY)
    for image in figure.findobj(AxesImage):
        if image.get_cmap().name == "Greys":
            image.set_cmap(ENTRIES)


def _theme(path: Path) -> None:
    path.write_text(themed(path.read_text("utf-8")), encoding="utf-8")


def _thumbnail(picture: Path) -> Path:
    """Return the file with the thumbnail of a picture, from which `replace_thumbnails` copies it."""
    return picture.parent / "bare" / f"{picture.stem.removesuffix('_001')}_thumb.svg"


def _save_thumbnail(figure: Figure, picture: Path) -> None:
    """Save a figure without its text."""
    bare = pickle.loads(pickle.dumps(figure))
    for axes in bare.axes:
        axes.set(title="", xlabel="", ylabel="")
        axes.tick_params(which="both", length=0, **dict.fromkeys(SIDES, False))
        for line in axes.lines:
            line.set_linewidth(2 * line.get_linewidth())
        if (legend := axes.get_legend()) is not None:
            legend.remove()
    bare.suptitle("")
    path = _thumbnail(picture)
    path.parent.mkdir(exist_ok=True)
    bare.savefig(path, format="svg", bbox_inches="tight")
    plt.close(bare)  # the copy is one of pyplot's figures, too
    _theme(path)


def replace_thumbnails(app: Sphinx) -> None:
    """Put the thumbnails without text where sphinx-gallery has put copies of whole figures."""
    for path in Path(app.srcdir, "examples").glob("*/images/bare/*.svg"):
        (path.parents[1] / "thumb" / path.name).write_text(path.read_text("utf-8"), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", replace_thumbnails, priority=900)  # after sphinx-gallery
    return {"parallel_read_safe": True, "parallel_write_safe": True}
