"""Text and einsum subscripts in, one tree out: round trips, NumPy's einsum, and carets under what is wrong."""

import numpy as np
import pytest
from hypothesis import given
from tests import strategies

import weft
from weft.errors import NotationError, ShapeError
from weft.index_notation import explicit_sums, parse, to_text


@given(strategies.assignments())
def test_printed_text_parses_to_the_same(assignment):
    assert parse(to_text(assignment)) == assignment
    explicit = explicit_sums(assignment)
    assert explicit_sums(explicit) == explicit


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("y(i) = A(i,j", 12),
        ("y(i) = A(i,j)) * x(j)", 13),
        ("y(i) = A(i,j) $ x(j)", 14),
        ("y(i = x(i)", 4),
        ("= x(i)", 0),
        ("y(i) = ", 6),
        ("y(i) = x(i,)", 11),
        ("y(i) x(i)", 5),
        ("y(i) = nothing(i, x(i))", 7),
    ],
)
def test_carets(text, column):
    with pytest.raises(NotationError) as error:
        parse(text)
    lines = str(error.value).split("\n")
    assert lines[1].strip() == text.strip()
    assert lines[2].index("^") - 2 == column, str(error.value)


@pytest.mark.parametrize("text", ["y(i,i) = A(i,j)", "y(i) = y(i) + x(i)", "y(i) = A(i) + A(i,j)"])
def test_meaningless(text):
    with pytest.raises(NotationError):
        parse(text)


EINSUMS = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("ij,jk", (3, 4), (4, 5)), ("ii->i", (4, 4)), ("ii", (4, 4)), ("ij->ji", (3, 4)),
    ("ba", (3, 4)), ("i,j->ij", (3,), (4,)), ("ij,ij->", (3, 4), (3, 4)), ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    ("...ij,jk", (2, 3, 4), (4, 5)), ("i...->...", (3, 4)), ("...,...->...", (3, 4), (1, 4)), (",ij->ij", (), (3, 4)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)), ("ijk,k->ij", (3, 4, 5), (5,)), ("i j , j -> i", (3, 4), (4,)),
    ("ij,ik,jk->ij", (3, 4), (3, 5), (4, 5)),
]  # fmt: skip


@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
@pytest.mark.parametrize("sparse", [True, False])
def test_einsum_is_numpys(case, sparse):
    subscripts, *shapes = case
    rng = np.random.default_rng(1)
    arrays = [np.asarray(rng.integers(0, 3, shape) * 1.0) for shape in shapes]
    operands = [weft.asarray(a, format="csf") if sparse and a.ndim else a for a in arrays]
    got = weft.einsum(subscripts, *operands)
    got = got.todense() if isinstance(got, weft.SparseTensor) else got
    np.testing.assert_allclose(got, np.einsum(subscripts, *arrays))


def test_sublists():
    a, b = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)
    A = weft.asarray(a, format="csr")
    np.testing.assert_allclose(weft.einsum(A, [0, 1], b, [1, 2], [0, 2]), a @ b)
    np.testing.assert_allclose(weft.einsum(A, [Ellipsis, 1], b, [1, 2]), np.einsum(a, [Ellipsis, 1], b, [1, 2]))


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [("ij,jk->ik", ((3, 4), (5, 6))), ("ij->", ((3,),)), ("ij->k", ((3, 4),)), ("i$->i", ((3, 4),)), ("ii", ((3, 4),)),
     ("ij,jk->ik", ((3, 4),)), ("ij->ii", ((3, 4),)), ("i->i->i", ((3,),))],
)  # fmt: skip
def test_einsum_refuses_what_numpy_refuses(subscripts, shapes):
    arrays = [np.ones(shape) for shape in shapes]
    with pytest.raises(ValueError):
        np.einsum(subscripts, *arrays)
    with pytest.raises((NotationError, ShapeError)):
        weft.einsum(subscripts, *[weft.asarray(a, format="csf") for a in arrays])
