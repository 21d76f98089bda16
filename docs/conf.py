"""Sphinx configuration: ``make docs`` builds the site, and any warning is an error."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "docs" / "_ext")]

import weft  # noqa: E402

project = "weft"
author = "the weft developers"
copyright = "2025, the weft developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence", "deflist"]
napoleon_google_docstring = False
html_theme = "alabaster"
html_theme_options = {"description": "sparse tensors, compiled", "page_width": "1100px"}


def setup(app):
    """Write the playground's examples beside the pages once these are built."""
    from weft.playground import write_presets

    def write_playground(app, exception):
        if exception is None and app.builder.format == "html":
            write_presets(Path(app.outdir) / "playground")

    app.connect("build-finished", write_playground)
