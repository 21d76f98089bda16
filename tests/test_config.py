import os
import pickle
import sys

import numpy as np
import pytest

from weft import control_groups
from weft.code_options import code_options
from weft.config import SETTINGS, Config, available_cpus

pytestmark = pytest.mark.compiles_alone

module = sys.modules["weft.config"]


def test_defaults():
    found = Config({})
    assert found.num_threads == available_cpus() >= 1
    assert found.cc is None
    assert found.debug == frozenset()
    assert found.optimization == 3
    assert found.reassociate is True
    assert os.path.basename(found.cache_dir) == "weft"
    assert set(found.as_dict()) == set(SETTINGS)
    assert "num_threads=" in repr(found)


@pytest.mark.parametrize(
    ("environ", "name", "expected"),
    [
        ({"WEFT_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, "num_threads", 3),
        ({"OMP_NUM_THREADS": "5"}, "num_threads", 5),
        ({"OMP_NUM_THREADS": "4,2"}, "num_threads", 4),
        ({"WEFT_NUM_THREADS": " "}, "num_threads", available_cpus()),
        ({"WEFT_CACHE_DIR": "/somewhere/else"}, "cache_dir", "/somewhere/else"),
        ({"WEFT_CC": "ccache gcc", "CC": "clang"}, "cc", "ccache gcc"),
        ({"CC": "clang"}, "cc", "clang"),
        ({"WEFT_DEBUG": "ir, c,"}, "debug", frozenset({"ir", "c"})),
        ({"WEFT_REASSOCIATE": "0"}, "reassociate", False),
        ({"WEFT_SANITIZE": "yes"}, "sanitize", True),
        ({"WEFT_OPT": "1"}, "optimization", 1),
        ({"WEFT_CACHE_LIMIT": "1000"}, "cache_limit", 1000),
        ({"WEFT_PLAN_CACHE_SIZE": "100"}, "plan_cache_size", 100),
        ({"WEFT_MEMORY_POOL": "0"}, "memory_pool", 0),
        ({"WEFT_PARALLEL_THRESHOLD": "7"}, "parallel_threshold", 7),
        ({"WEFT_CFLAGS": "-g -DX=1"}, "cflags", "-g -DX=1"),
    ],
)
def test_environment(environ, name, expected):
    assert getattr(Config(environ), name) == expected


def test_xdg_cache_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Config({}).cache_dir == str(tmp_path / "weft")


@pytest.mark.parametrize("text", ["many", "0", "-1", "1.5"])
def test_environment_that_makes_no_sense_warns(text):
    with pytest.warns(RuntimeWarning, match="WEFT_NUM_THREADS"):
        found = Config({"WEFT_NUM_THREADS": text})
    assert found.num_threads == available_cpus()


def test_foreign_variables_never_warn():
    assert Config({"OMP_NUM_THREADS": "lots"}).num_threads == available_cpus()


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("num_threads", 0, ValueError),
        ("num_threads", True, TypeError),
        ("num_threads", 2.0, TypeError),
        ("num_threads", None, TypeError),
        ("reassociate", 2, TypeError),
        ("reassociate", "perhaps", ValueError),
        ("cache_dir", 3, TypeError),
        ("cache_dir", b"x", TypeError),
        ("cache_dir", "", ValueError),
        ("cc", 3, TypeError),
        ("cc", "gcc 'unbalanced", ValueError),
        ("cflags", None, TypeError),
        ("optimization", 4, ValueError),
        ("debug", 3, TypeError),
        ("debug", [3], TypeError),
        ("debug", "irr", ValueError),
        ("disable", 3, TypeError),
        ("disable", [3], TypeError),
        ("disable", {"prefetch", "prefetching"}, ValueError),
        ("memory_pool", -1, ValueError),
    ],
)
def test_bad_values_name_the_setting(name, value, error):
    found = Config({})
    before = found.as_dict()
    with pytest.raises(error, match=rf"config\.{name}"):
        setattr(found, name, value)
    assert found.as_dict() == before


