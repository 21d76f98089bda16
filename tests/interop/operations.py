"""Lines of code that users of other packages write, each tried with a tensor ``A`` in the place of their own matrix.

``outcomes`` says of each line whether it gives what it gives for the package's own matrix or array.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["LINES", "outcomes"]

LINES = {
    "SciPy": """
        weft.linalg.spsolve(A, b)
        weft.linalg.splu(A).solve(b)
        weft.linalg.eigsh(P, k=3, sigma=0, v0=b)[0]
        weft.linalg.expm(A)
        weft.linalg.inv(A)
        weft.linalg.norm(A)
        weft.csgraph.shortest_path(A)
        weft.csgraph.connected_components(A)
        sla.cg(P, b)
        sla.gmres(A, b)
        sla.bicgstab(A, b)
        sla.minres(P, b)
        sla.lsqr(A, b)[0]
        sla.lsmr(A, b)[0]
        sla.eigsh(P, k=3, v0=b)[0]
        abs(sla.eigs(A, k=1, v0=b)[0])
        sla.svds(A, k=3, v0=b, return_singular_vectors=False)
        sla.expm_multiply(A, b)
        sla.aslinearoperator(A).matvec(b)
        sla.onenormest(A)
        sla.matrix_power(A, 3)
        S + A
        S @ A
        A @ S
        S == A
        S.multiply(A)
        S.maximum(A)
        sla.spsolve(A, b)
        sla.splu(A).solve(b)
        sla.factorized(A)(b)
        sla.spsolve_triangular(L, b)
        sla.inv(A)
        sla.norm(A)
        sp.csr_array(A)
        sp.coo_array(A)
        sp.hstack([A, A])
        sp.kron(A, A)
        sp.tril(A)
        sp.find(A)
        csgraph.dijkstra(A)
        csgraph.connected_components(A)
        csgraph.minimum_spanning_tree(A)
        csgraph.reverse_cuthill_mckee(A)
        scipy.io.mmwrite(file, A)
        sp.save_npz(file, A)
        scipy.optimize.lsq_linear(A, b).x
    """,
    "networkx": """
        nx.from_scipy_sparse_array(A).number_of_edges()
        nx.Graph(A).number_of_edges()
        nx.DiGraph(A).number_of_edges()
    """,
    "pandas": """
        pd.DataFrame.sparse.from_spmatrix(A).sum().to_numpy()
        pd.Series(A.sum(axis=0)).to_numpy()
        pd.DataFrame(A).to_numpy()
    """,
    "NumPy": """
        np.sin(A)
        np.add(A, A)
        np.sum(A, axis=0)
        np.mean(A)
        np.std(A, axis=1)
        np.argmax(A, axis=1)
        np.cumsum(A, axis=0)
        np.sort(A, axis=0)
        np.unique(A)
        np.where(A > 0.5, A, 0)
        np.concatenate([A, A])
        np.stack([A, A])
        np.tensordot(A, A, axes=1)
        np.einsum('ij,jk->ik', A, A)
        np.dot(A, b)
        np.kron(A, A)
        np.transpose(A)
        np.reshape(A, (-1,))
        np.tril(A)
        np.diag(A)
        np.nonzero(A)
        np.allclose(A, A)
        np.pad(A, 1)
        np.percentile(A, 50)
        np.linalg.norm(A)
        np.linalg.matrix_power(A, 3)
        np.linalg.solve(F, b)
        np.linalg.svd(F).S
        np.fft.fft(F)
        np.fft.fftshift(A)
        np.linalg.solve(A, b)
        np.linalg.eigvalsh(P)
        np.fft.fft(A)
        np.histogram2d(b, A[0])
        np.asarray(F)
        np.asarray(A)
    """,
    "scikit-learn": """
        check_array(A, accept_sparse=True)
        MaxAbsScaler().fit_transform(A)
        TfidfTransformer().fit_transform(A)
        LogisticRegression().fit(A, y).coef_
        Ridge().fit(A, b).coef_
        TruncatedSVD(2, random_state=0).fit_transform(A)
        KMeans(2, random_state=0, n_init=1).fit(A).labels_
        NearestNeighbors().fit(A).kneighbors(A)[0]
        NMF(2, random_state=0).fit_transform(A)
        cosine_similarity(A)
    """,
    "sparse": """
        sparse.COO(A)
        sparse.asarray(A)
        w + A
        A * w
        np.einsum('ij,jk->ik', A, w)
        np.tensordot(A, w, axes=1)
        np.tensordot(w, A, axes=1)
        np.matmul(w, A)
        w @ A
        np.concatenate([A, w])
        np.concatenate([w, A])
        np.where(w > 0.5, A, w)
    """,
}

OF_ARRAYS = ("pd.DataFrame(A).to_numpy()",)  # which SciPy's matrices do not work with either


IMPORTS = """
    np=numpy nx=networkx pd=pandas scipy scipy.io scipy.optimize sp=scipy.sparse csgraph=scipy.sparse.csgraph
    sla=scipy.sparse.linalg sparse weft KMeans=sklearn.cluster:KMeans NMF=sklearn.decomposition:NMF
    TruncatedSVD=sklearn.decomposition:TruncatedSVD TfidfTransformer=sklearn.feature_extraction.text:TfidfTransformer
    LogisticRegression=sklearn.linear_model:LogisticRegression Ridge=sklearn.linear_model:Ridge
    cosine_similarity=sklearn.metrics.pairwise:cosine_similarity NearestNeighbors=sklearn.neighbors:NearestNeighbors
    MaxAbsScaler=sklearn.preprocessing:MaxAbsScaler check_array=sklearn.utils:check_array
