"""`universe-client serve`: one remote, any VNC viewer and an agent at the same time."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.remotes.agent import steps
from tests.support.remotes.serve_command import serve_command
from tests.support.system.processes import Obituary, descendants
from tests.support.vnc import viewers
from universe_client import GymVectorEnv, VectorEnv

OPTIONS = ("--allow-call", "gravity", "--env-observation", "--fps", "30")
SHAPE = (400, 600, 3)  # of CartPole's own rendering
CART = (0, 0, 0)
POLE = (202, 152, 101)


@dataclass(frozen=True)
class Served:
    address: str
    port: int
    password: str
    passwd: Path
    path: Path


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serve_command("gym-core.CartPole-v1", *OPTIONS) as (_, said):
        yield understood(said)


def understood(said: str) -> Served:
    address, port, path = re.search(
        r"'(vnc://127\.0\.0\.1:(\d+)\+\d+\?password_file=([^']+))'", said
    ).groups()
    viewer = re.search(r"-PasswordFile (\S+)", said)[1]
    return Served(address, int(port), Path(path).read_text().strip()[:8], Path(viewer), Path(path))


def has_cart(frame: viewers.Frame) -> bool:
    """CartPole's picture: a black cart on a black line, and a brown pole, on white."""
    cart = (frame == CART).all(axis=-1).sum()
    pole = (frame == POLE).all(axis=-1).sum()
    white = (frame == 255).all(axis=-1).sum()
    return bool(cart > 1000 and pole > 500 and white > 0.8 * SHAPE[0] * SHAPE[1])


def play(address: str, enough: threading.Event) -> tuple[int, float]:
    """Play until it is enough and an episode has ended; return how many have, and the sum of rewards."""
    episodes, reward = 0, 0.0
    with VectorEnv(None, address) as env:
        env.reset()
        for step in steps(env, 300):
            assert step.info["error"] is None
            episodes, reward = episodes + bool(step.done), reward + step.reward
            if enough.is_set() and episodes:
                return episodes, reward
    raise AssertionError("unreachable")


async def watch(served: Served, screenshots: Path) -> None:
    async with viewers.xvfb("800x600x24") as display, viewers.vncviewer(served.port, served.passwd, display):
        async with asyncio.timeout(120):
            while not has_cart(screen := await display.look()):
                pass
    Image.fromarray(screen).save(screenshots / "vncviewer.png")


async def test_every_viewer_watches_an_agent_play_cartpole(served: Served, tmp_path: Path) -> None:
    grabber = viewers.compile_grabber(tmp_path)
    enough = threading.Event()
    agent = asyncio.create_task(asyncio.to_thread(play, served.address, enough))
    grabbed, shot, captured, _ = await asyncio.gather(
        viewers.grab(grabber, served.port, served.password, "tight", SHAPE, 5),
        viewers.screenshot(served.port, served.password),
        viewers.capture(served.port, served.password, tmp_path / "vncdotool.png"),
        watch(served, tmp_path),
    )
    for frame in [*grabbed, shot, captured]:
        assert has_cart(np.asarray(frame))
    assert not agent.done(), "they all watched while the agent played"
    enough.set()
    episodes, reward = await agent
    assert episodes >= 1 and reward > 0


async def test_what_is_piped_has_neither_tokens_nor_the_password() -> None:
    async with serve_command("builtin.NeonDrive-v0") as (_, said):
        path = understood(said).path
        password = path.read_text().strip()
        assert "#act=" not in said and "#watch=" not in said
        assert password[:8] not in said
        assert "universe-client view 'vnc://" in said


async def test_secrets_do_not_outlive_a_kill() -> None:
    """After `kill -9` nothing of ours is left to clean up, but a guard."""
    command = (sys.executable, "-m", "universe_client", "serve", "builtin.NeonDrive-v0")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said = ""
    async with asyncio.timeout(60):
        while "its password" not in said:
            said += (await process.stdout.readline()).decode()
        directory = understood(said).path.parent
        assert directory.is_dir()
        guard = Obituary(descendants(process.pid))
        process.kill()
        await process.wait()
        await asyncio.to_thread(guard.wait, 30)
    guard.close()
    assert not directory.exists()


async def test_an_agent_reaches_what_was_opened_to_it(served: Served) -> None:
    def reach() -> None:
        with closing(GymVectorEnv(remotes=served.address, observation="env_observation")) as env:
            observations, _ = env.reset(seed=1)
            assert observations.shape == (1, 4)
            assert env.call("gravity") == (9.8,)
            with pytest.raises(AttributeError, match="force_mag"):
                env.call("force_mag")

    await asyncio.to_thread(reach)
