"""Lines of code that users of other packages write, each tried with a tensor ``A`` in the place of their own matrix.

``outcomes`` says of each line whether it gives what it gives for the package's own matrix or array.
"""

from __future__ import annotations

import atexit
import io
import os
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

__all__ = ["LINES", "outcomes"]

Case = tuple[str, str]  # package, line
Row = tuple[str, str, str, str]

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
    "xarray": """
        R.sum('x')
        R.mean('x', skipna=True)
        R.var()
        R.std('y')
        R.max('x')
        R.argmax('x')
        R.idxmax('x')
        R.quantile(0.5, 'x')
        R.median('x')
        R.cumsum('x')
        R.diff('x')
        R.count()
        R + R
        R > 0.5
        np.log1p(R)
        xr.apply_ufunc(np.sqrt, R)
        R.where(R > 0.5)
        R.fillna(0)
        R.clip(0, 1)
        R.astype('float32')
        R[2:5]
        R.sel(x=slice(2, 5))
        R.isel(x=[3, 1])
        R.sel(x=[3, 1], method='nearest')
        R.isel(x=P1, y=P2)
        R.weft.isel(x=P1, y=P2)
        R.groupby('group').sum()
        R.coarsen(x=2).sum()
        R.rolling(x=2).sum()
        R.rolling(x=3, center=True).mean()
        R.rolling(x=2).construct('w')
        R.weighted(W).mean('y')
        R.stack(z=('y', 'x')).unstack()
        R.T
        R.pad(x=1)
        R.shift(x=1)
        R.roll(x=1)
        R.sortby('x', ascending=False)
        R.reindex(x=[0, 40])
        xr.concat([R, R], 'y')
        xr.align(R, R[2:])[0]
        xr.dot(R, R.rename(x='z'), dim='y')
        xr.corr(R, R, 'x')
        R.differentiate('x')
        R.integrate('x')
        R.interp(x=[0.5, 1.5])
        R.weft.interp(x=[0.5, 1.5])
        R.polyfit('x', 1).polyfit_coefficients
        R.weft.polyfit('x', 1).polyfit_coefficients
        R.to_series()
        R.weft.to_series()
        R.to_dataset().to_dataframe()
        R.to_netcdf(path + '.nc')
        R.values
    """,
    "anndata": """
        ad.AnnData(A).X
        ad.AnnData(A)[2:5].X
        ad.AnnData(A)[[3, 1]].X
        ad.AnnData(A)[:, 2:5].copy().X
        ad.AnnData(A).T.X
        ad.AnnData(A, layers={'a': A}).layers['a']
        ad.AnnData(A, obsm={'a': A}).obsm['a']
        ad.AnnData(A, obsp={'a': A}).obsp['a']
        ad.AnnData(C.X, uns={'a': A}).uns['a']
        ad.concat([ad.AnnData(A), ad.AnnData(A)]).X
        ad.AnnData(A).to_df().to_numpy()
        weft.asarray(C.X)
        weft.asarray(C[2:5].X)
        weft.asarray(C[[3, 1]].X)
        weft.asarray(C[:, 2:5].X)
        weft.asarray(C.layers['a'])
        weft.asarray(C.obsp['a'])
        weft.asarray(backed.X)
        weft.asarray(backed.X[2:5])
        weft.asarray(backed[2:5].X)
        weft.asarray(ad.io.sparse_dataset(h5py.File(path)['X']))
        weft.asarray(h5py.File(path)['layers/a'])
        weft.asarray(zarr.open_group(zarr_path)['X'])
        weft.load(path)
        weft.open(path, 'layers/a')[2:5]
        weft.open(zarr_path)[2:5]
        ad.read_h5ad(saved(A)).X
        ad.io.read_elem(written(A))
    """,
    "dask": """
        D + D
        A + D
        D + A
        D * A
        2 * D
        abs(D)
        D ** 2
        D > 0.5
        A < D
        np.add(A, D)
        np.log1p(D)
        da.where(D > 0.5, D, 0)
        da.clip(D, 0, 1)
        D.sum()
        D.sum(axis=0)
        D.sum(axis=1, keepdims=True)
        D.mean()
        D.mean(axis=0)
        D.max(axis=0)
        D.prod(axis=1)
        (D > 0.5).any(axis=0)
        (D > 0.5).all()
        D.argmax(axis=0)
        D.var(axis=0)
        D.std()
        weft.dask.mean(D, axis=0)
        weft.dask.var(D, axis=0)
        weft.dask.std(D)
        da.cumsum(D, axis=0)
        da.nanmean(D, axis=0)
        da.count_nonzero(D)
        da.percentile(D[0], [50], method='linear')
        da.histogram(D, bins=3, range=(0, 4))[0]
        da.unique(D[0])
        da.topk(D, 2, axis=0)
        D[2:5]
        D[[3, 1]]
        D[:, [3, 1]]
        D[D.sum(axis=1) > 3]
        D[D > 0.5]
        D.T
        D[:, None]
        D.rechunk((20, 5))
        weft.dask.rechunk(D, (20, 5))
        da.concatenate([D, D])
        da.stack([D, D])
        np.concatenate([A, D])
        da.roll(D, 2, axis=0)
        da.diff(D, axis=0)
        da.pad(D, 1)
        da.tril(D)
        da.diag(D)
        D @ D
        D @ b
        da.tensordot(D, D, axes=1)
        da.einsum('ij,jk->ik', D, D)
        weft.dask.einsum('ij,jk->ik', D, D)
        weft.dask.evaluate('C(i,j) = D(i,j)*b(j)', D=D, b=b)
        weft.dask.svd(D, 2, seed=0)[1]
        da.linalg.svd_compressed(D, 2, seed=0)[1]
        da.linalg.norm(D)
        da.linalg.qr(D)[1]
        da.nonzero(D)
        D.map_blocks(np.sqrt)
        da.apply_along_axis(np.sum, 0, D)
        D.persist()
        da.broadcast_to(D, (2, 20, 20))
        da.take(D, [3, 1], axis=1)
        da.round(D, 1)
        np.asarray(D)
        D.to_zarr(path, overwrite=True)
        da.delete(D, 1, axis=0)
        da.average(D, axis=0)
        da.median(D, axis=0)
        da.cov(D)
        da.isin(D, [0.0])
        da.maximum(D, A)
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

THEIRS = {"weft.linalg": "sla", "weft.csgraph": "csgraph", "R.weft": "R"}  # the same of the package itself
THEIRS |= {f"weft.dask.{name}": f"da.{name}" for name in ("mean", "var", "std", "rechunk", "einsum")}
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


def more(package: str, names: dict[str, Any]) -> dict[str, Any]:
    """Return names with the objects of a package over the matrix ``A`` among them."""
    A = names["A"]
    if package == "xarray":
        import xarray as xr

        import weft.xarray  # noqa: F401

        if hasattr(A, "tocsr") and type(A).__module__.startswith("scipy"):
            A = A.toarray()  # xarray takes no array of SciPy
        coords = {"y": np.arange(20.0), "x": np.arange(20.0), "group": ("y", np.arange(20) % 3)}
        places = {f"P{k}": xr.DataArray([k, 5, 7], dims="p") for k in (1, 2)}
        weights = xr.DataArray(np.arange(20.0), dims="y")
        R = xr.DataArray(A, coords=coords, dims=("y", "x"), name="rain")
        return {**names, **places, "R": R, "W": weights, "xr": xr, "path": os.path.join(folder(), "a")}
    if package == "dask":
        import dask.array as da

        if hasattr(A, "tocsr") and type(A).__module__.startswith("scipy"):
            A = A.toarray()  # dask's own chunks
        D = da.from_array(A, chunks=(8, 20), asarray=False)
        return {**names, "da": da, "D": D, "path": os.path.join(folder(), "dask.zarr")}
    return {**names, **of_anndata(names["S"])} if package == "anndata" else names


@cache
def folder() -> str:
    """Return a directory that is removed at the end."""
    made = TemporaryDirectory()
    atexit.register(made.cleanup)
    return made.name


def of_anndata(S: Any) -> dict[str, Any]:
    """Return what lines of anndata name: files, and functions that write."""
    import anndata as ad
    import h5py
    import zarr

    import weft
    import weft.interop.anndata

    C = ad.AnnData(S, layers={"a": S}, obsp={"a": S})
    path, zarr_path = os.path.join(folder(), "a.h5ad"), os.path.join(folder(), "a.zarr")
    if not os.path.exists(path):
        C.write_h5ad(path)
        C.write_zarr(zarr_path)

    def saved(A: Any) -> str:
        new = os.path.join(folder(), "new.h5ad")
        weft.save(new, A)
        return new

    def written(A: Any) -> Any:
        group = h5py.File(io.BytesIO(), "w")
        ad.io.write_elem(group, "A", A)
        return group["A"]

    backed = ad.read_h5ad(path, backed="r")
    return {"C": C, "ad": ad, "weft": weft, "h5py": h5py, "zarr": zarr, "path": path, "zarr_path": zarr_path,
            "saved": saved, "written": written, "backed": backed}  # fmt: skip


def plain(value: Any) -> Any:
    """Return what two results are compared by."""
    import networkx as nx

    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if type(value).__module__.startswith("dask."):
        return plain(value.compute(scheduler="synchronous"))
    if isinstance(value, nx.Graph):
        return value.number_of_edges()
    if type(value).__module__.startswith("pandas"):
        return value.to_numpy()
    if hasattr(value, "data") and hasattr(value, "dims"):
        return plain(value.data)
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


def one_by_one(cases: Iterable[Case], run: Callable[[Case], None]) -> None:
    for case in cases:
        run(case)


def outcomes(together: Callable[[Iterable[Case], Callable[[Case], None]], None] = one_by_one) -> list[Row]:
    """Return each package, line, its outcome with tensors, and with what they are handed over as.

    ``together`` runs a function for every line; it may begin a line anew.
    """
    import weft

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    own = setting()
    handed = [name for name in ("A", "P", "L") if name in own or name == "A"]
    sparse = own | {name: own["S" if name == "A" else name] for name in handed}
    dense = sparse | {name: sparse[name].toarray() for name in handed} | {"w": own["F"]}
    tensors = own | {name: weft.asarray(own["S" if name == "A" else name]) for name in handed}
    tensors["F"] = weft.asarray(own["F"])
    rows: dict[Case, Row] = {}

    def run(case: Case) -> None:
        package, line = case
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = line
            for ours, name in THEIRS.items():
                theirs = theirs.replace(ours, name)
            matrices = dense if package in ("NumPy", "sparse", "xarray", "dask") or line in OF_ARRAYS else sparse
            wanted = plain(eval(theirs, {**more(package, matrices), "file": io.BytesIO()}))
            if line.endswith("to_series()") and "weft" in line:  # of stored entries
                wanted = wanted[wanted != 0]
            direct = tried(line, more(package, tensors), wanted)
            hand = weft.SparseTensor.to_pydata_sparse if package == "sparse" else weft.to_scipy
            given = {**tensors, **{name: hand(tensors[name]) for name in handed}}
            rows[case] = (
                package, line, direct, "" if direct == "works" else tried(line, more(package, given), wanted),
            )  # fmt: skip

    cases = [
        (package, line) for package, text in LINES.items() for line in filter(None, map(str.strip, text.split("\n")))
    ]
    together(cases, run)
    return [rows[case] for case in cases]


if __name__ == "__main__":
    for row in outcomes():
        print(*row, sep=" | ")
