"""Ways of conversions, with their prices: which steps lead from one type of tensor to another, and why no others.

``ways_of_copy`` and ``conversion`` are functions of a source, a target, facts and the settings alone. A way may go by
another format, to which and from which the cheapest way is taken again. Duplicates are summed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

import numpy as np

from ..code_options import CodeOptions
from ..concrete_notation.values import same_value
from ..config import config
from ..dtypes import adds_alike
from ..errors import FormatError
from ..formats import Compressed, Dense, Format, Singleton, TensorType
from ..formats.append_chains import coordinate_list_format, is_appendable
from ..formats.format import shared_format
from ..remapping import Remapping
from ..remapping.nodes import Binary, axes_of, counters_of
from ..scheduling.operand_conversions import widest_index
from ..storage import tensor_type
from .conversion_request import Conversion, DataFacts, plan_conversion, why_not_reuse
from .entry_lists import copier, sorted_type
from .facts import LoopFacts, Source
from .kernel import insertion_kernel
from .steps import Append, Insert, ListEntries, ReuseArrays, ShareTail, SortEntries, Step
from .ways import BETWEEN, Way, cheapest_first

_ONE = (0,)
"""What each step of a conversion reads: one tensor. ``Conversion.plan`` says which."""

# Prices of an entry, where one that is visited costs 1.
_VISITED, _RUNS = 1.0, 0.5  # visited; in a list, to find ends of rows
_AMONG_ALL, _ACROSS = 12.0, 36.0  # visited among all elements of an array, of which few are entries; in strides
_STORED, _APPENDED, _LISTED = 1.0, 2.0, 4.0  # in an array, appended, with wide coordinates
_SHARED = 1.0  # whose value is that of the source
_PLACED, _IN_ROW = 3.0, 6.0  # at a place that queries tell; sorted into its row
_SORTED, _MERGED = 14.0, 6.0  # sorted among all, and among all of a few runs that are in order
_EMPTY = 25.0  # rows most of which are empty
_UNWANTED = 1000.0  # what config.disable has
_THREADS = 2.0  # how many times as fast several threads are
_NESTED = 2  # how often a conversion may go by another format on the way to another format


def conversion(source: Source, target: TensorType, facts: DataFacts, options: CodeOptions) -> Conversion:
    """Return the cheapest steps of a conversion under the present settings; raise ``FormatError`` if there are none."""
    assert options is config.code  # they are part of the question
    asked: list[Way] = []
    best = Way("none", "")
    for least, makers in _ways_of(source, target):
        if best.price <= (least / _THREADS if facts.parallel else least):
            break
        asked += [make(source, target, facts) for make in makers]
        best = cheapest_first([best, *asked])[0]
    if best.price < inf:
        return Conversion(source, target, facts, best.name, best.steps, best.price)
    reasons = "; ".join(f"{way.name}: {way.reason}" for way in asked)
    raise FormatError(f"{source.type.format} cannot be converted to {target.format}: {reasons}")


def ways_of_copy(source: Source, target: TensorType, facts: DataFacts) -> tuple[Way, ...]:
    """Return all ways of a conversion, the cheapest first, then those that are refused."""
    return cheapest_first(make(source, target, facts) for _, makers in _ways_of(source, target) for make in makers)


# -- ways of one step --------------------------------------------------------------------------------------------
def reuse_arrays(source: Source, target: TensorType, facts: DataFacts) -> Way:
    """Take over all arrays, for a format that guarantees no more about them."""
    have, refused = source.type, _refused("reuse arrays")
    if source.skip_fill:
        return refused("entries equal to the fill value are left out")
    if have.dtype != target.dtype:
        return refused(f"values are {have.dtype}, not {target.dtype}")
    if (reason := why_not_reuse(have.format, target.format)) is not None:
        return refused(reason)
    if have.index_dtypes != target.index_dtypes:
        return refused("index arrays of another dtype are wanted")
    same = have.format == target.format
    reason = "the tensor has this format" if same else "both formats have the same arrays"
    return _taken("reuse arrays", 0.0, ReuseArrays(_ONE, target, reason, same))


def insert(source: Source, target: TensorType, facts: DataFacts) -> Way:
    """Insert entries at positions that attribute queries have computed (2020, section 6), or that they keep."""
    kernel = insertion_kernel(source.type, target, source.skip_fill)
    if isinstance(kernel, str):
        return Way("insert", kernel)
    how, passes = kernel.facts.inserted, len(kernel.facts.inserted.phases)
    price, reason = passes * _visited(source, target, True) + _PLACED, "coordinates tell the position of each entry"
    if how.shares:
        price, reason = _SHARED, "entries keep their positions: values are shared"
    elif how.copies and _is_list(source.type.format):
        price = passes * _visited(source, target) + _STORED
        reason = "entries of the list come in order: what each parent has is counted, the rest is copied"
    elif passes > 1:
        reason = "attribute queries tell the position of each entry"
    if facts.parallel and kernel.chunked:
        price, reason = price / _THREADS, f"{reason}; threads share the passes"
    return _taken("insert", price, Insert(_ONE, target, reason, kernel))


def append(source: Source, target: TensorType, facts: DataFacts) -> Way:
    """Append the entries in the order in which loops over the source reach them."""
    format, refused = target.format, _refused("append")
    if format.is_structured:
        return refused("the target stores coordinates that a remapping computes")
    if not is_appendable(format):
        return refused("a level of the target cannot be appended to")
    kernel = copier(source, target)
    of_loops = kernel.facts
    if of_loops.converts_to is not None:
        return refused("loops over the source do not reach entries in the order of the target")
    if source.skip_fill and of_loops.chains and of_loops.chains[-1].last + 1 < len(format.levels):
        return refused("whether a parent has entries is not known before it is appended")
    listed = any(w.listed for w in of_loops.workspaces)
    price = _visited(source, target, True) + (_STORED if format.is_dense else _APPENDED) + (_IN_ROW if listed else 0.0)
    reason = "loops over the source reach entries in the order of the target"
    if listed:
        reason = "loops over the source reach parents in the order of the target; a workspace sorts what each has"
    # Whether threads can share loops is known when these are lowered: it matters if they can share an insertion.
    inserted = insertion_kernel(source.type, target, source.skip_fill) if facts.parallel else ""
    if not isinstance(inserted, str) and (not inserted.chunked or kernel.chunked or kernel.loops.run.in_parts):
        price /= _THREADS
    return _taken("append", price, Append(_ONE, target, reason, kernel))


def share_tail(source: Source, target: TensorType, facts: DataFacts) -> Way:
    """Convert the upper levels alone, where the levels below match and positions stay as they are."""
    have, refused = source.type, _refused("share tail")
    k = _upper(have.format)
    if source.skip_fill or have.dtype != target.dtype or have.format.remapping != target.format.remapping:
        return refused("other values, or values of other coordinates, are stored")
    if k in (0, len(have.format.levels)) or have.format.levels[k:] != target.format.levels[k:]:
        return refused("the levels below the lists of coordinates differ")
    upper, upper_target = (_upper_levels(type, k) for type in (have, target))
    upper_facts = DataFacts(facts.parallel, (False,) * k, facts.far_longer, facts.index_dtype, (), facts.nested)
    inner = plan_conversion(Source.copy(upper), upper_target, upper_facts)
    kernels = [step.kernel.facts for step in inner.steps if isinstance(step, Append | Insert)]
    if len(kernels) != len(inner.steps) or not all(_keeps_positions(each) for each in kernels):
        return refused("positions of the lists of coordinates change")
    reason = "lists of coordinates are converted; what is below them is shared"
    return _taken("share tail", _SHARED, ShareTail(_ONE, target, reason, upper, inner.plan))


def _upper(format: Format) -> int:
    """Return the number of levels above the last ones that have every coordinate of each parent, and no arrays."""
    k = len(format.levels)
    while k and (level := format.levels[k - 1]).has_every and level.row_major and not level.roles:
        k -= 1
    return k


def _upper_levels(type: TensorType, k: int) -> TensorType:
    """Return the type of the first levels of a tensor, over their coordinates."""
    format = shared_format(Remapping.identity(k), type.format.levels[:k])
    return tensor_type(type.dtype, format, type.index_dtypes[: len(format.roles)], type.fill)


def _keeps_positions(facts: LoopFacts) -> bool:
    return facts.keeps_values or (facts.insertion is not None and facts.insertion.shares)


# -- ways by another format --------------------------------------------------------------------------------------
def sum_duplicates(source: Source, target: TensorType, facts: DataFacts) -> Way:
    """Sum duplicates before anything else, in the dtype that they have."""
    have = source.type
    format = have.format.canonical().unconditional.uncurved()  # an intermediate form may be sorted by coordinates
    # The fact about index dtypes is one about axes and the target's levels. Other levels have what the source has.
    index = widest_index(have) if have.format.is_structured else facts.index_dtype
    once = tensor_type(have.dtype, format, (index,) * len(format.roles), have.fill)
    summed = plan_conversion(Source.copy(have), once, facts)
    rest = plan_conversion(Source.copy(once, source.skip_fill), target, facts)
    return Way("sum duplicates", "sums depend on the dtype", summed.price + rest.price, (*summed.steps, *rest.steps))


def _compressed(source: Source, target: TensorType, facts: DataFacts) -> Format | str:
    """Return compressed levels: fill values are left out there, and then all coordinates lead to entries."""
    format = target.format
    if not source.skip_fill or format.is_structured or not is_appendable(format):
        return "no entries are left out of a target that is appended"
    return shared_format(format.remapping, (Compressed(),) * len(format.levels))


def _rows(source: Source, target: TensorType, facts: DataFacts) -> Format | str:
    """Return sorted rows, or columns; for these themselves unsorted rows, each of which is then sorted."""
    format = target.format
    k = _upper(format)
    tail = format.levels[k:] if format.order == 2 == k else ()
    plain = format.order == 2 == len(format.levels) and not format.is_structured and is_appendable(format)
    blocks = bool(tail) and is_appendable(Format(Remapping.identity(k), format.levels[:k]))
    if not (plain or blocks) or format.is_dense or format != format.canonical():
        return "the target does not store a matrix row by row, or column by column"
    rows = shared_format(format.remapping, (Dense(), Compressed(), *tail))
    if format != rows:
        return rows
    if blocks:
        return "the target stores rows of blocks itself"
    return shared_format(format.remapping, (Dense(), Compressed(ordered=False, unique=source.type.format.is_unique)))


def _plain(source: Source, target: TensorType, facts: DataFacts) -> Format:
    return source.type.format.plain(facts.far_longer)


def _entry_list(source: Source, target: TensorType, facts: DataFacts) -> Format | str:
    """Return the sorted list of the coordinates that the target's levels have."""
    coordinates = target.format.remapping.coordinates
    if not coordinates or any(counters_of(c) for c in coordinates):
        return "a coordinate of the target counts entries"
    n = len(coordinates)
    # Only the last level is unique: no two tuples are equal, but their first coordinates may be.
    chain = (Compressed(unique=n == 1), *(Singleton(unique=k == n - 1) for k in range(1, n)))
    return shared_format(target.format.remapping, chain)


