"""Who is told of what people press on a remote: the controlling client, if it asks, and nobody else."""

from __future__ import annotations

import asyncio
import logging
import struct
import time
from contextlib import asynccontextmanager

import pytest

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.sessions import WatchRequest
from rewarder.protocol.timed_input import KeyInput, PointerInput
from rewarder.sdk.loop.inbox import Inbox
from rewarder.sdk.loop.input_feed import MOST, InputFeed
from tests.rewarder.remotes import Scripted, served, wire
from tests.rewarder.viewer.test_bridge import browser
from tests.support.drivers import DRIVERS
from vnc import drivers
from vnc.encodings import MARKS, preference
from vnc.events import KeyEvent, PointerEvent
from vnc.server.server import VNCServer
from vnc.session import VNCAddress

MARK = MARKS[1]
A, B = KeyEvent(0x61, True), KeyEvent(0x62, True)
PRESS_B = struct.pack(">BBxxI", 4, 1, 0x62)


class Timing(Scripted):
    """Notes when each event reached a tick."""

    def __init__(self):
        super().__init__()
        self.times = {}

    def tick(self, events):
        self.times.update({event: time.time() for event in events})
        return super().tick(events)


@asynccontextmanager
async def viewer(port, driver="portable", mark=None):
    connect = drivers.connect(driver)
    encodings = preference("raw", None, "127.0.0.1")
    marked = encodings if mark is None else (*encodings, mark)
    session = await connect(VNCAddress("127.0.0.1", port), on_change=lambda: None, encodings=marked)
    try:
        yield session
    finally:
        await session.close()


async def watch(client, mark=MARK):
    """Ask for input; return when the remote has processed it."""
    await client.send("v1.env.watch_input", mark=mark)
    await client.send("v0.control.ping")
    await client.until("v0.reply.control.ping")


async def reported(client, count):
    """Return the first `count` events that are reported, and the episodes of their messages."""
    events, episodes = [], set()
    while len(events) < count:
        message = await client.until("v1.env.input")
        events += message["body"]["events"]
        episodes.add(message["headers"]["episode_id"])
    return events, episodes


@pytest.mark.parametrize("driver", DRIVERS)
async def test_the_input_of_others_is_reported_with_its_time_and_episode(driver):
    runtime = Timing()
    async with (
        served(runtime) as (ports, _),
        wire(ports) as client,
        viewer(ports.vnc_port, driver) as person,
        viewer(ports.vnc_port, driver, MARK) as agent,
    ):
        await client.until("v0.env.describe", env_state="running")
        await watch(client)
        agent.send([B])
        await runtime.until(lambda: B in runtime.inputs)
        before = time.time()
        person.send([A, PointerEvent(3, 4, 1)])
        events, episodes = await reported(client, 2)
        await runtime.until(lambda: PointerEvent(3, 4, 1) in runtime.inputs)
    assert [event[:-1] for event in events] == [["KeyEvent", 0x61, True], ["PointerEvent", 3, 4, 1]]
    assert before <= events[0][-1] <= runtime.times[A], "after it was sent, before its tick"
    assert episodes == {"1"}


async def test_what_was_held_is_reported_as_released_when_the_viewer_leaves():
    async with served(Scripted()) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        await watch(client)
        async with viewer(ports.vnc_port) as person:
            person.send([A])
            await reported(client, 1)
        events, _ = await reported(client, 1)
    assert events[0][:-1] == ["KeyEvent", 0x61, False]


async def test_nothing_is_sent_to_who_has_not_asked():
    runtime = Scripted()
    async with (
        served(runtime) as (ports, _),
        wire(ports) as client,
        wire(ports, observer=True) as observer,
        viewer(ports.vnc_port) as person,
    ):
        await client.until("v0.env.describe", env_state="running")
        person.send([B])
        await runtime.until(lambda: B in runtime.inputs)
        await observer.send("v1.env.watch_input", mark=MARK)
        assert (await observer.until("v0.reply.error"))["body"]["message"] == "observers may only ping"
        await watch(client)
        person.send([A])
        events, _ = await reported(client, 1)
        await observer.send("v0.control.ping")
        await observer.until("v0.reply.control.ping")
    assert [event[1] for event in events] == [0x61], "what was pressed before is not reported"
    assert not [each for each in observer.messages if each["method"] == "v1.env.input"]


