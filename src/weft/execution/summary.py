"""Summaries of kernels for users: formats, conversions, loops, and the loops that visit every coordinate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..analysis.merge_lattice import Point
from ..concrete_notation.nodes import Split
from ..concrete_notation.values import RuntimeValue
from ..device_code import device_program, usual_choice
from ..device_program import Choice
from ..errors import DeviceError
from ..formats import TensorType
from ..index_notation import expression_text
from ..index_notation.nodes import Access
from ..module import Module
from ..runtime import thread_pool
from .format_names import is_name_of
from .serial_reasons import why_serial
from .structure import sharing_line

_ACCUMULATED = {
    "list": "in a dense array, with a list of the coordinates set",
    "flags": "in a dense array, with a flag for each coordinate",
    "pairs": "in a list, which is sorted",
    "hash": "in a hash table",
    "whole": "in a dense array, all of which is written",
}
"""Descriptions of the kinds of workspaces that collect entries of a sparse result."""


def summary(module: Module, printed: Collection[str] = (), shared: str = "") -> str:
    """Return a few lines on a kernel for users, without the formats of its tensors.

    ``shared`` is the line on what threads of a device share, if they compute it.

    Examples
    --------
    >>> import weft
    >>> print(weft.explain("y(i) = A(i,j)*x(j)", A="csr", x="dense"))
    y(i) = sum(j, A(i,j)*x(j))
    formats: y dense float64; A csr float64; x dense float64
    loops: every i; j stored in A
    parallel: the loop over i
    compiled: ...
    """
    lines = [
        *_converted(module),
        *_shared_arrays(module),
        *_loops(module),
        *_collected(module),
        *_complete(module, printed),
        shared or _parallel(module),
    ]
    return "\n".join(dict.fromkeys(lines))


def formats_line(types: Mapping[str, TensorType]) -> str:
    """Return the line with the formats and dtypes of tensors."""
    return "formats: " + "; ".join(f"{name} {type.format} {type.dtype}" for name, type in types.items())


def compiled_line(origins: Sequence[str | None]) -> str:
    """Return the line that says where the functions of kernels come from; those of devices are not compiled here."""
    found = Counter(origin or "not yet" for origin in origins)
    parts = [f"{count} kernels {origin}" if len(origins) > 1 else origin for origin, count in found.items()]
    return f"compiled: {', '.join(parts)}" + ("; the first call waits for the compiler" if None in origins else "")


def _converted(module: Module) -> Iterator[str]:
    """Yield a line for each conversion of a call, with the format of an operand that makes it unnecessary."""
    schedule, types = module.schedule, module.loops.types
    for c in schedule.conversions:
        if (own := types[c.tensor].format).canonical() == c.format:
            sums = "" if own.is_unique else " and sums repeated ones"
            avoided = f"pass {c.tensor}.canonical() to avoid this"
            yield f"each call sorts the coordinates of {c.tensor}{sums}, since {c.reason}; {avoided}"
            continue
        how = f"; pass {c.tensor}.asformat({str(c.format)!r}) to avoid this" if is_name_of(c.format) else ""
        yield f"each call converts {c.tensor} from {types[c.tensor].format} to {c.format}, since {c.reason}{how}"
    if (final := module.loops.converts_to) is not None:
        made = schedule.types[schedule.target.tensor].format
        yield f"each call converts the result from {made if is_name_of(made) else 'a list of coordinates'} to {final}"


def _shared_arrays(module: Module) -> Iterator[str]:
    """Yield a line if the result shares the index arrays of an operand."""
    if module.loops.lead is not None:
        yield sharing_line(module.loops.assignment.target.tensor, module.loops.lead.tensor)


def _loops(module: Module) -> Iterator[str]:
    """Yield a line with the loops over operands, outermost first; none if there are no loops."""
    parts = []
    for where, loops in groupby(dict.fromkeys(_visited(module)), key=lambda loop: loop[1]):
        variables = ", ".join(v for v, _ in loops)
        parts.append(f"{variables} stored in {where}" if where else f"every {variables}")
    if parts:
        yield f"loops: {'; '.join(parts)}"


def _visited(module: Module) -> Iterator[tuple[str, str]]:
    """Yield the variable of each loop, and the operands whose stored coordinates it visits; empty for every one."""
    origins = {c.name: c.tensor for c in module.schedule.conversions}
    operands = {*module.loops.operands}
    for v, points in module.evaluation.lattices:
        walked = [{it for it in point.coiterate if not it.full} for point in points]
        accesses = [it.access for point in points for it in point.coiterate]
        if any(a is not None and a.tensor not in operands for a in accesses):
            continue  # a loop over a workspace: entries that other loops have collected
        # A case whose operands include those of another case visits no coordinate that the other does not.
        least = [iterated for iterated in walked if not any(other < iterated for other in walked)]
        names = (
            dict.fromkeys(origins.get(it.access.tensor, it.access.tensor) for it in iterated if it.access is not None)
            for iterated in least
        )
        cases = dict.fromkeys(" and ".join(sorted(each)) for each in names)
        # The number of an entry in its row is written ``#i``, whatever operand it is of.
        yield v.partition("@")[0], " or ".join(cases) if all(cases) else ""


def _collected(module: Module) -> Iterator[str]:
    """Yield a line for each workspace that collects entries of a sparse result."""
    copies = module.schedule.copies
    for w in module.schedule.program.workspaces:
        if w.name in copies:
            tensor = copies[w.name].access.tensor
            yield f"segments of {tensor} are sorted where loops enter them, since {copies[w.name].reason}"
        elif w.kind in _ACCUMULATED:
            loose = w.kind in ("list", "hash") and module.context.takes_any_order(w)
            unsorted = ", and appended in the order in which they come" if loose else ""
            yield f"values over {', '.join(w.indices)} are accumulated {_ACCUMULATED[w.kind]}{unsorted}"


def _parallel(module: Module) -> str:
    """Return the line that says what threads share."""
    program = module.schedule.program
    shared = program.shared_loop and program.shared_loop.var
    alone = f", on one thread: {reason}" if (reason := thread_pool.missing()) else ""
    if not (module.evaluation.chunked or module.inserts_in_parallel):
        # A serial schedule has an alternative, which is chosen when it runs.
        other = "; where there is enough to do, threads share other loops" if module.schedule.serial else ""
        return f"parallel: nothing, since {why_serial(module)}{other}"
    if shared is not None:
        # Tiles are ranges of one variable, though the loop inside may run over another.
        of = {cut.outer: (cut.tiles if isinstance(cut, Split) else None) or cut.var for cut in program.splits}
        rows = (
            f", and long rows of {program.shares.access.tensor}, whose sums are joined in order"
            if program.shares
            else ""
        )
        return f"parallel: the loop over {f'blocks of {of[shared]}' if shared in of else shared}{rows}{alone}"
    if program.shares is None:
        return f"parallel: the passes that insert the entries{alone}"
    return f"parallel: shares of the entries of {program.shares.access.tensor}, whose sums are joined in order{alone}"


def device_line(module: Module, choice: Callable[[], Choice] | None = None) -> str:
    """Return the line that says how a device shares the work, by a choice or by the usual one, or why it refuses it."""
    try:
        notes = device_program(module, choice() if choice else usual_choice(module)).notes
    except DeviceError as error:
        return refused_line(error)
    return f"device: {'; '.join(notes)}{'' if choice else ', for segments of eight entries'}"


def refused_line(error: DeviceError) -> str:
    """Return the line that says why a device does not compute an expression."""
    return f"device: refused: {error}"


def _complete(module: Module, printed: Collection[str]) -> Iterator[str]:
    """Yield a line for each loop over coordinates that a sparse operand does not store, with the reason."""
    said, types = {*printed}, module.schedule.types
    # A lattice point all of whose iterators are full visits every coordinate.
    complete = [
        (v, points)
        for v, points in module.evaluation.lattices
        if any(point.coiterate and all(it.full for it in point.coiterate) for point in points)
    ]
    for v, points in complete:
        sparse, dense = _accesses(points, full=False), _accesses(points, full=True)
        sparse = [a for a in sparse if a.tensor in types]
        if v not in said and sparse:
            said.add(v)
            names = " and ".join(dict.fromkeys(a.tensor for a in dense))
            yield _line(
                v, f"{names or 'the expression'} has values there, too", sparse[0], types[sparse[0].tensor].fill
            )
    target = module.loops.assignment.target
    if not types[target.tensor].format.is_dense or len(target.indices) < 2:
        return  # a loop above has said so for a sparse result, and a vector is no longer than its operands
    # Terms of a dense result have loops of their own, of which one may visit coordinates that another's does not.
    every = {v for v, _ in complete} & {*target.indices}
    for access in dict.fromkeys(module.loops.assignment.value.distinct_accesses):
        for v, level in types[access.tensor].levels_of(access):
            if v in every and v not in said and not level.full:
                said.add(v)
                yield _line(v, f"{target.tensor} is dense", access, types[access.tensor].fill)


def _line(v: str, reason: str, sparse: Access, fill: Any) -> str:
    sentence = f"loops over all {v}, not only those stored in {sparse.tensor}: {reason}"
    if isinstance(fill, RuntimeValue):
        return sentence
    operand = expression_text(sparse)
    mask = f"not_equal({operand}, {fill:g})" if fill == fill else f"equal({operand}, {operand})"  # NaN is not itself
    return f"{sentence}; multiply by {mask} to visit only what {sparse.tensor} stores"


def _accesses(points: Sequence[Point], full: bool) -> list[Access]:
    """Return the operands whose iterated level is full, or those whose level is not."""
    found = (it for point in points for it in point.iterators if it.full is full)
    return list(dict.fromkeys(it.access for it in found if it.access is not None))
