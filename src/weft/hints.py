"""Suggestions for names that do not exist: what errors say beside what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["MissingNameError", "did_you_mean", "nearest"]


def nearest(name: str, known: Iterable[str], others: Mapping[str, str] | None = None) -> str | None:
    """Return the name that is meant by one that does not exist, or None.

    Parameters
    ----------
    name : str
        What the user wrote.
    known : iterable of str
        The names that exist.
    others : mapping, optional
        Names by what other packages call the same.

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
    close = get_close_matches(plain, names, n=1, cutoff=0.7)
    return names[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], others: Mapping[str, str] | None = None) -> str:
    """Return the end of a message that suggests the nearest name; empty where there is none.

    Examples
    --------
    >>> did_you_mean("csrr", ["coo", "csr"])
    "; did you mean 'csr'?"
    """
    found = nearest(name, known, others)
    return "" if found is None else f"; did you mean {found!r}?"


class MissingNameError(AttributeError):
    """An attribute that does not exist, with the nearest that does: it is looked for when the error is shown.

    ``hasattr`` and its kin ask often for attributes that do not exist, and are to cost no more for that.

    Parameters
    ----------
    message : str
        The error without a suggestion.
    name : str
        The attribute.
    known : callable
        Gives the names that exist.
    others : mapping, optional
        Names by what other packages call the same.
    """

    def __init__(
        self, message: str, name: str, known: Callable[[], Iterable[str]], others: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self._asked = name, known, others

    def __str__(self) -> str:
        name, known, others = self._asked
        return super().__str__() + did_you_mean(name, known(), others)

    def __reduce__(self) -> tuple[Any, ...]:
        return AttributeError, (str(self),)
