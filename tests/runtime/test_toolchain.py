import os
import shlex
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiny_kernels import make_source

from weft.config import config
from weft.errors import CompilerError
from weft.runtime import cache, levels, toolchain
from weft.runtime.loader import Functions, load
from weft.runtime.structs import NULL

pytestmark = pytest.mark.compiles_alone


def run(value):
    return load(make_source(value), ["compute"], 1, "a test")["compute"](NULL, NULL, 1)


def script(path, text):
    """An executable shell script; it counts its runs in a file beside it."""
    path.write_text(f'#!/bin/sh\necho x >> "{path}.runs"\n{text}\n')
    path.chmod(0o755)
    return str(path)


def runs(path):
    return len(Path(f"{path}.runs").read_text().splitlines())


REAL = shlex.join(toolchain.find_compiler())
LEVEL = toolchain.current().level(toolchain.LEVEL.removeprefix("-march="))


def test_flags():
    tool = toolchain.current(3)
    assert {"-O3", LEVEL, "-std=gnu11", "-fPIC", "-shared", "-fwrapv", "-fno-math-errno"} <= set(tool.flags)
    assert "-ffast-math" not in tool.flags
    assert "-O1" in toolchain.current(1).flags
    with config.override(sanitize=True, optimization=3):
        assert {"-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"} <= set(
            toolchain.current().flags
        )
    with config.override(cflags="-DA='b c'"):
        assert toolchain.current().flags[-1] == "-DA=b c"


def test_identity_holds_what_matters():
    tool = toolchain.current(3)
    for part in (tool.version, "-O3", LEVEL, tool.command[0]):
        assert part in tool.identity
    assert toolchain.current(3) is tool


def test_wrapv_and_no_fast_math():
    source = make_source("(INT64_C(9223372036854775807) + threads < 0) + 2 * (nan != nan)").replace(
        "helper(void)", "helper(int64_t threads, volatile double nan)"
    )
    source = source.replace("return helper();", "return helper(threads, 0.0 / (double)(threads - 1));")
    assert load(source, ["compute"], 1, "a test")["compute"](NULL, NULL, 1) == 3


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: None)
    with config.override(cc=None), pytest.raises(CompilerError, match=r"(?s)no C compiler.*apt install gcc.*ziglang"):
        run(1)


def test_ziglang_serves_where_there_is_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: object())
    with config.override(cc=None):
        assert toolchain.find_compiler() == (sys.executable, "-m", "ziglang", "cc")


def test_configured_compiler_that_is_not_there():
    with config.override(cc="no-such-compiler -x"), pytest.raises(CompilerError, match="no-such-compiler -x"):
        run(1)


def test_compiler_that_does_not_start(tmp_path):
    (tmp_path / "cc").write_bytes(b"\x7fELFnonsense")
    (tmp_path / "cc").chmod(0o755)
    with config.override(cc=str(tmp_path / "cc")), pytest.raises(CompilerError, match="does not start"):
        run(1)


def test_compiler_that_fails_says_so(tmp_path):
    failing = script(tmp_path / "cc", "echo 'internal compiler error: 42' >&2; exit 3")
    with config.override(cc=failing), pytest.raises(CompilerError, match=r"(?s)status 3.*command: .*cc.*error: 42"):
        run(1)


def test_compiler_that_writes_nothing(tmp_path):
    with (
        config.override(cc=script(tmp_path / "cc", "exit 0")),
        pytest.raises(CompilerError, match="wrote no output"),
    ):
        run(1)


def test_broken_source_is_an_error_and_leaves_nothing(fresh_cache):
    with pytest.raises(CompilerError, match=r"(?s)command:.*error:"):
        load("int64_t broken", ["compute"], 1, "a test")
    assert [name for name in os.listdir(fresh_cache) if name.endswith(".so")] == []
    with pytest.raises(CompilerError, match="no function weft_other"):
        load(make_source(3), ["other"], 1, "a test")


def refusing(path, *flags):
    """A compiler that knows no such flags."""
    text = " ".join(f'case "$a" in {flag}) echo "unknown $a" >&2; exit 1;; esac;' for flag in flags)
    return script(path, f'for a in "$@"; do {text} :; done; exec {REAL} "$@"')


def taken():
    """The optional flags that the configured compiler takes."""
    run(0)
    return [flag for flag in toolchain.OPTIONAL if flag not in toolchain.current().refused]


