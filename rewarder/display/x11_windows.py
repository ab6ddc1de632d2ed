"""An X11 client that knows the windows on a screen, and puts coloured squares there that can be clicked."""

from __future__ import annotations

import select
import struct
import time
from dataclasses import dataclass

from rewarder.display.x11 import XClient

ANSWER_TIMEOUT = 5.0
MAX_PROPERTY = 1024
"""4-byte units read of a property: a title, or a list of windows."""

# Request opcodes, event and reply codes, and masks of the X11 core protocol
_CREATE_WINDOW, _CHANGE_ATTRIBUTES, _DESTROY_WINDOW, _MAP_WINDOW, _CONFIGURE_WINDOW = 1, 2, 4, 8, 12
_GET_GEOMETRY, _INTERN_ATOM, _GET_PROPERTY, _QUERY_POINTER, _TRANSLATE, _WARP = 14, 16, 20, 38, 40, 41
_CHANGE_PROPERTY, _CLEAR_AREA, _KILL_CLIENT = 18, 61, 113
_ERROR, _REPLY, _BUTTON_PRESS, _GENERIC_EVENT = 0, 1, 4, 35
_SENT = 0x80  # marks an event that a client made
_BACK_PIXEL, _OVERRIDE_REDIRECT, _EVENT_MASK = 1 << 1, 1 << 9, 1 << 11
_BUTTONS_MASK = 1 << 2
_STACK_MODE, _BELOW = 1 << 6, 1
_POSITION = 1 | 2
_ALL_BUTTONS = 0x1F00
_APPEND, _STRING = 2, 31
_ANY_TYPE = 0
_MESSAGE_BYTES = 32


@dataclass(frozen=True, slots=True)
class Window:
    """A program's window: what is inside its frame."""

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
    """Where the mouse is, and whether any of its buttons is down."""

    x: int
    y: int
    pressed: bool


