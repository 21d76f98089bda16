"""The benchmark of spellings: what it compares is the same, and a row is printed."""

import pytest
from asv_benchmarks import spellings


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setenv("WEFT_BENCH_SCALE", "0.004")


@pytest.mark.parametrize("name", spellings.ROWS)
def test_the_runs_of_a_row_compute_the_same(name):
    spellings.compare(spellings.runs_of(name))


def test_a_row_is_printed(capsys):
    spellings.main(["--markdown", "--budget", "0", "2*csr"])
    header, rule, row = capsys.readouterr().out.splitlines()
    assert header.count("|") == rule.count("|") == row.count("|") == 6
    assert row.startswith("| 2*csr | notation / operator | ")


def test_an_unknown_row_is_refused(capsys):
    with pytest.raises(SystemExit):
        spellings.main(["csr + ccs"])
    assert "there is no row 'csr + ccs'" in capsys.readouterr().err
