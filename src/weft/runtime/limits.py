"""Limits of the number of threads that ``threadpoolctl`` sets, for weft's threads as for those of other libraries."""

from __future__ import annotations

import sys
from typing import Any

from .threads import get_num_threads, set_num_threads

_registered: list[Any] = []


def register() -> None:
    """Register weft's threads with threadpoolctl, if it is installed."""
    if _registered:
        return
    try:
        from threadpoolctl import LibController, register
    except ImportError:
        return

    class WeftController(LibController):  # type: ignore[misc]  # the package has no types
        """Controller of the number of threads of kernels."""

        user_api = internal_api = "weft"
        # threadpoolctl looks for libraries by the names of their files. All kernels are called through this one.
        filename_prefixes = ("_cffi_backend",)

        def get_num_threads(self) -> int:
            return get_num_threads()

        def set_num_threads(self, num_threads: int) -> None:
            set_num_threads(num_threads)

        def get_version(self) -> None:
            return None

    _registered.append(WeftController)
    register(WeftController)


if "threadpoolctl" in sys.modules:  # else it is imported when there are threads to limit
    register()
