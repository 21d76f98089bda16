"""
Blur and sharpen an image
=========================

A blurred photograph is a product of the sharp one with two banded matrices, one for rows and one for columns. To
sharpen it is to solve for the sharp one.
"""

# %%
# A picture and a blur
# --------------------
# Each pixel of the blurred picture is a weighted mean of 17 x 17 pixels. The weights are products, so that a matrix
# of 17 diagonals for each direction says it all.
import matplotlib.pyplot as plt
import numpy as np
import scipy.ndimage
import scipy.sparse.linalg as sla

import weft

n = 160
fig = plt.figure(figsize=(2, 2), dpi=n / 2)
fig.text(0.5, 0.62, "weft", ha="center", va="center", fontsize=44, weight="bold")
fig.text(0.5, 0.28, "sparse tensors", ha="center", va="center", fontsize=15)
fig.canvas.draw()
sharp = 1 - np.asarray(fig.canvas.buffer_rgba())[:, :, 0] / 255
plt.close(fig)

offsets = np.arange(-8, 9)
weights = np.exp(-(offsets**2) / (2 * 2.5**2))
weights /= weights.sum()
B = weft.diags_array(list(weights), offsets=offsets, shape=(n, n), format="dia")
print(repr(B))

# %%
# One expression
# --------------
# ``Y(i,j) = B(i,k)*X(k,l)*B(j,l)`` blurs along both axes; with SciPy this is ``S @ X @ S.T``. ``einsum`` finds that two
# products, one after the other, cost least.
blurred = weft.einsum("ik,kl,jl->ij", B, sharp, B)
S = weft.to_scipy(B)
assert np.allclose(blurred, S @ sharp @ S.T)
assert np.allclose(
    blurred,
    scipy.ndimage.correlate(sharp, np.outer(weights, weights), mode="constant"),
)
path, report = weft.einsum_path("ik,kl,jl->ij", B, sharp, B)
print(path)
print(report)

# %%
# Sharpen
# -------
# Noise makes the plain solution useless. Least squares with a small penalty is damped; SciPy's ``lsqr`` asks for
# products alone.
rng = np.random.default_rng(0)
seen = blurred + 0.005 * rng.standard_normal(blurred.shape)


def blur(x):
    return weft.einsum("ik,kl,jl->ij", B, x.reshape(n, n), B).ravel()


# the weights are symmetric
operator = sla.LinearOperator((n * n, n * n), matvec=blur, rmatvec=blur)
found = sla.lsqr(operator, seen.ravel(), damp=0.02, iter_lim=150)[0].reshape(n, n)


def error(x):
    return np.linalg.norm(x - sharp) / np.linalg.norm(sharp)


print(
    f"distance from the sharp picture: {error(seen):.2f} blurred, "
    f"{error(found):.2f} sharpened"
)
assert error(found) < error(seen)

# %%
# Before and after
# ----------------
fig, axes = plt.subplots(1, 3, figsize=(10, 3.6))
for ax, picture, title in zip(
    axes,
    (sharp, seen, found),
    ("sharp", "blurred, with noise", "sharpened"),
    strict=True,
):
    ax.imshow(picture, cmap="gray_r", vmin=0, vmax=1)
    ax.set(title=title, xticks=[], yticks=[])
fig.tight_layout()
