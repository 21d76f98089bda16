"""Text of a stored value, as drawings show it."""

from __future__ import annotations

from typing import Any


def value_text(value: Any) -> str:
    """Return a value as short text, with four digits of a number that is not whole.

    Examples
    --------
    >>> import numpy as np
    >>> value_text(np.float64(3)), value_text(np.float32(1 / 3)), value_text(np.int64(2**40)), value_text(np.True_)
    ('3', '0.3333', '1099511627776', 'True')
    >>> value_text(np.complex128(1 - 2j))
    '1-2j'
    """
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, complex):
        return f"{plain.real:.4g}{plain.imag:+.4g}j"
    return f"{plain:.4g}" if isinstance(plain, float) else str(plain)
