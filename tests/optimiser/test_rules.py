"""Programs compute what their statements say: for random statements, by NumPy and by kernels."""

import itertools

import numpy as np
import pytest
from tests.kernel_batches import together
from tests.oracle import evaluate_dense

import weft
from optimiser.random_programs import SUMS, Case, Statements, always_apart, by_numpy
from weft import execution
from weft.analysis.terms import Dtypes, additive_terms
from weft.code_options import code_options
from weft.errors import WeftError
from weft.formats.format import dtypes_of
from weft.index_notation import explicit_sums, parse, to_text
from weft.index_notation.program import Program
from weft.index_notation.traversal import variables
from weft.optimiser import TABLE, one_order, one_sum, rules
from weft.optimiser.cuts import ONE_DIAGONAL, diagonals_first
from weft.records import replace

KINDS = ("contraction", "nested", "scaled", "inside", "quotient", "terms", "deep")
OPERANDS = {
    "floats": {},
    "mixed": {"dtypes": ("int64", "int8", "float32", "float64", "bool")},
    "narrow": {"dtypes": ("int8",)},
    "special": {"values": (np.nan, np.inf, -0.0), "fills": True},
}


@pytest.fixture(autouse=True)
def every_part_pays(monkeypatch):
    always_apart(monkeypatch)


def programs(kind, operands, seed, many):
    """Cases that have a program in parts."""
    source, found = Statements(seed, **OPERANDS[operands]), []
    for _ in range(3 * many):
        case = source.case(kind)
        try:
            program = case.program()
        except WeftError:  # dtypes that no operator takes
            continue
        if program.parts:
            found.append((case, program))
        if len(found) == many:
            break
    return found


def changes_no_bit(program, dtype):
    return {*program.rules} <= {*SUMS, "shared-parts"} or dtype.kind in "biu"


def assert_same(found, expected, program, operands):
    assert found.dtype == expected.dtype
    if operands == "special":
        # What a part does not store annihilates, as what an operand does not store.
        found = np.where(np.isnan(expected) & (found == 0), expected, found)
    if operands == "special" and not changes_no_bit(program, expected.dtype):
        return  # another order of products that are infinite or NaN
    close = {"rtol": 1e-5 if expected.dtype == np.float32 else 1e-10, "atol": 1e-9}
    np.testing.assert_allclose(found, expected, **close, err_msg=program.text)


