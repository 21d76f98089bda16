"""The compiler's levels of optimisation give the same bits: what is fused is written out."""

import numpy as np
import pytest

import weft
from weft.config import config

rng = np.random.default_rng(11)
D, X, x = rng.random((60, 50)), rng.random((50, 9)), rng.random(50)
D[rng.random(D.shape) < 0.7] = 0
T = rng.random((7, 8, 9))

CASES = {
    "A @ x": lambda A: A @ x,
    "A.T @ y": lambda A: A.T @ np.arange(60.0),
    "A @ X": lambda A: A @ X,
    "A @ A.T": lambda A: (A @ A.T).todense(),
    "A.std(axis=0)": lambda A: A.std(axis=0).todense(),
    "A.var()": lambda A: A.var(),
    "mttkrp": lambda A: weft.einsum("ijk,jr,kr->ir", weft.asarray(T, format="csf"), X[:8], X[:9]),
    "dense": lambda A: weft.einsum("ij,jk->ik", D, X),
}


@pytest.mark.users_thresholds
@pytest.mark.parametrize("name", CASES)
def test_levels_give_the_same_bits(name):
    found = []
    for level in (1, 2, 3):
        with config.override(optimization=level):
            A = weft.asarray(D, format="csr")
            found.append(np.asarray(CASES[name](A)).tobytes())
    assert len({*found}) == 1
