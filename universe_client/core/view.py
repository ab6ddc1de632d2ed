"""The array that holds the newest frame that the agent has taken from a remote."""

from __future__ import annotations

import zlib

import numpy as np

from vnc.session import Frame, Session


class View:
    """Copies frames of a session into one array. Used on the agent's thread.

    Attributes:
        session: the session of the newest frame; None before the first.
        number: the session's number of the frame in the array (`Session.frames`); -1 for none.
        taken: how many frames have been copied; while it stays the same, so do the pixels.
        frame_time: `time.monotonic()` when the frame in the array was complete; 0.0 before the first.
        seen_time: `time.monotonic()` of the newest moment at which the remote's screen is known to have shown it.
    """

    def __init__(self) -> None:
        self.session: Session | None = None
        self.taken = 0
        self.frame_time = self.seen_time = 0.0
        self.frame = np.zeros((0, 0, 3), np.uint8)

    @property
    def frame(self) -> Frame:
        """The array: uint8, (height, width, 3), RGB. Set it to have the frames in another array: a row of a batch.

        While the screen has another shape, frames are copied into a new array of that shape, which is then returned.
        """
        return self._frame

    @frame.setter
    def frame(self, frame: Frame) -> None:
        self._frame = frame
        self.read_only = frame.view()
        self.read_only.flags.writeable = False
        self.number = -1  # the array does not hold any frame of the session
        self._checksum: int | None = None

    def follow(self, session: Session) -> None:
        """Take frames of `session` from now on."""
        if session is not self.session:
            self.session, self.number = session, 0

    @property
    def checksum(self) -> int:
        """The CRC-32 of the array."""
        if self._checksum is None:
            self._checksum = zlib.crc32(self._frame.data)
        return self._checksum

    def take(self) -> bool:
        """Copy the newest frame; return False if the screen is being resized: the next call succeeds."""
        session = self.session
        assert session is not None
        if self._frame.shape != session.shape:
            self.frame = np.zeros(session.shape, np.uint8)
        self._checksum = None
        try:
            self.number = session.take(self._frame)
        except ValueError:  # resized since `shape` was read
            return False
        self.taken += 1
        self.seen_time = self.frame_time = session.frame_time
        return True
