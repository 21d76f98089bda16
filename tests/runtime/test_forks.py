"""Children that are forked while other threads of their parent compile, allocate or assign."""

import os
import subprocess
import sys
import threading
import time

import pytest
from tiny_kernels import make_source

from weft.config import config
from weft.runtime import forks, toolchain
from weft.runtime.loader import load
from weft.runtime.structs import NULL

pytestmark = pytest.mark.compiles_alone

FORKING = """
import os, signal, sys, threading, time, warnings
import numpy as np, weft

warnings.simplefilter("ignore", DeprecationWarning)
weft.config.num_threads, weft.config.parallel_threshold = 2, 0
A = weft.asarray(np.eye(40), format="csr")
T = weft.zeros((40, 40), format="dok")
weft.evaluate("y(i) = A(i,j) * 2", A=A)
S = weft.asarray(np.ones((2, 200_000)), format="csr")  # whose rows and whose sum threads share
ones = np.ones(200_000)
assert (S @ ones == 200_000).all() and weft.einsum("ij,ij->", S, S) == 400_000
D, U = (weft.asarray(np.eye(40, k=k), format="dcsr") for k in (0, 1))  # whose merge threads share by ranges
assert weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=D, B=U).nnz == 79
going = True


def compiles():
    while going:
        weft.evaluate(f"y(i) = A(i,j) * {time.time_ns() % 10**9}.5", A=A)


def assigns():
    k = 0
    while going:
        k += 1
        T[k % 40, k // 40 % 40] = k
        T[k % 40, :] = np.arange(40)
        weft.runtime.empty(10**6, "float64")


workers = [threading.Thread(target=work, daemon=True) for work in (compiles, compiles, assigns)]
for worker in workers:
    worker.start()
statuses = []
for k in range(8):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(40)
        assert (weft.evaluate("y(i) = A(i,j) * 2", A=A) == 2).all()
        T[1, 1] = -5.0
        T[2] = np.ones(40)
        assert T[1, 1] == -5 and T.sum(axis=1)[2] == 40
        assert (weft.evaluate(f"y(i) = A(i,j) * {k}.25", A=A) == k + 0.25).all()
        assert (S @ ones == 200_000).all() and weft.einsum("ij,ij->", S, S) == 400_000
        assert weft.evaluate("C(i,j) = A(i,j) + B(i,j)", A=D, B=U).nnz == 79
        assert A.asformat("csc").nnz == 40 and (weft.zeros(10**6) == 0).all()
        os._exit(7)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
going = False
print(statuses, flush=True)
os._exit(0)
"""


def test_children_do_not_hang(tmp_path):
    environ = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", FORKING], env=environ, capture_output=True, text=True, timeout=400)
    assert done.stdout == f"{[7] * 8}\n", done.stderr


def test_unrelated_kernels_are_compiled_at_the_same_time(tmp_path):
    """Each of two compilers waits until the other has started."""
    real = toolchain.find_compiler()[0]
    command = tmp_path / "cc"
    command.write_text(f"""#!/bin/sh
case "$*" in *--version*) exec {real} "$@";; esac
touch {tmp_path}/$$.met
for n in $(seq 300); do
  [ $(ls {tmp_path} | grep -c met) -ge 2 ] && exec {real} "$@"
  sleep 0.1
done
exit 1
""")
    command.chmod(0o755)
    with config.override(cc=str(command)):
        toolchain.current()
        workers = [threading.Thread(target=run, args=(k,)) for k in (1, 2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert [run(1), run(2)] == [1, 2]


def run(value):
    return load(make_source(value), ["compute"], 1, "a test")["compute"](NULL, NULL, 1)


def test_threads_that_want_the_same_kernel_compile_it_once(monkeypatch):
    compile, count = toolchain.Toolchain.compile, []

    def counted(self, source, output):
        count.append(output)
        time.sleep(0.2)
        compile(self, source, output)

    monkeypatch.setattr(toolchain.Toolchain, "compile", counted)
    workers = [threading.Thread(target=run, args=(5,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(count) == 1


def test_a_fork_waits_for_changes_and_leaves_locks_free():
    lock, changed = forks.data_lock(), []

    def change():
        with lock:
            time.sleep(0.3)
            changed.append(True)

    worker = threading.Thread(target=change)
    worker.start()
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        os._exit(7 if changed and lock.acquire(timeout=5) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    worker.join()
    assert lock.acquire(timeout=5)
    lock.release()
