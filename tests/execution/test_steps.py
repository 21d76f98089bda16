"""Expressions of many operands: merges whose cases would double with each are cut into steps."""

import weakref

import numpy as np
import pytest
from tests.oracle import evaluate_dense

import weft
from weft.analysis import merge_lattice
from weft.config import config
from weft.derivatives import tangent
from weft.errors import FormatError, ShapeError
from weft.execution import PlanReport, evaluation, planning
from weft.execution.plan_cache import plans
from weft.execution.steps import ComputePart
from weft.formats import Dense
from weft.index_notation import explicit_sums, parse, to_text
from weft.index_notation.nodes import Access
from weft.index_notation.standard_names import anonymous
from weft.ir import nodes as ir
from weft.ir.builder import minimum
from weft.optimiser.cuts import in_pairs
from weft.storage import check

MANY = 27
SHAPES = {1: (9,), 2: (7, 9), 3: (4, 5, 3)}
INDICES = {1: "i", 2: "i,j", 3: "i,j,k"}
BANDS = ("dia", "skyline", "banded")


def formats():
    for name in weft.formats:
        for order in SHAPES:
            try:
                weft.formats[name](order)
            except FormatError:
                continue
            yield name, order


def operands(format, shape, many=MANY, dtype=float, integers=False, seed=0):
    rng = np.random.default_rng(seed)
    for n in range(many):
        values = rng.integers(-3, 4, shape) if integers else rng.standard_normal(shape) * 10
        kept = rng.random(shape) < 0.25
        if format in BANDS:
            kept = np.abs(np.subtract.outer(*map(np.arange, shape))) <= n % 3
        yield np.where(kept, values, 0).astype(dtype)


def named(arrays, format):
    return {f"T{n}": weft.asarray(a, format=format) for n, a in enumerate(arrays)}


def text(op, many=MANY, order=2):
    return f"y({INDICES[order]}) = " + op.join(f"T{n}({INDICES[order]})" for n in range(many))


def planned(expression, tensors):
    assignment = parse(expression)
    return evaluation.plan_for(assignment, tuple(tensors[n]._storage.type for n in evaluation._read(assignment)[1]))


@pytest.fixture(autouse=True)
def quick():
    with config.override(optimization=0):
        yield


# -- results --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("format", "order"), [*formats()])
def test_sums_in_every_format(format, order):
    """To the last bit, as they are added in the order in which they are written."""
    if format in BANDS and order != 2:
        return
    arrays = list(operands(format, SHAPES[order]))
    found = weft.evaluate(text(" + ", order=order), **named(arrays, format))
    expected = arrays[0]
    for a in arrays[1:]:
        expected = expected + a
    check(found._storage)
    np.testing.assert_array_equal(found.todense(), expected)
    if not weft.formats[format](order).is_structured:
        some = np.any([a != 0 for a in arrays], axis=0)
        assert found.nnz == (some.sum() if not found._storage.format.is_dense else some.size)


@pytest.mark.parametrize("format", ["csr", "coo", "hash", "bsr", "dense"])
@pytest.mark.parametrize(
    "expression",
    [
        "y(i,j) = " + "+".join(f"T{3 * n}(i,j)*T{3 * n + 1}(i,j)*T{3 * n + 2}(i,j)" for n in range(9)),
        "y(i,j) = " + "*".join(f"(T{3 * n}(i,j)+T{3 * n + 1}(i,j)-T{3 * n + 2}(i,j))" for n in range(9)),
        "y(i,j) = " + "".join(f"minimum(T{n}(i,j), " for n in range(26)) + "T26(i,j)" + ")" * 26,
        "y(i,j) = " + "".join(f"maximum(abs(T{n}(i,j)), " for n in range(26)) + "T26(i,j)" + ")" * 26,
        "y(i) = max(j, " + "+".join(f"T{n}(i,j)" for n in range(27)) + ")",
        "y = sum(i, j, (" + "+".join(f"T{n}(i,j)" for n in range(26)) + ")*T26(i,j))",
        "y(i) = " + "+".join(f"T{n}(i,j)*T26(i,j)" for n in range(26)),
        "y(i) = " + "+".join(f"max(j, T{n}(i,j))" for n in range(27)),
        "y(j,i) = " + "+".join(f"T{n}(i,j)*{n}" for n in range(27)),
        "y(i,j) = sqrt(abs(" + "-".join(f"T{n}(i,j)" for n in range(27)) + ")) + 1",
        "y(i,j) = greater(" + "+".join(f"T{n}(i,j)" for n in range(26)) + ", T26(i,j))",
    ],
)
def test_mixed_expressions(format, expression):
    arrays = list(operands(format, SHAPES[2], integers=True))
    tensors = named(arrays, format)
    found = weft.evaluate(expression, **{n: t for n, t in tensors.items() if f"{n}(" in expression})
    given = {f"T{n}": a for n, a in enumerate(arrays) if f"T{n}(" in expression}
    expected = evaluate_dense(parse(expression), given)
    np.testing.assert_array_equal(found.todense() if isinstance(found, weft.SparseTensor) else found, expected)


