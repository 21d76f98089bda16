"""Imports that come late, or not at all: modules behind doors, and packages that not everyone has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .errors import MissingPackageError


class Door:
    """A module of weft in a place that needs it only sometimes: it is imported when one of its names is first read."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


@contextmanager
def optional(use: str, extra: str) -> Iterator[None]:
    """Import a package that not everyone has: without it, say what needs it and which extra installs it.

    Examples
    --------
    >>> with optional("a sonnet needs the package of that name", "poems"):
    ...     import sonnet
    Traceback (most recent call last):
        ...
    weft.errors.MissingPackageError: a sonnet needs the package of that name: pip install 'weft[poems]'
    """
    try:
        yield
    except ImportError as error:
        raise MissingPackageError(f"{use}: pip install 'weft[{extra}]'") from error
