"""News of remotes, for whoever waits for some."""

from __future__ import annotations

import threading


class Changed(threading.Event):
    """An event that sets others with itself."""

    def __init__(self) -> None:
        super().__init__()
        self.followers: list[threading.Event] = []

    def set(self) -> None:
        """Set it and its followers."""
        super().set()
        for follower in self.followers:
            follower.set()
