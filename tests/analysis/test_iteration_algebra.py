"""The iteration algebra: operators that an implicit operand annihilates are intersections, others unions."""

import pytest

from weft.analysis.coordinate_sets import is_driven, visits
from weft.analysis.iteration_algebra import Combination, fold, region_of
from weft.formats import TensorType, parse_format
from weft.index_notation import explicit_sums, parse
from weft.index_notation.nodes import Reduce


def types(**fills):
    names = {"A": 0.0, "B": 0.0, "C": 0.0, **fills}
    return {name: TensorType.of("float64", parse_format("csr", 2), fill=fill) for name, fill in names.items()}


def as_text(region):
    """Return a region as text, with the operands that decide an intersection."""

    def meet(a, b, deciding):
        return f"({a} and{''.join(map(str, deciding))} {b})"

    return fold(region, lambda part: "sum" if isinstance(part, Reduce) else part.tensor, meet, "({0} or {1})".format)


@pytest.mark.parametrize(
    ("text", "fills", "region"),
    [
        ("A(i,j)*B(i,j) + C(i,j)", {}, "((A and01 B) or C)"),
        ("A(i,j)*(B(i,j) + C(i,j))", {}, "(A and01 (B or C))"),
        ("A(i,j)*B(i,j)", {"A": 1.0}, "(A and1 B)"),  # ones leave the other factor, which is no intersection for it
        ("A(i,j)*B(i,j)", {"A": 1.0, "B": 1.0}, "(A or B)"),
        ("minimum(A(i,j), B(i,j))", {"A": float("-inf")}, "(A or B)"),
        ("2*abs(A(i,j)) + 1", {}, "A"),
        ("A(i,j)*sum(k, B(i,k)*C(k,j))", {}, "(A and01 sum)"),
        ("1/3", {}, None),
    ],
)
def test_regions(text, fills, region):
    value = explicit_sums(parse(f"y(i,j) = {text}")).value
    assert as_text(region_of(value, types(**fills))) == region


def test_constants_are_kept_beside_operands():
    """A bound of a sum needs one of each operand, and a constant has none."""
    value = parse("y(i,j) = A(i,j) + 1").value
    assert region_of(value, types()) == Combination(value.args[0], None, ())


def test_answers():
    value, entries, extents = (
        parse("y(i,j) = A(i,j)*B(i,j) + C(i,j)").value,
        {"A": 3, "B": 5, "C": 7},
        {"i": 10, "j": 10},
    )
    A, B, C = value.distinct_accesses
    assert [is_driven(value, {*drivers}, types()) for drivers in ((A,), (A, C), (B, C))] == [False, True, True]
    assert visits(value, entries, types(), extents) == 10
    outer = parse("y(i,j) = A(i,i)*B(j,j)").value
    assert visits(outer, entries, types(), extents) == 30
