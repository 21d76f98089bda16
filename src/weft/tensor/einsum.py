"""The public functions: index notation and einsum over tensors, and what the compiler makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..config import config
from ..dtypes import value_dtype
from ..errors import DTypeError, ShapeError
from ..formats import Format, FormatLike, TensorType, parse_format
from ..index_notation import Einsum, explicit_sums, parse, parse_einsum, result_dtype, use_computation_dtype
from ..index_notation.nodes import Assignment, Reduce
from ..index_notation.operator_table import REDUCTIONS
from ..operations.operands import Operand, as_operand, is_scalar, scalar_storage
from ..records import replace
from .compiled_kernel import CompiledKernel, check_names, operand_names, orders, reads, report
from .contraction_order import plan
from .operators import wrap_result
from .out_argument import write_out
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from .contraction_order import ContractionPath
    from .types import Array, Casting, Number, Order

__all__ = ["compile", "einsum", "einsum_path", "evaluate", "explain"]


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Assignment:
    return parse(text)


@overload
def evaluate(
    text: str, /, *, format: FormatLike | None = None, dtype: DTypeLike | None = None, **operands: SparseTensor | Number
) -> SparseTensor | Any: ...
@overload
def evaluate(
    text: str, /, *, format: FormatLike | None = None, dtype: DTypeLike | None = None, **operands: Any
) -> SparseTensor | Array | Any: ...
def evaluate(text: str, /, *, format: FormatLike | None = None, dtype: DTypeLike | None = None, **operands: Any) -> Any:
    """Compute an expression in tensor index notation.

    Parameters
    ----------
    text : str
        E.g. ``"y(i) = A(i,j)*x(j) + b*z(i)"``; variables that are not on the left are summed over. With ``+=`` the
        result is added to the operand on the left, which itself stays as it is.
    format : str or Format, optional
        Of the result; by default it is inferred from the operands.
    dtype : dtype, optional
        Of the result; by default NumPy's promotion of the operands' dtypes. A wider one is what everything is
        computed in.
    **operands : array_like
        By the names in the expression: tensors, ndarrays, scipy.sparse arrays, scalars.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        A scalar for a result without axes; an ndarray for a dense result where an operand is an ndarray.

    Raises
    ------
    NotationError
        The expression does not parse, or names what is not given.
    ShapeError
        Operands do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray(np.array([[1.0, 0.0], [2.0, 3.0]]), format="csr")
    >>> weft.evaluate("y(i) = A(j,i)*x(j) + b*x(i)", A=A, x=np.array([1.0, 10.0]), b=2)
    array([23., 50.])
    """
    assignment = _parsed(text)
    used = set(operand_names(assignment))
    if assignment.op is not None:
        used.add(assignment.target.tensor)
    if not operands.keys() <= used:
        check_names(text, operands, sorted(used), ("format", "dtype"))
    return _run(assignment, _adopted(operands, weak=True), format, dtype)


def _parsed_einsum(operands: Sequence[Any]) -> tuple[Einsum, tuple[Any, ...]]:
    """What einsum is asked for; errors name the operands' formats, too."""
    try:
        return parse_einsum(operands)
    except ShapeError as error:
        given = [as_operand(obj) for obj in operands if not isinstance(obj, str | list | tuple)]
        formats = [str(operand.storage.format) for operand in given if operand is not None]
        raise ShapeError(f"{error}, stored as {', '.join(formats)}" if formats else str(error)) from None


def _adopted(operands: Mapping[str, Any], *, weak: bool) -> dict[str, Operand]:
    """Operands by name; with ``weak``, Python's numbers take their dtype from the others, as NumPy's operators do."""
    found: dict[str, Operand] = {}
    numbers: dict[str, Any] = {}
    for name, obj in operands.items():
        if weak and isinstance(obj, (bool, int, float, complex)) and not isinstance(obj, np.generic):
            numbers[name] = obj
            continue
        operand = as_operand(obj)
        if operand is None:
            raise DTypeError(f"operand {name} is of type {type(obj).__name__}, which weft does not know")
        found[name] = Operand(operand.storage, False) if is_scalar(obj) else operand
    beside = [operand.storage.dtype for operand in found.values()]
    for name, obj in numbers.items():
        dtype = np.result_type(*beside) if beside else np.asarray(obj).dtype
        found[name] = Operand(scalar_storage(obj, dtype), False)
    return {name: found[name] for name in operands}


