"""The page about other packages: it is made here, of what their functions do with tensors."""

import subprocess
import sys
from pathlib import Path

import pytest

import weft

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "how_to" / "interop.md"
TITLES = {
    "SciPy": "SciPy",
    "scikit-learn": "scikit-learn",
    "networkx": "networkx",
    "pandas": "pandas",
    "NumPy": "NumPy",
    "sparse": "pydata/sparse",
}
INTRODUCTION = """\
# weft and other packages

<!-- the tables are made by tests/interop/test_operations.py: run it with --update-golden -->

A `SparseTensor` goes into other packages in three ways.

- **As it is**, where a package asks an array for its functions (NumPy, xarray, dask, the array API standard) or for
  products alone (SciPy's iterative solvers, networkx, pandas).
- **`weft.to_scipy(A)`**, or `A.to_scipy_sparse()`, where a package looks for SciPy's own classes, as scikit-learn and
  SciPy's direct solvers do. It shares memory with csr, csc, coo, dia and bsr tensors. An error that asks for an ndarray
  names this call.
- **`weft.linalg` and `weft.csgraph`**, which are scipy.sparse.linalg and scipy.sparse.csgraph for tensors of any
  format: `weft.linalg.spsolve(A, b)`, `weft.csgraph.shortest_path(A)`. Sparse results are tensors. Iterative solvers
  multiply with weft, in the format that the tensor has.

```python
import numpy as np
import weft

A = weft.random((200, 200), density=0.02, rng=0, format="csr") + 4 * weft.eye(200)
b = np.ones(200)

x = weft.linalg.spsolve(A, b)  # SciPy's direct solver
L = weft.linalg.splu(A)  # SciPy's factorisation, to solve again and again
values = weft.linalg.eigsh(A + A.T, k=3, sigma=0, return_eigenvectors=False)
count, labels = weft.csgraph.connected_components(A)
S = weft.to_scipy(A)  # a scipy.sparse.csr_array over the same memory
```

For scikit-learn the one call that always works is `weft.to_scipy`: `LogisticRegression().fit(weft.to_scipy(A), y)`.
With `sklearn.set_config(array_api_dispatch=True)`, and `SCIPY_ARRAY_API=1` in the environment before SciPy is
imported, estimators that follow the array API standard take tensors themselves. Of those tried:

"""
MIDDLE = """
`linalg.svd`, `qr`, `solve` and the like need every element: they are NumPy's for tensors of format `dense`, and
raise for others.

## What was tried

Each line is code that works with the package's own matrices or arrays. *As it is* says what it does with a tensor `A`
in csr (`F` is dense, `P` symmetric, `L` triangular, `S` a csr_array, `w` a `sparse.COO`), and *handed over* what it
does with `weft.to_scipy(A)`, or for pydata/sparse with `A.to_pydata_sparse()`.
"""


def shown(outcome: str) -> str:
    name, _, message = outcome.partition(":")
    if outcome == "works" or not outcome:
        return outcome
    if not hasattr(weft.errors, name):
        return f"`{name}`, the package's own"
    ways = [way for way in ("to_scipy_sparse", "to_pydata_sparse", "todense", "weft.linalg") if way in message]
    return f"`{name}`, which names {' and '.join(f'`{way}`' for way in ways)}"


@pytest.fixture(scope="module")
def estimators() -> dict[str, dict[str, str]]:
    """What each estimator of scikit-learn does with tensors, by format."""
    pytest.importorskip("sklearn")
    command = [sys.executable, str(HERE / "estimators.py"), "dense", "csr"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, str]] = {"dense": {}, "csr": {}}
    for line in run.stdout.splitlines():
        format, name, outcome = line.split("\t")
        found[format][name] = outcome
    return found


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, str, str, str]]:
    for package in ("networkx", "pandas", "sklearn", "sparse"):
        pytest.importorskip(package)
    from operations import outcomes

    return list(outcomes())


def test_estimators(estimators):
    assert len(estimators["dense"]) >= 20
    assert {*estimators["dense"].values()} == {"works"}
    refused = {name: text for name, text in estimators["csr"].items() if text != "works"}
    assert all("needs every element" in text and "weft.linalg" in text for text in refused.values()), refused
    assert len(refused) < 3


def test_every_failure_says_what_to_do(rows):
    """But for those of checks of other packages, which ask no tensor anything: these work with what is handed over."""
    for _, line, direct, handed in rows:
        assert direct == "works" or handed == "works" or "todense()" in direct or "weft.linalg." in direct, line
        assert not direct.startswith("gives"), f"{line} {direct}"


def test_the_page(request, rows, estimators):
    lines = [INTRODUCTION + "| estimator or function | format dense | format csr |", "|---|---|---|"]
    for name, dense in estimators["dense"].items():
        lines.append(f"| {name} | {shown(dense)} | {shown(estimators['csr'][name])} |")
    lines.append(MIDDLE.rstrip("\n"))
    for package, title in TITLES.items():
        lines += ["", f"### {title}", "", "| code | as it is | handed over |", "|---|---|---|"]
        for _, line, direct, handed in (row for row in rows if row[0] == package):
            lines.append(f"| `{line.replace('|', chr(92) + '|')}` | {shown(direct)} | {shown(handed)} |")
    text = "\n".join(lines) + "\n"
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text
