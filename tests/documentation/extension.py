"""Load the extensions of the documentation, which are files and no modules of a package."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

__all__ = ["DOCS", "extension"]

DOCS = Path(__file__).resolve().parents[2] / "docs"


@cache
def extension(name: str) -> ModuleType:
    """Return a module of docs/_ext."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up the module of a class
    spec.loader.exec_module(module)
    return module
