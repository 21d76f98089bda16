"""
Matrix completion: sampled products
===================================

Which ratings would users give to movies that they have not seen? Matrix completion fits two thin matrices to the
ratings that are there. The product of both is needed at those places only.
"""

# %%
# Ratings
# -------
# MovieLens 100k has 100,000 ratings of 943 users and 1,682 movies, one in 16 of what there could be. Every tenth is put
# aside to test with. ``M`` has a 1 for each rating that is used.
import matplotlib.pyplot as plt
import numpy as np

import weft
from example_data import ratings

T = ratings()
user, movie, _ = T.coords
test = np.random.default_rng(0).random(T.nnz) < 0.1
coords = np.stack([user, movie])[:, ~test]
mean = T.data[~test].mean()
R = weft.from_coords(coords, T.data[~test] - mean, shape=T.shape[:2], format="csr")
M = weft.from_coords(coords, np.ones(R.nnz), shape=R.shape, format="csr")
print(repr(R), f"mean {mean:.2f}")

# %%
# The error at the ratings
# ------------------------
# ``M(i,j)*U(i,k)*V(j,k)`` is the product ``U @ V.T`` at the entries of ``M``: a sampled product, or SDDMM. The
# difference from the ratings belongs to the same expression, so that one kernel makes it. The result is as sparse as
# ``R``.
error = "E(i,j) = R(i,j) - M(i,j)*U(i,k)*V(j,k)"
rank = 6
rng = np.random.default_rng(1)
U, V = (
    0.1 * rng.standard_normal((R.shape[0], rank)),
    0.1 * rng.standard_normal((R.shape[1], rank)),
)
E = weft.evaluate(error, R=R, M=M, U=U, V=V)
print(repr(E))
print(weft.explain(error, R=R, M=M, U=U, V=V))

# %%
# SciPy needs the whole product, 1.6 million elements, or a loop over the features.
assert np.allclose(
    E.todense(), (weft.to_scipy(R) - weft.to_scipy(M).multiply(U @ V.T)).toarray()
)

# %%
# Gradient descent
# ----------------
# The gradients are two products with the sparse error. ``E.T`` is a view: nothing is copied. The momentum makes up for
# the simple method.
U_test, V_test = user[test], movie[test]
steps_U, steps_V = np.zeros_like(U), np.zeros_like(V)
curves = []
for _ in range(150):
    E = weft.evaluate(error, R=R, M=M, U=U, V=V)
    predicted = np.clip(mean + np.einsum("ek,ek->e", U[U_test], V[V_test]), 1, 5)
    curves.append(
        [
            np.sqrt(np.mean(E.data**2)),
            np.sqrt(np.mean((predicted - T.data[test]) ** 2)),
        ]
    )
    steps_U = 0.9 * steps_U + 0.001 * (E @ V - 3 * U)
    steps_V = 0.9 * steps_V + 0.001 * (E.T @ U - 3 * V)
    U, V = U + steps_U, V + steps_V
curves = np.array(curves)
print(
    "root mean square error of the ratings put aside: "
    f"{curves[0, 1]:.3f} at first, {curves[-1, 1]:.3f} at the end"
)
assert curves[-1, 1] < 0.96 * curves[0, 1]

# %%
# Error by step
# -------------
fig, ax = plt.subplots(figsize=(6, 4.2))
ax.plot(curves[:, 0], label="ratings used")
ax.plot(curves[:, 1], label="ratings put aside")
ax.set(xlabel="step", ylabel="root mean square error, stars", title="learning")
ax.legend()
fig.tight_layout()

# %%
# Predictions
# -----------
# The predicted stars for each rating that was put aside; the lines in the middle are medians.
fig, ax = plt.subplots(figsize=(6, 4.2))
predicted = np.clip(mean + np.einsum("ek,ek->e", U[U_test], V[V_test]), 1, 5)
ax.violinplot(
    [predicted[T.data[test] == star] for star in range(1, 6)],
    positions=range(1, 6),
    showmedians=True,
)
ax.set(xlabel="rating put aside", ylabel="prediction", title="predicted stars")
fig.tight_layout()
