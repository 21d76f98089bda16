"""Hostile inputs of every class: what weft makes of each is a tensor that works, or an error of a stated type.

``python -m tests.hostile_inputs FIRST LAST CLASS ...`` tries seeds of classes in child processes with little memory and
time, and prints a line for each that ends otherwise.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from tests.child_processes import outcomes

import weft
from weft.errors import LoweringError, WeftError
from weft.execution import verify
from weft.formats import Compressed, Dense, Format, Hashed, Offset, Range, Singleton, Sliced, Squeezed

ALLOWED = (WeftError, ValueError, TypeError, IndexError, NotImplementedError)
"""Errors that a caller's mistake may raise: weft's own, and those that NumPy raises for the same."""
MEMORY = 6 << 30
SECONDS = 60
SMALL = 1 << 16
NUMBERS: list[Any] = [
    0,
    1,
    2,
    3,
    5,
    -1,
    -2,
    2**31 - 1,
    2**31,
    2**32,
    2**62,
    2**63 - 1,
    2**63,
    2**70,
    1.5,
    None,
    "x",
    (),
]
FORMATS = ["csr", "csc", "coo", "dcsr", "dia", "ell", "jad", "hyb", "bsr", "csb", "hicoo", "hash", "dok", "lil",
           "skyline", "banded", "coo_aos", "gcxs", "mode_generic", "dense"]  # fmt: skip


def used(tensor: Any) -> None:
    """Do with a tensor what kernels need whole arrays for."""
    if not isinstance(tensor, weft.SparseTensor):
        return
    verify(tensor._storage)
    if tensor.size <= SMALL and tensor.ndim:
        dense = tensor.todense()
        np.testing.assert_allclose((tensor + tensor).todense(), dense + dense)
        np.testing.assert_allclose(tensor.asformat("coo").todense(), dense)
        if tensor.ndim == 2:
            np.testing.assert_allclose(tensor @ np.ones(tensor.shape[1]), dense @ np.ones(tensor.shape[1]))


def valid(r: random.Random) -> np.ndarray:
    rng = np.random.default_rng(r.randrange(1 << 30))
    shape = r.choice([(4, 5), (1, 1), (6, 4), (0, 3), (3, 8)])
    return np.where(rng.random(shape) < 0.4, rng.integers(1, 9, shape), 0).astype(float)


def bent(r: random.Random, array: np.ndarray) -> Any:
    """An array with something wrong."""
    array = np.array(array)
    kind = r.randrange(12)
    flat = array.reshape(-1)
    if kind < 5 and flat.size and array.dtype.kind in "iuf":
        for _ in range(r.choice([1, 1, 3])):
            value = r.choice([-1, 0, 1, 2, 7, 10**6, 2**31 - 1, -(2**31)])
            flat[r.randrange(flat.size)] = value
        return array
    changes: list[Callable[[], Any]] = [
        lambda: array[: max(len(array) - r.choice([1, 2]), 0)],
        lambda: np.concatenate([array, array[: r.choice([1, 3])]]),
        lambda: array[::-1],
        lambda: array.astype(r.choice(["float64", "int16", "uint8", "complex128", "U3", "object", "int64"])),
        lambda: array.reshape(1, -1),
        lambda: np.zeros(0, array.dtype),
        lambda: r.choice([None, 3, "xyz", [1, [2]], [np.nan], np.datetime64("2020-01-01")]),
        lambda: array.byteswap().view(array.dtype.newbyteorder()),
    ]
    return r.choice(changes)()


def from_levels(r: random.Random) -> Any:
    A = weft.asarray(valid(r), format=r.choice(FORMATS))
    storage = A._storage
    levels: list[Any] = [dict(storage.level_arrays(k)) for k in range(len(storage.format.levels))]
    vals: Any = storage.vals
    roles = [(k, role) for k, level in enumerate(levels) for role in level]
    shape: Any = storage.shape
    for _ in range(r.choice([1, 1, 2])):
        what = r.randrange(8)
        if what < 5 and roles:
            k, role = r.choice(roles)
            levels[k][role] = bent(r, levels[k][role])
        elif what == 5:
            vals = bent(r, vals)
        elif what == 6:
            shape = tuple(r.choice([n, n, r.choice(NUMBERS)]) for n in shape)
        else:
            levels = r.choice([levels[:-1], [*levels, None], [None] * len(levels), levels[::-1]])
            roles = []
    return weft.from_levels(shape, storage.format, levels, vals)


def from_coords(r: random.Random) -> Any:
    n = r.choice([0, 1, 3, 6])
    rng = np.random.default_rng(r.randrange(1 << 30))
    coords: Any = rng.integers(0, 4, (r.choice([1, 2, 2, 3]), n))
    values: Any = rng.integers(1, 9, n).astype(r.choice(["float64", "int8", "bool", "complex64"]))
    shape: Any = r.choice([None, (4,) * len(coords), (4,) * len(coords), tuple(r.choice(NUMBERS) for _ in coords)])
    if r.random() < 0.6:
        coords = bent(r, coords)
    if r.random() < 0.4:
        values = bent(r, values)
    options: dict[str, Any] = {"duplicates": r.choice(["sum", "keep", "raise", "what"])}
    if r.random() < 0.5:
        options["format"] = r.choice([*FORMATS, "ds", "sd:1,0", "nothing", 3, ""])
    if r.random() < 0.3:
        options["fill_value"] = r.choice([0, 1, np.nan, "x", None, 1 << 70, [1, 2]])
    return weft.from_coords(coords, values, shape, **options)


def scipy_objects(r: random.Random) -> Any:
    S: Any = sp.random_array((6, 4), density=0.4, rng=r.randrange(100)).asformat(
        r.choice(["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
    )
    names = [
        n for n in ("indices", "indptr", "data", "offsets", "coords", "rows", "_shape", "blocksize") if hasattr(S, n)
    ]
    for _ in range(r.choice([1, 2])):
        name = r.choice(names)
        old = getattr(S, name)
        if name == "_shape":
            new: Any = tuple(r.choice(NUMBERS[:12]) for _ in range(r.choice([1, 2, 2, 3])))
        elif name == "coords":
            new = r.choice([old[:1], (*old, old[0]), tuple(bent(r, c) for c in old)])
        else:
            new = bent(r, old) if isinstance(old, np.ndarray) else (0, 1)
        with contextlib.suppress(AttributeError, ValueError, TypeError):
            setattr(S, name, new)
    return weft.asarray(S)


PIECES = [
    "A(i,j)", "B(i,j)", "x(j)", "s", "2", "0", "1e400", "inf", "nan", "+", "-", "*", "/", "(", ")", ",", "=", "+=",
    "sum(j,", "max(k,", "A(i", "A(j,i)", "A(i,i)", "exp(", "y(i)", "?", "'", "i", "\u00e4", "  ", ".", "A(i,j,k)", "**",
    "maximum(", "A", "where(", "9" * 30,
]  # fmt: skip


def notation(r: random.Random) -> Any:
    text = r.choice(["y(i) = A(i,j)*x(j)", "C(i,j) = A(i,j) + B(i,j)", "s = sum(i, A(i,j))", "C(i,k) = A(i,j)*B(k,j)"])
    if r.random() < 0.5:
        text = r.choice(["y(i) = ", "C(i,j) = ", "", "a = "]) + "".join(
            r.choice(PIECES) for _ in range(r.randrange(1, 10))
        )
    else:
        text = mutated(r, text)
    if r.random() < 0.05:
        text = "y(i) = " + "(" * 3000 + "A(i,i)" + ")" * 3000
    D = np.arange(12.0).reshape(3, 4)
    return weft.evaluate(text, A=weft.asarray(D, format="csr"), B=weft.asarray(D, format="coo"), x=np.ones(4), s=2.0)


def mutated(r: random.Random, text: str) -> str:
    for _ in range(r.choice([1, 1, 2, 4])):
        at = r.randrange(len(text) + 1)
        new = r.choice([*"ijkAB()=+-*/,<>#%&|^~!:;[]{}0139 \n\t\\", "->", "size(i)", "select", "count", "\x00"])
        text = r.choice([text[:at] + new + text[at:], text[:at] + text[at + 1 :], text[:at] + new + text[at + 1 :]])
    return text


def remappings(r: random.Random) -> Any:
    text = r.choice([
        "(i,j) -> (j-i,j,i)", "(i,j) -> (i/2,j/3,i%2,j%3)", "(i,j) -> (#i,i,j)", "(i,j) -> (r=i/4 in r,i%4,j)",
        "(i,j) -> (i*size(j)+j)", "(i) -> (i>>1,i&1)",
    ])  # fmt: skip
    levels: list[Any] = [Dense(), Compressed(), Hashed(), Squeezed(), Range(), Offset(), Singleton(padded=True)]
    levels.append(Sliced())
    if r.random() < 0.1:
        text = f"(i,j) -> (i,j{'+i' * 3000})"
    elif r.random() < 0.8:
        text = mutated(r, text)
    n = max(text.partition("->")[2].count(",") + 1, 1)
    given: Any = [r.choice(levels) for _ in range(n)]
    if r.random() < 0.1:
        given = r.choice([["d", "s"], "ds", None, [Dense, Compressed], 3, [None] * n])
    return weft.asarray(valid(r), format=Format(text, given))


def queries(r: random.Random) -> Any:
    text = r.choice(["select [i] -> count(j) as n", "select [] -> max(i) as m, min(j) as l", "select [i] -> id() as p",
                     "select [i/2] -> max(j-i) as d"])  # fmt: skip
    weft.query(weft.asarray(valid(r), format=r.choice(FORMATS)), mutated(r, text))


def files(r: random.Random) -> Any:
    A, stream = weft.asarray(valid(r), format=r.choice(FORMATS)), io.BytesIO()
    kind = r.choice(["npz", "npz", "tns", "mtx"])
    write = {"npz": weft.save_npz, "tns": weft.write_tns, "mtx": weft.write_mtx}[kind]
    read: Any = {"npz": weft.load_npz, "tns": weft.read_tns, "mtx": weft.read_mtx}[kind]
    write(stream, A)
    data = bytearray(stream.getvalue())
    for _ in range(r.choice([1, 2, 8])):
        at = r.randrange(len(data) + 1) if data else 0
        what = r.randrange(4)
        if what == 0:
            data = data[:at]
        elif what == 1:
            new = r.choice([b"nan", b"inf", b"-1 ", b"9" * 25, b"\n", b" ", b"1e9", b"%", b"\xff", b"\x00"])
            data[at:at] = new
        elif at < len(data):
            data[at] = r.randrange(256)
    if r.random() < 0.1:
        data = bytearray(gzip.compress(bytes(data))[: r.choice([20, 1 << 20])])
    return read(io.BytesIO(bytes(data)))


def shapes(r: random.Random) -> Any:
    A = weft.asarray(valid(r), format=r.choice(FORMATS))
    huge = weft.from_coords(
        [[1], [2]], [1.0], (2 ** r.choice([20, 31, 33, 62]), 2**20), format=r.choice(["coo", "dcsr"])
    )

    def number() -> Any:
        return r.choice(NUMBERS)

    T = r.choice([A, huge])
    actions: list[Callable[[], Any]] = [
        lambda: weft.zeros((number(), number()), format=r.choice(FORMATS)),
        lambda: weft.eye(number()),
        lambda: weft.random((number(), number()), density=r.choice([0, 1e-9, 0.5, 1, 2, -1, np.nan])),
        lambda: weft.reshape(T, (number(), number())),
        lambda: weft.broadcast_to(T, (number(), number(), number())),
        lambda: weft.kron(T, r.choice([A, huge])),
        lambda: weft.tile(T, number()),
        lambda: weft.repeat(T, number(), axis=r.choice([0, 1, 5])),
        lambda: weft.pad(T, r.choice([1, -1, (1, 2), 2**62, ((1, 2**63), (0, 0))])),
        lambda: weft.insert(T, number(), 1.0, axis=0),
        lambda: weft.delete(T, number(), axis=0),
        lambda: weft.concat([T, huge], axis=r.choice([0, 1, 2])),
        lambda: weft.roll(T, number(), axis=r.choice([0, 1])),
        lambda: T[number()],
        lambda: T[slice(number(), number(), number())],
        lambda: T[np.array([0, 10**9, -1])],
        lambda: weft.take(T, np.array([0, 2**40]), axis=0),
        lambda: T.asformat(r.choice(FORMATS)),
        lambda: weft.diagonal(T, offset=number()),
        lambda: T @ np.ones(r.choice([1, 3, 4])),
        lambda: weft.cumulative_sum(T, axis=0),
        lambda: weft.full((number(), number()), 3.0),
        lambda: np.asarray(T.sum(axis=r.choice([0, 1, 2, -3, (0, 0), None]))),
    ]
    return r.choice(actions)()


CLASSES: dict[str, Callable[[random.Random], Any]] = {
    f.__name__: f for f in (from_levels, from_coords, scipy_objects, notation, remappings, queries, files, shapes)
}


def right(case: tuple[str, int], tell: Callable[[str], None]) -> None:
    """Raise what is wrong with the answer to one hostile input."""
    name, seed = case
    tell(f"{name} {seed}")
    try:
        used(CLASSES[name](random.Random(f"{name} {seed}")))
    except ALLOWED as error:
        if isinstance(error, LoweringError) or "internal" in str(error):
            raise


if __name__ == "__main__":
    FIRST, LAST, *NAMES = sys.argv[1:]
    CASES = [(name, seed) for name in NAMES for seed in range(int(FIRST), int(LAST))]
    print(*(lines := list(outcomes(CASES, right, SECONDS, MEMORY))), sep="\n")
    sys.exit(bool(lines))
