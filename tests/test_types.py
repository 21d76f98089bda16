"""Types as users' checkers find them, and as results have them."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import types
import typing
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import typing_cases
import typing_stub
import weft
from weft import _api
from weft.formats import catalogue
from weft.tensor import types as models
from weft.tensor.lazy_methods import LazyMethods

ROOT = Path(__file__).resolve().parents[1]
CODE = Path(typing_cases.__file__)


@pytest.mark.parametrize("path", typing_stub.STUBS, ids=lambda path: path.name)
def test_stubs_are_made_of_the_tables(path):
    made, kept = typing_stub.STUBS[path](), path.read_text(encoding="utf-8")
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(kept)), "write it anew: make stubs"


def test_the_stub_has_the_names_of_weft():
    text = (ROOT / "src" / "weft" / "__init__.pyi").read_text(encoding="utf-8")
    names = {match[1] for match in re.finditer(r"(?:^| as )([a-zA-Z]\w*)(?=$|:| =)", text, re.MULTILINE)}
    assert names == {name for name in dir(weft) if not name.startswith("_")}


def test_stubs_have_the_signatures_of_what_they_declare():
    pytest.importorskip("mypy")
    command = [sys.executable, str(ROOT / "tools" / "typing_stub.py"), "check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("kind", "table"), [(types.FunctionType, _api.METHODS), (property, _api.PROPERTIES)])
def test_table_entries_are_functions_and_properties(kind, table):
    for module, names in table.items():
        for name in names.split():
            member = getattr(import_module(f"weft.{module}"), name)
            assert type(member) is kind, name
            assert member.__doc__, name


def test_methods_are_the_functions_of_their_names():
    """A method has the parameters and the text of the function, unless NumPy's method differs from its function."""
    places = {name: path for path, names in _api.METHODS.items() for name in names.split()}
    names = {name for name in places if hasattr(weft, name)}
    others = {name for name in names if getattr(weft.SparseTensor, name) is not getattr(weft, name)}
    assert {"all", "argsort", "clip", "cumsum", "diagonal", "max", "std", "sum", "take", "trace"} <= names - others
    assert {places[name] for name in others} <= {"numpy_api.ndarray_methods", "interop.peer_methods"}


def test_tables_name_nothing_that_the_class_defines():
    names = " ".join([*_api.METHODS.values(), *_api.PROPERTIES.values()]).split()
    assert len(names) == len(set(names))
    for cls in weft.SparseTensor.__mro__:
        assert cls is LazyMethods or not set(names) & set(vars(cls)), cls


def test_a_checker_finds_the_types_and_the_mistakes():
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", str(CODE)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = set(re.findall(r":(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE))
    lines = CODE.read_text(encoding="utf-8").splitlines()
    wrong = {(str(n), m[1]) for n, line in enumerate(lines, 1) if (m := re.search(r"# E: ([\w-]+)$", line))}
    assert found == wrong, done.stdout + done.stderr


def test_results_have_these_types(monkeypatch):
    A = weft.from_coords([[0, 1, 2], [1, 0, 2]], [1.0, 2.0, 3.0], shape=(3, 3), format="csr")
    x, checked = np.ones(3), []

    def is_of_type(value, expected):
        kinds = typing.get_args(expected) if isinstance(expected, types.UnionType) else (expected,)
        real = [typing.get_origin(kind) or kind for kind in kinds]
        assert typing.Any in real or any(map(value.__class__.__mro__.__contains__, real)) or isinstance(value, *real)
        checked.append(value)

    monkeypatch.setattr(typing_cases, "assert_type", is_of_type)
    for name, function in inspect.getmembers(typing_cases, inspect.isfunction):
        if name not in ("assert_type", "mistakes"):
            function(*[{"A": A.copy(), "x": x}[each] for each in inspect.signature(function).parameters])
    assert len(checked) > 60


@pytest.mark.parametrize(("model", "name"), [("unary", "sin"), ("binary", "add")])
def test_models_take_what_functions_take(model, name):
    real = inspect.signature(getattr(weft, name)).parameters
    for overload in typing.get_overloads(getattr(models, model)):
        assert {p.name: p.kind for p in inspect.signature(overload).parameters.values()} == {
            p.name: p.kind for p in real.values()
        }


def test_the_named_formats_are_those_of_the_catalogue():
    code = "from weft.formats import formats; print(*formats)"  # without what other tests register
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [*typing.get_args(catalogue.NamedFormat)] == done.stdout.split()
    for one in typing.get_args(models.SciPyFormat):
        assert weft.eye(3).to_scipy(one).format == one


@pytest.mark.parametrize("module", [weft.linalg, weft.csgraph, weft.fft], ids=lambda module: module.__name__)
def test_stubs_of_modules_have_their_names_and_parameters(module):
    tree = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    stated = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
    called = {
        node.name: node.body[0].args
        for node in tree.body
        if isinstance(node, ast.ClassDef) and isinstance(node.body[0], ast.FunctionDef)
    }
    stated |= {
        n.target.id: called[n.annotation.id] for n in tree.body if isinstance(n, ast.AnnAssign) and n.value is None
    }
    imported = {a.asname for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert {*stated, *imported} - {None} == {*module.__all__}
    for name, args in stated.items():
        real = [*inspect.signature(getattr(module, name)).parameters]
        names = [a.arg for a in (*args.posonlyargs, *args.args) if a.arg != "self"]
        assert names == real[: len(names)], name
        assert {a.arg for a in args.kwonlyargs} <= {*real, "rng"}, name  # rng is new in SciPy 1.17


def test_dir_and_help_have_public_names_alone():
    import pydoc

    names = set(dir(weft))
    assert {"SparseTensor", "einsum", "sin", "linalg", "__version__"} <= names
    assert not names & {"Any", "tensor", "runtime", "ir", "storage", "_FUNCTIONS", "_PLACES", "MissingNameError"}
    assert all(hasattr(weft, name) for name in names)
    text = pydoc.plain(pydoc.render_doc(weft))
    assert text.count("\n") < 400
    words = set(re.findall(r"\w+", text))
    assert {name for name in names if not name.startswith("_")} <= words


def test_attributes_that_do_not_exist():
    for name, meant in {"einsumm": "einsum", "csr_matrix": "csr_array", "get_num_thread": "get_num_threads"}.items():
        assert not hasattr(weft, name)
        with pytest.raises(AttributeError, match=f"'weft' has no attribute '{name}'; did you mean '{meant}'"):
            getattr(weft, name)
    with pytest.raises(AttributeError, match=r"no attribute 'zzzz'$"):
        _ = weft.zzzz
