"""A process of its own that runs the compiler, so that what takes too long or too much memory can be stopped."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from .stages import Answer, Trouble, answer
from .state import State

_STARTING_SECONDS = 60.0
_ADDRESSES = 8 << 30
"""Bytes of address space that the process may use, threads' stacks included."""


class Worker:
    """A process that answers one state after the other.

    Examples
    --------
    >>> worker = Worker()
    >>> worker.answer(State("y(i) = A(i,j)")).trouble is None
    True
    >>> worker.close()
    """

    def __init__(self, seconds: float = 10.0) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._running: tuple[BaseProcess, Connection] | None = None

    def answer(self, state: State) -> Answer:
        """Return all that the page shows for a state; a message if that takes too long."""
        if not self._lock.acquire(timeout=2 * self.seconds):
            return _trouble("too many expressions are waiting for the compiler; type on to try again")
        try:
            return self._asked(state)
        finally:
            self._lock.release()

    def _asked(self, state: State) -> Answer:
        try:
            connection = self._connection()
            connection.send(state)
            if not connection.poll(self.seconds):
                self._stop()
                return _trouble(
                    f"the compiler was stopped after {self.seconds:g} seconds; fewer operands, or other formats, "
                    "have fewer cases"
                )
            reply: Answer = connection.recv()
        except (EOFError, OSError):  # the process ended, as the system ends those that use too much memory
            self._stop()
            return _trouble("the compiler's process ended; a smaller expression may pass")
        return reply

    def _connection(self) -> Connection:
        if self._running is None or not self._running[0].is_alive():
            self._stop()
            # A new interpreter: a copy of this process would have the locks of its threads.
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs,), daemon=True, name="weft playground compiler")
            process.start()
            theirs.close()
            self._running = process, ours
            if not ours.poll(_STARTING_SECONDS):
                raise EOFError
            ours.recv()
        return self._running[1]

    def _stop(self) -> None:
        if self._running is not None:
            process, connection = self._running
            self._running = None
            process.kill()
            process.join()
            connection.close()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()


def _trouble(message: str) -> Answer:
    return Answer(trouble=Trouble("expression", message))


def _work(connection: Connection) -> None:
    """Answer states until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal
    _limit_memory()
    connection.send("ready")
    while True:
        try:
            state = connection.recv()
        except (EOFError, OSError):
            return
        try:
            reply = answer(state)
        except Exception as error:
            # A bug of weft, which must not end the page.
            reply = _trouble(f"this is a bug of weft: {type(error).__name__}: {error}")
        connection.send(reply)


def _limit_memory() -> None:
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = _ADDRESSES if most == resource.RLIM_INFINITY else min(_ADDRESSES, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
