"""Memory asked for ahead: where loops go along lists, where their coordinates lead, and nowhere else."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from ir.examples import verify
from weft.codegen import emit_library
from weft.compiler import plan_loops
from weft.config import config
from weft.formats import TensorType, parse_format
from weft.index_notation import parse
from weft.ir import Declare, For, Function, Update
from weft.ir.builder import add, block, lit, load, sub, var
from weft.ir.passes.prefetch_streams import prefetch_memory, prefetch_rows
from weft.ir.printer import function_text
from weft.module import Module
from weft.variant import Variant

from .compiled import build


def text(assignment, ahead=prefetch_memory, conversion=False, **formats):
    """The IR of a kernel that asks ahead."""
    types = {name: TensorType.of("float64", parse_format(f, order)) for name, (f, order) in formats.items()}
    function = Module(plan_loops(parse(assignment), types, Variant(conversion=conversion))).evaluation.ir
    return function_text(verify(ahead(function)))


def product(format):
    return text("y(i) = A(i,j)*x(j)", y=("dense", 1), A=(format, 2), x=("dense", 1))


def test_rows_of_a_loop_that_has_none_are_not_looked_at():
    """A tile of rows may lie beside a diagonal: its first row is then behind its last, and outside the matrix."""
    found = text("y(i) = A(i,j)*B(j,k)*x(k)", y=("dense", 1), A=("dia", 2), B=("csr", 2), x=("dense", 1))
    lines = [
        line for line in found.splitlines() if "_prefetch_until: int64" in line or "_prefetch_ahead: int64" in line
    ]
    assert lines
    assert all(line.endswith(" if j_inside_begin < j_inside_end else 0") for line in lines)


def test_rows_are_asked_for_before_they_are_read():
    found = product("csr")
    assert "weft_prefetch_read(A_vals + (pA2_from + pA2_prefetch_ahead))" in found
    assert "pA2_prefetch_ahead: int64 = 256 if " in found
    assert "weft_prefetch_read(x_vals + int64(A2_crd[pA2 + 64]))" in found
    assert "if pA2_to <= pA2_prefetch_until" in found


def test_lists_are_asked_for_by_stretches():
    found = product("coo")
    assert "if (pA1 & 15) == 0" in found
    assert "weft_prefetch_read(A_vals + (pA1 + 256 + 8))" in found  # the second line of sixteen values
    assert "weft_prefetch_write(y_vals + int64(A1_crd[pA1 + 64]))" in found


def test_places_that_are_computed_are_asked_for_where_they_scatter():
    found = text("C(i,j) = A(i,j)", conversion=True, C=("dense", 2), A=("coo", 2))
    asking, plain = found.split("for pA1 in pA1_prefetch_until .. ")
    assert "weft_scattered_int32(A2_crd, chunk_begin, chunk_end, 8)" in asking
    place = "int64(A1_crd[pA1 + 64]) * C2_dim + int64(A2_crd[pA1 + 64])"
    assert f"weft_prefetch_write(C_vals + ({place}))" in asking
    assert "prefetch" not in plain


def test_what_is_scattered_into_is_asked_for():
    found = text("y(j) = A(i,j)*x(i)", y=("dense", 1), A=("csr", 2), x=("dense", 1))
    assert "weft_prefetch_write(y_vals + int64(A2_crd[pA2 + 64]))" in found


def test_rows_of_rows_are_asked_for_as_one_list():
    found = text("y(i,j) = A(i,j,k)*x(k)", y=("dense", 2), A=("csf", 3), x=("dense", 1))
    before, _, _ = found.partition("for pA1")
    assert "A3_pos[int64(A2_pos[" in before  # how many entries there are to a row, asked once


def test_rows_across_lists_are_asked_for_once_before_loops_over_strips():
    found = text("M(i,r) = A(i,j)*C(j,r)", A=("ell", 2), **dict.fromkeys("MC", ("dense", 2)))
    before, _, _ = found.partition("for r_strip in")
    lines = [line.strip() for line in before.rstrip().splitlines()[-5:]]
    assert lines[:2] == ["for i in chunk_begin .. chunk_end:", "if (i & 7) == 0:"]
    assert lines[2] == "for r_strip_ahead in 0 .. int64(A1_size[0]):"
    assert lines[3] == "weft_prefetch_read(A3_crd + (r_strip_ahead * A1_dim + (i + 64)))"
    assert found.count("A_vals + (") == 1


def test_rows_across_lists_are_asked_for():
    found = text("C(i,j) = A(i,j)", conversion=True, C=("dense", 2), A=("ell", 2))
    assert "weft_prefetch_read(A3_crd + (nth_i_of_A * A1_dim + (i + 64)))" in found


@pytest.mark.parametrize("format", ["dense", "dia"])
def test_nothing_is_asked_for_where_segments_do_not_adjoin(format):
    assert "weft_prefetch_write" not in product(format)


MATRICES = dict.fromkeys("MCD", ("dense", 2))
MTTKRP, SDDMM = "M(i,r) = T(i,j,k)*C(j,r)*D(k,r)", "E(i,j) = A(i,j)*C(i,k)*D(j,k)"


def test_rows_that_coordinates_lead_to_are_asked_for():
    found = text(MTTKRP, prefetch_rows, T=("csf", 3), **MATRICES)
    before, _, loops = found.partition("for pT1")
    fibres = "int64(T3_pos[int64(T2_pos[chunk_begin])])"  # all fibres of all fibres are one list
    assert "pT3_prefetch_until: int64 = int64(T3_pos[int64(T2_pos[chunk_end])]) - 8 if " in before
    assert f"weft_scattered_rows_int32(T3_crd, {fibres}, " in before
    assert "if pT2 < pT2_prefetch_until:" in loops
    assert "weft_prefetch_row(C_vals + int64(T2_crd[pT2 + 8]) * C2_dim, D2_dim * 8)" in loops
    assert "weft_prefetch_row(D_vals + int64(T3_crd[pT3 + 8]) * D2_dim, D2_dim * 8)" in loops


@pytest.mark.parametrize(("format", "scattered"), [("csr", "D"), ("csc", "C")])
def test_one_operand_of_two_is_read_in_order(format, scattered):
    found = text(SDDMM, prefetch_rows, E=(format, 2), A=(format, 2), C=MATRICES["C"], D=MATRICES["D"])
    assert re.findall(r"weft_prefetch_row\((\w)_vals", found) == [scattered]


@pytest.mark.parametrize(("statement", "coo", "lists"), [(SDDMM, ("E", "A"), 2), (MTTKRP, ("T",), 3)])
def test_lists_that_are_walked_by_segments_are_sampled_as_one(statement, coo, lists):
    operands = {name: ("coo", 2 if name in "EA" else 3) for name in coo}
    found = text(statement, prefetch_rows, **MATRICES, **operands)
    samples = re.findall(r"(\w+): int64 = chunk_end - 8 if weft_scattered_rows_int32\((\w+), (.*), ", found)
    assert {where for _, _, where in samples} == {"chunk_begin, chunk_end"}
    assert {array for _, array, _ in samples} == {f"{coo[-1]}{k}_crd" for k in range(lists - 1, lists + 1)}
    assert all(f" < {until}:" in found for until, _, _ in samples)


@pytest.mark.parametrize("format", ["csr", "dense", "dia", "bsr"])
def test_rows_in_registers_and_in_order_are_left_alone(format):
    found = text("M(i,r) = A(i,j)*C(j,r)", prefetch_rows, A=(format, 2), **MATRICES)
    assert "weft_prefetch_row" not in found


def test_rows_in_vectors_are_left_alone():
    i, p, t, n = var("i"), var("p"), var("t", "float64"), var("n")
    pos, vals, y = var("pos", "int64*"), var("vals", "float64*"), var("y", "float64*")
    row = For(p, load(pos, i), load(pos, add(i, lit(1))), Update("+", t, load(vals, p)), simd=(("+", "t"),))
    body = block(Declare(t, lit(0.0, "float64")), row, Update("+", load(y, i), t))
    function = Function("f", (), For(i, lit(0), n, body))
    assert prefetch_memory(function) == function


def test_segments_with_room_between_them_are_left_alone():
    i, p, n = var("i"), var("p"), var("n")
    pos, vals, y = var("pos", "int64*"), var("vals", "float64*"), var("y", "float64*")
    row = For(p, load(pos, i), sub(load(pos, add(i, lit(1))), lit(1)), Update("+", load(y, i), load(vals, p)))
    function = Function("f", (), For(i, lit(0), n, row))
    assert prefetch_memory(function) == function


@pytest.mark.parametrize("ty", ["int32", "int64"])
def test_scattered(ty):
    names = [f"weft_scattered_{ty}", f"weft_scattered_rows_{ty}"]
    declared = "".join(f"bool {n}(const {ty}_t *list, int64_t begin, int64_t end, int64_t bytes);" for n in names)
    ffi, library = build(emit_library(names), declarations=declared)
    n = 1 << 18

    def scattered(coordinates, begin=0, size=8, name=names[0]):
        coordinates = np.ascontiguousarray(coordinates, dtype=ty)
        address = ffi.cast(f"{ty}_t *", coordinates.ctypes.data)
        return getattr(library, name)(address, begin, len(coordinates), size)

    rng = np.random.default_rng(0)
    anywhere = rng.integers(0, 1_000_000, n)
    assert scattered(anywhere)
    assert scattered(anywhere, n // 2)
    assert not scattered(anywhere, n - 1000)  # too few to ask
    assert not scattered(anywhere % 1000)  # all in a cache
    assert not scattered(anywhere % 100_000)
    assert scattered(anywhere % 100_000, size=16)
    assert not scattered(np.arange(n))
    assert not scattered(np.arange(n)[::-1])
    stencil = (np.arange(n // 5)[:, None] + [-1000, -1, 0, 1, 1000]).ravel()
    assert not scattered(stencil)
    assert not scattered(anywhere, size=0)
    # The share of a thread has fewer rows than there are elements for which prefetches pay.
    rows = partial(scattered, name=names[1], size=128)
    assert rows(anywhere[:5000])
    assert not rows(anywhere[:4000])
    assert not rows(anywhere[:5000], size=64)
    assert not rows(anywhere[:5000] % 32_000)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rank", [5, 16, 150])
def test_rows_change_no_bits(rank, threads):
    rng = np.random.default_rng(4)
    n = 600_000 // rank  # so that rows span more than 4 MiB
    C, D = rng.standard_normal((2, n, rank))
    D[5], C[7] = np.nan, -0.0
    A = weft.random((n, n), nnz=150_000, format="csr", rng=5)
    T = weft.random((300, n, n), nnz=150_000, format="csf", rng=6)
    found = []
    for off in (set(), {"prefetch-rows"}):
        with config.override(num_threads=threads, parallel_threshold=1, disable=off):
            values = [weft.evaluate(SDDMM, A=A.asformat(f), C=C, D=D).to_coo()[1] for f in ("csr", "coo")]
            lists = (T, T.asformat("coo"))
            values += [weft.evaluate(MTTKRP, T=one, C=C, D=D, format="dense") for one in lists]
            found.append([v.tobytes() for v in values])
    assert found[0] == found[1]


def scattered_matrix(rows, columns, per_row):
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 2 * per_row + 1, rows)
    counts[-1] = 0
    indptr = np.concatenate([[0], np.cumsum(counts)])
    found = sp.csr_array((rng.random(indptr[-1]), rng.integers(0, columns, indptr[-1]), indptr), shape=(rows, columns))
    found.sum_duplicates()
    return found


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "ell"])
def test_values_do_not_hang_on_it(format, index, threads):
    a = scattered_matrix(60_000, 200_000, 3)
    a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
    A = weft.asarray(a).asformat(format)
    x, z = np.random.default_rng(2).random(a.shape[1]), np.random.default_rng(3).random(a.shape[0])
    with config.override(num_threads=threads, parallel_threshold=1):
        np.testing.assert_allclose(A @ x, a @ x)
        np.testing.assert_allclose(A.T @ z, a.T @ z)
        for other in ("csr", "csc", "coo"):
            found = A.asformat(other)
            assert abs(sp.csr_array(found.to_scipy_sparse()) - a).nnz == 0
