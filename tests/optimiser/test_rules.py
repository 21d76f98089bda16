"""Programs compute what their statements say: for random statements, by NumPy and by kernels."""

import numpy as np
import pytest
from tests.kernel_batches import together
from tests.oracle import evaluate_dense

import weft
from optimiser.random_programs import SUMS, Case, Statements, always_apart, by_numpy
from weft import execution
from weft.errors import WeftError
from weft.index_notation import parse, to_text

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


def test_every_rule_applies_to_hundreds_of_them():
    rules = [r for k in KINDS for o in ("floats", "narrow") for _, p in programs(k, o, 0, 40) for r in p.rules]
    for name in ("one-sum", "contraction-order", "own-tensors", "invariant-parts"):
        assert rules.count(name) > (40 if name == "invariant-parts" else 70), name


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


@pytest.mark.parametrize("fill", [1.0, np.inf, np.nan, -0.0])
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
