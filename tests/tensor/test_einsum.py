"""einsum, evaluate, compile and explain against NumPy."""

from __future__ import annotations

import operator
import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.errors import DTypeError, FormatError, NotationError, ShapeError, StorageError


def array(seed, shape):
    rng = np.random.default_rng(seed)
    return rng.integers(1, 9, shape) * (rng.random(shape) < 0.5).astype(float)


def dense(x):
    return x.todense() if isinstance(x, weft.SparseTensor) else x


SUBSCRIPTS = [
    ("ij->ij", (3, 4)),
    ("ij->ji", (3, 4)),
    ("ij", (3, 4)),
    ("ji", (3, 4)),
    ("ij->i", (3, 4)),
    ("ij->j", (3, 4)),
    ("ij->", (3, 4)),
    ("ii", (4, 4)),
    ("ii->i", (4, 4)),
    ("ij,j", (3, 4), (4,)),
    ("ij,i", (3, 4), (3,)),
    ("ij,jk", (3, 4), (4, 5)),
    ("ij,jk->ki", (3, 4), (4, 5)),
    ("ij,kj", (3, 4), (5, 4)),
    ("ij,ij", (3, 4), (3, 4)),
    ("ij,ij->ij", (3, 4), (3, 4)),
    ("ij,ji->ij", (3, 4), (4, 3)),
    ("i,j", (3,), (4,)),
    ("i,i", (4,), (4,)),
    (",ij", (), (3, 4)),
    ("ijk,k->ij", (3, 4, 5), (5,)),
    ("ijk,kl->ijl", (3, 4, 5), (5, 2)),
    ("ijk,jl,kl->il", (3, 4, 5), (4, 2), (5, 2)),
    ("ijk,ijk", (3, 4, 5), (3, 4, 5)),
    ("...j,j...", (3, 4), (4, 3)),
    ("...ij,...jk", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk", (2, 3, 4), (4, 5)),
    ("ij,ik,jk->ij", (3, 4), (3, 2), (4, 2)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)),
    ("ij,ij->ij", (3, 1), (3, 4)),
    ("i...->...", (3, 4)),
    ("ijij->ij", (2, 3, 2, 3)),
]


@pytest.mark.parametrize(("subscripts", "shapes"), [(s, shapes) for s, *shapes in SUBSCRIPTS])
@pytest.mark.parametrize("kinds", ["sparse", "first", "coo", "arrays"])
def test_einsum(subscripts, shapes, kinds):
    arrays = [array(n, shape) for n, shape in enumerate(shapes)]
    operands = {
        "sparse": lambda x, n: weft.asarray(x, format="csf"),
        "coo": lambda x, n: weft.asarray(x, format="coo"),
        "first": lambda x, n: x if n else weft.asarray(x, format="csf"),
        "arrays": lambda x, n: x,
    }[kinds]
    found = weft.einsum(subscripts, *(operands(x, n) for n, x in enumerate(arrays)))
    expected = np.einsum(subscripts, *arrays)
    np.testing.assert_allclose(dense(found), expected)
    assert np.shape(dense(found)) == np.shape(expected)
    if kinds == "arrays":
        assert not isinstance(found, weft.SparseTensor)


def test_einsum_sublists():
    A, B = array(0, (3, 4)), array(1, (4, 5))
    S = weft.asarray(A, format="csr")
    np.testing.assert_allclose(weft.einsum(S, [0, 1], B, [1, 2]), A @ B)
    np.testing.assert_allclose(weft.einsum(S, [0, 1], B, [1, 2], [2, 0]), (A @ B).T)


@pytest.mark.parametrize("optimize", [True, False, "auto", "greedy", "optimal", [(0, 1), (0, 1)]])
def test_einsum_paths(optimize):
    A, B, C = array(0, (3, 4)), array(1, (4, 5)), array(2, (5, 2))
    expected = np.einsum("ij,jk,kl->il", A, B, C)
    for convert in (lambda x: x, lambda x: weft.asarray(x, format="csr")):
        found = weft.einsum("ij,jk,kl->il", convert(A), convert(B), convert(C), optimize=optimize)
        np.testing.assert_allclose(dense(found), expected)
    found = weft.einsum(
        "ij,jk,kl", sp.csr_array(A), B, C, optimize=optimize, format="csc", dtype="float32", casting="same_kind"
    )
    assert str(found.format) == "csc"
    assert found.dtype == np.float32


