"""Reductions inside others and beside others, and diagonals beside whatever else, against NumPy."""

import numpy as np
import pytest

import weft

RNG = np.random.default_rng(0)


def numbers(*shape):
    return (RNG.integers(-3, 5, shape) * (RNG.random(shape) < 0.5)).astype(float)


A, K, B, D = numbers(4, 5), numbers(4, 5), numbers(4), numbers(4, 4, 4)
MATRICES = ["csr", "csc", "coo", "dcsr", "dense", "dia", "ell", "bsr", "hash", "dok", "lil", "hicoo", "jad", "skyline"]
TENSORS = ["csf", "coo", "gcxs", "dense", "hicoo", "dok", "hash", "mode_generic"]
EXPRESSIONS = {
    "y(i) = sum(j, A(i,j) * max(k, K(i,k)))": A.sum(1) * K.max(1),
    "y(i) = max(j, A(i,j)) + sum(j, K(i,j))": A.max(1) + K.sum(1),
    "y(i) = maximum(max(j, A(i,j)), 3 - sum(j, K(i,j)))": np.maximum(A.max(1), 3 - K.sum(1)),
    "y(i) = min(j, A(i,j)) * prod(j, K(i,j)) - max(j, K(i,j))": A.min(1) * K.prod(1) - K.max(1),
    "y = sum(i, max(j, A(i,j)))": A.max(1).sum(),
    "y = max(i, sum(j, A(i,j)))": A.sum(1).max(),
    "y = prod(i, sum(j, A(i,j)))": A.sum(1).prod(),
    "y = sum(j, prod(i, A(i,j)))": A.prod(0).sum(),
    "y = sum(i, sum(j, A(i,j)) - A(i,i))": (A[:, :4].sum(1) - np.diag(A)).sum(),
    "y = sum(i, 2 + sum(j, A(i,j)))": (2 + A.sum(1)).sum(),
    "y(i) = sum(j, A(i,j) + sum(k, K(i,k)))": A.sum(1) + 5 * K.sum(1),
    "y(i) = sum(j, A(i,j) * sum(k, K(i,k)))": A.sum(1) * K.sum(1),
    "y(j) = sum(i, A(i,j) * sum(k, K(i,k) * max(l, A(i,l))))": (A * (K.sum(1) * A.max(1))[:, None]).sum(0),
    "y(i) = sum(j, min(k, K(i,k)) * max(l, A(l,j)))": K.min(1) * A.max(0).sum(),
    "y(i,j) = A(i,j) / (1 + sum(k, K(i,k) * K(i,k)))": A / (1 + (K * K).sum(1))[:, None],
    "y(i) = sum(j, B(j) * max(k, D(i,j,k)))": (B * D.max(2)).sum(1),
    "y(i) = max(j, sum(k, D(j,k,i) * A(k,j)))": np.einsum("jki,kj->ji", D, A[:, :4]).max(0),
    "y = prod(k, sum(j, sum(i, D(i,j,k))))": D.sum((0, 1)).prod(),
    "y = sum(j, prod(i, sum(k, D(i,j,k))))": D.sum(2).prod(0).sum(),
    "y(i) = min(k, l, D(i,k,l) * min(m, D(l,m,i)))": (D * D.min(1).T[:, None, :]).min((1, 2)),
    "y(i,j) = max(k, minimum(D(i,j,k), max(l, D(l,k,i))))": np.minimum(D, D.max(0).T[:, None, :]).max(2),
    # what the loops around do not change, some of them or all
    "y(i) = B(i) - sum(j, B(j))": B - B.sum(),
    "y(i,j) = A(i,j) * sum(k, K(i,k)) * sum(k, K(k,j))": A * K.sum(1)[:, None] * K.sum(0),
    "y(i,j) = A(i,j) * max(k, l, K(k,l)) - sum(k, A(i,k))": A * K.max() - A.sum(1)[:, None],
    "y(i,j) = A(i,j) + sum(k, B(k) * sum(l, K(k,l))) * max(k, K(k,j))": A + (B @ K.sum(1)) * K.max(0),
    "y(i) = sum(j, A(i,j) * max(k, l, K(k,l))) + sum(k, B(k))": A.sum(1) * K.max() + B.sum(),
}


