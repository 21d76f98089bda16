"""The table of rules on the page about programs is that of the code."""

from itertools import takewhile

from tests.documentation.test_reference_pages import PAGES, code, rows

from weft.optimizations import OPTIMIZATIONS


def test_the_table_has_the_rules_of_programs():
    section = (PAGES / "explanation" / "programs.md").read_text("utf-8").split("\n## Rules\n")[1].split("\n## ")[0]
    of_programs = takewhile(lambda one: one.name != "independent-sums", OPTIMIZATIONS)
    assert [(*code(name), text) for name, text in rows(section)] == [(one.name, one.summary) for one in of_programs]
