"""Kernels that a process has asked for are noted in a file, and compiled from it elsewhere."""

import json

import pytest

from weft.config import config
from weft.errors import FileFormatError
from weft.runtime import cache, loader, wanted, warming
from weft.runtime.loader import load
from weft.runtime.structs import NULL

pytestmark = pytest.mark.compiles_alone

TEXT = "#include <stdint.h>\nint64_t weft_compute(void *a, int64_t *counts, int64_t threads) { return %d; }\n"


@pytest.fixture(autouse=True)
def empty(tmp_path):
    with config.override(cache_dir=str(tmp_path / "cache")):
        loader.forget()
        wanted._noted.clear()
        yield
        loader.forget()


def run(value):
    return load(TEXT % value, ["compute"], 1, f"the number {value}")["compute"](NULL, NULL, 1)


def test_what_is_noted_can_be_compiled_elsewhere(tmp_path):
    file = tmp_path / "kernels.txt"
    with config.override(record=str(file)):
        assert [run(1), run(2), run(1)] == [1, 2, 1]
        loader.forget()
        assert run(2) == 2  # which is noted already
    wanted = list(warming.read(str(file)))
    assert [kernel.what for kernel in wanted] == ["the number 1", "the number 2"]
    loader.forget()
    with config.override(cache_dir=str(tmp_path / "other")):
        assert warming.compile_all(wanted) == 2
        assert cache.info().entries == 2
        with config.override(compile="never"):
            assert [run(1), run(2)] == [1, 2]


def test_other_files_are_refused(tmp_path):
    file = tmp_path / "kernels.txt"
    for text in ("nonsense\n", '{"names": []}\n', "[]\n", json.dumps({"abi": "4", "source": "", "names": 1}) + "\n"):
        file.write_text(text)
        with pytest.raises(FileFormatError, match="line 1: this is no line that WEFT_RECORD wrote"):
            list(warming.read(str(file)))
    file.write_text(json.dumps({"abi": "old", "source": "", "names": [], "what": ""}))
    with pytest.raises(FileFormatError, match="another version of weft; record it again"):
        list(warming.read(str(file)))
