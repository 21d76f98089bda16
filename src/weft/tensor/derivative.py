"""Public functions that differentiate: gradients and tangents of expressions, and their statements as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .. import execution
from ..derivatives import (
    BackwardPass,
    Gradient,
    backward_pass,
    differentiable,
    gradient_statement,
    has_complex_parts,
    tangent,
    with_kept,
)
from ..errors import DTypeError, NotationError, ShapeError, UnsupportedError
from ..execution.entry_lists import list_entries
from ..formats import Format, FormatLike, TensorType, parse_format
from ..index_notation import (
    einsum_notation,
    explicit_sums,
    expression_dtype,
    expression_text,
    infer_extents,
    parse,
    parse_einsum,
    tensors,
    to_text,
)
from ..index_notation.nodes import Apply, Assignment, Expr, Literal
from ..operations.operands import Operand
from ..records import record, replace
from ..storage import Storage, coordinate_storage
from ..tracebacks import ends_at_caller
from ..trees import walk
from .compiled_kernel import check_names, operand_names
from .einsum import adopted, run
from .sparse_tensor import SparseTensor

_STRUCTURES = ("stored", "all")
Key = str | int
"""An operand: its name in a statement, or its position beside the subscripts of an einsum."""


_parsed = lru_cache(maxsize=1024)(parse)


class _Expression:
    """A statement or an einsum with its operands, by name; ``keys`` are what the caller calls them."""

    def __init__(self, text: str, arrays: Sequence[Any], operands: Mapping[str, Any]):
        if _is_statement(text):
            if arrays:
                raise NotationError(f"{text} takes its operands by name, such as {operand_names(_parsed(text))[0]}=...")
            self.assignment = _parsed(text)
            differentiable(self.assignment, ())
            names = operand_names(self.assignment)
            check_names(text, operands, names)
            missing = [name for name in names if name not in operands]
            if missing:
                raise NotationError(f"{text} names {missing[0]}, which is not given; pass {missing[0]}=...")
            self.operands = adopted(operands, weak=True)
            self.keys: dict[str, Key] = {name: name for name in names}
        else:
            if operands:
                raise NotationError(f"an einsum takes its operands by position, not as {next(iter(operands))}=...")
            notation, arrays = parse_einsum((text, *arrays))
            self.assignment = notation.assignment
            self.operands = adopted(dict(zip(notation.names, arrays, strict=True)), weak=False)
            self.keys = {name: n for n, name in enumerate(notation.names)}

        # Numbers of Python, which take the dtype of what is beside them, are real also beside complex operands.
        given = operands if _is_statement(text) else dict(zip(self.keys, arrays, strict=True))
        self.reals = {name for name, operand in given.items() if isinstance(operand, (int, float))}

    def chosen(self, wrt: Any) -> list[str]:
        """Return the names of the operands to differentiate by: those with fractions, if the caller names none."""
        dtypes = {name: operand.storage.dtype for name, operand in self.operands.items()}
        if wrt is None:
            names = [name for name in self.keys if dtypes[name].kind in "fc"]
            if not names:
                listed = ", ".join(f"{self.keys[name]}: {dtype}" for name, dtype in dtypes.items())
                raise DTypeError(
                    f"{to_text(self.assignment)} has no operand with a gradient, since all are of integers or booleans "
                    f"({listed}); convert what you differentiate by, as in A.astype('float64')"
                )
            return names
        names = [named(self.keys, key, self.assignment) for key in _listed(wrt)]
        for name in names:
            if dtypes[name].kind not in "fc":
                raise DTypeError(
                    f"there is no gradient by {self.keys[name]}, which is of {dtypes[name]}, in "
                    f"{to_text(self.assignment)}; convert it first: {name}.astype('float64')"
                )
        return names


def _is_statement(text: Any) -> bool:
    if not isinstance(text, str):
        raise TypeError(f"an expression is text, index notation or einsum subscripts, not {type(text).__name__}")
    return "=" in text


def _listed(wrt: Any) -> list[Key]:
    return [wrt] if isinstance(wrt, (str, int)) else list(wrt)


def named(keys: Mapping[str, Key], key: Key, assignment: Assignment) -> str:
    """Return the name of an operand that the caller calls ``key``."""
    for name, each in keys.items():
        if key in (each, name):
            return name
    listed = ", ".join(map(str, keys.values()))
    raise NotationError(f"{to_text(assignment)} has no operand {key}; its operands are {listed}")


def _require_structure(structure: str) -> None:
    if structure not in _STRUCTURES:
        raise ValueError(f"structure is one of {', '.join(map(repr, _STRUCTURES))}, not {structure!r}")


@ends_at_caller
def derivative(text: str, /, wrt: Key, *, structure: str = "all", conjugate: bool = False) -> str:
    """Return the statement that computes the gradient by one operand, as text in index notation.

    The statement reads the operands of the expression and the gradient of the result. If the result is ``y`` and the
    operand ``A``, these gradients are called ``y_bar`` and ``A_bar``. :func:`evaluate` computes the statement, and
    ``derivative`` differentiates it once more.

    Parameters
    ----------
    text : str
        An expression in tensor index notation, or the subscripts of an einsum.
    wrt : str or int
        The operand to differentiate by: its name, or its position beside subscripts.
    structure : {"all", "stored"}, optional
        With ``"stored"``, the statement computes only those elements where ``A_stored`` is true, which is a boolean
        tensor with the entries of ``A``.
    conjugate : bool, optional
        True if operands or numbers are complex: factors are then conjugated, as in PyTorch.

    Returns
    -------
    str
        The statement. For an operand with a repeated index, such as ``A(i,i)``, it reads an operand ``identity``,
        which is ``weft.eye(n, dtype=bool)``.

    Raises
    ------
    UnsupportedError
        For an operator or a reduction that has no derivative, and for ``+=``.
    NotationError
        For an expression that does not parse, and for an operand that it does not have.

    See Also
    --------
    vjp : the gradients themselves

    Examples
    --------
    >>> import weft
    >>> weft.derivative("y(i) = A(i,j)*x(j)", "A")
    'A_bar(i,j) = y_bar(i)*x(j)'
    >>> weft.derivative("y(i) = A(i,j)*x(j)", "x")
    'x_bar(j) = sum(i, y_bar(i)*A(i,j))'
    >>> weft.derivative("C(i,k) = A(i,j)*B(j,k)", "A", structure="stored")
    'A_bar(i,j) = select(A_stored(i,j), sum(k, C_bar(i,k)*B(j,k)))'
    >>> weft.derivative("ij,jk->ik", 1)
    'B_bar(j,k) = sum(i, out_bar(i,k)*A(i,j))'
    """
    _require_structure(structure)
    if _is_statement(text):
        assignment = parse(text)
        keys: dict[str, Key] = {name: name for name in operand_names(assignment)}
    else:
        if "..." in text:
            raise NotationError("a derivative has a letter for each axis; write letters instead of '...'", text)
        shapes = tuple((2,) * len("".join(own.split())) for own in text.partition("->")[0].split(","))
        notation = einsum_notation(text, shapes)
        assignment, keys = notation.assignment, {name: n for n, name in enumerate(notation.names)}
    return to_text(gradient_statement(assignment, named(keys, wrt, assignment), structure == "stored", conjugate))


@record
class _Plan:
    """Facts of a pullback that no value of an operand decides."""

    backward: BackwardPass
    statements: tuple[Assignment, ...]  # those of the gradients
    sampled: frozenset[str]  # operands whose gradients are computed at their stored entries
    decisions: tuple[str, ...]  # which values are kept, and the reasons


_Size = tuple[str, TensorType, tuple[int, ...], int]
"""The name of an operand with its type, its shape and the number of its stored values."""


@lru_cache(maxsize=256)
def _planned(
    assignment: Assignment, wrt: tuple[str, ...], sampled: frozenset[str], operands: tuple[_Size, ...]
) -> _Plan:
    """Plan the backward pass of an assignment."""
    types = {name: type for name, type, _, _ in operands}
    decisions: list[str] = []

    def keeps(part: Assignment) -> bool:
        """Return whether a value is kept: it is if it takes no more room than all that is stored anyway."""
        extents = infer_extents(explicit_sums(assignment), {name: shape for name, _, shape, _ in operands})
        format = execution.target_type(part, {name: types[name] for name in operand_names(part)}, None, None).format
        size = math.prod(extents[v] for v in part.target.indices)
        stored = sum(count for _, _, _, count in operands)
        if execution.target_type(assignment, types, None, None).format.is_dense:
            stored += math.prod(extents[v] for v in assignment.target.indices)
        is_kept = not format.is_dense or size <= stored
        how = (
            f"kept from the forward pass, in format {format}"
            if is_kept
            else f"computed again: its {size} elements are more than the {stored} that are stored"
        )
        decisions.append(f"{to_text(part)}: {how}")
        return is_kept

    is_complex = has_complex_parts(assignment, {name: np.dtype(type.dtype) for name, type in types.items()})
    backward = backward_pass(assignment, wrt, keeps, conjugate=is_complex)
    if is_complex:
        _require_real_signs(backward.assignment.value, wrt, types)
    statements = [explicit_sums(backward.statement(each, each.tensor in sampled)) for each in backward.gradients]
    return _Plan(backward, tuple(statements), sampled, tuple(decisions))


def _require_real_signs(expr: Expr, wrt: Sequence[str], types: Mapping[str, TensorType]) -> None:
    """Raise for the sign of complex numbers, which is not piecewise constant as that of real ones is."""
    dtypes = {name: np.dtype(type.dtype) for name, type in types.items()}
    signs = [node for node in walk(expr) if isinstance(node, Apply) and node.op == "sign"]
    for node in signs:
        active = any(access.tensor in wrt for access in node.distinct_accesses)
        if active and np.dtype(expression_dtype(node.args[0], dtypes)).kind == "c":
            text = expression_text(node)
            raise UnsupportedError(f"sign of complex numbers has no derivative, in {text}; write x/absolute(x)")


class Pullback:
    """Function from the gradient of a result to the gradients of the operands; :func:`vjp` returns it."""

    def __init__(self, expression: _Expression, wrt: Any, structure: str, format: FormatLike | None):
        _require_structure(structure)
        names = expression.chosen(wrt)
        self._expression, self._operands = expression, dict(expression.operands)
        stored = {name: operand.storage for name, operand in expression.operands.items()}
        sampled = [name for name in names if structure == "stored" and not stored[name].format.is_dense]
        sizes = tuple([(name, storage.type, storage.shape, storage.nnz) for name, storage in stored.items()])
        self._plan = plan = _planned(expression.assignment, tuple(names), frozenset(sampled), sizes)
        for n, part in enumerate(plan.backward.kept):
            self._compute(replace(part, value=with_kept(part.value, plan.backward.kept[:n])), None)
        value = plan.backward.value if plan.backward.kept else expression.assignment
        self.value = self._compute(value, format)
        # What the statements read is memory that the caller does not have.
        if np.ndim(self.value) and any(value.target.tensor in tensors(each) for each in plan.statements):
            self.value = self.value.copy()

    def _compute(self, assignment: Assignment, format: FormatLike | None) -> Any:
        """Compute a statement whose result later statements may read."""
        result = run(assignment, _read_by(assignment, self._operands), format, None)
        [self._operands[assignment.target.tensor]] = adopted({"": result}, weak=False).values()
        return result

    @property
    def statements(self) -> dict[Key, str]:
        """Statements of the backward pass, by operand."""
        pairs = zip(self._plan.backward.gradients, self._plan.statements, strict=True)
        return {self._expression.keys[gradient.tensor]: to_text(statement) for gradient, statement in pairs}

    def explain(self) -> str:
        """Return a report of the backward pass: its statements, and which values are kept or computed again."""
        lines = [f"value: {to_text(self._plan.backward.value)}", *self._plan.decisions]
        for gradient, statement in zip(self._plan.backward.gradients, self._plan.statements, strict=True):
            lines.append(f"gradient: {to_text(statement)}")
            if gradient.tensor in self._plan.sampled:
                lines.append(f"at the stored entries of {gradient.tensor}, whose index arrays it shares")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<pullback of {to_text(self._expression.assignment)}>"

    @ends_at_caller
    def __call__(self, cotangent: Any) -> dict[Key, Any]:
        """Return the gradients by operand, for the gradient of the result."""
        backward = self._plan.backward
        name = backward.cotangent
        [bar] = adopted({name: cotangent}, weak=False).values()
        target, shape = backward.assignment.target, np.shape(self.value)
        if bar.storage.shape != shape:
            raise ShapeError(
                f"the gradient of {target.tensor} has the shape {bar.storage.shape}, and {target.tensor} has {shape}, "
                f"in {to_text(self._expression.assignment)}"
            )
        operands = {**self._operands, name: bar}
        pairs = zip(backward.gradients, self._plan.statements, strict=True)
        return {self._expression.keys[g.tensor]: self._gradient(g, statement, operands) for g, statement in pairs}

    def _gradient(self, gradient: Gradient, statement: Assignment, operands: dict[str, Operand]) -> Any:
        operand = operands[gradient.tensor]
        storage = operand.storage
        for name in gradient.identities:
            operands = {**operands, name: Operand(_identity(name, statement, storage.shape), False)}
        dtypes = {name: each.storage.dtype for name, each in operands.items()}
        if gradient.tensor in self._plan.sampled:
            return SparseTensor(_at_entries(statement, operands, storage))
        statement = _in_field(statement, dtypes, storage.dtype)
        result = _computed(statement, operands, storage.format if storage.format.is_dense and storage.shape else None)
        values, fill = result.vals.astype(storage.dtype, copy=False), result.type.fill
        if not storage.shape:
            return values[0].real if gradient.tensor in self._expression.reals else values[0]
        result = result.with_values(values, fill)
        as_array = operand.is_array and result.format.is_dense
        return result.to_dense_array() if as_array else SparseTensor(result)


def _read_by(statement: Assignment, operands: Mapping[str, Operand]) -> dict[str, Operand]:
    return {name: operands[name] for name in operand_names(statement)}


def _computed(statement: Assignment, operands: Mapping[str, Operand], format: Format | None) -> Storage:
    """Compute a statement; its result shares no memory with an operand's values."""
    storages = {name: operand.storage for name, operand in _read_by(statement, operands).items()}
    result = execution.evaluate(statement, storages, format=format)
    if any(np.may_share_memory(result.vals, each.vals) for each in storages.values()):
        return result.with_values(result.vals.copy(), result.type.fill)
    return result


