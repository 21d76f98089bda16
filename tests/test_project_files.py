"""Files that other programs read: they follow their schemas, and say the same as each other."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ("github-workflows", [WORKFLOW]),
        ("github-issue-forms", FORMS),
        ("github-issue-config", [ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_files_follow_their_schemas(schema, paths):
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_supported_versions_of_python_are_those_that_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [match[1] for text in project["classifiers"] if (match := re.fullmatch(r".*Python :: (3\.\d+)", text))]
    tested = re.search(r"python: \[(.*)\]", WORKFLOW.read_text("utf-8"))[1]
    assert re.findall(r"3\.\d+", tested) == named
    assert project["requires-python"] == f">={named[0]}"
    policy = (ROOT / "docs" / "development" / "policy.md").read_text("utf-8")
    assert f"| {named[0]} to {named[-1]} |" in policy


def test_oldest_supported_packages_are_those_of_the_policy():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    oldest = dict(text.split(">=") for text in project["dependencies"])
    policy = (ROOT / "docs" / "development" / "policy.md").read_text("utf-8")
    assert f"NumPy {oldest['numpy']} and SciPy {oldest['scipy']}" in policy


def test_oldest_supported_packages_are_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for needed in (project["project"]["dependencies"], project["build-system"]["requires"]):
        oldest = dict(text.split(">=") for text in needed if not text.startswith("hatch"))
        pinned = dict(re.findall(r"^(\w+)==(.+)$", (ROOT / ".ci" / "oldest.txt").read_text("utf-8"), re.MULTILINE))
        assert {
            name: f"{version}.0" if version.count(".") == 1 else version for name, version in oldest.items()
        } == pinned


@pytest.mark.parametrize("base", ["", "https://example.org/weft/"])
def test_links_and_pictures_of_the_readme_are_found_from_a_package_index(base):
    namespace = runpy.run_path(str(ROOT / "hatch_build.py"))
    text = (ROOT / "README.md").read_text("utf-8")
    shown = namespace["for_an_index"](text, base, base and f"{base}raw/")
    targets = re.findall(r"\]\(([^)]+)", re.sub(r"```.*?```", "", shown, flags=re.DOTALL))
    targets += re.findall(r'(?:src|srcset)="([^"]*)"', shown)
    assert all(target.startswith("https://") for target in targets)
    assert re.findall(r"```.*?```", shown, re.DOTALL) == re.findall(r"```.*?```", text, re.DOTALL)
    assert ("install, quickstart" in shown) is (base == "")
    assert ("(https://example.org/weft/docs/install.md)" in shown) is (base != "")
    assert ('<img src="https://example.org/weft/raw/docs/_static/speed.svg" alt="' in shown) is (base != "")
    assert ("AMD EPYC" in shown) is (base != "")


def test_the_workflow_has_the_steps_of_ci_run():
    script, workflow = ((ROOT / path).read_text("utf-8") for path in (".ci/run", WORKFLOW))
    commands = ("pip install .", "weft demo", "pytest", "make lint types", "'.[test,interop]'",
                "auditwheel repair", "make sample", "-c .ci/oldest.txt")  # fmt: skip
    measures = re.findall(r"python -m asv_benchmarks\.first_use \S+", script)
    assert measures
    for command in (*commands, *measures):
        assert command in script, command
        assert command in workflow, command


def test_hooks_run_what_make_lint_runs():
    makefile = (ROOT / "Makefile").read_text("utf-8").partition("\nlint:\n")[2].partition("\n\n")[0]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    modules = re.findall(r"-m (ruff \w+|\w+)", makefile)
    assert len(modules) == 3
    for module in modules:
        assert f"entry: python -m {module}" in hooks


def test_changelog_begins_with_what_is_unreleased():
    headings = re.findall(r"^##+ .*", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "## [Unreleased]"
    sections = {heading for heading in headings if heading.startswith("### ")}
    assert sections <= {f"### {name}" for name in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")}
    assert all(re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in headings[1:] if each[2] == " ")


@pytest.mark.parametrize("name", ["CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "README.md"])
def test_links_of_pages_at_the_top_lead_somewhere(name):
    text = (ROOT / name).read_text("utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", text) + re.findall(r'(?:src|srcset)="([^"]*)"', text)
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_readme_says_the_version_and_every_extra():
    text = (ROOT / "README.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    major, minor, *_ = project["tool"]["hatch"]["version"]["fallback-version"].split(".")
    assert f"alpha_{major}.{minor}-" in text
    paragraph = re.search(r"^Extras .*?\n\n", text, re.MULTILINE | re.DOTALL)[0]
    assert {*project["project"]["optional-dependencies"]} <= {*re.findall(r"`([\w-]+)`", paragraph)}


@pytest.mark.parametrize("builder", [WheelBuilder, SdistBuilder])
def test_distributions_have_the_files_that_weft_reads(builder):
    included = {each.path for each in builder(str(ROOT)).recurse_included_files()}
    data = [
        str(path)
        for path in (ROOT / "src").rglob("*.*")
        if path.suffix in (".c", ".h", ".html", ".json", ".gz", ".txt")
    ]
    assert data
    assert [path for path in data if path not in included] == []
