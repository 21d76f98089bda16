"""From C text to functions: a kernel is looked up in memory, among the shipped kernels and on disk, or else compiled.

The functions are cffi function pointers. A call costs well under a microsecond and releases the GIL.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from threading import RLock
from typing import TYPE_CHECKING, Any

from .. import abi
from ..config import config
from ..doors import Door
from ..errors import CompilerError, NotCompiledError
from . import cache, forks, log, plan_index, shipped, thread_pool, toolchain
from ._ffi import ffi
from .levels import cpu_identity
from .objects import Library, listening, open_object
from .together import at_once
from .wanted import TextFacts as TextFacts
from .wanted import Wanted as Wanted
from .wanted import note

if TYPE_CHECKING:
    from _thread import RLock as RLockType

    from .. import codegen
else:
    codegen = Door("weft.codegen")


class Functions:
    """Functions of a kernel, each of which is compiled, or looked up, when it is first needed.

    The functions are callables ``(tensor, ..., tensor, counts, threads) -> status``. Tensors are ``weft_tensor *`` (see
    :func:`weft.runtime.tensor_struct`), and ``counts`` is an ``int64_t *``.
    """

    __slots__ = ("_arity", "_found", "_known", "_lacking", "_learn", "_text_of", "_what", "tried")

    def __init__(
        self,
        text_of: Callable[[str], str],
        arity: int,
        what: str,
        facts: Mapping[str, TextFacts] | None = None,
        learn: Callable[[str, TextFacts], None] | None = None,
    ):
        self._text_of, self._arity, self._what = text_of, arity, what
        self._known, self._learn = facts or {}, learn
        self.tried = False  # whether they were compiled beside a call that did not wait
        self._found: dict[str, Callable[..., int]] = {}
        self._lacking: dict[str, Wanted] = {}  # texts that were asked for, until they are compiled

    def __getitem__(self, name: str) -> Callable[..., int]:
        found = self._found.get(name)
        return self.have(name)._found[name] if found is None else found

    def have(self, *names: str) -> Functions:
        """Make functions ready, and compile those that must be compiled at the same time."""
        if lacking := {name: self._wanted(name) for name in names if name not in self._found}:
            for library, (name, text) in zip(_libraries_of([*lacking.values()]), lacking.items(), strict=True):
                self._found[name] = ffi.cast(_signature(self._arity), library.address(text.names[0]))
                self._lacking.pop(name, None)
        return self

    def _wanted(self, name: str) -> Wanted:
        """Return the text of a function, which is not made yet if facts about it are known."""
        if (wanted := self._lacking.get(name)) is None:
            facts, make = self._known.get(name), partial(self._text_of, name)
            names = (codegen.symbol(name),) if facts is None else facts.names
            learn = None if self._learn is None else partial(self._learn, name)
            wanted = self._lacking[name] = Wanted(make, names, self._what, facts, learn)
        return wanted

    def at_hand(self, *names: str) -> bool:
        """Return whether functions are there without compiling: in memory, shipped or on disk."""
        return all(name in self._found or self.origin(name) is not None for name in names)

    def origin(self, name: str) -> str | None:
        """Return where a function comes from, in words; None if it is not compiled yet."""
        library = at_hand(self._wanted(name))
        if library is None:
            return None
        return "shipped with weft" if library.suffix else "in the cache on disk"


def load(source: str, names: Sequence[str], arity: int, what: str) -> Functions:
    """Return the functions of a C file, as ``codegen.print_module`` writes it, compiled if it has not been."""
    return Functions(lambda _: source, arity, what).have(*names)


Compiled = tuple[tuple[str, ...], bytes]
"""A shared object for another machine: the support functions that it reaches through pointers, and its bytes."""

# A library is known by its text and by the settings that decide how the text is compiled.
_Key = tuple[str, str | None, str, int, bool]  # begins with the digest of the text
_libraries: dict[_Key, Library] = {}
_opening: dict[_Key, RLockType] = {}
_shared: dict[str, tuple[str, ...]] = {}  # by digest, the support functions that a text reaches through pointers
forks.in_child(_opening.clear)  # the threads that held these locks do not exist in a child
_signatures: dict[int, Any] = {}


def _libraries_of(texts: Sequence[Wanted]) -> list[Library]:
    """Return the libraries of texts; those that are not in memory are opened together."""
    lacking = _not_open(texts)
    if lacking:
        with _locked(lacking):
            # Another thread may have opened some of them while this one waited for the locks.
            lacking = _not_open(lacking)
            for text in lacking if config.record else ():
                note(text)
            for text, library in zip(lacking, open_all(lacking) if lacking else (), strict=True):
                _libraries[key_of(text)], _shared[text.facts.digest] = library, text.facts.shared
    libraries = [_libraries[key_of(text)] for text in texts]
    for text, library in zip(texts, libraries, strict=True):
        _tell(text, library)
    return libraries


def _tell(text: Wanted, library: Library | None) -> None:
    """Tell who wanted a text that it has a library."""
    if text.learns:
        text.opened(*_entry(library))


def _not_open(texts: Sequence[Wanted]) -> list[Wanted]:
    """Return the texts whose libraries are not in memory, each once with the names that are wanted of it."""
    lacking: dict[_Key, Wanted] = {}
    for text in texts:
        if (key := key_of(text)) not in _libraries:
            lacking[key] = lacking[key].and_names(text.names) if key in lacking else text
    return [*lacking.values()]


def at_hand(text: Wanted) -> Library | None:
    """Return the library of a text if there is one, in memory, shipped or on disk; it is not compiled."""
    try:
        return _libraries.get(key_of(text)) or _found(text)
    except NotCompiledError:  # without a compiler, nothing is looked for on disk
        return None


@contextmanager
def _locked(texts: Sequence[Wanted]) -> Iterator[None]:
    """Let threads that want the same text wait for the first of them."""
    # All threads acquire the locks in the same order, so that no two can deadlock.
    keys = sorted(map(key_of, texts), key=lambda key: key[0])
    with ExitStack() as held:
        for key in keys:
            held.enter_context(_opening.setdefault(key, RLock()))
        yield
    for key in keys:
        _opening.pop(key, None)


def forget() -> None:
    """Empty the cache in memory; loaded libraries stay loaded."""
    _libraries.clear()


def machine() -> str:
    """Return what a machine must have in common with another to run the kernels of that one."""
    level = toolchain.LEVEL if "native" not in toolchain.LEVEL else cpu_identity()
    return "\n".join([abi.VERSION, sys.platform, platform.machine(), level])


def opened_objects() -> dict[str, Compiled]:
    """Return the shared objects of all kernels in memory that are not shipped, by the digests of their texts."""
    objects: dict[str, Compiled] = {}
    for key, library in list(_libraries.items()):
        if not library.suffix:
            folder, name = os.path.split(library.path)
            contents = cache.Directory(folder).contents(name.removesuffix(".so"))
            if contents is not None:
                objects[key[0]] = _shared.get(key[0], ()), contents
    return objects


def adopt(objects: Mapping[str, Compiled]) -> int:
    """Take shared objects that another machine has compiled; those that this one has compiled itself are left out."""
    where, count = cache.directory(), 0
    for digest, (shared, contents) in objects.items():
        if _key(digest) in _libraries:
            continue

        def write(
            output: str, contents: bytes = contents, key: str = cache.digest("adopted", machine(), digest)
        ) -> str:
            with open(output, "wb") as file:
                file.write(contents)
            return key

        library, reason = _opened(where, where.publish(write))
        if library is None:
            log.info("a kernel from another machine does not load: %s", reason)
            continue
        _libraries[_key(digest)], _shared[digest] = library, shared
        count += 1
    for digest, (shared, _) in objects.items():
        for support in map(support_function, shared):
            here = _libraries.get(key_of(support)), _libraries.get(_key(digest))
            if here[0] is not None and here[1] is not None:
                _connect(here[1], support, here[0])
    return count


def _connect(library: Library, support: Wanted, of: Library) -> None:
    """Give a kernel the address of a support function, which it calls through a pointer of the function's name."""
    (name,) = support.names
    ffi.cast("void **", library.address(name))[0] = of.address(name)