_FORMATS: dict[str, tuple[Callable[[Source, TensorType, DataFacts], Format | str], str]] = {
    "compressed levels": (_compressed, "fill values are left out first"),
    "rows": (_rows, "entries are put into rows or columns first"),
    "plain format": (_plain, "it has levels over the axes in their order"),
    "entry list": (_entry_list, "a list of the target's coordinates is taken in order"),
}
"""The formats by way of which tensors may be converted, and why."""


def via(what: str, source: Source, target: TensorType, facts: DataFacts) -> Way:
    """Go by another format, to which and from which the cheapest way is taken."""
    find, reason = _FORMATS[what]
    name, format, inside = f"via {what}", find(source, target, facts), facts.inside
    if isinstance(format, str):
        return Way(name, format)
    if format.conditions:
        return Way(name, "it does not hold all entries")
    if format in (source.type.format, target.format):
        return Way(name, f"the {'source' if format == source.type.format else 'target'} has this format")
    if inside.nested > _NESTED:
        return Way(name, "the conversion is itself a part of one by another format")
    middle = _between(target, format, facts)
    try:
        first = plan_conversion(source, middle, inside)
        second = plan_conversion(Source.copy(middle), target, inside)
    except FormatError as error:
        return Way(name, str(error))
    price, is_sorted = first.price + second.price + BETWEEN, all(level.ordered for level in format.levels)
    # Each row costs something even if it is empty: to sort all entries is faster for few entries in many rows.
    rows = _axes_of_rows(format) - (_axes_of_rows(target.format) if is_sorted else set())
    if any(facts.empty_coordinates[axis] for axis in rows):
        price, reason = price + _EMPTY, f"{reason}; but there are fewer entries than rows"
    switch = "intermediate-formats" if is_sorted else "row-sort"
    if not config.code.enabled(switch):
        price, reason = price + _UNWANTED, f"{reason}; but config.disable has {switch}"
    return Way(name, reason, price, (*first.steps, *second.steps))


