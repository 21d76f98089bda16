import errno
import io
import os
import stat
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from tiny_kernels import make_source

from weft.config import config
from weft.runtime import cache, toolchain
from weft.runtime.cache import clear as clear_cache
from weft.runtime.cache import info as cache_info
from weft.runtime.loader import load
from weft.runtime.structs import NULL


def run(value, **kwargs):
    return load(make_source(value, **kwargs), ["compute"], 1, "a test")["compute"](NULL, NULL, 1)


def entry():
    (path,) = [path for path, _ in cache.directory().entries()]
    return path


def test_directory_and_entries_are_private(fresh_cache):
    assert run(3) == 3
    assert stat.S_IMODE(os.stat(fresh_cache).st_mode) == 0o700
    assert os.stat(entry()).st_mode & 0o077 == 0
    assert [name for name in os.listdir(fresh_cache) if name.startswith(cache.PARTIAL)] == []


def test_warm_disk_starts_no_process(forget, request):
    assert run(4) == 4
    forget()
    request.getfixturevalue("no_compiler")
    assert run(4) == 4


def test_key_holds_flags_and_source(forget):
    run(5)
    run(6)
    with config.override(optimization=1):
        run(5)
    with config.override(cflags="-DX"):
        run(5)
    assert cache_info().entries == 4


def test_key_holds_the_level_of_instructions(forget, monkeypatch):
    from weft.runtime import toolchain

    run(5)
    forget()
    monkeypatch.setattr(toolchain, "LEVEL", "-march=x86-64")
    run(5)
    assert cache_info().entries == 2


@pytest.mark.parametrize("harm", ["truncate", "empty", "tamper", "text", "other entry", "symlink", "directory", "mode"])
def test_damaged_entries_are_rebuilt(forget, harm, tmp_path):
    run(7)
    path = entry()
    contents = Path(path).read_bytes()
    os.unlink(path)
    if harm == "truncate":
        Path(path).write_bytes(contents[:-1000])
    elif harm == "empty":
        Path(path).touch()
    elif harm == "tamper":
        Path(path).write_bytes(contents[:5000] + bytes([contents[5000] ^ 1]) + contents[5001:])
    elif harm == "text":
        Path(path).write_text("not a shared object")
    elif harm == "other entry":
        run(8)
        os.rename(entry(), path)
    elif harm == "symlink":
        (tmp_path / "elsewhere").write_bytes(contents)
        os.symlink(tmp_path / "elsewhere", path)
    elif harm == "directory":
        os.mkdir(path)
    elif harm == "mode":
        Path(path).write_bytes(contents)
        os.chmod(path, 0o722)
    assert cache.directory().lookup(os.path.basename(path)[:-3]) is None
    forget()
    if harm == "directory":
        with pytest.warns(RuntimeWarning, match="temporary"):
            assert run(7) == 7
        return
    assert run(7) == 7
    assert os.path.samefile(cache.directory().lookup(os.path.basename(path)[:-3]), path)
    assert not os.path.islink(path)


def test_entry_of_another_user_is_not_trusted(forget, monkeypatch):
    run(7)
    key = os.path.basename(entry())[:-3]
    assert cache.directory().lookup(key) is not None
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert cache.directory().lookup(key) is None


def expect_temporary(reason):
    with pytest.warns(RuntimeWarning, match=reason):
        assert run(11) == 11
    found = cache_info()
    assert found.path != config.cache_dir
    assert found.entries == 1
    assert stat.S_IMODE(os.stat(found.path).st_mode) == 0o700
    assert run(12) == 12  # and warns no more


def test_directory_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with config.override(cache_dir=tmp_path / "file"):
        expect_temporary("exists|directory")
    with config.override(cache_dir=tmp_path / "file" / "below"):
        expect_temporary_again()


def expect_temporary_again():
    with pytest.warns(RuntimeWarning, match="cannot keep"):
        assert run(13) == 13


