"""Fixtures of the runtime's tests: a cache directory of one's own, and none of what other tests left."""

import pytest

from weft.config import config
from weft.runtime import cache, loader, toolchain


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path):
    """An empty cache directory, and nothing remembered from other tests."""
    saved = dict(cache._directories), dict(toolchain._toolchains)
    cache._directories.clear()
    toolchain._toolchains.clear()
    loader.forget()
    with config.override(cache_dir=tmp_path / "cache"):
        yield str(tmp_path / "cache")
    cache._directories.clear()
    cache._directories.update(saved[0])
    toolchain._toolchains.clear()
    toolchain._toolchains.update(saved[1])
    loader.forget()


@pytest.fixture
def forget(fresh_cache):
    """Forget what a new process would not know."""

    def do():
        loader.forget()
        toolchain._toolchains.clear()
        cache._directories.clear()

    return do


@pytest.fixture
def no_compiler(monkeypatch):
    """Fail the test that starts a process."""
    import subprocess

    def refuse(*args, **kwargs):
        raise AssertionError(f"a process was started: {args}")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