def test_promotion_and_wrapping_are_those_of_pairs():
    dtypes = ["int8", "int8", "uint8", "int16", "float32", "float64"]
    arrays = [np.full((3, 4), 100, dtype) * np.eye(3, 4).astype(bool) for dtype in dtypes for _ in range(4)]
    found = weft.evaluate(text(" + ", len(arrays)), **named(arrays, "coo"))
    expected = arrays[0]
    for a in arrays[1:]:
        expected = expected + a
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.todense(), expected)


def test_fill_values_nan_infinity_duplicates_and_nothing():
    tensors = {}
    rng = np.random.default_rng(1)
    for n in range(MANY):
        coords = rng.integers(0, 6, (2, n))
        values = rng.choice([1.0, -1.0, 0.0, np.nan, np.inf], n)
        tensors[f"T{n}"] = weft.from_coords(coords, values, (6, 6), fill_value=n % 3, duplicates="keep")
    found = weft.evaluate(text(" + "), **tensors)
    with np.errstate(all="ignore"):
        expected = evaluate_dense(parse(text(" + ")), {n: t.todense() for n, t in tensors.items()})
    assert found.fill_value == sum(n % 3 for n in range(MANY))
    np.testing.assert_array_equal(found.todense(), expected)
    empty = {f"T{n}": weft.asarray(np.zeros((0, 4)), format="coo") for n in range(MANY)}
    assert weft.evaluate(text(" + "), **empty).shape == (0, 4)


@pytest.mark.compiles_alone
@pytest.mark.parametrize("format", ["csr", "coo", "bsr", "ell", "hash", "dcsr"])
def test_steps_store_what_one_nest_of_loops_stores(format, monkeypatch):
    arrays = list(operands(format, (8, 10), many=4))  # of whole blocks: nothing is said of what lies beyond an edge
    arrays[1] = -arrays[0]  # sums to zeros, which are stored
    tensors = named(arrays, format)
    expressions = [text(" + ", 4), text(" - ", 4), "y(i,j) = (T0(i,j)+T1(i,j)+T2(i,j))*T3(i,j)"]
    found = {}
    for most in (float("inf"), 0):
        monkeypatch.setattr(planning, "MANY_CASES", most)
        plans.clear()
        found[most] = [weft.evaluate(e, **{k: t for k, t in tensors.items() if f"{k}(" in e}) for e in expressions]
    plans.clear()
    for whole, steps in zip(*found.values(), strict=True):
        assert whole._storage.type == steps._storage.type
        for a, b in zip(whole._storage.arrays, steps._storage.arrays, strict=True):
            np.testing.assert_array_equal(a, b)
        assert whole._storage.vals.tobytes() == steps._storage.vals.tobytes()


def test_negative_zeros_are_added_as_they_are():
    tensors = {f"T{n}": weft.from_coords([[0], [1]], [-0.0], (2, 2), format="csr") for n in range(MANY)}
    for many in (3, 4, MANY):
        found = weft.evaluate(text(" + ", many), **{f"T{n}": tensors[f"T{n}"] for n in range(many)})
        assert np.signbit(found.todense()[0, 1])


@pytest.mark.parametrize("expression", ["T0(i,j) - (T1(i,j) - T2(i,j))", "T0(i,j) + T1(i,j) + T2(i,j) + T0(i,j)"])
def test_sums_in_one_nest_are_in_the_order_written(expression):
    arrays = list(operands("csr", (30, 30), many=3, seed=5))
    expected = evaluate_dense(parse(f"y(i,j) = {expression}"), {f"T{n}": a for n, a in enumerate(arrays)})
    found = weft.evaluate(f"y(i,j) = {expression}", **named(arrays, "csr"))
    np.testing.assert_array_equal(found.todense(), expected)


@pytest.mark.parametrize("format", ["coo", "csr", "hash", "dense"])
@pytest.mark.parametrize("optimize", ["auto", False])
def test_einsum(format, optimize):
    arrays = [a + (np.arange(9) % 2) for a in operands(format, (9,), integers=True)]
    tensors = [weft.asarray(a, format="hash_vector" if format == "hash" else format) for a in arrays]
    found = weft.einsum(",".join("i" * MANY) + "->i", *tensors, optimize=optimize)
    np.testing.assert_array_equal(found.todense(), np.prod(arrays, axis=0))


