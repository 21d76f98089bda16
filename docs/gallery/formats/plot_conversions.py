"""
Conversions between formats
===========================

How is a matrix brought from one format to another, and how long does it take? weft makes a conversion for each two
formats, and says beforehand in which steps.
"""

# sphinx_gallery_thumbnail_number = 2

# %%
# A matrix with blocks on diagonals
# ---------------------------------
import time

import matplotlib.pyplot as plt
import numpy as np

import weft

line = weft.diags_array(
    [1.0, 2.0, 1.0], offsets=[-1, 0, 1], shape=(2500, 2500), format="csr"
)
A = weft.kron(line, np.ones((4, 4))).asformat("csr")
print(repr(A))
fig, ax = plt.subplots(figsize=(4, 4))
weft.spy(A[:80, :80], ax=ax)
ax.set_title("a corner of the matrix")
fig.tight_layout()

# %%
# The steps of a conversion
# -------------------------
# From csr to csc: entries are counted by column first, and then each goes to its place.
print(weft.explain(A.asformat, "csc"))

# %%
# The lines below the steps are the rules that come first, and why each does not apply here. From csr to dia a query
# finds the diagonals that have an entry; the first lines say so.
print("\n".join(weft.explain(A.asformat, "dia").splitlines()[:4]))

# %%
# All pairs
# ---------
# The matrix is stored in each format and converted to each other. Every result is compared with the original.
formats = ["csr", "csc", "coo", "dia", "bsr"]


def convert(B, form):
    return B.asformat(form, blocksize=(4, 4)) if form == "bsr" else B.asformat(form)


weft.set_num_threads(1)  # as SciPy
x = np.arange(A.shape[1], dtype=float)
expected = A @ x
times = np.full((len(formats), len(formats)), np.nan)
for s, source in enumerate(formats):
    B = convert(A, source)
    for t, target in enumerate(formats):
        if source == target:
            continue
        runs = []
        for _ in range(5):
            begin = time.perf_counter()
            C = convert(B, target)
            runs.append(time.perf_counter() - begin)
        assert np.allclose(C @ x, expected)
        times[s, t] = 1e3 * np.median(runs[1:])

# %%
# SciPy's conversion from csr to csc, in milliseconds, beside weft's:
S = weft.to_scipy(A)
begin = time.perf_counter()
S.tocsc()
print(f"SciPy {1e3 * (time.perf_counter() - begin):.2f}, weft {times[0, 1]:.2f}")

# %%
# Times of all pairs
# ------------------
# Times are those of one run on the machine that built this page.
fig, ax = plt.subplots(figsize=(5.6, 4.8))
image = ax.imshow(times, cmap="viridis_r", norm="log")
for (s, t), value in np.ndenumerate(times):
    ax.text(
        t,
        s,
        "" if np.isnan(value) else f"{value:.2f}",
        ha="center",
        va="center",
        color="black",
        fontweight="bold",
    )
ax.set_xticks(range(len(formats)), formats)
ax.set_yticks(range(len(formats)), formats)
ax.set(xlabel="to", ylabel="from", title="milliseconds")
fig.colorbar(image)
fig.tight_layout()
