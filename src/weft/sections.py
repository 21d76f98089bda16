"""Texts that stand in files beside modules: sections, each below a line ``== NAMES ==``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache


@cache
def sections(module: str, name: str) -> Mapping[str, str]:
    """Return the sections, by each of their names, of a file beside the module whose ``__file__`` is ``module``."""
    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as file:
        _, *pieces = re.split(r"^== (.+) ==\n", file.read(), flags=re.MULTILINE)
    return {
        each: text.strip("\n") + "\n"
        for names, text in zip(pieces[::2], pieces[1::2], strict=True)
        for each in names.split()
    }
