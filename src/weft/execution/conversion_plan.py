"""Plans of conversions: which steps lead from one type of tensor to another, and why no others.

``conversion`` is a function of a request and the settings alone. It asks a table of rules, in order, for steps, and
takes the first that has some. A step may be a plan itself, as entries take another form on the way. Duplicates are
summed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..code_options import CodeOptions
from ..concrete_notation.values import same_value
from ..config import config
from ..dtypes import adds_alike
from ..errors import FormatError
from ..formats import Compressed, Dense, Format, Singleton, TensorType
from ..formats.append_chains import coordinate_list_format, is_appendable
from ..formats.growing_tables import tables_of
from ..records import record, replace
from ..remapping import Remapping
from ..remapping.nodes import IndexExpr, counters_of
from ..scheduling.operand_conversions import widest_index
from ..storage import tensor_type
from .conversion_request import Conversion, ConversionRequest, plan_conversion, why_not_reuse
from .entry_lists import copier, sorted_type
from .hash_growth import table_insertion
from .kernel import Kernel, insertion_kernel
from .steps import Append, Insert, InsertIntoTables, ListEntries, ReuseArrays, SortEntries, Step

_ONE = (0,)
"""What each step of a conversion reads: one tensor. ``Conversion.plan`` says which."""


@record
class Rejected:
    """The reason why a rule has no steps for a request."""

    reason: str


Rule = Callable[[ConversionRequest], "tuple[Step | Conversion, ...] | Rejected"]


def conversion(request: ConversionRequest, options: CodeOptions) -> Conversion:
    """Return the steps of a conversion under the present settings; raise ``FormatError`` if no rule has steps."""
    assert options is config.code  # they are part of the question
    rejected: dict[str, str] = {}
    for rule in LIST_RESULT_RULES if request.is_list_result else RULES:
        name = rule.__name__.replace("_", " ")
        steps = rule(request)
        if not isinstance(steps, Rejected):
            return Conversion(request, name, steps, rejected)
        rejected[name] = steps.reason
    reasons = "; ".join(f"{name}: {reason}" for name, reason in rejected.items())
    raise FormatError(f"{request.source.format} cannot be converted to {request.target.format}: {reasons}")


# -- rules: one step ---------------------------------------------------------------------------------------------
def reuse_arrays(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """Take over all arrays, for a format that guarantees no more about them."""
    source, target = request.source, request.target
    if request.skip_fill:
        return Rejected("entries equal to the fill value are left out")
    if source.dtype != target.dtype:
        return Rejected(f"values are {source.dtype}, not {target.dtype}")
    if (reason := why_not_reuse(source.format, target.format)) is not None:
        return Rejected(reason)
    if source.index_dtypes != target.index_dtypes:
        return Rejected("index arrays of another dtype are wanted")
    same = source.format == target.format
    reason = "the tensor has this format" if same else "both formats have the same arrays"
    return (ReuseArrays(_ONE, target, reason, same),)


def share_arrays(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """Insert entries that keep their positions, so that the values, and perhaps coordinates, are those of the source.

    No append writes less.
    """
    kernel = _insertion(request)
    if isinstance(kernel, Rejected):
        return kernel
    if not kernel.facts.inserted.shares:
        return Rejected("entries get other positions, or values another dtype")
    return (Insert(_ONE, request.target, "entries keep their positions: values are shared", kernel),)


def insert_by_counting(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """Copy a coordinate list that is in order: one loop need not look for the ends of rows, which are counted."""
    if not request.source.format.levels or request.source.format.levels[0].unique:
        return Rejected("the source is no coordinate list")
    kernel = _shareable_insertion(request)
    if isinstance(kernel, Rejected):
        return kernel
    if not kernel.facts.inserted.copies:
        return Rejected("entries come in another order")
    reason = "entries of the list come in order: what each parent has is counted, the rest is copied"
    return (Insert(_ONE, request.target, reason, kernel),)


def insert_by_threads(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """Insert by several threads, where threads could not share the loops of an append."""
    if not request.facts.parallel:
        return Rejected("there is one thread, or there are too few entries for several")
    kernel = _shareable_insertion(request)
    if isinstance(kernel, Rejected):
        return kernel
    appended = append(request)
    if isinstance(appended, tuple) and all(isinstance(a, Append) and a.kernel.chunked for a in appended):
        return Rejected("threads can share the loops of an append")
    return (Insert(_ONE, request.target, "threads share the insertion of the entries", kernel),)


def append(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """Append the entries in the order in which loops over the source reach them."""
    source, target = request.source, request.target
    if target.format.is_structured:
        return Rejected("the target stores coordinates that a remapping computes")
    if not is_appendable(target.format):
        return Rejected("a level of the target cannot be appended to")
    kernel = copier(source, target, request.skip_fill)
    if kernel.facts.final_format is not None:
        return Rejected("loops over the source do not reach entries in the order of the target")
    reason = "loops over the source reach entries in the order of the target"
    if any(w.listed for w in kernel.facts.workspaces):
        reason = "loops over the source reach parents in the order of the target; a workspace sorts what each has"
    return (Append(_ONE, target, reason, kernel),)


def insert(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """Insert entries at positions that attribute queries have computed (2020, section 6)."""
    kernel = _insertion(request)
    if isinstance(kernel, Rejected):
        return kernel
    asked = "attribute queries tell" if len(kernel.facts.inserted.phases) > 1 else "coordinates tell"
    return (Insert(_ONE, request.target, f"{asked} the position of each entry", kernel),)


# -- rules: by way of another form -------------------------------------------------------------------------------
def sum_duplicates(request: ConversionRequest) -> tuple[Conversion, ...] | Rejected:
    """Sum duplicates before anything else, in the dtype that they have."""
    source, target = request.source, request.target
    if source.format.is_unique:
        return Rejected("the source stores each coordinate once")
    # A dense result starts as fill values; several entries of one coordinate are added to these.
    onto_fill = target.format.is_dense and not same_value(source.fill, 0)
    if not onto_fill and adds_alike(np.dtype(source.dtype), np.dtype(target.dtype)):
        return Rejected("duplicates are summed in place, with the same result")
    format = source.format.canonical().unconditional.uncurved()  # an intermediate form may be sorted by coordinates
    # The fact about index dtypes is one about axes and the target's levels. Other levels have what the source has.
    index = widest_index(source) if source.format.is_structured else request.facts.index_dtype
    once = tensor_type(source.dtype, format, (index,) * len(format.roles), source.fill)
    summed = plan_conversion(replace(request, target=once, skip_fill=False))
    return summed, plan_conversion(replace(request, source=once))


def via_compressed_levels(request: ConversionRequest) -> tuple[Conversion, ...] | Rejected:
    """Leave out fill values first, where levels below the appended ones store all coordinates of their parents.

    Only in a format whose levels are all compressed is it known which coordinates lead to entries.
    """
    format = request.target.format
    if not request.skip_fill:
        return Rejected("no entries are left out")
    appended = append(request)
    if isinstance(appended, Rejected):
        return appended
    (step,) = appended
    assert isinstance(step, Append)
    chains = step.kernel.facts.chains
    if not chains or chains[-1].last + 1 == len(format.levels):
        return Rejected("no level of the target stores all coordinates of parents that were appended")
    middle = request.between(Format(format.remapping, (Compressed(),) * len(format.levels)))
    return plan_conversion(request.to(middle)), plan_conversion(request.onward(middle))


def hash_insertion(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """Insert entries one by one into hash tables, which sum duplicates."""
    source, target = request.source, request.target
    if tables_of(target.format) is None:
        return Rejected("the target has no hash tables that grow")
    listed = _listed(request, Remapping.identity(target.format.order), sorted_next=False)
    entries = listed[-1].makes if listed else source
    loops = table_insertion(entries, target, True)
    reason = "tables take entries in any order, and grow"
    return *listed, InsertIntoTables(_ONE, target, reason, loops)


def via_entry_list(request: ConversionRequest) -> tuple[Step | Conversion, ...] | Rejected:
    """Copy entries into a sorted list of the coordinates that the target's levels have."""
    format = request.target.format
    middle = _entry_list_format(format)
    if middle is None or format.is_curved:
        return Rejected("a coordinate of the target counts entries, or follows a curve")
    if middle == request.source.format:
        return Rejected("the source is such a list")
    step = _direct(request.to(request.between(middle)))
    if not isinstance(step, Insert) or not step.kernel.facts.inserted.copies:
        return Rejected("entries do not come in the order of the target")
    step = replace(step, reason="entries come in the order of the target, so that a list of them needs no sort")
    return step, plan_conversion(request.onward(step.makes))