def test_directory_that_others_may_write(tmp_path):
    (tmp_path / "open").mkdir()
    os.chmod(tmp_path / "open", 0o777)
    with config.override(cache_dir=tmp_path / "open"):
        expect_temporary("others may write")


def test_directory_of_another_user(tmp_path, monkeypatch):
    (tmp_path / "foreign").mkdir()
    real = os.stat

    def fake(path, *args, **kwargs):
        found = real(path, *args, **kwargs)
        if str(path) == str(tmp_path / "foreign"):
            return os.stat_result((*found[:4], found.st_uid + 1, *found[5:10]))
        return found

    monkeypatch.setattr(os, "stat", fake)
    with config.override(cache_dir=tmp_path / "foreign"):
        expect_temporary("belongs to user")


def test_directory_that_becomes_unwritable(fresh_cache, monkeypatch):
    run(10)
    real = os.replace

    def fake(source, target):
        if str(target).startswith(fresh_cache):
            raise PermissionError(13, "Permission denied")
        return real(source, target)

    monkeypatch.setattr(os, "replace", fake)
    expect_temporary("Permission denied")
    assert [name for name in os.listdir(fresh_cache) if name.startswith(cache.PARTIAL)] == []


def test_directory_that_is_mounted_noexec(fresh_cache, monkeypatch):
    from weft.runtime import loader

    real = loader.open_object

    def fake(path):
        return (NULL, "failed to map segment") if path.startswith(fresh_cache) else real(path)

    monkeypatch.setattr(loader, "open_object", fake)
    expect_temporary("failed to map segment")


def test_directory_that_vanishes(fresh_cache):
    import shutil

    run(10)
    shutil.rmtree(fresh_cache)
    expect_temporary("No such file")


def test_directory_of_the_user_may_be_readable_to_others(tmp_path):
    (tmp_path / "mine").mkdir(mode=0o755)
    with config.override(cache_dir=tmp_path / "mine"):
        assert run(14) == 14
        assert cache_info().path == str(tmp_path / "mine")


def test_temporary_directory_goes_with_the_process(tmp_path):
    (tmp_path / "file").write_text("")
    program = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from weft.runtime.cache import info as cache_info; import os\n"
        "print(cache_info().path)\n"
        "pid = os.fork()\n"
        "if pid == 0: raise SystemExit\n"
        "os.waitpid(pid, 0); assert os.path.isdir(cache_info().path)\n"
    )
    environ = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "file"), "PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert not os.path.exists(answer.stdout.strip())


def test_info_and_clear(fresh_cache):
    run(1)
    run(2)
    Path(fresh_cache, "notes.txt").touch()
    found = cache_info()
    assert (found.path, found.entries) == (fresh_cache, 2)
    assert found.bytes > 10_000
    assert clear_cache() == found
    assert cache_info().entries == 0
    assert os.listdir(fresh_cache) == ["notes.txt"]
    assert run(1) == 1  # what is loaded stays usable


