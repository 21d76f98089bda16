"""One format over all spellings of a computation, whatever the sizes and the densities of the operands are."""

import random

import numpy as np
import pytest
from asv_benchmarks.computations import COMPUTATIONS

import weft
from weft import execution
from weft.index_notation import parse, parse_einsum
from weft.index_notation.traversal import renamed
from weft.records import replace

N = 12
x, X, Z = np.linspace(1.0, 2.0, N), np.ones((N, 4)), np.ones((N, N))


def matrix(format, seed, n=N, many=2):
    if format == "dia":
        return weft.eye(n, k=seed, format="dia") * 2.0
    return weft.random((n, n), nnz=many * n, format="csr", rng=seed).asformat(format)


def assignment_of(text, operands):
    if not text.startswith("einsum "):
        return parse(text)
    _, subscripts, *names = text.split()
    notation, _ = parse_einsum((subscripts, *[operands[name] for name in names]))
    value = renamed(notation.assignment.value, tensors=dict(zip(notation.names, names, strict=True)))
    return replace(notation.assignment, value=value)


def format_of(text, types, operands=None):
    assignment = assignment_of(text, operands)
    read = {access.tensor: types[access.tensor] for access in assignment.value.distinct_accesses}
    return execution.target_type(assignment, read, None, None).format


def operands_of(first, second, third="csf", n=N):
    U = np.ones((n, 4))
    return {
        "A": matrix(first, 0, n), "B": matrix(second, 1, n), "M": matrix(second, 2, n), "E": matrix(first, 3, n),
        "F": matrix(second, 4, n), "T": weft.random((n,) * 3, nnz=3 * n, format=third, rng=0), "X": U, "U": U, "V": U,
        "u": np.ones(n), "c": np.array(2.0), **dict.fromkeys("bdfwxz", np.ones(n)),
    }  # fmt: skip


# -- notation and einsum: by the types alone ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("csr", "csr", "csf"), ("csc", "csc", "coo"), ("coo", "dcsr", "dok"), ("dia", "dia", "csf"),
        ("bsr", "bsr", "csf"), ("ell", "dok", "coo"), ("dcsr", "csc", "csf"),
    ],
)  # fmt: skip
def test_all_spellings_have_one_format(first, second, third):
    operands = operands_of(first, second, third)
    types = {name: weft.asarray(operand)._storage.type for name, operand in operands.items()}
    for name, texts in COMPUTATIONS.items():
        formats = {text: format_of(text, types, operands) for text in texts}
        assert len({*formats.values()}) == 1, (name, formats)


FORMATS = {
    1: ["dense", "coo"],
    2: ["csr", "csc", "coo", "dcsr", "dense", "bsr", "dia", "dok"],
    3: ["csf", "coo", "dense"],
}


def type_of(order, format, known={}):  # noqa: B006
    if (order, format) not in known:
        tensor = weft.from_coords([[0, 1]] * order, [1.0, 2.0], shape=(4,) * order, format="coo")
        known[order, format] = tensor.asformat(format)._storage.type
    return known[order, format]


def spelling(factors, keep, rng):
    """A sum of products with the factors in any order, in any brackets, and with sums inside where these may be."""

    def variables(parts):
        return {v for _, indices in parts for v in indices}

    over = sorted(variables(factors) - keep)
    if len(factors) == 1:
        ((name, indices),) = factors
        text = f"{name}({','.join(indices)})"
    else:
        factors = rng.sample(factors, len(factors))
        k = rng.randrange(1, len(factors))
        ends = factors[:k], factors[k:]
        shared = variables(ends[0]) & variables(ends[1])
        inside = rng.random() < 0.6
        kept = [(keep | shared if inside else keep | variables(factors)) & variables(end) for end in ends]
        text = "*".join(f"({spelling(end, own, rng)})" for end, own in zip(ends, kept, strict=True))
        over = sorted((kept[0] | kept[1]) - keep)
    return f"sum({','.join(over)}, {text})" if over else text


