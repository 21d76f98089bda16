"""The kernel cache on disk.

An entry is one file, ``<key>.so``: the shared object and after it a footer, which loaders of shared objects pass over:
a magic number and the SHA-256 of key and contents. It is checked before the file is loaded, so that a truncated,
altered, renamed or foreign file is rebuilt. Entries are written under another name and renamed, so that any number of
processes may share a directory. The directory must belong to the user and be writable to nobody else; where there is
no such directory, a private temporary one serves until the process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..config import config
from ..records import record

__all__ = ["CacheInfo", "Directory", "clear", "digest", "directory", "fall_back", "info"]

MAGIC = b"\nweft-01"
FOOTER = len(MAGIC) + 32
DAY = 86400.0
MIB = 1 << 20
ENTRY = 256 * MIB
"""Bytes of an entry at most."""
RECORD = MIB // 16
"""Bytes of a record at most."""
PARTIAL = "partial-"


@record
class CacheInfo:
    """What the cache on disk holds.

    Parameters
    ----------
    path : str
        The directory.
    entries : int
        Number of kernels.
    bytes : int
        Their size.
    limit : int
        The size at which the least recently used ones go.
    """

    path: str
    entries: int
    bytes: int
    limit: int


@record
class Directory:
    """A directory that has passed the checks."""

    path: str
    temporary: bool = False

    def lookup(self, key: str) -> str | None:
        """The path of the entry ``key``, or None where there is none that can be trusted."""
        path = os.path.join(self.path, key + ".so")
        contents = _read(path, ENTRY)
        if contents is None or contents[-FOOTER:] != _footer(key, contents[:-FOOTER]):
            return None
        with contextlib.suppress(OSError):
            if time.time() - os.lstat(path).st_mtime > DAY:
                os.utime(path, follow_symlinks=False)  # the time stamp is the time of last use, to the day
        return path

    def publish(self, build: Callable[[str], str]) -> str:
        """Have ``build`` write a file and name its key; make it that entry. ``OSError`` where that cannot be.

        Returns
        -------
        str
            The path of the entry.
        """
        self._trim_sometimes()
        partial = self._partial(".so")
        try:
            with open(partial, "xb"):
                pass  # what is wrong with the directory shows here, not as a failure of the compiler
            key = build(partial)
            path = os.path.join(self.path, key + ".so")
            os.chmod(partial, 0o700)
            with open(partial, "r+b") as file:
                contents = file.read()
                file.write(_footer(key, contents))
            os.replace(partial, path)
        finally:
            _unlink(partial)
        return path

    def read_record(self, name: str) -> dict[str, Any]:
        """A small JSON object, empty where there is none or it makes no sense."""
        try:
            found = json.loads(_read(os.path.join(self.path, name), RECORD) or b"{}")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_record(self, name: str, record: dict[str, Any]) -> None:
        """Store a small JSON object; where that cannot be, it is found out again next time."""
        partial = self._partial(".json")
        try:
            with open(partial, "w", encoding="utf-8") as file:
                json.dump(record, file)
            os.replace(partial, os.path.join(self.path, name))
        except OSError:
            pass
        finally:
            _unlink(partial)

    def full(self) -> str | None:
        """Why there is no room for an entry here, or None: compilers say only that they failed."""
        partial = self._partial(".so")
        try:
            with open(partial, "xb") as file:
                file.write(bytes(MIB))
        except OSError as error:
            return error.strerror or str(error)
        finally:
            _unlink(partial)
        return None

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """Path and status of each entry."""
        return ((path, found) for path, found in self._files() if _is_entry(os.path.basename(path)))

    def clear(self) -> CacheInfo:
        """Remove everything that weft has put here; the answer says what that was."""
        before = self.info()
        for path, _ in list(self._files()):
            name = os.path.basename(path)
            if _is_entry(name) or name.startswith((PARTIAL, "toolchain-")) or name == "trimmed":
                _unlink(path)
        return before

    def info(self) -> CacheInfo:
        """What is here."""
        sizes = [found.st_size for _, found in self.entries()]
        return CacheInfo(self.path, len(sizes), sum(sizes), config.cache_limit)

    def trim(self, limit: int) -> None:
        """Remove the least recently used entries until ``limit`` bytes are left, and what crashed processes left."""
        entries = sorted(self.entries(), key=lambda entry: entry[1].st_mtime, reverse=True)
        total = 0
        for path, found in entries:
            total += found.st_size
            if total > limit:
                _unlink(path)
        for path, found in list(self._files()):
            if os.path.basename(path).startswith(PARTIAL) and time.time() - found.st_mtime > DAY:
                _unlink(path)

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        try:
            with os.scandir(self.path) as listing:
                for entry in listing:
                    try:
                        if entry.is_file(follow_symlinks=False):
                            yield entry.path, entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
        except OSError:
            return

    def _partial(self, suffix: str) -> str:
        return os.path.join(self.path, f"{PARTIAL}{os.getpid()}-{os.urandom(8).hex()}{suffix}")

    def _trim_sometimes(self) -> None:
        """Trim once a day, or after every 256th entry that this process makes."""
        global _published
        _published += 1
        try:
            due = time.time() - os.lstat(os.path.join(self.path, "trimmed")).st_mtime > DAY
        except OSError:
            due = True
        if due or _published % 256 == 0:
            self.write_record("trimmed", {})
            self.trim(config.cache_limit)


_published = 0
_directories: dict[str, Directory] = {}


def digest(*parts: str) -> str:
    """The key of an entry: SHA-256 over the parts, each with its length."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode()
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()


