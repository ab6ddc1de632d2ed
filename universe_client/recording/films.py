"""Exports recordings as films: what was seen, with what was pressed, the pointer and the score drawn over it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from universe_client.recording.exported import Exported, all_episodes, new_folder
from universe_client.recording.grid import GridVideo, Times, grid, on_grid, sums
from universe_client.recording.held import Columns
from universe_client.recording.reading import Episode, Recording
from universe_client.recording.spans import Frame
from universe_client.recording.video import Pixels

_LEAST_HEIGHT = 480
"""Pixels; smaller screens are enlarged, so that the words on them can be read."""
_FONT_SIZE = 16
_SHOWN = 1_000_000_000
"""Nanoseconds for which a film names a person who pressed something in a viewer."""
_MARGIN = 6
_SHADE, _LIGHT, _PRESSED = (20, 22, 26, 190), (230, 233, 238, 255), (255, 180, 84, 255)


class _Row(NamedTuple):
    """What is drawn over one picture. The pointer has its place in pixels of the screen."""

    words: str
    held: tuple[str, ...]
    pointer: tuple[float, float] | None
    is_pressed: bool


def export(
    recordings: Sequence[Recording],
    out: str | Path,
    fps: int = 30,
    progress: Callable[[int], None] | None = None,
) -> Exported:
    """Write a film (H.264) of each episode: `0000-remote-0.mp4`, `0001-remote-0.mp4` and so on.

    Films have the pace of the recording. Those of recordings in lock-step, which have no pace, show every picture.

    Args:
        recordings: whose episodes to export, in order.
        out: a new folder.
        fps: pictures per second of the films.
        progress: called with the number of exported episodes after each.

    Returns:
        What was written. Episodes without pictures are left out.

    Raises:
        ConfigError: `out` exists, no episode can be exported, or a video cannot be read.
    """
    root, result = new_folder(out, fps), Exported()
    for recording, episode in all_episodes(recordings):
        path = root / f"{result.episodes:04d}-remote-{episode.remote}.mp4"
        count = film(recording, episode, path, fps)
        if count:
            result.episodes += 1
            result.frames += count
        else:
            result.leave_out(recording, episode, "no pictures")
        if progress is not None:
            progress(result.episodes)
    result.check()
    return result


def film(recording: Recording, episode: Episode, path: Path, fps: int) -> int:
    """Write the film of an episode; return the number of its pictures. Without a picture no file is written."""
    pictures = recording.pictures(episode)
    first = next(pictures, None)
    if first is None:
        return 0
    painter = _Painter(first[1].shape[:2])
    path.parent.mkdir(parents=True, exist_ok=True)
    film = GridVideo(path, painter.size, fps, key_frames=fps)
    count = 0
    for pixels, row in _shown(recording, episode, first, pictures, fps):
        film.add(painter.paint(pixels, row))
        count += 1
    film.close()
    return count


def _shown(
    recording: Recording,
    episode: Episode,
    first: tuple[Frame, Pixels],
    rest: Iterator[tuple[Frame, Pixels]],
    fps: int,
) -> Iterator[tuple[Pixels, _Row]]:
    """Return the pictures of a film, each with what is drawn over it."""
    if recording.about.get("lockstep"):
        steps = np.arange(len(episode.frames))
        actions = [(step, events) for step, kind, events in episode.steps if kind == "action"]
        rewards = [(step, reward) for step, kind, reward in episode.steps if kind == "reward"]
        words = [f"step {step}" for step in steps]
        screens = (pixels for _, pixels in chain([first], rest))
        yield from zip(screens, _rows(episode, steps, actions, rewards, words), strict=False)
        return
    times = grid(episode.frames[0].time, episode.end, fps)
    seconds = [f"{seconds:.1f} s" for seconds in (times - times[0]) / 1e9]
    rows = _rows(episode, times, episode.actions, episode.rewards, seconds)
    yield from zip(on_grid(times, first, rest), rows, strict=True)


def _rows(
    episode: Episode,
    times: Times,
    actions: Sequence[tuple[int, list[list[Any]]]],
    rewards: Sequence[tuple[int, float]],
    moments: Sequence[str],
) -> Iterator[_Row]:
    """Return what is drawn at each of `times`, which are called `moments`."""
    columns = Columns(events for _, events in actions)
    scores = np.cumsum(sums(rewards, times), dtype=np.float64).tolist()
    turns = [time for time, _ in episode.actors]
    downs = columns.array(actions, times, (1, 1))
    for time, moment, score, down in zip(times.tolist(), moments, scores, downs, strict=True):
        at = dict(zip(columns.names, down.tolist(), strict=True))
        place = at.pop("pointer.x", 0.0), at.pop("pointer.y", 0.0)
        held = tuple(name.removeprefix("key.") for name, is_down in at.items() if is_down)
        turn = bisect_right(turns, time)
        actor = f"   {episode.actors[turn - 1][1]}" if turn else ""
        before = bisect_right(episode.viewers, time)
        if before and time - episode.viewers[before - 1] < _SHOWN:
            actor = "   person"
        is_pressed = any(name.startswith("button.") for name in held)
        yield _Row(f"score {score:g}   {moment}{actor}", held, place if any(place) else None, is_pressed)


@dataclass
class _Painter:
    """Draws over the pictures of one film.

    Attributes:
        shape: (height, width) of the screen in pixels; later pictures of another size are cut off or filled up.
    """

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        height, width = self.shape[:2]
        self._scale = -(-_LEAST_HEIGHT // height) if height < _LEAST_HEIGHT else 1
        self._font = ImageFont.load_default(_FONT_SIZE)
        # Players expect 4:2:0, which has even sizes.
        self.size = (width * self._scale + 1) // 2 * 2, (height * self._scale + 1) // 2 * 2

    def paint(self, pixels: Pixels, row: _Row) -> Pixels:
        """Return a picture of the film."""
        shown = pixels[: self.shape[0], : self.shape[1]]
        canvas = np.zeros((self.size[1], self.size[0], 3), np.uint8)
        enlarged = shown.repeat(self._scale, axis=0).repeat(self._scale, axis=1)
        canvas[: enlarged.shape[0], : enlarged.shape[1]] = enlarged
        image = Image.fromarray(canvas)
        draw = ImageDraw.Draw(image, "RGBA")
        self._label(draw, _MARGIN, _MARGIN, row.words)
        left, top = float(_MARGIN), self.size[1] - _FONT_SIZE - 3 * _MARGIN
        for name in row.held:
            left = self._label(draw, left, top, name) + _MARGIN
        if row.pointer is not None:
            self._point(draw, row.pointer, row.is_pressed)
        return np.asarray(image)

    def _label(self, draw: ImageDraw.ImageDraw, left: float, top: float, words: str) -> float:
        """Draw words on a dark ground; return the right end."""
        right = left + draw.textlength(words, self._font) + 2 * _MARGIN
        draw.rounded_rectangle((left, top, right, top + _FONT_SIZE + 2 * _MARGIN), 4, _SHADE)
        draw.text((left + _MARGIN, top + _MARGIN - 2), words, _LIGHT, self._font)
        return right

    def _point(self, draw: ImageDraw.ImageDraw, place: tuple[float, float], is_pressed: bool) -> None:
        x, y = (self._scale * (pixel + 0.5) for pixel in place)
        radius, colour = (9, _PRESSED) if is_pressed else (6, _LIGHT)
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), None, colour, 4 if is_pressed else 2)
