"""Names that do not exist: arguments, operands, formats and attributes, and what errors suggest instead."""

import ast
import pickle
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import weft
from weft.errors import FormatError, NotationError

A = weft.from_coords([[0, 1], [2, 0]], [1.5, 2.0], shape=(3, 3), format="csr")
X = np.ones(3)
SPMV = "y(i) = A(i,j)*x(j)"


@pytest.mark.parametrize(
    ("call", "wrong", "meant"),
    [
        (lambda: weft.random((3, 3), density=0.1, seed=0), "random() got .* 'seed'", "rng"),
        (lambda: weft.random((3, 3), density=0.1, random_stat=0), "'random_stat'", "random_state"),
        (lambda: weft.random((3, 3), fmt="csr"), "'fmt'", "format"),
        (lambda: weft.random((3, 3), format="gcxs", compressed_axis=0), "'compressed_axis'", "compressed_axes"),
        (lambda: A.asformat("bsr", block_size=(1, 1)), "asformat() got .* 'block_size'", "blocksize"),
        (lambda: A.asformat("csr", blocksiz=(1, 1)), "'blocksiz'", "blocksize"),
        (lambda: A.asformat("ds", sorted=False), "'sorted'", "sort"),
        (lambda: weft.GCXS.from_numpy(np.eye(2), compressed=0), "from_numpy() got .* 'compressed'", "compressed_axes"),
    ],
)
def test_misspelt_arguments(call, wrong, meant):
    with pytest.raises(TypeError, match=f"{wrong.replace('()', '[(][)]')}.*did you mean '{meant}'"):
        call()


def test_arguments_that_nothing_is_like():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        weft.random((3, 3), zzz=1)
    with pytest.raises(TypeError, match=r"shape is for \.tns and \.parquet files, not for 'a\.mtx'"):
        weft.load("a.mtx", shape=(2, 2))


def test_options_of_other_formats():
    with pytest.raises(FormatError, match="'csr' takes no options, not blocksize"):
        A.asformat("csr", blocksize=(1, 1))
    with pytest.raises(FormatError, match=r"'bsr' does not take the options .*2\.5"):
        A.asformat("bsr", blocksize=2.5)
    with pytest.raises(FormatError, match="'bsr' takes blocksize, not blksize; did you mean 'blocksize'"):
        weft.formats["bsr"](2, blksize=2)


def test_options_of_users_own_formats(monkeypatch):
    from weft.formats import catalogue

    monkeypatch.setattr(catalogue, "_CATALOGUE", dict(catalogue._CATALOGUE))
    weft.register_format("padded", lambda n, pad=2: weft.formats["csr"](n))
    weft.register_format("anything", lambda n, **told: weft.formats["csr"](n))
    try:
        assert A.asformat("padded", pad=3).nnz == A.asformat("anything", whatever=3).nnz == 2
        with pytest.raises(TypeError, match="'paad'; did you mean 'pad'"):
            A.asformat("padded", paad=3)
        weft.register_format("lists", weft.Format("(i,j) -> (i,j)", [weft.Compressed()] * 2))
        for name, order in (("lists", 3), ("lists:1,0", 3), ("lists:0", 1)):
            with pytest.raises(FormatError, match=f"format {name} stores tensors with 2 axes; this one has {order}"):
                weft.zeros((2,) * order, format=name)
            with pytest.raises(FormatError, match="stores tensors with 2 axes"):
                weft.compile(f"B({','.join('ijk'[:order])}) = A({','.join('ijk'[:order])})", A=name)
        assert weft.eye(3, format="lists:1,0").T.asformat("lists").nnz == 3
    finally:
        monkeypatch.undo()
        for cached in (catalogue._parsed, catalogue._takes, catalogue._all_options):
            cached.cache_clear()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: weft.evaluate("y(i) = A(i,j)*X(j)", A=A, x=X), "^X is missing: .*no operand 'x'.*did you mean 'X'"),
        (lambda: weft.evaluate(SPMV, A=A, x=X, fmt="csr"), "operands A, x; did you mean 'format'"),
        (lambda: weft.compile(SPMV, a="csr"), "^there is no tensor 'a'.*did you mean 'A'"),
        (lambda: weft.compile(SPMV, A="csr", dtype={"A": "float32"}), "no tensor 'dtype'.*did you mean 'dtypes'"),
        (lambda: weft.compile(SPMV, dtypes={"a": "float32"}), "no tensor 'a'.*did you mean 'A'"),
        (lambda: weft.compile(SPMV, A="csr", x="dense")(A, X=X), "^x is missing: .*'X'.*did you mean 'x'"),
        (lambda: weft.compile(SPMV, A="csr", x="dense")(A), "operands A, x, each once; given: 1 by position"),
    ],
)
def test_misspelt_operands(call, message):
    with pytest.raises(NotationError, match=message):
        call()


