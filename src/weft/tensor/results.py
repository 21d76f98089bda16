"""Conversion of results of other packages' functions, which are single values or tuples of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def change_values(result: Any, change: Callable[[Any], Any]) -> Any:
    """Apply ``change`` to a value, or to each value of a nested tuple, and return the result.

    Named tuples keep their class.

    Examples
    --------
    >>> change_values((1, (2, 3)), lambda value: -value)
    (-1, (-2, -3))
    """
    if not isinstance(result, tuple):
        return change(result)
    values = [change_values(value, change) for value in result]
    return type(result)(*values) if hasattr(result, "_fields") else tuple(values)
