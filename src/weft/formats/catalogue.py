"""The catalogue of formats by name, taco's letters, and the registry of users' formats.

An entry of the catalogue makes the format for a given order (number of axes), since most names have formats of any
order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, permutations
from typing import Any, Literal, TypeAlias

from ..errors import FormatError, NotationError
from ..hints import did_you_mean
from ..remapping import Axis, Binary, Constant, Remapping, inverse_permutation
from ..sections import sections
from . import levels
from .format import NAMING, Format, Naming
from .level import LevelFormat
from .levels import (
    Banded,
    Capped,
    Compressed,
    Dense,
    Growable,
    Hashed,
    InterleavedCompressed,
    InterleavedSingleton,
    Jagged,
    Morton,
    Offset,
    Ragged,
    Range,
    Singleton,
    Sliced,
    Slots,
    Spilled,
    Squeezed,
)
from .options import check_options

NamedFormat: TypeAlias = Literal[
    "dense", "dense_f", "coo", "coo_aos", "csr", "csc", "dcsr", "dcsc", "csf", "dia", "ell", "hyb", "jad", "sell",
    "bsr", "csb", "mode_generic", "hicoo", "hash", "gcxs", "hash_vector", "dok", "lil", "skyline", "banded",
]  # fmt: skip
"""Names of the catalogue, which editors offer; a test compares them."""
FormatLike: TypeAlias = "NamedFormat | str | Format"


class FormatName(str):
    """The name of a tensor's format, as a string that keeps the format itself, for formats that the name does not tell.

    A function that takes a format uses ``layout`` if it gets such a name, so that options are not lost.

    Examples
    --------
    >>> import weft
    >>> A = weft.eye(6, format="bsr").asformat("bsr", blocksize=(3, 2))
    >>> A.format in {"bsr", "csr"}, weft.ones((6, 6), format=A.format).blocksize
    (True, (3, 2))
    """

    __slots__ = ("layout",)
    layout: Format  # the format that the name means, with options such as the size of blocks

    def __new__(cls, text: str, layout: Format) -> FormatName:
        made = super().__new__(cls, text)
        made.layout = layout
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return FormatName, (str(self), self.layout)


_SPELLED = [level for name in levels.__all__ if (level := getattr(levels, name)).spelled]
_LETTERS: dict[str, LevelFormat] = {
    **{level.letter: level() for level in _SPELLED},
    **{level.repeated_letter: level(unique=False) for level in _SPELLED if level.repeated_letter is not None},
}


def _matrix(name: str, order: int, remapping: str, levels: tuple[LevelFormat, ...], **sizes: int) -> Format:
    if order != 2:
        raise FormatError(f"format {name!r} stores matrices; this tensor has {order} axes")
    return Format(Remapping.parse(remapping, **sizes), levels)


def _coo(order: int) -> Format:
    if order < 2:
        return Format(Remapping.identity(order), (Compressed(),) * order)
    # Levels above the last repeat coordinates. The last is unique, since the whole coordinates are.
    middle = (Singleton(unique=False),) * (order - 2)
    return Format(Remapping.identity(order), (Compressed(unique=False), *middle, Singleton()))


def _csr(order: int) -> Format:
    if order == 1:  # as in SciPy, where csr of a vector has one row
        return _coo(1)
    return _matrix("csr", order, "(i,j) -> (i,j)", (Dense(), Compressed()))


def _coo_aos(order: int) -> Format:
    if order < 2:
        return _coo(order)
    rest = [InterleavedSingleton(unique=k == order - 1, of=order, place=k) for k in range(1, order)]
    return Format(Remapping.identity(order), (InterleavedCompressed(unique=False, of=order), *rest))


def _gcxs(order: int, compressed_axes: int | Sequence[int] = 0) -> Format:
    rows = (compressed_axes,) if isinstance(compressed_axes, int) else tuple(compressed_axes)
    if order < 2:
        return _coo(order)
    if not 0 < len(set(rows)) == len(rows) < order or not all(0 <= axis < order for axis in rows):
        raise FormatError(f"compressed_axes of 'gcxs' are some of the {order} axes, not {compressed_axes!r}")
    # The other axes become one coordinate: the row-major position in them.
    columns = [axis for axis in range(order) if axis not in rows]
    position = f"i{columns[0]}"
    for axis in columns[1:]:
        position = f"({position})*size(i{axis})+i{axis}"
    axes = ",".join(f"i{axis}" for axis in range(order))
    levels = (*(Dense(),) * len(rows), Compressed())
    return Format(Remapping.parse(f"({axes}) -> ({','.join(f'i{axis}' for axis in rows)},{position})"), levels)


def _hash_vector(order: int) -> Format:
    if order != 1:
        raise FormatError(f"format 'hash_vector' stores vectors; this tensor has {order} axes")
    return Format(Remapping.identity(1), (Hashed(),))


def _blocks(name: str, size: int | Sequence[int], order: int) -> tuple[int, ...]:
    """Return the size of a block along each axis, or raise ``FormatError`` for sizes that do not fit."""
    sizes = (size,) * order if isinstance(size, int) else tuple(size)
    if len(sizes) != order or any(not isinstance(n, int) or n < 1 for n in sizes):
        raise FormatError(f"a block of {name!r} has {order} sizes of 1 or more, not {size!r}")
    return sizes


def _blocked(order: int, sizes: tuple[int, ...], inner: str) -> Remapping:
    """Return the remapping to the coordinates of blocks, followed by coordinates of entries.

    Coordinates of entries are counted inside the block if ``inner`` is ``%``, and are those of the tensor otherwise.
    """
    axes = [f"i{axis}" for axis in range(order)]
    blocks = [f"{v}/{n}" for v, n in zip(axes, sizes, strict=True)]
    inside = [f"{v}%{n}" if inner == "%" else v for v, n in zip(axes, sizes, strict=True)]
    return Remapping.parse(f"({','.join(axes)}) -> ({','.join((*blocks, *inside))})")


def _bsr(order: int, blocksize: int | Sequence[int] = 2) -> Format:
    if order != 2:
        raise FormatError(f"format 'bsr' stores matrices; this tensor has {order} axes")
    return Format(_blocked(2, _blocks("bsr", blocksize, 2), "%"), (Dense(), Compressed(), Dense(), Dense()))


def _csb(order: int, block: int | Sequence[int] = 128) -> Format:
    if order != 2:
        raise FormatError(f"format 'csb' stores matrices; this tensor has {order} axes")
    levels = (Dense(), Dense(), Compressed(unique=False), Singleton())
    return Format(_blocked(2, _blocks("csb", block, 2), ""), levels)


def _mode_generic(order: int, block: int | Sequence[int] = 2) -> Format:
    return Format(
        _blocked(order, _blocks("mode_generic", block, order), "%"), (*_coo(order).levels, *(Dense(),) * order)
    )


def _hicoo(order: int, block: int | Sequence[int] = 128) -> Format:
    # Two lists in Morton order: the blocks, and the entries inside each block.
    rest = [Singleton(ordered=False, unique=k == order - 1) for k in range(1, order)]
    levels = (Morton(unique=order < 2), *rest)
    return Format(_blocked(order, _blocks("hicoo", block, order), "%"), (*levels, *levels))


def _hyb(order: int, width: int = 0) -> Format:
    return _matrix("hyb", order, "(i,j) -> (#i,i,j)", (Capped(width=width), Spilled(), Singleton(padded=True)))


def _sell(order: int, window: int = 256) -> Format:
    if not isinstance(window, int) or window < 1:
        raise FormatError(f"a window of 'sell' has 1 row or more, not {window!r}")
    levels = (Dense(), Ragged(), Jagged(window=window), Singleton())
    return _matrix("sell", order, f"(i,j) -> (i/{window},#i,i,j)", levels)


def _dok(order: int) -> Format:
    if order == 1:  # one table over one coordinate
        return _hash_vector(1)
    middle = (Singleton(ordered=False, unique=False, padded=True),) * (order - 2)
    rest = (*middle, *(Singleton(ordered=False, padded=True),) * (order > 1))
    return Format(Remapping.identity(order), (Slots(), *rest) if order else ())


_CATALOGUE: dict[str, Callable[..., Format]] = {
    "dense": Format.dense,
    "dense_f": lambda n: Format(Remapping(tuple(reversed(range(n)))), (Dense(),) * n),
    "coo": _coo,
    "coo_aos": _coo_aos,
    "csr": _csr,
    "csc": lambda n: _matrix("csc", n, "(i,j) -> (j,i)", (Dense(), Compressed())),
    "dcsr": lambda n: _matrix("dcsr", n, "(i,j) -> (i,j)", (Compressed(), Compressed())),
    "dcsc": lambda n: _matrix("dcsc", n, "(i,j) -> (j,i)", (Compressed(), Compressed())),
    "csf": lambda n: Format(Remapping.identity(n), (Compressed(),) * n),
    "dia": lambda n: _matrix("dia", n, "(i,j) -> (j-i,j,i)", (Squeezed(), Range(), Offset())),
    "ell": lambda n: _matrix("ell", n, "(i,j) -> (#i,i,j)", (Sliced(), Dense(), Singleton(padded=True))),
    "hyb": _hyb,
    "jad": lambda n: _matrix("jad", n, "(i,j) -> (#i,i,j)", (Sliced(), Jagged(), Singleton())),
    "sell": _sell,
    "bsr": _bsr,
    "csb": _csb,
    "mode_generic": _mode_generic,
    "hicoo": _hicoo,
    "hash": lambda n: Format(Remapping.identity(n), (*(Dense(),) * (n - 1), Hashed())),
    "gcxs": _gcxs,
    "hash_vector": _hash_vector,
    "dok": _dok,
    "lil": lambda n: _matrix("lil", n, "(i,j) -> (i,j)", (Dense(), Growable())),
    "skyline": lambda n: _matrix("skyline", n, "(i,j) -> (i,j)", (Dense(), Banded(diagonal=True))),
    "banded": lambda n: _matrix("banded", n, "(i,j) -> (i,j)", (Dense(), Banded())),
}

_WHEN = {
    "dense": "Most elements are stored values, or an operand is looked up at random.",
    "dense_f": "As `dense`, for memory in Fortran order.",
    "coo": "Data as it comes: cheap to make, for tensors that are used once or few times. Any number of axes.",
    "coo_aos": "As `coo`, the coordinates of one entry side by side: one cache line an entry.",
    "csr": "The default for matrices: products with vectors and dense matrices, sums, row access.",
    "csc": "As `csr` by columns: column access, products with the transpose.",
    "dcsr": "Matrices most of whose rows are empty.",
    "dcsc": "Matrices most of whose columns are empty.",
    "csf": "Tensors of any order that are used often: a tree of coordinates, every prefix stored once.",
    "dia": "Stencils and bands: few diagonals, nearly full. No coordinate of an entry is stored.",
    "ell": "Matrices with nearly as many entries in every row: slices of one entry a row, walked with unit stride.",
    "hyb": "As `ell` where a few rows are longer: `width` slices, and a list of what exceeds them.",
    "jad": "As `ell` for rows of different lengths: rows by length, longest first, so that nothing is padded.",
    "sell": "As `jad`, within windows of rows: the elements of a result that a window adds up stay in the cache.",
    "bsr": "Dense blocks of one size, as finite elements with several unknowns make them.",
    "csb": "Large sparse blocks: products with a matrix and with its transpose cost the same.",
    "mode_generic": "A list of small dense blocks, any number of axes.",
    "hicoo": "Blocks, and the entries inside each, in Morton order: what is near in any direction is near in memory.",
    "hash": "Random access to sparse rows: products in which few entries of it are asked for.",
    "gcxs": "Tensors as rows and columns: some axes together are rows, the others one coordinate (pydata/sparse).",
    "hash_vector": "A sparse vector that is looked up at random.",
    "dok": "Entries put in one by one, in any order.",
    "lil": "Rows that grow one by one.",
    "skyline": "Rows filled from the first entry to the diagonal: factors of sparse Cholesky and LU.",
    "banded": "Rows filled between their first and last entry.",
}
# Drawings (2018, Fig. 2 and Table 6) show the matrix of 4 rows and 6 columns with the entries (0,0)=5 (0,1)=1 (1,0)=7
# (1,1)=3 (3,0)=8 (3,3)=4 (3,4)=9; that of a vector shows its last row.


class Entry:
    """An entry of the catalogue: a callable that returns the format for a number of axes and options.

    Examples
    --------
    >>> formats["bsr"].options
    ('blocksize',)
    >>> print(formats["dia"].__doc__)
    Stencils and bands: few diagonals, nearly full. No coordinate of an entry is stored.
    <BLANKLINE>
    j-i: squeezed
        size = [4]
        crd = [-3 -1  0  1]
    j: range
        width = [6]
    i: offset
    vals = [8 0 0 0 0 0 7 0 0 0 0 0 5 3 0 4 0 0 0 1 0 0 9 0]
    <BLANKLINE>
    """

    def __init__(self, name: str, make: Callable[..., Format]):
        self.name, self.make = name, make
        texts = (_WHEN.get(name), sections(__file__, "drawings.txt").get(name))
        self.__doc__ = "\n\n".join(filter(None, texts)) or make.__doc__

    def __call__(self, order: int, **options: Any) -> Format:
        takes = _takes(self.name)
        wrong = [name for name in options if takes is not None and name not in takes]
        if wrong:
            listed = ", ".join(self.options) or "no options"
            hint = did_you_mean(wrong[0], self.options)
            raise FormatError(f"format {self.name!r} takes {listed}, not {wrong[0]}{hint}")
        try:
            return self.make(order, **options)
        except TypeError as error:
            if not options:  # the function itself is at fault
                raise
            raise FormatError(f"format {self.name!r} does not take the options {options}: {error}") from None

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that the format has."""
        return tuple(inspect.signature(self.make).parameters)[1:]

    def __repr__(self) -> str:
        return f"<format {self.name}>"


