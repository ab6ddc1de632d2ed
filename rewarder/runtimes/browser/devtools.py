"""A client of the Chrome DevTools Protocol for one thread: calls with deadlines, and a queue of events."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from typing import NoReturn

import msgspec
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

OPEN_TIMEOUT = 5.0
CALL_TIMEOUT = 10.0
CLOSE_TIMEOUT = 0.2
MAX_MESSAGE = 16 * 2**20
"""Bytes of one message, such as a screenshot."""


class DevToolsError(Exception):
    """A failed DevTools call or connection.

    DevToolsError
    ├── CallFailed      the browser refused a call
    ├── CallTimeout     the browser did not answer a call in time
    ├── ScriptError     a script threw an exception
    └── Disconnected    the connection is lost
    """


class CallFailed(DevToolsError):
    """The browser refused a call."""


class CallTimeout(DevToolsError):
    """The browser did not answer a call in time."""


class ScriptError(DevToolsError):
    """A script threw an exception."""


class Disconnected(DevToolsError):
    """The connection is lost."""


class _Error(msgspec.Struct, frozen=True):
    message: str = ""
    code: int = 0


class _Message(msgspec.Struct, frozen=True):
    """A message of the browser: a reply if it has an `id`, else an event."""

    id: int | None = None
    method: str = ""
    params: dict[str, object] = {}
    result: dict[str, object] = {}
    error: _Error | None = None
    session_id: str | None = msgspec.field(default=None, name="sessionId")


_DIALOG = "Page.javascriptDialogOpening"


class Event(msgspec.Struct, frozen=True):
    """An event of the browser."""

    method: str
    params: Mapping[str, object]
    session_id: str | None


class DevTools:
    """A connection to a browser, used from one thread.

    JavaScript's dialogs (alert, confirm) are accepted automatically, because a page with a dialog answers no call.

    Raises:
        Disconnected: (any method) the connection is lost, or could not be opened.
    """

    def __init__(self, url: str) -> None:
        """Connect to the `ws://` URL that the browser prints."""
        self._open = ExitStack()
        try:
            connecting = connect(
                url,
                open_timeout=OPEN_TIMEOUT,
                close_timeout=CLOSE_TIMEOUT,
                compression=None,
                proxy=None,
                ping_interval=None,
                max_size=MAX_MESSAGE,
            )
            self._socket = self._open.enter_context(connecting)
        except (OSError, InvalidHandshake) as error:
            raise Disconnected(f"no connection to devtools at {url}: {error}") from error
        self._last_id = 0
        self._events: deque[Event] = deque()

    def call(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        session: str | None = None,
        timeout: float = CALL_TIMEOUT,
    ) -> dict[str, object]:
        """Call `method` and return its result.

        Args:
            method: such as `Page.navigate`.
            params: its parameters.
            session: the target's; None is the browser itself.
            timeout: seconds for the answer.

        Raises:
            CallFailed: the browser refused the call.
            CallTimeout: no answer arrived in time; a later one is ignored.
        """
        number = self._send(method, params, session)
        deadline = time.monotonic() + timeout
        while True:
            message = self._receive(max(0.0, deadline - time.monotonic()))
            if message is None:
                raise CallTimeout(f"{method} was not answered within {timeout:g} s")
            if message.id == number:
                if message.error is not None:
                    raise CallFailed(f"{method}: {message.error.message} ({message.error.code})")
                return message.result

    def evaluate(self, expression: str, *, session: str, timeout: float = CALL_TIMEOUT) -> object:
        """Evaluate JavaScript, await the promise that it returns, if any, and return the JSON value.

        Raises:
            ScriptError: it threw an exception.
            CallTimeout: it did not return in time.
        """
        params = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", params, session=session, timeout=timeout)
        evaluated = msgspec.convert(answer, type=_Evaluated)
        if evaluated.exception is not None:
            thrown = evaluated.exception
            raise ScriptError(thrown.exception.description or thrown.text or "the script threw an exception")
        return evaluated.result.value

    def events(self) -> list[Event]:
        """Return the events since the last call, without waiting."""
        while self._receive(0) is not None:
            pass
        events = list(self._events)
        self._events.clear()
        return events

    def wait(self, method: str, *, session: str | None, timeout: float) -> Event:
        """Return the next event of this name; other events remain for `events`.

        Raises:
            CallTimeout: it did not happen within `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while True:
            for event in self._events:
                if event.method == method and event.session_id == session:
                    self._events.remove(event)
                    return event
            if self._receive(max(0.0, deadline - time.monotonic())) is None:
                raise CallTimeout(f"no {method} within {timeout:g} s")

    def close(self) -> None:
        """Disconnect."""
        self._open.close()

    def _send(self, method: str, params: Mapping[str, object] | None, session: str | None) -> int:
        self._last_id += 1
        request: dict[str, object] = {"id": self._last_id, "method": method, "params": params or {}}
        if session is not None:
            request["sessionId"] = session
        try:
            self._socket.send(msgspec.json.encode(request).decode())
        except ConnectionClosed as error:
            _gone(error)
        return self._last_id

    def _receive(self, timeout: float) -> _Message | None:
        """Return the next message, and queue it if it is an event; None if none arrives within `timeout`."""
        try:
            message = msgspec.json.decode(self._socket.recv(timeout), type=_Message)
        except TimeoutError:
            return None
        except ConnectionClosed as error:
            _gone(error)
        except msgspec.DecodeError as error:
            raise DevToolsError(f"the browser sent an invalid devtools message: {error}") from error
        if message.method == _DIALOG:
            self._send("Page.handleJavaScriptDialog", {"accept": True}, message.session_id)
        elif message.id is None:
            self._events.append(Event(message.method, message.params, message.session_id))
        return message


def _gone(error: ConnectionClosed) -> NoReturn:
    raise Disconnected(f"the browser closed the devtools connection: {error}") from error


class _Remote(msgspec.Struct, frozen=True):
    """A JavaScript value."""

    value: object = None
    description: str = ""


class _Thrown(msgspec.Struct, frozen=True):
    text: str = ""
    exception: _Remote = _Remote()


class _Evaluated(msgspec.Struct, frozen=True):
    result: _Remote = _Remote()
    exception: _Thrown | None = msgspec.field(default=None, name="exceptionDetails")
