"""Settings, in one typed object, ``weft.config``; each setting has an environment variable that is read at import.

====================== =========================== ==================== ============================================
setting                variable                    default              meaning
====================== =========================== ==================== ============================================
``num_threads``        ``WEFT_NUM_THREADS``        the process's CPUs   threads of a kernel (else OMP_NUM_THREADS)
``parallel_threshold`` ``WEFT_PARALLEL_THRESHOLD`` 250000               work below which a kernel runs on one thread
``reassociate``        ``WEFT_REASSOCIATE``        ``True``             SIMD and threads may reassociate reductions
``vector_functions``   ``WEFT_VECTOR_FUNCTIONS``   ``True``             compute log1p and the like on SIMD vectors
``disable``            ``WEFT_DISABLE``            nothing              optimisations to do without, by name
``cache_dir``          ``WEFT_CACHE_DIR``          user cache + weft    directory of compiled kernels
``cache_limit``        ``WEFT_CACHE_LIMIT``        512 MiB              bytes of kernels kept on disk
``plan_cache_size``    ``WEFT_PLAN_CACHE_SIZE``    4096                 plans of operations kept in memory
``memory_pool``        ``WEFT_MEMORY_POOL``        RAM/16, up to 1 GiB  bytes of freed result memory kept for reuse
``max_densify_bytes``  ``WEFT_MAX_DENSIFY_BYTES``  1 GiB                limit of dense arrays made implicitly
``max_kept_bytes``     ``WEFT_MAX_KEPT_BYTES``     256 MiB              bytes of conversions that tensors keep
``cc``                 ``WEFT_CC``                 ``None``: search     the C compiler, a command line (else CC)
``cflags``             ``WEFT_CFLAGS``             ``""``               flags added to weft's own
``optimization``       ``WEFT_OPT``                3                    the compiler's -O level
``compile``            ``WEFT_COMPILE``            ``"auto"``           ``"never"``; ``"wait"``: no serial run meanwhile
``shipped``            ``WEFT_SHIPPED``            ``True``             take kernels that are installed with weft
``compile_timeout``    ``WEFT_COMPILE_TIMEOUT``    120                  seconds after which a compiler is killed
``sanitize``           ``WEFT_SANITIZE``           ``False``            build kernels with ASan and UBSan
``full_tracebacks``    ``WEFT_FULL_TRACEBACKS``    ``False``            tracebacks show the frames inside weft, too
``debug``              ``WEFT_DEBUG``              nothing              stages and passes to print; ``verify`` checks
``log``                ``WEFT_LOG``                ``""``: nothing      lines on stderr: ``"info"`` or ``"debug"``
``record``             ``WEFT_RECORD``             ``""``: nothing      file that lists kernels for ``weft warm``
====================== =========================== ==================== ============================================

Settings are slots of a plain object, so that reading a setting costs an attribute read. Assigning a setting checks it.
Settings that affect code take effect at once, also for expressions that have been computed before, and for all threads.
The names that ``disable`` takes are in ``docs/development/optimisations.md``.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from . import optimizations
from .code_options import CodeOptions, code_options
from .control_groups import control_groups
from .records import record

__all__ = ["SETTINGS", "Config", "Setting", "available_cpus", "config", "physical_memory"]

MIB = 1 << 20


def available_cpus() -> int:
    """Return the number of CPUs that this process may use, by its affinity and the quotas of its control groups."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux has it, macOS does not
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    for version, folder in control_groups("cpu"):
        words: list[str] = []
        try:
            for name in ("cpu.max",) if version == 2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us"):
                with open(os.path.join(folder, name)) as file:
                    words += file.read().split()
            quota, period = map(int, words)  # without a limit, the quota is "max", or -1 in version 1
        except (OSError, ValueError):
            continue
        if quota > 0:
            count = min(count, -(-quota // period))
    return max(1, count)


@cache
def physical_memory() -> int:
    """Return the number of bytes of the machine's memory; a very large number if the system does not tell it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # no such names on this system
        return 2**62


def _user_cache_dir() -> str:
    """Return the directory for caches of this user; it begins with "~" if the user has no home directory."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the specification says to ignore others
        base = os.path.expanduser("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    return os.path.join(base, "weft")


def _integer(low: int, high: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, str):
            value = int(value)
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"expects an integer, not {type(value).__name__}")
        value = int(value.__index__())
        if not low <= value <= high:
            raise ValueError(f"expects an integer from {low} to {high}, not {value}")
        return int(value)

    return check


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        if value.lower() in ("1", "true", "yes", "on"):
            return True
        if value.lower() in ("0", "false", "no", "off"):
            return False
        raise ValueError(f"expects true or false, not {value!r}")
    if value in (0, 1) and (isinstance(value, int) or type(value).__name__ in ("bool", "bool_")):
        return bool(value)
    raise TypeError(f"expects a bool, not {type(value).__name__}")


def _path(value: Any) -> str:
    text = os.fspath(value)
    if not isinstance(text, str):
        raise TypeError("expects a text path, not bytes")
    if not text or "\0" in text:
        raise ValueError(f"expects a path, not {text!r}")
    path = os.path.expanduser(text)
    return path if path.startswith("~") else os.path.abspath(path)  # "~" stays where no home directory is known


def _path_or_nothing(value: Any) -> str:
    return _path(value) if value else ""


def _command(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"expects a command line or None, not {type(value).__name__}")
    return value if shlex.split(value) else None


def _flags(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expects a string of flags, not {type(value).__name__}")
    shlex.split(value)
    return value


def _names(kind: str, allowed: Sequence[str], separator: str) -> Callable[[Any], frozenset[str]]:
    """Return a checker of sets of names, whose words may be separated by spaces or hyphens."""

    def check(value: Any) -> frozenset[str]:
        if isinstance(value, str):
            value = value.split(",")
        elif not isinstance(value, (list, tuple, set, frozenset)):
            raise TypeError(f"expects {kind} names, not {type(value).__name__}")
        if not all(isinstance(name, str) for name in value):
            raise TypeError(f"expects {kind} names, all of them strings")
        names = frozenset(separator.join(name.replace("-", " ").split()) for name in value if name.strip())
        if unknown := sorted(names.difference(allowed)):
            raise ValueError(f"there is no {kind} {unknown[0]!r}; the {kind}s are {', '.join(allowed)}")
        return names

    return check


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError(f"expects a number of seconds, not {type(value).__name__}")
    seconds = float(value)
    if not 0 < seconds <= 1e6:
        raise ValueError(f"expects a number of seconds from 0 to 1e6, not {value}")
    return seconds


def _one_of(*words: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(f"expects one of {', '.join(map(repr, words))}, not {type(value).__name__}")
        if value.lower() not in words:
            raise ValueError(f"expects one of {', '.join(map(repr, words))}, not {value!r}")
        return value.lower()

    return check


def _omp_threads(value: Any) -> int:
    return _THREADS(value.split(",")[0])  # OpenMP allows a list with a number for each level of nested parallelism


_THREADS = _integer(1, 65536)
_BYTES = _integer(0, 1 << 62)


@record
class Setting:
    """A setting, with its checker, its default and its environment variables."""

    name: str  # the attribute of :class:`Config`
    # A function that returns the value to store, or raises ``ValueError`` or ``TypeError``. Its argument is a value or
    # the text of an environment variable.
    check: Callable[[Any], Any]
    default: Callable[[], Any]  # a function that returns the value if no variable is set
    # Environment variables by precedence, each with a function that reads its text, or None for ``check``.
    variables: tuple[tuple[str, Callable[[Any], Any] | None], ...]

    def read(self, environ: Mapping[str, str]) -> Any:
        """Return the value of the setting in an environment."""
        for variable, reader in self.variables:
            text = environ.get(variable)
            if not text or text.isspace():
                continue
            try:
                return (reader or self.check)(text)
            except (TypeError, ValueError) as error:
                # Variables such as CC and OMP_NUM_THREADS belong to other programs, and cause no warning.
                if variable.startswith("WEFT_"):
                    warnings.warn(f"{variable}={text!r} is ignored: {error}", RuntimeWarning, stacklevel=2)
        return self.default()


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            "num_threads", _THREADS, available_cpus, (("WEFT_NUM_THREADS", None), ("OMP_NUM_THREADS", _omp_threads))
        ),
        Setting("parallel_threshold", _BYTES, lambda: 250_000, (("WEFT_PARALLEL_THRESHOLD", None),)),
        Setting("reassociate", _boolean, lambda: True, (("WEFT_REASSOCIATE", None),)),
        Setting("vector_functions", _boolean, lambda: True, (("WEFT_VECTOR_FUNCTIONS", None),)),
        Setting("disable", _names("optimisation", optimizations.NAMES, "-"), frozenset, (("WEFT_DISABLE", None),)),
        Setting("cache_dir", _path, _user_cache_dir, (("WEFT_CACHE_DIR", None),)),
        Setting("cache_limit", _BYTES, lambda: 512 * MIB, (("WEFT_CACHE_LIMIT", None),)),
        Setting("plan_cache_size", _integer(1, 1 << 30), lambda: 4096, (("WEFT_PLAN_CACHE_SIZE", None),)),
        Setting("memory_pool", _BYTES, lambda: min(physical_memory() // 16, 1024 * MIB), (("WEFT_MEMORY_POOL", None),)),
        Setting("max_densify_bytes", _BYTES, lambda: 1024 * MIB, (("WEFT_MAX_DENSIFY_BYTES", None),)),
        Setting("max_kept_bytes", _BYTES, lambda: 256 * MIB, (("WEFT_MAX_KEPT_BYTES", None),)),
        Setting("cc", _command, lambda: None, (("WEFT_CC", None), ("CC", None))),
        Setting("cflags", _flags, lambda: "", (("WEFT_CFLAGS", None),)),
        Setting("optimization", _integer(0, 3), lambda: 3, (("WEFT_OPT", None),)),
        Setting("compile", _one_of("auto", "wait", "never"), lambda: "auto", (("WEFT_COMPILE", None),)),
        Setting("shipped", _boolean, lambda: True, (("WEFT_SHIPPED", None),)),
        Setting("compile_timeout", _seconds, lambda: 120.0, (("WEFT_COMPILE_TIMEOUT", None),)),
        Setting("sanitize", _boolean, lambda: False, (("WEFT_SANITIZE", None),)),
        Setting("full_tracebacks", _boolean, lambda: False, (("WEFT_FULL_TRACEBACKS", None),)),
        Setting("debug", _names("stage", optimizations.SHOWN, " "), frozenset, (("WEFT_DEBUG", None),)),
        Setting("log", _one_of("", "info", "debug"), lambda: "", (("WEFT_LOG", None),)),
        Setting("record", _path_or_nothing, lambda: "", (("WEFT_RECORD", None),)),
    )
}


class Config:
    """Settings of weft; the docstring of the module lists them.

    Attributes
    ----------
    code : CodeOptions
        The settings that affect code, as one value for the keys of plans.

    Examples
    --------
    >>> from weft.config import config
    >>> with config.override(num_threads=1, reassociate=False):
    ...     config.num_threads
    1
    """

    __slots__ = (*SETTINGS, "code")
    code: CodeOptions
    num_threads: int
    parallel_threshold: int
    reassociate: bool
    vector_functions: bool
    disable: frozenset[str]
    cache_dir: str
    cache_limit: int
    plan_cache_size: int
    memory_pool: int
    max_densify_bytes: int
    max_kept_bytes: int
    cc: str | None
    cflags: str
    optimization: int
    compile: str
    shipped: bool
    compile_timeout: float
    sanitize: bool
    full_tracebacks: bool
    debug: frozenset[str]
    log: str
    record: str

    def __init__(self, environ: Mapping[str, str] | None = None):
        self.reset(os.environ if environ is None else environ)

    def reset(self, environ: Mapping[str, str] | None = None) -> None:
        """Set all settings to the values in the environment.

        Parameters
        ----------
        environ : mapping, optional
            Environment variables; by default those of the process.

        Examples
        --------
        >>> import weft
        >>> before = weft.config.as_dict()
        >>> with weft.config.override(**before):
        ...     weft.config.reset({"WEFT_NUM_THREADS": "3"})
        ...     print(weft.config.num_threads)
        3
        """
        found = os.environ if environ is None else environ
        # Values that are read from variables are checked already.
        self._store({setting.name: setting.read(found) for setting in SETTINGS.values()})

    def __setattr__(self, name: str, value: Any) -> None:
        self._store({name: self._checked(name, value)})

    def _store(self, checked: Mapping[str, Any]) -> None:
        """Store values that are checked, and then what follows from all of them."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        options = code_options(
            reassociate=self.reassociate,
            vector_functions=self.vector_functions,
            disabled=self.disable,
            verify=optimizations.VERIFY in self.debug,
            build=(self.cc, self.cflags, self.optimization, self.sanitize),
        )
        object.__setattr__(self, "code", options)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"config.{name} cannot be deleted")

    @staticmethod
    def _checked(name: str, value: Any) -> Any:
        setting = SETTINGS.get(name)
        if setting is None:
            raise AttributeError(f"weft has no setting {name!r}; it has {', '.join(SETTINGS)}")
        try:
            return setting.check(value)
        except (TypeError, ValueError) as error:
            # Subclasses such as UnicodeDecodeError cannot be made from a message alone.
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"config.{name} {error}") from None

    @contextmanager
    def override(self, **settings: Any) -> Iterator[Config]:
        """Change settings inside a ``with`` block; all of them are checked before any is changed.

        Parameters
        ----------
        **settings
            The values by the names of the settings.

        Raises
        ------
        AttributeError
            When there is no setting of a name.
        TypeError, ValueError
            When a value is not valid.

        Examples
        --------
        >>> import weft
        >>> with weft.config.override(num_threads=1):
        ...     print(weft.config.num_threads)
        1
        """
        checked = {name: self._checked(name, value) for name, value in settings.items()}
        saved = {name: getattr(self, name) for name in checked}
        try:
            self._store(checked)
            yield self
        finally:
            self._store(saved)

    def as_dict(self) -> dict[str, Any]:
        """Return all settings by name.

        Examples
        --------
        >>> import weft
        >>> weft.config.as_dict()["reassociate"]
        True
        """
        return {name: getattr(self, name) for name in SETTINGS}

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items()) + ")"


config = Config()
