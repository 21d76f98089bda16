"""The shape of the source: who imports whom, what may know formats by name, how large functions are."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from weft import _api
from weft.formats import levels

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "weft"

# Each block imports only from blocks before it.
ORDER = (
    "_api", "sections", "hints", "errors", "doors", "records", "trees", "optimizations", "code_options",
    "variant", "device_program", "control_groups", "config", "tracebacks", "dtypes", "abi", "ir", "index_notation",
    "derivatives", "concrete_notation",
    "remapping", "queries", "formats", "analysis", "optimiser", "scheduling", "lowering", "assembly", "codegen",
    "tracing", "compiler", "device_code", "module",
    "runtime", "storage", "execution", "operations", "tensor", "drawing", "numpy_api",
    "array_api", "interop", "io", "autograd", "csgraph", "fft", "jax", "lib", "linalg", "dask", "torch", "xarray",
    "testing", "versions", "__init__", "shipping", "playground", "demo", "__main__",
)  # fmt: skip
# The compiler is given the settings that affect code, so that these are in the keys of all that it makes.
WITHOUT_CONFIG = set(ORDER[ORDER.index("dtypes") : ORDER.index("module") + 1])
RANK = {block: rank for rank, block in enumerate(ORDER)}

KNOW_FORMATS = {"formats", "interop", "io"}
FORMAT_NAMES = {
    "banded", "bsr", "coo", "coo_aos", "csb", "csc", "csf", "csr", "dcsc", "dcsr", "dense_f", "dia", "dok", "ell",
    "gcxs", "hash_vector", "hicoo", "hyb", "jad", "lil", "mode_generic", "sell", "skyline",
}  # fmt: skip
WORDS = {"banded", "compressed", "dense", "hash", "hashed", "offset", "range", "singleton", "sliced", "squeezed"}
OF_VIEWS = {"Picked", "Window"}  # indexing has them, and no format
LEVEL_CLASSES = set(levels.__all__) - OF_VIEWS
# The bases of ``SparseTensor`` say by its name, which only type checkers read, what their methods return.
CIRCLES = {
    frozenset(f"tensor/{name}" for name in ("dispatch", "lazy_methods", "operators", "sparse_tensor", "types")),
}

LIMITS = {"C901": ("mccabe", "max-complexity", 15), "PLR0915": ("pylint", "max-statements", 60)}
LATE = {  # what functions may import: packages that not everyone has, and what would slow the first import or kernel
    "cffi", "cupy", "dask", "difflib", "flask", "h5py", "jinja2", "logging", "markupsafe", "matplotlib", "networkx",
    "opt_einsum", "pandas", "pyarrow", "resource", "scipy", "sparse", "subprocess", "tempfile", "threadpoolctl",
    "torch", "tqdm", "webbrowser", "werkzeug", "xarray", "zarr",
}  # fmt: skip
DOORS = {"__init__.py", "execution/__init__.py", "tensor/lazy_methods.py"}  # where weft itself comes late
TEXT = {".c", ".cff", ".cfg", ".h", ".json", ".md", ".py", ".rst", ".toml", ".txt", ".yaml", ".yml"}
TEXT_NAMES = {"LICENSE", "Makefile", "run", ".gitignore"}
GENERATED = {"__pycache__", "_build", "build", "dist", "env", "html", "results", "venv", "node_modules"}
TOP = {
    ".ci", ".github", ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md",
    "LICENSE", "Makefile", "README.md", "RELEASING.md", "SECURITY.md",
    "asv_benchmarks", "conftest.py", "docs", "hatch_build.py", "pyproject.toml", "src", "tests", "tools",
}  # fmt: skip
MACHINE_PATH = re.compile(r"(?<![\w.~}\])-])/(?:work|home|root|opt|mnt|srv|Users)/\w")


@lru_cache(maxsize=1024)
def parsed(text: str) -> ast.Module:
    """The tree of a file, which several tests read."""
    return ast.parse(text)


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def block_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker sees."""
    if isinstance(tree, ast.If) and is_type_checking(tree.test):
        for child in tree.orelse:
            yield from running_nodes(child)
        return
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from running_nodes(child)


