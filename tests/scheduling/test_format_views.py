"""Format views: which structured tensors can be iterated by their levels, and why others cannot."""

import pytest

import weft
from weft.formats import Format, TensorType, parse_format
from weft.formats.levels import Compressed
from weft.index_notation import explicit_sums, parse
from weft.scheduling.schedule import forms_of, views_of
from weft.variant import DEFAULT, Variant

ORDERS = {"x": 1, "y": 1, "s": 0}
COPY = Variant(conversion=True)
DIAGONALS = Format("(i,j) -> (j-i,i)", [Compressed(), Compressed()])

REASONS = [
    ("y(i) = A(i,i)", {"A": "dia", "y": "dense"}, DEFAULT, {"A"}, "one index for two of its axes"),
    (
        "y(i) = A(i,j)*B(i,j)",
        {"A": "dia", "B": "bsr", "y": "dense"},
        DEFAULT,
        {"A", "B"},
        "different loops for an axis",
    ),
    ("C(i,j) = A(i,j)", {"A": "csr", "C": "ell"}, DEFAULT, {"C"}, "levels of the result cannot be appended"),
    ("s = max(i, sum(j, A(i,j)))", {"A": "dia", "s": "dense"}, DEFAULT, {"A"}, "belong to two reductions"),
    ("Y(i,j) = A(i,j) + B(i,j)", {"A": "dia", "B": "dense", "Y": "dense"}, DEFAULT, {"A"}, "every coordinate once"),
    (
        "C(i,j) = sum(k, sqrt(A(i,j)*x(k)))",
        {"A": DIAGONALS, "x": "dense", "C": DIAGONALS},
        DEFAULT,
        {"A", "C"},
        "workspaces are over coordinates from 0",
    ),
    ("C(i,j) = A(i,j)", {"A": "dia", "C": "csr"}, COPY, set(), "a conversion must not ask for another"),
]


def views(text, formats, variant):
    assignment = explicit_sums(parse(text))
    types = {
        name: TensorType.of("float64", parse_format(f, ORDERS.get(name, 2)) if isinstance(f, str) else f)
        for name, f in formats.items()
    }
    return views_of(forms_of(assignment, types), types, variant)


@pytest.mark.parametrize(("text", "formats", "variant", "kept", "reason"), REASONS)
def test_views_say_why_they_are_impossible(text, formats, variant, kept, reason):
    seen = {view.kept: view.why_not for view in views(text, formats, variant)}
    assert reason in seen.pop(frozenset(kept))
    assert None in seen.values()  # another view is possible


def test_kept_operands_drive_the_loops():
    kept, plain = views("y(i) = A(i,j)*x(j)", {"A": "bsr", "x": "dense", "y": "dense"}, DEFAULT)
    assert kept.kept == {"A"}
    assert kept.stored_plainly == ()
    assert {d.var for d in kept.derived} == {"i", "j"}
    assert kept.free_loops == ("i/2", "i%2")
    assert kept.assignment.value.vars == ("j/2", "j%2")
    assert plain.stored_plainly == (("A", "A_plain"),)
    assert not plain.types["A_plain"].format.is_structured


def test_results_that_are_not_kept_are_converted_at_the_end():
    plain = next(view for view in views("C(i,j) = A(i,j)", {"A": "csr", "C": "ell"}, DEFAULT) if view.why_not is None)
    assert plain.types["C"].format == parse_format("csr", 2)
    assert not plain.types["C"].format.is_structured


def test_the_pass_shows_the_reasons():
    kernel = weft.compile("y(i) = A(i,i)", A="dia")
    assert "not y(i) = A(i,i) by the levels of A: a tensor has one index" in kernel.passes["format views"]