def test_accumulation():
    arrays = list(operands("coo", SHAPES[2], integers=True))
    before = np.ones(SHAPES[2])
    found = weft.evaluate(text(" + ").replace("=", "+="), y=before, format="dense", **named(arrays, "coo"))
    np.testing.assert_array_equal(found, before + np.sum(arrays, axis=0))


def test_other_formats_and_dtypes_of_the_result():
    arrays = list(operands("csr", SHAPES[2], integers=True, dtype="int8"))
    for format in ("csc", "dense", "dia"):
        found = weft.evaluate(text(" + "), format=format, dtype="float64", **named(arrays, "csr"))
        assert (found.format, found.dtype) == (format, np.dtype("float64"))
        np.testing.assert_array_equal(found.todense(), np.sum([a.astype(float) for a in arrays], axis=0))


def test_huge_dimensions():
    n = 2**40
    tensors = {f"T{k}": weft.from_coords([[k, 5], [n - 1, k]], [1.0, 2.0], (n, n)) for k in range(MANY)}
    found = weft.evaluate(text(" + "), **tensors)
    assert found.shape == (n, n)
    assert found.nnz == 2 * MANY
    assert found.sum() == 3.0 * MANY


# -- how much is compiled -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", ["csr", "coo", "bsr", "ell", "hicoo"])
def test_steps_share_their_kernels(format):
    """Whatever the names of operands and variables: three kernels at most, each of a merge of two."""
    tensors = named(operands(format, SHAPES[2]), format)
    found = planned(text(" + "), tensors)
    assert found.is_in_steps
    assert len(found.steps) == MANY - 1
    assert len({step.plan.kernel.source for step in found.steps}) <= 3
    assert len(PlanReport(found).source) < 100_000
    assert all(step.plan.kernel.module.is_within(merge_lattice.MANY_CASES) for step in found.steps)


@pytest.mark.parametrize("format", ["coo_aos", "hash"])
def test_sums_inside_others_are_computed_once(format):
    """The tangent of a product of sums has one of these seven times: a merge of 14 reads of ``D`` in one nest."""
    text = "y(j) = prod(i, l, -sum(k, -(not_equal(D(i,k,j), 0)*D(i,j,l))))"
    rng = np.random.default_rng(0)
    dense, change = np.where(rng.random((2, 2, 2)) < 0.5, rng.random((2, 2, 2)), 1.5), rng.random((2, 2, 2))
    tensors = {"D": weft.asarray(dense, format=format, fill_value=1.5)}
    tensors["D_dot"] = weft.asarray(change, format=format)
    statement, dots = tangent(explicit_sums(parse(text)), ["D"])
    assert dots == {"D": "D_dot"}
    found = planned(to_text(statement), tensors)
    assert found.is_in_steps
    assert len(found.steps) == 5
    assert all(step.plan.kernel.module.is_within(merge_lattice.MANY_CASES) for step in found.steps)
    _, computed = weft.jvp(text, {"D": tensors["D"]}, {"D": tensors["D_dot"]})
    sums = dense * 2
    np.testing.assert_allclose(computed, np.prod(sums, (0, 2)) * (2 * change / sums).sum((0, 2)))


def test_one_nest_spares_a_large_part():
    """The part would hold an element for each ``i``, ``j`` and ``k``; one nest of loops has a few cases too many."""
    C = np.where(np.arange(20).reshape(4, 5) % 3, 1.5, np.arange(20).reshape(4, 5))[:, :4]
    tensors = {"C": weft.asarray(C, format="dcsr", fill_value=1.5)}
    text = "y(j,i) = sum(k, absolute(minimum(C(k,j)*C(i,j), C(k,i))))"
    assert not planned(text, tensors).is_in_steps
    products = np.abs(np.minimum(C[:, :, None] * C.T, C[:, None]))
    np.testing.assert_allclose(weft.evaluate(text, **tensors).todense(), products.sum(0))


def test_parts_are_dropped_after_their_last_use(monkeypatch):
    parts, alive, run = [], [], ComputePart.run

    def counted(self, storages, out=None):
        result = run(self, storages, out)
        parts.append(weakref.ref(result.vals))
        alive.append(sum(part() is not None for part in parts))
        return result

    tensors = named(operands("csr", SHAPES[2]), "csr")
    found = planned(text(" + "), tensors)
    monkeypatch.setattr(ComputePart, "run", counted)
    found.run(tuple(tensor._storage for tensor in tensors.values()))
    assert len(alive) == MANY - 1
    assert max(alive) == 2  # the part that is made, and that which it reads


