"""Ctrl-C during a kernel, in child processes: when it ends, and what is left of its operands."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiles_alone

CHILD = """
import hashlib, os, signal, sys, threading, time
import numpy as np, weft

name, threads = sys.argv[1], int(sys.argv[2])
weft.set_num_threads(threads)
rng = np.random.default_rng(0)


def matrix(n, count, format):
    rows, columns = rng.integers(0, n, (2, count))
    return weft.from_coords([rows, columns], rng.random(count), (n, n), duplicates="keep").asformat(format)


def listed(n):
    rows, columns = rng.integers(0, 10**6, (2, n))
    return weft.from_coords([rows, columns], np.ones(n), (10**6, 10**6), duplicates="keep")


def vector(n):
    return weft.from_coords([rng.integers(0, 10**9, n)], np.ones(n), (10**9,))


MERGED = "y = a(i) * b(i) + " + " + ".join(f"a(i) * {k}.5" for k in range(10))
SLOW = "y = " + " + ".join(f"tanh(x(i) * {k}.5)" for k in range(1, 9))
OF_ROWS = SLOW.replace("y =", "y(i) =").replace("x(i)", "A(i,j)")
CASES = {
    "products": (lambda n: (matrix(n, n * n // 10, "csr"),), lambda A: A @ A, 60, 3000),
    "dense products": (lambda n: (weft.asarray(rng.random((n, n))),), lambda A: weft.einsum("ij,jk", A, A), 60, 2500),
    "scattered": (lambda n: (listed(n),), lambda A: [A.asformat("csr") for _ in range(9)], 500, 3 * 10**6),
    "sorted": (lambda n: (listed(n),), lambda A: [A.asformat("csf") for _ in range(9)], 500, 3 * 10**6),
    "reduced": (lambda n: (weft.asarray(rng.random(n)),), lambda x: weft.evaluate(SLOW, x=x), 500, 10**7),
    "long rows": (
        lambda n: (weft.asarray(rng.random((2, n)), format="csr"),),
        lambda A: weft.evaluate(OF_ROWS, A=A, format="dense"),
        200_000,
        5 * 10**6,
    ),
    "merged": (
        lambda n: (vector(n), vector(n)),
        lambda a, b: [weft.evaluate(MERGED, a=a, b=b) for _ in range(50)],
        500,
        2 * 10**6,
    ),
    "queries": (
        lambda n: (matrix(n, n * 100, "csr"),),
        lambda A: [weft.query(A, "select [i] -> max(j) as m") for _ in range(20)],
        60,
        10**5,
    ),
}


def state(operands):
    arrays = [array for A in operands for array in (*A._storage.arrays, A._storage.vals)]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def stop(after, sent):
    time.sleep(after)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)


make, run, few, many = CASES[name]
small, operands = make(few), make(many)
run(*small)  # what is timed is no compiler
weft.config.parallel_threshold = 0
run(*small)
before, least = state(operands), 9.0
for after in (0.2, 0.25, 0.3):
    sent = []
    thread = threading.Thread(target=stop, args=(after, sent))
    thread.start()
    begin = time.perf_counter()
    try:
        run(*operands)
    except KeyboardInterrupt:
        least = min(least, time.perf_counter() - sent[0])
        if least < 0.2:
            break
    else:
        sys.exit(f"it was over after {time.perf_counter() - begin:.3f} s")
    thread.join()
assert state(operands) == before
run(*small)
print(least)
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "name", ["products", "dense products", "scattered", "sorted", "reduced", "long rows", "merged", "queries"]
)
def test_a_kernel_ends_soon_after_it_is_interrupted(name, threads):
    command = [sys.executable, "-c", CHILD, name, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.2


ASSIGNING = """
import os, signal, sys, threading, time
import numpy as np, weft

format, n = sys.argv[1], 6 * 10**5
rng = np.random.default_rng(0)
rows, columns = rng.integers(0, 10**6, (2, n))
number = rows * 10**6 + columns
values = rng.random(n) + 1


def put(A, k):
    A[rows[:k], columns[:k]] = values[:k]


def entries_of(k):
    # The last value of each place.
    keys, first = np.unique(np.append(number[:k][::-1], 0), return_index=True)
    return keys, np.append(values[:k][::-1], 1.0)[first]


all_of_them = entries_of(n)
put(weft.zeros((10**6, 10**6), format=format), 1000)
begin = time.perf_counter()
put(weft.zeros((10**6, 10**6), format=format), n)
all_of_it = time.perf_counter() - begin
for part in (0.2, 0.7, 0.8, 0.9):  # from sorting to inserting
    after = part * all_of_it
    A = weft.zeros((10**6, 10**6), format=format)
    A[0, 0] = 1.0
    put(A, 10)
    threading.Thread(target=lambda: (time.sleep(after), os.kill(os.getpid(), signal.SIGINT))).start()
    try:
        put(A, n)
        time.sleep(5)
    except KeyboardInterrupt:
        pass
    (i, j), found = A.asformat("coo").to_coo()
    keys = i.astype(np.int64) * 10**6 + j
    order = np.argsort(keys)
    new, old = (
        np.array_equal(keys[order], places) and np.array_equal(found[order], stored)
        for places, stored in (all_of_them, entries_of(10))
    )
    assert new or old, (format, after, len(keys), len(all_of_them[0]))
"""


@pytest.mark.parametrize("format", ["dok", "csr"])
def test_an_interrupted_assignment_is_made_or_not(format):
    """A table is filled from where that was stopped before the tensor is looked at."""
    command = [sys.executable, "-c", ASSIGNING, format]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


HANDLED = """
import signal, threading, time
import numpy as np, weft


class Alarm(Exception):
    pass


def ring(number, frame):
    raise Alarm


weft.set_num_threads(1)
A = weft.asarray(np.random.default_rng(0).random((2000, 2000)))
signal.signal(signal.SIGALRM, ring)
weft.einsum("ij,jk->ik", A[:9, :9], A[:9, :9])
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    weft.einsum("ij,jk->ik", A, A)
except Alarm:
    print("rung")
failed = []


def elsewhere():
    try:
        weft.einsum("ij,jk->ik", A[:900, :900], A[:900, :900])
    except BaseException as error:
        failed.append(error)


signal.signal(signal.SIGALRM, lambda number, frame: print("heard"))
signal.setitimer(signal.ITIMER_REAL, 0.2)
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
assert not failed
"""


def test_handlers_run_during_kernels_of_the_main_thread():
    """What they raise ends the kernel; what runs in other threads goes on."""
    done = subprocess.run([sys.executable, "-c", HANDLED], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["rung", "heard"]
