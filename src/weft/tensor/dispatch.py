"""Protocols by which NumPy, scipy.sparse and other packages call weft's operators and functions.

``np.asarray(T)`` must fail, since sparse code cannot afford an implicit dense copy. Without ``__array__`` it would
silently return an object array. But SciPy's operators call ``np.asanyarray(other)`` on every operand that they do not
know, and they defer to the reflected method of ``other`` only if the result is a 0-d object array
(scipy/sparse/_base.py, ``_matmul_dispatch``). An exception there would end ``scipy_csr @ T``.

NumPy calls ``__array__`` with the same arguments in both cases, and no hook sees the result afterwards. SciPy consults
neither ``__array_priority__`` nor ``__array_ufunc__`` before. Only the caller tells the two cases apart. Therefore
``__array__`` inspects its caller. It returns a 0-d object array if the caller is a method of scipy.sparse that holds
this tensor as its operand ``other``.

The package sparse leaves ``S @ T`` to ``T`` if a function that it calls raises ``NotImplementedError``. One of these
functions is compiled by numba, which reads the attribute ``_numba_type_`` of ``T``. Reading this attribute raises that
error if sparse is among the callers.

Some consumers of DLPack look for ``__dlpack__`` on the object. Others look for it on the class, to learn if all such
objects can be exported. Only tensors in a dense format can, so the class lacks the attribute and its instances have it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from inspect import Parameter, signature
from operator import attrgetter
from types import FrameType, MethodType
from typing import Any

import numpy as np

from ..errors import DensifyError, UnsupportedError, WeftError
from ..operations import foreign_tensors
from ..operations.fill_change import as_array
from ..operations.operands import StorageHolder, as_operand, is_scalar, storage_anywhere, storage_of, touches_device
from ..runtime.devices import in_use
from ..tracebacks import end_at_caller, tell_operands
from .devices import cuda_interface, dlpack, dlpack_device, storage_on
from .lazy_methods import resolve
from .operators import Operators, matmul, ufunc_on_device
from .out_argument import write_out


def _scipy_defers(tensor: StorageHolder) -> bool:
    """Return whether the caller of ``__array__`` is a binary operator of scipy.sparse with ``tensor`` on its right.

    An operator may call a method such as ``multiply``, which then returns ``NotImplemented`` to the operator. If users
    call this method by name, it must raise an error, since no operator would try the tensor's method afterwards.
    """
    # Frame 2 is the caller of __array__. The outermost of SciPy's frames shows if an operator was called.
    frame, outermost = sys._getframe(2), ""
    while str(frame.f_globals.get("__name__")).startswith("scipy.sparse") and frame.f_locals.get("other") is tensor:
        outermost = frame.f_code.co_name
        if frame.f_back is None:
            break
        frame = frame.f_back
    return outermost.startswith("__")


def _asking_package(between: tuple[str, ...] = ()) -> str:
    """Return the package that called the calling function, passing over callers in the packages ``between``."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package not in between:
            return package
        frame = frame.f_back
    return ""


def _is_within(packages: Collection[str]) -> bool:
    """Return whether a function of one of the packages is running in this thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] not in packages:
        frame = frame.f_back
    return frame is not None


def _asked_for_numpys() -> bool:
    """Return whether the caller of the calling function is a part of SciPy that is to treat tensors as ndarrays.

    With ``SCIPY_ARRAY_API=1`` the operators of scipy.sparse.linalg and the ufuncs of scipy.special take arrays of one
    package alone, and convert those that are not NumPy's. Without it they multiply with a tensor, or call its
    ``__array_ufunc__``. So they do with it, if a tensor's namespace is SciPy's for ndarrays.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if not name.startswith(("scipy._lib.", "scipy._external.")):
            return name.startswith(("scipy.sparse.linalg.", "scipy.special."))
        frame = frame.f_back
    return False


