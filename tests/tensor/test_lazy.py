"""Lazy tensors: programs that are recorded compute what operators compute one after the other, and what NumPy does."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies

import weft
from weft import config
from weft.errors import DTypeError, ShapeError, UnsupportedError
from weft.tensor.lazy import LazyTensor, node_of
from weft.tensor.recorded import LARGEST, Source, statements

N = 5
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": np.maximum,
    "less": lambda a, b: (a < b) * b,
    "matmul": lambda a, b: a @ b,
    "where": lambda a, b: np.where(a > 0, a, b),
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda a: a.T,
    "rows": lambda a: a * a.sum(axis=1)[:, None],
    "columns": lambda a: a - a.max(axis=0, keepdims=True),
    "clip": lambda a: np.clip(a, -1, 2),
    "select": lambda a: np.where(a > 0, a, 0.0),
    "scale": lambda a: a * 2 - 0.5 * a,
    "shift": lambda a: a + 1,
    "square": lambda a: a**2,
}
_LAST: dict[str, Callable[[Any], Any]] = {
    "whole": lambda a: a,
    "sum": lambda a: a.sum(),
    "rows": lambda a: a.sum(axis=1),
    "columns": lambda a: a.min(axis=0, keepdims=True),
    "any": lambda a: (a > 1).any(axis=0),
    "trace": np.trace,
    "new axes": lambda a: a[None, :, :, None],
}


@st.composite
def programs(draw: st.DrawFn) -> Callable[[Any, Any, Any], Any]:
    """A function of two matrices and a vector, made of up to three operations and one at the end."""
    steps = draw(st.lists(st.sampled_from([*_UNARY, *_BINARY, "vector"]), min_size=1, max_size=3))
    last = draw(st.sampled_from([*_LAST]))

    def program(a: Any, b: Any, x: Any) -> Any:
        for step in steps:
            if step == "vector":
                a = a * x
            else:
                a = _UNARY[step](a) if step in _UNARY else _BINARY[step](a, b)
        return _LAST[last](a)

    program.__name__ = " ".join([*steps, last])
    return program


def _matrix(seed: int, dtype: str = "float64") -> np.ndarray[Any, Any]:
    """Small whole numbers, whose sums and products are exact, and many zeros."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-3, 4, (N, N)) * (rng.random((N, N)) < 0.4)).astype(dtype)


def _dense(x: Any) -> np.ndarray[Any, Any]:
    return x.todense() if isinstance(x, weft.SparseTensor) else np.asarray(x)


def _same(found: Any, expected: Any) -> None:
    found, expected = _dense(found), _dense(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=40)
@given(programs(), strategies.formats(2), strategies.formats(2), st.integers(0, 3), st.booleans())
def test_random_programs(program: Callable[..., Any], first: str, second: str, seed: int, sparse_vector: bool) -> None:
    """A lazy program is the eager one, and NumPy's, to the last digit."""
    arrays = _matrix(seed), _matrix(seed + 10), _matrix(seed + 20)[0]
    A, B = weft.asarray(arrays[0], format=first), weft.asarray(arrays[1], format=second)
    x = weft.asarray(arrays[2], format="coo") if sparse_vector else arrays[2]
    found = weft.compute(program(weft.lazy(A), B, x))
    _same(found, program(*arrays))
    _same(found, program(A, B, x))


