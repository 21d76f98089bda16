"""C compiler: which compiler is used, which flags it understands, and how it is called.

No compiler runs until a kernel must be compiled. Facts about a compiler (its version, and which flags it refuses) are
stored on disk under the compiler's path, size and time stamp. A process whose kernels are all in the cache therefore
starts no other process. Flags are not probed: if a compilation with all of them fails, it is tried again without as few
of the optional ones as possible, and the flags that failed are remembered for a day. They are then tried
in the next compilation, not before: kernels are found under the flags that they were compiled with.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from ..config import config
from ..errors import CompilerError
from . import cache
from .levels import cpu_identity, machine_level
from .together import stop_asked

if TYPE_CHECKING:
    from subprocess import Popen

CANDIDATES = ("cc", "gcc", "clang")
# A loop of a few instructions that is not aligned may lie in two cache lines: SpMV took a fifth longer.
BASE_FLAGS = (
    "-std=gnu11",
    "-fPIC",
    "-shared",
    "-fwrapv",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-falign-loops=32",
    "-fopenmp-simd",
)
SANITIZER_FLAGS = (
    "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g",
)  # fmt: skip
LEVEL = "-march=" + (machine_level() or "native")
OPTIONAL = (LEVEL, "-falign-loops=32")  # flags that some compilers refuse
INSTALL_HINT = (
    "install one (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install; "
    "anywhere: pip install ziglang), or name one in WEFT_CC"
)
HEADERS_HINT = (
    "the headers of the C library are missing, which compilers do not bring: install them (Debian, Ubuntu: apt install "
    "libc6-dev; Fedora: dnf install glibc-devel; Alpine: apk add musl-dev; macOS: xcode-select --install), or use "
    "ziglang, which has its own (pip install ziglang; WEFT_CC='python -m ziglang cc')"
)
_NO_HEADER = re.compile(r"fatal error: ['\"<]?[-+.\w/]+\.h['\">]?( file not found|: No such file)")


def find_compiler() -> tuple[str, ...]:
    """Return the command that starts the C compiler: the configured one, else the first that is installed."""
    if config.cc is not None:
        command = shlex.split(config.cc)
        path = shutil.which(os.path.expanduser(command[0]))
        if path is None:
            raise CompilerError(f"the C compiler {config.cc!r} (WEFT_CC, CC or config.cc) is not to be found")
        return (path, *command[1:])
    for name in CANDIDATES:
        if path := shutil.which(name):
            return (path,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    raise CompilerError(f"there is no C compiler: none of {', '.join(CANDIDATES)} is on PATH; {INSTALL_HINT}")


@dataclass(eq=False, slots=True)
class Toolchain:
    """A compiler with a set of flags."""

    command: tuple[str, ...]  # the command that starts the compiler
    optimization: int = 3
    sanitize: bool = False  # if true, compile with the address and undefined-behavior sanitizers
    extra: tuple[str, ...] = ()  # Flags after weft's own
    version: str = ""  # the compiler's answer to ``--version``
    refused: frozenset[str] = frozenset()  # Optional flags that the compiler has refused
    proven: frozenset[str] = frozenset()  # Optional flags with which the compiler has succeeded
    _refused_at: float = field(default=0.0, repr=False)  # by time.time()
    _stamp: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        self._stamp = "\n".join([*self.command, *(_file_stamp(part) for part in self.command)])
        record = cache.directory().read_record(self._record_name())
        version, refused, proven = (record.get(name) for name in ("version", "refused", "proven"))
        if isinstance(version, str) and isinstance(refused, list) and isinstance(proven, list):
            self.version = version
            self.refused = frozenset(flag for flag in OPTIONAL if flag in refused)
            self.proven = frozenset(flag for flag in OPTIONAL if flag in proven)
            at = record.get("refused_at")
            self._refused_at = float(at) if isinstance(at, (int, float)) else 0.0
        else:
            self.version = self._ask_version()
            self._remember()

    @property
    def zig(self) -> bool:
        """True if the compiler is zig's."""
        return any(os.path.basename(part) in ("zig", "ziglang") for part in self.command)

    def level(self, name: str) -> str:
        """Return the flag for a level of instructions, as this compiler spells it."""
        if self.zig:  # it takes names of CPUs as its own language has them
            name = "generic" if name == "armv8-a" else name.replace("-", "_")
        return f"-march={name}"

    @property
    def flags(self) -> tuple[str, ...]:
        """All flags of a compilation."""
        return self._flags(self.refused)

    @property
    def identity(self) -> str:
        """Text of all facts, besides the source, on which the output of the compiler depends."""
        of_machine = [cpu_identity()] if "-march=native" in self.flags else []
        return "\n".join([self._stamp, self.version, *self.flags, *of_machine])

    def compile(self, source: str, output: str) -> None:
        """Compile C text to the shared object ``output``; raises ``CompilerError`` if that fails, or takes too long."""
        self._run(("-x", "c", "-"), source, output)

    def _flags(self, without: frozenset[str]) -> tuple[str, ...]:
        level = min(self.optimization, 1) if self.sanitize else self.optimization
        machine = [self.level(LEVEL.removeprefix("-march="))] if LEVEL not in without else []
        flags = [f"-O{level}", *machine, *(flag for flag in BASE_FLAGS if flag not in without)]
        if LEVEL in without and LEVEL != "-march=native":  # older compilers know no levels
            flags.append("-march=native")
        if self.sanitize:
            flags += SANITIZER_FLAGS
        elif sys.platform == "linux":
            flags.append("-Wl,-z,defs")  # a missing library fails here and not at loading
        if self.zig and not self.sanitize:
            flags.append("-fno-sanitize=undefined")  # zig has this sanitizer on by default
        return (*flags, *self.extra)

    def _run(self, inputs: tuple[str, ...], text: str, output: str) -> None:
        """Compile without the flags that are known to be refused, and find out about the others."""
        before = self.refused
        if not 0 <= time.time() - self._refused_at < cache.DAY:
            # What was missing may be installed by now, or the failure had another reason.
            self.refused = frozenset()
        doubtful = [flag for flag in OPTIONAL if flag not in self.refused | self.proven]
        failure = self._attempt(self.flags, inputs, text, output)
        if failure is not None:
            for without in _fewest_first(doubtful):
                refused = self.refused | without
                if self._attempt(self._flags(refused), inputs, text, output) is None:
                    self.refused, self._refused_at, failure = refused, time.time(), None
                    break
        if failure is not None:
            self.refused = before
            raise CompilerError(failure + (f"\n{HEADERS_HINT}" if _NO_HEADER.search(failure) else ""))
        # A flag with which the compiler has succeeded is not doubted after a later failure.
        used = set(doubtful) - self.refused
        if used or self.refused != before or any(flag in self.refused for flag in doubtful):
            self.proven |= used
            self._remember()

    def _attempt(self, flags: tuple[str, ...], inputs: tuple[str, ...], text: str, output: str) -> str | None:
        """Run the compiler once; return None, or a description of the failure."""
        threads = ["-pthread"] if "<pthread.h>" in text else []
        command = [*self.command, *flags, "-pipe", "-o", output, *inputs, *threads, "-lm"]
        try:
            status, out, errors = run(command, text)
        except OSError as error:
            return f"the C compiler does not start: {error}\n  command: {shlex.join(command)}"
        said = errors.strip() or out.strip()
        if status != 0:
            return f"the C compiler failed with status {status}\n  command: {shlex.join(command)}\n{said}"
        if not os.path.isfile(output) or os.path.getsize(output) == 0:
            return f"the C compiler wrote no output\n  command: {shlex.join(command)}\n{said}"
        return None

    def _ask_version(self) -> str:
        command = [*self.command, "--version"]
        try:
            return run(command, "")[1].strip()
        except OSError as error:
            raise CompilerError(
                f"the C compiler does not start: {error}\n  command: {shlex.join(command)}\n{INSTALL_HINT}"
            ) from None

    def _record_name(self) -> str:
        modes = [*self.extra, str(self.sanitize)]
        return "toolchain-" + hashlib.sha256("\n".join([self._stamp, *modes]).encode()).hexdigest()[:32] + ".json"

    def _remember(self) -> None:
        record = {"version": self.version, "refused": sorted(self.refused), "proven": sorted(self.proven)}
        cache.directory().write_record(self._record_name(), {**record, "refused_at": self._refused_at})


