"""Steps of conversions: each makes a tensor of one type out of a tensor of another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ..formats import TensorType
from ..records import cached, record
from ..runtime import memory
from ..runtime.loader import support_function
from ..storage import Storage
from .entry_lists import SORTER, sort_coordinate_list
from .hash_growth import empty_tables, inserted
from .kernel import Kernel
from .loops import Loops
from .result_buffers import sorting_bytes

_NOTHING: Mapping[str, str] = {}


@record
class Step:
    """A step of a conversion."""

    source: TensorType  # of what the step takes
    target: TensorType  # of what it returns
    reason: str  # Reason for the step, in plain words
    kind: ClassVar[str]

    @abstractmethod
    def run(self, storage: Storage) -> Storage:
        """Take the step."""

    @property
    def queries(self) -> str:
        """Attribute queries that the step answers, with their concrete notation; empty if there are none."""
        return ""

    @property
    def stages(self) -> Mapping[str, str]:
        """Text of every stage of the step's kernel, by name; empty if the step has no kernel."""
        return _NOTHING

    @property
    def passes(self) -> Mapping[str, str]:
        """Text of what each pass of the compiler returned for the step's kernel, by name."""
        return _NOTHING


@record
class ReuseArrays(Step):
    """A step that takes over all arrays."""

    kind = "reuse arrays"

    def run(self, storage: Storage) -> Storage:
        if self._same:
            return storage
        return Storage(storage.shape, self.target, storage.arrays, storage.vals)

    @cached
    def _same(self) -> bool:
        return self.source.format == self.target.format


@record
class _KernelStep(Step):
    """A step that a kernel takes."""

    kernel: Kernel | Loops

    @property
    def stages(self) -> Mapping[str, str]:
        return self.kernel.stages

    @property
    def passes(self) -> Mapping[str, str]:
        return self.kernel.passes


@record
class Append(_KernelStep):
    """A step whose loops reach entries in the order in which the result stores them."""

    kernel: Kernel
    kind = "append"

    def run(self, storage: Storage) -> Storage:
        return self.kernel.run((storage,))


@record
class ListEntries(_KernelStep):
    """A step that appends the coordinates and values of all entries to an unsorted coordinate list."""

    kernel: Kernel
    sorted_next: bool  # True if the list is sorted next, which needs more memory
    exact: bool  # True if the source stores nothing but the entries that are listed
    kind = "list entries"

    def run(self, storage: Storage) -> Storage:
        # The size of the sort is known before the list is made, if each position of the source is listed.
        if self.sorted_next and self.exact:
            each = sorting_bytes(self.target) + 8 * len(self.target.format.levels) + storage.dtype.itemsize
            memory.require(storage.nnz * each, f"sorting {storage.nnz} entries")
        return self.kernel.run((storage,))


@record
class Insert(_KernelStep):
    """A step that puts each entry at a position which attribute queries have computed."""

    kernel: Kernel
    kind = "insert"

    @property
    def queries(self) -> str:
        return self.kernel.module.queries

    @property
    def copies_entries(self) -> bool:
        """True if entries are copied as they are; not added to each other."""
        return self.kernel.facts.inserted.source is not None

    def run(self, storage: Storage) -> Storage:
        return self.kernel.run((storage,))


@record
class InsertIntoTables(_KernelStep):
    """A step that inserts a coordinate list, which may have duplicates, into hash tables that grow."""

    kernel: Loops
    kind = "insert into hash tables"

    def run(self, storage: Storage) -> Storage:
        return inserted(empty_tables(storage.shape, self.target), storage, True)


@record
class SortEntries(Step):
    """A step that sorts a coordinate list."""

    order: tuple[int, ...]  # the levels to sort by, the most significant first
    keep: tuple[int, ...]  # the levels of the result
    kind = "sort"

    def run(self, storage: Storage) -> Storage:
        return sort_coordinate_list(storage, self.order, self.keep)

    @property
    def stages(self) -> Mapping[str, str]:
        return {"c": support_function(SORTER).source}
