"""
PageRank of a network
=====================

Which hosts of a peer-to-peer network are pointed at by important hosts? PageRank answers with the fixed point of
a product with the adjacency matrix.
"""

# %%
# The network
# -----------
# The graph is p2p-Gnutella31 of the SuiteSparse Matrix Collection: an entry at ``(i, j)`` for each link from host
# ``i`` to host ``j``.
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import weft
from example_data import matrix, power_law_graph

A = matrix("p2p-Gnutella31", lambda: power_law_graph(60_000, 150_000))
print(repr(A))

# %%
# One step
# --------
# A host passes its rank on in equal parts. The rank of hosts without links goes to everybody. ``w`` holds one part of
# each host: 1 divided by its number of links, or 0.
#
# The step is one line of index notation. SciPy needs two: ``p * w`` first, then the product with the transpose.
n = A.shape[0]
links = np.asarray(A.sum(axis=1))
w = np.divide(1.0, links, out=np.zeros(n), where=links > 0)
step = "q(j) = A(i,j)*p(i)*w(i)"


def pagerank(damping=0.85, tolerance=1e-10):
    p = np.full(n, 1 / n)
    changes = []
    while not changes or changes[-1] > tolerance:
        passed = weft.evaluate(step, A=A, p=p, w=w)
        q = damping * (passed + p[links == 0].sum() / n) + (1 - damping) / n
        changes.append(np.abs(q - p).sum())
        p = q
    return p, changes


rank, changes = pagerank()
print(f"{len(changes)} steps, ranks sum to {rank.sum():.6f}")
print("highest:", np.argsort(rank)[::-1][:5])

# %%
# The same with SciPy
# -------------------
S = weft.to_scipy(A)
p = np.full(n, 1 / n)
for _ in changes:
    p = 0.85 * (S.T @ (p * w) + p[links == 0].sum() / n) + 0.15 / n
assert sp.issparse(S)
assert np.allclose(rank, p)

# %%
# How weft computes the step
# --------------------------
# The report says that the matrix is walked once, row by row, in the format that it has. No transpose is made.
print(weft.explain(step, A=A, p=rank, w=w))

# %%
# Rank and number of incoming links
# ---------------------------------
# Many links help. Links from important hosts help more: ranks of hosts with equally many links differ widely.
incoming = np.asarray(A.sum(axis=0))
fig, ax = plt.subplots(figsize=(6, 4.4))
ax.scatter(incoming + 1, rank, s=6, alpha=0.3, c=np.log(rank), cmap="viridis")
ax.set(
    xscale="log",
    yscale="log",
    xlabel="incoming links + 1",
    ylabel="PageRank",
    title="rank of each host",
)
fig.tight_layout()

# %%
# Convergence
# -----------
# Each step changes the ranks less than the step before it.
fig, ax = plt.subplots(figsize=(6, 4))
ax.semilogy(changes, "o-", ms=3)
ax.set(xlabel="step", ylabel="change of all ranks", title="convergence")
fig.tight_layout()
