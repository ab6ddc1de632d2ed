"""Lock-step: one tick per step, with exactly that tick's pixels and rewards."""

from __future__ import annotations

import zlib
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tests.support.drivers import needs_native
from tests.support.fixtures import provider
from tests.support.remotes.agent import one_step, set_reset_timeout, wait_until
from tests.support.remotes.gym import open_gym
from tests.support.remotes.remote import by_hand
from tests.support.remotes.served import Counting, serve_runtime
from universe_client import Config, ConfigError, GymEnv, VectorEnv
from universe_client.errors import StepTimeout, Unsupported
from vnc.events import KeyEvent

__all__ = ["open_gym", "serve_runtime"]
CARTPOLE = "gym-core.CartPole-v1"


def pixel(vision: Any) -> tuple[int, int, int]:
    """The one colour of a screen: tick, episode and key of a `Counting` runtime."""
    assert (vision == vision[0, 0]).all(), "a frame of two pictures"
    return tuple(map(int, vision[0, 0]))


@pytest.fixture
def stepped(open_env):
    """Open an environment in lock-step, and reset it."""

    def open_one(*remotes, **options):
        env = open_env(*remotes, mode="lockstep", **options)
        env.reset(seed=1)
        return env

    return open_one


def test_each_step_is_one_tick_and_shows_it(serve_runtime, stepped):
    runtime = Counting()
    env = stepped(serve_runtime(runtime, env_id="test.Counting-v0"))
    first = one_step(env)
    assert first.observation is not None, "a step after a reset waits for the first frame"
    tick, episode, _ = pixel(first.observation["vision"])
    assert (tick, first.reward) == (0, 0.0)
    for number in range(1, 50):
        step = one_step(env)
        assert pixel(step.observation["vision"]) == (number, episode, 0)
        assert step.reward == number
    assert runtime.ticks == 49


def test_input_arrives_in_the_tick_of_its_step(serve_runtime, stepped):
    env = stepped(serve_runtime(Counting()))
    dropped = one_step(env, [[KeyEvent(9, True)]])
    assert dropped.info["mask.masked.action"] == 1, "there was no episode to act in yet"
    for key in (3, 200, 17):
        step = one_step(env, [[KeyEvent(key, True)]])
        assert pixel(step.observation["vision"])[2] == key


def test_what_is_held_stays_held_through_steps_and_is_let_go_of_at_the_end(serve_runtime, stepped):
    env = stepped(serve_runtime(Counting(last=3)))
    one_step(env)
    one_step(env, [[KeyEvent(5, True)]])
    one_step(env)
    assert env.remotes[0].link.held == ((5,), None)
    assert one_step(env).done
    assert env.remotes[0].link.held == ((), None)


def test_input_over_vnc_does_not_count(serve_runtime, stepped):
    env = stepped(serve_runtime(Counting()))
    one_step(env)
    session = env.remotes[0].link.session
    session.send([KeyEvent(99, True)])
    generation = session.refresh()
    wait_until(lambda: session.generation >= generation, what="the arrival of the key at the server")
    assert pixel(one_step(env).observation["vision"])[2] == 0


def test_after_the_end_the_next_step_shows_the_next_episode(serve_runtime, stepped):
    env = stepped(serve_runtime(Counting(last=3)))
    episode = pixel(one_step(env).observation["vision"])[1]
    for expected in (episode, episode + 1):
        assert [one_step(env).done for _ in range(3)] == [False, False, True]
        step = one_step(env)
        assert pixel(step.observation["vision"]) == (0, expected + 1, 0)
        assert (step.reward, step.done) == (0.0, False)


def test_without_a_step_nothing_is_lived(serve_runtime, stepped):
    env = stepped(serve_runtime(Counting()))
    one_step(env)
    for _ in range(3):
        observation_n, reward_n, _, _ = env.recv()
        assert pixel(observation_n[0]["vision"])[0] == 0
        assert reward_n == [0.0]


def test_a_reset_in_the_middle_begins_anew(serve_runtime, stepped):
    runtime = Counting()
    env = stepped(serve_runtime(runtime))
    episode = pixel(one_step(env).observation["vision"])[1]
    one_step(env)
    env.send([[]])
    env.reset(seed=7)
    step = one_step(env)
    assert pixel(step.observation["vision"]) == (0, episode + 1, 0)
    assert step.reward == 0.0
    assert runtime.seeds[-1] == 7


def test_the_step_after_a_reset_never_shows_the_time_before(serve_runtime, stepped):
    env = stepped(serve_runtime(Counting()))
    episode = 0
    for seed in range(60):
        step = one_step(env)
        tick, newer, _ = pixel(step.observation["vision"])
        assert tick == 0 and newer > episode
        episode = newer
        one_step(env)
        env.reset(seed=seed)


def test_real_time_goes_on_when_the_client_leaves(serve_runtime, stepped, open_env):
    runtime = Counting(fps=200)
    address = serve_runtime(runtime)
    env = stepped(address)
    one_step(env)
    one_step(env)
    ticks = runtime.ticks
    assert ticks == 1
    env.close()
    wait_until(lambda: runtime.ticks > 20, what="real time")


def test_a_remote_that_cannot_freeze_says_so(scripted, stepped):
    env = stepped(scripted())
    step = one_step(env)
    assert step.observation is None
    assert "cannot freeze between steps" in step.info["error"]
    assert isinstance(env.remotes[0].error, Unsupported)
    wait_until(lambda: env.remotes[0].link.state == "closed", what="giving up on it")
    assert one_step(env).observation is None, "and it is not waited for"


def test_a_single_face_raises_that(scripted, driver):
    with pytest.raises(Unsupported, match="cannot freeze"):
        GymEnv(None, provider(scripted()), mode="lockstep", driver=driver).reset()