def test_scalar_results_are_numpy_scalars():
    A = weft.asarray(array(0, (4, 4)), format="csr")
    for found in (weft.einsum("ii", A), weft.evaluate("a = A(i,j)", A=A), weft.einsum("ij,ij", A, A)):
        assert isinstance(found, np.float64)


def test_dense_results_are_arrays_where_an_array_came_in():
    A, x = weft.asarray(array(0, (4, 4)), format="csr"), np.ones(4)
    for subscripts in ("ij,j->i", "ij,i->j", "ji,j->i"):
        assert isinstance(weft.einsum(subscripts, A, x), np.ndarray)
    assert isinstance(weft.einsum("ij->i", A), weft.SparseTensor)
    assert isinstance(weft.einsum("ij,ij->ij", A, np.ones((4, 4))), weft.SparseTensor)
    U = np.ones((4, 2))
    assert isinstance(weft.einsum("ij,ik,jk->ij", A, U, U), weft.SparseTensor)
    assert isinstance(weft.einsum("ij,ik->jk", A, U), np.ndarray)
    assert isinstance(weft.einsum("ij,j->i", A, x, format="coo"), weft.SparseTensor)


def test_opt_einsum_is_imported_only_when_used(run_python):
    run_python("import sys, weft; assert 'opt_einsum' not in sys.modules")


@pytest.fixture
def run_python():
    import subprocess

    return lambda text: subprocess.run([sys.executable, "-c", text], check=True)


def test_evaluate():
    A, x, z = array(0, (3, 4)), np.arange(4.0), np.arange(3.0)
    S = weft.asarray(A, format="csr")
    found = weft.evaluate("y(i) = a*A(i,j)*x(j) + b*z(i)", A=S, x=x, z=z, a=2, b=-1.5)
    np.testing.assert_allclose(found, 2 * A @ x - 1.5 * z)
    found = weft.evaluate("B(i,j) = A(i,j) + A(i,j)*A(i,j)", A=S)
    np.testing.assert_allclose(found.todense(), A + A * A)
    found = weft.evaluate("B(j,i) = 2*A(i,j)", A=S, format="csc")
    np.testing.assert_allclose(found.todense(), 2 * A.T)
    assert str(found.format) == "csc"
    found = weft.evaluate("y(i) += A(i,j)*x(j)", A=S, x=x, y=z)
    np.testing.assert_allclose(found, z + A @ x)
    np.testing.assert_allclose(z, np.arange(3.0))


def test_python_numbers_are_weak():
    x = np.ones(3, np.float32)
    assert weft.evaluate("y(i) = a*x(i)", a=2.0, x=x).dtype == np.float32
    assert weft.evaluate("y(i) = a*x(i)", a=np.float64(2.0), x=x).dtype == np.float64
    assert weft.evaluate("y(i) = a*x(i)", a=2.5, x=np.ones(3, int)).dtype == np.float64
    assert weft.evaluate("y(i) = x(i)", x=x, dtype="complex64").dtype == np.complex64


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda A: weft.evaluate("y(i) = A(i,j)*x(j)", A=A), NotationError),
        (lambda A: weft.evaluate("y(i) = A(i,j)", A=A, x=1), NotationError),
        (lambda A: weft.evaluate("y(i) = A(i", A=A), NotationError),
        (lambda A: weft.evaluate("y(i) = A(i)", A=A), ShapeError),
        (lambda A: weft.evaluate("y(i) = A(i,j)*x(j)", A=A, x=np.ones(9)), ShapeError),
        (lambda A: weft.evaluate("y(i) = A(i,i)", A=A), ShapeError),
        (lambda A: weft.evaluate("y(i) = A(i,j)", A=A, format="csc"), FormatError),
        (lambda A: weft.evaluate("y(i) = A(i,j)", A=object()), DTypeError),
        (lambda A: weft.einsum("ij,jk", A), ShapeError),
        (lambda A: weft.einsum("ij,jk", A, A), ShapeError),
        (lambda A: weft.einsum("ij->ijj", A), NotationError),
        (lambda A: weft.einsum("ij", np.array([["a"]])), DTypeError),
        (lambda A: weft.compile("y(i) = A(i,j)", B="csr"), NotationError),
        (lambda A: weft.compile("y(i) = A(i,j)", A="nonsense"), FormatError),
        (lambda A: weft.compile("y(i) = A(i,j)", A="sss"), FormatError),
    ],
)
def test_bad_input(call, error):
    with pytest.raises(error):
        call(weft.asarray(array(0, (3, 4)), format="csr"))


