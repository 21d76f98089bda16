"""Methods and properties of ``SparseTensor`` that are imported when they are first used.

A table (``weft._api``) lists them by the modules that define them. A descriptor takes the place of each method at
first. On first use, the descriptor imports the function and replaces itself by it. From then on the method is the
function, with its signature and docstring. The modules that define these functions import ``SparseTensor``, so
``SparseTensor`` cannot import them, and ``import weft`` does not wait for them.

Type checkers read the block for them, which ``make stubs`` generates from the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _api

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from .. import interop
    from ..drawing import storage_drawing
    from ..interop import pandas_series, peer_methods
    from ..numpy_api import (
        cumulative,
        diagonals,
        linalg,
        manipulation,
        moments,
        ndarray_methods,
        reductions,
        searching,
        select_list,
        sorting,
        ufuncs,
    )
    from . import types


@cache
def resolve(module: str, name: str) -> Any:
    """Return an object that a module of weft defines, and import the module if necessary.

    Examples
    --------
    >>> resolve("numpy_api.reductions", "sum").__name__
    'sum'
    """
    return getattr(import_module(f"..{module}", __package__), name)


class LazyMethod:
    """A descriptor that imports a method when it is first read, and replaces itself by the method."""

    __slots__ = ("home", "module", "name")
    home: type[Any]  # the class that has the method
    name: str  # the name of the method in the class, and in the module
    module: str  # the module below ``weft``: ``"numpy_api.reductions"``

    def __init__(self, home: type[Any], name: str, module: str) -> None:
        self.home, self.name, self.module = home, name, module

    def imported(self) -> Any:
        """Return the imported member, and put it on the class for the descriptor; all threads get the same object."""
        member = resolve(self.module, self.name)
        if self.home.__dict__.get(self.name) is self:  # a user may have put something else there meanwhile
            if isinstance(member, property):
                member.__set_name__(self.home, self.name)  # type: ignore[attr-defined]  # error messages name the property, as in a class statement
            setattr(self.home, self.name, member)
        return member

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        # getattr(instance, name) would call this again from a subclass that overrides the method and calls super().
        return self.imported().__get__(instance, owner)


class LazyProperty(LazyMethod):
    """A descriptor that imports a property when it is first read or assigned to."""

    __slots__ = ()

    def __set__(self, instance: object, value: Any) -> None:
        self.imported().__set__(instance, value)


def install(home: type[Any], methods: Mapping[str, str], properties: Mapping[str, str]) -> None:
    """Add methods and properties to a class, which are imported when they are first used."""
    for kind, table in ((LazyMethod, methods), (LazyProperty, properties)):
        for module, names in table.items():
            for name in names.split():
                setattr(home, name, kind(home, name, module))


class LazyMethods:
    """Base class of ``SparseTensor`` with the methods and properties of the table; its own take precedence."""

    __slots__ = ()

    if TYPE_CHECKING:
        draw = storage_drawing.draw
        to_scipy = interop.to_scipy
        to_series = pandas_series.to_series
        change_compressed_axes = peer_methods.change_compressed_axes
        check_format = peer_methods.check_format
        eliminate_zeros = peer_methods.eliminate_zeros
        enable_caching = peer_methods.enable_caching
        get_nodes = peer_methods.get_nodes
        maybe_densify = peer_methods.maybe_densify
        power = peer_methods.power
        prune = peer_methods.prune
        reduce = peer_methods.reduce
        resize = peer_methods.resize
        setdiag = peer_methods.setdiag
        sort_indices = peer_methods.sum_duplicates
        sorted_indices = peer_methods.sorted_indices
        sum_duplicates = peer_methods.sum_duplicates
        cumprod = cumulative.cumprod
        cumsum = cumulative.cumsum
        diagonal = diagonals.diagonal
        trace = diagonals.trace
        dot = linalg.dot
        tensordot = linalg.tensordot
        broadcast_to = manipulation.broadcast_to
        ravel = manipulation.ravel
        repeat = manipulation.repeat
        squeeze = manipulation.squeeze
        swapaxes = manipulation.swapaxes
        take = manipulation.take
        mean = moments.mean
        std = moments.std
        var = moments.var
        compress = ndarray_methods.compress
        conj = ndarray_methods.conj
        conjugate = ndarray_methods.conj
        fill = ndarray_methods.fill
        flatten = ndarray_methods.flatten
        matmat = ndarray_methods.matvec
        matvec = ndarray_methods.matvec
        nonzero = ndarray_methods.nonzero
        partition = ndarray_methods.partition
        put = ndarray_methods.put
        reshape = ndarray_methods.reshape
        rmatmat = ndarray_methods.rmatvec
        rmatvec = ndarray_methods.rmatvec
        sort = ndarray_methods.sort
        tolist = ndarray_methods.tolist
        with_fill = ndarray_methods.with_fill
        all = reductions.all
        amax = reductions.max
        amin = reductions.min
        any = reductions.any
        count_nonzero = reductions.count_nonzero
        max = reductions.max
        min = reductions.min
        nanmax = reductions.nanmax
        nanmin = reductions.nanmin
        prod = reductions.prod
        sum = reductions.sum
        argmax = searching.argmax
        argmin = searching.argmin
        searchsorted = searching.searchsorted
        choose = select_list.choose
        argpartition = sorting.argpartition
        argsort = sorting.argsort
        arcsin = types.unary
        arcsinh = types.unary
        arctan = types.unary
        arctanh = types.unary
        ceil = types.unary
        clip = ufuncs.clip
        deg2rad = types.unary
        expm1 = types.unary
        floor = types.unary
        isinf = types.unary
        isnan = types.unary
        log1p = types.unary
        maximum = types.binary
        minimum = types.binary
        multiply = types.binary
        rad2deg = types.unary
        rint = types.unary
        round = ufuncs.round
        round_ = ufuncs.round
        sign = types.unary
        sin = types.unary
        sinh = types.unary
        sqrt = types.unary
        tan = types.unary
        tanh = types.unary
        trunc = types.unary

        @property
        def blocksize(self) -> tuple[int, int]: ...

        @property
        def col(self) -> np.ndarray[Any, Any]: ...

        @col.setter
        def col(self, array: Any) -> None: ...

        @property
        def compressed_axes(self) -> tuple[int, ...]: ...

        @property
        def coords(self) -> np.ndarray[Any, Any]: ...

        @coords.setter
        def coords(self, arrays: Any) -> None: ...

        @property
        def data(self) -> np.ndarray[Any, Any]: ...

        @data.setter
        def data(self, values: Any) -> None: ...

        @property
        def indices(self) -> np.ndarray[Any, Any]: ...

        @indices.setter
        def indices(self, array: Any) -> None: ...

        @property
        def indptr(self) -> np.ndarray[Any, Any]: ...

        @indptr.setter
        def indptr(self, array: Any) -> None: ...

        @property
        def offsets(self) -> np.ndarray[Any, Any]: ...

        @offsets.setter
        def offsets(self, array: Any) -> None: ...

        @property
        def row(self) -> np.ndarray[Any, Any]: ...

        @row.setter
        def row(self, array: Any) -> None: ...

        @property
        def density(self) -> float: ...

        @property
        def get(self) -> Callable[..., Any]: ...

        @property
        def has_canonical_format(self) -> bool: ...

        @has_canonical_format.setter
        def has_canonical_format(self, value: bool) -> None: ...

        @property
        def has_sorted_indices(self) -> bool: ...

        @has_sorted_indices.setter
        def has_sorted_indices(self, value: bool) -> None: ...

        @property
        def items(self) -> Callable[[], Any]: ...

        @property
        def keys(self) -> Callable[[], Any]: ...

        @property
        def values(self) -> Callable[[], Any]: ...


install(LazyMethods, _api.METHODS, _api.PROPERTIES)