def open_all(texts: Sequence[Wanted]) -> list[Library]:
    """Open the shared objects of texts: shipped ones, those on disk, and otherwise newly compiled ones.

    All texts that must be compiled are compiled at the same time, with the support functions that they share.
    """
    libraries = {text: _found(text) for text in texts}
    # Support functions are libraries of their own, so that each is compiled once for all kernels.
    shared = {
        text: [support_function(name) for name in text.facts.shared]
        for text, library in libraries.items()
        if library is None or not library.suffix  # shipped kernels contain theirs
    }
    for support in {support for needed in shared.values() for support in needed}:
        libraries[support] = _libraries.get(key_of(support)) or _found(support)
    threads = pool_of_threads()
    if not thread_pool.is_settled() and any(text.facts.parallel for text in texts):
        libraries |= _with_threads(threads)
    missing = [text for text, library in libraries.items() if library is None]
    if missing:
        _may_compile(missing[0])
        compiled = [partial(_pool if text is threads else _compiled, text) for text in missing]
        libraries |= zip(missing, at_once(compiled), strict=True)
    _serve(libraries.get(threads))
    for text, needed in shared.items():
        for support in needed:
            library = _libraries[key_of(support)] = _there(libraries[support])
            _connect(_there(libraries[text]), support, library)
    for text, opened in libraries.items():
        _tell(text, opened)
    return [_there(libraries[text]) for text in texts]


