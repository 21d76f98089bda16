"""The tables of the reference pages against the tables of the source: nothing is missing, and nothing is made up."""

import argparse
import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import weft
from weft import __main__ as command_line
from weft.config import SETTINGS
from weft.formats import name_of, parse_format
from weft.index_notation.operator_table import ALIASES, OPERATORS, REDUCTIONS

PAGES = Path(__file__).resolve().parents[2] / "docs"
OF_VIEWS = {"Picked", "Window"}  # indexing makes them, and no format has them
LEVELS = {
    name: level
    for name in sys.modules["weft.formats.levels"].__all__
    if name not in OF_VIEWS and (level := getattr(sys.modules["weft.formats.levels"], name))
}
SPELLED = [level for level in LEVELS.values() if level.spelled]
LETTERS = {
    **{level.letter: level() for level in SPELLED},
    **{level.repeated_letter: level(unique=False) for level in SPELLED if level.repeated_letter is not None},
}


def section(page, heading):
    """Return the text of a section, without the sections behind it."""
    text = (PAGES / page).read_text("utf-8")
    level = heading.partition(" ")[0]
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no section {heading}"
    return found[1]


def rows(text):
    """Return the cells of all rows of tables, without those of headings."""
    table = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]
    rules = {k for k, row in enumerate(cells) if set("".join(row)) <= set("-: ")}
    return [row for k, row in enumerate(cells) if k not in rules and k + 1 not in rules]


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_notation_lists_every_function():
    spelled = {name for name in (*OPERATORS, *ALIASES) if name.isidentifier()}
    listed = [
        (name.partition("(")[0], row)
        for row in rows(section("reference/notation.md", "### Functions"))
        for name in code("".join(row) if row[0][0] != "`" else row[0])
    ]
    names = [name for name, _ in listed]
    assert set(names) == spelled
    assert len(names) == len(spelled)


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_functions_are_listed_with_the_number_of_their_operands(arity):
    table = section("reference/notation.md", "### Functions").split("| group | ")[arity]
    names = code(table.partition("\n\n")[0])
    assert {OPERATORS[ALIASES.get(name, name)].arity for name in names} == {arity}


def test_notation_lists_every_reduction():
    listed = [
        name.partition("(")[0]
        for row in rows(section("reference/notation.md", "### Reductions"))
        for name in code(row[0])
    ]
    assert sorted(listed) == sorted(REDUCTIONS)


def test_letters_that_can_be_written():
    listed = {
        code(row[0])[0]: row
        for row in rows(section("reference/format_letters.md", "## Letters that you can write"))[: len(LETTERS)]
    }
    assert set(listed) == set(LETTERS)
    for letter, level in LETTERS.items():
        name, stored = listed[letter][1:3]
        assert name == type(level).__name__.lower() + ("" if level.unique else ", not unique")
        assert tuple(code(stored)) == level.roles


def test_letters_of_formats():
    table = rows(section("reference/format_letters.md", "## Letters that you can write"))[len(LETTERS) :]
    for letters, names, _ in table:
        for one, name in zip(code(letters), code(names), strict=False):
            assert name_of(parse_format(one)) == name


def test_letters_that_are_shown():
    listed = {
        code(row[0])[0]: row for row in rows(section("reference/format_letters.md", "## Letters that weft shows"))
    }
    others = {level.letter: level for level in LEVELS.values() if level.letter not in LETTERS}
    assert set(listed) == set(others)
    for letter, level in others.items():
        _, name, stored, options = listed[letter]
        assert name == level.__name__.lower()
        assert {role for role in level().roles if role != "crd2"} <= set(code(stored))
        assert code(options) == [field.name for field in fields(level) if field.name not in ("ordered", "unique")]


def test_options_of_levels():
    listed = {
        name.partition("=")[0]
        for row in rows(section("reference/format_letters.md", "## Options of levels"))
        for name in code(row[0])
    }
    assert listed == {field.name for level in LEVELS.values() for field in fields(level)}


def test_options_of_names():
    listed = {
        name: option.partition("=")[0]
        for row in rows(section("reference/format_letters.md", "## Options of names"))
        for name in code(row[0])
        for option in code(row[1])[:1]
    }
    assert {name: (option,) for name, option in listed.items()} == {
        name: entry.options for name, entry in weft.formats.items() if entry.options
    }


def test_configuration_lists_every_setting():
    listed = {code(row[0])[0]: code(row[1]) for row in rows(section("reference/configuration.md", "## Settings"))}
    assert set(listed) == set(SETTINGS)
    for name, setting in SETTINGS.items():
        assert listed[name] == [variable for variable, _ in setting.variables]


def test_configuration_lists_every_variable():
    text = (PAGES / "reference" / "configuration.md").read_text("utf-8")
    root = PAGES.parent
    used = {
        name
        for folder in ("src", "asv_benchmarks", "tests")
        for path in (root / folder).rglob("*.py")
        for name in re.findall(r"\bWEFT_[A-Z_]*[A-Z]\b(?!\()", path.read_text("utf-8"))
        if re.search(rf"(environ|getenv|setenv|delenv)[^\n]*[\"']{name}[\"']", path.read_text("utf-8"))
    }
    assert used <= set(re.findall(r"WEFT_[A-Z_]+", text))


def options_of(monkeypatch, command):
    """Return the options that a command declares, as argparse gets them."""
    found = []
    original = argparse.ArgumentParser.add_argument

    def add_argument(self, *names, **kwargs):
        found.extend(name for name in names if name.startswith("-"))
        return original(self, *names, **kwargs)

    monkeypatch.setattr(argparse._ActionsContainer, "add_argument", add_argument)
    with pytest.raises(SystemExit):
        command_line.main([*command, "--help"])
    return set(found) - {"-h", "--help"}


def test_command_line_lists_every_command():
    page = (PAGES / "reference" / "command_line.md").read_text("utf-8")
    commands = re.findall(r"^  weft ([a-z]+)", command_line.EPILOG, re.MULTILINE)
    assert {*commands} <= set(re.findall(r"^## `weft ([a-z]+)", page, re.MULTILINE))


@pytest.mark.parametrize("command", [[], ["demo"], ["cache"], ["warm"], ["info"], ["convert"]])
def test_command_line_lists_every_option(monkeypatch, capsys, command):
    heading = f"## `weft {command[0]}`" if command else "## `weft EXPRESSION`"
    listed = {name for row in rows(section("reference/command_line.md", heading)) for name in code(row[0])}
    listed = {part for name in listed for part in re.split(r"[ ,=]", name) if part.startswith("-")}
    assert listed == options_of(monkeypatch, command)


def test_headings_of_the_command_line_are_unique():
    page = (PAGES / "reference" / "command_line.md").read_text("utf-8")
    headings = re.findall(r"^## (.*)", page, re.MULTILINE)
    assert len(headings) == len(set(headings))
