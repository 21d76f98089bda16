"""Kernels compiled together: most of what the compiler does for a small one is to start and to link."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import pytest

from weft.config import config
from weft.runtime import loader
from weft.runtime.objects import Library

__all__ = ["each", "run_item", "together"]

T = TypeVar("T")
_SETTINGS = ("cc", "cflags", "optimization", "sanitize")  # of the loader's keys, after the text
_open_all = loader.open_all  # which compiles, even while another batch collects texts
_LARGEST = 400_000  # characters; a sanitizer's time grows faster than the text


class _Missing(BaseException):
    """A kernel is wanted that is not compiled; no ``except`` of weft's own may take it for a failure."""


@dataclass(frozen=True, slots=True)
class _Part(Library):
    """One C text among those of a shared object: its names have a prefix."""

    prefix: str = ""

    def address(self, name: str) -> Any:
        return Library.address(self, self.prefix + name)


_parts: dict[Any, _Part] = {}


@contextmanager
def _collected() -> Iterator[dict[Any, str]]:
    """Collects the texts that would be compiled, in place of compiling them, under what they are kept in memory."""
    missing: dict[Any, str] = {}

    def open_all(texts: Sequence[loader.Wanted]) -> list[Library]:
        keys = [loader.key_of(text) for text in texts]
        lacking = {key: text.source for key, text in zip(keys, texts, strict=True) if key not in _parts}
        missing.update(lacking)
        if lacking:
            raise _Missing
        return [_parts[key] for key in keys]

    compiled, loader.open_all = loader.open_all, open_all
    try:
        yield missing
    finally:
        loader.open_all = compiled


def _compile(missing: Mapping[Any, str]) -> None:
    """Compile texts, those of the same settings together."""
    texts: dict[tuple[Any, ...], list[str]] = {}
    for (_, *settings), source in missing.items():
        texts.setdefault(tuple(settings), []).append(source)
    for settings, sources in texts.items():
        with config.override(**dict(zip(_SETTINGS, settings, strict=True))):
            first, size = 0, 0
            for n, source in enumerate(sources, 1):
                size += len(source)
                if size > _LARGEST or n == len(sources):
                    _compile_together(sources[first:n])
                    first, size = n, 0


def _compile_together(sources: Sequence[str]) -> None:
    prefixes = {source: f"k{n}_" for n, source in enumerate(sources)}
    # What kernels share, they share as the same text; their own functions begin with the names that they export.
    parts: dict[str, None] = {}
    for source, prefix in prefixes.items():
        own = "|".join(re.findall(r"^int64_t weft_(\w+)\(", source, re.MULTILINE))
        parts |= dict.fromkeys(re.sub(rf"\bweft_(?=(?:{own}))", f"{prefix}weft_", source).split("\n\n"))
    (whole,) = _open_all([loader.Wanted("\n\n".join(parts), (), "several kernels")])
    for source, prefix in prefixes.items():
        _parts[loader.key_of(loader.Wanted(source, (), ""))] = _Part(whole.path, whole.handle, prefix=prefix)


def each(cases: Iterable[T], run: Callable[[T], None]) -> Iterator[tuple[T, Exception | None]]:
    """Run every case, and say what it raised; one that lacks a kernel begins anew when those of all are compiled."""
    pending = list(cases)
    while pending:
        later = []
        with _collected() as missing:
            for case in pending:
                try:
                    run(case)
                    yield case, None
                except _Missing:
                    later.append(case)
                except Exception as error:
                    yield case, error
        if missing:
            _compile(missing)
        pending = later


def together(cases: Iterable[T], run: Callable[[T], None]) -> None:
    """Run every case; the first that fails raises what it did, with the case as a note."""
    for case, error in each(cases, run):
        if error is not None:
            error.add_note(f"in the case {case}")
            raise error


_AT_ONCE = 32  # items; the kernels that one worker compiles should not be those of all workers
_outcomes: dict[pytest.Function, Exception | None] = {}


@cache
def _siblings(session: pytest.Session) -> Mapping[Any, Sequence[pytest.Function]]:
    """The items of each test function."""
    found: dict[Any, list[pytest.Function]] = {}
    for item in session.items:
        if isinstance(item, pytest.Function):
            found.setdefault(item.function, []).append(item)
    return found


def run_item(item: pytest.Function) -> bool:
    """Run one item of a parametrized test, with those that follow it; return whether it is such an item.

    A test that takes fixtures or random examples is none: its items are run by pytest, one after the other.
    """
    params = item.callspec.params if hasattr(item, "callspec") else {}
    if not params or set(item._fixtureinfo.argnames) != set(params) or hasattr(item.obj, "hypothesis"):
        return False
    if item not in _outcomes:
        siblings = _siblings(item.session)[item.function]
        n = siblings.index(item)
        group = [other for other in siblings[n : n + _AT_ONCE] if other not in _outcomes]
        _outcomes.update(each(group, lambda other: other.obj(**other.callspec.params)))
    if (error := _outcomes[item]) is not None:
        raise error
    return True