def test_kernels():
    A, x = array(0, (3, 4)), np.arange(4.0)
    k = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense")
    assert "int64_t weft_evaluate(" in k.source
    assert k.operands == ("A", "x")
    assert "A(i,j)*x(j)" in k.explain(stages=True)
    assert "c" in k.stages
    for obj in (sp.csr_array(A), sp.csc_matrix(A), A, weft.asarray(A, format="coo"), A.astype("f4")):
        np.testing.assert_allclose(k(obj, x), A @ x)
    np.testing.assert_allclose(k(x=x, A=A), A @ x)
    for arguments, named in (((A,), {}), ((A, x, x), {}), ((A, x), {"A": A}), ((A,), {"z": x})):
        with pytest.raises(NotationError, match="operands A, x"):
            k(*arguments, **named)
    with pytest.raises(ShapeError, match="x has 2 axes"):
        k(A, A)
    with pytest.raises(DTypeError):
        k(A, object())


def test_assemble_and_compute():
    A, B = array(0, (5, 4)), array(1, (5, 4))
    k = weft.compile("C(i,j) = A(i,j) + B(i,j)", A="csr", B="csr", C="csr")
    S, T = weft.asarray(A, format="csr"), weft.asarray(B, format="csr")
    C = k.assemble(S, T)
    assert k.compute(C, S, T) is C
    np.testing.assert_allclose(C.todense(), A + B)
    k.compute(C, S * 2, T)
    np.testing.assert_allclose(C.todense(), 2 * A + B)


PLUS = "C(i,j) = A(i,j) + B(i,j)"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("A", weft.asarray(array(2, (5, 4)) + 1, format="csr")),  # other coordinates, more of them
        ("B", weft.asarray(np.roll(array(1, (5, 4)), 1), format="csr")),  # as many
        ("B", weft.asarray(np.ones((50, 40)), format="csr")),
    ],
    ids=["more", "others", "larger"],
)
def test_compute_refuses_operands_of_another_structure(name, other):
    k = weft.compile(PLUS, A="csr", B="csr", C="csr")
    given = {"A": weft.asarray(array(0, (5, 4)), format="csr"), "B": weft.asarray(array(1, (5, 4)), format="csr")}
    C = k.assemble(**given)
    with pytest.raises(StorageError, match=f"{name} .*call assemble again"):
        k.compute(C, **{**given, name: other})
    np.testing.assert_array_equal(k.compute(C, **given).todense(), k(**given).todense())


def test_compute_knows_a_structure_by_its_content():
    A = array(0, (5, 4))
    k = weft.compile(PLUS, A="csr", B="csr", C="csr")
    C = k.assemble(weft.asarray(A, format="csr"), weft.asarray(A, format="csr"))  # both are freed
    other = [weft.asarray(x, format="csr") for x in (3 * A, A + A)]
    np.testing.assert_allclose(k.compute(C, *other).todense(), 5 * A)
    np.testing.assert_allclose(k.compute(C, *[2 * A] * 2).todense(), 4 * A)  # arrays, which are converted anew
    gone = [np.roll(A, n) for n in range(20)]
    for other in gone[1:]:  # whose arrays may lie where others lay
        with pytest.raises(StorageError, match="stores other coordinates"):
            k.compute(C, weft.asarray(other, format="csr"), A)


