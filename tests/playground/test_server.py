"""The server: what it answers, whom it refuses, and that nothing it is sent makes it fail."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from urllib.request import urlopen

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.__main__ import main
from weft.errors import MissingPackageError
from weft.playground.pages import write_presets
from weft.playground.presets import PRESETS
from weft.playground.server import ADDRESS, application
from weft.playground.stages import answer
from weft.playground.state import State
from weft.playground.worker import Worker

pytestmark = pytest.mark.compiles_alone

HOST = f"http://{ADDRESS}:8737"
VOID = {"meta", "link", "img", "input", "br"}


class Checker(HTMLParser):
    """Every element is closed, no script stands in the page, and identifiers occur once."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.links, self.targets = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        assert not any(name.startswith("on") or name == "style" for name in found)
        assert tag != "style"
        assert tag != "script" or set(found) == {"type", "src"}
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        assert not (self.open and self.open[-1] == "script" and data.strip())


@pytest.fixture
def client(app):
    return app.test_client()


def get(client, path, query=None, **headers):
    return client.get(path, query_string=query, base_url=HOST, headers=headers)


def test_the_first_page(client):
    response = get(client, "/")
    assert response.status_code == 200
    page = Checker(response.text)
    assert PRESETS[0].state.expression in response.text
    assert [link for link in page.links if link.startswith("/?")] == [f"/?{preset.state.query}" for preset in PRESETS]
    assert "default-src 'none'; script-src 'self'" in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_the_page_of_each_preset(client, preset):
    response = get(client, f"/?{preset.state.query}")
    Checker(response.text)
    assert f"<title>{preset.state.expression} · {preset.title} · weft playground</title>" in response.text
    shown = re.sub(r"<[^>]+>", "", response.text)
    for section in answer(preset.state).sections:
        assert section.text in unescape(shown)


def test_parts_of_the_page(client):
    found = get(client, "/generate", {"expression": "y(i) = A(i,j)*x(j)", "format.A": "dia"}).json
    assert found["trouble"] is None
    assert "selected>dia<" in found["tensors"]
    assert 'id="text-c"' in found["results"]
    found = get(client, "/generate", {"expression": "y(i = A(i)"}).json
    assert found["trouble"]["place"] == "  y(i = A(i)\n      ^"
    assert not found["parsed"]
    found = get(client, "/generate", {"expression": "y(i) = A(i)", "format.A": "dia"}).json
    assert found["trouble"]["field"] == "formats"
    assert found["parsed"]
    assert "dia (not for 1 axes)" in found["tensors"]


def test_an_error_on_the_whole_page_keeps_the_formats(client):
    text = get(client, "/", {"expression": "y(i = A(i,j)", "format.A": "csr"}).text
    Checker(text)
    assert '<input type="hidden" name="format.A" value="csr">' in text


@pytest.mark.parametrize("field", ["expression", "schedule", "format.A", "format.<b>", "other"])
def test_html_in_a_field_is_text(client, field):
    hostile = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'"
    fields = {"expression": "y(i) = A(i)", field: hostile}
    for response in (get(client, "/", fields), get(client, "/generate", fields)):
        assert response.status_code == 200
    page = get(client, "/", fields).text
    Checker(page)
    assert "<script>" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8737", "10.0.0.1", ""]
)
@pytest.mark.parametrize("path", ["/", "/generate", "/static/playground.js", "/nothing"])
def test_other_hosts_are_refused(client, host, path):
    assert client.get(path, headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8737", "localhost:8737"])
def test_this_machine_is_a_host(client, host):
    with client.get("/static/playground.css", headers={"Host": host}) as response:
        assert response.status_code == 200


def test_pages_of_other_sites_get_nothing(client):
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"http://{ADDRESS}:1"},
                    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):  # fmt: skip
        assert client.get("/generate?expression=y=a", base_url=HOST, headers=headers).status_code == 403
    own = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}
    assert client.get("/generate?expression=y=a", base_url=HOST, headers=own).status_code == 200
    # A link on another site may open the page.
    assert client.get("/", base_url=HOST, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_other_methods_are_refused(client, method):
    for path in ("/", "/generate"):
        assert getattr(client, method)(path, base_url=HOST).status_code == 405


def test_long_requests_are_refused(client):
    assert get(client, "/generate", {"expression": "a" * 9000}).status_code == 414
    found = get(client, "/generate", {"expression": "a" * 301}).json
    assert "takes at most 300" in found["trouble"]["reason"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static//etc/passwd",
        "/static/%2fetc%2fpasswd", "/static/", "/templates/page.html", "/server.py", "/static/playground.js%00.py",
    ],
)  # fmt: skip
def test_no_path_leaves_the_folder(client, path):
    assert client.get(path, base_url=HOST, follow_redirects=True).status_code == 404