def _in_field(statement: Assignment, dtypes: Mapping[str, np.dtype[Any]], dtype: np.dtype[Any]) -> Assignment:
    """Return the statement of the gradient of an operand, whose real part alone is that of a real operand."""
    if dtype.kind == "c":
        return statement
    is_complex = np.dtype(expression_dtype(statement.value, dtypes)).kind == "c"
    return replace(statement, value=Apply("real", (statement.value,))) if is_complex else statement


def _identity(name: str, statement: Assignment, shape: tuple[int, ...]) -> Storage:
    """Return the identity matrix of the axes that have one index in an access to an operand of a shape."""
    access = next(a for a in statement.value.distinct_accesses if a.tensor == name)  # all are of axes of one size
    size = shape[statement.target.indices.index(access.indices[0])]
    places = np.arange(size)
    return coordinate_storage((size, size), (places, places), np.ones(size, bool))


def _at_entries(statement: Assignment, operands: Mapping[str, Operand], storage: Storage) -> Storage:
    """Compute a sampled gradient: the values at the positions of a tensor, whose index arrays the result shares.

    Padding gets values, too, which nothing reads outside of the tensor's shape. Duplicates get one value.
    """
    pattern, contribution = statement.value.children
    operands = {**operands, pattern.tensor: Operand(storage.with_values(np.ones(storage.nnz, bool), False), False)}
    dtypes = {name: each.storage.dtype for name, each in operands.items()}
    if contribution == Literal(0):
        return storage.with_values(np.zeros(storage.nnz, storage.dtype), 0)
    statement = _in_field(statement, dtypes, storage.dtype)
    others = [operands[a.tensor] for a in contribution.distinct_accesses if a.indices]
    if not all(other.storage.format.is_dense for other in others):
        # The result has an entry at each place of the pattern, whichever entries other operands have.
        statement = replace(statement, value=Apply("left", (statement.value, pattern)))
    format = storage.format if storage.format.is_unique else parse_format("coo", len(storage.shape))
    result = _computed(statement, operands, format)
    values = result.vals if _is_same(result, storage) else _gathered(result, storage)
    return storage.with_values(values.astype(storage.dtype, copy=False), 0)