def test_trim_removes_the_least_recently_used(fresh_cache):
    paths = []
    for value in range(4):
        before = {path for path, _ in cache.directory().entries()}
        run(value)
        (path,) = {path for path, _ in cache.directory().entries()} - before
        os.utime(path, (1000 + value, 1000 + value))
        paths.append(path)
    stale = os.path.join(fresh_cache, cache.PARTIAL + "1-a.so")
    open(stale, "w").close()
    os.utime(stale, (1000, 1000))
    size = os.path.getsize(paths[0])
    assert cache.directory().lookup(os.path.basename(paths[0])[:-3])  # a use, which renews it
    cache.directory().trim(2 * size + size // 2)
    assert {path for path, _ in cache.directory().entries()} == {paths[0], paths[3]}
    assert not os.path.exists(stale)


def test_trim_comes_by_itself(fresh_cache):
    run(1)
    stamp = os.path.join(fresh_cache, "trimmed")
    os.utime(stamp, (1000, 1000))
    with config.override(cache_limit=0):
        run(2)
    assert [run(2), cache_info().entries] == [2, 1]  # the one just made
    assert time.time() - os.path.getmtime(stamp) < 100


def test_records_survive_nonsense(fresh_cache):
    where = cache.directory()
    where.write_record("toolchain-x.json", {"version": "1"})
    assert where.read_record("toolchain-x.json") == {"version": "1"}
    for text in ("", "{", "[1]", "\xff"):
        with open(os.path.join(fresh_cache, "toolchain-x.json"), "w", encoding="latin-1") as file:
            file.write(text)
        assert where.read_record("toolchain-x.json") == {}


def test_processes_may_race(fresh_cache):
    program = (
        "import sys; sys.path[:] = sys.argv[1].split(':'); from tiny_kernels import make_source\n"
        "from weft.runtime.loader import load; from weft.runtime.structs import NULL\n"
        "for value in range(3):\n"
        "    assert load(make_source(value), ['compute'], 1, 'a test')['compute'](NULL, NULL, 1) == value\n"
    )
    environ = {**os.environ, "WEFT_CACHE_DIR": fresh_cache}
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    command = [sys.executable, "-W", "error", "-c", program, path]
    racing = [subprocess.Popen(command, env=environ, stderr=subprocess.PIPE) for _ in range(8)]
    for process in racing:
        assert process.wait(120) == 0, process.stderr.read().decode()
        process.stderr.close()
    assert cache_info().entries == 3
    assert [name for name in os.listdir(fresh_cache) if name.startswith(cache.PARTIAL)] == []


def test_directory_on_a_disk_that_is_full(fresh_cache, monkeypatch, tmp_path):
    """The compiler only says that it failed; kernels go to the temporary directory then, with one warning."""
    os.makedirs(fresh_cache, mode=0o700)
    real = toolchain.find_compiler()[0]
    command = tmp_path / "cc"
    refuse = f'case "$*" in *"-o {fresh_cache}"*) echo "No space left on device" >&2; exit 1;; esac'
    command.write_text(f'#!/bin/sh\n{refuse}\nexec {real} "$@"\n')
    command.chmod(0o755)

    opened = [True, False]  # the empty file that the compiler is given can be made

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(path, mode="r", **options):
        asked = mode == "xb" and path.startswith(fresh_cache) and opened.pop()
        return Full() if asked else open(path, mode, **options)

    monkeypatch.setattr(cache, "open", full, raising=False)
    with config.override(cc=str(command)), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert (run(21), run(22)) == (21, 22)
    assert ["No space left on device" in str(warning.message) for warning in seen] == [True]
    assert cache.directory().temporary


@pytest.mark.parametrize("name", ["entry", "record", "trimmed"])
@pytest.mark.parametrize("kind", ["fifo", "endless", "device"])
def test_entries_that_are_no_files_are_passed_over(forget, fresh_cache, name, kind):
    """Pipes would be waited for, and what a link leads to may have no end."""
    assert run(31) == 31
    (record,) = [found for found in os.listdir(fresh_cache) if found.startswith("toolchain-")]
    path = {"entry": entry(), "record": os.path.join(fresh_cache, record)}.get(name, os.path.join(fresh_cache, name))
    if os.path.lexists(path):
        os.unlink(path)
    if kind == "fifo":
        os.mkfifo(path)
    else:
        os.symlink("/dev/zero" if kind == "endless" else "/dev/full", path)
    forget()
    worker = threading.Thread(target=run, args=(31,), daemon=True)
    worker.start()
    worker.join(30)
    assert not worker.is_alive()
    assert run(31) == 31


def test_records_are_read_up_to_a_size(fresh_cache):
    found = cache.directory()
    found.write_record("large.json", {"text": "x" * cache.RECORD})
    assert found.read_record("large.json") == {}
    Path(fresh_cache, "deep.json").write_text("[" * 50_000)
    assert found.read_record("deep.json") == {}
