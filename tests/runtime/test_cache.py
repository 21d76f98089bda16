import errno
import io
import os
import shlex
import stat
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiny_kernels import make_source

from weft import abi
from weft.config import config
from weft.errors import CompilerError
from weft.runtime import cache, loader, toolchain
from weft.runtime.cache import clear as clear_cache
from weft.runtime.cache import info as cache_info
from weft.runtime.loader import load
from weft.runtime.structs import NULL

pytestmark = pytest.mark.compiles_alone


def run(value, **kwargs):
    return load(make_source(value, **kwargs), ["compute"], 1, "a test")["compute"](NULL, NULL, 1)


def entry():
    (path,) = [path for path, _ in cache.directory().entries()]
    return path


def trusted(path):
    """The path of an entry, by way of its name, if the cache would load it."""
    return cache.directory().lookup(os.path.basename(path)[:-3], os.path.realpath)


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
    run(5)
    forget()
    monkeypatch.setattr(toolchain, "LEVEL", "-march=x86-64")
    run(5)
    assert cache_info().entries == 2


@pytest.mark.parametrize("harm", ["truncate", "empty", "tamper", "text", "other entry", "directory"])
def test_damaged_entries_are_rebuilt(forget, harm):
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
    elif harm == "directory":
        os.mkdir(path)
    assert trusted(path) is None
    forget()
    if harm == "directory":
        with pytest.warns(RuntimeWarning, match="temporary"):
            assert run(7) == 7
        return
    assert run(7) == 7
    assert trusted(path) == path


def path_of(value):
    """The path that the entry of ``run(value)`` has; a process opens no second object under the name of its first."""
    run(0)  # the key has the flags, which are known once something is compiled
    return cache.directory().path_of(loader._digest(loader.Wanted(make_source(value), (), "a test")))


def plant(path, tmp_path, *, footer=True):
    """Put an object there whose function returns 666, as somebody would who can write into the directory."""
    toolchain.current().compile(make_source(666), str(tmp_path / "hostile.so"))
    contents = (tmp_path / "hostile.so").read_bytes()
    Path(path).unlink(missing_ok=True)
    Path(path).write_bytes(contents + (cache._footer(os.path.basename(path)[:-3], contents) if footer else b""))
    os.chmod(path, 0o700)


PLANTS = ["no footer", "of another user", "writable", "symlink", "fifo", "the user's own"]


@pytest.mark.parametrize("kind", PLANTS)
def test_planted_entries_are_not_loaded(fresh_cache, monkeypatch, tmp_path, kind):
    value = 700 + PLANTS.index(kind)
    path = path_of(value)
    plant(path, tmp_path, footer=kind != "no footer")
    planted = os.lstat(path)
    if kind == "of another user":
        real = os.fstat

        def fake(descriptor):
            found = real(descriptor)
            theirs = os.path.samestat(found, planted)
            return os.stat_result((*found[:4], found.st_uid + theirs, *found[5:10]))

        monkeypatch.setattr(os, "fstat", fake)
    elif kind == "writable":
        os.chmod(path, 0o722)
    elif kind == "symlink":
        os.rename(path, tmp_path / "elsewhere")
        os.symlink(tmp_path / "elsewhere", path)
    elif kind == "fifo":
        os.unlink(path)
        os.mkfifo(path)
    # What the user himself put there is his affair; it shows that the others would have run.
    assert run(value) == (666 if kind == "the user's own" else value)
    monkeypatch.undo()
    assert stat.S_ISREG(os.lstat(path).st_mode)
    assert trusted(path) == path


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system has no paths through descriptors")
def test_what_was_checked_is_what_is_opened(fresh_cache, monkeypatch, tmp_path):
    """Somebody exchanges the directory for his own in the moment between the check of an entry and its opening."""
    path = path_of(710)
    toolchain.current().compile(make_source(710), path)
    with open(path, "r+b") as file:
        file.write(cache._footer(os.path.basename(path)[:-3], file.read()))
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    plant(theirs / os.path.basename(path), tmp_path)
    real = loader.open_object

    def exchange_and_open(through):
        os.rename(fresh_cache, tmp_path / "aside")
        os.rename(theirs, fresh_cache)
        monkeypatch.setattr(loader, "open_object", real)
        return real(through)

    monkeypatch.setattr(loader, "open_object", exchange_and_open)
    assert run(710) == 710
    assert os.path.exists(tmp_path / "aside" / os.path.basename(path))


