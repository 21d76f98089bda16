"""
CP decomposition with MTTKRP
============================

Who did what, and when? A table of events has three axes: source, kind and week. The CP decomposition writes it as a sum
of few outer products, and so finds groups of sources that did certain things at certain times.
"""

# %%
# The tensor
# ----------
# ICEWS14 lists political events of a year: source, kind, target and day. The sum over the targets leaves three axes;
# the 60 most active sources are kept. Days become weeks: equal coordinates are added up. Logarithms keep the most
# frequent events from deciding everything.
import matplotlib.pyplot as plt
import numpy as np

import weft
from example_data import tensor

events = weft.einsum(
    "ikjd->ikd", tensor("tkg_ICEWS14", (7000, 230, 7000, 365), 90_000)
)
active = np.sort(np.argsort(events.sum(axis=(1, 2)).todense())[-60:])
i, k, d = (chosen := events[active]).coords
counts = weft.from_coords(
    [i, k, d // 7], chosen.data, shape=(60, events.shape[1], 53), format="csf"
)
X = weft.log1p(counts)
print(repr(X), f"{X.nbytes / 1e3:.0f} kB")

# %%
# MTTKRP in one kernel
# --------------------
# The update of a factor needs ``X(i,k,w)*B(k,r)*C(w,r)``, summed over ``k`` and ``w``. SciPy has no tensors: there
# one makes a matrix with a row for each pair of rows of ``B`` and ``C``.
#
# Copies with another axis outermost serve the other factors: each kernel then walks its copy in the order in which it
# is stored. The report's line on ``i`` says that rows without an event are visited too, since the result holds zeros
# there.
mttkrp = ["ikw,kr,wr->ir", "ikw,ir,wr->kr", "ikw,ir,kr->wr"]
copies = [X, X.asformat("csf:1,0,2"), X.asformat("csf:2,0,1")]
rank = 6
rng = np.random.default_rng(0)
factors = [rng.random((n, rank)) for n in X.shape]
print(weft.explain(mttkrp[0], copies[0], factors[1], factors[2], format="dense"))

i, k, w = X.coords
expected = np.zeros((X.shape[0], rank))
np.add.at(expected, i, factors[1][k] * factors[2][w] * X.data[:, None])
assert np.allclose(
    weft.einsum(
        mttkrp[0], copies[0], factors[1], factors[2], format="dense", optimize=False
    ),
    expected,
)

# %%
# Alternating steps
# -----------------
# Each step multiplies a factor by the ratio of what it should give to what it gives. Such steps keep factors positive,
# which makes them easy to read.
square = (X.data**2).sum()
explained = []
for _ in range(100):
    for axis in range(3):
        others = [factors[a] for a in range(3) if a != axis]
        wanted = weft.einsum(
            mttkrp[axis], copies[axis], *others, format="dense", optimize=False
        )
        gram = (others[0].T @ others[0]) * (others[1].T @ others[1])
        factors[axis] *= wanted / np.maximum(factors[axis] @ gram, 1e-12)
    model = ((factors[2].T @ factors[2]) * gram).sum()
    explained.append(
        1 - (square - 2 * (wanted * factors[2]).sum() + model) / square
    )
print(
    f"share of the squares explained: {explained[0]:.2f} after one sweep, "
    f"{explained[-1]:.2f} after {len(explained)}"
)
assert explained[-1] > explained[0]

# %%
# The parts
# ---------
# A row of the picture is a part: the kinds of events that it consists of.
for factor in factors[:2]:
    scale = np.linalg.norm(factor, axis=0)
    factor /= scale
    factors[2] *= scale
fig, ax = plt.subplots(figsize=(6, 4.4))
frequent = np.sort(np.argsort(factors[1].max(axis=1))[-30:])
image = ax.imshow(factors[1][frequent].T, cmap="magma_r", aspect="auto")
ax.set(
    xlabel="kind of event",
    ylabel="part",
    xticks=range(0, 30, 3),
    xticklabels=frequent[::3],
    title="what",
)
fig.colorbar(image)
fig.tight_layout()

# %%
# When each part was active
# -------------------------
# A column of the third factor is the weight of a part in each week.
fig, ax = plt.subplots(figsize=(7, 4))
ax.plot(factors[2][:52])
ax.set(xlabel="week", ylabel="weight", title="when")
ax.legend([f"part {r}" for r in range(rank)], ncols=2, fontsize="small")
fig.tight_layout()
