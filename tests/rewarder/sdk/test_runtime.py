"""The SDK over real sockets: episodes, their order on the wire, input, crashes and the end."""

import asyncio
import threading

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from rewarder.sdk.runtime import RuntimeCrash, Tick, serve
from tests.rewarder.remotes import Scripted, get_health, served, wire
from vnc.client.portable import connect as connect_vnc
from vnc.events import KeyEvent
from vnc.session import VNCAddress


async def test_plays_episodes_on_its_own_without_a_client():
    runtime = Scripted(lambda number: Tick(done=number == 3))
    async with served(runtime) as (ports, _):
        await runtime.until(lambda: len(runtime.resets) >= 4)
        health = await get_health(ports)
    assert int(health["episode_id"]) >= 4
    assert runtime.resets[0] == ("test.Scripted-v0", None)
    assert health["env_id"] == "test.Scripted-v0" and health["fps"] == 200.0


async def test_the_health_page_measures_ticks_and_counts_clients():
    runtime = Scripted()
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        await runtime.until(lambda: runtime.number > 100)
        health = await get_health(ports)
    assert 0 < health["ticks_per_second"] < 250
    assert (health["controllers"], health["observers"], health["vnc_clients"]) == (1, 0, 0)
    assert health["version"]


async def test_a_newcomer_is_told_the_state_and_the_fps():
    async with served(Scripted()) as (ports, _), wire(ports) as client:
        message = await client.receive()
    assert message["method"] == "v0.env.describe"
    assert message["body"]["env_id"] == "test.Scripted-v0" and message["body"]["fps"] == 200
    assert message["headers"]["episode_id"] == "1"


async def test_done_then_resetting_then_running():
    finish = threading.Event()
    runtime = Scripted(lambda number: Tick(reward=2.5, done=True) if finish.is_set() else Tick())
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        client.messages.clear()
        finish.set()
        await client.until("v0.env.describe", env_state="running")
    assert client.heard() == [
        ("env.reward", "1", True), ("env.describe", "2", "resetting"), ("env.describe", "2", "running"),
    ]  # fmt: skip
    assert client.messages[0]["body"]["reward"] == 2.5


async def test_a_reset_aborts_the_episode_without_done_and_is_answered_when_complete():
    runtime = Scripted()
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        client.messages.clear()
        request = await client.send("v0.env.reset", env_id="test.Other-v0", seed=5)
        reply = await client.until("v0.reply.env.reset")
    assert client.heard() == [
        ("env.describe", "2", "resetting"), ("env.describe", "2", "running"), ("reply.env.reset", "2", None),
    ]  # fmt: skip
    assert reply["headers"]["parent_message_id"] == request
    assert client.messages[0]["body"]["env_id"] == "test.Other-v0"
    assert runtime.resets[-1] == ("test.Other-v0", 5)


async def test_an_aborted_episode_has_no_done_even_if_it_ended_meanwhile():
    blocked, go_on = threading.Event(), threading.Event()

    def script(number):
        if len(runtime.resets) > 1 or number < 3:
            return Tick()
        blocked.set()
        runtime.ring()
        go_on.wait(10)
        return Tick(reward=1.0, done=True)

    runtime = Scripted(script)
    async with served(runtime) as (ports, _), wire(ports) as client:
        await runtime.until(blocked.is_set)
        await client.send("v0.env.reset")
        await client.send("v0.control.ping")
        await client.until("v0.reply.control.ping")
        go_on.set()
        reply = await client.until("v0.reply.env.reset")
    assert reply["headers"]["episode_id"] == "2"
    assert "v0.env.reward" not in {message["method"] for message in client.messages}


async def test_overlapping_resets_are_all_answered_in_order():
    runtime = Scripted()
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        runtime.gate.clear()
        requests = [await client.send("v0.env.reset", seed=seed) for seed in (1, 2, 3)]
        await client.send("v0.control.ping")
        await client.until("v0.reply.control.ping")  # by now all three have arrived, during the first
        runtime.gate.set()
        replies = [await client.until("v0.reply.env.reset") for _ in requests]
    assert [reply["headers"]["parent_message_id"] for reply in replies] == requests
    assert [reply["headers"]["episode_id"] for reply in replies] == ["2", "3", "4"]
    assert [seed for _, seed in runtime.resets] == [None, 1, 2, 3]


