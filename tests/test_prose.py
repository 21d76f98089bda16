"""Prose of the source, the documentation and errors: how sentences begin, and that every name exists and is known."""

import ast
import builtins
import inspect
import re
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest
from tests.documentation.test_reference import public, resolve

import weft
from weft.config import SETTINGS, Config
from weft.index_notation.operator_table import OPERATORS
from weft.tensor.compiled_kernel import CompiledKernel

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "weft"
FIRST = re.compile(r"(What|Where|As|That|Whether|How|Of|Who|When)\b")
TOLD_ELSEWHERE = {"MatrixMarket", "SparseTensors", "same_kind"}  # a file's first line, a plural, a rule of NumPy's
LOOKS_LIKE_CODE = re.compile(r"\b_*[a-z]+(?:_[a-z0-9]+)+\b|\b(?:[A-Z][a-z]+){2,}\b|\b[a-z_]+(?:\.[a-z_]+)+\b(?!\()")
NAME = re.compile(r"`{1,2}([A-Za-z_][\w.]*\w(?:/[\w./]+)?)`{1,2}")
ELSEWHERE = {  # defined by Python, NumPy, SciPy, C, an extra, or an example
    "WEFT_BUILD_KERNELS", "WEFT_BUILD_SECONDS", "WEFT_TEST_CACHE_DIR", "_ffi.py",
    "_matmul_dispatch", "bench", "crdN", "e0", "e1", "functools.cached_property", "i_0", "lazy_methods.py",
    "weft_NAME_DTYPE", "weft_NAME_float64", "weft_evaluate_chunk1", "weft_scattered_int32",
}  # fmt: skip


PEERS = (  # packages of which guides write, and their classes
    "dask", "dask.array", "dask.array:Array", "networkx", "numpy", "pandas", "pandas:DataFrame", "scipy.sparse",
    "scipy.sparse:csr_array", "scipy.sparse.csgraph", "scipy.sparse.linalg", "sklearn", "sparse", "sparse:COO",
    "xarray", "xarray:DataArray",
)  # fmt: skip
HEADING = re.compile(r"^(?!Examples)[A-Z][A-Za-z ]+\n-{3,}$", re.MULTILINE)  # examples run, wherever they stand
SHORT = {"da", "np", "nx", "pd", "sp", "xr"}  # how guides import them


def docstrings():
    """Yield each docstring of the source with its place."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(ROOT)}:{node.body[0].lineno}", text


VAGUE = {"found", "made", "given", "whole", "own"}  # from which nobody can guess what a value is


def vague_names(text):
    """Return the variables and parameters with such a name that live longer than three lines."""
    wrong = []
    for function in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)):
        lines = {}
        for node in ast.walk(function):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name) | ast.MatchAs(name=str(name)) if name in VAGUE:
                    lines.setdefault(name, []).append(node.lineno)
        wrong += [f"{function.name}: {name}" for name, at in lines.items() if max(at) - min(at) >= 3]
    return wrong


@cache
def documented():
    """Return what users import or call, as modules and qualified names: the reference, and its classes' members."""
    objects = [resolve(name) for name in public()]
    classes = {*weft.SparseTensor.__mro__, Config, CompiledKernel}
    classes |= {base for each in objects if isinstance(each, type) for base in each.__mro__}
    objects += [member for each in classes for member in (each, *vars(each).values())]
    found = set()
    for each in objects:
        function = each.fget if isinstance(each, property) else getattr(each, "__func__", each)
        function = inspect.unwrap(getattr(function, "func", function))
        found.add((getattr(function, "__module__", None), getattr(function, "__qualname__", None)))
    return found


def definitions(tree, prefix=""):
    """Yield each function and class with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield f"{prefix}{node.name}", node
            yield from definitions(node, f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else "<locals>.")
        elif isinstance(node, ast.stmt):
            yield from definitions(node, prefix)


def with_sections(module, text):
    """Return the names of a module whose docstrings have sections although users do not import them."""
    named = [(name, ast.get_docstring(node) or "") for name, node in definitions(ast.parse(text))]
    return [name for name, doc in named if HEADING.search(doc) and (module, name) not in documented()]


def pages():
    """Yield each page of the documentation, without blocks of code, with its place."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if "_build" in path.parts:
            continue
        yield str(path.relative_to(ROOT)), re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)


@cache
def known():
    """Return the names that the source, the tests and the benchmarks define, import or pass."""
    found = set()
    for folder in (SOURCE, ROOT / "tests", ROOT / "tools", ROOT / "asv_benchmarks"):
        for path in set(folder.rglob("*.py")) - {Path(__file__)}:
            found |= {path.stem, path.parent.name}
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                match node:
                    case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name):
                        found.add(name)
                    case ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                        found.add(name)
                    case ast.alias(name=name):
                        found.update(name.split("."))
                    case ast.Constant(value=str(text)) if len(text) < 200:
                        found.update(re.findall(r"\w+", text))
    return found


