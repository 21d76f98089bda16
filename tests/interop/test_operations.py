"""The page about other packages: it is made here, of what their functions do with tensors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import kernel_batches

import weft

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "how_to" / "interop.md"
TITLES = {
    "SciPy": "SciPy",
    "scikit-learn": "scikit-learn",
    "networkx": "networkx",
    "pandas": "pandas",
    "NumPy": "NumPy",
    "xarray": "xarray",
    "dask": "dask",
    "anndata": "anndata",
    "sparse": "pydata/sparse",
}
INTRODUCTION = """\
# What other packages take

<!-- the tables are made by tests/interop/test_operations.py: run it with --update-golden -->

| you use | pass | guide |
|---|---|---|
| NumPy's functions and ufuncs | the tensor | [which](../reference/array_api.md) |
| scikit-learn | `weft.to_scipy(A)` | [scikit-learn](scikit_learn.md) |
| SciPy's iterative solvers | the tensor | [SciPy's solvers](scipy_solvers.md) |
| SciPy's direct solvers | the tensor, to `weft.linalg` | [SciPy's solvers](scipy_solvers.md) |
| SciPy's graph algorithms | the tensor, to `weft.csgraph` | [SciPy's solvers](scipy_solvers.md#graphs) |
| networkx, pandas | the tensor | [networkx and pandas](networkx.md) |
| xarray | the tensor | [xarray](xarray.md) |
| dask | the tensor | [dask](dask.md) |
| files of many kinds | the tensor, to `weft.save` | [files](open_files.md) |
| anndata, scanpy | `weft.to_scipy(A)` | [anndata](anndata.md) |
| pydata/sparse | the tensor, or `A.to_pydata_sparse()` | [pydata/sparse](migrate_from_pydata_sparse.md) |

`weft.to_scipy(A)`, or `A.to_scipy()`, gives one of SciPy's sparse arrays. It shares memory with tensors in csr,
csc, coo, dia and bsr, and converts others. The functions of `weft.linalg` and `weft.csgraph` are SciPy's own, for
tensors of any format.

## scikit-learn by the array API standard

With `sklearn.set_config(array_api_dispatch=True)`, and `SCIPY_ARRAY_API=1` in the environment before SciPy is
imported, estimators that follow the array API standard take tensors themselves. Of those tried:

"""
MIDDLE = """
`linalg.svd`, `qr`, `solve` and the like need every element. They are NumPy's for tensors of format `dense`, and raise
for others.

## Code that was tried

Each line is code that works with the package's own matrices or arrays. Column *as it is* has the outcome for a tensor
`A` in csr, and *handed over* the outcome for `weft.to_scipy(A)`, or for pydata/sparse `A.to_pydata_sparse()`. In the
lines, `F` is a dense tensor, `P` symmetric and `L` triangular, `S` is a `csr_array` of SciPy and `w` a `sparse.COO`;
`R` is a `DataArray` and `D` a dask array over `A`, `C` an `AnnData` over `S` (version 0.12), `backed` the same in a
file.
"""


def shown(outcome: str) -> str:
    name, _, message = outcome.partition(":")
    if outcome == "works" or not outcome:
        return outcome
    if name.startswith("gives "):
        return "another result"
    if not hasattr(weft.errors, name):
        return f"`{name}`, the package's own"
    ways = [way for way in ("to_scipy", "to_pydata_sparse", "todense", "weft.linalg") if way in message]
    return f"`{name}`, which names {' and '.join(f'`{way}`' for way in ways)}"


@pytest.fixture(scope="module")
def estimators() -> dict[str, dict[str, str]]:
    """What each estimator of scikit-learn does with tensors, by format."""
    pytest.importorskip("sklearn")
    command = [sys.executable, str(HERE / "estimators.py"), "dense", "csr"]
    environ = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, str]] = {"dense": {}, "csr": {}}
    for line in run.stdout.splitlines():
        format, name, outcome = line.split("\t")
        found[format][name] = outcome
    return found


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, str, str, str]]:
    for package in (
        "anndata",
        "dask",
        "networkx",
        "pandas",
        "pyarrow",
        "sklearn",
        "sparse",
        "xarray",
    ):  # pandas does otherwise without pyarrow
        pytest.importorskip(package)
    from operations import outcomes

    return outcomes(kernel_batches.together)


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
