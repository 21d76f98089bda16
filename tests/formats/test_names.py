"""``A.format`` is a string: it hashes, prints and comes back as the name that was asked for."""

import copy
import io
import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from weft.formats import Compressed, Dense, Format, formats, name_of, parse_format
from weft.formats.catalogue import options_of

D = np.arange(1.0, 37).reshape(6, 6) * (np.random.default_rng(0).random((6, 6)) < 0.4)
A = weft.asarray(D, format="csr")


def test_it_is_a_string():
    assert isinstance(A.format, str)
    assert A.format == "csr"
    assert A.format in {"csr", "csc"}
    assert {"csr": 1}[A.format] == 1
    assert f"{A.format:>5}|{A.format.upper()}" == "  csr|CSR"
    assert json.dumps({A.format: A.format}) == '{"csr": "csr"}'
    assert pickle.loads(pickle.dumps(A.format)) == copy.deepcopy(A.format) == "csr"
    blocks = weft.ones((6, 6), format="bsr").asformat("bsr", blocksize=(3, 2)).format
    for name in (blocks, pickle.loads(pickle.dumps(blocks)), copy.deepcopy(blocks)):
        assert (name, name.layout) == ("bsr", weft.formats["bsr"](2, blocksize=(3, 2)))
    assert A.format != "csc"
    assert A.layout == Format("(i,j) -> (i,j)", [Dense(), Compressed()])


def test_scipy_saves_it():
    file = io.BytesIO()
    sp.save_npz(file, A)
    file.seek(0)
    np.testing.assert_array_equal(sp.load_npz(file).toarray(), D)


@pytest.mark.parametrize("name", formats)
def test_names_come_back(name):
    order = 1 if name == "hash_vector" else 2
    dense = D if order == 2 else D[0]
    B = weft.asarray(dense, format=name)
    assert B.format == name
    assert B.asformat(name).format == B.copy().format == B.astype(np.float32).format == name
    assert pickle.loads(pickle.dumps(B)).format == copy.copy(B).format == name
    assert weft.asarray(dense).asformat(B.format).layout == B.layout
    turned = B.T
    again = weft.asarray(dense.T).asformat(turned.layout)  # what it is and what its name says hold the same
    assert again.layout == turned.layout
    options = options_of(str(turned.layout).partition(":")[0], B.layout) or {}
    assert parse_format(str(turned.layout), order, **options) == turned.layout.canonical()
    np.testing.assert_array_equal(weft.asarray(dense.T).asformat(str(turned.format)).todense(), dense.T)


def test_options_are_not_part_of_it():
    B = A.asformat("bsr", blocksize=(3, 2))
    assert B.format == "bsr"
    assert weft.asarray(D).asformat(B.format).blocksize == (3, 2)
    assert weft.asarray(D).asformat(str(B.format)).blocksize == (2, 2)
    assert A.asformat("hyb", width=2).format == "hyb"
    assert A.asformat("hicoo", block=4).format == "hicoo"
    assert str(B.T.layout) == "bsr:1,0"
    assert parse_format("bsr:1,0", 2, blocksize=(3, 2)) == B.T.layout
    with pytest.raises(weft.errors.FormatError, match="'csr' takes no options"):
        A.asformat("csr", blocksize=(2, 2))


def test_aliases():
    assert A.asformat("csf").format == "csf"
    assert A.asformat("csf").asformat("dcsr").format == "dcsr"
    assert A.asformat("gcxs").format == "gcxs"
    assert A.asformat("ds").format == "ds"
    assert A.asformat("csf").asformat(None).format == "csf"
    assert (A.asformat("csf") * 2).format == "dcsr"
    B = A.asformat("csf")
    B[0] = 0
    assert B.format == "csf"


def test_permuted_and_sliced():
    T = weft.random((3, 4, 5), density=0.2, rng=0)
    for name, shown in (
        ("coo", "coo"),
        ("csf", "csf:2,1,0"),
        ("dense", "dense_f"),
        ("mode_generic", "mode_generic:2,1,0"),
    ):
        turned = T.asformat(name).T
        assert turned.format == shown
        assert weft.asarray(turned.todense()).asformat(str(turned.format)).format == shown
        assert options_of(name, parse_format(str(turned.layout), 3).permuted((2, 1, 0))) is not None
    assert str(T.T.layout) == "coo:2,1,0"
    assert T.asformat("csf").transpose(1, 0, 2).format == "csf:1,0,2"
    assert weft.asarray(D, format="dia").T.format == "dia:1,0"
    own = Format("(i,j) -> (j-i,i)", [Compressed(), Compressed()])
    assert parse_format(name_of(own), 2) == own
    wide = weft.random((300, 300), density=0.2, rng=0, format="csr")
    assert wide[5:250, ::2].format == "csr"


@pytest.mark.parametrize("text", ["csr:0", "csr:0,2", "csr:a,b", "coo:1,1", "dsx", "csr:1,0,2"])
def test_wrong_mode_orders(text):
    with pytest.raises(weft.errors.FormatError, match=r"mode order|no format"):
        A.asformat(text)
