"""A new level format is one file: whatever lists level formats finds it there."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import weft
from formats.test_own_level import Bitmap
from weft.formats import Append, Insertion, levels, parse_format

ROOT = Path(__file__).resolve().parents[2]
LEVEL = '''
"""Bitmap levels: a flag for each coordinate."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ...ir import Load, Select, Store
from ...ir.builder import add, cast, eq, ge, lit, mul, sub
from ..level import LevelFormat

__all__ = ["Bitmap", "helper"]


def helper():
    """Stand beside the level, and be none."""


''' + inspect.getsource(Bitmap).replace('str] = "m"', 'str] = "y"\n    spelled: ClassVar[bool] = True')
PROGRAM = """
import sys
sys.path[:0] = sys.argv[2:]
import numpy as np
import weft
from weft.formats import Bitmap, Dense, Format, levels

# The package, the letters of formats and files.
assert "Bitmap" in levels.__all__ and "helper" not in levels.__all__
A = np.diag([1.0, 2.0, 3.0])
B = weft.asarray(A, format="dy")
assert B.format == "dy" and B.layout == Format("(i,j) -> (i,j)", [Dense(), Bitmap()])
assert ((B + B).todense() == 2 * A).all()
weft.save_npz(sys.argv[1], B)
assert weft.load_npz(sys.argv[1]).layout == B.layout

# The tests: random formats, random compositions, what code outside formats/ may name, and the stub.
import random
import strategies
import test_layering
import typing_stub
from tests import compositions
assert Bitmap() in strategies.LEVELS
r = random.Random(0)
assert any(compositions.level(r) == Bitmap() for _ in range(1000))
assert "Bitmap" in test_layering.LEVEL_CLASSES
assert "from .bitmap import Bitmap" in typing_stub.levels_stub()
"""


def test_a_level_that_is_added_as_a_file_is_found(tmp_path):
    package = tmp_path / "src" / "weft"
    shutil.copytree(Path(weft.__file__).parent, package, copy_function=os.symlink)
    (package / "formats" / "levels" / "bitmap.py").write_text(LEVEL)
    folders = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT)]
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "B.npz"), *folders]
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 0, found.stderr


def test_files_have_the_levels_that_the_package_has():
    text = "".join(file.read_text() for file in Path(levels.__file__).parent.glob("*.py"))
    classes = set(re.findall(r"^class (\w+)\(", text, re.MULTILINE))
    shared = {"InsertedSegments", "OccurringCoordinates", "Segments", "Shown", "SingleCoordinates", "SlotTables"}
    assert classes - shared == set(levels.__all__)
    assert not shared & set(levels.__all__)


def test_letters_name_one_level_each():
    spelled = [level for name in levels.__all__ if (level := getattr(levels, name)).spelled]
    letters = [letter for level in spelled for letter in (level.letter, level.repeated_letter) if letter is not None]
    assert sorted(letters) == sorted({*letters}) == list("cdqsu")
    for text in ("ds", "uq", "ucq"):
        assert parse_format(text).letters == text


def test_the_manual_says_where_each_level_can_stand():
    """Views are not among them, which indexing makes and no format has."""
    page = (ROOT / "docs" / "how_to" / "own_format.md").read_text().partition("## A level of your own")[0]
    made = [name for name in levels.__all__ if any(getattr(levels, name)().capability(g) for g in (Append, Insertion))]
    assert [name for name in made if f"`{name}`" not in page] == []