# -- ways that sort ----------------------------------------------------------------------------------------------
def sort_and_append(source: Source, target: TensorType, facts: DataFacts) -> Way:
    """List the entries, sort the list, and append it, with duplicates summed."""
    format = target.format
    if not is_appendable(format.uncurved()):
        return Way("sort and append", "a level of the target cannot be appended to")
    # The arrays of a curved format are those of the uncurved one: only the order of the entries differs.
    packed = tensor_type(target.dtype, format.uncurved(), target.index_dtypes, target.fill)
    price, steps = _sorted(source, target, packed, facts)
    if format.is_curved:
        steps = *steps, ReuseArrays(_ONE, target, "entries are in the order of the curve already", False)
    return _taken("sort and append", price, *steps)


def sort_and_insert(source: Source, target: TensorType, facts: DataFacts) -> Way:
    """List the entries, sort the list with duplicates summed, and insert it.

    Entries that meet at a position then follow each other, so that any level above any other finds its own.
    """
    middle = _entry_list(source, target, facts)
    if isinstance(middle, str):
        return Way("sort and insert", middle)
    packed = _between(target, middle, facts)
    kernel = insertion_kernel(packed, target, False, target.format.is_curved)
    if isinstance(kernel, str):
        return Way("sort and insert", kernel)
    price, steps = _sorted(source, target, packed, facts)
    last = Insert(_ONE, target, "entries that meet at a position follow each other", kernel)
    return _taken("sort and insert", price + len(kernel.facts.inserted.phases) * _VISITED + _PLACED, *steps, last)


