"""Kernel cache on disk.

An entry is one file, ``<key>.so``: the shared object, and after it a footer, which loaders of shared objects ignore.
The footer is a magic number and the SHA-256 of key and contents, checked before the file is loaded, so that a
truncated, altered, renamed or foreign file is rebuilt. Entries are written under another name and then renamed, so
that any number of processes may share a directory. If there is no directory to trust, a private temporary one is used
until the process ends.

To load a file is to run it, so that nobody else may be able to put one there: the directory must belong to the user,
nobody else may write to it, and nobody but the user and root may be able to exchange it or a directory above it, as ssh
asks of its files (see sshd's StrictModes). An entry is opened by the descriptor of the directory that was checked.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import grp
import hashlib
import json
import os
import pwd
import shutil
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..config import config
from ..records import record
from .together import stop_asked

T = TypeVar("T")

MAGIC = b"\nweft-01"
FOOTER = len(MAGIC) + 32
DAY = 86400.0
MIB = 1 << 20
ENTRY = 256 * MIB
"""Largest size of an entry in bytes."""
RECORD = MIB // 16
"""Largest size of a record in bytes."""
PARTIAL = "partial-"  # begins the names of files that are still being written
PLAN = "plan-"  # begins the names of records of the index of plans


@record
class CacheInfo:
    """Contents of the kernel cache on disk."""

    path: str
    entries: int
    bytes: int  # Size of all kernels
    limit: int  # Size above which the least recently used kernels are removed


@record
class Directory:
    """Directory of cache entries that has passed the checks."""

    path: str
    temporary: bool = False  # True if it is removed when the process ends

    def lookup(self, key: str, use: Callable[[str], T]) -> T | None:
        """Return what ``use`` makes of a path to the entry ``key``; None if there is no entry that can be trusted."""
        name = _entry(key)
        try:
            with self._held() as here:
                contents = _read(name, ENTRY, here)
                if contents is None or contents[-FOOTER:] != _footer(key, contents[:-FOOTER]):
                    return None
                with contextlib.suppress(OSError):
                    if time.time() - os.stat(name, dir_fd=here, follow_symlinks=False).st_mtime > DAY:
                        # The time stamp is the time of last use, to the day.
                        os.utime(name, dir_fd=here, follow_symlinks=False)
                return use(os.path.join(self._through(here), name))
        except OSError:
            return None

    def path_of(self, key: str) -> str:
        """Return the path of the entry ``key``."""
        return os.path.join(self.path, _entry(key))

    def publish(self, build: Callable[[str], str]) -> str:
        """Write an entry with ``build``, which gets a path and returns the key; raises ``OSError`` if it cannot."""
        self._trim_sometimes()
        with self._held() as here, _partial(".so", here) as (partial, descriptor):
            os.close(descriptor)  # a fault of the directory raises before this, and is not taken for the compiler's
            key = build(os.path.join(self.path, partial))
            # The compiler may have made another file of the name.
            with open(os.open(partial, _PLAIN | os.O_RDWR, dir_fd=here), "r+b") as file:
                os.fchmod(file.fileno(), 0o700)
                contents = file.read()
                file.write(_footer(key, contents))
            os.replace(partial, _entry(key), src_dir_fd=here, dst_dir_fd=here)
        return key

    @contextlib.contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Let one process or thread at a time make the entry ``key``; others wait, up to ``config.compile_timeout``.

        The lock is a file beside the entry. The system releases it when its holder ends, however that ends. Nobody
        waits on a file system without locks.
        """
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError):
                here, name = held.enter_context(self._held()), f"{PARTIAL}{key}.lock"
                file = os.open(name, _PLAIN | os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=here)
                held.callback(os.close, file)
                if _locked(file):
                    held.callback(fcntl.flock, file, fcntl.LOCK_UN)  # a forked child has the same lock
                    held.callback(_unlink, name, here)
            yield

    def contents(self, key: str) -> bytes | None:
        """Return the shared object of the entry ``key`` as bytes; None if there is no entry that can be trusted."""

        def read(path: str) -> bytes:
            with open(path, "rb") as file:
                return file.read()[:-FOOTER]

        return self.lookup(key, read)

    def read_record(self, name: str) -> dict[str, Any]:
        """Return the JSON object of a small file; empty if there is no file, or no object in it."""
        try:
            with self._held() as here:
                value = json.loads(_read(name, RECORD, here) or b"{}")
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def write_record(self, name: str, record: dict[str, Any]) -> None:
        """Write a small JSON object to a file; without the file, its facts are found out again next time."""
        with contextlib.suppress(OSError), self._held() as here, _partial(".json", here) as (partial, descriptor):
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(record, file)
            os.replace(partial, name, src_dir_fd=here, dst_dir_fd=here)

    def read_checked(self, name: str) -> str | None:
        """Return the text that ``write_checked`` wrote under a name; None if there is none, or it is not whole."""
        found = self.read_record(name)
        text = found.get("text")
        return text if isinstance(text, str) and found.get("sum") == checksum(f"{name} {text}") else None

    def write_checked(self, name: str, text: str) -> None:
        """Write a text to a small file, with a checksum of both its name and the text."""
        self.write_record(name, {"sum": checksum(f"{name} {text}"), "text": text})

    def full(self) -> str | None:
        """Return the reason why there is no room for an entry; None if there is room.

        Compilers that run out of room say only that they failed.
        """
        try:
            with self._held() as here, _partial(".so", here) as (_, descriptor), open(descriptor, "wb") as file:
                file.write(bytes(MIB))
        except OSError as error:
            return error.strerror or str(error)
        return None

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """Return an iterator over the path and the status of each entry."""
        return ((path, found) for path, found in self._files() if _is_entry(os.path.basename(path)))

    def clear(self) -> CacheInfo:
        """Remove all files of weft's from the directory, and return what its contents were."""
        before = self.info()
        for path, _ in list(self._files()):
            name = os.path.basename(path)
            if _is_entry(name) or name.startswith((PARTIAL, PLAN, "toolchain-")) or name == "trimmed":
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
        files = (file for file in self._files() if os.path.basename(file[0]).startswith(PLAN))
        entries = sorted((*self.entries(), *files), key=lambda entry: entry[1].st_mtime, reverse=True)
        total = 0
        for path, status in entries:
            total += status.st_size
            if total > limit:
                _unlink(path)
        # A file that has been partial for a day belongs to a process that has crashed.
        for path, status in list(self._files()):
            if os.path.basename(path).startswith(PARTIAL) and time.time() - status.st_mtime > DAY:
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

    @contextlib.contextmanager
    def _held(self) -> Iterator[int]:
        """Open the directory, check it, and yield the descriptor, which no other directory can take over."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if (reason := _not_private(os.fstat(descriptor))) is not None:
                raise PermissionError(errno.EPERM, reason, self.path)
            yield descriptor
        finally:
            os.close(descriptor)

    def _through(self, descriptor: int) -> str:
        """Return a path that leads to the open directory: through the descriptor where the system has such paths."""
        link = f"/proc/self/fd/{descriptor}"
        # Debuggers and sanitizers look for symbols under the name that a shared object was opened by.
        path = self.path if config.sanitize or not os.path.isdir(link) else link
        if not os.path.samestat(os.stat(path), os.fstat(descriptor)):
            raise PermissionError(errno.EPERM, "another directory has taken its place", self.path)
        return path

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
    """Return the key of an entry: the SHA-256 of the parts, each of them with its length."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode()
        sha.update(b"%d:" % len(data))
        sha.update(data)
    return sha.hexdigest()


