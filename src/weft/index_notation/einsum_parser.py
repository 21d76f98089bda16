"""Conversion of NumPy's einsum grammar to index notation.

Each operand gets a name, and each subscript letter becomes an index variable. Letters beyond ASCII are allowed, since
``opt_einsum.get_symbol`` makes them if there are more than 52 indices. The axes of an ellipsis become the variables
``e0``, ``e1``, ..., counted from the left of the broadcast axes.

An axis of size 1 that stretches to a larger one gets its own variable, such as ``i_0`` for ``i`` in operand 0. This
variable is summed over its one element, so that the assignment holds for the operands without any change of them.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any, NoReturn

import numpy as np

from ..errors import NotationError, ShapeError
from ..records import record
from .nodes import Access, Apply, Assignment, Expr

Shape = tuple[int, ...]
_ELLIPSIS = "..."
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NAMES = _LETTERS[:26]


@record
class Einsum:
    """Einsum as index notation."""

    subscripts: str  # the subscripts as text. Subscripts that were given as lists are written with letters.
    assignment: Assignment  # the product of all operands, with implied sums
    names: tuple[str, ...]  # the operands' names in the assignment, in the order of the operands


def parse_einsum(args: Sequence[Any], shapes: Sequence[Shape] | None = None) -> tuple[Einsum, tuple[Any, ...]]:
    """Parse the arguments of ``numpy.einsum``.

    Examples
    --------
    >>> import numpy as np
    >>> from weft.index_notation import to_text
    >>> A, x = np.ones((2, 3)), np.ones(3)
    >>> found, operands = parse_einsum(("ij,j", A, x))
    >>> to_text(found.assignment)
    'out(i) = A(i,j)*B(j)'
    >>> to_text(parse_einsum((A, [0, 1], x, [1], [0]))[0].assignment)
    'out(a) = A(a,b)*B(b)'
    """
    subscripts, operands = _split(args)
    if shapes is None:
        shapes = [operand.shape if hasattr(operand, "shape") else np.shape(operand) for operand in operands]
    return einsum_notation(subscripts, tuple(shapes)), operands


@lru_cache(maxsize=4096)
def einsum_notation(subscripts: str, shapes: tuple[Shape, ...]) -> Einsum:
    """Return the einsum of operands of ``shapes`` as index notation.

    Examples
    --------
    >>> from weft.index_notation import to_text
    >>> found = einsum_notation("...ij,...jk", ((5, 2, 3), (3, 4)))
    >>> to_text(found.assignment)
    'out(e0,i,k) = A(e0,i,j)*B(j,k)'
    """
    labels = _Subscripts.parse(subscripts)
    axes = _axes(labels, shapes)
    extents: dict[str, tuple[int, int]] = {}  # the size of each label, and the operand that has it
    for n, (labelled, shape) in enumerate(zip(axes, shapes, strict=True)):
        sizes: dict[str, int] = {}
        for label, size in zip(labelled, shape, strict=True):
            # Within one operand an axis of size 1 does not stretch.
            if sizes.setdefault(label, size) != size:
                message = f"{label} is both {sizes[label]} and {size} in operand {n}: a diagonal needs equal sizes"
                _misfit(message, subscripts, shapes)
        for label, size in sizes.items():
            other, where = extents.setdefault(label, (size, n))
            if other == 1:
                extents[label] = (size, n)
            elif size not in (other, 1):
                _misfit(f"{label} is {other} in operand {where} and {size} in operand {n}", subscripts, shapes)
    # The notation depends on the axes that stretch and not on sizes, so that it is cached by these axes.
    stretched = tuple(
        tuple(k for k, label in enumerate(labelled) if shape[k] == 1 and extents[label][0] != 1)
        for labelled, shape in zip(axes, shapes, strict=True)
    )
    return _einsum(labels, tuple(map(len, shapes)), stretched)


@lru_cache(maxsize=4096)
def _einsum(labels: _Subscripts, ranks: tuple[int, ...], stretched: tuple[tuple[int, ...], ...]) -> Einsum:
    names = _operand_names(labels)
    return Einsum(labels.text, _assignment(labels, ranks, stretched, names), names)


def _operand_names(labels: _Subscripts) -> tuple[str, ...]:
    """Return names for the operands: capital letters, or ``op0``, ... if these are too few or are subscripts."""
    count = len(labels.inputs)
    if count <= len(_NAMES) and not any(letter in _NAMES for letter in labels.text):
        return tuple(_NAMES[:count])
    return tuple(f"op{n}" for n in range(count))


def _assignment(
    labels: _Subscripts,
    ranks: tuple[int, ...],
    stretched: tuple[tuple[int, ...], ...],
    names: tuple[str, ...],
) -> Assignment:
    inputs, output = labels.expanded(ranks)
    operands: list[Expr] = []
    for n, (name, indices) in enumerate(zip(names, inputs, strict=True)):
        # An axis that stretches has its own variable, which is summed over one element.
        own = {k: f"{indices[k]}_{n}" for k in stretched[n]}
        operands.append(Access(name, tuple(own.get(k, index) for k, index in enumerate(indices))))
    value = reduce(lambda left, right: Apply("multiply", (left, right)), operands)
    return Assignment(Access("out", output), value)


def _axes(labels: _Subscripts, shapes: tuple[Shape, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the label of each axis of each operand, after a check that the subscripts fit the operands."""
    if len(shapes) != len(labels.inputs):
        expected = f"{len(labels.inputs)} operand{'s' * (len(labels.inputs) != 1)}"
        _misfit(f"the subscripts are for {expected}, not {len(shapes)}", labels.text, shapes)
    # Without an ellipsis, each axis of an operand needs a label.
    for n, (operand, shape) in enumerate(zip(labels.inputs, shapes, strict=True)):
        named = len(operand) - (_ELLIPSIS in operand)
        if named > len(shape):
            message = f"operand {n} has {len(shape)} axes, fewer than its {named} subscripts; a subscript is one letter"
            _misfit(message, labels.text, shapes)
        if named < len(shape) and _ELLIPSIS not in operand:
            message = f"operand {n} has {len(shape)} axes, more than its {named} subscripts; '...' takes the others"
            _misfit(message, labels.text, shapes)
    ranks = tuple(map(len, shapes))
    if labels.output is not None and _ELLIPSIS not in labels.output and labels.broadcast(ranks):
        _misfit("'...' of the operands has axes, but the output has no '...'", labels.text, shapes)
    return labels.expanded(ranks)[0]


