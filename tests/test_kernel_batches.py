"""Tests whose kernels are compiled together take turns, and see nothing of each other."""

import os
import random

import pytest
from tests import kernel_batches

from weft.runtime import loader
from weft.runtime._ffi import ffi

NEW = int.from_bytes(os.urandom(4))  # a number that no text in a kept cache has
TEXTS = [f"#include <stdint.h>\n\nint64_t weft_evaluate(void) {{ return {NEW + n}; }}\n" for n in (0, 1)]


def opened(names):
    """The libraries of the texts, and what is told of their files to whoever keeps that."""
    told = []
    wanted = [loader.Wanted(text, names, "an example", learn=told.append) for text in TEXTS]
    return loader._libraries_of(wanted), {facts.entry for facts in told}


@pytest.mark.compiles_alone
def test_texts_that_were_compiled_together_are_known_by_the_file_of_all():
    """Another process finds each of them there; one without batches is told of no file that has other names."""
    with kernel_batches.share():
        kernel_batches._compile_together(TEXTS)
        for _ in range(2):
            loader.forget()
            libraries, entries = opened(("weft_evaluate",))
            assert len({int(ffi.cast("intptr_t", one.address("weft_evaluate"))) for one in libraries}) == 2
            assert entries <= {""}
            kernel_batches._parts.clear()
            assert all(kernel_batches._part(loader.Wanted(text, (), "an example")) for text in TEXTS)
    loader.forget()
    libraries, entries = opened(("weft_evaluate",))
    assert all(one.address("weft_evaluate") for one in libraries)


def test_tests_that_wait_keep_the_state_of_the_process():
    seen = []

    def run(n):
        random.seed(n)
        os.environ["EXAMPLE_OF_A_TEST"] = str(n)
        kernel_batches._thread.test.wait({})
        seen.append((os.environ["EXAMPLE_OF_A_TEST"], random.random()))

    tests = [kernel_batches._Test(lambda n=n: run(n)) for n in range(3)]
    for test in (*tests, *tests):
        test.resume()
    assert all(test.done and test.error is None for test in tests)
    assert seen == [(str(n), random.Random(n).random()) for n in range(3)]
    assert "EXAMPLE_OF_A_TEST" not in os.environ


PLACES = {}


@pytest.fixture
def patched(monkeypatch):
    monkeypatch.setenv("EXAMPLE_OF_A_TEST", "patched")
    yield "a value"
    assert os.environ["EXAMPLE_OF_A_TEST"] == "patched"  # what it takes ends after it


@pytest.fixture(scope="module")
def begun():
    """Of a module, and made while others run, as if it lacked kernels."""
    kernel_batches._thread.test.wait({})
    return []


@pytest.mark.parametrize("n", range(3))
def test_fixtures_of_tests_that_wait_are_their_own(n, patched, monkeypatch, capsys, tmp_path, begun):
    assert patched == "a value"
    monkeypatch.setattr(loader, "ffi", n)
    monkeypatch.delattr(loader, "forget")
    monkeypatch.setitem(PLACES, n, "a place")
    monkeypatch.chdir(tmp_path)
    print(n)
    begun.append(n)
    with monkeypatch.context() as inner:
        inner.setattr(loader, "facts_of", n)
        kernel_batches._thread.test.wait({})
        assert loader.facts_of == n
    assert loader.ffi == n
    assert not hasattr(loader, "forget")
    assert [*PLACES] == [n]
    assert os.getcwd() == str(tmp_path)
    assert os.environ["EXAMPLE_OF_A_TEST"] == "patched"
    assert capsys.readouterr().out == f"{n}\n"
    assert any(one is begun for one in kernel_batches._wide.values())
    assert begun.count(n) == 1


def test_nothing_is_left_of_their_fixtures():
    assert loader.ffi is ffi
    assert loader.forget
    assert not PLACES
    assert "EXAMPLE_OF_A_TEST" not in os.environ
