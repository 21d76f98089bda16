"""One program for all spellings, whatever the order of sets; what it costs to find, and what is said of it."""

import os
import subprocess
import sys
from inspect import signature

import numpy as np
import pytest
from asv_benchmarks.computations import COMPUTATIONS
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from optimiser.random_programs import by_numpy
from weft import execution
from weft.analysis.implicit_values import typed_implicit_value
from weft.code_options import code_options
from weft.config import config
from weft.errors import NotationError, ResultTooLargeError, ShapeError
from weft.execution import evaluation, numbers_of
from weft.execution.choice import Choice
from weft.formats import Format, TensorType
from weft.index_notation import explicit_sums, parse, parse_einsum
from weft.index_notation.nodes import Access, Apply, Assignment, Literal, Reduce
from weft.index_notation.traversal import accesses, renamed, rewrite, tensors, variables, walk
from weft.optimiser import one_order, one_sum, optimise, price
from weft.optimiser.estimate import Estimates
from weft.optimiser.price import Nests
from weft.records import replace
from weft.storage import Storage
from weft.storage.statistics import Degrees, degrees
from weft.tensor import lazy, recorded

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
    return program_of(assignment, operands)


def recorded_by(function, operands):
    """The program of what a function of lazy tensors records, with its numbers as literals."""
    held = [weft.lazy(operands[name]) for name in signature(function).parameters]
    (statement,) = recorded.statements([lazy.node_of(function(*held))])
    assignment, names = statement.assignment, {id(x): name for name, x in operands.items()}
    read = {name: source.of for name, source in statement.reads.items()}
    numbers = {name: Literal(x.vals[0].item()) for name, x in read.items() if isinstance(x, Storage)}
    value = rewrite(assignment.value, lambda node: numbers.get(node.tensor) if isinstance(node, Access) else None)
    value = renamed(value, tensors={name: names[id(x)] for name, x in read.items() if name not in numbers})
    return program_of(replace(assignment, value=value), operands)


def program_of(assignment, operands):
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
        case Literal(value=value):
            return str(float(value))
    return str(node)


@pytest.fixture(scope="module")
def operands():
    T = weft.random((200, 200, 200), nnz=100_000, format="csf", rng=0)
    U, V = np.ones((200, 16)), np.ones((200, 16))
    return {
        "A": csr(0), "B": csr(1), "M": csr(2), "E": csr(3), "F": csr(4), "X": np.ones((N, 8)), "T": T, "U": U, "V": V,
        "u": U[:, 0], "c": np.array(2.0), **{name: vector() for name in "bdfwxz"},
    }  # fmt: skip


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_all_spellings_have_one_program(name, operands):
    programs = [found(text, **operands) for text in COMPUTATIONS[name]]
    shapes = [shape_of(program) for program in programs]
    for shape in shapes:
        shape[-1] = shape[-1].partition(" = ")[2]  # the result has several names
        assert shape == shapes[0], "\n\n".join(program.text for program in programs)


