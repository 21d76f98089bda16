"""Pickles that weft wrote before its files had their present places."""

import base64
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import weft

PICKLES = json.loads(Path(__file__).with_name("old_pickles.json").read_text())
DENSE = np.array([[0.0, 1.5, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 4.0, 0.0]])


@pytest.mark.parametrize("what", PICKLES)
def test_old_pickles_load(what):
    found = pickle.loads(base64.b64decode(PICKLES[what]))
    if what == "a format":
        assert isinstance(found, weft.Format)
        assert found.is_structured
    else:
        assert found.format == what
        np.testing.assert_array_equal(found.todense(), DENSE)
