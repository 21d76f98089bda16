"""Statements in programs of PyTorch, beside differences and PyTorch's own gradients of dense arrays.

Where the packages of other tests are missing, ``python -m pytest -c /dev/null --noconftest`` runs this file alone.
"""

import numpy as np
import pytest
from tests.derivatives.statements import STATEMENTS, split, values_of

import weft
from weft.errors import NotationError, ShapeError

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'weft[torch]'")

A = weft.random((4, 3), density=0.5, format="csr", rng=0)
x = np.array([1.0, 2.0, 3.0])
SPMV = "y(i) = A(i,j)*x(j)"


def evaluate(text, **operands):
    return weft.torch.evaluate(text, **operands)


def tracked(array):
    return torch.tensor(array, requires_grad=True)


@pytest.mark.parametrize("text", STATEMENTS)
def test_values_and_gradients(text):
    arrays, joined = split(STATEMENTS[text])

    def computed(*replaced):
        return values_of(evaluate(text, **joined(weft.torch, replaced)))

    arrays = list(map(tracked, arrays))
    expected = values_of(weft.evaluate(text, **STATEMENTS[text]))
    np.testing.assert_allclose(computed(*arrays).detach().numpy(), expected, rtol=1e-12)
    assert torch.autograd.gradcheck(computed, arrays)


def test_complex_numbers():
    C = A * (1 + 2j)

    def computed(values, z):
        return evaluate("y(i) = C(i,j)*square(z(j))", C=weft.torch.with_values(C, values), z=z)

    values, z = tracked(C.data), tracked(x - 1j * x[::-1])
    assert torch.autograd.gradcheck(computed, (values, z))
    conjugate = z.detach().conj()  # which PyTorch writes nowhere until it is read
    np.testing.assert_allclose(evaluate("y(i) = z(i)", z=conjugate).numpy(), conjugate.resolve_conj().numpy())


def test_the_operator_keeps_what_pytorch_asks_of_operators():
    values, vector = tracked(A.data), tracked(x)
    B = weft.torch.with_values(A, values)
    evaluate(SPMV, A=B, x=vector)
    number = len(weft.torch.statements) - 1
    torch.library.opcheck(torch.ops.weft.evaluate.default, (number, [values, vector]))
    same = evaluate("y(i) = x(i)", x=vector.detach())
    assert same.data_ptr() != vector.data_ptr()


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # which torch.compile reads of all that it meets
@pytest.mark.parametrize("fullgraph", [False, True])
def test_a_compiled_program(fullgraph):
    dense = torch.tensor(A.todense())

    def loss(vector):
        operand = dense if fullgraph else A  # a graph of PyTorch holds its own tensors alone
        return evaluate(SPMV, A=operand, x=torch.sin(vector)).square().sum()

    compiled = torch.compile(loss, backend="aot_eager", fullgraph=fullgraph)
    found, expected = tracked(x), tracked(x)
    compiled(found).backward()
    (dense @ torch.sin(expected)).square().sum().backward()
    np.testing.assert_allclose(found.grad.numpy(), expected.grad.numpy())


def test_dtypes_and_numbers():
    narrow = torch.tensor(x, dtype=torch.float32, requires_grad=True)
    y = evaluate("y(i) = b*A(i,j)*x(j)", A=A.astype("float32"), x=narrow, b=2.0)
    y.sum().backward()
    assert y.dtype == narrow.grad.dtype == torch.float32
    whole = torch.arange(3)
    s = evaluate("s = n(i)*x(i)", n=whole, x=narrow)
    assert s.dtype == torch.float64  # NumPy's promotion of int64 and float32
    assert evaluate("s = b*c", b=2.0, c=3).item() == 6


def test_results_are_sparse_where_those_of_weft_are():
    values = tracked(A.data)
    B = evaluate("B(i,j) = A(i,j)*x(j)", A=weft.torch.with_values(A, values), x=x)
    assert B.format == "csr"
    y = evaluate("y(i) = B(i,j)*x(j)", B=B, x=x)
    y.sum().backward()
    np.testing.assert_allclose(values.grad.numpy(), (x**2)[A.indices])
    C = evaluate("B(i,j) = A(i,j)*x(j)", A=A, x=x, format="dense")
    np.testing.assert_allclose(C.numpy(), A.todense() * x)


def test_errors():
    with pytest.raises(NotationError, match=r"\+= has no derivative"):
        evaluate("y(i) += A(i,j)*x(j)", A=A, x=x, y=np.ones(4))
    with pytest.raises(ShapeError, match="j is 3 in"):
        evaluate(SPMV, A=A, x=torch.ones(2))
    with pytest.raises(ShapeError, match="stores"):
        weft.torch.with_values(A, torch.ones(3))
