"""
Poisson's equation: a stencil in dia, and CG
============================================

How does heat spread from sources in a plate whose border is kept cold? The five-point stencil turns the question into a
system of linear equations, whose matrix has five diagonals.
"""

# %%
# The matrix
# ----------
# The stencil is built as with SciPy. In format dia a diagonal is stored as an array, without a coordinate for each
# entry.
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import weft

n = 80
second = weft.diags_array(
    [-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr"
)
A = weft.kronsum(second, second).asformat("dia")
print(
    repr(A),
    f"{A.nbytes / 1e3:.0f} kB; in csr {A.asformat('csr').nbytes / 1e3:.0f} kB",
)

# %%
# The loops of a product
# ----------------------
# ``j-i`` is the number of a diagonal. Rows are cut into tiles, so that a part of the result stays in the cache.
print(weft.explain("y(i) = A(i,j)*x(j)", A=A, x=np.ones(n * n)))

# %%
# Conjugate gradients
# -------------------
# SciPy's solver takes the tensor as it is and multiplies by weft's kernel. It is called with a callback that records
# the error of each step.
y, x = np.mgrid[0:n, 0:n] / n
heat = np.exp(-((x - 0.3) ** 2 + (y - 0.35) ** 2) / 0.002) - 0.7 * np.exp(
    -((x - 0.7) ** 2 + (y - 0.6) ** 2) / 0.004
)
b = heat.ravel()
residuals = []
u, info = sla.cg(
    A, b, rtol=1e-8, callback=lambda v: residuals.append(np.linalg.norm(A @ v - b))
)
print(f"{len(residuals)} steps, residual {residuals[-1]:.1e}")
assert info == 0

# %%
# A direct solver needs SciPy's own arrays. ``weft.linalg.spsolve`` hands them over.
direct = weft.linalg.spsolve(A.asformat("csc"), b)
assert np.allclose(u, direct, atol=1e-5)
reference = sp.kronsum(
    *2 * [sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))]
)
assert np.allclose(A @ u, reference @ u)

# %%
# Temperature
# -----------
fig, ax = plt.subplots(figsize=(5.5, 4.6))
image = ax.imshow(
    u.reshape(n, n),
    origin="lower",
    cmap="RdBu_r",
    vmin=-abs(u).max(),
    vmax=abs(u).max(),
)
ax.contour(u.reshape(n, n), levels=14, colors="black", linewidths=0.4)
ax.set(xticks=[], yticks=[], title="temperature")
fig.colorbar(image)
fig.tight_layout()

# %%
# Convergence
# -----------
# After the first steps, the residual falls by about the same factor in each.
fig, ax = plt.subplots(figsize=(6, 4))
ax.semilogy(residuals)
ax.set(xlabel="step", ylabel="residual", title="conjugate gradients")
fig.tight_layout()
