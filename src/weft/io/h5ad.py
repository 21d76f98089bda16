"""Matrices as members of files of anndata, which are HDF5 files with tables of observations and variables."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..errors import FileFormatError, ShapeError
from ..interop import sparse_groups
from ..storage import Storage
from .containers import hdf5, opened_group, replaced

_MEMBERS = ("layers", "obsm", "obsp", "uns", "varm", "varp")
_AXES = {"X": (0, 1), "layers": (0, 1), "obsm": (0, None), "varm": (1, None), "obsp": (0, 0), "varp": (1, 1)}
"""By the first part of a key: the axes of observations and variables that the axes of its matrices are."""


def save(path: str, storage: Storage | sparse_groups.Parts, key: str) -> None:
    """Write a matrix as a member of a file of anndata, which is made if there is none."""
    sparse_groups.require_writable(storage)
    kind, write = key.strip("/").partition("/")[0], partial(sparse_groups.write, storage=storage)
    if not os.path.exists(path):
        if kind not in ("X", "layers"):
            raise FileFormatError(
                f"{path!r} is no file yet, so that {key!r} has no observations; save X or layers/... first"
            )
        with replaced(path) as new, hdf5().File(new, "w") as file:
            _begin(file, storage.shape)
            put(file, key, write)
        return
    with opened_group(path, "hdf5") as file:
        if sparse_groups.attribute(file, "encoding-type") != "anndata":
            raise FileFormatError(f"{path!r} is no file of anndata; remove it first, or save in a file ending in .h5")
        sizes = tuple(_length(file[name]) for name in ("obs", "var"))
    for axis, of in enumerate(_AXES.get(kind, (None, None))):
        if of is not None and len(storage.shape) == 2 and storage.shape[axis] != sizes[of]:
            raise ShapeError(
                f"{path!r} has {sizes[0]} observations and {sizes[1]} variables; {key!r} of shape {storage.shape} does "
                "not fit"
            )
    with hdf5().File(path, "r+") as file:
        put(file, key, write)


def _length(frame: Any) -> int:
    index = sparse_groups.attribute(frame, "_index")
    return int(frame[index].shape[0])


def _begin(file: Any, shape: tuple[int, ...]) -> None:
    """Write a file of anndata without matrices."""
    file.attrs["encoding-type"], file.attrs["encoding-version"] = "anndata", "0.1.0"
    text = hdf5().string_dtype()
    for name, size in zip(("obs", "var"), shape, strict=True):
        frame = file.create_group(name)
        frame.attrs["encoding-type"], frame.attrs["encoding-version"] = "dataframe", "0.2.0"
        frame.attrs["_index"], frame.attrs["column-order"] = "_index", np.zeros(0)
        index = frame.create_dataset("_index", data=np.arange(size).astype("S20").astype(object), dtype=text)
        index.attrs["encoding-type"], index.attrs["encoding-version"] = "string-array", "0.2.0"
    for name in _MEMBERS:
        group = file.create_group(name)
        group.attrs["encoding-type"], group.attrs["encoding-version"] = "dict", "0.1.0"


def put(file: Any, key: str, write: Callable[[Any], None]) -> None:
    """Write a member of a file; what has its place is removed once the new one is written."""
    key = key.strip("/")
    if not key:
        raise FileFormatError(f"key= is the path of a member of {file.filename!r}, such as 'X'")
    if key in file:
        sparse_groups.require_matrix(file[key], f"{key!r} in {file.filename!r}")
    new = f"{key}.new"
    try:
        write(file.create_group(new))
        if key in file:
            del file[key]
        file.move(new, key)
    finally:
        if new in file:
            del file[new]