LAZY = {
    "two products": [
        lambda A, B, x: (A @ B) @ x,
        lambda A, B, x: A @ (B @ x),
        lambda A, B, x: np.dot(np.matmul(A, B), x),
    ],
    "three matrices": [lambda A, B, X: (A @ B) @ X, lambda A, B, X: A.dot(B @ X)],
    "four matrices": [
        lambda A, B, M, X: A @ B @ M @ X,
        lambda A, B, M, X: A @ (B @ (M @ X)),
        lambda A, B, M, X: (A @ B) @ (M @ X),
    ],
    "total of a product": [
        lambda A, B: (A @ B).sum(),
        lambda A, B: np.sum(A @ B),
        lambda A, B: (A.sum(0) @ B).sum(),
        lambda A, B: A.sum(0) @ B.sum(1),
    ],
    "row sums of a product": [lambda A, B: (A @ B).sum(1), lambda A, B: A @ B.sum(axis=1)],
    "column sums of a product": [lambda A, B: (A @ B).sum(0), lambda A, B: A.sum(axis=0) @ B],
    "trace of a product": [lambda A, B: np.trace(A @ B), lambda A, B: (A * B.T).sum(), lambda A, B: (B @ A).trace()],
    "quadratic form": [
        lambda A, x: x @ (A @ x),
        lambda A, x: (x * (A @ x)).sum(),
        lambda A, x: (x[:, None] * A * x).sum(),
    ],
    "bilinear form": [lambda A, x, z: x @ A @ z, lambda A, x, z: (x * (A @ z)).sum(), lambda A, x, z: z @ (A.T @ x)],
    "scaled rows and columns": [
        lambda A, x: x[:, None] * A * x,
        lambda A, x: (A * x) * x[:, None],
        lambda A, x: np.multiply(A * x[:, None], x),
    ],
    "scaled rows": [lambda A, x: x[:, None] * A, lambda A, x: A * x[:, None], lambda A, x: (A.T * x).T],
    "matrix and vector": [lambda A, x: A @ x, lambda A, x: (A * x).sum(1), lambda A, x: x @ A.T, lambda A, x: A.dot(x)],
    "two matrices": [lambda A, B: A @ B, lambda A, B: np.matmul(A, B), lambda A, B: (B.T @ A.T).T],
    "a matrix and its transpose": [lambda A: A @ A.T, lambda A: (A @ A.T).T],
    "sampled product": [lambda A, B, M: M * (A @ B), lambda A, B, M: np.multiply(A @ B, M)],
    "sampled dense product": [lambda M, X: M * (X @ X.T), lambda M, X: (X @ X.T) * M],
    "sampled product times a matrix": [lambda M, X: (M * (X @ X.T)) @ X],
    "product of sums": [lambda A, B: (A @ B) * (B @ A)],
    "masked step": [lambda A, f, w: (f[:, None] * A).max(0) * w, lambda A, f, w: w * np.max(A * f[:, None], axis=0)],
    "rows divided by their sums": [lambda A: A / A.sum(1)[:, None], lambda A: A / np.sum(A, axis=1, keepdims=True)],
    "similarity of rows": [
        lambda A: (A @ A.T) / (A.sum(1)[:, None] + A.sum(1) - A @ A.T),
    ],
    "cosines": [
        lambda A: (A @ A.T) / (np.sqrt((A * A).sum(1))[:, None] * np.sqrt((A * A).sum(1))),
    ],
    "residual": [lambda A, b, x: b - A @ x, lambda A, b, x: np.subtract(b, A @ x)],
    "normal equations": [lambda A, x: A.T @ (A @ x), lambda A, x: A.T @ A @ x],
    "largest of all": [lambda A: A.max(), lambda A: A.max(0).max(), lambda A: np.max(A.max(1))],
    "a sum of two and a vector": [lambda A, B, x: (A + B) @ x, lambda A, B, x: A @ x + B @ x],
    "a sum of two and a matrix": [lambda A, B, X: (A + B) @ X, lambda A, B, X: A @ X + B @ X],
    "a difference and a vector": [lambda A, B, x: (A - B) @ x, lambda A, B, x: A @ x - B @ x],
    "a centred product": [lambda A, B, c, x: (A - c) @ B @ x, lambda A, B, c, x: (A - c) @ (B @ x)],
    "centred normal equations": [lambda A, c, x: (A - c).T @ (A @ x), lambda A, c, x: (A - c).T @ A @ x],
    "a standardized matrix and a vector": [
        lambda A, b, d, x: ((A - b) / d) @ x,
        lambda A, b, d, x: ((A - b) / d * x).sum(1),
    ],
    "exponentials and a vector": [lambda A, x: np.exp(A) @ x, lambda A, x: (np.exp(A) * x).sum(1)],
    "weighted squares": [lambda A, w: (w[:, None] * A * A).sum(), lambda A, w: w @ (A * A).sum(1)],
    "a scaled product with a vector": [lambda A, x, z: z * (A @ x), lambda A, x, z: (z[:, None] * A) @ x],
    "a scaled total": [lambda A, c: c * A.sum(), lambda A, c: (c * A).sum()],
    "outer products": [
        lambda c, u: u[:, None] * u * c,
        lambda c, u: c * (u[:, None] * u),
        lambda c, u: u[:, None] * (c * u),
    ],
    "tensor times vectors": [lambda T, u: (T @ u) @ u],
    "a scaled product": [lambda A, x: 0.5 * (A @ x), lambda A, x: A @ (0.5 * x), lambda A, x: (A * 0.5) @ x],
    "scaled sums": [lambda A: 2 * A.sum(1), lambda A: (2 * A).sum(1)],
}
"""The same computations by operators, methods and NumPy functions of lazy tensors.

``np.vdot``, ``np.inner`` and ``np.outer`` compute what they are given at once, and are no part of a program.
"""


@pytest.mark.parametrize("name", LAZY)
def test_lazy_spellings_have_the_program_of_the_notation(name, operands):
    expected = shape_of(found(COMPUTATIONS[name][0], **operands))
    expected[-1] = expected[-1].partition(" = ")[2]
    for function in LAZY[name]:
        program = recorded_by(function, operands)
        shape = shape_of(program)
        shape[-1] = shape[-1].partition(" = ")[2]
        assert shape == expected, program.text


