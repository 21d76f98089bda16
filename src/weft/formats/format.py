"""A format is a remapping and levels; a tensor type is a format with dtypes and a fill value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ..errors import FormatError
from ..records import cached, record, replace
from ..remapping import Axis, IndexExpr, Remapping
from ..remapping.nodes import may_be_negative, substitute
from .level import LevelFormat
from .levels import Compressed, Dense, Singleton
from .soundness import Condition, conditions, stored_remapping, why_unsound

__all__ = ["Format", "TensorType"]


@record
class Format:
    """How a tensor is stored: a coordinate remapping, and one level format for each coordinate it makes.

    Parameters
    ----------
    remapping : str or Remapping
        E.g. ``"(i,j) -> (j,i)"``.
    levels : sequence of LevelFormat
        From the root of the coordinate hierarchy down.

    Raises
    ------
    FormatError
        When the numbers of levels and coordinates differ.

    Examples
    --------
    >>> from weft.formats import Compressed, Dense, Format
    >>> str(Format("(i,j) -> (j,i)", [Dense(), Compressed()]))
    'csc'
    """

    remapping: Remapping
    levels: tuple[LevelFormat, ...]
    _hash: int = field(compare=False, repr=False)

    def __init__(self, remapping: str | Remapping, levels: Sequence[LevelFormat]):
        if isinstance(remapping, str):
            remapping = Remapping.parse(remapping)
        levels = tuple(levels)
        if len(levels) != len(remapping.coordinates):
            raise FormatError(f"{remapping} makes {len(remapping.coordinates)} coordinates for {len(levels)} levels")
        remapping = stored_remapping(remapping, levels)
        reason = why_unsound(remapping, levels)
        if reason is not None:
            raise FormatError(reason)
        self._set(remapping, levels)

    @classmethod
    def list_of(cls, remapping: Remapping) -> Format:
        """Return the list of the coordinates that a remapping makes of entries, counters among them, as they come.

        Such a list is a step of a conversion. No tensor is kept in it, as counters follow from nothing that is stored.
        """
        rest = [Singleton(ordered=False, unique=False)] * (len(remapping.coordinates) - 1)
        made = object.__new__(cls)
        made._set(remapping, (Compressed(ordered=False, unique=False), *rest))
        return made

    def _set(self, remapping: Remapping, levels: tuple[LevelFormat, ...]) -> None:
        object.__setattr__(self, "remapping", remapping)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "_hash", hash((remapping, levels)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Whether it stores the same in the same way; a string names it whatever its options and promises.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("bsr", 2, blocksize=(3, 2)) == "bsr", parse_format("ds:1,0") == "csr"
        (True, False)
        """
        if isinstance(other, Format):
            if self is other:
                return True
            return self._hash == other._hash and self.remapping == other.remapping and self.levels == other.levels
        if not isinstance(other, str):
            return NotImplemented
        from .catalogue import is_named

        return is_named(other, self)

    def __repr__(self) -> str:
        """Return the expression that makes it.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("csc", 2)
        Format('(i,j) -> (j,i)', [Dense(), Compressed()])
        """
        return f"Format({str(self.remapping)!r}, [{', '.join(map(repr, self.levels))}])"

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickles is made of: hashes of strings differ from process to process, and are not."""
        return Format, (self.remapping, self.levels)

    @property
    def order(self) -> int:
        """Number of axes of the tensors it stores."""
        return self.remapping.order

    @cached
    def options(self) -> Mapping[str, Any]:
        """What the catalogue was told to make it, as ``blocksize`` of a bsr.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("bsr", 2, blocksize=(3, 2)).options
        {'blocksize': (3, 2)}
        """
        from .catalogue import WITH_OPTIONS, options_of

        return {key: value for name in WITH_OPTIONS for key, value in (options_of(name, self) or {}).items()}

    @cached
    def is_structured(self) -> bool:
        """Whether its levels store other coordinates than the tensor's own axes, in some order."""
        return not self.remapping.is_permutation

    @cached
    def is_signed(self) -> bool:
        """Whether a level may have coordinates below 0."""
        return any(may_be_negative(c) for c in self.remapping.coordinates)

    @cached
    def mode_order(self) -> tuple[int, ...]:
        """Level ``k`` stores axis ``mode_order[k]``."""
        return self.remapping.mode_order

    def level_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """How many coordinates each level can have in a tensor of this shape; 0 where only its arrays say."""
        if not self.is_structured:
            return tuple([shape[axis] for axis in self.remapping.mode_order])
        return _level_shape(self.remapping, tuple(shape))

    @cached
    def is_dense(self) -> bool:
        """Whether every coordinate of the tensor has a position, and no other, computed by arithmetic alone."""
        return not self.is_structured and all(level.has_every for level in self.levels)

    @cached
    def is_compact(self) -> bool:
        """Whether every position holds an entry: no padding, no empty slots, no edges of blocks (section 3.3)."""
        return not self.is_structured and all(level.compact and level.gapless for level in self.levels)

    @cached
    def is_canonical(self) -> bool:
        """Whether its levels promise order and no duplicates."""
        return all(level.ordered for level in self.levels) and self.is_unique

    @cached
    def is_partial(self) -> bool:
        """Whether a level shows only some of its positions: then sizes do not say how many entries there are."""
        return any(level.partial for level in self.levels)

    @cached
    def is_unique(self) -> bool:
        """Whether no two entries can have the same coordinates.

        A level that is not unique does no harm where the chain of branchless levels below it ends in a unique one.

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
        """``(level, role)`` of every index array, in storage order; levels count from 0."""
        return tuple((k, role) for k, level in enumerate(self.levels) for role in level.roles)

    @cached
    def is_curved(self) -> bool:
        """Whether some level follows a space-filling curve."""
        return any(level.curved for level in self.levels)

    @property
    def level_groups(self) -> tuple[range, ...]:
        """Levels that store tuples together: each that branches, with the branchless ones below it.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> parse_format("hicoo", 2).level_groups
        (range(0, 2), range(2, 4))
        """
        starts = [k for k, level in enumerate(self.levels) if not level.branchless]
        return tuple(range(begin, end) for begin, end in pairwise([*starts, len(self.levels)]))

    def sorted_by(self, shape: Sequence[int]) -> tuple[IndexExpr, ...]:
        """What entries are sorted by: the coordinates of the levels, or the codes of the curves they follow.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> csc = parse_format("csc", 2)
        >>> csc.sorted_by((4, 6)) == csc.remapping.coordinates
        True
        """
        found: list[IndexExpr] = []
        coordinates, intervals = self.remapping.coordinates, self.remapping.extents(shape)
        for chain in self.level_groups:
            own = coordinates[chain.start : chain.stop]
            if self.levels[chain.start].curved:
                spans = [intervals[k] or (0, 1) for k in chain]
                own = self.levels[chain.start].codes(own, spans)
            found += own
        return tuple(found)

    def uncurved(self) -> Format:
        """The same arrays in the order of coordinates."""
        return Format(self.remapping, [level.uncurved() for level in self.levels]) if self.is_curved else self

    @cached
    def looked_up(self) -> Format | None:
        """The format as which the same arrays find whole coordinates; None where levels do that, or nothing does.

        Examples
        --------
        >>> from weft.formats import parse_format
        >>> [str(level) for level in parse_format("dok", 2).looked_up.levels]
        ['dense', 'spanned']
        """
        found = self.levels[0].looked_up(self.levels[1:]) if self.levels and not self.is_structured else None
        return None if found is None else Format(self.remapping, found)

    @cached
    def conditions(self) -> tuple[Condition, ...]:
        """Return the conditions that the entries of a tensor must satisfy to be stored so."""
        return conditions(self.remapping, self.levels)

    @cached
    def unconditional(self) -> Format:
        """Return the nearest format that asks nothing of the data: of the same levels, else of compressed ones."""
        if not self.conditions:
            return self
        levels = [replace(level, full=False) if level.full and not type(level).full else level for level in self.levels]  # type: ignore[call-arg]
        found = Format(self.remapping, levels)
        return self.plain(wide=True) if found.conditions else found

    @property
    def letters(self) -> str:
        """taco's letters, with the mode order where it is not the identity."""
        text = "".join(_letter(level) for level in self.levels)
        if self.is_structured:
            return f"{text}:{self.remapping}"
        return text if self.remapping.is_identity else f"{text}:{','.join(map(str, self.mode_order))}"

    def canonical(self) -> Format:
        """The same format with every level ordered, and unique where its coordinates can be; nothing else promised."""
        return _canonical(self)

    def unsorted(self, unique: bool = True) -> Format:
        """The same format, whose stored coordinates may come in any order.

        Where they need not be ``unique`` either, and each entry has a position of its own, they may be stored twice.
        """
        loose = [k for k, level in enumerate(self.levels) if "crd" in level.roles]
        last = len(self.levels) - 1
        twice = {last} if not unique and loose == [last] and self.levels[last].placing == "yield" else set()
        return Format(
            self.remapping,
            [replace(v, ordered=v.ordered and k not in loose, unique=v.unique and k not in twice)
             for k, v in enumerate(self.levels)],
        )  # fmt: skip

    def plain(self, wide: bool = False) -> Format:
        """Dense and compressed levels over the axes themselves, in their order; compressed ones alone if ``wide``."""
        return _plain(self.order, wide)

    def reordered(self, mode_order: Sequence[int]) -> Format:
        """The same level formats over another order of the axes."""
        return Format(Remapping(tuple(mode_order)), self.levels)

    def permuted(self, axes: Sequence[int]) -> Format:
        """Return the format of the same arrays with the axes in another order: axis ``a`` is ``axes[a]`` of this."""
        turned = {axis: Axis(a) for a, axis in enumerate(axes)}
        coordinates = tuple(substitute(c, turned) for c in self.remapping.coordinates)
        return Format(Remapping(coordinates, self.order), self.levels)

    @classmethod
    def dense(cls, order: int) -> Format:
        return _dense(order)

    def __str__(self) -> str:
        from .catalogue import name_of

        return name_of(self)


