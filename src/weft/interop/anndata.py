"""Writers of anndata for tensors, which importing this module registers.

``AnnData.write_h5ad``, ``write_zarr`` and ``anndata.io.write_elem`` then write matrices as ``csr_matrix`` and
``csc_matrix``, and anndata reads them as SciPy's.
"""

from __future__ import annotations

from typing import Any

from ..doors import optional
from ..operations.operands import storage_of
from ..tensor import SparseTensor
from . import sparse_groups

with optional("weft.interop.anndata needs anndata", "interop"):
    import h5py
    import zarr
    from anndata._io.specs.registry import _REGISTRY, IOSpec


def write_tensor(group: Any, key: str, tensor: SparseTensor, *, _writer: Any = None, **_: Any) -> None:
    """Write a tensor as a member of a group, as anndata calls its writers."""
    storage = storage_of(tensor)
    sparse_groups.require_writable(storage)
    sparse_groups.write(group.create_group(key), storage)


for _kind in (h5py.Group, zarr.Group):
    _REGISTRY.register_write(_kind, SparseTensor, IOSpec("csr_matrix", sparse_groups.VERSION))(write_tensor)
