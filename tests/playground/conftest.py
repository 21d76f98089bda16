"""A worker and the application, which the tests share."""

import pytest

from weft.playground.server import application
from weft.playground.worker import Worker


@pytest.fixture(scope="package")
def worker():
    found = Worker(seconds=60.0)  # the machine may be slow
    yield found
    found.close()


@pytest.fixture(scope="package")
def app(worker):
    pytest.importorskip("flask", reason="the server needs Flask, of the extra web")
    return application(worker)