def _misfit(message: str, subscripts: str, shapes: tuple[Shape, ...]) -> NoReturn:
    shown = ", ".join(map(str, shapes))
    raise ShapeError(f"{message}\n  {subscripts!r} of shapes {shown or 'of nothing'}")


# -- subscripts -----------------------------------------------------------------------------------------------------
@record
class _Subscripts:
    """Labels of each operand and of the output, ellipses included; the output is None if it is implied."""

    text: str
    inputs: tuple[tuple[str, ...], ...]
    output: tuple[str, ...] | None

    @classmethod
    def parse(cls, text: str) -> _Subscripts:
        """Split text into labels; errors mark their place with a caret."""
        inputs: list[list[str]] = [[]]
        output: list[str] | None = None
        position = 0
        while position < len(text):
            char = text[position]
            # Everything is checked as the text is read, so that a caret marks the first mistake.
            current = inputs[-1] if output is None else output
            if text.startswith(_ELLIPSIS, position):
                if _ELLIPSIS in current:
                    raise NotationError("a second ellipsis for one operand", text, position)
                current.append(_ELLIPSIS)
                position += 3
                continue
            if text.startswith("->", position):
                if output is not None:
                    raise NotationError("a second '->'", text, position)
                output = []
                position += 2
                continue
            # A subscript: a letter, or any visible character beyond ASCII.
            if char in _LETTERS or not (char.isascii() or char.isspace()):
                if output is not None and char in output:
                    raise NotationError(f"{char!r} is repeated in the output", text, position)
                if output is not None and not any(char in own for own in inputs):
                    raise NotationError(f"{char!r} is in the output, but in no operand", text, position)
                current.append(char)
            elif char == "," and output is None:
                inputs.append([])
            elif char == ".":
                raise NotationError("a '.' that is not part of an ellipsis '...'", text, position)
            elif char == "-":
                raise NotationError("a '-' that is not part of '->'", text, position)
            elif not char.isspace():
                raise NotationError(f"{char!r} cannot be a subscript, which is a letter", text, position)
            position += 1
        return cls(text, tuple(map(tuple, inputs)), None if output is None else tuple(output))

    def broadcast(self, ranks: tuple[int, ...]) -> int:
        """Return the number of axes that the ellipses mean."""
        return max((r - len(own) + 1 for own, r in zip(self.inputs, ranks, strict=True) if _ELLIPSIS in own), default=0)

    def expanded(self, ranks: tuple[int, ...]) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
        """Return the labels of the operands and of the output, without ellipses."""
        count = self.broadcast(ranks)
        inputs = tuple(
            _expand(operand, rank - len(operand) + 1, count) for operand, rank in zip(self.inputs, ranks, strict=True)
        )
        output = self.output
        if output is None:
            # NumPy's rule for an implied output: broadcast axes first, then labels that occur once, sorted.
            seen = Counter(label for operand in self.inputs for label in operand if label != _ELLIPSIS)
            output = (_ELLIPSIS, *sorted(label for label, times in seen.items() if times == 1))
        return inputs, _expand(output, count, count)