def test_compute_refuses_an_operand_that_was_assigned_to():
    A = weft.asarray(np.diag([1.0, 0.0, 2.0]), format="csr")
    D = weft.asarray(np.zeros((3, 3)), format="csr")
    k = weft.compile(PLUS, A="csr", B="csr", C="csr")
    C = k.assemble(A, D)
    A[1, 1] = 5.0
    with pytest.raises(StorageError, match="A stores other coordinates"):
        k.compute(C, A, D)
    C = k.assemble(A, D)
    C[0, 2] = 1.0
    with pytest.raises(StorageError, match="assemble did not make this result"):
        k.compute(C, A, D)


def test_compute_takes_what_assemble_of_the_same_expression_made():
    A = weft.asarray(array(0, (5, 4)), format="csr")
    plus, times = (weft.compile(f"C(i,j) = A(i,j) {op} B(i,j)", A="csr", B="csr", C="csr") for op in "+*")
    with pytest.raises(StorageError, match="but for"):
        plus.compute(times.assemble(A, A), A, A)
    with pytest.raises(StorageError, match="assemble did not make this result"):
        plus.compute(A.copy(), A, A)
    y = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense")
    made = y.assemble(A, np.ones(4))  # dense: any operands of these shapes do
    np.testing.assert_allclose(y.compute(made, A + A, np.ones(4)).todense(), 2 * A.todense() @ np.ones(4))


def test_explain_says_that_operands_are_sorted_and_summed():
    coords, V = [[0, 0, 0], [2, 0, 0]], weft.eye(3, format="csr")
    U = weft.from_coords(coords, [1.0, 2.0, 3.0], shape=(3, 3), duplicates="keep").asformat("csr", sort=False)
    report = weft.explain("C(i,j) = U(i,j) + V(i,j)", U=U, V=V)
    assert "each call sorts the coordinates of U and sums repeated ones, since U may store a coordinate more" in report
    assert "; pass U.canonical() to avoid this\n" in report
    assert "each call" not in weft.explain("C(i,j) = U(i,j) + V(i,j)", U=U.canonical(), V=V)
    unordered = weft.Format("(i,j) -> (i,j)", [weft.Dense(), weft.Compressed(ordered=False)])
    report = weft.explain("C(i,j) = U(i,j) + V(i,j)", U=unordered, V="csr")
    merged = "coordinates j of U are in no order, and the loop over j merges U with V"
    assert f"each call sorts the coordinates of U, since {merged}; pass U.canonical() to avoid this" in report


def test_explain():
    A = weft.asarray(array(0, (3, 4)), format="csr")
    for text in (
        weft.explain("ij,j->i", A, np.ones(4), stages=True),
        weft.explain("y(i) = A(i,j)*x(j)", A=A, x=np.ones(4), stages=True),
        weft.explain("y(i) = A(i,j)*x(j)", A="csr", x="dense", stages=True),
    ):
        for part in ("csr", "forall", "int64_t weft_evaluate("):
            assert part in text


SHORT = """\
C(i,k) = sum(j, A(i,j)*B(j,k))
formats: C csr float64; A csr float64; B csc float64
each call converts B from csc to csr, since loops i,j,k cannot traverse B in csc; pass B.asformat('csr') to avoid this
loops: every i; j stored in A; k stored in B
values over k are accumulated in a dense array, with a list of the coordinates set
parallel: the loop over i
compiled: """