def test_directory_whose_owner_changes_later(forget, monkeypatch):
    """As where the user removes a directory of /tmp, and another makes one of the same name."""
    run(7)
    where, real = cache.directory(), os.fstat
    inode = os.stat(where.path).st_ino
    monkeypatch.setattr(
        os, "fstat",
        lambda descriptor: os.stat_result((*(it := real(descriptor))[:4], it.st_uid + (it.st_ino == inode), *it[5:10])),
    )  # fmt: skip
    assert trusted(entry()) is None
    with pytest.raises(PermissionError, match="belongs to user"):
        where.publish(lambda path: pytest.fail("it is not written to"))
    assert where.read_record("trimmed") == {}


@pytest.mark.parametrize(
    ("mode", "group", "fit"),
    [(0o777, "", False), (0o1777, "", True), (0o775, "own", True), (0o775, "shared", False), (0o755, "", True)],
)
def test_directories_above_are_checked(tmp_path, monkeypatch, mode, group, fit):
    """Whoever may write to a directory above could exchange what is below it, unless it is sticky as /tmp is."""
    above = tmp_path / "above"
    (above / "between").mkdir(parents=True, mode=0o755)
    os.chmod(above, mode)
    monkeypatch.setattr(cache, "_is_own_group", lambda gid: group == "own")
    with config.override(cache_dir=above / "between" / "cache"):
        if fit:
            assert run(11) == 11
            assert cache_info().path == config.cache_dir
        else:
            expect_temporary("others may write to .*above above it .* could exchange it")


def test_directory_above_of_another_user(tmp_path, monkeypatch):
    real = os.stat

    def fake(path, *args, **kwargs):
        found = real(path, *args, **kwargs)
        return os.stat_result((*found[:4], 12345, *found[5:10])) if str(path) == str(tmp_path) else found

    monkeypatch.setattr(os, "stat", fake)
    expect_temporary(f"{tmp_path} above it belongs to user 12345")


def test_a_link_to_the_directory_is_followed_once(tmp_path):
    (tmp_path / "one").mkdir(mode=0o700)
    os.symlink(tmp_path / "one", tmp_path / "link")
    with config.override(cache_dir=tmp_path / "link"):
        run(11)
        assert cache_info().path == str(tmp_path / "one")


def test_own_groups(monkeypatch):
    """Where each user has a group of his own, the umask is 002, and others cannot write though the group may."""
    import grp
    import pwd

    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_gid=7, pw_name="ann"))
    for gid, name, members, own in (
        (7, "ann", [], True),
        (7, "ann", ["ann"], True),
        (7, "ann", ["bob"], False),
        (7, "users", [], False),
        (8, "ann", [], False),
    ):
        monkeypatch.setattr(
            grp, "getgrgid", lambda gid, of=(name, members): SimpleNamespace(gr_name=of[0], gr_mem=of[1])
        )
        assert cache._is_own_group(gid) is own


@pytest.mark.parametrize("mask", ["002", "000", "077"])
def test_the_umask_does_not_matter(tmp_path, mask):
    """Neither to who may write to files, nor to whether they are found again."""
    program = (
        "import os, subprocess, sys; sys.path[:] = sys.argv[2].split(':'); os.umask(int(sys.argv[1], 8))\n"
        "from tiny_kernels import make_source; from weft.runtime.structs import NULL\n"
        "import weft.runtime.loader as loader\n"
        "if sys.argv[3] == 'again': subprocess.Popen = None\n"
        "assert loader.load(make_source(5), ['compute'], 1, 'a test')['compute'](NULL, NULL, 1) == 5\n"
    )
    where = tmp_path / "new" / "cache"
    environ = {**os.environ, "WEFT_CACHE_DIR": str(where)}
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    for time_of in ("first", "again"):
        subprocess.run([sys.executable, "-W", "error", "-c", program, mask, path, time_of], env=environ, check=True)
    files = [where, *where.iterdir(), where.parent]
    assert [str(each) for each in files if each.stat().st_mode & 0o077] == []


