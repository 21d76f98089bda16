"""The benchmark of programs: what it compares is the same, and a row is printed."""

import numpy as np
import pytest
from asv_benchmarks import programs

import weft


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setenv("WEFT_BENCH_SCALE", "0.004")
    programs.matrix.cache_clear()
    programs.operands.cache_clear()


def dense(found):
    return np.asarray(found.todense() if isinstance(found, weft.SparseTensor) else found)


@pytest.mark.parametrize("name", programs.ROWS)
def test_the_runs_of_a_row_compute_the_same(name):
    first, second = (dense(run()) for run in programs.ROWS[name]().values())
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)


def test_rows_are_printed(capsys):
    programs.main(["--budget", "0", "(A+B)@x"])
    programs.main(["--budget", "0", "--spread", "matrix and vector"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("(A+B)@x  ")
    assert "notation / steps" in first
    assert second.startswith("matrix and vector  ")
    assert " / " in second


def test_an_unknown_row_is_refused(capsys):
    with pytest.raises(SystemExit):
        programs.main(["A@C"])
    assert "there is no row 'A@C'" in capsys.readouterr().err
