"""Steps of plans: each makes a tensor out of operands, or out of what the steps before it have made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ..formats import TensorType
from ..index_notation.nodes import Assignment
from ..index_notation.standard_names import anonymous
from ..records import cached, record
from ..runtime import memory
from ..runtime.loader import support_function
from ..storage import Storage
from .entry_lists import SORTER, sort_coordinate_list
from .kernel import Kernel
from .result_buffers import sorting_bytes
from .structure import Structure, check_writable, require_structure


class Planned(Protocol):
    """A plan, as far as the steps of another ask it."""

    @property
    def steps(self) -> tuple[Step, ...]: ...
    @property
    def kernels(self) -> tuple[Kernel, ...]: ...
    @property
    def prunes(self) -> bool: ...
    @property
    def run(self) -> Callable[..., Storage]: ...


@record
class Step:
    """A step of a plan."""

    reads: tuple[int, ...]  # what it takes: operands of the plan, and after those results of earlier steps, by number
    makes: TensorType  # type of its result
    reason: str  # reason for the step, in words
    kind: ClassVar[str]

    @abstractmethod
    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        """Take the step."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels that compute the result."""
        return ()

    @property
    def phases(self) -> Any:
        """Object that assembles the result and computes it separately; None if there is none."""
        return None

    @property
    def prunes(self) -> bool:
        """True if no stored entry of the result equals the fill value."""
        return False

    @property
    def stages(self) -> Mapping[str, str]:
        """Text of every stage of the step's kernel, by name; empty if the step has no kernel."""
        return self.kernels[-1].stages if self.kernels else {}

    @property
    def passes(self) -> Mapping[str, str]:
        """Text of what each pass of the compiler returned for the step's kernel, by name."""
        return self.kernels[-1].passes if self.kernels else {}

    @property
    def queries(self) -> str:
        """Attribute queries that the step answers, with their concrete notation; empty if there are none."""
        return ""

    def summary(self, told: Collection[str], storages: Sequence[Storage] = ()) -> str:
        """Return a few lines for users; loops over the variables in ``told`` are left out.

        ``storages`` are what the step reads, if that is known: on a device, they decide how threads share the work.
        """
        return ""


@record
class Compute(Step):
    """A step that one kernel takes."""

    kernel: Kernel
    kind = "compute"

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        return self.kernel.run(storages, out)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    @property
    def phases(self) -> Kernel:
        return self.kernel

    @property
    def prunes(self) -> bool:
        chains, last = self.kernel.facts.chains, len(self.makes.format.levels) - 1
        return self.kernel.facts.skip_fill and bool(chains) and chains[-1].last == last

    def summary(self, told: Collection[str], storages: Sequence[Storage] = ()) -> str:
        return self.kernel.summary(told, storages)


@record
class ComputePart(Step):
    """A step that computes a part of an expression by a plan of its own, whose loops the data of the part decide."""

    assignment: Assignment
    types: tuple[TensorType, ...]  # those of what it reads
    # Returns the plan for an assignment, and types of what it reads.
    plan_for: Callable[[Assignment, tuple[TensorType, ...]], Planned]
    kind = "compute part"

    @cached
    def plan(self) -> Planned:
        """Return the plan for the types that are expected."""
        return self.plan_for(anonymous(self.assignment), self.types)

    @cached
    def shown(self) -> Kernel:
        """Return the kernel with the names of the part."""
        return self.plan_for(self.assignment, self.types).kernels[-1]

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        # A part with large dimensions may have wider index arrays than planned: what reads it is planned again.
        types = tuple([s.type for s in storages])
        plan = self.plan if types == self.types else self.plan_for(anonymous(self.assignment), types)
        return plan.run(storages) if out is None else plan.run(storages, out)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self.plan.kernels

    @property
    def prunes(self) -> bool:
        return self.plan.prunes

    def summary(self, told: Collection[str], storages: Sequence[Storage] = ()) -> str:
        lines = [line for step in self.plan.steps for line in step.summary(told).splitlines()]
        notes = [line for line in lines if line.startswith(("each call", "loops over all ", "device: "))]
        return "\n".join([f"{self.assignment.target.tensor}: {line}" for line in notes])