def _format_of(assignment: Assignment, format: FormatLike | None) -> Format | None:
    """The result's format where the user gives one."""
    return None if format is None else parse_format(format, len(assignment.target.indices))


def _run(
    assignment: Assignment, operands: Mapping[str, Operand], format: FormatLike | None, dtype: DTypeLike | None
) -> Any:
    result = execution.evaluate(
        assignment,
        {name: operand.storage for name, operand in operands.items()},
        format=_format_of(assignment, format),
        dtype=None if dtype is None else value_dtype(dtype).name,
    )
    if not result.shape and format is None:
        return result.vals[0]
    found = wrap_result(SparseTensor, result, any(operand.is_array for operand in operands.values()))
    return found.called(format) if isinstance(found, SparseTensor) else found


@overload
def einsum(
    *operands: str | SparseTensor | Sequence[int],
    out: None = None,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    casting: Casting = "safe",
    optimize: bool | str | Sequence[Any] = "auto",
    format: FormatLike | None = None,
    reduce: str = "sum",
) -> SparseTensor | Any: ...
@overload
def einsum(
    *operands: Any,
    out: SparseTensor | Array | None = None,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    casting: Casting = "safe",
    optimize: bool | str | Sequence[Any] = "auto",
    format: FormatLike | None = None,
    reduce: str = "sum",
) -> SparseTensor | Array | Any: ...
def einsum(
    *operands: Any,
    out: Any = None,
    dtype: DTypeLike | None = None,
    order: Any = "K",
    casting: Any = "safe",
    optimize: bool | str | Sequence[Any] = "auto",
    format: FormatLike | None = None,
    reduce: str = "sum",
) -> Any:
    """Einstein summation, with NumPy's grammar.

    Parameters
    ----------
    *operands : str and array_like
        ``"ij,jk->ik", A, B``, or ``A, [0, 1], B, [1, 2], [0, 2]``.
    out : ndarray or SparseTensor, optional
        Where to put the result; a tensor keeps its format and dtype.
    dtype : dtype, optional
        In which everything is computed, and the result is; by default NumPy's promotion of the dtypes of the operands
        and of ``out``.
    order : {'K', 'C', 'F', 'A'}, optional
        Of the memory of a dense result; sparse ones have none.
    casting : {'safe', 'same_kind', 'unsafe', 'no', 'equiv'}, optional
        By which rule operands may be converted to that dtype, and the result to that of ``out``.
    optimize : {'auto', True, False} or str or list
        ``False`` compiles one kernel for the whole expression; ``True``, a name of a strategy of opt_einsum's or a
        path, as NumPy has it, contracts pairs. ``"auto"`` takes what :func:`einsum_path` expects to be cheaper, by
        how many entries the operands hold; with ``config.reassociate`` off it is one kernel.
    format : str or Format, optional
        Of the result; by default it is inferred from the operands.
    reduce : {'sum', 'prod', 'min', 'max', 'any', 'all'}
        What is made of the products over the indices that go; all but sums are one kernel.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        ``out`` where that is given; else a scalar for a result without axes, and an ndarray for a dense result where an
        operand is an ndarray.

    Raises
    ------
    NotationError, ShapeError
        When subscripts do not parse, or do not fit the operands.
    DTypeError
        When ``casting`` does not allow a conversion.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray(np.array([[1.0, 0.0], [2.0, 3.0]]), format="csr")
    >>> weft.einsum("ij,j", A, np.array([1.0, 10.0]))
    array([ 1., 32.])
    >>> float(weft.einsum("ii", A))
    4.0
    >>> weft.einsum("ij,j->i", A, np.array([-1.0, 10.0]), reduce="min")
    array([-1., -2.])
    """
    if reduce not in REDUCTIONS:
        raise ValueError(f"reduce is one of {', '.join(REDUCTIONS)}, not {reduce!r}")
    notation, given = _parsed_einsum(operands)
    found = _adopted(dict(zip(notation.names, given, strict=True)), weak=False)
    if out is None and dtype is None and order == "K" and casting == "safe":
        return _contracted(notation, found, None, optimize, format, reduce)
    turn = _memory_order(order, list(found.values()))
    wanted, found = _converted(found, dtype, out, casting)
    result = _contracted(notation, found, wanted, optimize, format, reduce)
    if out is None:
        return result if turn is None or format is not None else _in_order(result, turn)
    return write_out(result, out, "einsum", casting=casting)


