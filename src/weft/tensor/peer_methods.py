"""Methods that arrays of scipy.sparse and of the package ``sparse`` have and ndarrays have not.

Those that change a tensor give it other storage; nothing else that shares its memory changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from .. import execution
from ..operations.fill_change import same_number
from ..operations.operands import Tensor
from .lazy import resolve
from .methods import function

if TYPE_CHECKING:
    from .types import Infix, UnaryMethod

__all__ = ["PeerMethods"]

_UNARY = """
    arcsin arcsinh arctan arctanh ceil deg2rad expm1 floor isinf isnan log1p rad2deg rint sign sin sinh sqrt tan tanh
    trunc
"""


def _of_dictionary(name: str, doc: str) -> property:
    """A method of the dictionary of the entries as they are now."""

    def method(self: Any) -> Any:
        self._raise_unless_dictionary(name)
        coords, values = self.to_coo()
        rows = coords.tolist()
        return getattr(dict(zip(rows[0] if len(rows) == 1 else zip(*rows, strict=True), values, strict=True)), name)

    return property(method, doc=doc)


class PeerMethods(Tensor):
    """The methods; what they do is what they do there.

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

    __slots__ = ()

    for _name in _UNARY.split():
        locals()[_name] = function("numpy_api.ufuncs", _name)
    del _name

    if TYPE_CHECKING:
        arcsin: UnaryMethod
        arcsinh: UnaryMethod
        arctan: UnaryMethod
        arctanh: UnaryMethod
        ceil: UnaryMethod
        deg2rad: UnaryMethod
        expm1: UnaryMethod
        floor: UnaryMethod
        isinf: UnaryMethod
        isnan: UnaryMethod
        log1p: UnaryMethod
        rad2deg: UnaryMethod
        rint: UnaryMethod
        sign: UnaryMethod
        sin: UnaryMethod
        sinh: UnaryMethod
        sqrt: UnaryMethod
        tan: UnaryMethod
        tanh: UnaryMethod
        trunc: UnaryMethod

    multiply: Infix = function("numpy_api.ufuncs", "multiply")
    maximum: Infix = function("numpy_api.ufuncs", "maximum")
    minimum: Infix = function("numpy_api.ufuncs", "minimum")
    tensordot = function("numpy_api.linalg", "tensordot")
    nanmax = function("numpy_api.reductions", "nanmax")
    nanmin = function("numpy_api.reductions", "nanmin")
    amax = function("numpy_api.reductions", "max")
    amin = function("numpy_api.reductions", "min")
    round_ = __round__ = function("numpy_api.ufuncs", "round")
    broadcast_to = function("numpy_api.manipulation", "broadcast_to")

    def power(self: Any, n: Any, dtype: DTypeLike | None = None) -> Any:
        """Each element to a power."""
        return resolve("numpy_api.ufuncs", "apply")("power", (self, n), dtype=dtype)

    def reduce(self: Any, method: np.ufunc, axis: Any = (0,), keepdims: bool = False, **options: Any) -> Any:
        """``method.reduce`` of a ufunc over some axes."""
        return method.reduce(self, axis=axis, keepdims=keepdims, **options)

    @property
    def density(self: Any) -> float:
        """The share of elements that are stored."""
        return self.nnz / self.size if self.size else float("nan")

    def maybe_densify(self: Any, max_size: int = 1000, min_density: float = 0.25) -> np.ndarray[Any, Any]:
        """An ndarray of all elements where they are few, or most of them are stored.

        Raises
        ------
        ValueError
            Where neither is so.
        """
        if self.size > max_size and self.density < min_density:
            raise ValueError(
                f"a tensor of shape {self._storage.shape} and density {self.density:.3g} has more than {max_size} "
                f"elements and less than {min_density} of them are stored; call todense() if you mean that"
            )
        return self.todense()  # type: ignore[no-any-return]

    def change_compressed_axes(self: Any, new_compressed_axes: Any) -> Any:
        """The tensor in gcxs with other axes as its rows."""
        return self.asformat("gcxs", compressed_axes=tuple(new_compressed_axes))

    def get_nodes(self: Any) -> dict[str, Any]:
        """The arrays that ``sparse.save_npz`` writes, by their names; of other formats than coo and gcxs as coo."""
        return self.to_pydata_sparse().get_nodes()  # type: ignore[no-any-return]

    def enable_caching(self: Any) -> Any:
        """The tensor itself: kernels are kept anyway, results are not."""
        return self

    # -- a dictionary, which only formats made of hash tables are: others have nothing that looks like one --------
    items = _of_dictionary("items", "Coordinates and values of the stored elements.")
    keys = _of_dictionary("keys", "The coordinates of the stored elements: integers of a vector, else tuples.")
    values = _of_dictionary("values", "The stored elements, in the order of their coordinates.")

    @property
    def get(self: Any) -> Callable[..., Any]:
        """``get(key, default=0)``: an element, or the default where it is absent."""
        self._raise_unless_dictionary("get")
        return self._get  # type: ignore[no-any-return]

    def _get(self: Any, key: Any, default: Any = None) -> Any:
        found = self[key]
        return found if default is None or not same_number(found, self.fill_value) else default

    def _raise_unless_dictionary(self: Any, name: str) -> None:
        if all(level.sortable for level in self._storage.format.levels):
            raise self._lacks(name)

    # -- canonical form ----------------------------------------------------------------------------------------
    @property
    def has_sorted_indices(self: Any) -> bool:
        """``is_ordered``."""
        return self.is_ordered  # type: ignore[no-any-return]

    @has_sorted_indices.setter
    def has_sorted_indices(self: Any, value: bool) -> None:
        self._check_claim("has_sorted_indices", value)

    @property
    def has_canonical_format(self: Any) -> bool:
        """``is_canonical``."""
        return self.is_canonical  # type: ignore[no-any-return]

    @has_canonical_format.setter
    def has_canonical_format(self: Any, value: bool) -> None:
        self._check_claim("has_canonical_format", value)

    def _check_claim(self: Any, name: str, value: bool) -> None:
        """A tensor knows: what is less than it knows changes nothing, what is more must be so."""
        if value and not getattr(self, name):
            raise ValueError(f"{name} is False of this tensor of shape {self._storage.shape}: call sum_duplicates()")

    def sorted_indices(self: Any) -> Any:
        """``canonical()``."""
        return self.canonical()

    def sum_duplicates(self: Any) -> None:
        """Sort the entries, and sum those with equal coordinates, here."""
        self._become(self.canonical()._storage)

    sort_indices = sum_duplicates

    def eliminate_zeros(self: Any) -> None:
        """Take out the stored values that equal the fill value, here."""
        self._become(self.pruned()._storage)

    def prune(self: Any) -> None:
        """Nothing: arrays have no room that is not used."""

    def check_format(self: Any, full_check: bool = True) -> None:
        """Check every invariant of the format, which reads all arrays once.

        Raises
        ------
        StorageError
            Says which invariant of which level is broken.
        """
        execution.verify(self._storage)

    # -- changes -----------------------------------------------------------------------------------------------
    def setdiag(self: Any, values: Any, k: int = 0) -> None:
        """Assign the elements of diagonal ``k``: all of them, or as many as there are values."""
        rows, columns = self._storage.shape
        count = min(rows - max(0, -k), columns - max(0, k))
        if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
            raise ValueError(f"k={k} is no diagonal of a matrix of shape {self._storage.shape}")
        if count <= 0:
            return
        given: Any = values.todense() if hasattr(values, "todense") else np.asarray(values)
        if given.ndim:
            count = min(count, len(given))
            given = given[:count]
        at = np.arange(count)
        self[at + max(0, -k), at + max(0, k)] = given

    def resize(self: Any, *shape: Any) -> None:
        """Give the tensor another shape of as many axes: what is outside is gone, what is new is the fill value."""
        new = tuple(shape[0]) if len(shape) == 1 and np.ndim(shape[0]) else shape
        old = self._storage.shape
        if len(new) != len(old) or any(n < 0 for n in new):
            raise ValueError(f"a tensor of shape {old} cannot be resized to {new}")
        kept = self[tuple(slice(n) for n in new)]
        self._become(
            resolve("numpy_api.manipulation", "pad")(
                kept, [(0, n - m) for n, m in zip(new, kept.shape, strict=True)]
            )._storage
        )
