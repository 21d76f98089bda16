"""Sphinx configuration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

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