def test_the_short_report_says_what_costs_and_what_to_do():
    A, x = weft.asarray(array(0, (3, 4)), format="csr"), np.ones(4)
    found = weft.explain("C(i,k) = A(i,j)*B(j,k)", A=A, B=weft.asarray(array(1, (4, 3)), format="csc"))
    assert found.startswith(SHORT)
    assert weft.compile("C(i,k) = A(i,j)*B(j,k)", A="csr", B="csc").explain().startswith(SHORT)
    for text, reason in {
        "O(i,j) = exp(A(i,j))*x(j)": "x has values there, too",
        "O(i,j) = A(i,j) + x(j)": "O is dense",
    }.items():
        line = f"loops over all j, not only those stored in A: {reason}; multiply by not_equal(A(i,j), 0) to "
        assert f"\n{line}" in weft.explain(text, A=A, x=x)
        restricted = text.replace("= ", "= (") + ")*not_equal(A(i,j), 0)"
        assert "loops over all j" not in weft.explain(restricted, A=A, x=x)
        assert weft.evaluate(restricted, A=A, x=x).nnz == A.nnz
    names = [f"A{n}" for n in range(12)]  # too many cases for one nest of loops
    total = " + ".join(f"{name}(i,j)" for name in names)
    steps = weft.explain(f"O(i,j) = exp({total})*x(j)", **dict.fromkeys(names, A), x=x)
    assert " steps: in one nest of loops" in steps
    assert ": loops over all j, not only those stored in " in steps
    L = weft.asarray(np.where(A.todense() > 0, A.todense(), -np.inf), format="csr", fill_value=-np.inf)
    assert "multiply by not_equal(L(i,j), -inf) to" in weft.explain("O(i,j) = exp(L(i,j) - x(j))", L=L, x=x)
    z = np.array([1.0, 0.0, 2.0])
    quotient = weft.explain("O(i,j) = A(i,j)/z(i)", A=A, z=z)
    assert quotient.splitlines()[0] == "O(i,j) = A(i,j)/z(i)"
    assert "is visited" not in quotient  # it is said once, with what to write
    assert "has values at all of i, j because 0/z(i) may be nan; write A(i,j)*(1/z(i)), which is 0 there\n" in quotient
    many = " + ".join(f"{name}(i,j)" for name in "ABCDEFGHK")
    steps = weft.explain(f"O(i,j) = {many}", **dict.fromkeys("ABCDEFGHK", A))
    assert "8 steps" in steps
    assert "\n... and 5 more like these\nO(i,j) = T7(i,j) + K(i,j)\n" in steps
    assert len(steps.splitlines()) < 10


def test_the_short_report_says_what_loops_visit():
    for text, formats, loops in [
        ("C(i,j) = A(i,j) + B(i,j)", {"A": "csr", "B": "csr"}, "every i; j stored in A or B"),
        ("C(i,j) = A(i,j)*B(i,j)", {"A": "csr", "B": "csr"}, "every i; j stored in A and B"),
        ("C(i,j) = (A(i,j) + B(i,j))*D(i,j)", dict.fromkeys("ABD", "csr"), "every i; j stored in A and D or B and D"),
        ("C(i,j) = exp(A(i,j))*B(i,j)", {"A": "csr", "B": "csr"}, "every i; j stored in B"),
        ("y(i) = A(i,j)*x(j)", {"A": "bsr"}, "every i/2; j/2 stored in A; every i%2, j%2"),
        ("y = A(i,j)*B(j,i)", {"A": "csr", "B": "csr"}, "every i; j stored in A and B"),
    ]:
        assert f"\nloops: {loops}\n" in weft.compile(text, **formats).explain()


def test_a_dense_result_is_not_said_to_need_loops_that_it_has_not():
    B = {"B": "dense", "D": "dense", "M": "dense"}
    report = weft.compile("M(k,r) = A(i,j,k)*B(i,r)*D(j,r)", A="csf", **B).explain()
    assert "\nloops: i, j, k stored in A; every r\n" in report
    assert "loops over all" not in report


def test_the_short_report_says_which_kernels_a_call_runs():
    A, B = (weft.asarray(array(n, (4, 4)), format=format) for n, format in enumerate(("csr", "csc")))
    for function, arguments, expected in [
        (operator.matmul, (A, B), "the conversion of csc float64 to csr float64\n\nC(i,j) = sum(k, A(i,k)*B(k,j))\n"),
        (np.add, (A, A), "C(i) = A(i) + B(i)\n"),
        (A.__mul__, (2,), "C(i) = A(i)*B\nformats: C dense float64; A dense float64; B dense float64\n"
         "A has the stored values of the tensor of shape (4, 4) in csr\n"),
        (A.sum, (0,), "C(i1) = sum(i0, A(i0,i1))\n"),
        (A.transpose, (), "no kernel runs: "),
    ]:  # fmt: skip
        assert weft.explain(function, *arguments).startswith(expected)
    assert weft.explain(A.sum, 0, stages="index notation") == "== index notation\nC(i1) = sum(i0, A(i0,i1))"
    with pytest.raises(ZeroDivisionError):
        weft.explain(lambda: 1 / 0)
    assert weft.explain(lambda: weft.explain(A.sum, axis=0)).startswith("no kernel runs")
    with pytest.raises(ValueError, match="a call or a conversion has no drawing"):
        weft.explain(np.add, A, B, format="svg")