def imported_blocks(module: tuple[str, ...], names: list[str]) -> list[str]:
    """The blocks that ``from module import names`` reads, ``module`` being absolute."""
    if module[0] != "weft":
        return []
    if len(module) > 1:
        return [module[1]]
    return [name if name in RANK or (PACKAGE / name).is_dir() else "__init__" for name in names]


def imports(path: Path, tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    package = ("weft", *path.relative_to(PACKAGE).parts[:-1])
    for node in running_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                yield from ((node, block) for block in imported_blocks(parts, ["__init__"]))
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                module = (*package[: len(package) - node.level + 1], *module)
            yield from ((node, block) for block in imported_blocks(module, [alias.name for alias in node.names]))


def layering_violations(path: Path, text: str) -> list[str]:
    here = block_of(path)
    found = []
    for node, block in imports(path, parsed(text)):
        if block == here:
            continue
        if block == "config" and here in WITHOUT_CONFIG:
            found.append(f"{place(path, node)}: {here} imports config, but its answers depend on arguments alone")
        if block not in RANK:
            found.append(f"{place(path, node)}: {here} imports {block}, which is no block")
        elif RANK[block] >= RANK[here]:
            found.append(f"{place(path, node)}: {here} imports {block}, which comes after it")
    return found


LOADED = {  # by ``import weft``: no block of the compiler is among them, and of execution the door alone
    "__init__", "_api", "code_options", "config", "control_groups", "doors", "dtypes", "errors", "execution", "formats",
    "hints", "index_notation", "interop", "ir", "operations", "optimizations", "queries", "records",
    "remapping", "runtime", "sections", "storage", "tensor", "tracebacks", "trees",
}  # fmt: skip


def test_importing_weft_loads_no_compiler():
    program = "import sys, weft; print(*(name for name in sys.modules if name.startswith('weft')))"
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert {name.split(".")[1] if "." in name else "__init__" for name in loaded} == LOADED
    compiling = [name for name in loaded if name.startswith(("weft.execution.", "weft.ir.passes"))]
    assert compiling == ["weft.execution.plan_cache"]  # it knows nothing of plans


COMPILER = {
    "analysis", "assembly", "codegen", "compiler", "concrete_notation", "lowering", "scheduling", "tracing",
}  # fmt: skip


def doors(path: Path, text: str) -> Iterator[str]:
    """Return the modules that a file imports through doors."""
    for node in running_nodes(parsed(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Door":
            yield ast.literal_eval(node.args[0])


def test_doors_lead_to_modules_above():
    """A door is an import that comes late, not a way around the order of the blocks."""
    for path in sources():
        for module in doors(path, path.read_text("utf-8")):
            block, *rest = module.removeprefix("weft.").split(".")
            assert RANK[block] <= RANK[block_of(path)], f"{path}: {module}"
            place = PACKAGE.joinpath(block, *rest)
            assert place.with_suffix(".py").exists() or (place / "__init__.py").exists(), f"{path}: {module}"


def test_running_kernels_loads_no_compiler():
    """Whatever is imported at the top of the files that run kernels, directly or not, is no part of the compiler."""
    graph, seen = arrows(), set[str]()
    pending = [
        "execution/plan",
        "execution/conversion",
        "execution/insertion",
        "runtime/loader",
        "tensor/einsum",
        "numpy_api/reductions",
    ]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += graph.get(name, ())
    assert not {name for name in seen if name.split("/")[0] in COMPILER or name == "execution/planning"}


def late_imports(path: Path, text: str) -> list[str]:
    """Return the imports inside functions that are neither of packages in ``LATE`` nor in files of ``DOORS``."""
    if str(path.relative_to(PACKAGE)) in DOORS:
        return []
    found: dict[int, str] = {}
    for function in ast.walk(parsed(text)):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom):
                names = ["weft" if node.level else str(node.module)]
            else:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if not {name.split(".")[0] for name in names} <= LATE:
                found[node.lineno] = f"{place(path, node)}: {ast.unparse(node)} inside a function"
    return list(found.values())


def test_functions_import_only_what_is_optional_or_costly():
    violations = [v for path in sources() for v in late_imports(path, path.read_text("utf-8"))]
    assert not violations, report(violations)


def test_the_doors_and_late_packages_are_needed():
    """Each that is listed is used: the lists do not outlive their reasons."""
    texts = {str(path.relative_to(PACKAGE)): path.read_text("utf-8") for path in sources()}
    inside = {n for text in texts.values() for n in re.findall(r"^ +(?:import|from) (\w+)", text, re.MULTILINE)}
    assert inside >= LATE
    assert all(re.search(r"^ +from|import_module", texts[door], re.MULTILINE) for door in DOORS)


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("ir/x.py", "def f():\n    from . import nodes", True),
        ("ir/x.py", "class C:\n    def f(self):\n        from ..records import record", True),
        ("ir/x.py", "async def f():\n    import weft.ir", True),
        ("ir/x.py", "def f():\n    import json", True),
        ("ir/x.py", "def f():\n    import scipy.io, json", True),
        ("ir/x.py", "def f():\n    import scipy.sparse as sp\n    from scipy.sparse import issparse", False),
        ("ir/x.py", "if TYPE_CHECKING:\n    from . import nodes\nimport json", False),
        ("execution/__init__.py", "def f():\n    from . import plan", False),
    ],
)
def test_the_finder_of_late_imports_itself(file, text, wrong):
    assert bool(late_imports(PACKAGE / file, text)) == wrong