def via_rows(request: ConversionRequest) -> tuple[Step | Conversion, ...] | Rejected:
    """Insert the entries of a matrix into unsorted rows, then sort each row on its own.

    Each row costs something even if it is empty, so that a sort of all entries is faster for a few entries in many
    rows. A format by columns is treated in the same way.
    """
    source, format = request.source, request.target.format
    if not config.code.enabled("row-sort"):
        return Rejected("config.disable has row-sort")
    rows = _rows_of(format)
    if rows is None:
        return Rejected("the target does not store a matrix row by row, or column by column")
    if request.facts.empty_coordinates[rows.mode_order[0]]:
        return Rejected("there are fewer entries than rows")
    if format != rows:
        middle = request.between(rows)
        return plan_conversion(request.to(middle)), plan_conversion(request.onward(middle))
    apart = request.between(
        Format(rows.remapping, (Dense(), Compressed(ordered=False, unique=source.format.is_unique)))
    )
    if source.format == apart.format:
        return Rejected("the source has unsorted rows already")
    if not isinstance(_direct(request.onward(apart).by_one_thread()), Append):
        return Rejected("rows cannot be sorted while they are appended")
    kernel = _insertion(request.to(apart))
    if isinstance(kernel, Rejected):
        return kernel
    reason = "entries are put into their rows in the order in which they come"
    return Insert(_ONE, apart, reason, kernel), plan_conversion(request.onward(apart))


