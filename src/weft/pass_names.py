"""Names of the compiler's passes and stages, which ``config.debug``, ``explain`` and the command line take.

A pass is one line of ``weft.compiler``. A stage is a view of what several passes made, such as the merge lattices.
"""

PASSES = (
    "explicit sums", "merged reductions", "independent sums", "format views", "cheapest schedule", "tiling",
    "parallel loop", "user schedule", "result placement", "entry tiles", "lowering", "simplify", "reciprocals",
    "scalar powers", "vector math", "prefetch", "polling",
)  # fmt: skip
STAGES = ("index notation", "formats", "schedule", "attribute queries", "concrete notation", "lattices", "ir", "c")
VERIFY = "verify"
"""Has every pass's result checked, and prints nothing."""
NAMES = (*STAGES, *PASSES, "all", VERIFY)