def test_random_products_have_one_format_in_all_spellings():
    rng, tried = random.Random(0), 0
    for _ in range(200):
        names = "ijklr"[: rng.randint(2, 5)]
        factors = [(name, tuple(rng.sample(names, min(len(names), rng.choice([1, 2, 2, 2, 3])))))
                   for name in "ABCD"[: rng.randint(1, 4)]]  # fmt: skip
        types = {name: type_of(len(indices), rng.choice(FORMATS[len(indices)])) for name, indices in factors}
        every = sorted({v for _, indices in factors for v in indices})
        target = rng.sample(every, rng.randint(1, min(len(every), 3)))
        # Of operands with all axes of the result, the first decides the order of these, as in SciPy.
        leads = [name for name, indices in factors
                 if {*target} <= {*indices} and not types[name].format.is_dense]  # fmt: skip
        texts = [spelling(factors, {*target}, rng) for _ in range(8)]
        same = [text for text in texts if len(leads) < 2 or min(leads, key=text.index) == leads[0]]
        formats = {text: format_of(f"Y({','.join(target)}) = {text}", types) for text in same}
        assert len({*formats.values()}) < 2, formats
        tried += len(same) > 1
    assert tried > 150


def test_programs_for_all_sizes_and_densities_have_one_format():
    texts = [texts[-1 if texts[-1].startswith("y") else 0] for texts in COMPUTATIONS.values()]
    formats = {text: set() for text in texts}
    for n, many in ((10, 1), (10, 8), (3000, 1), (3000, 20)):
        operands = operands_of("csr", "csr", n=n)
        operands |= {name: matrix("csr", seed, n, many) for seed, name in enumerate("ABMEF")}
        storages = {name: weft.asarray(operand)._storage for name, operand in operands.items()}
        for text in texts:
            assignment = parse(text)
            read = dict.fromkeys(access.tensor for access in assignment.value.distinct_accesses)
            plan = execution.plan_for_operands(assignment, [storages[name] for name in read])
            formats[text].add((plan.target.format, plan.target.dtype))
    assert {text for text, kinds in formats.items() if len(kinds) > 1} == set()


