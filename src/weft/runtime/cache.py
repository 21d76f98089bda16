"""Kernel cache on disk.

An entry is one file, ``<key>.so``: the shared object, and after it a footer, which loaders of shared objects ignore.
The footer is a magic number and the SHA-256 of key and contents, checked before the file is loaded, so that a
truncated, altered, renamed or foreign file is rebuilt. Entries are written under another name and then renamed, so
that any number of processes may share a directory. The directory must belong to the user, and nobody else may have
permission to write to it. If there is no such directory, a private temporary one is used until the process ends.
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
"""Largest size of an entry in bytes."""
RECORD = MIB // 16
"""Largest size of a record in bytes."""
PARTIAL = "partial-"  # begins the names of files that are still being written


@record
class CacheInfo:
    """Contents of the kernel cache on disk.

    Parameters
    ----------
    path : str
        The directory.
    entries : int
        Number of kernels.
    bytes : int
        Size of all kernels.
    limit : int
        Size above which the least recently used kernels are removed.
    """

    path: str
    entries: int
    bytes: int
    limit: int


@record
class Directory:
    """Directory of cache entries that has passed the checks.

    Parameters
    ----------
    path : str
        The directory.
    temporary : bool
        True if it is removed when the process ends.
    """

    path: str
    temporary: bool = False

    def lookup(self, key: str) -> str | None:
        """Return the path of the entry ``key``; None if there is no entry that can be trusted."""
        path = os.path.join(self.path, key + ".so")
        contents = _read(path, ENTRY)
        if contents is None or contents[-FOOTER:] != _footer(key, contents[:-FOOTER]):
            return None
        with contextlib.suppress(OSError):
            if time.time() - os.lstat(path).st_mtime > DAY:
                os.utime(path, follow_symlinks=False)  # the time stamp is the time of last use, to the day
        return path

    def publish(self, build: Callable[[str], str]) -> str:
        """Write an entry with the function ``build``, and return its path.

        Parameters
        ----------
        build : callable
            Writes the shared object to the path that it is given, and returns the key of the entry.

        Returns
        -------
        str
            The path of the entry.

        Raises
        ------
        OSError
            The directory cannot be written to.
        """
        self._trim_sometimes()
        partial = self._partial(".so")
        try:
            with open(partial, "xb"):
                pass  # a fault of the directory raises here, and is not taken for a failure of the compiler
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
        """Return the JSON object of a small file; empty if there is no file, or no object in it."""
        try:
            found = json.loads(_read(os.path.join(self.path, name), RECORD) or b"{}")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_record(self, name: str, record: dict[str, Any]) -> None:
        """Write a small JSON object to a file; without the file, its facts are found out again next time."""
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
        """Return the reason why there is no room for an entry; None if there is room.

        Compilers that run out of room say only that they failed.
        """
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
        """Return an iterator over the path and the status of each entry."""
        return ((path, found) for path, found in self._files() if _is_entry(os.path.basename(path)))

    def clear(self) -> CacheInfo:
        """Remove all files of weft's from the directory, and return what its contents were."""
        before = self.info()
        for path, _ in list(self._files()):
            name = os.path.basename(path)
            if _is_entry(name) or name.startswith((PARTIAL, "toolchain-")) or name == "trimmed":
                _unlink(path)
        return before

    def info(self) -> CacheInfo:
        """Return the contents of the directory."""
        sizes = [found.st_size for _, found in self.entries()]
        return CacheInfo(self.path, len(sizes), sum(sizes), config.cache_limit)

    def trim(self, limit: int) -> None:
        """Remove the least recently used entries until at most ``limit`` bytes are left.

        Files that crashed processes left unfinished are removed, too.
        """
        # The most recently used entries come first, and stay while there is room.
        entries = sorted(self.entries(), key=lambda entry: entry[1].st_mtime, reverse=True)
        total = 0
        for path, found in entries:
            total += found.st_size
            if total > limit:
                _unlink(path)
        # A file that has been partial for a day belongs to a process that has crashed.
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
        """Trim the directory once a day, and after every 256th entry that this process writes."""
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
    """Return the key of an entry: the SHA-256 of the parts, each of them with its length.

    Parameters
    ----------
    *parts : str
        The texts on which the entry depends.
    """
    found = hashlib.sha256()
    for part in parts:
        data = part.encode()
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()


def directory() -> Directory:
    """Return the directory that ``config.cache_dir`` names, or the temporary one in its place.

    The directory is made if it does not exist. The checks are made once for each name in a process.
    """
    wanted = config.cache_dir
    found = _directories.get(wanted)
    if found is None:
        reason = _unfit(wanted)
        found = Directory(wanted) if reason is None else fall_back(reason)
        _directories[wanted] = found
    return found


def fall_back(reason: object) -> Directory:
    """Replace the configured directory by a private temporary one, with a warning the first time.

    Parameters
    ----------
    reason : object
        Reason for the warning.

    Returns
    -------
    Directory
        The temporary directory, of which a process has one.
    """
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
    """Return the contents of the cache on disk: path, entries, bytes, limit.

    Returns
    -------
    CacheInfo
        The contents.
    """
    return directory().info()


def clear() -> CacheInfo:
    """Remove all kernels from the cache on disk.

    Returns
    -------
    CacheInfo
        The contents that the cache had.
    """
    return directory().clear()


def _unfit(path: str) -> str | None:
    """Return the reason why ``path`` cannot be the directory of the cache; None if it can be."""
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
    """Return the contents of a file; None if it has more than ``most`` bytes, or cannot be trusted.

    Only a regular file of the user's is trusted, which nobody else may write to and no link leads to.
    """
    # Neither links are followed nor pipes and devices waited for. The file is checked once it is open, so that no
    # other file can take its place after the check.
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
    return name.endswith(".so") and len(name) == 67  # 64 hexadecimal digits of SHA-256 before the suffix


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _remove_temporary(path: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not remove the directory of its parent
        shutil.rmtree(path, ignore_errors=True)
