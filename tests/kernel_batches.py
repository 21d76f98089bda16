"""Kernels of tests, compiled together: most of what a compiler does for a small one is to start and to link.

Tests run in threads of which one runs at a time. One that lacks a kernel waits, and others run until all wait; then
one run of the compiler makes what they lack, and they go on. Each test thus runs once, as pytest would run it.
"""

from __future__ import annotations

import contextlib
import json
import linecache
import os
import pdb
import random
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from inspect import isgeneratorfunction
from itertools import chain, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, TypeVar

import pytest
from _pytest.capture import CaptureFixture, SysCapture

from weft import compiler
from weft.config import SETTINGS, config
from weft.errors import CompilerError
from weft.execution import plan_cache, thresholds
from weft.operations import indexing
from weft.records import replace
from weft.runtime import loader
from weft.runtime.objects import Library

__all__ = ["are_made_here", "each", "in_order", "may_wait", "run_item", "share", "thresholds_of", "together"]

T = TypeVar("T")
_SETTINGS = ("cc", "cflags", "optimization", "sanitize")  # of the loader's keys, after the text
_LARGEST = 400_000  # characters; a sanitizer's time grows faster than the text
_open_all, _libraries_of = loader.open_all, loader._libraries_of  # which compile one by one
Texts = Mapping[Any, loader.Wanted]  # under what they are kept in memory


class _Missing(BaseException):
    """A kernel is wanted that is not compiled; no ``except`` of weft's own may take it for a failure."""


class _Thread(threading.local):
    """What a thread does with texts that are not compiled: a test waits, and a case of ``each`` is put off."""

    test: _Test | None = None
    missing: dict[Any, loader.Wanted] | None = None
    opens = False  # whether it has waited, and may hold the loader's locks


_thread = _Thread()


# -- shared objects ----------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Part(Library):
    """One C text among those of a shared object: its names have a prefix."""

    prefix: str = ""

    def address(self, name: str) -> Any:
        return Library.address(self, self.prefix + name)


_parts: dict[Any, _Part] = {}
_failed: set[Any] = set()  # texts that are compiled by themselves, so that errors are those of one text


class _Log:
    """What all workers compiled together: a line in a file of the cache on disk for each shared object."""

    def __init__(self) -> None:
        self._read = 0  # bytes of the file
        self._of: dict[str, tuple[list[Any], str]] = {}  # facts about the shared object, and a prefix

    def find(self, key: Any) -> tuple[list[Any], str] | None:
        name = repr(key)
        if name not in self._of:
            with contextlib.suppress(FileNotFoundError):
                if os.stat(_LOG).st_size > self._read:
                    self._read_on()
        return self._of.get(name)

    def _read_on(self) -> None:
        with open(_LOG, "rb") as file:
            file.seek(self._read)
            lines, _, _ = file.read().rpartition(b"\n")
        self._read += len(lines) + bool(lines)
        for line in lines.splitlines():
            facts, prefixes = json.loads(line)
            self._of |= {name: (facts, prefix) for name, prefix in prefixes.items()}

    @staticmethod
    def add(facts: list[Any], prefixes: Mapping[Any, str]) -> None:
        """Write a line, at once, since another worker may write at the same time."""
        line = json.dumps([facts, {repr(key): prefix for key, prefix in prefixes.items()}])
        descriptor = os.open(_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)


_log = _Log()


def _part(text: loader.Wanted) -> Library | None:
    """Return the library of a text that was compiled with others."""
    key = loader.key_of(text)
    if key not in _parts and (record := _log.find(key)) is not None:
        facts, prefix = record
        whole = loader.Wanted(_gone, (), "several kernels", loader.facts_of(facts))
        with contextlib.suppress(LookupError):
            if loader._found(whole) is not None:
                _keep(key, whole, prefix)
    return _parts.get(key)


def _keep(key: Any, whole: loader.Wanted, prefix: str) -> None:
    (library,) = _open_all([whole])
    _parts[key] = _Part("", library.handle, prefix=prefix)  # the file is that of no text alone