@pytest.mark.parametrize("operands", OPERANDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_program_computes_what_one_statement_does(kind, operands):
    found = programs(kind, operands, 0, 10 if operands == "mixed" else 40)
    assert len(found) >= (10 if operands in ("floats", "narrow") else 0)
    for case, program in found:
        expected = evaluate_dense(case.assignment, case.arrays)
        with np.errstate(all="ignore"):
            assert_same(by_numpy(program, case.arrays), expected, program, operands)


@pytest.mark.parametrize("operands", ["floats", "mixed", "narrow"])
def test_the_one_form_computes_what_is_written(operands):
    source, changed = Statements(4, **OPERANDS[operands]), dict.fromkeys((*KINDS, "split", "counted"), 0)
    for kind in changed:
        for _ in range(60):
            case = source.case(kind)
            explicit = explicit_sums(case.assignment)
            try:
                normal = one_form(explicit, case.storages)
                expected, found = (evaluate_dense(each, case.arrays) for each in (explicit, normal))
            except (WeftError, OverflowError):  # dtypes that no operator takes
                continue
            changed[kind] += normal != explicit
            assert_same(found, expected, Program((normal,), case.assignment, ()), operands)
            exact = evaluate_dense(one_form(explicit, case.storages, reassociate=False), case.arrays)
            np.testing.assert_array_equal(exact, expected, to_text(explicit))
    assert all(changed[kind] > 10 for kind in ("contraction", "nested", "split", "counted")), changed


SOURCES = {
    rules.nested_sums: "twice", rules.one_sum: "nested", rules.scaled_sum: "scaled", rules.pair_in_order: "deep",
    rules.factors_in_order: "contraction", rules.split_sum: "split", rules.counted_entries: "counted",
    "contraction-order": "scaled", "own-tensors": "inside", "invariant-parts": "quotient",
}  # fmt: skip
"""The kind of statements to which a rule applies: one with a rewrite by this, a choice by its name."""


def applications(rule, source):
    """Statements to which a rule applies, with the programs that it makes of them."""
    is_choice = rule.name in SOURCES
    while True:
        case = source.case(SOURCES[rule.name if is_choice else rule.rewrite])
        try:
            program = case.program() if is_choice else after(rule, case)
        except WeftError:  # dtypes that no operator takes
            continue
        if rule.name in program.rules:
            yield case, program


def after(rule, case, **options):
    explicit, types = explicit_sums(case.assignment), {name: s.type for name, s in case.storages.items()}
    facts = rules.Facts(Dtypes(dtypes_of(types)), types, explicit.target.indices)
    facts.names |= {*variables(explicit.value)}
    new = replace(explicit, value=rules.applied(rule, explicit.value, facts, code_options(**options)))
    return Program((new,), case.assignment, (), rules=(rule.name,) if new != explicit else ())


@pytest.mark.parametrize("operands", ["floats", "narrow"])
@pytest.mark.parametrize("number", [n for n, rule in enumerate(TABLE) if rule is not ONE_DIAGONAL])
def test_each_rule_keeps_values(number, operands):
    rule = TABLE[number]
    for case, program in itertools.islice(applications(rule, Statements(number, **OPERANDS[operands])), 200):
        expected = evaluate_dense(case.assignment, case.arrays)
        assert_same(by_numpy(program, case.arrays), expected, program, operands)
        exact = case.program(reassociate=False) if rule.name in SOURCES else after(rule, case, reassociate=False)
        if exact.rules:
            np.testing.assert_array_equal(by_numpy(exact, case.arrays), expected, exact.text)


@pytest.mark.parametrize(
    "text",
    [
        "s(i) = sum(j, A(i,j) + A(j,j))",
        "s(j_1) = sum(j, A(j_1,j) + A(j,j)) + sum(j, A(j,j) + A(j,j_1))",
        "s = sum(j, A(j,j) + A(j,j)) + 2*sum(j_1, A(j_1,j_1) - A(j_1,j_1))",
        "s(i) = max(j, A(i,j)*sum(k, A(j,k) + A(k,j)))",
        "s(k) = sum(j, (A(j,k) + c(k))*(d(j)*d(j)))",
        "S(j,k) = sum(i, (A(i,k) - A(i,i))*(c(k)*c(k)))*d(j)",
    ],
)
def test_sums_that_stand_apart_have_variables_of_their_own(text):
    assignment = explicit_sums(parse(text))
    A = weft.asarray(np.diag([1.0, 2.0, 0.0, 4.0]) + np.diag([5.0, 0.0, 7.0], 1), format="csr")
    operands = {"A": A} | {name: np.arange(1.0, 5) for name in "cd" if f"{name}(" in text}
    arrays = operands | {"A": A.todense()}
    new = one_form(assignment, {name: weft.asarray(x)._storage for name, x in operands.items()})
    assert new != assignment
    expected = evaluate_dense(assignment, arrays)
    np.testing.assert_array_equal(evaluate_dense(new, arrays), expected)
    np.testing.assert_array_equal(np.asarray(weft.evaluate(text, **operands)), expected)


DIAGONALS = ("A(i,j)*D(j,k)", "D(i,j)*A(j,k)", "D(i,j)*A(j,k)*D(k,l)", "D(i,j)*A(j,k)*x(k)", "D(j,i)*x(j)*A(j,k)",
             "D(i,k)*D(k,j)", "A(i,k)*(D(k,j) + D(j,k))", "x(i)*D(i,j)*A(j,i)", "B(i,k)*D(k,j)*A(j,i)")  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "int64", "float32", "int8"])
