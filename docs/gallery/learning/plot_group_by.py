"""
Groups and histograms
=====================

How do ratings differ between groups of users, and how did they change over time? A matrix with a 1 for each member of a
group turns sums over groups into products.
"""

# %%
# Ratings of users, movies and days
# ---------------------------------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import weft
from example_data import ratings

T = ratings()
print(repr(T))

# %%
# Groups as a matrix
# ------------------
# Users are put into four groups by how much they rate, and days into weeks. ``G`` and ``W`` have one entry for each
# user and for each day.
users, movies, days = T.shape
activity = weft.query(T, "select [i] -> count(j) as n")["n"]
group = np.digitize(activity, np.quantile(activity, [0.25, 0.5, 0.75]))
G = weft.from_coords(
    [group, np.arange(users)], np.ones(users), shape=(4, users), format="csc"
)
week = np.arange(days) // 7
W = weft.from_coords(
    [week, np.arange(days)], np.ones(days), shape=(week[-1] + 1, days), format="csc"
)

# %%
# Sums and counts by two keys
# ---------------------------
# One ``einsum`` adds up the ratings of each group in each week. The same product of the entries' count gives the mean.
total = weft.einsum("gi,wk,ijk->gw", G, W, T, format="dense").todense()
count = weft.einsum("gi,wk,ijk->gw", G, W, T != 0, format="dense").todense()
mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
print(np.round(mean[:, :6], 2))

# %%
# pandas groups a table of the entries.
i, _, k = T.coords
table = pd.DataFrame({"group": group[i], "week": week[k], "rating": T.data})
expected = table.pivot_table(index="group", columns="week", values="rating")
assert np.allclose(mean[:, expected.columns], expected, equal_nan=True)

# %%
# Histograms
# ----------
# How often was each rating given? A comparison is a sparse tensor of booleans, and a sum counts its entries.
stars = np.arange(1, 6)
counts = np.array([(star == T).sum(axis=(1, 2)).todense() for star in stars])
shares = np.array(
    [
        counts[:, group == g].sum(axis=1) / counts[:, group == g].sum()
        for g in range(4)
    ]
)
print(np.round(shares, 2))
assert np.array_equal(
    counts.sum(axis=1), np.bincount(T.data.astype(int), minlength=6)[1:]
)

# %%
# Ratings of the groups
# ---------------------
# Who rates most gives fewer stars.
fig, ax = plt.subplots(figsize=(6, 4.4))
colors = plt.cm.viridis(np.linspace(0, 0.85, 4))
labels = ["fewest ratings", "few", "many", "most ratings"]
for g in range(4):
    ax.bar(
        stars + 0.2 * (g - 1.5),
        shares[g],
        width=0.2,
        color=colors[g],
        label=labels[g],
    )
ax.set(xlabel="stars", ylabel="share", title="ratings of four groups of users")
ax.legend()
fig.tight_layout()

# %%
# Means over time
# ---------------
# Weeks with fewer than 30 ratings of a group are left out.
fig, ax = plt.subplots(figsize=(7, 4))
for g in range(4):
    ax.plot(
        np.where(count[g] >= 30, mean[g], np.nan),
        "o-",
        ms=3,
        color=colors[g],
        label=labels[g],
    )
ax.set(xlabel="week", ylabel="mean rating", title="means by week")
ax.legend()
fig.tight_layout()
