"""Tensors in chunks, on dask: index notation, statistics and files over arrays that fit in no single memory.

The names are imported when they are used, and dask with them. Each chunk is a tensor, and computed by weft's kernels;
dask brings the graph, threads, clusters and spilling.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import MissingNameError

if TYPE_CHECKING:
    from .chunks import entries as entries
    from .chunks import from_tensor as from_tensor
    from .chunks import rechunk as rechunk
    from .decomposition import svd as svd
    from .files import open as open
    from .files import save as save
    from .kernels import warm as warm
    from .moments import mean as mean
    from .moments import std as std
    from .moments import var as var
    from .report import explain as explain
    from .statement import einsum as einsum
    from .statement import evaluate as evaluate

_PLACES = {
    "entries": "chunks", "from_tensor": "chunks", "rechunk": "chunks",
    "mean": "moments", "std": "moments", "var": "moments",
    "svd": "decomposition", "warm": "kernels", "explain": "report",
    "open": "files", "save": "files", "einsum": "statement", "evaluate": "statement",
}  # fmt: skip


def __dir__() -> list[str]:
    return sorted(_PLACES)


if not TYPE_CHECKING:  # with this function, a type checker would accept every name

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise MissingNameError(f"module {__name__!r} has no attribute {name!r}", name, __dir__)
        try:
            place = import_module(f".{_PLACES[name]}", __name__)
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] not in ("dask", "distributed"):
                raise
            raise ImportError(f"weft.dask.{name} needs dask: pip install 'weft[dask]'") from error
        found = globals()[name] = getattr(place, name)
        return found
