"""The options of formats, as keyword arguments of the functions that pass them on.

A type checker knows the options of the catalogue. Formats that users register may have others. In code that is type
checked, ``weft.formats["mine"](2, size=3)`` makes such a format.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from ..hints import did_you_mean


class FormatOptions(TypedDict, total=False):
    """The options of the catalogue's formats."""

    blocksize: int | Sequence[int]  # the numbers of rows and columns of a block of bsr
    block: int | Sequence[int]  # the size of a block of csb, hicoo and mode_generic along each axis
    compressed_axes: int | Sequence[int]  # the axes that are rows of gcxs
    width: int  # the number of entries of each row that the slices of hyb hold
    window: int  # the number of consecutive rows that sell sorts together


SYNONYMS = {
    "seed": "rng", "random_seed": "rng", "generator": "rng", "randomstate": "random_state",
    "fmt": "format", "layout": "format", "type": "dtype", "fill": "fill_value", "default": "fill_value",
    "dims": "shape", "size": "shape", "block_size": "blocksize", "block_shape": "blocksize",
    "axes": "axis", "dim": "axis", "keepdim": "keepdims", "index_type": "index_dtype",
}  # fmt: skip
"""weft's names of arguments, by the names that other packages have for them."""


def check_options(
    function: Callable[..., Any],
    options: Mapping[str, Any],
    takes: Sequence[str] | None,
    options_of_format: Sequence[str],
) -> None:
    """Raise an error for keyword arguments that are neither those of a function nor options of a format."""
    if takes is None:
        return
    for name in options:
        if name not in takes and name not in options_of_format:
            # Suggest names of parameters, but not of ``*args`` and ``**kwargs``.
            variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
            parameters = [p.name for p in inspect.signature(function).parameters.values() if p.kind not in variable]
            hint = did_you_mean(name, [*parameters, *(takes or options_of_format)], SYNONYMS)
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")
