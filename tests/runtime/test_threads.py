import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from tiny_kernels import PRELUDE

from weft.config import config
from weft.runtime import for_work, get_num_threads, set_num_threads, tensor_struct, threads
from weft.runtime.loader import load
from weft.runtime.structs import NULL

PARALLEL = (
    PRELUDE
    + """
int64_t weft_sum(weft_tensor *A, int64_t *counts, int64_t threads) {
  const int64_t *values = A->vals;
  int64_t total = 0;
  #pragma omp parallel for schedule(dynamic, 64) reduction(+ : total) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < A->dimensions[0]; i++) total += values[i];
  return total;
}
int64_t weft_team(weft_tensor *A, int64_t *counts, int64_t threads) {
  int64_t size = 0;
  #pragma omp parallel reduction(+ : size) num_threads(threads)
  size += 1;
  return size;
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
def clean(monkeypatch):
    monkeypatch.setattr(threads, "_single", False)
    monkeypatch.setattr(threads, "_team_started", False)
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
    assert total(99) == (499500, 1)
    assert total(100) == (499500, 2)


def child(queue):
    queue.put((get_num_threads(), for_work(10**9), total(10**9)))


def test_fork_after_a_parallel_kernel_does_not_hang():
    assert total(1000) == (499500, 2)
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
    assert queue.get() == (1, 1, (499500, 1))
    assert get_num_threads() == 2
    assert total(1000) == (499500, 2)


def test_fork_before_any_parallel_kernel_keeps_the_threads():
    program = (
        "import os; from weft.config import config\n"
        "config.num_threads = 2; config.parallel_threshold = 0\n"
        "from test_threads import total\n"
        "pid = os.fork()\n"
        "if pid == 0: os._exit(7 if total(5) == (499500, 2) else 1)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    assert subprocess.run([sys.executable, "-c", program], env=environ, timeout=60).returncode == 7


def test_the_gil_is_released():
    sleep = load(SLEEP, ["sleep"], 1, "a test")["sleep"]
    workers = [threading.Thread(target=sleep, args=(NULL, NULL, 1)) for _ in range(4)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert time.perf_counter() - start < 0.6
