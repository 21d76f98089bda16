"""Results that are full because of fill values: what counts against the limit, what warns, and what is said."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import weft
from weft import execution
from weft.errors import DensifyError, DensifyWarning, ResultTooLargeError
from weft.index_notation import parse
from weft.runtime import memory

N = 1000
E = weft.eye(N, format="csr")
ONES = np.ones(N)
MIN_PLUS = "D(i,j) = min(k, W(i,k) + V(k,j))"


@pytest.fixture(autouse=True)
def small_limit():
    with weft.config.override(max_densify_bytes=10**6 - 1):
        yield


SPELLINGS = {
    "notation": lambda: weft.evaluate("C(i,j) = A(i,j) - x(j)", A=E, x=ONES),
    "rows": lambda: weft.evaluate("C(i,j) = A(i,j) + x(i)", A=E, x=ONES),
    "scalar tensor": lambda: weft.evaluate("C(i,j) = A(i,j) + s", A=E, s=np.float64(1)),
    "outer product": lambda: weft.evaluate("C(i,j) = A(i,j) + x(i)*y(j)", A=E, x=ONES, y=ONES),
    "sparse format": lambda: weft.evaluate("C(i,j) = A(i,j) - x(j)", A=E, x=ONES, format="csr"),
    "operator": lambda: E - ONES,
    "reflected": lambda: ONES[:, None] + E,
    "ufunc": lambda: np.subtract(E, ONES),
    "function": lambda: weft.subtract(E, ONES),
    "dense tensor": lambda: E + weft.asarray(ONES),
    "comparison": lambda: np.where(ONES.cumsum() > 5, 1.0, -1.0) < E,
    "maximum": lambda: weft.maximum(E, ONES),
    "kernel": lambda: weft.compile("C(i,j) = A(i,j) - x(j)", A="csr")(E, ONES),
    "min-plus": lambda: weft.evaluate(MIN_PLUS, W=E, V=E),
    "min-plus kernel": lambda: weft.compile(MIN_PLUS, W="csr", V="csr")(E, E),
    "assemble": lambda: weft.compile(MIN_PLUS, W="csr", V="csr", D="csr").assemble(E, E),
    "distances": lambda: weft.evaluate("D(i,j) = sum(k, square(A(i,k) - B(j,k)))", A=E, B=E),
    "product": lambda: (E + 1) @ E,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_counts_against_the_limit(spelling):
    with pytest.raises(
        DensifyError, match=r"more than weft\.config\.max_densify_bytes, 999999; .*, or raise the limit"
    ):
        SPELLINGS[spelling]()


ASKED = {
    "format": (lambda: weft.evaluate("C(i,j) = A(i,j) - x(j)", A=E, x=ONES, format="dense"), np.ndarray),
    "dense kernel": (lambda: weft.compile("C(i,j) = A(i,j) - x(j)", A="csr", C="dense")(E, ONES), np.ndarray),
    "array of its shape": (lambda: E - np.ones((N, N)), np.ndarray),
    "arrays alone": (lambda: weft.evaluate("C(i,j) = x(i) + y(j)", x=ONES, y=ONES), np.ndarray),
    "contraction": (lambda: E @ np.ones((N, N)), np.ndarray),
    "with a bias": (lambda: weft.evaluate("Y(i,r) = A(i,j)*W(j,r) + b(r)", A=E, W=np.ones((N, N)), b=ONES), np.ndarray),
    "row product": (lambda: E * ONES, weft.SparseTensor),
    "fill value": (lambda: E + 1, weft.SparseTensor),
    "function": (lambda: np.exp(E), weft.SparseTensor),
    "mask": (lambda: weft.evaluate("C(i,j) = M(i,j)*(A(i,j) + x(j))", M=E, A=E, x=ONES), weft.SparseTensor),
    "outer product": (lambda: weft.kron(E[0], E[:, 0]), weft.SparseTensor),
    "decided": (lambda: E > ONES, weft.SparseTensor),
    "min-plus": (lambda: weft.evaluate(MIN_PLUS, W=E.with_fill(np.inf), V=E.with_fill(np.inf)), weft.SparseTensor),
}


@pytest.mark.parametrize("case", ASKED)
def test_what_is_asked_for_or_sparse_is_computed(case):
    run, kind = ASKED[case]
    with warnings.catch_warnings(action="error"):
        assert isinstance(run(), kind)


def test_comparisons_look_at_the_values_beside_them_in_operators_as_in_notation():
    A = weft.random((30, 40), nnz=90, format="csr", rng=0)
    a, t = A.todense(), np.linspace(0, 1, 30)[:, None]
    T = np.broadcast_to(t, a.shape)
    for other in (t, T.copy(), -1 - t, t - 0.5):
        for op in (np.greater, np.less, np.greater_equal, np.not_equal, np.maximum, np.minimum):
            for found, wanted in ((op(A, other), op(a, other)), (op(other, A), op(other, a))):
                np.testing.assert_array_equal(found if isinstance(found, np.ndarray) else found.todense(), wanted)
    assert (t < A).nnz <= A.nnz
    assert (-1 - t < A).fill_value
    assert isinstance(t - 0.5 < A, np.ndarray)


def test_errors_say_what_to_write():
    with pytest.raises(DensifyError, match=r"W and V are 0 where they store nothing, which counts in min: .*pass "
                       r"weft.asarray\(W\).with_fill\(inf\) and weft.asarray\(V\).with_fill\(inf\)"):  # fmt: skip
        weft.evaluate(MIN_PLUS, W=E, V=E)
    with pytest.raises(DensifyError, match=r"pass weft.asarray\(V\).with_fill\(inf\)"):
        weft.evaluate(MIN_PLUS, W=E.with_fill(np.inf), V=E)
    A, B = weft.eye(10**6, format="csr"), np.zeros(10**6)
    for op in (np.add, np.remainder, np.power):
        with pytest.raises(DensifyError, match=r"8 TB.*computes only what A stores, or make A dense") as caught:
            op(A, B)
        advice = str(caught.value).partition("; take ")[2].partition(", which")[0]
        with np.errstate(invalid="ignore"):
            assert eval(advice, {"weft": weft, "np": np, "A": A, "B": B}).nnz == A.shape[0]
    with pytest.raises(ResultTooLargeError, match=r"in kron\(a, b\), with a: \(1000000, 1000000\) csr, b: "):
        weft.kron(A, A)
    with pytest.raises(ResultTooLargeError, match=r"in multiply\(A, B\), with A: \(1000000, 1\) dense, B: "):
        weft.asarray(B[:, None]) * B
    with pytest.raises(DensifyError, match=r"greater\(0, t\(j\)\) is not the same for all values of t\(j\)"):
        weft.evaluate("C(i,j) = greater(A(i,j), t(j))", A=E, t=ONES - (ONES.cumsum() > 3) * 2)
    with pytest.raises(DensifyError, match=r"since B\(j\) has a value everywhere"):
        weft.compute(np.where(weft.lazy(E) > 0, E, ONES))
    with pytest.raises(DensifyError, match=r"since it is computed for every i, j, also where A stores nothing"):
        weft.evaluate("C(i,j) = A(i,k)*A(k,j) + 1", A=E)
    fixed = weft.evaluate("C(i,j) = not_equal(A(i,j), 0)*(A(i,j) - x(j))", A=E, x=ONES)
    assert fixed.nnz == N


def test_a_program_that_is_too_large_computes_nothing(monkeypatch):
    L, x = weft.lazy(weft.eye(10**6, format="csr")), weft.lazy(np.ones(10**6))
    P = L @ L
    results = {
        "since B(j) has a value": L - x, "since 0/": L / (x - 1), "; in C(i,j) = A(i)*A(j), with ": x[:, None] * x,
        "a dense result of shape": P - x, "a dense result": np.cos(P @ L) - x,
    }  # fmt: skip
    with monkeypatch.context() as patched:
        patched.setattr(execution, "evaluate", None)
        for text, large in results.items():
            with pytest.raises((DensifyError, ResultTooLargeError), match=re.escape(text)):
                weft.compute(P, L @ x, large)
    assert weft.compute(P, L * x)[1].nnz == 10**6


def test_counting_ends_when_the_memory_is_full(monkeypatch):
    A = weft.random((3000, 3000), density=0.1, format="csr", rng=0)
    kernel = execution.plan_for(parse("C(i,k) = A(i,j)*A(j,k)"), (A._storage.type,)).kernel
    assembly = kernel.assembly

    def require(size, what):
        raise ResultTooLargeError(what)

    monkeypatch.setattr(memory, "require", require)
    with pytest.raises(ResultTooLargeError, match="entries or more"):
        assembly._counted(assembly._room(A.shape), assembly.structs((A._storage,)), 2, assembly._counting)


def test_a_large_result_within_the_limit_warns_at_the_call():
    with weft.config.override(max_densify_bytes=10**8):
        with pytest.warns(DensifyWarning, match="8 MB") as caught:
            E + ONES
        assert caught[0].filename == __file__
        with pytest.warns(DensifyWarning, match="with_fill"):
            weft.evaluate(MIN_PLUS, W=E, V=E)
        with warnings.catch_warnings(action="error"):
            weft.random((N, N), density=0.02, format="csr", rng=0) + ONES  # 50 elements for each entry
    with weft.config.override(max_densify_bytes=2**30), warnings.catch_warnings(action="error"):
        E + ONES  # small


def test_explain_tells():
    report = weft.explain(MIN_PLUS, W=E, V=E)
    assert "full result: the result has a value at all of i, j, since W and V are 0" in report
    assert "with_fill(inf)" in report
    report = weft.explain(MIN_PLUS, W="csr", V="csr")
    assert "full result: the result has a value where no operand stores one, since W and V are 0" in report
    for text in ("C(i,j) = A(i,k)*B(k,j)", "C(i,j) = A(i,j) + B(i,j)", "C(i,j) = exp(A(i,j))*B(i,j)"):
        assert "full result" not in weft.explain(text, A=E, B=E)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_comparisons_with_numbers_are_not_full(times):
    A = weft.random((3000, 3000), nnz=3000, rng=0, format="csr")
    with weft.config.override(max_densify_bytes=10**6):
        for _ in range(times):
            for found in (A > 0, A.tocoo() >= 0.5, A.T < -1, A != 0, ~(A > 0.5)):
                assert found.nnz <= A.nnz
            assert A[A > 0.5].size <= A.nnz


@pytest.mark.parametrize(
    "text", ["D(i,j) = A(i,k)*A(k,j) + 1", "D(i,j) = 1 - A(i,k)*A(k,j)", "D(i,j) = max(k, A(i,k)*A(k,j)) + 1",
             "D(i,j) = cos(A(i,k)*A(k,j))", "D(i,j) = sum(k, cos(A(i,k)*A(k,j)))"]
)  # fmt: skip
def test_functions_of_sums_are_full(text):
    A = weft.random((3000, 3000), nnz=3000, rng=0, format="csr")
    with weft.config.override(max_densify_bytes=10**6):
        for run in (lambda: weft.evaluate(text, A=A), lambda: weft.compile(text, A="csr")(A)):
            with pytest.raises(DensifyError, match=r"a value at all of i, j"):
                run()
        for product in ("D(i,j) = A(i,k)*A(k,j)", "D(i,j) = 2*A(i,k)*A(k,j)", "D(i,j) = A(i,k)*A(j,k)"):
            for format in ("csr", "csc", "coo", "dcsr"):
                assert weft.evaluate(product, A=A.asformat(format)).nnz < 4 * A.nnz
        assert weft.evaluate("D(i,r) = A(i,j)*X(j,r)", A=A.tocoo(), X=np.ones((3000, 40))).shape == (3000, 40)
    report = weft.explain(text, A=A)
    assert "full result" in report or "loops over all j, not only those stored in A" in report
