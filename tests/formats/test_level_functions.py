"""Level functions on their own, against Tables 1 to 3 of the 2018 paper and Fig. 11 of the 2020 paper."""

from dataclasses import fields, replace

import numpy as np
import pytest

import weft
from weft.formats import (
    Banded,
    Compressed,
    Dense,
    Hashed,
    InterleavedCompressed,
    InterleavedSingleton,
    LevelVars,
    Offset,
    QueriedEdges,
    Ragged,
    Range,
    Singleton,
    Sliced,
    Squeezed,
    TensorType,
)
from weft.formats.tensor_vars import TensorVars
from weft.ir.interpreter import run, value_of
from weft.ir.nodes import Call, Const, Var
from weft.storage import check

# Table 1: iteration, locate, assembly (insert or append); full and branchless and compact as they are; and which of
# full, ordered, unique can be configured.
TABLE_1 = {
    Dense: ("value", True, "I", True, False, True, {"ordered", "unique"}),
    Range: ("value", None, None, False, False, False, {"ordered", "unique"}),
    Compressed: ("position", None, "A", None, False, True, {"full", "ordered", "unique"}),
    Singleton: ("position", None, "A", None, True, True, {"ordered", "unique"}),
    Offset: ("position", None, None, None, True, None, {"ordered", "unique"}),
    Hashed: ("position", True, "I", None, False, False, {"unique"}),
}


@pytest.mark.parametrize("level", TABLE_1, ids=lambda level: level.__name__)
def test_capabilities_and_properties_of_table_1(level):
    iteration, locate, assembly, full, branchless, compact, configured = TABLE_1[level]
    made = level()
    assert made.iteration == iteration
    if locate is not None:  # the paper leaves it blank where locating means a search
        assert made.locates in ("direct", "probe")
    if assembly == "A":
        assert made.appends
        assert not made.inserts
    if assembly == "I":
        assert made.placing in ("get", "find")
        assert not made.appends
    if full is not None:
        assert made.full is full
    assert made.branchless is branchless
    if compact is not None:
        assert made.compact is compact
    for name in configured:
        assert name in {f.name for f in fields(made)}
        assert getattr(replace(made, **{name: True}), name) is True
        assert getattr(replace(made, **{name: False}), name) is False


def level_vars(level, roles=None, dimension=5, at=1, **more):
    names = roles or (*level.borrows, *level.roles)
    return LevelVars(at, Const(dimension), {role: Var(role, "int32*") for role in names}, **more)


def bounds(pair, **names):
    return tuple(value_of(e, names) for e in pair)


def test_dense():
    level, m = Dense(), level_vars(Dense())
    assert bounds(level.coord_bounds(m, Const(2), ())) == (0, 5)
    assert value_of(level.locate(m, Const(2), Const(3)), {}) == 2 * 5 + 3
    assert value_of(level.get_size(m, Const(4)), {}) == 20
    assert run(level.insert_coord(m, Const(0), Const(0)), {}) == {}


def test_range_and_offset_below_a_diagonal():
    """``offset[k] = -1`` of a 4 x 6 matrix: columns from 0, rows one further."""
    format = weft.formats["dia"](2)
    tensor = TensorVars.of("A", TensorType.of("float64", format), str)
    names = {"A1_dim": 4, "A2_dim": 6, "A2_width": [6]}
    diagonal, inner = (Const(-1),), (Const(-1), Const(2))
    assert bounds(format.levels[1].coord_bounds(tensor.levels[1], Const(0), diagonal), **names) == (0, 3)
    assert bounds(format.levels[1].coord_bounds(tensor.levels[1], Const(0), (Const(4),)), **names) == (4, 6)
    assert value_of(format.levels[1].locate(tensor.levels[1], Const(3), Const(2)), names) == 3 * 6 + 2
    assert bounds(format.levels[2].pos_bounds(tensor.levels[2], Const(7))) == (7, 8)
    assert value_of(format.levels[2].pos_access(tensor.levels[2], Const(7), Const(7), inner), names) == 3


def test_compressed_is_read():
    level, m = Compressed(), level_vars(Compressed())
    arrays = {"pos": [0, 2, 2, 5], "crd": [1, 4, 0, 2, 3]}
    assert bounds(level.pos_bounds(m, Const(2)), **arrays) == (2, 5)
    assert value_of(level.pos_access(m, Const(3), Const(2), ()), arrays) == 2


def test_compressed_is_appended_to():
    level, m = Compressed(), level_vars(Compressed())
    names = {"pos": [9, 9, 9], "crd": [0, 0, 0]}
    run(level.seq_init_edges(m, Const(0)), names)
    for p, coord in enumerate([1, 4, 2]):
        run(level.append_coord(m, Const(p), Const(coord)), names)
    run(level.seq_insert_edges(m, Const(0), Const(2)), names)
    run(level.seq_insert_edges(m, Const(1), Const(3)), names)
    assert names == {"pos": [0, 2, 3], "crd": [1, 4, 2]}


