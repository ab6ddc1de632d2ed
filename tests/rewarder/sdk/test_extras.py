"""Steps, environment observations and calls over real sockets, with a client of plain messages."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.spaces import Box
from websockets.asyncio.client import connect

from rewarder.protocol.values import pack, unpack
from rewarder.sdk.extras import PENDING_CALLS
from rewarder.sdk.runtime import Tick
from tests.rewarder.remotes import Scripted, Wire, served, wire
from tests.rewarder.sdk.test_runtime import get_health


class Frozen(Scripted):
    """A runtime with all features, whose observation is the number of its tick."""

    lockstep = True

    def __init__(self, script=lambda number: Tick(reward=1.0)):
        super().__init__(script)
        self.env_observation_space = Box(0, 1, (2,), np.float32)
        self.inside = SimpleNamespace(gravity=9.8, secret="canary", add=lambda a, b=0: a + b, fail=self.fail)

    def fail(self):
        raise KeyError("no such state")


def stepping(ports, wants="lockstep", **headers):
    """Connect as a client that asks for features."""
    url = f"ws://127.0.0.1:{ports.rewarder_port}/"
    return connect(url, additional_headers={"Universe-Wants": wants, **headers}, compression=None, proxy=None)


async def ask(client, name, *args, operation="call", **kwargs):
    """Call, and return the body of the answer."""
    packed = {key: pack(value) for key, value in kwargs.items()}
    number = await client.send(
        "v1.env.call", operation=operation, name=name, args=[pack(value) for value in args], kwargs=packed
    )
    while True:
        message = await client.receive()
        if message["headers"].get("parent_message_id") == number:
            return message["body"]


async def test_a_step_is_answered_after_all_it_brought():
    runtime = Frozen(lambda number: Tick(reward=float(number), text="hello"))
    async with served(runtime) as (ports, _), stepping(ports) as socket:
        client = Wire(socket)
        await client.send("v0.env.reset")
        reply = await client.until("v0.reply.env.reset")
        assert isinstance(reply["body"]["checksum"], int)
        client.messages.clear()
        number = await client.send("v1.env.step", events=[["KeyEvent", 65, True], ["PointerEvent", 1, 2, 4]])
        reply = await client.until("v1.reply.env.step")
    assert reply["headers"]["parent_message_id"] == number
    assert [message["method"] for message in client.messages] == [
        "v0.env.text", "v0.env.reward", "v1.reply.env.step",
    ]  # fmt: skip
    assert runtime.number == 1 and len(runtime.inputs) == 2


async def test_a_new_controllers_wants_outlive_the_old_ones_end():
    """The old client violates the protocol and does not answer the close, so its handler ends last."""
    runtime = Frozen()
    async with served(runtime) as (ports, _), stepping(ports) as old:
        await Wire(old).receive()
        old.transport.pause_reading()
        await old.send("not a message")
        async with asyncio.timeout(60):
            while (await get_health(ports))["controllers"]:
                continue
        async with stepping(ports) as socket:
            client = Wire(socket)
            await client.send("v0.env.reset")
            await client.until("v0.reply.env.reset")
            old.transport.abort()
            for _ in range(50):
                number = await client.send("v1.env.step")
                while (message := await client.receive())["headers"].get("parent_message_id") != number:
                    continue
                assert message["method"] == "v1.reply.env.step", message
                await get_health(ports)


async def test_the_end_waits_for_a_step():
    runtime = Frozen(lambda number: Tick(done=number == 1))
    async with served(runtime) as (ports, _), stepping(ports) as socket:
        client = Wire(socket)
        await client.send("v0.env.reset")
        episode = (await client.until("v0.reply.env.reset"))["headers"]["episode_id"]
        await client.send("v1.env.step")
        reply = await client.until("v1.reply.env.step")
        assert reply["headers"]["episode_id"] == episode
        resets = len(runtime.resets)
        await client.send("v0.control.ping")
        await client.until("v0.reply.control.ping")
        assert len(runtime.resets) == resets, "nothing begins by itself"
        client.messages.clear()
        await client.send("v1.env.step")
        await client.until("v1.reply.env.step")
    following = str(int(episode) + 1)
    assert client.heard() == [
        ("env.describe", following, "resetting"), ("env.describe", following, "running"),
        ("v1.reply.env.step", following, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "events", [[["KeyEvent", "Left", True]], [["PointerEvent", 1, 2]], [["PointerEvent", -1, 2, 0]], [[]]]
)
async def test_a_step_with_what_is_no_event_is_refused(events):
    runtime = Frozen()
    async with served(runtime) as (ports, _), stepping(ports) as socket:
        client = Wire(socket)
        number = await client.send("v1.env.step", events=events)
        refusal = await client.until("v0.reply.error")
    assert refusal["headers"]["parent_message_id"] == number
    assert "is not an event" in refusal["body"]["message"]


async def test_a_client_in_real_time_cannot_step():
    async with served(Frozen()) as (ports, _), wire(ports) as client:
        await client.send("v1.env.step")
        refusal = await client.until("v0.reply.error")
    assert refusal["body"]["message"] == "not in lock-step"


async def test_a_runtime_that_cannot_freeze_offers_no_steps_and_plays_on():
    runtime = Scripted()
    async with served(runtime) as (ports, _), stepping(ports) as socket:
        assert socket.response.headers["Universe-Offers"] == "input"
        await runtime.until(lambda: runtime.number > 3)


async def test_observers_change_nothing():
    runtime = Frozen()
    async with served(runtime) as (ports, _), stepping(ports, **{"openai-observer": "true"}) as socket:
        client = Wire(socket)
        await client.send("v1.env.step")
        refusal = await client.until("v0.reply.error")
        assert refusal["body"]["message"] == "observers may only ping"
        await runtime.until(lambda: runtime.number > 3)


async def test_who_wants_observations_is_told_their_space_first():
    async with served(Frozen()) as (ports, _), stepping(ports, "observation") as socket:
        client = Wire(socket)
        space = await client.receive()
    assert space["method"] == "v1.env.observation_space"
    assert unpack(space["body"]["low"]).tolist() == [0.0, 0.0]
    assert unpack(space["body"]["high"]).dtype == np.float32


async def test_observations_are_wanted_while_the_client_is_there():
    runtime = Frozen()
    async with served(runtime) as (ports, _):
        async with stepping(ports, "observation") as socket:
            await socket.recv()
            assert runtime.env_observation_wanted
        ticks = runtime.number
        await runtime.until(lambda: runtime.number > ticks + 20)
        assert not runtime.env_observation_wanted


async def test_listed_names_are_called_read_and_set():
    runtime = Frozen()
    async with served(runtime, allowed_calls=["gravity", "add"]) as (ports, _), wire(ports) as client:
        assert client.websocket.response.headers["Universe-Calls"] == "add, gravity"
        assert (await ask(client, "gravity", operation="get"))["value"] == 9.8
        assert await ask(client, "gravity", 1.6, operation="set") == {"value": None, "is_method": False}
        assert runtime.inside.gravity == 1.6
        assert (await ask(client, "add", operation="get"))["is_method"] is True
        assert (await ask(client, "gravity"))["value"] == 1.6
        answer = await ask(client, "add", np.arange(3.0, dtype=np.float32), b=1)
    assert unpack(answer["value"]).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", ["secret", "_private", "__class__", "add.__globals__", ""])
@pytest.mark.parametrize("operation", ["call", "get", "set"])
async def test_other_names_are_refused(name, operation):
    runtime = Frozen()
    async with served(runtime, allowed_calls=["add"]) as (ports, _), wire(ports) as client:
        refusal = await ask(client, name, "value", operation=operation)
    assert "may not be called; allowed names: add" in refusal["message"]
    assert "canary" not in refusal["message"] and runtime.inside.secret == "canary"


async def test_nothing_can_be_called_by_default():
    async with served(Frozen()) as (ports, _), wire(ports) as client:
        assert "Universe-Calls" not in client.websocket.response.headers
        refusal = await ask(client, "gravity", operation="get")
    assert "allowed names: none" in refusal["message"]


async def test_what_the_environment_raises_is_the_answer_and_it_plays_on():
    runtime = Frozen()
    async with served(runtime, allowed_calls=["fail", "add"]) as (ports, _), wire(ports) as client:
        assert (await ask(client, "fail"))["message"] == "KeyError: 'no such state'"
        assert "TypeError" in (await ask(client, "add"))["message"]
        assert "operation 'turn'" in (await ask(client, "add", operation="turn"))["message"]
        await runtime.until(lambda: runtime.number > 3)


async def test_calls_without_end_are_refused():
    runtime = Frozen()
    runtime.gate.clear()
    async with served(runtime, allowed_calls=["add"]) as (ports, _), wire(ports) as client:
        await runtime.until(lambda: runtime.resets)
        for _ in range(PENDING_CALLS + 1):
            await client.send("v1.env.call", name="add", args=[1])
        refusal = await client.until("v0.reply.error")
        runtime.gate.set()
        for _ in range(PENDING_CALLS):
            await client.until("v1.reply.env.call", value=1)
    assert "calls are already waiting" in refusal["body"]["message"]


@pytest.mark.parametrize("name", ["_private", "__class__", "a.b", "two words", ""])
async def test_names_that_are_not_public_cannot_be_listed(name):
    with pytest.raises(ValueError, match="public attribute"):
        async with asyncio.timeout(60), served(Frozen(), allowed_calls=[name]):
            pass


async def test_a_runtime_with_nothing_inside_cannot_list():
    with pytest.raises(ValueError, match=r"test\.Scripted-v0.* has no attributes"):
        async with asyncio.timeout(60), served(Scripted(), allowed_calls=["add"]):
            pass


async def test_the_health_page_says_who_makes_time_pass():
    async with served(Frozen()) as (ports, _):
        assert (await get_health(ports))["lockstep"] is False
        async with stepping(ports) as socket:
            await socket.recv()
            assert (await get_health(ports))["lockstep"] is True
