"""The front page, the indexes of the folders, and the chart of speed."""

from __future__ import annotations

import json
import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from asv_benchmarks import inputs, speed

from .extension import DOCS, extension

FOLDERS = ("tutorials", "how_to", "explanation", "reference", "development")


def results():
    return json.loads(speed.FILE.read_text("utf-8"))


def toctree(page):
    """Return the entries of a page's tables of contents."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_index_lists_every_page_of_its_folder_and_links_to_it(folder):
    index = DOCS / folder / "index.md"
    entries, text = Counter(toctree(index)), index.read_text("utf-8")
    pages = {path.stem for path in (DOCS / folder).glob("*.md")} - {"index"}
    assert {entry for entry in entries if "/" not in entry} == pages
    assert set(entries.values()) <= {1}
    assert not [entry for entry in entries if f"]({entry}.md)" not in text]


@pytest.mark.parametrize("wanted", ["install", "weft.einsum", "how_to/scikit_learn", "how_to/choose_a_format"])
def test_the_front_page_leads_at_once_to(wanted):
    links = re.findall(r":link: (\S+)", (DOCS / "index.md").read_text("utf-8"))
    assert any(link.endswith(wanted) for link in links)


def test_the_output_on_the_front_page_is_that_of_the_code(capsys):
    code, output = re.findall(r"^```(?:python|text)\n(.*?)^```", (DOCS / "index.md").read_text(), re.M | re.S)[:2]
    exec(compile(code, "index.md", "exec"), {})
    assert capsys.readouterr().out == output


def test_the_file_of_results_has_every_row_the_machine_and_the_date():
    found = results()
    assert found["machine"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"])
    assert found["threads"] == 1
    assert [row["label"] for row in found["rows"]] == [row.label for row in speed.ROWS], "run asv_benchmarks.speed"
    for row in found["rows"]:
        assert row["data"] in found["data"]
        assert row["peers"]
        assert all(0 < ratio["low"] <= ratio["median"] <= ratio["high"] for ratio in row["peers"].values())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chart_shows_every_row_and_every_ratio(theme, tmp_path):
    drawn, found = extension("speed_chart"), results()
    drawn.draw(found, drawn.THEMES[theme], tmp_path / "speed.svg")
    root = ElementTree.parse(tmp_path / "speed.svg").getroot()
    texts = ["".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {row["label"] for row in found["rows"]} <= set(texts)
    ratios = [ratio["median"] for row in found["rows"] for ratio in row["peers"].values()]
    assert not Counter(map(drawn.ratio_text, ratios)) - Counter(texts)


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.27, "0.27x"), (1.004, "1.0x"), (9.96, "10x"), (99.7, "100x"), (230, "230x")]
)
def test_a_ratio_has_two_digits_or_all_before_the_point(ratio, text):
    assert extension("speed_chart").ratio_text(ratio) == text


def test_the_caption_names_the_machine_the_date_and_the_inputs():
    text = extension("speed_chart").caption(results())
    assert results()["machine"] in text
    assert results()["date"] in text
    assert all(name in text for name in results()["data"])


def test_a_row_is_measured_against_every_peer(monkeypatch):
    monkeypatch.setenv("WEFT_BENCH_SCALE", "0.001")
    row = next(row for row in speed.ROWS if row.label == "A + B + C, one kernel")
    inputs.matrix.cache_clear()
    found = speed.measured(row, budget=0.01)
    inputs.matrix.cache_clear()
    assert "SciPy" in found["peers"]
    assert found["milliseconds"] > 0
