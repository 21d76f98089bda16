"""
Compile once, call many times
=============================

How much of a call's time is work? An expression is compiled when it is first used with formats and dtypes; later
calls find the kernel. Holding the kernel in the hand saves the search for it.
"""

# %%
# An expression
# -------------
# A damped step of Jacobi's method for ``A @ x = b``: one loop nest computes it all. The sum is written out. Without
# ``sum(j, ...)`` it would stand around the whole product with ``w(i)``, so that ``b(i)`` would be added once for each
# ``j``.
import time

import matplotlib.pyplot as plt
import numpy as np

import weft

text = "y(i) = x(i) + w(i)*(b(i) - sum(j, A(i,j)*x(j)))"


def problem(n):
    A = weft.diags_array(
        [-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr"
    )
    return {"A": A, "x": np.zeros(n), "b": np.ones(n), "w": np.full(n, 0.4)}


operands = problem(1000)
print(weft.explain(text, **operands))

# %%
# The first call and the second
# -----------------------------
# The first call waits for the C compiler, unless a run before it has left the kernel in the cache on disk. The last
# line of the report above says which of both it is.
for call in ("first", "second"):
    begin = time.perf_counter()
    y = weft.evaluate(text, **operands)
    print(f"{call} call: {1e3 * (time.perf_counter() - begin):.2f} ms")

# %%
# The kernel
# ----------
# ``weft.compile`` takes formats in place of operands, and gives the kernel. Its source is C. The loops are these:
kernel = weft.compile(text, A="csr", x="dense", b="dense", w="dense")
lines = kernel.source.splitlines()
last = next(k for k, line in enumerate(lines) if "y_vals[i] =" in line)
first = max(k for k, line in enumerate(lines[:last]) if "for (int64_t i =" in line)
print("\n".join(lines[first : last + 1]))

# %%
# Many calls
# ----------
# Jacobi's method calls the kernel until nothing changes.
x, steps = operands["x"], 0
while True:
    new = kernel(**{**operands, "x": x})
    steps += 1
    if abs(new - x).max() < 1e-12:
        break
    x = new
print(f"{steps} steps")
assert np.allclose(operands["A"] @ x, operands["b"])


# %%
# The price of a call
# -------------------
# Small operands show the time that a call takes beside the loops. SciPy's line makes three arrays on its way.
def microseconds(function, repeat=200):
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return 1e6 * np.median(times)


weft.set_num_threads(1)  # as SciPy
sizes = [10, 100, 1000, 10_000, 100_000]
rows = {"weft.evaluate": [], "kernel of weft.compile": [], "SciPy": []}
for n in sizes:
    given = problem(n)
    S, x, b, w = weft.to_scipy(given["A"]), given["x"], given["b"], given["w"]
    assert np.allclose(kernel(**given), x + w * (b - S @ x))
    rows["weft.evaluate"].append(
        microseconds(lambda given=given: weft.evaluate(text, **given))
    )
    rows["kernel of weft.compile"].append(
        microseconds(lambda given=given: kernel(**given))
    )
    rows["SciPy"].append(
        microseconds(lambda S=S, x=x, b=b, w=w: x + w * (b - S @ x))
    )

# %%
# Times are those of one run on the machine that built this page.
fig, ax = plt.subplots(figsize=(7, 4.5))
for (name, times), color in zip(
    rows.items(), ("tab:blue", "tab:green", "tab:orange"), strict=True
):
    ax.loglog(sizes, times, "o-", label=name, color=color)
ax.set(
    xlabel="rows of the matrix",
    ylabel="time of a call, microseconds",
    title="calls of small and large operands",
)
ax.legend()
fig.tight_layout()
