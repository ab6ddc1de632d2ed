"""Runtimes that are `quick`: the SDK runs them on the event loop's thread."""

import fcntl
import termios
import threading
import time

from rewarder.sdk.runtime import Tick
from tests.rewarder.remotes import Scripted, get_health, served, wire
from tests.vnc.shared_client import SharedClient
from vnc.events import KeyEvent, encode


def until_delivered(descriptor):
    """Wait until the other end of a TCP connection on this machine has all that was sent."""
    while any(fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(4))):
        time.sleep(0.001)


async def test_a_quick_runtime_runs_on_the_event_loops_thread():
    runtime = Scripted()
    runtime.quick = True
    async with served(runtime):
        await runtime.until(lambda: runtime.number > 5)
    assert runtime.threads == {threading.get_ident()}


async def test_a_quick_runtime_plays_its_episodes_and_those_that_are_asked_for():
    """Its ticks run in callbacks: each ends at the end of the episode, at a reset, and when a client steps."""
    runtime = Scripted(lambda number: Tick(reward=1.0, done=number == 4))
    runtime.quick = True
    async with served(runtime) as (ports, _), wire(ports) as client:
        await runtime.until(lambda: len(runtime.resets) >= 4)
        for seed in range(20):
            request = await client.send("v0.env.reset", seed=seed)
            reply = await client.until("v0.reply.env.reset")
            assert reply["headers"]["parent_message_id"] == request
            assert ("test.Scripted-v0", seed) in runtime.resets
            done = await client.until("v0.env.reward", done=True)
            assert done["headers"]["episode_id"] == reply["headers"]["episode_id"]


async def test_a_quick_runtime_keeps_its_rate():
    runtime = Scripted()
    runtime.quick = True
    async with served(runtime) as (ports, _):
        await runtime.until(lambda: runtime.number > 1)
        began, first = time.monotonic(), runtime.number
        await runtime.until(lambda: runtime.number >= first + 100)
        took = time.monotonic() - began
        health = await get_health(ports)
    assert took > 0.45, "100 ticks of 5 ms, of which the first ones may be late"
    assert health["ticks_per_second"] < 210


async def test_a_quick_runtime_that_is_too_slow_for_its_rate_answers_between_ticks():
    def work(number):
        time.sleep(0.02)  # a period is 5 ms
        return Tick()

    runtime = Scripted(work)
    runtime.quick = True
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        request = await client.send("v0.env.reset", seed=5)
        reply = await client.until("v0.reply.env.reset")
        await runtime.until(lambda: runtime.number > 10)
        health = await get_health(ports)
        await client.send("v0.control.ping")
        pong = await client.until("v0.reply.control.ping")
    assert reply["headers"]["parent_message_id"] == request
    assert runtime.resets[-1] == ("test.Scripted-v0", 5)
    assert health["ticks_missed"] > 0
    assert 0 < pong["body"]["speed"] < 0.5


async def test_a_quick_runtime_receives_the_input_of_a_client_of_shared_frames():
    runtime = Scripted()
    runtime.quick = True
    async with served(runtime) as (ports, _):
        client = await SharedClient.ready_on(ports.vnc_port)
        for keysym in range(0x61, 0x7A):
            number = await client.held()
            client.release(number)
            client.vnc.writer.write(encode([KeyEvent(keysym, True)]))
            await runtime.until(lambda: KeyEvent(keysym, True) in runtime.inputs)  # noqa: B023
        client.vnc.writer.transport.abort()
        await runtime.until(lambda: KeyEvent(0x61, False) in runtime.inputs)


async def test_input_before_an_episode_does_not_reach_it_however_it_is_read():
    """A client of shared frames is read at ticks; what it sent before the last tick's end belongs to that episode."""

    clients, sent = [], []

    def script(number):
        if number == 20 and clients:
            clients[0].vnc.writer.write(encode([KeyEvent(0x61, True), KeyEvent(0x61, False)]))
            until_delivered(clients[0].vnc.writer.get_extra_info("socket").fileno())
            sent.append(len(runtime.resets))
        return Tick(done=number == 20)

    runtime = Scripted(script)
    runtime.quick = True
    async with served(runtime) as (ports, _):
        client = await SharedClient.ready_on(ports.vnc_port)
        client.release(await client.held())
        clients.append(client)
        await runtime.until(lambda: len(sent) > 5)
        client.vnc.writer.transport.abort()
    assert KeyEvent(0x61, True) not in runtime.inputs
