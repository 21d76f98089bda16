import multiprocessing
import os
import shlex
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from tiny_kernels import PRELUDE

from weft.codegen.prelude import INCLUDES, prelude_text
from weft.config import config
from weft.runtime import for_work, get_num_threads, limits, set_num_threads, tensor_struct, toolchain
from weft.runtime.loader import load
from weft.runtime.structs import NULL

pytestmark = pytest.mark.compiles_alone

PARALLEL = (
    INCLUDES
    + PRELUDE
    + prelude_text(["weft_thread", "weft_parallel"])
    + """
#include <unistd.h>
struct team { int64_t total, meeting, numbers; const int64_t *values; };
static int64_t add(void *shared, int64_t *next, int64_t end) {
  struct team *team = shared;
  for (int64_t i; (i = weft_take(next)) < end;) __atomic_fetch_add(&team->total, team->values[i], __ATOMIC_RELAXED);
  return 0;
}
/* Each iteration waits until all have been taken, each by another thread. */
static int64_t meet(void *shared, int64_t *next, int64_t end) {
  struct team *team = shared;
  for (int64_t i; (i = weft_take(next)) < end;) {
    __atomic_fetch_add(&team->numbers, INT64_C(1) << (8 * weft_thread()), __ATOMIC_RELAXED);
    __atomic_fetch_add(&team->meeting, 1, __ATOMIC_RELAXED);
    for (int k = 0; k < 20000 && __atomic_load_n(&team->meeting, __ATOMIC_RELAXED) < end; k++) usleep(1000);
  }
  return 0;
}
int64_t weft_sum(weft_tensor *A, int64_t *counts, int64_t threads) {
  struct team team = {0, 0, 0, A->vals};
  weft_parallel(add, &team, 0, A->dimensions[0], threads, NULL, NULL);
  return team.total;
}
/* How many iterations each thread of a team took, in the bytes of one number. */
int64_t weft_team(weft_tensor *A, int64_t *counts, int64_t threads) {
  struct team team = {0};
  weft_parallel(meet, &team, 0, threads, threads, NULL, NULL);
  return team.numbers;
}
"""
)
SLEEP = (
    PRELUDE
    + """
#include <unistd.h>
int64_t weft_sleep(weft_tensor *A, int64_t *counts, int64_t threads) { usleep(200000); return 0; }
"""
)


@pytest.fixture(autouse=True)
def clean():
    with config.override(num_threads=2, parallel_threshold=100):
        yield


def total(work):
    tensor, _keep = tensor_struct((1000,), (), np.arange(1000))
    module = load(PARALLEL, ["sum", "team"], 1, "a test")
    count = for_work(work)
    return module["sum"](tensor, NULL, count), module["team"](tensor, NULL, count)


def test_set_and_get():
    set_num_threads(3)
    assert get_num_threads() == config.num_threads == 3
    with pytest.raises(ValueError, match="num_threads"):
        set_num_threads(0)
    assert get_num_threads() == 3


def test_small_work_stays_on_one_thread():
    assert (for_work(99), for_work(100)) == (1, 2)
    assert total(99) == (499500, 0x1)
    assert total(100) == (499500, 0x101)
    with config.override(num_threads=5):
        assert total(100) == (499500, 0x101010101)


def child(queue):
    queue.put((get_num_threads(), for_work(10**9), total(10**9)))


def test_a_child_has_threads_again():
    assert total(1000) == (499500, 0x101)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        process = context.Process(target=child, args=(queue,))
        process.start()
    process.join(30)
    hangs = process.is_alive()
    if hangs:
        process.kill()
    assert not hangs
    assert process.exitcode == 0
    assert queue.get() == (2, 2, (499500, 0x101))
    assert total(1000) == (499500, 0x101)


LIMITED = """
import sys
import weft
assert "threadpoolctl" not in sys.modules
weft.config.num_threads, weft.config.parallel_threshold = 3, 0
weft.asarray([[1.0, 2.0]], format="csr") @ [1.0, 2.0]
assert "threadpoolctl" in sys.modules  # when there are threads to limit
"""


def test_threadpoolctl_limits_the_threads():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    limits.register()  # done when weft is imported after it, or a kernel first has several threads
    limits.register()
    (found,) = threadpoolctl.ThreadpoolController().select(user_api="weft").info()
    assert found["num_threads"] == 2
    with threadpoolctl.threadpool_limits(1):
        assert get_num_threads() == for_work(1000) == 1
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert get_num_threads() == 2
    assert get_num_threads() == 2
    subprocess.run([sys.executable, "-c", LIMITED], check=True)


NO_THREADS = """
import numpy as np, weft
weft.config.num_threads, weft.config.parallel_threshold = 2, 0
A = weft.asarray(np.eye(50), format="csr")
x = np.arange(50.0)
assert (A @ x == x).all() and (A @ A).nnz == 50
assert "the loop over i, on one thread: the C compiler failed" in str(weft.explain("ij,j->i", A, x))
"""


def test_where_there_are_no_threads_kernels_run_on_one(tmp_path):
    """A compiler without POSIX threads makes kernels, and no pool."""
    compiler = tmp_path / "cc"
    real = shlex.join(toolchain.find_compiler())
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *-pthread*) exit 1;; esac\nexec {real} "$@"\n')
    compiler.chmod(0o755)
    environ = {**os.environ, "WEFT_CC": str(compiler), "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", NO_THREADS], env=environ, check=True)
    text = subprocess.run([sys.executable, "-m", "weft", "cache", "info"], env=environ, capture_output=True, text=True)
    assert "threads   one: the C compiler failed" in text.stdout


def test_the_gil_is_released():
    sleep = load(SLEEP, ["sleep"], 1, "a test")["sleep"]
    workers = [threading.Thread(target=sleep, args=(NULL, NULL, 1)) for _ in range(4)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert time.perf_counter() - start < 0.6
