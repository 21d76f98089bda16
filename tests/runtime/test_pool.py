"""The pool of threads: a stress test in C, and kernels of many threads and processes at once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from weft.codegen import emit_pool
from weft.runtime import toolchain

pytestmark = [pytest.mark.compiles_alone, pytest.mark.takes_long]

STRESS = Path(__file__).with_name("pool_stress.c").read_text()
CASES = {"regions": 300_000, "callers": 10, "children": 8, "handlers": 40, "delays": 2, "nested": 200, "pauses": 500}
# Without random addresses: old versions of the sanitizer find no room among them.
FIXED = ["setarch", "-R"] if shutil.which("setarch") else []
BUILDS = {
    "futex": ("-O2",),
    "conditions": ("-O2", "-DWEFT_NO_FUTEX"),
    "races": ("-O1", "-g", "-fsanitize=thread"),
    "races of conditions": ("-O1", "-g", "-fsanitize=thread", "-DWEFT_NO_FUTEX"),
}


@pytest.fixture(scope="module", params=BUILDS)
def stress(request, tmp_path_factory):
    """The command of the stress test, and how much it does: less with ThreadSanitizer."""
    program = tmp_path_factory.mktemp("stress") / "stress"
    flags = (*BUILDS[request.param], "-std=gnu11", "-Wall", "-Wextra", "-pthread", "-o", str(program))
    command = [*toolchain.find_compiler(), *flags, "-x", "c", "-"]
    done = subprocess.run(command, input=emit_pool() + STRESS, text=True, capture_output=True)
    if "thread" in str(flags) and done.returncode and "tsan" in done.stderr:
        pytest.skip("there is no ThreadSanitizer here")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    if "-fsanitize=thread" not in flags:
        return [str(program)], 1.0
    return [*FIXED, str(program)], 0.1


@pytest.mark.parametrize("case", CASES)
def test_stress(stress, case):
    command, part = stress
    environ = {**os.environ, "TSAN_OPTIONS": "die_after_fork=0"}
    count = max(1, int(CASES[case] * part))
    done = subprocess.run([*command, case, str(count)], env=environ, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


KERNELS = """
import os
del os.environ["LD_PRELOAD"]  # else the compiler would be checked, too
import numpy as np, weft

weft.config.num_threads, weft.config.parallel_threshold = 4, 0
rng = np.random.default_rng(0)
dense = np.where(rng.random((900, 900)) < 0.05, rng.random((900, 900)), 0)
A, B = weft.asarray(dense, format="csr"), weft.asarray(dense.T.copy(), format="csr")
x = rng.random(900)
C, D = A.asformat("dcsr"), B.asformat("dcsr")
blocks = A.asformat("bsr")
narrow = weft.asarray(rng.random((900, 20)), format="csr")
band = weft.asarray(sum(np.eye(900, k=k) for k in range(5)), format="csr")
shares = {"A": "csr", "schedule": lambda loops: loops.positions("A", 2, share=500)}
total, columns = (weft.compile(text, **shares) for text in ("s = A(i,j)*x(j)", "y(j) = A(i,j)*x(i)"))
shares["schedule"] = lambda loops: loops.positions("A", 2, share=100)
rows, long = weft.compile("y(i) = A(i,j)*x(j)", **shares), weft.asarray(rng.random((3, 900)), format="csr")
for _ in range(2):
    total(A, x), columns(narrow, x), columns(band, x), rows(long, x)
    A @ x, A @ B, A + B, A * B, C + D, C * D, blocks @ blocks, A[np.arange(0, 900, 2)], A.max(axis=1)
    [A.asformat(name) for name in ("csc", "dia", "csf")]
    [A.asformat(name) @ x for name in ("jad", "hyb")]
assert len(os.listdir("/proc/self/task")) >= 4
"""


def test_kernels_have_no_races():
    """Their workers find nothing that another thread writes, says ThreadSanitizer."""
    command = [*toolchain.find_compiler(), "-print-file-name=libtsan.so"]
    sanitizer = os.path.realpath(subprocess.run(command, capture_output=True, text=True).stdout.strip())
    if not os.path.isabs(sanitizer) or not os.path.isfile(sanitizer) or sys.platform != "linux":
        pytest.skip("there is no ThreadSanitizer here")
    options = "report_signal_unsafe=0:ignore_noninstrumented_modules=1:exitcode=66"
    environ = {
        **os.environ, "LD_PRELOAD": sanitizer, "TSAN_OPTIONS": options, "WEFT_CFLAGS": "-fsanitize=thread -g",
        "WEFT_OPT": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    done = subprocess.run([*FIXED, sys.executable, "-c", KERNELS], env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


TOGETHER = """
import os, signal, sys, threading
import numpy as np, weft

weft.config.num_threads, weft.config.parallel_threshold = 3, 0
rng = np.random.default_rng(0)
A = weft.asarray(np.where(rng.random((400, 400)) < 0.1, rng.random((400, 400)), 0), format="csr")
x = rng.random(400)
wanted = (A @ x).tobytes(), (A @ A).todense().tobytes()
wrong = []


def work(count):
    for _ in range(count):
        if ((A @ x).tobytes(), (A @ A).todense().tobytes()) != wanted:
            wrong.append(1)


def tasks():
    return len(os.listdir("/proc/self/task"))


for _ in range(3):
    threads = [threading.Thread(target=work, args=(8,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            work(10)
            os._exit(7 if not wrong and tasks() == 3 else 1)
        children.append(child)
    for thread in threads:
        thread.join()
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [7, 7]
assert not wrong
assert tasks() <= 1 + 2 + 3, tasks()  # two workers for all threads that have come and gone
threading.Thread(target=work, args=(10**9,), daemon=True).start()  # the process ends in the middle of kernels
"""


def test_threads_and_children_share_nothing_that_is_left_open():
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", TOGETHER]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


FORKING = """
import os, signal, sys
import numpy as np, weft

weft.config.num_threads, weft.config.parallel_threshold = 2, 0
A = weft.asarray(np.random.default_rng(0).random((600, 600)))
small = A[:30, :30]
weft.einsum("ij,jk->ik", small, small)
child = None


def ring(number, frame):
    global child
    weft.einsum("ij,jk->ik", small, small)  # a region inside another
    child = os.fork()
    if child == 0:
        signal.alarm(60)


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    while child is None:  # the handler runs in the middle of one of them
        weft.einsum("ij,jk->ik", A, A)
except RuntimeError as error:
    assert child == 0 and "forked" in str(error), error
    weft.einsum("ij,jk->ik", small, small)
    os._exit(7)
if child == 0:  # no worker was inside, so that nothing was lost
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_handler_that_forks_leaves_no_child_that_waits():
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