@pytest.mark.parametrize("fill", [0.0, 1.0, -0.0, np.inf, np.nan])
@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: np.where(a > 1, a, -b) * 2 + 1,
        lambda a, b: np.clip(a - b, -1, np.inf) / 2,
        lambda a, b: np.where(b, 0.0, a),
    ],
)
def test_special_values_have_the_bits_of_the_steps(function: Callable[..., Any], fill: float) -> None:
    rng = np.random.default_rng(0)
    # Values that equal the fill value are not stored, so that a zero has its sign.
    zeros = [] if fill == 0 else [0.0, -0.0]
    stored = rng.choice([np.nan, np.inf, -np.inf, *zeros, 2.5, -1.5], (2, N, N))
    values = np.where(rng.random((2, N, N)) < 0.5, fill, stored)
    A, B = (weft.asarray(v, format="csr", fill_value=fill) for v in values)
    found = weft.compute(function(weft.lazy(A), B))
    with np.errstate(invalid="ignore"):
        expected = function(*values)
    for each in (found, function(A, B)):
        np.testing.assert_array_equal(each.todense(), expected)
        # Entries that equal the fill value need not be stored.
        stored = (expected == expected) & (expected != each.fill_value)
        np.testing.assert_array_equal(np.signbit(each.todense())[stored], np.signbit(expected)[stored])
    assert found.format == "csr"


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_dtypes_are_those_of_the_steps(dtype: str) -> None:
    A = weft.asarray(_matrix(0).clip(0).astype(dtype), format="csr")

    def several(a: Any) -> tuple[Any, ...]:
        return a.sum(axis=0), a * 2, a + True, a @ a, a.T.real.astype("float64") / 3, np.where(a != 0, a, 1), a == 1

    for found, expected in zip(weft.compute(*several(weft.lazy(A))), several(A), strict=True):
        _same(found, expected)


def test_numbers_have_the_dtypes_of_the_operands_beside() -> None:
    for dtype, number in (("uint64", 2**63), ("float32", 0.1)):
        A = weft.asarray(_matrix(0).clip(0).astype(dtype), format="csr")
        found = weft.compute(weft.lazy(A) + number)
        _same(found, A + number)
        assert found.fill_value == (A + number).fill_value


def test_results_have_the_formats_of_the_steps() -> None:
    A, x = weft.asarray(_matrix(0), format="csr"), np.ones(N)
    L = weft.lazy(A)
    for function in (lambda a: a + a, lambda a: a.T, lambda a: a @ x, lambda a: a * 2.5, lambda a: a.sum(axis=1)):
        found, expected = weft.compute(function(L)), function(A)
        assert type(found) is type(expected)
        assert getattr(found, "format", None) == getattr(expected, "format", None)
    for function in (
        lambda a: a - a.mean(), lambda a: a.sum() - a, lambda a: a / (a.sum() * 0), lambda a: np.maximum(a, a.max()),
        lambda a: (a - a.mean(keepdims=True)) > 0.5, lambda a: a - np.full((1, 1), 2.5),
        lambda a: a * a.max() + a.min(),
        lambda a: (a - a.mean()) * 0.5 - a.max(), lambda a: a / weft.asarray(np.array(np.nan)), lambda a: a - x @ x,
    ):  # fmt: skip
        found, expected = weft.compute(function(L)), function(A)
        assert (found.format, repr(found.fill_value)) == ("csr", repr(expected.fill_value))
        np.testing.assert_allclose(found.todense(), expected.todense())
    for function, *operands in _SPELT:
        both = [(x, weft.lazy(x)) if isinstance(x, (weft.SparseTensor, np.ndarray)) else (x, x) for x in operands]
        steps = _kind(function(*[x for x, _ in both]))
        assert _kind(weft.compute(function(*[x for _, x in both]))) == steps
        for static in (False, True):
            assert _kind(weft.fused(function, static=static)(*operands)) == steps
    assert _kind(weft.fused(np.exp)(np.array([True]))) == _kind(np.exp(np.array([True])))  # float16, which weft has not
    assert isinstance(weft.compute(L - L.mean() - x), np.ndarray)
    assert type(weft.compute(L.sum())) is np.float64
    assert weft.compute(1, L.sum(), "text")[::2] == (1, "text")


def _kind(x: Any) -> tuple[Any, ...]:
    """What is the same in every spelling."""
    if not isinstance(x, weft.SparseTensor):
        return type(x), np.shape(x), x.dtype, str(x.tolist())
    return type(x), x.shape, x.dtype, str(x.todense().tolist()), x.format, repr(x.fill_value) * (not x.layout.is_dense)


