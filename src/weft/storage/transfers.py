"""Transfers of tensors between the processes of a cluster, whose arrays are not checked on arrival.

A pickle is bytes from anywhere, so that its arrays are checked. ``distributed`` pickles what it sends and what it
spills, and loads it itself: no user has these bytes in between, and no process has to be prepared. A tensor asks which
module pickles it, and again which one loads it.
"""

from __future__ import annotations

import sys

__all__ = ["in_transfer"]

PICKLERS = frozenset({"distributed.protocol.pickle"})
"""Modules whose pickles are bytes that the module itself loads again."""


def in_transfer() -> bool:
    """Return whether the caller's caller pickles or loads for a transfer; C code in between has no frame."""
    caller = sys._getframe(1).f_back
    return caller is not None and caller.f_globals.get("__name__") in PICKLERS