def _gone() -> NoReturn:
    raise LookupError("the texts that were compiled together")


def _key_of(source: str) -> Any:
    return loader.key_of(loader.Wanted(source, (), ""))


def _compile(missing: Texts) -> None:
    """Compile texts, those of the same settings together; what fails is left to whoever wants it."""
    texts: dict[tuple[Any, ...], list[loader.Wanted]] = {}
    for (_, *settings), text in missing.items():
        texts.setdefault(tuple(settings), []).append(text)
    for settings, wanted in texts.items():
        with config.override(**dict(zip(_SETTINGS, settings, strict=True))):
            sources = [text.source for text in wanted if _part(text) is None]  # another worker may have compiled some
            first, size = 0, 0
            for n, source in enumerate(sources, 1):
                size += len(source)
                if size > _LARGEST or n == len(sources):
                    try:
                        _compile_together(sources[first:n])
                    except CompilerError:
                        _failed.update(_key_of(source) for source in sources[first:n])
                    first, size = n, 0


def _compile_together(sources: Sequence[str]) -> None:
    prefixes = {source: f"k{n}_" for n, source in enumerate(sources)}
    # What kernels share, they share as the same text; their own functions begin with the names that they export.
    parts: dict[str, None] = {}
    for source, prefix in prefixes.items():
        own = "|".join(re.findall(r"\nint64_t weft_(\w+)\(", source))  # patterns that begin with text are found fast
        own = rf"weft_(?<!\wweft_)(?=(?:{own}))"
        parts |= dict.fromkeys(re.sub(own, f"{prefix}weft_", source).split("\n\n"))
    whole = loader.Wanted("\n\n".join(parts), (), "several kernels")
    (library,) = _open_all([whole])
    entry, toolchain = loader._entry(library)  # by which it is found without the text
    facts = loader.as_json(replace(whole.facts, entry=entry, toolchain=toolchain))
    keys = {_key_of(source): prefix for source, prefix in prefixes.items()}
    for key, prefix in keys.items():
        _keep(key, whole, prefix)
    _log.add(facts, keys)


# -- what the loader does ------------------------------------------------------------------------------------------
def _lacking(texts: Sequence[loader.Wanted]) -> dict[Any, loader.Wanted]:
    """Return the texts that must be compiled."""
    wanted = {loader.key_of(text): text for text in texts}
    return {
        key: text
        for key, text in wanted.items()
        if key not in _failed and key not in loader._libraries and _part(text) is None and loader._found(text) is None
    }


def _await(texts: Sequence[loader.Wanted]) -> None:
    """Return when texts are compiled, unless they are to be compiled one by one."""
    if (_thread.missing is None and _thread.test is None) or config.compile == "never" or not _usual_cache():
        return
    if not (lacking := _lacking(texts)):
        return
    if _thread.missing is not None:
        _thread.missing |= lacking
        raise _Missing
    if _thread.test is not None:
        _thread.test.wait(lacking)


def _usual_cache() -> bool:
    return config.cache_dir == _CACHE


_CACHE = SETTINGS["cache_dir"].read(os.environ)
_LOG = os.path.join(_CACHE, "together.jsonl")


def _patiently(texts: Sequence[loader.Wanted]) -> list[Library]:
    """Return the libraries of texts, for which a test waits before it takes the loader's locks."""
    if loader.open_all is _opened:  # else the test collects texts itself
        _await(texts)
    before, _thread.opens = _thread.opens, True
    try:
        return _libraries_of(texts)
    finally:
        _thread.opens = before


def _opened(texts: Sequence[loader.Wanted]) -> list[Library]:
    """Open texts, some of which may have been compiled together."""
    if not _thread.opens:
        _await(texts)
    parts = {text: part for text in texts if (part := _part(text)) is not None} if _usual_cache() else {}
    others = [text for text in texts if text not in parts]
    opened = dict(zip(others, _open_all(others) if others else (), strict=True)) | parts
    return [opened[text] for text in texts]


