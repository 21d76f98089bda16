"""
A format of your own: antidiagonals
===================================

A matrix whose entries lie on few antidiagonals fits no usual format. A format is a remapping of coordinates and a
level for each, so that one line makes a format that fits.
"""

# %%
# A Hankel matrix
# ---------------
# In a Hankel matrix the element at ``(i, j)`` depends on ``i + j`` alone. Here ten of the antidiagonals hold entries.
import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg

import weft
from weft.formats import Format
from weft.formats.levels import Banded, Squeezed

n = 1500
rng = np.random.default_rng(0)
taps = np.zeros(2 * n - 1)
taps[rng.choice(2 * n - 1, 10, replace=False)] = rng.standard_normal(10)
H = scipy.linalg.hankel(taps[:n], taps[n - 1 :])
A = weft.asarray(H, format="csr")
print(repr(A))

# %%
# The format
# ----------
# Remapped to ``(i+j, i)``, the first coordinate of an entry is the number of its antidiagonal. A squeezed level
# stores the numbers that occur. A banded level stores one interval of rows for each of them, without a coordinate for
# each entry.
antidiagonal = Format("(i,j) -> (i+j,i)", [Squeezed(), Banded()])
weft.register_format("antidiagonal", antidiagonal)
B = A.asformat("antidiagonal")
print(repr(B))

small = weft.asarray(
    scipy.linalg.hankel([0, 0, 1, 0], [0, 2, 0, 0]), format="antidiagonal"
)
print(small.todense())
print(small.tree())

# %%
# It computes with all others
# ---------------------------
# The compiler reads from the format how to loop: over antidiagonals, then over rows. ``j`` follows from both.
print(weft.explain("y(i) = A(i,j)*x(j)", A=B, x=np.ones(n)))

x = rng.standard_normal(n)
assert np.allclose(B @ x, H @ x)
assert np.allclose((B + A).todense(), 2 * H)
back = B.asformat("csr")
assert np.array_equal(back.indices, A.indices)
assert np.array_equal(back.data, A.data)

# %%
# SciPy's dia stores every diagonal that holds an entry. Antidiagonals cross nearly all of them.
sizes = {"csr": A.nbytes, "coo": A.asformat("coo").nbytes, "antidiagonal": B.nbytes}
sizes["dia"] = n * weft.query(A, "select [j-i] -> id() as nz")["nz"].sum() * 8
for name, size in sizes.items():
    print(f"{name:12} {size / 1e3:10.0f} kB")

# %%
# The matrix
# ----------
fig, ax = plt.subplots(figsize=(4.6, 4.6))
weft.spy(B, ax=ax, cells=100)
ax.set_title("the matrix")
fig.tight_layout()

# %%
# Its size
# --------
# The scale is logarithmic.
fig, ax = plt.subplots(figsize=(6, 3))
ax.barh(
    list(sizes),
    [size / 1e3 for size in sizes.values()],
    color=["C0", "C1", "C3", "C2"],
    log=True,
)
ax.set(xlabel="kB", title="memory")
fig.tight_layout()
