"""Tests whose kernels are compiled together take turns, and see nothing of each other."""

import os
import random

from tests import kernel_batches


def test_tests_that_wait_keep_the_state_of_the_process():
    seen = []

    def run(n):
        random.seed(n)
        os.environ["EXAMPLE_OF_A_TEST"] = str(n)
        kernel_batches._thread.test.wait({})
        seen.append((os.environ["EXAMPLE_OF_A_TEST"], random.random()))

    tests = [kernel_batches._Test(lambda n=n: run(n)) for n in range(3)]
    for test in (*tests, *tests):
        test.resume()
    assert all(test.done and test.error is None for test in tests)
    assert seen == [(str(n), random.Random(n).random()) for n in range(3)]
    assert "EXAMPLE_OF_A_TEST" not in os.environ
