"""Descriptions of the catalogue's formats: when to use each, and a drawing (2018, Fig. 2 and Table 6).

All drawings show the same matrix of 4 rows and 6 columns, with the entries (0,0)=5 (0,1)=1 (1,0)=7 (1,1)=3 (3,0)=8
(3,3)=4 (3,4)=9. A drawing of a vector shows its last row. A test compares the drawings with the stored arrays.
"""

from __future__ import annotations

WHEN: dict[str, str] = {
    "dense": "Most elements are stored values, or an operand is looked up at random.",
    "dense_f": "As `dense`, for memory in Fortran order.",
    "coo": "Data as it comes: cheap to make, for tensors that are used once or few times. Any number of axes.",
    "coo_aos": "As `coo`, the coordinates of one entry side by side: one cache line an entry.",
    "csr": "The default for matrices: products with vectors and dense matrices, sums, row access.",
    "csc": "As `csr` by columns: column access, products with the transpose.",
    "dcsr": "Matrices most of whose rows are empty.",
    "dcsc": "Matrices most of whose columns are empty.",
    "csf": "Tensors of any order that are used often: a tree of coordinates, every prefix stored once.",
    "dia": "Stencils and bands: few diagonals, nearly full. No coordinate of an entry is stored.",
    "ell": "Matrices with nearly as many entries in every row: slices of one entry a row, walked with unit stride.",
    "hyb": "As `ell` where a few rows are longer: `width` slices, and a list of what exceeds them.",
    "jad": "As `ell` for rows of different lengths: rows by length, longest first, so that nothing is padded.",
    "bsr": "Dense blocks of one size, as finite elements with several unknowns make them.",
    "csb": "Large sparse blocks: products with a matrix and with its transpose cost the same.",
    "mode_generic": "A list of small dense blocks, any number of axes.",
    "hicoo": "Blocks, and the entries inside each, in Morton order: what is near in any direction is near in memory.",
    "hash": "Random access to sparse rows: products in which few entries of it are asked for.",
    "gcxs": "Tensors as rows and columns: some axes together are rows, the others one coordinate (pydata/sparse).",
    "hash_vector": "A sparse vector that is looked up at random.",
    "dok": "Entries put in one by one, in any order.",
    "lil": "Rows that grow one by one.",
    "skyline": "Rows filled from the first entry to the diagonal: factors of sparse Cholesky and LU.",
    "banded": "Rows filled between their first and last entry.",
}

