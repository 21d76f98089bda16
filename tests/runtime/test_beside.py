"""Serial kernels run until those for threads are compiled, which calls do not wait for."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

import weft
from weft import errors
from weft.execution.plan_cache import plans
from weft.runtime import beside, loader

pytestmark = pytest.mark.compiles_alone

EXPRESSIONS: dict[str, Callable[[weft.SparseTensor, weft.SparseTensor], weft.SparseTensor]] = {
    "append": lambda A, B: A + B,
    "product": lambda A, B: A @ B,
    "insertion": lambda A, B: A.asformat("csc"),
    "loops": lambda A, B: weft.evaluate("C(k,i) = A(i,j)*X(j,k)", A=A, X=np.ones((60, 8))),
}


@pytest.fixture
def operands(tmp_path):
    """Two matrices of different structure, and a cache in which nothing is compiled."""
    with weft.config.override(cache_dir=tmp_path, compile="auto", parallel_threshold=0, num_threads=1):
        _as_in_a_new_process()
        yield tuple(weft.random((60, 60), density=0.1, format="csr", rng=n) for n in range(2))
    _as_in_a_new_process()


def _as_in_a_new_process() -> None:
    plans.clear()
    loader.forget()


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_serial_form_runs_where_nothing_can_be_compiled(operands, name):
    run = EXPRESSIONS[name]
    expected = run(*operands)
    with weft.config.override(num_threads=2, compile="never"):
        _as_in_a_new_process()
        found = run(*operands)
    assert np.array_equal(weft.asarray(found).todense(), weft.asarray(expected).todense())


@pytest.mark.parametrize("name", ["append", "insertion"])
def test_the_form_for_threads_is_compiled_beside(operands, name, caplog):
    run = EXPRESSIONS[name]
    expected = run(*operands)
    _as_in_a_new_process()
    with weft.config.override(num_threads=2), caplog.at_level("INFO", "weft"):
        run(*operands)
        for thread in list(beside._threads):
            thread.join()
        assert any(line.startswith("compiled ") for line in caplog.messages)
        caplog.clear()
        found = run(*operands)
        assert not caplog.messages
    assert np.array_equal(found.todense(), expected.todense())


def test_calls_wait_where_neither_form_is_there(operands):
    A, B = operands
    with weft.config.override(num_threads=2, compile="never"), pytest.raises(errors.NotCompiledError):
        A + B


def test_a_compiler_beside_a_call_does_not_outlive_the_process(operands, monkeypatch):
    A, B = operands
    A + B
    _as_in_a_new_process()
    with weft.config.override(num_threads=2):
        A + B
    begin = time.monotonic()
    beside._end()
    assert time.monotonic() - begin < 30
    assert not any(thread.is_alive() for thread in beside._threads)
    beside._stop.clear()
