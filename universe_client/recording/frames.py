"""Every frame of one remote, recorded as it arrives: not only those that steps of the agent return."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import av

from rewarder.protocol.episode import EpisodeId
from universe_client.core.background import lower_priority
from universe_client.recording.events import as_json
from universe_client.recording.video import QUEUE_BYTES, Encoder
from vnc.events import TimedEvents
from vnc.session import Session
from vnc.tap import Tap, TappedFrame

_FRESH, _PAUSE = 0.01, 0.1
"""Seconds. To wake for each frame would cost more than to gather some, as long as the queue has room."""
_MOST_RATE = 4 * 60
"""Frames a second that the queue must hold for a pause: four times those that are expected."""


class Note(Protocol):
    """Records an event of the remote; it may be called on any thread."""

    def __call__(self, kind: str, body: dict[str, Any], now: int | None = None) -> None:
        """Args: `now` is in nanoseconds since 1970; None is now."""


class FrameRecorder:
    """Writes all frames of one remote, and when which episode was played. A `universe_client.core.watcher.Watcher`.

    The sessions copy their frames into queues, and a thread of this object encodes them.

    Attributes:
        videos: the number of videos; each size of the screen has its own.
        skipped: frames that are missing, because the encoder was too slow.
    """

    def __init__(
        self, stem: Path, offset: int, note: Note, failed: Callable[[Exception], None], *, video: bool
    ) -> None:
        """Begin.

        Args:
            stem: the path of the videos without their ending.
            offset: what to add to nanoseconds of `time.monotonic()` to get those since 1970.
            note: records an event.
            failed: called once when nothing more can be written.
            video: whether to record pixels.
        """
        self.videos = self.skipped = 0
        self._stem, self._offset, self._note, self._failed = stem, offset, note, failed
        self._video, self._connection = video, 0
        self._encoder: Encoder | None = None
        self._taps: queue.SimpleQueue[tuple[int, Tap] | None] = queue.SimpleQueue()
        self._newest: Tap | None = None
        self._is_over = False
        self._closes = threading.Event()
        self._thread = threading.Thread(target=self._run, name="record-video", daemon=True)
        self._thread.start()

    # -- on the event loop's thread -----------------------------------------------------------------------------

    def connected(self, session: Session) -> None:
        """Record the frames of `session`; see `Watcher.connected`."""
        self._connection += 1
        if self._video and not self._is_over:
            self._newest = session.tap(QUEUE_BYTES)
            self._taps.put((self._connection, self._newest))

    def began(self, session: Session, episode: EpisodeId) -> None:
        """See `Watcher.began`."""
        refresh = [self._connection, session.generation]
        self._note("playing", {"episode_id": episode.text, "refresh": refresh})

    def ended(self, moment: float) -> None:
        """See `Watcher.ended`."""
        self._note("playing", {"episode_id": None}, self._since_1970(moment))

    def acted(self, episode: EpisodeId | None, timed: Sequence[TimedEvents], dropped: int) -> None:
        """See `Watcher.acted`."""
        about = {"by": "viewer", "episode_id": None if episode is None else episode.text}
        for moment, events in timed:
            self._note("action", {"events": as_json(events), **about}, self._since_1970(moment))
        if dropped:
            self._note("action", {"events": [], "dropped": dropped, **about})

    # -- on the recorder's thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        lower_priority()
        try:
            while (item := self._taps.get()) is not None:
                self._record(*item)
            self._finish_video()
        except (OSError, av.FFmpegError) as error:
            self._is_over = True
            if self._newest is not None:
                self._newest.end()
            self._failed(error)

    def _record(self, connection: int, tap: Tap) -> None:
        try:
            while (frame := tap.take()) is not None:
                self._skip(frame.refused)
                self._add(connection, frame)
                if time.monotonic() - frame.time < _FRESH:  # it is the newest
                    self._closes.wait(min(_PAUSE, QUEUE_BYTES / frame.pixels.nbytes / _MOST_RATE))
            self._skip(tap.refused)
        finally:
            tap.end()  # nobody takes what a failed recorder does not

    def _skip(self, frames: int) -> None:
        if frames:
            self.skipped += frames
            self._note("skipped", {"frames": frames})

    def _add(self, connection: int, frame: TappedFrame) -> None:
        shape = frame.pixels.shape[0], frame.pixels.shape[1]
        encoder = self._encoder
        if encoder is None or encoder.shape != shape:
            encoder = self._begin_video(shape)
        now = self._since_1970(frame.time)
        body = {
            "video": encoder.path.name,
            "index": encoder.frames,
            "refresh": [connection, frame.generation],
        }
        encoder.add(frame.pixels, now)
        self._note("frame", body, now)

    def _begin_video(self, shape: tuple[int, int]) -> Encoder:
        self._finish_video()
        suffix = f".{self.videos}.mp4" if self.videos else ".mp4"
        self._encoder = Encoder(self._stem.with_name(self._stem.name + suffix), shape)
        self.videos += 1
        return self._encoder

    def _finish_video(self) -> None:
        encoder, self._encoder = self._encoder, None
        if encoder is not None:
            encoder.close()

    def _since_1970(self, moment: float) -> int:
        return round(moment * 1e9) + self._offset

    # -- on the agent's thread ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Encode what is left, and finish the files. Call it after the sessions have ended."""
        self._closes.set()
        self._taps.put(None)
        if self._newest is not None:
            self._newest.end()
        self._thread.join()
