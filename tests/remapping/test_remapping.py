import itertools
import operator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codegen.compiled import module
from weft.errors import FormatError, NotationError
from weft.formats import Compressed, Dense, Format
from weft.ir import Declare, For, Function, Param, Store
from weft.ir.builder import add, block, lit, load, mul, var
from weft.ir.nodes import Var
from weft.ir.verify import problems
from weft.remapping import Axis, Binary, Constant, Counter, Remapping
from weft.remapping.emit_ir import emit
from weft.remapping.inverse import interval_of
from weft.remapping.nodes import axes_of, counters_of, evaluate, substitute, to_text

MORTON = "(i,j) -> (r=i/4 in s=j/4 in (r&1)|((s&1)<<1)|((r&2)<<1)|((s&2)<<2), i/4, j/4, i, j)"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("(i,j) -> (j-i,i,j)", (Binary("-", Axis(1), Axis(0)), Axis(0), Axis(1))),
        ("(i,j) -> (#i,i,j)", (Counter((Axis(0),)), Axis(0), Axis(1))),
        ("(i,j) -> (k=#i in k,i,j)", (Counter((Axis(0),)), Axis(0), Axis(1))),
        ("(a,b) -> (a/M,b/N,a%M,b%N)", None),
        ("() -> ()", ()),
        ("(i) -> (i)", (Axis(0),)),
    ],
)
def test_parse(text, made):
    found = Remapping.parse(text, M=2, N=3)
    if made is not None:
        assert found.coordinates == made
    assert Remapping.parse(str(found)) == found


def test_names_of_axes_do_not_matter():
    assert Remapping.parse("(row,col) -> (col,row)") == Remapping.parse("(i,j) -> (j,i)") == Remapping((1, 0))


def test_lets_abbreviate():
    found = Remapping.parse(MORTON)
    plain = Remapping.parse("(i,j) -> (i/4&1|(j/4&1)<<1|(i/4&2)<<1|(j/4&2)<<2, i/4, j/4, i, j)")
    assert found == plain
    assert [evaluate(c, (9, 14)) for c in found.coordinates] == [0 | 1 << 1 | (2 << 1) | (2 << 2), 2, 3, 9, 14]


def test_a_let_ends_at_the_comma():
    with pytest.raises(NotationError, match="r is no axis"):
        Remapping.parse("(i) -> (r=i/2 in r, r)")


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("(i,i) -> (i)", "i names two axes", "i) ->"),
        ("(i,j) -> (i,k)", "k is no axis", "k"),
        ("(i,j) -> (i,j", "',' is expected", None),
        ("(i,j) (j,i)", "'->' is expected", "(j"),
        ("(i) -> (i/0)", "/ by 0", "0"),
        ("(i) -> (i%0, i)", "% by 0", "0"),
        ("(i) -> (i>>-1)", "a shift by -1", "-1"),
        ("(i,j) -> (i/j,i,j)", "must be a constant", "j,i,j"),
        ("(i) -> (i $ 2)", "no part of a remapping", "$"),
        ("(i) -> (#r, i)", "a counter is over axes", "r"),
        ("(i) -> (i) x", "nothing may follow", "x"),
        ("(i) -> (i=2 in i)", "i already has a meaning", "i=2"),
        ("(i,j) -> (i+)", "is expected here", ")"),
        ("(i,j) -> (i)", "not a permutation", None),
    ],
)
def test_errors_point_at_the_place(text, message, at):
    with pytest.raises(NotationError, match=message) as caught:
        Remapping.parse(text)
    if at is not None:
        assert caught.value.position == text.rindex(at)
        assert str(caught.value).endswith(" " * caught.value.position + "^")


def expressions(axes=2):
    leaves = st.integers(0, axes - 1).map(Axis) | st.integers(0, 9).map(Constant)

    def grow(inner):
        by = st.integers(1, 5).map(Constant)
        some = st.builds(Binary, st.sampled_from("+-*&|^"), inner, inner)
        return some | st.builds(Binary, st.sampled_from(["/", "%", "<<", ">>"]), inner, by)

    return st.recursive(leaves, grow, max_leaves=8)


@given(expressions())
def test_printing_and_parsing_are_inverse(expr):
    assume(not isinstance(expr, Axis))
    text = f"(i,j) -> ({to_text(expr, 'ij')},i,j)"
    found = Remapping.parse(text).coordinates[0]
    for point in [(0, 0), (3, 5), (17, 2), (-4, 7)]:
        assert evaluate(found, point) == evaluate(expr, point)


@given(st.integers(-1000, 1000), st.integers(1, 50))
def test_division_floors(i, m):
    quotient, rest = Binary("/", Axis(0), Constant(m)), Binary("%", Axis(0), Constant(m))
    q, r = evaluate(quotient, (i,)), evaluate(rest, (i,))
    assert q * m + r == i
    assert 0 <= r < m


@given(expressions(), st.integers(1, 9), st.integers(1, 9))
def test_intervals_hold_every_value(expr, rows, columns):
    lo, hi = interval_of(expr, (rows, columns))
    values = [evaluate(expr, (i, j)) for i in range(rows) for j in range(columns)]
    assert lo <= min(values)
    assert max(values) < hi


