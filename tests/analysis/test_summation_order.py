"""The number of threads changes no value: each element of a result is summed in one order."""

import numpy as np
import pytest

import weft
from weft.analysis.summation_order import order_of_sums
from weft.config import config
from weft.execution import plan_for
from weft.index_notation import parse

N = 90
rng = np.random.default_rng(0)
WHOLE = np.where(rng.random((N, N)) < 0.2, rng.random((N, N)), 0)
BAND = np.where(np.abs(np.subtract.outer(np.arange(N), np.arange(N))) < 4, WHOLE + 0.1, 0)
X, x = rng.random((N, 5)), rng.random(N)
COORDS, VALUES = rng.integers(0, N, (2, 1500)), rng.random(1500)
FORMATS = [*(name for name in weft.formats if name != "hash_vector"), "shuffled", "duplicates", "unsorted rows"]
OPERATIONS = {
    "A @ X": lambda A: A @ X,
    "A.T @ X": lambda A: A.T @ X,
    "X.T @ A": lambda A: X.T @ A,
    "A @ x": lambda A: A @ x,
    "x @ A": lambda A: x @ A,
    "A @ A": lambda A: A @ A,
    "A + A.T": lambda A: A + A.T,
    "sum(0)": lambda A: A.sum(axis=0),
    "sum(1)": lambda A: A.sum(axis=1),
    "sum": lambda A: A.sum(),
    "chain": lambda A: weft.evaluate("y(i,k) = A(i,j)*B(j,k)*x(j)", A=A, B=X, x=x),
    "chain of the transpose": lambda A: weft.evaluate("y(i,k) = A(j,i)*B(j,k)*x(j)", A=A, B=X, x=x),
    "two sums": lambda A: weft.evaluate("y(i,k) = A(j,i)*B(j,k) + A(i,j)*B(j,k)", A=A, B=X),
    "two reductions": lambda A: weft.evaluate("y(k) = A(i,j)*B(j,k)*B(i,k)", A=A, B=X),
}


def tensor(name):
    if name not in ("shuffled", "duplicates", "unsorted rows"):
        return weft.asarray(BAND if name in ("dia", "skyline", "banded") else WHOLE, format=name)
    if name == "duplicates":
        coords, values = COORDS, VALUES
    else:
        coords = rng.permutation(np.argwhere(WHOLE)).T
        values = WHOLE[tuple(coords)]
    found = weft.from_coords(coords, values, (N, N), duplicates="keep")
    return found.asformat("csr", sort=False) if name == "unsorted rows" else found


def memory(found):
    storage = getattr(found, "_storage", None)
    arrays = [np.asarray(found)] if storage is None else [*storage.arrays, storage.vals]
    return [np.asarray(a).tobytes() for a in arrays]


@pytest.mark.parametrize("reassociate", [True, False])
@pytest.mark.parametrize("format", FORMATS)
def test_all_numbers_of_threads_give_the_same_bits(format, reassociate):
    A = tensor(format)
    for name, operation in OPERATIONS.items():
        if not reassociate and name not in ("A @ X", "A.T @ X", "X.T @ A", "two sums"):
            continue
        found = []
        for threads in (1, 2, 3, 7):
            with config.override(num_threads=threads, parallel_threshold=0, reassociate=reassociate):
                found.append(memory(operation(A)))
        assert all(f == found[0] for f in found), name


def planned(text, **tensors):
    assignment = parse(text)
    return plan_for(assignment, tuple(t._storage.type for t in tensors.values()))


@pytest.mark.parametrize(("format", "shares"), [("csr", True), ("coo", True), ("hash", True), ("shuffled", False)])
def test_loops_for_several_threads_sum_in_the_order_of_those_for_one(format, shares):
    """Where entries come in no order, or more than once, there are no such loops."""
    found = planned("y(i,k) = A(j,i)*X(j,k)", A=tensor(format), X=weft.asarray(X))
    assert found.kernel.module.schedule.serial
    assert found.has_equal_parallel_loops == shares


def test_rows_in_no_order_are_shared_as_they_are():
    found = planned("y(i,k) = A(i,j)*X(j,k)", A=tensor("hash"), X=weft.asarray(X))
    assert found.kernel.chunked
    assert found.kernel.module.schedule.conversions == ()


def test_the_order_of_sums():
    def order(text, **tensors):
        s = planned(text, **tensors).kernel.module.schedule
        return order_of_sums(s.program, s.target, s.types, True)

    dense = weft.asarray(X)
    assert order("y(i,k) = A(i,j)*X(j,k)", A=tensor("csr"), X=dense) == (("j",),)
    assert order("y(i,k) = A(j,i)*X(j,k)", A=tensor("csr"), X=dense) == (("j",),)
    assert order("y(i,k) = A(j,i)*X(j,k)", A=tensor("duplicates"), X=dense) is None
    assert order("y(i,k) = A(i,j)*X(j,k)", A=tensor("hash"), X=dense) is None
    numbers = weft.asarray(np.arange(9).reshape(3, 3), format="hash")
    assert order("y(i,k) = A(i,j)*X(j,k)", A=numbers, X=weft.asarray(np.ones((3, 2), int))) == ()