def test_edges_of_compressed_in_any_order():
    level, m = Compressed(), level_vars(Compressed())
    names = {"pos": [0] * 4}
    for parent, count in [(2, 3), (0, 1), (2, 1)]:
        run(level.unseq_insert_edges(m, Const(parent), Const(count)), names)
    run(level.unseq_finalize_edges(m, Const(3), Var("q")), names)
    assert names["pos"] == [0, 1, 1, 5]


def test_compressed_yields_positions():
    level, m = Compressed(), level_vars(Compressed())
    names = {"pos": [0, 2, 2, 5], "crd": [-1] * 5}
    taken = []
    for parent in (2, 0, 2, 0, 2):
        run(level.yield_pos(m, Const(parent), Var("p")), names)
        taken.append(names["p"])
    run(level.finalize_yield_pos(m, Const(3), Var("q")), names)
    assert taken == [2, 0, 3, 1, 4]
    assert names["pos"] == [0, 2, 2, 5]


def test_singleton():
    level, m = Singleton(padded=True), level_vars(Singleton())
    names = {"crd": [4, -1, 2]}
    assert bounds(level.pos_bounds(m, Const(2))) == (2, 3)
    assert value_of(level.pos_access(m, Const(2), Const(2), ()), names) == 2
    assert [bool(value_of(level.valid(m, Const(c)), {})) for c in (4, -1)] == [True, False]
    assert Singleton().valid(m, Const(-1)) is None
    assert value_of(level.locate(m, Const(2), Const(2)), names) == 2
    assert value_of(level.locate(m, Const(2), Const(3)), names) == -1
    run(level.append_coord(m, Const(1), Const(3)), names)
    assert names["crd"] == [4, 3, 2]


def test_structs_differ_in_where_a_coordinate_is():
    first, second = InterleavedCompressed(unique=False, of=2), InterleavedSingleton(of=2, place=1)
    m, arrays = level_vars(first, ("pos", "crd")), {"pos": [0, 3], "crd": [0, 1, 0, 2, 3, 4]}
    assert bounds(first.pos_bounds(m, Const(0)), **arrays) == (0, 3)
    assert [value_of(first.pos_access(m, Const(p), Const(0), ()), arrays) for p in range(3)] == [0, 0, 3]
    assert [value_of(second.pos_access(m, Const(p), Const(p), ()), arrays) for p in range(3)] == [1, 2, 4]
    for level in (first, second):
        base = type(level).__mro__[1]
        access = {"pos_bounds", "coord_bounds", "locate", "valid", "child_pos", "pos_access"}
        assert access & vars(type(level)).keys() == {"pos_access"}
        assert type(level).pos_bounds is base.pos_bounds


def test_hashed():
    level, m = Hashed(), level_vars(Hashed())
    names = {"pos": [0, 4, 8, 12], "crd": [-1, 5, -1, -1] * 3}
    assert bounds(level.pos_bounds(m, Const(2)), **names) == (8, 12)
    assert value_of(level.pos_access(m, Const(9), Const(2), ()), names) == 5
    assert [bool(value_of(level.valid(m, Const(c)), {})) for c in (5, -1)] == [True, False]
    assert value_of(level.get_size(m, Const(3)), names) == 12
    run(level.insert_coord(m, Const(10), Const(7)), names)
    assert names["crd"][10] == 7
    assert level.blank == -1  # what insert_init fills crd with
    found = level.locate(m, Const(2), Const(5))
    assert isinstance(found, Call)
    assert [value_of(a, names) for a in found.args[1:]] == [8, 4, 5]


def test_a_hash_table_finds_what_is_in_it_and_nothing_else():
    rng = np.random.default_rng(1)
    coords = rng.choice(10**9, 300, replace=False)
    x = weft.from_coords(coords[None], np.arange(1.0, 301), (10**9,), format="hash_vector")
    check(x._storage)
    asked = np.sort(np.concatenate([coords[:50], rng.choice(10**9, 50)]))
    y = weft.from_coords(asked[None], np.ones(len(asked)), (10**9,), format="s", duplicates="sum")
    found = weft.evaluate("z(i) = x(i)*y(i)", x=x, y=y, format="s")
    expected = {int(c): k + 1.0 for k, c in enumerate(coords) if c in asked}
    assert dict(zip(found.to_coo()[0][0].tolist(), found.to_coo()[1].tolist(), strict=True)) == expected


def answered(level, m, entries):
    """The answers to a level's queries as they stand in arrays, largest and smallest coordinates counted from one."""
    found = {}
    for query in level.queries(m.level, m.level):
        (a,), k = query.aggregates, m.level
        low, high = m.lowest.value, m.lowest.value + m.dimension.value
        for entry in entries:
            over = [entry[e.number] - (low if e.number == k else 0) for e in query.over]
            seen = found.setdefault(a.label, {}).setdefault(over[-1] if over else 0, [])
            seen.append(tuple(entry[e.number] for e in a.args))
        count = {
            "count": lambda seen: len(set(seen)),
            "id": lambda seen: 1,
            "max": lambda seen, low=low: max(seen)[0] + 1 - low,
            "min": lambda seen, high=high: high - min(seen)[0],
        }[a.op]
        found[a.label] = {place: count(seen) for place, seen in found[a.label].items()}
    return found