def test_few_operands_are_one_nest_of_loops():
    for format, many in (("csr", 4), ("coo", 3), ("bsr", 3)):
        found = planned(text(" + ", many), named(operands(format, SHAPES[2]), format))
        assert not found.is_in_steps


def test_what_needs_no_merge_is_one_nest_of_loops():
    dense = planned(text(" + "), named(operands("dense", SHAPES[2]), "dense"))
    diagonals = planned(text(" + "), named(operands("dia", SHAPES[2]), "dia"))  # added where they lie, one by one
    product = planned(text(" * "), named(operands("coo", SHAPES[2]), "coo"))
    rows = "y(i) = " + "+".join(f"T{n}(i,j)*T26(i,j)" for n in range(26))
    sums = planned(rows, named(operands("csr", SHAPES[2]), "csr"))
    for found in (dense, diagonals, product, sums):
        assert not found.is_in_steps
        assert len(found.kernel.source) < 120_000


def test_a_part_is_not_made_where_it_would_hold_more_than_is_needed():
    """``x(i)`` has a value in every column: the sum with it is wanted in those of ``C`` alone."""
    types = {n: weft.random((5, 5), density=0.2, format="csr")._storage.type for n in "ABCD"}
    types["x"] = weft.asarray(np.ones(5))._storage.type
    spread = explicit_sums(parse("y(i,j) = (A(i,j) + x(i) + B(i,j))*(C(i,j) + D(i,j))"))
    assert [p.value for p in in_pairs(spread, types).parts] == [parse("t(i,j) = C(i,j) + D(i,j)").value]
    assert in_pairs(explicit_sums(parse("y(i,j) = (A(i,j) + x(i) + B(i,j))*C(i,j)")), types) is None


def test_equal_steps_have_equal_names():
    a, b = (explicit_sums(parse(t)) for t in ("T1(j) = A(j,i) + sum(k, B(j,k))", "q(x) = r(x,y) + sum(z, s(x,z))"))
    assert anonymous(a) == anonymous(b)


def test_lattices_do_not_double_with_what_is_everywhere():
    level = {f"T{n}": merge_lattice.LevelIterator(Access(f"T{n}", ("i",)), 0, Dense(), f"T{n}1") for n in range(MANY)}
    value = parse(text(" + ", order=1)).value
    universe = merge_lattice.LevelIterator(None, 0, Dense(), "I")
    (point,) = merge_lattice.build(value, lambda a: (level[a.tensor],), lambda a: 0, universe, 0)
    assert len(point.iterators) == MANY
    csr = weft.formats["csr"](2).levels[1]
    level = {n: weft.records.replace(it, format=csr) for n, it in level.items()}
    with pytest.raises(merge_lattice.TooManyCases):
        merge_lattice.build(value, lambda a: (level[a.tensor],), lambda a: 0, universe, 0, merge_lattice.MANY_CASES)


def test_the_least_of_many_is_short():
    found = minimum(*(ir.Var(f"i{n}") for n in range(MANY)))
    assert repr(found).count("Var(") < 4 * MANY**2


# -- what is said ---------------------------------------------------------------------------------------------------
def test_explain_says_so():
    found = weft.explain(text(" + "), **named(operands("coo", SHAPES[2]), "coo"), stages=True)
    assert found.startswith("== steps\n26 steps: in one nest of loops, 27 operands would make too many cases\n")
    assert "\nT1_(i,j)" not in found
    assert "y(i,j) = " in found
    assert len(found) < 110_000


def test_shapes_that_do_not_fit_are_told_in_terms_of_the_whole():
    tensors = named(operands("coo", SHAPES[2]), "coo")
    tensors["T13"] = weft.asarray(np.eye(4), format="csr")
    with pytest.raises(ShapeError, match=r"T13\(i,j\)(.|\n)*y\(i,j\) = T0\(i,j\) \+ T1(.|\n)*T13: csr"):
        weft.evaluate(text(" + "), **tensors)


def test_compiled_kernels():
    arrays = list(operands("coo", SHAPES[2], integers=True))
    kernel = weft.compile(text(" + "), **{f"T{n}": "coo" for n in range(MANY)})
    assert len(kernel.source) < 100_000
    assert "steps" in kernel.stages
    assert "26 steps" in kernel.explain(stages=True)
    np.testing.assert_array_equal(kernel(*named(arrays, "coo").values()).todense(), np.sum(arrays, axis=0))
    with pytest.raises(FormatError, match="in several steps"):
        kernel.assemble(*named(arrays, "coo").values())
