"""The text of ``src/weft/__init__.pyi``, made of the imports and the table of lazy names of ``__init__.py``."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

import weft

__all__ = ["PROTOCOLS", "stub"]

HEAD = '''# ruff: noqa: I001, N807
"""The names of weft for checkers of types: a test makes this file of __init__.py, with --update-golden."""
'''
PROTOCOLS = {
    "Count": "count_nonzero",
    "Extreme": "amax amin max min",
    "Mean": "mean",
    "Spread": "std var",
    "Sum": "nanprod nansum prod sum",
    "Test": "all any",
}
"""Functions whose results hang on the types of their operands, by the protocol that says how."""


def stub() -> str:
    """Return the text of the stub."""
    source = ast.parse(Path(weft.__file__).read_text(encoding="utf-8"))
    imports = [ast.unparse(node) for node in source.body if isinstance(node, ast.ImportFrom)]
    declared: dict[str, str] = {name: protocol for protocol, names in PROTOCOLS.items() for name in names.split()}
    imports += [f"from . import {name} as {name}" for name in weft._MODULES]
    for name, path in weft._PLACES.items():
        if name in declared:
            continue
        if name in _static(path):
            imports.append(f"from .{path} import {name} as {name}")
        else:
            declared[name] = _protocol(getattr(weft, name))
    used = sorted(set(declared.values()))
    imports += [f"from .tensor.types import {protocol} as _{protocol}" for protocol in used]
    imports.append("from .numpy_api.info import Info as _Info")
    lines = [f"{name}: _{protocol}" for name, protocol in sorted(declared.items())]
    return "\n".join([
        HEAD, *sorted(imports), "", "__version__: str", "__array_api_version__: str", *lines, "",
        "def __array_namespace_info__() -> _Info: ...", "def __dir__() -> list[str]: ...", "",
    ])  # fmt: skip


def _static(path: str) -> set[str]:
    """The names of a module that are seen without running it."""
    tree = ast.parse(Path(import_module(f"weft.{path}").__file__ or "").read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            case ast.ImportFrom(names=names):
                found |= {alias.asname or alias.name for alias in names}
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body):
                found |= {inner.name for inner in body if isinstance(inner, ast.ClassDef)}
    return found


def _protocol(function: object) -> str:
    """The protocol of a function that is made when its module runs."""
    positional = [p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_ONLY]  # type: ignore[arg-type]
    if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values()):  # type: ignore[arg-type]
        return "Mapped"
    return {1: "Unary", 2: "Binary"}[len(positional)]
