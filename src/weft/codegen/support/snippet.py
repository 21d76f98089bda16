"""C support functions as texts, most of which are parts of the ``.h`` files beside this one.

A part begins with a line ``//: NAME``, which goes on with `` for DTYPES`` if there is one function for each of these
dtypes, with ``; needs NAMES`` of the parts that it uses, and with ``; shared``. Words in capitals stand for what
differs: ``TYPE`` for a dtype, ``TYPE_t`` for its C type, ``PART_t`` for that of the parts of a complex number, ``_F``
for the end of the name of a function of libm; the Python files put in what other words stand for. Other lines
that begin with ``//``, right below that line, are for readers of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from ...ir.types import is_complex
from ...records import record
from ..types import complex_of, type_name

_HEAD = re.compile(r"^//: (\w+)(?: for ([\w, ]+))?(?:; needs ([\w, ]+))?(; shared)?\n", re.MULTILINE)
_REMARK = re.compile(r"^//.*\n", re.MULTILINE)


@record
class Snippet:
    """C text that defines one static function."""

    text: str
    needs: tuple[str, ...] = ()  # the names of the prelude functions that the function calls
    # True for a function that takes long to compile. Kernels that are compiled one by one share a copy of it.
    shared: bool = False


@record
class Part:
    """A part of a file: a snippet in which words stand for what differs between functions."""

    name: str
    dtypes: tuple[str, ...]
    snippet: Snippet

    def filled(self, dtype: str, words: Mapping[str, str] | None = None) -> dict[str, Snippet]:
        """Return the function of a dtype (none if it is empty) by its name, with texts in the place of ``words``."""
        values = {**_type_words(dtype), **(words or {})}
        ordered = sorted(values, key=len, reverse=True)  # since a word may begin with another one

        def fill(text: str) -> str:
            for word in ordered:
                text = text.replace(word, values[word])
            return text

        needs = tuple(map(fill, self.snippet.needs))
        return {fill(self.name): Snippet(fill(self.snippet.text), needs, self.snippet.shared)}


def _type_words(dtype: str) -> dict[str, str]:
    if not dtype:
        return {}
    words = {"TYPE": dtype, "TYPE_t": type_name(dtype), "_F(": "f(" if dtype in ("float32", "complex64") else "("}
    return words | {"PART_t": type_name(complex_of(dtype))} if is_complex(dtype) else words


def resource(name: str) -> str:
    """Return the text of a file beside this one."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@cache
def parts(subject: str) -> Mapping[str, Part]:
    """Return the parts of a ``.h`` file by name."""
    _, *pieces = _HEAD.split(resource(f"{subject}.h"))
    by_name = {}
    for name, dtypes, needs, shared, text in zip(*(pieces[k::5] for k in range(5)), strict=True):
        listed = [tuple(words.split(", ")) if words else () for words in (dtypes, needs)]
        if text.startswith("//"):
            text = _REMARK.sub("", text)
        snippet = Snippet(text.rstrip("\n") + "\n", listed[1], bool(shared))
        by_name[name] = Part(name, listed[0], snippet)
    return by_name


def fixed(subject: str) -> dict[str, Snippet]:
    """Return the functions of a ``.h`` file, for all their dtypes; not those with words that Python files put in."""
    functions: dict[str, Snippet] = {}
    for part in parts(subject).values():
        if not (part.dtypes or "TYPE" in part.name):
            functions |= part.filled("")
        for dtype in part.dtypes:
            functions |= part.filled(dtype)
    return functions


def of_dtype(subject: str, dtype: str) -> dict[str, Snippet]:
    """Return the functions of a ``.h`` file for one dtype."""
    return {
        name: snippet
        for part in parts(subject).values()
        if dtype in part.dtypes
        for name, snippet in part.filled(dtype).items()
    }


def function(name: str, params: dict[str, str], value: str, result: str, needs: Iterable[str] = ()) -> Snippet:
    """Return the snippet that defines a function of scalars."""
    listed = ", ".join(f"{type_name(ty)} {param}" for param, ty in params.items())
    body = value if value.endswith("}\n") else f"{{ return {value}; }}\n"
    return Snippet(f"static inline {type_name(result)} {name}({listed}) {body}", tuple(needs))


def in_lanes(name: str, ty: str, snippet: Snippet) -> Snippet:
    """Return a snippet whose function of two scalars is declared as a reduction of vectorized loops, in any order.

    Each lane of a vector starts from the same value, so that the result must not depend on repetitions of a value.
    """
    both = f"omp_out = {name}(omp_out, omp_in)"
    pragma = f"#pragma omp declare reduction({name} : {type_name(ty)} : {both}) initializer(omp_priv = omp_orig)\n"
    return Snippet(snippet.text + pragma, snippet.needs)
