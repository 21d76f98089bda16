"""Methods and properties of ``SparseTensor`` that are imported when they are first used.

A table (``weft._api``) lists them with the functions that implement them. A descriptor takes the place of each method
at first. On first use, the descriptor imports the function and replaces itself by it. From then on the method is the
function, with its signature and docstring. The modules that define these functions import ``SparseTensor``, so
``SparseTensor`` cannot import them, and ``import weft`` does not wait for them.

Type checkers read ``lazy_methods.pyi``, which ``make stubs`` generates from the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _api
from .lazy import resolve


class LazyMethod:
    """A descriptor that imports a method when it is first read, and replaces itself by the method."""

    __slots__ = ("home", "name", "target")
    home: type[Any]  # the class that has the method
    name: str  # the name of the method in the class
    target: str  # the module below ``weft``, and the name of the function in it: ``"numpy_api.reductions:nanmax"``

    def __init__(self, home: type[Any], name: str, target: str) -> None:
        self.home, self.name, self.target = home, name, target

    def found(self) -> Any:
        """Return the imported method or property, and put it on the class in place of the descriptor.

        Several threads may do so at the same time. All of them get the same object.
        """
        found = resolve(*self.target.split(":"))
        if self.home.__dict__.get(self.name) is self:  # a user may have put something else there meanwhile
            if isinstance(found, property):
                found.__set_name__(self.home, self.name)  # error messages name the property, as in a class statement
            setattr(self.home, self.name, found)
        return found

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        # getattr(instance, name) would call this again from a subclass that overrides the method and calls super().
        return self.found().__get__(instance, owner)


class LazyProperty(LazyMethod):
    """A descriptor that imports a property when it is first read or assigned to."""

    __slots__ = ()

    def __set__(self, instance: object, value: Any) -> None:
        self.found().__set__(instance, value)


class LazyMethods:
    """Base class of ``SparseTensor`` with the methods and properties of the table; its own take precedence."""

    __slots__ = ()


def install(home: type[Any], methods: Mapping[str, str], properties: Mapping[str, str]) -> None:
    """Add methods and properties to a class, which are imported when they are first used."""
    for kind, table in ((LazyMethod, methods), (LazyProperty, properties)):
        for name, target in table.items():
            setattr(home, name, kind(home, name, target))


install(LazyMethods, _api.METHODS, _api.PROPERTIES)
