"""The build hooks: the text for package indexes, and kernels of ordinary expressions beside the Python files of wheels.

``WEFT_BUILD_KERNELS`` says which: ``machine`` (the default) those of this machine's level of instructions, as many as
``WEFT_BUILD_SECONDS`` give; ``all`` every one for all levels, for wheels that are distributed; ``none``. Where they
cannot be compiled, the wheel is made without, and kernels are compiled when they are used.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

SECONDS = "50"  # of compiling, in an installation from source


def for_an_index(text: str, links: str, pictures: str) -> str:
    """Return a page whose links and pictures are found from a package index, where relative addresses lead nowhere.

    Links to files of the repository lead to ``links``, and pictures are those below ``pictures``. Where these are
    empty, links are plain text, and a picture is left out with the paragraph behind it.
    """
    address = r"(?![a-z]+:|#)([^)\s]+)"
    text = re.sub(
        rf"\[([^][]*)\]\({address}\)", lambda link: f"[{link[1]}]({links}{link[2]})" if links else link[1], text
    )
    # Indexes are light, and do not know of a picture's variants.
    return re.sub(
        r'<picture>.*?(<img src=")(.*?)</picture>(\n\n.+?)\n\n',
        lambda found: f"{found[1]}{pictures}{found[2].strip()}{found[3]}\n\n" if pictures else "",
        text,
        flags=re.DOTALL,
    )


class ReadmeHook(MetadataHookInterface):
    """Adds the README to the description of the package."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the text that a package index shows."""
        with open(os.path.join(self.root, "README.md"), encoding="utf-8") as file:
            text = for_an_index(file.read(), self.config.get("links", ""), self.config.get("pictures", ""))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class KernelHook(BuildHookInterface[Any]):
    """Builds the libraries of kernels and adds them to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile kernels, and say that the wheel is for this platform; one notice where that cannot be."""
        which = os.environ.get("WEFT_BUILD_KERNELS", "machine")
        if version == "editable" or which == "none":
            return
        self._scratch = tempfile.TemporaryDirectory()
        seconds = os.environ.get("WEFT_BUILD_SECONDS", SECONDS)
        options = ["--machine", "--seconds", seconds] if which == "machine" else ["--every-level"]
        command = [sys.executable, "-m", "weft.shipping", "build", self._scratch.name, *options]
        # PYTHONPATH is how pip adds what a build requires.
        paths = [os.path.join(self.root, "src"), os.environ.get("PYTHONPATH")]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        done = subprocess.run(command, env=environ, capture_output=True, text=True)
        built = sorted(os.listdir(self._scratch.name))
        if done.returncode or not built:
            failed = done.stderr.strip().splitlines() if done.returncode else []
            reason = failed[-1] if failed else "there is no C compiler, or it failed"
            self.app.display_warning(f"weft is installed without compiled kernels: {reason}")
            return
        self.app.display_info(done.stdout.strip())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        for name in built:
            build_data["force_include"][os.path.join(self._scratch.name, name)] = f"weft/_kernels/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built: the wheel has it."""
        scratch = getattr(self, "_scratch", None)
        if scratch is not None:
            scratch.cleanup()
