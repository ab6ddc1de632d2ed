"""Pictures of a screen for language models: a part, another size, JPEG or PNG."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from universe_client.errors import ConfigError
from universe_client.hands.outcome import Region
from universe_client.hands.space import Space, scaled
from vnc.pixels.reduction import Reduction
from vnc.session import Frame

Format = Literal["jpeg", "png"]


@dataclass(frozen=True)
class Picture:
    """A picture of the screen, or of a region of it. `data` is encoded when it is read for the first time.

    Attributes:
        array: uint8, (height, width, 3), RGB.
        format: "jpeg" or "png".
        region: which part of the whole picture it shows, in pixels of the whole picture.
        scale: the number of its pixels per pixel of the screen.
        quality: of JPEG, 1 to 100.
    """

    array: Frame = field(repr=False)
    format: Format
    region: Region
    scale: float
    quality: int

    @property
    def width(self) -> int:
        """Pixels."""
        return int(self.array.shape[1])

    @property
    def height(self) -> int:
        """Pixels."""
        return int(self.array.shape[0])

    @property
    def media_type(self) -> str:
        """The MIME type of `data`: "image/jpeg" or "image/png"."""
        return f"image/{self.format}"

    @cached_property
    def data(self) -> bytes:
        """The encoded picture.

        Raises:
            ConfigError: Pillow is not installed.
        """
        return _png(self.array) if self.format == "png" else _jpeg(self.array, self.quality)

    def save(self, path: str | Path) -> None:
        """Write `data` to a file."""
        Path(path).write_bytes(self.data)


def cut(
    frame: Frame,
    space: Space,
    limit: tuple[int, int] | None,
    region: tuple[int, int, int, int] | None,
    scale: float | None,
) -> tuple[Frame, Region, float]:
    """Draw a picture of the whole screen, or of a region of it.

    Args:
        frame: the screen.
        space: the picture of the whole screen.
        limit: the largest (width, height) of a region's picture; None has no limit.
        region: (x, y, width, height) in pixels of the whole picture; None is all of it.
        scale: pixels per pixel of the region's part of the screen; None is the largest within `limit`, at most 1.

    Returns:
        The picture, which region it shows, and its pixels per pixel of the screen.

    Raises:
        InvalidAction: the region is outside of the picture, or its picture would be empty or too large.
    """
    if region is None:
        part, shown, size = Region(0, 0, *space.screen), space.whole, space.size
    else:
        part, shown = Region(*space.rect(region)), Region(*region)
        size = Space.within(part[2:], limit).size if scale is None else scaled(part[2:], scale)
    return drawn(frame, part, size), shown, size[0] / part.width


def drawn(frame: Frame, part: Region, size: tuple[int, int]) -> Frame:
    """Return a copy of `part` of a frame in another size, (width, height)."""
    x, y, width, height = part
    if size == (width, height):
        return frame[y : y + height, x : x + width].copy()
    if size[0] <= width and size[1] <= height:
        picture = np.empty((size[1], size[0], 3), np.uint8)
        Reduction(frame.shape, (x, y, width, height), size).draw(frame, picture)
        return picture
    image = _pillow().fromarray(np.ascontiguousarray(frame[y : y + height, x : x + width]))
    return np.array(image.resize(size, _pillow().Resampling.BICUBIC))


def _jpeg(array: Frame, quality: int) -> bytes:
    try:
        import simplejpeg
    except ImportError:
        return _saved(array, "jpeg", quality=quality)
    return bytes(simplejpeg.encode_jpeg(array, quality, "RGB", "420", fastdct=True))


def _png(array: Frame) -> bytes:
    return _saved(array, "png", compress_level=1)


def _saved(array: Frame, name: str, **options: Any) -> bytes:
    file = io.BytesIO()
    _pillow().fromarray(array).save(file, name, **options)
    return file.getvalue()


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ConfigError("pictures need Pillow: pip install '.[hands]'") from error
    return Image