def test_products_with_one_diagonal_scale(dtype):
    rng, many = np.random.default_rng(0), 0
    for n in range(320 if dtype == "float64" else 60):
        text = DIAGONALS[n % len(DIAGONALS)]
        read = [v for v in "ijkl" if v in text]
        target = "".join(rng.permutation(read)[: rng.integers(0, 3)])
        around = ["{}", "-{} + A(i,i)*x(i)", "2*{}"][rng.integers(3)] if "i" in target else "{}"
        inner = f"sum({','.join(v for v in read if v not in target)}, {text})" if len(target) < len(read) else text
        assignment = parse(f"C({','.join(target)}) = {around.format(inner)}" if target else f"C = {inner}")
        arrays = {"A": rng.integers(-4, 5, (4, 4)), "B": rng.integers(0, 3, (4, 4)), "x": rng.integers(-4, 5, 4),
                  "D": np.diag(rng.integers(-4, 5, 4))}  # fmt: skip
        arrays = {name: array.astype(dtype) for name, array in arrays.items() if f"{name}(" in to_text(assignment)}
        formats = {"A": ["csr", "dense", "coo"][n % 3], "B": "csc", "D": "dia", "x": "dense"}
        types = {name: weft.asarray(a, format=formats[name])._storage.type for name, a in arrays.items()}
        explicit = explicit_sums(assignment)
        program = diagonals_first(explicit, types, code_options())
        assert diagonals_first(explicit, types, code_options(disabled=frozenset({"one-diagonal"}))) is None
        if program is not None:
            many += 1
            np.testing.assert_array_equal(by_numpy(program, arrays), evaluate_dense(explicit, arrays), program.text)
        exact = diagonals_first(explicit, types, code_options(reassociate=False))
        assert (exact is None) == (program is None or dtype.startswith("float"))
    assert many > {"float64": 200, "int8": -1}.get(dtype, 40)  # int8 is summed as int64


@pytest.mark.parametrize("format", ["csr", "coo", "dia", "bsr", "dense"])
def test_results_do_not_depend_on_how_many_diagonals_there_are(format):
    """A product is that of NumPy, in one format and dtype, for a main diagonal, for another one and for several."""
    array = np.arange(16.0).reshape(4, 4) % 3
    A = array if format == "dense" else weft.asarray(array, format=format)
    diagonals = [weft.diags_array([1.0, np.inf, 0.0, 4.0], dtype=dtype) for dtype in ("float64", "float32")]
    diagonals += [weft.diags_array(np.ones(3), offsets=1), weft.eye(4, format="dia") + weft.eye(4, k=1, format="dia")]
    for D in diagonals:
        dense = np.nan_to_num(D.todense(), posinf=7.0)
        given = D if np.isfinite(D.data).all() else weft.asarray(dense, format="dia")
        for product in (lambda a, d: a @ d, lambda a, d: d @ a):
            found, other = product(A, given), product(A, weft.asarray(dense, format="csr"))
            np.testing.assert_array_equal(np.asarray(weft.asarray(found).todense()), product(array, dense))
            assert isinstance(found, np.ndarray) == isinstance(other, np.ndarray)
        kinds = {str(getattr(A @ d, "format", "array")) for d in diagonals if d.dtype == "float64"}
        assert len(kinds) == 1, kinds
    wide = weft.asarray(np.eye(4, 6), format="dia")
    np.testing.assert_array_equal(weft.asarray(A @ wide).todense(), array @ np.eye(4, 6))


