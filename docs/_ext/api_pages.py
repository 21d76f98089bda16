"""What the API reference shows beside the docstrings: the state of each function."""

from __future__ import annotations

from typing import Any

from api_groups import BADGES, FOLDER, IN_PLACE, names
from sphinx.application import Sphinx
from tests.array_api.states import NUMPY, PEERS, STANDARD, state_of

from weft.interop.scipy_functions import CSGRAPH, LINALG

KNOWN = {name for table in (STANDARD, NUMPY, PEERS) for names in table.values() for name in names.split()}
NOT_CALLED = {"weft.SparseTensor", "weft.tensor.compiled_kernel.CompiledKernel"}
"""Classes whose objects come from functions."""
OF_SCIPY = {f"linalg.{name}" for name in LINALG} | {f"csgraph.{name}" for name in CSGRAPH}


def badge(name: str) -> str:
    """Return the badge of an object as a role that links to its meaning; an empty string without a state.

    Parameters
    ----------
    name : str
        The full name: ``"weft.linalg.norm"``.
    """
    short = name.removeprefix("weft.").removeprefix("SparseTensor.")
    if short in KNOWN:
        state = state_of(short)
    elif short in OF_SCIPY:
        state = "SciPy"
    else:
        return ""
    text, colour, _ = BADGES[state]
    return f":bdg-ref-{colour}:`{text} <badges>`"


def add_badge(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put the state of a function in front of its docstring, and so in front of its line in a table."""
    found = badge(name) if callable(obj) else ""  # nothing is computed for an attribute
    if found and lines:
        lines[0] = f"{found} {lines[0]}"


def hide_signature(app: Sphinx, what: str, name: str, *rest: Any) -> tuple[str, str] | None:
    """Show no signature for classes that are not called."""
    return ("", "") if name in NOT_CALLED else None


def remove_stale_pages(app: Sphinx) -> None:
    """Remove pages of objects that earlier builds wrote and that the reference no longer has."""
    wanted = {f"weft.{name}" for name in names() if name not in IN_PLACE}
    for path in (FOLDER / "generated").glob("*.rst"):
        if path.stem not in wanted:
            path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", remove_stale_pages, priority=1)  # before autosummary
    app.connect("autodoc-process-docstring", add_badge, priority=900)  # after numpydoc
    app.connect("autodoc-process-signature", hide_signature, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
