"""Public functions that compute, compile and explain expressions in index notation and einsum subscripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..dtypes import value_dtype
from ..errors import DeviceError, DTypeError, NotationError, ShapeError, WeftError
from ..formats import Format, FormatLike, TensorType, parse_format
from ..index_notation import (
    Einsum,
    accesses,
    explicit_sums,
    parse,
    parse_einsum,
    result_dtype,
    to_text,
    use_computation_dtype,
)
from ..index_notation.nodes import Access, Assignment, Reduce
from ..index_notation.operator_table import REDUCTIONS
from ..index_notation.program import Program
from ..index_notation.traversal import renamed
from ..operations.operands import (
    Operand,
    is_scalar,
    operand_anywhere,
    require_one_device,
    scalar_storage,
    storage_anywhere,
)
from ..records import replace
from ..runtime.devices import in_use
from ..storage import Storage
from ..tracebacks import end_at_caller, ends_at_caller
from .call_report import explain_call
from .compiled_kernel import (
    CompiledKernel,
    check_names,
    drawn,
    operand_names,
    orders,
    report,
    stage_texts,
    titled,
)
from .contraction_paths import is_path, plain_subscripts, program_of_path, steps_of
from .conversion_report import conversion_text, converts, explain_conversion
from .lazy import Fused, LazyTensor, is_lazy, node_of, written
from .operators import element, wrap_result
from .out_argument import write_out
from .recorded import statements
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from .types import Array, Casting, Number, Order


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Assignment:
    return parse(text)


@lru_cache(maxsize=1024)
def _parsed_with_names(text: str) -> tuple[Assignment, frozenset[str]]:
    return _with_names(_parsed(text))


def _with_names(assignment: Assignment) -> tuple[Assignment, frozenset[str]]:
    """Return an assignment with the names of the tensors that it reads, which += reads on the left-hand side, too."""
    read = operand_names(assignment)
    return assignment, frozenset(read if assignment.op is None else (*read, assignment.target.tensor))


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
        The expression, such as ``"y(i) = A(i,j)*x(j) + b*z(i)"``. Variables that are not on the left-hand side are
        summed over. With ``+=`` the result is the sum of the expression and the operand on the left-hand side, which
        may have any format and dtype, and does not change.
    format : str or Format, optional
        The format of the result; by default it is inferred from the operands.
    dtype : dtype, optional
        The dtype of the result; by default NumPy's promotion of the operands' dtypes. If it is wider, everything is
        computed in it.
    **operands : array_like
        Tensors, ndarrays, scipy.sparse arrays or scalars, by their names in the expression.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        A scalar for a result without axes; an ndarray for a dense result if an operand is an ndarray; else a tensor.

    Raises
    ------
    NotationError
        When the expression does not parse, or an operand is missing.
    ShapeError
        When the shapes of the operands do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray(np.array([[1.0, 0.0], [2.0, 3.0]]), format="csr")
    >>> weft.evaluate("y(i) = A(j,i)*x(j) + b*x(i)", A=A, x=np.array([1.0, 10.0]), b=2)
    array([23., 50.])
    """
    try:
        assignment, used = _parsed_with_names(text) if isinstance(text, str) else _with_names(parse(text))
        if not operands.keys() <= used:
            check_names(text, operands, sorted(used), ("format", "dtype"))
        if is_lazy(*operands.values()) and format is None and dtype is None and assignment.op is None:
            return written(assignment, operands)
        by_name = adopted(operands, weak=True)
        if dtype is not None and used <= operands.keys():
            types = tuple([(name, operand.storage.type) for name, operand in by_name.items()])
            _require_held(assignment, types, value_dtype(dtype))
        return run(assignment, by_name, format, dtype)
    except WeftError as error:
        end_at_caller(error)
        raise


@lru_cache(maxsize=256)
def _require_held(assignment: Assignment, types: tuple[tuple[str, TensorType], ...], dtype: np.dtype[Any]) -> None:
    """Raise if the fractions or the imaginary parts of a result would be lost in the requested dtype.

    Booleans and narrower dtypes of one kind are what NumPy makes of numbers.
    """
    result_dtype = execution.target_type(assignment, dict(types), None, None).dtype
    kinds = "biufc".index(np.dtype(result_dtype).kind), "biufc".index(dtype.kind)
    if (kinds[0] >= _FRACTIONS > kinds[1] > 0) or kinds == (_FRACTIONS + 1, _FRACTIONS):
        part = "imaginary parts" if kinds[0] > _FRACTIONS else "fractions"
        raise DTypeError(
            f"{to_text(assignment)} makes {result_dtype}, whose {part} {dtype} cannot hold; convert the result, which "
            f"drops them: .astype({dtype.name!r})"
        )


