"""Names of optimisations, which ``config.disable`` switches off one by one, and of passes, for ``config.debug``.

An optimisation changes how long a computation takes, and at most the rounding of its result. Each has a name, a
sentence, and the cases in which it is expected to pay. ``python -m asv_benchmarks.ablation`` measures these cases.
"""

from __future__ import annotations

from .records import record


@record
class Optimization:
    """Optimisation that can be switched off."""

    name: str  # Its name, as ``config.disable`` takes it
    summary: str  # the change that it makes, in one sentence
    # Names of the benchmark cases in which it is expected to pay (``asv_benchmarks/ablation.py``).
    cases: tuple[str, ...]


OPTIMIZATIONS = (
    # Index notation: which statements are computed.
    Optimization(
        "one-sum",
        "Sums that are factors of a product are one sum of products, whose order is chosen.",
        ("two products, nested",),
    ),
    Optimization(
        "contraction-order", "Sums of products are computed in the order that is cheapest.", ("two products",)
    ),
    Optimization(
        "own-tensors", "Reductions inside expressions are computed first, and equal ones once.", ("product of sums",)
    ),
    Optimization(
        "invariant-parts",
        "Expensive parts that fewer loops need than the loops around them are computed first.",
        ("scaled by quotients",),
    ),
    Optimization(
        "one-diagonal", "Products with a matrix of the main diagonal alone scale rows or columns.", ("scaled columns",)
    ),
    Optimization(
        "counted-entries", "Sums visit what an operand stores, and count the rest.", ("squares of distances",)
    ),
    Optimization(
        "split-sums",
        "A sum of sparse operands times an array is the sum of their products.",
        ("sum of two, times a vector",),
    ),
    # Concrete index notation: in which loops a result is computed.
    Optimization(
        "independent-sums", "Sums over different variables are computed apart where that is cheaper.", ("two sums",)
    ),
    Optimization(
        "factor-hoisting",
        "Factors that a loop does not change are multiplied outside of it.",
        ("MTTKRP, long fibres", "MTTKRP, short fibres", "scaled rows"),
    ),
    Optimization(
        "segment-copies",
        "Segments of an operand in no order are sorted where loops enter them, if the loops skip many.",
        ("few unsorted rows",),
    ),
    Optimization(
        "tiling",
        "Loops that come back to every row of the result are cut into tiles of rows that stay in the cache.",
        ("dia SpMV", "dia to csr"),
    ),
    Optimization(
        "register-strips", "Strips of a dense row of the result are summed in registers.", ("SpMM 32", "dense product")
    ),
    Optimization(
        "register-blocks",
        "Blocks of the result whose size is known are summed in registers.",
        ("bsr SpMV", "bsr SpMM", "bsr @ bsr"),
    ),
    Optimization(
        "whole-rows",
        "Rows of a sparse result that are written as a whole are collected without a list of their coordinates.",
        ("TTM into csf", "SpMM into csr"),
    ),
    # The IR: how these loops are written.
    Optimization(
        "simd-reductions",
        "Sums of many terms are reassociated, so that SIMD instructions compute them.",
        ("dense dot", "long rows SpMV", "sum of values"),
    ),
    Optimization(
        "partial-sums",
        "Sums of elements whose places are loaded have four scalar parts in place of SIMD instructions.",
        ("rows of 45 SpMV", "rows of 45 residual"),
    ),
    Optimization(
        "whole-blocks",
        "Blocks inside the tensor are computed in loops without the checks that blocks at its edge need.",
        ("bsr SpMV", "bsr SpMM"),
    ),
    Optimization(
        "padding-masks",
        "Padding adds a number that changes no sum, so that loops over slots have no branches.",
        ("ell SpMV",),
    ),
    Optimization(
        "fused-ranges",
        "Loops over adjoining segments are one loop over all of their positions.",
        ("column sums", "column extremes"),
    ),
    Optimization(
        "single-entries",
        "A fibre of one entry is multiplied at once, without the workspace of longer ones.",
        ("MTTKRP, single entries",),
    ),
    Optimization(
        "reciprocals",
        "Division by a size in a loop is multiplication by its reciprocal.",
        ("csr reshape", "coo reshape"),
    ),
    Optimization(
        "scalar-powers",
        "Powers with one small exponent for all elements are products or square roots.",
        ("square", "cube", "root"),
    ),
    Optimization(
        "vector-math",
        "Functions such as log1p are computed for batches of elements by SIMD instructions.",
        ("log1p", "power"),
    ),
    Optimization(
        "prefetch",
        "Memory is asked for some entries before it is read or written.",
        ("short rows SpMV", "scattered SpMV", "coo SpMV", "ell SpMM", "csr to csc", "scattered rows"),
    ),
    Optimization(
        "prefetch-rows",
        "Memory is asked for whole rows at scattered coordinates, some entries before they are read.",
        ("MTTKRP, single entries", "SDDMM, scattered rows", "SDDMM by coo", "threads: SDDMM, scattered rows"),
    ),
    Optimization(
        "merge-branches",
        "Merges of two lists have branches where these are predicted, and no branches where they are not.",
        ("A + B, independent", "A * B"),
    ),
    # Variants and functions of a plan, chosen by the data.
    Optimization(
        "shared-structure",
        "A result with the structure of an operand takes over its index arrays, and only values are computed.",
        ("2 * dia", "ell * x", "csr * x"),
    ),
    Optimization(
        "stored-totals",
        "Sums of all elements, and the like, are computed from the stored values alone.",
        ("csr total", "coo total"),
    ),
    Optimization(
        "equal-structures",
        "Operands that turn out to have equal index arrays are combined value by value.",
        ("bsr + bsr, equal", "csr + csr, equal"),
    ),
    Optimization(
        "dense-result",
        "A result most of whose coordinates get a value is collected in one workspace, without sorting.",
        ("full columns", "full product"),
    ),
    Optimization(
        "hash-lookup",
        "A vector with many entries is looked up, in a table of bits, for each entry of a row.",
        ("sparse vector SpMV",),
    ),
    Optimization(
        "parallel-loops", "Several threads get loops that they can share.", ("threads: csc SpMM", "threads: A.T @ X")
    ),
    Optimization(
        "positions",
        "Sums to which every iteration adds, and long rows, are cut into shares of entries, for several threads.",
        ("threads: dot", "threads: coo form", "threads: long row"),
    ),
    Optimization(
        "merge-cuts",
        "Merges of outermost loops are cut into ranges of coordinates, for several threads.",
        ("threads: dcsr + dcsr",),
    ),
    Optimization(
        "parallel-append", "Threads append parts of a result, before it is known how long each is.", ("threads: A + B",)
    ),
    Optimization(
        "size-bounds",
        "A result is allocated by an upper bound of its size, without a pass that counts its entries.",
        ("A + B", "A * B", "SpGEMM"),
    ),
    # Conversions and operations on storage.
    Optimization(
        "shared-arrays",
        "A conversion takes over the arrays of values and coordinates that stay as they are.",
        ("csr to coo", "coo to csr", "coo to csf"),
    ),
    Optimization(
        "compiled-order",
        "Compiled code examines the order of coordinates that come from outside.",
        ("csr taken in", "coo taken in"),
    ),
    Optimization(
        "kept-conversions",
        "A tensor keeps the coordinates of a conversion that expressions ask for again.",
        ("MTTKRP, converted", "A * B, csr and csc"),
    ),
    Optimization(
        "row-sort",
        "Entries go into rows, each of which is sorted on its own.",
        ("unsorted to csr", "dok to csr"),
    ),
    Optimization(
        "intermediate-formats",
        "A tensor is converted by way of another format where that is cheaper.",
        ("csc to bsr", "dense to jad"),
    ),
    Optimization(
        "direct-insertion",
        "Values are inserted into a result as they are computed, instead of being converted afterwards.",
        ("2 * A into dia", "2 * A into hash"),
    ),
    Optimization(
        "row-fill",
        "Values of blocks are filled row by row, as entries are inserted, instead of all at once before.",
        ("bsr @ bsr", "csr to bsr"),
    ),
    Optimization(
        "nearest-format",
        "Values are appended in a format that follows the loops, and then converted, where that is cheapest.",
        ("A + B into csc", "A + B into hash", "bsr + bsr into csr"),
    ),
)  # fmt: skip
"""All optimisations, in the order in which they take part."""