def directory() -> Directory:
    """The directory that ``config.cache_dir`` names, made if need be, or the temporary one in its place."""
    wanted = config.cache_dir
    found = _directories.get(wanted)
    if found is None:
        reason = _unfit(wanted)
        found = Directory(wanted) if reason is None else fall_back(reason)
        _directories[wanted] = found
    return found


def fall_back(reason: object) -> Directory:
    """Replace the configured directory by a private temporary one; the first time, with a warning."""
    wanted = config.cache_dir
    current = _directories.get(wanted)
    if current is not None and current.temporary:
        return current
    made = next((found for found in _directories.values() if found.temporary), None)
    if made is None:
        import tempfile

        made = Directory(tempfile.mkdtemp(prefix="weft-"), temporary=True)
        atexit.register(_remove_temporary, made.path, os.getpid())
    warnings.warn(
        f"weft cannot keep kernels in {wanted}: {reason}; a temporary directory serves for this process "
        "(set WEFT_CACHE_DIR to a directory of your own)", RuntimeWarning, stacklevel=3,
    )  # fmt: skip
    _directories[wanted] = made
    return made


def info() -> CacheInfo:
    """What the cache on disk holds: path, entries, bytes, limit."""
    return directory().info()


def clear() -> CacheInfo:
    """Remove all kernels from the cache on disk; the answer says what it held."""
    return directory().clear()


def _unfit(path: str) -> str | None:
    """Why ``path`` cannot be the cache, or None."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.stat(path)
    except OSError as error:
        return error.strerror or str(error)
    if found.st_uid != os.geteuid():
        return f"it belongs to user {found.st_uid}"
    if found.st_mode & 0o022:
        return f"others may write to it (mode {stat.S_IMODE(found.st_mode):o})"
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return "it is not writable"
    return None


def _read(path: str, most: int) -> bytes | None:
    """The contents of a file of the user's own; None of links, pipes and devices, and of more than ``most`` bytes."""
    flags = [getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC")]
    try:
        descriptor = os.open(path, os.O_RDONLY | sum(flags))
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            return None
        if found.st_size > most:
            return None
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.read(found.st_size)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _footer(key: str, contents: bytes) -> bytes:
    return MAGIC + hashlib.sha256(key.encode() + contents).digest()


def _is_entry(name: str) -> bool:
    return name.endswith(".so") and len(name) == 67


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _remove_temporary(path: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
