"""The viewer's page in a real browser: it shows what an agent does, and cannot do anything itself."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

import universe_client
from rewarder.display.xdisplay import XDisplay
from rewarder.runtimes import program
from rewarder.runtimes.desktop.desktop import on_display
from tests.rewarder.remotes import Scripted, served, wire
from tests.support.remotes.agent import PRESS, one_step, until_running, wait_until
from tests.support.system.headless import page
from tests.support.system.viewer_page import CONNECTED, looks_like, next_picture, picture, type_folder
from universe_client.cli.commands.view import viewer_url
from universe_client.providers import EmbeddedProvider
from vnc.events import KeyEvent, PointerEvent

NEON = "builtin.NeonDrive-v0"


@pytest.fixture
def browser(tmp_path):
    with page(tmp_path / "profile") as browser:
        yield browser


def test_a_browser_watches_neon_drive_while_an_agent_plays(browser, tmp_path):
    provider = EmbeddedProvider(1, NEON)
    with universe_client.VectorEnv(NEON, provider) as env:
        env.reset()
        until_running(env, 60)
        # Asked for again, a provider names the remote that runs already.
        browser.open(viewer_url(asyncio.run(provider.acquire(0)), acting=False))
        browser.until(CONNECTED)
        one_step(env, PRESS)
        frame = until_running(env).observation["vision"]
        before = next_picture(browser, frame)
        shown, frames = while_stepping(env, lambda: next_picture(browser, frame, before))
        browser.until(
            '/an agent plays · episode \\d+ · \\d+ ticks/.test(document.getElementById("game").textContent)'
        )
        Image.fromarray(browser.screenshot()).save(tmp_path / "viewer.png")
        browser.listen()
    assert any(looks_like(shown, frame) for frame in frames), f"see {tmp_path / 'viewer.png'}"
    assert browser.complaints == []
    assert len(browser.requested) > 20
    assert {urlsplit(url).hostname for url in browser.requested if not url.startswith("data:")} == {
        "127.0.0.1"
    }


def while_stepping(env, look):
    """What `look` returns, and the agent's frames of that time, the last before it included."""
    frames = [until_running(env).observation["vision"]]
    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        while not looking.done():
            env.wait(0.1)
            frames.append(until_running(env).observation["vision"])
    return looking.result(), frames


async def test_a_page_whose_modules_did_not_arrive_tries_again(browser):
    """As when a browser drops what it is loading because a container has got its network."""

    def watch(url):
        browser.call("Network.setBlockedURLs", urls=["*/novnc/core/*"])
        browser.open(url)
        browser.until('document.getElementById("state")?.textContent.includes("trying again")')
        browser.call("Network.setBlockedURLs", urls=[])
        browser.until(CONNECTED)
        browser.listen()
        assert browser.complaints == []

    async with served(Scripted()) as (ports, _):
        await asyncio.to_thread(
            watch, f"http://127.0.0.1:{ports.rewarder_port}/viewer/#watch={ports.tokens.watch}"
        )


async def test_keys_and_clicks_in_a_watching_page_reach_nothing(browser):
    runtime = Scripted()
    async with served(runtime, password="canary-full") as (ports, _):
        base = f"http://127.0.0.1:{ports.rewarder_port}/viewer/"

        def act_as(fragment):
            browser.open("about:blank")
            browser.open(f"{base}#{fragment}")
            browser.until(CONNECTED)
            browser.click(500, 400)
            browser.press("a", "KeyA", 65)
            browser.press("Enter", "Enter", 13)

        # The page as it is, and the page persuaded that it may act: its keys do go out, and are stopped here.
        await asyncio.to_thread(act_as, f"watch={ports.tokens.watch}")
        await asyncio.to_thread(act_as, f"act={ports.tokens.watch}")
        # What they sent has been dealt with by now; with the other token the same arrives.
        ticks = runtime.number
        await runtime.until(lambda: runtime.number > ticks + 20)
        assert runtime.inputs == []
        await asyncio.to_thread(act_as, f"act={ports.tokens.act}")
        await runtime.until(lambda: KeyEvent(0xFF0D, False) in runtime.inputs)
    assert KeyEvent(0x61, True) in runtime.inputs
    assert any(isinstance(event, PointerEvent) and event.button_mask == 1 for event in runtime.inputs)


async def test_a_watching_page_cannot_type_into_a_terminal_but_an_acting_one_can(browser):
    """Over Xvnc: a folder made by hand, in the remote's own terminal."""
    display = XDisplay(1024, 768, password="canary-f")
    with on_display("desktop.MakeFolders-v0", display) as runtime:
        async with served(runtime, password="canary-full", display=display.port, seed=1) as (ports, _):
            async with wire(ports, password="canary-full") as agent:
                await agent.until("v0.env.describe", env_state="running")
            base = f"http://127.0.0.1:{ports.rewarder_port}/viewer/#act="
            await asyncio.to_thread(type_folder, browser, base + ports.tokens.watch, "q")
            await asyncio.to_thread(type_folder, browser, base + ports.tokens.act, "z")
            home = runtime._desk.home
            await asyncio.to_thread(
                wait_until, lambda: (home / "z").is_dir(), 10.0, "the folder of who may act"
            )
            assert not (home / "q").exists()


async def test_over_tls_a_page_shows_an_xvnc(browser, identity, tmp_path):
    """https to the page, wss to the bridge, and from there VeNCrypt to Xvnc."""
    browser.call("Security.setIgnoreCertificateErrors", ignore=True)  # it does not know the test's authority
    display = XDisplay(320, 200, password="canary-f", identity=identity)
    with program.on_display("process.xlogo", ["xlogo", "-geometry", "320x200+0+0"], display, None) as runtime:
        options = {"password": "canary-full", "display": display.port, "identity": identity}
        async with served(runtime, **options) as (ports, _):
            base = f"https://127.0.0.1:{ports.rewarder_port}/viewer/"
            await asyncio.to_thread(browser.open, f"{base}#watch={ports.tokens.watch}")
            await asyncio.to_thread(browser.until, CONNECTED)
            blank = np.zeros((200, 320, 3), np.uint8)
            await asyncio.to_thread(wait_until, lambda: picture(browser, blank).std() > 50, 10.0, "the logo")
            Image.fromarray(browser.screenshot()).save(tmp_path / "viewer.png")
            browser.listen()
    assert browser.complaints == []
    assert {urlsplit(url).scheme for url in browser.requested} <= {"https", "wss", "data", "about"}
