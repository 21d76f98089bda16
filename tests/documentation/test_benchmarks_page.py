"""The page of benchmarks: its tables and charts are those of the figures, and all figures are measured ones."""

import re

import pytest
from asv_benchmarks.figures import CHARTS, FIGURES, MARKED, PAGE, TABLES, draw, filled


def test_tables_are_those_of_the_figures():
    text = PAGE.read_text("utf-8")
    assert filled(text) == text, "python -m asv_benchmarks.figures writes them"
    assert sorted(found[1] for found in MARKED.findall(text)) == sorted(TABLES)


def test_figures_have_machine_and_date():
    sections = [
        found
        for each in FIGURES.values()
        for found in (each, *each.values())
        if isinstance(found, dict) and "rows" in found
    ]
    assert len(sections) > 8
    for found in sections:
        assert found["machine"] in FIGURES["machines"]
        assert found["date"].year >= 2025


@pytest.mark.parametrize("name", CHARTS)
def test_charts_show_every_line(name, tmp_path):
    draw(name, tmp_path / "chart.svg")
    shown = [
        re.sub(r"-?\b\d[\d.]*\b", "", (folder / file).read_text("utf-8"))
        for folder, file in ((tmp_path, "chart.svg"), (PAGE.parent, f"benchmarks_{name}.svg"))
    ]
    texts = [re.findall(r"<text[^>]*>([^<]*)</text>", each) for each in shown]
    assert texts[0] == texts[1]
    assert f"benchmarks_{name}.svg" in PAGE.read_text("utf-8")
