"""
An elastic beam in blocks: bsr
==============================

How far does a beam bend under its weight? Finite elements give each node two unknowns, and the stiffness matrix
consists of blocks of 2 x 2.
"""

# %%
# One element
# -----------
# The beam is a grid of squares. The stiffness of one square is an 8 x 8 matrix: an integral over the square, here of
# four points.
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

nx, ny, poisson = 60, 10, 0.3
elastic = np.array(
    [[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]]
) / (1 - poisson**2)
corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
square = np.zeros((8, 8))
for s, t in np.array(corners) / np.sqrt(3):
    slopes = (
        np.stack(
            [
                corners[:, 0] * (1 + t * corners[:, 1]),
                corners[:, 1] * (1 + s * corners[:, 0]),
            ]
        )
        / 4
        * 2
    )
    strain = np.zeros((3, 8))
    strain[0, ::2], strain[1, 1::2] = slopes
    strain[2, ::2], strain[2, 1::2] = slopes[::-1]
    square += strain.T @ elastic @ strain / 4

# %%
# The matrix of all elements
# --------------------------
# Each square adds its 64 values at the places of its nodes. ``from_coords`` adds up what meets at one place, and makes
# blocks.
node = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)
nodes = np.stack(
    [node[:-1, :-1], node[:-1, 1:], node[1:, 1:], node[1:, :-1]], axis=-1
).reshape(-1, 4)
unknowns = (2 * nodes[:, :, None] + np.arange(2)).reshape(-1, 8)
rows, columns = (
    np.repeat(unknowns, 8, axis=1).ravel(),
    np.tile(unknowns, (1, 8)).ravel(),
)
values = np.tile(square.ravel(), len(nodes))
size = 2 * node.size
K = weft.from_coords(
    [rows, columns], values, shape=(size, size), format="csr"
).asformat("bsr", blocksize=(2, 2))
print(repr(K))

csr = K.asformat("csr")
print(f"bsr {K.nbytes / 1e3:.0f} kB, csr {csr.nbytes / 1e3:.0f} kB")
assert np.allclose(K.todense(), sp.coo_array((values, (rows, columns))).toarray())

# %%
# The loops of a product: rows of blocks, then blocks, then a 2 x 2 product whose size the C compiler knows.
print(weft.explain("y(i) = A(i,j)*x(j)", A=K, x=np.ones(size)))

# %%
# Bending
# -------
# The left end is held. The slice of the free unknowns is solved with conjugate gradients.
held = np.unique((2 * node[:, 0, None] + np.arange(2)).ravel())
free = np.setdiff1d(np.arange(size), held)
weight = np.zeros(size)
weight[1::2] = -2e-5
matrix = csr[free][:, free]
moved = np.zeros(size)
moved[free], info = sla.cg(matrix, weight[free], rtol=1e-10, maxiter=20_000)
assert info == 0
assert np.allclose(
    moved[free], sla.spsolve(weft.to_scipy(matrix).tocsc(), weight[free]), atol=1e-6
)
print(f"the free end moves down by {-moved[1::2].min():.2f} heights of a square")

# %%
# Stress
# ------
# The strain in the middle of each square follows from its eight unknowns. The colour is the stress along the beam.
slopes = corners.T / 4 * 2
strain = np.zeros((3, 8))
strain[0, ::2], strain[1, 1::2] = slopes
strain[2, ::2], strain[2, 1::2] = slopes[::-1]
stress = np.einsum("ab,bc,ec->ea", elastic, strain, moved[unknowns])[:, 0].reshape(
    ny, nx
)
x, y = np.meshgrid(np.arange(nx + 1.0), np.arange(ny + 1.0))
fig, ax = plt.subplots(figsize=(9, 3))
mesh = ax.pcolormesh(
    x + moved[::2].reshape(x.shape),
    y + moved[1::2].reshape(x.shape),
    stress,
    cmap="coolwarm",
    edgecolor="face",
)
ax.set(aspect="equal", xlabel="squares", title="the beam, bent")
fig.colorbar(mesh, shrink=0.6, label="stress along the beam")
fig.tight_layout()

# %%
# The matrix
# ----------
# The pattern of the matrix shows neighbours along the beam and across it.
fig, ax = plt.subplots(figsize=(4.5, 4.5))
weft.spy(K[:264, :264], ax=ax)
ax.set_title("stiffness of the first 132 nodes")
fig.tight_layout()
