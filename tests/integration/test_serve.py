"""`universe-client serve`: one remote, any VNC viewer and an agent at the same time."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from tests.support import viewers
from tests.support.serve_command import serve_command
from universe_client import GymVectorEnv

OPTIONS = ("--call", "gravity", "--observation", "--fps", "30")
SHAPE = (400, 600, 3)  # of CartPole's own rendering
CART = (0, 0, 0)
POLE = (202, 152, 101)


@dataclass(frozen=True)
class Served:
    address: str
    port: int
    password: str
    passwd: Path


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serve_command("gym-core.CartPole-v1", *OPTIONS) as (_, said):
        yield understood(said)


def understood(said: str) -> Served:
    address, port, path = re.search(
        r"'(vnc://127\.0\.0\.1:(\d+)\+\d+\?password_file=([^']+))'", said
    ).groups()
    viewer = re.search(r"-PasswordFile (\S+)", said)[1]
    return Served(address, int(port), Path(path).read_text().strip()[:8], Path(viewer))


def has_cart(frame: viewers.Frame) -> bool:
    """CartPole's picture: a black cart on a black line, and a brown pole, on white."""
    cart = (frame == CART).all(axis=-1).sum()
    pole = (frame == POLE).all(axis=-1).sum()
    white = (frame == 255).all(axis=-1).sum()
    return bool(cart > 1000 and pole > 500 and white > 0.8 * SHAPE[0] * SHAPE[1])


async def play(address: str) -> dict[str, object]:
    command = (sys.executable, "-m", "universe_client", "run", "--remotes", address)
    printed = await viewers.output(*command, "--keys", "Left,Right", "--seconds", "8", "--json")
    return msgspec.json.decode(printed)


async def watch(served: Served, screenshots: Path) -> None:
    async with viewers.xvfb("800x600x24") as display, viewers.vncviewer(served.port, served.passwd, display):
        async with asyncio.timeout(60):
            while not has_cart(screen := await display.look()):
                pass
    Image.fromarray(screen).save(screenshots / "vncviewer.png")


async def test_every_viewer_watches_an_agent_play_cartpole(served: Served, tmp_path: Path) -> None:
    grabber = viewers.compile_grabber(tmp_path)
    agent = asyncio.create_task(play(served.address))
    grabbed, shot, captured, _ = await asyncio.gather(
        viewers.grab(grabber, served.port, served.password, "tight", SHAPE, 5),
        viewers.screenshot(served.port, served.password),
        viewers.capture(served.port, served.password, tmp_path / "vncdotool.png"),
        watch(served, tmp_path),
    )
    assert not agent.done(), "they all watched while the agent played"
    for frame in [*grabbed, shot, captured]:
        assert has_cart(np.asarray(frame))
    report = await agent
    (remote,) = report["remotes"]
    assert remote["error"] is None
    assert remote["episodes"] >= 1 and remote["reward"] > 0


async def test_an_agent_reaches_what_was_opened_to_it(served: Served) -> None:
    def reach() -> None:
        with closing(GymVectorEnv(remotes=served.address, observation="state")) as env:
            observations, _ = env.reset(seed=1)
            assert observations.shape == (1, 4)
            assert env.call("gravity") == (9.8,)
            with pytest.raises(AttributeError, match="force_mag"):
                env.call("force_mag")

    await asyncio.to_thread(reach)