def report(violations: list[str]) -> str:
    return "\n" + "\n".join(violations)


def test_every_block_has_a_place():
    unknown = {block_of(path) for path in sources()} - set(ORDER)
    assert not unknown, f"blocks without a place in ORDER: {sorted(unknown)}"


def test_blocks_import_only_from_blocks_above():
    violations = [v for path in sources() for v in layering_violations(path, path.read_text("utf-8"))]
    assert not violations, report(violations)


def arrows(*, of_types: bool = False) -> dict[str, set[str]]:
    """Return for each file the files of the package that it imports, inside functions too.

    With ``of_types``, imports for type checkers count as well, but for modules behind doors, and of methods that are
    imported when they are first used: these lead up by design.
    """
    names = {str(path.relative_to(PACKAGE).with_suffix("")): path for path in sources()}
    found: dict[str, set[str]] = {}
    for name, path in names.items():
        package, text = name.split("/")[:-1], path.read_text("utf-8")
        behind = [*doors(path, text), *((*_api.METHODS, *_api.PROPERTIES) if name == "tensor/lazy_methods" else ())]
        late = {module.rpartition(".")[2] for module in behind}
        tree = parsed(text)
        for node in ast.walk(tree) if of_types else running_nodes(tree):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            place = [*package[: len(package) - node.level + 1], *(node.module.split(".") if node.module else [])]
            base = "/".join(place)
            for alias in node.names:
                whole = f"{base}/{alias.name}".strip("/")
                if not late & {alias.name, base.rpartition("/")[2]}:
                    found.setdefault(name, set()).add(base if base in names else whole)
    return {name: {to for to in arrows if to in names} for name, arrows in found.items()}


def circles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of files each of which leads to all the others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        pending = [start]
        while pending:
            for name in graph.get(pending.pop(), set()) - seen:
                seen.add(name)
                pending.append(name)
        return seen

    leads = {name: reached(name) for name in graph}
    return {
        frozenset(other for other in leads[name] if name in leads.get(other, ()))
        for name in graph
        if name in leads[name]
    }


def test_files_import_each_other_in_no_circle():
    assert circles(arrows(of_types=True)) <= CIRCLES


