"""The catalogue's descriptions, and the page and the pictures of the documentation, against what is stored."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import weft
from weft.drawing import storage_svg
from weft.formats import catalogue
from weft.formats.catalogue import NamedFormat
from weft.tensor.tree import level_names

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "explanation" / "formats.md"
PICTURES = DOCS / "_static" / "formats"
FIGURE = np.array([[5.0, 1, 0, 0, 0, 0], [7, 3, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [8, 0, 0, 4, 9, 0]])
OPTIONS = {"sell": {"window": 2}, "csb": {"block": 4}, "hicoo": {"block": 4}}
CATALOGUE = get_args(NamedFormat)
DRAWINGS = Path(catalogue.__file__).with_name("drawings.txt")


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


def three_axes():
    """Return a tensor of three axes, whose drawing shows a tree of coordinates with three levels."""
    coords = [[0, 0, 0, 1, 1, 1], [0, 0, 2, 1, 1, 2], [1, 3, 0, 1, 2, 3]]
    return weft.from_coords(coords, [5.0, 1, 7, 3, 8, 4], shape=(2, 3, 4), format="csf")


PICTURED = {**{name: (lambda name=name: stored(name)) for name in CATALOGUE}, "csf_3": three_axes}


def picture(name, what):
    return (
        f"![Drawing of {what}: its elements, the arrays of each level, and the values](../_static/formats/{name}.svg)"
    )


INTRODUCTION = f"""\
# Formats

A format says which arrays hold a tensor. It is a coordinate remapping, and one level format for each of the coordinates
that the remapping makes. The formats on this page have names; `weft.Format(remapping, levels)` makes
[any other](../how_to/own_format.md). Every format computes with every other and converts to every other.

The drawings show this matrix, in windows of 2 rows (`sell`) or blocks of 2 x 2 (`bsr`, `mode_generic`) or 4 x 4
(`csb`, `hicoo`). `hash_vector` holds the last row of it.

```
{FIGURE.astype(int)}
```

`A.draw()` [draws any small tensor](../how_to/display.md) in the same way.

## How to read the drawings

{picture("csr", "csr")}

On the left are the elements of the matrix. An element that is stored has the color of its row. Dots are not stored. A
gray element is stored, although it has the fill value, since the format stores what lies around it.

On the right is a panel for each level, from the root down, and one for the values.

- The text of a panel names the coordinate that the level stores, the level format, and its rules. In rules, `p` is a
  position of the level above, and `q` a position of this level.
- A box with a solid border is an element of an array. A box with a dashed border is a coordinate that the level
  computes, which takes no memory. A gray box is padding, or an empty slot of a hash table.
- Arrows from `pos` or `begin` lead to the ends of *segments*: row `i` of csr is the segment of `crd` from `pos[i]` to
  `pos[i+1]`. Other arrows lead from a position to the positions below it.
- A long array is broken into lines. The name before a line is the coordinate above it, or the position of its first
  element.

## Padding is no entry

`dia`, `skyline`, `banded`, `bsr`, `mode_generic` and `dense` store diagonals, bands, blocks or everything whole. Zeros
in them, or whatever the fill value is, are padding. They are no entries, since nothing tells them from zeros that
somebody stored: a conversion to a format that stores each entry with its coordinate leaves them out. So do all that
goes by way of such a format: `to_coo`, `to_scipy`, text files, and the graph algorithms of `weft.csgraph` and networkx,
where an entry is an edge. All other formats store entries alone, and keep a zero that was stored. To
arithmetic, padding is a [stored zero](results.md#fill-values): times infinity it is NaN.

```python
import numpy as np
import weft

# two diagonals: 3 + 2 elements
A = weft.asarray([[5.0, 0, 0], [0, 0, 2], [0, 0, 7]], format="dia")
print(A.nnz, A.tocsr().nnz)
# a zero that is stored
B = weft.from_coords([[0, 0], [0, 1]], [5.0, 0.0], (2, 2), format="ell")
print(B.nnz, B.tocsr().nnz)
```

```text
5 3
2 2
```"""


def page():
    text = [INTRODUCTION]
    for name in CATALOGUE:
        format = stored(name).layout
        options = weft.formats[name].options
        when = weft.formats[name].__doc__.partition("\n")[0]
        takes = f" Options: {', '.join(f'`{o}`' for o in options)}." if options else ""
        text += [
            "",
            f"## {name}",
            "",
            f"{when}{takes}",
            "",
            f"`{format.remapping}`",
            "",
            picture(name, name),
            "",
            ":::{dropdown} The arrays as text",
            "```",
            drawing(name)[:-1],
            "```",
            ":::",
        ]
        if name == "csf":
            text += ["", "A tensor of three axes has one level more:", "", picture("csf_3", "csf with three axes")]
    return "\n".join(text) + "\n"


def test_drawings_are_what_is_stored(request):
    text = "\n".join(f"== {name} ==\n{drawing(name)}" for name in CATALOGUE)
    if request.config.getoption("--update-golden"):
        DRAWINGS.write_text(text, encoding="utf-8")
    assert DRAWINGS.read_text(encoding="utf-8") == text


def test_every_format_is_described():
    # In a process of its own, since examples that ran before may have registered formats.
    listing = [sys.executable, "-c", "import weft; print(*weft.formats)"]
    names = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split()
    assert tuple(names) == CATALOGUE
    for name in names:
        when, shown = weft.formats[name].__doc__.split("\n\n")
        assert when.endswith(".")
        assert shown == drawing(name)


def test_page(request):
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("name", PICTURED)
def test_pictures(name, request):
    path, text = PICTURES / f"{name}.svg", storage_svg(PICTURED[name]()) + "\n"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_no_picture_is_left_over():
    assert {path.stem for path in PICTURES.glob("*")} == {*PICTURED}
