"""Groups of capabilities: which level has which, and how a level of the user's own says so."""

import ast
import inspect
import pickle
import textwrap
from dataclasses import dataclass, replace

import numpy as np
import pytest

import weft
from formats.test_own_level import Bitmap
from weft.formats import (
    Append,
    ArrayEditing,
    Compressed,
    Dense,
    ElementLookup,
    Format,
    Growable,
    Hashed,
    HashTable,
    Insertion,
    LevelFormat,
    Locate,
    Picked,
    PositionIteration,
    Range,
    SharedPositions,
    ShiftedEdges,
    Singleton,
    ValueIteration,
    Window,
    capabilities,
    levels,
)
from weft.formats.capabilities import lists
from weft.records import record

GROUPS = [group for name in capabilities.__all__ if isinstance(group := getattr(capabilities, name), type)]
LEVELS = [getattr(levels, name) for name in levels.__all__]


def members(cls):
    return {name for name in vars(cls) if not name.startswith("_")}


def test_each_member_has_one_place():
    """A group defines what no other has. Of the base class it only sets what a level says of its capabilities."""
    stated = {"iteration", "walks", "locates", "placing", "appends", "shares", "grows", "lengthens", "curved", "pads"}
    for group in GROUPS:
        assert group.__bases__ == (LevelFormat,)
        assert members(group) & members(LevelFormat) <= stated
        for other in GROUPS:
            assert group is other or members(group) & members(other) <= {"iteration", "walks"}


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.__name__)
def test_levels_list_their_groups(level):
    """What a class body tells of is listed in the source: nothing was added to the bases."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(level))).body
    assert [base.id for base in definition.bases] == [base.__name__ for base in level.__bases__]


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.__name__)
def test_what_a_level_says_agrees_with_its_groups(level):
    made = level()
    for name, group in [
        ("locates", Locate), ("placing", Insertion), ("appends", Append), ("shares", SharedPositions),
        ("grows", HashTable), ("lengthens", capabilities.GrowingSegments), ("curved", capabilities.CurveOrder),
    ]:  # fmt: skip
        assert (made.capability(group) is made) == bool(getattr(made, name))
        assert issubclass(level, group) or made.capability(group) is None
    found = [made.capability(group) for group in (ValueIteration, PositionIteration)]
    assert sum(group is not None for group in found) == made.walks
    assert made.iteration == ("value" if found[0] is not None else "position")


def test_a_plain_level_gets_the_groups_of_which_its_body_tells():
    assert Bitmap.__bases__ == (PositionIteration, Locate, Insertion)
    made = Bitmap()
    assert made.capability(Locate) is made
    assert made.capability(Append) is made.capability(ValueIteration) is None
    with pytest.raises(NotImplementedError, match="bitmap has no capability Append"):
        made.require(Append)


def test_both_spellings_are_one_level_to_the_compiler():
    """The generated C is the same, whether the bases list the groups or not."""
    body = {name: value for name, value in vars(Bitmap).items() if not name.startswith("__")}
    plain, listed = (
        dataclass(frozen=True)(type("Bitmap", bases, body))
        for bases in [(LevelFormat,), (PositionIteration, Locate, Insertion)]
    )
    assert plain.__bases__ == listed.__bases__
    array = np.diag([1.0, 2.0, 3.0])
    texts = set()
    for level in (plain, listed):
        format = Format("(i,j) -> (i,j)", [Dense(), level()])
        kernel = weft.compile("C(i,j) = A(i,j) + B(i,j)", A=format, B="csr", C=format)
        texts.add(kernel.source)
        A = weft.asarray(array, format=format)
        np.testing.assert_array_equal((A + weft.asarray(array, format="csr")).todense(), 2 * array)
    assert len(texts) == 1


def test_a_level_may_drop_what_its_base_can_do():
    @record
    class Alone(Compressed):
        shares = False
        shift_edges = None

    level = Alone()
    assert level.capability(SharedPositions) is level.capability(ShiftedEdges) is None
    assert level.capability(Append) is level
    A = weft.asarray(np.eye(3), format=Format("(i,j) -> (i,j)", [Dense(), level]))
    np.testing.assert_array_equal(A.asformat("csc").todense(), np.eye(3))


def test_a_level_may_add_what_its_base_cannot_do():
    @record
    class Found(Range):
        def find(self, parent, coord, dimension, arrays):
            return parent * int(arrays["width"][0]) + coord

    assert Found.__bases__ == (Range, ElementLookup)
    assert Found().find(2, 1, 5, {"width": np.array([5])}) == 11
    assert Range().capability(ElementLookup) is None


def test_objects_of_one_class_may_differ():
    @dataclass(frozen=True)
    class Searched(LevelFormat):
        searched: bool = True

        locates = property(lambda self: "search" if self.searched else None)

        def locate(self, m, parent, coord):
            return coord

    assert Searched().capability(Locate) == Searched()
    assert Searched(searched=False).capability(Locate) is None


def test_iteration_decides_between_two_ways():
    class Both(LevelFormat):
        def pos_bounds(self, m, parent):
            return parent, parent

        def coord_bounds(self, m, parent, coords):
            return parent, parent

    class ByValue(Both):
        iteration = "value"

    class Neither(Both):
        walks = False

    assert [level.capability(PositionIteration) is None for level in (Both(), ByValue(), Neither())] == [0, 1, 1]
    assert [level.capability(ValueIteration) is None for level in (Both(), ByValue(), Neither())] == [1, 0, 1]


@pytest.mark.parametrize(
    ("inner", "window", "picked"),
    [
        (Dense(), {ValueIteration, Locate}, {ValueIteration, Locate}),
        (Compressed(), {PositionIteration, Locate}, {ValueIteration, Locate}),
        (Hashed(), {PositionIteration, Locate}, {ValueIteration, Locate}),
        (Growable(), {PositionIteration}, None),
    ],
    ids=["dense", "compressed", "hashed", "growable"],
)
def test_views_have_the_access_capabilities_of_the_level_they_show(inner, window, picked):
    access = {ValueIteration, PositionIteration, Locate}
    assert {group for group in access if Window(inner=inner).capability(group)} == window
    if picked is not None:
        assert {group for group in access if Picked(inner=inner).capability(group)} == picked
    for group in (Insertion, Append, SharedPositions, HashTable, ArrayEditing, ElementLookup):
        assert Window(inner=inner).capability(group) is None


def test_levels_stay_dataclasses():
    @dataclass(frozen=True, slots=True)
    class Slotted(LevelFormat):
        width: int = 3
        appends = True

    assert Slotted.__bases__ == (Append,)
    assert Slotted(width=4).width == 4
    for level in (Slotted(), Bitmap(), Singleton(padded=True), Hashed()):
        other = replace(level, unique=False)
        assert other != level
        assert hash(replace(other, unique=level.unique)) == hash(level)
        assert replace(other, unique=level.unique) == level
    for level in (Bitmap(), Compressed(full=True), Window(inner=Compressed())):
        format = Format("(i,j) -> (i,j)", [Dense(), level])
        assert pickle.loads(pickle.dumps(format)) == format
        assert pickle.loads(pickle.dumps(level)).capability(Locate) == level


def test_which_levels_list_their_coordinates():
    assert [name for name in levels.__all__ if lists(getattr(levels, name)())] == [
        "Bitset", "Compressed", "Growable", "Hashed", "Morton", "Singleton", "Slots", "Squeezed",
    ]  # fmt: skip