def messages():
    """Yield the text of each error that is raised with its place, without what the text inserts."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                parts = [part.value for part in ast.walk(node.exc) if isinstance(part, ast.Constant)]
                yield f"{path.relative_to(ROOT)}:{node.lineno}", " ".join(map(str, parts))


@cache
def told():
    """Return the names that users can import, call or pass, and those that the documentation has told them."""
    public = (weft, weft.SparseTensor, weft.errors, weft.config, weft.formats, np, np.linalg)
    modules = (weft, weft.dask)
    functions = [f for module in modules for name in dir(module) if inspect.isfunction(f := getattr(module, name))]
    parameters = {name for function in functions for name in inspect.signature(function).parameters}
    pages_use = re.findall(r"\w+", " ".join((ROOT / place).read_text("utf-8") for place, _ in pages()))
    return {name for each in public for name in dir(each)} | {*SETTINGS} | parameters | {*pages_use} | TOLD_ELSEWHERE


def internal(message):
    """Return the names in a message that its reader has not been told of."""
    return [name for name in LOOKS_LIKE_CODE.findall(message) if not told().issuperset(name.split("."))]


@cache
def of_peers():
    """Return the names that the packages of guides define, with those of their modules."""
    found = set(SHORT)
    for peer in PEERS:
        pytest.importorskip(peer.partition(":")[0])
        found |= {*dir(resolve_name(peer)), *peer.replace(":", ".").split(".")}
    return found


def shown(place, name):
    """Return whether code of a page, which runs as a test, or another package has the name."""
    code = " ".join(re.findall(r"```(?:python|sh|console)\n(.*?)```", (ROOT / place).read_text("utf-8"), re.DOTALL))
    parts = set(name.split("."))
    return parts <= {*re.findall(r"\w+", code)} or parts <= known() | of_peers()


def exists(name):
    if name in ELSEWHERE or hasattr(builtins, name) or name in OPERATORS:
        return True
    if "/" in name or name.endswith(".py"):
        return any((base / f"{name}{end}").exists() for base in (SOURCE, ROOT) for end in ("", ".py"))
    return set(name.split(".")) <= known()


def test_sentences_of_docstrings_do_not_begin_with_question_words():
    wrong = []
    for place, text in docstrings():
        prose = re.split(r"\n\s*\n(?=\s*(?:Examples|>>>))", text)[0]
        sentences = re.split(r"(?<=[.:])\s+|\n\s*\n", prose)
        wrong += [f"{place}: {sentence[:60]}" for sentence in map(str.strip, sentences) if FIRST.match(sentence)]
    assert not wrong, "\n".join(wrong)


def test_names_in_prose_exist():
    wrong = [
        f"{place}: {name}"
        for place, text in [*docstrings(), *pages()]
        for name in NAME.findall(text)
        if not exists(name) and not (place.endswith(".md") and shown(place, name))
    ]
    assert not wrong, "\n".join(wrong)


def test_errors_name_nothing_internal():
    wrong = [f"{place}: {name}" for place, text in messages() for name in internal(text)]
    assert not wrong, "\n".join(wrong)


def test_the_finder_of_internal_names_itself():
    assert internal("a Lowered" + "Kernel has no plan_for" + "_this") == ["LoweredKernel", "plan_for_this"]
    assert internal("SparseTensors: call from_coords, or raise weft.config.max_densify_bytes") == []


def test_the_finder_of_names_itself():
    assert exists("weft.einsum")
    assert exists("lowering/loops.py")
    assert not exists("lowering/" + "gone.py")
    assert not exists("nobody" + "_calls_this")


def test_every_error_is_in_the_index():
    page = (ROOT / "docs/reference/errors.md").read_text("utf-8")
    errors = weft.errors.__all__
    assert len(errors) > 15
    assert [name for name in errors if not re.search(rf"\b{name}\b", page)] == []


def test_only_the_reference_has_sections():
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        wrong += [f"{module}.{name}" for name in with_sections(module, path.read_text("utf-8"))]
    assert not wrong, "say it in a sentence, in a name or beside the field:\n" + "\n".join(wrong)


def test_the_finder_of_sections_itself():
    sections = "Text.\n\nReturns\n-------\nint"
    assert with_sections("weft.x", f'class C:\n    def f():\n        """{sections}"""') == ["C.f"]
    assert with_sections("weft.numpy_api.creation", f'def zeros():\n    """{sections}"""') == []
    assert with_sections("weft.x", 'def f():\n    """Text.\n\nExamples\n--------\n>>> f()"""') == []


def test_values_are_named_by_what_they_are():
    paths = sorted(SOURCE.rglob("*.py"))
    assert not [f"{path.relative_to(ROOT)}: {name}" for path in paths for name in vague_names(path.read_text("utf-8"))]


def test_the_finder_of_vague_names_itself():
    lines = "\n    x = 1" * 2
    assert vague_names(f"def f(found):{lines}\n    return found") == ["f: found"]
    assert vague_names("def f(found):\n    return found") == []
    assert vague_names(f"def f(operands):{lines}\n    return operands") == []
