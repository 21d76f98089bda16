"""The logger ``weft``: one INFO line for each run of the compiler, DEBUG lines for kernels that were found.

``logging`` is imported only where somebody has done so before, or ``config.log`` (``WEFT_LOG``) asks for lines.
"""

from __future__ import annotations

import sys
from typing import Any

from ..config import config

__all__ = ["debug", "info"]

_shown = ""  # the level of the handler that writes to stderr, once there is one


def info(message: str, *args: Any) -> None:
    """Log what a user who waits wants to know."""
    _log(20, message, args)


def debug(message: str, *args: Any) -> None:
    """Log where a kernel comes from."""
    _log(10, message, args)


def _log(level: int, message: str, args: tuple[Any, ...]) -> None:
    if config.log != _shown:
        _show(config.log)
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger("weft").log(level, message, *args)


def _show(level: str) -> None:
    """Have lines of a level and above written to stderr; none for ``""``."""
    global _shown
    import logging

    logger = logging.getLogger("weft")
    for handler in [h for h in logger.handlers if getattr(h, "of_weft", False)]:
        logger.removeHandler(handler)
    if level:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("weft: %(message)s"))
        handler.of_weft = True  # type: ignore[attr-defined]
        logger.addHandler(handler)
    logger.setLevel(level.upper() if level else logging.NOTSET)
    _shown = level
