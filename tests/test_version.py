"""The version: that of the installed package, which git's tags give it."""

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import setuptools_scm
from packaging.version import Version

import weft

ROOT = Path(__file__).resolve().parents[1]


def test_version_is_that_of_the_installed_package(monkeypatch):
    monkeypatch.delitem(vars(weft), "__version__", raising=False)
    monkeypatch.setattr(metadata, "version", {"weft": "1.2.3"}.__getitem__)
    assert weft.__version__ == "1.2.3"
    monkeypatch.delitem(vars(weft), "__version__")


def test_version_of_a_tree_that_is_not_installed(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.delitem(vars(weft), "__version__", raising=False)
    monkeypatch.setattr(metadata, "version", missing)
    assert weft.__version__ == "0+unknown"
    monkeypatch.delitem(vars(weft), "__version__")


def test_import_does_not_read_the_version():
    code = "import sys, weft; assert '__version__' not in vars(weft); weft.__version__"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("tag", "version"), [("v1.2.3", "1.2.3"), ("v0.1.0rc1", "0.1.0rc1"), (None, "0.1.0.dev1")])
def test_tags_are_versions(tmp_path, tag, version):
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "First"], check=True)
    if tag is not None:
        subprocess.run([*git, "tag", tag], check=True)
    found = Version(setuptools_scm.get_version(root=str(tmp_path)))
    assert Version(found.public) == Version(version)


def test_copies_without_history_have_a_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version", "readme"]
    assert project["tool"]["hatch"]["version"]["source"] == "vcs"
    assert project["tool"]["hatch"]["version"]["fallback-version"].startswith("0.1.0.dev")