async def test_a_flood_of_resets_is_refused():
    runtime = Scripted()
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        runtime.gate.clear()
        for _ in range(30):
            await client.send("v0.env.reset")
        error = await client.until("v0.reply.error")
        runtime.gate.set()
    assert error["body"]["message"] == "16 resets are already waiting"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"env_id": "test.Nothing-v0"}, "test.Nothing-v0"),
        ({"env_id": "__import__('os')"}, "__import__"),
        ({"seed": -1}, "-1"),
        ({"seed": 1 << 63}, str(1 << 63)),
    ],
)
async def test_what_is_not_on_offer_is_refused_and_the_episode_goes_on(body, message):
    runtime = Scripted()
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        request = await client.send("v0.env.reset", **body)
        error = await client.until("v0.reply.error")
        ticks = runtime.number
        await runtime.until(lambda: runtime.number > ticks)
    assert message in error["body"]["message"]
    assert error["headers"]["parent_message_id"] == request
    assert len(runtime.resets) == 1


async def test_pings_are_answered_during_a_slow_reset():
    runtime = Scripted()
    runtime.gate.clear()
    async with served(runtime) as (ports, _), wire(ports) as client:
        for _ in range(3):
            await client.send("v0.control.ping")
            await client.until("v0.reply.control.ping")
        assert client.heard()[0] == ("env.describe", "1", "resetting")
        runtime.gate.set()
        await client.until("v0.env.describe", env_state="running")


async def test_the_environment_lives_on_one_thread_of_its_own():
    runtime = Scripted(lambda number: Tick(done=number == 2))
    async with served(runtime):
        await runtime.until(lambda: len(runtime.resets) > 3)
    assert len(runtime.threads) == 1
    assert threading.get_ident() not in runtime.threads
    assert runtime.closed


async def test_the_wire_is_quiet_while_nothing_happens():
    runtime = Scripted(lambda number: Tick(reward=1.0 if number % 50 == 0 else 0.0))
    async with served(runtime) as (ports, _), wire(ports, observer=True) as client:
        first = await client.until("v0.env.reward")
        begun = runtime.number
        client.messages.clear()
        await client.until("v0.env.reward")
        assert runtime.number - begun >= 45
    assert len(client.messages) == 1
    assert first["body"] == {"reward": 1.0, "done": False, "info": {}}


async def test_text_observation_and_info_belong_to_their_episode():
    first = Tick(text=["go"], env_observation={"speed": 3}, info={"lap": 1}, reward=0.0)
    go = threading.Event()
    runtime = Scripted(lambda number: first if go.is_set() and not go.clear() else Tick())
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        go.set()
        text = await client.until("v0.env.text")
        observation = await client.until("v0.env.observation")
        reward = await client.until("v0.env.reward")
    assert text["body"] == {"text": ["go"]}
    assert observation["body"] == {"observation": {"speed": 3}}
    assert reward["body"] == {"reward": 0.0, "done": False, "info": {"lap": 1}}
    assert {message["headers"]["episode_id"] for message in (text, observation, reward)} == {"1"}


async def test_a_truncated_episode_says_so_in_its_last_info():
    runtime = Scripted(lambda number: Tick(done=number == 20, truncated=True, info={"why": "time"}))
    async with served(runtime) as (ports, _), wire(ports) as client:
        last = await client.until("v0.env.reward", done=True)
    assert last["body"]["info"] == {"why": "time", "truncated": True}


async def test_actions_reach_the_runtime():
    runtime = Scripted()
    async with served(runtime) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        await client.send("v0.agent.action", env_id="test.Scripted-v0", action=[["JoystickAxisXEvent", 0.5]])
        await runtime.until(lambda: runtime.actions)
    assert runtime.actions == [[["JoystickAxisXEvent", 0.5]]]


@pytest.fixture
async def vnc():
    """Connects to VNC ports; closes the sessions at the end."""
    sessions = []

    async def connect(ports, password=None):
        changed = asyncio.Event()
        address = VNCAddress("127.0.0.1", ports.vnc_port, password)
        sessions.append(await connect_vnc(address, on_change=changed.set))
        return sessions[-1], changed

    yield connect
    for session in sessions:
        await session.close()


async def test_frames_go_out_and_keys_come_in(vnc):
    def script(number):
        return Tick(frame=np.full((8, 16, 3), 200 if runtime.inputs else 100, np.uint8))

    runtime = Scripted(script)
    async with served(runtime, password="secret") as (ports, _), wire(ports, password="secret") as client:
        await client.until("v0.env.describe", env_state="running")
        session, changed = await vnc(ports, "secret")
        session.send([KeyEvent(0xFF51, True)])
        frame = np.zeros((8, 16, 3), np.uint8)
        async with asyncio.timeout(60):
            while frame[0, 0, 0] != 200:
                await changed.wait()
                changed.clear()
                session.take(frame)
    assert runtime.inputs[0] == KeyEvent(0xFF51, True)


