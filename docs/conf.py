"""Sphinx configuration: ``make docs`` builds the site, and any warning is an error."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [
    str(ROOT / "src"),
    str(ROOT),
    str(ROOT / "docs" / "_ext"),
    str(ROOT / "docs" / "gallery"),
]

from sphinx.application import Sphinx  # noqa: E402

import weft  # noqa: E402
from weft.playground import write_presets  # noqa: E402

project = "weft"
author = "the weft developers"
copyright = f"{datetime.now(UTC).year}, the weft developers"
version = release = weft.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "links_elsewhere",  # docs/_ext: SciPy's and NumPy's functions, without a download of their lists of names
    "gallery_pictures",  # docs/_ext: pictures for light and dark pages
    "api_pages",  # docs/_ext: the state of each function, and what autodoc needs to know of the lazy names
]
exclude_patterns = [
    "_build",
    "_ext",
    "_templates",
    "gallery",
    "**/sg_execution_times.rst",
]
templates_path = ["_templates"]
source_suffix = {
    ".md": "markdown",
    ".rst": "restructuredtext",
}  # autosummary writes the pages of the API in rst
highlight_language = "none"
nitpicky = True

# -- Markdown -----------------------------------------------------------------------------------------------------
myst_enable_extensions = [
    "attrs_block",
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
    "fieldlist",
]
myst_heading_anchors = 4  # so that page.md#heading is checked

# -- API ----------------------------------------------------------------------------------------------------------
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings say the types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the reference groups the methods
numpydoc_xref_param_type = False

# -- gallery ------------------------------------------------------------------------------------------------------
# The examples in docs/gallery run when the site is built; their pages are made in docs/examples.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "ignore_pattern": r"example_data\.py",
    "subsection_order": [
        f"gallery/{name}"
        for name in ("graphs", "learning", "tensors", "equations", "formats")
    ],
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "gallery_pictures.reset", "example_data.reset"),
    "image_scrapers": ("gallery_pictures.scrape",),
    "write_computation_times": False,
    "min_reported_time": 1000,
    "show_signature": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "abort_on_example_error": True,
}

# -- pages --------------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "weft"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["weft.css", "gallery.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "weft", "alt_text": "weft, the front page"},
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navigation_depth": 2,  # pages of functions are found from the tables of their groups
    "collapse_navigation": True,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "install": [], "quickstart": [], "why": []}

# -- copying ------------------------------------------------------------------------------------------------------
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"


def setup(app: Sphinx) -> None:
    """Write the playground's examples beside the pages once these are built."""

    def write_playground(app: Sphinx, exception: Exception | None) -> None:
        if exception is None and app.builder.format == "html":
            write_presets(Path(app.outdir) / "playground")

    app.connect("build-finished", write_playground)