NESTED = {
    "principal components": lambda A, x: (A - A.mean(0)).T @ ((A - A.mean(0)) @ x),
    "rows less their means": lambda A, x: (A - A.mean(1)[:, None]) @ x,
    "least and largest of columns": lambda A, x: ((A - A.min(0)) / (A.max(0) - A.min(0) + 1)) @ x,
    "rows divided by sums of exponentials": lambda A, x: (np.exp(A) / np.exp(A).sum(1)[:, None]) @ x,
    "products of cosines": lambda A, x: np.cos(A).T @ (np.cos(A) @ x),
}


@pytest.mark.parametrize("name", NESTED)
def test_sums_inside_terms_leave_no_loops_over_all_coordinates(name):
    A, x = csr(), vector()
    program = recorded_by(NESTED[name], {"A": A, "x": x})
    assert program.parts
    for statement in program.statements:
        arrays = {a.tensor: TensorType.of("float64", Format.dense(len(a.indices))) for a in accesses(statement)}
        types = {**arrays, "A": A._storage.type}
        normal = one_order(statement, types, code_options())  # as when its loops are planned
        for each_sum in [n for n in walk(normal.value) if isinstance(n, Reduce) and "A" in tensors(n)]:
            if len({*tensors(each_sum)}) == 1:
                continue  # what a tensor does not store alone is counted
            assert typed_implicit_value(each_sum.body, types) == 0, program.text
    small = csr(3, 60, 5)
    dense = small.todense()
    result = weft.compute(NESTED[name](weft.lazy(small), vector(60)))
    np.testing.assert_allclose(result, NESTED[name](dense, vector(60)), rtol=1e-10)


def test_the_programs_are_those_that_cost_least(operands):
    parts = {name: len(found(texts[0], **operands).parts) for name, texts in COMPUTATIONS.items()}
    assert {name: many for name, many in parts.items() if many} == {
        "two products": 1, "three matrices": 1, "four matrices": 2, "total of a product": 1,
        "row sums of a product": 1, "product of sums": 2, "masked step": 1, "Tucker core": 2,
        "similarity of rows": 2, "cosines": 2, "normal equations": 1, "column sums of a product": 1,
        "a centred product": 1, "centred normal equations": 2, "a standardized matrix and a vector": 1,
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


def test_one_expression_has_few_programs():
    """Numbers of operands beyond the first choose the nearest of the plans there are."""
    choice, rng = Choice(), np.random.default_rng(0)
    kinds = [weft.asarray(np.ones(1))._storage.type, csr(0, 10, 1)._storage.type]
    for n in rng.integers(1, 10**6, 1000):
        matrix = Storage((int(n), int(n)), kinds[1], (), np.ones(0))
        matrix.level_sizes = (int(n), int(n) * int(rng.integers(1, 100)))
        if choice.find([matrix]) is None:
            choice.keep([matrix], object())
    assert len(choice._by_numbers) == 16
    last = Storage((10**6, 10**6), kinds[1], (), np.ones(0))
    last.level_sizes = (10**6, 10**7)
    assert choice.find([last]) is choice.find([last])


# -- numbers of entries along axes ----------------------------------------------------------------------------------
def skewed(seed, n=N, many=20, format="csr"):
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, n + 1)
    rows, columns = rng.integers(0, n, many * n), rng.choice(n, many * n, p=share / share.sum())
    return weft.from_coords([rows, columns], np.ones(many * n), shape=(n, n), format=format)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "csf", "hash"])