_FRACTIONS = 3  # the place of "f" among the kinds of dtypes


def _parsed_einsum(operands: Sequence[Any]) -> tuple[Einsum, tuple[Any, ...]]:
    """Parse the arguments of ``einsum``; an error on shapes names the operands' formats, too."""
    try:
        return parse_einsum(operands)
    except ShapeError as error:
        given = [operand_anywhere(obj) for obj in operands if not isinstance(obj, str | list | tuple)]
        formats = [str(operand.storage.format) for operand in given if operand is not None]
        raise ShapeError(f"{error}, stored as {', '.join(formats)}" if formats else str(error)) from None


def adopted(operands: Mapping[str, Any], *, weak: bool) -> dict[str, Operand]:
    """Convert operands to storages, by name; ``weak`` numbers of Python take their dtype from the other operands."""
    by_name: dict[str, Operand] = {}
    # Tensors and arrays, which are usual, come first: small calls take little more time than these checks.
    for name, obj in operands.items():
        if type(obj) is SparseTensor:
            by_name[name] = Operand(storage_anywhere(obj), False)
        elif type(obj) is np.ndarray:
            by_name[name] = Operand(Storage.dense(obj), obj.ndim > 0)
        else:
            break
    else:
        return _on_one_device(by_name)
    numbers: dict[str, Any] = {}
    for name, obj in operands.items():
        if weak and isinstance(obj, (bool, int, float, complex)) and not isinstance(obj, np.generic):
            numbers[name] = obj
            continue
        operand = operand_anywhere(obj)
        if operand is None:
            package = type(obj).__module__.partition(".")[0]
            instead = "; weft.dask.evaluate and einsum take dask arrays" if package == "dask" else ""
            raise DTypeError(
                f"operand {name} is of type {type(obj).__name__}; weft takes tensors, arrays and numbers{instead}"
            )
        by_name[name] = Operand(operand.storage, False) if is_scalar(obj) else operand
    # Numbers come last, when the dtypes of all other operands are known.
    beside = [operand.storage.dtype for operand in by_name.values()]
    for name, obj in numbers.items():
        dtype = np.result_type(*beside) if beside else np.asarray(obj).dtype
        by_name[name] = Operand(scalar_storage(obj, dtype), False)
    return _on_one_device({name: by_name[name] for name in operands})


def _on_one_device(operands: dict[str, Operand]) -> dict[str, Operand]:
    """Return operands that are on one device."""
    if in_use:
        require_one_device({name: operand.storage for name, operand in operands.items()})
    return operands


def _format_of(assignment: Assignment, format: FormatLike | None) -> Format | None:
    """Return the requested format, or None."""
    return None if format is None else parse_format(format, len(assignment.target.indices))


