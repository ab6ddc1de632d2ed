"""An X11 client for desktop tasks: it lists the windows on a screen and shows coloured squares that can be clicked."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

try:
    import xcffib
    from xcffib.xproto import (
        CW,
        Atom,
        ButtonPressEvent,
        ConfigWindow,
        EventMask,
        GetPropertyType,
        KeyButMask,
        PropMode,
        StackMode,
        WindowClass,
    )
except ImportError as error:
    raise ImportError("desktop remotes need xcffib: pip install '.[desktop]'") from error

from rewarder.display.x11 import COOKIE

ANSWER_TIMEOUT = 5.0
"""Seconds for the X server to answer a request."""
MAX_PROPERTY = 1024
"""4-byte units read of a property, such as a title or a list of windows."""

_BUTTON_PRESS = 4
_ANY_BUTTON = (
    KeyButMask.Button1 | KeyButMask.Button2 | KeyButMask.Button3 | KeyButMask.Button4 | KeyButMask.Button5
)


@dataclass(frozen=True, slots=True)
class Window:
    """A program's window, without the frame that the window manager draws."""

    id: int
    title: str
    kind: str
    """Its class, such as `XTerm`."""
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """The position of the mouse pointer, and whether any button is down."""

    x: int
    y: int
    pressed: bool