def test_the_short_report_says_where_the_kernel_comes_from(tmp_path, monkeypatch):
    monkeypatch.setattr(weft.config, "cache_dir", str(tmp_path))
    text = "y(i) = 3*A(i,j)*x(j) + 5*w(i)*w(i)"  # not shipped
    A, x, w = weft.asarray(array(0, (3, 4)), format="csr"), np.ones(4), np.ones(3)
    assert weft.explain(text, A=A, x=x, w=w).endswith("compiled: not yet; the first call waits for the compiler")
    weft.evaluate(text, A=A, x=x, w=w)
    assert weft.explain(text, A=A, x=x, w=w).endswith("compiled: in the cache on disk")


def test_the_short_report_says_which_loops_the_data_got():
    A = weft.random((30, 30), density=0.9, format="csr", rng=0)
    found = weft.explain("ji,jk->ik", A, A).splitlines()
    assert found[-1].startswith("chosen for these operands: dense result, since most coordinates of the result")


def test_einsum_of_many_operands_is_said_to_take_steps():
    A, X = weft.random((1000, 1000), nnz=3000, format="csr", rng=0), np.ones((1000, 5))
    path, _ = weft.einsum_path("ij,jk,kl->il", A, A, X)
    assert len(path) == 3
    for found in (weft.explain("ij,jk,kl->il", A, A, X), weft.explain("y(i,l) = A(i,j)*B(j,k)*X(k,l)", A=A, B=A, X=X)):
        assert "\n2 steps: fewer operations than in one nest of loops\nT1(j,l) = sum(k, B(j,k)*" in found


def test_stages_by_name():
    k, text = weft.compile("y(i) = A(i,j)*x(j)", A="csr"), "y(i) = A(i,j)*x(j)"
    assert k.explain(stages="c") == f"== c\n{k.source.rstrip()}"
    some = k.explain(stages=["concrete-notation", "prefetch"])
    assert re.findall("^== (.*)", some, re.MULTILINE) == ["concrete notation", "prefetch"]
    assert weft.explain(text, A="csr", stages=["concrete-notation", "prefetch"]) == some
    whole = re.findall("^== (.*)", k.explain(stages=True), re.MULTILINE)
    assert whole == [name for name, shown in k.stages.items() if shown]
    assert {*whole, "polling"} < {*re.findall("^== (.*)", k.explain(stages="all"), re.MULTILINE)}
    A = weft.asarray(array(0, (3, 4)), format="csr")
    assert weft.explain("ij,j->i", A, np.ones(4), stages="ir").startswith("== ir\nfunction evaluate(")
    with pytest.raises(ValueError, match="there is no stage 'lattice'; did you mean 'lattices'"):
        k.explain(stages="lattice")
    many = " + ".join(f"{name}(i,j)" for name in "ABCDEFGHK")
    stages = weft.compile(f"O(i,j) = {many}", **dict.fromkeys("ABCDEFGHK", "csr")).explain(stages="schedule")
    assert stages.startswith("== schedule, kernel 1\n")


def test_factors_outside_a_sum_still_widen_it():
    v = np.array([100, 100], np.int8)
    assert weft.evaluate("n = c*v(i)", c=np.int64(1), v=v) == 200
    assert weft.evaluate("n = c*equal(v(i), x)", c=np.int64(1), v=v, x=np.int8(100)) == 2
    assert weft.evaluate("n = c*v(i)", c=1.0, v=np.array([1e38, 3e38], np.float32)) == np.inf  # a weak scalar
    assert weft.evaluate("n = c*v(i)", c=np.float64(1), v=np.array([3e38, 3e38], np.float32)) > 5e38


