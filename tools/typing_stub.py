"""Write the stubs of ``weft`` for checkers of types, which cannot follow what is imported when it is used.

``src/weft/__init__.pyi`` has the functions of ``weft``, and ``src/weft/tensor/lazy_methods.pyi`` the methods of
``SparseTensor``. Both are made of the tables in ``weft/_api.py``; signatures are read in the source that they name.
``src/weft/formats/levels/__init__.pyi`` has the level formats, which are found in the files of that package.
Run the module (``make stubs``) to write them, with ``check`` to compare them with what they declare.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import subprocess
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path

import weft
from weft import _api
from weft.formats import levels

__all__ = ["PROTOCOLS", "STUBS", "differences", "methods_stub", "stub", "write"]

ROOT = Path(weft.__file__).parent
HEAD = '''# ruff: noqa: I001, N807
"""The names of weft for checkers of types; ``make stubs`` makes this file of ``_api.py`` and ``__init__.py``."""
'''
METHODS_HEAD = '''# ruff: noqa: I001, N805
"""The methods of ``SparseTensor`` that ``_api.py`` lists, for checkers of types; ``make stubs`` makes this file."""
'''
LEVELS_HEAD = '''# ruff: noqa: I001
"""The level formats for checkers of types; ``make stubs`` makes this file of the modules beside it."""
'''
HERE = "tensor.lazy_methods"
PROTOCOLS = {
    "Count": "count_nonzero",
    "Extreme": "amax amin max min",
    "Mean": "mean",
    "Spread": "std var",
    "Sum": "nanprod nansum prod sum",
    "Test": "all any",
}
"""Functions whose results hang on the types of their operands, by the protocol that says how."""
DECLARED = {name: protocol for protocol, names in PROTOCOLS.items() for name in names.split()}


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
    declared = {name: protocol for name in weft._PLACES if (protocol := _protocol(weft._PLACES[name], name))}
    imports += [f"from .{path} import {name} as {name}" for name, path in weft._PLACES.items() if name not in declared]
    used = sorted(set(declared.values()))
    imports += [f"from .tensor.types import {protocol} as _{protocol}" for protocol in used]
    imports.append("from .numpy_api.info import Info as _Info")
    lines = [f"{name}: _{protocol}" for name, protocol in sorted(declared.items())]
    return "\n".join([
        HEAD, *sorted(imports), "", "__version__: str", "__array_api_version__: str", *lines, "",
        "def __array_namespace_info__() -> _Info: ...", "def __dir__() -> list[str]: ...", "",
    ])  # fmt: skip


def _protocol(path: str, name: str) -> str:
    """Return the protocol that has a function's types; an empty string where the function itself has them."""
    if name in DECLARED and weft._PLACES.get(name) == path:
        return DECLARED[name]
    if name in _static(path):
        return ""
    parameters = inspect.signature(getattr(weft, name)).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return "Mapped"
    return {1: "Unary", 2: "Binary"}[sum(p.kind is p.POSITIONAL_ONLY for p in parameters)]


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
def methods_stub() -> str:
    """Return the text of the stub of ``weft.tensor.lazy_methods``."""
    source = _Source(HERE, {})
    lines: list[str] = []
    for node in _tree(HERE).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                lines += ["", ast.unparse(node)]
            case ast.FunctionDef():
                lines += ["", *source.declared(node, node.name)]
            case ast.ClassDef():
                bases = ", ".join(map(ast.unparse, node.bases))
                lines += ["", f"class {node.name}({bases}):" if bases else f"class {node.name}:"]
                members = source.members(node) + (_methods(source.imports) if node.name == "LazyMethods" else [])
                lines += [f"    {line}" for line in members]
    whole = sorted(source.imports.pop("import", ()))
    imports = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(source.imports.items())]
    return "\n".join([METHODS_HEAD, *whole, *imports, *lines, ""])


def _methods(imports: dict[str, set[str]]) -> list[str]:
    """Return the lines that declare the methods and the properties of the tables."""
    lines = []
    for name, target in _api.METHODS.items():
        path, function = target.split(":")
        protocol = _protocol(path, function)
        source = _Source("tensor.types" if protocol else path, imports)
        found = source.of_protocol(protocol) if protocol else source.functions(function)
        for node in found:
            first = (node.args.posonlyargs or node.args.args)[0]
            first.annotation = None
            lines += source.declared(node, name)
    for name, target in _api.PROPERTIES.items():
        path, name_there = target.split(":")
        source = _Source(path, imports)
        read, *write = source.accessors(name_there)
        lines += ["@property", *source.accessor(read, name)]
        for node in write:
            lines += [f"@{name}.setter", *source.accessor(node, name)]
    return lines