def test_good_values():
    found = Config({})
    found.num_threads = np.int64(2)
    assert type(found.num_threads) is int
    found.reassociate = np.False_
    assert found.reassociate is False
    found.debug = ["c", "ir"]
    assert found.debug == {"c", "ir"}
    found.disable = "prefetch, vector math"
    assert found.disable == {"prefetch", "vector-math"}
    found.cc = ""
    assert found.cc is None


def test_unknown_names():
    with pytest.raises(AttributeError, match="nthreads"):
        Config({}).nthreads = 3
    with pytest.raises(AttributeError, match="num_threads"):
        del Config({}).num_threads


def test_override_restores_and_is_all_or_nothing():
    found = Config({})
    with found.override(num_threads=7, optimization=0) as inside:
        assert inside is found
        assert (found.num_threads, found.optimization) == (7, 0)
    assert (found.num_threads, found.optimization) == (available_cpus(), 3)
    with pytest.raises(ValueError, match="optimization"), found.override(num_threads=7, optimization=9):
        pass
    assert found.num_threads == available_cpus()
    with pytest.raises(ZeroDivisionError), found.override(num_threads=7):
        _ = 1 / 0
    assert found.num_threads == available_cpus()


def test_unknown_optimisations_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no optimisation 'tilling'; the optimisations are one-sum, .*tiling"):
        Config({}).disable = {"tilling"}
    with pytest.warns(RuntimeWarning, match=r"WEFT_DISABLE='tilling' is ignored: .*tiling"):
        assert Config({"WEFT_DISABLE": "tilling"}).disable == frozenset()
    assert Config({"WEFT_DISABLE": "tiling,prefetch"}).disable == {"tiling", "prefetch"}


def test_the_settings_that_affect_code_are_one_value():
    found, other = Config({}), Config({})
    before = found.code
    assert before is other.code is code_options()
    changes = {
        "reassociate": False,
        "vector_functions": False,
        "disable": "tiling",
        "debug": "verify",
        "cc": "other",
        "cflags": "-g",
        "optimization": 0,
        "sanitize": True,
    }
    seen = {before}
    for name, value in changes.items():
        with found.override(**{name: value}):
            seen.add(found.code)
            setattr(other, name, value)
            assert found.code is other.code is not before
            setattr(other, name, getattr(Config({}), name))
        assert found.code is before is other.code
    assert len(seen) == 1 + len(changes)
    for name in ("num_threads", "parallel_threshold", "memory_pool"):
        with found.override(**{name: 1}):
            assert found.code is before
    found.optimization = 1
    found.reset({})
    assert found.code is before
    with pytest.raises(AttributeError, match="code"):
        found.code = before


def test_every_setting_is_documented_with_its_variable():
    for setting in SETTINGS.values():
        assert f"``{setting.name}``" in module.__doc__
        assert f"``{setting.variables[0][0]}``" in module.__doc__


def test_quotas_of_control_groups(monkeypatch, tmp_path):
    """Of both versions, and of every group around the process's own."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(64))
    monkeypatch.setattr(control_groups, "_ROOT", str(tmp_path))
    monkeypatch.setattr(control_groups, "_OWN", str(tmp_path / "own"))
    assert available_cpus() == 64
    (tmp_path / "own").write_text("4:cpu,cpuacct:/box\n3:memory:/x\n0::/a/b\n")
    inner, older = tmp_path / "a" / "b", tmp_path / "cpu" / "box"
    inner.mkdir(parents=True)
    older.mkdir(parents=True)
    for folder, limit, count in ((inner, "max", 64), (inner, "850000", 9), (tmp_path / "a", "250000", 3)):
        (folder / "cpu.max").write_text(f"{limit} 100000\n")
        assert available_cpus() == count
    (older / "cpu.cfs_period_us").write_text("100000\n")
    for limit, count in ((-1, 3), (150000, 2), (1000, 1)):
        (older / "cpu.cfs_quota_us").write_text(f"{limit}\n")
        assert available_cpus() == count


def test_values_pickle():
    assert pickle.loads(pickle.dumps(Config({}).as_dict())) == Config({}).as_dict()
