"""The kernels to compare, one row each: what weft runs, what its peers run, and what the ratio may be.

``compute.py``, ``scaling.py`` and ``report.py`` all read this table. A case, given the name of an input, makes a
mapping of callables: ``weft``, ``ref`` (hand-written C of the same algorithm) and ``scipy`` where SciPy has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import weft

from . import inputs, reference
from .inputs import matrix, redrawn, shifted, tensor

__all__ = ["CASES", "Case", "runs_of", "values_of"]

Runs = dict[str, Callable[[], Any]]

STENCILS = ("Lin", "ecology1", "atmosmodd")
ALL = ("jnlbrng1", "denormal", *STENCILS, "powerlaw", "uniform", "blocked3")
TENSORS = ("uniform3d", "uniform3d_20m", "powerlaw3d")


@dataclass(frozen=True)
class Case:
    """One line of the table.

    Parameters
    ----------
    name : str
        The kernel's name in the papers.
    make : callable
        Gives the runs for an input's name.
    inputs : tuple of str
        Names of generated inputs.
    files : tuple of str
        Names of inputs that are files, used where they are.
    targets : mapping of str to float
        The largest ratio to each peer.
    speedup : float, optional
        What two threads must gain over one, at least.
    """

    name: str
    make: Callable[[str], Runs]
    inputs: tuple[str, ...]
    files: tuple[str, ...]
    targets: dict[str, float]
    speedup: float | None = None

    @property
    def available(self) -> tuple[str, ...]:
        """The inputs that can be had here."""
        return (*self.inputs, *(name for name in self.files if name in inputs.data_files()))


def dense(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape)


@cache
def csf_pair(name: str) -> tuple[reference.Csf, Any]:
    """A tensor as the reference and as weft hold it."""
    t = tensor(name)
    return reference.csf(t), weft.from_coords(t.coords, t.values, t.shape, format="csf")


def spmv(name: str) -> Runs:
    s = matrix(name)
    a, x = weft.asarray(s), dense(s.shape[1])
    return {"weft": lambda: a @ x, "ref": lambda: reference.spmv(s, x), "scipy": lambda: s @ x}


def residual(name: str) -> Runs:
    s = matrix(name)
    a, x, b = weft.asarray(s), dense(s.shape[1]), dense(s.shape[0])
    return {
        "weft": lambda: weft.evaluate("y(i) = b(i) - A(i,j)*x(j)", A=a, x=x, b=b),
        "ref": lambda: reference.residual(s, x, b),
        "scipy": lambda: b - s @ x,
    }


def mattransmul(name: str) -> Runs:
    s = matrix(name)
    a, x, z = weft.asarray(s), dense(s.shape[0]), dense(s.shape[1])
    return {
        "weft": lambda: weft.evaluate("y(i) = a*A(j,i)*x(j) + b*z(i)", A=a, x=x, z=z, a=2.0, b=3.0),
        "ref": lambda: reference.mattransmul(s, 2.0, x, 3.0, z),
        "scipy": lambda: 2.0 * (s.T @ x) + 3.0 * z,
    }


def spmm(columns: int) -> Callable[[str], Runs]:
    def make(name: str) -> Runs:
        s = matrix(name)
        a, x = weft.asarray(s), dense(s.shape[1], columns)
        return {
            "weft": lambda: weft.einsum("ij,jk->ik", a, x),
            "ref": lambda: reference.spmm(s, x),
            "scipy": lambda: s @ x,
        }

    return make


def sddmm(rank: int) -> Callable[[str], Runs]:
    def make(name: str) -> Runs:
        s = matrix(name)
        b, c, d = weft.asarray(s), dense(s.shape[0], rank), dense(s.shape[1], rank)
        return {
            "weft": lambda: weft.evaluate("A(i,j) = B(i,j)*C(i,k)*D(j,k)", B=b, C=c, D=d, format="csr"),
            "ref": lambda: reference.sddmm(s, c, d),
        }

    return make


def moved(a: sp.csr_array) -> sp.csr_array:
    """The other operand as the papers make it, whose pattern predictors of branches learn."""
    return shifted(a, 1)


def add(other: Callable[[sp.csr_array], sp.csr_array]) -> Callable[[str], Runs]:
    def make(name: str) -> Runs:
        s, t = matrix(name), other(matrix(name))
        a, b = weft.asarray(s), weft.asarray(t)
        return {"weft": lambda: a + b, "ref": lambda: reference.add(s, t), "scipy": lambda: s + t}

    return make


def multiply(other: Callable[[sp.csr_array], sp.csr_array]) -> Callable[[str], Runs]:
    def make(name: str) -> Runs:
        s, t = matrix(name), other(matrix(name))
        a, b = weft.asarray(s), weft.asarray(t)
        return {"weft": lambda: a * b, "scipy": lambda: s.multiply(t)}

    return make


def plus3(name: str) -> Runs:
    s, t, u = matrix(name), shifted(matrix(name), 1), shifted(matrix(name), 2)
    a, b, c = weft.asarray(s), weft.asarray(t), weft.asarray(u)
    return {
        "weft": lambda: weft.evaluate("A(i,j) = B(i,j) + C(i,j) + D(i,j)", B=a, C=b, D=c),
        "ref": lambda: reference.plus3(s, t, u),
        "scipy": lambda: s + t + u,
    }


def spgemm(name: str) -> Runs:
    s = matrix(name)
    a = weft.asarray(s)

    def sorted_product() -> sp.csr_array:
        product = s @ s
        product.sort_indices()
        return product

    return {"weft": lambda: a @ a, "ref": lambda: reference.spgemm(s, s), "scipy": sorted_product}


def ttv(name: str) -> Runs:
    r, b = csf_pair(name)
    c = dense(r.shape[2])
    return {
        "weft": lambda: weft.evaluate("A(i,j) = B(i,j,k)*c(k)", B=b, c=c, format="ss"),
        "ref": lambda: reference.ttv(r, c),
    }


def ttm(name: str) -> Runs:
    r, b = csf_pair(name)
    c = dense(r.shape[2], 16)
    return {
        "weft": lambda: weft.evaluate("A(i,j,k) = B(i,j,l)*C(l,k)", B=b, C=c, format="ssd"),
        "ref": lambda: reference.ttm(r, c),
    }


def mttkrp(name: str) -> Runs:
    r, b = csf_pair(name)
    c, d = dense(r.shape[1], 25), dense(r.shape[2], 25)
    return {
        "weft": lambda: weft.evaluate("A(i,j) = B(i,k,l)*C(k,j)*D(l,j)", B=b, C=c, D=d, format="dense"),
        "ref": lambda: reference.mttkrp(r, c, d),
    }


def innerprod(name: str) -> Runs:
    r, b = csf_pair(name)
    t = inputs.tensor_like(tensor(name))
    q, c = reference.csf(t), weft.from_coords(t.coords, t.values, t.shape, format="csf")
    return {
        "weft": lambda: weft.evaluate("a = B(i,j,k)*C(i,j,k)", B=b, C=c),
        "ref": lambda: reference.innerprod(r, q),
    }


GRAPHS = ("email-Enron", "p2p-Gnutella31")
REAL = ("bcsstk16", "bcsstk33", *GRAPHS)
FACTS = ("kg_FB15K237", "ml100k_user_movie_day")
SAME = {"ref": 1.05}
BOTH = {"ref": 1.05, "scipy": 1.0}

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("SpMV", spmv, ALL, REAL, BOTH, speedup=1.7),
        Case("RESIDUAL", residual, (*STENCILS, "powerlaw", "uniform"), REAL, BOTH),
        Case("MATTRANSMUL", mattransmul, (*STENCILS, "powerlaw", "uniform"), REAL, BOTH),
        Case("SpMM 32", spmm(32), ("denormal", "Lin", "ecology1", "powerlaw", "blocked3"), REAL, BOTH, speedup=1.7),
        Case("SpMM 128", spmm(128), ("denormal", "Lin", "blocked3"), REAL, BOTH),
        Case("SDDMM 64", sddmm(64), ("denormal", "Lin", "blocked3", "uniform"), REAL, SAME),
        Case("CSR+CSR", add(moved), ALL, REAL, BOTH, speedup=1.5),
        Case("CSR+CSR independent", add(redrawn), ("denormal", "uniform"), REAL, BOTH),
        Case("CSR*CSR", multiply(moved), ("denormal", "Lin", "uniform"), REAL, {"scipy": 1.0}),
        Case("CSR*CSR independent", multiply(redrawn), ("denormal", "uniform"), REAL, {"scipy": 1.0}),
        Case("PLUS3", plus3, (*STENCILS, "powerlaw", "uniform", "blocked3"), REAL, BOTH),
        Case("SpGEMM", spgemm, (*STENCILS, "denormal", "powerlaw", "blocked3"), REAL, {"scipy": 0.67}, speedup=1.5),
        Case("TTV", ttv, TENSORS, FACTS, SAME),
        Case("TTM 16", ttm, TENSORS, FACTS, SAME),
        Case("MTTKRP 25", mttkrp, TENSORS, FACTS, SAME, speedup=1.7),
        Case("INNERPROD", innerprod, TENSORS, FACTS, SAME),
    )
}


@cache
def runs_of(case: str, name: str) -> Runs:
    """The runs of a case, checked against each other before anybody times them."""
    runs = CASES[case].make(name)
    results = {peer: values_of(run()) for peer, run in runs.items()}
    for peer, values in results.items():
        np.testing.assert_allclose(results["weft"], values, rtol=1e-9, atol=1e-9, err_msg=f"{case}, {name}, {peer}")
    return runs


def values_of(result: Any) -> np.ndarray:
    """The numbers of a result in lexicographic order, whoever made it."""
    if isinstance(result, tuple):  # arrays of the reference; values last
        result = result[-1]
    elif sp.issparse(result):
        result.sort_indices()
        result = result.data
    elif isinstance(result, weft.SparseTensor):
        result = result.to_coo()[1]
    return np.ravel(result)
