"""
A layer of a graph neural network
=================================

A graph convolution mixes the features of neighbours and multiplies by weights. Layers with random weights alone already
separate the two groups of Zachary's karate club (Kipf and Welling, 2017).
"""

# %%
# The club
# --------
# networkx has the graph: 34 members, and how often any two met. It is normalised as graph convolutions do: with
# self-loops, and divided by the square roots of the degrees. That quotient stays sparse.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import weft

club = nx.karate_club_graph()
A = weft.asarray(
    nx.to_scipy_sparse_array(club, weight=None, dtype=float)
) + weft.eye(34, format="csr")
degree = np.asarray(A.sum(axis=1))
S = weft.evaluate("S(i,j) = A(i,j)/sqrt(d(i)*d(j))", A=A, d=degree)
print(repr(S))

# %%
# A layer
# -------
# ``tanh`` of the sum over neighbours ``j`` and features ``k`` is one expression. SciPy multiplies twice, and applies
# ``tanh`` to the result.
layer = "H(i,f) = tanh(sum(j, sum(k, S(i,j)*X(j,k)*W(k,f))))"
rng = np.random.default_rng(1)
X = np.eye(34)
for outputs in (8, 4, 2):
    W = rng.standard_normal((X.shape[1], outputs)) * np.sqrt(
        2 / (X.shape[1] + outputs)
    )
    H = weft.evaluate(layer, S=S, X=X, W=W)
    assert np.allclose(H, np.tanh(weft.to_scipy(S) @ X @ W))
    X = H
print("two features of each member:", H.shape)

# %%
# How weft computes it
# --------------------
print(weft.explain(layer, S=S, X=np.ones((34, 4)), W=np.ones((4, 2))))

# %%
# Both groups
# -----------
# Nobody told the network who went with whom when the club split. The colours show it.
side = np.array([club.nodes[member]["club"] == "Officer" for member in club])
fig, ax = plt.subplots(figsize=(6, 5))
for i, j in club.edges:
    ax.plot(*H[[i, j]].T, color="lightgrey", lw=0.5, zorder=0)
for group, name in [(side, "officer's side"), (~side, "Mr. Hi's side")]:
    ax.scatter(*H[group].T, s=60, label=name, edgecolor="white")
ax.set(
    xlabel="first feature",
    ylabel="second feature",
    title="three layers with random weights",
)
ax.legend()
fig.tight_layout()
