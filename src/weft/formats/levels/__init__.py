"""The level formats of the catalogue, one file for each or for a few that belong together.

Each module is imported, and the level formats that its ``__all__`` names are those of this package. A new level format
is a new file: formats, files, letters, documentation and tests find it here.
"""

from importlib import import_module
from pkgutil import iter_modules

from ..level import LevelFormat

_modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
_found = {name: getattr(module, name) for module in _modules for name in module.__all__}
_levels = {name: value for name, value in sorted(_found.items()) if isinstance(value, type)}

__all__ = [name for name, value in _levels.items() if issubclass(value, LevelFormat)]

globals().update({name: _levels[name] for name in __all__})
