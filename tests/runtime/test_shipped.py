"""Kernels that are installed with weft: found by their text, before a compiler is looked for."""

import os
import shutil
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from weft.runtime import levels, shipped
from weft.runtime.toolchain import LEVEL

pytestmark = [
    pytest.mark.takes_long,
    pytest.mark.compiles_alone,
    pytest.mark.skipif(levels.machine_level() is None, reason="there are no levels of instructions here"),
]
SESSION = Path(__file__).with_name("shipped_session.py")
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_") and name != "CC"}


def session(action, directory, cache, **environ):
    """The lines that a session prints: of each kernel where it came from, then the digest of the results."""
    environ = {**PLAIN, "WEFT_CACHE_DIR": str(cache), **environ}
    run = subprocess.run(
        [sys.executable, str(SESSION), action, str(directory)], env=environ, capture_output=True, text=True
    )
    return run.stdout.splitlines(), run.stderr


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The directory of a library, built as those of wheels are."""
    directory = tmp_path_factory.mktemp("kernels")
    assert session("build", directory, directory / "cache")[1] == ""
    return directory / f"{levels.machine_level()}.so"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The lines of a session without a library, and the cache in which it leaves its kernels."""
    directory = tmp_path_factory.mktemp("compiled")
    lines, errors = session("run", directory, directory)
    assert errors == ""
    return lines, directory


def test_without_a_compiler_and_with_equal_bytes(library, compiled, tmp_path):
    lines, errors = session("run", library.parent, tmp_path, PATH="", WEFT_COMPILE="never")
    assert errors == ""
    assert len(lines) > 5
    assert all(line.startswith("found ") and line.endswith(str(library)) for line in lines[:-1])
    assert all(line.startswith("compiled ") for line in compiled[0][:-1] if "installed with" not in line)
    assert compiled[0][-1] == lines[-1]


def test_what_is_shipped_is_found_without_the_compiler(library, tmp_path):
    loaded, errors = session("modules", library.parent, tmp_path, PATH="", WEFT_COMPILE="never")
    assert errors == ""
    blocks = {name.split(".")[1] for name in loaded}
    assert "execution" in blocks
    assert not blocks & {
        "analysis", "assembly", "codegen", "compiler", "concrete_notation", "lowering", "scheduling", "tracing",
    }  # fmt: skip


@pytest.mark.parametrize("harm", ["missing", "cut", "text"])
def test_a_library_that_is_not_whole_is_a_line_in_the_log(library, compiled, tmp_path, harm):
    broken = tmp_path / "kernels" / library.name
    broken.parent.mkdir()
    contents = library.read_bytes()
    if harm != "missing":
        broken.write_bytes({"cut": contents[:-500], "text": b"not an object"}[harm])
    lines, errors = session("run", broken.parent, compiled[1])
    assert errors == ""
    assert len([line for line in lines if "are not used" in line]) == (harm != "missing")
    kernels = [line for line in lines if line.startswith("found ")]
    assert kernels
    assert all(str(compiled[1]) in line for line in kernels)
    assert lines[-1] == compiled[0][-1]


def test_a_library_whose_file_was_written_anew_is_used(library, tmp_path):
    """As ``auditwheel repair`` does, which keeps no bytes behind the object, and may move its tables."""
    copy = shutil.which("objcopy")
    if copy is None:
        pytest.skip("there is no objcopy")
    other = tmp_path / "kernels" / library.name
    other.parent.mkdir()
    subprocess.run([copy, "--remove-section=.comment", library, other], check=True)
    assert other.read_bytes() != library.read_bytes()
    lines, errors = session("run", other.parent, tmp_path, PATH="", WEFT_COMPILE="never")
    assert errors == ""
    assert all(line.startswith("found ") and line.endswith(str(other)) for line in lines[:-1])


def mach_object():
    """The headers of an object of macOS with two segments of 100 bytes, and their bytes."""
    commands = b"".join(
        struct.pack("<2I16s4Q", 0x19, 72, name, 0, 100, at, 100) + bytes(16)
        for name, at in ((b"__TEXT", 0), (b"__LINKEDIT", 300))
    )
    commands = struct.pack("<2IQ", 0x32, 16, 0) + commands  # another command
    header = struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, 6, 3, len(commands), 0, 0)
    return (header + commands).ljust(400, b"x")


@pytest.mark.parametrize("kind", ["this system's", "of macOS"])
def test_a_file_is_whole_or_cut(library, tmp_path, kind):
    contents = mach_object() if kind == "of macOS" else library.read_bytes()
    path = tmp_path / "object"
    for size in (*range(0, len(contents), max(1, len(contents) // 50)), len(contents) - 1):
        path.write_bytes(contents[:size])
        assert not shipped._is_whole(str(path))
    for more in (b"", b"signature"):
        path.write_bytes(contents + more)
        assert shipped._is_whole(str(path))


def test_what_is_asked_of_the_compiler_is_not_shipped(library, compiled, tmp_path):
    for setting in ({"WEFT_OPT": "0"}, {"WEFT_SHIPPED": "0"}):
        lines, _ = session("run", library.parent, compiled[1], **setting)
        assert len(lines) > 5
        assert not any(str(library) in line for line in lines)
    for setting in (
        {"WEFT_CC": shutil.which("cc")},
        {"WEFT_CC": "no-compiler"},
        {"WEFT_OPT": "0", "WEFT_TEST_SHIPPED": "1"},
    ):
        lines, _ = session("run", library.parent, tmp_path / "cache", **setting)
        assert all(line.endswith(str(library)) for line in lines[:-1])


def test_other_texts_are_not_found(library, tmp_path):
    lines, _ = session("run", library.parent, tmp_path / "cache", WEFT_REASSOCIATE="0")
    assert any(line.startswith("compiled ") for line in lines)


def test_kernels_are_compiled_for_the_level():
    assert f"-march={levels.machine_level()}" == LEVEL


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be pinned to a CPU here")
def test_slow_machines_have_the_same_core(tmp_path):
    """The core is compiled whatever time it takes; how much of the rest is, depends on the machine."""
    symbols = []
    for cpus in ({min(os.sched_getaffinity(0))}, os.sched_getaffinity(0)):
        directory = tmp_path / str(len(symbols))
        command = [sys.executable, "-m", "weft.shipping", "build", directory, "--seconds", "0", "--optimization", "0"]
        subprocess.run(
            command, check=True, capture_output=True, env=PLAIN, preexec_fn=partial(os.sched_setaffinity, 0, cpus)
        )
        library = directory / f"{levels.machine_level()}.so"
        listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
        symbols.append({line.split()[-1] for line in listed.stdout.splitlines()})
    assert symbols[0] == symbols[1]
    assert len(symbols[0]) > 200
    assert session("core", directory, tmp_path / "cache") == ([], "")
