"""The entries that ``print`` shows of a tensor."""

import numpy as np
import pytest

import weft
from weft.errors import FormatError

D = np.array([[0, 1.5, 0, 0], [0, 0, 0, 0], [2.0, 0, 0, 3.0]])


@pytest.mark.parametrize("format", [*weft.formats])
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
    assert str(weft.asarray(3.0)).splitlines()[1:] == ["  ()  3.0"]
    assert str(weft.zeros((3, 3), format="csr")) == repr(weft.zeros((3, 3), format="csr"))
    S = weft.from_coords([[1, 1, 0], [0, 0, 2]], [1.0, 2.0, 3.0], shape=(2, 3), duplicates="keep")
    assert str(S).splitlines()[1:] == ["  (1, 0)  1.0", "  (1, 0)  2.0", "  (0, 2)  3.0"]


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