class _Made(threading.Event):
    """Tells that a plan is made, which a test may be at while it waits for kernels."""

    def wait(self, timeout: float | None = None) -> bool:
        waiting = {test.thread.ident for test in _running.values() if not test.done}
        while not self.is_set():
            making = {key: making for key, making in plan_cache.plans._making.items() if making.done is self}
            if not all(each.thread in waiting for each in making.values()):
                return super().wait(timeout)
            if _thread.test is None:  # the plan is made anew
                for key in making:
                    plan_cache.plans._making.pop(key)
                break
            _thread.test.wait({})
        return True


@contextlib.contextmanager
def share() -> Iterator[None]:
    """Let the loader take kernels that were compiled together."""
    before = loader.open_all, loader._libraries_of, plan_cache.Event
    loader.open_all, loader._libraries_of, plan_cache.Event = _opened, _patiently, _Made
    try:
        yield
    finally:
        loader.open_all, loader._libraries_of, plan_cache.Event = before


# -- cases within a test -------------------------------------------------------------------------------------------
def each(cases: Iterable[T], run: Callable[[T], None]) -> Iterator[tuple[T, Exception | None]]:
    """Run every case, and say what it raised; one that lacks a kernel begins anew when those of all are compiled."""
    pending = list(cases)
    while pending:
        later, missing = [], {}
        for case in pending:
            try:
                with share(), _collected(missing):
                    run(case)
            except _Missing:
                later.append(case)
            except Exception as error:
                yield case, error
            else:
                yield case, None
        if missing and _thread.missing is not None:  # these are cases of a case
            _thread.missing |= missing
            raise _Missing
        if missing and _thread.test is not None:
            _thread.test.wait(missing)
        elif missing:
            _compile(missing)
        pending = later


@contextlib.contextmanager
def _collected(missing: dict[Any, loader.Wanted]) -> Iterator[None]:
    before, _thread.missing = _thread.missing, missing
    try:
        yield
    finally:
        _thread.missing = before


def together(cases: Iterable[T], run: Callable[[T], None]) -> None:
    """Run every case; the first that fails raises what it did, with the case as a note."""
    for case, error in each(cases, run):
        if error is not None:
            error.add_note(f"in the case {case}")
            raise error


# -- tests ---------------------------------------------------------------------------------------------------------
_AT_ONCE = 32  # tests that have begun; the kernels that one worker compiles should not be those of all workers
_AHEAD = 1024  # items among which they are looked for
_LONGEST = 900  # seconds that one may run without a kernel that it lacks


_PATCHED = (
    (loader, "open_all"), (thresholds, "THRESHOLDS"), (indexing, "_SEARCHES"), (indexing, "_PASSED"),
    (compiler, "print_module"),  # by asv_benchmarks.ablation
    (linecache, "getlines"), (pdb, "set_trace"), (sys, "displayhook"),  # by doctests
)  # fmt: skip


class _Globals:
    """State of the process that a test may change for a while, and that others must not see meanwhile."""

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state = (
            {name: getattr(config, name) for name in (*SETTINGS, "code")},
            (warnings.filters, warnings.showwarning, warnings._showwarnmsg_impl),
            (sys.stdout, sys.stderr),
            [getattr(module, name) for module, name in _PATCHED],
            (random.getstate(), os.environ._data.copy()),  # as bytes, since decoding them takes long
        )

    def restore(self) -> None:
        settings, filters, (sys.stdout, sys.stderr), patched, others = self._state
        for name, value in settings.items():
            object.__setattr__(config, name, value)
        warnings.filters, warnings.showwarning, warnings._showwarnmsg_impl = filters
        warnings._filters_mutated()
        for (module, name), value in zip(_PATCHED, patched, strict=True):
            setattr(module, name, value)
        numbers, environ = others
        random.setstate(numbers)
        for name in os.environ._data.keys() - environ.keys():
            del os.environb[name]
        os.environb.update(environ.items() - os.environ._data.items())  # no more, since a compiler may be starting