def _is_same(result: Storage, storage: Storage) -> bool:
    """Return whether two tensors have one format and equal index arrays."""
    pairs = zip(result.arrays, storage.arrays, strict=False)
    return result.format == storage.format and all(a is b or np.array_equal(a, b) for a, b in pairs)


def _gathered(result: Storage, storage: Storage) -> np.ndarray[Any, Any]:
    """Return the values of a tensor at the positions of another, which stores the same coordinates otherwise."""
    known, wanted = (list_entries(each.with_values(np.arange(1, each.nnz + 1), 0)) for each in (result, storage))
    columns = [np.concatenate(pair) for pair in zip(known.arrays[1:], wanted.arrays[1:], strict=True)]
    order = np.lexsort(columns[::-1])  # stable: of equal coordinates, that of the result comes first
    begins = np.ones(len(order), bool)
    begins[1:] = np.any([column[order[1:]] != column[order[:-1]] for column in columns], axis=0)
    first = order[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
    is_wanted, is_known = order >= known.nnz, first < known.nnz
    values = np.zeros(storage.nnz, result.dtype)
    into = wanted.vals[order[is_wanted & is_known] - known.nnz] - 1
    values[into] = result.vals[known.vals[first[is_wanted & is_known]] - 1]
    return values


@ends_at_caller
def vjp(
    text: str,
    /,
    *arrays: Any,
    wrt: Key | Iterable[Key] | None = None,
    structure: str = "stored",
    format: FormatLike | None = None,
    **operands: Any,
) -> tuple[Any, Pullback]:
    """Compute an expression, and a function that returns the gradients of its operands (reverse mode).

    The gradient of a sparse operand has the operand's format and shares its index arrays: it is computed at the stored
    entries alone. For a complex operand, the gradient is that of PyTorch, the conjugate of what JAX returns: the
    expression changes by ``sum(real(conj(y_bar)*dy))``, which is ``sum(real(conj(x_bar)*dx))``.

    Parameters
    ----------
    text : str
        An expression in tensor index notation, or the subscripts of an einsum.
    *arrays : array_like
        The operands of an einsum.
    wrt : str, int or sequence of these, optional
        The operands to differentiate by: names, or positions beside subscripts. By default all whose values are
        floating-point or complex numbers.
    structure : {"stored", "all"}, optional
        With ``"all"``, gradients of sparse operands have all elements, and the format that is inferred for them.
    format : str or Format, optional
        The format of the result, as for :func:`evaluate`.
    **operands : array_like
        The operands of a statement, by name.

    Returns
    -------
    value : SparseTensor, ndarray or NumPy scalar
        What :func:`evaluate` or :func:`einsum` returns.
    pullback : callable
        ``pullback(y_bar)`` returns a dictionary of gradients, by names or positions: a tensor for a tensor, an ndarray
        for an ndarray, a scalar for a scalar. ``y_bar`` is the gradient of the result, sparse or dense, of its shape.
        ``pullback.explain()`` reports what it computes.

    Raises
    ------
    DTypeError
        For operands of integers or booleans.
    ShapeError
        For a ``y_bar`` of another shape than the result.
    UnsupportedError
        For an operator or a reduction that has no derivative, and for ``+=``.

    See Also
    --------
    value_and_grad : for results that are one number
    jvp : derivatives in one direction
    derivative : the statement of a gradient as text

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), format="csr")
    >>> x = np.array([1.0, 10.0, 100.0])
    >>> value, pullback = weft.vjp("y(i) = A(i,j)*x(j)", A=A, x=x)
    >>> value
    array([201.,  30.])
    >>> gradients = pullback(np.array([1.0, 2.0]))
    >>> gradients["x"]
    array([1., 6., 2.])
    >>> gradients["A"]
    <SparseTensor: shape=(2, 3), dtype=float64, format=csr, nnz=3, fill_value=0>
    >>> gradients["A"].data
    array([  1., 100.,  20.])

    The operands of an einsum have positions:

    >>> value, pullback = weft.vjp("ij,j->i", A, x, wrt=1)
    >>> pullback(np.array([1.0, 2.0]))
    {1: array([1., 6., 2.])}
    """
    pullback = Pullback(_Expression(text, arrays, operands), wrt, structure, format)
    return pullback.value, pullback


@ends_at_caller
def value_and_grad(
    text: str, /, wrt: Key | Iterable[Key] | None = None, *, structure: str = "stored"
) -> Callable[..., tuple[Any, dict[Key, Any]]]:
    """Return a function of operands that computes an expression with one number as its result, and its gradients.

    Parameters
    ----------
    text : str
        An expression in tensor index notation, or the subscripts of an einsum.
    wrt : str, int or sequence of these, optional
        The operands to differentiate by, as for :func:`vjp`.
    structure : {"stored", "all"}, optional
        Which elements gradients of sparse operands have, as for :func:`vjp`.

    Returns
    -------
    callable
        The function takes the operands as :func:`evaluate` or :func:`einsum` do. It returns the value and a dictionary
        of gradients.

    Raises
    ------
    ShapeError
        For a result that has axes.

    See Also
    --------
    vjp : for results that have axes

    Examples
    --------
    The gradients of a squared loss, at the known entries of a matrix of ratings:

    >>> import numpy as np
    >>> import weft
    >>> R = weft.from_coords([[0, 1], [1, 0]], [4.0, 2.0], (2, 2), format="csr")
    >>> U, V = np.ones((2, 1)), np.ones((2, 1))
    >>> text = "s = sum(i, j, square(M(i,j)*(R(i,j) - sum(k, U(i,k)*V(j,k)))))"
    >>> loss = weft.value_and_grad(text, ["U", "V"])
    >>> value, gradients = loss(M=R != 0, R=R, U=U, V=V)
    >>> float(value), gradients["U"].tolist(), gradients["V"].tolist()
    (10.0, [[-6.0], [-2.0]], [[-2.0], [-6.0]])
    """
    _require_structure(structure)

    @ends_at_caller
    def value_and_gradients(*arrays: Any, **operands: Any) -> tuple[Any, dict[Key, Any]]:
        value, pullback = vjp(text, *arrays, wrt=wrt, structure=structure, **operands)
        if np.ndim(value):
            raise ShapeError(
                f"the result of {text} has the shape {value.shape} and not one number; sum it, or use weft.vjp, which "
                "takes the gradient of the result"
            )
        return value, pullback(np.ones((), value.dtype)[()])

    return value_and_gradients


@ends_at_caller
def jvp(text: str, /, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Compute an expression, and its derivative in the direction of tangents of operands (forward mode).

    Parameters
    ----------
    text : str
        An expression in tensor index notation, or the subscripts of an einsum.
    primals : mapping or sequence of array_like
        The operands: by name, or a sequence beside subscripts.
    tangents : mapping or sequence of array_like
        Changes of some of the operands: by name, or by position beside subscripts. Other operands are constants. A
        sequence has one for each operand in turn, with None for a constant.

    Returns
    -------
    value, tangent : SparseTensor, ndarray or NumPy scalar
        The value of the expression, and its change for small changes of the operands, per size of these.

    Raises
    ------
    ShapeError
        For a tangent of another shape than the operand.
    UnsupportedError
        For an operator or a reduction that has no derivative, and for ``+=``.

    See Also
    --------
    vjp : the gradients of all operands

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), format="csr")
    >>> x = np.array([1.0, 10.0, 100.0])
    >>> dx = np.array([1.0, 0.0, 0.0])
    >>> text = "y(i) = A(i,j)*square(x(j))"
    >>> value, tangent = weft.jvp(text, {"A": A, "x": x}, {"x": dx})
    >>> tangent
    array([2., 0.])
    """
    by_name = isinstance(primals, Mapping)
    expression = _Expression(text, () if by_name else tuple(primals), primals if by_name else {})
    if not isinstance(tangents, Mapping):
        tangents = {n: change for n, change in enumerate(tangents) if change is not None}
    names = expression.chosen(list(tangents))
    statement, dots = tangent(expression.assignment, names)
    operands = dict(expression.operands)
    changes = {named(expression.keys, key, expression.assignment): value for key, value in tangents.items()}
    for name, change in adopted(changes, weak=False).items():
        shape = operands[name].storage.shape
        if change.storage.shape != shape:
            raise ShapeError(
                f"the tangent of {name} has the shape {change.storage.shape}, and {name} has {shape}, in "
                f"{to_text(expression.assignment)}"
            )
        operands[dots[name]] = change
    value = run(expression.assignment, expression.operands, None, None)
    return value, run(statement, _read_by(statement, operands), None, None)
