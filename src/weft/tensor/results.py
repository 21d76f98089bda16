"""Conversion of results of other packages' functions, which are single values or tuples of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def change_values(found: Any, change: Callable[[Any], Any]) -> Any:
    """Apply ``change`` to a value, or to each value of a nested tuple, and return the result.

    Named tuples keep their class.

    Examples
    --------
    >>> change_values((1, (2, 3)), lambda value: -value)
    (-1, (-2, -3))
    """
    if not isinstance(found, tuple):
        return change(found)
    values = [change_values(value, change) for value in found]
    return type(found)(*values) if hasattr(found, "_fields") else tuple(values)