ON_DEVICES = (
    Optimization("lanes", "Threads of a team share the innermost loops of what the team computes.", ()),
    Optimization(
        "equal-shares", "Teams take equal shares of the entries instead of whole rows, where some rows are long.", ()
    ),
)
"""The optimisations of programs for devices, which ``tests/device/run.py`` measures."""

NAMES = tuple(one.name for one in (*OPTIMIZATIONS, *ON_DEVICES))
"""The names, in the same order."""

PASSES = (
    "explicit sums", "one sum", "one order", "independent sums", "format views", "cheapest schedule",
    "tiling", "parallel loop", "positions", "user schedule", "result placement", "entry tiles", "lowering",
    "serial scans", "simplify", "prefetch rows", "single entries", "register blocks", "reciprocals", "scalar powers",
    "vector math", "prefetch", "merge branches", "polling", "partial sums",
)  # fmt: skip
"""The compiler's passes: each is one line of ``weft.compiler``."""
STAGES = ("index notation", "formats", "schedule", "attribute queries", "concrete notation", "lattices", "ir", "c")
"""Views of what several passes made, such as the merge lattices."""
VERIFY = "verify"
"""Has every pass's result checked, and prints nothing."""
SHOWN = (*STAGES, *PASSES, "all", VERIFY)
"""What ``config.debug`` takes."""
