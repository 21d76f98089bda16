"""Strategies: each is the cheapest somewhere; the passes after them cut loops, and mark the loop that threads share."""

import numpy as np
import pytest

import weft
from weft.concrete_notation import to_text
from weft.errors import FormatError
from weft.formats import TensorType, parse_format
from weft.index_notation import explicit_sums, parse
from weft.scheduling.schedule import cheapest_schedule, forms_of, share_loop, views_of
from weft.scheduling.strategies import DENSE_RESULT, STRATEGIES
from weft.scheduling.tiling import tile_loops
from weft.variant import DEFAULT, Variant

COPY, DENSE = Variant(conversion=True), Variant(accumulator="dense")
MATRICES = {"A": "csr", "B": "csr", "C": "csr"}
CASES = {  # for each strategy, what it is the cheapest for
    "Gather": ("y(i) = A(i,j)*x(j)", {"A": "csr", "x": "dense", "y": "dense"}, Variant()),
    "Scatter": ("y(j) = A(i,j)*x(i)", {"A": "csr", "x": "dense", "y": "dense"}, Variant()),
    "Scatter by max": ("y(j) = max(i, A(i,j))", {"A": "coo", "y": "dense"}, Variant()),
    "BlockScatter": ("Y(i,k) = A(i,j)*X(j,k)", {"A": "dcsr", "X": "dense", "Y": "sd"}, Variant()),
    "ResultWorkspace": ("C(i,k) = A(i,j)*B(j,k)", MATRICES, Variant()),
    "CoordinateList": ("C(i,j) = A(i,j)", {"A": "dia", "C": "csr"}, COPY),
    "ResultWorkspace of all": ("C(j,k) = A(i,j)*B(i,k)", MATRICES, DENSE),
}


def scheduled(text, formats, variant=DEFAULT):
    assignment = explicit_sums(parse(text))
    fill = -np.inf if "max" in text else 0.0
    orders = {"x": 1, "y": 1}
    types = {
        name: TensorType.of("float64", parse_format(format, orders.get(name, 2)), fill=fill)
        for name, format in formats.items()
    }
    return cheapest_schedule(views_of(forms_of(assignment, types), types, variant), assignment, types, variant)


def strategy_of(schedule):
    return type(schedule.candidate.strategy).__name__


@pytest.mark.parametrize("name", CASES)
def test_each_strategy_is_the_cheapest_somewhere(name):
    assert strategy_of(scheduled(*CASES[name])) == name.split()[0]


def test_every_strategy_has_a_case():
    assert {type(strategy).__name__ for strategy in (*STRATEGIES, DENSE_RESULT)} == {name.split()[0] for name in CASES}


def test_the_dense_result_is_proposed_to_the_variant_alone():
    text, formats, _ = CASES["ResultWorkspace of all"]
    usual = scheduled(text, formats)
    assert usual.candidate.strategy != DENSE_RESULT
    assert usual.dense_result_possible
    dense = scheduled(*CASES["ResultWorkspace of all"])
    assert dense.candidate.strategy == DENSE_RESULT
    assert not dense.dense_result_possible


def test_conversions_ask_for_no_other():
    for text, formats in [("C(i,j) = A(j,i)", {"A": "csr", "C": "csr"}), ("C(i,j) = A(i,j)", {"A": "dia", "C": "csc"})]:
        assert scheduled(text, formats, COPY).conversions == ()
    assert scheduled("C(i,j) = A(j,i) + B(i,j)", MATRICES).conversions


def test_a_sparse_result_takes_no_additions():
    with pytest.raises(FormatError, match="'\\+=' adds in place to a dense result, not to one in csr; write"):
        scheduled("C(i,j) += A(i,j)", MATRICES)


def test_loops_are_cut_after_they_are_chosen():
    whole = scheduled("y(i) = A(j,i)*x(j)", {"A": "dia", "x": "dense", "y": "dense"})
    assert whole.program.splits == ()
    cut = tile_loops(whole)
    assert [split.tiles for split in cut.program.splits] == ["i"]
    assert cut.notes[: len(whole.notes)] == whole.notes
    assert "loops are cut into tiles over i" in cut.notes[-1]


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("Gather", True),
        ("Scatter", False),
        ("ResultWorkspace", True),
        ("CoordinateList", False),
        ("ResultWorkspace of all", False),
    ],
)
def test_the_outermost_loop_is_shared_where_it_writes_elements_of_its_own(name, shared):
    schedule = scheduled(*CASES[name])
    assert " parallel" not in to_text(schedule.program.stmt)
    assert (" parallel" in to_text(share_loop(schedule).program.stmt)) == shared


def test_debug_shows_tiling(capfd):
    with weft.config.override(debug="tiling,parallel-loop"):
        weft.compile("y(j) = A(i,j)*x(i)", A="dia", x="dense")
    shown = capfd.readouterr().err
    assert shown.index("forall j_tile\n") < shown.index("forall j_tile parallel\n")
    with weft.config.override(debug="tiling"):  # loops that are scheduled by hand are whole
        weft.compile("y(j) = A(i,j)*x(i)", A="dia", x="dense", schedule=lambda loops: loops)
    assert "tile" not in capfd.readouterr().err


@pytest.mark.parametrize("text", ["y(j) = 0.85*A(i,j)*x(i) + 0.1", "y(j) = 3 - A(i,j)*x(i)"])
def test_a_sum_is_scattered_onto_a_constant(text):
    """The result starts with the constant; ``A`` by rows is not converted."""
    whole, x = np.array([[0.0, 1, 2], [0, 0, 0], [4, 0, 5]]), np.array([1.0, 2, 3])
    A = weft.asarray(whole, format="csr")
    assert "converts" not in weft.explain(text, A=A, x=x)
    expected = 0.85 * (whole.T @ x) + 0.1 if "0.1" in text else 3 - whole.T @ x
    np.testing.assert_allclose(weft.evaluate(text, A=A, x=x), expected, rtol=1e-15)
    none = weft.evaluate(text, A=weft.zeros((0, 3), format="csr"), x=x[:0])
    np.testing.assert_array_equal(none, np.full(3, 0.1 if "0.1" in text else 3))
