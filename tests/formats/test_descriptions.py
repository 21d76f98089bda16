"""The catalogue's descriptions, and the page of the documentation made of them, against what is stored."""

from pathlib import Path

import numpy as np
import pytest

import weft
from weft.formats.descriptions import DRAWINGS, WHEN
from weft.tensor.tree import level_names

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "formats.md"
FIGURE = np.array([[5.0, 1, 0, 0, 0, 0], [7, 3, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [8, 0, 0, 4, 9, 0]])
OPTIONS = {"csb": {"block": 4}, "hicoo": {"block": 4}}
CATALOGUE = list(WHEN)


def stored(name):
    array = FIGURE[3] if name == "hash_vector" else FIGURE
    return weft.asarray(array).asformat(name, **OPTIONS.get(name, {}))


def drawing(name):
    A = stored(name)
    lines = []
    for k, (level, text) in enumerate(zip(A.layout.levels, level_names(A.layout), strict=True)):
        lines.append(f"{text}: {level}")
        arrays = A._storage.level_arrays(k)
        for role in level.roles:
            lines.append(f"    {role} = {np.array2string(arrays[role], max_line_width=100, separator=' ')}")
    how = {"formatter": {"float": lambda v: f"{v:g}"}, "threshold": 80, "edgeitems": 12}
    lines.append("vals = " + np.array2string(A._storage.vals, max_line_width=100, **how))
    return "\n".join(lines) + "\n"


def page():
    text = [
        "# Formats",
        "",
        "A format is a coordinate remapping and one level format for each coordinate that it makes. These have names;",
        "`weft.Format(remapping, levels)` makes [any other](../how_to/own_format.md). Every format computes with every",
        "other and converts to every other. What is drawn is this matrix, in blocks of 2 x 2 (`bsr`, `mode_generic`)",
        "or 4 x 4 (`csb`, `hicoo`); `hash_vector` holds its last row.",
        "",
        "```",
        str(FIGURE.astype(int)),
        "```",
    ]
    for name in CATALOGUE:
        format = stored(name).layout
        options = weft.formats[name].options
        takes = f" Options: {', '.join(f'`{o}`' for o in options)}." if options else ""
        text += [
            "",
            f"## {name}",
            "",
            f"{WHEN[name]}{takes}",
            "",
            f"`{format.remapping}`",
            "",
            "```",
            drawing(name)[:-1],
            "```",
        ]
    return "\n".join(text) + "\n"


@pytest.mark.parametrize("name", CATALOGUE)
def test_drawings_are_what_is_stored(name):
    assert DRAWINGS[name] == drawing(name)
    assert weft.formats[name].__doc__.startswith(WHEN[name])


def test_every_format_is_described():
    assert [name for name in weft.formats if name not in WHEN and name != "bitmap"] == []


def test_page(request):
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
