"""
Gradient descent: no formula but the loss
=========================================

Matrix completion with a rating for each user and movie on top: the model grows, and nobody derives its gradients anew.
``weft.value_and_grad`` computes them, at the ratings that are there.
"""

# %%
# Ratings
# -------
# MovieLens 100k has 100,000 ratings of 943 users and 1,682 movies. Every tenth is put aside to test with. ``M`` is true
# where a rating is used.
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
M = weft.from_coords(coords, np.ones(R.nnz), shape=R.shape, format="csr") != 0
print(repr(R), f"mean {mean:.2f}")

# %%
# The loss
# --------
# ``a(i)`` is how kind user ``i`` is, ``b(j)`` how good movie ``j`` is, and the product of ``U`` and ``V`` the taste.
# The last terms keep the numbers small.
loss = (
    "s = sum(i, j, square(M(i,j)*(R(i,j) - a(i) - b(j) - sum(k, U(i,k)*V(j,k))))) "
    "+ c*square(a(i)) + c*square(b(j)) + c*square(U(i,k)) + c*square(V(j,k))"
)
value_and_gradients = weft.value_and_grad(loss, wrt=["a", "b", "U", "V"])
print(weft.derivative(loss, "a"))

# %%
# Its gradient, checked
# ---------------------
# The slope in some direction is the difference of two values.
users, movies, rank = *R.shape, 6
rng = np.random.default_rng(1)
model = {
    "a": np.zeros(users),
    "b": np.zeros(movies),
    "U": 0.1 * rng.standard_normal((users, rank)),
    "V": 0.1 * rng.standard_normal((movies, rank)),
}
constants = {"R": R, "M": M, "c": 3.0}
_, gradients = value_and_gradients(**constants, **model)
direction = {name: rng.standard_normal(x.shape) for name, x in model.items()}
ahead, behind = (
    weft.evaluate(
        loss,
        **constants,
        **{name: x + h * direction[name] for name, x in model.items()},
    )
    for h in (1e-5, -1e-5)
)
slope = sum(np.sum(gradients[name] * direction[name]) for name in model)
print(f"slope {slope:.3f}, by a difference {(ahead - behind) / 2e-5:.3f}")
assert np.isclose(slope, (ahead - behind) / 2e-5, rtol=1e-5)

# %%
# Descent
# -------
# With momentum, as for the model that was derived by hand.
moves = {name: np.zeros_like(x) for name, x in model.items()}
curves = []
for _ in range(150):
    value, gradients = value_and_gradients(**constants, **model)
    for name, gradient in gradients.items():
        moves[name] = 0.9 * moves[name] - 0.0005 * gradient
        model[name] = model[name] + moves[name]
    a, b, U, V = model.values()
    guess = mean + a[user] + b[movie] + np.einsum("ek,ek->e", U[user], V[movie])
    wrong = np.clip(guess, 1, 5) - T.data
    curves.append([np.sqrt(np.mean(wrong[each] ** 2)) for each in (~test, test)])
curves = np.array(curves)
print(f"root mean square error of the ratings put aside: {curves[-1, 1]:.3f}")
assert curves[-1, 1] < 0.9 * curves[0, 1]

# %%
# Error by step
# -------------
fig, ax = plt.subplots(figsize=(6, 4))
for curve, name in zip(curves.T, ("used", "put aside"), strict=True):
    ax.plot(curve, label=f"ratings {name}")
ax.set(
    xlabel="step", ylabel="root mean square error", title="MovieLens 100k, rank 6"
)
ax.legend()
fig.tight_layout()
