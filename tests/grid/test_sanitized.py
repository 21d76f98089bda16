"""The grid's kernels under AddressSanitizer and UndefinedBehaviorSanitizer.

A sample of every operation by default; ``WEFT_SANITIZE_ALL=1`` runs every case of every grid.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.runtime import toolchain

from .operations import GRIDS

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
from tests.grid.grid import EXTENTS, run_case
from tests.grid.operations import GRIDS
from tests.kernel_batches import together
from weft.config import config

def computed(case):
    text, (formats, result), extent, threads = case
    with config.override(num_threads=threads, parallel_threshold=0):
        run_case(text, formats, result, dict.fromkeys(EXTENTS, extent))

cases = []
for name in sys.argv[2:]:
    text, every = GRIDS[name].text, list(GRIDS[name].cases())
    stride = 1 if sys.argv[1] == "all" else max(1, len(every) // 4)
    cases += [(text, case, 4, 1) for case in every[::stride]]
    cases += [(text, case, 0, 1) for case in every[1::stride * 2]]
    cases += [(text, case, 12, 2) for case in every[2::stride * 2]]
together(cases, computed)
"""


CATALOGUE = """
import sys
from functools import partial

import numpy as np

import weft
from tests.kernel_batches import together
from tests.grid.test_catalogue import A, D, MATRICES, SHAPES, TENSORS, x, z

def evaluated(text, array, format, operands):
    weft.evaluate(text, A=weft.asarray(array, format=format), **operands)

def added(array, format):
    made = weft.asarray(array, format=format)
    made + made

def converted(array, format, other):
    made = weft.asarray(array, format=format).asformat(other).asformat(format)
    np.testing.assert_array_equal(made.todense(), array)

def tidied(messy, format):
    np.testing.assert_array_equal(messy.asformat(format).todense(), messy.todense())

def cases_of(formats, array, products):
    for format in formats:
        yield from (partial(evaluated, text, array, format, operands) for text, operands in products.items())
        yield partial(added, array, format)
        yield from (partial(converted, array, format, other) for other in ("csf", "coo", *formats[:1]))

part = int(sys.argv[1])
matrices, tensors = MATRICES[part::2], TENSORS[part::2]
cases = [
    *cases_of(matrices, A, {"y(i) = A(i,j)*x(j)": {"x": x}, "y(j) = A(i,j)*z(i)": {"z": z}}),
    *cases_of(tensors, D, {"T(i,k) = A(i,j,k)": {}}),
]
for array in SHAPES.values():
    cases += cases_of(matrices, array, {"y(i) = A(i,j)*x(j)": {"x": np.ones(array.shape[1])}})
rows, columns = np.array([2, 0, 2, 1, 2, 0]), np.array([1, 3, 1, 0, 4, 3])
messy = weft.from_coords([rows, columns], np.arange(6.0), (4, 5), duplicates="keep")
cases += [partial(tidied, messy, format) for format in matrices]
together(cases, lambda case: case())
"""


