"""A driver, how to open sessions of it, and servers to open them on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.fixtures import driver
from tests.support.network.certificates import authority, identity
from tests.support.vnc.sessions import opened, server
from tests.support.vnc.xvnc import xvnc_server

__all__ = ["authority", "driver", "identity", "opened", "server"]


@pytest.fixture
async def xvnc(tmp_path: Path) -> AsyncIterator[tuple[int, str]]:
    """TigerVNC's server without a password; its port and its display."""
    async with xvnc_server(tmp_path) as server:
        yield server
