"""Running totals: a loop for a CPU, and on a device its own scan, between the kernels before and behind."""

import numpy as np
import pytest

import weft
from ir.examples import verify
from weft.code_options import code_options
from weft.compiler import generate
from weft.device_code import program_of
from weft.device_program import Launch, Scan, Size
from weft.errors import DeviceError
from weft.execution.device_assembly import BoundProgram
from weft.formats import Format
from weft.formats.level import LevelVars
from weft.ir import Block, Declare, For, Function, If, Param, Store
from weft.ir import Scan as Totals
from weft.ir.builder import add, block, cast, lit, load, lt, sub, var
from weft.ir.interpreter import run
from weft.ir.passes.launches import launches
from weft.ir.passes.serial_scans import serial_scans
from weft.ir.passes.simplify import simplify
from weft.runtime import devices
from weft.storage import Storage, tensor_type

from . import nvrtc

N, POS = var("C1_dim"), var("C2_pos", "int32*")
VALS = var("C_vals", "int64*")
CRD = var("A1_crd", "int32*")
RESULT = Param("C", (N,), (POS,), VALS, output=True)
ENTRIES = Param("A", (var("A1_dim"),), (CRD,), var("A_vals", "float64*"))
LEVEL, VARS = weft.Compressed(), LevelVars(1, N, {"pos": POS})


def function(*stmts):
    return verify(Function("f", (RESULT, ENTRIES), Block(stmts)))


def row_starts():
    """Edges as level functions insert them out of order: counts, their running totals, and what reads these."""
    p, q, i = var("p"), var("q"), var("i")
    count = LEVEL.unseq_insert_edges(VARS, cast(load(CRD, p), "int64"), lit(1))
    length = sub(load(POS, add(i, lit(1))), load(POS, i))
    return function(
        For(p, lit(0), var("A1_dim"), count),
        LEVEL.unseq_finalize_edges(VARS, N, q),
        For(i, lit(0), N, Store(VALS, i, cast(length, "int64"))),
    )


def childless(begin=0):
    """Edges of parents without children after those of the others: the last edge before them."""
    return function(LEVEL.seq_finalize_edges(VARS, (lit(0), N), lit(begin), var("q")))


def program(f, lanes=1):
    return program_of(f, launches(f, lanes), "f")


def on_device(f, rows, pos, lanes=1):
    """The positions and the values that a program for the emulated device computes."""
    device, type = devices.device("emulated"), tensor_type("float64", Format.dense(1))
    moved = [device.copy_in(a) for a in (pos, np.full(len(pos) - 1, -7), rows, np.zeros(0))]
    n = (len(pos) - 1,)
    tensors = {"C": Storage(n, type, (moved[0],), moved[1]), "A": Storage((len(rows),), type, (moved[2],), moved[3])}
    BoundProgram(device, program(f, lanes), tensors).run(moved)
    return moved[0].get(), moved[1].get()


def by_interpreter(f, rows, pos):
    names = {"C1_dim": len(pos) - 1, "A1_dim": len(rows), "A1_crd": rows.tolist(), "C2_pos": pos.tolist()}
    return run(f.body, {**names, "C_vals": [-7] * (len(pos) - 1)})


@pytest.mark.parametrize("n", [0, 1, 9, 700])
def test_row_starts(n):
    rng = np.random.default_rng(n)
    rows = rng.integers(0, max(n, 1), 3 * n).astype(np.int32)
    f, pos = row_starts(), np.zeros(n + 1, np.int32)
    counts = np.bincount(rows, minlength=n)[:n]
    found, lengths = on_device(f, rows, pos)
    assert (found == np.concatenate([[0], counts.cumsum()])).all()
    assert (lengths == counts).all()
    again = by_interpreter(f, rows, pos)
    assert again["C2_pos"] == found.tolist()
    assert again["C_vals"] == lengths.tolist()


@pytest.mark.parametrize("pos", [[0], [0, 0], [0, 3, 0, 0, 4, 0], [0, 0, 0, 2, 0, 5]])
@pytest.mark.parametrize("begin", [0, 2])
def test_edges_of_parents_without_children(pos, begin):
    f, pos = childless(begin), np.array(pos, np.int32)
    expected = [pos[0], *np.maximum.accumulate(np.concatenate([[begin], pos[1:]]))[1:]]
    found, _ = on_device(f, np.zeros(0, np.int32), pos)
    assert found.tolist() == expected == by_interpreter(f, np.zeros(0, np.int32), pos)["C2_pos"]


def test_a_device_scans_between_kernels():
    first, scan, last = program(row_starts()).steps
    assert isinstance(first, Launch)
    assert scan == Scan("C2_pos", (Size(factor=0),), (Size(over=("C1_dim",)), Size()), "+")
    assert isinstance(last, Launch)


def test_a_cpu_runs_a_loop():
    f = simplify(serial_scans(row_starts()))
    assert "C2_pos[q + 1] += C2_pos[q];" in generate([f], code_options(disabled=frozenset({"prefetch"})))
    assert serial_scans(f) is f


def test_texts_are_cuda():
    library = nvrtc.library()
    for lanes, architecture in ((1, "sm_75"), (32, "sm_90")):
        assert b"weft_f_2" in nvrtc.compiled(library, program(row_starts(), lanes).source, architecture)
        assert b"weft_f_1" in nvrtc.compiled(library, program(childless(2), lanes).source, architecture)


SCAN = Totals(var("q"), POS, lit(0), add(N, lit(1)), "+")


@pytest.mark.parametrize(
    ("stmt", "reason"),
    [
        (For(var("i"), lit(0), N, SCAN), "the loop over i computes running totals of C2_pos"),
        (If(lt(lit(2), N), SCAN), "the running totals of C2_pos depend on a condition"),
        (
            block(Declare(var("n"), cast(load(POS, N), "int64")), Totals(var("q"), POS, lit(0), var("n"), "+")),
            r"running totals reach to int64\(C2_pos\[C1_dim\]\), which kernels compute",
        ),
    ],
)
def test_what_a_device_does_not_scan(stmt, reason):
    with pytest.raises(DeviceError, match=reason):
        program(function(stmt))