def operands(text, matrix, tensor):
    square = "A(k,j)" in text or "A(i,i)" in text
    made = {"A": A[:, :4] if square else A, "K": K, "B": B, "D": D}
    formats = {"A": matrix, "K": MATRICES[-1 - MATRICES.index(matrix)], "B": "coo", "D": tensor}
    return {n: weft.asarray(x, format=formats[n]) for n, x in made.items() if f"{n}(" in text}


@pytest.mark.parametrize("k", range(len(MATRICES)), ids=MATRICES)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_against_numpy(text, k):
    given = operands(text, MATRICES[k], TENSORS[k % len(TENSORS)])
    found = weft.evaluate(text, **given)
    np.testing.assert_allclose(found.todense() if hasattr(found, "todense") else found, EXPRESSIONS[text], rtol=1e-12)


@pytest.mark.parametrize("format", ["csr", "coo"])
def test_sums_that_come_apart_inside_others(format):
    """Each of the sums of ``A`` and of ``K`` has one loop over ``k``."""
    given = {"A": weft.asarray(A, format=format), "K": weft.asarray(K, format=format)}
    whole = (A + K).sum(1)
    for text, wanted, more in (
        ("y(i) = exp(sum(k, A(i,k) + K(i,k)))", np.exp(whole), {}),
        ("y(i) = sum(k, (A(i,k) + K(i,k))/d(i))", whole / np.arange(1, 5), {"d": np.arange(1.0, 5)}),
        ("y(i,j) = A(i,j)/(30 + sum(k, A(i,k) + K(i,k)))", A / (30 + whole)[:, None], {}),
        ("y(j) = sum(i, A(i,j) * (1 + sum(k, A(i,k) + K(i,k))))", (A * (1 + whole)[:, None]).sum(0), {}),
        ("y(i) = sum(j, A(i,j) * square(sum(k, A(i,k) + K(i,k))))", A.sum(1) * whole**2, {}),
    ):
        found = weft.evaluate(text, **given, **more)
        np.testing.assert_allclose(found.todense() if hasattr(found, "todense") else found, wanted, rtol=1e-12)


@pytest.mark.parametrize("format", TENSORS)
@pytest.mark.parametrize("shape", [(0, 0, 0), (2, 3, 2), (2, 0, 3), (2, 3, 0), (0, 2, 3)])
def test_of_nothing(format, shape):
    x = RNG.integers(1, 4, shape) * (RNG.random(shape) < 0.5) * 1.0
    X = weft.asarray(x, format=format)
    for text, wanted in (
        ("y = prod(k, sum(j, sum(i, X(i,j,k))))", x.sum((0, 1)).prod()),
        ("y = sum(k, prod(j, sum(i, X(i,j,k))))", x.sum(0).prod(0).sum()),
        ("y = sum(j, prod(i, sum(k, X(i,j,k))))", x.sum(2).prod(0).sum()),
        ("y(i) = sum(j, prod(k, X(i,j,k)))", x.prod(2).sum(1)),
    ):
        found = weft.evaluate(text, X=X)
        np.testing.assert_array_equal(found.todense() if hasattr(found, "todense") else found, wanted)
    if shape[2] == 0:
        with pytest.raises(weft.errors.ShapeError, match="over k, of size 0, has no value"):
            weft.evaluate("y = sum(i, max(k, sum(j, X(i,j,k))))", X=X)


def test_small_integers_are_summed_as_they_are():
    """Reductions are made one only where that changes no dtype in which they are computed."""
    x, y = np.array([[100, 100], [1, 2]], np.int8), np.array([[1, 2], [3, 4]], np.int64)
    with np.errstate(over="ignore"):
        wanted = (y * x.sum(1, dtype=np.int8)[:, None]).sum(1)
    found = weft.evaluate("z(i) = sum(j, Y(i,j) * sum(k, X(i,k)))", X=weft.asarray(x, format="csr"), Y=y)
    np.testing.assert_array_equal(found.todense() if hasattr(found, "todense") else found, wanted)


