"""Generated code against a figure of a paper: its lines in their order."""

from collections.abc import Sequence

__all__ = ["assert_follow"]


def assert_follow(text: str, parts: Sequence[str]) -> None:
    """The parts stand in the text, each after the one before."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} does not follow in\n{text}"
        at = found + len(part)
