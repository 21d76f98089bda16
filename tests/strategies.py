"""Hypothesis strategies: formats, shapes, dtypes and expressions. Every feature joins these.

Each is made once: to make one, and to ask what it is made of, takes longer than to draw from it.
"""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st
from tests import compositions

from weft import SparseTensor
from weft.errors import FormatError
from weft.formats import (
    Compressed,
    Dense,
    Format,
    Insertion,
    LevelFormat,
    Morton,
    Range,
    Singleton,
    Squeezed,
    levels,
)
from weft.index_notation.nodes import Access, Apply, Assignment, Expr, Literal, Reduce
from weft.remapping import Remapping

VARIABLES = "ijkl"
REDUCTIONS = ["add"] * 5 + ["maximum", "minimum", "multiply", "logical_or", "logical_and", "logical_xor"]


@cache
def formats(order: int) -> st.SearchStrategy[str]:
    """Letters of a format for a tensor of ``order`` axes, in any mode order; or coo."""
    levels = st.lists(st.sampled_from("ds"), min_size=order, max_size=order).map("".join)
    modes = st.sampled_from(list(itertools.permutations(range(order))))
    lettered = st.tuples(levels, modes).map(
        lambda both: both[0] if both[1] == tuple(range(order)) else f"{both[0]}:{','.join(map(str, both[1]))}"
    )
    named = st.sampled_from(NAMED.get(order, ["dense"]))
    return lettered if order not in NAMED else st.one_of(lettered, named)


NAMED = {
    1: ["hash_vector", "coo", "dok"],
    2: ["coo", "coo", "coo_aos", "dia", "ell", "hyb", "jad", "sell", "bsr", "csb", "hicoo", "mode_generic", "hash",
        "dok", "lil", "skyline", "banded", "gcxs"],
    3: ["coo", "coo_aos", "hicoo", "mode_generic", "gcxs", "hash", "dok"],
}  # fmt: skip


_PARTS = [["i"], ["i"], ["i/2", "i%2"], ["i>>1", "i&1"], ["i/3", "i"], ["i/2/2", "i/2%2", "i%2"]]
_MIXED = ["j-i", "i+j", "i^j", "(i/2)|(j/2)", "i&j", "i+2*j", "2*i+j", "i*size(j)+j", "3-i", "i/2-j"]
LEVELS = [made for name in levels.__all__ if (made := getattr(levels, name)()).capability(Insertion)]
"""Every level format into which entries can be inserted."""


def _stands(remapping: str, *made: LevelFormat) -> bool:
    """Whether a format has these levels, whatever the data."""
    try:
        return not Format(remapping, made).conditions
    except FormatError:
        return False


_INNER = [
    level
    for level in LEVELS
    if _stands("(i,j) -> (i,j)", level, Compressed())
    or _stands("(i,j,k) -> (j-i,j,i,k)", Squeezed(), Range(), level, Compressed())
]
_ANYWHERE = [Dense(), Compressed(), Compressed(unique=False), *_INNER]
_LAST = [Compressed(ordered=False), *(v for v in LEVELS if v not in _INNER and _stands("(i,j) -> (i,j)", Dense(), v))]


@cache
@st.composite
def own_remappings(draw: st.DrawFn, order: int) -> Remapping:
    """Axes whole and in parts, nested in any order, under a coordinate made of two where there are two."""
    axes = "ijk"[:order]
    parts = [[c.replace("i", axis) for c in draw(st.sampled_from(_PARTS))] for axis in axes]
    found: list[str] = []
    if order > 1 and draw(st.booleans()):
        a, b = draw(st.permutations(axes))[:2]
        found.append(draw(st.sampled_from(_MIXED)).translate({ord("i"): a, ord("j"): b}).replace(f"s{a}ze", "size"))
    while any(parts):
        found.append(draw(st.sampled_from([part for part in parts if part])).pop(0))
    return Remapping.parse(f"({','.join(axes)}) -> ({','.join(found)})")


@cache
@st.composite
def own_formats(draw: st.DrawFn, order: int) -> Format:
    """Formats that nobody has named: any levels that can store the coordinates of any remapping."""
    remapping = draw(own_remappings(order))
    n = len(remapping.coordinates)
    made: list[LevelFormat] = []
    while len(made) < n:
        rest = n - len(made)
        kind = draw(st.sampled_from(["any", "any", "any", "any", "list", "curve"]))
        if kind == "list" and rest > 1:
            length = draw(st.integers(2, rest))
            made += [Compressed(unique=False), *[Singleton(unique=False)] * (length - 2), Singleton()]
        elif kind == "curve" and rest > 1:
            length = draw(st.integers(2, rest))
            middle = [Singleton(unique=False, ordered=False)] * (length - 2)
            made += [Morton(unique=False), *middle, Singleton(ordered=False)]
        else:
            made.append(draw(st.sampled_from(_ANYWHERE + _LAST * (rest == 1))))
    try:
        return Format(remapping, made)
    except FormatError:
        reject()


