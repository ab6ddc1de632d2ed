"""A driver, how to open sessions of it, and servers to open them on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.certificates import authority, identity
from tests.support.fixtures import driver
from tests.support.sessions import Opener
from tests.support.xvnc import xvnc_server
from vnc import drivers
from vnc.server import ServerLimits, VNCServer

__all__ = ["authority", "driver", "identity"]

PASSWORD = "pass wor"


@pytest.fixture
def opened(driver: str) -> Opener:
    """Sessions of every driver there is; a module about one of them has a `driver` of its own."""
    return Opener(drivers.connect(driver))


@pytest.fixture
async def server() -> AsyncIterator[VNCServer]:
    """Our server, 40x30, with the password "pass wor"."""
    server = VNCServer(40, 30, password=PASSWORD, limits=ServerLimits(failure_delay=0.01))
    await server.start()
    yield server
    await server.close()


@pytest.fixture
async def xvnc(tmp_path: Path) -> AsyncIterator[tuple[int, str]]:
    """TigerVNC's server without a password; its port and its display."""
    async with xvnc_server(tmp_path) as server:
        yield server
