"""Text of one support function."""

from __future__ import annotations

from ...records import record
from ..types import type_name


@record
class Snippet:
    """C text that defines one static function."""

    text: str
    needs: tuple[str, ...] = ()  # the names of the prelude functions that the function calls
    # True for a function that takes long to compile. Kernels that are compiled one by one share a copy of it.
    shared: bool = False


def function(name: str, params: dict[str, str], value: str, result: str, needs: tuple[str, ...] = ()) -> Snippet:
    """Return the snippet that defines a function of scalars."""
    listed = ", ".join(f"{type_name(ty)} {param}" for param, ty in params.items())
    body = value if value.endswith("}\n") else f"{{ return {value}; }}\n"
    return Snippet(f"static inline {type_name(result)} {name}({listed}) {body}", needs)


def in_lanes(name: str, ty: str, snippet: Snippet) -> Snippet:
    """Return a snippet whose function of two scalars is declared as a reduction of vectorized loops, in any order.

    Each lane of a vector starts from the same value, so that the result must not depend on repetitions of a value.
    """
    both = f"omp_out = {name}(omp_out, omp_in)"
    pragma = f"#pragma omp declare reduction({name} : {type_name(ty)} : {both}) initializer(omp_priv = omp_orig)\n"
    return Snippet(snippet.text + pragma, snippet.needs)