def one_form(explicit, storages, **options):
    types = {name: storage.type for name, storage in storages.items()}
    return one_order(one_sum(explicit, types, code_options(**options)), types, code_options(**options))


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_what_is_not_stored_is_counted(format):
    """Explicit zeros count as what is not stored, and numbers that are not finite as what they are."""
    A = weft.from_coords([[0, 0, 1, 3, 3], [0, 2, 1, 0, 1]], [1.0, 0.0, np.nan, np.inf, -0.0], shape=(4, 3))
    A, dense = A.asformat(format), A.todense()
    texts = {
        "y(i) = square(A(i,j) - m(i))": lambda near, far: (near**2).sum(1),
        "s = abs(A(i,j) - m(i))": lambda near, far: abs(near).sum(),
        "y(i) = square(A(i,j) - sum(k, A(i,k))/3)": lambda near, far: (far**2).sum(1),
    }
    for m in (np.array([1.0, -2.0, 0.5, -0.0]), np.array([np.inf, 0.0, np.nan, 2.0])):
        for text, expected in texts.items():
            given = {"A": A, "m": m} if "m(i)" in text else {"A": A}
            with np.errstate(all="ignore"):
                near, far = dense - m[:, None], dense - dense.sum(1)[:, None] / 3
                np.testing.assert_allclose(weft.evaluate(text, **given), expected(near, far))
    rows = np.array([3, -1, 0, 7])
    whole = weft.asarray(np.nan_to_num(dense, posinf=5).astype(int), format=format)
    expected = ((whole.todense() - rows[:, None]) ** 2).sum(1)
    np.testing.assert_array_equal(weft.evaluate("y(i) = square(A(i,j) - m(i))", A=whole, m=rows), expected)


@pytest.mark.parametrize("text", ["y(i) = (A(i,j) + B(i,j))*x(j)", "y(i) = x(j)*(A(i,j) - B(i,j))"])
def test_sums_of_sparse_operands_are_scanned_one_after_the_other(text):
    def terms(**operands):
        usual = {"A": matrix(), "B": matrix(), "x": weft.asarray(np.ones(4)), **operands}
        normal = one_form(explicit_sums(parse(text)), {name: x._storage for name, x in usual.items()})
        return len(additive_terms(normal.value))

    assert terms() == 2
    assert terms(B=matrix(fill=1.0)) == 4  # the fill value in all places, but for those of what is stored
    assert terms(A=matrix("float32"), B=matrix("float32")) == 1  # their sum is rounded
    assert terms(B=matrix(fill=np.inf)) == terms(B=weft.asarray(np.ones((4, 4)))) == 1
    assert terms(x=weft.asarray(np.ones(4), format="s")) == 1


def test_sums_of_arrays_with_fewer_variables_are_apart():
    def terms(text):
        held = {"A": matrix(), "G": weft.asarray(np.ones((4, 4))), "d": weft.asarray(np.ones(4)),
                "c": weft.asarray(2.0)}  # fmt: skip
        names = [name for name in held if f"{name}(" in text or f"/{name}" in text]
        normal = one_form(explicit_sums(parse(text)), {name: held[name]._storage for name in names})
        return len(additive_terms(normal.value))

    assert terms("y(i) = (A(i,j) - d(j))*d(j)") == terms("y(i) = (A(i,j) - d(i)*d(j))*d(j)") == 2
    assert terms("y(i) = (2*A(i,j) - 1)*d(j)") == terms("s = (A(i,j) - d(i)*d(j)/c)*d(j)") == 2
    assert terms("y(i) = (A(i,j) - G(i,j))*d(j)") == 1


@pytest.mark.parametrize("operands", ["floats", "mixed", "special"])
def test_kernels_of_programs(operands):
    cases = [case for kind in KINDS for case in programs(kind, operands, 1, 2)]

    def run(case):
        case, program = case
        one, several = (execution.evaluate(case.assignment, case.storages, order=how) for how in (False, program))
        assert (several.format, several.type.dtype) == (one.format, one.type.dtype)
        np.testing.assert_array_equal(several.type.fill, one.type.fill)
        found, expected = (weft.SparseTensor(s).todense() for s in (several, one))
        assert_same(np.asarray(found), np.asarray(expected), program, operands)

    together(cases, run)