def test_flags_that_the_compiler_refuses(tmp_path, forget):
    """They are left out, and no others with them."""
    known = taken()
    spelt = {toolchain.LEVEL: LEVEL}
    for refused in (chosen for count in range(1, len(known) + 1) for chosen in combinations(known, count)):
        picky = refusing(tmp_path / "-".join(["cc", *refused]), *(spelt.get(flag, flag) for flag in refused))
        with config.override(cc=picky):
            assert run(1) == 1
            assert toolchain.current().refused & {*known} == {*refused}
            before = runs(picky)
            assert run(2) == 2
            assert runs(picky) == before + 1  # not tried again
            forget()
            assert run(1) == 1
            assert runs(picky) == before + 1  # found under the flags that worked, without asking for the version
            assert run(3) == 3
            assert runs(picky) == before + 2


def test_refusals_are_doubted_after_a_day(tmp_path, forget, monkeypatch):
    """When something is compiled, and not before: kernels are found under the flags that they were compiled with."""
    flag = taken()[-1]
    picky = refusing(tmp_path / "cc", flag)
    with config.override(cc=picky):
        run(1)
        now = time.time() + cache.DAY
        monkeypatch.setattr(time, "time", lambda: now)
        forget()
        before = runs(picky)
        with config.override(compile="never"):
            assert run(1) == 1
        assert runs(picky) == before
        run(2)
        assert flag in toolchain.current().refused
        after = runs(picky)
        assert after > before + 1  # it was tried
        forget()
        run(3)
        assert runs(picky) == after + 1  # for one more day it is not
        now += cache.DAY
        stat = os.stat(picky)
        script(
            tmp_path / "cc",
            Path(picky).read_text().replace(f"in {flag})", f"in {flag[:-1]}.)").partition("runs")[2][2:],
        )
        os.utime(picky, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        forget()
        run(4)
        assert flag not in toolchain.current().refused
        forget()
        assert flag in toolchain.current().flags


def test_zig_spells_levels_in_its_own_way(monkeypatch):
    monkeypatch.setattr(toolchain, "run", lambda command, text: (0, "0.17", ""))
    for command in ((sys.executable, "-m", "ziglang", "cc"), ("zig", "cc")):
        tool = toolchain.Toolchain(command)
        assert tool.level("x86-64-v4") == "-march=x86_64_v4"
        assert tool.level("armv8-a") == "-march=generic"
    assert toolchain.Toolchain(("/usr/bin/cc",)).level("x86-64-v4") == "-march=x86-64-v4"


@pytest.mark.parametrize(
    "said",
    [
        "<stdin>:2:10: fatal error: stdint.h: No such file or directory",
        "/usr/include/x.h:1:10: fatal error: 'bits/libc-header-start.h' file not found",
    ],
)
def test_missing_headers_come_with_a_hint(tmp_path, said):
    failing = script(tmp_path / "cc", f'echo "{said}" >&2; exit 1')
    with config.override(cc=failing), pytest.raises(CompilerError, match=r"(?s)fatal error.*\n.*apt install libc6-dev"):
        run(1)


def test_first_kernel_takes_two_runs_and_a_failure_no_retries(tmp_path):
    counting = script(tmp_path / "cc", f'exec {REAL} "$@"')
    with config.override(cc=counting):
        run(1)
        assert runs(counting) == 2  # --version, compile
        with pytest.raises(CompilerError):
            load("nonsense", ["compute"], 1, "a test")
        assert runs(counting) == 3


def test_another_compiler_under_the_same_name_is_noticed(tmp_path, forget):
    compiler = script(tmp_path / "cc", f'exec {REAL} "$@"')
    with config.override(cc=compiler):
        run(1)
        first = toolchain.current().identity
        script(tmp_path / "cc", f'# newer\nexec {REAL} "$@"')
        forget()
        assert toolchain.current().identity != first


def test_levels_of_instructions(monkeypatch):
    v3 = " ".join(levels.LEVELS["x86-64-v3"])
    for described, machine, level in (
        (f"flags : {v3} ept", "x86_64", "x86-64-v3"),
        (f"flags : {v3.replace('avx2', 'avx3')}", "x86_64", "x86-64-v2"),
        ("flags : fpu vme", "x86_64", None),
        ("nodename", "x86_64", None),
        (f"flags : {v3}", "aarch64", "armv8-a"),
        ("", "riscv64", None),
    ):
        levels.machine_level.cache_clear()
        monkeypatch.setattr(levels, "cpu_identity", lambda described=described: f"Linux\nx86_64\n{described}")
        monkeypatch.setattr(os, "uname", lambda machine=machine: SimpleNamespace(machine=machine))
        assert levels.machine_level() == level
        here = {None: (), "armv8-a": ("armv8-a",), "x86-64-v2": ("x86-64-v2",)}
        assert levels.levels_here() == here.get(level, ("x86-64-v3", "x86-64-v2"))
    levels.machine_level.cache_clear()


def test_cpu_identity_without_proc(monkeypatch):
    import builtins

    def fake(path, *args, **kwargs):
        raise OSError

    levels.cpu_identity.cache_clear()
    monkeypatch.setattr(builtins, "open", fake)
    try:
        assert os.uname().nodename in levels.cpu_identity()
    finally:
        levels.cpu_identity.cache_clear()


def test_sanitizer_finds_a_bad_access(tmp_path):
    """In a process of its own, because the sanitizers' runtime must be loaded first."""
    import subprocess

    name = "libclang_rt.asan-x86_64.so" if "clang" in toolchain.current().version else "libasan.so"
    command = [*shlex.split(REAL), f"-print-file-name={name}"]
    runtime = subprocess.run(command, capture_output=True, text=True, check=True)
    if not os.path.isabs(path := runtime.stdout.strip()):
        pytest.skip("the compiler has no address sanitizer")
    program = (
        "import numpy as np; from weft.runtime import tensor_struct, NULL; from weft.runtime.loader import load\n"
        "from tiny_kernels import PRELUDE\n"
        "source = PRELUDE + 'int64_t weft_compute(weft_tensor *A, int64_t *c, int64_t t)"
        " { return ((volatile int64_t *)A->vals)[t]; }'\n"
        "A, keep = tensor_struct((4,), (), np.arange(4))\n"
        "f = load(source, ['compute'], 1, 'a test')['compute']\n"
        "assert f(A, NULL, 3) == 3; print('inside', flush=True)\n"
        "f(A, NULL, 4); print('outside', flush=True)\n"
    )
    environ = {
        **os.environ, "WEFT_SANITIZE": "1", "WEFT_CACHE_DIR": str(tmp_path), "LD_PRELOAD": path,
        "ASAN_OPTIONS": "detect_leaks=0", "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
        "PYTHONMALLOC": "malloc",
    }  # fmt: skip
    answer = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True)
    assert answer.stdout == "inside\n"
    assert "heap-buffer-overflow" in answer.stderr