async def test_input_of_a_resetting_time_is_dropped(vnc):
    runtime = Scripted()
    runtime.gate.clear()
    async with served(runtime) as (ports, _), wire(ports) as client:
        session, changed = await vnc(ports)
        session.send([KeyEvent(0x61, True)])
        session.refresh()
        async with asyncio.timeout(60):
            while not session.frames:  # the server reads in order: it has seen the key when it answers
                await changed.wait()
                changed.clear()
        runtime.gate.set()
        await client.until("v0.env.describe", env_state="running")
        session.send([KeyEvent(0x62, True)])
        await runtime.until(lambda: runtime.inputs)
    assert runtime.inputs[0] == KeyEvent(0x62, True)


async def test_one_password_opens_both_ports(vnc):
    async with served(Scripted(), password="longer than eight") as (ports, _):
        async with wire(ports, password="longer than eight") as client:
            await client.receive()
        session, _ = await vnc(ports, "longer t")
        assert session.shape == (8, 16, 3)


@pytest.mark.parametrize("quick", [False, True], ids=["own thread", "quick"])
@pytest.mark.parametrize("stage", ["reset", "tick", "frame"])
async def test_a_crash_is_told_and_raised(stage, quick, caplog):
    crash = threading.Event()

    def script(number):
        if crash.is_set() and stage == "tick":
            raise ZeroDivisionError("secret detail")
        shape = (9, 16, 3) if crash.is_set() and stage == "frame" else (8, 16, 3)
        return Tick(frame=np.zeros(shape, np.uint8))

    runtime = Scripted(script)
    runtime.quick = quick
    async with served(runtime) as (ports, task), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        if stage == "reset":
            runtime.resets = None  # its next reset cannot append
            await client.send("v0.env.reset")
        crash.set()
        said = await client.until("v0.connection.close")
        with pytest.raises(ConnectionClosed) as closed:
            await client.receive()
        with pytest.raises(RuntimeCrash):
            await task
    name = {"reset": "AttributeError", "tick": "ZeroDivisionError", "frame": "ValueError"}[stage]
    assert said["body"]["message"] == f"the runtime crashed: {name}"
    assert closed.value.rcvd.code == 1011
    assert "Traceback" in caplog.text


async def test_idle_for_long_enough_ends_it():
    async with served(Scripted(), idle_timeout=0.3) as (ports, task):
        async with wire(ports, observer=True) as observer:  # watching is not controlling
            said = await observer.until("v0.connection.close")
            with pytest.raises(ConnectionClosed) as closed:
                await observer.receive()
        await task
    assert "idle" in said["body"]["message"]
    assert closed.value.rcvd.code == 4408


async def test_an_external_display_has_no_vnc_server_of_ours():
    class Displayed(Scripted):
        width = height = 0
        display = True

    async with served(Displayed(), display=5901) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running")
        assert ports.vnc_port == 5901
        assert (await get_health(ports))["vnc_clients"] is None


async def test_an_unknown_env_id_is_no_start():
    with pytest.raises(ValueError, match=r"unknown env_id 'nope'.*test\.Other-v0"):
        await serve(Scripted(), env_id="nope")


async def test_a_taken_port_is_no_start_and_closes_the_runtime():
    async with served(Scripted()) as (ports, _):
        second = Scripted()
        with pytest.raises(OSError, match="address already in use"):
            await serve(second, rewarder_port=ports.rewarder_port)
    assert second.closed


async def test_stopping_does_not_wait_for_a_reset_that_hangs():
    runtime = Scripted()
    runtime.gate.clear()
    async with served(runtime) as (_, task):
        await runtime.until(lambda: runtime.resets)
        task.cancel()
        async with asyncio.timeout(15):  # half of what the reset would take
            await asyncio.wait((task,))
    runtime.gate.set()


async def test_a_client_may_ask_for_another_rate_within_bounds():
    runtime = Scripted()
    async with served(runtime) as (ports, _), wire(ports) as client:
        for asked, told in ((50, 50.0), (100_000, 240.0), (0.001, 1.0), (-3, 200.0), (None, 200.0)):
            await client.send("v0.env.reset", fps=asked)
            await client.until("v0.reply.env.reset")
            described = [message for message in client.messages if message["method"] == "v0.env.describe"]
            assert described[-1]["body"]["fps"] == told
            assert runtime.fps == told
