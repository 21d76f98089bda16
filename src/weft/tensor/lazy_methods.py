"""Methods and properties of ``SparseTensor`` that are imported when they are first used.

A table (``weft._api``) says what each of them is. Until then a descriptor stands in its place, which imports what it
stands for and leaves it there, so that from then on the method is the function, with its signature and docstring. The
modules that define them come after ``SparseTensor`` and import it, and ``import weft`` does not wait for them.

Type checkers read ``lazy_methods.pyi``, which ``make stubs`` makes of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _api
from .lazy import resolve

__all__ = ["LazyMethod", "LazyMethods", "LazyProperty", "install"]


class LazyMethod:
    """A method that is imported when it is first asked for, and then stands where this stood.

    Parameters
    ----------
    home : type
        The class that has it.
    name : str
        Its name there.
    target : str
        The module below ``weft``, and the name of the function in it: ``"numpy_api.reductions:nanmax"``.
    """

    __slots__ = ("home", "name", "target")
    home: type[Any]
    name: str
    target: str

    def __init__(self, home: type[Any], name: str, target: str) -> None:
        self.home, self.name, self.target = home, name, target

    def found(self) -> Any:
        """Return what this stands for, which from now on stands in its place.

        Several threads may come here at once: they find the same object.
        """
        found = resolve(*self.target.split(":"))
        if self.home.__dict__.get(self.name) is self:  # a user may have put something else there meanwhile
            if isinstance(found, property):
                found.__set_name__(self.home, self.name)  # as a class statement does, for its messages
            setattr(self.home, self.name, found)
        return found

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        # Bound here: getattr(instance, name) would ask a subclass that overrides the method and calls super().
        return self.found().__get__(instance, owner)


class LazyProperty(LazyMethod):
    """A property that is imported when it is first read or assigned to."""

    __slots__ = ()

    def __set__(self, instance: object, value: Any) -> None:
        self.found().__set__(instance, value)


class LazyMethods:
    """The methods and properties of the table, for ``SparseTensor`` to inherit; its own come before them."""

    __slots__ = ()


def install(home: type[Any], methods: Mapping[str, str], properties: Mapping[str, str]) -> None:
    """Put methods and properties on a class, to be imported when they are first used."""
    for kind, table in ((LazyMethod, methods), (LazyProperty, properties)):
        for name, target in table.items():
            setattr(home, name, kind(home, name, target))


install(LazyMethods, _api.METHODS, _api.PROPERTIES)
