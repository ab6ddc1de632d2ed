"""Computers as coroutines."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from universe_client.hands import AsyncComputer, ButtonDown, Computer, Hold, Wait
from vnc.events import KeyEvent, PointerEvent
from vnc.keysyms import keysym


@pytest.fixture
def driver():
    return "native"


async def test_acts_and_looks(scripted, open_env):
    remote = scripted()
    async with AsyncComputer(open_env(remote.address)) as computer:
        assert await computer.size() == (24, 16)
        outcome = await computer.click(2, 3)
        assert outcome.settled and await computer.cursor() == (2, 3)
        assert (await computer.screenshot()).width == 24


async def test_cancelling_a_call_releases_what_it_holds(scripted, open_env):
    remote = scripted()
    async with AsyncComputer(open_env(remote.address)) as computer:
        await computer.reset()
        call = asyncio.create_task(computer.do([ButtonDown(), Hold("shift", 300)]))
        await asyncio.to_thread(remote.wait_for_events, 2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        events = await asyncio.to_thread(remote.wait_for_events, 4)
        assert events[2:] == [KeyEvent(keysym("shift"), False), PointerEvent(12, 8, 0)]
        assert (await computer.move(1, 1)).played == 1


async def test_a_call_that_waits_for_its_turn_can_be_cancelled(scripted, open_env):
    remote = scripted()
    async with AsyncComputer(open_env(remote.address)) as computer:
        await computer.reset()
        first = asyncio.create_task(computer.do([Wait(0.5)]))
        second = asyncio.create_task(computer.type("x"))
        await asyncio.sleep(0)
        second.cancel()
        assert (await first).played == 1
        with pytest.raises(asyncio.CancelledError):
            await second
        assert remote.events == []


async def test_two_remotes_of_one_environment_at_the_same_time(scripted, open_env):
    remotes = [scripted(), scripted()]
    env = open_env(*(remote.address for remote in remotes))
    computers = [AsyncComputer(env, index) for index in range(2)]
    for _ in range(10):
        outcomes = await asyncio.gather(*(computer.click(2, 2, quiet=0.02) for computer in computers))
        assert all(outcome.settled and outcome.played == 1 for outcome in outcomes)
    assert [len(remote.wait_for_events(30)) for remote in remotes] == [30, 30]
    for computer in computers:
        await computer.close()


def test_it_has_what_a_computer_has():
    public = {name for name, _ in inspect.getmembers(Computer) if not name.startswith("_")}
    assert public - {"interrupt"} == {
        n for n, _ in inspect.getmembers(AsyncComputer) if not n.startswith("_")
    }
