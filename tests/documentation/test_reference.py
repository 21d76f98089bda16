"""The API reference: every public name is in it once, each has an example, and the pages are those of the table."""

from __future__ import annotations

import doctest
import inspect
import sys
from collections import Counter

import pytest

import weft
from weft.config import Config
from weft.formats import capabilities, levels
from weft.tensor.compiled_kernel import CompiledKernel

from .extension import extension

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
KERNEL = "tensor.compiled_kernel.CompiledKernel"


GROUPS = extension("api_groups")
FORMATS = sys.modules["weft.formats"]  # the attribute of weft is the catalogue
INTERFACES = sorted({*capabilities.__all__} & {*FORMATS.__all__})
MODULES = {"formats": "weft.formats", "config": "weft.config", "tensor": "weft.tensor"}


def members(owner):
    return {name for name in dir(owner) if not name.startswith("_")}


def public():
    """Return every public name of weft, as the reference writes it."""
    hidden = {cls: set(listed.split()) for cls, listed in GROUPS.NOT_LISTED.items()}
    found = set(dir(weft)) - {"__doc__", "__name__"} - set(GROUPS.ELSEWHERE)
    owned = {
        "SparseTensor": members(weft.SparseTensor),
        "Format": members(weft.Format) - hidden["Format"],
        "linalg": set(dir(weft.linalg)),
        "csgraph": set(dir(weft.csgraph)),
        "dask": set(dir(weft.dask)),
        "autograd": set(weft.autograd.__all__),
        "jax": set(weft.jax.__all__),
        "torch": set(weft.torch.__all__),
        "fft": set(weft.fft.__all__),
        "testing": set(weft.testing.__all__),
        "errors": set(weft.errors.__all__) - {"WeftError"},
        "formats": ({*levels.__all__} - set(dir(weft))) | {*INTERFACES},
        "config.Config": {name for name in members(Config) if callable(getattr(Config, name))},
        KERNEL: members(CompiledKernel),
        "TensorFile": members(weft.TensorFile),
        "lib.stride_tricks": set(weft.lib.stride_tricks.__all__),
        "xarray": set(weft.xarray.__all__),
        "xarray.Accessor": members(weft.xarray.Accessor),
    }
    return found | {f"{owner}.{name}" for owner, names in owned.items() for name in names} | {KERNEL}


def resolve(name):
    """Return the object of a name of the reference."""
    first, *rest = name.split(".")
    found = sys.modules[MODULES[first]] if first in MODULES and rest else getattr(weft, first)
    for part in rest:
        found = getattr(found, part)
    return found


def pages_of_objects():
    return [name for page in GROUPS.PAGES for group in page.groups for name in group.names.split()]


def test_every_public_name_is_in_the_reference_once():
    listed = Counter(GROUPS.names())
    assert not [name for name, count in listed.items() if count > 1]
    wanted, found = public(), set(listed)
    assert not sorted(wanted - found), "names without a place in docs/_ext/api_groups.py"
    assert not sorted(found - wanted), "names of docs/_ext/api_groups.py that do not exist, or are not public"


def test_every_special_method_is_on_the_page_of_operators_once():
    ours = [cls for cls in weft.SparseTensor.__mro__ if cls is not object]
    python = {"__annotations__", "__doc__", "__getattr__", "__hash__", "__init__", "__module__", "__slots__"}
    python |= {"__weakref__", "__static_attributes__", "__firstlineno__", "__parameters__", "__orig_bases__"}
    special = {name for cls in ours for name in vars(cls) if name.startswith("__")} - python
    rows = [methods for methods, _ in (*GROUPS.OPERATORS.values(), *GROUPS.PROTOCOLS.values())]
    listed = Counter(name for methods in rows for name in methods.split())
    assert not [name for name, count in listed.items() if count > 1]
    assert set(listed) == special


def test_operators_are_the_functions_that_the_page_names():
    for function in (function for _, function in GROUPS.OPERATORS.values()):
        assert callable(getattr(weft, function))


def test_pages_are_those_of_the_table():
    committed = {path.name: path.read_text("utf-8") for path in GROUPS.FOLDER.glob("*.md")}
    wanted = GROUPS.texts()
    stale = [name for name in {*committed, *wanted} if committed.get(name) != wanted.get(name)]
    assert not stale, f"{stale}: run python docs/_ext/api_groups.py"


def test_every_entry_has_an_example():
    interfaces = {f"formats.{name}" for name in INTERFACES}  # a level lists them; nobody calls them
    without = [
        name
        for name in pages_of_objects()
        if name not in interfaces and ">>>" not in (inspect.getdoc(resolve(name)) or "")
    ]
    assert not without, without


def test_lines_of_examples_fit_into_their_column():
    lines = [(name, line) for name in pages_of_objects() for line in (inspect.getdoc(resolve(name)) or "").splitlines()]
    assert [each for each in lines if each[1].startswith((">>>", "...")) and len(each[1]) > 84] == []


def generated():
    """Return the names whose docstrings are made at run time, so that no module's doctests have them."""
    names = [*weft._PLACES, *(f"{part}.{name}" for part in ("linalg", "csgraph", "fft") for name in members_of(part))]
    names += [
        f"SparseTensor.{name}" for name in ("row", "col", "indices", "indptr", "offsets", "keys", "values", "items")
    ]
    return [name for name in names if is_made(resolve(name))]


def members_of(part):
    return [name for name in dir(getattr(weft, part)) if not name.startswith("_")]


def is_made(found):
    """Return whether the source of an object does not have its docstring."""
    doc = getattr(found, "__doc__", None) or ""
    function = inspect.unwrap(found.fget if isinstance(found, property) else found)
    if ">>>" not in doc or not getattr(function, "__module__", "").startswith("weft"):
        return ">>>" in doc and not isinstance(found, type) and "weft." in doc
    try:
        return doc.strip().splitlines()[-1].strip() not in inspect.getsource(function)
    except (OSError, TypeError):
        return True


@pytest.mark.parametrize("name", generated())
def test_examples_of_generated_docstrings(name, capsys):
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(resolve(name)), {}, name, None, None)
    failures, tried = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert tried
    assert not failures, capsys.readouterr().out
