"""Methods that arrays of scipy.sparse and of the package ``sparse`` have, and ndarrays do not have.

They are methods and properties of ``SparseTensor`` (``weft._api`` lists them), and work as in these packages. Methods
that change a tensor replace its storage, so that no other object that shares its memory changes.

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
from ..dtypes import as_values
from ..numpy_api.diagonals import diagonal
from ..numpy_api.manipulation import pad
from ..numpy_api.ufuncs import apply
from ..operations.entry_changes import numbered, put
from ..operations.fill_change import same_number
from ..operations.operands import replace_storage, storage_of
from ..tensor.sparse_tensor import SparseTensor
from .peer_attributes import lacks


def power(self: SparseTensor, n: Any, dtype: DTypeLike | None = None) -> SparseTensor | Any:
    """Raise each element to a power.

    Parameters
    ----------
    n : scalar or array_like
        The exponent.
    dtype : dtype, optional
        The dtype of the result.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.power(2).todense()
    array([[0., 1.],
           [4., 0.]])
    """
    return apply("power", (self, n), dtype=dtype)


def reduce(self: SparseTensor, method: np.ufunc, axis: Any = (0,), keepdims: bool = False, **options: Any) -> Any:
    """Reduce the tensor by a ufunc over some axes.

    Parameters
    ----------
    method : numpy.ufunc
        The ufunc, whose method ``reduce`` is called.
    axis : int or tuple of int, optional
        The axes to reduce; the first by default.
    keepdims : bool, optional
        True to keep the reduced axes with size 1.
    **options
        Other arguments of ``method.reduce``.

    Examples
    --------
    >>> import numpy as np
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.reduce(np.add).todense()
    array([2., 1.])
    """
    if not isinstance(method, np.ufunc):
        raise TypeError(f"reduce takes a ufunc of NumPy, such as np.add, not an object of type {type(method).__name__}")
    return method.reduce(self, axis=axis, keepdims=keepdims, **options)


def _density(self: SparseTensor) -> float:
    """Return the share of elements that are stored.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.density
    0.5
    """
    return self.nnz / self.size if self.size else float("nan")


density = property(_density)


def maybe_densify(self: SparseTensor, max_size: int = 1000, min_density: float = 0.25) -> np.ndarray[Any, Any]:
    """Return an ndarray of all elements if there are few elements, or many of them are stored.

    Parameters
    ----------
    max_size : int, optional
        The largest number of elements that are few.
    min_density : float, optional
        The smallest share of stored elements that is enough.

    Raises
    ------
    ValueError
        When neither condition holds.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.maybe_densify()
    array([[0., 1.],
           [2., 0.]])
    """
    share = _density(self)
    if self.size > max_size and share < min_density:
        raise ValueError(
            f"a tensor of shape {self.shape} and density {share:.3g} has more than {max_size} "
            f"elements and less than {min_density} of them are stored; call todense() if you mean that"
        )
    return self.todense()


def change_compressed_axes(self: SparseTensor, new_compressed_axes: Any) -> SparseTensor:
    """Convert the tensor to format gcxs with other axes as its rows.

    Parameters
    ----------
    new_compressed_axes : sequence of int
        The axes that make the rows.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.change_compressed_axes([1]).compressed_axes
    (1,)
    """
    return self.asformat("gcxs", compressed_axes=tuple(new_compressed_axes))


def get_nodes(self: SparseTensor) -> dict[str, Any]:
    """Return the arrays that ``sparse.save_npz`` writes, by name; formats other than coo and gcxs become coo.

    Examples
    --------
    >>> import weft
    >>> sorted(weft.eye(2, format="coo").get_nodes())
    ['coords', 'data', 'fill_value', 'format', 'shape']
    """
    return self.to_pydata_sparse().get_nodes()  # type: ignore[no-any-return]


def enable_caching(self: SparseTensor) -> SparseTensor:
    """Return the tensor itself, since kernels are cached in any case and results are never cached.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.enable_caching() is A
    True
    """
    return self


# -- methods of dictionaries, which only formats that consist of hash tables have ---------------------------------
def _of_dictionary(name: str, doc: str, result: str) -> property:
    """Return a property whose value is a method of a dictionary of the present entries."""
    example = f"""{doc}

