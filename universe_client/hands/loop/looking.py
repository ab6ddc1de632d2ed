"""Polls a remote while a model thinks, so that its observers get what arrives meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from universe_client.hands.computer import Computer

RATE = 15
"""Looks per second."""


@contextmanager
def looking(computer: Computer, rate: float = RATE) -> Iterator[None]:
    """Inside, the observers of `computer` get what arrives from its remote while nobody acts, `rate` times a second."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(1 / rate):
            computer.refresh()

    thread = threading.Thread(target=look, name="universe-client-looking", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