def processes(mark):
    """The processes whose command line holds ``mark``."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = entry.read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if mark.encode() in text:
            found.append(text)
    return found


HANGING = """
case "$*" in *--version*) echo hanging; exit 0;; esac
python3 -c 'import sys, time; time.sleep(600)' {mark} &
{real} "$@" -S -o /dev/null
wait
"""


def test_a_compiler_that_hangs_is_ended_with_all_that_it_started(tmp_path, fresh_cache):
    mark = f"mark-{os.getpid()}-hang"
    command = script(tmp_path / "cc", HANGING.format(mark=mark, real=REAL))
    with config.override(cc=command, compile_timeout=0.5):
        begin = time.perf_counter()
        with pytest.raises(CompilerError, match=r"within 0\.5 seconds.*compile_timeout.*WEFT_COMPILE_TIMEOUT"):
            run(9)
        assert time.perf_counter() - begin < 5
    assert runs(command) == 2  # for its version, and once: it is not tried again with other flags
    assert not processes(mark)
    assert [name for name in os.listdir(fresh_cache) if name.startswith("partial-")] == []


INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import numpy as np
from weft.config import config
from test_toolchain import run_both

threading.Thread(target=lambda: (time.sleep(1.0), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    run_both(11)
except KeyboardInterrupt:
    print(sorted(name for name in os.listdir(config.cache_dir) if name.startswith("partial-")))
"""


def run_both(value):
    Functions(lambda name: make_source(value).replace("weft_compute", f"weft_{name}"), 1, "a test").have("a", "b")


@pytest.mark.parametrize("stubborn", [False, True])
def test_an_interrupted_compile_leaves_nothing(tmp_path, stubborn):
    mark = f"mark-{os.getpid()}-{stubborn}"
    trap = "trap '' TERM\n" if stubborn else ""
    command = script(tmp_path / "cc", trap + HANGING.format(mark=mark, real=REAL))
    environ = {**os.environ, "WEFT_CC": command, "WEFT_CACHE_DIR": str(tmp_path / "kept")}
    arguments = [sys.executable, "-c", INTERRUPTED, str(Path(__file__).parent)]
    done = subprocess.run(arguments, env=environ, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    assert not processes(mark)