def _entry(library: Library | None) -> tuple[str, str]:
    """Return the key of a library in the cache on disk, and its toolchain; empty texts if it is shipped."""
    if library is None or library.suffix:
        return "", ""
    return cache.key_of(library.path), _toolchain()


def _toolchain() -> str:
    return cache.checksum(toolchain.current().identity)


def _there(library: Library | None) -> Library:
    assert library is not None
    return library


@lru_cache(maxsize=16)
def support_function(name: str) -> Wanted:
    """Return the text of a support function that kernels share."""
    return _indexed(lambda: codegen.emit_library([name]), (name,), f"the support function {name}")


@lru_cache(maxsize=1)
def pool_of_threads() -> Wanted:
    """Return the text of the pool of threads."""
    return _indexed(lambda: codegen.emit_pool(), tuple(abi.POINTERS.values()), "the pool of threads")


def _indexed(make: Callable[[], str], names: tuple[str, ...], what: str) -> Wanted:
    """Return a text of support functions, which is made only if the index of plans does not have its facts."""
    if not plan_index.is_used():
        return Wanted(make, names, what)
    key, facts = plan_index.key_of("text", ",".join(names)), None
    with suppress(ValueError):
        facts = facts_of(plan_index.answer(key))
    return Wanted(make, names, what, facts, lambda facts: plan_index.keep(key, as_json(facts)))


def as_json(facts: TextFacts) -> list[Any]:
    """Return facts about a text as a JSON value."""
    return [facts.digest, facts.names, facts.parallel, facts.shared, facts.entry, facts.toolchain]


def facts_of(found: Any) -> TextFacts:
    """Return the facts about a text that a JSON value holds; raise ``ValueError`` if it holds none."""
    match found:
        case [str(digest), list(names), bool(parallel), list(shared), str(entry), str(toolchain)] if (
            not entry or cache.key_of(f"{entry}.so") == entry
        ):
            return TextFacts(digest, tuple(names), parallel, tuple(shared), entry, toolchain)
    raise ValueError("no facts")


def one_thread() -> str:
    """Return the reason why kernels run on one thread here; empty if they may have several.

    The pool of threads is opened, and compiled if it has not been.
    """
    threads = pool_of_threads()
    if not thread_pool.is_settled():
        try:
            library = _found(threads)
            if library is None:
                _may_compile(threads)
            _serve(library or _pool(threads))
        except NotCompiledError as error:
            return str(error)
    return thread_pool.missing()


def _serve(library: Library | None) -> None:
    """Let a library's pool of threads serve all kernels, unless there is one already."""
    if library is not None:
        thread_pool.open_pool({pointer: library.address(name) for pointer, name in abi.POINTERS.items()})


def _with_threads(threads: Wanted) -> dict[Wanted, Library | None]:
    """Return the library of the pool, or None as its library if it is to be compiled; nothing if it cannot be."""
    try:
        library = _found(threads)
        if library is None:
            _may_compile(threads)
    except NotCompiledError as error:
        log.info("kernels run on one thread: %s", error)
        return {}
    return {threads: library}


