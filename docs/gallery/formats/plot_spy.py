"""
Spy plots and queries of real matrices
======================================

Which format suits a matrix shows in a picture of it, and in a few numbers that a query counts.
"""

# %%
# Matrices of many fields
# -----------------------
# All come from the SuiteSparse Matrix Collection: a power grid, a road network, circuits, a mesh, a stiffness matrix,
# crystal growth, an economy, DNA.
import matplotlib.pyplot as plt
import numpy as np

import weft
from example_data import folder


def stand_ins():
    """Make three matrices for machines without the collection."""
    line = weft.diags_array(
        [-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(40, 40), format="csr"
    )
    rows = weft.random((1000, 1000), nnz=9000, rng=0, format="csr")
    return {
        "stencil": weft.kronsum(line, line),
        "random": rows,
        "blocks": weft.kron(line, np.ones((5, 5))),
    }


names = ["USPowerGrid", "jagmesh7", "dwt_992", "bcsstk33", "cryg2500", "mhd3200b"]
names += ["cage8", "add32", "mbeacxc", "rajat01", "bips98_606", "well1033"]
if data := folder():
    matrices = {
        name: weft.read_mtx(data / f"{name}.mtx.gz", format="csr") for name in names
    }
else:
    print("The collection is not here: three matrices are generated instead.")
    matrices = stand_ins()

# %%
# Numbers that decide on a format
# -------------------------------
# A query is answered from the coordinates. Few diagonals call for dia, rows of equal length for ell; ``hi - lo`` is the
# bandwidth.
question = "select [j-i] -> id() as used"
print(
    f"{'matrix':12} {'entries':>8} {'diagonals':>9} {'lower':>6} {'upper':>6} "
    f"{'mean row':>8} {'longest':>7}"
)
for name, A in matrices.items():
    diagonals = weft.query(A, question)["used"].sum()
    reach = weft.query(A, "select [] -> min(j-i) as lo, max(j-i) as hi")
    lengths = weft.query(A, "select [i] -> count(j) as n")["n"]
    lower, upper = int(reach["lo"]), int(reach["hi"])
    print(
        f"{name:12} {A.nnz:8} {diagonals:9} {lower:6} {upper:6} "
        f"{lengths.mean():8.1f} {lengths.max():7}",
    )
    i, j = weft.to_scipy(A).nonzero()
    assert np.bincount(i, minlength=A.shape[0]).max() <= lengths.max()
    assert lower <= (j - i).min()
    assert upper >= (j - i).max()

# %%
# The pictures
# ------------
# ``weft.spy`` counts entries in cells; fuller cells are darker. It never makes the matrix dense.
rows = -(-len(matrices) // 4)
fig, axes = plt.subplots(rows, 4, figsize=(11, 2.9 * rows), squeeze=False)
for ax in axes.flat:
    ax.set_axis_off()
for ax, (name, A) in zip(axes.flat, matrices.items(), strict=False):
    weft.spy(A, ax=ax, cells=150)
    ax.set_axis_on()
    ax.set(title=name, xticks=[], yticks=[])
fig.tight_layout()