@record
class MapValues(Step):
    """A step that reads the stored values of operands as vectors, so that all formats have one kernel.

    The result shares the index arrays of an operand, or is a number that does not depend on coordinates.
    """

    plan: Planned  # the plan for vectors
    vectors: tuple[TensorType | None, ...]  # the type of each operand whose values are a vector; None for numbers
    lead: int | None  # place of the operand whose index arrays the result shares; None for a number
    text: str  # the expression
    names: tuple[str, ...]  # those of the operands
    kind = "map values"

    def _values(self, storages: Sequence[Storage]) -> tuple[Storage, ...]:
        return tuple(
            [
                s if type is None else Storage(s.vals.shape, type, (), s.vals)
                for type, s in zip(self.vectors, storages, strict=True)
            ]
        )

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        computed = self.plan.run(self._values(storages))
        if self.lead is None:
            return computed
        lead = storages[self.lead]
        return Storage(lead.shape, self.makes, lead.arrays, computed.vals)

    def shape(self, storages: Sequence[Storage]) -> tuple[int, ...]:
        """Return the shape of the result."""
        return () if self.lead is None else storages[self.lead].shape

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self.plan.kernels

    @property
    def phases(self) -> MapValues:
        return self

    def assemble(self, storages: Sequence[Storage]) -> Storage:
        """Return a result to be computed (see ``Kernel.assemble``)."""
        if self.lead is None:
            return self.kernels[-1].assemble(self._values(storages))
        lead = storages[self.lead]
        result = Storage(lead.shape, self.makes, lead.arrays, memory.zeros(lead.vals.size, self.makes.dtype))
        result.assembled_for = Structure(self.text, self.names, storages)
        return result

    def compute(self, result: Storage, storages: Sequence[Storage]) -> Storage:
        """Compute new values in a result that ``assemble`` made (see ``Kernel.compute``)."""
        kernel, values = self.kernels[-1], self._values(storages)
        if self.lead is None:
            return kernel.compute(result, values)
        require_structure(self.text, result, storages)
        check_writable(self.text, result, self.makes, storages[self.lead].shape)
        kernel.compute(Storage(result.vals.shape, kernel.type, (), result.vals), values)
        return result

    @property
    def stages(self) -> Mapping[str, str]:
        return {"structure": self.reason, **self.kernels[-1].stages}

    def summary(self, told: Collection[str], storages: Sequence[Storage] = ()) -> str:
        device = self.kernels[-1].device_line(self._values(storages) if storages else ())
        return f"{self.reason}\n{device or 'parallel: the loop over the stored values'}"


@record
class Prune(Step):
    """A step that leaves out entries equal to the fill value."""

    leave_out: Callable[[Storage], Storage]
    kind = "prune"

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        (storage,) = storages
        return self.leave_out(storage)

    @property
    def prunes(self) -> bool:
        return True


# -- steps of conversions ----------------------------------------------------------------------------------------
@record
class ReuseArrays(Step):
    """A step that takes over all arrays, or the tensor if it has the type that is wanted."""

    same: bool
    kind = "reuse arrays"

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        (storage,) = storages
        return storage if self.same else Storage(storage.shape, self.makes, storage.arrays, storage.vals)


@record
class Append(Compute):
    """A step whose loops reach entries in the order in which the result stores them."""

    kind = "append"


@record
class ListEntries(Compute):
    """A step that appends the coordinates and values of all entries to an unsorted coordinate list."""

    exact: bool  # True if the source stores nothing but the entries that are listed
    kind = "list entries"

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        (storage,) = storages
        # The size of the sort is known before the list is made, if each position of the source is listed.
        if self.exact:
            each = sorting_bytes(self.makes) + 8 * len(self.makes.format.levels) + storage.dtype.itemsize
            memory.require(storage.nnz * each, f"sorting {storage.nnz} entries")
        return self.kernel.run(storages)


@record
class Insert(Compute):
    """A step that puts each entry at a position which attribute queries have computed."""

    kind = "insert"

    @property
    def copies_entries(self) -> bool:
        """True if entries are copied as they are; not added to each other."""
        return self.kernel.facts.inserted.source is not None

    @property
    def queries(self) -> str:
        return self.kernel.module.queries


@record
class ShareTail(Step):
    """A step that converts the upper levels alone: the levels below, and the values, are those of the source.

    The upper levels of both formats store the same coordinates in the same order, so that positions stay as they are.
    """

    upper: TensorType  # the upper levels of the source, as a tensor over their coordinates
    inner: Planned  # the conversion of these, which keeps positions
    kind = "share tail"

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        (storage,) = storages
        k, sizes, roles = len(self.upper.format.levels), storage.level_sizes, storage.format.roles
        ends = [sizes[n] if role == "crd" else None for n, role in roles]  # arrays may be longer
        above = [a[:end] for a, end, (n, _) in zip(storage.arrays, ends, roles, strict=True) if n < k]
        size = sizes[k - 1]
        values = storage.vals[:size] if size <= storage.vals.size else memory.zeros(size, storage.dtype)
        shape = storage.format.level_shape(storage.shape)[:k]
        made = self.inner.run((Storage(tuple(shape), self.upper, tuple(above), values),))
        return Storage(storage.shape, self.makes, made.arrays, storage.vals[: sizes[-1]])

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self.inner.kernels


@record
class SortEntries(Step):
    """A step that sorts a coordinate list."""

    order: tuple[int, ...]  # the levels to sort by, the most significant first
    keep: tuple[int, ...]  # the levels of the result
    kind = "sort"

    def run(self, storages: Sequence[Storage], out: Storage | None = None) -> Storage:
        (storage,) = storages
        return sort_coordinate_list(storage, self.order, self.keep)

    @property
    def stages(self) -> Mapping[str, str]:
        return {"c": support_function(SORTER).source}
