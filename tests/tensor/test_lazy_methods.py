"""Methods that are imported when they are first used: from then on they are the functions that the tables name."""

from __future__ import annotations

import functools
import inspect
import pickle
import pydoc
import subprocess
import sys
import threading

import pytest

import weft
from weft import _api
from weft.interop import peer_attributes
from weft.numpy_api import reductions, ufuncs
from weft.tensor.lazy_methods import LazyMethod, LazyProperty, install

NAMES = " ".join([*_api.METHODS.values(), *_api.PROPERTIES.values()]).split()


@pytest.fixture
def fresh():
    """A class of tensors none of whose methods has been used."""

    class Fresh(weft.SparseTensor):
        __slots__ = ()

    install(Fresh, _api.METHODS, _api.PROPERTIES)
    return Fresh


def tensor(cls):
    return cls(weft.asarray([[0.0, 3.0], [1.0, 0.0]], format="csr")._storage)


def test_a_method_is_the_function_after_its_first_use(fresh):
    A = tensor(fresh)
    assert type(vars(fresh)["sum"]) is LazyMethod
    assert A.sum() == 4.0
    assert vars(fresh)["sum"] is reductions.sum
    assert fresh.sqrt is vars(fresh)["sqrt"] is ufuncs.FUNCTIONS["sqrt"]


def test_a_property_is_the_property_after_its_first_use(fresh):
    A = tensor(fresh)
    assert type(vars(fresh)["data"]) is LazyProperty
    assert list(A.data) == [3.0, 1.0]
    assert vars(fresh)["data"] is fresh.data is peer_attributes.data


def test_properties_are_assigned_before_they_are_read(fresh):
    A = tensor(fresh)
    A.data = [5.0, 6.0]
    assert A.todense().tolist() == [[0.0, 5.0], [6.0, 0.0]]
    with pytest.raises(AttributeError, match=r"property 'density' of '.*Fresh' object has no setter"):
        A.density = 1.0


def test_signatures_and_documentation_are_those_of_the_function(fresh):
    assert inspect.signature(fresh.max) == inspect.signature(reductions.max)
    assert "axis" in inspect.signature(tensor(fresh).argmax).parameters
    assert fresh.reshape.__name__ == "reshape"
    assert inspect.getdoc(fresh.matvec).startswith("Return ``A @ x``")
    assert functools.wraps(fresh.min)(lambda self: None).__doc__ == reductions.min.__doc__
    text = pydoc.plain(pydoc.render_doc(fresh))
    assert "setdiag(self: 'SparseTensor', values: 'Any', k: 'int' = 0)" in text
    assert "The places where rows of csr" in text


def test_subclasses_override_and_call_what_is_above_them(fresh):
    class Doubled(fresh):
        __slots__ = ()

        def sum(self, *args, **kwargs):
            return 2 * super().sum(*args, **kwargs)

        @property
        def data(self):
            return 2 * super().data

    A = tensor(Doubled)
    assert (A.sum(), A.max(), A.data.tolist()) == (8.0, 3.0, [6.0, 2.0])
    assert vars(fresh)["max"] is reductions.max
    assert "max" not in vars(Doubled)
    assert tensor(fresh).sum() == 4.0


def test_what_a_user_puts_in_place_of_a_method_stays(fresh):
    first = vars(fresh)["sum"]
    fresh.sum = lambda self: "mine"
    assert first.__get__(tensor(fresh))() == 4.0
    assert tensor(fresh).sum() == "mine"


def test_bound_methods_are_pickled():
    A = weft.asarray([[0.0, 3.0], [1.0, 0.0]], format="csr")
    for method in (A.sum, A.sqrt().max, A.amax, A.count_nonzero):
        assert pickle.loads(pickle.dumps(method))() == method()
    assert pickle.loads(pickle.dumps(weft.SparseTensor.sum)) is reductions.sum
    get = A.asformat("dok").get
    assert pickle.loads(pickle.dumps(get))((0, 1), 0) == get((0, 1), 0) == 3.0


def test_names_are_there_before_they_are_used():
    program = """
import sys, weft
from weft.tensor.lazy_methods import LazyMethods
names = set(dir(weft.SparseTensor))
assert {"sum", "indptr", "setdiag", "reshape"} <= names
assert not [name for name in sys.modules if name.startswith("weft.numpy_api")]
A = weft.asarray([[0.0, 3.0], [1.0, 0.0]], format="csr")
assert hasattr(A, "sum") and hasattr(A, "indptr") and not hasattr(A, "offsets") and not hasattr(A, "keys")
assert hasattr(weft.SparseTensor, "offsets")
print(vars(LazyMethods)["sum"].__module__, type(vars(LazyMethods)["setdiag"]).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "weft.numpy_api.reductions LazyMethod\n", done.stderr


@pytest.mark.compiles_alone
def test_threads_use_a_method_for_the_first_time_at_once():
    program = """
import threading, weft
A = weft.asarray([[0.0, 3.0], [1.0, 0.0]], format="csr")
start, found = threading.Barrier(8), []
def use():
    start.wait()
    found.append((A.tolist(), A.T.indices.tolist()))
threads = [threading.Thread(target=use) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
assert found == [([[0.0, 3.0], [1.0, 0.0]], [1, 0])] * 8, found
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.compiles_alone
def test_threads_find_one_function(fresh):
    start, found = threading.Barrier(8), []

    def use():
        start.wait()
        found.append([getattr(fresh, name) for name in NAMES])

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(each == found[0] for each in found)
    assert not [name for name, value in vars(fresh).items() if isinstance(value, LazyMethod)]
