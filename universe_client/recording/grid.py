"""A fixed rate: the times of its rows, the pictures and rewards of each, and a video of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.stream import VideoStream
from numpy.typing import NDArray

from universe_client.recording.spans import Frame
from universe_client.recording.video import Pixels

Times = NDArray[np.int64]


def grid(start: int, end: int, fps: int) -> Times:
    """Return the times of the rows in nanoseconds: from `start` on, before `end`, at least one."""
    count = max(1, (end - start) * fps // 1_000_000_000)
    return start + np.arange(count) * 1_000_000_000 // fps


def on_grid(
    times: Times, first: tuple[Frame, Pixels], rest: Iterator[tuple[Frame, Pixels]]
) -> Iterator[Pixels]:
    """Return for each time the newest picture that is not younger; before `first` it is `first`."""
    shown = first[1]
    following = next(rest, None)
    for time in times.tolist():
        while following is not None and following[0].time <= time:
            shown, following = following[1], next(rest, None)
        yield shown
    for _ in rest:  # the video goes on after them
        pass


def sums(rewards: Sequence[tuple[int, float]], times: Times) -> NDArray[np.float32]:
    """Return the sum of the rewards from each time to the next; what comes before the first belongs to it."""
    result = np.zeros(len(times), np.float32)
    for time, reward in rewards:
        result[max(int(np.searchsorted(times, time, side="right")) - 1, 0)] += reward
    return result


def pixel_format(size: tuple[int, int]) -> str:
    """Return FFmpeg's name of the pixel format for a (width, height): 4:2:0 needs even sizes."""
    return "yuv444p" if size[0] % 2 or size[1] % 2 else "yuv420p"


class GridVideo:
    """A video with one picture per row, in H.264."""

    def __init__(self, path: Path, size: tuple[int, int], fps: int, key_frames: int) -> None:
        """Create the file.

        Args:
            path: a file that does not exist.
            size: (width, height) in pixels.
            fps: pictures per second.
            key_frames: pictures from one key frame to the next.
        """
        self._container = av.open(str(path), "w", format="mp4", options={"movflags": "faststart"})
        options = {"crf": "23", "preset": "veryfast", "g": str(key_frames)}
        self._stream: VideoStream = self._container.add_stream("libx264", rate=fps, options=options)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = pixel_format(size)
        self._stream.codec_context.time_base = Fraction(1, fps)
        self._count = 0

    def add(self, pixels: Pixels) -> None:
        """Add the picture of the next row, uint8 of shape (height, width, 3), RGB."""
        frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
        frame.pts = self._count
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        """Finish the file."""
        self._container.mux(self._stream.encode(None))
        self._container.close()
