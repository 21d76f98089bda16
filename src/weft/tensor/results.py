"""Results of functions that are other packages' own, or follow other conventions: one value, or tuples of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["change_values"]


def change_values(found: Any, change: Callable[[Any], Any]) -> Any:
    """Return a result with ``change`` applied to each value: to those of a tuple, which stays of its class, or to it.

    Examples
    --------
    >>> change_values((1, (2, 3)), lambda value: -value)
    (-1, (-2, -3))
    """
    if not isinstance(found, tuple):
        return change(found)
    values = [change_values(value, change) for value in found]
    return type(found)(*values) if hasattr(found, "_fields") else tuple(values)
