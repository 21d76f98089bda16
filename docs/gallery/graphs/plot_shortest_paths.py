"""
Shortest paths over hills: min-plus
===================================

How long does a walk over hilly country take? With ``+`` in place of the product and ``min`` in place of the sum, a
product of matrix and vector is one step of the Bellman-Ford algorithm.
"""

# %%
# Hills, and a matrix of times
# ----------------------------
# A square of 100 x 100 points has a height at each point. Each point is joined with its eight neighbours; the time of a
# step grows with its length and its slope. The matrix of times has the fill value infinity: what is not stored cannot
# be walked.
import itertools

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph

import weft

n = 100
y, x = np.mgrid[0:n, 0:n] / n
rng = np.random.default_rng(3)
height = sum(
    a * np.exp(-((x - u) ** 2 + (y - v) ** 2) / s)
    for a, u, v, s in zip(
        *rng.random((3, 25)), rng.uniform(0.002, 0.01, 25), strict=True
    )
)
number = np.arange(n * n).reshape(n, n)

rows, columns, times = [], [], []
for di, dj in [(0, 1), (1, 0), (1, 1), (1, -1)]:
    here = (slice(0, n - di), slice(max(0, -dj), n - max(0, dj)))
    there = (slice(di, n), slice(max(0, dj), n + min(0, dj)))
    time = np.hypot(np.hypot(di, dj), 40 * (height[there] - height[here]))
    rows += [number[here], number[there]]
    columns += [number[there], number[here]]
    times += [time, time]
coords = [
    np.concatenate([part.ravel() for part in parts]) for parts in (rows, columns)
]
values = np.concatenate([time.ravel() for time in times])
W = weft.from_coords(
    coords, values, shape=(n * n, n * n), fill_value=np.inf, format="csr"
)
print(repr(W))

# %%
# Bellman-Ford in one line
# ------------------------
# ``min(i, d(i) + W(i,j))`` is the best time to ``j`` over all last steps from ``i``. It is repeated until nothing
# changes.
step = "e(j) = min(i, d(i) + W(i,j))"
source = number[8, 8]
d = np.full(n * n, np.inf)
d[source] = 0
steps = 0
while True:
    e = np.minimum(d, weft.evaluate(step, d=d, W=W))
    steps += 1
    if np.array_equal(d, e):
        break
    d = e
print(f"{steps} steps, the farthest point takes {d.max():.1f}")

# %%
# SciPy has this algorithm as a function, ``scipy.sparse.csgraph.dijkstra``. For one source it is the faster one; weft's
# line can be changed: ``max(i, minimum(d(i), W(i,j)))`` are the widest paths, and so on.
S = sp.csr_array((values, coords), shape=W.shape)
assert np.allclose(d, scipy.sparse.csgraph.dijkstra(S, indices=source))
print(weft.explain(step, d=d, W=W))

# %%
# The way back
# ------------
# From the goal, the predecessor is the neighbour over which the best time is reached. A row of ``W`` holds the
# neighbours.
goal = number[90, 85]
path = [goal]
while path[-1] != source:
    (neighbours,), cost = W[path[-1]].coords, W[path[-1]].data
    path.append(neighbours[np.argmin(d[neighbours] + cost)])
assert np.isclose(sum(W[i, j] for i, j in itertools.pairwise(path)), d[goal])

# %%
# Times and the path
# ------------------
fig, ax = plt.subplots(figsize=(6.5, 5.5))
shade = ax.imshow(d.reshape(n, n), cmap="viridis", origin="lower")
ax.contour(height, colors="white", linewidths=0.6, levels=9)
ax.plot(np.array(path) % n, np.array(path) // n, color="tab:red", lw=2.5)
ax.plot(*[[source % n, goal % n], [source // n, goal // n]], "o", color="tab:red")
ax.set(title="time from the lower left, heights in white", xticks=[], yticks=[])
fig.colorbar(shade, label="time")
fig.tight_layout()