@pytest.mark.parametrize(
    "text", ["y(i) = A(i,i)*B(i,k)*x(k)", "s = A(j,j)*B(j,k)*B(k,k)", "y(j) = max(i, A(i,i)*B(i,j))*x(j)"]
)
def test_repeated_variables(text):
    array = np.arange(16.0).reshape(4, 4) % 3
    arrays = {"A": array, "B": array.T + 1, "x": np.arange(4.0)}
    read = {name: array for name, array in arrays.items() if f"{name}(" in text}
    formats = {"A": "csr", "B": "csc", "x": "dense"}
    storages = {name: weft.asarray(array, format=formats[name])._storage for name, array in read.items()}
    program = Case(parse(text), read, storages).program()
    np.testing.assert_allclose(by_numpy(program, read), evaluate_dense(parse(text), read))


@pytest.mark.parametrize("text", ["y(i) = A(i,i)*B(i,k)*x(k)", "C(i,k) = sum(j, A(i,j)*B(j,k))/sum(l, A(l,l))"])
def test_operands_without_elements(text):
    operands = {"A": np.zeros((0, 0)), "B": np.zeros((0, 0)), "x": np.zeros(0)}
    read = {name: array for name, array in operands.items() if f"{name}(" in text}
    storages = {name: weft.asarray(array, format="coo")._storage for name, array in read.items()}
    program = Case(parse(text), read, storages).program()
    assert by_numpy(program, read).size == 0


# -- what a rule must leave alone -----------------------------------------------------------------------------------
def program_of(text, **operands):
    storages = {name: weft.asarray(x)._storage for name, x in operands.items()}
    return Case(parse(text), {}, storages).program()


def matrix(dtype="float64", fill=0.0, n=4):
    array = np.arange(n * n).reshape(n, n) % 3
    return weft.asarray(array.astype(dtype), format="csr", fill_value=np.dtype(dtype).type(fill))


@pytest.mark.parametrize("other", ["int8", "float32", "int64"])
def test_products_of_several_dtypes_stay_in_their_order(other):
    """``int8*int8`` may overflow, beside a third factor in a wider dtype it does not."""
    found = program_of("C(i,l) = A(i,j)*B(j,k)*D(k,l)", A=matrix(other), B=matrix(other), D=matrix())
    assert not found.parts


@pytest.mark.parametrize("op", ["max", "min", "prod"])
def test_reductions_that_do_not_distribute_over_products_stay(op):
    text = f"y(i) = {op}(j, {op}(k, A(i,j)*B(j,k)*x(k)))"
    found = program_of(text, A=matrix(), B=matrix(), x=np.ones(4))
    assert not found.parts


@pytest.mark.parametrize("fill", [np.inf, np.nan, -0.0])
def test_operands_with_other_fill_values_are_not_contracted_apart(fill):
    found = program_of("y(i) = A(i,j)*B(j,k)*x(k)", A=matrix(), B=matrix(fill=fill), x=np.ones(4))
    assert "contraction-order" not in found.rules


def test_a_sum_that_wraps_around_stays_in_its_own_dtype():
    text = "C(i,l) = D(i,l) + A(i,j)*B(j,k)*A(k,l)"
    found = program_of(text, A=matrix("int8"), B=matrix("int8"), D=matrix())
    assert [to_text(s) for s in found.statements] == [text]


def test_without_reassociation_only_what_keeps_bits_is_done():
    source = Statements(2)
    for kind in KINDS:
        for _ in range(20):
            program = source.case(kind).program(reassociate=False)
            assert {*program.rules} <= {*SUMS, "shared-parts"}


@pytest.mark.parametrize("name", ["contraction-order", "own-tensors", "invariant-parts", "one-sum"])
def test_switches(name):
    source = Statements(3)
    for kind in KINDS:
        for _ in range(20):
            assert name not in source.case(kind).program(disabled=frozenset({name})).rules
