"""Control groups of Linux, by which containers and batch systems limit the CPUs and the memory of a process."""

from __future__ import annotations

import contextlib
import os

_ROOT, _OWN = "/sys/fs/cgroup", "/proc/self/cgroup"


def control_groups(controller: str) -> list[tuple[int, str]]:
    """Return the version (1 or 2) and the folder of each group of this process, and of each group around it."""
    folders = []
    with contextlib.suppress(OSError, ValueError), open(_OWN) as file:
        for line in file:
            _, controllers, group = line.rstrip("\n").split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            root = os.path.join(_ROOT, controller) if controllers else _ROOT
            names = [name for name in group.split("/") if name]
            # Inside a container, perhaps only the folder of the root is there.
            around = [os.path.join(root, *names[:depth]) for depth in range(len(names), -1, -1)]
            folders += [(1 if controllers else 2, folder) for folder in around if os.path.isdir(folder)]
    return folders