def test_the_finder_of_circles_itself():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}}) == {frozenset("bc"), frozenset("d")}


def test_no_cycle_hides_in_config():
    path = PACKAGE / "config.py"
    if path.exists():
        assert {block for _, block in imports(path, parsed(path.read_text("utf-8")))} <= {
            "code_options",
            "control_groups",
            "errors",
            "optimizations",
            "records",
        }


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("ir/x.py", "from ..lowering import loops", True),
        ("ir/x.py", "def f():\n    from ..lowering.loops import g", True),
        ("ir/x.py", "from weft.tensor import SparseTensor", True),
        ("ir/x.py", "from weft import asarray", True),
        ("ir/x.py", "import weft.tensor", True),
        ("ir/x.py", "from .. import tensor", True),
        ("ir/deep/x.py", "from ...tensor import SparseTensor", True),
        (
            "ir/x.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..tensor import SparseTensor",
            False,
        ),
        ("ir/x.py", "if TYPE_CHECKING:\n    pass\nelse:\n    from ..tensor import SparseTensor", True),
        ("ir/x.py", "from ..errors import WeftError\nfrom . import nodes\nimport numpy", False),
        ("formats/x.py", "from ..config import config", True),
        ("execution/x.py", "from ..config import config", False),
        ("errors.py", "from .config import config", True),
        ("tensor/x.py", "from .. import execution", False),
    ],
)
def test_the_checker_itself(file, text, wrong):
    assert bool(layering_violations(PACKAGE / file, text)) == wrong


def strings(node: ast.AST) -> set[str]:
    """String constants that a comparison or a pattern compares with."""
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def about_formats(node: ast.AST) -> bool:
    words = [
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))
    ]
    return any("format" in word.lower() or "level" in word.lower() for word in words)


def format_branches(path: Path, text: str) -> list[str]:
    found = []
    tree = parsed(text)
    classes_here = LEVEL_CLASSES & {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "formats" in (node.module or "")
        for alias in node.names
    }
    for node in ast.walk(tree):
        names: set[str] = set()
        if isinstance(node, ast.Compare):
            names = strings(node) & (FORMAT_NAMES | WORDS if about_formats(node) else FORMAT_NAMES)
        elif isinstance(node, ast.Match):
            banned = FORMAT_NAMES | WORDS if about_formats(node.subject) else FORMAT_NAMES
            for case in node.cases:
                patterns = [p for p in ast.walk(case.pattern) if isinstance(p, ast.MatchValue)]
                names |= {s for p in patterns for s in strings(p)} & banned
                classes = [p.cls for p in ast.walk(case.pattern) if isinstance(p, ast.MatchClass)]
                names |= {c.id for c in classes if isinstance(c, ast.Name)} & classes_here
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            names = {s for arg in node.args for s in strings(arg)} & FORMAT_NAMES
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            names = {n.id for arg in node.args[1:] for n in ast.walk(arg) if isinstance(n, ast.Name)} & classes_here
        if names:
            found.append(f"{place(path, node)}: branches on {', '.join(sorted(names))}")
    return found


def test_only_formats_know_formats_by_name():
    violations = [
        violation
        for path in sources()
        if block_of(path) not in KNOW_FORMATS
        for violation in format_branches(path, path.read_text("utf-8"))
    ]
    assert not violations, report(violations)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("f = 1 if name == 'csr' else 2", True),
        ("f = name in ('coo', 'x')", True),
        ("match name:\n    case 'a' | 'dia':\n        pass", True),
        ("f = A.format == 'dense'", True),
        ("from ..formats import Compressed\nf = isinstance(level, Compressed)", True),
        ("f = workspace.kind == 'dense'", False),
        ("A.asformat('csr')", False),
        ("names = {'csr': 1}", False),
    ],
)
def test_the_name_checker_itself(text, wrong):
    assert bool(format_branches(PACKAGE / "tensor" / "x.py", text)) == wrong


