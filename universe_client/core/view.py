"""The array that holds the newest frame that the agent has taken from a remote."""

from __future__ import annotations

import time
import zlib
from contextlib import suppress

import numpy as np

from vnc.pixels.reduction import Reduction
from vnc.session import Frame, Session


class View:
    """Copies frames of a session, or smaller pictures of them, into one array. Used on the agent's thread.

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
        self._pixels: Frame | None = None  # where the newest frame is, if it has not come from the session
        self.lend(np.zeros((0, 0, 3), np.uint8))

    @property
    def frame(self) -> Frame:
        """The array: uint8, (height, width, 3), RGB, or a picture of the reduction.

        While the screen has another shape, frames are copied into a new array of that shape, which is then returned.
        """
        return self._frame

    def lend(self, frame: Frame, reduction: Reduction | None = None) -> None:
        """Have the frames in another array: a row of a batch.

        Args:
            frame: the array, C-contiguous.
            reduction: which pictures of the frames to draw into it; None copies the frames.
        """
        self._frame, self._reduction = frame, reduction
        self._screen: Frame | None = None  # the whole frame, if it is needed beside the picture
        self.read_only = frame.view()
        self.read_only.flags.writeable = False
        self.number = -1  # the array does not hold any frame of the session
        self._checksum: int | None = None

    def follow(self, session: Session) -> None:
        """Take frames of `session` from now on."""
        if session is not self.session:
            self.session, self.number = session, 0

    @property
    def screen(self) -> Frame:
        """The whole frame: uint8, (height, width, 3), RGB.

        Without a reduction it is the array. With one, the first call copies the newest frame, and from then on every
        `take` copies the whole frame too.
        """
        if self._reduction is None:
            return self._frame
        if self._screen is None:
            self._screen = np.zeros(self._reduction.source, np.uint8)
            if self._pixels is not None:
                self._screen[...] = self._pixels
            elif self.session is not None and self.session.shape == self._screen.shape:
                with suppress(ValueError):  # resized since `shape` was read
                    self.session.take(self._screen)
        return self._screen

    def need_checksum(self) -> None:
        """Prepare for `checksum`: the next `take` copies the whole frame."""
        if self._reduction is not None and self._screen is None:
            self._screen = np.zeros(self._reduction.source, np.uint8)
            self.number = -1

    @property
    def is_shared(self) -> bool:
        """Whether the newest frame has come otherwise than from the session, from memory that the remote shares."""
        return self._pixels is not None

    @property
    def is_filled(self) -> bool:
        """Whether the array holds a frame."""
        return self.number >= 0

    def copy(self, pixels: Frame) -> None:
        """Take a frame that has not come from the session: `pixels` has it until the next call."""
        shape = self._frame.shape if self._reduction is None else self._reduction.source
        if shape != pixels.shape:
            self.lend(np.zeros(pixels.shape, np.uint8))
        self._pixels, self._checksum = pixels, None
        if self._reduction is None:
            self._frame[...] = pixels
        else:
            self._reduction.draw(pixels.copy(), self._frame)  # a peer can write to `pixels` meanwhile
        if self._screen is not None:
            self._screen[...] = pixels
        self.number = 0
        self.taken += 1
        self.seen_time = self.frame_time = time.monotonic()

    @property
    def checksum(self) -> int:
        """The CRC-32 of the whole frame."""
        if self._checksum is None:
            self._checksum = zlib.crc32(self.screen.data)
        return self._checksum

    def take(self) -> bool:
        """Take the newest frame; return False if the screen is being resized: the next call succeeds."""
        session = self.session
        assert session is not None
        shape = self._frame.shape if self._reduction is None else self._reduction.source
        if shape != session.shape:
            self.lend(np.zeros(session.shape, np.uint8))
        self._checksum = self._pixels = None
        try:
            self.number = self._take(session)
        except ValueError:  # resized since `shape` was read
            return False
        self.taken += 1
        self.seen_time = self.frame_time = session.frame_time
        return True

    def _take(self, session: Session) -> int:
        if self._screen is None or self._reduction is None:
            return session.take(self._frame, self._reduction)
        number = session.take(self._screen)
        self._reduction.draw(self._screen, self._frame)
        return number
