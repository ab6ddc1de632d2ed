"""Recorded data of real servers, decoded by every driver and compared with the screens; see `tests/vectors/make.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.drivers import DRIVERS
from tests.support.vnc.sessions import taken
from vnc.capture.capture import Capture, read_capture
from vnc.capture.replay import ReplayServer
from vnc.encodings import COPY_RECT, HEXTILE, LAST_RECT, RAW, RRE, TIGHT, ZLIB, ZRLE
from vnc.session import Frame

VECTORS = Path(__file__).parents[2] / "vectors"
CAPTURES = sorted(path.stem for path in VECTORS.glob("*.capture"))
ENCODING = {
    "copyrect": COPY_RECT, "hextile": HEXTILE, "raw": RAW, "rre": RRE, "tight": TIGHT, "tight-jpeg": TIGHT,
    "zlib": ZLIB, "zrle": ZRLE,
}  # fmt: skip
PORTABLE = {"raw", "zlib"}
JPEG_IS_OFF_BY = 8.0
"""Levels, on average over the screen, at quality 6; x11vnc halves the colours' resolution."""


@pytest.fixture(scope="module")
def screen() -> Frame:
    return np.asarray(Image.open(VECTORS / "screen.png"))


def form(name: str) -> str:
    return name.partition("-")[2]


def read(name: str) -> Capture:
    return read_capture(VECTORS / f"{name}.capture")


async def last_picture(opened, capture: Capture) -> Frame:
    """Return the last frame of a session with a capture."""
    server = ReplayServer(capture, speed=None)
    await server.start()
    encodings = (*sorted(capture.uses, reverse=True), LAST_RECT)
    try:
        async with opened.on(server.port, encodings=encodings) as (session, changes):
            await changes.until(lambda: session.error is not None or session.frames >= len(capture.updates))
            assert session.error is None
            return taken(session)
    finally:
        await server.close()


def test_there_is_a_vector_of_each_encoding_of_each_server():
    assert len(CAPTURES) == 17
    for name in CAPTURES:
        assert ENCODING[form(name)] in read(name).uses, name


@pytest.mark.parametrize(
    ("driver", "name"),
    [
        (driver, name)
        for driver in DRIVERS
        for name in CAPTURES
        if driver == "native" or form(name) in PORTABLE
    ],
)
async def test_a_session_shows_what_was_on_the_servers_screen(driver, opened, screen, name):
    picture = await last_picture(opened, read(name))
    if form(name) == "tight-jpeg":
        assert np.abs(picture.astype(int) - screen).mean() < JPEG_IS_OFF_BY
    else:
        assert (picture == screen).all()
