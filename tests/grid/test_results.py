"""Results in every format of the catalogue, however their operands are stored (see ``results``).

A part of the cases by default; WEFT_TEST_GRID chooses more. The arrays of a result do not depend on the plan:
they are those of a result that is computed into csr, from csr operands of the same structure, and converted. Padded
operands have that structure only where they hold no padding, since to loops each value in storage is an entry.
"""

import numpy as np
import pytest
from tests.kernel_batches import each

import weft

from . import results

PIECES = results.listed([case for case in results.chosen() if not results.known_fault(case)])


def verify(case, found):
    """Compare with the result of two threads, and with that of two steps where operands have one structure."""
    if case.threads:
        shared = results.of_two_threads(case)
        assert shared._storage.type == found._storage.type, "two threads: another type"
        for one, two in zip(results.arrays(found), results.arrays(shared), strict=True):
            np.testing.assert_array_equal(two, one, err_msg="two threads")
    for spelling, converted in results.conversions(case):
        assert converted.layout == found.layout
        for one, two in zip(results.arrays(found), results.arrays(converted), strict=True):
            assert one.dtype == two.dtype, spelling
            np.testing.assert_array_equal(one.view(np.uint8), two.view(np.uint8), err_msg=spelling)
    if results.of_one_structure(case) and not results.known_difference(case):
        stepwise = results.of_two_steps(case)
        assert stepwise.layout == found.layout
        for one, two in zip(results.structure(found), results.structure(stepwise), strict=True):
            np.testing.assert_array_equal(one, two, err_msg="two steps")


@pytest.mark.parametrize("piece", PIECES)
def test_results(piece):
    failures = [
        f"{case}\n{type(error).__name__}: {error}"
        for case, error in each(PIECES[piece], lambda case: verify(case, results.compare(case)))
        if error is not None
    ]
    assert not failures, f"{len(failures)} of {len(PIECES[piece])} cases failed\n" + "\n".join(failures[:5])


@pytest.mark.parametrize("pairs", [False, True])
def test_the_sample_has_every_pair(pairs):
    cases = list(results.sampled(pairs))
    found = {(case.operation, case.result) for case in cases} | {(case.operation, case.formats[0]) for case in cases}
    for operation in results.OPERATIONS:
        assert {(operation, format) for format in (*results.results_of(operation), *results.OPERANDS)} <= found
    if pairs:
        met = {(case.formats[0], case.result) for case in cases if results.OPERATIONS[case.operation].order == 2}
        assert len(met) == len(results.OPERANDS) * len(results.RESULTS)
    assert {case.contents for case in cases} == set(results.CONTENTS)
    assert cases == list(results.sampled(pairs)), "the sample is another one each time"


@pytest.mark.parametrize("value", ["A(i,j)", "A(i,k)*D(k,j)", "A(i,k)*B(k,j)", "A(i,k)*D(k,j) + A(i,j)"])
def test_rows_without_entries_are_not_kept_above_dense_ones(value):
    """The last rows have no entries: there is no room for values of rows that are not kept."""
    a = np.zeros((6, 6))
    a[1, 2], a[3, 0], a[3, 5] = 3, 1, 2
    A = weft.asarray(a, format="csr")
    operands = {"A": A, "B": A.T.asformat("csr"), "D": np.ones((6, 6))}
    operands = {name: each for name, each in operands.items() if name in value}
    text = f"C(i,j) = {value}"
    found = []
    for threads in (1, 2):
        with weft.config.override(num_threads=threads, parallel_threshold=0):
            found.append(weft.evaluate(text, **operands, format="sd"))
    if value.count("A") == 1:
        kernel = weft.compile(text, C="sd", **{n: "dense" if n == "D" else "csr" for n in operands})
        found.append(kernel.compute(kernel.assemble(*operands.values()), *operands.values()))
    expected = weft.evaluate(text, **operands, format="csr")
    for C in found:
        np.testing.assert_array_equal(C._storage.arrays[1], [1, 3])
        np.testing.assert_array_equal(C.todense(), expected.todense())
