"""Lock-step over the step channel: who uses it, what else goes on meanwhile, and how it ends."""

from __future__ import annotations

import asyncio
import zlib
from typing import Any

import numpy as np
import pytest

from rewarder.sdk.environment import Tick
from rewarder.sdk.runtime import serve
from tests.support.drivers import DRIVERS
from tests.support.fixtures import provider
from tests.support.remotes.agent import one_step, wait_until
from tests.support.remotes.served import Counting, serve_runtime
from universe_client import VectorEnv
from universe_client.errors import PeerLost
from vnc.drivers import connect
from vnc.session import Session

__all__ = ["serve_runtime"]
CARTPOLE = "gym-core.CartPole-v1"
WAYS: dict[str, dict[str, Any]] = {
    "step channel": {},
    "VNC": {"encoding": "raw"},
    "VNC, portable": {"driver": "portable"},
}


@pytest.fixture
def driver() -> str:
    return "auto"


@pytest.fixture(params=[False, True], ids=["thread", "event loop"])
def stepped(request, open_env, serve_runtime):
    """Serve a runtime, open an environment in lock-step over it, and take the first frame."""

    def open_one(runtime, serving=(), **options):
        runtime.quick = request.param
        env = open_env(serve_runtime(runtime, **dict(serving)), mode="lockstep", **options)
        env.reset(seed=1)
        assert one_step(env).observation is not None
        return env

    return open_one


def pixel(vision: Any) -> list[int]:
    assert (vision == vision[0, 0]).all(), "a frame of two pictures"
    return [int(value) for value in vision[0, 0]]


@pytest.mark.parametrize("way", WAYS)
def test_it_is_used_unless_vnc_is_asked_for(stepped, way):
    env = stepped(Counting(), **WAYS[way])
    assert (env.remotes[0].link.connection.steps is not None) is (way == "step channel")
    step = one_step(env)
    assert pixel(step.observation["vision"])[0] == 1
    assert step.info["stats.vnc.pixels_by"] == ("shared" if way == "step channel" else "vnc")


def film(options: dict[str, Any]) -> list[Any]:
    dice = np.random.default_rng(5)
    with VectorEnv(CARTPOLE, 2, mode="lockstep", **options) as env:
        env.reset(seed=3)
        seen = []
        for _ in range(60):
            actions = [[("KeyEvent", "Left", bool(dice.integers(2)))] for _ in range(2)]
            observation_n, reward_n, done_n, info = env.step(actions)
            pixels = [None if o is None else zlib.crc32(o["vision"].data) for o in observation_n]
            counts = [(one["stats.reward.count"], one["end_reason"]) for one in info["n"]]
            seen.append((pixels, reward_n, done_n, counts))
    return seen


def test_every_way_brings_the_same():
    films = [film(WAYS[way]) for way in WAYS if way != "VNC, portable" or "portable" in DRIVERS]
    assert all(one == films[0] for one in films)
    assert any(any(done_n) for _, _, done_n, _ in films[0]), "an episode that ends"


async def look_on(env: VectorEnv) -> Session:
    address = env.remotes[0].link.address
    assert address is not None
    return await connect("auto")(address.vnc, on_change=lambda: None)


def newest(viewer: Session) -> int:
    frame = np.zeros(viewer.shape, np.uint8)
    viewer.take(frame)
    return pixel(frame)[0]


def test_viewers_see_whole_frames_while_it_steps_and_the_last_when_it_rests(stepped, far_side):
    env = stepped(Counting())
    viewer = far_side.run(look_on(env))
    seen = set()

    def step() -> bool:
        one_step(env)
        seen.add(newest(viewer))
        return len(seen) > 3

    wait_until(step, what="several frames in the viewer")
    tick = pixel(one_step(env).observation["vision"])[0]
    wait_until(lambda: newest(viewer) == tick, what="the last frame")
    far_side.run(viewer.close())


def test_observers_receive_rewards_and_episodes(stepped, open_env):
    env = stepped(Counting(last=3))
    watching = open_env(env.remotes[0].link.address, observer=True)
    watching.reset()
    wait_until(lambda: one_step(watching).observation is not None, what="the observer's first frame")
    for _ in range(4):
        one_step(env)
    total = done = 0.0
    for _ in range(2000):
        step = one_step(watching)
        total, done = total + step.reward, done + step.done
        if done:
            break
        watching.wait(0.05)
    assert (total, done) == (6.0, 1)


