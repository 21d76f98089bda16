"""Settings that affect code take effect at once, and every optimisation can be switched off."""

import itertools

import numpy as np
import pytest
from asv_benchmarks import ablation

import weft
from weft.config import config
from weft.execution import plan_for
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.optimizations import OPTIMIZATIONS

rng = np.random.default_rng(0)
WHOLE = np.where(rng.random((40, 60)) < 0.3, rng.random((40, 60)), 0)
X, x = rng.random((60, 5)), rng.random(60)
BAND = np.where(np.abs(np.subtract.outer(np.arange(40), np.arange(40))) < 3, 1.5, 0)
CSR, COO, DIA = (weft.asarray(d, format=f) for d, f in ((WHOLE, "csr"), (WHOLE, "coo"), (BAND, "dia")))
PARTS = [weft.asarray(WHOLE[:, :1], format="coo"), CSR]
OPERATIONS = {
    "A + A": lambda: CSR + CSR,
    "A + B": lambda: CSR + weft.asarray(x),
    "A * 2": lambda: CSR * 2,
    "A > 0.5": lambda: CSR > 0.5,
    "dia + dia": lambda: DIA + DIA,
    "-A": lambda: -CSR,
    "A @ x": lambda: CSR @ x,
    "A @ X": lambda: CSR @ X,
    "A @ A.T": lambda: CSR @ CSR.T,
    "sum": lambda: CSR.sum(axis=0),
    "var": lambda: CSR.var(axis=1),
    "einsum": lambda: weft.einsum("ij,jk->ik", CSR, X),
    "evaluate": lambda: weft.evaluate("y(i) = A(i,j)*x(j)", A=CSR, x=x),
    "todense": CSR.todense,
    "to csc": lambda: CSR.asformat("csc"),
    "to coo": lambda: CSR.asformat("coo"),
    "to dok": lambda: CSR.asformat("dok"),
    "from coo": lambda: COO.asformat("csr"),
    "rows": lambda: CSR[np.array([3, 1])],
    "columns": lambda: CSR[:, np.array([3, 1])],
    "diagonal": CSR.diagonal,
    "kron": lambda: weft.kron(DIA, CSR),
    "concat": lambda: weft.concat(PARTS, axis=1),
    "query": lambda: weft.query(CSR, "select [i] -> count(j) as n"),
}
_marks = itertools.count()


def generated(run):
    """The functions that a run generates."""
    with ablation.recorded() as lines:
        run()
    return lines.functions


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_plan_outlives_the_settings_that_affect_code(name):
    run = OPERATIONS[name]
    run(), run()  # the second run may take a shorter way
    assert not generated(run)
    with config.override(cflags=f"-DWEFT_TEST_{next(_marks)}", optimization=0):
        assert generated(run)
        run()
        assert not generated(run)
    assert not generated(run)


def test_reassociate_takes_effect_on_plans_that_exist():
    A = weft.asarray(rng.normal(size=(1, 5000)), format="csr")
    in_order = np.cumsum(A.to_coo()[1])[-1]
    ones = np.ones(5000)
    with config.override(optimization=3):  # at which compilers reassociate where they may
        for sum_of in (lambda: (A @ ones)[0], A.sum, lambda: A.sum(axis=1).todense()[0]):
            first = sum_of()
            with config.override(reassociate=False):
                assert sum_of() == in_order
            assert first == sum_of() != in_order
            with config.override(disable=["simd-reductions"]):
                assert sum_of() == in_order


def test_vector_functions_take_effect_on_plans_that_exist():
    vector = TensorType.of("float64", parse_format("d", 1))

    def batched():
        return "weft_each_log1p" in plan_for(parse("y(i) = log1p(x(i))"), (vector,)).kernel.source

    assert batched()
    with config.override(vector_functions=False):
        assert not batched()
    assert batched()
    with config.override(disable={"vector-math"}):
        assert not batched()


WITHOUT_KERNELS = {"compiled-order"}  # a function of the prelude, whose test is tests/storage/test_invariants.py


@pytest.mark.parametrize("optimization", OPTIMIZATIONS, ids=lambda one: one.name)
def test_a_switch_changes_the_code_of_its_first_case_and_not_its_result(optimization, monkeypatch):
    monkeypatch.setenv("WEFT_BENCH_SCALE", "0.004")
    case = optimization.cases[0]
    run = ablation.CASES[case]()
    with config.override(num_threads=2 if case.startswith("threads") else 1, parallel_threshold=0):
        found, _ = run(), run()  # later runs may take a shorter way
        with_it = ablation.lines_of(run, ())
        without = ablation.lines_of(run, (optimization.name,))
        with config.override(disable=(optimization.name,), optimization=0):
            other = run()
    assert (with_it.functions != without.functions) == (optimization.name not in WITHOUT_KERNELS)
    np.testing.assert_allclose(array(other), array(found), rtol=1e-10, atol=1e-12)
    assert type(other) is type(found)
    if isinstance(found, weft.SparseTensor):
        assert other.format == found.format


def array(found):
    return np.asarray(found.todense() if isinstance(found, weft.SparseTensor) else found)


def test_every_case_belongs_to_an_optimisation():
    used = {case for one in OPTIMIZATIONS for case in one.cases}
    assert used == ablation.CASES.keys()