class WindowClient(XClient):
    """One connection to an X server; every question is answered before the method returns.

    Raises:
        OSError: there is no server, it refused the cookie, or (from any method) it is gone.
    """

    def __init__(self, path: str, cookie: bytes) -> None:
        super().__init__(path, cookie)
        self._sequence = 1  # of the request that the base class has made
        self._answers: dict[int, bytes | None] = {}
        self._presses: list[int] = []
        self._next_id = self._id_base
        self._atoms: dict[str, int] = {}

    def windows(self) -> list[Window]:
        """Return the windows of programs, the oldest first, as the window manager lists them."""
        data = self._property(self.root, "_NET_CLIENT_LIST") or b""  # any program may have written it
        found = map(self._window, struct.unpack_from(f"<{len(data) // 4}I", data))
        return [window for window in found if window is not None]

    def managed(self) -> bool:
        """Whether a window manager is there."""
        owner = self._property(self.root, "_NET_SUPPORTING_WM_CHECK")
        return bool(owner) and self._ask(struct.pack("<BxHI", _GET_GEOMETRY, 2, *_ids(owner))) is not None

    def nudge(self) -> None:
        """Touch a property of the root window, of which a window manager hears.

        Openbox sleeps over what it was sent while it was starting, a window that wants to be mapped, say, until
        something else arrives.
        """
        atom = self._atom("_UNIVERSE_CLIENT_NUDGE")
        self._tell(struct.pack("<BBHIIIBxxxI", _CHANGE_PROPERTY, _APPEND, 6, self.root, atom, _STRING, 8, 0))

    def pointer(self) -> Pointer:
        """Return what the mouse does."""
        answer = self._ask(struct.pack("<BxHI", _QUERY_POINTER, 2, self.root))
        assert answer is not None, "the root window is always there"
        x, y, mask = struct.unpack_from("<16xhh4xH", answer)
        return Pointer(x, y, bool(mask & _ALL_BUTTONS))

    def warp(self, x: int, y: int) -> None:
        """Put the pointer somewhere."""
        self._tell(struct.pack("<BxHIIhhHHhh", _WARP, 6, 0, self.root, 0, 0, 0, 0, x, y))

    def background(self, colour: int) -> None:
        """Paint the screen behind all windows, 0xRRGGBB."""
        self._tell(struct.pack("<BxHIII", _CHANGE_ATTRIBUTES, 4, self.root, _BACK_PIXEL, colour))
        self._tell(struct.pack("<BxHIhhHH", _CLEAR_AREA, 4, self.root, 0, 0, 0, 0))

    def add_square(self, x: int, y: int, width: int, height: int, colour: int, *, below: bool = False) -> int:
        """Show a rectangle without a frame, on top of the windows or below them; return its number."""
        self._next_id += 1
        square = self._next_id
        mask = _BACK_PIXEL | _OVERRIDE_REDIRECT | _EVENT_MASK
        self._tell(
            struct.pack(
                "<BBHIIhhHHHHIIIII",
                *(_CREATE_WINDOW, 0, 11, square, self.root, x, y, width, height, 0, 1, 0, mask),
                *(colour, 1, _BUTTONS_MASK),
            )
        )
        if below:
            self._tell(struct.pack("<BxHIHxxI", _CONFIGURE_WINDOW, 4, square, _STACK_MODE, _BELOW))
        self._tell(struct.pack("<BxHI", _MAP_WINDOW, 2, square))
        return square

    def move_square(self, square: int, x: int, y: int) -> None:
        """Put a square somewhere else."""
        self._tell(struct.pack("<BxHIHxxii", _CONFIGURE_WINDOW, 5, square, _POSITION, x, y))

    def remove_square(self, square: int) -> None:
        """Take a square away."""
        self._tell(struct.pack("<BxHI", _DESTROY_WINDOW, 2, square))

    def pressed(self) -> list[int]:
        """Return the squares on which a mouse button went down since the last call, in order."""
        self.drain()
        presses, self._presses = self._presses, []
        return presses

    def kill(self, window: int) -> None:
        """End the connection of the program a window belongs to."""
        self._tell(struct.pack("<BxHI", _KILL_CLIENT, 2, window))

    def _window(self, window: int) -> Window | None:
        """None if it has just gone."""
        size = self._ask(struct.pack("<BxHI", _GET_GEOMETRY, 2, window))
        place = self._ask(struct.pack("<BxHIIhh", _TRANSLATE, 4, window, self.root, 0, 0))
        title = self._property(window, "_NET_WM_NAME") or self._property(window, "WM_NAME")
        kind = self._property(window, "WM_CLASS")
        if size is None or place is None:
            return None
        width, height = struct.unpack_from("<16xHH", size)
        x, y = struct.unpack_from("<12xhh", place)
        names = (kind or b"").decode("latin-1").split("\0")
        return Window(
            window, (title or b"").decode("utf-8", "replace"), "".join(names[1:2]), x, y, width, height
        )

    def _property(self, window: int, name: str) -> bytes | None:
        atom = self._atom(name)
        answer = self._ask(
            struct.pack("<BxHIIIII", _GET_PROPERTY, 6, window, atom, _ANY_TYPE, 0, MAX_PROPERTY)
        )
        if answer is None:
            return None
        size, length = answer[1] // 8, struct.unpack_from("<16xI", answer)[0]
        return answer[32 : 32 + size * length]

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            encoded = name.encode() + bytes(-len(name) % 4)
            answer = self._ask(
                struct.pack("<BxHHxx", _INTERN_ATOM, 2 + len(encoded) // 4, len(name)) + encoded
            )
            assert answer is not None, "an atom can always be made"
            self._atoms[name] = struct.unpack_from("<8xI", answer)[0]
        return self._atoms[name]

    def _tell(self, request: bytes) -> None:
        self._sequence = (self._sequence + 1) & 0xFFFF
        self._socket.sendall(request)

    def _ask(self, request: bytes) -> bytes | None:
        """Return the reply; None if the server found fault with the request, a window that is gone."""
        self._tell(request)
        number = self._sequence
        deadline = time.monotonic() + ANSWER_TIMEOUT
        while number not in self._answers:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([self._socket], [], [], remaining)[0]:
                raise TimeoutError(f"the x server has not answered within {ANSWER_TIMEOUT:g} s")
            self.drain()
        answer = self._answers[number]
        self._answers.clear()
        return answer

    def _read_messages(self) -> None:
        """Events and errors have 32 bytes, replies may have more."""
        data, position = self._input, 0
        while len(data) - position >= _MESSAGE_BYTES:
            code, sequence, length = struct.unpack_from("<BxHI", data, position)
            kind = code & ~_SENT
            size = _MESSAGE_BYTES + (4 * length if kind in (_REPLY, _GENERIC_EVENT) else 0)
            if len(data) - position < size:
                break
            if code in (_REPLY, _ERROR):
                self._answers[sequence] = data[position : position + size] if code == _REPLY else None
            elif code == _BUTTON_PRESS:  # a real one: what a client makes up has `_SENT`
                self._presses.append(struct.unpack_from("<12xI", data, position)[0])
            position += size
        self._input = data[position:]


def _ids(data: bytes | None) -> tuple[int, ...]:
    return struct.unpack("<I", (data or bytes(4))[:4])
