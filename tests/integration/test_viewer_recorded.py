"""A person on the page of a remote with an X display: what is pressed there is in the agent's recording."""

from __future__ import annotations

import asyncio
import json
import struct
import sys
from pathlib import Path

from websockets.asyncio.client import connect

import universe_client
from rewarder.credentials import authorization
from tests.rewarder.viewer.test_bridge import Browser
from tests.support.network.http import get
from tests.support.remotes.agent import until_running, wait_until
from universe_client.providers import ProcessProvider
from universe_client.recording.events import EventReader
from universe_client.recording.recorder import EVENTS_FILE
from vnc.keysyms import keysym
from wrappers import Record

WINDOW = Path(__file__).parent / "colour_window.py"
ENV_ID = "process.colour-window"
B = keysym("b")


async def act_token(address):
    answer = await get(
        address.port,
        "/viewer/tokens",
        f"Authorization: {authorization(address.password)}",
        "Connection: close",
    )
    return json.loads(answer.body)["act"]


async def press_b(address):
    """Press and release a key on the page, as noVNC does."""
    token = await act_token(address)
    url = f"ws://{address}/viewer/websockify?token={token}"
    async with connect(url, proxy=None, compression=None) as websocket:
        page = Browser(websocket)
        await page.join()
        await websocket.send(b"".join(struct.pack(">BBxxI", 4, down, B) for down in (True, False)))
        # The bridge has read the keys when it answers what was requested after them.
        await websocket.send(struct.pack(">BxHi", 2, 1, 0) + struct.pack(">BBHHHH", 3, 0, 0, 0, 1, 1))
        await page.read(1)


def test_the_page_of_an_x_display_is_recorded(tmp_path):
    provider = ProcessProvider(1, ENV_ID, program=(sys.executable, str(WINDOW)), screen_size=(160, 120))
    directory = tmp_path / "run"

    def actions():
        events = EventReader(directory / EVENTS_FILE)
        return [event.body for event in events if event.kind == "action" and event.body["events"]]

    with Record(universe_client.VectorEnv(ENV_ID, provider), directory) as env:
        env.reset()
        until_running(env)
        env.step([[("KeyEvent", "a", True), ("KeyEvent", "a", False)]])
        address = env.unwrapped.core.remotes[0].link.address.rewarder
        asyncio.run(press_b(address))
        wait_until(lambda: any("by" in each for each in actions()), what="the person's keys")
    own, persons = actions()
    assert own["events"] == [["KeyEvent", keysym("a"), True], ["KeyEvent", keysym("a"), False]]
    assert persons["by"] == "viewer" and persons["episode_id"] is not None
    assert persons["events"] == [["KeyEvent", B, True], ["KeyEvent", B, False]]
