"""The options of formats, as keyword arguments of the functions that hand them on.

A checker of types knows those of the catalogue. Formats that users register may take others; in code that is checked,
``weft.formats["mine"](2, size=3)`` makes such a format.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from ..hints import did_you_mean

__all__ = ["SYNONYMS", "FormatOptions", "check_options"]


class FormatOptions(TypedDict, total=False):
    """The options that formats of the catalogue take.

    Attributes
    ----------
    blocksize : int or sequence of int
        Rows and columns of a block of bsr.
    block : int or sequence of int
        The size of a block of csb, hicoo and mode_generic along each axis.
    compressed_axes : int or sequence of int
        The axes that are rows of gcxs.
    width : int
        How many entries of each row the slices of hyb hold.
    """

    blocksize: int | Sequence[int]
    block: int | Sequence[int]
    compressed_axes: int | Sequence[int]
    width: int


SYNONYMS = {
    "seed": "rng", "random_seed": "rng", "generator": "rng", "randomstate": "random_state",
    "fmt": "format", "layout": "format", "type": "dtype", "fill": "fill_value", "default": "fill_value",
    "dims": "shape", "size": "shape", "block_size": "blocksize", "block_shape": "blocksize",
    "axes": "axis", "dim": "axis", "keepdim": "keepdims", "index_type": "index_dtype",
}  # fmt: skip
"""Arguments by what other packages call them."""


def check_options(
    function: Callable[..., Any], options: Mapping[str, Any], takes: Sequence[str] | None, known: Sequence[str]
) -> None:
    """Refuse what is neither an argument of a function nor an option of a format.

    Parameters
    ----------
    function : callable
        Of which ``options`` are the keyword arguments that it does not know itself.
    options : mapping
        The keyword arguments themselves.
    takes : sequence of str or None
        The options of the format that is asked for; None where it takes any.
    known : sequence of str
        The options of all formats: whatever is one of these is left to the format to refuse.

    Raises
    ------
    TypeError
        With the nearest name that there is.
    """
    if takes is None:
        return
    for name in options:
        if name not in takes and name not in known:
            variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
            own = [p.name for p in inspect.signature(function).parameters.values() if p.kind not in variable]
            hint = did_you_mean(name, [*own, *(takes or known)], SYNONYMS)
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")
