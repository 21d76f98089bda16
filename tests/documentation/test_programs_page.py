"""The table of rules on the page about programs is that of the code."""

from tests.documentation.test_reference_pages import PAGES, code, rows

from weft.optimiser import TABLE
from weft.optimizations import NAMES


def test_the_table_has_the_rules_of_programs():
    section = (PAGES / "explanation" / "programs.md").read_text("utf-8").split("\n## Rules\n")[1].split("\n## ")[0]
    assert [(*code(name), *more) for name, *more in rows(section)] == [
        (one.name, one.pattern, one.condition, "all" if one.keeps_bits else "exact dtypes") for one in TABLE
    ]


def test_every_rule_has_a_switch():
    assert {one.name for one in TABLE} <= {*NAMES}
