"""x11vnc, the other server in wide use: it polls its screen, splits rects its own way, and hangs up on a fence."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.vnc.sessions import taken
from tests.support.vnc.xvnc import logo, x11vnc_server
from vnc.encodings import preference
from vnc.events import PointerEvent


@pytest.fixture
async def x11vnc(tmp_path: Path) -> AsyncIterator[tuple[int, str]]:
    async with x11vnc_server() as server:
        yield server


@pytest.mark.parametrize("encoding", ["auto", "tight"])
async def test_a_session_sees_its_screen_and_acts_on_it(opened, x11vnc, encoding):
    port, display = x11vnc
    encodings = preference(encoding, None, "127.0.0.1")
    async with opened.on(port, encodings=encodings) as (session, changes), logo(display):
        await changes.until(lambda: len(np.unique(taken(session))) > 1)
        for position in range(3):
            session.send([PointerEvent(10 * position, 10, 0)])
            wanted = session.refresh()
            await changes.until(lambda wanted=wanted: session.generation >= wanted)
        assert session.error is None
        assert session.shape == (200, 320, 3)
