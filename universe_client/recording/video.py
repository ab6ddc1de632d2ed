"""Videos of screens: H.264 in fragmented MP4, one picture per changed frame, with true times."""

from __future__ import annotations

import errno
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

from universe_client.core.background import lower_priority
from vnc.private_file import create_private

Pixels = NDArray[np.uint8]

_TIME_BASE = Fraction(1, 1_000_000)
QUEUE_BYTES = 64 << 20
"""Bytes of pixels that may wait for the encoder."""
_LEAST_QUEUE = 8
_ENCODER = {"preset": "ultrafast", "crf": "23", "tune": "zerolatency", "g": "120"}
# A fragment per picture: a killed process loses none that was written.
_MUXER = {"movflags": "empty_moov+default_base_moof+frag_every_frame", "flush_packets": "1"}


class Encoder:
    """Encodes the frames of one screen, on the calling thread.

    Attributes:
        path: the file.
        shape: (height, width) of all its pictures.
        frames: the number of pictures.
    """

    def __init__(self, path: Path, shape: tuple[int, int]) -> None:
        """Begin a video.

        Raises:
            OSError: the file exists, or cannot be written.
        """
        self.path, self.shape, self.frames = path, shape, 0
        self._file = create_private(path)
        self._container = av.open(self._file, "w", format="mp4", options=_MUXER)
        self._stream = _stream(self._container, shape)
        self._start, self._last = 0, -1

    def add(self, pixels: Pixels, time: int) -> None:
        """Encode and write a picture.

        Args:
            pixels: uint8 of shape (height, width, 3), RGB, C-contiguous. It must not change afterwards.
            time: in nanoseconds. The video begins at that of its first picture.

        Raises:
            OSError: it cannot be written.
        """
        self._start = self._start if self.frames else time
        frame = av.VideoFrame.from_numpy_buffer(pixels, format="rgb24")
        self._last = frame.pts = max((time - self._start) // 1000, self._last + 1)
        frame.time_base = _TIME_BASE
        self._container.mux(self._stream.encode(frame))
        self.frames += 1

    def close(self) -> None:
        """Finish the file.

        Raises:
            OSError: it cannot be written.
        """
        with self._file, self._container:
            self._container.mux(self._stream.encode(None))


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
        room = max(QUEUE_BYTES // (shape[0] * shape[1] * 3), _LEAST_QUEUE)
        self._queue: queue.Queue[tuple[Pixels, int] | None] = queue.Queue(room)
        self._thread = threading.Thread(target=self._run, name="record-video", daemon=True)
        self._thread.start()

    def add(self, pixels: Pixels, time: int) -> None:
        """Hand a picture over, which is copied; wait while the encoder is too far behind.

        Args:
            pixels: uint8 of shape (height, width, 3), RGB.
            time: in nanoseconds. The video begins at that of its first picture.
        """
        self._queue.put((np.array(pixels, order="C"), time))
        self.frames += 1

    def close(self) -> None:
        """Encode what is left, and finish the file."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        try:
            encoder = Encoder(self.path, self.shape)
            while (item := self._queue.get()) is not None:
                encoder.add(*item)
            encoder.close()
        except (OSError, av.FFmpegError) as error:
            self._failed(error)
            while self._queue.get() is not None:  # a full queue would stop `close`
                pass


def _stream(container: av.container.OutputContainer, shape: tuple[int, int]) -> VideoStream:
    height, width = shape
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
    with _opened(path) as container:
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
    with _opened(path) as container:
        stream = container.streams.video[0]
        return stream.height, stream.width


def count(path: Path) -> int:
    """Return the number of pictures of a video, 0 before the first is in the file. It decodes none.

    Raises:
        OSError: the file is missing.
    """
    number = 0
    try:
        with av.open(str(path)) as container:
            for packet in container.demux(video=0):
                number += packet.pts is not None
    except av.InvalidDataError:  # the last fragment is incomplete
        pass
    return number


def _opened(path: Path) -> av.container.InputContainer:
    try:
        return av.open(str(path))
    except av.InvalidDataError:
        raise OSError(errno.EINVAL, "it is not a video") from None
