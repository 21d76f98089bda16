"""Records beside what ``dataclass(frozen=True)`` makes of the same class."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields
from typing import ClassVar

import numpy as np
import pytest

from weft.formats import TensorType, parse_format
from weft.records import record, replace


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

    @decorate
    class Ordered:
        kind: ClassVar[str] = "o"
        low: int
        high: int = field(default=3, repr=False)

        def __post_init__(self):
            if self.low > self.high:
                raise ValueError(f"{self.low} > {self.high}")

    @decorate
    class Wider(Ordered):
        by: int = field(default=1, compare=False)
        low: int = 0

    @decorate
    class Derived:
        value: int
        twice: int = field(init=False, repr=False)

        def __post_init__(self):
            object.__setattr__(self, "twice", 2 * self.value)

    nan = float("nan")
    ones = [One(1), One(1), One(2), One(nan), One(nan)]
    more = [Ordered(1), Ordered(low=1, high=3), Ordered(1, 4), Wider(), Wider(1, 3, 9), Wider(1, by=2)]
    return [Nothing(), *ones, Two(1), Two(1, "y"), Two(True), Derived(1), Derived(2), *more, Hashed(2), Own(1), Own(3)]


@record
class Kept:
    name: str
    sizes: tuple[int, ...] = ()


def compared(x):
    return tuple(getattr(x, one.name) for one in fields(x) if one.compare)


def test_records_are_what_dataclasses_are():
    ours, theirs = kinds(record), kinds(dataclass(frozen=True))
    assert [repr(x).rpartition(".")[2] for x in ours] == [repr(x).rpartition(".")[2] for x in theirs]
    # As tuples, which hold a NaN equal to itself; dataclasses of Python 3.13 compare field by field.
    assert [[bool(x == y) for y in ours[:-2]] for x in ours[:-2]] == [
        [type(x) is type(y) and compared(x) == compared(y) for y in theirs[:-2]] for x in theirs[:-2]
    ]
    assert ours[-1] == ours[-2]
    assert len(set(ours)) == len({(type(x), compared(x)) for x in theirs[:-2]}) + 1
    assert [hash(x) for x in ours[:4]] == [hash(x) for x in theirs[:4]]
    assert [[f.name for f in fields(x)] for x in ours] == [[f.name for f in fields(x)] for x in theirs]
    assert hash(ours[-3]) == hash(theirs[-3]) == 7
    assert ours[6].cache == {"of": "x"}
    assert ours[1].__eq__(1) is NotImplemented
    assert all(dataclasses.replace(x) == x for x in ours)
    for mine, other in zip(ours, theirs, strict=True):
        assert inspect.signature(type(mine)) == inspect.signature(type(other))
        assert type(mine).__match_args__ == type(other).__match_args__
        assert repr(vars(mine)) == repr(vars(other))
        for wrong in [{"nothing": 1}, {"low": 4, "high": 3}]:
            errors = []
            for cls in (type(mine), type(other)):
                with pytest.raises((TypeError, ValueError)) as info:
                    cls(**wrong)
                errors.append((info.type, str(info.value)))
            assert errors[0] == errors[1]


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
    for way in (replace, dataclasses.replace):
        assert way(kept, sizes=()) == Kept("a")
        with pytest.raises(TypeError, match="nothing"):
            way(kept, nothing=1)
    match kept:
        case Kept(name, sizes):
            assert (name, sizes) == ("a", (1, 2))

    @dataclass(frozen=True)
    class More(Kept):
        last: int = 3

    assert replace(More("a", (), 4), name="b") == More("b", (), 4)
    assert More("a", (), 4) == More("a", (), 4) != Kept("a")
    assert repr(More("a")).endswith("More(name='a', sizes=(), last=3)")


def test_fields_without_default_come_first():
    with pytest.raises(TypeError, match="follow 'one'"):

        @record
        class Late:
            one: int = 1
            two: int


@pytest.mark.parametrize("fill", [0, 1.5, -0.0])
def test_hashes_are_kept_but_not_pickled(fill):
    """Hashes of strings differ from process to process."""
    csr = TensorType.of("float64", parse_format("csr", 2), fill=fill)
    assert hash(csr) == hash(replace(csr, format=parse_format("csr", 2)))
    for again in (pickle.loads(pickle.dumps(csr)), copy.deepcopy(csr)):
        assert not {"_hash"} & vars(again).keys()
        assert again == csr
        assert hash(again) == hash(csr)
    assert csr != replace(csr, fill=2)
    assert replace(csr, fill=0) != replace(csr, fill=-0.0)
