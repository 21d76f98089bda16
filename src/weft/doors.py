"""Doors: modules that are imported when one of their names is first read."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Door:
    """A module of weft in a place that needs it only sometimes: it is imported when one of its names is first read."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value
