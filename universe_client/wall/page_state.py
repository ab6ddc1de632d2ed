"""What one open page shows, and what its person does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from websockets.asyncio.server import ServerConnection

from universe_client.wall.tiles import Tile
from vnc.events import KeyEvent, PointerEvent
from vnc.keysyms import keysym

_LARGEST = 1600
"""Pixels of the longer side that a page may ask for."""
_INVALID = 1007  # RFC 6455 section 7.4.1


class Page:
    """One open page.

    Attributes:
        shown: for each tile the number of the frame and the size that the page has.
        state_due: when the next state is to be sent, in seconds of the monotonic clock.
    """

    def __init__(self, tiles: Sequence[Tile], act: bool) -> None:
        """Begin with small pictures of all `tiles`; `act` lets the page act on them."""
        self.shown = [(0, 0)] * len(tiles)
        self.state_due = 0.0
        self._tiles, self._act = tiles, act
        self._size, self._large, self._open = 320, 320, -1
        self._taken: set[int] = set()

    def longest(self, index: int) -> int:
        """Return how many pixels the longer side of a tile has; 0 shows no picture of it."""
        if self._open >= 0:
            return self._large if index == self._open else 0
        return self._size

    async def read(self, websocket: ServerConnection) -> None:
        """Follow what the page asks for, until it is closed."""
        async for message in websocket:
            try:
                self._obey(json.loads(message))
            except (ValueError, KeyError, TypeError):
                await websocket.close(_INVALID, "not a request of the page")

    def leave(self) -> None:
        """Let the agent act again where this page has acted."""
        for index in self._taken:
            self._tiles[index].person.take(False)
        self._taken.clear()

    def _obey(self, request: dict[str, Any]) -> None:
        match request:
            case {
                "size": int() | float() as size,
                "large": int() | float() as large,
                "open": int() as opened,
            }:
                self._size, self._large = _bounded(size), _bounded(large)
                self._open = opened if opened < len(self._tiles) else -1
                for index in self._taken - {self._open}:
                    self._take(index, False)
            case {"take": bool() as acts} if self._act and self._open >= 0:
                self._take(self._open, acts)
            case {"key": int() | str() as key, "down": bool() as down} if self._open in self._taken:
                with suppress(ValueError):  # a key of the browser that X11 does not have
                    self._tiles[self._open].person.add(KeyEvent(keysym(key), down))
            case {"pointer": [int() as x, int() as y, int() as mask]} if self._open in self._taken:
                if not (0 <= x <= 0xFFFF and 0 <= y <= 0xFFFF and 0 <= mask <= 0xFF):
                    raise ValueError("outside of the screen")
                self._tiles[self._open].person.add(PointerEvent(x, y, mask))
            case {"key": _} | {"pointer": _}:  # sent before the person's turn had ended
                return
            case _:
                raise ValueError("unknown request")

    def _take(self, index: int, acts: bool) -> None:
        self._tiles[index].person.take(acts)
        (self._taken.add if acts else self._taken.discard)(index)


def _bounded(pixels: float) -> int:
    """Return a size in steps of 80 pixels, so that pages share pictures."""
    return min(max(round(pixels / 80) * 80, 80), _LARGEST)
