"""Records beside what ``dataclass(frozen=True)`` makes of the same class."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import numpy as np
import pytest

from weft.records import record


def kinds(decorate):
    @decorate
    class Nothing:
        pass

    @decorate
    class One:
        value: object

    @decorate
    class Two(One):
        shown: str = "x"
        cache: dict = field(default_factory=dict, compare=False, repr=False)

        def __post_init__(self):
            object.__setattr__(self, "cache", {"of": self.shown})

    @decorate
    class Own:
        value: int

        def __eq__(self, other):
            return self.value % 2 == other.value % 2

        def __hash__(self):
            return self.value % 2

        def __repr__(self):
            return "own"

    @decorate
    class Hashed:
        value: int

        def __hash__(self):
            return 7

    nan = float("nan")
    ones = [One(1), One(1), One(2), One(nan), One(nan)]
    return [Nothing(), *ones, Two(1), Two(1, "y"), Two(True), Hashed(2), Own(1), Own(3)]


@record
class Kept:
    name: str
    sizes: tuple[int, ...] = ()


def test_records_are_what_dataclasses_are():
    ours, theirs = kinds(record), kinds(dataclass(frozen=True))
    assert [repr(x).rpartition(".")[2] for x in ours] == [repr(x).rpartition(".")[2] for x in theirs]
    assert [[bool(x == y) for y in ours[:-2]] for x in ours[:-2]] == [
        [x == y for y in theirs[:-2]] for x in theirs[:-2]
    ]
    assert ours[-1] == ours[-2]
    assert len(set(ours)) == len(set(theirs))
    assert [hash(x) for x in ours[:4]] == [hash(x) for x in theirs[:4]]
    assert [[f.name for f in fields(x)] for x in ours] == [[f.name for f in fields(x)] for x in theirs]
    assert hash(ours[-3]) == hash(theirs[-3]) == 7
    assert ours[6].cache == {"of": "x"}
    assert ours[1].__eq__(1) is NotImplemented


def test_nan_is_equal_to_itself():
    kept = Kept(np.nan)
    assert kept == Kept(np.nan)
    assert hash(kept) == hash(Kept(np.nan))


def test_records_are_frozen():
    kept = Kept("a")
    with pytest.raises(FrozenInstanceError, match="name"):
        kept.name = "b"
    with pytest.raises(FrozenInstanceError, match="name"):
        del kept.name
    with pytest.raises(TypeError, match="name"):
        Kept()


def test_records_are_copied_replaced_matched_and_extended():
    kept = Kept("a", (1, 2))
    assert pickle.loads(pickle.dumps(kept)) == copy.deepcopy(kept) == kept
    assert replace(kept, sizes=()) == Kept("a")
    match kept:
        case Kept(name, sizes):
            assert (name, sizes) == ("a", (1, 2))

    @dataclass(frozen=True)
    class More(Kept):
        last: int = 3

    assert More("a", (), 4) == More("a", (), 4) != Kept("a")
    assert repr(More("a")).endswith("More(name='a', sizes=(), last=3)")