def dense_of(found):
    return found.todense() if isinstance(found, weft.SparseTensor) else found


@pytest.mark.parametrize("format", ["csr", "coo", "csc", "dia", "dense", "dok"])
@pytest.mark.parametrize(
    ("reduce", "ufunc"),
    [
        ("prod", np.multiply),
        ("min", np.minimum),
        ("max", np.maximum),
        ("any", np.logical_or),
        ("all", np.logical_and),
    ],
)
def test_einsum_with_another_reduction(format, reduce, ufunc):
    rng = np.random.default_rng(2)
    a = np.where(rng.random((5, 6)) < 0.6, rng.integers(-4, 5, (5, 6)).astype(float), 0)
    a[2] = rng.integers(1, 4, 6)  # a row without absent elements
    x = rng.integers(-3, 4, 6).astype(float)
    A = weft.asarray(a, format=format)
    for subscripts, operands, dense in [
        ("ij->i", (A,), a), ("ij->j", (A,), a.T), ("ij,j->i", (A, x), a * x), ("ij->", (A,), a.reshape(1, -1)),
        ("ij,ij->i", (A, A), a * a), ("ii->", (A[:, :5],), np.diagonal(a)[None]),
    ]:  # fmt: skip
        found = dense_of(weft.einsum(subscripts, *operands, reduce=reduce))
        expected = ufunc.reduce(dense, axis=1)
        expected = expected if subscripts[-1] != ">" else expected[0]
        np.testing.assert_array_equal(found, expected)
        assert np.asarray(found).dtype == expected.dtype
    found = weft.evaluate(f"y(i) = {reduce}(j, A(i,j)*x(j))", A=A, x=x, format="dense")
    np.testing.assert_array_equal(dense_of(found), ufunc.reduce(a * x, axis=1))
    with pytest.raises(ValueError, match="reduce is one of"):
        weft.einsum("ij->i", A, reduce="mean")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("y(i) = hypot(v(i), isnan(3))", [0.0, 1.0, 2.0]),
        ("y(i) = v(i)*isnan(3)", [0.0, 0.0, 0.0]),
        ("y(i) = v(i) + logical_not(0)", [1.0, 2.0, 3.0]),
        ("y(i) = isnan(3) + isnan(2) + v(i)", [0.0, 1.0, 2.0]),
    ],
)
def test_functions_of_literals_that_are_true_or_false(text, wanted):
    for v in (np.arange(3.0), weft.asarray(np.arange(3.0), format="coo")):
        found = weft.evaluate(text, v=v)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(dense(found), wanted)


@pytest.mark.parametrize(
    "dtypes",
    [
        ("int8", "uint16", "complex64"), ("int16", "uint16", "float32"), ("uint64", "int8", "float32"),
        ("bool", "int8", "uint8"), ("int32", "float32", "complex64"), ("int8", "uint8", "int16", "uint16", "float32"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("optimize", [False, True, "auto"])
def test_einsum_promotes_all_operands_together(dtypes, optimize):
    operands = [np.full((3, 3), 100, dtype) for dtype in dtypes]
    subscripts = ",".join("ijklmnop"[k : k + 2] for k in range(len(dtypes)))
    wanted = np.einsum(subscripts, *operands)
    for make in (lambda x: x, lambda x: weft.asarray(x, format="coo")):
        found = weft.einsum(subscripts, *(make(x) for x in operands[:-1]), operands[-1], optimize=optimize)
        assert dense(found).dtype == wanted.dtype == np.result_type(*operands)
        np.testing.assert_allclose(dense(found), wanted, rtol=1e-5)


def test_the_dtype_of_a_result_whose_format_is_inferred():
    assert "C: csr float32" in repr(weft.compile("C(i,k) = A(i,j)*B(j,k)", A="csr", B="csr", dtypes={"C": "float32"}))
    formats = {"A": "csr", "B": "csr"}
    assert "C csr float32" in weft.explain("C(i,k) = A(i,j)*B(j,k)", dtype="float32", **formats)
    assert "C csc float32" in weft.explain("C(i,k) = A(i,j)*B(j,k)", dtype="float32", format="csc", **formats)