def _converted(
    operands: Mapping[str, Operand], dtype: DTypeLike | None, out: Any, casting: Any
) -> tuple[np.dtype[Any], dict[str, Operand]]:
    """In which dtype ``numpy.einsum`` computes, and the operands, those with a wider one converted to it."""
    dtypes = [operand.storage.dtype for operand in operands.values()]
    beside = [out.dtype] if isinstance(out, (np.ndarray, SparseTensor)) else []
    wanted = value_dtype(np.result_type(*dtypes, *beside) if dtype is None else dtype)
    for number, own in enumerate((*dtypes, *beside)):  # NumPy reads out, too
        if not np.can_cast(own, wanted, casting):
            which = f"operand {number}" if number < len(dtypes) else "out"
            raise DTypeError(
                f"einsum does not convert {which} from {own} to {wanted} by the rule {casting!r}; "
                "casting='unsafe' allows every conversion"
            )
    return wanted, {
        name: o if np.can_cast(o.storage.dtype, wanted) else Operand(execution.in_dtype(o.storage, wanted), o.is_array)
        for name, o in operands.items()
    }


def _memory_order(order: Any, operands: Sequence[Operand]) -> str | None:
    """Which memory order is asked for; None where it is as it comes."""
    name = "K" if order is None else str(order).upper()
    if name not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if name == "A":
        dense = (o.storage.format.is_dense and o.storage.to_dense_array().flags.f_contiguous for o in operands)
        name = "F" if all(dense) else "C"
    return None if name == "K" else name


def _in_order(found: Any, order: str) -> Any:
    """Return a result with its elements in C or F order, if it is dense."""
    if np.ndim(found) < 2:
        return found
    if isinstance(found, np.ndarray):
        return np.asarray(found, order=order)  # type: ignore[call-overload]
    return found.asformat("dense_f" if order == "F" else "dense") if found.layout.is_dense else found


def _contracted(
    notation: Einsum,
    found: dict[str, Operand],
    dtype: DTypeLike | None,
    optimize: Any,
    format: FormatLike | None,
    reduce: str,
) -> Any:
    """Compute an einsum of operands in their common dtype, or a wider one."""
    assignment = notation.assignment if reduce == "sum" else _reduced(notation.assignment, REDUCTIONS[reduce])
    if len(found) < 3:
        return _run(assignment, found, format, dtype)
    dtypes = {name: operand.storage.dtype for name, operand in found.items()}
    common = np.result_type(*dtypes.values())
    if reduce == "sum" and result_dtype(explicit_sums(assignment).value, dtypes) != common:
        # Pair by pair they have another dtype: each is converted to what all have in common, as by NumPy.
        found = {name: Operand(execution.in_dtype(o.storage, common), o.is_array) for name, o in found.items()}
        dtypes = dict.fromkeys(dtypes, common)
    if reduce == "sum" and optimize is not False and (config.reassociate or optimize != "auto"):
        planned = _planned(notation, list(found.values()), optimize)
        if len(planned.path) > 1 or len(planned.path[0]) < len(found):
            return _by_steps(planned, list(found.values()), common, format, dtype)
    return _run(use_computation_dtype(assignment, tuple(dtypes.items()), common.name), found, format, dtype)