class _Test:
    """A test in a thread of its own, which runs while ``resume`` waits for it."""

    def __init__(self, call: Callable[[], Any]):
        self._call, self._globals = call, _Globals()
        self.lacking: Texts = {}
        self.error: BaseException | None = None
        self.done = False
        self.patches: list[pytest.MonkeyPatch] = []  # of its ``monkeypatch``
        self._turn, self._pause = threading.Semaphore(0), threading.Semaphore(0)
        self.thread = threading.Thread(target=copy_context().run, args=(self._run,), daemon=True)
        self.thread.start()

    def resume(self) -> None:
        """Let the test run until it ends, or lacks kernels."""
        ours = _Globals()
        self._globals.restore()
        self._turn.release()
        if not self._pause.acquire(timeout=_LONGEST):
            raise RuntimeError("a test waits for what another holds that lacks kernels: mark one as compiles_alone")
        if not self.done:
            self._globals = _Globals()
        ours.restore()

    def wait(self, lacking: Texts) -> None:
        """Return when the kernels that a test lacks are compiled."""
        self.lacking = lacking
        with contextlib.ExitStack() as stack:
            for patch in reversed(self.patches):
                stack.enter_context(_undone(patch))
            self._pause.release()
            self._turn.acquire()

    def _run(self) -> None:
        self._turn.acquire()
        _thread.test = self
        try:
            self._call()
        except BaseException as error:
            self.error = error
        self.done = True
        self._pause.release()


class _Patch(pytest.MonkeyPatch):
    """What ``monkeypatch`` and its contexts are: patches that are taken back while their test waits."""

    def __init__(self) -> None:
        super().__init__()
        _thread.test.patches.append(self)


def _nothing() -> Any:
    """Return what ``monkeypatch`` remembers of a place that had no value."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem({}, "", "")
        return patch._setitem[0][-1]


_NOTHING = _nothing()


@contextlib.contextmanager
def _undone(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take back, for a while, what a test has patched."""
    with pytest.MonkeyPatch.context() as reverse:
        for target, name, value in reversed(patch._setattr):
            if value is _NOTHING:
                reverse.delattr(target, name, raising=False)
            else:
                reverse.setattr(target, name, value, raising=False)
        for items, key, value in reversed(patch._setitem):
            if value is _NOTHING:
                reverse.delitem(items, key, raising=False)
            else:
                reverse.setitem(items, key, value)
        if patch._savesyspath is not None:
            reverse.setattr(sys, "path", patch._savesyspath)
        if patch._cwd is not None:
            reverse.chdir(patch._cwd)
        yield


