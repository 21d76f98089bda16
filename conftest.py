"""What every test has: a private kernel cache, Hypothesis profiles, goldens; and the documentation's examples."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import importlib.util
import io
import itertools
import os
import pickle
import re
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent

# Compiling is slow the first time and fast afterwards: no deadline makes sense for both.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# Set here, before any test module or other conftest imports weft.
if "WEFT_TEST_CACHE_DIR" in os.environ:  # kept between runs, for speed
    os.environ["WEFT_CACHE_DIR"] = os.environ["WEFT_TEST_CACHE_DIR"]
elif "PYTEST_XDIST_WORKER" not in os.environ:  # the workers of one run share a cache, and no run sees another's
    _scratch = tempfile.TemporaryDirectory(prefix="weft-tests-")
    atexit.register(_scratch.cleanup)
    os.environ["WEFT_CACHE_DIR"] = _scratch.name
# Most of the time goes to compiling kernels that run once; WEFT_OPT=3 tests them as users have them, which
# `tests/grid/test_operations.py` does with some in any case.
os.environ.setdefault("WEFT_OPT", "0")
# Calls for several threads run what they test, rather than a serial kernel until theirs is compiled.
os.environ.setdefault("WEFT_COMPILE", "wait")
# What each pass of the compiler returns is checked before the next pass takes it.
os.environ.setdefault("WEFT_DEBUG", "verify")
# Tests that start Python see the same tree as the tests themselves.
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files instead of comparing")
    parser.addoption("--one-case", action="store_true", help="run the first case of each parametrized test")
    parser.addoption("--part", metavar="K/N", help="run one of N parts of the tests, which are numbered from 1")


def pytest_configure() -> None:
    # Until tests are collected, which makes many objects and no garbage. It stays enabled for modules that remember
    # whether it was when they were imported, and set it so later, as dask does.
    gc.set_threshold(0)


_TOGETHER = 64  # items that stay in one part, since their kernels are compiled together


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept = items[:] = importlib.import_module("tests.kernel_batches").in_order(items)
    if config.getoption("one_case"):
        first = {(item.path, item.nodeid.partition("[")[0]): item for item in reversed(items)}
        kept = [*reversed(first.values())]
    if part := config.getoption("part"):
        number, count = map(int, part.split("/"))
        kept = [item for n, item in enumerate(kept) if n // _TOGETHER % count == number - 1]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[*set(items) - set(kept)])
        items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    gc.freeze()  # what stays until the end is not looked through again and again
    # A compiler makes many objects, few of which are garbage that refers to itself. They are looked through while a
    # cache of the processor has them, which takes two thirds of the time of fewer passes; old ones are not.
    gc.set_threshold(2_000, 3, 1 << 30)


_BETWEEN = 256  # items between two collections of what was made lately
_count = itertools.count(1)


def pytest_runtest_teardown() -> None:
    if next(_count) % _BETWEEN == 0:
        gc.collect(1)
        gc.freeze()  # plans, kernels and types stay: to look through all of them takes many seconds each time


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(name, text)`` compares ``text`` with ``goldens/name`` beside the test, byte for byte."""

    def compare(name: str, text: str) -> None:
        path = request.path.parent / "goldens" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no golden {path.relative_to(ROOT)}; make it with --update-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Choose thresholds, and keep pytest from making the fixtures of tests that make them in a thread of their own.

    Small results are listed as large ones of as few entries are: else no small input would have its coordinates
    sorted. Pages, and tests marked ``users_thresholds``, run as users have it.
    """
    batches = importlib.import_module("tests.kernel_batches")
    batches.thresholds.THRESHOLDS = batches.thresholds_of(item)
    for name in batches.are_made_here(item):
        item.funcargs.setdefault(name, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    if item.get_closest_marker("compiles_alone"):
        return (yield)
    batches = importlib.import_module("tests.kernel_batches")
    if not isinstance(item, pytest.Function) and batches.may_wait(item):
        item.runtest = lambda: batches.run_item(item)  # type: ignore[method-assign]
    with batches.share():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if pyfuncitem.get_closest_marker("compiles_alone"):
        return None
    return importlib.import_module("tests.kernel_batches").run_item(pyfuncitem) or None


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
    """Make a report one value: what workers of pytest-xdist send is else written key by key, in Python."""
    data = yield
    return data and {"pickled": pickle.dumps(data)}


@pytest.hookimpl(tryfirst=True)
def pytest_report_from_serializable(config: pytest.Config, data: dict[str, Any]) -> Any:
    if (pickled := data.pop("pickled", None)) is None:
        return None
    return config.hook.pytest_report_from_serializable(config=config, data=data | pickle.loads(pickled))


class Markdown(pytest.File):
    """A page whose Python blocks run as one test, one after the other in one namespace.

    A text block behind a Python block holds what that block prints. A page with a comment such as
    ``<!-- needs: anndata -->`` is skipped where the package is not installed.
    """

    def collect(self) -> Iterator[pytest.Item]:
        yield Examples.from_parent(self, name="examples")


class Examples(pytest.Item):
    def runtest(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        for package in re.findall(r"^<!-- needs: (\w+) -->$", text, re.MULTILINE):
            pytest.importorskip(package)
        namespace: dict[str, Any] = {}
        pattern = r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?"
        for block in re.finditer(pattern, text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, block.start(1))
            blank_lines = "\n" * line  # so that a traceback names the page's line
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(blank_lines + block[1], str(self.path), "exec"), namespace)
            if block[2] is not None:
                shown = _same_everywhere(block[2])
                assert _same_everywhere(printed.getvalue()) == shown, f"{self.path.name}:{line}: prints otherwise"

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"examples of {self.path.name}"


def _same_everywhere(output: str) -> list[str]:
    """Return the lines of an output without those that depend on the cache and on the number of threads."""
    return [line.rstrip() for line in output.strip().splitlines() if not line.startswith(("compiled: ", "parallel: "))]


# Modules of tests are imported to look for examples, with packages that only some tests need.
_NEED_PACKAGES = {
    "tests/interop/estimators.py": "sklearn",
    "src/weft/autograd.py": "autograd",
    "src/weft/dask": "dask",
    "src/weft/interop/anndata.py": "anndata",
    "src/weft/interop/arrow_tables.py": "pyarrow",
    "src/weft/interop/networkx_graphs.py": "networkx",
    "src/weft/interop/pandas_series.py": "pandas",
    "src/weft/interop/frameworks.py": "autograd",
    "src/weft/jax.py": "jax",
    "src/weft/torch.py": "torch",
    "src/weft/xarray.py": "xarray",
    "tests/distribution": "distributed",
}
collect_ignore = [path for path, package in _NEED_PACKAGES.items() if importlib.util.find_spec(package) is None]
collect_ignore += ["docs/conf.py", "docs/_build", "docs/_ext", "docs/gallery", "docs/examples"]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    if file_path.suffix == ".md" and "```python\n" in file_path.read_text(encoding="utf-8"):
        return Markdown.from_parent(parent, path=file_path)
    return None