def _if_dense(name: str, method: Callable[..., Any]) -> Callable[[StorageHolder], Any]:
    """Return a function that binds a method to a tensor in a dense format, and raises for other tensors."""

    def find(tensor: StorageHolder) -> Any:
        format = storage_anywhere(tensor).format
        if format.is_dense:
            return MethodType(method, tensor)
        text = f"tensors of format {format} have no dense memory, and no {name}; todense() makes some"
        raise AttributeError(text, name=name, obj=tensor)

    return find


def _numba_type(tensor: StorageHolder) -> Any:
    """Raise ``NotImplementedError`` for callers from the package sparse, and ``AttributeError`` for others."""
    if _asking_package(("weft", "numba", "functools")) != "sparse":
        raise AttributeError("tensors have no _numba_type_", name="_numba_type_", obj=tensor)
    storage = storage_of(tensor)
    raise UnsupportedError(
        f"the package sparse does not multiply by a SparseTensor of shape {storage.shape} and format {storage.format}; "
        "write @, call weft's function, or pass A.to_pydata_sparse()"
    )


# -- NumPy's functions on tensors: each one calls weft's function of the same name ------------------------------------
# Some functions of weft call NumPy's with their parameters, such as the bins of a histogram. If these are tensors,
# NumPy calls weft's function again. NumPy's function then gets ndarrays, up to ``config.max_densify_bytes``.
_LIKE = ("asarray", "asanyarray")  # functions that NumPy hands over for the type of ``like=`` alone
_DEPTH = 5  # calls of one function inside another that are none of weft's own
_running = threading.local()  # the calls of array_function that this thread is in


def array_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call weft's counterpart of a function of NumPy; raises ``DensifyError`` if there is none."""
    calls: list[Any] = _running.__dict__.setdefault("calls", [])
    if calls and _comes_back(function, args, kwargs, calls):
        arrays: tuple[Any, ...] = as_array(args)
        return function(*arrays, **{name: as_array(x) for name, x in kwargs.items()})
    if function.__name__ in _LIKE:  # the order of memory is the format's business
        kwargs = {name: value for name, value in kwargs.items() if name != "order"}
    counterpart = _counterpart(function)
    if counterpart is None:
        raise DensifyError(_no_counterpart(function, next(_tensors((*args, *kwargs.values())), None)))
    positional, named = _by_position(function, counterpart, args, kwargs) if kwargs else (args, kwargs)
    if positional and Dispatch not in type(positional[0]).__bases__:
        counterpart = _override(type(positional[0]), counterpart)
    calls.append((function, args, kwargs))
    try:
        return counterpart(*positional, **named)
    finally:
        calls.pop()


@lru_cache(maxsize=1024)
def _counterpart(function: Callable[..., Any]) -> Any:
    """Return weft's counterpart of a function of NumPy, or None."""
    weft, module = namespace(), function.__module__
    if not module.startswith("numpy"):
        return None
    name = "asarray" if function.__name__ in _LIKE else function.__name__
    # Several names exist in more than one namespace of NumPy, so the module of the function decides first.
    parts = ("linalg", "fft", "lib.stride_tricks")
    part = next((part for part in parts if part.rpartition(".")[2] in module), None)
    place = attrgetter(part)(weft) if part else weft
    return getattr(place, name, None) or getattr(weft.linalg, name, None)