PRIVATE = re.compile(r"_[^\W_]\w*(?<!_)")  # neither ``_`` nor names like ``__init__``, ``_fields_`` or ``__private``
OTHERS_PRIVATE = {"_getframe"}  # of sys: the package that asks for an array is found in no other way


def private_names(tree: ast.Module) -> set[str]:
    """Return the private names that a module defines: its own, and the members of its classes."""
    found: set[str] = set()
    for owner in (node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef))):
        for node in owner.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
                if any(isinstance(target, ast.Name) and target.id == "__slots__" for target in targets):
                    found |= strings(node)
        if isinstance(owner, ast.ClassDef):
            stored = (n for n in ast.walk(owner) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
            found |= {n.attr for n in stored if isinstance(n.value, ast.Name) and n.value.id in ("self", "cls")}
    return {name for name in found if PRIVATE.fullmatch(name)}


def private_accesses(path: Path, text: str) -> list[str]:
    """Return the uses of private names of other modules. Classes may use those of their bases."""
    tree = parsed(text)
    allowed = private_names(tree) | OTHERS_PRIVATE
    own = {
        id(node)
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or str(node.module).split(".")[0] == "weft"):
            names = [alias.name for alias in node.names if alias.name != "_api"]
        else:
            names = [node.attr] if isinstance(node, ast.Attribute) and id(node) not in own else []
        private = {name for name in names if PRIVATE.fullmatch(name)}
        found += [f"{place(path, node)}: {name} is private to another module" for name in sorted(private - allowed)]
    return found


def test_modules_use_no_private_names_of_others():
    violations = [v for path in sources() for v in private_accesses(path, path.read_text("utf-8"))]
    assert not violations, report(violations)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from .y import _f", True),
        ("from weft.ir import _f", True),
        ("from .. import _api", False),
        ("from numpy import _f", False),
        ("def f(x):\n    return x._storage", True),
        ("def f(self):\n    return self._storage", True),
        ("class C:\n    def f(self):\n        return self._of_base", False),
        ("class C:\n    def f(self, other):\n        return self._x + other._x", True),
        ("class C:\n    def __init__(self):\n        self._x = 1\ndef f(c):\n    return c._x", False),
        ("class C:\n    _x: int\ndef f(c):\n    return c._x", False),
        ("class C:\n    __slots__ = ('_x',)\ndef f(c):\n    return c._x", False),
        ("def f(y):\n    _x = 1\n    return y._x", True),
        ("def f(y):\n    y._x = 1", True),
        ("import sys\nframe = sys._getframe(1)", False),
        ("f.__name__ + f._fields_", False),
    ],
)
def test_the_finder_of_private_accesses_itself(text, wrong):
    assert bool(private_accesses(PACKAGE / "tensor" / "x.py", text)) == wrong


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not GENERATED & set(path.relative_to(ROOT).parts):
                yield path


def text_files() -> Iterator[Path]:
    top = [path for path in sorted(ROOT.iterdir()) if path.is_file()]
    for path in [*top, *files("src", "tests", "tools", "docs", "asv_benchmarks", ".ci", ".github")]:
        if path.suffix in TEXT or path.name in TEXT_NAMES:
            yield path


def test_functions_have_limits():
    """Ruff tests the functions; this tests that it is asked to, with these limits, and of all files of the package."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert {rule for rule in LIMITS if rule in lint["select"] and rule not in lint["ignore"]} == LIMITS.keys()
    assert all(lint[section][option] <= most for section, option, most in LIMITS.values())
    exempt = [files for files, rules in lint["per-file-ignores"].items() if LIMITS.keys() & set(rules)]
    assert not [files for files in exempt if not files.startswith(("tests/", "asv_benchmarks/"))]


def test_parameters_have_a_limit():
    """Functions have eight parameters at most, but for those whose parameters another package has given them."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert "PLR0913" in lint["select"]
    assert lint["pylint"]["max-args"] <= 8
    excused = {path.relative_to(PACKAGE).as_posix() for path in sources() if "noqa: PLR0913" in path.read_text("utf-8")}
    assert excused == {"interop/peer_classes.py", "tensor/random.py"}