def run(
    assignment: Assignment,
    operands: Mapping[str, Operand],
    format: FormatLike | None,
    dtype: DTypeLike | None,
    order: Program | bool = True,
) -> Any:
    storages, has_array = {}, False
    for name, (storage, is_array) in operands.items():
        storages[name] = storage
        has_array = has_array or is_array
    result = execution.evaluate(
        assignment,
        storages,
        format=_format_of(assignment, format),
        dtype=None if dtype is None else value_dtype(dtype).name,
        order=order,
    )
    if not result.shape and format is None:  # with a format the result is a tensor, even without axes
        return element(result)
    found = wrap_result(SparseTensor, result, has_array)
    return found.called(format) if format is not None and isinstance(found, SparseTensor) else found


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
    """Compute an Einstein summation, with NumPy's grammar.

    Several operands are multiplied in one loop nest where that is cheaper, at the stored entries of sparse ones:
    ``einsum("ij,ik,jk->ij", A, U, V)`` is ``A * (U @ V.T)`` without that product (SDDMM), and
    ``einsum("ijk,jr,kr->ir", T, B, C)`` is the step of a CP decomposition (MTTKRP).

    Parameters
    ----------
    *operands : str and array_like
        The subscripts, and an operand for each group of them, as in ``"ij,jk->ik", A, B``. NumPy's other form,
        ``A, [0, 1], B, [1, 2], [0, 2]``, is taken, too.
    out : ndarray or SparseTensor, optional
        The array or tensor to write the result into; a tensor keeps its format and dtype.
    dtype : dtype, optional
        The dtype of the computation and of the result; by default NumPy's promotion of the dtypes of the operands and
        of ``out``.
    order : {'K', 'C', 'F', 'A'}, optional
        The memory order of a dense result. Sparse results have none.
    casting : {'safe', 'same_kind', 'unsafe', 'no', 'equiv'}, optional
        The rule by which operands may be converted to that dtype, and the result to the dtype of ``out``.
    optimize : {'auto', True, False} or str or list
        ``False`` computes all in one statement. ``"auto"`` and ``True`` compute parts first where that is cheaper for
        the sizes and numbers of entries of the operands, as :func:`weft.evaluate` does; :func:`einsum_path` shows them.
        If ``config.reassociate`` is off, only integers are summed in another order. A path in NumPy's notation is
        followed, as is the one that a strategy of opt_einsum finds.
    format : str or Format, optional
        The format of the result; by default it is inferred from the operands.
    reduce : {'sum', 'prod', 'min', 'max', 'any', 'all'}
        The reduction of the products over the indices that the result does not have. All reductions except sums
        compile one kernel.

    Returns
    -------
    SparseTensor, ndarray or NumPy scalar
        ``out`` if it is given; else a scalar for a result without axes, an ndarray for a dense result if an operand is
        an ndarray, and else a tensor.

    Raises
    ------
    NotationError, ShapeError
        When subscripts do not parse, or do not fit the operands.
    DTypeError
        When ``casting`` does not allow a conversion.

    Examples
    --------
    The product of two dense matrices, at the 1,000 places that a sparse one stores:

    >>> import numpy as np
    >>> import weft
    >>> A = weft.random((10_000, 10_000), nnz=1000, format="csr", rng=0)
    >>> U, V = np.random.default_rng(0).random((2, 10_000, 16))
    >>> weft.einsum("ij,ik,jk->ij", A, U, V)
    <SparseTensor: shape=(10000, 10000), dtype=float64, format=csr, nnz=1000, fill_value=0>

    A tensor with three axes times two matrices:

    >>> T = weft.random((100, 200, 300), nnz=5000, format="csf", rng=0)
    >>> weft.einsum("ijk,jr,kr->ir", T, U[:200], V[:300]).shape
    (100, 16)

    Sums over one index, over the diagonal, and another reduction:

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
    try:
        notation, arguments = _parsed_einsum(operands)
        named = dict(zip(notation.names, arguments, strict=True))
        if is_lazy(*arguments) and out is None and dtype is None and format is None and order == "K":
            operator = REDUCTIONS[reduce]
            return written(notation.assignment if reduce == "sum" else reduced(notation.assignment, operator), named)
        by_name = adopted(named, weak=False)
        # The usual call needs neither a conversion by a casting rule nor another memory order.
        if out is None and dtype is None and order == "K" and casting == "safe":
            return _contracted(notation, by_name, None, optimize, format, reduce)
        turn = _memory_order(order, list(by_name.values()))
        target, by_name = _converted(by_name, dtype, out, casting)
        result = _contracted(notation, by_name, target, optimize, format, reduce)
        if out is None:
            return result if turn is None or format is not None else _in_order(result, turn)
        return write_out(result, out, "einsum", casting=casting)
    except WeftError as error:
        end_at_caller(error)
        raise


def _converted(
    operands: Mapping[str, Operand], dtype: DTypeLike | None, out: Any, casting: Any
) -> tuple[np.dtype[Any], dict[str, Operand]]:
    """Return the dtype in which ``numpy.einsum`` computes, and the operands, with wider ones converted to it."""
    dtypes = [operand.storage.dtype for operand in operands.values()]
    others = [out.dtype] if isinstance(out, (np.ndarray, SparseTensor)) else []
    target = value_dtype(np.result_type(*dtypes, *others) if dtype is None else dtype)
    for number, source in enumerate((*dtypes, *others)):  # NumPy reads out as well as writing it
        if not np.can_cast(source, target, casting):
            which = f"operand {number}" if number < len(dtypes) else "out"
            raise DTypeError(
                f"einsum does not convert {which} from {source} to {target} by the rule {casting!r}; "
                "casting='unsafe' allows every conversion"
            )
    return target, {
        name: o if np.can_cast(o.storage.dtype, target) else Operand(execution.in_dtype(o.storage, target), o.is_array)
        for name, o in operands.items()
    }


def _memory_order(order: Any, operands: Sequence[Operand]) -> str | None:
    """Return the requested memory order, "C" or "F"; None for any order."""
    name = "K" if order is None else str(order).upper()
    if name not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if name == "A":
        dense = (o.storage.format.is_dense and o.storage.to_dense_array().flags.f_contiguous for o in operands)
        name = "F" if all(dense) else "C"
    return None if name == "K" else name


def _in_order(result: Any, order: str) -> Any:
    """Return a result with its elements in C or F order if it is dense, else the result itself."""
    if np.ndim(result) < 2:
        return result
    if isinstance(result, np.ndarray):
        return np.asarray(result, order=order)  # type: ignore[call-overload]
    return result.asformat("dense_f" if order == "F" else "dense") if result.layout.is_dense else result


def _contracted(
    notation: Einsum,
    operands: dict[str, Operand],
    dtype: DTypeLike | None,
    optimize: Any,
    format: FormatLike | None,
    reduce: str,
) -> Any:
    """Compute an einsum in the common dtype of its operands, or in a wider one."""
    assignment = notation.assignment if reduce == "sum" else reduced(notation.assignment, REDUCTIONS[reduce])
    order = optimize is not False
    if len(operands) < 3:
        return run(assignment, operands, format, dtype, order)
    # Partial products have the dtype that the operands have together, as in NumPy.
    dtypes = {name: operand.storage.dtype for name, operand in operands.items()}
    common = np.result_type(*dtypes.values())
    if dtype is not None and reduce == "sum" and np.can_cast(common, value_dtype(dtype), "safe"):
        common, dtype = value_dtype(dtype), None
    path = reduce == "sum" and is_path(optimize)
    if path or (reduce == "sum" and result_dtype(explicit_sums(assignment).value, dtypes) != common):
        operands = {name: Operand(execution.in_dtype(o.storage, common), o.is_array) for name, o in operands.items()}
        dtypes = dict.fromkeys(dtypes, common)
    if path:
        program = program_of_path(notation, [o.storage.shape for o in operands.values()], optimize)
        return run(assignment, operands, format, dtype, program)
    assignment = use_computation_dtype(assignment, tuple(dtypes.items()), common.name)
    return run(assignment, operands, format, dtype, order)


def reduced(assignment: Assignment, op: str) -> Assignment:
    """Return an assignment with a reduction by ``op`` in place of the implied sum."""
    indices = dict.fromkeys(v for access in accesses(assignment.value) for v in access.indices)
    gone = tuple(v for v in indices if v not in assignment.target.indices)
    return replace(assignment, value=Reduce(op, gone, assignment.value)) if gone else assignment


@ends_at_caller
def einsum_path(*operands: Any, optimize: Any = "auto") -> tuple[list[Any], str]:
    """Return the order in which :func:`einsum` would contract operands.

    Parameters
    ----------
    *operands
        The arguments of :func:`einsum`.
    optimize : bool, str or list
        The argument ``optimize`` of :func:`einsum`.

    Returns
    -------
    path : list
        The path in NumPy's notation; one step with all operands if one loop nest computes everything.
    report : str
        The subscripts of each contraction, and the expected entries of intermediate results.

    Examples
    --------
    >>> import numpy as np, weft
    >>> A = weft.random((1000, 1000), density=0.01, format="csr")
    >>> path, report = weft.einsum_path("ij,jk,kl->il", A, A, np.ones((1000, 10)))
    >>> path
    ['einsum_path', (1, 2), (0, 1)]
    """
    notation, arguments = _parsed_einsum(operands)
    by_name = adopted(dict(zip(notation.names, arguments, strict=True)), weak=False)
    program = _program(notation, by_name, optimize)
    steps = steps_of(program, notation)
    lines = [
        f"{f'{len(steps)} contractions' if program.parts else 'one loop nest'}: {plain_subscripts(notation)}",
        *(f"  {subscripts}" for _, subscripts in steps),
        *(
            f"{n:,.0f} entries expected of {subscripts}"
            for n, (_, subscripts) in zip(program.entries, steps, strict=False)
        ),
    ]
    return ["einsum_path", *(places for places, _ in steps)], "\n".join(lines)


def _program(notation: Einsum, operands: Mapping[str, Operand], optimize: Any) -> Program:
    """Return the program by which an einsum is computed."""
    storages, assignment = [operand.storage for operand in operands.values()], notation.assignment
    if is_path(optimize):
        return program_of_path(notation, [s.shape for s in storages], optimize)
    dtypes = tuple([(name, o.storage.dtype) for name, o in operands.items()])
    if len(operands) > 2:
        common = np.result_type(*[dtype for _, dtype in dtypes])
        assignment = use_computation_dtype(assignment, dtypes, common.name)
    if not optimize:
        return Program((assignment,), assignment, ())
    return execution.chosen_program(
        assignment, tuple([s.type for s in storages]), execution.numbers_for(assignment, storages)[0]
    )


@ends_at_caller
def compile(
    text: str,
    /,
    *,
    dtypes: Mapping[str, DTypeLike] | None = None,
    schedule: Callable[[execution.LoopNest], execution.LoopNest] | None = None,
    device: str | None = None,
    **formats: FormatLike,
) -> CompiledKernel:
    """Compile an expression in tensor index notation for formats.

    Parameters
    ----------
    text : str
        The expression.
    dtypes : mapping, optional
        Value dtypes by the names of tensors. Operands that are not named are float64. The dtype of the result is
        inferred if it is not named.
    schedule : callable, optional
        A function that changes the automatic schedule. It takes the loops, and returns them after ``reorder``,
        ``precompute``, ``split``, ``parallelize`` and ``positions``.
    device : {'cuda', 'emulated'}, optional
        The device for which to compile; by default the CPU. ``source`` is then CUDA, which needs no GPU to be made.
    **formats : str or Format
        Formats by the names of tensors. Operands that are not named are dense. The format of the result is inferred if
        it is not given.

    Returns
    -------
    CompiledKernel
        The kernel, which is called with the operands.

    Raises
    ------
    NotationError
        When the expression does not parse, or ``dtypes`` or ``formats`` name a tensor that it does not have.
    DeviceError
        When there is no such device, or it cannot compute the expression.

    Examples
    --------
    >>> import weft
    >>> k = weft.compile("y(i) = A(i,j)*x(j)", A="csr")
    >>> k
    <kernel y(i) = A(i,j)*x(j); A: csr float64, x: dense float64, y: dense float64>
    """
    assignment = _parsed(text) if isinstance(text, str) else parse(text)
    if device is not None and device not in ("cpu", "emulated") and device.partition(":")[0] != "cuda":
        raise DeviceError(f"there is no device {device!r}; expressions are compiled for 'cpu', 'cuda' and 'emulated'")
    types = _types(assignment, formats, dtypes or {}, text)
    return CompiledKernel(assignment, types, text, schedule, None if device == "cpu" else device)


def _types(
    assignment: Assignment, formats: Mapping[str, FormatLike], dtypes: Mapping[str, DTypeLike], text: str
) -> dict[str, TensorType]:
    order_of = orders(assignment)
    for names in (formats, dtypes):
        check_names(text, names, order_of, ("dtypes", "schedule", "device"), "tensor")
    # Operands come first, since what is not said of the result follows from them.
    types: dict[str, TensorType] = {}
    result = assignment.target.tensor
    for name, order in order_of.items():
        format = parse_format(formats[name], order) if name in formats else None
        dtype = value_dtype(dtypes[name]).name if name in dtypes else None
        if name != result:
            types[name] = TensorType.of(dtype or "float64", format or Format.dense(order))
        elif name in formats or name in dtypes:
            if dtype is not None and assignment.op is None:
                _require_held(assignment, tuple(types.items()), np.dtype(dtype))
            types[name] = execution.target_type(assignment, types, format, dtype)
    return types


_NO_DRAWING = "a call or a conversion has no drawing; its report is text, as of weft.explain(A.asformat, 'dia')"


@ends_at_caller
def explain(*operands: Any, stages: bool | str | Iterable[str] = False, ways: bool = False, **named: Any) -> str:
    """Report how weft computes an expression, or converts a tensor.

    The short report has a line for the formats, for each conversion that every call makes, for the loops and the
    coordinates that they visit, for loops over all coordinates, for what threads share, and for whether the kernel is
    compiled. The page on schedules says how to read it. The report on a conversion has its steps, the attribute queries
    that they answer.

    Parameters
    ----------
    *operands
        The arguments of :func:`einsum`, or an expression in tensor index notation alone; or a lazy tensor; or a
        function of :func:`fused` with arguments. Or another function, such as
        ``np.add``, ``operator.matmul`` or the method ``A.sum``, and its arguments: it is called, and the report is on
        the kernels that ran. Methods that convert a tensor, such as ``A.asformat``, are not called.
    stages : bool, str or iterable of str
        Stages of the compiler to show in place of the short report: True for every stage, from the index notation to
        the C, or names, such as ``"c"`` and ``"schedule"``. Names of passes are taken, too, and ``"all"`` is every
        stage and every pass.
    ways : bool, optional
        If true, the report ends with all ways by which the result could be assembled: those that are possible with
        their prices, the cheapest first, and then those that are not, with the reasons.
    **named
        For index notation, operands as for :func:`evaluate`, or formats as for :func:`compile`. In both cases,
        ``format`` and ``dtype`` of the result. ``format="svg"`` asks for a drawing in place of text: of the iteration
        graph and the merge lattices, or of one of these by ``stages="iteration graph"`` or ``stages="lattices"``.

    Returns
    -------
    str
        A report. A drawing is SVG text that notebooks show as a picture, and that ``save(path)`` writes to a file.

    Raises
    ------
    NotationError
        For expressions that do not parse, and operands that are missing.
    FormatError
        For a format that does not exist.
    ValueError
        For names of stages that do not exist or have no drawing, and for drawings of calls.

    Examples
    --------
    >>> import operator, weft
    >>> A = weft.random((100, 100), nnz=300, format="csr", rng=0)
    >>> print(weft.explain("C(i,k) = A(i,j)*B(j,k)", A=A, B=A.tocsc()))
    C(i,k) = sum(j, A(i,j)*B(j,k))
    formats: C csr float64; A csr float64; B csc float64
    each call converts B from csc to csr, since loops i,j,k cannot traverse B in csc;
    pass B.asformat('csr') to avoid this
    loops: every i; j stored in A; k stored in B
    values over k are accumulated in a dense array, with a list of the coordinates set
    parallel: the loop over i
    compiled: ...
    >>> weft.explain("C(i,k) = A(i,j)*B(j,k)", A="csr", B="csr", format="svg")[:4]
    '<svg'
    >>> print(weft.explain(A.tocsc).splitlines()[0])
    csr float64 is converted to csc float64 in 1 step (insert)
    >>> print(weft.explain(operator.add, A, A[::-1]))
    C(i0,i1) = A(i0,i1) + B(i0,i1)
    formats: C csr float64; A csr float64; B csr float64
    loops: every i0; i1 stored in A or B
    parallel: the loop over i0
    compiled: ...
    """
    if ways:
        told = partial(explain, *operands, **named)
        return "\n\n".join([told(stages=stages), told(stages="ways")])
    picture = named.get("format") == "svg"
    if operands and isinstance(operands[0], (LazyTensor, Fused)):
        return _explain_lazy(operands, named, stages)
    if operands and callable(operands[0]):
        if picture:
            raise ValueError(_NO_DRAWING)
        explain_function = explain_conversion if converts(operands[0]) else explain_call
        return explain_function(operands[0], operands[1:], named, stages)
    format, dtype = named.pop("format", None), named.pop("dtype", None)
    format = None if picture else format
    if len(operands) == 1 and isinstance(operands[0], str):
        text = operands[0]
        # Formats instead of operands: the report is that of a compiled kernel.
        if all(isinstance(value, (str, Format)) for value in named.values()):
            target = _parsed(text).target.tensor
            if format is not None:
                named.setdefault(target, format)
            return compile(text, dtypes=None if dtype is None else {target: dtype}, **named).explain(
                stages=stages, format="svg" if picture else "text"
            )
        assignment, by_name = _parsed(text), adopted(named, weak=True)
    else:
        if not any(isinstance(each, (str, list, tuple)) for each in operands):
            raise NotationError(
                "explain takes an expression and its operands, not a result: "
                'weft.explain("C(i,j) = A(i,j) + B(i,j)", A=A, B=B), or weft.explain("ij,jk->ik", A, B)'
            )
        notation, arguments = _parsed_einsum(operands)
        assignment, by_name = (
            notation.assignment,
            adopted(dict(zip(notation.names, arguments, strict=True)), weak=False),
        )
    held = {name: operand.storage for name, operand in by_name.items()}
    dtype_name = None if dtype is None else value_dtype(dtype).name
    return _explained(assignment, held, _format_of(assignment, format), dtype_name, stages, picture)


def _explain_lazy(operands: Sequence[Any], named: Mapping[str, Any], stages: bool | str | Iterable[str]) -> str:
    """Report how the statements of a lazy tensor, or of a fused function of operands, are computed."""
    function, *arguments = operands
    is_tensor = isinstance(function, LazyTensor)
    results = [function] if is_tensor else function.recorded([*arguments, *named.values()], (*named,))[0]
    values, texts, names = dict[str, Storage](), list[str](), dict[Any, str]()
    program = statements([node_of(x) for x in results])
    later = {source.of for statement in program for source in statement.reads.values() if isinstance(source.of, str)}
    for statement in program:
        held = statement.storages(values)
        if statement.name in later:  # their values may decide how others are computed
            values[statement.name] = statement.result(held)
        assignment = statement.assignment
        if len(program) > 1:  # names that are those of the same tensors in all statements
            shown = {}
            for name, read in statement.reads.items():
                key = read.of if isinstance(read.of, str) else (id(read.of), read.without)
                shown[name] = names.setdefault(key, f"A{1 + sum(n[0] == 'A' for n in names.values())}")
            target = names.setdefault(statement.name, f"R{len(texts) + 1}")
            value = renamed(assignment.value, shown)
            assignment = Assignment(Access(target, assignment.target.indices), value)
            held = {shown[name]: storage for name, storage in held.items()}
        texts.append(_explained(assignment, held, None, None, stages, False))
    return "\n".join(texts)


def _explained(
    assignment: Assignment, held: Mapping[str, Storage], result_format: Format | None, dtype_name: str | None,
    stages: bool | str | Iterable[str], picture: bool,
) -> str:  # fmt: skip
    """Report how an assignment is computed for some operands."""
    if assignment.op is not None:
        assignment, old = execution.accumulation(assignment, held, result_format, dtype_name)
        result_format = result_format if old is None else old.format
    execution.require_operands(assignment, held)
    looked = execution.looked_up(assignment, held, dtype_name, infers=result_format is None)
    storages = tuple([held[name] for name in operand_names(assignment)])
    planned = partial(
        execution.plan_for_operands,
        storages=storages,
        format=result_format,
        dtype=dtype_name,
        variant=execution.variant_for(storages),
    )
    try:
        usual = planned(looked.assignment)
    except DeviceError as error:
        if stages or picture:
            raise
        types = tuple([storage.type for storage in storages])
        formats = execution.formats_line(dict(zip(operand_names(assignment), types, strict=True)))
        return "\n".join([to_text(explicit_sums(assignment)), formats, execution.refused_line(error)])
    plan, alternatives = usual.chosen(storages)
    if isinstance(plan.steps[0], execution.Copy):
        if picture:
            raise ValueError(_NO_DRAWING)
        text = conversion_text(plan.steps[0].conversion(*storages), stages)
        return text if stages else f"{to_text(assignment)}\n{text}"
    # Computations share kernels whatever their operands are called, so what runs has other names.
    shared = planned(execution.anonymous(looked.assignment)).chosen(storages)[0]
    texts = execution.PlanReport(plan, storages, shared)
    if picture:
        return drawn(texts, stages)
    if stages:
        return titled(stage_texts(texts, stages, looked))
    origins = execution.PlanReport(shared).origins
    chosen = [f"chosen for these operands: {each.name}, since {each.reason}" for each in alternatives]
    asked_dense = result_format is not None and result_format.is_dense
    visited = plan.kernel.loops.run.visited_axes
    full = "" if asked_dense else execution.full_line(assignment, looked, held, plan.target, visited)
    lines = [report(texts, assignment, looked, origins, assumed=False, full=full), *texts.kept(storages), *chosen]
    changed = plan.target.format != usual.target.format
    try:
        if assignment.op is None:  # what is added in place needs no memory
            execution.expected(assignment, held, True, plan.target.format if changed else result_format)
    except WeftError as error:
        lines.append(f"this is refused: {error}")
    return "\n".join(lines)
