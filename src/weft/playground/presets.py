"""Examples that the page offers: the expressions of the papers, conversions and other semirings."""

from __future__ import annotations

from ..records import record
from .state import State


@record
class Preset:
    """One example."""

    key: str  # a short name, used in addresses
    title: str  # the name on the page
    about: str  # One sentence on the point of the example
    state: State  # the contents of the fields


def _preset(key: str, title: str, about: str, expression: str, schedule: str = "", /, **formats: str) -> Preset:
    return Preset(key, title, about, State(expression, tuple(formats.items()), schedule))


PRESETS = (
    _preset(
        "spmv", "Matrix times vector", "SpMV: the inner loop walks the entries of one row.",
        "y(i) = A(i,j)*x(j)", A="csr", x="dense", y="dense",
    ),
    _preset(
        "spmv_dia", "SpMV by diagonals", "No coordinate of an entry is stored: a diagonal is read like an array.",
        "y(i) = A(i,j)*x(j)", A="dia", x="dense", y="dense",
    ),
    _preset(
        "spmv_ell", "SpMV in ELL", "Slices of one entry a row are walked with unit stride.",
        "y(i) = A(i,j)*x(j)", A="ell", x="dense", y="dense",
    ),
    _preset(
        "vectors", "Sum of sparse vectors", "Two lists of coordinates are merged; each case has its own loop.",
        "a(i) = b(i) + c(i)", a="s", b="s", c="s",
    ),
    _preset(
        "add", "Sum of two csr matrices", "Each row of the result merges one row of both operands.",
        "C(i,j) = A(i,j) + B(i,j)", A="csr", B="csr", C="csr",
    ),
    _preset(
        "add_three", "Sum of three", "One loop nest merges three operands; the lattice has seven points.",
        "A(i,j) = B(i,j) + C(i,j) + D(i,j)", B="csr", C="csr", D="csr", A="csr",
    ),
    _preset(
        "multiply", "csr times coo", "An elementwise product of two formats visits what both store.",
        "C(i,j) = A(i,j)*B(i,j)", A="csr", B="coo", C="csr",
    ),
    _preset(
        "spgemm", "Matrix times matrix", "SpGEMM: each row of the result is collected in a workspace.",
        "C(i,k) = A(i,j)*B(j,k)", A="csr", B="csr", C="csr",
    ),
    _preset(
        "sddmm", "SDDMM", "A dense product is computed only where the sparse matrix has entries.",
        "A(i,j) = B(i,j)*C(i,k)*D(j,k)", B="csr", C="dense", D="dense", A="csr",
    ),
    _preset(
        "residual", "Residual", "A sum is subtracted from a dense vector in the same loops.",
        "y(i) = b(i) - A(i,j)*x(j)", A="csr", b="dense", x="dense", y="dense",
    ),
    _preset(
        "transposed", "Transpose times vector", "Two scalars, a dense vector and the columns of a matrix.",
        "y(i) = alpha*A(j,i)*x(j) + beta*z(i)", A="csc", x="dense", z="dense", y="dense",
    ),
    _preset(
        "ttv", "TTV", "A 3-way tensor times a vector, summed along the last axis.",
        "A(i,j) = B(i,j,k)*c(k)", B="csf", c="dense", A="ds",
    ),
    _preset(
        "ttm", "TTM", "A 3-way tensor times a matrix along the last axis.",
        "A(i,j,k) = B(i,j,l)*C(k,l)", B="csf", C="dense", A="ssd",
    ),
    _preset(
        "mttkrp", "MTTKRP", "The kernel of CP decompositions; factors are applied once, by a workspace.",
        "A(i,j) = B(i,k,l)*C(k,j)*D(l,j)", B="csf", C="dense", D="dense", A="dense",
    ),
    _preset(
        "inner", "Inner product", "Two 3-way tensors meet in all levels at once.",
        "alpha = B(i,j,k)*C(i,j,k)", B="csf", C="csf",
    ),
    _preset(
        "to_dia", "csr to dia", "A conversion: attribute queries find the diagonals before entries are inserted.",
        "B(i,j) = A(i,j)", A="csr", B="dia",
    ),
    _preset(
        "to_ell", "csr to ell", "A conversion: a query counts the longest row.",
        "B(i,j) = A(i,j)", A="csr", B="ell",
    ),
    _preset(
        "shortest", "Shortest paths", "The min-plus semiring: one step of all shortest paths.",
        "C(i,j) = min(k, A(i,k) + B(k,j))", A="csr", B="csr",
    ),
    _preset(
        "scheduled", "A schedule by hand", "Columns are cut into strips, rows into blocks that threads share.",
        "C(i,k) = A(i,j)*B(j,k)", "split(k, k0, k1, 16)\nsplit(i, i0, i1, 256)\nparallelize(i0)",
        A="csr", B="dense", C="dense",
    ),
)  # fmt: skip
"""The examples in the order of the page."""
