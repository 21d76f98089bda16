"""Plans of conversions: every pair of formats has one, the cheapest, and its steps are those that run."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from tests.formats_for_tests import FORMATS

import weft
from weft.assembly.hash_insertion import HashInsertionWriter
from weft.assembly.insertion_writer import InsertionWriter
from weft.assembly.user_query_writer import UserQueryWriter
from weft.errors import LoweringError
from weft.execution import ConversionReport, plan_for_operands, plan_of, steps
from weft.execution.conversion_request import (
    DataFacts,
    leaves_out_fill,
    plan_conversion,
    plan_format,
    planned_conversion,
)
from weft.execution.facts import Source
from weft.execution.hash_growth import table_insertion
from weft.execution.kernel import insertion_kernel
from weft.execution.plan_cache import plans as kept_plans
from weft.execution.result_ways import ways
from weft.formats import Compressed, Format, Singleton, TensorType, parse_format
from weft.formats.levels import Morton
from weft.index_notation.nodes import Access, Assignment
from weft.ir import Return, Var
from weft.remapping import Remapping

SHAPES = {1: (7,), 2: (4, 6), 3: (4, 3, 2)}
MANY, FEW = 30, 3  # entries: more than rows, and fewer
STEPS = ("ReuseArrays", "Append", "ListEntries", "Insert", "SortEntries")


def type_of(format, order=2, dtype="float64"):
    found = parse_format(format, order)
    return TensorType(dtype, found, ("int32",) * len(found.roles))


def facts(format, order=2, entries=MANY, parallel=False):
    return DataFacts.of(parse_format(format, order), SHAPES[order], entries)._replace(parallel=parallel)


def plan(source, target, order=2, dtype="float64", **of_data):
    known = facts(target, order, **of_data)
    have, wanted = type_of(source, order), parse_format(target, order)
    return plan_format(have, wanted, known, dtype, None, leaves_out_fill(have.format, wanted))


def ways_of(whole):
    return ways(whole.source, whole.target, whole.facts)


def is_chain(whole):
    """Each step takes what the one before returned, from the source of the plan to its target."""
    reads = [step.reads for step in whole.plan.steps]
    return bool(reads) and reads == [(n,) for n in range(len(reads))] and whole.steps[-1].makes == whole.target


def requests(parallel, entries):
    """Requests for every pair of formats of the catalogue, with some facts about the data."""
    for order, names in FORMATS.items():
        names = [*names, *(["sell", "mode_generic"] if order == 2 else [])]
        for source, target in itertools.product(names, repeat=2):
            if source != target:
                yield order, source, target, plan(source, target, order, parallel=parallel, entries=entries)


def chosen(parallel, entries):
    """For each way with the kinds of its steps, the pairs of formats that are converted so."""
    by_way = {}
    for order, source, target, whole in requests(parallel, entries):
        kinds = " + ".join(step.kind for step in whole.plan.steps)
        targets = by_way.setdefault(f"{whole.way}: {kinds}", {})
        targets.setdefault(source if order == 2 else f"{source} of {order} axes", []).append(target)
    return {f"{way} | {source} > {' '.join(each)}" for way, all in by_way.items() for source, each in all.items()}


def test_the_cheapest_way_is_taken_for_every_pair_of_formats(golden):
    usual = chosen(False, MANY)
    sections = [f"-- one thread, more entries than rows\n{chr(10).join(sorted(usual))}"]
    for title, facts in {
        "fewer entries than rows": (False, FEW),
        "several threads": (True, MANY),
        "several threads, fewer entries than rows": (True, FEW),
    }.items():
        sections.append(f"-- {title}, where it differs\n{chr(10).join(sorted(chosen(*facts) - usual))}")
    golden("ways.txt", "\n\n".join(sections) + "\n")


@pytest.mark.parametrize(("parallel", "entries"), [(False, FEW), (True, MANY)])
def test_no_way_that_is_not_asked_is_cheaper(parallel, entries):
    for _, source, target, whole in requests(parallel, entries):
        order = whole.source.type.format.order
        assert (whole.source.type.format, whole.target.format) == (
            parse_format(source, order),
            parse_format(target, order),
        )
        assert is_chain(whole)
        listed = ways_of(whole)
        assert (listed[0].name, listed[0].price) == (whole.way, whole.price)
        assert all(way.reason for way in listed)
        text = ConversionReport(whole).text
        assert text.startswith(f"{whole.source.type.format} float64 is converted to {whole.target.format} float64 in ")
        for number, step in enumerate(whole.plan.steps, 1):
            assert f"\n{number}. {step.kind}, " in text
            assert step.reason in text


@pytest.mark.parametrize("order", FORMATS)
def test_a_copy_in_notation_is_the_conversion(order):
    """So is a transposed copy: that of the operand with its axes reversed."""
    axes = tuple("ijk"[:order])
    tensors = [weft.zeros(SHAPES[order], format=name)._storage for name in FORMATS[order]]
    for storage in tensors:
        for wanted in (other.format for other in tensors):
            for target, given in ((axes, storage), (axes[::-1], storage.permuted((*range(order),)[::-1]))):
                if (target == axes and storage.format == wanted) or (storage.format.is_dense and wanted.is_dense):
                    continue  # values are computed: by a vector, or by an array in tiles
                assignment = Assignment(Access("C", target), Access("A", axes))
                (step,) = plan_for_operands(assignment, (storage,), format=wanted).steps
                assert step.conversion(storage) is plan_of(given, wanted)


def test_a_copy_in_notation_has_values_of_its_own():
    lent = sparse.csr_array(np.eye(3, 4, 1))
    A, dense = weft.asarray(lent), lent.toarray()
    copies = [
        (weft.evaluate("C(i,j) = A(i,j)", A=A, format="coo"), dense),
        (weft.evaluate("C(j,i) = A(i,j)", A=A, format="csc"), dense.T),
        (weft.evaluate("C(i,j) = A(j,i)", A=A.T, format=A.T.format), dense),
    ]
    blocks = sparse.bsr_array(np.eye(4, 4, 1), blocksize=(2, 2))
    B, dense_blocks = weft.asarray(blocks), blocks.toarray()
    copies.append((weft.evaluate("C(i,j) = B(i,j)", B=B, format="mode_generic"), dense_blocks))
    lent.data[:] = blocks.data[:] = 7
    for found, wanted in copies:
        np.testing.assert_array_equal(found.todense(), wanted)


def way(source, target, order=2, **of_data):
    return plan(source, target, order, **of_data).way


@pytest.mark.parametrize(
    ("source", "target", "order", "name"),
    [
        ("csr", "csr", 2, "reuse arrays"),
        ("coo", "csr", 2, "insert"),
        ("dense", "sd", 2, "via compressed levels"),
        ("hash", "csr", 2, "append"),
        ("gcxs", "csf", 3, "via entry list"),
        ("coo", "dcsc", 2, "via rows"),
        ("csr", "hicoo", 2, "sort and append"),
        ("ell", "hyb", 2, "via plain format"),
    ],
)
def test_each_way_is_taken(source, target, order, name):
    assert way(source, target, order) == name


def test_duplicates_are_summed_first_where_sums_differ():
    twice = TensorType("float64", Format.list_of(parse_format("coo", 2).remapping), ("int64",) * 3)
    whole = plan_format(twice, parse_format("csr", 2), facts("csr"), "float32", None, False)
    assert whole.way == "sum duplicates"
    assert is_chain(whole)
    assert [step.makes.dtype for step in whole.plan.steps][-2:] == ["float64", "float32"]


def test_duplicates_along_a_curve_are_summed_onto_fill_values():
    levels = Compressed(unique=False), Compressed(), Morton(unique=False), Singleton(ordered=False)
    format = Format(Remapping.parse("(i,j) -> (j/4,j%4,i/2,i%2)"), levels)
    coords, values = np.array([[0, 1, 2, 2, 4], [1, 3, 0, 4, 4]]), np.arange(1.0, 6)
    expected = np.full((5, 5), 3.0)
    expected[tuple(coords)] = values
    found = weft.from_coords(coords, values, (5, 5), format=format, fill_value=3.0)
    assert plan_of(found._storage, Format.dense(2)).way == "sum duplicates"
    np.testing.assert_array_equal(found.todense(), expected)


def test_hash_tables_take_rows_that_were_sorted_before_entries_in_any_order():
    whole = planned_conversion(parse_format("csr", 2).unsorted(False), parse_format("hash", 2), (4, 6), MANY, "float64")
    assert [step.kind for step in whole.plan.steps] == ["append", "insert"]
    with weft.config.override(disable={"intermediate-formats"}):
        assert ways_of(whole)[0].name == "sort and insert"


@pytest.mark.parametrize("target", ["csr", "bsr", "hash", "hicoo", "dia"])
def test_an_unsorted_list_is_not_listed_again(target):
    listed = TensorType("float64", Format.list_of(parse_format("coo", 2).remapping), ("int64",) * 3)
    whole = plan_conversion(Source.copy(listed), type_of(target), facts(target))
    assert is_chain(whole)
    assert whole.plan.steps[0].kind != "list entries" or target == "hicoo"  # whose list has codes of its curve


def test_facts_decide():
    assert way("csr", "dcsc", entries=MANY) == "via rows"
    few = plan("csr", "dcsc", entries=FEW)
    assert few.way == "sort and append"
    (rows,) = [each for each in ways_of(few) if each.name == "via rows"]
    assert rows.price > few.price
    assert rows.reason == "entries are put into rows or columns first; but there are fewer entries than rows"
    threads = plan("csr", "dia", parallel=True)
    assert threads.price == plan("csr", "dia").price / 2
    assert threads.plan.steps[0].reason.endswith("; threads share the passes")


@pytest.mark.parametrize(
    ("source", "target", "switch", "name"),
    [
        ("hyb", "csr", "row-sort", "sort and append"),
        ("csc", "bsr", "intermediate-formats", "sort and append"),
        ("csr", "dcsc", "intermediate-formats", "sort and append"),
        ("ell", "hyb", "intermediate-formats", "via plain format"),  # no other way is known
    ],
)
def test_switches_forbid_ways(source, target, switch, name):
    with weft.config.override(disable={switch}):
        assert way(source, target) == name


def test_equal_requests_have_one_plan():
    assert plan("csr", "dia") is plan("csr", "dia")
    assert plan("csr", "dia", entries=MANY) is plan("csr", "dia", entries=MANY + 1)


def tensor(format, order, rng):
    dense = np.where(rng.random(SHAPES[order]) < 0.6, rng.integers(1, 9, SHAPES[order]).astype(float), 0)
    return dense, weft.asarray(dense).asformat(format)


@pytest.mark.compiles_alone
@pytest.mark.parametrize(
    ("source", "target", "order"),
    [
        ("csr", "csr", 2), ("coo", "csr", 2), ("hash", "csr", 2), ("csr", "csc", 2), ("coo", "dcsc", 2),
        ("csr", "hicoo", 2), ("ell", "lil", 2), ("ell", "hyb", 2), ("dense", "sd", 2), ("gcxs", "csf", 3),
        ("csr", "banded", 2), ("dense", "dok", 2), ("dia", "dense", 2), ("hyb", "jad", 2),
    ],
)  # fmt: skip
def test_the_steps_of_a_plan_are_those_that_run(source, target, order, monkeypatch):
    dense, A = tensor(source, order, np.random.default_rng(0))
    kept_plans.clear()  # conversions of other tests may have left the step of an equal plan
    ran = []
    for name in STEPS:
        step = getattr(steps, name)

        def run(self, storages, out=None, own=step.run):
            (storage,) = storages
            made = own(self, storages)
            assert made.type == self.makes
            ran.append((self, storage.type))
            return made

        monkeypatch.setattr(step, "run", run)
    whole = plan_of(A._storage, parse_format(target, order))
    B = A.asformat(target)
    assert [id(step) for step, _ in ran] == [*map(id, whole.plan.steps)]
    assert [type for _, type in ran] == [whole.source.type, *(step.makes for step in whole.plan.steps[:-1])]
    assert np.array_equal(B.todense(), dense)


def test_stages_and_passes_of_every_step():
    report = ConversionReport(plan("coo", "dcsc"))
    for name in ("steps", "ways", "attribute queries", "c", "ir"):
        assert report.stages[name]
    assert report.passes["lowering"].count("-- step ") == 2
    assert "user schedule" not in report.passes
    assert "weft_insert" in report.stages["c"]
    assert "weft_evaluate" in report.stages["c"]
    assert "weft_sort_tuples" in ConversionReport(plan("csr", "hicoo")).stages["c"]
    nothing = ConversionReport(plan("csr", "csr"))
    assert not nothing.passes
    assert {name for name, text in nothing.stages.items() if text} == {"steps", "ways"}


def test_queries_are_shown_with_their_concrete_notation():
    text = ConversionReport(plan("csr", "csc")).text
    assert "level 2 (compressed): select [j] -> count(i) as pos\n     query2: ∀i ∀j Q(j) += map(B(i,j), 1)" in text
    widths = ConversionReport(plan("csr", "jad")).stages["attribute queries"]
    assert "select [] -> max(#i) as size\n  query1: ∀i Q() max= width(B(i))*1" in widths


# -- explain ---------------------------------------------------------------------------------------------------------
def test_explain_of_methods_that_convert():
    A = weft.random((6, 6), nnz=12, format="csr", rng=0)
    text = weft.explain(A.asformat, "dia")
    assert text == ConversionReport(plan_of(A._storage, parse_format("dia", 2))).text
    assert weft.explain(A.asformat, format="dia", index_dtype="int64") == text
    ways = weft.explain(A.asformat, "dia", ways=True)
    assert ways.startswith(
        f"{text}\n\n== ways\nthe price of an entry by each way:\n  insert, 6: attribute queries tell"
    )
    assert "\n  append, refused: the target stores coordinates that a remapping computes" in ways
    copied = weft.explain("C(i,j) = A(i,j)", A=A, format="dia", ways=True)
    assert copied == f"C(i,j) = A(i,j)\n{ways}"
    for method, target in [
        (A.tocsc, "csc"),
        (A.todok, "dok"),
        (A.todense, "dense"),
        (A.tocsr, "csr"),
        (A.tocoo, "coo"),
    ]:
        assert weft.explain(method).startswith(f"csr float64 is converted to {target} float64")
    assert weft.explain(A.todense, order="F").startswith("csr float64 is converted to dense_f")
    assert weft.explain(A.tobsr, (3, 3)).startswith("csr float64 is converted to bsr of (i/3,j/3,i%3,j%3)")
    assert weft.explain(A.asformat("dense").tobsr) != ""
    assert weft.explain(A.asformat, "dia", stages="c").startswith("== c\n-- step 1, insert, csr to dia\n")
    assert "== simplify\n" in weft.explain(A.asformat, "dia", stages="all")
    with pytest.raises(ValueError, match="there is no stage 'smplify'; did you mean 'simplify'"):
        weft.explain(A.asformat, "dia", stages="smplify")
    unsorted = weft.explain(A.asformat, "csc", sort=False)
    assert "to csc (dense, compressed(¬O)) float64" in unsorted


def test_explain_converts_nothing(monkeypatch):
    A = weft.random((6, 6), nnz=12, format="csr", rng=0)
    for name in STEPS:
        monkeypatch.setattr(getattr(steps, name), "run", lambda self, storages, out=None: pytest.fail("a step ran"))
    for target in ("dia", "hicoo", "dense"):
        assert weft.explain(A.asformat, target, ways=True)


def test_explain_asks_whether_a_format_holds_the_entries():
    A = weft.asarray(np.ones((4, 6))).asformat("csr")
    one_each = Format("(i,j) -> (i,j)", [Compressed(), Singleton()])
    with pytest.raises(weft.errors.StorageError, match="does not fit"):
        weft.explain(A.asformat, one_each)
    assert "in 1 step" in weft.explain(weft.eye(4).asformat("csr").asformat, one_each)


# -- what the compiler shows -----------------------------------------------------------------------------------------
@pytest.mark.compiles_alone
def test_debug_prints_the_passes_of_conversions(capfd):
    source, target = type_of("csr", dtype="uint16"), type_of("csc", dtype="uint16")
    kept_plans.clear()
    with weft.config.override(debug="attribute queries,simplify"):
        assert insertion_kernel(source, target, False)
        table_insertion(TensorType("uint16", Format.list_of(source.format.remapping), ("int64",) * 3),
                              type_of("hash", dtype="uint16"), True)  # fmt: skip
    shown = capfd.readouterr().err
    assert "== simplify: the conversion of csr uint16 to csc uint16\nfunction query2(" in shown
    assert "== attribute queries: the conversion of csr uint16 to csc uint16\nlevel 2 (compressed): select [j]" in shown
    assert "== simplify: the insertion of entries into hash uint16\nfunction grow(" in shown


@pytest.mark.compiles_alone
def test_passes_of_conversions_are_verified(monkeypatch):
    """As those of expressions are: each lowering is called by the name of its pass."""
    writers = {
        InsertionWriter: lambda: insertion_kernel(type_of("csr"), type_of("dia"), False).source,
        HashInsertionWriter: lambda: (
            table_insertion(
                TensorType("float64", Format.list_of(parse_format("coo", 2).remapping), ("int64",) * 3),
                type_of("hash"),
                True,
            ).module.source
        ),
        UserQueryWriter: lambda: weft.query(weft.eye(3, format="dcsr"), "select [j] -> count(i) as n"),
    }
    for writer, make in writers.items():
        kept_plans.clear()
        with monkeypatch.context() as broken, weft.config.override(debug="verify"):
            broken.setattr(writer, "epilogue", lambda self: Return(Var("nothing")))
            with pytest.raises(LoweringError, match=r"^lowering returned a malformed result: .*nothing"):
                make()
