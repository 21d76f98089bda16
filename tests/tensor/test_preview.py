"""The entries that ``print`` shows of a tensor."""

import numpy as np
import pytest

import weft
from weft.errors import FormatError

D = np.array([[0, 1.5, 0, 0], [0, 0, 0, 0], [2.0, 0, 0, 3.0]])


@pytest.mark.parametrize("format", [name for name in weft.formats if not name.startswith("dense")])
def test_entries_are_those_of_the_tensor(format):
    try:
        A = weft.asarray(D, format="coo").asformat(format)
    except FormatError:
        return
    head, *lines = str(A).splitlines()
    assert head == repr(A)
    shown = [line.split("  ") for line in map(str.strip, lines) if not line.startswith("  ...")]
    places = [eval(place) for place, *_ in shown]
    assert all(D[place] == float(texts[-1]) for place, (_, *texts) in zip(places, shown, strict=True))
    assert len(set(places)) == len(places)
    assert set(zip(*map(np.ndarray.tolist, D.nonzero()), strict=True)) <= set(places) or len(places) == 12


def test_views_and_other_ranks():
    A = weft.asarray(D, format="csr")
    assert str(A.T[:, ::2]).splitlines()[1:] == ["  (1, 0)  1.5", "  (0, 1)  2.0", "  (3, 1)  3.0"]
    assert str(weft.zeros((3, 3), format="csr")) == repr(weft.zeros((3, 3), format="csr"))
    S = weft.from_coords([[1, 1, 0], [0, 0, 2]], [1.0, 2.0, 3.0], shape=(2, 3), duplicates="keep")
    assert str(S).splitlines()[1:] == ["  (1, 0)  1.0", "  (1, 0)  2.0", "  (0, 2)  3.0"]


DENSE = [np.arange(6).reshape(2, 3), np.arange(2000.0), np.float32([[0.1]]), np.array([True]), np.array(3.0),
         np.zeros((0, 3)), np.array([np.nan, -0.0, 1j]), np.arange(99).reshape(9, 11, 1)]  # fmt: skip


def made_of(values, *, format, dtype=None, shape=None):
    return np.array(values, dtype).reshape(shape or np.shape(values))


@pytest.mark.parametrize("x", DENSE, ids=lambda x: f"{x.shape} {x.dtype}")
@pytest.mark.parametrize("format", ["dense", "dense_f"])
@pytest.mark.parametrize("linewidth", [50, 75])
def test_dense_tensors_show_what_arrays_do(x, format, linewidth):
    A = weft.asarray(x).asformat(format)
    with np.printoptions(linewidth=linewidth, precision=3):
        assert str(A) == str(x)
        lines = repr(A).splitlines()
        assert lines[-1].endswith(f"format='{format}')")
        assert all(len(line) <= linewidth for line in lines)
        if "..." not in repr(A):
            with np.errstate(invalid="ignore"):
                values = eval(
                    repr(A), {"SparseTensor": made_of, "nan": np.nan, "float32": np.float32, "float64": float}
                )
            np.testing.assert_allclose(values, x, atol=1e-3)
    assert f"<pre>{x}</pre>" in A._repr_html_()


def test_results_without_axes_show_as_numbers():
    xp = weft.array_api
    A = weft.from_coords([[0, 2], [1, 2]], [1.5, 2.0], shape=(3, 4), format="csr")
    total = xp.sum(A)
    assert (str(total), repr(total), f"{total:.2f}") == ("3.5", "SparseTensor(3.5, format='dense')", "3.50")
    assert str(A.sum(axis=1)) == "[1.5 0.  2. ]"
    assert f"{A}" == str(A)
    with pytest.raises(TypeError):
        f"{A:.2f}"


@pytest.mark.parametrize("format", ["csr", "lil", "coo"])
def test_large_tensors_are_not_read_as_a_whole(format, monkeypatch):
    n = 300_000
    A = weft.from_coords([np.arange(n - 20, n), np.arange(20)], np.arange(20.0), shape=(n, n), format=format)
    converted = []
    monkeypatch.setattr("weft.execution.convert", lambda *args, **named: converted.append(args))
    lines = str(A).splitlines()
    assert not converted
    if format == "lil":  # nothing says where the first row with entries is, and not all of them are looked at
        assert lines[1:] == ["  ... 20 more"]
    else:
        assert lines[1] == f"  ({n - 20}, 0)   0.0"
        assert lines[12:] == [f"  ({n - 9}, 11)  11.0", "  ... 8 more"]
