"""Random compositions of levels under random remappings, each put through every kind of operation beside NumPy.

``python -m tests.compositions FIRST LAST`` tries the seeds of a range in child processes, and prints a line for each
that is neither right nor refused. With ``repeats`` as a third argument, a level of each composition stores
coordinates twice.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tests.child_processes import outcomes
from tests.kernel_batches import each

import weft
from weft.errors import FormatError, NotationError, StorageError
from weft.execution import verify
from weft.formats import (
    Banded,
    Capped,
    Compressed,
    Dense,
    Format,
    Growable,
    Hashed,
    Insertion,
    InterleavedCompressed,
    InterleavedSingleton,
    Jagged,
    LevelFormat,
    Morton,
    Offset,
    Range,
    Singleton,
    Sliced,
    Slots,
    Spilled,
    Squeezed,
)
from weft.formats import levels as every
from weft.records import replace

PARTS = [
    ["i"], ["i"], ["i"], ["i/2", "i%2"], ["i>>1", "i&1"], ["i/3", "i"], ["i/2/2", "i/2%2", "i%2"], ["i%3", "i"],
    ["(i+1)/2", "(i+1)%2"], ["i%2", "i/2"], ["(i+5)/4", "(i+5)%4"], ["i/2", "i/2/2", "i%2"], ["(i-1)/2", "(i-1)%2"],
]  # fmt: skip
MIXED = [
    "j-i", "i-j", "i+j", "i^j", "(i/2)|(j/2)", "i&j", "i+2*j", "2*i+j", "i*size(j)+j", "3-i", "i/2-j", "j-i+size(i)",
    "j*2", "i*3+1", "i/2+j/2", "j-i+2", "(i+j)%2", "(j-i)/2", "i*j",
]  # fmt: skip
SLICED = ["i/4,#i,i%4,j", "i/2,#i,i,j", "#i,i/2,i%2,j", "j>>1,#j,j&1,i"]
COUNTERS = ["#i", "#j", "#", "#i j", "#i/2"]
WEIGHED = {
    Banded, Capped, Compressed, Dense, Growable, Hashed, InterleavedCompressed, InterleavedSingleton, Jagged, Morton,
    Offset, Range, Singleton, Sliced, Slots, Spilled, Squeezed,
}  # fmt: skip
OTHERS = [
    kind for name in every.__all__ if (kind := getattr(every, name)) not in WEIGHED and kind().capability(Insertion)
]
"""Levels that have been added since; those before have options and weights in :func:`level`."""
SHAPES = {
    1: [(5,), (1,), (0,), (8,)],
    2: [(3, 4), (5, 4), (6, 3), (1, 1), (0, 3), (7, 8), (3, 0), (4, 7)],
    3: [(3, 4, 2), (2, 2, 5), (1, 3, 4), (0, 2, 2)],
}


def remapping(r: random.Random, order: int) -> tuple[str, int]:
    """A remapping, which may lose axes, and how many coordinates it makes."""
    axes = "ijk"[:order]
    if order == 2 and r.random() < 0.05:
        return f"(i,j) -> ({r.choice(SLICED)})", 4
    parts = [[c.replace("i", axis) for c in r.choice(PARTS)] for axis in axes]
    found: list[str] = []
    while any(parts):
        found.append(r.choice([part for part in parts if part]).pop(0))
    if order > 1 and r.random() < 0.5:
        names = dict(zip("ij", r.sample(axes, 2), strict=True))
        mixed = re.sub(r"\b[ij]\b", lambda match: names[match.group()], r.choice(MIXED))
        found.insert(r.choice([0, 0, r.randrange(len(found) + 1)]), mixed)
        if r.random() < 0.3 and found.count(names["i"]):
            found.remove(names["i"])  # it may follow from the others
    if r.random() < 0.2:
        counters = COUNTERS if order > 1 else ["#i", "#"]
        found.insert(r.choice([0, 0, r.randrange(len(found) + 1)]), r.choice(counters))
    return f"({','.join(axes)}) -> ({','.join(found)})", len(found)


def level(r: random.Random) -> LevelFormat:
    """Any level that weft exports, with any options."""

    def maybe(p: float = 0.5) -> bool:
        return r.random() < p

    makers: list[Callable[[], LevelFormat]] = [
        Dense, Dense, Dense, Compressed, Compressed, Hashed, Singleton, Offset, Offset, Range, Range, Squeezed, Banded,
        Sliced, Jagged, Slots, Spilled, Growable,
        lambda: Compressed(ordered=maybe(), unique=maybe(), full=maybe(0.2)),
        lambda: Compressed(unique=False),
        lambda: Compressed(full=True),
        lambda: Singleton(unique=maybe(), ordered=maybe(), padded=maybe()),
        lambda: Singleton(unique=maybe(), full=maybe()),
        lambda: Banded(diagonal=True),
        lambda: Capped(width=r.choice([0, 1, 2])),
        lambda: Growable(ordered=maybe(0.7), unique=maybe(0.8)),
        lambda: Hashed(full=maybe()),
        lambda: Morton(unique=maybe()),
        lambda: Squeezed(ordered=maybe(0.7), unique=maybe(0.7)),
        lambda: InterleavedCompressed(unique=maybe(), of=r.choice([1, 2, 3])),
        lambda: InterleavedSingleton(unique=maybe(), of=r.choice([2, 3]), place=r.choice([1, 2])),
    ]  # fmt: skip
    return r.choice(makers + OTHERS)()


def levels(r: random.Random, n: int) -> list[LevelFormat]:
    """As many levels, lists of coordinates of every kind among them."""
    made: list[LevelFormat] = []
    while len(made) < n:
        rest, kind = n - len(made), r.random()
        k = r.randrange(2, rest + 1) if rest > 1 else 0
        if kind < 0.15 and k:
            made += [Compressed(unique=False), *[Singleton(unique=False)] * (k - 2), Singleton(unique=r.random() < 0.8)]
        elif kind < 0.2 and k:
            middle = [Singleton(unique=False, ordered=False)] * (k - 2)
            made += [Morton(unique=False), *middle, Singleton(ordered=False)]
        elif kind < 0.23 and k:
            middle = [Singleton(unique=False, ordered=False, padded=True)] * (k - 2)
            made += [Slots(), *middle, Singleton(ordered=False, padded=True)]
        elif kind < 0.26 and k:
            rows = [InterleavedSingleton(unique=p == k - 1, of=k, place=p) for p in range(1, k)]
            made += [InterleavedCompressed(unique=False, of=k), *rows]
        elif kind < 0.3 and rest > 2:
            made += r.choice(
                [
                    [Sliced(), Dense(), Singleton(padded=True)],
                    *[[Dense(), Sliced(), Dense(), Singleton(padded=True)]] * (rest > 3),
                    [Sliced(), Jagged(), Singleton()],
                    [Capped(), Spilled(), Singleton(padded=True)],
                    [Squeezed(), Range(), Offset()],
                ]
            )
        else:
            made.append(level(r))
    return made


def repeating(format: Format) -> int | None:
    """The level of a format that may store a coordinate twice, or None."""
    below = (*format.levels[1:], Dense())
    return next((k for k, v in enumerate(format.levels) if not v.unique and not below[k].branchless), None)


def composition(r: random.Random, order: int, repeats: bool = False) -> Format:
    """A format that weft accepts; with ``repeats``, one that has a level which may store a coordinate twice."""
    while True:
        text, n = remapping(r, order)
        for _ in range(6):
            try:
                found = Format(text, levels(r, n))
            except (FormatError, NotationError):
                continue
            if not repeats or repeating(found) is not None:
                return found


def with_repeats(r: random.Random, A: weft.SparseTensor) -> weft.SparseTensor:
    """The same tensor in the same format, with entries in parts wherever a level may store a coordinate twice.

    A further axis tells the parts apart in a level of its own, which is then merged into the one above.
    """
    format = A.layout
    k = repeating(format)
    if k is None or A.dtype == bool:
        return A
    coords, values = A.to_coo()
    rng = np.random.default_rng(r.randrange(1 << 30))
    if not format.conditions and A.size and A.fill_value == 0:  # entries whose parts cancel out
        more = rng.integers(0, np.array(A.shape)[:, None], (A.ndim, 3))
        coords, values = (
            np.concatenate([coords, more, more], axis=1),
            np.append(values, np.array([1, 2, 3, -1, -2, -3]).astype(values.dtype)),
        )
    many = rng.integers(1, 4, len(values))
    parts = np.concatenate([rng.permutation(3)[:n] for n in many]) if len(many) else many
    first = np.cumsum(many) - many
    split = rng.integers(-3, 4, len(parts)).astype(values.dtype)
    if len(parts):
        split[first] = values - np.add.reduceat(split, first) + split[first]
    try:
        apart = weft.from_coords(
            np.vstack([np.repeat(coords, many, axis=1), parts]), split, (*A.shape, 3), fill_value=A.fill_value
        )
        return merged(apart.asformat(told_apart(format, k)), A, k)
    except (FormatError, NotationError, StorageError):  # this format cannot store parts in a level of their own
        return A


def told_apart(format: Format, k: int) -> Format:
    """The format with a further axis, whose coordinate is stored below level ``k``, which is then unique."""
    axes = "ijk"[: format.order]
    coordinates = str(format.remapping).split("->")[1].strip()[1:-1].split(",")
    level = replace(format.levels[k], unique=True)
    parts = Dense() if "size" in level.roles else Compressed()  # below all coordinates alike, or below each its own
    levels = [*format.levels[:k], Compressed() if "count" in level.roles else level, parts, *format.levels[k + 1 :]]
    return Format(f"({','.join(axes)},r) -> ({','.join([*coordinates[: k + 1], 'r', *coordinates[k + 1 :]])})", levels)


def merged(apart: weft.SparseTensor, A: weft.SparseTensor, k: int) -> weft.SparseTensor:
    """A tensor of :func:`told_apart` without the level that tells parts apart."""
    levels = A.layout.levels
    arrays: list[dict[str, np.ndarray]] = [dict(apart._storage.level_arrays(n)) for n in range(len(levels) + 1)]
    parts = arrays.pop(k + 1)
    head = next(n for n in range(k, -1, -1) if not levels[n].branchless)
    for own in arrays[head : k + 1]:
        n = len(parts["pos"]) - 1 if parts else len(own["crd"])
        many = np.diff(parts["pos"]) if parts else np.full(n, 3)
        if "crd" in own and n:
            own["crd"] = np.repeat(own["crd"].reshape(n, -1), many, axis=0).ravel()
        if "size" in own:
            own["size"] = own["size"] * 3
        if "pos" in own:
            own["pos"] = parts["pos"][own["pos"]]
    if "count" in levels[k].roles:
        arrays[k] = {"begin": arrays[k]["pos"][:-1], "count": np.diff(arrays[k]["pos"]), "crd": arrays[k]["crd"]}
    return weft.from_levels(A.shape, A.layout, arrays, apart._storage.vals, fill_value=A.fill_value)


def matrix(r: random.Random, order: int) -> np.ndarray:
    """A dense array of any density, a band here and there."""
    shape = r.choice(SHAPES[order])
    rng = np.random.default_rng(r.randrange(1 << 30))
    density = r.choice([0, 0.1, 0.15, 0.3, 0.5, 1.0])
    dense = np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(float)
    return np.triu(np.tril(dense, 1), -1) if order == 2 and r.random() < 0.15 else dense


def checked(value: Any) -> np.ndarray:
    """The array that a result is, whose arrays hold what its format promises."""
    if isinstance(value, weft.SparseTensor):
        verify(value._storage)
        return value.todense()
    return np.asarray(value)


Case = tuple[str, Callable[[], Any], Any]


def operations(
    A: weft.SparseTensor, dense: np.ndarray, B: weft.SparseTensor, own: Format, other: Format
) -> Iterator[Case]:
    """Every kind of operation on ``A`` and on ``B``, which holds the same in a format of the catalogue."""
    odd = np.arange(dense.shape[-1]) % 2 == 1
    yield from (
        (f"to {name}", lambda name=name: A.asformat(name), dense)
        for name in ("coo", "csf", *(("csr", "csc", "dia", "ell") if dense.ndim == 2 else ()))
    )
    yield "to another", lambda: A.asformat(other), dense
    yield "from another", lambda: A.asformat(other).asformat(own), dense
    yield "scale", lambda: A * 2, 2 * dense
    yield "add", lambda: A + A, 2 * dense
    yield "merge", lambda: A + B, 2 * dense
    yield "multiply", lambda: A * B, dense * dense
    yield "into", lambda: weft.einsum("...,...->...", A, B, format=own), dense * dense
    yield "compare", lambda: A > 3, dense > 3
    yield "sum", lambda: A.sum(), dense.sum()
    yield "sum over the first axis", lambda: A.sum(axis=0), dense.sum(axis=0)
    yield "sum over the last axis", lambda: A.sum(axis=-1), dense.sum(axis=-1)
    yield (
        "slice",
        lambda: A[1:, ..., ::2] if dense.ndim > 1 else A[1:],
        dense[1:, ..., ::2] if dense.ndim > 1 else dense[1:],
    )
    yield "mask", lambda: A[..., odd], dense[..., odd]
    yield "join", lambda: weft.concat([A, B], axis=-1), np.concatenate([dense, dense], axis=-1)
    yield "stack up", lambda: weft.concat([A, A], axis=0), np.concatenate([dense, dense], axis=0)
    yield "roll", lambda: weft.roll(A, 1, axis=0), np.roll(dense, 1, axis=0)
    yield "transpose", lambda: A.T.asformat("coo"), dense.T
    yield "list", lambda: len(set(zip(*A.to_coo()[0].tolist(), strict=True))) == len(A.to_coo()[1]), True
    if dense.size:
        middle = tuple(n // 2 for n in dense.shape)
        yield "element", lambda: A[middle], dense[middle]
        yield "maximum", lambda: A.max(), dense.max()
    if dense.ndim == 2:
        x, y = np.arange(1.0, dense.shape[1] + 1), np.arange(1.0, dense.shape[0] + 1)
        X = np.arange(2.0 * dense.shape[1]).reshape(-1, 2)
        yield "times a vector", lambda: A @ x, dense @ x
        yield "a vector times", lambda: y @ A, y @ dense
        yield "times a matrix", lambda: A @ X, dense @ X
        yield "product", lambda: A @ A.T, dense @ dense.T
        yield "product of transposes", lambda: A.T @ B, dense.T @ dense


MAKES_A_FORMAT = ("into", "to another", "from another")  # which may be refused, as the first conversion may


def outcome(seed: int, repeats: bool = False, tell: Callable[[str], None] = lambda text: None) -> str | None:
    """What is wrong with the composition of a seed, or None; ``tell`` is told what is tried before it is."""
    r = random.Random(seed)
    order = r.choice([1, 2, 2, 2, 2, 3])
    own, other = composition(r, order, repeats), composition(r, order, repeats and r.random() < 0.3)
    dense = matrix(r, order)
    B = weft.asarray(dense).asformat(r.choice(["coo", "coo", "dense", "csf", *(["csr", "csc", "dia"] * (order == 2))]))
    where = f"seed {seed}: {dense.shape} from {B.format} in {own.remapping} {list(own.levels)}"
    tell(where)
    try:
        A = with_repeats(r, B.asformat(own))
    except StorageError:  # the data are not as the format asks
        return None
    except Exception as error:
        return f"{where}: {type(error).__name__}: {error}"
    return wrong(A, dense, B, own, other, where, tell)


def wrong(
    A: weft.SparseTensor, dense: np.ndarray, B: weft.SparseTensor, own: Format, other: Format, where: str,
    tell: Callable[[str], None] = lambda text: None,
) -> str | None:  # fmt: skip
    """The first operation whose result is not NumPy's, or None."""
    cases: list[Case] = [("itself", lambda: A, dense), *operations(A, dense, B, own, other)]

    def run(case: Case) -> None:
        name, compute, want = case
        tell(f"{where}: {name}")
        try:
            got = checked(compute())
        except StorageError:
            if name not in MAKES_A_FORMAT:
                raise
        else:
            assert np.array_equal(got, want), f"{got.tolist()} instead of {np.asarray(want).tolist()}"

    for (name, *_), error in each(cases, run):
        if error is not None:
            return f"{where}: {name} (other: {other.letters}): {type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    REPEATS = "repeats" in sys.argv

    def right(seed: int, tell: Callable[[str], None]) -> None:
        found = outcome(seed, REPEATS, tell)
        assert found is None, found

    print(*(lines := list(outcomes(range(int(sys.argv[1]), int(sys.argv[2])), right, seconds=300))), sep="\n")
    sys.exit(bool(lines))
