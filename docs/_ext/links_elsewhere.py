"""Link names of SciPy, NumPy and Python in docstrings to their own documentation.

The addresses follow from the names, so that a build needs no connection, as intersphinx does.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ADDRESSES = {
    "numpy": "https://numpy.org/doc/stable/reference/generated/{name}.html",
    "scipy": "https://docs.scipy.org/doc/scipy/reference/generated/{name}.html",
    "sparse": "https://sparse.pydata.org/en/stable/api/",
}


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contents: nodes.Element) -> nodes.reference | None:
    """Return a link to the page of a name of another package, or None for other names."""
    name = node.get("reftarget", "")
    address = ADDRESSES.get(name.partition(".")[0])
    if node.get("refdomain") != "py" or address is None:
        return None
    return nodes.reference("", "", contents, refuri=address.format(name=name), internal=False)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
