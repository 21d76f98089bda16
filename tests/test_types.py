"""Types as users' checkers find them, and as results have them."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import types
import typing
from pathlib import Path

import numpy as np
import pytest

import typing_stub
import user_code
import weft
from weft.tensor import types as protocols

ROOT = Path(__file__).resolve().parents[1]
CODE = Path(user_code.__file__)


def test_the_stub_has_the_names_of_weft(request):
    path, text = ROOT / "src" / "weft" / "__init__.pyi", typing_stub.stub()
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "make it anew with --update-golden"
    names = {match[1] for match in re.finditer(r"(?:^| as )([a-zA-Z]\w*)(?=$|:)", text, re.MULTILINE)}
    assert names == {name for name in dir(weft) if not name.startswith("_")}


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

    monkeypatch.setattr(user_code, "assert_type", is_of_type)
    for name, function in inspect.getmembers(user_code, inspect.isfunction):
        if name not in ("assert_type", "mistakes"):
            function(*[{"A": A.copy(), "x": x}[each] for each in inspect.signature(function).parameters])
    assert len(checked) > 60


@pytest.mark.parametrize(
    ("protocol", "name"),
    [(protocol, name) for protocol, names in typing_stub.PROTOCOLS.items() for name in names.split()]
    + [("Unary", "sin"), ("Binary", "add")],
)
def test_protocols_take_what_functions_take(protocol, name):
    real = inspect.signature(getattr(weft, name)).parameters
    for overload in typing.get_overloads(getattr(protocols, protocol).__call__):
        _, *stated = inspect.signature(overload).parameters.values()
        assert {p.name: p.kind for p in stated} == {p.name: p.kind for p in real.values()}


def test_dir_and_help_have_public_names_alone():
    import pydoc

    names = set(dir(weft))
    assert {"SparseTensor", "einsum", "sin", "linalg", "__version__"} <= names
    assert not names & {"Any", "tensor", "runtime", "ir", "storage", "_LAZY", "_PLACES", "MissingNameError"}
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
