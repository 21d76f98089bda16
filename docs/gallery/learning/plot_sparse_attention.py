"""
Sparse attention and a softmax of rows
======================================

Attention lets each place of a sequence look at all others. Sparse attention looks at a few: the neighbours, and some
that everybody sees. Scores are computed at those places alone.
"""

# %%
# The pattern
# -----------
# Each of 1024 places looks at 16 neighbours on either side, and at 8 places that all look at and that look at all.
import matplotlib.pyplot as plt
import numpy as np
import scipy.special

import weft

n, width, seen_by_all, features = 1024, 16, 8, 64
i, j = np.indices((n, n))
pattern = (np.abs(i - j) <= width) | (i < seen_by_all) | (j < seen_by_all)
M = weft.asarray(pattern, format="csr").astype(float)
print(repr(M), f"{100 * M.density:.1f} % of all pairs")

rng = np.random.default_rng(0)
position = np.arange(n)[:, None] / (40 * np.arange(1, features + 1))
Q = np.sin(position) + 0.3 * rng.standard_normal((n, features))
K = np.sin(position) + 0.3 * rng.standard_normal((n, features))
V = rng.standard_normal((n, features))

# %%
# Scores, softmax, output
# -----------------------
# The scores are a sampled product of dense matrices: ``Q @ K.T`` where ``M`` has an entry. In the softmax, the sum
# over a row goes over what is stored. The quotient by the sums is part of the last expression.
#
# A maximum is subtracted first so that no exponential overflows. It is multiplied by ``M``, so that nothing is
# subtracted where nothing is stored.
scores = weft.evaluate("S(i,j) = M(i,j)*Q(i,k)*K(j,k)*0.125", M=M, Q=Q, K=K)
top = np.asarray(scores.max(axis=1))
E = weft.evaluate("E(i,j) = M(i,j)*exp(S(i,j) - t(i)*M(i,j))", M=M, S=scores, t=top)
z = np.asarray(E.sum(axis=1))
out = weft.evaluate("O(i,f) = sum(j, E(i,j)*V(j,f))/z(i)", E=E, V=V, z=z)
print(repr(E))
print(out.shape)

# %%
# NumPy computes all pairs, and throws most away.
dense = np.where(pattern, Q @ K.T / 8, -np.inf)
weights = scipy.special.softmax(dense, axis=1)
assert np.allclose(out, weights @ V)

# %%
# One kernel for the scores
# -------------------------
# The report says that the loops visit the entries of ``M``, and all features below each.
print(weft.explain("S(i,j) = M(i,j)*Q(i,k)*K(j,k)*0.125", M=M, Q=Q, K=K))

# %%
# The pattern
# -----------
fig, ax = plt.subplots(figsize=(4.8, 4.8))
weft.spy(M[:128, :128], ax=ax)
ax.set(title="who looks at whom, first 128 places")
fig.tight_layout()

# %%
# Weights of one place
# --------------------
# Place 60 looks at its neighbours and at the first eight places.
fig, ax = plt.subplots(figsize=(6, 3.6))
row = 60
stored = E[row].coords[0]
ax.vlines(stored, 0, weights[row, stored], color="tab:blue")
ax.set(
    xlabel="place", ylabel="weight", xlim=(-2, 128), title=f"weights of place {row}"
)
fig.tight_layout()
