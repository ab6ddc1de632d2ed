"""Every frame of a session, copied for a recorder: a queue with a bound, which counts what it refused."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class TappedFrame(NamedTuple):
    """A copy of a frame."""

    pixels: NDArray[np.uint8]
    """uint8 of shape (height, width, 3), RGB. It belongs to whoever has taken it."""
    number: int
    """As `Session.frames` counts."""
    time: float
    """When the frame was complete, in seconds of `time.monotonic()`."""
    generation: int
    """The newest `Session.refresh` whose pixels are all in the frame."""
    refused: int
    """How many frames before this one were refused since the last that was not: the queue was full."""


class Tap(Protocol):
    """The frames of one session that wait for a recorder. All methods may be called on any thread."""

    @property
    def refused(self) -> int:
        """How many frames were refused after the newest one that was not."""
        ...

    def take(self) -> TappedFrame | None:
        """Return the oldest frame, or wait for one; None if the tap has ended and is empty."""
        ...

    def end(self) -> None:
        """Add nothing from now on; what waits can still be taken."""
        ...
