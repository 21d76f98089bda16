"""Summaries of kernels: formats, conversions, the loops, and the loops that visit every coordinate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..analysis.derived_variables import level_variables
from ..analysis.iteration_graph import distinct_accesses
from ..analysis.merge_lattice import Point
from ..compiler import Lowered
from ..concrete_notation.nodes import Forall, Stmt, Where
from ..concrete_notation.nodes import Sequence as Seq
from ..errors import FormatError
from ..formats import Format, TensorType, parse_format
from ..index_notation import expression_text
from ..index_notation.nodes import Access

__all__ = ["summary"]


def summary(lowered: Lowered, told: Collection[str] = ()) -> str:
    """Return a few lines on a kernel for users.

    Parameters
    ----------
    lowered : Lowered
        The program of the kernel.
    told : collection of str
        Variables whose loops are explained elsewhere, so that no line is given for them.

    Examples
    --------
    >>> import weft
    >>> print(weft.explain("y(i) = A(i,j)*x(j)", A="csr", x="dense"))
    y(i) = sum(j, A(i,j)*x(j))
    formats: y dense float64; A csr float64; x dense float64
    loop order i, j; reductions gathered in scalars
    threads share the loop over i
    """
    schedule, assignment = lowered.schedule, lowered.assignment
    names = dict.fromkeys((assignment.target.tensor, *(a.tensor for a in distinct_accesses(assignment.value))))
    shared = _shared(schedule.program.stmt)
    alone = "one thread" + (", or other loops where several have enough to do" if schedule.serial else "")
    lines = [
        "formats: " + "; ".join(f"{name} {_named(lowered.types[name])}" for name in names if name in lowered.types),
        *schedule.notes,
        *_advice(lowered),
        f"threads share the loop over {shared}" if shared else alone,
        *_complete(lowered, told),
    ]
    return "\n".join(dict.fromkeys(lines))


def _named(type: TensorType) -> str:
    return f"{type.format} {type.dtype}"


def _advice(lowered: Lowered) -> Iterator[str]:
    """Yield a line for each conversion of an operand, with the format that makes it unnecessary."""
    for c in lowered.schedule.conversions:
        how = f"{c.tensor}.asformat({str(c.format)!r})" if _is_name_of(c.format) else f"{c.tensor} in {c.format}"
        yield f"each call stores {c.tensor} again; keep {how}, and pass that instead"


def _is_name_of(format: Format) -> bool:
    """Return whether the text of a format can be parsed to the format."""
    try:
        return parse_format(str(format), format.order) == format
    except FormatError:
        return False


def _shared(stmt: Stmt) -> str | None:
    """Return the variable of the loop that threads share; None if there is no such loop."""
    match stmt:
        case Forall(var=var, parallel=parallel):
            return var if parallel else None
        case Seq(stmts=stmts):
            return next((found for s in stmts if (found := _shared(s)) is not None), None)
        case Where(consumer=consumer):
            return _shared(consumer)
    return None


def _complete(lowered: Lowered, told: Collection[str]) -> Iterator[str]:
    """Yield a line for each loop over coordinates that a sparse operand does not store, with the reason."""
    _, lowerer = lowered.evaluation
    said = {*told}
    # A lattice point all of whose iterators are full visits every coordinate.
    for v, points in lowerer.lattices:
        every = any(point.coiterate and all(it.full for it in point.coiterate) for point in points)
        sparse, dense = _accesses(points, full=False), _accesses(points, full=True)
        if v not in said and every and sparse:
            said.add(v)
            names = " and ".join(dict.fromkeys(a.tensor for a in dense))
            reason = f"what {sparse[0].tensor} does not store has values{f' beside {names}' if names else ''}, too"
            yield _line(v, reason, sparse[0])
    target, types = lowered.assignment.target, lowered.types
    if not types[target.tensor].format.is_dense or len(target.indices) < 2:
        return  # a loop above has said so for a sparse result, and a vector is no longer than its operands
    # A dense result of several axes has an element at coordinates that no operand stores, whatever the loops are.
    for access in dict.fromkeys(distinct_accesses(lowered.assignment.value)):
        format = types[access.tensor].format
        for v, level in zip(level_variables(access, format), format.levels, strict=True):
            if v in target.indices and v not in said and not level.full:
                said.add(v)
                yield _line(v, f"{target.tensor} is dense, and holds more than what {access.tensor} stores", access)


def _line(v: str, reason: str, sparse: Access) -> str:
    return (
        f"every {v} is visited: {reason}; the cost is that of all elements. "
        f"A factor not_equal({expression_text(sparse)}, 0) restricts it to what {sparse.tensor} stores"
    )


def _accesses(points: Sequence[Point], full: bool) -> list[Access]:
    """Return the operands whose iterated level is full, or those whose level is not."""
    found = (it for point in points for it in point.iterators if it.full is full)
    return list(dict.fromkeys(it.access for it in found if it.access is not None))