def _expand(labels: tuple[str, ...], rank: int, count: int) -> tuple[str, ...]:
    """Return ``labels`` with the last ``rank`` of the ``count`` broadcast axes in place of the ellipsis."""
    if _ELLIPSIS not in labels:
        return labels
    at = labels.index(_ELLIPSIS)
    return (*labels[:at], *(f"e{k}" for k in range(count - rank, count)), *labels[at + 1 :])


# -- the two ways to call -------------------------------------------------------------------------------------------
def _split(args: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the subscripts as text, and the operands."""
    # The form ``einsum('ij,j', A, x)``.
    if args and isinstance(args[0], str):
        if len(args) == 1:
            raise ShapeError(f"einsum needs at least one operand for {args[0]!r}")
        return args[0], tuple(args[1:])
    # The form ``einsum(A, [0, 1], x, [1], [0])``. With an odd number of arguments, the last is the output.
    if len(args) < 2:
        raise ShapeError("einsum needs subscripts and operands, or operands and their lists of subscripts")
    count = len(args) // 2
    operands, lists = tuple(args[0 : 2 * count : 2]), [_labels(labels) for labels in args[1 : 2 * count : 2]]
    if len(args) % 2:
        lists.append(_labels(args[-1]))
    # Small numbers become small letters, which read better; the order is the same.
    small = all(label < 26 for own in lists for label in own if label is not Ellipsis)
    letters = _LETTERS[26:] if small else _LETTERS
    texts = ["".join(_ELLIPSIS if label is Ellipsis else letters[label] for label in own) for own in lists]
    text = ",".join(texts[:count])
    return (f"{text}->{texts[-1]}" if len(args) % 2 else text), operands


def _labels(labels: Any) -> list[Any]:
    if not isinstance(labels, (list, tuple)):
        raise TypeError(f"subscripts of einsum are a list of integers and Ellipsis, not {type(labels).__name__}")
    numbers: list[Any] = []
    for label in labels:
        if label is Ellipsis:
            numbers.append(label)
            continue
        if isinstance(label, bool):
            raise TypeError("subscripts of einsum are integers and Ellipsis, not bool")
        try:
            number = operator.index(label)
        except TypeError:
            raise TypeError(f"subscripts of einsum are integers and Ellipsis, not {type(label).__name__}") from None
        if not 0 <= number < len(_LETTERS):
            raise NotationError(f"subscript {number} is not in the range from 0 to {len(_LETTERS) - 1}: {labels!r}")
        numbers.append(number)
    return numbers
