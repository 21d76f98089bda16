"""The 2018 paper's figures: the loops that the compiler makes for formats mixed, against the code as printed there."""

import numpy as np
import pytest
from tests.paper_figures import assert_follow

import weft
from weft.analysis import merge_lattice
from weft.errors import StorageError
from weft.execution import plan_loops
from weft.formats import Compressed, Format, Singleton, TensorType, parse_format
from weft.index_notation import parse
from weft.ir.printer import function_text
from weft.module import Module

COO = parse_format("coo", 2)
NO_EMPTY_ROW = Format("(i,j) -> (i,j)", [Compressed(unique=False, full=True), Singleton()])
CSR, DENSE = parse_format("csr", 2), parse_format("dense", 2)
FIGURES = {
    "fig01a": ("A(i,j) = B(i,j)*C(i,j)", {"A": DENSE, "B": COO, "C": DENSE}),
    "fig01b": ("A(i,j) = B(i,j)*C(i,j)", {"A": DENSE, "B": CSR, "C": DENSE}),
    "fig01c": ("A(i,j) = B(i,j)*C(i,j)", {"A": DENSE, "B": CSR, "C": COO}),
    "fig09b": ("A(i,j) = B(i,j) + C(i,j)", {"A": DENSE, "B": CSR, "C": NO_EMPTY_ROW}),
}
# The figure as printed, within the chunk of a thread: loops and what they do, in order.
SKELETONS = {
    "fig01a": ["for pB1 in chunk_begin .. chunk_end", "i: int64 = int64(B1_crd[pB1])",
               "j: int64 = int64(B2_crd[pB1])", "B_vals[pB1] * C_vals[pC2]"],
    "fig01b": ["for i in", "for pB2 in int64(B2_pos[i]) .. int64(B2_pos[i + 1])", "j: int64 = int64(B2_crd[pB2])",
               "B_vals[pB2] * C_vals[pC2]"],
    "fig01c": ["pC1: int64 = chunk_begin", "while pC1 < chunk_end", "i: int64 = int64(C1_crd[pC1])",
               "pC1_segend: int64 = pC1 + 1", "while pC1_segend < chunk_end and int64(C1_crd[pC1_segend]) == i",
               "pC1_segend += 1", "pB2: int64 = int64(B2_pos[i])", "pC2: int64 = pC1", "pC2_end: int64 = pC1_segend",
               "while pB2 < pB2_end and pC2 < pC2_end", "B2_crd[pB2]", "C2_crd[pC2]",
               "B_vals[pB2] * C_vals[pC2]", "pB2 +=", "pC2 +=", "pC1 = pC1_segend"],
    "fig09b": ["while pC1 < chunk_end", "i: int64 = int64(C1_crd[pC1])", "while pC1_segend < chunk_end",
               "pB2: int64 = int64(B2_pos[i])", "pC2: int64 = pC1", "while pB2 < pB2_end and pC2 < pC2_end",
               "B_vals[pB2] + C_vals[pC2]", "= B_vals[pB2]", "= C_vals[pC2]", "while pB2 < pB2_end",
               "= B_vals[pB2]", "while pC2 < pC2_end", "= C_vals[pC2]", "pC1 = pC1_segend"],
}  # fmt: skip


def module(text, formats):
    types = {name: TensorType.of("float64", format) for name, format in formats.items()}
    return Module(plan_loops(parse(text), types))


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name, golden):
    function = module(*FIGURES[name]).evaluation.ir
    text = function_text(function)
    assert_follow(text, SKELETONS[name])
    golden(f"2018_{name}.txt", text)


def test_fused_iteration_is_one_loop():
    """Fig. 1a: rows and columns of a coordinate list in a single loop."""
    _chunk, loop, body = function_text(module(*FIGURES["fig01a"]).evaluation.ir).partition("for pB1")
    assert loop
    assert "for " not in body
    assert "while" not in body


def test_lattices_of_figure_6():
    """A coordinate list without an empty row covers the rows: they are walked by it alone, and the other is located."""
    function = module(*FIGURES["fig09b"]).evaluation
    found = {v: merge_lattice.to_text(points) for v, points in function.lattices}
    assert found == {"i": "(C1 | B1)", "j": "(B2 ∧ C2) (B2) (C2)"}


def test_full_rows_mean_the_same():
    rows, columns = [0, 0, 1, 2, 2, 2], [1, 3, 0, 0, 2, 3]
    levels = [{"pos": [0, 6], "crd": rows}, {"crd": columns}]
    C = weft.from_levels((3, 4), NO_EMPTY_ROW, levels, np.arange(1.0, 7.0))
    B = weft.asarray(np.eye(3, 4), format="csr")
    found = weft.evaluate("A(i,j) = B(i,j) + C(i,j)", B=B, C=C, format="dense")
    np.testing.assert_array_equal(found.todense(), np.eye(3, 4) + C.todense())
    np.testing.assert_array_equal((C @ np.ones(4)), C.todense().sum(1))


def test_a_claim_that_the_data_does_not_keep():
    levels = [{"pos": [0, 2], "crd": [0, 2]}, {"crd": [1, 1]}]
    with pytest.raises(StorageError, match="is full, and of the 3 coordinates under its 1 parents 2 are there"):
        weft.from_levels((3, 4), NO_EMPTY_ROW, levels, [1.0, 2.0])
