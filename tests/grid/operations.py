"""The operations of the papers, each as a grid over formats."""

from __future__ import annotations

from .grid import MATRICES, TENSORS, VECTORS, Grid

M, V, T = MATRICES, VECTORS, TENSORS
VECTOR_RESULTS = [None, "d", "s"]
MATRIX_RESULTS = [None, "dd", "ds", "ss", "sd", "ds:1,0", "coo"]
FEW = [None, "dd", "ds", "ss"]
DENSE_OR_CSR = ["dd", "dd:1,0", "ds", "ss"]

GRIDS: dict[str, Grid] = {
    "SpMV": Grid("y(i) = A(i,j)*x(j)", {"A": M, "x": V}, VECTOR_RESULTS),
    "SpMV transposed": Grid("y(j) = A(i,j)*x(i)", {"A": M, "x": V}, VECTOR_RESULTS),
    "copy": Grid("C(i,j) = A(i,j)", {"A": M}, [None, *M]),
    "transpose": Grid("C(j,i) = A(i,j)", {"A": M}, [None, *M]),
    "PLUS": Grid("C(i,j) = A(i,j) + B(i,j)", {"A": M, "B": M}, MATRIX_RESULTS),
    "MINUS transposed": Grid("C(i,j) = A(i,j) - B(j,i)", {"A": M, "B": M}, FEW),
    "elementwise product": Grid("C(i,j) = A(i,j)*B(i,j)", {"A": M, "B": M}, MATRIX_RESULTS),
    "SpGEMM": Grid("C(i,k) = A(i,j)*B(j,k)", {"A": M, "B": M}, [None, "dd", "ds", "ss", "ds:1,0"]),
    "SpMM": Grid("C(i,k) = A(i,j)*B(j,k)", {"A": M, "B": ["dd", "dd:1,0", "sd"]}, FEW),
    "PLUS3": Grid(
        "C(i,j) = A(i,j) + B(i,j) + D(i,j)",
        {"A": M, "B": ["dd", "ds", "ss", "ds:1,0"], "D": ["ds", "sd", "ss:1,0", "coo"]}, FEW,
    ),
    "SDDMM": Grid("C(i,j) = A(i,j)*B(i,k)*D(k,j)", {"A": M, "B": DENSE_OR_CSR, "D": DENSE_OR_CSR}, FEW),
    "MATTRANSMUL": Grid("y(j) = a*A(i,j)*x(i) + b*z(j)", {"A": M, "x": V, "z": V}, VECTOR_RESULTS),
    "RESIDUAL": Grid("y(i) = b(i) - A(i,j)*x(j)", {"A": M, "x": V, "b": V}, VECTOR_RESULTS),
    "(b+c)*d": Grid("y(i) = (b(i) + c(i))*d(i)", {"b": V, "c": V, "d": V}, VECTOR_RESULTS),
    "b*c+d": Grid("y(i) = b(i)*c(i) + d(i)", {"b": V, "c": V, "d": V}, VECTOR_RESULTS),
    "outer product": Grid("C(i,j) = x(i)*y(j)", {"x": V, "y": V}, [None, *M]),
    "outer product of matrices": Grid("C(i,j,k,l) = A(i,j)*B(k,l)", {"A": M[::2], "B": M[::3]}, [None, "dsds", "ssss"]),
    "row sums": Grid("y(i) = A(i,j)", {"A": M}, VECTOR_RESULTS),
    "column sums": Grid("y(j) = A(i,j)", {"A": M}, VECTOR_RESULTS),
    "full sum": Grid("y = A(i,j)", {"A": M}, [None]),
    "diagonal": Grid("y(i) = A(i,i)", {"A": M}, VECTOR_RESULTS),
    "diagonal product": Grid("y(i) = A(i,i)*x(i)", {"A": M, "x": V}, VECTOR_RESULTS),
    "trace": Grid("y = A(i,i)", {"A": M}, [None]),
    "used twice": Grid("C(i,k) = A(i,j)*A(j,k)", {"A": M}, FEW),
    "square of entries": Grid("C(i,j) = A(i,j)*A(i,j)", {"A": M}, FEW),
    "triple product": Grid("C(i,l) = A(i,j)*B(j,k)*D(k,l)", {"A": M[:8:3], "B": M[::2], "D": M[1:8:3]}, FEW),
    "sum of products": Grid(
        "C(i,k) = A(i,j)*B(j,k) + D(i,k)", {"A": ["ds", "ss:1,0"], "B": ["ds", "ds:1,0", "coo"], "D": M}, FEW
    ),
    "nested sums": Grid(
        "y(i) = sum(j, A(i,j))*sum(j, B(i,j)*x(j))", {"A": M[::2], "B": M[::3], "x": V}, VECTOR_RESULTS
    ),
    "product of sums": Grid("y = A(i,j)*B(k,l)", {"A": M, "B": M[::3]}, [None]),
    "sums on one index": Grid("y(j) = A(i,j)*B(j,k)", {"A": M, "B": M[::3]}, VECTOR_RESULTS),
    "outer product of sums": Grid("C(i,k) = A(i,j)*B(k,l)", {"A": M, "B": M[::3]}, FEW),
    "negation": Grid("C(i,j) = -(A(i,j) - B(i,j))", {"A": M[::2], "B": M[::3]}, FEW),
    "broadcast": Grid("C(i,j) = A(i,j)*x(i) + y(j)*A(i,j)", {"A": M, "x": V, "y": V}, FEW),
    "TTV": Grid("C(i,j) = B(i,j,k)*c(k)", {"B": T, "c": V}, FEW),
    "TTV first": Grid("C(j,k) = B(i,j,k)*c(i)", {"B": T, "c": V}, [None, "ss"]),
    "TTM": Grid("C(i,j,l) = B(i,j,k)*E(k,l)", {"B": T, "E": ["dd", "ds", "dd:1,0"]}, [None, "sss", "ddd", "ssd"]),
    "MTTKRP": Grid(
        "C(i,j) = B(i,k,l)*E(l,j)*F(k,j)", {"B": T, "E": ["dd", "ds"], "F": ["dd", "ss"]}, [None, "dd", "ds"]
    ),
    "INNERPROD": Grid("y = B(i,j,k)*C(i,j,k)", {"B": T, "C": [*T[::5], "coo"]}, [None]),
    "INNERPROD second": Grid("y = B(i,j,k)*C(i,j,k)", {"B": ["sss", "dss:2,0,1"], "C": T}, [None]),
    "PLUS of tensors": Grid(
        "C(i,j,k) = A(i,j,k) + B(i,j,k)", {"A": T, "B": [*T[::6], "coo"]}, [None, "sss", "dss", "sds", "ssd:2,0,1"]
    ),
    "PLUS of tensors second": Grid("C(i,j,k) = A(i,j,k) + B(i,j,k)", {"A": ["sss", "sds"], "B": T}, [None, "ddd"]),
    "copy of tensors": Grid("C(i,j,k) = A(i,j,k)", {"A": T}, [None, "ddd", "sss", "dsd:1,2,0", "coo"]),
    "transpose of tensors": Grid("C(k,i,j) = A(i,j,k)", {"A": T}, [None, "sss", "sds"]),
    "blocked SpMV": Grid(
        "y(i,k) = A(i,j,k,l)*x(j,l)", {"A": ["dsdd", "ssdd", "dddd", "ssss", "dsds"], "x": ["dd", "sd", "ss"]}, FEW
    ),
}  # fmt: skip
