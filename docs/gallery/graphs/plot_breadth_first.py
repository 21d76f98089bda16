"""
Breadth-first search with booleans
==================================

How many steps away is each vertex of a mesh? A product over ``and`` and ``or`` moves a set of vertices one step along
the edges; this is breadth-first search.
"""

# %%
# A mesh
# ------
# jagmesh7 of the SuiteSparse Matrix Collection is the graph of a finite element mesh. As booleans, the matrix says
# which vertices are neighbours.
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse.csgraph

import weft
from example_data import matrix


def grid():
    path = weft.diags_array(
        [1.0, 1.0], offsets=[-1, 1], shape=(32, 32), format="csr"
    )
    return weft.kronsum(path, path) + weft.eye(1024, format="csr")


A = matrix("jagmesh7", grid) != 0
print(repr(A))

# %%
# Step by step
# ------------
# The frontier is a sparse vector of booleans: only the vertices that were reached last are stored. ``any`` is the
# reduction by ``or``. Vertices that were seen before are left out by a mask.
n = A.shape[0]
frontier = weft.from_coords([[0]], [True], shape=(n,))
level = np.full(n, -1)
level[0] = 0
sizes = [1]
while frontier.nnz:
    reached = weft.evaluate("r(j) = any(i, f(i)*A(i,j))", f=frontier, A=A)
    (found,) = np.nonzero(reached)
    found = found[level[found] < 0]
    level[found] = len(sizes)
    sizes.append(len(found))
    frontier = weft.from_coords([found], np.ones(len(found), bool), shape=(n,))
print("vertices of each level:", sizes[:-1])

# %%
# SciPy has a function for this one algorithm, with lengths as floating point numbers.
lengths = scipy.sparse.csgraph.dijkstra(
    weft.to_scipy(A), indices=0, unweighted=True
)
assert np.array_equal(level, lengths)

# %%
# A picture of the mesh
# ---------------------
# The collection has no places of the vertices. Two eigenvectors of the graph's Laplacian make good ones. The solver is
# SciPy's, and takes the tensor through ``weft.linalg``.
G = weft.tril(A, -1).astype(float)
G = G + G.T
degree = np.asarray(G.sum(axis=1))
laplacian = weft.diags_array(degree, format="csr") - G
_, places = weft.linalg.eigsh(laplacian, k=3, sigma=-0.01, v0=np.ones(n))
x, y = places[:, 1], places[:, 2]
i, j = weft.triu(G).coords
fig, ax = plt.subplots(figsize=(6.5, 5.5))
ax.plot([x[i], x[j]], [y[i], y[j]], color="lightgrey", lw=0.5, zorder=0)
dots = ax.scatter(x, y, c=level, s=14, cmap="turbo")
ax.plot(x[0], y[0], "k*", ms=14)
ax.set(title="steps from the star", xticks=[], yticks=[], aspect="equal")
fig.colorbar(dots, label="level")
fig.tight_layout()