def _stored(values: Any, format: str, dtype: str = "float64", fill: float = 0) -> weft.SparseTensor:
    return weft.asarray(np.array(values, dtype), format=format, fill_value=fill)


_A = _stored(_matrix(0), "csr")
_SPELT: list[tuple[Any, ...]] = [
    *[(f, _A, _stored(v, "coo")) for v in ([2], [[2]], [[0]], [[[-2]]]) for f in (np.add, np.divide, np.not_equal)],
    *[(f, _stored([2], "coo"), _stored([[3]], "csr")) for f in (np.add, np.multiply, np.matmul)],
    *[(f, _stored(np.zeros((0, 4)), "csr"), _stored([[2]], "csc")) for f in (np.add, np.minimum)],
    (np.where, _A > 0, _matrix(1), 0.0), (np.where, _A > 0, _stored([2], "coo"), _A),
    (np.where, _stored([1], "coo", "bool"), _A, 1),
    (np.where, _stored([1, 0], "csf", "bool"), 1.0, _stored([[0]], "coo")),
    (np.floor_divide, _stored([[1, 2]], "dense"), np.full((1, 1), 2)),
    *[(f, _stored([[0, 1]], "csr", "float32"), n) for n in (np.float64(0), np.complex64(0), np.float64(-2.0))
      for f in (np.subtract, np.divide, np.not_equal)],
    (lambda a: a / a.sum(), _stored([[0, -2]], "csr")), (np.copysign, _stored([[0, 2]], "csr", "uint8"), np.int64(0)),
    (lambda a: np.clip(a, -1, 2), _stored(3, "dense")), (lambda a: np.clip(a, -1, -0.0), _A),
    (lambda a: a.sum(axis=-1), _stored(3, "dense")), (lambda a: (a + 1).T.real, _stored(3, "dense")),
    (lambda a: (a + 2.5) + a * 2.5, _A), (lambda a: np.minimum(np.maximum(a, np.inf), np.inf), _A.astype("complex64")),
    *[(lambda a: a[None, ..., None], _stored(v, format)) for v, format in (([1, 0], "csf"), ([[1, 0]], "coo"))],
    (np.greater, _stored([[0, 1]], "csr", fill=np.nan), _stored([[0, 1]], "dcsc")),
    (np.fmin, _stored([[0, 1]], "lil"), _stored([[0, 1]], "dcsc")),
]  # fmt: skip


def test_what_is_common_is_computed_once() -> None:
    L = weft.lazy(weft.asarray(_matrix(0), format="csr"))
    sums = L.sum(axis=1)
    program = statements(
        [node_of(x) for x in (L * sums[:, None], L.T * L.sum(axis=1), sums, L * L.sum(axis=1)[:, None] + 1)]
    )
    assert [str(len(s.reads)) + s.name[0] for s in program] == ["1r", "2r", "1r", "2r"]
    assert program[-1].reads["A"] == Source("r0")  # the last result contains the first


def test_what_python_asks_for_is_computed_then() -> None:
    dense = _matrix(0)
    L = weft.lazy(weft.asarray(dense, format="csr"))
    assert float((L * 2).sum()) == dense.sum() * 2
    assert bool((L > 2).any())
    assert len(L + 1) == N
    assert (L + 1)[1, 2] == dense[1, 2] + 1
    assert np.cumsum(L * 2, axis=0).todense().tolist() == np.cumsum(dense * 2, axis=0).tolist()
    assert str(L.sum(axis=1)) == str(dense.sum(axis=1))
    assert repr(L @ L) == f"<lazy tensor: shape=({N}, {N}), dtype=float64; weft.compute() computes it>"
    _same(np.asarray(L.sum(axis=1)), dense.sum(axis=1))
    assert [float(x) for x in L.sum(axis=1)] == dense.sum(axis=1).tolist()


