"""The emulator notices faults that are planted in the text of programs; each runs in a process, which some crash."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from weft.records import replace

from .emulated import compiled
from .programs import EXPRESSIONS, FORMATS, SIZES, module_of, program_of, storages, values_of

FAULTS = {
    "none": ("spmv", "csr", "", ""),
    "a mask that is too wide": ("spmv", "csr", "return all << (", "return 0xffffffffu | all << ("),
    "a loop that ends early": ("spmv", "csr", "pA2 < pA2_end;", "pA2 < pA2_end - 1;"),
    "an exchange is missing": ("spmv", "csr", "t += weft_team_other_float64(t, 2, 4);", ""),
    "an exchange for half of the lanes": (
        "spmv", "csr", "t += weft_team_other_float64(t, 2, 4);",
        "if (lane < 2) t += weft_team_other_float64(t, 2, 4);",
    ),
    "no lane of its own": ("spmv", "csr", "A2_pos[i] + lane", "A2_pos[i]"),
    "a wrong step of lanes": ("spmv", "csr", "pA2 += 4", "pA2 += 3"),
    "every lane adds": ("spmv", "coo", "if (lane == 0) {", "if (true) {"),
    "a team leaves out its row": ("spmv", "csr", "int64_t i = team", "int64_t i = team + 1"),
    "one try at a shared place": ("column_max", "csr", "} while (seen != before);", "} while (false);"),
    "a part of a row is left out": ("spmv", "csr", "part = share_of_first + 1", "part = share_of_first + 2"),
    "a run that began before is taken for a whole one": ("spmv", "coo", "if (is_cut)", "if (false)"),
}  # fmt: skip
IN_SHARES = ("a part of a row is left out", "a run that began before is taken for a whole one")
LONG = {**SIZES, "j": 700}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file for each fault, with all that runs its program."""
    folder = tmp_path_factory.mktemp("faults")
    programs, runs = {}, {}
    for number, (fault, (name, format, old, new)) in enumerate(FAULTS.items()):
        module, fills = module_of(EXPRESSIONS[name], FORMATS[format])
        balanced = fault in IN_SHARES
        program, sizes = program_of(module, 4, balanced), LONG if balanced else SIZES
        A = np.random.default_rng(2).integers(1, 9, (sizes["i"], sizes["j"])).astype(float)
        assert old in program.source, fault
        program = programs[f"p{number}"] = replace(program, source=program.source.replace(old, new))
        values = values_of(EXPRESSIONS[name], A, "float64", np.random.default_rng(3), sizes)
        expected = EXPRESSIONS[name].dense(**values)
        runs[fault] = f"p{number}", program, storages(module, program, values, fills, sizes=sizes), expected
    path = compiled(programs, folder)._name
    for number, (fault, run) in enumerate(runs.items()):
        (folder / f"{number}.pickle").write_bytes(pickle.dumps((path, *run)))
        runs[fault] = folder / f"{number}.pickle"
    return runs


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault, files):
    command = [sys.executable, "-m", "tests.codegen.cuda.faulty", str(files[fault])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if fault == "none":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 3 or done.returncode < 0, (done.returncode, done.stdout, done.stderr)