@cache
def any_formats(order: int) -> st.SearchStrategy[str | Format]:
    """Formats with a name or letters, and such as nobody has named."""
    return st.one_of(formats(order), formats(order), own_formats(order)) if order else formats(order)


@st.composite
def with_repeats(draw: st.DrawFn, A: SparseTensor) -> SparseTensor:
    """A tensor, or the same with entries in parts if a level may store a coordinate twice."""
    return compositions.with_repeats(random.Random(draw(st.integers(0, 9))), A) if draw(st.booleans()) else A


@cache
def result_formats(order: int) -> st.SearchStrategy[str | Format | None]:
    """What a result may be asked for in: nothing, a name, letters, an own format, or any composition of levels.

    Compositions may refuse data: some store only entries that are one below each coordinate, say.
    """
    composed = st.integers(0, 2**32).map(lambda seed: compositions.composition(random.Random(seed), order))
    return st.one_of(st.none(), any_formats(order), composed) if order else st.none()


dtypes = st.sampled_from(["float64", "float64", "float32", "int64", "int16", "uint8", "int8", "uint32", "complex128"])
extents = st.one_of(
    st.fixed_dictionaries({v: st.integers(0, 6) for v in VARIABLES}),
    st.integers(0, 5).map(lambda n: dict.fromkeys(VARIABLES, n)),  # where a tensor may come up with other variables
    st.tuples(
        st.fixed_dictionaries({v: st.integers(0, 3) for v in VARIABLES}), st.sampled_from(VARIABLES), st.integers(7, 41)
    ).map(lambda drawn: {**drawn[0], drawn[1]: drawn[2]}),  # one as wide as a strip of registers, and more
)


@cache
def specials(dtype: str) -> st.SearchStrategy[float]:
    """What some of the stored values are."""
    return st.sampled_from([1, 1, *_extremes(dtype)])


@cache
def fills(dtype: str) -> st.SearchStrategy[float]:
    """What absent entries are."""
    return st.sampled_from([0, 0, 0, 0, 1, 3, *_extremes(dtype)])


def _extremes(dtype: str) -> list[float]:
    if np.dtype(dtype).kind in "iu":  # of wide ones no products are exact in float64
        return [np.iinfo(dtype).min, np.iinfo(dtype).max] if np.dtype(dtype).itemsize < 4 else [7]
    return [-2, np.inf, -np.inf, np.nan] if np.dtype(dtype).kind == "f" else [-2]


densities = st.sampled_from([0.0, 0.2, 0.5, 1.0])
devices = st.sampled_from([*["cpu"] * 11, "emulated"])
"""Where operands are. The kernels of a device, of which the emulated one is compiled slowly, are those of few draws."""


@cache
def accesses(names: str = "ABCD") -> st.SearchStrategy[Access]:
    """An access of up to three axes, each tensor always with the same number of them; of a diagonal here and there."""
    orders = dict(zip(names, (2, 1, 2, 3), strict=False))

    @cache
    def access(name: str) -> st.SearchStrategy[Access]:
        n = orders[name]
        apart = st.permutations(VARIABLES).map(lambda axes: axes[:n])
        any_axes = st.lists(st.sampled_from(VARIABLES), min_size=n, max_size=n)
        return st.one_of(apart, apart, apart, any_axes).map(lambda indices: Access(name, tuple(indices)))

    return st.sampled_from(names).flatmap(access)


@cache
def values(max_leaves: int = 4) -> st.SearchStrategy[Expr]:
    """Sums, differences, products (by masks, too), choices, negations and reductions of accesses and numbers."""
    leaves = st.one_of(
        accesses(), accesses(), accesses(), st.just(Access("s")), st.sampled_from([2, 3, 0, 1, 0.5]).map(Literal)
    )

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        binary = st.builds(
            lambda op, a, b: Apply(op, (a, b)),
            st.sampled_from(["add", "subtract", "multiply", "multiply"]),
            inner,
            inner,
        )
        masked = st.builds(lambda a, b: Apply("multiply", (Apply("not_equal", (a, Literal(0))), b)), accesses(), inner)
        chosen = st.builds(lambda a, b, c: Apply("where", (a, b, c)), accesses(), inner, inner)
        negated = st.one_of(inner, inner, masked).map(lambda a: Apply("negative", (a,)))
        return st.one_of(binary, binary, masked, chosen, negated, inner.flatmap(reduced))

    def reduced(body: Expr) -> st.SearchStrategy[Expr]:
        """A reduction inside an expression, over one of its variables, which it may have outside, too."""
        known = free(body)
        if not known:
            return st.just(body)
        ops = st.sampled_from([op for op in REDUCTIONS if not op.startswith("logical")])  # - and * take no booleans
        return st.builds(lambda op, v: Reduce(op, (v,), body), ops, st.sampled_from(known))

    return st.recursive(leaves, grow, max_leaves=max_leaves)


