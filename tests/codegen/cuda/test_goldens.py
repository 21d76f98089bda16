"""CUDA texts of six programs, byte for byte."""

import pytest

from .programs import EXPRESSIONS, FORMATS, module_of, program_of


@pytest.mark.parametrize(
    ("name", "format", "lanes"),
    [
        ("spmv", "csr", 4), ("spmv", "coo", 4), ("spmm", "csr", 32), ("sddmm", "csr", 32), ("transposed", "csr", 4),
        ("total", "csr", 1),
    ],
)  # fmt: skip
def test_texts(golden, name, format, lanes):
    program = program_of(module_of(EXPRESSIONS[name], FORMATS[format])[0], lanes)
    steps = "".join(f"// {step}\n" for step in program.steps)
    golden(f"{name}_{format}.cu", f"{program.source}\n{steps}")
