"""The small tensors that the playground draws, against what weft stores."""

import json

import numpy as np
import pytest

import weft
from weft.operations.operands import storage_of
from weft.playground.drawings import EXAMPLES, example
from weft.playground.state import choices
from weft.remapping.nodes import evaluate
from weft.storage.hierarchy import entries
from weft.storage.invariants import check

pytestmark = pytest.mark.compiles_alone

MATRIX = np.array([[5.0, 1, 0, 0, 0, 0], [7, 3, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [8, 0, 0, 4, 9, 0]])
TENSORS = {  # by number of axes
    1: MATRIX[3],
    2: MATRIX,
    3: np.array([[[0.0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0]], [[0.0] * 4] * 3,
                 [[0, 0, 0, 0], [0, 4, 5, 0], [0, 0, 0, 6]]]),
    4: np.array([[[[0.0, 0], [1, 0]], [[0, 2], [0, 0]]], [[[0, 0], [0, 0]], [[3, 0], [4, 5]]]]),
}  # fmt: skip
OPTIONS = {
    "sell": {"window": 2},
    "csb": {"block": 2},
    "hicoo": {"block": 2},
}  # blocks as users have them are larger than these tensors
OFFERED = [(name, axes) for axes in TENSORS for name in (*choices(axes).named, *choices(axes).lettered)]


def stored(name, axes):
    return storage_of(weft.asarray(TENSORS[axes]).asformat(name, **OPTIONS.get(name, {})))


def entry(name, axes):
    storage = stored(name, axes)
    return {
        "shape": list(storage.shape),
        "options": OPTIONS.get(name, {}),
        "dtypes": list(storage.type.index_dtypes),
        "arrays": [array.tolist() for array in storage.arrays],
        "values": storage.vals.tolist(),
    }


def test_there_is_an_example_for_each_format_on_the_page(request):
    if request.config.getoption("--update-golden"):
        made = (f"{json.dumps(f'{name}/{axes}')}: {json.dumps(entry(name, axes))}" for name, axes in OFFERED)
        EXAMPLES.write_text("{\n" + ",\n".join(made) + "\n}\n", encoding="utf-8")
    assert list(json.loads(EXAMPLES.read_text("utf-8"))) == [f"{name}/{axes}" for name, axes in OFFERED]


@pytest.mark.parametrize(("name", "axes"), OFFERED)
def test_an_example_holds_the_tensor(name, axes):
    storage = example(name, axes)
    check(storage)
    found = np.zeros(TENSORS[axes].shape)
    inverse = storage.format.remapping.inverse()
    for path, position in entries(storage):
        found[tuple(evaluate(axis, path, shape=storage.shape) for axis in inverse)] += storage.vals[position]
    np.testing.assert_array_equal(found, TENSORS[axes])


@pytest.mark.parametrize("name", choices(2).named)
def test_an_example_is_what_weft_stores(name):
    recorded, made = example(name, 2), stored(name, 2)
    assert recorded.type == made.type
    for one, other in zip((*recorded.arrays, recorded.vals), (*made.arrays, made.vals), strict=True):
        np.testing.assert_array_equal(one, other)