def test_explain_shows_where_each_is_made():
    X = weft.asarray(A, format="csr")
    text = weft.explain("y = sum(i, B(i) * max(j, A(i,j)))", A=X, B=weft.asarray(B), stages=True)
    notation = text[text.index("forall i") : text.index("== lattices")]
    assert [line.strip() for line in notation.splitlines() if line] == [
        "forall i in shares of 98304 positions of A2", "t += B(i)*t1", "where", "forall j", "t1 maximum= A(i,j)",
    ]  # fmt: skip


S, T = A[:, :4], A[:, 1:]
DIAGONALS = {
    "y(i) = S(i,i) + T(i,i)": np.diag(S) + np.diag(T),
    "y(i) = sum(j, S(i,j)) - S(i,i)": S.sum(1) - np.diag(S),
    "y(i) = sum(j, T(i,j) - S(i,i))": (T - np.diag(S)[:, None]).sum(1),
    "y(i) = S(i,i) * T(i,i) - S(i,i)": np.diag(S) * np.diag(T) - np.diag(S),
    "y(i,j) = S(i,i) + T(i,j)": np.diag(S)[:, None] + T,
    "y(i,j) = S(i,j) - T(j,j)": S - np.diag(T),
    "y = sum(i, maximum(S(i,i), T(i,i)))": np.maximum(np.diag(S), np.diag(T)).sum(),
}


@pytest.mark.parametrize("k", range(len(MATRICES)), ids=MATRICES)
@pytest.mark.parametrize("text", DIAGONALS)
def test_diagonals_beside_others(text, k):
    formats = {"S": MATRICES[k], "T": MATRICES[k - 3]}
    for pair in (formats, dict.fromkeys("ST", MATRICES[k])):
        given = {n: weft.asarray(x, format=pair[n]) for n, x in (("S", S), ("T", T)) if f"{n}(" in text}
        found = weft.evaluate(text, **given)
        np.testing.assert_allclose(found.todense() if hasattr(found, "todense") else found, DIAGONALS[text])


@pytest.mark.parametrize("other", ["csc", "coo", "dia"])
@pytest.mark.parametrize("format", ["bsr", "hicoo", "csb", "dia", "ell"])
def test_factors_of_a_sum_over_the_loops_of_blocks(format, other):
    """A factor is taken out of a sum where it depends on none of its loops, those over parts of an axis included."""
    P, Q = weft.asarray(S, format=format), weft.asarray(T, format=other)
    found = weft.einsum("ij,jk,ki->i", P, Q, P.T)
    np.testing.assert_allclose(found.todense(), np.einsum("ij,jk,ki->i", S, T, S.T))


@pytest.mark.parametrize("format", MATRICES)
def test_signs_of_zeros_beside_a_sum(format):
    """A factor outside a sum makes -0.0 of what is absent, which is as absent as the sum would be."""
    given = weft.asarray(A, format=format)
    found = weft.evaluate("y(i,j) = -A(i,j) * K(k,j)", A=given, K=weft.asarray(K), format="csr")
    np.testing.assert_array_equal(found.todense(), -A * K.sum(0))
    assert found.nnz <= given.nnz


@pytest.mark.parametrize("result", ["coo", "s", "dense", "hash"])
@pytest.mark.parametrize("format", ["hash", "dok", "csf", "coo"])
def test_implicit_entries_beside_a_collected_result(format, result):
    """A workspace over coordinates counts no implicit entries, so that loops visit them."""
    d = np.where(np.random.default_rng(3).random((3, 4, 5)) < 0.4, 2.0, 0)
    D = weft.asarray(d, format=format)
    found = weft.evaluate("y(l) = sum(k, 3 - D(l,j,k))", D=D, format=result)
    np.testing.assert_array_equal(found.todense(), (3 - d).sum(axis=(1, 2)))
