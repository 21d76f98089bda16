"""Methods that arrays of scipy.sparse and of the package ``sparse`` have and ndarrays have not.

They are methods and properties of ``SparseTensor`` (``weft._api`` lists them), and do what they do there. Those that
change a tensor give it other storage; nothing else that shares its memory changes.

Examples
--------
>>> import weft
>>> A = weft.asarray([[0.0, 4.0], [2.0, 0.0]], format="csr")
>>> A.sqrt().multiply(A).max(), A.density
(np.float64(8.0), 0.5)
>>> A.setdiag(1)
>>> A.todense()
array([[1., 4.],
       [2., 1.]])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..numpy_api.manipulation import pad
from ..numpy_api.ufuncs import apply
from ..operations.fill_change import same_number
from ..tensor.sparse_tensor import SparseTensor
from .peer_attributes import lacks

__all__ = [
    "change_compressed_axes", "check_format", "density", "eliminate_zeros", "enable_caching", "get", "get_nodes",
    "has_canonical_format", "has_sorted_indices", "items", "keys", "maybe_densify", "power", "prune", "reduce",
    "resize", "setdiag", "sorted_indices", "sum_duplicates", "values",
]  # fmt: skip


def power(self: SparseTensor, n: Any, dtype: DTypeLike | None = None) -> Any:
    """Return each element to a power."""
    return apply("power", (self, n), dtype=dtype)


def reduce(self: SparseTensor, method: np.ufunc, axis: Any = (0,), keepdims: bool = False, **options: Any) -> Any:
    """Return ``method.reduce`` of a ufunc over some axes."""
    return method.reduce(self, axis=axis, keepdims=keepdims, **options)


def _density(self: SparseTensor) -> float:
    """The share of elements that are stored."""
    return self.nnz / self.size if self.size else float("nan")


density = property(_density)


def maybe_densify(self: SparseTensor, max_size: int = 1000, min_density: float = 0.25) -> np.ndarray[Any, Any]:
    """Return an ndarray of all elements where they are few, or most of them are stored.

    Raises
    ------
    ValueError
        If neither is so.
    """
    share = _density(self)
    if self.size > max_size and share < min_density:
        raise ValueError(
            f"a tensor of shape {self.shape} and density {share:.3g} has more than {max_size} "
            f"elements and less than {min_density} of them are stored; call todense() if you mean that"
        )
    return self.todense()


def change_compressed_axes(self: SparseTensor, new_compressed_axes: Any) -> SparseTensor:
    """Return the tensor in gcxs with other axes as its rows."""
    return self.asformat("gcxs", compressed_axes=tuple(new_compressed_axes))


def get_nodes(self: SparseTensor) -> dict[str, Any]:
    """Return the arrays that ``sparse.save_npz`` writes, by their names; of other formats than coo and gcxs as coo."""
    return self.to_pydata_sparse().get_nodes()  # type: ignore[no-any-return]


def enable_caching(self: SparseTensor) -> SparseTensor:
    """Return the tensor itself: kernels are kept anyway, results are not."""
    return self


# -- a dictionary, which only formats made of hash tables are: others have nothing that looks like one ------------
def _of_dictionary(name: str, doc: str) -> property:
    """Return a property that is a method of the dictionary of the entries as they are now."""

    def read(self: SparseTensor) -> Callable[[], Any]:
        _raise_unless_dictionary(self, name)
        coords, values = self.to_coo()
        rows = coords.tolist()
        entries = zip(rows[0] if len(rows) == 1 else zip(*rows, strict=True), values, strict=True)
        return getattr(dict(entries), name)  # type: ignore[no-any-return]

    return property(read, doc=doc)


def _raise_unless_dictionary(tensor: SparseTensor, name: str) -> None:
    if all(level.sortable for level in tensor.layout.levels):
        raise lacks(tensor, name)


items = _of_dictionary("items", "Coordinates and values of the stored elements.")
keys = _of_dictionary("keys", "The coordinates of the stored elements: integers of a vector, else tuples.")
values = _of_dictionary("values", "The stored elements, in the order of their coordinates.")


def _get(self: SparseTensor) -> Callable[..., Any]:
    """``get(key, default=0)``: an element, or the default where it is absent."""
    _raise_unless_dictionary(self, "get")
    return partial(_element, self)


def _element(tensor: SparseTensor, key: Any, default: Any = None) -> Any:
    found = tensor[key]
    return found if default is None or not same_number(found, tensor.fill_value) else default


get = property(_get)


# -- canonical form -----------------------------------------------------------------------------------------------
def _sorted(self: SparseTensor) -> bool:
    """The same as ``is_ordered``."""
    return self.is_ordered


def _claim_sorted(self: SparseTensor, value: bool) -> None:
    _check_claim(self, "has_sorted_indices", value, self.is_ordered)


def _canonical(self: SparseTensor) -> bool:
    """The same as ``is_canonical``."""
    return self.is_canonical


def _claim_canonical(self: SparseTensor, value: bool) -> None:
    _check_claim(self, "has_canonical_format", value, self.is_canonical)


def _check_claim(tensor: SparseTensor, name: str, value: bool, known: bool) -> None:
    """Refuse a claim of more than is so; one of less than a tensor knows changes nothing."""
    if value and not known:
        raise ValueError(f"{name} is False of this tensor of shape {tensor.shape}: call sum_duplicates()")


has_sorted_indices = property(_sorted, _claim_sorted)
has_canonical_format = property(_canonical, _claim_canonical)


def sorted_indices(self: SparseTensor) -> SparseTensor:
    """Return the tensor with sorted coordinates, without duplicates: ``canonical()``."""
    return self.canonical()


def sum_duplicates(self: SparseTensor) -> None:
    """Sort the entries, and sum those with equal coordinates, here."""
    self._become(self.canonical()._storage)


def eliminate_zeros(self: SparseTensor) -> None:
    """Take out the stored values that equal the fill value, here."""
    self._become(self.pruned()._storage)


def prune(self: SparseTensor) -> None:
    """Change nothing: arrays have no room that is not used."""


def check_format(self: SparseTensor, full_check: bool = True) -> None:
    """Check every invariant of the format, which reads all arrays once.

    Raises
    ------
    StorageError
        Says which invariant of which level is broken.
    """
    execution.verify(self._storage)


# -- changes ------------------------------------------------------------------------------------------------------
def setdiag(self: SparseTensor, values: Any, k: int = 0) -> None:
    """Assign the elements of diagonal ``k``: all of them, or as many as there are values."""
    rows, columns = self.shape
    count = min(rows - max(0, -k), columns - max(0, k))
    if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
        raise ValueError(f"k={k} is no diagonal of a matrix of shape {self.shape}")
    if count <= 0:
        return
    given: Any = values.todense() if hasattr(values, "todense") else np.asarray(values)
    if given.ndim:
        count = min(count, len(given))
        given = given[:count]
    at = np.arange(count)
    self[at + max(0, -k), at + max(0, k)] = given


def resize(self: SparseTensor, *shape: Any) -> None:
    """Give the tensor another shape of as many axes: what is outside is gone, what is new is the fill value."""
    new = tuple(shape[0]) if len(shape) == 1 and np.ndim(shape[0]) else shape
    old = self.shape
    if len(new) != len(old) or any(n < 0 for n in new):
        raise ValueError(f"a tensor of shape {old} cannot be resized to {new}")
    kept = self[tuple(slice(n) for n in new)]
    self._become(pad(kept, [(0, n - m) for n, m in zip(new, kept.shape, strict=True)])._storage)
