"""Tensors on the emulated device: where they are, what computes with them, and that nothing else reads them."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import weft
from weft.errors import DeviceError, WeftError
from weft.formats import Compressed, Dense
from weft.operations.operands import storage_anywhere
from weft.runtime import emulated
from weft.runtime.emulated import EmulatedArray

DENSE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0], [4.0, 5.0, 6.0]])
FORMATS = ["coo", "csr", "csc", "dcsr", "csf", "ell", "dia", "bsr", "csb", "hash", "dok", "lil", "dense", "dense_f"]


def there(tensor: weft.SparseTensor) -> weft.SparseTensor:
    return tensor.to_device("emulated")


def back(result) -> np.ndarray:
    return result.get() if isinstance(result, EmulatedArray) else result.to_device("cpu").todense()


@pytest.fixture(scope="module", name="A")
def matrix() -> weft.SparseTensor:
    return weft.asarray(DENSE, format="csr")


@pytest.fixture(scope="module")
def x() -> np.ndarray:
    return np.array([1.0, -2.0, 0.5])


# -- where tensors are ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", FORMATS)
def test_a_tensor_comes_back_as_it_was(format):
    T = weft.asarray(DENSE, format=format)
    D = there(T)
    assert D.device == "emulated"
    assert (D.shape, D.dtype, D.nnz, D.format, D.fill_value) == (T.shape, T.dtype, T.nnz, T.format, T.fill_value)
    assert "device=emulated" in repr(D)
    assert "device=emulated" in str(D)
    again = D.to_device("cpu")
    assert again.device == "cpu"
    assert again.layout == T.layout
    assert (again.todense() == DENSE).all()


def test_facts_of_a_format_and_missing_names_need_no_copy(A):
    D, blocked = there(A), there(A.tobsr((2, 3)))
    assert D._repr_html_() is None
    assert blocked.blocksize == (2, 3)
    for name in ("get", "keys", "blocksize"):
        assert not hasattr(D, name)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_every_dtype_is_moved(dtype):
    T = weft.asarray(DENSE.astype(dtype), format="csr")
    assert (there(T).to_device("cpu").todense() == T.todense()).all()
    assert there(T).dtype == dtype


def test_a_tensor_stays_where_it_is(A):
    assert A.to_device("cpu") is A
    D = there(A)
    assert there(D) is D
    assert weft.asarray(D) is D
    assert weft.asarray(D, device="emulated") is D
    assert weft.asarray(DENSE, device="emulated").device == "emulated"
    assert weft.asarray(D, device="cpu").device == "cpu"


def test_axes_are_turned_without_a_kernel(A):
    D = there(A)
    assert D.T.format == "csc"
    assert storage_anywhere(D.T).vals is storage_anywhere(D).vals
    assert (back(D.T) == DENSE.T).all()
    assert (back(D.mT) == DENSE.T).all()
    assert (back(D.transpose(1, 0)) == DENSE.T).all()


@pytest.mark.parametrize("device", ["gpu", "cuda:x", 1, "CPU", ""])
def test_other_devices_are_refused(A, device):
    with pytest.raises(ValueError, match="there is no device"):
        A.to_device(device)


# -- what computes ----------------------------------------------------------------------------------------------------
def test_products(A, x):
    D = there(A)
    X = weft.asarray(np.outer(x, [1.0, 2.0]), device="emulated")
    v = weft.asarray(x, device="emulated")
    assert isinstance(D @ v, weft.SparseTensor)
    assert isinstance(D @ v.todense(), EmulatedArray)
    for product in (D @ v, D @ v.todense(), np.matmul(D, v), weft.einsum("ij,j->i", D, v)):
        assert np.allclose(back(product), DENSE @ x)
    assert np.allclose(back(D @ X), DENSE @ np.outer(x, [1.0, 2.0]))
    assert np.allclose(back(D @ X.todense()), DENSE @ np.outer(x, [1.0, 2.0]))


@pytest.mark.parametrize("reduction", ["min", "max"])
def test_extremes_of_zeros_of_both_signs_have_the_same_bits_at_every_call(reduction):
    D = there(weft.asarray(np.ones((64, 3)), format="csr"))
    v = weft.asarray(np.where(np.arange(64) % 3, 0.0, -0.0), device="emulated")
    results = [weft.evaluate(f"y(j) = {reduction}(i, A(i,j)*x(i))", A=D, x=v, format="dense") for _ in range(20)]
    assert len({back(result).tobytes() for result in results}) == 1


def test_operators_with_numbers_keep_the_structure(A):
    D = there(A)
    for found, expected in [
        (2 * D, 2 * DENSE), (D * 2, DENSE * 2), (np.float64(2) * D, 2 * DENSE), (D * np.float64(2), 2 * DENSE),
        (-D, -DENSE), (abs(-D), DENSE), (D / 2, DENSE / 2), (D + D, DENSE + DENSE),
    ]:  # fmt: skip
        assert isinstance(found, weft.SparseTensor)
        assert found.device == "emulated"
        assert storage_anywhere(found).arrays is storage_anywhere(D).arrays
        assert (back(found) == expected).all()
    shifted = D + 1  # implicit entries change, too
    assert shifted.fill_value == 1
    assert (back(shifted) == DENSE + 1).all()


def test_lists_of_elements(A):
    assert there(A).tolist() == DENSE.tolist()


def test_operators_in_place(A):
    D = there(A)
    same = D
    D *= 2
    assert D is same
    assert (back(D) == 2 * DENSE).all()


def test_dtypes_and_dense_arrays(A):
    D = there(A)
    narrow = D.astype("float32")
    assert narrow.dtype == np.float32
    assert storage_anywhere(narrow).arrays is storage_anywhere(D).arrays
    assert (back(narrow) == DENSE).all()
    dense = D.todense()
    assert isinstance(dense, EmulatedArray)
    assert (dense.get() == DENSE).all()


def test_expressions_and_compiled_kernels(A, x):
    D, v = there(A), weft.asarray(x, device="emulated")
    found = weft.evaluate("y(i) = a*A(i,j)*x(j)", A=D, x=v, a=2)
    assert np.allclose(back(found), 2 * DENSE @ x)
    k = weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense")
    assert np.allclose(back(k(D, v)), DENSE @ x)
    assert np.allclose(back(k(D, v.todense())), DENSE @ x)
    assert np.allclose(k(A, x), DENSE @ x)  # on the CPU still
    with pytest.raises(DeviceError, match="conversion from coo to csr"):
        k(there(A.tocoo()), v)


@pytest.mark.parametrize("format", ["csr", "coo"])
def test_reductions(format):
    stored = np.where(DENSE == 0, 2.0, DENSE) if format == "csr" else DENSE
    D = there(weft.asarray(stored, format=format, fill_value=stored[0, 0]))
    calls = [
        lambda A: np.sum(A), lambda A: A.sum(axis=1, dtype="float32"), lambda A: A.mean(axis=-1, keepdims=True),
        lambda A: A.max(axis=0), lambda A: np.min(A, axis=1, initial=-5.0), lambda A: A.any(axis=1),
        lambda A: np.count_nonzero(A),
    ]  # fmt: skip
    for call in calls:
        found, expected = call(D), call(stored)
        assert found.dtype == expected.dtype
        assert type(found) is (weft.SparseTensor if expected.shape else EmulatedArray)
        np.testing.assert_allclose(back(found), expected, rtol=1e-6)
        assert np.shape(back(found)) == np.shape(expected)


def test_reductions_of_nothing():
    D = there(weft.zeros((0, 3), format="csr"))
    assert back(D.sum()) == 0
    assert (back(D.sum(axis=0)) == np.zeros(3)).all()
    assert (back(D.max(axis=0, initial=-1.0)) == -np.ones(3)).all()
    with pytest.raises(weft.errors.ShapeError, match="no identity"):
        D.min(axis=0)


def test_products_by_name(A, x):
    D, v = there(A), weft.asarray(x, device="emulated")
    for found in (D.dot(v), weft.tensordot(D, v, axes=1), weft.matvec(D, v), weft.inner(D, v)):
        assert np.allclose(back(found), DENSE @ x)
    assert np.allclose(back(weft.vecdot(D, D)), (DENSE * DENSE).sum(1))
    assert np.allclose(back(weft.vdot(v, v)), x @ x)


def test_functions_of_stored_values_and_copies(A):
    D = there(A)
    for found, expected in [(D.sqrt(), np.sqrt(DENSE)), (weft.square(D), DENSE**2), (D.copy(), DENSE),
                            (copy.deepcopy(D), DENSE), (np.swapaxes(D, 0, 1), DENSE.T)]:  # fmt: skip
        assert found.device == "emulated"
        assert np.allclose(back(found), expected)
    assert storage_anywhere(D.copy()).vals is not storage_anywhere(D).vals


def test_infinity_decides_min_plus_products_there_too(A, x):
    D, v = there(A.with_fill(np.inf)), weft.asarray(x, device="emulated")
    found = weft.evaluate("y(i) = min(j, A(i,j) + x(j))", A=D, x=v)
    stored = np.where(DENSE == 0, np.inf, DENSE)
    assert (back(found) == (stored + x).min(axis=1)).all()


def test_the_same_operands_give_the_same_bits(A, x):
    D, v = there(A), weft.asarray(x, device="emulated")
    assert len({back(D.T @ (D @ v)).tobytes() for _ in range(5)}) == 1


def test_empty_tensors():
    for shape in [(0, 3), (3, 0), (0, 0)]:
        D = there(weft.zeros(shape, format="csr"))
        found = D @ weft.asarray(np.ones(shape[1]), device="emulated")
        assert (back(found) == np.zeros(shape[0])).all()


# -- what is reported -------------------------------------------------------------------------------------------------
def explained(*operands, **named) -> list[str]:
    return weft.explain(*operands, **named).splitlines()


def test_explain_says_how_a_device_shares_the_work(A, x):
    lengths = np.zeros((200, 300))
    lengths[3], lengths[5, 2] = 1, 1
    long, y = (weft.asarray(v, format=f, device="emulated") for v, f in ((lengths, "csr"), (np.ones(300), "dense")))
    spmv = explained("y(i) = A(i,j)*x(j)", A=there(A), x=weft.asarray(x, device="emulated"))
    assert spmv[:3] == weft.explain("y(i) = A(i,j)*x(j)", A=A, x=x).splitlines()[:3]
    assert spmv[3:] == ["device: 1 kernel, one thread for each iteration of the outermost loop"]
    shares = "device: 2 kernels, teams of 8 lanes take equal shares of the positions pA2, as some rows are long"
    assert explained("ij,j->i", long, y)[-1] == shares
    wide = weft.asarray(np.ones((300, 40)), device="emulated")
    assert explained("ij,jk->ik", long, wide)[-1] == shares.replace("of 8", "of 32")
    with weft.config.override(disable={"equal-shares"}):
        assert explained("ij,jk->ik", long, wide)[-1] == "device: 1 kernel, 32 lanes share each loop over q, k"
    assert explained("s = A(i,j)", A=long)[-1] == "device: 4 kernels, 32 lanes share each loop over pA2"
    sampled = explained("C(i,j) = A(i,j)*U(i,k)*V(k,j)", A=long, U=weft.asarray(np.ones((200, 5)), device="emulated"),
                        V=weft.asarray(np.ones((5, 300)), device="emulated"))  # fmt: skip
    assert sampled[2] == "C shares the index arrays of A: only values are computed"
    assert sampled[-1].startswith("device: 1 kernel, ")
    assert explained("C(i,j) = 2*A(i,j)", A=long)[2:] == [
        "C shares the index arrays of A: only values are computed", spmv[3]
    ]  # fmt: skip
    assert "WEFT_KERNEL" in weft.explain("y(i) = A(i,j)*x(j)", A=long, x=y, stages="cuda")


def test_explain_says_what_a_device_refuses_and_why(A):
    D = there(A)
    reports = [
        (("C(i,k) = A(i,j)*B(k,j)",), {"A": D, "B": D}, "makes a sparse result with a structure of its own"),
        (("m(j) = prod(i, A(i,j))",), {"A": D}, "no loops compute m(j) = prod(i, A(i,j))"),
        (("m(i) = A(i,j)",), {"A": D, "dtype": "int8"}, "m is int8, and devices compute with bool"),
        ((D.tocsc,), {}, "a conversion from csr to csc does not run on emulated yet"),
    ]
    for operands, named, reason in reports:
        line = explained(*operands, **named)[-1]
        assert line.startswith("device: refused: ")
        assert reason in line
    assert explained(D.asformat, "csr") == ["csr float64 is converted to csr float64 on emulated: it has this format"]
    assert explained(D.todense)[0] == "csr float64 is converted to dense float64 on emulated"
    assert "device: " in explained(D.todense)[-1]
    with pytest.raises(DeviceError, match="no loops compute"):
        weft.explain("m(j) = prod(i, A(i,j))", A=D, stages=True)
    pairs = weft.Format("(j) -> (j/2,j%2)", [Dense(), Compressed()])  # whose coordinates have variables of their own
    with pytest.raises(DeviceError, match="makes a sparse result with a structure of its own"):
        weft.evaluate("y(j) = sum(i, A(i,j))", A=D.todense(), format=pairs)


# -- what is refused --------------------------------------------------------------------------------------------------
def test_operands_on_several_devices(A, x):
    D, v = there(A), weft.asarray(x, device="emulated")
    for compute in (
        lambda: D @ x, lambda: A @ v, lambda: A @ v.todense(), lambda: x @ there(A.T), lambda: D + A, lambda: A * D,
    ):  # fmt: skip
        with pytest.raises(DeviceError, match=r"is on the CPU and the operand on the .* on emulated"):
            compute()
    with pytest.raises(
        DeviceError, match=r"x is on the CPU and A on emulated; it must be moved with weft.asarray\(x, dev"
    ):
        weft.evaluate("y(i) = A(i,j)*x(j)", A=D, x=x)
    with pytest.raises(DeviceError, match="x is on the CPU"):
        weft.compile("y(i) = A(i,j)*x(j)", A="csr", x="dense")(D, x)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda D: D.var(), "var"), (lambda D: weft.std(D), "std"), (lambda D: np.cumsum(D), "cumsum"),
        (lambda D: D.sum(where=DENSE > 0), "sum"), (lambda D: D.sum(axis=0, out=np.zeros(3)), "sum"),
        (lambda D: D.max(explicit=True), "max"), (lambda D: weft.nanmax(D, axis=1), "nanmax"),
        (lambda D: D[0], "A[key]"), (lambda D: D.tocsc(), "tocsc"),
        (lambda D: pickle.dumps(D), "pickle"), (lambda D: list(D), "iteration"),
        (lambda D: np.asarray(D), "np.asarray"), (lambda D: weft.linalg.norm(D), "norm"),
        (lambda D: weft.linalg.splu(D), "splu"), (lambda D: np.add.reduce(D), "np.add.reduce"),
        (lambda D: D.to_scipy_sparse(), "to_scipy_sparse"), (lambda D: D > 0, "greater"),
        (lambda D: D.indptr, "indptr"), (lambda D: np.sin(D, out=D), "np.sin"),
    ],
)  # fmt: skip
def test_functions_that_are_not_ported_say_so(A, call, name):
    with pytest.raises(DeviceError) as caught:
        call(there(A))
    assert str(caught.value) == f"{name} does not run on emulated yet; A.to_device('cpu') copies the tensor"


class Launched(DeviceError):
    """What a device raises in place of running a kernel."""


def _calls(function):
    """Yield calls of a function with a tensor in any of its places, as functions of the tensor."""
    patterns = [
        lambda D: (D,), lambda D: (D, D), lambda D: (D, 1), lambda D: (1, D), lambda D: ([D, D],),
        lambda D: (D, (3, 3)), lambda D: (D, 0, 1), lambda D: ("ij->ij", D), lambda D: (np.sin, D),
        lambda D: (len, 0, D), lambda D: ([0, 1], D), lambda D: (D, [0, 1], D),
    ]  # fmt: skip
    for pattern in patterns:
        yield lambda D, pattern=pattern: function(*pattern(D))


def _outcome(call, tensor):
    """Return the class of what a call raises, or its result."""
    try:
        with np.errstate(all="ignore"):
            result = call(tensor)
    except Exception as error:
        return type(error)
    if isinstance(result, weft.SparseTensor):
        return result.shape, result.dtype, result.fill_value, result.to_device("cpu").todense()
    return type(result) if callable(result) else result


def _tensor(argument):
    if not isinstance(argument, weft.SparseTensor):
        raise TypeError("a method of tensors")
    return argument


def _public():
    """Yield the public functions, and the methods of tensors, each with its name."""
    for module in (weft, weft.linalg, weft.fft, weft.csgraph):
        for name in sorted(vars(type(module)).get("__all__", dir(module))):
            function = getattr(module, name)
            if (
                callable(function)
                and not name.startswith("_")
                and not inspect.isclass(function)
                and name not in _HARMLESS
            ):
                yield f"{module.__name__}.{name}", function
    for name in dir(weft.SparseTensor):
        member = inspect.getattr_static(weft.SparseTensor, name)
        if not name.startswith("_") and name not in _HARMLESS:
            if isinstance(member, property):
                yield f"A.{name}", lambda D, name=name: getattr(_tensor(D), name)
            else:
                yield f"A.{name}", lambda D, *args, name=name: getattr(_tensor(D), name)(*args)


_HARMLESS = {  # what says where a tensor is or what computes with it, moves it, or draws at random
    "device", "explain", "to_device", "called", "rand", "random", "random_array", "empty", "empty_like",
    "show_versions", "set_num_threads", "get_num_threads", "register_format", "use_solver", "write_mtx", "write_tns",
    "save", "save_npz",
}  # fmt: skip


def test_no_public_function_reads_a_tensor_on_a_device_unless_it_is_ported(monkeypatch, A):
    """Each raises ``DeviceError``, launches a kernel, or has the outcome that it has on the CPU."""

    def launch(device, function, *arguments):
        raise Launched("a kernel")

    monkeypatch.setattr(emulated.EmulatedDevice, "launch", launch)
    monkeypatch.setattr(emulated.Kernels, "__getitem__", lambda kernels, name: None)
    square = weft.asarray(DENSE[:3], format="csr")
    D, wrong, ported = there(square), [], set()
    for name, function in _public():
        for call in _calls(function):
            found = _outcome(call, D)
            if isinstance(found, type) and issubclass(found, DeviceError):
                if found is Launched:
                    ported.add(name)
                continue
            expected = _outcome(call, square)
            if isinstance(found, (tuple, list)):  # objects that are returned as they are
                found = type(found)(square if x is D else x for x in found)
            if found is not expected and repr(found) != repr(expected):
                wrong.append(f"{name}: {found!r:.100} instead of {expected!r:.100}")
    assert not wrong
    assert {"weft.einsum", "weft.multiply", "A.multiply", "A.todense"} <= ported
    by_name = {"sum", "prod", "max", "min", "mean", "any", "all", "count_nonzero", "dot", "sqrt"}
    assert {f"{where}.{name}" for where in ("A", "weft") for name in by_name} <= ported
    assert issubclass(DeviceError, WeftError)


# -- long segments ----------------------------------------------------------------------------------------------------
def test_slices_are_cut_where_one_is_long(monkeypatch):
    sources, compile = [], emulated.EmulatedDevice.compile
    monkeypatch.setattr(emulated.EmulatedDevice, "compile", lambda *args: sources.append(args[1]) or compile(*args))
    rng = np.random.default_rng(2)
    even = np.where(rng.random((300, 40, 45)) < 0.001, rng.random((300, 40, 45)), 0)
    uneven = even.copy()
    uneven[7] = rng.random((40, 45))
    B, C = rng.random((40, 5)), rng.random((45, 5))
    for T in (even, uneven):
        named = {"T": weft.asarray(T, format="csf"), "B": weft.asarray(B), "C": weft.asarray(C)}
        M = weft.evaluate("M(i,r) = T(i,j,k)*B(j,r)*C(k,r)", **{name: there(each) for name, each in named.items()})
        np.testing.assert_allclose(back(M), np.einsum("ijk,jr,kr->ir", T, B, C), rtol=1e-12)
    assert ["share_begin" in source for source in sources] == [False, True]