def _reduced(assignment: Assignment, op: str) -> Assignment:
    """An assignment with another reduction than the implied sum."""
    indices = dict.fromkeys(v for access in reads(assignment.value) for v in access.indices)
    gone = tuple(v for v in indices if v not in assignment.target.indices)
    return replace(assignment, value=Reduce(op, gone, assignment.value)) if gone else assignment


def einsum_path(*operands: Any, optimize: Any = "auto") -> tuple[list[Any], str]:
    """In which order :func:`einsum` would contract, and why.

    Parameters
    ----------
    *operands
        What :func:`einsum` takes.
    optimize : bool, str or list
        As :func:`einsum` takes it.

    Returns
    -------
    path : list
        As NumPy has it; all operands at once where one loop nest computes everything.
    report : str
        The steps, with the estimates by which they were chosen.

    Examples
    --------
    >>> import numpy as np, weft
    >>> A = weft.random((1000, 1000), density=0.01, format="csr")
    >>> path, report = weft.einsum_path("ij,jk,kl->il", A, A, np.ones((1000, 10)))
    >>> path
    ['einsum_path', (1, 2), (0, 1)]
    """
    notation, given = _parsed_einsum(operands)
    found = list(_adopted(dict(zip(notation.names, given, strict=True)), weak=False).values())
    planned = _planned(notation, found, optimize)
    fused = len(planned.path) == 1
    lines = [
        f"{'one loop nest' if fused else 'pair by pair'}: {_plain_subscripts(notation)}",
        f"estimated multiplications, fused:    {planned.fused:.3g}",
        f"estimated multiplications, by pairs: {planned.pairwise:.3g}",
        *(f"  {step}" for step in planned.steps),
    ]
    return ["einsum_path", *planned.path], "\n".join(lines)


def _planned(notation: Einsum, operands: Sequence[Operand], optimize: Any) -> ContractionPath:
    """The order of contraction, by the operands' shapes and how many entries they hold."""
    storages = [operand.storage for operand in operands]
    densities = [1.0 if s.format.is_dense else min(1.0, s.nnz / max(1, math.prod(s.shape))) for s in storages]
    wanted = tuple(optimize) if isinstance(optimize, list) else optimize
    return plan(_plain_subscripts(notation), tuple(s.shape for s in storages), tuple(densities), wanted)


def _by_steps(
    planned: ContractionPath,
    operands: Sequence[Operand],
    common: np.dtype[Any],
    format: FormatLike | None,
    dtype: DTypeLike | None,
) -> Any:
    """Contract some operands after others, in the dtype that all have in common or a wider one that is asked for."""
    wider = dtype is not None and np.can_cast(common, value_dtype(dtype), "safe")
    wide = dtype if wider else common
    pending = [operand.storage.to_dense_array() if operand.is_array else SparseTensor(operand.storage)
               for operand in operands]  # fmt: skip
    for number, (places, step) in enumerate(zip(planned.path, planned.steps, strict=True), 1):
        last = number == len(planned.path)
        taken = [pending.pop(place) for place in sorted(places, reverse=True)]
        wanted = {"format": format, "dtype": wide if dtype is None else dtype} if last else {"dtype": wide}
        pending.append(einsum(_in_first_letters(step), *taken, optimize=False, **wanted))
    return pending[0]


def _in_first_letters(subscripts: str) -> str:
    """The same subscripts in the first letters of the alphabet, so that steps that do the same are one kernel."""
    import opt_einsum

    names = {char: char for char in ",->"}
    return "".join(names.setdefault(char, opt_einsum.get_symbol(len(names) - 3)) for char in subscripts)


def _plain_subscripts(notation: Einsum) -> str:
    """Explicit subscripts of single letters, without ellipses, as opt_einsum takes them."""
    import opt_einsum

    names: dict[str, str] = {}
    accesses = {access.tensor: access.indices for access in reads(notation.assignment.value)}
    indices = (*(accesses[name] for name in notation.names), notation.assignment.target.indices)
    texts = ["".join(names.setdefault(v, opt_einsum.get_symbol(len(names))) for v in own) for own in indices]
    return f"{','.join(texts[:-1])}->{texts[-1]}"


