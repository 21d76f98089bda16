"""Results that threads append to in parts: the same as from one thread, to the last bit of every array."""

import dataclasses
from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft import abi
from weft.codegen.prelude import INCLUDES, prelude_text
from weft.compiler import plan_loops
from weft.execution import append_assembly, thresholds
from weft.execution.append_assembly import AppendAssembly
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.module import Module
from weft.runtime import tensor_struct
from weft.runtime.loader import load
from weft.runtime.structs import counts_pointer
from weft.storage import check

RNG = np.random.default_rng(5)
EXPRESSIONS = {
    "sum": lambda a, b: a + b,
    "product": lambda a, b: a * b,
    "comparison": lambda a, b: a > b,
    "matmul": lambda a, b: a @ b,
    "sum times": lambda a, b: (a + b) @ a,
}


def matrix(kind, n=23):
    dense = np.where(RNG.random((n, n)) < 0.2, RNG.integers(-3, 4, (n, n)), 0).astype(float)
    match kind:
        case "empty":
            dense[:] = 0
        case "first rows":
            dense[n // 3 :] = 0
        case "last row":
            dense[:-1] = 0
    return dense


def arrays_of(tensor):
    return [*tensor._storage.arrays, tensor._storage.vals]


@pytest.fixture
def in_parts(monkeypatch):
    """How often a result was appended in parts, and how often that was refused."""
    found = {True: 0, False: 0}
    whole = AppendAssembly._append_in_parts

    def counted(self, *arguments):
        result = whole(self, *arguments)
        found[result is not None] += 1
        return result

    monkeypatch.setattr(AppendAssembly, "_append_in_parts", counted)
    monkeypatch.setattr(weft.config, "parallel_threshold", 1)
    return found


@pytest.mark.parametrize("kind", ["random", "empty", "first rows", "last row"])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_as_from_one_thread(name, format, kind, in_parts, monkeypatch):
    run = EXPRESSIONS[name]
    a, b = matrix(kind), matrix("random")
    A, B = weft.asarray(a, format=format), weft.asarray(b, format=format)
    monkeypatch.setattr(weft.config, "num_threads", 1)
    alone = run(A, B)
    np.testing.assert_array_equal(alone.todense(), run(a, b))
    before = in_parts[True]  # to make the operands
    for threads, buffers in ((2, 4), (3, 0), (7, 1)):  # chunks are appended to memory of their own if none is free
        monkeypatch.setattr(weft.config, "num_threads", threads)
        monkeypatch.setattr(append_assembly, "BUFFERS", buffers)
        found = run(A, B)
        check(found._storage)
        for mine, theirs in zip(arrays_of(found), arrays_of(alone), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert in_parts[True] - before >= 2 or kind == "empty"


def test_counted_where_the_bound_is_too_large(in_parts, monkeypatch):
    small = dataclasses.replace(thresholds.THRESHOLDS, bytes_by_bound=64)
    monkeypatch.setattr(thresholds, "THRESHOLDS", small)
    monkeypatch.setattr(weft.config, "num_threads", 2)
    a, b = matrix("random"), matrix("random")
    got = weft.asarray(a, format="csr") @ weft.asarray(b, format="csr")
    np.testing.assert_array_equal(got.todense(), a @ b)
    assert in_parts[True] == 0
    assert in_parts[False] >= 1


def test_a_loop_that_only_appends_is_bounded_by_its_segments():
    csr = TensorType.of("float64", parse_format("csr", 2))
    bound = Module(plan_loops(parse("C(i,j) = A(i,j) + B(i,j)"), dict.fromkeys("CAB", csr))).text("parts/bound")
    assert "_crd" not in bound.partition("} weft_tensor;")[2]  # a comment before that explains the name
    assert all("_next < " in line for line in bound.splitlines() if "while" in line)  # strips, and no merge


@pytest.mark.parametrize("dtype", [bool, np.int16, np.float64, np.complex128])
def test_what_goes_past_the_caches(dtype, in_parts):
    """Chunks whose coordinates take more than 64 KiB."""
    rng = np.random.default_rng(2)
    drawn = [np.where(rng.random((2000, 2000)) < 0.2, rng.integers(1, 99, (2000, 2000)), 0) for _ in range(2)]
    A, B = (weft.asarray(sp.csr_array(X.astype(dtype))) for X in drawn)
    with weft.config.override(num_threads=1):
        alone = A + B
    with weft.config.override(num_threads=2, parallel_threshold=1):
        found = A + B
    assert in_parts[True] == 1
    assert 4 * found.nnz > 65536 * (A.nnz + B.nnz) / thresholds.THRESHOLDS.entries_per_part
    for mine, theirs in zip(arrays_of(found), arrays_of(alone), strict=True):
        np.testing.assert_array_equal(mine, theirs)


HAND_IN = (
    INCLUDES
    + abi.STRUCT
    + prelude_text(["weft_hand_in"])
    + """
/* Parts of sizes 1, 2, 4, 8 are handed in, in the order of the values; intervals and positions are stored. */
int64_t weft_hand(weft_tensor *A, int64_t *counts, int64_t threads) {
  const int64_t *order = A->vals;
  int64_t parts[4 * 6] = {2}, totals = 0;
  for (int64_t k = 0; k < 4; k++) parts[6 * k + 1] = INT64_C(1) << k;
  for (int64_t k = 0; k < 4; k++) {
    int64_t mine[2];
    weft_hand_in(parts, 6, 4, order[k], &totals, 1, mine);
    counts[2 * k] = mine[0], counts[2 * k + 1] = mine[1];
  }
  for (int64_t k = 0; k < 4; k++) counts[8 + k] = parts[6 * k + 5];
  return totals;
}
"""
)


def test_each_part_is_placed_by_whoever_completes_the_last_one_before_it():
    hand = load(HAND_IN, ["hand"], 1, "a test")["hand"]
    for order in permutations(range(4)):
        tensor, _keep = tensor_struct((4,), (), np.array(order))
        counts = np.zeros(12, np.int64)
        assert hand(tensor, counts_pointer(counts), 1) == 15
        there: set[int] = set()
        for part, (first, end) in zip(order, counts[:8].reshape(4, 2).tolist(), strict=True):
            there.add(part)
            complete = next((k for k in range(4) if k not in there), 4)
            assert (first, end) == (part, complete if set(range(part)) <= there else part)
        assert counts[8:].tolist() == [0, 1, 3, 7]