AWKWARD = """
from functools import partial

import numpy as np

import weft
from tests.formats_for_tests import sparse
from tests.formats import test_own_level
from tests.kernel_batches import together
from weft.formats import Banded, Dense, Format, Squeezed

rng = np.random.default_rng(2)

def tensor(shape, fill, format):
    return sparse(np.where(rng.random(shape) < 0.3, rng.integers(1, 9, shape).astype(float), fill), fill, format)

def evaluated(text, format, operands):
    weft.evaluate(text, format=format, **{name: tensor(*given) for name, given in operands.items()})

def into(array, format, own):
    np.testing.assert_array_equal(weft.asarray(array, format=format).asformat(own).todense(), array)

cases = []
for format in ("sss", "ssd", "sds", "dss", "coo", "dok"):  # where one search misses the next has nowhere to look
    for text in ("y = sum(k, D(k,k,k))", "y(i,j) = D(i,j,j)", "y(i,j) = D(j,i,j)"):
        cases.append(partial(evaluated, text, None, {"D": ((5, 5, 5), 0.0, format)}))
for fill in (0.0, 1.0, np.inf, -np.inf):  # what annihilates nothing, and what does
    for first, second in (("sd", "csc"), ("csr", "csr"), ("dcsr", "coo"), ("csc", "dense")):
        given = {"A": ((9, 5), fill, first), "B": ((5, 40), fill, second)}
        for text in ("C(i,j) = A(i,k)*B(k,j)", "C(i,j) = max(k, A(i,k)*B(k,j))", "C(i,j) = min(k, A(i,k) + B(k,j))",
                     "C(i,j) = max(k, minimum(A(i,k), B(k,j)))"):
            cases += [partial(evaluated, text, made, given) for made in (None, "csr", "dense")]
    cases.append(partial(evaluated, "C(i,j) = v(i)*x(j)", None, {"v": ((9,), fill, "s"), "x": ((7,), 0.0, "s")}))
    cases.append(partial(evaluated, "y(j) = max(i, A(i,j))", None, {"A": ((9, 70), fill, "csr")}))
    given = {"A": ((9, 5), fill, "csr"), "B": ((5, 40), fill, "csr"), "v": ((9,), 0.0, "dense")}
    for around in ("maximum(maximum({}, 2), v(i))", "{}/v(i)", "2*{} + v(i)"):  # what is absent from a sum inside
        text = around.format("sum(k, A(i,k)*B(k,j))")
        cases += [partial(evaluated, "C(i,j) = " + text, made, given) for made in ("csr", "lil", "dok", "dcsr")]
for remapping, levels in [  # below coordinates that do not occur, and so have no positions
    ("(i,j) -> (i,j)", [Squeezed(), Banded()]),
    ("(i,j) -> (i/2,i%2,j)", [Squeezed(), Banded(), Banded()]),
    ("(i,j) -> (i/2,j,i%2)", [Squeezed(), Squeezed(), Dense()]),
    ("(i,j) -> (i/2/2,i/2%2,j/2,i%2,j%2)", [Squeezed(), Banded(), Banded(), Squeezed(), Squeezed()]),
]:
    for shape in ((4, 6), (1, 1), (3, 0)):
        some = np.where(rng.random(shape) < 0.1, 2.0, 0)
        for given in (some, np.zeros(shape)):
            cases += [partial(into, given, first, Format(remapping, levels)) for first in ("dense", "csr")]
for format in test_own_level.FORMATS:  # positions without entries, where others are not to be looked for
    for other in (test_own_level.FORMATS[0], "hash", "ell"):
        cases.append(partial(test_own_level.test_pairs, format, other))
together(cases, lambda case: case())
"""


def runtime_library(name: str) -> str:
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


# A call for each access takes a compiler less time than the same checks as code in each place.
CALLS = "--param asan-instrumentation-with-call-threshold=0"
# So does an instruction that ends the process where behavior is undefined, instead of code that says what it was, and
# where that is.
TRAPS = "-fsanitize-undefined-trap-on-error -g0"
START = """
import os
del os.environ["LD_PRELOAD"]  # else the compiler would be checked, too
from tests.child_processes import collect_seldom
collect_seldom()
"""


def sanitized(script: str, *arguments: str, flags: str = "") -> subprocess.CompletedProcess[str]:
    """Run a script whose kernels are sanitized."""
    environ = {
        **os.environ,
        "WEFT_SANITIZE": "1",
        "WEFT_CFLAGS": flags if "clang" in toolchain.current().version else f"{CALLS} {flags}",
        "LD_PRELOAD": f"{runtime_library('libasan.so')} {runtime_library('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), str(ROOT / "tests")]),
    }
    command = [sys.executable, "-c", START + script, *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, cwd=ROOT)


def ends_well(script: str, *arguments: str) -> None:
    """Check that a script whose kernels are sanitized ends without a report; else it runs again with longer ones."""
    done = sanitized(script, *arguments, flags=TRAPS)
    if done.returncode or "AddressSanitizer" in done.stdout + done.stderr:
        again = sanitized(script, *arguments)
        reports = [(each.stdout + each.stderr)[-4000:] for each in (done, again)]
        pytest.fail("\n".join([f"status {done.returncode}", *reports]))


FAULT = """
from runtime.tiny_kernels import make_source
from weft.runtime.loader import load
from weft.runtime.structs import NULL

load(make_source("1 << 64"), ["compute"], 1, "a test")["compute"](NULL, NULL, 1)
"""


def test_undefined_behavior_is_said():
    with pytest.raises(pytest.fail.Exception, match=r"shift exponent 64 is too large"):
        ends_well(FAULT)


@pytest.mark.parametrize("part", range(2))
def test_no_reports(part):
    ends_well(SCRIPT, "all" if os.environ.get("WEFT_SANITIZE_ALL") else "sample", *list(GRIDS)[part::2])


@pytest.mark.parametrize("part", range(2))
def test_no_reports_of_the_catalogue(part):
    """Every format assembled from and to others, walked and added, on awkward shapes too."""
    ends_well(CATALOGUE, str(part))


def test_no_reports_of_awkward_expressions():
    ends_well(AWKWARD)