def directory() -> Directory:
    """Return the directory that ``config.cache_dir`` names, or the temporary one in its place.

    The directory is made if it does not exist. The checks are made once for each name in a process.
    """
    configured = config.cache_dir
    directory = _directories.get(configured)
    if directory is None:
        # Links are followed once, so that nobody can lead them elsewhere after the check.
        path = os.path.realpath(configured)
        reason = _unfit(configured, path)
        directory = Directory(path) if reason is None else fall_back(reason)
        _directories[configured] = directory
    return directory


def quiet(*, make: bool = False) -> Directory | None:
    """Return the directory that ``config.cache_dir`` names, without a warning; None if it cannot be used."""
    configured = config.cache_dir
    directory = _directories.get(configured)
    if directory is None and (make or os.path.isdir(configured)):
        path = os.path.realpath(configured)
        if _unfit(configured, path) is None:
            directory = _directories[configured] = Directory(path)
    return directory


def checksum(text: str) -> str:
    """Return a hash of a text, which tells whether it is whole."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def key_of(path: str) -> str:
    """Return the key of the entry at a path; empty if the file is no entry."""
    name = os.path.basename(path)
    return name.removesuffix(".so") if _is_entry(name) else ""


def fall_back(reason: object) -> Directory:
    """Replace the configured directory by a private temporary one, with a warning the first time."""
    configured = config.cache_dir
    current = _directories.get(configured)
    if current is not None and current.temporary:
        return current
    temporary = next((each for each in _directories.values() if each.temporary), None)
    if temporary is None:
        import tempfile

        temporary = Directory(tempfile.mkdtemp(prefix="weft-"), temporary=True)
        atexit.register(_remove_temporary, temporary.path, os.getpid())
    warnings.warn(
        f"weft cannot keep kernels in {configured}: {reason}; a temporary directory serves for this process "
        "(set WEFT_CACHE_DIR to a directory of your own)", RuntimeWarning, stacklevel=3,
    )  # fmt: skip
    _directories[configured] = temporary
    return temporary


def info() -> CacheInfo:
    """Return the contents of the cache on disk: path, entries, bytes, limit."""
    return directory().info()


def clear() -> CacheInfo:
    """Remove all kernels from the cache on disk."""
    return directory().clear()


def _unfit(configured: str, path: str) -> str | None:
    """Return why the ``configured`` directory, at the real ``path``, cannot be the cache; None if it can be."""
    if configured.startswith("~"):
        return f"no home directory is known for {configured.split('/')[0]}"
    try:
        _make(path)
        found = os.stat(path)
        reason = _not_private(found) or _exchangeable(path)
        if reason is None and hinders_execution(path):
            reason = "it is on a file system whose files may not be executed (noexec)"
    except OSError as error:
        return error.strerror or str(error)
    if reason is None and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        reason = "it is not writable"
    return reason


def _make(path: str) -> None:
    """Make a directory and those above it that do not exist, for the user alone whatever the umask is."""
    if not os.path.isdir(path):
        if (above := os.path.dirname(path)) != path:
            _make(above)
        with contextlib.suppress(FileExistsError):  # another process may be faster; a file is noticed later
            os.mkdir(path, 0o700)


def _not_private(status: os.stat_result) -> str | None:
    """Return the reason why others could write into the directory of a status; None if they could not."""
    if not stat.S_ISDIR(status.st_mode):
        return os.strerror(errno.ENOTDIR)
    if status.st_uid != os.geteuid():
        return f"it belongs to user {status.st_uid}"
    if status.st_mode & 0o022:
        return f"others may write to it (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def _exchangeable(path: str) -> str | None:
    """Return the reason why another user could put another directory in the place of ``path``; None if none could."""
    above = os.path.dirname(path)
    while True:
        status = os.stat(above)
        if status.st_uid not in (0, os.geteuid()):
            return f"{above} above it belongs to user {status.st_uid}, who could exchange it"
        # Only its owner, and that of the directory around it, can rename an entry of a sticky directory.
        shared = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
        if shared and (status.st_mode & 0o002 or not _is_own_group(status.st_gid)):
            return (
                f"others may write to {above} above it (mode {stat.S_IMODE(status.st_mode):o}), and could exchange it"
            )
        if above == os.path.dirname(above):
            return None
        above = os.path.dirname(above)


def _is_own_group(group: int) -> bool:
    """Return whether the user alone is in a group, as where each has one of the same name (and the umask 002)."""
    try:
        user, named = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return group == user.pw_gid and named.gr_name == user.pw_name and {*named.gr_mem} <= {user.pw_name}


def hinders_execution(path: str) -> bool:
    """Return whether files in a directory cannot be loaded, as its file system is mounted so (noexec)."""
    return bool(os.statvfs(path).f_flag & getattr(os, "ST_NOEXEC", 0))


_PLAIN = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"))
"""Flags with which neither links are followed nor pipes and devices waited for."""


@contextlib.contextmanager
def _partial(suffix: str, directory: int) -> Iterator[tuple[str, int]]:
    """Make an empty file that only the user may read; yield its name and descriptor, and remove what bears the name."""
    name = f"{PARTIAL}{os.getpid()}-{os.urandom(8).hex()}{suffix}"
    descriptor = os.open(name, _PLAIN | os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=directory)
    try:
        yield name, descriptor  # which the block closes
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=directory)


def _locked(file: int) -> bool:
    """Wait for the lock of an open file, up to ``config.compile_timeout``, and return whether it is held."""
    end, stop = time.monotonic() + config.compile_timeout, stop_asked()
    while time.monotonic() < end and not (stop is not None and stop.is_set()):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PATIENCE)
        else:
            return True
    return False


_PATIENCE = 0.01
"""Seconds between two looks at a lock."""


def _read(name: str, most: int, directory: int) -> bytes | None:
    """Return the contents of a file; None if it has more than ``most`` bytes, or cannot be trusted.

    Only a regular file of the user's is trusted, which nobody else may write to and no link leads to.
    """
    # The file is checked once it is open, so that no other file can take its place after the check.
    try:
        descriptor = os.open(name, _PLAIN | os.O_RDONLY, dir_fd=directory)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            return None
        if status.st_size > most:
            return None
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.read(status.st_size)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _footer(key: str, contents: bytes) -> bytes:
    return MAGIC + hashlib.sha256(key.encode() + contents).digest()


def _entry(key: str) -> str:
    return key + ".so"


def _is_entry(name: str) -> bool:
    return name.endswith(".so") and len(name) == 67  # 64 hexadecimal digits of SHA-256 before the suffix


def _unlink(path: str, directory: int | None = None) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path, dir_fd=directory)


def _remove_temporary(path: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not remove the directory of its parent
        shutil.rmtree(path, ignore_errors=True)