def _override(cls: type[Any], counterpart: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of a subclass of ``SparseTensor`` in place of the function that it overrides, as NumPy does."""
    tensors = next((base for base in cls.__mro__ if Dispatch in base.__bases__), None)
    name = counterpart.__name__
    if tensors is None or getattr(tensors, name, None) is not counterpart:
        return counterpart
    return getattr(cls, name)  # type: ignore[no-any-return]


def _by_position(
    function: Callable[..., Any], counterpart: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Return arguments with those by position that NumPy names otherwise than weft, as in ``np.tile(A, reps=2)``."""
    order, renamed = _names(function, counterpart)
    if renamed.isdisjoint(kwargs):
        return args, kwargs
    named, positional = dict(kwargs), list(args)
    for name, default in order[len(args) :]:
        if renamed.isdisjoint(named):
            break
        positional.append(named.pop(name, default))
    return tuple(positional), named


@lru_cache(maxsize=1024)
def _names(
    function: Callable[..., Any], counterpart: Callable[..., Any]
) -> tuple[tuple[tuple[str, Any], ...], frozenset[str]]:
    """Return NumPy's names of the parameters that both take by position, with weft's defaults, and those not weft's."""
    try:
        numpys, wefts = (_positional(f) for f in (function, counterpart))
    except ValueError:  # the function is written in C, and does not tell
        return (), frozenset()
    both = [(name, ours) for (name, _), ours in zip(numpys.items(), wefts.values(), strict=False)]
    order = tuple((name, ours.default) for name, ours in both)
    keywords = {name for name, ours in wefts.items() if ours.kind is not ours.POSITIONAL_ONLY}
    return order, frozenset(name for name, _ in order if name not in keywords)


def _positional(function: Callable[..., Any]) -> dict[str, Parameter]:
    parameters = signature(function).parameters
    return {name: p for name, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)}


def _no_counterpart(function: Callable[..., Any], tensor: StorageHolder | None) -> str:
    text = f"{function.__module__}.{function.__name__} is not for SparseTensors"
    if tensor is None:
        return text
    storage = storage_of(tensor)
    instead = foreign_tensors.instead_of_dense(storage)
    return f"{text} (here: shape {storage.shape}, format {storage.format}): {instead}"


def _tensors(arguments: Iterable[Any]) -> Iterator[StorageHolder]:
    for x in arguments:
        if isinstance(x, StorageHolder):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from _tensors(x)


def _comes_back(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], calls: Sequence[Any]) -> bool:
    """Return whether weft's counterpart of a function has called the function with a tensor that it was given."""
    outer = [(*old, *named.values()) for called, old, named in calls if called is function]
    if not outer:
        return False
    of_outer = {id(x) for x in _tensors(outer)}
    return len(outer) > _DEPTH or any(id(x) in of_outer for x in _tensors((*args, *kwargs.values())))


def read_once(args: Any, cls: type[StorageHolder]) -> Any:
    """Convert other packages' tensors among arguments to ``cls``, so that each is read only once."""
    if isinstance(args, (list, tuple)):
        tensors = [read_once(arg, cls) for arg in args]
        return tensors if isinstance(args, list) else tuple(tensors)
    storage = None if isinstance(args, (StorageHolder, np.ndarray, str)) else foreign_tensors.read(args)
    return args if storage is None else cls(storage)


def namespace() -> Any:
    """Return the package ``weft``, in which public names are looked up regardless of the modules that define them."""
    return sys.modules[__name__.partition(".")[0]]


def concerns(types: Iterable[type]) -> bool:
    """Return whether weft handles all classes that NumPy found among the arguments of a function."""
    return all(issubclass(cls, (StorageHolder, np.ndarray)) or foreign_tensors.is_read(cls) for cls in types)


# -- the class --------------------------------------------------------------------------------------------------------
_OBJECTS = 200  # bytes of a tensor without its arrays, roughly