class WindowClient:
    """One connection to an X server. Each query returns after the server's answer.

    Args:
        path: of the server's Unix socket.
        cookie: the server's MIT-MAGIC-COOKIE-1.

    Raises:
        OSError: no server listens there, it refuses the cookie, or (from any method) the connection is lost.
    """

    def __init__(self, path: str, cookie: bytes) -> None:
        self._connection = _connected(path, cookie)
        self._core = self._connection.core
        screen = self._connection.setup.roots[0]
        self.root, self._visual = screen.root, screen.root_visual
        self._presses: list[int] = []
        self._atoms: dict[str, int] = {}

    def close(self) -> None:
        """Disconnect."""
        self._connection.disconnect()

    def windows(self) -> list[Window]:
        """Return the windows of programs, the oldest first, as the window manager lists them."""
        data = self._property(self.root, "_NET_CLIENT_LIST")  # any program may have written it
        found = map(self._window, struct.unpack_from(f"={len(data) // 4}I", data))
        return [window for window in found if window is not None]

    def focus(self) -> int:
        """Return the id of the window that gets the keys."""
        answer = self._ask(self._core.GetInputFocus)
        assert answer is not None, "this request has no errors"
        return int(answer.focus)

    def managed(self) -> bool:
        """Return whether a window manager runs."""
        owner = self._property(self.root, "_NET_SUPPORTING_WM_CHECK")[:4]
        return len(owner) == 4 and self._ask(self._core.GetGeometry, *struct.unpack("=I", owner)) is not None

    def nudge(self) -> None:
        """Change a property of the root window, which sends an event to the window manager.

        Openbox does not look at requests that arrived while it was starting, such as one to map a window, until another
        event arrives.
        """
        name = self._atom("_UNIVERSE_CLIENT_NUDGE")
        self._send(self._core.ChangeProperty, PropMode.Append, self.root, name, Atom.STRING, 8, 0, b"")

    def pointer(self) -> Pointer:
        """Return the state of the mouse."""
        answer = self._ask(self._core.QueryPointer, self.root)
        assert answer is not None, "the root window always exists"
        return Pointer(answer.root_x, answer.root_y, bool(answer.mask & _ANY_BUTTON))

    def warp(self, x: int, y: int) -> None:
        """Move the pointer to a position on the screen."""
        self._send(self._core.WarpPointer, 0, self.root, 0, 0, 0, 0, x, y)

    def background(self, colour: int) -> None:
        """Paint the screen behind all windows, 0xRRGGBB."""
        self._send(self._core.ChangeWindowAttributes, self.root, CW.BackPixel, [colour])
        self._send(self._core.ClearArea, False, self.root, 0, 0, 0, 0)

    def add_square(self, x: int, y: int, width: int, height: int, colour: int, *, below: bool = False) -> int:
        """Show a rectangle without a frame, above all windows or below them; return its id."""
        square: int = self._connection.generate_id()
        attributes = CW.BackPixel | CW.OverrideRedirect | CW.EventMask
        self._send(
            self._core.CreateWindow,
            *(0, square, self.root, x, y, width, height, 0, WindowClass.InputOutput, self._visual),
            *(attributes, [colour, True, EventMask.ButtonPress]),
        )
        if below:
            self._send(self._core.ConfigureWindow, square, ConfigWindow.StackMode, [StackMode.Below])
        self._send(self._core.MapWindow, square)
        return square

    def move_square(self, square: int, x: int, y: int) -> None:
        """Move a square to another position."""
        self._send(self._core.ConfigureWindow, square, ConfigWindow.X | ConfigWindow.Y, [x, y])

    def remove_square(self, square: int) -> None:
        """Remove a square."""
        self._send(self._core.DestroyWindow, square)

    def pressed(self) -> list[int]:
        """Return the squares on which a mouse button went down since the last call, in order."""
        self._read_events()
        presses, self._presses = self._presses, []
        return presses

    def kill(self, window: int) -> None:
        """Close the connection of the program that a window belongs to."""
        self._send(self._core.KillClient, window)

    def _window(self, window: int) -> Window | None:
        """Return a window; None if it no longer exists."""
        size = self._ask(self._core.GetGeometry, window)
        place = self._ask(self._core.TranslateCoordinates, window, self.root, 0, 0)
        title = self._property(window, "_NET_WM_NAME") or self._property(window, "WM_NAME")
        names = self._property(window, "WM_CLASS").decode("latin-1").split("\0")
        if size is None or place is None:
            return None
        return Window(
            window,
            title.decode("utf-8", "replace"),
            "".join(names[1:2]),
            *(place.dst_x, place.dst_y, size.width, size.height),
        )

    def _property(self, window: int, name: str) -> bytes:
        """Return the value of a property; empty if the window or the property does not exist."""
        answer = self._ask(
            self._core.GetProperty, False, window, self._atom(name), GetPropertyType.Any, 0, MAX_PROPERTY
        )
        return b"" if answer is None else answer.value.raw

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            answer = self._ask(self._core.InternAtom, False, len(name), name)
            assert answer is not None, "the server makes an atom of any name"
            self._atoms[name] = answer.atom
        return self._atoms[name]

    def _send(self, request: Callable[..., Any], *args: Any) -> None:
        """Send a request without an answer; the server's errors are ignored, as the window may no longer exist."""
        try:
            request(*args)
            self._connection.flush()
        except xcffib.ConnectionException as error:
            raise _lost(error) from None

    def _ask(self, request: Callable[..., Any], *args: Any) -> Any:
        """Return the answer to a request; None if the server reports an error, such as a window that is gone."""
        self._read_events()
        try:
            cookie = request(*args)
            self._connection.flush()
            # `reply` has no timeout: a server that hangs must not hang this process.
            if not select.select([self._connection.get_file_descriptor()], [], [], ANSWER_TIMEOUT)[0]:
                raise TimeoutError(f"the x server did not answer within {ANSWER_TIMEOUT:g} s")
            return cookie.reply()
        except xcffib.Error:
            return None
        except xcffib.ConnectionException as error:
            raise _lost(error) from None

    def _read_events(self) -> None:
        """Record clicks on squares. Events that other clients send with SendEvent have a different type code."""
        while True:
            try:
                event = self._connection.poll_for_event()
            except xcffib.Error:  # the answer to a request about a window that was gone
                continue
            except xcffib.ConnectionException as error:
                raise _lost(error) from None
            if event is None:
                return
            if isinstance(event, ButtonPressEvent) and event.response_type == _BUTTON_PRESS:
                self._presses.append(event.event)


def _connected(path: str, cookie: bytes) -> xcffib.Connection:
    """Connect; unlike `xcffib.connect(auth=...)`, keep the memory of the cookie until it has been sent."""
    name, data = xcffib.ffi.new("char[]", COOKIE), xcffib.ffi.new("char[]", cookie)
    secret = xcffib.ffi.new("xcb_auth_info_t *", (len(COOKIE), name, len(cookie), data))
    with socket.socket(socket.AF_UNIX) as connected:
        connected.connect(path)
        pointer = xcffib.lib.xcb_connect_to_fd(connected.detach(), secret)
    try:
        return xcffib.wrap(pointer)
    except xcffib.ConnectionException as error:
        xcffib.lib.xcb_disconnect(pointer)
        raise _lost(error) from None


def _lost(error: xcffib.ConnectionException) -> ConnectionResetError:
    return ConnectionResetError(f"the connection to the x server is lost: {error}")
