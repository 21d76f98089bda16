"""
Train a graph network in JAX
============================

Two members of Zachary's karate club say whose side they are on. A graph network learns from these two whose side all
others are on: weft computes the layers and their gradients, JAX the rest.
"""

# %%
# The club
# --------
# The weights of the edges are parameters, too: the values of a sparse matrix, which JAX takes for a tree with one leaf.
# The club has self-loops, as graph convolutions do.
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import weft.jax

club = nx.karate_club_graph()
links = weft.asarray(nx.to_scipy_sparse_array(club, weight=None, dtype="float32"))
A = links + weft.eye(34, format="csr", dtype="float32")
S = weft.evaluate(
    "S(i,j) = A(i,j)/sqrt(d(i)*d(j))", A=A, d=np.asarray(A.sum(axis=1))
)
print(repr(S))

# %%
# The network
# -----------
# Two layers, and the loss of the two members who are known: the first and the last.
layer = "H(i,f) = tanh(sum(j, sum(k, S(i,j)*X(j,k)*W(k,f))))"


def outputs(parameters):
    """Return a number for each member: positive on the officer's side."""
    X = jnp.eye(34)
    for W in parameters["layers"]:
        X = weft.jax.evaluate(layer, S=parameters["edges"], X=X, W=W)
    return X[:, 0]


def loss(parameters):
    known = outputs(parameters)[jnp.array([0, 33])]
    return jnp.mean(jax.nn.softplus(-8 * known * jnp.array([-1.0, 1.0])))


keys = jax.random.split(jax.random.key(0))
shapes = (34, 8), (8, 1)
layers = [
    0.3 * jax.random.normal(key, shape)
    for key, shape in zip(keys, shapes, strict=True)
]
parameters = {"edges": S, "layers": layers}
gradient = jax.grad(loss)
gradients = gradient(parameters)
print(repr(gradients["edges"]))

# %%
# The gradients are those of dense JAX
# ------------------------------------
# The gradient of the edges has the structure of the graph: edges that are not there are no parameters.


def dense_loss(dense):
    X = jnp.eye(34)
    for W in layers:
        X = jnp.tanh(dense @ X @ W)
    return jnp.mean(
        jax.nn.softplus(-8 * X[jnp.array([0, 33]), 0] * jnp.array([-1.0, 1.0]))
    )


dense_gradient = jax.grad(dense_loss)
expected = dense_gradient(S.todense()) * (A.todense() != 0)
assert np.allclose(gradients["edges"].todense(), expected, atol=1e-6)

# %%
# Training
# --------
# ``jax.tree.map`` goes through weights and edges alike.
step = jax.jit(jax.value_and_grad(loss))
values = []
for _ in range(100):
    value, gradients = step(parameters)
    parameters = jax.tree.map(lambda p, g: p - 0.2 * g, parameters, gradients)
    values.append(float(value))
side = np.array([club.nodes[member]["club"] == "Officer" for member in club])
guess = np.asarray(outputs(parameters)) > 0
print(f"right about {np.sum(guess == side)} of 34 members")
assert np.sum(guess == side) >= 28

# %%
# Loss, and the sides
# -------------------
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(values)
left.set(xlabel="step", ylabel="loss of the two members who are known")
places = nx.spring_layout(club, seed=1)
nx.draw_networkx(
    club,
    places,
    ax=right,
    node_color=np.asarray(outputs(parameters)),
    cmap="coolwarm",
    edge_color="lightgrey",
    font_size=7,
)
right.set_title("what the network says of each member")
right.axis("off")
fig.tight_layout()
