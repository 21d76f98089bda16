"""
Tucker decomposition of a tensor with four axes
===============================================

A Tucker decomposition compresses each axis of a tensor to a few directions. Its work is products of the tensor with a
matrix along every axis but one.
"""

# %%
# Events with four axes
# ---------------------
# ICEWS14 lists political events: source, kind, target and day. The 80 most active sources and targets are kept, and
# days become weeks.
import matplotlib.pyplot as plt
import numpy as np

import weft
from example_data import tensor

events = tensor("tkg_ICEWS14", (7000, 230, 7000, 365), 90_000)
sources = np.sort(np.argsort(events.sum(axis=(1, 2, 3)).todense())[-80:])
targets = np.sort(np.argsort(events.sum(axis=(0, 1, 3)).todense())[-80:])
i, k, j, d = (chosen := events[sources][:, :, targets]).coords
counts = weft.from_coords(
    [i, k, j, d // 7],
    chosen.data,
    shape=(80, events.shape[1], 80, 53),
    format="csf",
)
X = weft.log1p(counts)
print(repr(X))

# %%
# Products along three axes
# -------------------------
# One kernel multiplies by three factors (TTMc). It keeps the tensor sparse, and makes nothing in between: unfolded as
# SciPy would need it, the tensor has 975,200 columns for 80 rows. Copies with another axis outermost serve the other
# axes. Without ``optimize=False``, ``einsum`` would multiply by one factor after the other, with a tensor in between
# each time.
letters, small = "ikjw", "pqrs"
ranks = (5, 5, 5, 3)
rng = np.random.default_rng(0)
factors = [
    np.linalg.qr(rng.random((n, r)))[0] for n, r in zip(X.shape, ranks, strict=True)
]


def product(axis):
    others = [a for a in range(4) if a != axis]
    inputs = ",".join([letters] + [letters[a] + small[a] for a in others])
    out = letters[axis] + "".join(small[a] for a in others)
    return f"{inputs}->{out}", copies[axis], *(factors[a] for a in others)


orders = [(a, *(b for b in range(4) if b != a)) for a in range(4)]
copies = [X.asformat("csf:" + ",".join(map(str, order))) for order in orders]
print(weft.explain(*product(3), format="dense"))

# %%
# A check against NumPy:
P = weft.einsum(*product(3), format="dense", optimize=False)
i, k, j, w = X.coords
expected = np.zeros(P.shape)
rows = [factors[a][c] for a, c in enumerate((i, k, j))]
np.add.at(expected, w, np.einsum("e,ep,eq,er->epqr", X.data, *rows))
assert np.allclose(P, expected)

# %%
# Higher-order orthogonal iteration
# ---------------------------------
# Each factor becomes the leading singular vectors of the product with the others. The size of the core says how much of
# the tensor is captured.
norm = np.linalg.norm(X.data)
captured = []
for _ in range(6):
    for axis in range(4):
        P = weft.einsum(*product(axis), format="dense", optimize=False)
        factors[axis] = np.linalg.svd(
            P.reshape(X.shape[axis], -1), full_matrices=False
        )[0][:, : ranks[axis]]
    core = np.einsum("wpqr,ws->pqrs", P, factors[3])
    captured.append(np.linalg.norm(core) / norm)
print("part of the norm that is captured:", np.round(captured, 3))
print(
    f"{X.nnz} numbers with coordinates in the tensor, "
    f"{core.size + sum(f.size for f in factors)} in the decomposition"
)
assert captured[-1] >= captured[0]

# %%
# The core
# --------
fig, ax = plt.subplots(figsize=(5.4, 4.6))
image = ax.imshow(np.linalg.norm(core, axis=(1, 3)), cmap="magma_r")
ax.set(
    xlabel="direction of targets",
    ylabel="direction of sources",
    title="size of the core",
)
fig.colorbar(image, shrink=0.8)
fig.tight_layout()

# %%
# Directions of weeks
# -------------------
# The first direction is the mean activity; the others are changes of it.
fig, ax = plt.subplots(figsize=(7, 4))
for s in range(ranks[3]):
    ax.plot(
        factors[3][:52, s] * np.sign(factors[3][:, s].sum()),
        label=f"direction {s + 1}",
    )
ax.set(xlabel="week", ylabel="weight", title="directions of weeks")
ax.legend()
fig.tight_layout()
