"""Graph algorithms: the functions of scipy.sparse.csgraph for tensors of any format.

A stored entry ``(i, j)`` is an edge from ``i`` to ``j``. A stored zero is an edge, too, as in SciPy, unless it is
padding: the zeros in the diagonals, bands and blocks of formats that store these whole, such as dia and bsr.

Examples
--------
>>> import weft
>>> coords = [[0, 1, 3], [1, 2, 3]]
>>> A = weft.from_coords(coords, [1.0, 2.0, 1.0], (4, 4), format="dcsr")
>>> weft.csgraph.connected_components(A, directed=False)
(2, array([0, 0, 0, 1], dtype=int32))
>>> weft.csgraph.minimum_spanning_tree(A).format
'csr'
"""

from __future__ import annotations

from typing import Any

from .errors import MissingNameError
from .interop.scipy_functions import CSGRAPH, taking_tensors

__all__ = sorted(CSGRAPH)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:  # SciPy is imported when one of its functions is first used
    if name not in CSGRAPH:
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}", name, __dir__)
    found = globals()[name] = taking_tensors("scipy.sparse.csgraph", name, CSGRAPH[name])
    return found


def __dir__() -> list[str]:
    return __all__