def test_loops_keep_vectors() -> None:
    """A breadth-first search by operators: each step goes on from the vectors of the one before."""
    n = 40
    path = weft.from_coords([np.arange(n - 1), np.arange(1, n)], np.ones(n - 1), (n, n), format="csr")
    A = weft.lazy(path)
    front, seen = weft.lazy(np.eye(1, n)[0] > 0), weft.lazy(np.eye(1, n)[0] > 0)
    steps = 0
    while (front @ (A > 0)).any():
        front = (front @ (A > 0)) & ~seen
        seen = seen | front
        steps += 1
        assert node_of(seen).size < LARGEST
    assert steps == n - 1
    assert np.asarray(seen).all()


def test_long_programs_become_statements() -> None:
    x = y = weft.lazy(np.arange(3.0))
    for _ in range(3 * LARGEST):
        y = y + x
    for _ in range(60):  # as a tree it would have 2**60 nodes
        x = x + x
    _same(weft.compute(y), np.arange(3.0) * (3 * LARGEST + 1))
    _same(weft.compute(x), np.arange(3.0) * 2**60)


def test_operands_may_change_before() -> None:
    x = np.ones(3)
    y = weft.lazy(x) * 2
    x[:] = 5
    assert weft.compute(y).tolist() == [10, 10, 10]


def test_other_numbers_run_the_same_kernels() -> None:
    """A number is no part of a kernel, unless a fill value is computed from it."""
    A = weft.asarray(_matrix(0), format="csr")
    L, kernels = weft.lazy(A), set()
    for t in (0.75, 1.25, 1.5, 2.25, 2.75):
        for function in (
            lambda a, t: a > t,
            lambda a, t: (t <= a).sum(axis=0),
            lambda a, t: np.clip(a, 0, t) / t,
            lambda a, t: np.maximum(a @ a, -t) * t,
            lambda a, t: np.where(a > t, a, 0.0) ** t,
        ):
            y = function(L, t)
            kernels.add(statements([node_of(y)])[0].assignment)
            _same(weft.compute(y), function(A, t))
    assert len(kernels) == 5


def test_explaining_computes_what_others_read_alone() -> None:
    n = 1_000_000
    L = weft.lazy(weft.random((n, n), nnz=100, format="csr", rng=0))
    for too_much in (L - np.ones(n)[:, None], np.exp(L - np.ones(n)) @ np.ones(n)):  # memory, and time
        assert "every i" in weft.explain(too_much)
    text = weft.explain((L - L.mean()).T @ (L @ np.ones(n)))
    assert "T1(j) = sum(k, A1(j,k)*A3(k))" in text
    assert "not only those stored" not in text


def test_einsum_and_notation_are_recorded() -> None:
    dense = _matrix(0)
    L = weft.lazy(weft.asarray(dense, format="csr"))
    y = weft.einsum("ij,j", L * 2, np.ones(N))
    z = weft.evaluate("z(i) = b*A(i,j)*x(j) + x(i)", A=L.T, x=y, b=3)
    assert isinstance(z, LazyTensor)
    assert "sum" in weft.explain(z)
    _same(weft.compute(z), 3 * dense.T @ (dense * 2).sum(axis=1) + (dense * 2).sum(axis=1))
    _same(weft.compute(np.tensordot(L, L, axes=1)), dense @ dense)
    _same(weft.compute(L + np.diagonal(L)), dense + np.diagonal(dense))
    _same(weft.compute(np.diagonal(L)), np.diagonal(dense))


def test_operators_in_place_bind_another_tensor() -> None:
    L = M = weft.lazy(weft.asarray(_matrix(0), format="csr"))
    M += 1
    _same(weft.compute(M - L), np.ones((N, N)))
    M[0, 0] = 9
    assert float(M[0, 0]) == 9
    assert weft.compute(M + 0)[0, 0] == 9


