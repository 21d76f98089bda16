"""Results in every format of the catalogue, however their operands are stored (see ``results``).

A part of the cases by default; WEFT_TEST_GRID chooses more. The arrays of a result do not depend on the plan:
they are those of a result that is computed into csr, from csr operands of the same structure, and converted. Padded
operands have that structure only where they hold no padding, since to loops each value in storage is an entry.
"""

import numpy as np
import pytest
from tests.kernel_batches import each

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
            np.testing.assert_array_equal(one, two, err_msg=spelling)
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
