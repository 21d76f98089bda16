"""What is compiled is said in the log, and can be forbidden."""

import logging

import numpy as np
import pytest

import weft
from weft.config import config
from weft.runtime import loader
from weft.runtime.loader import load
from weft.runtime.structs import NULL

pytestmark = pytest.mark.compiles_alone

TEXT = "#include <stdint.h>\nint64_t weft_compute(void *a, int64_t *counts, int64_t threads) { return %d; }\n"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path):
    with config.override(cache_dir=str(tmp_path / "cache")):
        loader.forget()
        yield
        loader.forget()


def run(value):
    return load(TEXT % value, ["compute"], 1, "y(i) = A(i,j)*x(j)")["compute"](NULL, NULL, 1)


def test_each_compile_is_a_line(caplog):
    with caplog.at_level(logging.DEBUG, "weft"):
        assert run(3) == 3
        loader.forget()
        assert run(3) == 3
    compiled, found = caplog.records
    assert (compiled.levelname, found.levelname) == ("INFO", "DEBUG")
    assert compiled.message.startswith("compiled y(i) = A(i,j)*x(j) (compute) in 0.")
    assert found.message.startswith(f"found y(i) = A(i,j)*x(j) (compute) in {config.cache_dir}")


def test_lines_on_stderr(capsys):
    with config.override(log="info"):
        run(4)
    loader.forget()
    run(4)
    run(5)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("weft: compiled y(i) = A(i,j)*x(j) (compute) in ")
    with pytest.raises(ValueError, match=r"config.log expects one of '', 'info', 'debug', not 'loud'"):
        config.log = "loud"


def test_compiling_can_be_forbidden():
    assert run(6) == 6
    loader.forget()
    with config.override(compile="never"):
        assert run(6) == 6  # it is on disk
        with pytest.raises(
            weft.errors.CompilerError, match=r"y\(i\) = A.* is not compiled yet, .*WEFT_COMPILE.*CACHE_DIR="
        ):
            run(7)
        A = weft.from_levels((3, 3), "csr", [None, ([0, 1, 2, 3], [0, 1, 2])], np.ones(3))
        with pytest.raises(
            weft.errors.CompilerError, match=r"y\(i\) = .* for A: csr float64, x: dense float64 as dense"
        ):
            weft.evaluate("y(i) = 3.25*A(i,j)*x(j)", A=A, x=np.ones(3))
    assert run(7) == 7


def test_without_a_compiler_the_expression_is_named(tmp_path):
    with (
        config.override(cc=str(tmp_path / "none")),
        pytest.raises(
            weft.errors.CompilerError, match=r"y\(i\) = A\(i,j\)\*x\(j\) is not compiled yet, and the C comp"
        ),
    ):
        run(8)
