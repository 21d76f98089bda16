"""Blocks of inserted results in registers: the bits of sums in memory, also at the edge of a tensor."""

import numpy as np
import pytest

import weft
from weft.config import config


def blocks(shape, blocksize, dtype, rng):
    """A matrix most of whose blocks are not stored, with what rounds in the others."""
    whole = rng.random(shape) - 0.5 + (1j * rng.random(shape) if dtype == "complex128" else 0)
    whole = (whole * 100).astype(dtype)
    keep = np.kron(rng.random([-(-n // b) for n, b in zip(shape, blocksize, strict=True)]) < 0.6, np.ones(blocksize))
    whole[keep[: shape[0], : shape[1]] == 0] = 0
    return weft.asarray(whole).asformat("bsr", blocksize=blocksize)


SIZES = [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (2, 3, 2), (3, 1, 4), (5, 2, 5)]
CASES = [*((size, "float64") for size in SIZES), *(((2, 3, 2), dtype) for dtype in ("complex128", "int32", "float32"))]


@pytest.mark.parametrize(("size", "dtype"), CASES)
def test_blocks_in_registers_have_the_bits_of_blocks_in_memory(size, dtype):
    rng = np.random.default_rng(0)
    r, s, t = size
    for i, j, k in [(6 * r, 5 * s, 7 * t), (6 * r - 1, 5 * s - 1, 7 * t - 1)]:
        A, B = blocks((i, j), (r, s), dtype, rng), blocks((j, k), (s, t), dtype, rng)
        C = A @ B
        assert C.format == "bsr"
        np.testing.assert_allclose(C.todense(), A.todense() @ B.todense(), rtol=1e-4 if dtype == "float32" else 1e-12)
        with config.override(disable={"register-blocks"}):
            assert (A @ B).todense().tobytes() == C.todense().tobytes()
        with config.override(num_threads=3, parallel_threshold=0):
            assert (A @ B).todense().tobytes() == C.todense().tobytes()


def test_which_blocks_are_held():
    def inserts(*blocksize):
        A = weft.asarray(np.eye(12)).asformat("bsr", blocksize=blocksize)
        return weft.explain("C(i,k) = A(i,j)*B(j,k)", A=A, B=A, stages="c")

    text = inserts(3, 3)
    assert "double block[9];" in text
    assert "block[i_mod_3 * 3 + k_mod_3] += A_vals" in text
    assert "block[" not in inserts(6, 6)  # more than there are registers