def test_numbers_of_entries_are_those_of_the_coordinates(format):
    order = 3 if format == "csf" else 2
    A = weft.random((9, 8, 7)[:order], density=0.2, rng=0).asformat(format)
    stored = A.todense() != 0
    for axis in range(order):
        counts = stored.sum(tuple(k for k in range(order) if k != axis))
        numbers = degrees(A._storage, axis)
        assert (numbers.distinct, numbers.largest) == ((counts > 0).sum(), counts.max())
        np.testing.assert_allclose(numbers.norm, np.sqrt((counts**2).sum()))
    assert degrees(weft.zeros(A.shape, format=format)._storage, 0) == Degrees(0, 0, 0.0)


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_joins_are_never_underestimated(data):
    """The coordinates that two or three sparse operands have together, whatever the operands are."""
    n = data.draw(st.integers(1, 12))
    texts = [
        "A(i,j)*B(j,k)",
        "A(j,i)*B(k,j)",
        "A(i,j)*B(i,j)",
        "A(i,j)*B(j,k)*M(k,l)",
        "A(i,j)*B(j,k)*M(i,k)",
        "A(i,j)*f(j)*B(j,k)",
    ]
    text = data.draw(st.sampled_from(texts))
    names = [name for name in "ABMf" if f"{name}(" in text]
    dense = {}
    for name in names:
        share = np.outer(
            *[data.draw(st.lists(st.sampled_from([0.05, 0.3, 1.0]), min_size=n, max_size=n)) for _ in "ab"]
        )
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        dense[name] = (rng.random((n, n)) < share)[0 if name == "f" else slice(None)] * 1.0
    formats = {name: "coo" if a.ndim == 1 else data.draw(st.sampled_from(["csr", "csc", "coo"]))
               for name, a in dense.items()}  # fmt: skip
    held = {name: weft.asarray(a, format=formats[name])._storage for name, a in dense.items()}
    value = parse(f"s = {text}").value
    every = tuple((n_, axis) for n_, name in enumerate(names) for axis in range(dense[name].ndim))
    numbers = dict(zip(names, numbers_of([held[name] for name in names], every), strict=True))
    exact = {name: replace(numbers[name], levels=held[name].level_sizes, shape=dense[name].shape) for name in names}
    estimates = Estimates({name: s.type for name, s in held.items()}, exact, value.distinct_accesses)
    nests = Nests(estimates, variables(value))
    factors_ = [nests.number(access) for access in value.distinct_accesses]
    letters = {v: v for v in variables(value)}
    true = np.einsum(",".join("".join(a.indices) for a in value.distinct_accesses) + "->" + "".join(letters),
                     *[dense[a.tensor] for a in value.distinct_accesses])  # fmt: skip
    assert nests.joined(factors_, sum(nests.bits.values())) >= np.count_nonzero(true) * (1 - 1e-9)


def test_the_numbers_of_skewed_operands_are_those_of_their_joins():
    text = "C(i,k) = sum(j, A(i,j)*A(k,j))/(sum(j, A(i,j)) + sum(j, A(k,j)))"
    for A, full in ((csr(0), False), (skewed(0), True)):
        numbers, joins = execution.numbers_for(parse(text), [A._storage])
        program = optimise(parse(text), {"A": A._storage.type}, {"A": numbers[0]}, code_options())
        assert joins == ((0, 1),)
        assert program.entries[0] >= weft.einsum("ij,kj->ik", A, A).nnz
        assert ("T1" in program.arrays) == full
        shown = f"{program.entries[0]:,.0f} entries expected"
        assert weft.explain(text, A=A, stages="program").count(shown) == 1
        if not full:
            weft.evaluate(text, A=A)
            shown += f", {weft.einsum('ij,kj->ik', A, A).nnz:,} at the last call; "
            assert shown in weft.explain(text, A=A, stages="program")


def test_what_needs_no_numbers_looks_at_no_entries():
    A, B, x = csr(0), csr(1), vector()
    weft.evaluate("y(i) = A(i,j)*B(j,k)*x(k)", A=A, B=B, x=x)
    assert not A._storage.degrees
    assert not B._storage.degrees


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
def test_totals_of_sums_have_loops_of_their_own():
    A, B = weft.random((5, 4), nnz=6, format="csr", rng=0), weft.random((5, 4), nnz=7, format="csr", rng=1)
    for text, sign in (("s = sum(i, j, A(i,j) + B(i,j))", 1), ("s = sum(i, j, A(i,j) - B(i,j))", -1)):
        np.testing.assert_allclose(weft.evaluate(text, A=A, B=B), A.sum() + sign * B.sum())
    a, b = weft.random((9,), nnz=4, rng=0), weft.random((9,), nnz=3, rng=1)
    np.testing.assert_allclose(weft.evaluate("s = sum(i, a(i) + b(i))", a=a, b=b), a.sum() + b.sum())
    # A diagonal that is converted, for a variable that the statement does not have.
    C, D = (weft.asarray(np.diag(d) + 1.0, format="coo") for d in ([1.0, 2.0], [3.0, 5.0]))
    assert weft.evaluate("s = sum(i, C(i,i) + D(i,i))", C=C, D=D) == 15.0
    with pytest.raises(weft.errors.ShapeError, match="i is both 2 and 3"):
        weft.evaluate("s = sum(i, C(i,i) + D(i,i))", C=C, D=weft.asarray(np.eye(3), format="coo"))


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
