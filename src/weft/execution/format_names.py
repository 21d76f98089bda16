"""Formats in reports: by name if they have one, else by what they store."""

from __future__ import annotations

from functools import lru_cache

from ..errors import FormatError
from ..formats import Format, parse_format
from ..formats.append_chains import is_unordered_list

_LONG = 40  # characters of coordinates, above which only their number is given


@lru_cache(maxsize=1024)
def is_name_of(format: Format) -> bool:
    """Return whether the text of a format can be parsed to the format."""
    try:
        return parse_format(str(format), format.order) == format
    except FormatError:
        return False


@lru_cache(maxsize=1024)
def described(format: Format) -> str:
    """Return the name of a format, or a few words on what it stores.

    Examples
    --------
    >>> from weft.formats import parse_format
    >>> csr = parse_format("csr", 2)
    >>> described(csr), described(csr.unsorted())
    ('csr', 'csr (dense, compressed(¬O))')
    """
    name = str(format)
    if ":" in name:
        name = ", ".join(map(str, format.levels))
    elif is_name_of(format):
        return name
    coordinates = str(format.remapping).partition(" -> ")[2]
    stored = coordinates if len(coordinates) <= _LONG else f"{len(format.levels)} coordinates"
    if all(level.branchless for level in format.levels[1:]):
        return f"{'an unsorted' if is_unordered_list(format) else 'a'} list of {stored}"
    return f"{name} of {stored}" if format.is_structured else f"{name} ({', '.join(map(str, format.levels))})"
