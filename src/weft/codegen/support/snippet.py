"""One support function as text."""

from __future__ import annotations

from ...records import record
from ..types import type_name

__all__ = ["Snippet", "function", "in_lanes"]


@record
class Snippet:
    """C text that defines one static function.

    Parameters
    ----------
    text : str
        The definition.
    needs : tuple of str
        The names of the prelude functions that it calls.
    shared : bool
        True for a function that takes long to compile: kernels that are compiled one by one call one copy of it.
    """

    text: str
    needs: tuple[str, ...] = ()
    shared: bool = False


def function(name: str, params: dict[str, str], value: str, result: str, needs: tuple[str, ...] = ()) -> Snippet:
    """A function of scalars.

    Parameters
    ----------
    name : str
        Its whole name.
    params : dict
        The IR type of each parameter.
    value : str
        The expression that it returns, or its body in braces.
    result : str
        The IR type of the result.
    needs : tuple of str
        The prelude functions that it calls.
    """
    listed = ", ".join(f"{type_name(ty)} {param}" for param, ty in params.items())
    body = value if value.endswith("}\n") else f"{{ return {value}; }}\n"
    return Snippet(f"static inline {type_name(result)} {name}({listed}) {body}", needs)


def in_lanes(name: str, ty: str, snippet: Snippet) -> Snippet:
    """A function of two scalars with which loops may reduce in any order, starting from the same value in each lane."""
    both = f"omp_out = {name}(omp_out, omp_in)"
    pragma = f"#pragma omp declare reduction({name} : {type_name(ty)} : {both}) initializer(omp_priv = omp_orig)\n"
    return Snippet(snippet.text + pragma, snippet.needs)
