"""The grid on the emulator: every expression by every format, for dtypes, index dtypes and numbers of lanes."""

import numpy as np
import pytest

from .emulated import compiled
from .programs import (
    CUBE,
    EXPRESSIONS,
    FORMATS,
    LANES,
    SIZES,
    cases,
    computed,
    module_of,
    program_of,
    storages,
    values_of,
)


def matrices(dtype, ndim):
    """Yield data: empty rows, one row, all entries in one row, nothing."""
    rng = np.random.default_rng(5)
    shape = tuple(SIZES[v] for v in "ijk"[:ndim])
    some = rng.integers(1, 9, shape) * (rng.random(shape) < 0.3)
    some[3], some[7:9] = 0, 0
    row = np.zeros(shape, int)
    row[4] = rng.integers(1, 9, shape[1:])
    for data in (some, row, np.zeros(shape, int)):
        scale = 0.25 if dtype.startswith("float") else 1
        yield (data * scale).astype(dtype)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_values_are_those_of_numpy(name, tmp_path):
    expression, modules, programs = EXPRESSIONS[name], {}, {}
    for case_name, format, dtype, index in cases():
        if case_name == name:
            module, fills = module_of(expression, FORMATS[format], dtype, index)
            for lanes in LANES:
                label = f"{format}_{dtype}_{index}_{lanes}"
                modules[label] = module, fills, dtype, index
                programs[label] = program_of(module, lanes)
    library = compiled(programs, tmp_path)
    for number, (label, (module, fills, dtype, index)) in enumerate(modules.items()):
        for data in matrices(dtype, 3 if name in CUBE else 2):
            A = np.where(data == 0, expression.fill, data).astype(dtype) if expression.fill else data
            program = programs[label]
            values = values_of(expression, A, dtype, np.random.default_rng(number))
            found = computed(library, label, program, storages(module, program, values, fills, index), seed=number)
            expected = np.asarray(expression.dense(**values)).astype(found.dtype)
            np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-6,
                                       err_msg=f"{name} {label}")  # fmt: skip