def assembled(level, shape, entries, *, parents=1, **more):
    """The arrays of a level after its query, edges and insertion, and where each entry went."""
    m = level_vars(level, dimension=shape, at=len(entries[0]) - 1, **more)
    sizes = level.first_arrays(parents, shape) | level.scratch(parents, shape)
    names = {role: [0] * n for role, n in sizes.items()}
    names["weft_next_flag"] = lambda flags, at, end: next((q for q in range(at, end) if flags[q]), end)
    roles = {*sizes, *level.roles, *level.borrows}
    m = replace(m, arrays={role: Var(role, "int64*") for role in roles})
    for label, answers in answered(level, m, entries).items():
        for place, value in answers.items():
            names[label][place + (label in level.shifted)] = value
    edges = level.capability(QueriedEdges)
    if edges is not None:
        run(edges.insert_edges(m, Const(parents)), names)
    places = []
    for parent, *coords in ((e[0] if len(e) > 1 else 0, *e) for e in entries):
        places.append(value_of(level.get_pos(m, Const(parent), tuple(map(Const, coords))), names))
    return (
        {role: names[role] for role in level.roles if role in names},
        places,
        value_of(level.get_size(m, Const(parents)), names),
    )


def test_squeezed_stores_each_coordinate_once():
    arrays, places, size = assembled(Squeezed(), 7, [(-3,), (1,), (-3,), (0,)], lowest=Const(-3))
    assert arrays["size"] == [3]
    assert arrays["crd"][:3] == [-3, 0, 1]
    assert places == [0, 2, 0, 1]
    assert size == 3


def test_sliced_stores_how_far_it_counts():
    arrays, places, size = assembled(Sliced(), 0, [(0,), (2,), (1,)])
    assert arrays == {"size": [3]}
    assert places == [0, 2, 1]
    assert size == 3


def test_ragged_counts_below_each_parent_on_its_own():
    arrays, places, size = assembled(Ragged(), 0, [(0, 0), (0, 2), (2, 0), (2, 1)], parents=3)
    assert arrays == {"slices": [0, 3, 3, 5]}
    assert places == [0, 2, 3, 4]
    assert size == 5


@pytest.mark.parametrize(
    ("format", "level", "role", "values", "message"),
    [
        ("sell", 1, "slices", [0, 3, 2], "decreases"),
        ("sell", 2, "pos", [0, 2, 4, 5, 8, 8], "longer than the coordinates of perm"),
        ("sell", 2, "perm", [0, 2, 1, 3], "not a permutation of the 4 coordinates in each window of 2"),
        ("hyb", 1, "rest", [0, 3, 1, 3], "rest is not in ascending order"),
    ],
)
def test_rows_by_length_are_checked(format, level, role, values, message):
    option = {"sell": {"window": 2}, "hyb": {"width": 1}}[format]
    A = weft.asarray([[1.0, 2, 0], [3, 4, 0], [0, 0, 0], [5, 6, 7]]).asformat(format, **option)
    check(A._storage)
    A._storage.level_arrays(level)[role][:] = values
    with pytest.raises(weft.errors.StorageError, match=message):
        check(A._storage)


def test_banded_stores_where_rows_begin():
    arrays, places, size = assembled(Banded(), 6, [(0, 2), (0, 4), (2, 1)], parents=3)
    assert arrays == {"pos": [0, 3, 3, 4], "begin": [2, 0, 1]}
    assert places == [0, 2, 3]
    assert size == 4


def test_skyline_reaches_the_diagonal():
    arrays, places, _ = assembled(Banded(diagonal=True), 3, [(0, 0), (2, 0)], parents=3)
    assert arrays == {"pos": [0, 1, 1, 4], "begin": [0, 0, 0]}
    assert places == [0, 1]


@pytest.mark.parametrize("name", [name for name in weft.formats if name != "hash_vector"])
def test_properties_are_true_of_what_is_stored(name):
    """The invariant checker agrees with every promise, and sees each promise that is broken."""
    rng = np.random.default_rng(5)
    A = weft.asarray(np.where(rng.random((6, 8)) < 0.4, rng.random((6, 8)), 0)).asformat(name)
    check(A._storage)
    for k, level in enumerate(A.layout.levels):
        arrays = A._storage.level_arrays(k)
        crd = arrays.get("crd")
        if crd is None or level.borrows or len(crd) < 2 or not (level.ordered and level.unique):
            continue
        position = next((p for p in range(len(crd) - 1) if 0 <= crd[p] < crd[p + 1]), None)
        if position is None or level.branchless:
            continue
        kept = crd[position]
        crd[position] = crd[position + 1]
        with pytest.raises(weft.errors.StorageError, match=f"level {k + 1}"):
            check(A._storage)
        crd[position] = kept
        check(A._storage)