class _Source:
    """A module as the stub of methods takes signatures from it; ``imports`` collects what their types need."""

    def __init__(self, path: str, imports: dict[str, set[str]]) -> None:
        self.path, self.imports, self.body = path, imports, _running(_tree(path).body)

    def functions(self, name: str) -> list[ast.FunctionDef]:
        """Return copies of the overloads of a function, or of it alone where it has none."""
        return _overloads([deepcopy(n) for n in self.body if isinstance(n, ast.FunctionDef) and n.name == name])

    def of_protocol(self, name: str) -> list[ast.FunctionDef]:
        """Return the overloads of a protocol of functions that take a tensor first, as methods."""
        (protocol,) = (n for n in self.body if isinstance(n, ast.ClassDef) and n.name == name)
        found: dict[str, ast.FunctionDef] = {}
        for node in _overloads([deepcopy(n) for n in protocol.body if isinstance(n, ast.FunctionDef)]):
            del node.args.posonlyargs[0]
            first = node.args.posonlyargs[0]
            assert first.annotation is not None
            if {n.id for n in ast.walk(first.annotation) if isinstance(n, ast.Name)} & {"Any", "SparseTensor"}:
                first.annotation = None
                found.setdefault(ast.unparse(node.args), node)
        decorators: list[ast.expr] = [ast.Name("overload")] if len(found) > 1 else []
        for node in found.values():
            node.decorator_list = decorators
        return list(found.values())

    def accessors(self, name: str) -> list[ast.FunctionDef]:
        """Return the functions of a property: ``name = property(...)``, or made by a function that returns one."""
        (call,) = (n.value for n in self.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name)
        assert isinstance(call, ast.Call)
        scope = self.body
        if ast.unparse(call.func) != "property":
            (maker,) = self.functions(ast.unparse(call.func))
            scope = maker.body
            (call,) = (n.value for n in scope if isinstance(n, ast.Return))
            assert isinstance(call, ast.Call)
        names = [ast.unparse(arg) for arg in call.args]
        found = {n.name: n for n in scope if isinstance(n, ast.FunctionDef)}
        return [deepcopy(found[each]) for each in names]

    def accessor(self, node: ast.FunctionDef, name: str) -> list[str]:
        """Return the lines of an accessor of a property."""
        node.args.args[0].annotation = None
        return self.declared(node, name)

    def members(self, node: ast.ClassDef) -> list[str]:
        """Return the lines of a class: its attributes and methods."""
        lines: list[str] = []
        for member in node.body:
            match member:
                case ast.FunctionDef():
                    lines += self.declared(deepcopy(member), member.name)
                case ast.Assign() | ast.AnnAssign():
                    lines.append(ast.unparse(member))
        return lines

    def declared(self, node: ast.FunctionDef, name: str) -> list[str]:
        """Return the lines that declare a function, with its types as the stub can name them."""
        node.name, node.body = name, [ast.Expr(ast.Constant(...))]
        for arg in ast.walk(node.args):
            if isinstance(arg, ast.arg) and arg.annotation is not None:
                arg.annotation = self._named(arg.annotation)
        node.returns = node.returns and self._named(node.returns)
        for decorator in node.decorator_list:
            self._named(decorator)
        *decorators, head, _ = ast.unparse(node).strip().splitlines()
        return [*decorators, f"{head} ..."]

    def _named(self, type: ast.expr) -> ast.expr:
        """Return a type with the module's own aliases written out; the rest of its names are imported."""
        source = self

        class Aliases(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                return source._alias(node)

        found: ast.expr = Aliases().visit(type)
        return found

    def _alias(self, node: ast.Name) -> ast.expr:
        for there in self.body:
            match there:
                case ast.Import(names=names):
                    for alias in names:
                        if (alias.asname or alias.name) == node.id:
                            self.imports.setdefault("import", set()).add(ast.unparse(there))
                            return node
                case ast.ImportFrom(names=names):
                    if any((alias.asname or alias.name) == node.id for alias in names):
                        self.imports.setdefault(self._relative(there), set()).add(node.id)
                        return node
                case ast.Assign(targets=[ast.Name(id=node.id)], value=value):
                    return self._named(deepcopy(value))
                case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)) if name == node.id:
                    if self.path != HERE:
                        self.imports.setdefault(f"..{self.path}".replace("..tensor.", "."), set()).add(name)
                    return node
        assert hasattr(builtins, node.id), f"{self.path} does not say what {node.id} is"
        return node

    def _relative(self, node: ast.ImportFrom) -> str:
        """Return the module of an import as the stub's folder calls it."""
        if not node.level:
            return node.module or ""
        above = self.path.split(".")[: -node.level]
        place = ".".join([*above, *([node.module] if node.module else [])])
        return "." + place.removeprefix("tensor.") if place.startswith("tensor.") else f"..{place}"


def _running(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements, those for checkers of types among them."""
    found: list[ast.stmt] = []
    for node in body:
        found += node.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" else [node]
    return found


def _overloads(found: list[ast.FunctionDef]) -> list[ast.FunctionDef]:
    return found[:-1] if len(found) > 1 and not _is_overload(found[-1]) else found


def _is_overload(node: ast.FunctionDef) -> bool:
    return [ast.unparse(each) for each in node.decorator_list] == ["overload"]


# -- files ------------------------------------------------------------------------------------------------------
LEVELS = ROOT / "formats" / "levels" / "__init__.pyi"
STUBS = {ROOT / "__init__.pyi": stub, ROOT / "tensor" / "lazy_methods.pyi": methods_stub, LEVELS: levels_stub}


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
    from mypy.options import Options

    options, modules = Options(), ["weft", f"weft.{HERE}", "weft.formats.levels"]
    options.incremental, options.ignore_missing_imports = False, True
    options.mypy_path = [str(ROOT.parent)]
    stubtest.build_stubs(modules, options)
    return [error.get_description(concise=True) for name in modules for error in stubtest.test_module(name)]


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        print(*(found := differences()), sep="\n")
        sys.exit(bool(found))
    write()
