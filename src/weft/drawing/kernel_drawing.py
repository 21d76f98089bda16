"""Drawings of how an expression is computed: ``weft.explain(..., format="svg")``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from ..execution import Kernel
from ..hints import did_you_mean
from ..index_notation import to_text
from ..records import replace
from .iteration_graphs import graph_scene, iteration_graph
from .lattices import Lattice, lattice_scene, lattices
from .scene import Drawing, Item, Label, Scene, below, paint

DRAWN = ("iteration graph", "lattices")
"""The stages of the compiler that are drawn."""


class HasKernels(Protocol):
    """Anything that consists of kernels: what :func:`weft.compile` returns, a plan, or a kernel."""

    @property
    def kernels(self) -> Collection[Kernel]:
        """The kernels, in the order in which they run."""


def iteration_graph_svg(kernel: HasKernels) -> str:
    """Return a drawing of the iteration graphs of all kernels of an expression, as SVG.

    Examples
    --------
    >>> import weft
    >>> iteration_graph_svg(weft.compile("y(i) = A(i,j)*x(j)", A="csr"))[:4]
    '<svg'
    """
    return paint(_stacked([_graph(each) for each in kernel.kernels]))


def lattices_svg(kernel: HasKernels) -> list[tuple[str, str]]:
    """Return the variable of each loop of an expression with a drawing of its merge lattice, as SVG.

    Examples
    --------
    >>> import weft
    >>> k = weft.compile("a(i) = b(i) + c(i)", b="coo", c="coo")
    >>> [(v, drawing[:4]) for v, drawing in lattices_svg(k)]
    [('i', '<svg')]
    """
    return [(found.var, paint(lattice_scene(found))) for each in kernel.kernels for found in _lattices(each)]


def kernel_drawing(kernel: HasKernels, stages: bool | str | Iterable[str] = True) -> Drawing:
    """Return one drawing with the iteration graph of each kernel, and below it the merge lattices of its loops."""
    names = [stages] if isinstance(stages, str) else DRAWN if isinstance(stages, bool) else list(stages)
    chosen_stages = [name.replace("-", " ") for name in names]
    for name in chosen_stages:
        if name not in DRAWN:
            raise ValueError(
                f"there is no drawing of the stage {name!r}{did_you_mean(name, DRAWN)}\n"
                f"the stages that are drawn are {', '.join(DRAWN)}"
            )
    scenes: list[Scene] = []
    for each in kernel.kernels:
        scenes += [_graph(each)] if DRAWN[0] in chosen_stages else []
        scenes += map(lattice_scene, _lattices(each)) if DRAWN[1] in chosen_stages else []
    return Drawing(paint(_stacked(scenes)))


def _graph(kernel: Kernel) -> Scene:
    return graph_scene(iteration_graph(kernel.module.context, to_text(kernel.module.loops.assignment)))


def _lattices(kernel: Kernel) -> tuple[Lattice, ...]:
    return lattices(kernel.module.context, kernel.module.evaluation.lattices)


def _stacked(scenes: list[Scene]) -> Scene:
    """Return one scene with others below each other; an expression without loops has none."""
    if not scenes:
        return Scene("no loops", "the expression has no loops", (Label(0, 0, "no loops: nothing is merged", "note"),))
    items: tuple[Item, ...] = scenes[0].items
    for scene in scenes[1:]:
        items = below(items, scene.items, 24)
    titles = "; ".join(dict.fromkeys(scene.title for scene in scenes))
    return replace(scenes[0], title=titles, description=". ".join(s.description for s in scenes), items=items)
