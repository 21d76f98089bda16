"""Many kernels at once, for the grids of tests: a few compiler runs in parallel, each making one shared object.

Every module stays a translation unit of its own, so that nothing it defines meets another's; only its entry points are
renamed, by ``#define``, to names that its digest makes unique. The compiler's start is what a small kernel costs, but
linking and loading are paid once for a whole chunk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..codegen.abi import symbol
from ..config import config
from ..errors import CompilerError
from . import cache, loader, toolchain

__all__ = ["prefetch"]

Request = tuple[str, Sequence[str], int]


def prefetch(sources: Sequence[Request], *, optimization: int = 1, chunk: int = 64) -> int:
    """Compile modules so that later loads of them find them in memory.

    Parameters
    ----------
    sources : sequence of (source, names, arity)
        What :func:`weft.runtime.load` will be called with, under the settings of now.
    optimization : int
        The -O level; the flags are otherwise the usual ones.
    chunk : int
        Modules in one shared object.

    Returns
    -------
    int
        The number of modules that are in memory now and were not before. One that does not compile is left out: its
        load will say what is wrong.
    """
    wanted: dict[str, Sequence[str]] = {}
    for source, names, _ in sources:
        if not loader.is_loaded(source):
            wanted[source] = tuple(dict.fromkeys((*wanted.get(source, ()), *names)))
    if not wanted:
        return 0
    from concurrent.futures import ThreadPoolExecutor

    tool = toolchain.current(optimization)
    items = list(wanted.items())
    chunks = [items[start : start + chunk] for start in range(0, len(items), chunk)]
    with ThreadPoolExecutor(min(config.num_threads, len(chunks))) as workers:
        return sum(workers.map(lambda part: _prefetch_chunk(tool, part), chunks))


def _prefetch_chunk(tool: toolchain.Toolchain, items: Sequence[tuple[str, Sequence[str]]]) -> int:
    prefixes = [f"batch_{cache.digest(source)[:24]}_" for source, _ in items]
    texts = [_renamed(source, names, prefix) for (source, names), prefix in zip(items, prefixes, strict=True)]

    def build(output: str) -> None:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="weft-") as folder:
            paths = []
            for number, text in enumerate(texts):
                paths.append(os.path.join(folder, f"{number}.c"))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.write(text)
            tool.compile_files(tuple(paths), output)

    try:
        library = loader.open_cached(tool, texts, build)
    except CompilerError:
        if len(items) == 1:
            return 0
        half = len(items) // 2
        return _prefetch_chunk(tool, items[:half]) + _prefetch_chunk(tool, items[half:])
    for (source, _), prefix in zip(items, prefixes, strict=True):
        loader.register(source, loader.Library(library.path, library.handle, prefix))
    return len(items)


def _renamed(source: str, names: Sequence[str], prefix: str) -> str:
    defines = "".join(f"#define {symbol(name)} {prefix}{symbol(name)}\n" for name in names)
    return f'{defines}#line 1 "kernel.c"\n{source}'
