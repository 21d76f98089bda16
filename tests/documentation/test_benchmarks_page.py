"""Tables and charts of pages are those of the figures, and all figures are measured ones."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from asv_benchmarks import inputs, speed
from asv_benchmarks.charts import themed
from asv_benchmarks.figures import CHARTS, DOCS, FIGURES, MARKED, PAGES, TABLES, draw, filled
from asv_benchmarks.speed_chart import caption, ratio_text, speeds


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_are_those_of_the_figures(page):
    text = page.read_text("utf-8")
    assert filled(text) == text, "python -m asv_benchmarks.figures writes them"


def test_the_page_of_benchmarks_has_every_table():
    assert sorted(found[1] for found in MARKED.findall(PAGES[0].read_text("utf-8"))) == sorted(TABLES)


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


def texts_of(path):
    root = ElementTree.parse(path).getroot()
    return ["".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", CHARTS)
def test_charts_show_every_line(name, tmp_path):
    file = f"{CHARTS[name][0]}.svg"
    draw(name, tmp_path / "chart.svg")
    assert Counter(texts_of(tmp_path / "chart.svg")) == Counter(texts_of(DOCS / file))
    pages = [page.read_text("utf-8") for page in (*PAGES, DOCS.parent / "README.md")]
    assert any(file.rpartition("/")[2] in page for page in pages)


@pytest.mark.parametrize("dark", [False, True])
def test_charts_have_other_colors_on_dark_pages(dark):
    text = themed('<svg width="3">\n<path style="fill: #1f2430"/></svg>', dark=dark)
    assert text.startswith('<svg width="3">\n <style>')
    assert '[style*="fill: #1f2430"]{fill:#e6e8eb!important}' in text
    assert ("@media (prefers-color-scheme:dark)" in text) is not dark


def test_figures_of_the_front_page_have_a_machine_a_date_and_an_input():
    found = speeds()
    assert found["machine"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"])
    assert found["threads"] == 1
    assert [row["label"] for row in found["rows"]] == [row.label for row in speed.ROWS], "run asv_benchmarks.speed"
    for row in found["rows"]:
        assert row["data"] in found["data"]
        assert row["peers"]
        assert all(0 < ratio["low"] <= ratio["median"] <= ratio["high"] for ratio in row["peers"].values())
    assert all(word in caption() for word in (found["machine"].partition(";")[0], found["date"], *found["data"]))


def test_the_chart_of_speed_shows_every_row_and_every_ratio():
    texts = texts_of(DOCS / "_static" / "speed.svg")
    assert {row["label"] for row in speeds()["rows"]} <= set(texts)
    ratios = [ratio["median"] for row in speeds()["rows"] for ratio in row["peers"].values()]
    assert not Counter(map(ratio_text, ratios)) - Counter(texts)


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.27, "0.27x"), (1.004, "1.0x"), (9.96, "10x"), (99.7, "100x"), (230, "230x")]
)
def test_a_ratio_has_two_digits_or_all_before_the_point(ratio, text):
    assert ratio_text(ratio) == text


def test_a_row_is_measured_against_every_peer(monkeypatch):
    monkeypatch.setenv("WEFT_BENCH_SCALE", "0.001")
    row = next(row for row in speed.ROWS if row.label == "A + B + C")
    inputs.matrix.cache_clear()
    found = speed.measured(row, budget=0.01)
    inputs.matrix.cache_clear()
    assert "SciPy" in found["peers"]
    assert found["milliseconds"] > 0
