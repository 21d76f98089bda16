"""One program for all spellings, whatever the order of sets; what it costs to find, and what is said of it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from asv_benchmarks.computations import COMPUTATIONS

import weft
from optimiser.random_programs import by_numpy
from weft.code_options import code_options
from weft.config import config
from weft.errors import NotationError, ResultTooLargeError, ShapeError
from weft.execution import evaluation, numbers_of
from weft.index_notation import explicit_sums, parse, parse_einsum
from weft.index_notation.nodes import Access, Apply, Assignment, Reduce
from weft.index_notation.traversal import renamed, variables
from weft.optimiser import one_order, one_sum, optimise, price
from weft.records import replace

N = 3000


def csr(seed=0, n=N, many=10):
    return weft.random((n, n), nnz=many * n, format="csr", rng=seed)


def vector(n=N):
    return np.linspace(1.0, 2.0, n)


def found(text, **operands):
    if text.startswith("einsum "):
        _, subscripts, *given = text.split()
        notation, _ = parse_einsum((subscripts, *[operands[name] for name in given]))
        value = renamed(notation.assignment.value, tensors=dict(zip(notation.names, given, strict=True)))
        assignment = replace(notation.assignment, value=value)
    else:
        assignment = parse(text)
    names = dict.fromkeys(access.tensor for access in assignment.value.distinct_accesses)
    storages = {name: weft.asarray(operands[name])._storage for name in names}
    types = {name: storages[name].type for name in names}
    numbers = dict(zip(names, numbers_of([storages[name] for name in names]), strict=True))
    program = optimise(assignment, types, numbers, code_options())
    if program.parts:
        return program
    # One statement is brought into one form when its loops are planned.
    normal = one_order(one_sum(explicit_sums(assignment), types, code_options()), types, code_options())
    return replace(program, statements=(normal,))


def shape_of(program):
    """The statements with the variables in the order of their use, and factors in the order of their text."""
    return [shape_of_statement(statement) for statement in program.statements]


def shape_of_statement(statement):
    explicit = explicit_sums(statement)
    names = {v: f"v{n}" for n, v in enumerate(dict.fromkeys([*explicit.target.indices, *variables(explicit.value)]))}
    return text_of(Assignment(Access(explicit.target.tensor, tuple(names[v] for v in explicit.target.indices)),
                              renamed(explicit.value, variables=names)))  # fmt: skip


def text_of(node):
    match node:
        case Assignment(target=target, value=value):
            return f"{text_of(target)} = {text_of(value)}"
        case Access(tensor=tensor, indices=indices):
            return f"{tensor}({','.join(indices)})"
        case Apply(op=op, args=args):
            parts = [text_of(arg) for arg in args]
            parts = sorted(parts) if op in ("add", "multiply") else parts
            return f"{op}({', '.join(parts)})"
        case Reduce(op=op, vars=over, body=body):
            return f"{op}[{','.join(sorted(over))}]{text_of(body)}"
    return str(node)


@pytest.fixture(scope="module")
def operands():
    T = weft.random((200, 200, 200), nnz=100_000, format="csf", rng=0)
    U = np.ones((200, 16))
    return {
        "A": csr(0), "B": csr(1), "M": csr(2), "E": csr(3), "F": csr(4), "X": np.ones((N, 8)), "T": T, "U": U, "V": U,
        "u": U[:, 0], "c": np.array(2.0), **dict.fromkeys("bdfwxz", vector()),
    }  # fmt: skip


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_all_spellings_have_one_program(name, operands):
    programs = [found(text, **operands) for text in COMPUTATIONS[name]]
    shapes = [shape_of(program) for program in programs]
    for shape in shapes:
        shape[-1] = shape[-1].partition(" = ")[2]  # the result has several names
        assert shape == shapes[0], "\n\n".join(program.text for program in programs)


def test_the_programs_are_those_that_cost_least(operands):
    parts = {name: len(found(texts[0], **operands).parts) for name, texts in COMPUTATIONS.items()}
    assert {name: many for name, many in parts.items() if many} == {
        "two products": 1, "three matrices": 1, "four matrices": 2, "total of a product": 1,
        "row sums of a product": 1, "product of sums": 2, "masked step": 1, "Tucker core": 2,
        "similarity of rows": 2, "cosines": 2, "normal equations": 1, "column sums of a product": 1,
    }  # fmt: skip


def test_equal_sums_are_computed_once(operands):
    text = "C(i,k) = exp(sum(j, A(i,j)*B(j,k)))*sum(j, A(i,j)*B(j,k))"
    program = found(text, **operands)
    assert len(program.parts) == 1
    renamed_ = found("C(i,k) = sum(j, A(i,j)*B(j,k))*M(i,k)/(sum(j, A(i,j)) + sum(j, A(k,j)))", **operands)
    assert len(renamed_.parts) <= 2


def test_programs_do_not_depend_on_hash_seeds(operands):
    code = (
        "import sys; sys.path[:0] = ['tests', '.']\n"
        "from optimiser.test_programs import *\n"
        "given = operands.__wrapped__() if hasattr(operands, '__wrapped__') else operands.__pytest_wrapped__.obj()\n"
        "print(*[found(text, **given).text for texts in COMPUTATIONS.values() for text in texts], sep='\\n')\n"
    )
    texts = set()
    for seed in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        texts.add(run.stdout)
    assert len(texts) == 1


def test_operands_of_about_one_size_have_one_program():
    programs = {found("y(i) = A(i,j)*B(j,k)*x(k)", A=csr(n, n), B=csr(1, n), x=vector(n)) for n in (3000, 3300, 3900)}
    assert len(programs) == 1


CHAIN = "y(a,i) = A(a,b)*B(b,c)*C(c,d)*D(d,e)*E(e,f)*F(f,g)*G(g,h)*H(h,i)"
CLIQUE = "y(a) = A(a,b,c)*B(b,c,d)*C(c,d,e)*D(d,e,f)*E(e,f,g)*F(f,g,h)*G(g,h,i)*H(h,i,b)"


@pytest.mark.parametrize(("text", "order"), [(CHAIN, 2), (CLIQUE, 3)])
def test_few_nests_are_priced(text, order, monkeypatch):
    """The time to find a program is bounded by a count, so that every machine finds the same."""
    priced, usual = [], price.Nests._price
    monkeypatch.setattr(price.Nests, "_price", lambda self, *args: priced.append(1) or usual(self, *args))
    operand = weft.random((100,) * order, nnz=1000, format="csr" if order == 2 else "csf", rng=0)
    program = found(text, **dict.fromkeys("ABCDEFGH", operand))
    assert len(priced) < 1000
    assert (len(program.parts) == 6) == (order == 2)


def test_more_summed_variables_than_are_tried_together():
    text = f"{CHAIN.replace('y(a,i)', 'y(a,k)')}*I(i,j)*J(j,k)"
    operand = weft.random((100, 100), nnz=1000, format="csr", rng=0)
    program = found(text, **dict.fromkeys("ABCDEFGHIJ", operand))
    assert len(program.parts) == 8
    matrices = {name: np.random.default_rng(ord(name)).integers(0, 3, (2, 2)) for name in "ABCDEFGHIJ"}
    np.testing.assert_array_equal(by_numpy(program, matrices), np.linalg.multi_dot([*matrices.values()]))


def test_a_product_of_many_factors_stays_as_it_is_written():
    names = [f"x{n}" for n in range(120)]
    text = f"y(i) = A(i,j)*{'*'.join(f'{name}(j)' for name in names)}"
    assert not found(text, A=csr(), **dict.fromkeys(names, vector())).parts


# -- the results ----------------------------------------------------------------------------------------------------
def test_programs_and_single_statements_compute_the_same():
    A, B, x = csr(0), csr(1), vector()
    dense = A.todense() @ (B.todense() @ x)
    off = config.override(disable={"contraction-order", "own-tensors", "invariant-parts"})
    several = weft.evaluate("y(i) = A(i,j)*B(j,k)*x(k)", A=A, B=B, x=x)
    with off:
        one = weft.evaluate("y(i) = A(i,j)*B(j,k)*x(k)", A=A, B=B, x=x)
    np.testing.assert_allclose(several, dense)
    np.testing.assert_allclose(several, one)
    added = weft.evaluate("y(i) += A(i,j)*B(j,k)*x(k)", A=A, B=B, x=x, y=x)
    np.testing.assert_allclose(added, x + dense)


def test_a_part_that_is_too_large_is_done_without(monkeypatch):
    """What one statement can compute, a wrong estimate must not make impossible."""
    A, B, x = csr(0), csr(1), vector()
    run = evaluation.ComputePart.run

    def refused(self, storages, out=None):
        raise ResultTooLargeError("a part")

    monkeypatch.setattr(evaluation.ComputePart, "run", refused)
    found = weft.evaluate("y(i) = A(i,j)*B(j,k)*x(k)", A=A, B=B, x=x)
    monkeypatch.setattr(evaluation.ComputePart, "run", run)
    np.testing.assert_allclose(found, A.todense() @ (B.todense() @ x))


def test_errors_are_about_what_the_user_wrote():
    A, B = csr(0), csr(1)
    text = "y(i) = A(i,j)*B(j,k)*x(k)"
    with pytest.raises(
        ShapeError, match=r"k is 3000 in B\(j,k\) and 7 in x\(k\)\n  y\(i\) = A\(i,j\)\*B\(j,k\)\*x\(k\)"
    ):
        weft.evaluate(text, A=A, B=B, x=np.ones(7))
    with pytest.raises(ShapeError, match=r"x has 2 axes(.|\n)*y\(i\) = A\(i,j\)\*B\(j,k\)\*x\(k\)"):
        weft.evaluate(text, A=A, B=B, x=np.ones((7, 7)))
    with pytest.raises(NotationError, match="x"):
        weft.evaluate(text, A=A, B=B)


# -- what is said ---------------------------------------------------------------------------------------------------
def test_explain_shows_the_program():
    A, B, x = csr(0), csr(1), vector()
    text = weft.explain("y(i) = A(i,j)*B(j,k)*x(k)", A=A, B=B, x=x, stages="program")
    assert text == (
        "== program\n2 statements\nT1(j) = sum(k, B(j,k)*x(k))\n"
        "  an array; 4,090 entries expected; fewer operations than in one nest of loops\n"
        "y(i) = sum(j, A(i,j)*T1(j))\nrules: contraction-order"
    )
    one = weft.explain("y(i) = A(i,j)*x(j)", A=A, x=x, stages="program")
    assert one == "== program\none statement: no intermediate result would pay"
    short = weft.explain("y(i) = A(i,j)*B(j,k)*x(k)", A=A, B=B, x=x)
    assert "\n2 steps: fewer operations than in one nest of loops\nT1(j) = sum(k, B(j,k)*x(k))\n" in short