def sort_and_append(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """List the entries, sort the list, and append it, with duplicates summed."""
    format = request.target.format
    if not is_appendable(format.uncurved()):
        return Rejected("a level of the target cannot be appended to")
    columns = _list_columns(request)
    if request.is_list_result and request.source.format.remapping != columns:
        return Rejected("the list has other coordinates")
    listed = _listed(request, columns, sorted_next=True)
    # The arrays of a curved format are those of the uncurved one: only the order of the entries differs.
    target = request.target
    packed = tensor_type(target.dtype, format.uncurved(), target.index_dtypes, target.fill)
    steps = *listed, *_sorted(request, listed[-1].makes if listed else request.source, packed)
    if not format.is_curved:
        return steps
    return *steps, ReuseArrays(_ONE, target, "entries are in the order of the curve already", False)


def sort_and_insert(request: ConversionRequest) -> tuple[Step, ...] | Rejected:
    """List the entries, sort the list with duplicates summed, and insert it.

    Entries that meet at a position then follow each other, so that any level above any other finds its own.
    """
    target = request.target
    middle = _entry_list_format(target.format)
    if middle is None:
        return Rejected("a coordinate of the target counts entries")
    packed = request.between(middle)
    kernel = insertion_kernel(packed, target, False, target.format.is_curved)
    if isinstance(kernel, str):
        return Rejected(kernel)
    listed = _listed(request, _list_columns(request), sorted_next=True)
    steps = *listed, *_sorted(request, listed[-1].makes if listed else request.source, packed)
    return *steps, Insert(_ONE, target, "entries that meet at a position follow each other", kernel)


def via_plain_format(request: ConversionRequest) -> tuple[Conversion, ...] | Rejected:
    """Convert to dense and compressed levels over the axes first."""
    source = request.source
    plain = source.format.plain(request.facts.far_longer)
    if source.format == plain:
        return Rejected("the source has the plain format")
    index = source.index_dtypes[0] if request.is_list_result else request.facts.index_dtype
    middle = tensor_type(request.target.dtype, plain, (index,) * len(plain.roles), request.target.fill)
    return plan_conversion(request.to(middle)), plan_conversion(request.onward(middle))


RULES: tuple[Rule, ...] = (
    reuse_arrays,
    sum_duplicates,
    share_arrays,
    insert_by_counting,
    insert_by_threads,
    via_compressed_levels,
    append,
    insert,
    hash_insertion,
    via_entry_list,
    via_rows,
    sort_and_append,
    sort_and_insert,
    via_plain_format,
)
"""The rules, in the order in which they are asked."""

LIST_RESULT_RULES: tuple[Rule, ...] = (hash_insertion, sort_and_append, via_plain_format)
"""The rules for an unsorted coordinate list that a kernel returned, which is sorted where it is."""

_DIRECT: tuple[Callable[[ConversionRequest], tuple[Step, ...] | Rejected], ...] = (
    share_arrays,
    insert_by_counting,
    insert_by_threads,
    append,
    insert,
)


# -- parts of rules ----------------------------------------------------------------------------------------------
def _direct(request: ConversionRequest) -> Step | None:
    """Return the step of the first rule that has one step with a kernel; None if there is none."""
    return next((found[0] for rule in _DIRECT if not isinstance(found := rule(request), Rejected)), None)


def _insertion(request: ConversionRequest) -> Kernel | Rejected:
    kernel = insertion_kernel(request.source, request.target, request.skip_fill)
    return Rejected(kernel) if isinstance(kernel, str) else kernel


def _shareable_insertion(request: ConversionRequest) -> Kernel | Rejected:
    kernel = _insertion(request)
    if isinstance(kernel, Rejected) or kernel.chunked:
        return kernel
    return Rejected("threads cannot share the insertion: the place of an entry depends on others")


def _listed(request: ConversionRequest, columns: Remapping, sorted_next: bool) -> tuple[Step, ...]:
    """Return the step that lists entries with the coordinates of a remapping; no step if the source is such a list."""
    source, format = request.source, coordinate_list_format(columns)
    if request.is_list_result and source.format == format:
        return ()
    list_type = tensor_type(request.target.dtype, format, ("int64",) * len(format.roles), request.target.fill)
    kernel = copier(source, list_type, request.skip_fill)
    exact = source.format.is_compact and not request.skip_fill
    reason = "entries do not come in an order in which the target can take them"
    return (ListEntries(_ONE, list_type, reason, kernel, sorted_next, exact),)


def _sorted(request: ConversionRequest, entries: TensorType, packed: TensorType) -> tuple[Step, ...]:
    """Return the steps that sort a list by the levels, or the curves, of the target, and append it."""
    format, have = request.target.format, entries.format.remapping.coordinates
    order = tuple(have.index(e) for e in _sort_keys(request))
    keep = tuple(have.index(e) for e in format.remapping.coordinates)
    ordered = sorted_type(entries, keep)
    return (
        SortEntries(_ONE, ordered, "the target stores entries in another order", order, keep),
        Append(_ONE, packed, "the list is in order now; duplicates are summed", copier(ordered, packed, False)),
    )


def _sort_keys(request: ConversionRequest) -> tuple[IndexExpr, ...]:
    format = request.target.format
    return format.sorted_by(request.facts.curve_shape) if format.is_curved else format.remapping.coordinates


def _list_columns(request: ConversionRequest) -> Remapping:
    """Return the coordinates of the list that a format is sorted from: those of its levels, and codes of its curves."""
    format = request.target.format
    if format.is_curved:
        codes = [e for e in _sort_keys(request) if e not in format.remapping.coordinates]
        return Remapping((*format.remapping.coordinates, *codes), format.order)
    return format.remapping if format.is_structured else Remapping.identity(format.order)


@lru_cache(maxsize=1024)
def _entry_list_format(format: Format) -> Format | None:
    """Return the format of a sorted list of a format's level coordinates; None if it has none, or one is a counter."""
    coordinates = format.remapping.coordinates
    if not coordinates or any(counters_of(c) for c in coordinates):
        return None
    n = len(coordinates)
    # Only the last level is unique: no two tuples are equal, but their first coordinates may be.
    chain = (Compressed(unique=n == 1), *(Singleton(unique=k == n - 1) for k in range(1, n)))
    return Format(format.remapping, chain)


@lru_cache(maxsize=1024)
def _rows_of(format: Format) -> Format | None:
    """Return the format of the rows of a matrix that is stored row by row; None for other formats.

    Each row is sorted on its own, once its entries are together. A format by columns is treated in the same way.
    """
    plain = format.order == 2 == len(format.levels) and not format.is_structured and is_appendable(format)
    if not plain or format.is_dense or format != format.canonical():
        return None
    return Format(format.remapping, (Dense(), Compressed()))