Examples
--------
>>> import weft
>>> A = weft.DOK((2, 2), {{(0, 1): 1.0, (1, 0): 2.0}})
>>> list(A.{name}())
{result}
"""

    def read(self: SparseTensor) -> Callable[[], Any]:
        _raise_unless_dictionary(self, name)
        coords, values = self.to_coo()
        rows = coords.tolist()
        entries = zip(rows[0] if len(rows) == 1 else zip(*rows, strict=True), values, strict=True)
        return getattr(dict(entries), name)  # type: ignore[no-any-return]

    return property(read, doc=example)


def _raise_unless_dictionary(tensor: SparseTensor, name: str) -> None:
    if all(level.sortable for level in tensor.layout.levels):
        raise lacks(tensor, name)


items = _of_dictionary(
    "items", "Coordinates and values of the stored elements.", "[((0, 1), np.float64(1.0)), ((1, 0), np.float64(2.0))]"
)
keys = _of_dictionary(
    "keys", "The coordinates of the stored elements: integers of a vector, else tuples.", "[(0, 1), (1, 0)]"
)
values = _of_dictionary(
    "values", "The stored elements, in the order of their coordinates.", "[np.float64(1.0), np.float64(2.0)]"
)


def _get(self: SparseTensor) -> Callable[..., Any]:
    """Return the method ``get(key, default)``, which returns an element, or the default for the fill value.

    Examples
    --------
    >>> import weft
    >>> A = weft.DOK((2, 2), {(0, 1): 1.0})
    >>> A.get((0, 1)), A.get((0, 0), -1.0)
    (np.float64(1.0), -1.0)
    """
    _raise_unless_dictionary(self, "get")
    return partial(_element, self)


def _element(tensor: SparseTensor, key: Any, default: Any = None) -> Any:
    found = tensor[key]
    return found if default is None or not same_number(found, tensor.fill_value) else default


get = property(_get)


# -- canonical form -----------------------------------------------------------------------------------------------
def _sorted(self: SparseTensor) -> bool:
    """Return ``is_ordered``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.has_sorted_indices
    True
    """
    return self.is_ordered


def _claim_sorted(self: SparseTensor, value: bool) -> None:
    _check_claim(self, "has_sorted_indices", value, self.is_ordered)


def _canonical(self: SparseTensor) -> bool:
    """Return ``is_canonical``.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.has_canonical_format
    True
    """
    return self.is_canonical


def _claim_canonical(self: SparseTensor, value: bool) -> None:
    _check_claim(self, "has_canonical_format", value, self.is_canonical)


def _check_claim(tensor: SparseTensor, name: str, value: bool, known: bool) -> None:
    """Raise an error if a user sets a flag that the format does not guarantee; clearing a flag changes nothing."""
    if value and not known:
        raise ValueError(f"{name} is False of this tensor of shape {tensor.shape}: call sum_duplicates()")


has_sorted_indices = property(_sorted, _claim_sorted)
has_canonical_format = property(_canonical, _claim_canonical)


def sorted_indices(self: SparseTensor) -> SparseTensor:
    """Return the tensor with sorted coordinates and without duplicates, which is ``canonical()``.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[1, 0], [0, 1]], [2.0, 1.0], shape=(2, 2))
    >>> A.sorted_indices().is_ordered
    True
    """
    return self.canonical()


def sum_duplicates(self: SparseTensor) -> None:
    """Sort the entries and sum those with equal coordinates, in place.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 0], [1, 1]], [2.0, 1.0], (2, 2), duplicates="keep")
    >>> A.sum_duplicates()
    >>> A.nnz
    1
    """
    replace_storage(self, storage_of(self.canonical()))


sort_indices = sum_duplicates


def eliminate_zeros(self: SparseTensor) -> None:
    """Remove the stored values that equal the fill value, in place.

    Examples
    --------
    >>> import weft
    >>> A = weft.from_coords([[0, 1], [1, 0]], [0.0, 2.0], shape=(2, 2), format="csr")
    >>> A.eliminate_zeros()
    >>> A.nnz
    1
    """
    replace_storage(self, storage_of(self.pruned()))


def prune(self: SparseTensor) -> None:
    """Do nothing, since the arrays of a tensor have no unused space.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.prune()
    """


def check_format(self: SparseTensor, full_check: bool = True) -> None:
    """Check every invariant of the format, which reads all arrays once.

    Parameters
    ----------
    full_check : bool, optional
        Ignored: the check is always full.

    Raises
    ------
    StorageError
        When an invariant is broken; the message names the level and the invariant.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.check_format()
    """
    execution.verify(storage_of(self))


# -- changes ------------------------------------------------------------------------------------------------------
def setdiag(self: SparseTensor, values: Any, k: int = 0) -> None:
    """Assign the elements of diagonal ``k``: all of them, or as many as there are values.

    Parameters
    ----------
    values : scalar or array_like
        The elements; a scalar for all.
    k : int, optional
        The diagonal: 0 is the main one, and those above it are positive.

    Raises
    ------
    ValueError
        When there is no such diagonal.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.setdiag(7.0)
    >>> A.todense()
    array([[7., 1.],
           [2., 7.]])
    """
    rows, columns = self.shape
    # The diagonal begins in row -k if k is negative, else in column k.
    count = min(rows - max(0, -k), columns - max(0, k))
    if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
        raise ValueError(f"k={k} is no diagonal of a matrix of shape {self.shape}")
    if count <= 0:
        return
    elements: Any = values.todense() if hasattr(values, "todense") else np.asarray(values)
    if elements.ndim:
        count = min(count, len(elements))
        elements = elements[:count]
    at = np.arange(count)
    where = at + max(0, -k), at + max(0, k)
    storage = storage_of(self)
    fill, vals = storage.dtype.type(storage.type.fill), as_values(elements, storage.dtype)
    # Elements that get the fill value are taken out, and formats that take insertions are written in place.
    if (
        elements.ndim > 1
        or storage.format.is_dense
        or execution.takes_insertions(storage.format)
        or (vals == fill).any()
    ):
        self[where] = elements
        return
    places = diagonal(SparseTensor(numbered(storage)), k).todense()[:count]
    replace_storage(self, put(storage, where, np.broadcast_to(vals, count), places))


def resize(self: SparseTensor, *shape: Any) -> None:
    """Change the shape of the tensor in place, with the same number of axes.

    Elements outside the new shape are removed, and new elements have the fill value.

    Parameters
    ----------
    *shape : int
        The new sizes of the axes, one by one or as a sequence.

    Raises
    ------
    ValueError
        When the number of axes differs or a size is negative.

    Examples
    --------
    >>> import weft
    >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
    >>> A.resize(2, 3)
    >>> A.todense()
    array([[0., 1., 0.],
           [2., 0., 0.]])
    """
    new = tuple(shape[0]) if len(shape) == 1 and np.ndim(shape[0]) else shape
    old = self.shape
    if len(new) != len(old) or any(n < 0 for n in new):
        raise ValueError(f"a tensor of shape {old} cannot be resized to {new}")
    # Slicing drops the elements outside the new shape, and padding adds new ones.
    kept = self[tuple(slice(n) for n in new)]
    replace_storage(self, storage_of(pad(kept, [(0, n - m) for n, m in zip(new, kept.shape, strict=True)])))