Maker = Callable[[Source, TensorType, DataFacts], Way]

_WAYS: tuple[tuple[float, tuple[Maker, ...]], ...] = (
    (0.0, (reuse_arrays,)),
    (_SHARED, (insert, append, share_tail)),
    (6.0, tuple([partial(via, what) for what in _FORMATS])),
    (_SORTED, (sort_and_append, sort_and_insert)),
)
"""The ways, with the least price of those in a group and behind it: a group is not asked if a cheaper way is known."""


def _ways_of(source: Source, target: TensorType) -> tuple[tuple[float, tuple[Maker, ...]], ...]:
    return ((0.0, (sum_duplicates,)),) if _sums_first(source.type, target) else _WAYS


# -- parts of ways -----------------------------------------------------------------------------------------------
def _refused(name: str) -> Callable[[str], Way]:
    return lambda reason: Way(name, reason)


def _taken(name: str, price: float, *steps: Step) -> Way:
    return Way(name, steps[-1].reason, price, steps)


def _between(target: TensorType, format: Format, facts: DataFacts) -> TensorType:
    """Return the type of an intermediate form: that of the target, but for the format and the index dtypes."""
    return tensor_type(target.dtype, format, (facts.index_dtype,) * len(format.roles), target.fill)


def _visited(source: Source, target: TensorType, in_order: bool = False) -> float:
    """Return the price of an entry that loops over the source visit, ``in_order`` of the target's levels or its own."""
    format = source.type.format
    if format.is_dense and not target.format.is_dense:
        across = in_order and not target.format.is_structured and format.mode_order != target.format.mode_order
        return _ACROSS if across else _AMONG_ALL
    return _VISITED + (_RUNS if _is_list(format) else 0.0)