@given(st.dictionaries(st.one_of(st.sampled_from(["expression", "schedule", "format.A"]), st.text(max_size=20)),
                       st.text(max_size=60), max_size=5))  # fmt: skip
@settings(max_examples=60)
def test_no_request_makes_the_server_fail(app, fields):
    client = app.test_client()
    for path in ("/", "/generate"):
        assert get(client, path, {k: v.encode("utf-8", "surrogatepass") for k, v in fields.items()}).status_code == 200


@given(st.binary(max_size=200))
@settings(max_examples=60)
def test_no_query_makes_the_server_fail(app, query):
    text = "".join(f"%{byte:02x}" if byte in b" %#?\0\r\n" or byte > 126 else chr(byte) for byte in query)
    assert app.test_client().get(f"/generate?{text}", base_url=HOST).status_code == 200


def test_what_takes_too_long_is_stopped():
    worker = Worker(seconds=0.0)
    try:
        assert "stopped after 0 seconds" in worker.answer(State("y(i) = A(i)")).trouble.message
        worker.seconds = 60.0
        assert worker.answer(State("y(i) = A(i)")).trouble is None
    finally:
        worker.close()


def test_a_process_that_ends_is_replaced():
    before = set(multiprocessing.active_children())
    worker = Worker(seconds=60.0)
    try:
        assert worker.answer(State("y(i) = A(i)")).trouble is None
        (process,) = set(multiprocessing.active_children()) - before
        os.kill(process.pid, signal.SIGSTOP)  # so that it does not answer before it ends
        from threading import Timer

        Timer(0.2, process.kill).start()
        assert "process ended" in worker.answer(State("y(i) = B(i)")).trouble.message
        assert worker.answer(State("y(i) = B(i)")).trouble is None
    finally:
        worker.close()


def test_without_flask(monkeypatch):
    monkeypatch.setitem(sys.modules, "flask", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'weft\[web\]'"):
        application(Worker())


def test_the_command(capsys):
    pytest.importorskip("flask")
    with pytest.raises(SystemExit):
        main(["playground", "--help"])
    assert "loopback" in capsys.readouterr().out
    command = [sys.executable, "-m", "weft", "playground", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, **pipes) as server:
        try:
            url = server.stdout.readline().split()[2]
            assert url.startswith(f"http://{ADDRESS}:")
            with urlopen(f"{url}?expression=y(i)=A(i,j)*x(j)&format.A=csr") as response:
                assert "weft_evaluate" in response.read().decode()
            port = url.rstrip("/").rpartition(":")[2]
            assert main(["playground", "--port", port]) == 2
            assert f"port {port} cannot be used" in capsys.readouterr().err
        finally:
            os.killpg(server.pid, signal.SIGINT)  # as Ctrl-C does
        assert server.wait(30) == 0
        assert server.stderr.read() == ""


def test_pages_without_a_server(tmp_path):
    written = write_presets(tmp_path / "playground")
    names = {path.name for path in (tmp_path / "playground").iterdir()}
    assert names == {f"{preset.key}.html" for preset in PRESETS} | {"playground.css"}
    for path, preset in zip(written, PRESETS, strict=True):
        text = path.read_text("utf-8")
        page = Checker(text)
        assert preset.state.expression in unescape(text)
        assert "script" not in text
        assert {link for link in page.links if not link.startswith("#")} <= names
