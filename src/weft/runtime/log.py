"""The logger ``weft``: an INFO line for each run of the compiler, and DEBUG lines for kernels that were located.

``logging`` is used only if other code has imported it, or if ``config.log`` (``WEFT_LOG``) asks for lines.
"""

from __future__ import annotations

import sys
from typing import Any

from ..config import config

_shown = ""  # the level of the handler that writes to stderr; empty if there is no handler


def info(message: str, *args: Any) -> None:
    """Log a line for users who wait."""
    _log(20, message, args)


def debug(message: str, *args: Any) -> None:
    """Log the origin of a kernel; parameters are those of :func:`info`."""
    _log(10, message, args)


def _log(level: int, message: str, args: tuple[Any, ...]) -> None:
    if config.log != _shown:
        _show(config.log)
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger("weft").log(level, message, *args)


def _show(level: str) -> None:
    """Let lines of a level and above be written to stderr; none if ``level`` is empty."""
    global _shown
    import logging

    logger = logging.getLogger("weft")
    # Handlers of other code stay.
    for handler in [h for h in logger.handlers if getattr(h, "of_weft", False)]:
        logger.removeHandler(handler)
    if level:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("weft: %(message)s"))
        handler.of_weft = True  # type: ignore[attr-defined]
        logger.addHandler(handler)
    logger.setLevel(level.upper() if level else logging.NOTSET)
    _shown = level
