"""The cache of plans: bounded, shared by threads, separate for settings that affect code, and usable after a fork."""

import gc
import os
import threading
import time
import weakref

import numpy as np
import pytest

import weft
from weft.config import config
from weft.execution.plan_cache import PlanCache, kept, plans

pytestmark = pytest.mark.compiles_alone


class Plan:
    pass


def test_a_plan_is_made_once():
    cache, made = PlanCache(lambda: 9), []
    for _ in range(3):
        cache.get(("a", 1), lambda: made.append(1) or len(made))
    assert made == [1]
    assert cache.find(("a", 1)) == 1
    assert cache.find(("a", 2)) is None


def test_plans_that_are_used_stay_and_others_go():
    cache = PlanCache(lambda: 4)
    for n in range(4):
        cache.get(("plan", n), lambda n=n: n)
    for n in (0, 2):
        assert cache.find(("plan", n)) == n
    for n in range(4, 6):
        cache.get(("plan", n), lambda n=n: n)
    assert [n for n in range(6) if cache.find(("plan", n)) is not None] == [0, 2, 4, 5]
    assert len(cache) == 4


def test_a_plan_that_goes_is_freed():
    cache = PlanCache(lambda: 1)
    plan = weakref.ref(cache.get(("first",), Plan))
    cache.get(("second",), Plan)
    gc.collect()
    assert plan() is None


def test_settings_that_affect_code_have_their_own_plans():
    cache, made = PlanCache(lambda: 9), []

    def plan():
        return cache.get(("a",), lambda: made.append(config.reassociate) or config.reassociate)

    assert plan() is True
    with config.override(reassociate=False):
        assert plan() is False
        with config.override(num_threads=1):  # does not affect code
            assert plan() is False
    assert plan() is True
    assert made == [True, False]


def test_threads_wait_for_the_one_that_makes_a_plan():
    cache, made, found = PlanCache(lambda: 9), [], []

    def make():
        made.append(threading.get_ident())
        time.sleep(0.2)
        return Plan()

    threads = [threading.Thread(target=lambda: found.append(cache.get(("a",), make))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(made) == 1
    assert len(set(map(id, found))) == 1
    assert len(found) == 8


def test_a_failure_is_raised_in_every_thread_and_not_kept():
    cache, errors, attempts = PlanCache(lambda: 9), [], []

    def make():
        attempts.append(1)
        time.sleep(0.05)
        raise ValueError("no plan")

    def run():
        try:
            cache.get(("a",), make)
        except ValueError as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(errors) == len(attempts) == 3
    assert len({*map(id, errors)}) == 3
    assert cache.get(("a",), lambda: 1) == 1


def test_a_plan_may_ask_for_others_and_for_itself():
    cache = PlanCache(lambda: 9)
    assert cache.get(("a",), lambda: cache.get(("b",), lambda: 1) + cache.get(("a",), lambda: 2)) == 3


def test_functions_that_make_plans_keep_them():
    made = []

    @kept
    def plan(first, *, second=0):
        made.append((first, second))
        return first, second

    assert plan(1) == plan(1) == (1, 0)
    assert plan(1, second=2) == plan(1, second=2) == (1, 2)
    assert made == [(1, 0), (1, 2)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_makes_the_plan_that_another_thread_was_making():
    cache, started, finish = PlanCache(lambda: 9), threading.Event(), threading.Event()

    def make():
        started.set()
        finish.wait()
        return 1

    thread = threading.Thread(target=lambda: cache.get(("a",), make))
    thread.start()
    started.wait()
    if not (child := os.fork()):
        os._exit(cache.get(("a",), lambda: 7) != 7)  # a wait for the other thread would never end
    _, status = os.waitpid(child, 0)
    finish.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert cache.find(("a",)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_computes_while_another_thread_of_the_parent_compiles():
    shape, stop = (5, 7), threading.Event()

    def compile_on():
        n = 0
        while not stop.is_set():
            n += 1
            weft.einsum("ij,ij->ij" if n % 2 else "ij,ij->j", *[weft.zeros(shape, dtype=f"float{32 << n % 2}")] * 2)
            plans.clear()

    thread = threading.Thread(target=compile_on)
    thread.start()
    try:
        for _ in range(5):
            if not (child := os.fork()):
                found = weft.asarray(np.eye(3), format="csr") + weft.asarray(np.ones((3, 3)), format="coo")
                os._exit(not np.array_equal(found.todense(), np.eye(3) + 1))
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        thread.join()


def test_types_have_numbers_of_their_own():
    a, b = weft.zeros((2, 3), format="csr"), weft.zeros((2, 3), format="csr", dtype="float32")
    assert a._storage.type.number != b._storage.type.number


def test_no_more_plans_are_kept_than_the_setting_says():
    with config.override(plan_cache_size=8):
        for n in range(2, 12):
            a = weft.full((2, 3), n + 0.5, format="csr")
            np.testing.assert_array_equal((a + a).todense(), np.full((2, 3), 2 * n + 1.0))
        assert len(plans) <= 8
