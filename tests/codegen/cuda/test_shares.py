"""Equal shares of positions: rows that borders of shares cut, and the rule that asks for shares."""

import numpy as np
import pytest

from weft.code_options import code_options
from weft.device_code import choose, device_facts
from weft.device_program import Choice

from .emulated import compiled
from .programs import EXPRESSIONS, FORMATS, SIZES, computed, module_of, program_of, storages, values_of

LONG = {**SIZES, "i": 11, "j": 1700}
CASES = [
    ("spmv", "csr", "float64"), ("spmv", "dcsr", "float32"), ("residual", "csr", "float64"),
    ("row_max", "csr", "float64"), ("row_max", "csr", "int32"), ("row_sum", "csr", "int64"),
    ("min_plus", "csr", "float64"),
    ("sddmm", "csr", "float64"), ("sddmm", "dcsr", "float64"), ("spmv", "csr", "bool"),
]  # fmt: skip
LENGTHS = {
    "skewed": (0, 3, 1600, 0, 511, 1, 700, 5, 0, 1, 0),
    "one row": (0, 0, 0, 1537, 0, 0, 0, 0, 0, 0, 0),
    "whole shares": (512, 0, 512, 1024, 0, 1, 511, 0, 0, 0, 512),
    "nothing": (0,) * 11,
}


def matrix(lengths, dtype):
    rng, A = np.random.default_rng(4), np.zeros((LONG["i"], LONG["j"]))
    for row, length in enumerate(lengths):
        A[row, np.sort(rng.permutation(LONG["j"])[:length])] = rng.integers(1, 9, length)
    return A.astype(dtype)


def test_rows_that_are_cut(tmp_path):
    modules, programs = {}, {}
    for name, format, dtype in CASES:
        module, fills = module_of(EXPRESSIONS[name], FORMATS[format], dtype)
        assert device_facts(module).balances
        for lanes in (1, 8, 32):
            label = f"{name}_{format}_{dtype}_{lanes}"
            modules[label], programs[label] = (name, dtype, module, fills), program_of(module, lanes, balanced=True)
    library = compiled(programs, tmp_path)
    for label, (name, dtype, module, fills) in modules.items():
        for kind, lengths in LENGTHS.items():
            A = matrix(lengths, dtype)
            if EXPRESSIONS[name].fill:
                A[A == 0] = EXPRESSIONS[name].fill
            values = values_of(EXPRESSIONS[name], A, dtype, np.random.default_rng(6), LONG)
            held = storages(module, programs[label], values, fills, sizes=LONG)
            found = [computed(library, label, programs[label], held, seed).copy() for seed in (1, 2)]
            expected = np.asarray(EXPRESSIONS[name].dense(**values)).astype(found[0].dtype)
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
        ("sddmm", "csr", {"A2_pos": 101, "A2_crd": 1600, "U2_dim": 5}, 40, Choice(4)),
        ("spmm", "csr", {"A2_pos": 101, "A2_crd": 1600, "X2_dim": 200}, 40, Choice(32)),
        ("spmv", "csr", {"A2_pos": 1, "A2_crd": 0}, 0, Choice(1)),
    ],
)
def test_the_rule(name, format, known, longest, choice):
    facts = device_facts(module_of(EXPRESSIONS[name], FORMATS[format])[0])
    assert choose(facts, known, longest, code_options()) == choice
    assert choose(facts, known, longest, code_options(disabled=frozenset({"lanes"}))) == Choice()
    assert not choose(facts, known, longest, code_options(disabled=frozenset({"equal-shares"}))).balanced