"""


def setting() -> dict[str, Any]:
    """Return what the lines name, with SciPy's matrices and NumPy's arrays for the tensors."""
    names: dict[str, Any] = {}
    for text in IMPORTS.split():
        name, _, place = text.rpartition("=")
        module, _, attribute = place.partition(":")
        found = import_module(module)
        names[name or module.partition(".")[0]] = (
            getattr(found, attribute) if attribute else found if name else import_module(module.partition(".")[0])
        )
    rng, n, sp = np.random.default_rng(0), 20, names["sp"]
    S = sp.csr_array(sp.random_array((n, n), density=0.2, rng=rng) + sp.eye_array(n) * 2)
    return names | {
        "S": S,
        "P": sp.csr_array(S + S.T),
        "L": sp.csr_array(sp.tril(S)),
        "F": S.toarray(),
        "b": rng.random(n),
        "y": np.arange(n) % 2,
        "w": names["sparse"].COO(S.toarray()),
    }


def plain(value: Any) -> Any:
    """Return what two results are compared by."""
    import networkx as nx

    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, nx.Graph):
        return value.number_of_edges()
    for name in ("todense", "toarray"):
        if hasattr(value, name):
            return np.asarray(getattr(value, name)())
    return value


def same(found: Any, wanted: Any) -> bool:
    """Tell whether two results are equal but for rounding."""
    if wanted is None or isinstance(wanted, list):
        return wanted is None or (len(found) == len(wanted) and all(map(same, found, wanted)))
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.dtype == object or found.shape != wanted.shape:
        return False
    return bool(np.allclose(found, wanted, atol=1e-3, equal_nan=True))


def tried(line: str, names: dict[str, Any], wanted: Any) -> str:
    """Return ``works``, or how the line fails."""
    try:
        found = plain(eval(line, {**names, "file": io.BytesIO()}))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "works" if same(found, wanted) else f"gives {found}"


def outcomes() -> Iterator[tuple[str, str, str, str]]:
    """Yield each package, line, its outcome with tensors, and with what they are handed over as."""
    import weft

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    own = setting()
    handed = [name for name in ("A", "P", "L") if name in own or name == "A"]
    for package, text in LINES.items():
        sparse = own | {name: own["S" if name == "A" else name] for name in handed}
        dense = sparse | {name: sparse[name].toarray() for name in handed} | {"w": own["F"]}
        tensors = own | {name: weft.asarray(own["S" if name == "A" else name]) for name in handed}
        tensors["F"] = weft.asarray(own["F"])
        for line in filter(None, map(str.strip, text.splitlines())):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = line.replace("weft.linalg", "sla").replace("weft.csgraph", "csgraph")
                matrices = dense if package in ("NumPy", "sparse") or line in OF_ARRAYS else sparse
                wanted = plain(eval(theirs, {**matrices, "file": io.BytesIO()}))
                direct = tried(line, tensors, wanted)
                hand = weft.SparseTensor.to_pydata_sparse if package == "sparse" else weft.to_scipy
                given = {**tensors, **{name: hand(tensors[name]) for name in handed}}
                yield package, line, direct, "" if direct == "works" else tried(line, given, wanted)


if __name__ == "__main__":
    for row in outcomes():
        print(*row, sep=" | ")