class Inside:
    value = 7


def test_calls_are_answered_between_steps(stepped):
    runtime = Counting()
    runtime.inside = Inside()
    env = stepped(runtime, {"allowed_calls": ("value",)})
    for number in range(1, 4):
        env.set_attr("value", number)
        assert env.get_attr("value") == [number]
        assert pixel(one_step(env).observation["vision"])[0] == number


def test_actions_that_are_not_input_reach_the_next_tick(stepped):
    runtime, actions = Counting(), []
    runtime.action = actions.append
    env = stepped(runtime)
    rewarder = env.remotes[0].link.rewarder
    env.core._loop.call(rewarder.action, "test.Counting-v0", [["JoystickAxisXEvent", 0.5]])
    wait_until(lambda: bool(one_step(env) and actions), what="the action")
    assert actions == [[["JoystickAxisXEvent", 0.5]]]


class Telling(Counting):
    """Tells more than a reward in its second tick."""

    def tick(self, events):
        tick = super().tick(events)
        told = {"text": "two", "info": {"two": 2}} if self.ticks == 2 else {}
        return Tick(tick.frame, tick.reward, tick.done, **told)


def test_texts_and_infos_come_with_their_tick(stepped):
    env = stepped(Telling())
    steps = [one_step(env) for _ in range(3)]
    assert [step.observation["text"] for step in steps] == [[], ["two"], []]
    assert [step.info.get("remote.two") for step in steps] == [None, 2, None]
    assert [step.reward for step in steps] == [1.0, 2.0, 3.0]


class Failing(Counting):
    """Crashes in the third tick of the agent's episode; before that, it runs in real time and may be faster than it."""

    def tick(self, events):
        if self.seeds[-1] == 1 and self.ticks == 2:
            raise OSError("a defect of the environment")
        return super().tick(events)


def test_a_crash_of_the_environment_is_the_remotes_error(stepped, far_side):
    env = stepped(Failing(), backoff=(20.0, 20.0))
    steps = [one_step(env) for _ in range(3)]
    assert [step.done for step in steps] == [False, False, True]
    assert "step channel" not in steps[2].info["error"], "one of the servers says why, if only that it closes"
    wait_until(lambda: not far_side.run(_serving()), what="the end of the remote")


def test_a_channel_that_ends_alone_loses_the_remote_which_comes_back(stepped):
    env = stepped(Counting())
    one_step(env)
    env.remotes[0].link.connection.steps.hang_up()
    step = one_step(env)
    assert step.done and step.info["truncated"]
    assert isinstance(env.remotes[0].error, PeerLost) and "step channel" in step.info["error"]
    wait_until(lambda: one_step(env).observation is not None, what="the remote again")
    assert pixel(one_step(env).observation["vision"])[0] > 0


def test_resets_overtake_steps(stepped):
    runtime = Counting()
    env = stepped(runtime)
    for seed in range(40):
        env.send([[]])
        env.reset(seed=seed)
        step = one_step(env)
        assert (pixel(step.observation["vision"])[0], step.reward) == (0, 0.0)
        assert pixel(one_step(env).observation["vision"])[0] == 1
    assert runtime.seeds[-1] == 39


def test_real_time_goes_on_when_the_client_leaves_and_the_next_one_gets_a_channel(stepped, open_env):
    runtime = Counting(fps=200)
    env = stepped(runtime)
    address = env.remotes[0].link.address
    env.close()
    wait_until(lambda: runtime.ticks > 20, what="real time")
    other = open_env(address, mode="lockstep")
    other.reset()
    assert pixel(one_step(other).observation["vision"])[0] == 0
    assert other.remotes[0].link.connection.steps is not None


def test_a_remote_that_is_stopped_while_it_waits_for_a_step_ends(stepped, far_side):
    env = stepped(Counting())
    far_side.run(_cancel(far_side.run(_serving())))
    wait_until(lambda: one_step(env).observation is None, what="the loss")


async def _serving() -> list[asyncio.Task[Any]]:
    return [
        task for task in asyncio.all_tasks() if getattr(task.get_coro(), "cr_code", None) is serve.__code__
    ]


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_a_provider_can_be_given_too(serve_runtime):
    with VectorEnv(None, provider(serve_runtime(Counting())), mode="lockstep") as env:
        env.reset(seed=1)
        assert [pixel(one_step(env).observation["vision"])[0] for _ in range(3)] == [0, 1, 2]
