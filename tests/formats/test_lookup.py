"""One table over whole coordinates: DOK is looked up where it need not be walked."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats_for_tests import drawn, sparse

import weft
from weft.storage import check


@given(data=st.data())
def test_products_with_a_table(data):
    shape = data.draw(st.sampled_from([(4, 5), (1, 6), (5, 1), (0, 3), (3, 4, 2)]))
    axes = ",".join("ijk"[: len(shape)])
    fill = data.draw(st.sampled_from([0.0, 0.0, 1.0]))
    a, b = (drawn(data, shape, fill) for _ in range(2))
    other = data.draw(
        st.sampled_from(["coo", "csf", "dense", "dok"] + ["csr", "csc", "dia", "hash"] * (len(shape) == 2))
    )
    A, B = sparse(a, fill, other), sparse(b, fill, "dok")
    np.testing.assert_array_equal((A * B).todense(), a * b)
    np.testing.assert_array_equal((A + B).todense(), a + b)
    found = weft.evaluate(f"c = A({axes})*B({axes})", A=A, B=B)
    np.testing.assert_allclose(
        float(np.asarray(found.todense() if hasattr(found, "todense") else found)), (a * b).sum()
    )


def test_looked_up_without_changing_an_array():
    rng = np.random.default_rng(1)
    d = np.where(rng.random((30, 40)) < 0.1, rng.random((30, 40)), 0)
    A, B = weft.asarray(d).asformat("csr"), weft.asarray(d).asformat("dok")
    text = weft.explain("C(i,j) = A(i,j)*B(i,j)", A=A, B=B, stages=True)
    assert "B is looked up by whole coordinates; no array is copied" in text
    assert "j: (A2 | B_asked2)" in text
    X, Y = rng.random((30, 4)), rng.random((40, 4))
    found = weft.evaluate("y(i) = A(i,j)*B(i,j)*x(j)", A=A, B=B, x=Y[:, 0])
    np.testing.assert_allclose(found, (d * d) @ Y[:, 0])
    assert "asked" not in weft.explain("C(i,j) = A(i,j) + B(i,j)", A=A, B=B, stages=True)
    assert "asked" not in weft.explain("y(i) = B(i,j)*x(j)", B=B, x=Y[:, 0], stages=True)
    np.testing.assert_allclose(weft.einsum("ij,ik,jk->ij", B, X, Y).todense(), d * (X @ Y.T))


def test_wide_coordinates_are_told_apart():
    coords = np.array([[1, 1 << 40, 5], [1 << 41, 3, 7]])
    A = weft.from_coords(coords, [1.0, 2.0, 3.0], (1 << 42, 1 << 42), format="dok")
    B = weft.from_coords(coords[:, :2] + [[0, 0], [0, 1]], [5.0, 7.0], (1 << 42, 1 << 42), format="coo")
    assert (A * B).to_coo()[1].tolist() == [5.0]


@pytest.mark.parametrize("format", ["dok", "hash"])
def test_tables_that_do_not_find_what_they_hold_are_refused(format):
    A = weft.from_coords([[0, 0, 1], [1, 5, 2]], [1.0, 2.0, 3.0], (2, 9), format=format)
    s = A._storage
    check(s)
    arrays = s.level_arrays(0 if format == "dok" else 1)
    edges = np.append(0, arrays["width"]) if format == "dok" else arrays["pos"]
    for shift in range(1, 3):
        place = np.concatenate([np.roll(np.arange(a, b), shift) for a, b in itertools.pairwise(edges)])
        names = iter([a if role != "crd" else a[place] for (_, role), a in zip(s.format.roles, s.arrays, strict=True)])
        levels = [{role: next(names) for role in level.roles} for level in A.layout.levels]
        vals = s.vals[place]
        with pytest.raises(weft.errors.StorageError, match="not looked for there"):
            weft.from_levels((2, 9), A.format, levels, vals)


def test_more_coordinates_than_a_table_is_asked_for():
    shape = (2,) * 13
    A = weft.from_coords(np.array([[0, 1]] * 13), [2.0, 3.0], shape, format="dok")
    B = weft.from_coords(np.array([[1]] * 13), [5.0], shape, format="coo")
    assert A.layout.looked_up is None
    assert (A * B).to_coo()[1].tolist() == [15.0]
    narrow = weft.from_coords(np.array([[0, 1]] * 12), [2.0, 3.0], shape[:12], format="dok")
    other = weft.from_coords(np.array([[1]] * 12), [5.0], shape[:12], format="coo")
    assert narrow.layout.looked_up is not None
    assert (narrow * other).to_coo()[1].tolist() == [15.0]