REMAPPINGS = [
    "(i,j) -> (j,i)",
    "(i,j) -> (j-i,j)",
    "(i,j) -> (j-i,i)",
    "(i,j) -> (i+j,i)",
    "(i,j) -> (i/2,j/3,i%2,j%3)",
    "(i,j) -> (i>>2,j>>1,i&3,j&1)",
    "(i,j) -> (i/4/2,i/4%2,j,i%4)",
    "(i,j) -> (2*i+j,i)",
    "(i,j) -> (5-j,i+3)",
    "(i,j) -> (#i,i,j)",
    "(i,j,k) -> (j-i,k/2,i,k%2)",
    MORTON,
]


@pytest.mark.parametrize("text", REMAPPINGS)
def test_inverse_gives_the_axes_back(text):
    remapping = Remapping.parse(text)
    shape = (7, 9, 5)[: remapping.order]
    for point in np.ndindex(*shape):
        counts = {c: 0 for e in remapping.coordinates for c in counters_of(e)}
        levels = [evaluate(c, point, counts) for c in remapping.coordinates]
        for axis, expr in enumerate(remapping.inverse()):
            assert expr is not None, (text, axis)
            assert evaluate(expr, levels) == point[axis]


EMITTED = [
    "(i,j) -> (j-i,i/3,j%5,i/4,j%8,(j-i)/3,(j-i)%3,(j-i)/4,(j-i)%4,i,j)",
    "(i,j) -> (i*2+j<<1,i&6|j,i^j,i+j>>1,i,j)",
    MORTON,
]


@pytest.mark.parametrize("text", EMITTED)
def test_emitted_c_means_the_same(text):
    coordinates = Remapping.parse(text).coordinates
    i, j, q, n = var("i"), var("j"), var("q"), len(coordinates)
    ins, out = var("ins", "int64*"), var("out", "int64*")
    stores = [Store(out, add(mul(q, lit(n)), lit(k)), emit(c, {0: i, 1: j})) for k, c in enumerate(coordinates)]
    body = block(Declare(i, load(ins, mul(q, lit(2)))), Declare(j, load(ins, add(mul(q, lit(2)), lit(1)))), *stores)
    size = var("size")
    params = (
        Param("y", (), (), out, output=True),
        Param("x", (size,), (), ins),
    )
    run = module(Function("remap", params, For(q, lit(0), size, body)))["remap"]
    points = np.array(list(np.ndindex(13, 11)), np.int64)
    found = np.zeros((len(points), n), np.int64)
    assert run(((), [], found), ((len(points),), [], points.ravel())) == 0
    wanted = [np.broadcast_to(evaluate(c, points.T), len(points)) for c in coordinates]
    np.testing.assert_array_equal(found.T, wanted)


def test_what_is_lost_has_no_inverse():
    assert Remapping.parse("(i,j) -> (i/2,j)").inverse() == (None, Axis(1))
    with pytest.raises(FormatError, match="axis 0 does not follow from the coordinates"):
        Format("(i,j) -> (i/2,j)", [Dense(), Compressed()])


def test_extents():
    assert Remapping.parse("(i,j) -> (j-i,i/4,i%4,j,#i)").extents((10, 6)) == ((-9, 6), (0, 3), (0, 4), (0, 6), None)
    assert all(lo <= hi for lo, hi in Remapping.parse("(i,j) -> (j-i,i/2,j)").extents((0, 0)))


def test_substitute_and_axes():
    expr = Binary("-", Axis(1), Axis(0))
    assert substitute(expr, {0: Constant(2)}) == Binary("-", Axis(1), Constant(2))
    assert axes_of(expr) == {0, 1}
    assert axes_of(Constant(1)) == frozenset()


def test_not_a_permutation():
    with pytest.raises(NotationError, match="is not a permutation"):
        operator.attrgetter("mode_order")(Remapping.parse("(i,j) -> (j-i,i,j)"))
    with pytest.raises(NotationError, match="not a permutation"):
        Remapping((0, 0))


def test_expressions_that_are_too_large_are_refused():
    doubled = "".join(f"{name}={last}+{last} in " for last, name in itertools.pairwise("iabcdefghklmnopqrs"))
    for text in (f"(i,j) -> (i,j{'+i' * 3000})", f"(i,j) -> ({doubled}s,i,j)"):
        with pytest.raises(NotationError, match="made of more than 4000 operations, or of 200 inside each other"):
            Remapping.parse(text)


@pytest.mark.parametrize("text", ["i<<1", "(i<<1)|1", "i>>1", "i/4", "i%4", "i%3", "i*2+1", "(j-i)/2", "i&3"])
def test_stored_coordinates_of_32_bits_are_widened(text):
    """The left operand of a shift, for one, would lose bits."""
    expr = Remapping.parse(f"(i,j) -> ({text},i,j)").coordinates[0]
    found = emit(expr, {0: Var("i", "int32"), 1: Var("j", "int32")})
    stored = [Declare(Var(name, "int32"), lit(0, "int32")) for name in "ij"]
    assert not problems(Function("f", (), block(*stored, Declare(Var("c"), found))))
    assert found.ty == "int64"
