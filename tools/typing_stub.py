"""Write the stubs of ``weft`` for checkers of types, which cannot follow what is imported when it is used.

``src/weft/__init__.pyi`` has the functions of ``weft``, and two blocks of ``src/weft/tensor/lazy_methods.py`` the
methods of ``SparseTensor``. Both are made of the tables in ``weft/_api.py``, and name the functions themselves.
``src/weft/formats/levels/__init__.pyi`` has the level formats, which are found in the files of that package.
Run the module (``make stubs``) to write them, with ``check`` to compare them with what they declare.
"""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path

import weft
from weft import _api
from weft.formats import levels

__all__ = ["STUBS", "differences", "stub", "write"]

ROOT = Path(weft.__file__).parent
HEAD = '''# ruff: noqa: I001, N807
"""The names of weft for checkers of types; ``make stubs`` makes this file of ``_api.py`` and ``__init__.py``."""
'''
LEVELS_HEAD = '''# ruff: noqa: I001
"""The level formats for checkers of types; ``make stubs`` makes this file of the modules beside it."""
'''


# -- levels -------------------------------------------------------------------------------------------------------
def levels_stub() -> str:
    """Return the text of the stub of ``weft.formats.levels``."""
    imports = [f"from .{getattr(levels, name).__module__.rpartition('.')[2]} import {name}" for name in levels.__all__]
    return "\n".join([LEVELS_HEAD, *sorted(imports), "", f"__all__ = {levels.__all__!r}", ""])


# -- functions --------------------------------------------------------------------------------------------------
def stub() -> str:
    """Return the text of the stub of ``weft``."""
    imports = [ast.unparse(node) for node in _tree("").body if isinstance(node, ast.ImportFrom) and node.level]
    imports = [line for line in imports if " as _" not in line]
    imports += [f"from . import {name} as {name}" for name in weft._MODULES]
    models = {name: model for name, path in weft._PLACES.items() if (model := _model(path, name))}
    imports += [f"from .{path} import {name} as {name}" for name, path in weft._PLACES.items() if name not in models]
    imports += [f"from .tensor.types import {model} as _{model}" for model in sorted({*models.values()})]
    imports.append("from .numpy_api.info import Info as _Info")
    lines = [f"{name} = _{model}" for name, model in sorted(models.items())]
    return "\n".join([
        HEAD, *sorted(imports), "", "__version__: str", "__array_api_version__: str", *lines, "",
        "def __array_namespace_info__() -> _Info: ...", "def __dir__() -> list[str]: ...", "",
    ])  # fmt: skip


def _model(path: str, name: str) -> str:
    """Return the function with the types of another that a table makes; an empty string for functions in the source."""
    if name in _static(path):
        return ""
    parameters = inspect.signature(getattr(import_module(f"weft.{path}"), name)).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return "mapped"
    return {1: "unary", 2: "binary"}[sum(p.kind is p.POSITIONAL_ONLY for p in parameters)]


@cache
def _tree(path: str) -> ast.Module:
    """Return the syntax of a module below ``weft``."""
    place = ROOT.joinpath(*path.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _static(path: str) -> set[str]:
    """Return the names of a module that are seen without running it."""
    found: set[str] = set()
    for node in _tree(path).body:
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


# -- methods ----------------------------------------------------------------------------------------------------
def methods_module() -> str:
    """Return the text of ``weft.tensor.lazy_methods``, with what it says to checkers of types made anew."""
    text = (ROOT / "tensor" / "lazy_methods.py").read_text(encoding="utf-8")
    lines, tree = text.splitlines(), ast.parse(text)
    (home,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "LazyMethods")
    for body, made in ((home.body, _members()), (tree.body, _imports())):  # the last of them first
        (block,) = (node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        indent = " " * (block.col_offset + 4)
        lines[block.lineno : block.end_lineno] = [indent + line for line in made]
    return "\n".join([*lines, ""])


def _members() -> list[str]:
    """Return the lines that declare the methods and the properties of the tables."""
    lines = []
    for path, names in _api.METHODS.items():
        for name in names.split():
            model = _model(path, name)
            lines.append(f"{name} = types.{model}" if model else f"{name} = {_module(path)}.{_original(path, name)}")
    for path, names in _api.PROPERTIES.items():
        for name in names.split():
            read, *write = _accessors(path, name)
            lines += ["", "@property", *_declared(read, name)]
            for node in write:
                lines += ["", f"@{name}.setter", *_declared(node, name)]
    return lines


def _imports() -> list[str]:
    """Return the imports of what the methods and properties are."""
    packages: dict[str, set[str]] = {}
    for path, names in _api.METHODS.items():
        if not all(_model(path, name) for name in names.split()):
            package, _, module = path.rpartition(".")
            packages.setdefault(package, set()).add(module)
    imports = [f"from ..{package} import {', '.join(sorted(modules))}" for package, modules in sorted(packages.items())]
    return ["from collections.abc import Callable", "", "import numpy as np", "", *imports, "from . import types"]


def _module(path: str) -> str:
    return path.rpartition(".")[2]


def _original(path: str, name: str) -> str:
    """Return the name of the function that ``name`` is another name of, whose type checkers need not infer."""
    assigned = [node for node in _tree(path).body if isinstance(node, ast.Assign)]
    return next((ast.unparse(a.value) for a in assigned if name in map(ast.unparse, a.targets)), name)


def _accessors(path: str, name: str) -> list[ast.FunctionDef]:
    """Return the functions of a property: ``name = property(...)``, or made by a function that returns one."""
    scope = _tree(path).body
    (call,) = (n.value for n in scope if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name)
    assert isinstance(call, ast.Call)
    if ast.unparse(call.func) != "property":
        (maker,) = (n for n in scope if isinstance(n, ast.FunctionDef) and n.name == ast.unparse(call.func))
        scope = maker.body
        (call,) = (n.value for n in scope if isinstance(n, ast.Return))
        assert isinstance(call, ast.Call)
    functions = {n.name: n for n in scope if isinstance(n, ast.FunctionDef)}
    return [deepcopy(functions[ast.unparse(arg)]) for arg in call.args]


def _declared(node: ast.FunctionDef, name: str) -> list[str]:
    """Return the lines that declare an accessor of a property."""
    node.name, node.body, node.args.args[0].annotation = name, [ast.Expr(ast.Constant(...))], None
    head, _ = ast.unparse(node).splitlines()
    return [f"{head} ..."]


# -- files ------------------------------------------------------------------------------------------------------
LEVELS = ROOT / "formats" / "levels" / "__init__.pyi"
STUBS = {ROOT / "__init__.pyi": stub, ROOT / "tensor" / "lazy_methods.py": methods_module, LEVELS: levels_stub}


def write() -> None:
    """Write the stubs, and lay them out as all source is."""
    for path, text in STUBS.items():
        path.write_text(text(), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", *STUBS], check=True)


def differences() -> list[str]:
    """Return where the stubs declare something else than there is, as mypy's stubtest says it.

    Its command would compare every module of the package, each of which stands for its own types.
    """
    from mypy import stubtest
    from mypy.config_parser import parse_config_file
    from mypy.options import Options

    options, modules = Options(), ["weft", "weft.formats.levels"]
    parse_config_file(options, lambda: None, str(ROOT.parents[1] / "pyproject.toml"))  # which packages are not read
    options.incremental, options.ignore_missing_imports = False, True
    options.mypy_path = [str(ROOT.parent)]
    stubtest.build_stubs(modules, options)
    return [error.get_description(concise=True) for name in modules for error in stubtest.test_module(name)]


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        print(*(found := differences()), sep="\n")
        sys.exit(bool(found))
    write()
