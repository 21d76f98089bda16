"""Scheduling by hand: each transformation keeps the result, and says why where it does not apply."""

import numpy as np
import pytest

import weft
from weft.concrete_notation import Assign, Forall, Program, Where, Workspace, to_text, transformations, why_not_concrete
from weft.errors import ScheduleError
from weft.index_notation.nodes import Access, Apply

RNG = np.random.default_rng(7)
a = RNG.random((37, 23)) * (RNG.random((37, 23)) < 0.3)
b = RNG.random((23, 11))
OPERANDS = {"A": a, "B": b, "x": RNG.random(23), "D": a * (RNG.random(a.shape) < 0.5)}
SPMV, SPMM, PLUS = "y(i) = A(i,j)*x(j)", "C(i,k) = A(i,j)*B(j,k)", "C(i,j) = A(i,j) + D(i,j)"
EXPECTED = {SPMV: a @ OPERANDS["x"], SPMM: a @ b, PLUS: a + OPERANDS["D"]}


@pytest.mark.parametrize("format", ["csr", "dense", "dcsr"])
@pytest.mark.parametrize(
    ("text", "schedule", "shown"),
    [
        (SPMV, lambda s: s.split("i", "i0", "i1", 8).parallelize("i0"), "forall i0 parallel\n"),
        (SPMV, lambda s: s.split("j", "j0", "j1", 3), "forall j1"),
        (SPMM, lambda s: s.split("k", "k0", "k1", 4), "forall k1"),
        (SPMM, lambda s: s.split("k", "k0", "k1", 4).split("i", "i0", "i1", 16), "forall i1"),
        (SPMM, lambda s: s.precompute("A(i,j)*B(j,k)", "k", name="w"), "w(k) = A(i,j)*B(j,k)"),
        (SPMM, lambda s: s.reorder("k", "j"), "forall k"),
        (PLUS, lambda s: s.split("i", "i0", "i1", 5), "forall i0"),
    ],
)
def test_results_stay(text, schedule, shown, format):
    format = "csr" if text is PLUS and format == "dcsr" else format  # rows of two dcsr matrices are merged
    formats = {"A": format} | ({"D": format} if text is PLUS else {})
    target = "dense" if text is not PLUS else None
    extra = {text[0]: target} if target else {}
    kernel = weft.compile(text, schedule=schedule, **formats, **extra)
    assert shown in kernel.explain(stages=True)
    operands = [OPERANDS[name] for name in kernel.operands]
    for threads in (1, 2):
        with weft.config.override(num_threads=threads, parallel_threshold=0):
            got = kernel(*operands)
            got = got.todense() if isinstance(got, weft.SparseTensor) else got
            np.testing.assert_allclose(got, EXPECTED[text])


@pytest.mark.parametrize(
    ("text", "formats", "schedule", "reason"),
    [
        (PLUS, {"A": "csr", "D": "csr"}, lambda s: s.reorder("j", "i"), "A is stored i, j and cannot be traversed"),
        (PLUS, {"A": "csr", "D": "csr"}, lambda s: s.split("j", "a", "b", 4), "merges several operands"),
        (PLUS, {"A": "csr", "D": "csr"}, lambda s: s.parallelize("j"), "the outermost loop is over i, not j"),
        (PLUS, {"A": "csr", "D": "csr"}, lambda s: s.split("z", "a", "b", 4), "there is no loop over z"),
        (PLUS, {"A": "csr", "D": "csr"}, lambda s: s.split("i", "j", "b", 4), "j is the name of another loop"),
        (PLUS, {"A": "csr", "D": "csr"}, lambda s: s.split("i", "a", "b", 0), "at least one iteration"),
        (PLUS, {"A": "csr", "D": "csr"}, lambda s: s.precompute("A(i,j)", "i"), "no assignment multiplies"),
        (SPMV, {"A": "csr"}, lambda s: s.reorder("j", "i"), "not directly nested"),
        (SPMV, {"A": "csc", "y": "dense"}, lambda s: s.parallelize("j"), "add into the same elements of y"),
        (SPMM, {"A": "csr", "C": "dense"}, lambda s: s.precompute("B(j,k)", "j"), "innermost loops around it are"),
        (SPMM, {"A": "csr", "C": "dense"}, lambda s: s.precompute("B(j,k)", "k", kind="hash"), "scalar or dense"),
    ],
)  # fmt: skip
def test_reasons(text, formats, schedule, reason):
    with pytest.raises(ScheduleError, match=reason) as error:
        _ = weft.compile(text, schedule=schedule, **formats).source
    assert text.split(" = ")[0] in str(error.value)


def test_checks():
    x, t, y = Access("x", ("i",)), Access("t"), Access("y", ("i",))
    w = Workspace("t", (), "scalar", "float64")
    good = Program(Forall("i", Where(Assign(y, t), Assign(t, x, "add"))), (w,))
    assert why_not_concrete(good, y) is None
    assert "not bound" in str(why_not_concrete(Program(Assign(y, x)), y))
    assert "two loops" in str(why_not_concrete(Program(Forall("i", Forall("i", Assign(y, x)))), y))
    assert "nothing makes it" in str(why_not_concrete(Program(Forall("i", Assign(y, t)), (w,)), y))
    assert "never assigned" in str(why_not_concrete(Program(Forall("i", Assign(x, x))), y))


def test_split_is_printed():
    y = Access("y", ("i",))
    program = Program(Forall("i", Assign(y, Apply("negative", (Access("x", ("i",)),)))))
    assert (
        to_text(transformations.split(program, "i", "i0", "i1", 4).stmt) == "forall i0\n  forall i1\n    y(i) = -x(i)"
    )
