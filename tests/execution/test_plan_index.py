"""The index of plans: kernels that are found without the compiler are those that it would make."""

import json
import os
import subprocess
import sys

import pytest
from tests.formats_for_tests import FORMATS
from tests.grid.operations import GRIDS

import weft
from weft import config
from weft.execution import planning
from weft.execution.encoding import Unsayable, decode, encode, question
from weft.execution.evaluation import plan_for
from weft.execution.kernel import Kernel, insertion_kernel
from weft.execution.plan import Plan
from weft.execution.plan_cache import plans
from weft.formats import Compressed, Format, TensorType, parse_format
from weft.index_notation import parse, tensors
from weft.runtime import cache, plan_index, shipped

pytestmark = pytest.mark.compiles_alone

EVERY = 331  # cases of a grid stand for one that is planned


@pytest.fixture(autouse=True)
def index(tmp_path):
    """An index of its own, which is not used where every pass is verified."""
    with config.override(debug="", cache_dir=str(tmp_path / "cache")):
        plans.clear()
        yield tmp_path / "cache"
    plans.clear()


def records(index):
    return sorted(index.glob("plan-*.json"))


def planned(text, formats):
    assignment = parse(text)
    names = dict.fromkeys(tensors(assignment.value))
    order = {a.tensor: len(a.indices) for a in assignment.value.distinct_accesses}
    types = tuple(TensorType.of("float64", parse_format(formats.get(n, "dense"), order[n]), "int32") for n in names)
    return plan_for(assignment, types)


def told(kernel):
    """What an ordinary run of a kernel asks of the compiler: facts, and the digest of each text."""
    functions, names = kernel.assembly.entry_points(1)
    texts = {}
    for name in names:
        text = functions._wanted(name)
        texts[name] = text.facts.digest
        text.opened("", "")  # as if there were a library of it
    return kernel.facts, kernel.loops.run, texts


def cases():
    for grid in GRIDS.values():
        for formats, _ in list(grid.cases())[::EVERY]:
            yield grid.text, formats


def test_what_is_found_is_what_would_be_compiled(index, monkeypatch):
    kernels = 0
    for text, formats in cases():
        try:
            plan = planned(text, formats)
        except weft.errors.WeftError:
            continue
        if plan.is_in_steps:
            continue
        made = told(plan.kernel)
        plans.clear()
        with monkeypatch.context() as without:
            for name in ("plan", "module", "loop_facts", "run_facts"):
                without.setattr(planning, name, None)  # the compiler is not asked
            again = planned(text, formats)
            if again.kernel.loops.request is not None:
                assert told(again.kernel) == made
        assert again.target == plan.target
        assert [a.name for a in again.alternatives] == [a.name for a in plan.alternatives]
        plans.clear()
        kernels += 1
    assert kernels > 20
    assert records(index)


def test_conversions_are_found(monkeypatch):
    types = [TensorType.of("float64", parse_format(name, 2), "int32") for name in FORMATS[2]]
    pairs = [(a, b) for n, a in enumerate(types) for b in types[n % 3 :: 3] if a != b]
    made = {pair: found if isinstance(found := insertion_kernel(*pair, False), str) else told(found) for pair in pairs}
    plans.clear()
    for name in ("insertion", "module", "loop_facts", "run_facts"):
        monkeypatch.setattr(planning, name, None)
    for pair, expected in made.items():
        found = insertion_kernel(*pair, False)
        assert (told(found) if isinstance(found, Kernel) else found) == expected


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "another answer", "of other sources", "a link"])
def test_answers_that_are_not_whole_are_made_anew(index, harm, monkeypatch, tmp_path):
    text, formats = "C(i,k) = A(i,j)*B(j,k)", {"A": "csr", "B": "csr"}
    made = told(planned(text, formats).kernel)
    plans.clear()
    for path in records(index):
        contents = path.read_text()
        if harm == "cut":
            path.write_text(contents[:-20])
        elif harm == "changed":
            path.write_text(contents.replace("float64", "float32"))
        elif harm == "empty":
            path.write_text("")
        elif harm == "another answer":
            cache.Directory(str(index)).write_checked(path.name, json.dumps([["tuple", 1], "nonsense"]))
        elif harm == "a link":
            path.rename(tmp_path / path.name)
            path.symlink_to(tmp_path / path.name)
    if harm == "of other sources":
        monkeypatch.setattr(plan_index, "build_stamp", lambda: "another")
    again = planned(text, formats).kernel
    assert "module" in vars(again.loops)
    assert told(again) == made