def free(expr: Expr) -> list[str]:
    match expr:
        case Access(indices=indices):
            return list(dict.fromkeys(indices))
        case Apply(args=args):
            return list(dict.fromkeys(v for a in args for v in free(a)))
        case Reduce(vars=bound, body=body):
            return [v for v in free(body) if v not in bound]
    return []


@cache
@st.composite
def assignments(draw: st.DrawFn) -> Assignment:
    """An assignment that keeps some of its variables and sums over the others, or reduces them in another way."""
    value = draw(values())
    known = free(value)
    kept = draw(st.permutations(known).map(lambda p: tuple(p[:2]))) if known else ()
    kept = kept[: draw(st.integers(0, 2))]
    gone = tuple(v for v in known if v not in kept)
    op = draw(st.sampled_from(REDUCTIONS))
    return Assignment(Access("y", kept), Reduce(op, gone, value) if op != "add" and gone else value)


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """What may stand between the brackets of an array of this shape, wrong keys among them."""
    items: list[Any] = []
    axis = 0
    while axis < len(shape):
        size = shape[axis]
        kind = draw(st.sampled_from(["slice", "slice", "integer", "array", "mask", "masks", "new", "rest"]))
        if kind == "new":
            items.append(None)
            continue
        if kind == "rest":
            items.append(Ellipsis)
            break
        if kind == "masks" and axis + 1 < len(shape):
            bits = draw(st.lists(st.booleans(), min_size=size * shape[axis + 1], max_size=size * shape[axis + 1]))
            items.append(np.array(bits, bool).reshape(size, shape[axis + 1]))
            axis += 2
            continue
        match kind:
            case "integer":
                items.append(draw(st.integers(-size - 1, size)))
            case "array":
                within = st.integers(-size, size - 1) if size else st.nothing()
                of = draw(st.sampled_from([(3,), (1,), (2, 3), (0,)])) if size else (0,)
                count = int(np.prod(of))
                items.append(np.array(draw(st.lists(within, min_size=count, max_size=count)), int).reshape(of))
            case "mask":
                items.append(np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool))
            case _:
                ends = st.one_of(st.none(), st.integers(-size - 1, size + 1))
                step = draw(st.sampled_from([None, 1, 2, 3, -1, -2]))
                items.append(slice(draw(ends), draw(ends), step))
        axis += 1
    return tuple(items)


QUOTIENTS = [
    "divide", "divide", "divide", "floor_divide", "remainder", "fmod", "power", "minimum", "maximum", "add", "greater",
    "less_equal", "equal", "not_equal",
]  # fmt: skip


@cache
@st.composite
def quotients(draw: st.DrawFn) -> Assignment:
    """What is divided by operands, sums and products of them, or joined with them by operators like division."""
    whole: Expr = Access("E", ("i", "j"))
    summed = [Reduce(op, ("k",), Access("E", ("k", "j"))) for op in ("add", "maximum", "minimum")]
    again = Apply("divide", (whole, Access("w", ("i",))))
    dividend = draw(st.sampled_from([whole, whole, whole, *summed, again]))
    rows, columns, s = Access("z", ("i",)), Access("w", ("j",)), Access("s", ())
    total = Reduce("add", ("k",), Access("E", ("i", "k")))
    divisor = draw(
        st.sampled_from(
            [
                s, rows, columns, Literal(2), Access("D", ("i", "j")), total, Apply("add", (Literal(1), total)),
                Apply("multiply", (rows, columns)), Apply("add", (rows, columns)), Apply("maximum", (rows, s)),
                Apply("absolute", (Apply("subtract", (columns, s)),)), Apply("multiply", (s, rows)),
            ]
        )
    )  # fmt: skip
    op = draw(st.sampled_from(QUOTIENTS))
    value: Expr = Apply(op, (dividend, divisor) if draw(st.integers(0, 3)) else (divisor, dividend))
    if not {"i", "j"} <= set(free(value)):
        value = Apply(op, (value, rows))
    match draw(st.sampled_from(["alone", "alone", "masked", "summed", "greatest"])):
        case "masked":
            value = Apply("multiply", (Access("F", ("i", "j")), value))
        case "summed":
            return Assignment(Access("y", ("i",)), Reduce("add", ("j",), value))
        case "greatest":
            return Assignment(Access("y", ("j",)), Reduce("maximum", ("i",), value))
    return Assignment(Access("y", draw(st.sampled_from([("i", "j"), ("j", "i")]))), value)