class Dispatch(Operators):
    """Methods of the protocols by which other packages' operators and functions call weft's."""

    __slots__ = ()
    _answers = {  # noqa: RUF012
        "__cuda_array_interface__": cuda_interface,
        "__dlpack__": _if_dense("__dlpack__", dlpack),
        "__dlpack_device__": _if_dense("__dlpack_device__", dlpack_device),
        "_numba_type_": _numba_type,
    }
    __array_priority__ = 1000.0  # SciPy's is 10.1

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if _scipy_defers(self):
            deferred = np.empty((), dtype=object)
            deferred[()] = self
            return deferred
        if self._storage.format.is_full:  # all elements are stored, so that nothing is made dense
            array = self.todense()  # type: ignore[attr-defined]
            return np.array(array, dtype, copy=copy)
        peers = _asking_package() == "sparse"
        advice = foreign_tensors.instead_of_dense(self._storage, to_files=_is_within({"dask", "zarr"}))
        instead = "pass its to_pydata_sparse()" if peers else advice
        shape, format = self._storage.shape, self._storage.format
        raise DensifyError(f"a {format} tensor of shape {shape} does not become an ndarray by itself: {instead}")

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the elements, or the tensors, along the first axis."""
        shape = self._storage.shape
        if not shape:
            raise TypeError("iteration over a 0-d tensor")
        if _asking_package() == "sparse":  # COO(A) takes any iterable for coordinates and values
            raise DensifyError(
                f"a SparseTensor of shape {shape} is not an array of the package sparse; pass its to_pydata_sparse()"
            )
        tensor: Any = self
        return (tensor[k] for k in range(shape[0]))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not concerns(types):
            return function(*args, **kwargs) if foreign_tensors.met(*types) else NotImplemented
        try:
            return array_function(function, args if len(types) == 1 else read_once(args, type(self)), kwargs)
        except WeftError as error:
            end_at_caller(error)
            raise

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the array API standard's namespace, ``weft.array_api``."""
        weft = namespace()
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"weft follows version {weft.__array_api_version__} of the standard, not {api_version!r}")
        scipys = getattr(sys.modules.get("scipy._lib._array_api"), "np_compat", None)
        if scipys is not None and _asked_for_numpys():
            return scipys
        return weft.array_api

    def __sizeof__(self) -> int:
        """Return the bytes of all arrays and of the objects around them, by which schedulers place and spill."""
        return self._storage.nbytes + _OBJECTS

    def __dask_tokenize__(self) -> Any:
        """Return what dask names results by: equal for equal types, shapes and arrays."""
        from dask.base import normalize_token

        foreign_tensors.meet()
        storage = self._storage
        return normalize_token(("weft", repr(storage.type), storage.shape, *storage.arrays, storage.vals))

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the tensor on a device: the tensor itself if it is there, else a copy.

        Parameters
        ----------
        device : {"cpu", "cuda", "cuda:1", "emulated", None}
            The device to copy the tensor to. ``"cuda"`` is CuPy's current device, ``"cuda:1"`` is one by its number,
            and ``"emulated"`` runs the kernels of a GPU on the CPU, thread by thread. None is the CPU.
        stream : None
            Copies are made on CuPy's current stream, and no other can be given.

        Raises
        ------
        DeviceError
            When there is no such device here; the message says what to install.
        ValueError
            For other names, and for streams.

        Examples
        --------
        >>> import weft
        >>> A = weft.asarray([[0.0, 1.0], [2.0, 0.0]], format="csr")
        >>> A.to_device("emulated")
        <SparseTensor: shape=(2, 2), dtype=float64, format=csr, nnz=2, fill_value=0, device=emulated>
        """
        if stream is not None:
            raise ValueError(f"copies are made on the current stream, and no other streams: stream is not {stream!r}")
        storage = self._anywhere
        moved = storage_on(storage, device)
        return self if moved is storage else type(self)(moved).called(self._named)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if in_use and touches_device(*inputs):
            return ufunc_on_device(ufunc, method, inputs, kwargs, type(self))
        keyed = method in ("at", "reduceat")  # the second input of these holds indices, and is no operand
        if any(not is_scalar(x) and as_operand(x) is None for k, x in enumerate(inputs) if not (keyed and k == 1)):
            known = not foreign_tensors.met(*map(type, inputs))
            return NotImplemented if known else getattr(ufunc, method)(*inputs, **kwargs)
        try:
            if ufunc is np.matmul and method == "__call__" and set(kwargs) <= {"out"}:
                result = matmul(inputs[0], inputs[1], type(self))
                if "out" not in kwargs:
                    return result
                return write_out(result, kwargs["out"], "np.matmul")
            return resolve("numpy_api.ufunc_protocol", "array_ufunc")(ufunc, method, inputs, kwargs)
        except WeftError as error:
            end_at_caller(error)
            tell_operands(error, f"np.{ufunc.__name__}", dict(zip("AB", inputs, strict=False)))
            raise
