"""The 2017 paper's figures: the loops that the compiler makes, against the code as printed there."""

import re

import pytest
from tests.paper_figures import assert_follow

from weft.analysis import merge_lattice
from weft.config import config
from weft.execution import plan_loops
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.ir.printer import function_text
from weft.module import Module
from weft.variant import Variant

FIGURES = {
    "fig01": ("A(i,j) = B(i,j,k)*c(k)", {"A": "dd", "B": "ddd", "c": "d"}),
    "fig02": ("A(i,j) = B(i,j,k)*c(k)", {"A": "dd", "B": "sss", "c": "d"}),
    "fig03": ("A(i,j) = B(i,j,k)*c(k)", {"A": "dd", "B": "sss", "c": "s"}),
    "fig09": ("a(i) = b(i) + c(i)", {"a": "d", "b": "s", "c": "s"}),
    "fig11": ("A(i,j) = B(i,j) + C(i,j)", {"A": "dd", "B": "ds", "C": "ds"}),
    "fig13": ("A(i,j) = B(i,j,k)*c(k)", {"A": "ds", "B": "sss", "c": "s"}),
}
# The figure as printed: loops and what they do, in order. ``<`` opens a loop or condition, ``>`` closes the last.
SKELETONS = {
    "fig01": ["for i", "for j", "for k", "B_vals[", "* c_vals[", "A_vals["],
    "fig02": ["for pB1 in", "i: int64 = int64(B1_crd[pB1])", "for pB2 in", "j: int64 = int64(B2_crd[pB2])",
              "for pB3 in", "k: int64 = int64(B3_crd[pB3])", "B_vals[pB3] * c_vals[k]", "A_vals[pA2]"],
    "fig03": ["for pB1 in", "for pB2 in", "pB3: int64", "pc1: int64", "while pB3 < pB3_end and pc1 < pc1_end",
              "kB3", "B3_crd[pB3]", "kc1", "c1_crd[pc1]", "if kB3 == kc1", "B_vals[pB3] * c_vals[pc1]",
              "pB3 += int64(kB3 <= kc1)", "pc1 += int64(kc1 <= kB3)", "A_vals[pA2]"],
    "fig09": ["pb1: int64", "pc1: int64", "while pb1 < pb1_end and pc1 < pc1_end", "ib1", "b1_crd[pb1]", "ic1",
              "c1_crd[pc1]", "if ib1 == ic1", "b_vals[pb1] + c_vals[pc1]", "pb1 += 1", "pc1 += 1", "elif ib1 <= ic1",
              "= b_vals[pb1]", "pb1 += 1", "else", "= c_vals[pc1]", "pc1 += 1", "while pb1 < pb1_end",
              "= b_vals[pb1]", "while pc1 < pc1_end", "= c_vals[pc1]"],
    "fig11": ["for i in", "pB2: int64 = int64(B2_pos[i])", "pC2: int64 = int64(C2_pos[i])",
              "while pB2 < pB2_end and pC2 < pC2_end", "if jB2 == jC2", "B_vals[pB2] + C_vals[pC2]",
              "elif jB2 <= jC2", "= B_vals[pB2]", "= C_vals[pC2]", "while pB2 < pB2_end", "while pC2 < pC2_end"],
    "fig13": ["for pB1 in", "for pB2 in", "t: float64 = 0.0", "pB3: int64", "pc1: int64",
              "while pB3 < pB3_end and pc1 < pc1_end", "if kB3 == kc1", "t += B_vals[pB3] * c_vals[pc1]",
              "A_vals[pA2] = t", "A2_crd[pA2] = int32(j)", "pA2 += 1"],
}  # fmt: skip


def module(text, formats):
    types = {name: TensorType.of("float64", parse_format(f, len(f))) for name, f in formats.items()}
    return Module(plan_loops(parse(text), types, Variant(options=config.code)))


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name, golden):
    with config.override(reassociate=False):  # as the papers print sums, from the first entry to the last
        function = module(*FIGURES[name]).evaluation.ir
    text = function_text(function)
    assert_follow(text, SKELETONS[name])
    assert len(re.findall(r"\b(?:for p?[ijkB]|while)", text)) >= SKELETONS[name].count("for i")
    golden(f"{name}.txt", text)


@pytest.mark.parametrize(
    ("text", "formats", "points"),
    [
        # Fig. 10: (a)-(b) sparse, (c)-(d) dense, (e)-(f) c dense.
        ("a(i) = b(i)*c(i)", {"b": "s", "c": "s"}, "(b1 ∧ c1)"),
        ("a(i) = b(i) + c(i)*d(i)", {"b": "s", "c": "s", "d": "s"}, "(b1 ∧ c1 ∧ d1) (c1 ∧ d1) (b1)"),
        ("a(i) = b(i)*c(i)", {"b": "d", "c": "d"}, "(b1 | c1)"),
        ("a(i) = b(i) + c(i)", {"b": "d", "c": "d"}, "(b1 | c1)"),
        ("a(i) = b(i)*c(i)", {"b": "s", "c": "d"}, "(b1 | c1)"),
        ("a(i) = (b(i) + c(i))*d(i)", {"b": "s", "c": "d", "d": "s"}, "(d1 ∧ b1 | c1) (d1 | c1)"),
        # Fig. 9, and section 5.2's dense superset.
        ("a(i) = b(i) + c(i)", {"b": "s", "c": "s"}, "(b1 ∧ c1) (b1) (c1)"),
        ("a(i) = b(i) + c(i)", {"b": "s", "c": "d"}, "(c1 ∧ b1) (c1)"),
        # A scalar is everywhere; a literal is part of the fill value.
        ("a(i) = b(i) + c", {"b": "s", "c": ""}, "(I ∧ b1) (I)"),
        ("a(i) = 2*b(i)", {"b": "s"}, "(b1)"),
        ("a(i) = maximum(b(i), c(i))", {"b": "s", "c": "s"}, "(b1 ∧ c1) (b1) (c1)"),
    ],
)
def test_lattices(text, formats, points):
    types = {name: TensorType.of("float64", parse_format(f, len(f))) for name, f in formats.items()}
    types["a"] = TensorType.of("float64", parse_format("d", 1))
    function = Module(plan_loops(parse(text), types)).evaluation
    assert next(merge_lattice.to_text(p) for v, p in function.lattices if v == "i") == points