DRAWINGS: dict[str, str] = {
    "dense": """\
i: dense
j: dense
vals = [5 1 0 0 0 0 7 3 0 0 0 0 0 0 0 0 0 0 8 0 0 4 9 0]
""",
    "dense_f": """\
j: dense
i: dense
vals = [5 7 0 8 1 3 0 0 0 0 0 0 0 0 0 4 0 0 0 9 0 0 0 0]
""",
    "coo": """\
i: compressed(¬U)
    pos = [0 7]
    crd = [0 0 1 1 3 3 3]
j: singleton
    crd = [0 1 0 1 0 3 4]
vals = [5 1 7 3 8 4 9]
""",
    "coo_aos": """\
i: interleavedcompressed(¬U)
    pos = [0 7]
    crd = [0 0 0 1 1 0 1 1 3 0 3 3 3 4]
j: interleavedsingleton
vals = [5 1 7 3 8 4 9]
""",
    "csr": """\
i: dense
j: compressed
    pos = [0 2 4 4 7]
    crd = [0 1 0 1 0 3 4]
vals = [5 1 7 3 8 4 9]
""",
    "csc": """\
j: dense
i: compressed
    pos = [0 3 5 5 6 7 7]
    crd = [0 1 3 0 1 3 3]
vals = [5 7 8 1 3 4 9]
""",
    "dcsr": """\
i: compressed
    pos = [0 3]
    crd = [0 1 3]
j: compressed
    pos = [0 2 4 7]
    crd = [0 1 0 1 0 3 4]
vals = [5 1 7 3 8 4 9]
""",
    "dcsc": """\
j: compressed
    pos = [0 4]
    crd = [0 1 3 4]
i: compressed
    pos = [0 3 5 6 7]
    crd = [0 1 3 0 1 3 3]
vals = [5 7 8 1 3 4 9]
""",
    "csf": """\
i: compressed
    pos = [0 3]
    crd = [0 1 3]
j: compressed
    pos = [0 2 4 7]
    crd = [0 1 0 1 0 3 4]
vals = [5 1 7 3 8 4 9]
""",
    "dia": """\
j-i: squeezed
    size = [4]
    crd = [-3 -1  0  1]
j: range
    width = [6]
i: offset
vals = [8 0 0 0 0 0 7 0 0 0 0 0 5 3 0 4 0 0 0 1 0 0 9 0]
""",
    "ell": """\
#i: sliced
    size = [3]
i: dense
j: singleton
    crd = [ 0  0 -1  0  1  1 -1  3 -1 -1 -1  4]
vals = [5 7 0 8 1 3 0 4 0 0 0 9]
""",
    "hyb": """\
#i: capped
    size = [2]
i: spilled(¬O¬U)
    count = [1]
    rest = [3]
j: singleton
    crd = [ 0  0 -1  0  1  1 -1  3  4]
vals = [5 7 0 8 1 3 0 4 9]
""",
    "jad": """\
#i: sliced
    size = [3]
i: jagged(¬O)
    pos = [0 3 6 7]
    perm = [3 0 1 2]
j: singleton
    crd = [0 0 0 3 1 1 4]
vals = [8 5 7 4 1 3 9]
""",
    "bsr": """\
i/2: dense
j/2: compressed
    pos = [0 1 4]
    crd = [0 0 1 2]
i%2: dense
j%2: dense
vals = [5 1 7 3 0 0 8 0 0 0 0 4 0 0 9 0]
""",
    "csb": """\
i/4: dense
j/4: dense
i: compressed(¬U)
    pos = [0 6 7]
    crd = [0 0 1 1 3 3 3]
j: singleton
    crd = [0 1 0 1 0 3 4]
vals = [5 1 7 3 8 4 9]
""",
    "mode_generic": """\
i/2: compressed(¬U)
    pos = [0 4]
    crd = [0 1 1 1]
j/2: singleton
    crd = [0 0 1 2]
i%2: dense
j%2: dense
vals = [5 1 7 3 0 0 8 0 0 0 0 4 0 0 9 0]
""",
    "hicoo": """\
i/4: morton(¬O¬U)
    pos = [0 2]
    crd = [0 0]
j/4: singleton(¬O)
    crd = [0 1]
i%4: morton(¬O¬U)
    pos = [0 6 7]
    crd = [0 1 0 1 3 3 3]
j%4: singleton(¬O)
    crd = [0 0 1 1 0 3 0]
vals = [5 7 1 3 8 4 9]
""",
    "hash": """\
i: dense
j: hashed(¬O)
    width = [16]
    crd = [ 0 -1 -1 -1  1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1  0 -1 -1 -1  1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1  0 -1  4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1  3 -1 -1]
vals = [5 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 7 0 0 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 8
 0 9 0 0 0 0 0 0 0 0 0 0 4 0 0]
""",
    "gcxs": """\
i: dense
j: compressed
    pos = [0 2 4 4 7]
    crd = [0 1 0 1 0 3 4]
vals = [5 1 7 3 8 4 9]
""",
    "hash_vector": """\
i: hashed(¬O)
    width = [16]
    crd = [ 0 -1  4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1  3 -1 -1]
vals = [8 0 9 0 0 0 0 0 0 0 0 0 0 4 0 0]
""",
    "dok": """\
i: slots(¬O¬U)
    width = [16]
    crd = [ 0  1  3  3  0  3 -1 -1 -1 -1 -1  1 -1 -1 -1 -1]
j: singleton(¬O)
    crd = [ 0  1  0  3  1  4 -1 -1 -1 -1 -1  0 -1 -1 -1 -1]
vals = [5 3 8 4 1 9 0 0 0 0 0 7 0 0 0 0]
""",
    "lil": """\
i: dense
j: growable
    begin = [0 2 4 4]
    count = [2 2 0 3]
    crd = [0 1 0 1 0 3 4]
vals = [5 1 7 3 8 4 9]
""",
    "skyline": """\
i: dense
j: banded
    pos = [0 2 4 4 9]
    begin = [0 0 0 0]
vals = [5 1 7 3 8 0 0 4 9]
""",
    "banded": """\
i: dense
j: banded
    pos = [0 2 4 4 9]
    begin = [0 0 0 0]
vals = [5 1 7 3 8 0 0 4 9]
""",
}
