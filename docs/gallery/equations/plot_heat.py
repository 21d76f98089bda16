"""
The heat equation with a banded matrix
======================================

A rod is heated at two places. How does its temperature change over time? Each step of an implicit method multiplies by
a banded matrix and solves with another.
"""

# %%
# Crank and Nicolson's method
# ---------------------------
# The matrix of second differences has three diagonals. Format banded stores each row from its first entry to its last,
# with one coordinate a row.
import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg

import weft

n, dt = 400, 2e-5
D = weft.diags_array(
    [1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr"
) * (n**2)
identity = weft.eye(n, format="csr")
forward = (identity + dt / 2 * D).asformat("banded")
backward = identity - dt / 2 * D
print(repr(forward))
print(forward[:4, :6].todense().round(2))

# %%
# Factors once, steps often
# -------------------------
# ``weft.linalg.splu`` is SciPy's factorisation. It is made once; each step multiplies and solves.
solver = weft.linalg.splu(backward.asformat("csc"))
step = weft.compile("y(i) = A(i,j)*u(j)", A=forward.layout, u="dense", y="dense")
x = np.linspace(0, 1, n)
u = np.where(np.abs(x - 0.3) < 0.05, 1.0, 0.0) + np.where(
    np.abs(x - 0.7) < 0.1, 0.6, 0.0
)
frames = [u]
for _ in range(600):
    u = solver.solve(np.asarray(step(forward, u)))
    frames.append(u)
frames = np.array(frames)
print(
    f"warmest at the start {frames[0].max():.2f}, at the end {frames[-1].max():.2f}"
)

# %%
# SciPy solves banded systems with LAPACK, which wants the bands in an array of its own layout.
bands = np.zeros((3, n))
bands[0, 1:], bands[1], bands[2, :-1] = (
    np.asarray(weft.diagonal(backward, k).todense()) for k in (1, 0, -1)
)
v = frames[0]
for _ in range(600):
    v = scipy.linalg.solve_banded((1, 1), bands, weft.to_scipy(forward) @ v)
assert np.allclose(u, v)

# %%
# The cost of the product
# -----------------------
print(step.explain())

# %%
# Temperature over time
# ---------------------
fig, ax = plt.subplots(figsize=(6, 4.4))
times = dt * np.arange(len(frames)) * 1e3
image = ax.imshow(
    frames,
    aspect="auto",
    origin="lower",
    extent=(0, 1, 0, times[-1]),
    cmap="inferno",
)
ax.set(xlabel="place", ylabel="time / 1000", title="temperature of the rod")
fig.colorbar(image)
fig.tight_layout()

# %%
# The temperature at five times
# -----------------------------
# The steps at the start are smoothed first.
fig, ax = plt.subplots(figsize=(6, 4))
for k in (0, 10, 50, 150, 600):
    ax.plot(
        x,
        frames[k],
        color=plt.cm.inferno(0.85 * (1 - (k / 600) ** 0.3)),
        label=f"{times[k]:.1f}",
    )
ax.set(xlabel="place", ylabel="temperature", title="at five times")
ax.legend(title="time / 1000")
fig.tight_layout()