def test_a_remote_without_a_rewarder_cannot_be_stepped(scripted, stepped):
    env = stepped(scripted(has_rewarder=False))
    assert "cannot freeze between steps" in one_step(env).info["error"]


def test_a_step_that_is_not_answered_ends_the_episode(scripted, stepped):
    remote = scripted(on_step=by_hand)
    env = stepped(remote)
    assert one_step(env).observation is not None
    set_reset_timeout(env, 0.5)
    step = one_step(env)
    assert (step.done, step.info["truncated"]) == (True, True)
    assert isinstance(env.remotes[0].error, StepTimeout)


def test_the_others_are_stepped_when_one_is_lost(serve_runtime, scripted, stepped):
    lost = scripted(on_step=by_hand)
    env = stepped(serve_runtime(Counting()), lost, backoff=(20.0, 20.0))
    one_step(env)
    env.send([[], []])
    lost.stop()
    observation_n, _, done_n, _ = env.recv()
    assert pixel(observation_n[0]["vision"])[0] == 1
    assert done_n == [False, True]
    step = one_step(env)
    assert pixel(step.observation["vision"])[0] == 2
    assert step.observation_n[1] is None and step.info_n[1]["env_status.reason"] == "lost"


@pytest.mark.parametrize(
    ("options", "culprit"),
    [({"mode": "turns"}, "turns"), ({"observer": True}, "observer"), ({"quality": 5}, "quality")],
)
def test_options_that_make_no_sense_together(options, culprit):
    with pytest.raises(ConfigError, match=culprit):
        Config(**({"mode": "lockstep"} | options))


# -- Gymnasium's faces ------------------------------------------------------------------------------------------


def test_the_last_frame_of_an_episode_comes_with_its_end(serve_runtime, open_gym):
    env = open_gym(serve_runtime(Counting(last=3)), serve_runtime(Counting(last=5)), mode="lockstep")
    observations, _ = env.reset(seed=1)
    seen = [[pixel(frame)[0] for frame in observations]]
    ends = []
    for _ in range(8):
        observations, _, terminations, _, _ = env.step(np.zeros(2, np.int64))
        seen.append([pixel(frame)[0] for frame in observations])
        ends.append(terminations.tolist())
    assert [row[0] for row in seen] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert [row[1] for row in seen] == [0, 1, 2, 3, 4, 5, 0, 1, 2]
    assert [row[0] for row in ends] == [False, False, True, False, False, False, True, False]
    assert [row[1] for row in ends] == [False, False, False, False, True, False, False, False]


def test_a_step_limit_shows_the_last_frame_and_loses_no_reward(serve_runtime, open_gym):
    env = open_gym(serve_runtime(Counting()), mode="lockstep", max_episode_steps=3)
    env.reset(seed=1)
    for _ in range(3):
        steps = [env.step(np.zeros(1, np.int64)) for _ in range(4)]
        assert [pixel(step[0][0])[0] for step in steps] == [1, 2, 3, 0]
        assert [float(step[1][0]) for step in steps] == [1.0, 2.0, 3.0, 0.0]
        assert [bool(step[3][0]) for step in steps] == [False, False, True, False]


def test_some_rows_are_stepped_alone(serve_runtime, open_gym):
    env = open_gym(serve_runtime(Counting()), serve_runtime(Counting()), mode="lockstep")
    env.reset(seed=1)
    for number in (1, 2):
        env.send(np.zeros(1, np.int64), [1])
        observations, *_ = env.recv(min_ready=1)
        assert pixel(observations[0])[0] == number
    observations, *_ = env.step(np.zeros(2, np.int64))
    assert [pixel(frame)[0] for frame in observations] == [1, 3]


def film(env_id: str, driver: str, steps: int, **options: Any) -> list[Any]:
    """What a run with fixed seed and actions brings, pixels as checksums."""
    dice = np.random.default_rng(5)
    with VectorEnv(env_id, 2, mode="lockstep", driver=driver, **options) as env:
        env.reset(seed=3)
        seen = []
        for _ in range(steps):
            action_n = [[("KeyEvent", "Left", bool(dice.integers(2)))] for _ in range(2)]
            observation_n, reward_n, done_n, _ = env.step(action_n)
            pixels = [None if o is None else zlib.crc32(o["vision"].data) for o in observation_n]
            seen.append((pixels, reward_n, done_n))
    return seen


@pytest.mark.parametrize("env_id", [CARTPOLE, "builtin.NeonDrive-v0"])
def test_same_seed_and_actions_same_pixels_and_rewards(env_id, driver):
    first = film(env_id, driver, 120)
    assert first == film(env_id, driver, 120)
    assert len({tuple(pixels) for pixels, _, _ in first}) > 60, "a world that moves"


@needs_native
@pytest.mark.parametrize("env_id", [CARTPOLE, "builtin.NeonDrive-v0"])
def test_the_way_of_the_pixels_changes_nothing(env_id):
    shared = film(env_id, "native", 60)
    assert shared == film(env_id, "native", 60, encoding="tight")
    assert shared == film(env_id, "portable", 60)


@pytest.mark.parametrize(
    "arguments",
    [
        {"id": "universe/NeonDrive-v0"},
        {"id": "universe/Remote-v0", "env_id": CARTPOLE},
    ],
    ids=["NeonDrive", "CartPole"],
)
@pytest.mark.filterwarnings("error::UserWarning")
def test_gymnasiums_checker_passes_with_nothing_skipped(arguments):
    env = gymnasium.make(**arguments, mode="lockstep")
    try:
        assert env.spec is not None and env.spec.nondeterministic is False
        check_env(env.unwrapped)
    finally:
        env.close()
