"""Suggestions in error messages for names that do not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["MissingNameError", "did_you_mean", "nearest"]


def nearest(name: str, known: Iterable[str], others: Mapping[str, str] | None = None) -> str | None:
    """Return the existing name that a user probably meant by a name that does not exist, or None.

    Parameters
    ----------
    name : str
        The name that the user wrote.
    known : iterable of str
        The names that exist.
    others : mapping, optional
        Names in weft by the names of the same things in other packages.

    Examples
    --------
    >>> nearest("CSR", ["coo", "csr"]), nearest("csrr", ["coo", "csr"]), nearest("xyz", ["coo", "csr"])
    ('csr', 'csr', None)
    >>> nearest("seed", ["shape", "rng"], {"seed": "rng"})
    'rng'
    """
    from difflib import get_close_matches

    names = {each.casefold(): each for each in known}
    plain = name.strip().casefold()
    if plain in names:
        return names[plain]
    if others is not None and names.get(others.get(plain, "").casefold()) is not None:
        return others[plain]
    # Spelling decides last, since names in other packages may be spelled like something else.
    close = get_close_matches(plain, names, n=1, cutoff=0.7)
    return names[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], others: Mapping[str, str] | None = None) -> str:
    """Return the end of a message that suggests the nearest name; an empty string if there is none.

    Parameters
    ----------
    name, known, others
        The arguments of :func:`nearest`.

    Examples
    --------
    >>> did_you_mean("csrr", ["coo", "csr"])
    "; did you mean 'csr'?"
    """
    found = nearest(name, known, others)
    return "" if found is None else f"; did you mean {found!r}?"


class MissingNameError(AttributeError):
    """Error for an attribute that does not exist, with a suggestion of the nearest name.

    The suggestion is searched when the error is shown, since ``hasattr`` and similar functions often read attributes
    that do not exist.

    Parameters
    ----------
    message : str
        The error without a suggestion.
    name : str
        The attribute.
    known : callable
        A function that returns the names that exist.
    others : mapping, optional
        Names in weft by the names of the same things in other packages.
    """

    def __init__(
        self, message: str, name: str, known: Callable[[], Iterable[str]], others: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self._asked = name, known, others

    def __str__(self) -> str:
        name, known, others = self._asked
        return super().__str__() + did_you_mean(name, known(), others)

    def __reduce__(self) -> tuple[Any, ...]:  # the function that returns the known names may not be picklable
        return AttributeError, (str(self),)