def test_without_a_home_directory(tmp_path, monkeypatch):
    """The name of a directory is not taken for a directory of that name."""
    from weft.config import Config

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    for variable in ("XDG_CACHE_HOME", "WEFT_CACHE_DIR"):
        monkeypatch.delenv(variable, raising=False)
    with config.override(cache_dir=Config().cache_dir):
        assert config.cache_dir.startswith("~")
        expect_temporary("no home directory is known for ~;")
    assert not (tmp_path / "~").exists()


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

    def fake(source, target, *, src_dir_fd, dst_dir_fd):
        if os.path.samefile(fresh_cache, f"/proc/self/fd/{dst_dir_fd}"):
            raise PermissionError(13, "Permission denied")
        return real(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "replace", fake)
    expect_temporary("Permission denied")
    assert [name for name in os.listdir(fresh_cache) if name.startswith(cache.PARTIAL)] == []


def test_directory_that_is_mounted_noexec(fresh_cache, monkeypatch):
    real = loader.open_object

    def fake(path):
        return (NULL, "failed to map segment") if os.path.realpath(path).startswith(fresh_cache) else real(path)

    monkeypatch.setattr(loader, "open_object", fake)
    expect_temporary("failed to map segment")


def test_noexec_is_asked_for_and_said(fresh_cache, monkeypatch):
    """Of the file system of the cache before anything is compiled, of that of the temporary directory in the error."""
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=os.ST_NOEXEC))
    monkeypatch.setattr(loader, "open_object", lambda path: (NULL, "failed to map segment"))
    with (
        pytest.warns(RuntimeWarning, match="file system whose files may not be executed"),
        pytest.raises(CompilerError, match=r"failed to map segment; files in .* mounted noexec.*set WEFT_CACHE_DIR"),
    ):
        run(11)
    assert not [name for name in os.listdir(fresh_cache) if name.endswith(".so")]


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
    assert trusted(paths[0])  # a use, which renews it
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


def test_processes_that_race_compile_each_kernel_once(fresh_cache):
    program = (
        "import sys; sys.path[:] = sys.argv[1].split(':'); from tiny_kernels import make_source\n"
        "from weft.runtime.loader import load; from weft.runtime.structs import NULL\n"
        "for value in range(3):\n"
        "    assert load(make_source(value), ['compute'], 1, 'a test')['compute'](NULL, NULL, 1) == value\n"
    )
    environ = {**os.environ, "WEFT_CACHE_DIR": fresh_cache, "WEFT_LOG": "info"}
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    command = [sys.executable, "-W", "error", "-c", program, path]
    racing = [subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) for _ in range(8)]
    said = [process.communicate(timeout=120)[1] for process in racing]
    assert not any(process.returncode for process in racing), said
    assert "".join(said).count("compiled a test") == 3
    assert cache_info().entries == 3
    assert [name for name in os.listdir(fresh_cache) if name.startswith(cache.PARTIAL)] == []


def test_a_lock_that_stays_is_waited_for_a_while(fresh_cache):
    key = loader.Wanted(make_source(7), ("compute",), "a test")
    where = cache.directory()
    with where.alone(cache.digest("another")), where.alone(digest_of(key)), config.override(compile_timeout=0.3):
        assert run(7) == 7
    assert [name for name in os.listdir(fresh_cache) if name.startswith(cache.PARTIAL)] == []


def digest_of(text):
    return cache.digest(abi.VERSION, toolchain.current().identity, text.source)


def test_directory_on_a_disk_that_is_full(fresh_cache, monkeypatch, tmp_path):
    """The compiler only says that it failed; kernels go to the temporary directory then, with one warning."""
    os.makedirs(fresh_cache, mode=0o700)
    real = shlex.join(toolchain.find_compiler())
    command = tmp_path / "cc"
    refuse = f'case "$*" in *"-o {fresh_cache}"*) echo "No space left on device" >&2; exit 1;; esac'
    command.write_text(f'#!/bin/sh\n{refuse}\nexec {real} "$@"\n')
    command.chmod(0o755)

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(path, mode="r", **options):
        if mode != "wb":
            return open(path, mode, **options)
        os.close(path)  # a descriptor
        return Full()

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


def test_a_checked_text_is_that_of_its_name(tmp_path):
    directory = cache.Directory(str(tmp_path))
    directory.write_checked("first.json", "1")
    assert directory.read_checked("first.json") == "1"
    (tmp_path / "first.json").rename(tmp_path / "second.json")
    assert directory.read_checked("second.json") is None