# -- operators, functions, einsum and notation: by what they return -------------------------------------------------
SPELLINGS = {
    "matrix and vector": [
        "A @ x", "np.matmul(A, x)", "A.dot(x)", "weft.einsum('ij,j->i', A, x)", "W('y(i) = A(i,j)*x(j)', A=A, x=x)",
        "weft.tensordot(A, x, 1)", "np.dot(A, x)", "weft.matvec(A, x)", "weft.vecdot(A, x)", "A.T.T @ x",
    ],
    "two matrices": [
        "A @ B", "weft.einsum('ij,jk->ik', A, B)", "W('C(i,k) = B(j,k)*A(i,j)', A=A, B=B)", "weft.tensordot(A, B, 1)",
        "weft.linalg.multi_dot([A, B])",
    ],
    "a scaled product": [
        "2*(A @ B)", "(2*A) @ B", "W('C(i,k) = 2*A(i,j)*B(j,k)', A=A, B=B)", "weft.einsum(',ij,jk->ik', 2.0, A, B)",
        "W('C(i,k) = 2*sum(j, A(i,j)*B(j,k))', A=A, B=B)",
    ],
    "a product with a diagonal inside": [
        "(A*x) @ B", "A @ (x[:, None]*B)", "weft.einsum('ij,j,jl->il', A, x, B)",
        "W('C(i,l) = A(i,j)*x(j)*B(j,l)', A=A, B=B, x=x)",
        "weft.einsum('ij,j,jl->il', A, x, B, optimize=['einsum_path', (0, 1), (0, 1)])",
    ],
    "a product and a matrix": [
        "A @ B + A", "W('C(i,k) = A(i,j)*B(j,k) + A(i,k)', A=A, B=B)", "A + A @ B",
        "W('C(i,k) = A(i,k) + A(i,j)*B(j,k)', A=A, B=B)",
    ],
    "a dense product and a matrix": [
        "A @ Z + B", "B + A @ Z", "W('C(i,k) = A(i,j)*Z(j,k) + B(i,k)', A=A, B=B, Z=Z)",
    ],
    "sums of rows": ["A.sum(1)", "np.sum(A, axis=1)", "weft.einsum('ij->i', A)", "W('y(i) = A(i,j)', A=A)"],
    "outer product with sums": [
        "np.outer(A.sum(1), x)", "W('C(i,k) = A(i,j)*x(k)', A=A, x=x)", "weft.einsum('ij,k->ik', A, x)",
        "W('C(i,k) = sum(j, A(i,j))*x(k)', A=A, x=x)",
    ],
    "a matrix and sums of rows": ["A + B.sum(1)[:, None]", "W('C(i,j) = A(i,j) + sum(k, B(i,k))', A=A, B=B)"],
    "sums and sums": ["A.sum(1)[:, None] + B.sum(0)", "W('C(i,j) = sum(k, A(i,k)) + sum(k, B(k,j))', A=A, B=B)"],
    "diagonal": ["A.diagonal()", "weft.einsum('ii->i', A)", "W('y(i) = A(i,i)', A=A)"],
    "transpose": ["A.T", "weft.einsum('ij->ji', A)", "W('C(j,i) = A(i,j)', A=A)", "np.transpose(A)"],
    "rows by numbers": [
        "A/(1 + abs(A).sum(1))[:, None]", "W('C(i,j) = A(i,j)/(1 + sum(k, abs(A(i,k))))', A=A)",
    ],
    "similarity of rows": [
        f"W('C({i},{k}) = {P}/(1 + sum(j, A({i},j)) + sum(j, A({k},j)) - {P})', A=A)"
        for i, k in ("ik", "pq") for P in (f"sum(j, A({i},j)*A({k},j))", f"sum(j, A({k},j)*A({i},j))")
    ],
    "tensor times vector": [
        "T @ x", "weft.einsum('ijk,k->ij', T, x)", "W('C(i,j) = T(i,j,k)*x(k)', T=T, x=x)", "weft.tensordot(T, x, 1)",
    ],
    "tensor times matrix": ["T @ X", "weft.einsum('ijk,kr->ijr', T, X)", "weft.tensordot(T, X, 1)"],
    "MTTKRP of the last axis": [
        "weft.einsum('ijk,ir,jr->kr', T, X, X)", "W('M(k,r) = T(i,j,k)*X(i,r)*X(j,r)', T=T, X=X)",
        "weft.einsum('jkr,jr->kr', weft.einsum('ijk,ir->jkr', T, X), X)",
    ],
}  # fmt: skip
OF_MATRICES = [name for name, texts in SPELLINGS.items() if "T," not in texts[-1]]


def kind(result):
    return "ndarray" if isinstance(result, np.ndarray) else result.format


@pytest.mark.parametrize(
    ("format", "names"),
    [("csr", SPELLINGS), ("coo", SPELLINGS), ("bsr", OF_MATRICES), ("dia", OF_MATRICES), ("dok", ["diagonal"])],
)
def test_operators_functions_and_notation_have_one_format(format, names):
    T = weft.random((N,) * 3, nnz=40, rng=0).asformat("csf" if format == "csr" else "coo")
    given = {
        "A": matrix(format, 0), "B": matrix(format, 1), "T": T, "x": x, "X": X, "Z": Z, "np": np, "weft": weft,
        "W": weft.evaluate,
    }  # fmt: skip
    for name in names:
        results = {text: eval(text, given) for text in SPELLINGS[name]}
        assert len({kind(result) for result in results.values()}) == 1, {t: kind(r) for t, r in results.items()}
        first, *others = [r if isinstance(r, np.ndarray) else r.todense() for r in results.values()]
        for other in others:
            np.testing.assert_allclose(other, first, atol=1e-14)


def test_results_beside_arrays_are_full_only_for_values_that_need_it():
    A = matrix("csr", 0)
    for op, fine, full in ((np.divide, x, 0.0), (np.minimum, x, -1.0), (np.greater, x, -1.0), (np.maximum, -x, 1.0)):
        other = fine.copy()
        other[3] = full
        with np.errstate(all="ignore"):
            for beside, expected in ((fine, "csr"), (other, "ndarray")):
                results = op(A, beside), weft.compute(op(weft.lazy(A), beside))
                assert [str(kind(result)) for result in results] == [expected] * 2, op
                for result in results:
                    np.testing.assert_array_equal(np.asarray(weft.asarray(result).todense()), op(A.todense(), beside))
