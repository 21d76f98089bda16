"""What the compiler shows: stages, debug output; and that the same input gives the same C, whatever it is called."""

import os
import subprocess
import sys

import numpy as np
import pytest

import weft
from weft.errors import LoweringError
from weft.execution import plan_loops
from weft.execution.kernel import insertion_kernel
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.ir import Function, Return, Var
from weft.ir.verify import problems
from weft.module import Module
from weft.optimizations import PASSES, STAGES
from weft.records import replace
from weft.tracing import Trace

CASES = [
    ("y(i) = A(i,j)*x(j)", {"A": "ds", "x": "d", "y": "d"}),
    ("C(i,k) = A(i,j)*B(j,k)", {"A": "ds", "B": "ds", "C": "ds"}),
    ("C(i,j) = A(i,j) + B(i,j)", {"A": "ss", "B": "ds:1,0", "C": "ss"}),
    ("A(i,j) = B(i,k,l)*C(k,j)*D(l,j)", {"A": "dd", "B": "sss", "C": "dd", "D": "dd"}),
    ("A(i,j,l) = B(i,j,k)*C(k,l)", {"A": "ssd", "B": "sss", "C": "dd"}),
    ("y(i) = max(j, A(i,j))", {"A": "ss", "y": "d"}),
]


def module(text, formats):
    types = {n: TensorType.of("float64", parse_format(f, len(f.split(":")[0]))) for n, f in formats.items()}
    return Module(plan_loops(parse(text), types))


@pytest.mark.parametrize(("text", "formats"), CASES)
@pytest.mark.parametrize("mode", ["count", "assemble", "compute", "evaluate"])
def test_every_function_is_well_formed(text, formats, mode):
    function = module(text, formats).lowered(f"kernel/{mode}").ir
    assert problems(function) == []


def test_same_input_same_c():
    script = "from tests.test_compiler import CASES, module\nprint([module(*case).source for case in CASES])"
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True,
            cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        ).stdout
        for seed in ("0", "1", "77")
    }  # fmt: skip
    assert len(seen) == 1


NAMES = [
    "int",
    "for",
    "B2_pos",
    "pB2",
    "q",
    "chunk",
    "threads",
    "counts",
    "t",
    "w",
    "é",
    "weft_alloc",
    "NULL",
    "y_vals",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_mangled(name):
    a = np.array([[1.0, 2.0], [0.0, 3.0]])
    B = weft.asarray(a, format="csr")
    got = weft.evaluate(f"y(i) = {name}(i,j)*B(j,i) + {name}(i,j)", **{name: B, "B": B})
    np.testing.assert_allclose(got.todense(), np.einsum("ij,ji->i", a, a) + a.sum(1))
    got = weft.evaluate(f"y({name}) = B({name},k)*B({name},k)", B=B)
    np.testing.assert_allclose(got.todense(), (a * a).sum(1))


def test_explain_tells_what_was_decided():
    text = weft.explain("C(i,k) = A(i,j)*B(j,k)", A="csr", B="csc", stages=True)
    for part in ("B is converted from csc", "list workspace", "forall i", "lattices", "int64_t weft_evaluate"):
        assert part in text


def test_debug_prints_stages(capfd):
    with weft.config.override(debug="schedule"):
        weft.compile("y(i) = A(i,j)*x(j)", A="dcsc")
    assert "== schedule: y(i) = " in capfd.readouterr().err


SHOWING = [  # together they pass every pass
    ("y(i) = A(i,j)*x(j)", {"A": "csr"}, None),
    ("B(i,j) = log1p(A(i,j)) / 2", {"A": "csr"}, None),
    ("y(i) = A(i,j)*x(j)", {"A": "dia", "x": "dense"}, lambda loops: loops),
]


def test_passes_come_in_the_order_of_their_names():
    seen = set()
    for text, formats, change in SHOWING:
        passes = list(weft.compile(text, **formats, schedule=change).passes)
        assert passes == [name for name in PASSES if name in passes]
        seen.update(passes)
    for formats in (("csr", "csc"), ("dia", "csr")):
        types = [TensorType.of("float64", parse_format(name, 2)) for name in formats]
        kernel = insertion_kernel(*types, False)
        assert [*kernel.passes] == [name for name in PASSES if name in kernel.passes]
        assert [*kernel.stages] == [name for name in STAGES if name in kernel.stages]
        seen.update(kernel.passes)
    assert seen == set(PASSES)


def test_debug_prints_passes(capfd):
    with weft.config.override(debug="prefetch,independent-sums"):
        weft.compile("y(i) = A(i,j)*x(j)", A="dcsr")
    shown = capfd.readouterr().err
    assert "== prefetch: y(i) = " in shown
    assert "== independent sums: y(i) = " in shown
    assert "== lowering" not in shown


def test_unknown_passes_are_refused():
    with pytest.raises(ValueError, match=r"no stage 'tilling'; the stages are index notation, .*, prefetch, .*verify"):
        weft.config.debug = "tilling"


def test_a_malformed_result_names_its_pass():
    returned = Function("f", (), Return(Var("nothing")))
    with pytest.raises(LoweringError, match=r"^simplify returned a malformed result: .*nothing"):
        Trace(verify=True)("simplify", lambda: returned)
    assert Trace()("simplify", lambda: returned) is returned


def test_loops_that_bind_nothing_are_malformed():
    kernel = module(*CASES[0])
    loops = kernel.schedule.program.stmt
    inner = replace(kernel.schedule, program=replace(kernel.schedule.program, stmt=loops.body))
    with pytest.raises(LoweringError, match="is not bound by a loop"):
        Trace(verify=True)("cheapest schedule", lambda: inner)
    with weft.config.override(debug="verify"):
        assert module(*CASES[0]).schedule == kernel.schedule


@pytest.mark.compiles_alone
def test_planning_many_factors_takes_quadratic_time():
    def calls(k):
        count = 0

        def called(frame, event, arg):
            nonlocal count
            count += event == "call"

        operands = {f"T{q}": weft.from_coords([[0, 1]], [1.0, 1.0], (2,)) for q in range(k)}
        sys.setprofile(called)
        try:
            weft.explain("y = " + "*".join(f"T{q}(i{q})" for q in range(k)), **operands)
        finally:
            sys.setprofile(None)
        return count

    calls(2)  # what is done once
    assert calls(32) < 4.4 * calls(16)  # a cube would be 8 times as many
