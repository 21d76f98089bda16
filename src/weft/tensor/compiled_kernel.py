"""Kernels as users see them: compiled for formats, and called with tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from .. import execution
from ..config import config
from ..errors import DeviceError, DTypeError, FormatError, NotationError, ShapeError, WeftError
from ..execution.plan_cache import plans
from ..formats import SYNONYMS, Format, TensorType
from ..hints import did_you_mean, nearest
from ..index_notation import accesses, explicit_sums, free_variables, to_text
from ..index_notation.nodes import Assignment
from ..index_notation.operator_table import OPERATORS
from ..operations import foreign_tensors
from ..operations.operands import StorageHolder, operand_anywhere, require_one_device, storage_anywhere, storage_of
from ..optimizations import PASSES
from ..storage import Storage
from ..tracebacks import end_at_caller, ends_at_caller
from ..variant import Variant
from .lazy_methods import resolve
from .operators import wrap_result
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from .types import Array

_Result = TypeVar("_Result", bound="SparseTensor | Array")


@lru_cache(maxsize=4096)
def operand_names(assignment: Assignment) -> tuple[str, ...]:
    """Return the names of the operands in the order in which they first appear on the right-hand side."""
    return tuple(dict.fromkeys(access.tensor for access in accesses(assignment.value)))


def orders(assignment: Assignment) -> dict[str, int]:
    """Return the number of axes of each tensor, operands first; raises ``NotationError`` if it varies."""
    order_of: dict[str, int] = {}
    for access in (*accesses(assignment.value), assignment.target):
        if order_of.setdefault(access.tensor, len(access.indices)) != len(access.indices):
            raise NotationError(f"{access.tensor} has {order_of[access.tensor]} and {len(access.indices)} indices")
    return order_of


def check_names(
    text: str, arguments: Iterable[str], names: Iterable[str], keywords: Sequence[str] = (), kind: str = "operand"
) -> None:
    """Raise an error, with the nearest name, for keyword arguments that name nothing in an expression."""
    arguments, names = list(arguments), list(names)
    unknown = [name for name in arguments if name not in names]
    if not unknown:
        return
    name, missing = unknown[0], [each for each in names if each not in arguments]
    meant = nearest(name, missing)
    if meant is not None:
        missed = f"{meant} is missing: " if kind == "operand" else ""
        raise NotationError(f"{missed}there is no {kind} {name!r} in {text!r}; did you mean {meant!r}?")
    listed = f"which has the {kind}s {', '.join(names)}" if names else f"which has no {kind}s"
    raise NotationError(f"there is no {kind} {name!r} in {text!r}, {listed}{did_you_mean(name, keywords, SYNONYMS)}")


def report(
    kernel: Any,
    assignment: Assignment,
    looked: Any,
    origins: Sequence[str | None] | None = None,
    *,
    assumed: bool,
    full: str = "",
) -> str:
    """Return a few lines on a plan, with notes on the values of operands that the plan depends on."""
    told = {v for absorption in looked.refused for v in free_variables(absorption.expr)}
    notes = looked.notes(assumed=assumed).splitlines()
    lines = [to_text(explicit_sums(assignment)), kernel.summary(told), *(f"values: {note}" for note in notes)]
    # A loop over coordinates that an operand does not store has a line already.
    if full and "not only those stored" not in lines[1]:
        lines.append(full)
    origins = kernel.origins if origins is None else origins
    return "\n".join([*lines, *([execution.compiled_line(origins)] if origins else [])])


def stage_texts(
    kernel: Any, selection: bool | str | Iterable[str], looked: Any = None, *, assumed: bool = False
) -> dict[str, str]:
    """Return the texts of the stages that are selected: all for True, and the passes too for "all"."""
    stages = {**kernel.stages, **({"values": looked.notes(assumed=assumed)} if looked is not None else {})}
    if selection is True:
        return {name: text for name, text in stages.items() if text}
    names = [selection] if isinstance(selection, str) else list(selection or ())
    choices = [name.replace("-", " ") for name in names]
    if "all" in choices:
        return {**kernel.passes, **stages}
    if "program" in choices and isinstance(kernel, execution.PlanReport):
        stages = {**stages, "program": kernel.program}
    if "ways" in choices:
        stages = {**stages, "ways": kernel.ways}
    if any(name in PASSES for name in choices):
        stages = {**kernel.passes, **stages}
    texts: dict[str, str] = {}
    for name in choices:
        matches = {full: text for full, text in stages.items() if full == name or full.startswith(f"{name}, kernel ")}
        if not matches:
            stage_names = dict.fromkeys(full.partition(",")[0] for full in stages)
            raise ValueError(
                f"there is no stage {name!r}{did_you_mean(name, [*stage_names, *PASSES])}\nthe stages are "
                f"{', '.join(stage_names)}, all; the passes are {', '.join(PASSES)}"
            )
        texts |= matches
    return texts


def titled(stages: Mapping[str, str]) -> str:
    """Return the texts of stages, each below its name."""
    return "\n\n".join(f"== {name}\n{text.rstrip()}" for name, text in stages.items())


def drawn(kernel: Any, stages: bool | str | Iterable[str]) -> str:
    """Return a drawing of a kernel or a plan: of some stages, or of all that are drawn."""
    return resolve("drawing.kernel_drawing", "kernel_drawing")(kernel, stages or True)  # type: ignore[no-any-return]


class CompiledKernel:
    """An expression compiled for the formats of its tensors.

    A call with the operands computes the result. The operands are given by name, or in the order in which they first
    appear on the right-hand side of the expression. Operands in other formats or dtypes are converted first, unless
    their imaginary parts or fractions would be lost; index dtypes may be int32 or int64. Divisors are assumed to hold
    neither zero nor NaN, so that a quotient is as sparse as the dividend. Each call checks this assumption. If a
    divisor holds a zero or NaN, a result without a given format gets the format that :func:`weft.evaluate` would infer.

    A kernel with ``+=`` is called with the tensor on the left-hand side, too, as the last operand or by its name. This
    tensor stays as it is, and :meth:`compute` adds to it in place.

    Attributes
    ----------
    operands : tuple of str
        Names of the operands on the right-hand side in order.
    source : str
        The C code of the kernel.
    stages : dict
        The text of every stage of the compiler by name.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> k = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense")
    >>> k(weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr"), np.ones(2))
    array([1., 2.])
    """

    def __init__(
        self,
        assignment: Assignment,
        types: Mapping[str, TensorType],
        text: str,
        user_schedule: Any = None,
        device: str | None = None,
    ) -> None:
        self.operands = operand_names(assignment)
        self._assignment, self._types, self._text = assignment, dict(types), text
        self._user_schedule, self._device = user_schedule, device
        # There are no values yet, so that the kernel is compiled for the values that divisors usually have.
        self._assumed = execution.assumed(assignment, {name: types[name] for name in self.operands})
        self._plan = execution.compile(
            self._assumed.assignment, types, user_schedule, "c" if device is None else "cuda"
        )
        self._report = execution.PlanReport(self._plan)
        kinds = tuple([(name, types[name]) for name in self.operands])
        self._spreads = execution.may_spread(self._assumed.assignment, kinds)
        # What is computed in another dtype than the operands' was asked for; their own leaves each part in its dtype.
        usual = execution.target_type(self._assumed.assignment, dict(kinds), None, None).dtype
        self._dtype = None if self._plan.target.dtype == usual else self._plan.target.dtype
        self._is_asked_dense = assignment.target.tensor in types and self._plan.target.format.is_dense
        target = assignment.target.tensor
        self._called_with = self.operands if assignment.op is None else (*self.operands, target)
        self._all_types = {**self._types, target: self._plan.target}
        self.source: str = self._report.source  # made here, so that a schedule that does not apply is refused here

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was asked for, and not the plan, which another process makes or has already."""
        return type(self), (self._assignment, self._types, self._text, self._user_schedule, self._device)

    @property
    def kernels(self) -> Collection[execution.Kernel]:
        """The kernels that compute the steps of the expression.

        Examples
        --------
        >>> import weft
        >>> k = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense")
        >>> len(k.kernels)
        1
        """
        return self._report.kernels

    @property
    def stages(self) -> dict[str, str]:
        """Text of every stage of the compiler, by name.

        Examples
        --------
        >>> import weft
        >>> k = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense")
        >>> "c" in k.stages
        True
        """
        return self._report.stages

    @property
    def passes(self) -> dict[str, str]:
        """The text of what each pass of the compiler returned, by name, in their order.

        Examples
        --------
        >>> import weft
        >>> k = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense")
        >>> len(k.passes) > 3
        True
        """
        return self._report.passes

    def explain(self, *, stages: bool | str | Iterable[str] = False, format: Literal["text", "svg"] = "text") -> str:
        """Report how the kernel computes.

        Parameters
        ----------
        stages : bool, str or iterable of str
            Stages of the compiler to show in place of the short report, as in :func:`weft.explain`.
        format : {'text', 'svg'}
            The form of the report. ``"svg"`` is a drawing of the iteration graph and of the merge lattices.

        Returns
        -------
        str
            A report. A drawing is SVG text that notebooks show as a picture, and that ``save(path)`` writes to a file.

        Raises
        ------
        ValueError
            For other forms, and for stages that do not exist or have no drawing.

        Examples
        --------
        >>> import weft
        >>> k = weft.compile("y(i) = A(i,j)*x(j)", A="csr")
        >>> print(k.explain(stages="concrete notation"))
        == concrete notation
        forall i parallel
          y(i) = t
          where
            forall j
              t += A(i,j)*x(j)
        """
        if format == "svg":
            return drawn(self, stages)
        if format != "text":
            raise ValueError(f"a report is 'text' or 'svg', not {format!r}")
        if stages:
            return titled(stage_texts(self._report, stages, self._assumed, assumed=True))
        full = ""
        if not self._is_asked_dense:
            full = execution.full_line(
                self._assignment, self._assumed, self._types, self._plan.target, self._visited_axes()
            )
        return report(self._report, self._assignment, self._assumed, self._origins, assumed=True, full=full)

    def __call__(self, *operands: Any, **named: Any) -> SparseTensor | Array | Any:
        """Compute the result from the operands, given by position or by name."""
        try:
            if self._device is not None:
                self._require_device([*operands, *named.values()])
            key, storages, has_array = self._as_they_are(operands, named)
            plan = None if key is None else plans.find(key)
            if plan is not None:
                try:
                    return wrap_result(SparseTensor, plan.run(storages), has_array)
                except WeftError:
                    pass  # it is raised below, with the names of the user
            inputs = storages
            storages, has_array = self._arguments(operands, named, self._called_with)
            old = storages[len(self.operands) :]  # what += adds to
            held = dict(zip(self.operands, storages, strict=False))
            storages = storages[: len(self.operands)]
            lookup = execution.looked_up(self._assignment, held, infers=False)
            # The kernel assumes that a quotient is sparse. If a divisor holds a zero, it is not, and the format of the
            # result is inferred again unless the user gave one.
            is_allowed = self._assignment.target.tensor in self._types or not lookup.refused
            format, types = self._plan.target.format if is_allowed else None, tuple([s.type for s in storages])

            def run(assignment: Assignment) -> Storage:
                planned = self._plan_for(assignment, types, format, execution.variant_for(storages))
                self._require_room(lookup, held, planned.target)
                # What depends on no value and no size is decided by the types alone.
                fixed = not (lookup.depends_on_values or self._spreads or old)
                if key is not None and fixed and types == tuple([s.type for s in inputs]):
                    plans.keep(key, planned)
                return planned.run(storages, *old)  # type: ignore[no-any-return]

            # A schedule of the user's names the loops.
            by_hand = self._user_schedule is not None
            result = run(lookup.assignment) if by_hand else execution.under_standard_names(lookup.assignment, run)
            return wrap_result(SparseTensor, result, has_array)
        except WeftError as error:
            end_at_caller(error)
            raise

    def _require_device(self, operands: Iterable[Any]) -> None:
        """Raise ``DeviceError`` if an operand is on the CPU."""
        for obj in operands:
            if getattr(obj, "ndim", 0) and str(getattr(obj, "device", "cpu")) == "cpu":
                raise DeviceError(
                    f"{self._text} is compiled for {self._device}, and an operand of shape {obj.shape} is on the CPU; "
                    f"pass tensors of to_device({self._device!r}), or compile it without device="
                )

    def _as_they_are(
        self, operands: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...] | None, tuple[Storage, ...], bool]:
        """Return the key of the plan for tensors and arrays by position, else None; their storages, and the kind."""
        if named or len(operands) != len(self._called_with):
            return None, (), False
        storages, has_array = [], False
        for obj in operands:
            if type(obj) is SparseTensor:
                storages.append(storage_anywhere(obj))
            elif type(obj) is np.ndarray:
                storages.append(Storage.dense(obj))
                has_array = has_array or obj.ndim > 0
            else:
                return None, (), False
        return (self, execution.variant_for(storages), *[s.type.number for s in storages]), tuple(storages), has_array

    @ends_at_caller
    def assemble(self, *operands: Any, **named: Any) -> SparseTensor:
        """Assemble the structure of the result, without computing its values.

        The result keeps references to the operands' index arrays, by which :meth:`compute` recognizes the operands.

        Parameters
        ----------
        *operands, **named : array_like
            The operands, as in a call of the kernel.

        Returns
        -------
        SparseTensor
            A result whose values are still to be computed.

        Raises
        ------
        FormatError
            When the structure depends on the values of the operands, or the kernel converts operands on the way.

        Examples
        --------
        >>> import weft
        >>> k = weft.compile("C(i,j) = A(i,j)*B(i,j)", A="csr", B="csr", C="csr")
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> C = k.assemble(A, A)
        >>> C.nnz
        2
        """
        storages, _ = self._arguments(operands, named, self.operands)
        return SparseTensor(self._phases(storages).assemble(storages))

    @ends_at_caller
    def compute(self, result: _Result, *operands: Any, **named: Any) -> _Result:
        """Compute new values, in place, in a result that ``assemble`` made for operands of the same structure.

        A kernel with ``+=`` adds to the values that the result holds.

        Parameters
        ----------
        result : SparseTensor or ndarray
            The tensor that ``assemble`` returned. A dense result may be an ndarray of any strides and of any dtype to
            which NumPy writes in place.
        *operands, **named : array_like
            Operands with the same coordinates, shapes and formats as those that ``assemble`` was given; the values may
            differ. Operands that share their index arrays with those are recognized at once. Others are compared.

        Returns
        -------
        SparseTensor or ndarray
            ``result``.

        Raises
        ------
        FormatError, ShapeError, DTypeError
            When ``result`` cannot hold the values, or is read-only.
        StorageError
            When an operand has another structure, or ``assemble`` of this expression did not make ``result``.

        Examples
        --------
        >>> import weft
        >>> k = weft.compile("C(i,j) = A(i,j) + B(i,j)", A="csr", B="csr", C="csr")
        >>> A = weft.from_coords([[0, 1], [2, 0]], [1.0, 2.0], shape=(2, 3), format="csr")
        >>> C = k.assemble(A, A)
        >>> k.compute(C, A, A * 2).todense()
        array([[0., 0., 3.],
               [6., 0., 0.]])
        """
        storages, _ = self._arguments(operands, named, self.operands)
        phases = self._phases(storages)
        if isinstance(result, np.ndarray):
            self._into_array(result, phases, storages)
        elif isinstance(result, StorageHolder):
            held = storage_of(result)
            phases.compute(held, _apart(storages, held.vals))
        else:
            raise FormatError(
                f"compute fills the tensor that assemble returned, or an ndarray, not an object of type "
                f"{type(result).__name__}"
            )
        return result

    def _into_array(self, array: np.ndarray, phases: Any, storages: tuple[Storage, ...]) -> None:
        """Compute into an ndarray of any strides, by NumPy's rules for results that are written in place."""
        type, held = self._plan.target, storage_of(array)
        if not type.format.is_dense:
            raise FormatError(
                f"compute of {self._text} fills a tensor in {type.format}, not an ndarray; pass what assemble returned"
            )
        if array.shape != (shape := phases.shape(storages)):
            raise ShapeError(f"compute of {self._text} fills an array of shape {shape}, not one of {array.shape}")
        if not np.can_cast(type.dtype, array.dtype, "same_kind"):
            raise DTypeError(f"compute of {self._text} makes {type.dtype}, which an array of {array.dtype} cannot hold")
        if not array.flags.writeable:
            raise FormatError("compute cannot fill the result, which is read-only; pass a copy()")
        if held.type == type and np.may_share_memory(held.vals, array):
            phases.compute(held, _apart(storages, held.vals))
            return
        # An array of another dtype, order or stride is written afterwards.
        values = phases.compute(phases.assemble(storages), storages).to_dense_array()
        if self._assignment.op is None:
            np.copyto(array, values, casting="same_kind")
        else:
            OPERATORS[self._assignment.op].ufunc(array, values, out=array, casting="same_kind")

    @property
    def _origins(self) -> tuple[str | None, ...]:
        """The origins of the kernels that a call runs, which have standard names unless the user schedules loops."""
        if self._device is not None:
            return ()  # a device compiles kernels itself
        if self._user_schedule is not None:
            return self._report.origins
        types = tuple([self._types[name] for name in self.operands])
        standard = execution.anonymous(self._assumed.assignment)
        return execution.PlanReport(self._plan_for(standard, types, self._plan.target.format)).origins

    def _plan_for(
        self,
        assignment: Assignment,
        types: tuple[TensorType, ...],
        format: Format | None,
        variant: Variant | None = None,
    ) -> Any:
        # Operands may differ from the compiled types in index dtypes and fill values. Each case has a cached plan.
        return execution.plan_for(
            assignment,
            types,
            format=format,
            dtype=self._dtype,
            user_schedule=self._user_schedule,
            variant=variant,
        )

    def _visited_axes(self) -> tuple[int, ...]:
        return self._plan.kernel.loops.run.visited_axes

    def _require_room(self, lookup: Any, held: Mapping[str, Storage], target: TensorType) -> None:
        """Raise if a result that was not requested dense has too many elements that no operand stores."""
        if (lookup.refused or self._spreads) and not self._is_asked_dense:
            execution.announce(self._assignment, lookup, held, target, visited=self._visited_axes)

    def _phases(self, storages: tuple[Storage, ...]) -> Any:
        operands = dict(zip(self.operands, storages, strict=True))
        # Both phases need the same structure, so only annihilators that hold for most values count (``usual``).
        looked = execution.looked_up(self._assignment, operands, usual=True, infers=False)
        if looked.refused:
            raise FormatError(
                f"{self._text} has another structure for these values, and assemble and compute cannot be separate: "
                f"{looked.notes(assumed=False)}; call the kernel"
            )
        # Separate phases need a single kernel that takes the operands as they are given.
        types = tuple([s.type for s in storages])
        plan = self._plan_for(looked.assignment, types, self._plan.target.format)
        if plan.phases is None:
            whole = Variant(whole=True, options=config.code)
            plan = self._plan_for(looked.assignment, types, self._plan.target.format, whole)
        self._require_room(looked, operands, plan.target)
        if plan.is_in_steps:
            raise FormatError(
                f"{self._text} is computed in several steps, so that assemble and compute cannot be separate; "
                "call the kernel"
            )
        if (phases := plan.phases) is None:
            raise FormatError(
                f"{self._text} converts operands or the result at each call, so that assemble and compute cannot be "
                "separate; explain() says which formats avoid this"
            )
        return phases

    def _arguments(
        self, operands: tuple[Any, ...], named: Mapping[str, Any], names: tuple[str, ...]
    ) -> tuple[tuple[Storage, ...], bool]:
        # Unknown names come first, since their message suggests the right one.
        arguments = dict(zip(names, operands, strict=False))
        check_names(self._text, [*arguments, *named], names)
        count = len(arguments) + len(named)
        if any(name in arguments for name in named) or len(operands) > len(names) or count != len(names):
            listed = ", ".join([f"{len(operands)} by position"] * bool(operands) + list(named)) or "none"
            raise NotationError(f"{self._text} takes the operands {', '.join(names)}, each once; given: {listed}")
        arguments.update(named)
        # Each operand is converted to the dtype and the format for which the kernel was compiled.
        storages, has_array = [], False
        for name in names:
            operand, type = operand_anywhere(arguments[name]), self._all_types[name]
            if operand is None:
                raise DTypeError(
                    f"operand {name} is of type {type_name(arguments[name])}; weft takes tensors, arrays and numbers"
                )
            storage = operand.storage
            has_array |= operand.is_array and bool(storage.shape)
            if len(storage.shape) != type.format.order:
                raise ShapeError(f"{name} has {len(storage.shape)} axes instead of {type.format.order} in {self._text}")
            if storage.type.dtype != type.dtype:
                if (lost := _not_held(storage, type.dtype)) is not None:
                    raise DTypeError(
                        f"{name} {lost}, which {type.dtype} cannot hold; {self._text} was compiled "
                        f"for {type.dtype}: compile it with dtypes={{{name!r}: {storage.type.dtype!r}}}"
                    )
                storage = execution.in_dtype(storage, np.dtype(type.dtype))
            storages.append(foreign_tensors.convert(storage, type.format))
        require_one_device(dict(zip(names, storages, strict=True)))
        return tuple(storages), has_array

    def __repr__(self) -> str:
        types = {**self._types, self._assignment.target.tensor: self._plan.target}
        listed = ", ".join(f"{name}: {type.format} {type.dtype}" for name, type in types.items())
        return f"<kernel {self._text}; {listed}>"


