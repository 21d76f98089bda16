"""Print the digest of the C of many kernels, and public names with their signatures (a module to run).

A process of its own prints them, since what has been computed before decides what is printed to C now.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Sequence

import numpy as np
from tests.child_processes import collect_seldom
from tests.formats_for_tests import FORMATS
from tests.kernel_batches import together

import weft
from weft.runtime import loader

from .operations import GRIDS

EVERY = 37  # cases of a grid stand for one that is printed


class Seen(BaseException):
    """The first kernel of a conversion is asked for."""


def of_expressions() -> Iterator[tuple[str, str]]:
    """Print the kernels of the grids' cases."""
    for name, grid in GRIDS.items():
        for formats, result in list(grid.cases())[::EVERY]:
            target = {} if result is None else {grid.text.split("=")[0].split("(")[0].strip(): result}
            try:
                text = weft.compile(grid.text, **formats, **target).source
            except weft.errors.WeftError as error:
                text = type(error).__name__
            yield f"{name}: {formats} {result}", text


def of_conversions() -> Iterator[tuple[str, str]]:
    """Print the first kernel of every conversion."""

    def seen(texts: Sequence[loader.Wanted]) -> list[loader.Library]:
        raise Seen("\n".join(text.source for text in texts))

    own = loader.open_all
    for order, formats in FORMATS.items():
        dense = np.zeros((4, 6, 2)[:order])
        dense[(1,) * order] = dense[(0,) * order] = 3.0
        tensors: dict[str, weft.SparseTensor] = {}

        def store(source: str, dense: np.ndarray = dense, into: dict[str, weft.SparseTensor] = tensors) -> None:
            into[source] = weft.asarray(dense).asformat(source)

        together(formats, store)
        loader.open_all = seen
        for source in formats:
            for target in formats:
                try:
                    tensors[source].asformat(target)
                except Seen as found:
                    yield f"{source} to {target}, {order} axes", str(found)
        loader.open_all = own


def names() -> Iterator[str]:
    """Print every public name with its signature, or its type."""
    for place, obj in (("weft", weft), ("SparseTensor", weft.SparseTensor)):
        for name in dir(obj):
            if not name.startswith("_"):
                found = getattr(obj, name)
                try:
                    yield f"{place}.{name}{inspect.signature(found)}"
                except (TypeError, ValueError):
                    yield f"{place}.{name} {type(found).__name__}"


if __name__ == "__main__":
    collect_seldom()
    print(*names(), sep="\n")
    for what, text in (*of_expressions(), *of_conversions()):
        print(hashlib.sha256(text.encode()).hexdigest()[:16], what)
