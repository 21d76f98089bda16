"""The order in which einsum contracts: by cost, and the same result in any."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.config import config

INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]


def test_sparse_times_sparse_times_dense_goes_from_the_right():
    A = weft.random((500, 500), density=0.02, format="csr", rng=1)
    X = np.ones((500, 4))
    path, report = weft.einsum_path("ij,jk,kl->il", A, A, X)
    assert path == ["einsum_path", (1, 2), (0, 1)]
    assert report.startswith("2 contractions")
    np.testing.assert_allclose(weft.einsum("ij,jk,kl->il", A, A, X), A.todense() @ (A.todense() @ X))


def test_a_sampled_product_is_one_loop_nest():
    S = weft.random((300, 300), density=0.01, format="csr", rng=2)
    X, Y = np.ones((300, 20)), np.ones((300, 20))
    path, report = weft.einsum_path("ij,ik,jk->ij", S, X, Y)
    assert path == ["einsum_path", (0, 1, 2)]
    assert "one loop nest" in report
    assert weft.einsum_path("ij,ik,jk->ij", S, X, Y, optimize=True)[0] == path
    assert len(weft.einsum_path("ij,ik,jk->ij", S, X, Y, optimize="optimal")[0]) == 3


@pytest.mark.parametrize(
    "subscripts",
    [
        "ab,bc,cd,de,ef,fg,gh->ah",
        "abc,cde,efg,gha->bdfh",
        "dcba,hgfe,ae,bf,cg,dh->",
        "abcd,efcd,ghef->hgba",
        "aab,bccd,deef,fggh->ah",
        "abcd,efgh->hgfedcba",
    ],
)
@pytest.mark.parametrize("format", ["coo", "csf"])
def test_many_indices(subscripts, format):
    """More loop orders than can be weighed: 8 indices have 40,320."""
    rng = np.random.default_rng(0)
    terms = subscripts.split("->")[0].split(",")
    arrays = [rng.integers(1, 4, (3,) * len(t)) * (rng.random((3,) * len(t)) < 0.3) for t in terms]
    operands = [weft.asarray(a, format=format if a.ndim > 2 else "coo") for a in arrays]
    expected = np.einsum(subscripts, *arrays)
    for optimize in (False, "auto"):
        got = weft.einsum(subscripts, *operands, optimize=optimize)
        np.testing.assert_array_equal(got.todense() if isinstance(got, weft.SparseTensor) else got, expected)


@settings(max_examples=settings.default.max_examples // 3)
@given(data=st.data())
def test_every_order_gives_the_same(data):
    letters = "abcd"
    sizes = dict(zip(letters, data.draw(st.tuples(*[st.integers(1, 4)] * 4)), strict=True))
    texts = data.draw(
        st.lists(st.lists(st.sampled_from(letters), min_size=1, max_size=3, unique=True), min_size=3, max_size=5)
    )
    used = sorted({i for t in texts for i in t})
    out = "".join(data.draw(st.permutations(used))[: data.draw(st.integers(0, len(used)))])
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    arrays = [
        rng.integers(-3, 4, [sizes[i] for i in t]).astype(float) * (rng.random([sizes[i] for i in t]) < 0.6)
        for t in texts
    ]
    operands = [weft.asarray(a, format="coo") if data.draw(st.booleans()) else a for a in arrays]
    subscripts = ",".join(map("".join, texts)) + "->" + out
    expected = np.einsum(subscripts, *arrays)
    path = ["einsum_path", *[(0, 1)] * (len(arrays) - 1)]
    for optimize in ("auto", True, False, "greedy", path):
        found = weft.einsum(subscripts, *operands, optimize=optimize)
        np.testing.assert_allclose(
            found.todense() if isinstance(found, weft.SparseTensor) else found, expected, atol=1e-12
        )


@settings(max_examples=30)
@given(data=st.data())
def test_all_products_are_in_the_dtype_that_the_operands_have_together(data):
    """As ``numpy.einsum`` has it, which converts operands first: 100*100 is 10000 beside a third factor of int64."""
    dtypes = data.draw(st.lists(st.sampled_from(["bool", *INTEGERS, "float32", "float64"]), min_size=3, max_size=4))
    wanted = data.draw(st.sampled_from([None, None, "int64", "float64"]))
    if wanted is not None and not all(np.can_cast(d, wanted, "safe") for d in dtypes):
        wanted = None
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    arrays = [
        (rng.choice([0, 1, 2, 100, 127], (3, 3)) * (-1 if np.dtype(d).kind in "if" else 1)).astype(d) for d in dtypes
    ]
    operands = [weft.asarray(a, format=data.draw(st.sampled_from(["csr", "coo", "dense"]))) for a in arrays]
    subscripts = ",".join(["ij", "jk", "kl", "lm"][: len(dtypes)]) + "->i" + "klm"[len(dtypes) - 2]
    expected = np.einsum(subscripts, *arrays, dtype=wanted)
    for optimize in ("auto", True, False):
        found = weft.einsum(subscripts, *operands, optimize=optimize, dtype=wanted)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.todense(), expected, rtol=1e-5)


def test_without_reassociation_there_is_one_loop_nest():
    A = weft.random((50, 50), density=0.2, format="csr", rng=1)
    with config.override(reassociate=False):
        found = weft.einsum("ij,jk,kl->il", A, A, A)
    np.testing.assert_allclose(found.todense(), A.todense() @ A.todense() @ A.todense())


def test_a_path_that_does_not_fit():
    A = np.ones((2, 2))
    with pytest.raises((ValueError, TypeError, IndexError)):
        weft.einsum("ij,jk,kl->il", A, A, A, optimize=["einsum_path", (0, 7)])
