"""The areas of the screen that one client has not received yet, as it is sent them: the Rust core's, or Python's."""

from __future__ import annotations

import struct

from vnc.server.framebuffer.damage import Damage, Grid, Rect

RECT = struct.Struct(">HHHH")
"""Two bytes each of x, y, width and height, as in a FramebufferUpdate."""


class PythonUnsent:
    """The changed areas of a screen of `width` x `height` pixels: all of it at first."""

    def __init__(self, width: int, height: int) -> None:
        self._damage = Damage(width, height)

    def add(self, grid: Grid) -> None:
        """Mark the set tiles."""
        self._damage.add(grid)

    def add_rect(self, rect: Rect) -> None:
        """Mark every tile that `rect`, inside the screen, touches."""
        self._damage.add_rect(rect)

    def take(self, region: Rect, tail: bytes) -> bytes:
        """Return the changed rectangles inside `region`, each followed by `tail`, and mark them as sent."""
        return b"".join(RECT.pack(*rect) + tail for rect in self._damage.take(region))


try:
    from vnc._core import Damage as Unsent
except ImportError:  # no Rust core, as on a machine without Rust
    Unsent = PythonUnsent  # type: ignore[assignment,misc]

__all__ = ["RECT", "PythonUnsent", "Unsent"]