@pytest.mark.parametrize(
    ("name", "meant"), [("CSR", "csr"), ("csrr", "csr"), ("crs", "csr"), ("csc ", "csc"), ("skylin", "skyline")]
)
def test_misspelt_formats(name, meant):
    with pytest.raises(FormatError, match=f"no format {name!r}; did you mean {meant!r}"):
        A.asformat(name)


def test_formats_that_nothing_is_like():
    with pytest.raises(FormatError, match=r"no format 'xyz'; known are dense, .* and letters such as 'ds:1,0'"):
        A.asformat("xyz")


def test_formats_are_shown_as_what_makes_them():
    names = vars(import_module("weft.formats"))  # whose attribute of that name is the catalogue
    made = [f for name in weft.formats if name != "bitmap" for n in (1, 2, 3) if (f := _format(name, n)) is not None]
    views = [part._storage.format for part in (A[1:, ::2], A[[0, 2]], A.T[:, 1:])]
    assert len(made) > 30
    for format in (*made, *views, weft.formats["hyb"](2, width=3), weft.formats["csr"](2).unsorted()):
        assert eval(repr(format), dict(names)) == format
    assert repr(weft.formats["csc"](2)) == "Format('(i,j) -> (j,i)', [Dense(), Compressed()])"
    assert repr(weft.formats["coo"](2).levels[0]) == "Compressed(unique=False)"


def _format(name, order):
    try:
        return weft.formats[name](order)
    except FormatError:
        return None


@pytest.mark.parametrize(
    ("name", "meant"), [("toscipy", "to_scipy"), ("tocrs", "tocsr"), ("summ", "sum"), ("to_dense", "todense")]
)
def test_misspelt_attributes_of_tensors(name, meant):
    assert not hasattr(A, name)
    with pytest.raises(
        AttributeError, match=f"'SparseTensor' object has no attribute '{name}'; did you mean '{meant}'"
    ):
        getattr(A, name)


def test_old_names_of_scipy_are_answered_with_what_to_write():
    dense = np.array([[0, 2j, 0], [3, 0, 1]])
    old, i, j = scipy.sparse.csr_matrix(dense), 1, 2
    here = {"A": weft.asarray(dense, format="csr"), "weft": weft, "i": i, "j": j}
    asked = {
        "getrow": lambda: old.getrow(i).toarray(), "getcol": lambda: old.getcol(j).toarray(), "getnnz": old.getnnz,
        "A": lambda: dense, "A1": lambda: dense.ravel(), "H": lambda: dense.conj().T,
        "getH": lambda: old.getH().toarray(), "get_shape": old.get_shape, "getformat": old.getformat,
        "asfptype": lambda: scipy.sparse.csr_matrix(dense.real.astype(int)).asfptype().toarray(),
    }  # fmt: skip
    for name, answer in asked.items():
        tensor = here["A"].real.astype(int) if name == "asfptype" else here["A"]
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; write ") as caught:
            getattr(tensor, name)
        text = str(caught.value).partition("; write ")[2].partition(", or")[0]
        found = eval(text, {**here, "A": tensor})
        assert np.array_equal(found.todense() if isinstance(found, weft.SparseTensor) else found, answer()), name
    with pytest.raises(AttributeError, match=r"no attribute 'isspmatrix_csr'; write A.format == \"csr\""):
        _ = weft.isspmatrix_csr


def test_errors_of_attributes_can_be_pickled():
    with pytest.raises(AttributeError) as caught:
        _ = A.tocrs
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(AttributeError, match="tensors of format csr have no offsets"):
        _ = A.offsets


def test_errors_show_tensors_and_no_internal_objects():
    with pytest.raises(
        weft.errors.UnsupportedError, match=r"linalg\.solve needs every element of <SparseTensor: shape=\(3, 3\), "
    ):
        weft.linalg.solve(A, X)
    with pytest.raises(ValueError, match=r"to a tensor .*format csc.* needs a copy"):
        weft.asarray(A, format="csc", copy=False)


def test_no_error_is_made_of_internal_objects():
    """Nothing is written with a storage in it, as by ``{storage}`` or ``str(A._storage)``: users see tensors."""
    root = Path(weft.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            printed = node.args if isinstance(node, ast.Call) and _name(node.func) in ("str", "repr") else ()
            if isinstance(node, ast.FormattedValue):
                printed = [node.value]
            found += [f"{path.relative_to(root)}:{each.lineno}" for each in printed if _name(each) in INTERNAL]
    assert not found


INTERNAL = {"storage", "_storage"}


def _name(node):
    return {ast.Name: lambda: node.id, ast.Attribute: lambda: node.attr}.get(type(node), str)()