@lru_cache(maxsize=1024)
def _level_shape(remapping: Remapping, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(0 if e is None else e[1] - e[0] for e in remapping.extents(shape))


def _letter(level: LevelFormat) -> str:
    if level.unique:
        return level.letter
    return {"s": "u", "q": "c"}.get(level.letter, level.letter)


@lru_cache(maxsize=1024)
def _canonical(format: Format) -> Format:
    levels: list[LevelFormat] = []
    roots = {k: format.levels[chain.start] for chain in format.level_groups for k in chain}
    for k, level in enumerate(format.levels):
        unique = level.unique or k + 1 == len(format.levels) or not format.levels[k + 1].branchless
        sorts = level.sortable and roots[k].sortable and not roots[k].curved
        made = replace(level, ordered=level.ordered or sorts, unique=unique)
        levels.append(replace(made, full=False) if level.full and not type(level).full else made)  # type: ignore[call-arg]
    found = Format(format.remapping, levels)
    return format if found == format else found


@lru_cache(maxsize=64)
def _plain(order: int, wide: bool) -> Format:
    first = Dense() if order == 2 and not wide else Compressed()
    return Format(Remapping.identity(order), (first, *(Compressed(),) * (order - 1)) if order else ())


@lru_cache(maxsize=64)
def _dense(order: int) -> Format:
    return Format(Remapping.identity(order), (Dense(),) * order)


@record
class TensorType:
    """All that a kernel is specialised to in one operand.

    Parameters
    ----------
    dtype : str
        NumPy's name of the value dtype.
    format : Format
        Levels and remapping.
    index_dtypes : tuple of str
        One of ``int32``, ``int64`` for each index array, in the order of ``format.roles``.
    fill : object
        The value of absent entries.
    """

    dtype: str
    format: Format
    index_dtypes: tuple[str, ...] = ()
    fill: Any = 0
    _negative_zero: bool = field(init=False, repr=False)  # equal to zero, but of another type

    def __post_init__(self) -> None:
        real = self.fill.real if isinstance(self.fill, float | complex) else 0
        negative = self.fill == 0 and math.copysign(1.0, real) < 0
        object.__setattr__(self, "_negative_zero", negative)
        if len(self.index_dtypes) != len(self.format.roles):
            raise FormatError(f"{self.format} has {len(self.format.roles)} index arrays, not {len(self.index_dtypes)}")

    def __hash__(self) -> int:
        return self._hash

    @cached
    def _hash(self) -> int:
        return hash((self.dtype, self.format, self.index_dtypes, self.fill))

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickles is made of: hashes of strings differ from process to process, and are not."""
        return TensorType, (self.dtype, self.format, self.index_dtypes, self.fill)

    def __str__(self) -> str:
        index = f" with {' and '.join(dict.fromkeys(self.index_dtypes))} indices" if self.index_dtypes else ""
        return f"{self.dtype} in {self.format}{index}, fill value {self.fill}"

    @cached
    def without_structure(self) -> TensorType:
        """The type of a number with this dtype and fill value: two of one kind differ in their formats alone."""
        return TensorType(self.dtype, Format.dense(0), (), self.fill)

    @classmethod
    def of(cls, dtype: str, format: Format, index: str = "int32", fill: Any = 0) -> TensorType:
        """A type whose index arrays all have dtype ``index``."""
        return cls(dtype, format, (index,) * len(format.roles), fill)
