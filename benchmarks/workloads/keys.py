"""A square that changes its colour with each key press, for latency measurements; it is not in WORKLOADS."""

from __future__ import annotations

import ctypes

from benchmarks.workloads.names import HEIGHT, WIDTH
from benchmarks.workloads.windows import Desktop

_KEY_PRESS, _KEY_PRESS_MASK = 2, 1
_COLOURS = (0xFF0000, 0x0000FF)


def main() -> None:
    desktop = Desktop()
    x = desktop.x
    window = desktop.window(desktop.pixmap(WIDTH, HEIGHT), WIDTH, HEIGHT)
    x.XSelectInput(desktop.display, window, ctypes.c_long(_KEY_PRESS_MASK))
    x.XSync(desktop.display, 0)
    x.XSetInputFocus(desktop.display, window, 1, ctypes.c_ulong(0))
    event = (ctypes.c_long * 24)()
    presses = 0
    while True:
        desktop.fill(window, _COLOURS[presses % 2], 0, 0, 64, 64)
        x.XNextEvent(desktop.display, event)
        presses += ctypes.cast(event, ctypes.POINTER(ctypes.c_int))[0] == _KEY_PRESS


if __name__ == "__main__":
    main()