async def test_the_page_is_reported_where_the_vnc_server_is_not_ours():
    """As with Xvnc: that server does not say who sends input, but the page's goes through the remote."""
    foreign = VNCServer(16, 8)
    await foreign.start()
    try:
        async with (
            served(Scripted(), display=foreign.port) as (ports, _),
            wire(ports) as client,
            viewer(foreign.port) as agent,
        ):
            await client.until("v0.env.describe", env_state="running")
            await watch(client)
            agent.send([A])
            async with browser(ports, ports.tokens.act) as page:
                await page.join()
                await page.websocket.send(PRESS_B + struct.pack(">BBHH", 5, 1, 10, 5))
                pressed, _ = await reported(client, 2)
            released, _ = await reported(client, 2)
    finally:
        await foreign.close()
    assert [event[:-1] for event in pressed + released] == [
        ["KeyEvent", 0x62, True],
        ["PointerEvent", 10, 5, 1],
        ["KeyEvent", 0x62, False],
        ["PointerEvent", 10, 5, 0],
    ]


async def test_the_page_is_reported_once_where_the_vnc_server_is_ours():
    async with served(Scripted()) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        await watch(client)
        async with browser(ports, ports.tokens.act) as page:
            await page.join()
            await page.websocket.send(struct.pack(">BBxxI", 4, 1, 0x61))
            pressed, _ = await reported(client, 1)
        released, _ = await reported(client, 1)
    assert [event[:-1] for event in pressed + released] == [
        ["KeyEvent", 0x61, True],
        ["KeyEvent", 0x61, False],
    ]


class Listener:
    """Stands for the server, and for one client of it."""

    def __init__(self):
        self.messages = []
        self.is_connected = True
        self.arrived = asyncio.Event()

    def tell(self, connection, episode_id, message):
        if self.is_connected:
            self.messages.append((connection, episode_id.text, message))
        self.arrived.set()
        return self.is_connected


def feed(listener, mark=MARK):
    inbox, episodes = Inbox(["test.Env-v0"]), [1]
    made = InputFeed(inbox, lambda: EpisodeId.parse(episodes[0]))
    made.watch(WatchRequest(7, 1, mark, 0.0), listener)
    return made, inbox, episodes


async def test_too_many_events_at_once_are_counted():
    listener = Listener()
    made, _, _ = feed(listener)
    made.add([A] * (MOST - 1))
    made.add([A, B, B])
    async with asyncio.timeout(60):
        await listener.arrived.wait()
    [(connection, _, message)] = listener.messages
    assert connection == 7 and len(message.events) == MOST and message.dropped == 2


async def test_a_message_has_events_of_one_episode():
    listener = Listener()
    made, _, episodes = feed(listener)
    made.add([A])
    episodes[0] = 2
    made.add([PointerEvent(1, 2, 0)])
    made.watch(WatchRequest(8, 1, MARK, 0.0), listener)
    assert [(number, episode) for number, episode, _ in listener.messages] == [(7, "1"), (7, "2")]
    kinds = [type(message.events[0]) for _, _, message in listener.messages]
    assert kinds == [KeyInput, PointerInput]


async def test_a_client_without_a_mark_is_told_of_everybody():
    listener = Listener()
    made, _, _ = feed(listener, mark=None)
    made.add([A], MARK)
    made.add([B])
    async with asyncio.timeout(60):
        await listener.arrived.wait()
    assert len(listener.messages[0][2].events) == 2


async def test_in_lockstep_and_without_a_client_nothing_is_kept():
    listener = Listener()
    made, inbox, _ = feed(listener)
    inbox.lockstep = True
    made.add([A])
    inbox.lockstep = False
    made.add([A], MARK)
    made.add([B])
    listener.is_connected = False
    async with asyncio.timeout(60):
        await listener.arrived.wait()
    listener.is_connected = True
    made.add([A])
    made.watch(WatchRequest(8, 1, MARK, 0.0), listener)
    assert listener.messages == [] and made._batch == []


async def test_a_new_episode_is_named_and_no_log_has_what_is_typed(caplog):
    for name in ("rewarder", "vnc", "rewarder.wire.server"):
        caplog.set_level(logging.DEBUG, logger=name)
    async with served(Scripted()) as (ports, _), wire(ports) as client, viewer(ports.vnc_port) as person:
        await watch(client)
        await client.send("v0.env.reset")
        await client.until("v0.reply.env.reset")
        person.send([A])
        _, episodes = await reported(client, 1)
    assert episodes == {"2"}
    assert "> [hidden]" in caplog.text, "the frame with the report"
    assert "KeyEvent" not in caplog.text
