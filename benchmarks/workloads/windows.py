"""Six X windows that move over each other on a patterned desktop; the server repaints the uncovered areas."""

from __future__ import annotations

import ctypes
import math
import random
import time

from benchmarks.workloads.names import HEIGHT, WIDTH

_FPS = 60
_COLOURS = [0x2E3440, 0x3B4252, 0x88C0D0, 0xA3BE8C, 0xEBCB8B, 0xBF616A, 0xECEFF4, 0x5E81AC]


class Desktop:
    """The Xlib calls for windows with painted backgrounds."""

    def __init__(self) -> None:
        self.x = ctypes.CDLL("libX11.so.6")
        for name in ("XOpenDisplay", "XDefaultGC"):
            getattr(self.x, name).restype = ctypes.c_void_p
        for name in ("XDefaultRootWindow", "XCreateSimpleWindow", "XCreatePixmap"):
            getattr(self.x, name).restype = ctypes.c_ulong
        self.display = ctypes.c_void_p(self.x.XOpenDisplay(None))
        if not self.display:
            raise SystemExit("no display")
        self.root = ctypes.c_ulong(self.x.XDefaultRootWindow(self.display))
        self.context = ctypes.c_void_p(self.x.XDefaultGC(self.display, 0))

    def pixmap(self, width: int, height: int) -> ctypes.c_ulong:
        return ctypes.c_ulong(self.x.XCreatePixmap(self.display, self.root, width, height, 24))

    def fill(self, on: ctypes.c_ulong, colour: int, x: int, y: int, width: int, height: int) -> None:
        self.x.XSetForeground(self.display, self.context, ctypes.c_ulong(colour))
        self.x.XFillRectangle(self.display, on, self.context, x, y, width, height)

    def write(self, on: ctypes.c_ulong, colour: int, x: int, y: int, text: str) -> None:
        self.x.XSetForeground(self.display, self.context, ctypes.c_ulong(colour))
        self.x.XDrawString(self.display, on, self.context, x, y, text.encode(), len(text))

    def window(self, background: ctypes.c_ulong, width: int, height: int) -> ctypes.c_ulong:
        new = ctypes.c_ulong(
            self.x.XCreateSimpleWindow(self.display, self.root, 0, 0, width, height, 0, 0, 0)
        )
        self.x.XSetWindowBackgroundPixmap(self.display, new, background)
        self.x.XMapWindow(self.display, new)
        return new

    def move(self, window: ctypes.c_ulong, x: int, y: int) -> None:
        self.x.XMoveWindow(self.display, window, x, y)


def _wallpaper(desktop: Desktop) -> None:
    picture = desktop.pixmap(WIDTH, HEIGHT)
    for y in range(0, HEIGHT, 8):
        desktop.fill(picture, (40 + y // 12) << 16 | (70 + y // 8) << 8 | 120, 0, y, WIDTH, 8)
    desktop.x.XSetWindowBackgroundPixmap(desktop.display, desktop.root, picture)
    desktop.x.XClearWindow(desktop.display, desktop.root)


def _window(desktop: Desktop, number: int, chance: random.Random) -> ctypes.c_ulong:
    width, height = 220 + 30 * number, 160 + 20 * number
    picture = desktop.pixmap(width, height)
    desktop.fill(picture, _COLOURS[6], 0, 0, width, height)
    desktop.fill(picture, _COLOURS[number % 6], 0, 0, width, 22)
    desktop.write(picture, 0xFFFFFF, 8, 15, f"window {number}")
    for line in range(40, height - 8, 16):
        text = "".join(chance.choice("abcdefghij klmnop qrstu vwxyz ") for _ in range(width // 7))
        desktop.write(picture, 0x202020, 8, line, text)
    return desktop.window(picture, width, height)


def main() -> None:
    desktop, chance = Desktop(), random.Random(1)
    _wallpaper(desktop)
    windows = [_window(desktop, number, chance) for number in range(6)]
    due = time.monotonic()
    step = 0
    while True:
        for number, window in enumerate(windows):
            angle = step * (0.006 + 0.002 * number) + number
            desktop.move(window, int(330 + 320 * math.sin(angle)), int(240 + 230 * math.cos(1.3 * angle)))
        desktop.x.XFlush(desktop.display)
        step += 1
        due += 1 / _FPS
        time.sleep(max(due - time.monotonic(), 0))
