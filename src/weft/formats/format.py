"""Formats and tensor types.

A format is a remapping and levels. A tensor type is a format with dtypes and a fill value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache, partial
from itertools import count, pairwise, zip_longest
from typing import Any

from ..errors import FormatError
from ..index_notation.nodes import Access
from ..records import cached, record, replace
from ..remapping import Axis, IndexExpr, Remapping
from ..remapping.nodes import Binary, Constant, may_be_negative, substitute, to_text
from ..tracebacks import ends_at_caller
from .capabilities import CurveOrder, Insertion, WholeLookup
from .level import LevelFormat
from .levels import Compressed, Dense, Singleton
from .soundness import Condition, conditions, stored_remapping, why_unsound

_numbers = count()
"""Numbers of formats and types, which stand for them in keys that are compared quickly."""


@record
class Format:
    """The storage format of a tensor: a coordinate remapping, and a level format for each coordinate that it makes.

    Parameters
    ----------
    remapping : str or Remapping
        The coordinate remapping, such as ``"(i,j) -> (j,i)"``.
    levels : sequence of LevelFormat
        The level formats, from the root of the coordinate hierarchy down.

    Raises
    ------
    FormatError
        If the numbers of levels and coordinates differ, or if the levels cannot store these coordinates.
    TypeError
        If the arguments are no remapping and levels.

    Examples
    --------
    >>> from weft.formats import Compressed, Dense, Format
    >>> str(Format("(i,j) -> (j,i)", [Dense(), Compressed()]))
    'csc'
    """

    remapping: Remapping
    levels: tuple[LevelFormat, ...]
    _hash: int = field(compare=False, repr=False)
    number: int = field(compare=False, repr=False)  # another one for each object, for keys that are compared quickly

    @ends_at_caller
    def __init__(self, remapping: str | Remapping, levels: Sequence[LevelFormat] = ()):
        if isinstance(remapping, str):
            remapping = Remapping.parse(remapping)
        if not isinstance(remapping, Remapping):
            raise TypeError(
                f"a Format is made of a remapping, such as '(i,j) -> (j,i)', and levels, not of {remapping!r}; "
                "A.layout is the Format of a tensor A"
            )
        if not isinstance(levels, Iterable) or not all(isinstance(level, LevelFormat) for level in levels):
            raise TypeError(
                f"the levels of a Format are objects such as Dense() and Compressed(), in a list, not {levels!r}"
            )
        levels = tuple(levels)
        if len(levels) != len(remapping.coordinates):
            raise FormatError(f"{remapping} makes {len(remapping.coordinates)} coordinates for {len(levels)} levels")
        self._set(*_sound(remapping, levels))

    @classmethod
    def list_of(cls, remapping: Remapping) -> Format:
        """Return the format of a coordinate list with the coordinates that a remapping makes, in any order.

        Counters may be among the coordinates. Such a list is a step of a conversion. No tensor has this format, since
        the value of a counter does not follow from anything that is stored.

        Parameters
        ----------
        remapping : Remapping
            The remapping.
        """
        rest = [Singleton(ordered=False, unique=False)] * (len(remapping.coordinates) - 1)
        # ``__init__`` refuses counters in levels that do not count.
        return sound_format(remapping, (Compressed(ordered=False, unique=False), *rest))

    def _set(self, remapping: Remapping, levels: tuple[LevelFormat, ...]) -> None:
        object.__setattr__(self, "remapping", remapping)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "_hash", hash((remapping, levels)))
        object.__setattr__(self, "number", next(_numbers))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Return whether two formats have equal remappings and levels.

        A string equals every format that it names. The format may have any options, and may lack properties such as
        ``ordered``.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("bsr", 2, blocksize=(3, 2)) == "bsr", parse_format("ds:1,0") == "csr"
        (True, False)
        """
        if isinstance(other, Format):
            if self is other:
                return True
            # Most unequal formats have unequal hashes, which are quick to compare.
            if self._hash != other._hash or self.levels != other.levels:
                return False
            return self.remapping is other.remapping or self.remapping == other.remapping
        if not isinstance(other, str):
            return NotImplemented
        return NAMING[0].is_named(other, self)

    def __repr__(self) -> str:
        """Return the constructor call of the format.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("csc", 2)
        Format('(i,j) -> (j,i)', [Dense(), Compressed()])
        """
        return f"Format({str(self.remapping)!r}, [{', '.join(map(repr, self.levels))}])"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a name or else the constructor, with arguments, for pickle.

        The hash is left out, since hashes of strings differ between processes.
        """
        return self._pickled

    @cached
    def _pickled(self) -> tuple[Any, ...]:
        parse_format = NAMING[0].parse_format
        name = NAMING[0].name_of(self)
        try:
            named = parse_format(name, self.order)
        except FormatError:
            named = None
        if named is not None and (named.remapping, named.levels) == (self.remapping, self.levels):
            return parse_format, (name, self.order)
        return Format, (self.remapping, self.levels)

    @property
    def order(self) -> int:
        """Number of axes of the tensors that the format stores.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csr"](2).order
        2
        """
        return self.remapping.order

    @cached
    def options(self) -> Mapping[str, Any]:
        """Options with which the catalogue makes the format, such as ``blocksize`` of bsr.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("bsr", 2, blocksize=(3, 2)).options
        {'blocksize': (3, 2)}
        """
        return NAMING[0].all_options(self)

    @cached
    def is_structured(self) -> bool:
        """Return whether the levels store other coordinates than the axes of the tensor in some order.

        Examples
        --------
        >>> import weft
        >>> weft.formats["dia"](2).is_structured, weft.formats["csr"](2).is_structured
        (True, False)
        """
        return not self.remapping.is_permutation

    @cached
    def block_sizes(self) -> dict[IndexExpr, int]:
        """Sizes of the dense blocks that are stored whole, by the coordinate inside a block, such as ``i%4``."""
        return {
            c: c.right.value
            for c, level in zip(self.remapping.coordinates, self.levels, strict=True)
            if level.full and isinstance(c, Binary) and c.op == "%" and isinstance(c.right, Constant)
        }

    @cached
    def is_signed(self) -> bool:
        """Return whether a level may have coordinates below 0."""
        return any(may_be_negative(c) for c in self.remapping.coordinates)

    @cached
    def mode_order(self) -> tuple[int, ...]:
        """Axes in the order of the levels: level ``k`` stores axis ``mode_order[k]``.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csc"](2).mode_order
        (1, 0)
        """
        return self.remapping.mode_order

    def level_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the number of coordinates that each level can have in a tensor.

        The number is 0 for the level of a counter, since only its arrays tell it.

        Parameters
        ----------
        shape : sequence of int
            The shape of the tensor.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csr"](2).level_shape((2, 3))
        (2, 3)
        """
        if not self.is_structured:
            return tuple([shape[axis] for axis in self.remapping.mode_order])
        return self._structured_shape(tuple(shape))

    @cached
    def _structured_shape(self) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
        # Each format has its own cache, whose keys are quicker to hash than remappings are.
        return lru_cache(maxsize=64)(partial(_level_shape, self.remapping))

    @cached
    def is_dense(self) -> bool:
        """Return whether the values are the elements of an array, in the order of the levels.

        Examples
        --------
        >>> import weft
        >>> weft.formats["dense"](2).is_dense, weft.formats["csr"](2).is_dense
        (True, False)
        """
        return not self.is_structured and all(level.row_major for level in self.levels)

    @cached
    def is_full(self) -> bool:
        """Return whether every coordinate of the tensor is located by arithmetic, so that none is implicit.

        Examples
        --------
        >>> import weft
        >>> weft.formats["dense"](2).is_full, weft.formats["csr"](2).is_full
        (True, False)
        """
        return not self.is_structured and all(level.has_every for level in self.levels)

    @cached
    def is_compact(self) -> bool:
        """Return whether every position holds an entry (2018, section 3.3).

        There is then no padding, no empty slot, and no position of a block beyond the edge of the tensor.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csr"](2).is_compact, weft.formats["dia"](2).is_compact
        (True, False)
        """
        return not self.is_structured and all(level.compact and level.gapless for level in self.levels)

    @cached
    def is_padded(self) -> bool:
        """Return whether the last coordinates come in whole intervals: diagonals, bands, blocks, or everything.

        Values in them that equal the fill value are padding. Other formats store each entry with a coordinate of its
        own, so that such values are entries there.

        Examples
        --------
        >>> import weft
        >>> names = ("csr", "ell", "hash", "dia", "bsr", "dense")
        >>> [name for name in names if weft.formats[name](2).is_padded]
        ['dia', 'bsr', 'dense']
        """
        own = [level for level in self.levels if level.shown.roles or level.shown.borrows or not level.branchless]
        return bool(own) and own[-1].iterates_values and not getattr(own[-1], "misses", False)

    @cached
    def is_canonical(self) -> bool:
        """Return whether the levels guarantee sorted coordinates without duplicates.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csr"](2).is_canonical
        True
        """
        return all(level.ordered for level in self.levels) and self.is_unique

    @cached
    def is_partial(self) -> bool:
        """Return whether a level shows only some of its positions.

        The sizes of levels then do not tell the number of entries.
        """
        return any(level.partial for level in self.levels)

    @cached
    def is_unique(self) -> bool:
        """Return whether no two entries can have the same coordinates.

        A level need not be unique if the chain of branchless levels below it ends in a unique one.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("uq").is_unique, parse_format("us").is_unique
        (True, False)
        """
        last = len(self.levels) - 1
        return all(level.unique or (k < last and self.levels[k + 1].branchless) for k, level in enumerate(self.levels))

    @cached
    def roles(self) -> tuple[tuple[int, str], ...]:
        """Pairs ``(level, role)`` of the index arrays, in storage order; levels count from 0."""
        return tuple((k, role) for k, level in enumerate(self.levels) for role in level.roles)

    @cached
    def is_curved(self) -> bool:
        """Return whether some level follows a space-filling curve."""
        return any(level.capability(CurveOrder) for level in self.levels)

    @cached
    def walked_levels(self) -> tuple[LevelFormat, ...]:
        """Levels with the properties that loops over all of them can rely on.

        If a level may repeat a coordinate and the level below branches, the children of equal coordinates are not one
        segment in order. Loops then visit each position by itself, as where equal coordinates are apart: coordinates
        come in no order, and not once each even if the level is full.
        """
        return tuple(
            replace(v, ordered=False, **({"full": False} if v.full and not type(v).full else {}))
            if not v.unique and not (v.ordered and (below is None or below.branchless))
            else v
            for v, below in zip_longest(self.levels, self.levels[1:])
        )

    @property
    def level_groups(self) -> tuple[range, ...]:
        """Groups of levels that store tuples together: each branching level with the branchless levels below it.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("hicoo", 2).level_groups
        (range(0, 2), range(2, 4))
        """
        starts = [k for k, level in enumerate(self.levels) if not level.branchless]
        return tuple(range(begin, end) for begin, end in pairwise([*starts, len(self.levels)]))

    def sorted_by(self, shape: Sequence[int]) -> tuple[IndexExpr, ...]:
        """Return the expressions by which entries are sorted: coordinates of levels, or codes of curves.

        Parameters
        ----------
        shape : sequence of int
            The shape of the tensor.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> csc = parse_format("csc", 2)
        >>> csc.sorted_by((4, 6)) == csc.remapping.coordinates
        True
        """
        keys: list[IndexExpr] = []
        coordinates, intervals = self.remapping.coordinates, self.remapping.extents(shape)
        for chain in self.level_groups:
            # A curve runs through the coordinates of a whole chain.
            parts = coordinates[chain.start : chain.stop]
            curve = self.levels[chain.start].capability(CurveOrder)
            if curve is not None:
                # No curve runs through a counter, which has no interval.
                spans = [intervals[k] or (0, 1) for k in chain]
                parts = curve.codes(parts, spans)
            keys += parts
        return tuple(keys)

    def uncurved(self) -> Format:
        """Return the format that has the same arrays, sorted by coordinate instead of along a curve."""
        if not self.is_curved:
            return self
        curves = [level.capability(CurveOrder) for level in self.levels]
        levels = [level if c is None else c.uncurved() for level, c in zip(self.levels, curves, strict=True)]
        return Format(self.remapping, levels)

    @cached
    def looked_up(self) -> Format | None:
        """Format with which the same arrays locate whole coordinates, or None.

        None means that the levels themselves locate coordinates, or that nothing does.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> [str(level) for level in parse_format("dok", 2).looked_up.levels]
        ['dense', 'spanned']
        """
        if not self.levels or self.is_structured:
            return None
        lookup = self.levels[0].capability(WholeLookup)
        found = None if lookup is None else lookup.looked_up(self.levels[1:])
        return None if found is None else Format(self.remapping, found)

    @cached
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions that the entries of a tensor must satisfy to be stored in the format."""
        return conditions(self.remapping, self.levels)

    @cached
    def unconditional(self) -> Format:
        """Nearest format without conditions: it has the same levels if possible, and compressed levels otherwise."""
        if not self.conditions:
            return self
        # The property ``full`` can be dropped. A branchless level cannot get several children.
        levels = [replace(level, full=False) if level.full and not type(level).full else level for level in self.levels]  # type: ignore[call-arg]
        found = Format(self.remapping, levels)
        return self.plain(no_dense_levels=True) if found.conditions else found

    @property
    def letters(self) -> str:
        """Letters of taco for the levels, with the mode order if it is not the identity.

        The letters of a structured format are followed by its remapping.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csr"](2).letters
        'ds'
        """
        text = "".join(_letter(level) for level in self.levels)
        if self.is_structured:
            return f"{text}:{self.remapping}"
        return text if self.remapping.is_identity else f"{text}:{','.join(map(str, self.mode_order))}"

    def canonical(self) -> Format:
        """Return the same format with every level ordered and unique if it can be, and full only by construction.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csr"](2).canonical() == "csr"
        True
        """
        return _canonical(self)

    def unsorted(self, unique: bool = True) -> Format:
        """Return the same format, except that stored coordinates may be in any order.

        Parameters
        ----------
        unique : bool, optional
            If false, and if each entry has a position of its own, coordinates may also be stored twice.
        """
        loose = [k for k, level in enumerate(self.levels) if "crd" in level.roles]
        last = len(self.levels) - 1
        # Each entry has a position of its own if the last level yields one and no level above stores coordinates.
        twice = {last} if not unique and loose == [last] and self.levels[last].placing == "yield" else set()
        return Format(
            self.remapping,
            [replace(v, ordered=v.ordered and k not in loose, unique=v.unique and k not in twice)
             for k, v in enumerate(self.levels)],
        )  # fmt: skip

    def plain(self, no_dense_levels: bool = False) -> Format:
        """Return the format of plain levels over the axes in their order.

        A matrix gets a dense and a compressed level. Tensors of other orders get compressed levels.

        Parameters
        ----------
        no_dense_levels : bool, optional
            If true, matrices get compressed levels, too, since a dense level takes memory for every row.
        """
        return _plain(self.order, no_dense_levels)

    def reordered(self, mode_order: Sequence[int]) -> Format:
        """Return the format with the same level formats over another order of the axes.

        Parameters
        ----------
        mode_order : sequence of int
            The axis of each level.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csr"](2).reordered((1, 0)) == "csc"
        True
        """
        return Format(Remapping(tuple(mode_order)), self.levels)

    def permuted(self, axes: Sequence[int]) -> Format:
        """Return the format of the same arrays with the axes in another order.

        Parameters
        ----------
        axes : sequence of int
            The axis of this format that each axis of the result is.

        Examples
        --------
        >>> import weft
        >>> weft.formats["csr"](2).permuted((1, 0)) == "csc"
        True
        """
        turned = {axis: Axis(a) for a, axis in enumerate(axes)}
        coordinates = tuple(substitute(c, turned) for c in self.remapping.coordinates)
        return Format(Remapping(coordinates, self.order), self.levels)

    @classmethod
    def dense(cls, order: int) -> Format:
        return _dense(order)

    def __str__(self) -> str:
        return NAMING[0].name_of(self)


@record
class Naming:
    """Functions of the catalogue, which imports this module and registers them in ``NAMING``."""

    name_of: Callable[[Format], str]
    is_named: Callable[[str, Format], bool]
    parse_format: Callable[..., Format]
    all_options: Callable[[Format], Mapping[str, Any]]


NAMING: list[Naming] = []


def _level_shape(remapping: Remapping, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(0 if e is None else e[1] - e[0] for e in remapping.extents(shape))


def _letter(level: LevelFormat) -> str:
    return level.letter if level.unique or level.repeated_letter is None else level.repeated_letter


@lru_cache(maxsize=1024)
def _canonical(format: Format) -> Format:
    levels: list[LevelFormat] = []
    roots = {k: format.levels[chain.start] for chain in format.level_groups for k in chain}
    for k, level in enumerate(format.levels):
        # Only the last level of a chain must be unique: those above repeat their coordinates for different tuples.
        unique = level.unique or k + 1 == len(format.levels) or not format.levels[k + 1].branchless
        # Tuples are sorted by the first level of their chain, if it does not follow a curve.
        sorts = level.sortable and roots[k].sortable and not roots[k].capability(CurveOrder)
        made = replace(level, ordered=level.ordered or sorts, unique=unique)
        levels.append(replace(made, full=False) if level.full and not type(level).full else made)  # type: ignore[call-arg]
    found = Format(format.remapping, levels)
    return format if found == format else found  # the same object is quickest to compare


@lru_cache(maxsize=64)
def _plain(order: int, no_dense_levels: bool) -> Format:
    first = Dense() if order == 2 and not no_dense_levels else Compressed()
    return Format(Remapping.identity(order), (first, *(Compressed(),) * (order - 1)) if order else ())


@lru_cache(maxsize=64)
def _dense(order: int) -> Format:
    return Format(Remapping.identity(order), (Dense(),) * order)


@lru_cache(maxsize=4096)
def _sound(remapping: Remapping, levels: tuple[LevelFormat, ...]) -> tuple[Remapping, tuple[LevelFormat, ...]]:
    """Return what a format stores; the same objects for equal ones, since these are quickest to compare."""
    # Users may write ``i`` below ``i/4``, where a dense level has the coordinate ``i%4``.
    remapping = stored_remapping(remapping, levels)
    if (reason := why_unsound(remapping, levels)) is not None:
        raise FormatError(reason)
    return remapping, levels


@lru_cache(maxsize=4096)
def shared_format(remapping: Remapping, levels: tuple[LevelFormat, ...]) -> Format:
    """Return the format of a remapping and levels, the same object for equal ones, which are then quickly compared."""
    return Format(remapping, levels)


def sound_format(remapping: Remapping, levels: tuple[LevelFormat, ...]) -> Format:
    """Return the format of a remapping and levels that are known to be sound, without the proof."""
    made = object.__new__(Format)
    made._set(remapping, levels)
    return made


@lru_cache(maxsize=4096)
def level_variables(access: Access, format: Format) -> tuple[str, ...]:
    """Return the tensor path of an access: one variable for each level, outermost first.

    A level that stores an axis has the variable of that axis. Any other level has a variable of its own, named by the
    expression that the remapping makes of the axes' variables (``i/2``). Levels of two tensors with the same expression
    therefore share a variable. The variable of a counter (``#i``) is never shared: its name includes the access.
    """
    if not format.is_structured:
        return tuple([access.indices[axis] for axis in format.mode_order])
    texts = [to_text(c, access.indices) for c in format.remapping.coordinates]
    read = f"@{access.tensor}({','.join(access.indices)})"
    return tuple(text + read if "#" in text else text for text in texts)


@lru_cache(maxsize=256)
def lists_diagonals(format: Format) -> bool:
    """Return whether the outermost level lists the diagonals of a matrix that have entries, by their offsets."""
    first = format.remapping.coordinates[0] if format.order == 2 else None
    is_offset = isinstance(first, Binary) and first.op == "-" and {first.left, first.right} == {Axis(0), Axis(1)}
    return is_offset and "crd" in format.levels[0].roles


def dtypes_of(types: Mapping[str, TensorType]) -> dict[str, str]:
    """Return the dtype of each tensor."""
    return {name: type.dtype for name, type in types.items()}


@record
class TensorType:
    """The type of a tensor: everything that a kernel is specialized to in one operand."""

    dtype: str  # NumPy's name of the dtype of values
    format: Format
    index_dtypes: tuple[str, ...] = ()  # ``int32`` or ``int64`` for each index array, in the order of ``format.roles``
    fill: Any = 0  # the fill value: the value of all implicit entries
    _negative_zero: bool = field(init=False, repr=False)  # -0.0 equals 0.0, but types differ
    number: int = field(init=False, repr=False, compare=False)  # another one for each object, for quick keys

    def __post_init__(self) -> None:
        # Without this field, types with the fill values 0.0 and -0.0 would be equal and share kernels.
        real = self.fill.real if isinstance(self.fill, float | complex) else 0
        negative = self.fill == 0 and math.copysign(1.0, real) < 0
        object.__setattr__(self, "_negative_zero", negative)
        object.__setattr__(self, "number", next(_numbers))
        if len(self.index_dtypes) != len(self.format.roles):
            raise FormatError(f"{self.format} has {len(self.format.roles)} index arrays, not {len(self.index_dtypes)}")

    def __hash__(self) -> int:
        return self._hash

    @cached
    def _hash(self) -> int:
        return hash((self.dtype, self.format, self.index_dtypes, self.fill))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor and its arguments for pickle.

        The hash is left out, since hashes of strings differ between processes.
        """
        return TensorType, (self.dtype, self.format, self.index_dtypes, self.fill)

    def __str__(self) -> str:
        index = f" with {' and '.join(dict.fromkeys(self.index_dtypes))} indices" if self.index_dtypes else ""
        return f"{self.dtype} in {self.format}{index}, fill value {self.fill}"

    def levels_of(self, access: Access) -> list[tuple[str, LevelFormat]]:
        """Return the levels of an access to the tensor, outermost first, each with its variable."""
        return list(zip(level_variables(access, self.format), self.format.levels, strict=True))

    @cached
    def without_structure(self) -> TensorType:
        """Type of a number with the same dtype and fill value; it is a key for results that depend on these alone."""
        return _number_type(self.dtype, self.fill, self._negative_zero)

    @classmethod
    def of(cls, dtype: str, format: Format, index: str = "int32", fill: Any = 0) -> TensorType:
        """Return a type whose index arrays all have the same dtype."""
        # The same object for equal members is quickest to compare; -0.0 equals 0.0, and so is no key.
        return (_shared_type if type(fill) is int else cls)(dtype, format, (index,) * len(format.roles), fill)


_shared_type = lru_cache(maxsize=4096, typed=True)(TensorType)


@lru_cache(maxsize=256, typed=True)
def _number_type(dtype: str, fill: Any, negative_zero: bool) -> TensorType:
    """Return the type of a number, the same object for equal ones, which are then quickly compared."""
    return TensorType(dtype, Format.dense(0), (), fill)


def scratch_dtype(type: TensorType, level: LevelFormat | None = None, role: str = "") -> str:
    """Return the dtype of an array that only assembly needs, which is wide enough for positions of the result."""
    # A dtype that holds the coordinates and positions of the result holds all counts of the assembly.
    if level is not None and role in level.require(Insertion).flags:
        return "uint8"
    return "int32" if all(dtype == "int32" for dtype in type.index_dtypes) else "int64"