_tests: dict[pytest.Item, _Test] = {}  # that have begun, and of which pytest does not know yet how they ended
_running: dict[pytest.Item, _Test] = {}  # of these, those that have not ended


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return items so that those which may run beside each other are neighbors, and those that run alone come last.

    Random examples run one after the other, and each lacks kernels of its own: tests with the most come first, so that
    all of them wait together, and others lack kernels while the last ones are left. A long test comes before others
    that run alone, so that no worker is left with it at the end.
    """
    states: dict[Any, int] = {}

    def place(item: pytest.Item) -> tuple[Any, ...]:
        alone, brief = _is_alone(item), "takes_long" not in _marks(item)
        return alone, alone and brief, states.setdefault(_state_of(item), len(states)), -_examples_of(item)

    return sorted(items, key=place)


def _examples_of(item: pytest.Item) -> int:
    """Return how many random examples an item has at most."""
    random_test = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None)
    return 0 if random_test is None else random_test.max_examples


def _is_alone(item: pytest.Item) -> bool:
    return "compiles_alone" in _marks(item)


@cache
def _marks(item: pytest.Item) -> frozenset[str]:
    return frozenset(mark.name for mark in item.iter_markers())


def run_item(item: pytest.Item) -> bool:
    """Run one item, with those that come after it; return whether it is an item that may run so.

    One that takes fixtures that cannot be made here, is marked, or is debugged is none: pytest runs it by itself.
    """
    if (state := _state_of(item)) is None:
        return False
    while item not in _tests or not _tests[item].done:
        _begin(item, state)
        alike = [test for other, test in _running.items() if _state_of(other) == state]
        for test in alike:
            if not test.lacking:
                test.resume()
            if test is _tests[item] and test.done:
                break
        else:
            _compile({key: text for test in alike for key, text in test.lacking.items()})
            for test in alike:
                test.lacking = {}
        for other in [other for other, test in _running.items() if test.done]:
            del _running[other]
    if (error := _tests.pop(item).error) is not None:
        raise error
    return True


def _begin(item: pytest.Item, state: Any) -> None:
    """Begin an item, and others that come after it."""
    free = _AT_ONCE - sum(_state_of(other) == state for other in _running)
    for other in chain([item], _after(item)):
        if (other is not item and free <= 0) or _is_alone(other):
            return
        if other not in _tests and _state_of(other) == state:
            _tests[other] = _running[other] = _Test(_call_of(other))
            free -= 1


def _call_of(item: pytest.Item) -> Callable[[], Any]:
    if isinstance(item, pytest.DoctestItem):  # those of a file share what runs them
        item.runner = copy(item.runner)
        item.runner._fakeout = type(item.runner._fakeout)()
    if not isinstance(item, pytest.Function):
        return partial(type(item).runtest, item)

    def call() -> None:
        with contextlib.ExitStack() as stack:
            fixtures = _Fixtures(item, stack)
            item.obj(**{name: fixtures.value(name) for name in item._fixtureinfo.argnames})

    return call


# -- their fixtures ------------------------------------------------------------------------------------------------
# Tests begin before it is their turn, when pytest has not made the fixtures that they take.
_OF_PYTEST = {
    "tmp_path": lambda fixtures: fixtures.folder(),
    "tmp_path_factory": lambda fixtures: fixtures.item.config._tmp_path_factory,
    "capsys": lambda fixtures: fixtures.stack.enter_context(_captured(fixtures.item)),
    "request": lambda fixtures: _request(fixtures.item),
    "monkeypatch": lambda fixtures: fixtures.stack.enter_context(_Patch.context()),
}
_AS_THEY_ARE = {"recwarn"}  # other fixtures of pytest that may be made here
_wide: dict[Any, Any] = {}  # values of fixtures of modules and the like, and _MAKING while a test makes one
_MAKING = object()


class _Fixtures:
    """Fixtures of one test."""

    def __init__(self, item: pytest.Function, stack: contextlib.ExitStack):
        self.item, self.stack = item, stack
        self._values: dict[str, Any] = {}

    def value(self, name: str) -> Any:
        if name not in self._values:
            if name in _OF_PYTEST:
                self._values[name] = _OF_PYTEST[name](self)
            elif (definition := _definition(self.item, name)).scope == "function" or name in _params_of(self.item):
                self._values[name] = self._made(definition)
            else:
                self._values[name] = self._of_many(definition)
        return self._values[name]

    def _made(self, definition: Any) -> Any:
        """Make a fixture now, which ends with the test."""
        arguments = {name: self.value(name) for name in definition.argnames}
        if "request" in arguments:
            arguments["request"] = _request(self.item, definition.argname)
        value = definition.func(**arguments)
        if not isgeneratorfunction(definition.func):
            return value
        self.stack.callback(next, value, None)
        return next(value)

    def _of_many(self, definition: Any) -> Any:
        """Make a fixture of a module or the like once, for which others wait."""
        while _wide.get(definition) is _MAKING:
            _thread.test.wait({})
        if definition not in _wide:
            _wide[definition] = _MAKING
            try:
                _wide[definition] = self._made(definition)
            except BaseException:
                del _wide[definition]
                raise
        return _wide[definition]

    def folder(self) -> Path:
        return self.item.config._tmp_path_factory.mktemp(re.sub(r"\W", "_", self.item.name)[:30])


@contextlib.contextmanager
def _captured(item: pytest.Item) -> Iterator[CaptureFixture[str]]:
    """Make ``capsys``, of which pytest knows one at a time."""
    capture = CaptureFixture(SysCapture, item._request, _ispytest=True)
    capture._start()
    try:
        yield capture
    finally:
        capture.close()


def _request(item: pytest.Function, name: str = "") -> Any:
    """Return what a test, or a fixture of a name, may ask of the item that it is for."""
    return SimpleNamespace(node=item, config=item.config, path=item.path, param=_params_of(item).get(name))


def _definition(item: pytest.Function, name: str) -> Any:
    return item._fixtureinfo.name2fixturedefs[name][-1]


def _can_be_made(item: pytest.Function, name: str) -> bool:
    """Return whether a fixture, and those that it takes, can be made for an item alone, in a thread."""
    if name in _OF_PYTEST:
        return True
    definition = _definition(item, name)
    wide = definition.scope != "function"
    if wide and (definition.params is not None or isgeneratorfunction(definition.func)):
        return False  # it ends when pytest has run the last test that takes it
    if definition.func.__module__.startswith("_pytest.") and name not in _AS_THEY_ARE | {*_params_of(item)}:
        return False
    return all(_can_be_made(item, other) for other in definition.argnames)


def are_made_here(item: pytest.Item) -> Iterable[str]:
    """Return the names of fixtures that an item takes and pytest need not make."""
    return item._fixtureinfo.argnames if isinstance(item, pytest.Function) and may_wait(item) else ()


def _params_of(item: pytest.Function) -> Mapping[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def _after(item: pytest.Item) -> Iterator[pytest.Item]:
    """Yield the items that this process is to run after one."""
    items = item.session.items
    for plugin in item.config.pluginmanager.get_plugins():
        if hasattr(plugin, "torun") and hasattr(plugin.torun, "lock"):  # a worker of pytest-xdist
            with plugin.torun.lock() as queue:
                numbers = [plugin.nextitem_index, *islice(queue, _AHEAD)]
            yield from (items[n] for n in numbers if isinstance(n, int))
            return
    n = items.index(item)
    yield from items[n + 1 : n + _AHEAD]


_ALONE = {"compiles_alone", "skip", "skipif", "xfail", "usefixtures"}
_THREADED = {
    "jax",
    "torch",
    "autograd",
    "dask",
    "threading",
    "runtime",
}  # whose examples have other threads, or watch the loader


def may_wait(item: pytest.Item) -> bool:
    """Return whether an item may run beside others, and wait for kernels."""
    return _state_of(item) is not None


@cache
def _state_of(item: pytest.Item) -> Any:
    """Return what fixtures and marks set up for an item, if others that need the same may run beside it; else None."""
    if _marks(item) & _ALONE or item.config.getoption("usepdb") or item.config.getoption("trace"):
        return None
    if not isinstance(item, pytest.Function):
        words = {*re.findall(r"\w+", item.path.read_text("utf-8") if item.path.suffix == ".md" else item.nodeid)}
        return None if words & _THREADED else type(item).__name__
    taken = item._fixtureinfo.argnames
    automatic = tuple(item.session._fixturemanager._getautousenames(item))
    if {*taken} & {*automatic} or not all(_can_be_made(item, name) for name in taken):
        return None
    filters = tuple(mark.args for mark in item.iter_markers("filterwarnings"))
    fixtures = tuple(_definition(item, name) for name in automatic)
    return fixtures, filters, "users_thresholds" in _marks(item)


_SMALL = replace(thresholds.THRESHOLDS, flagged_coordinates=0)
_USERS = thresholds.THRESHOLDS


def thresholds_of(item: pytest.Item) -> thresholds.Thresholds:
    """Return the thresholds that an item runs with."""
    usual = isinstance(item, pytest.Function | pytest.DoctestItem) and "users_thresholds" not in _marks(item)
    return _SMALL if usual else _USERS