def plan_of(kernel: CompiledKernel) -> execution.Plan:
    """Return the plan that a compiled kernel runs."""
    return kernel._plan


def _not_held(storage: Storage, dtype: str) -> str | None:
    """Return what another dtype cannot hold of a tensor: its dtype, or an integer in it; None if it holds all."""
    if not np.can_cast(storage.type.dtype, dtype, "same_kind"):
        return f"is {storage.type.dtype}"
    if storage.dtype.kind not in "iu" or np.can_cast(storage.dtype, dtype) or not np.issubdtype(dtype, np.integer):
        return None
    if storage.is_on_device:  # whose values are not looked at
        return f"is {storage.type.dtype}"
    vals = storage.vals if storage.format.is_compact else foreign_tensors.convert(storage, "coo").vals
    held = np.iinfo(dtype)
    extremes = [storage.type.fill, *([vals.min(), vals.max()] if vals.size else [])]
    return next((f"holds {value}" for value in extremes if not held.min <= value <= held.max), None)


def _apart(storages: tuple[Storage, ...], vals: np.ndarray) -> tuple[Storage, ...]:
    """Return the operands, with copies of the values that lie in memory which is written."""
    return tuple(
        [s.with_values(s.vals.copy(), s.type.fill) if np.may_share_memory(s.vals, vals) else s for s in storages]
    )


def type_name(obj: Any) -> str:
    return type(obj).__name__
