"""Examples of the functions of SciPy and NumPy that weft wraps, for docstrings that are made when one is first used."""

from __future__ import annotations

from ..sections import sections


def with_example(name: str, text: str) -> str:
    """Return a docstring with the example of a function at its end.

    Examples
    --------
    >>> with_example("fft.ifft", "Transform back.").splitlines()[-1]
    'array([2.+0.j, 2.+0.j])'
    """
    code = sections(__file__, "wrapped_examples.txt").get(name)
    if code is None:
        return text
    imports = [">>> import numpy as np"] if "np." in code else []
    return "\n".join([text.rstrip(), "", "Examples", "--------", *imports, ">>> import weft", code.rstrip()])
