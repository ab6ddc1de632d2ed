"""An environment over `vncs://`: TigerVNC's server with a certificate of the test's own authority."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

from tests.support.agent import failed, until, until_running
from tests.support.certificates import Authority
from tests.support.xvnc import logo, secure_xvnc
from universe_client import VectorEnv

PASSWORD = "pass wor"


async def test_a_remote_is_played_over_tls_and_one_that_is_not_trusted_is_told_of(tmp_path: Path):
    authority = Authority(tmp_path)
    identity = authority.identity("127.0.0.1")
    async with secure_xvnc(tmp_path, identity, "X509Vnc", PASSWORD) as (port, display), logo(display):
        address = f"vncs://127.0.0.1:{port}?password={quote(PASSWORD)}"
        await asyncio.to_thread(play, f"{address}&ca_file={quote(str(authority.certificate))}")
        await asyncio.to_thread(refuse, address)


def play(address: str) -> None:
    with VectorEnv(None, address) as env:
        env.reset()
        step = until_running(env)
        assert step.observation["vision"].shape == (200, 320, 3)


def refuse(address: str) -> None:
    with VectorEnv(None, address) as env:
        env.reset()
        *_, step = until(env, failed)
        assert "the server's certificate is refused" in str(step.info["error"])
