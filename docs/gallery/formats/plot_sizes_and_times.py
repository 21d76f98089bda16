"""
One matrix in many formats
==========================

How much memory does a matrix take in each format, and how long does a product with a vector take? The answer depends on
where the entries are.
"""

# %%
# Three matrices
# --------------
# A stencil has few diagonals, a stiffness matrix has blocks, and the graph of a network has rows of very different
# lengths.
import time

import matplotlib.pyplot as plt
import numpy as np

import weft
from example_data import matrix, power_law_graph

line = weft.diags_array(
    [-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr"
)
band = weft.diags_array(
    [1.0] * 41, offsets=np.arange(-20, 21), shape=(1600, 1600), format="csr"
)
matrices = {
    "stencil": weft.kronsum(line, line),
    "stiffness": matrix("bcsstk16", lambda: weft.kron(band, np.ones((3, 3)))),
    "network": matrix("p2p-Gnutella31", lambda: power_law_graph(60_000, 150_000)),
}
for name, A in matrices.items():
    print(f"{name:9} {A.shape[0]} rows, {A.nnz} entries")

# %%
# Bytes and times
# ---------------
# Every format computes with every other, so that the same line multiplies in all of them. A format that would take more
# than ten times the memory of csr is left out: a network has an entry on nearly every diagonal.
formats = ["csr", "csc", "coo", "dia", "ell", "bsr", "csb"]
weft.set_num_threads(1)  # as SciPy


def milliseconds(function, repeat=15):
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return 1e3 * np.median(times)


sizes, times = {}, {}
for name, A in matrices.items():
    x = np.ones(A.shape[1])
    diagonals = weft.query(A, "select [j-i] -> id() as nz")["nz"].sum()
    longest = weft.query(A, "select [i] -> count(j) as n")["n"].max()
    slots = {"dia": diagonals * A.shape[1], "ell": longest * A.shape[0]}
    for form in formats:
        if slots.get(form, 0) > 10 * A.nnz:
            continue
        options = {"blocksize": (3, 3)} if form == "bsr" else {}
        B = A.asformat(form, **options)
        assert np.allclose(B @ x, A @ x, atol=1e-12 * abs(A).max())
        sizes[name, form] = B.nbytes / A.nnz
        times[name, form] = milliseconds(lambda B=B, x=x: B @ x)

print("bytes for each entry")
print(" " * 9, *(f"{form:>6}" for form in formats))
for name in matrices:
    print(
        f"{name:9}",
        *(
            f"{sizes[name, form]:6.1f}" if (name, form) in sizes else "     -"
            for form in formats
        ),
    )

# %%
# SciPy has csr, csc, coo, dia and bsr among these. The time of its csr is the line to compare with.
scipy_times = {}
for name, A in matrices.items():
    S, x = weft.to_scipy(A), np.ones(A.shape[1])
    scipy_times[name] = milliseconds(lambda S=S, x=x: S @ x)

# %%
# The picture
# -----------
# Times are those of one run on the machine that built this page. ``weft.query`` above counted diagonals and the longest
# row without making the format.
fig, axes = plt.subplots(2, 3, figsize=(11, 5.5), sharex=True)
for (top, bottom), name in zip(axes.T, matrices, strict=True):
    for k, form in enumerate(formats):
        if (name, form) in sizes:
            top.bar(k, sizes[name, form], color=f"C{k}")
            bottom.bar(k, times[name, form], color=f"C{k}")
        else:
            for ax in (top, bottom):
                ax.text(
                    k,
                    0.04,
                    "too large",
                    rotation=90,
                    ha="center",
                    color="grey",
                    transform=ax.get_xaxis_transform(),
                )
    bottom.axhline(scipy_times[name], color="tab:pink", ls=":", label="SciPy, csr")
    bottom.set_xticks(range(len(formats)), formats)
    top.set_title(name)
axes[0, 0].set_ylabel("bytes for each entry")
axes[1, 0].set_ylabel("A @ x, milliseconds")
axes[1, 0].legend()
fig.tight_layout()