def excuses(text: str) -> list[str]:
    """Return the comments that exempt a function, or a whole file, from the limits."""
    return re.findall(rf"#.*\b(?:{'|'.join(LIMITS)})\b|#.*\bnoqa\b(?!\s*:\s*[A-Z]).*", text, re.IGNORECASE)


def test_no_function_is_exempt_from_the_limits():
    found = [
        f"{path.relative_to(ROOT)}: {comment}" for path in sources() for comment in excuses(path.read_text("utf-8"))
    ]
    assert not found, report(found)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("def f():  # noqa: C901", True),
        ("def f():  # noqa: N802, PLR0915", True),
        ("# ruff: disable[C901]", True),
        ("def f():  # noqa", True),
        ("# ruff: noqa", True),
        ("# ruff: noqa: C901", True),
        ("# ruff: noqa: E501", False),
        ("def T():  # noqa: N802", False),
    ],
)
def test_the_finder_of_excuses_itself(text, wrong):
    assert bool(excuses(text)) == wrong


NODES = {"Expr", "Stmt", "IndexExpr"}  # the roots of the classes of nodes


def names_in(node: ast.AST) -> set[str]:
    """The names and the last parts of dotted names in a piece of code."""
    return {
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))
    }


def node_classes(trees: Iterable[ast.AST]) -> set[str]:
    """The names of all classes of nodes, of expressions and statements of every notation."""
    bases = {
        n.name: names_in(ast.Tuple(n.bases)) for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)
    }
    found = set(NODES)
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def recursions(tree: ast.AST, classes: set[str]) -> list[str]:
    """Names of functions that tell nodes of a tree apart by class, and call themselves for what is below these."""

    def tells_apart(node: ast.AST) -> bool:
        if isinstance(node, ast.MatchClass):
            return bool(names_in(node.cls) & classes)
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        return called and bool(names_in(node.args[1]) & classes)

    def calls(node: ast.AST, name: str) -> bool:
        if not isinstance(node, ast.Call):
            return False
        own = isinstance(node.func, ast.Attribute) and ast.unparse(node.func) == f"self.{name}"
        return own or (isinstance(node.func, ast.Name) and node.func.id == name)

    return [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(map(tells_apart, ast.walk(function)))
        and any(calls(node, function.name) for node in ast.walk(function))
    ]


def test_few_functions_recurse_over_trees_by_hand():
    """``trees.walk``, ``rewrite`` and ``fold`` do, but for functions that treat every kind of node in its own way."""
    trees = {path: parsed(path.read_text("utf-8")) for path in sources()}
    classes = node_classes(trees.values())
    found = [
        f"{path.relative_to(PACKAGE)}: {name}" for path, tree in trees.items() for name in recursions(tree, classes)
    ]
    assert len(found) <= 60, report(found)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("def f(e):\n    match e:\n        case Add(a=a):\n            return f(a)", True),
        ("def f(e):\n    return isinstance(e, nodes.Add) and f(e.a)", True),
        ("class C:\n    def f(self, e):\n        return isinstance(e, Sum | Add) and self.f(e.a)", True),
        ("def f(e):\n    return isinstance(e, Other) and f(e.a)", False),
        ("def f(e):\n    return fold(e, lambda node, below: isinstance(node, Add) or any(below))", False),
    ],
)
def test_the_finder_of_recursions_itself(text, wrong):
    classes = node_classes([parsed("class Sum(ir.Expr): ...\nclass Add(Sum): ...\nclass Other: ...")])
    assert bool(recursions(parsed(text), classes)) == wrong


def test_text_names_no_machine_paths():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in text_files()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found, report(found)


def test_nothing_else_stands_at_the_top():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {name.split("/")[0] for name in listed.stdout.split()} <= TOP
