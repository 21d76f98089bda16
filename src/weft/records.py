"""Frozen dataclasses that are made quickly.

``dataclasses`` compiles comparison, hash and repr of every class anew. For the hundred classes of a compiler that took
longer than the rest of ``import weft``, so records share them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

__all__ = ["fields_getter", "record"]

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[_T]) -> type[_T]:
    """A frozen dataclass, as ``dataclass(frozen=True)`` would make it.

    Examples
    --------
    >>> @record
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), len({Point(1), Point(1), Point(2)})
    (Point(x=1, y=0), True, 2)
    """
    made: Any = dataclass(frozen=True, eq=False, repr=False)(cls)
    for method in (*_comparing(fields_getter([f.name for f in fields(made) if f.compare])), __repr__):
        if method.__name__ not in vars(cls):
            setattr(made, method.__name__, method)
    return cls


def fields_getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Reads some fields of an object, always as a tuple: within one, what is identical is equal, NaN too."""
    match names:
        case []:
            return lambda self: ()
        case [name]:
            return lambda self: (getattr(self, name),)
    return attrgetter(*names)


def _comparing(values: Callable[[Any], tuple[Any, ...]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __eq__, __hash__


def __repr__(self: Any) -> str:  # noqa: N807
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"
