"""One support function as text."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Snippet"]


@dataclass(frozen=True, slots=True)
class Snippet:
    """C text that defines one static function, and the names of the prelude functions that it calls."""

    text: str
    needs: tuple[str, ...] = ()
