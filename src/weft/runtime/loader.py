"""From C text to callables: look in memory, among the kernels that are shipped, on disk; compile; load.

The functions are cffi function pointers. A call costs well under a microsecond and releases the GIL.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from ..codegen import abi
from ..config import config
from ..errors import CompilerError, NotCompiledError
from ..records import record
from . import cache, forks, log, shipped, toolchain
from ._ffi import ffi
from .objects import Library, listening, open_object

if TYPE_CHECKING:
    from _thread import RLock as RLockType

__all__ = ["Module", "forget", "load", "open_source"]


@record
class Module:
    """The functions of one C text.

    Parameters
    ----------
    functions : dict
        By name, callables ``(tensor, ..., tensor, counts, threads) -> status``; tensors are ``weft_tensor *``
        (see :func:`weft.runtime.tensor_struct`), ``counts`` an ``int64_t *``.
    source : str
        The C text.
    path : str
        The shared object.
    """

    functions: dict[str, Callable[..., int]]
    source: str
    path: str

    def __getitem__(self, name: str) -> Callable[..., int]:
        return self.functions[name]


_Key = tuple[str, str | None, str, int, bool]
_libraries: dict[_Key, Library] = {}
_modules: dict[tuple[_Key, tuple[str, ...], int], Module] = {}
_opening: dict[_Key, RLockType] = {}
forks.in_child(_opening.clear)  # the threads that held these locks are not there
_signatures: dict[int, Any] = {}


def load(source: str, names: Sequence[str], arity: int, what: str) -> Module:
    """Compile ``source``, unless it is cached, and load it.

    Parameters
    ----------
    source : str
        A complete C file, as ``codegen.emit_module`` writes them: it defines
        ``int64_t weft_NAME(weft_tensor *, ..., int64_t *counts, int64_t threads)``.
    names : sequence of str
        The functions wanted, by their names in the IR (``compute``; in C, ``codegen.symbol`` of them).
    arity : int
        The number of tensors they take.
    what : str
        The words for what they compute, for the log and for errors.

    Returns
    -------
    Module

    Raises
    ------
    CompilerError
        There is no compiler, it failed, or ``config.compile`` is ``"never"``.
    """
    key = _key(source)
    whole = (key, tuple(names), arity)
    module = _modules.get(whole)
    if module is None:
        library = _libraries.get(key) or _opened(key, source, [abi.symbol(name) for name in names], what)
        signature = _signature(arity)
        functions = {name: ffi.cast(signature, library.symbol(name)) for name in names}
        module = _modules[whole] = Module(functions, source, library.path)
    return module


def _opened(key: _Key, source: str, names: Sequence[str], what: str) -> Library:
    """A library that is not in memory; threads that want the same one wait for the first of them."""
    if config.record:
        from .warming import note

        note(source, names, what)
    with _opening.setdefault(key, RLock()):
        library = _libraries.get(key)
        if library is None:
            library = _libraries[key] = open_source(source, names, what)
    _opening.pop(key, None)
    return library


def forget() -> None:
    """Drop the cache in memory; what is loaded stays loaded."""
    _libraries.clear()
    _modules.clear()


def open_source(source: str, names: Sequence[str], what: str) -> Library:
    """The shared object of one C file with the functions ``names``: what is shipped, else from disk or the compiler."""
    found = shipped.find(source, names)
    if found is not None:
        log.debug("found %s in %s", what, found.path)
        return found
    try:
        tool = toolchain.current()
    except CompilerError as error:
        raise NotCompiledError(f"{what} is not compiled yet, and {error}") from None

    def key() -> str:
        return cache.digest(abi.VERSION, tool.identity, source)

    def build_and_name(output: str) -> str:
        begin = time.perf_counter()
        tool.compile(source, output)
        log.info("compiled %s in %.2f s", what, time.perf_counter() - begin)
        return key()  # only now, because the compiler may have refused a flag on the way

    where = cache.directory()
    path = where.lookup(key())
    handle, reason = (ffi.NULL, "") if path is None else open_object(path)
    if path is not None and handle != ffi.NULL:
        log.debug("found %s in %s", what, path)
        return listening(path, handle)
    if config.compile == "never":
        raise NotCompiledError(
            f"{what} is not compiled yet, and config.compile is 'never' (WEFT_COMPILE): compute it once where it may "
            f"be compiled, with WEFT_CACHE_DIR={where.path}"
        )
    try:
        path = where.publish(build_and_name)
        handle, reason = open_object(path)
    except OSError as error:
        reason = error.strerror or str(error)
    except CompilerError:
        no_room = where.full()
        if no_room is None or where.temporary:
            raise
        reason = no_room
    if (path is None or handle == ffi.NULL) and not where.temporary:  # read-only, full, or mounted noexec
        path = cache.fall_back(reason).publish(build_and_name)
        handle, reason = open_object(path)
    if path is None or handle == ffi.NULL:
        raise CompilerError(f"the compiled kernel does not load: {reason}")
    return listening(path, handle)


def _key(source: str) -> _Key:
    return source, config.cc, config.cflags, config.optimization, config.sanitize


def _signature(arity: int) -> Any:
    found = _signatures.get(arity)
    if found is None:
        found = ffi.typeof(abi.signature(arity))
        _signatures[arity] = found
    return found