def compile(
    text: str,
    /,
    *,
    dtypes: Mapping[str, DTypeLike] | None = None,
    schedule: Callable[[execution.LoopNest], execution.LoopNest] | None = None,
    **formats: FormatLike,
) -> CompiledKernel:
    """Compile an expression in tensor index notation for formats.

    Parameters
    ----------
    text : str
        The expression.
    dtypes : mapping, optional
        Value dtypes by tensor name; float64 where not given.
    schedule : callable, optional
        Changes the automatic schedule: it takes the loops and gives them after ``reorder``, ``precompute``,
        ``split`` and ``parallelize``.
    **formats : str or Format
        By tensor name. Operands without one are dense; the result's is inferred.

    Examples
    --------
    >>> import weft
    >>> k = weft.compile("y(i) = A(i,j)*x(j)", A="csr")
    >>> k
    <kernel y(i) = A(i,j)*x(j); A: csr float64, x: dense float64, y: dense float64>
    """
    assignment = _parsed(text)
    return CompiledKernel(assignment, _types(assignment, formats, dtypes or {}, text), text, schedule)


def _types(
    assignment: Assignment, formats: Mapping[str, FormatLike], dtypes: Mapping[str, DTypeLike], text: str
) -> dict[str, TensorType]:
    found = orders(assignment)
    for names in (formats, dtypes):
        check_names(text, names, found, ("dtypes", "schedule"), "tensor")
    types = {}
    for name, order in found.items():
        if name == assignment.target.tensor and name not in formats:
            continue
        format = parse_format(formats[name], order) if name in formats else Format.dense(order)
        types[name] = TensorType.of(value_dtype(dtypes.get(name, np.float64)).name, format)
    return types


def explain(*operands: Any, full: bool = False, **named: Any) -> str:
    """Report what the compiler makes of an expression.

    The short report says in which formats and loops it is computed, which operands are stored again and how to avoid
    that, and which loops visit every coordinate, and why.

    Parameters
    ----------
    *operands
        What :func:`einsum` takes, or an expression in tensor index notation alone.
    full : bool
        True for every stage of the compiler: schedule, concrete notation, lattices, IR and C.
    **named
        With index notation: operands as for :func:`evaluate`, or formats as for :func:`compile`; ``format`` and
        ``dtype`` of the result.

    Returns
    -------
    str
        A report.

    Raises
    ------
    NotationError
        For expressions that do not parse, and operands that are missing.

    Examples
    --------
    >>> import weft
    >>> A = weft.random((100, 100), nnz=300, format="csr", rng=0)
    >>> print(weft.explain("C(i,k) = A(i,j)*B(j,k)", A=A, B=A.tocsc()))
    C(i,k) = sum(j, A(i,j)*B(j,k))
    formats: C csr float64; A csr float64; B csc float64
    B is converted from csc to csr: loops i,j,k cannot traverse B in csc
    loop order i, j, k; k is gathered in a list workspace
    each call stores B again; keep B.asformat('csr'), and pass that instead
    threads share the loop over i
    """
    format, dtype = named.pop("format", None), named.pop("dtype", None)
    if len(operands) == 1 and isinstance(operands[0], str):
        text = operands[0]
        if all(isinstance(value, (str, Format)) for value in named.values()):
            return compile(text, **named).explain(full)
        assignment, found = _parsed(text), _adopted(named, weak=True)
    else:
        notation, given = _parsed_einsum(operands)
        assignment, found = notation.assignment, _adopted(dict(zip(notation.names, given, strict=True)), weak=False)
    wanted = None if dtype is None else value_dtype(dtype).name
    looked = execution.looked_up(assignment, {name: operand.storage for name, operand in found.items()}, wanted)
    plan = execution.plan_for(
        looked.assignment,
        tuple(found[name].storage.type for name in operand_names(assignment)),
        format=_format_of(assignment, format),
        dtype=wanted,
    )
    return report(plan, assignment, looked, full, assumed=False)
