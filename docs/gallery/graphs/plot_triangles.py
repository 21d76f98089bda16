"""
Triangles and clustering
========================

How many of one's contacts know each other? The answer counts triangles of the graph, and each triangle is a product of
three entries of the adjacency matrix.
"""

# %%
# A graph of emails
# -----------------
# The graph is email-Enron: an edge for each two people who wrote to each other. It is symmetric.
import matplotlib.pyplot as plt
import numpy as np

import weft
from example_data import matrix, power_law_graph


def symmetric_graph():
    G = power_law_graph(30_000, 150_000)
    return weft.maximum(G, G.T)


A = matrix("email-Enron", symmetric_graph)
print(repr(A))

# %%
# All triangles
# -------------
# In the lower triangle ``L`` of the matrix each triangle stands once, with its vertices in descending order. One
# ``einsum`` multiplies three entries wherever all three exist. No product of matrices is stored.
L = weft.tril(A, -1)
count = weft.einsum("ij,jk,ik->", L, L, L)
print(f"{count:.0f} triangles")

# %%
# SciPy multiplies two matrices first. Most entries of that product are thrown away by the mask.
S = weft.to_scipy(L)
product = S @ S
print(f"entries of the product: {product.nnz}, of the graph: {S.nnz}")
assert product.multiply(S).sum() == count

# %%
# Triangles of each vertex
# ------------------------
# The same expression with an index on the left counts them by vertex: each triangle of ``i`` is found twice, as
# ``(i, j, k)`` and ``(i, k, j)``.
triangles = weft.einsum("ij,jk,ik->i", A, A, A) / 2
degree = np.asarray(A.sum(axis=1))
pairs = degree * (degree - 1) / 2
clustering = np.divide(triangles, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
assert np.isclose(triangles.sum(), 3 * count)
print(
    "mean clustering coefficient of vertices with two edges or more: "
    f"{clustering[pairs > 0].mean():.3f}"
)

# %%
# How weft computes it
# --------------------
# The loops visit an edge ``(i, j)``, and then what the rows ``j`` and ``i`` have in common.
print(weft.explain("ij,jk,ik->i", A, A, A))

# %%
# People with few contacts
# ------------------------
# Contacts of people with few contacts know each other. Contacts of those with many rarely do.
fig, ax = plt.subplots(figsize=(7, 4.5))
shown = pairs > 0
image = ax.hexbin(
    degree[shown],
    clustering[shown],
    xscale="log",
    bins="log",
    gridsize=35,
    cmap="magma_r",
)
edges = np.unique(np.geomspace(2, degree.max() + 1, 15).round())
groups = np.digitize(degree, edges)
means = [
    clustering[groups == g].mean() if np.any(groups == g) else np.nan
    for g in range(1, len(edges))
]
ax.plot(
    np.sqrt(edges[:-1] * edges[1:]), means, "o-", color="tab:cyan", label="mean"
)
ax.set(
    xlabel="contacts",
    ylabel="share of pairs of contacts who know each other",
    title="clustering of each person",
)
ax.legend()
fig.colorbar(image, label="people")
fig.tight_layout()