def _fewest_first(flags: Sequence[str]) -> Iterable[frozenset[str]]:
    """Return the sets of flags with which to do without: one alone, then each two, and so on."""
    return (frozenset(chosen) for count in range(1, len(flags) + 1) for chosen in combinations(flags, count))


def run(command: Sequence[str], text: str) -> tuple[int, str, str]:
    """Run a compiler, and return its status and the texts of its output and error streams.

    The compiler has a process group of its own, all of which is ended if the compiler is interrupted. None of its
    processes then writes a file afterwards.
    """
    import subprocess

    limit, pipe = config.compile_timeout, subprocess.PIPE
    environment = {**os.environ, "LC_ALL": "C"}  # messages in English
    # Whatever the umask is, nobody else may write to what the compiler makes.
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True, umask=0o077
    )  # fmt: skip
    try:
        out, errors = _communicate(process, text.encode(), limit)
    except BaseException as error:
        _end(process)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        raise CompilerError(
            f"the C compiler did not finish within {limit:g} seconds, the compile_timeout of weft.config "
            f"(WEFT_COMPILE_TIMEOUT), and was ended\n  command: {shlex.join(command)}"
        ) from None
    return process.returncode, out.decode("utf-8", "replace"), errors.decode("utf-8", "replace")


def _communicate(process: Popen[bytes], text: bytes | None, limit: float) -> tuple[bytes, bytes]:
    """Give a compiler its input, and wait for its output; raise if this thread is asked to stop."""
    import subprocess

    stop = stop_asked()
    if stop is None:
        return process.communicate(text, timeout=limit)
    end = time.monotonic() + limit
    while True:
        seconds = end - time.monotonic()
        try:
            return process.communicate(text, timeout=max(0.0, min(seconds, _PATIENCE)))
        except subprocess.TimeoutExpired:
            if seconds <= 0:
                raise
            if stop.is_set():
                raise CompilerError("the C compiler was ended, as another failed or was interrupted") from None
            text = None  # the first call has passed the text on, though it timed out


_PATIENCE = 0.05
"""Seconds between two looks at the event that tells a thread to stop."""


def _end(process: Popen[bytes]) -> None:
    """End a compiler and all processes that it has started, and wait until none of them holds its streams."""
    import subprocess

    for number, patience in ((signal.SIGTERM, 1.0), (signal.SIGKILL, 1.0)):  # SIGTERM lets it remove its files
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=patience)
            return


def _file_stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}"


_toolchains: dict[tuple[str | None, str, int, bool, str], Toolchain] = {}


def current(optimization: int | None = None) -> Toolchain:
    """Return the toolchain of the settings."""
    level = config.optimization if optimization is None else optimization
    key = (config.cc, config.cflags, level, config.sanitize, config.cache_dir)
    toolchain = _toolchains.get(key)
    if toolchain is None:
        toolchain = Toolchain(find_compiler(), level, config.sanitize, tuple(shlex.split(config.cflags)))
        _toolchains[key] = toolchain
    return toolchain
