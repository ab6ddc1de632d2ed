"""Videos of screens: H.264 in fragmented MP4, one picture per changed frame, with true times."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.video.stream import VideoStream
from numpy.typing import NDArray

from universe_client.recording.background import lower_priority
from vnc.private_file import create_private

Pixels = NDArray[np.uint8]

_TIME_BASE = Fraction(1, 1_000_000)
_QUEUE_BYTES = 64 << 20
"""Pixels that may wait for the encoder; further frames are refused."""
_LEAST_QUEUE = 8
_ENCODER = {"preset": "ultrafast", "crf": "23", "tune": "zerolatency", "g": "120"}
# A fragment per picture: a killed process loses none that was written.
_MUXER = {"movflags": "empty_moov+default_base_moof+frag_every_frame", "flush_packets": "1"}


class VideoWriter:
    """Encodes the frames of one screen on a thread of its own.

    Attributes:
        path: the file.
        shape: (height, width) of all its pictures.
        frames: the number of accepted pictures.
    """

    def __init__(self, path: Path, shape: tuple[int, int], failed: Callable[[Exception], None]) -> None:
        """Begin a video.

        Args:
            path: a file that does not exist.
            shape: (height, width) in pixels.
            failed: called once, on the thread, when nothing more can be written.
        """
        self.path, self.shape, self.frames = path, shape, 0
        self._failed = failed
        room = max(_QUEUE_BYTES // (shape[0] * shape[1] * 3), _LEAST_QUEUE)
        self._queue: queue.Queue[tuple[av.VideoFrame, int] | None] = queue.Queue(room)
        self._thread = threading.Thread(target=self._run, name="record-video", daemon=True)
        self._thread.start()

    def add(self, pixels: Pixels, time: int, wait: bool = False) -> bool:
        """Hand a picture over, which is copied; return False if the encoder is too far behind to take it.

        Args:
            pixels: uint8 of shape (height, width, 3), RGB.
            time: in nanoseconds. The video begins at that of its first picture.
            wait: wait for the encoder instead of refusing the picture.
        """
        if self._queue.full() and not wait:
            return False
        self._queue.put((av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24"), time))
        self.frames += 1
        return True

    def close(self) -> None:
        """Encode what is left, and finish the file."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        try:
            with (
                create_private(self.path) as file,
                av.open(file, "w", format="mp4", options=_MUXER) as container,
            ):
                self._encode(container, self._stream(container))
        except (OSError, av.FFmpegError) as error:
            self._failed(error)
            while self._queue.get() is not None:  # a full queue would stop `close`
                pass

    def _encode(self, container: av.container.OutputContainer, stream: VideoStream) -> None:
        start, last = None, -1
        while (item := self._queue.get()) is not None:
            frame, time = item
            start = time if start is None else start
            last = frame.pts = max((time - start) // 1000, last + 1)
            frame.time_base = _TIME_BASE
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))

    def _stream(self, container: av.container.OutputContainer) -> VideoStream:
        height, width = self.shape
        stream = container.add_stream("libx264", rate=60, options=_ENCODER)
        stream.width, stream.height = width, height
        # 4:2:0 has a sample of colour for 2x2 pixels, and so needs even sizes.
        stream.pix_fmt = "yuv444p" if width % 2 or height % 2 else "yuv420p"
        stream.codec_context.time_base = _TIME_BASE
        stream.codec_context.thread_count = 1
        return stream


def frames(path: Path) -> Iterator[tuple[int, Pixels]]:
    """Return the pictures of a video, each with its time since the first in nanoseconds.

    A video whose process was killed ends with the last complete picture.

    Raises:
        OSError: the file is missing or is not a video.
    """
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        try:
            for frame in container.decode(stream):
                time_base, pts = frame.time_base, frame.pts
                if time_base is not None and pts is not None:
                    yield (
                        round(pts * time_base * 1_000_000_000),
                        cast(Pixels, frame.to_ndarray(format="rgb24")),
                    )
        except av.InvalidDataError:  # the last fragment is incomplete
            return


def shape(path: Path) -> tuple[int, int]:
    """Return (height, width) of a video's pictures, in pixels, without decoding one.

    Raises:
        OSError: the file is missing or is not a video.
    """
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return stream.height, stream.width
