"""What every test has: a private kernel cache, Hypothesis profiles, goldens."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent

# Compiling is slow the first time and fast afterwards: no deadline makes sense for both.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files instead of comparing")


def pytest_configure(config: pytest.Config) -> None:
    # Before any test module imports weft: the workers of one run share a cache, and no run sees another's.
    if "WEFT_TEST_CACHE_DIR" in os.environ:  # kept between runs, for speed
        os.environ["WEFT_CACHE_DIR"] = os.environ["WEFT_TEST_CACHE_DIR"]
    elif "PYTEST_XDIST_WORKER" not in os.environ:
        scratch = tempfile.TemporaryDirectory(prefix="weft-tests-")
        config.add_cleanup(scratch.cleanup)
        os.environ["WEFT_CACHE_DIR"] = scratch.name
    # Tests that start Python see the same tree as the tests themselves.
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


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
