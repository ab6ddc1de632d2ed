"""People watch a container while an agent plays in it: with TigerVNC's viewer, and in a browser that cannot act."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rewarder.serving import Serving
from tests.support.remotes.agent import one_step, until_running, wait_until
from tests.support.remotes.tasks import instruction
from tests.support.system.containers import PLAYER, command, shell
from tests.support.system.headless import page
from tests.support.system.viewer_page import CONNECTED, looks_like, next_picture, type_folder
from tests.support.vnc import viewers
from universe_client.cli.pages import viewer_url
from universe_client.providers.containers.provider import DockerProvider

pytestmark = pytest.mark.docker

SLALOM = "browser.Slalom-v0"
SIZE = (640, 480)
TURN = [[("KeyEvent", "Left", True)]], [[("KeyEvent", "Left", False)]]


@pytest.fixture
def browser(tmp_path):
    with page(tmp_path / "profile") as browser:
        yield browser


@pytest.fixture
def slalom(running_env):
    """An agent on skis, on a screen that fits into those of the tests."""
    provider = DockerProvider(1, SLALOM, serving=Serving(screen_size=SIZE))
    return running_env(env_id=SLALOM, provider=provider)


def plays(env, turn):
    """Let the agent act; return what it then sees."""
    one_step(env, TURN[turn % 2])
    return until_running(env).observation["vision"]


def window(screen):
    """What is on a black screen."""
    rows, columns = np.nonzero(screen.any(axis=2))
    return screen[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] if len(rows) else screen[:0]


def assert_watched(shots, frames):
    """The same snow with the same score on it, and it moves."""
    assert looks_like(shots[-1], frames[-1])
    inks = [int((image[:60, :130].max(axis=2) < 128).sum()) for image in (shots[-1], frames[-1])]
    assert 0 < max(inks) < 2 * min(inks), inks
    assert any(np.any(shots[0] != shot) for shot in shots[1:])


async def test_tigervncs_viewer_watches_while_an_agent_plays(slalom, tmp_path: Path):
    address = slalom.remotes[0].link.address
    secret = tmp_path / "password"
    secret.touch(mode=0o600)
    secret.write_text(address.rewarder.password)
    url = f"vnc://127.0.0.1:{address.vnc.port}+{address.rewarder.port}?password_file={secret}"
    command = (sys.executable, "-m", "universe_client", "view", "--native", url)
    shots, frames = [], []
    async with viewers.xvfb("800x600x24") as display, viewers.running(*command, env=display.env):
        async with asyncio.timeout(60):
            while window(await display.look()).shape[1::-1] != SIZE:
                pass
        for turn in range(3):
            frames.append(plays(slalom, turn))
            shots.append(window(await display.look()))
    Image.fromarray(shots[-1]).save(tmp_path / "vncviewer.png")
    assert_watched(shots, frames)
    assert one_step(slalom).info["error"] is None, "the agent is not disturbed"


def test_the_page_watches_while_an_agent_plays(slalom, browser, tmp_path: Path):
    browser.open(viewer_url(slalom.remotes[0].link.address, acting=False))
    browser.until(CONNECTED)
    frames = [plays(slalom, 0)]
    shots = [next_picture(browser, frames[0])]
    for turn in (1, 2):
        frames.append(plays(slalom, turn))
        shots.append(next_picture(browser, frames[-1], shots[-1]))
    Image.fromarray(browser.screenshot()).save(tmp_path / "viewer.png")
    assert_watched(shots, frames)
    browser.listen()
    assert browser.complaints == []


def test_a_container_is_viewed_by_its_name(slalom, containers):
    """Nobody has to fish for its password."""
    (container,) = containers(slalom)
    page = command("view", "--print", container.name).strip()
    assert page == viewer_url(slalom.remotes[0].link.address, acting=False)
    assert command("view", "--print", "--act", container.short_id).strip() == viewer_url(
        slalom.remotes[0].link.address, acting=True
    )
    assert slalom.remotes[0].link.address.rewarder.password not in page


def test_what_is_typed_into_a_watching_page_reaches_nothing(open_env, containers, browser):
    """A page persuaded that it may act sends its keys: they are stopped in the container."""
    env = open_env(env_id="desktop.MakeFolders-v0")
    env.reset()
    instruction(env)
    (container,) = containers(env)
    address = env.remotes[0].link.address
    watching, acting = (viewer_url(address, acting=acting) for acting in (False, True))
    type_folder(browser, watching, "p")
    type_folder(browser, watching.replace("#watch=", "#act="), "q")
    type_folder(browser, acting, "r")

    def folders():
        return shell(container, "find /tmp -type d -name '[pqr]'", PLAYER)[1].split()

    wait_until(folders, 20, "the folder of who may act")
    assert [Path(folder).name for folder in folders()] == ["r"]