def test_a_text_that_is_not_the_one_told_is_looked_for_by_its_own_digest():
    plan = planned("y(i) = A(i,j)*x(j)", {"A": "csr", "x": "dense"})
    _, _, texts = told(plan.kernel)
    plans.clear()
    loops = planned("y(i) = A(i,j)*x(j)", {"A": "csr", "x": "dense"}).kernel.loops
    known = loops._texts["kernel/evaluate"]
    loops._texts = {"kernel/evaluate": weft.records.replace(known, digest="0" * 64)}
    text = loops.functions("kernel")._wanted("evaluate")
    assert text.facts.digest == "0" * 64
    assert "module" not in vars(loops)
    assert text.source  # which is made when nothing has this digest
    assert text.facts.digest == texts["evaluate"]


def test_the_index_that_is_installed(index, tmp_path, monkeypatch):
    text, formats = "C(i,j) = A(i,j) + B(i,j)", {"A": "csr", "B": "csr"}
    answers = {}
    plan_index.recorded.append(answers)
    made = told(planned(text, formats).kernel)
    plan_index.recorded.pop()
    assert not records(index)
    monkeypatch.setattr(shipped, "DIRECTORY", str(tmp_path))
    lines = tmp_path / plan_index.FILE
    for harm in (None, "of other sources", "changed"):
        plan_index.write(str(lines), answers)
        if harm == "of other sources":
            lines.write_bytes(lines.read_bytes().replace(plan_index.build_stamp().encode(), b"0" * 64))
        elif harm == "changed":
            lines.write_bytes(lines.read_bytes().replace(b"float64", b"float32"))
        plans.clear()
        plan_index.shipped_answers.cache_clear()
        kernel = planned(text, formats).kernel
        assert ("module" in vars(kernel.loops)) == (harm is not None)
        assert told(kernel) == made
        for path in records(index):
            path.unlink()
    plan_index.shipped_answers.cache_clear()


class Own(Compressed):
    """A level of a user's own."""


def test_levels_of_users_are_in_no_index(index):
    format = Format("(i,j) -> (i,j)", [Own(), Compressed()])
    with pytest.raises(Unsayable):
        encode(format)
    plan = plan_for(parse("B(i,j) = A(i,j)*2"), (TensorType.of("float64", format, "int32"),))
    assert isinstance(plan, Plan)
    with pytest.raises(Unsayable):
        encode(lambda: None)


def test_formats_and_fill_values_are_read_as_they_were():
    for order, formats in FORMATS.items():
        for name in formats:
            for fill in (0, -0.0, 1.5, float("inf"), True, 2 - 1j):
                type = TensorType.of("complex128", parse_format(name, order), "int64", fill)
                read = decode(json.loads(json.dumps(encode(type))))
                assert (read, repr(read)) == (type, repr(type))
    assert question(1) != question(1.0) != question(True)
    assert question(0.0) != question(-0.0)


SESSION = """
import sys
import numpy as np, scipy.sparse as sp
import weft
A, B = (weft.asarray(sp.random(9, 9, 0.4, format="csr", random_state=n)) for n in (1, 2))
X, Y = np.ones((9, 3)), np.ones((3, 9))
D = A.asformat("dok")
D[1, 2] = 5.0
assert D[1, 2] == 5 and weft.query(B, "select [i] -> count(j) as n, max(j) as m")["n"].sum() == B.nnz
results = A @ B, A + B, A @ X[:, 0], A[A > 0.5], weft.einsum("ij,ik,kj->ij", A, X, Y)
results += weft.evaluate("C(i,j) = 2*A(i,j)", A=A), weft.evaluate("s = A(i,j)*A(i,j)", A=A), A.tocsc()
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("weft.")}))
"""


def test_kernels_on_disk_are_found_without_the_compiler(index):
    environ = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
    environ |= {"WEFT_CACHE_DIR": os.environ["WEFT_CACHE_DIR"], "WEFT_OPT": "0", "WEFT_COMPILE": "wait"}
    for _ in range(2):  # the first time, they may have to be compiled
        command = [sys.executable, "-c", SESSION]
        loaded = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout.split()
    assert not {*loaded} & COMPILER
    assert {"execution", "runtime"} <= {*loaded}


COMPILER = {
    "analysis",
    "assembly",
    "codegen",
    "compiler",
    "concrete_notation",
    "lowering",
    "module",
    "scheduling",
    "tracing",
}
