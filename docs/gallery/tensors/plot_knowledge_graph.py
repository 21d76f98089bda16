"""
Relations of a knowledge graph
==============================

Which relations of a knowledge graph are inverses of each other, such as *parent of* and *child of*? The graph is a
tensor with three axes, head, relation and tail, and the answer is one product of it with itself.
"""

# %%
# The graph
# ---------
# FB15k-237 has 310,116 facts about 14,541 entities in 237 relations.
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import weft
from example_data import tensor

K = tensor("kg_FB15K237", (14541, 237, 14528), 310_000)
n = max(K.shape[0], K.shape[2])
head, relation, tail = K.coords
K = weft.from_coords(
    [head, tail, relation], np.ones(K.nnz), shape=(n, n, K.shape[1]), format="csf"
)
print(repr(K))

# %%
# Pairs that two relations share
# ------------------------------
# ``K(h,t,r)*K(h,t,q)``, summed over heads and tails, counts how many pairs of entities the relations ``r`` and ``q``
# both join. With heads and tails changed in the second factor it counts pairs that are joined the other way.
same = weft.einsum("htr,htq->rq", K, K)
reverse = weft.einsum("htr,thq->rq", K, K)
print(repr(same))
print(weft.explain("htr,htq->rq", K, K))

# %%
# SciPy has matrices alone: the pairs of entities are numbered, and become the rows of one.
pair, number = np.unique(
    K.coords[0].astype(np.int64) * n + K.coords[1], return_inverse=True
)
S = sp.coo_array(
    (K.data, (number, K.coords[2])), shape=(len(pair), K.shape[2])
).tocsr()
same, reverse = same.todense(), reverse.todense()
assert np.array_equal(same, (S.T @ S).toarray())

# %%
# Inverse and symmetric relations
# -------------------------------
size = np.maximum(same.diagonal(), 1)
share = reverse / np.maximum(size[:, None], size)
symmetric = np.flatnonzero(share.diagonal() > 0.5)
r, q = np.unravel_index(
    np.argsort(np.triu(share, 1), axis=None)[::-1][:3], share.shape
)
print("symmetric relations:", symmetric)
for a, b in zip(r, q, strict=True):
    print(
        f"relation {a} joins {100 * share[a, b]:.0f} % of the pairs of "
        f"relation {b}, the other way round"
    )

# %%
# Scores of all facts
# -------------------
# A model such as DistMult gives each fact the score ``E(h,d)*R(r,d)*F(t,d)``, summed over the features ``d``. Times the
# tensor, the score is computed for the facts alone: a sampled product with three axes.
rng = np.random.default_rng(0)
E, R, F = (rng.standard_normal((extent, 16)) for extent in (n, K.shape[2], n))
scores = weft.evaluate(
    "S(h,t,r) = K(h,t,r)*E(h,d)*R(r,d)*F(t,d)", K=K, E=E, R=R, F=F
)
h, t, r = scores.coords
assert np.allclose(scores.data, (E[h] * R[r] * F[t]).sum(axis=1))
print(repr(scores))

# %%
# All pairs of relations
# ----------------------
order = np.argsort(-size)[:80]
jaccard = same / (size[:, None] + size - same)
for values, title in (
    (share, "in the other direction"),
    (jaccard, "in the same direction"),
):
    fig, ax = plt.subplots(figsize=(5.6, 4.6))
    image = ax.imshow(
        values[np.ix_(order, order)] ** 0.5, cmap="magma_r", vmin=0, vmax=1
    )
    ax.set(xlabel="relation", ylabel="relation", title=f"shared pairs {title}")
    fig.colorbar(image, label="share (square root)")
    fig.tight_layout()
