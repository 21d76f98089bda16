"""Suggestions in error messages for names that do not exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TENSOR_NAMES = {
    "scipy": "to_scipy", "toscipy": "to_scipy", "to_scipy_csr": "to_scipy", "numpy": "to_numpy",
    "to_dense": "todense", "densify": "todense", "to_csr": "tocsr", "to_csc": "tocsc",
    "A": "A.todense()", "A1": "A.todense().ravel()", "H": "A.conj().T", "getH": "A.conj().T", "I": "weft.linalg.inv(A)",
    "getrow": "A[[i]]", "getcol": "A[:, [j]]", "getrowview": "A[[i]]", "getformat": "A.format", "get_shape": "A.shape",
    "set_shape": "A.resize(shape)", "getnnz": "A.nnz, or weft.count_nonzero(A, axis=0)",
    "asfptype": "A.astype(float)", "getmaxprint": "repr(A)", "getA": "A.todense()", "getT": "A.T", "ptp": "weft.ptp(A)",
}  # fmt: skip
"""What to use for attributes that tensors of other packages have: another name, or what to write."""

FUNCTION_NAMES = {
    **{f"{name}_matrix": f"{name}_array" for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")},
    "sparray": "SparseTensor", "spmatrix": "SparseTensor", "tensor": "asarray", "as_tensor": "asarray",
    "sparse_coo_tensor": "from_coords", "read": "load", "mmread": "read_mtx", "mmwrite": "write_mtx",
    "contract": "einsum", "full_matrix": "full", "to_scipy_sparse": "to_scipy", "isspmatrix": "issparse",
    **{f"isspmatrix_{name}": f'A.format == "{name}"' for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")},
    "get_index_dtype": "A.asformat(A.format, index_dtype='int64'), for wider index arrays",
}  # fmt: skip
"""What to use for functions that other packages have: another name, or what to write."""


def nearest(name: str, known: Iterable[str], others: Mapping[str, str] | None = None) -> str | None:
    """Return the existing name that a user probably meant by a name that does not exist, or None.

    Examples
    --------
    >>> [nearest(name, ["coo", "csr"]) for name in ("CSR", "csrr", "crs", "xyz")]
    ['csr', 'csr', 'csr', None]
    >>> nearest("seed", ["shape", "rng"], {"seed": "rng"})
    'rng'
    """
    from difflib import get_close_matches

    names = {each.casefold(): each for each in known}
    plain = name.strip().casefold()
    if plain in names:
        return names[plain]
    if others is not None and names.get(others.get(plain, "").casefold()) is not None:
        return others[plain]
    for each in names:  # two letters that changed places leave the same letters
        if sorted(each) == sorted(plain):
            return names[each]
    # Spelling decides last, since names in other packages may be spelled like something else.
    close = get_close_matches(plain, names, n=1, cutoff=0.7)
    return names[close[0]] if close else None


def did_you_mean(name: str, names: Iterable[str], others: Mapping[str, str] | None = None) -> str:
    """Return the end of a message that suggests the nearest name, or what to write; an empty string if there is none.

    Examples
    --------
    >>> did_you_mean("csrr", ["coo", "csr"])
    "; did you mean 'csr'?"
    >>> did_you_mean("getrow", ["get"], {"getrow": "A[[i]]"})
    '; write A[[i]]'
    """
    instead = "" if others is None else others.get(name, "")
    if instead and not instead.isidentifier():
        return f"; write {instead}"
    found = nearest(name, names, others)
    return "" if found is None else f"; did you mean {found!r}?"