def _is_list(format: Format) -> bool:
    return bool(format.levels) and not format.levels[0].unique


def _sums_first(source: TensorType, target: TensorType) -> bool:
    """Return whether duplicates must be summed before all else, since sums differ after the conversion."""
    # A dense result starts as fill values; several entries of one coordinate are added to these.
    onto_fill = target.format.is_dense and not same_value(source.fill, 0)
    alike = adds_alike(np.dtype(source.dtype), np.dtype(target.dtype))
    return not source.format.is_unique and (onto_fill or not alike)


def _axes_of_rows(format: Format) -> set[int]:
    """Return the axes of which a format stores something for each coordinate, even if that has no entry."""
    return {
        axis
        for level, c in zip(format.levels, format.remapping.coordinates, strict=True)
        if level.full and not (isinstance(c, Binary) and c.op == "%")
        for axis in axes_of(c)
    }


def _listed(source: Source, target: TensorType, columns: Remapping) -> tuple[Step, ...]:
    """Return the step that lists entries with the coordinates of a remapping; no step if the source is such a list."""
    have, format = source.type, coordinate_list_format(columns)
    if have.format == format and have.dtype == target.dtype and not source.skip_fill:
        return ()
    list_type = tensor_type(target.dtype, format, ("int64",) * len(format.roles), target.fill)
    kernel = copier(source, list_type)
    exact = have.format.is_compact and not source.skip_fill
    reason = "entries do not come in an order in which the target can take them"
    return (ListEntries(_ONE, list_type, reason, kernel, exact),)


def _sorted(source: Source, target: TensorType, packed: TensorType, facts: DataFacts) -> tuple[float, tuple[Step, ...]]:
    """Return the steps that list entries, sort them by the levels or curves of the target, and append them."""
    format = target.format
    keys, columns = format.remapping.coordinates, Remapping.identity(format.order)
    if format.is_curved:
        keys = format.sorted_by(facts.curve_shape)
        codes = [e for e in keys if e not in format.remapping.coordinates]
        columns = Remapping((*format.remapping.coordinates, *codes), format.order)
    elif format.is_structured:
        columns = format.remapping
    listed = _listed(source, target, columns)
    entries = listed[-1].makes if listed else source.type
    have = entries.format.remapping.coordinates
    order = tuple(have.index(e) for e in keys)
    keep = tuple(have.index(e) for e in format.remapping.coordinates)
    ordered = sorted_type(entries, keep)
    steps = (
        *listed,
        SortEntries(_ONE, ordered, "the target stores entries in another order", order, keep),
        Append(_ONE, packed, "the list is in order now; duplicates are summed", copier(Source.copy(ordered), packed)),
    )
    levels = source.type.format.levels
    # Slots of rows are runs in their order.
    by_slots = len(levels) > 1 and levels[0].counts and levels[1].full and not format.is_structured
    price = (_visited(source, target, True) + _LISTED) * len(listed) + (_MERGED if by_slots else _SORTED)
    return price + _VISITED + _RUNS + _APPENDED, steps
