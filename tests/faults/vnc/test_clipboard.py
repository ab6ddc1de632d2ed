"""A large text is copied on the remote (F39)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.vnc.clipboard import copied
from tests.support.vnc.sessions import Opener
from tests.support.vnc.xvnc import xvnc_server
from vnc import drivers
from vnc.session import Timeouts

_SHORT = 300_000
_LONG = 20_000_000
"""Bytes. Xvnc closes a connection with more than 32 MiB unsent. After either text it takes the connection for
congested, and may send no update for two minutes, but further texts."""


@pytest.mark.fault("F39", "big clipboard on the remote")
@pytest.mark.parametrize("length", [_SHORT, _LONG])
async def test_f39_a_big_clipboard_is_skipped_and_the_session_goes_on(
    driver: str, tmp_path: Path, measure, length: int
) -> None:
    opened = Opener(drivers.connect(driver))
    async with (
        xvnc_server(tmp_path) as (port, display),
        opened.on(port, timeouts=Timeouts()) as (session, changes),
    ):
        await changes.until(lambda: session.frames > 0)
        with copied(display, length):
            await changes.until(lambda: session.error or session.stats.long_cut_texts == 1, 120)
        with copied(display, _SHORT):
            await changes.until(lambda: session.error or session.stats.long_cut_texts == 2, 120)
        measure(f"ends after {length} bytes", int(session.error is not None), equals=0)
        measure("texts counted", session.stats.long_cut_texts, equals=2)
