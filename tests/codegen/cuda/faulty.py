"""Run a program with a planted fault: ``python -m tests.codegen.cuda.faulty FILE``; status 3 if it is noticed."""

import ctypes
import pickle
import sys
from pathlib import Path

import numpy as np
from tests.codegen.cuda.emulated import EmulatorError
from tests.codegen.cuda.programs import computed


def main(file: str) -> int:
    path, name, program, held, expected = pickle.loads(Path(file).read_bytes())
    try:
        found = computed(ctypes.CDLL(path), name, program, held)
    except EmulatorError as error:
        print(error)
        return 3
    return 0 if np.allclose(found, expected) else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