class _Formats(Mapping[str, Entry]):
    """The catalogue as a read-only mapping from names to entries."""

    def __getitem__(self, name: str) -> Entry:
        return Entry(name, _CATALOGUE[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CATALOGUE)

    def __len__(self) -> int:
        return len(_CATALOGUE)

    def __repr__(self) -> str:
        return f"<formats {', '.join(_CATALOGUE)}>"


formats = _Formats()


def register_format(name: str, make: Callable[..., Format] | Format) -> None:
    """Register a format under a name, which is accepted wherever a format is.

    Parameters
    ----------
    name : str
        The new name.
    make : Format or callable
        The format, or a function that returns it for a number of axes and options.

    Raises
    ------
    FormatError
        If the name is taken.
    TypeError
        If the arguments are no name and no format.

    Examples
    --------
    >>> import weft
    >>> two_lists = weft.Format("(i,j) -> (i,j)", [weft.Compressed()] * 2)
    >>> weft.register_format("two_lists", two_lists)
    >>> weft.eye(3, format="two_lists").format
    'two_lists'
    """
    if not isinstance(name, str) or not (isinstance(make, Format) or callable(make)):
        raise TypeError(
            f"what is registered is a name, and a Format or a function that makes one, not {name!r} and {make!r}"
        )
    if name in _CATALOGUE or _is_letters(name):
        raise FormatError(f"the format name {name!r} is taken")
    _CATALOGUE[name] = (lambda n: make) if isinstance(make, Format) else make
    # Names of formats depend on all entries of the catalogue.
    for cached in (_parsed, name_of, shown_name, options_of, is_named, _takes, _all_options):
        cached.cache_clear()


@lru_cache
def _takes(name: str) -> tuple[str, ...] | None:
    """Return the options that an entry takes, or None if it takes any."""
    found = [*inspect.signature(_CATALOGUE[name]).parameters.values()][1:]
    return None if any(p.kind is p.VAR_KEYWORD for p in found) else tuple(p.name for p in found)


@lru_cache
def _all_options() -> tuple[str, ...]:
    """Return the options of all entries."""
    return tuple({option for name in _CATALOGUE for option in _takes(name) or ()})


def check_keywords(function: Callable[..., Any], format: FormatLike, options: Mapping[str, Any]) -> None:
    """Raise an error for keyword arguments that neither a function nor any format takes."""
    takes = _takes(format) if isinstance(format, str) and format in _CATALOGUE else ()
    check_options(function, options, takes, _all_options())


def _is_letters(text: str) -> bool:
    # A mode order or a remapping may follow the letters.
    return bool(text) and all(letter in _LETTERS for letter in text.partition(":")[0])


def parse_format(format: FormatLike, order: int | None = None, **options: Any) -> Format:
    """Return the format that a name, letters of taco or a ``Format`` means for tensors of ``order`` axes.

    Examples
    --------
    >>> parse_format("ds:1,0") == parse_format("csc", 2)
    True
    """
    given: Any = format
    if isinstance(given, type):  # an array class, which may have a format as attribute
        format = given = getattr(given, "format", given)
    if isinstance(format, FormatName):  # it equals the bare name, so it cannot be a key of the cache
        format = format.layout if not options and order in (None, format.layout.order) else str(format)
    if not isinstance(format, (str, Format)):
        raise FormatError(f"a format is a name, letters or a Format, not {type(format).__name__}")
    return _parsed(format, order, **options)


@lru_cache(maxsize=1024)
def _parsed(format: FormatLike, order: int | None, **options: Any) -> Format:
    name, _, modes = format.partition(":") if isinstance(format, str) else ("", "", "")
    if options and name not in _CATALOGUE:
        raise FormatError(f"options {options} go with a name of the catalogue, not with {format!s}")
    if isinstance(format, Format):
        result = format
    elif name in _CATALOGUE:
        if order is None:
            raise FormatError(f"format {format!r} needs the number of axes; give letters such as 'ds' instead")
        # A mode order after the name permutes the axes of the catalogue's format.
        result = Entry(name, _CATALOGUE[name])(order, **options) if options else _CATALOGUE[name](order)
        if modes and result.order == order:
            result = result.permuted(inverse_permutation(_mode_order(format, modes, order)))
    elif _is_letters(format) or (format == "" and order == 0):
        levels = [_LETTERS[letter] for letter in name]
        remapping = Remapping.parse(modes) if "->" in modes else Remapping(_mode_order(format, modes, len(levels)))
        result = Format(remapping, levels)
    else:
        hint = did_you_mean(format, _CATALOGUE)
        hint_text = hint or f"; known are {', '.join(_CATALOGUE)} and letters such as 'ds:1,0'"
        hint_text += " (weft.formats lists all)" if hint else ""
        raise FormatError(f"no format {format!r}{hint_text}")
    if order is not None and result.order != order:
        raise FormatError(f"format {format!s} stores tensors with {result.order} axes; this one has {order}")
    return result


def _mode_order(format: str, modes: str, order: int) -> tuple[int, ...]:
    """Return the mode order that follows the colon in ``format``, by default the order of the axes."""
    try:
        mode_order = tuple(int(m) for m in modes.split(",")) if modes else tuple(range(order))
    except ValueError:
        raise FormatError(f"the mode order of {format!r} is not a list of axes") from None
    if sorted(mode_order) != list(range(order)):
        raise FormatError(f"the mode order of {format!r} is not a permutation of 0..{order - 1}")
    return mode_order


@lru_cache(maxsize=1024)
def name_of(format: Format) -> str:
    """Return the name of a format in the catalogue, or its letters if the catalogue does not have it.

    The mode order follows the name if the catalogue has the format for another order of the axes. The name does not
    tell if levels lack properties such as ``ordered``, or if they show only a part of what is stored.

    Examples
    --------
    >>> name_of(parse_format("bsr", 2, blocksize=(3, 2)).permuted((1, 0))), name_of(parse_format("sss:2,1,0"))
    ('bsr:1,0', 'csf:2,1,0')
    """
    stored = _stored(format)
    for modes in _orders(stored):
        # The name is that of the format over the permuted axes, and the mode order follows it.
        turned = stored.permuted(modes) if modes else stored
        name = next((name for name in _CATALOGUE if options_of(name, turned) is not None), None)
        if name is not None:
            return f"{name}:{','.join(map(str, modes))}" if modes else name
    return format.letters


@lru_cache(maxsize=1024)
def shown_name(format: Format, requested: str | None = None) -> str:
    """Return the name of a tensor's format as users see it: the requested one as long as it means the format.

    Examples
    --------
    >>> csf = parse_format("csf", 2)
    >>> shown_name(csf), shown_name(csf, "csf"), shown_name(parse_format("coo", 3).permuted((2, 1, 0)))
    ('dcsr', 'csf', 'coo')
    """
    if requested is not None and is_named(requested, format):
        return _telling(requested, format)
    name = name_of(format)
    # A format whose levels form one chain stores whole tuples, so it is a coordinate list.
    listed = len(format.level_groups) == 1 and not format.is_structured
    return _telling(name.partition(":")[0] if listed and "," in name else name, format)


def _telling(name: str, format: Format) -> str:
    """Return the name of a format if it tells the format, else a ``FormatName``."""
    try:
        parsed = _parsed(name, format.order)
    except FormatError:  # letters of levels that have none
        parsed = None
    # NumPy's functions for tests take no other class than str for a string.
    return name if parsed == format else FormatName(name, format)


def _stored(format: Format) -> Format:
    """Return the format with each level that shows a part of another replaced by that other.

    If there is no such format, the given one is returned.
    """
    levels = [level.shown for level in format.levels]
    while any(level is not level.shown for level in levels):  # a window may show a window
        levels = [level.shown for level in levels]
    try:
        return format if levels == [*format.levels] else Format(format.remapping, levels)
    except FormatError:
        return format


def _orders(format: Format) -> Iterator[tuple[int, ...]]:
    """Yield mode orders for which the catalogue may have a format; the first is empty and keeps the axes in order."""
    yield ()
    if not format.is_structured:
        yield format.mode_order
    elif 1 < format.order <= _FEW_AXES:  # no mode order is known, so all are tried
        yield from islice(permutations(range(format.order)), 1, None)


_FEW_AXES = 5  # up to so many axes, all orders of them are tried for a structured format


def _variants(format: Format) -> tuple[Format, Format]:
    """Return a format, and the same format with every level ordered and unique if it can be."""
    try:
        return format, format.canonical()
    except TypeError:  # the constructor of a user's level format does not take these properties
        return format, format


def _block_of(format: Format) -> tuple[int, ...] | None:
    """Return the block size along each axis, or None if the first coordinates are not those of blocks."""
    sizes = []
    for coordinate in format.remapping.coordinates[: format.order]:
        match coordinate:
            case Binary(op="/", left=Axis(), right=Constant(value=size)):
                sizes.append(size)
            case _:
                return None
    return tuple(sizes)


def _rows_of(format: Format) -> tuple[int, ...]:
    """Return the axes that have levels of their own above the last level."""
    return tuple(c.number for c in format.remapping.coordinates[:-1] if isinstance(c, Axis))


WITH_OPTIONS: dict[str, tuple[str, Callable[[Format], Any]]] = {
    "bsr": ("blocksize", _block_of),
    "csb": ("block", _block_of),
    "mode_generic": ("block", _block_of),
    "hicoo": ("block", _block_of),
    "gcxs": ("compressed_axes", _rows_of),
    "sell": ("window", lambda format: next((v.window for v in format.levels if isinstance(v, Jagged)), 0)),
    "hyb": ("width", lambda format: getattr(format.levels[0], "width", 0)),
}
"""The option of each entry that has one, and a function that reads the option from a format."""


@lru_cache(maxsize=1024)
def options_of(name: str, format: Format) -> Mapping[str, Any] | None:
    """Return the options with which an entry of the catalogue makes a format, or None if it cannot make it.

    The levels of the format may lack properties, such as ``ordered``, that they could have.

    Examples
    --------
    >>> options_of("bsr", parse_format("bsr", 2, blocksize=(3, 2)))
    {'blocksize': (3, 2)}
    >>> options_of("csr", parse_format("csc", 2)) is None
    True
    """
    # Make the entry's format with the options that the format seems to have, and compare.
    options = {option: read(format) for option, read in (WITH_OPTIONS[name],)} if name in WITH_OPTIONS else {}
    try:
        same = name in _CATALOGUE and _CATALOGUE[name](format.order, **options) in _variants(format)
    except (FormatError, TypeError):
        return None
    return options if same else None


@lru_cache(maxsize=1024)
def is_named(name: str, format: Format) -> bool:
    """Return whether a name means a format with any options.

    The levels of the format may lack properties, such as ``ordered``, that they could have.

    Examples
    --------
    >>> is_named("bsr", parse_format("bsr", 2, blocksize=(3, 2))), is_named("ds:1,0", parse_format("csc", 2))
    (True, True)
    """
    if name in _CATALOGUE:
        return options_of(name, format) is not None
    try:
        return parse_format(str(name), format.order) in _variants(format)
    except (FormatError, NotationError):
        return name == str(format)


def _every_option(format: Format) -> Mapping[str, Any]:
    return {key: value for name in WITH_OPTIONS for key, value in (options_of(name, format) or {}).items()}


NAMING.append(Naming(name_of, is_named, parse_format, _every_option))
