"""Files of binsparse 0.1: a tree of dense and sparse levels as JSON, and the arrays of the levels by name."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import execution
from ..dtypes import name_of, value_dtype
from ..errors import FileFormatError, ShapeError, WeftError
from ..formats import Compressed, Dense, Format, LevelFormat, Singleton
from ..interop.arrays import index_array
from ..interop.sparse_groups import CompressedArrays, numbers
from ..operations.foreign_tensors import convert
from ..remapping import Remapping
from ..storage import Storage, fill_of, tensor_type
from ..tensor import SparseTensor, from_coords
from ..tensor.construction import as_shape, called
from .containers import NpzGroup

HEADER = "binsparse"
VERSION = "0.1.0"  # which the specification writes as 0.1, and its implementation in Python reads in this form alone
_VERSION = re.compile(r"0\.1(\.\d+)?")
_ELEMENT: dict[str, Any] = {"level_desc": "element"}
_TYPES = {name: np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                            "float32", "float64")}  # fmt: skip
_TYPE = re.compile(r"(iso\[)?(?:complex\[(\w+)\]|(\w+))(?(1)\])")
_STRUCTURES = re.compile(r"(skew_symmetric|symmetric|hermitian)_(lower|upper)")


def _dense(level: dict[str, Any], rank: int = 1) -> dict[str, Any]:
    return {"level_desc": "dense", "rank": rank, "level": level}


def _sparse(level: dict[str, Any], rank: int = 1) -> dict[str, Any]:
    return {"level_desc": "sparse", "rank": rank, "level": level}


_NAMED: dict[str, tuple[dict[str, Any], list[int] | None]] = {
    "DVEC": (_dense(_ELEMENT), None),
    "DMATR": (_dense(_dense(_ELEMENT)), None),
    "DMAT": (_dense(_dense(_ELEMENT)), None),
    "DMATC": (_dense(_dense(_ELEMENT)), [1, 0]),
    "CVEC": (_sparse(_ELEMENT), None),
    "CSR": (_dense(_sparse(_ELEMENT)), None),
    "CSC": (_dense(_sparse(_ELEMENT)), [1, 0]),
    "DCSR": (_sparse(_sparse(_ELEMENT)), None),
    "DCSC": (_sparse(_sparse(_ELEMENT)), [1, 0]),
    "COOR": (_sparse(_ELEMENT, 2), None),
    "COO": (_sparse(_ELEMENT, 2), None),
    "COOC": (_sparse(_ELEMENT, 2), [1, 0]),
}
"""The formats with a name in the specification, as trees of levels, with the order of the axes."""


def header_of(group: Any) -> dict[str, Any] | None:
    """Return the description of a tensor in a group; None if it has none."""
    if isinstance(group, NpzGroup):
        text = str(group.small(HEADER)[()]) if HEADER in group else None
    else:
        text = group.attrs.get(HEADER)
    if text is None:
        return None
    if isinstance(text, str | bytes):
        try:
            text = json.loads(text)
        except ValueError as error:
            raise FileFormatError(f"the binsparse header is no JSON: {error}") from None
    header = text.get(HEADER) if isinstance(text, Mapping) else None
    if not isinstance(header, Mapping):
        raise FileFormatError("the binsparse header is to be an object under the name 'binsparse'")
    return dict(header)


class _File:
    """The checked header of a file, and its arrays."""

    def __init__(self, group: Any, header: Mapping[str, Any], place: str) -> None:
        self.group, self.place = group, place
        missing = [
            k for k in ("version", "format", "shape", "number_of_stored_values", "data_types") if k not in header
        ]
        if missing:
            raise FileFormatError(f"the binsparse header of {place} has no {', '.join(missing)}")
        if not _VERSION.fullmatch(str(header["version"])):
            raise FileFormatError(f"{place} is of binsparse version {header['version']!r}; weft reads 0.1")
        try:
            self.shape = as_shape(header["shape"])
        except ShapeError as error:
            raise FileFormatError(f"{place}: {error}") from None
        self.count, self.types = header["number_of_stored_values"], header["data_types"]
        self.tree: Any
        if not isinstance(self.count, int) or not isinstance(self.types, Mapping):
            raise FileFormatError(f"the binsparse header of {place} has counts or data types that are none")
        self.name: str = header["format"]
        self.structure: Any = header.get("structure")
        self.fill: Any = self.array("fill_value", 1)[0] if header.get("fill") is True else 0
        if self.name == "custom":
            custom = header.get("custom")
            custom = custom if isinstance(custom, Mapping) else {}
            self.tree, order = custom.get("level"), custom.get("transpose")
        elif self.name in _NAMED:
            self.tree, order = _NAMED[self.name]
        else:
            raise FileFormatError(f"{place}: binsparse has no format {self.name!r}; it has {', '.join(_NAMED)}, custom")
        self.order = tuple(range(len(self.shape)) if order is None else order)
        if sorted(self.order) != [*range(len(self.shape))]:
            raise FileFormatError(f"{place}: transpose {order} is no order of {len(self.shape)} axes")
        if self.structure is not None and not _STRUCTURES.fullmatch(str(self.structure)):
            raise FileFormatError(f"{place}: binsparse has no structure {self.structure!r}")

    def stored(self, name: str) -> tuple[Any, bool, str]:
        """Return an array as it is stored, whether it is one value for all, and its type without that."""
        declared = self.types.get(name)
        parts = _TYPE.fullmatch(declared) if isinstance(declared, str) else None
        if parts is None:
            raise FileFormatError(f"{self.place}: {name} has the data type {declared!r}")
        array = numbers(self.group, name, self.place)
        element: str = str(parts[2] or parts[3])
        dtype = np.dtype(np.uint8) if element == "bint8" else _TYPES.get(element)
        here = np.dtype(np.uint8) if element == "bint8" and array.dtype in (np.int8, bool) else array.dtype
        if dtype is None or here.newbyteorder("=") != dtype or (parts[2] and dtype.kind != "f"):
            raise FileFormatError(f"{self.place}: {name} has dtype {array.dtype}; the header says {declared!r}")
        return array, bool(parts[1]), f"complex{16 * dtype.itemsize}" if parts[2] else element

    def array(self, name: str, count: int | None = None) -> np.ndarray[Any, Any]:
        """Return an array; raise ``FileFormatError`` if it does not have ``count`` elements."""
        array, same, element = self.stored(name)
        values = np.asarray(array[:])
        if element == "bint8":
            values = values.view(np.uint8) != 0
        if element.startswith("complex"):
            if len(values) % 2:
                raise FileFormatError(f"{self.place}: {name} has {len(values)} parts of complex numbers")
            values = np.ascontiguousarray(values).view(element)
        if same:
            if len(values) != 1 or count is None:
                raise FileFormatError(f"{self.place}: {name} is to be one value for all, and has {len(values)}")
            values = np.full(count, values[0])
        if count is not None and len(values) != count:
            raise FileFormatError(f"{self.place}: {name} has {len(values)} elements instead of {count}")
        return values

    def levels(self) -> Iterator[tuple[LevelFormat, list[np.ndarray[Any, Any]]]]:
        """Yield the levels of the tree, each with its arrays."""
        tree, depth = self.tree, 0
        while True:
            kind = tree.get("level_desc") if isinstance(tree, Mapping) else None
            if kind == "element":
                return
            rank = tree.get("rank") if isinstance(tree, Mapping) else None
            if kind not in ("dense", "sparse") or not isinstance(rank, int) or rank < 1 or "level" not in tree:
                raise FileFormatError(f"{self.place}: binsparse has no level such as {tree!r}")
            if kind == "dense":
                yield from ((Dense(), []) for _ in range(rank))
            else:
                crds = [index_array(self.array(f"indices_{depth + k}")) for k in range(rank)]
                name = f"pointers_to_{depth}"
                pos = index_array(self.array(name)) if depth else np.array([0, len(crds[0])], crds[0].dtype)
                yield Compressed(unique=rank == 1), [pos, crds[0]]
                for k in range(1, rank):
                    yield Singleton(unique=k == rank - 1), [crds[k]]
            tree, depth = tree["level"], depth + rank


def read(group: Any, place: str) -> SparseTensor:
    """Read a tensor."""
    try:
        file = _File(group, header_of(group) or {}, place)
        parts = [*file.levels()]
        vals = np.ascontiguousarray(file.array("values", file.count))
        format = Format(Remapping(file.order), [level for level, _ in parts])
        arrays = tuple(array for _, of_level in parts for array in of_level)
        dtype = value_dtype(vals.dtype)
        names = tuple(name_of(array.dtype) for array in arrays)
        storage = Storage(
            file.shape,
            tensor_type(name_of(dtype), format, names, fill_of(dtype, file.fill)),
            arrays,
            vals.astype(dtype, copy=False),
        )
        execution.verify(storage)
        return _both_triangles(called(storage), file) if file.structure else called(storage)
    except FileFormatError:
        raise
    except WeftError as error:
        raise FileFormatError(f"{place} is no tensor of binsparse: {error}") from None


def _both_triangles(A: SparseTensor, file: _File) -> SparseTensor:
    """Return a matrix with the triangle that a structure leaves out."""
    kind, triangle = _STRUCTURES.fullmatch(str(file.structure)).groups()  # type: ignore[union-attr]
    (i, j), values = A.to_coo()
    if A.shape[0] != A.shape[1] or ((i < j) if triangle == "lower" else (i > j)).any() or file.fill != 0:
        raise FileFormatError(f"{file.place} is not the triangle that structure {file.structure!r} says")
    off = i != j
    other = values[off].conj() if kind == "hermitian" else -values[off] if kind == "skew_symmetric" else values[off]
    coords = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    return from_coords(coords, np.concatenate([values, other]), A.shape, format=A.layout)


def compressed_arrays(group: Any, place: str) -> CompressedArrays | None:
    """Return the arrays of a matrix in CSR or CSC, none of which has been read; None for other tensors."""
    file = _File(group, header_of(group) or {}, place)
    if file.name not in ("CSR", "CSC") or file.structure or len(file.shape) != 2:
        return None
    names = ("pointers_to_1", "indices_1", "values")
    (pointers, *_), (indices, *_), (values, same, element) = map(file.stored, names)
    if same or element not in _TYPES:
        return None
    if values.shape[0] != file.count:
        raise FileFormatError(f"{place}: values has {values.shape[0]} elements instead of {file.count}")
    modes = (0, 1) if file.name == "CSR" else (1, 0)
    fill = fill_of(values.dtype, file.fill)
    return CompressedArrays(place, file.shape, modes, pointers, indices, values, fill, names).checked()


def _tree(format: Format) -> dict[str, Any] | None:
    """Return the levels of a format as binsparse describes them; None if it cannot."""
    if format.is_structured or not format.is_canonical:
        return None
    runs: list[list[Any]] = []
    for level in format.levels:
        if level == Singleton(unique=level.unique) and runs and runs[-1][0] == "sparse":
            runs[-1][1] += 1
        elif level in (Dense(), Compressed(), Compressed(unique=False)):
            runs.append(["dense" if level == Dense() else "sparse", 1])
        else:
            return None
    tree = _ELEMENT
    for kind, rank in reversed(runs):
        tree = (_dense if kind == "dense" else _sparse)(tree, rank)
    return tree


def nodes(storage: Storage) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return the header and the arrays of a tensor; in a format that binsparse has, with a warning, if need be."""
    tree = _tree(storage.format)
    if tree is None:
        plain = storage.format.canonical() if not storage.format.is_structured else storage.plain_format
        plain = plain if _tree(plain) is not None else storage.plain_format
        warnings.warn(
            f"binsparse has no format {_told(storage.format)}; the tensor is written in {plain}, "
            f"as A.asformat({str(plain)!r}) makes it",
            stacklevel=6,
        )
        storage, tree = convert(storage, plain), _tree(plain)
    order = [*storage.format.mode_order]
    transpose = None if order == sorted(order) else order
    name = next((name for name, known in _NAMED.items() if known == (tree, transpose)), "custom")
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for (level, role), array in zip(storage.format.roles, storage.arrays, strict=True):
        if role == "crd":
            arrays[f"indices_{level}"] = array
        elif level:
            arrays[f"pointers_to_{level}"] = array
    arrays["values"] = storage.vals
    if storage.type.fill != 0:
        arrays["fill_value"] = np.array([storage.type.fill], storage.dtype)
    types = {}
    for key, array in arrays.items():
        arrays[key], types[key] = _encoded(array)
    header: dict[str, Any] = {
        "version": VERSION, "format": name, "shape": [*storage.shape],
        "number_of_stored_values": len(storage.vals), "data_types": types,
    }  # fmt: skip
    if name == "custom":
        header["custom"] = {"level": tree} if transpose is None else {"level": tree, "transpose": transpose}
    if storage.type.fill != 0:
        header["fill"] = True
    return header, arrays


