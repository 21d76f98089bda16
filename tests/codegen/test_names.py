import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.codegen import NameMaker, declaration, mangle, signature, symbol
from weft.codegen.names import _PATTERNS, _RESERVED
from weft.codegen.prelude import PRELUDE


def is_reserved(name):
    """Whether a name has a meaning in C, in the C library or in the C text of weft."""
    return name in _RESERVED or _PATTERNS.match(name) is not None


@pytest.mark.parametrize("name", ["x", "B2_pos", "jB", "pA1", "value", "i"])
def test_legal_names_stay(name):
    assert mangle(name) == name


@pytest.mark.parametrize(
    "name",
    ["int", "double", "I", "complex", "NULL", "main", "exp", "expf", "y0", "j1", "gamma", "int64_t", "uint8_t",
     "INT64_MAX", "weft_x", "_x", "__x", "", "1a", "α", "a b", "a-b", "restrict", "bool", "linux", "counts", "threads",
     "M_PI", "omp_get_wtime", "x'", "weft_tensor", "memcpy"],
)  # fmt: skip
def test_others_are_mangled(name):
    mangled = mangle(name)
    assert mangled != name
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", mangled)
    assert not is_reserved(mangled)


@given(st.lists(st.text(max_size=5), max_size=20))
def test_names_are_unique_and_deterministic(names):
    one, two = NameMaker(), NameMaker()
    first, second = [one.name(n) for n in names], [two.name(n) for n in names]
    assert first == second
    assert len(set(first)) == len(set(names))
    for name in first:
        assert name.isascii()
        assert name.isidentifier()
        assert not is_reserved(name)


def test_fresh_and_taken():
    names = NameMaker(taken=["a", "a_1"])
    assert [names.fresh("a"), names.fresh("a"), names.fresh("b")] == ["a_2", "a_3", "b"]
    names.keep("counts")
    assert names.name("counts") == "counts"
    assert names.name("key", "like") == "like"


def test_symbols():
    assert symbol("compute") == "weft_compute"
    assert symbol("alloc") == "weft_alloc_"
    assert "weft_alloc" in PRELUDE
    assert declaration("f", 1) == "int64_t weft_f(weft_tensor *, int64_t *, int64_t);"
    assert signature(2) == "int64_t (*)(weft_tensor *, weft_tensor *, int64_t *, int64_t)"
