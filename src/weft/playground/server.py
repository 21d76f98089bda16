"""The server of the page, on the loopback address."""

from __future__ import annotations

import logging
import socket
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from ..doors import optional
from ..errors import WeftError
from .pages import STATIC, fragments, page
from .presets import PRESETS
from .stages import Answer, Trouble
from .state import RefusedError, State, state_of
from .worker import Worker

if TYPE_CHECKING:
    from flask import Flask, Response

ADDRESS = "127.0.0.1"
_QUERY_LENGTH = 8000
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(worker: Worker) -> Flask:
    """Return the web application.

    Requests change nothing. A request that names another host than this machine is refused, and so is one that a page
    of another site made (DNS rebinding, cross-site requests).
    """
    with optional("weft playground serves its page with Flask", "web"):
        import flask

    app = flask.Flask("weft.playground", static_folder=str(STATIC), static_url_path="/static")
    app.config["TRUSTED_HOSTS"] = [ADDRESS, "localhost"]
    app.config["MAX_CONTENT_LENGTH"] = 0  # no request has a body

    @app.before_request
    def refuse_others() -> None:
        request = flask.request
        _ = request.host  # raises an error for hosts that are not trusted
        if len(request.query_string) > _QUERY_LENGTH:
            flask.abort(414)
        origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site", "none")
        foreign = origin is not None and origin != f"http://{request.host}"
        # A link on another site may open the page, but no other site may ask for its parts.
        if foreign or (site not in ("none", "same-origin") and request.path != "/"):
            flask.abort(403)

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers.update(_HEADERS)
        return response

    @app.get("/")
    def whole() -> str:
        request = flask.request
        if not request.args:
            return page(PRESETS[0].state, worker.answer(PRESETS[0].state), preset=PRESETS[0])
        state, answer = _answered(request.args.items(multi=True), worker)
        preset = next((each for each in PRESETS if each.state == state), None)
        example = None if answer.sections else worker.answer(PRESETS[0].state)
        return page(state, answer, preset=preset, example=example)

    @app.get("/generate")
    def generate() -> Response:
        _, answer = _answered(flask.request.args.items(multi=True), worker)
        return flask.jsonify(fragments(answer))

    return app


def _answered(pairs: Any, worker: Worker) -> tuple[State, Answer]:
    try:
        state = state_of(pairs)
    except RefusedError as error:
        return State(""), Answer(trouble=Trouble(error.field, str(error)))
    return state, worker.answer(state)


def serve(port: int, *, browser: bool = False) -> None:
    """Serve the page on the loopback address until Ctrl-C."""
    worker = Worker()
    app = application(worker)
    from werkzeug.serving import make_server

    try:
        listening = socket.create_server((ADDRESS, port))
    except (OSError, OverflowError) as error:
        raise WeftError(f"port {port} cannot be used: {error}; --port 0 takes one that is free") from error
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else a line for each key that is pressed
    with closing(listening):
        url = f"http://{ADDRESS}:{listening.getsockname()[1]}/"
        server = make_server(ADDRESS, port, app, threaded=True, fd=listening.fileno())
    print(f"weft playground: {url}  (Ctrl-C ends it)", flush=True)
    if browser:
        import webbrowser

        webbrowser.open(url)
    with suppress(KeyboardInterrupt), closing(worker):
        server.serve_forever()