def _pool(text: Wanted) -> Library | None:
    """Return the compiled pool of threads; None, from then on, where there are no threads."""
    try:
        return _compiled(text)
    except CompilerError as error:
        thread_pool.give_up(str(error))
        return None


def _found(text: Wanted) -> Library | None:
    """Return the library of a text that is shipped or on disk; None if there is no such library."""
    library = shipped.find(text.facts.digest, text.names)
    if library is None:
        try:
            library = _opened(cache.directory(), _digest(text))[0]
        except CompilerError as error:
            raise NotCompiledError(f"{text.what} is not compiled yet, and {error}") from None
    if library is not None:
        log.debug("found %s%s in %s", text.what, _of(text.names), library.path)
    return library


def _opened(where: cache.Directory, key: str) -> tuple[Library | None, str]:
    """Return the library of an entry of the cache, or the reason why it is not opened."""
    path = where.path_of(key)

    def use(through: str) -> tuple[Any, str]:
        handle, said = open_object(through)
        return handle, said.replace(through, path)

    handle, reason = where.lookup(key, use) or (ffi.NULL, f"{path} is gone, or not to be trusted")
    return None if handle == ffi.NULL else listening(path, handle), reason


def _of(names: Sequence[str]) -> str:
    """Return the names of functions in words for the log."""
    return f" ({', '.join(name.removeprefix('weft_') for name in names)})" if names else ""


def _digest(text: Wanted) -> str:
    """Return the key of a text in the cache on disk."""
    identity = toolchain.current().identity
    facts = text.facts
    if facts.entry and facts.toolchain == cache.checksum(identity):
        return facts.entry
    return cache.digest(abi.VERSION, identity, text.source)


def _may_compile(text: Wanted) -> None:
    if config.compile == "never":
        raise NotCompiledError(
            f"{text.what} is not compiled yet, and config.compile is 'never' (WEFT_COMPILE): compute it once where it "
            f"may be compiled, with WEFT_CACHE_DIR={cache.directory().path}"
        )


def _compiled(text: Wanted) -> Library:
    """Compile a text into the cache on disk, and open the resulting library."""

    def build_and_name(output: str) -> str:
        begin = time.perf_counter()
        toolchain.current().compile(text.source, output)
        log.info("compiled %s%s in %.2f s", text.what, _of(text.names), time.perf_counter() - begin)
        return _digest(text)  # not before: the key has the flags, of which the compiler may have refused one

    where = cache.directory()
    library, reason = None, ""
    try:
        with where.alone(_digest(text)):
            library, reason = _opened(where, _digest(text))  # another process may have compiled it meanwhile
            if library is None:
                library, reason = _opened(where, where.publish(build_and_name))
    except OSError as error:
        reason = error.strerror or str(error)
    except CompilerError:
        # A compiler also fails if there is no room for its output. Only then is another directory of use.
        no_room = where.full()
        if no_room is None or where.temporary:
            raise
        reason = no_room
    # The directory may be read-only, full, or mounted without permission to execute: compile once more elsewhere.
    if library is None and not where.temporary:
        where = cache.fall_back(reason)
        library, reason = _opened(where, where.publish(build_and_name))
    if library is None:
        raise CompilerError(f"the compiled kernel does not load: {reason}{_hint(where.path)}")
    return library


def _hint(path: str) -> str:
    """Return what to do where files of a directory cannot be loaded, in words that follow the reason."""
    if not cache.hinders_execution(path):
        return ""
    return (
        f"; files in {path} may not be executed (it is mounted noexec): set WEFT_CACHE_DIR, or TMPDIR, to a directory "
        "of your own where they may"
    )


def key_of(text: Wanted) -> _Key:
    """Return what a library of a text is known by in memory."""
    return _key(text.facts.digest)


def _key(digest: str) -> _Key:
    return digest, config.cc, config.cflags, config.optimization, config.sanitize


def _signature(arity: int) -> Any:
    signature = _signatures.get(arity)
    if signature is None:
        signature = ffi.typeof(abi.signature(arity))
        _signatures[arity] = signature
    return signature