def test_errors_come_where_the_mistake_is() -> None:
    L = weft.lazy(weft.asarray(_matrix(0), format="csr"))
    for mistake in (lambda: L + np.ones(4), lambda: L @ np.ones(4), lambda: weft.einsum("ij,j", L, np.ones(4))):
        with pytest.raises(ShapeError):
            mistake()
    with pytest.raises(OverflowError):
        weft.lazy(np.ones(3, np.int8)) + 1000
    with pytest.raises(TypeError):
        L + "text"
    with pytest.raises(DTypeError, match="not str"):
        weft.lazy("text")
    with pytest.raises(ShapeError, match="no identity"):
        weft.lazy(np.ones((0, 2))).max(axis=0)
    with config.override(max_densify_bytes=10), pytest.raises(weft.errors.DensifyError) as caught:
        weft.compute(L + np.ones(N))
    assert any(__file__ in note for note in caught.value.__notes__)
    mask = re.search(r"; multiply by (\(A != 0\)) to compute only what A stores, or make A dense", str(caught.value))
    assert mask is not None
    assert weft.compute(eval(mask[1], {"A": L}) * (L + np.ones(N))).nnz == L.nnz


@weft.fused(static=True)
def twice(a: Any) -> Any:
    return a * 2


def test_fused_functions_are_copied_and_pickled_as_functions_are() -> None:
    assert twice(np.ones(2)).tolist() == [2, 2]
    assert pickle.loads(pickle.dumps(twice)) is copy.deepcopy(twice) is twice


def test_copies_and_pickles_are_computed() -> None:
    y = weft.lazy(weft.asarray(_matrix(0), format="csr")) * 2
    for other in (pickle.loads(pickle.dumps(y)), copy.copy(y), copy.deepcopy(y)):
        _same(weft.compute(other), _matrix(0) * 2)


def test_threads_may_compute_the_same_tensor() -> None:
    y = weft.lazy(weft.asarray(_matrix(0), format="csr")) @ np.ones(N)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(y.todense())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for each in found:
        _same(each, _matrix(0).sum(axis=1))


@pytest.mark.parametrize("static", [False, True])
def test_fused_functions(static: bool) -> None:
    calls = []

    @weft.fused(static=static)
    def function(a: Any, x: Any, *, by: Any) -> dict[str, Any]:
        calls.append(1)
        return {"y": a @ x * by, "both": [a.sum(axis=0), (a.T, by)]}

    for k, by in ((0, 2), (1, 2), (2, 2.0)):
        dense = _matrix(k)
        for operand in (weft.asarray(dense, format="csr"), dense):
            result = function(operand, np.arange(N), by=by)
            _same(result["y"], dense @ np.arange(N) * by)
            _same(result["both"][0], dense.sum(axis=0))
            _same(result["both"][1][0], dense.T)
            assert result["both"][1][1] is by
            assert isinstance(result["y"], np.ndarray)
    assert len(calls) == (4 if static else 6)
    lazily = function(weft.lazy(dense), np.arange(N), by=1)
    assert isinstance(lazily["y"], LazyTensor)
    assert "A1(i,j)*A2(j)" in weft.explain(function, dense, np.arange(N), by=1)


def test_static_functions_do_not_ask_for_values() -> None:
    @weft.fused(static=True)
    def function(a: Any) -> Any:
        return a if a.sum() > 0 else -a

    with pytest.raises(UnsupportedError, match="static=True"):
        function(np.ones(3))
    assert weft.fused(function.__wrapped__)(-np.ones(3)).tolist() == [1, 1, 1]


def test_static_functions_tell_arguments_apart() -> None:
    calls = []

    @weft.fused(static=True)
    def function(a: Any, *by: Any) -> Any:
        calls.append(by)
        return a * np.copysign(1, by[0][0]) if by else a

    x = np.ones(3)
    for by in ([0.0], [-0.0], (0.0,), (0,), [0.0], (False,)):
        assert function(x, by).tolist() == (x * np.copysign(1, by[0])).tolist()
    assert len(calls) == 5
    for mistake in ({1, 2}, [x], [weft.asarray(x)]):
        with pytest.raises(UnsupportedError, match=r"has no hash; .*or leave out static=True"):
            function(x, mistake)
    with config.override(plan_cache_size=3):
        for _ in range(2):
            for k in range(8):
                function(np.ones(k))
        assert len(calls) == 5 + 16
        assert len(function._programs) == 3