def _told(format: Format) -> str:
    """Return the name of a format, and what its levels do not promise."""
    order = "" if all(level.ordered for level in format.levels) else " without sorted coordinates"
    return f"{format}{order or (' with repeated coordinates' if not format.is_unique else '')}"


def _encoded(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], str]:
    if array.dtype == bool:
        return array.view(np.uint8), "bint8"
    if array.dtype.kind == "c":
        parts = array.view(f"f{array.itemsize // 2}")
        return parts, f"complex[{parts.dtype}]"
    return array, str(array.dtype)


def write(group: Any, storage: Storage) -> None:
    """Write a tensor into an empty group of h5py or zarr, or into a dictionary of the arrays of an npz file."""
    header, arrays = nodes(storage)
    if isinstance(group, dict):
        group |= {**arrays, HEADER: np.array(json.dumps({HEADER: header}))}
        return
    is_zarr = not type(group).__module__.startswith("h5py")
    for name, array in arrays.items():
        if is_zarr:
            target = group.create_array(
                name, shape=array.shape, chunks=(max(1, min(len(array), 1 << 18)),), dtype=array.dtype,
                config={"write_empty_chunks": True},
            )  # fmt: skip
            target[:] = array
        else:
            group.create_dataset(name, data=array)
    group.attrs[HEADER] = {HEADER: header} if is_zarr else json.dumps({HEADER: header})
