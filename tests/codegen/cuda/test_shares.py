"""Equal shares of positions: rows that borders of shares cut, and the rule that asks for shares."""

import numpy as np
import pytest

from weft.code_options import code_options
from weft.device_code import choose, device_facts
from weft.device_program import Choice

from .emulated import compiled
from .programs import (
    CUBE,
    EXPRESSIONS,
    FORMATS,
    LANES,
    SIZES,
    Expression,
    computed,
    module_of,
    program_of,
    storages,
    values_of,
)

LONG = {**SIZES, "i": 11, "j": 1700, "l": 165, "k": 5}
CUBE_LONG = {**SIZES, "i": 11, "j": 40, "k": 45, "r": 37}
MANY = Expression("Y(i,k) = min(j, A(i,j) + X(j,k))", lambda A, X: (A[:, :, None] + X).min(axis=1), np.inf)
ALL = {**EXPRESSIONS, "min_plus_many": MANY}
CASES = [
    ("spmv", "csr", "float64", LANES), ("spmv", "dcsr", "float32", (8,)), ("spmv", "csr", "bool", (8,)),
    ("residual", "csr", "float64", (4, 32)), ("row_max", "csr", "float64", LANES), ("row_max", "csr", "int32", (4,)),
    ("row_sum", "csr", "int64", (32,)), ("min_plus", "csr", "float64", (8,)), ("min_plus_many", "csr", "float64", (4,)),
    # strips of rows
    ("spmm", "csr", "float64", LANES), ("spmm", "dcsr", "int32", (32,)), ("spmm_t", "csr", "float64", (8,)),
    # runs of equal coordinates
    ("spmv", "coo", "float64", LANES), ("spmv", "coo", "int64", (8,)), ("spmm", "coo", "float32", (4, 32)),
    ("row_sum", "coo", "float64", (8,)), ("min_plus", "coo", "float64", (4,)), ("residual", "coo", "float64", (8,)),
    ("ttv", "coo", "float64", (4, 32)), ("residual", "dcsr", "float64", (8,)), ("row_max", "coo", "int32", (1,)),
    # each position has places of its own, or adds anywhere
    ("sddmm", "csr", "float64", LANES), ("sddmm", "dcsr", "float64", (8,)), ("sddmm", "csc", "float64", (8,)),
    ("transposed", "csr", "float64", (4, 32)), ("spmm", "own", "float64", (32,)),
    # segments of segments
    ("mttkrp", "csf", "float64", LANES), ("mttkrp", "coo", "float64", (4, 32)), ("ttv", "csf", "float64", LANES),
    ("row_sum_3", "csf", "float64", (8,)),
]  # fmt: skip
LENGTHS = {
    "skewed": (0, 3, 1600, 0, 511, 1, 700, 5, 0, 1, 0),
    "one row": (0, 0, 0, 1537, 0, 0, 0, 0, 0, 0, 0),
    "whole shares": (512, 0, 512, 1024, 0, 1, 511, 0, 0, 0, 512),
    "nothing": (0,) * 11,
}


def array(lengths, dtype, shape):
    """Slices with given numbers of entries; in a cube, fibres of which some are long."""
    rng, A = np.random.default_rng(4), np.zeros((len(lengths), int(np.prod(shape))))
    for row, length in enumerate(lengths):
        places = rng.permutation(A.shape[1])[:length] if row % 2 else np.arange(length)
        A[row, places] = rng.integers(1, 9, length)
    return A.astype(dtype).reshape(-1, *shape)


def test_segments_that_are_cut(tmp_path):
    modules, programs = {}, {}
    for name, format, dtype, numbers in CASES:
        module, fills = module_of(ALL[name], FORMATS[format], dtype)
        assert device_facts(module).balances, (name, format)
        for lanes in numbers:
            label = f"{name}_{format}_{dtype}_{lanes}"
            modules[label], programs[label] = (name, dtype, module, fills), program_of(module, lanes, balanced=True)
            assert "equal shares" in programs[label].notes[0], label
    library = compiled(programs, tmp_path)
    for label, (name, dtype, module, fills) in modules.items():
        sizes = CUBE_LONG if name in CUBE else LONG
        for kind, lengths in LENGTHS.items():
            A = array(lengths, dtype, [sizes["j"], sizes["k"]] if name in CUBE else [sizes["j"]])
            if ALL[name].fill:
                A[A == 0] = ALL[name].fill
            values = values_of(ALL[name], A, dtype, np.random.default_rng(6), sizes)
            held = storages(module, programs[label], values, fills, sizes=sizes)
            found = [computed(library, label, programs[label], held, seed).copy() for seed in (1, 2)]
            expected = np.asarray(ALL[name].dense(**values)).astype(found[0].dtype)
            tolerance = 1e-4 if dtype == "float32" else 1e-10
            np.testing.assert_allclose(found[0], expected, tolerance, tolerance, err_msg=f"{label}, {kind}")
            assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize(
    ("name", "format", "known", "longest", "choice"),
    [
        ("spmv", "csr", {"A2_pos": 101, "A2_crd": 400}, 6, Choice(1)),
        ("spmv", "csr", {"A2_pos": 101, "A2_crd": 1600}, 40, Choice(4)),
        ("spmv", "csr", {"A2_pos": 101, "A2_crd": 100_000}, 2000, Choice(16)),
        ("spmv", "csr", {"A2_pos": 1001, "A2_crd": 10_000}, 641, Choice(8, balanced=True)),
        ("spmv", "csr", {"A2_pos": 1001, "A2_crd": 10_000}, 639, Choice(2)),
        ("sddmm", "csr", {"A2_pos": 101, "A2_crd": 1600, "U2_dim": 5}, 40, Choice(4, narrow=(("U2_dim", 8),))),
        ("sddmm", "csr", {"A2_pos": 1001, "A2_crd": 10_000, "U2_dim": 5}, 641, Choice(8, True, (("U2_dim", 8),))),
        ("spmm", "csr", {"A2_pos": 101, "A2_crd": 1600, "X2_dim": 200}, 40, Choice(32)),
        ("spmm", "csr", {"A2_pos": 1001, "A2_crd": 10_000, "X2_dim": 200}, 641, Choice(32, balanced=True)),
        ("spmv", "coo", {}, 0, Choice(8, balanced=True)),
        ("mttkrp", "csf", {"A2_pos": 101, "A3_crd": 1000, "B2_dim": 16}, 641, Choice(16, True, (("B2_dim", 32),))),
        ("spmm", "csr", {"A2_pos": 101, "A2_crd": 1600, "X2_dim": 32}, 40, Choice(32)),
        ("spmv", "csr", {"A2_pos": 1, "A2_crd": 0}, 0, Choice(1)),
    ],
)
def test_the_rule(name, format, known, longest, choice):
    facts = device_facts(module_of(EXPRESSIONS[name], FORMATS[format])[0])
    assert choose(facts, known, longest, code_options()) == choice
    assert choose(facts, known, longest, code_options(disabled=frozenset({"lanes"}))) == Choice()
    assert not choose(facts, known, longest, code_options(disabled=frozenset({"equal-shares"}))).balanced
