"""Gymnasium's single face, alone and inside stock vector environments."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit

from tests.support.fixtures import provider
from tests.support.remotes.agent import wait_until
from tests.support.remotes.gym import QUICKLY, open_gym
from tests.support.remotes.remote import HEIGHT, WIDTH, by_hand
from universe_client import ConfigError, GymEnv
from universe_client.errors import ConnectError, ResetTimeout
from universe_client.spaces.pixel_box import PixelBox
from vnc.events import KeyEvent

__all__ = ["open_gym"]
RIGHT = 0xFF53
RIGHT_ACTION = 2


@pytest.fixture
def open_one(open_gym):
    return partial(open_gym, face=GymEnv)


def until_done(env: Any) -> list[Any]:
    """Step whenever something has come, to the end of the episode."""
    results = [env.step(0)]
    while not (results[-1][2] or results[-1][3]):
        assert env.unwrapped.core.wait(60)
        results.append(env.step(0))
    return results


def test_reset_waits_for_the_first_frame_and_step_gives_five(scripted, open_one):
    remote = scripted()
    env = open_one(remote)
    assert env.observation_space == PixelBox((HEIGHT, WIDTH, 3))
    observation, info = env.reset(seed=9)
    assert remote.next_reset().seed == 9
    assert env.np_random_seed == 9
    assert observation in env.observation_space
    assert (observation == 1).all()
    assert info["env_status.episode_id"] == "1"
    remote.finish(2.0, info={"score": 3})
    results = until_done(env)
    assert sum(reward for _, reward, *_ in results) == 2.0
    observation, reward, terminated, truncated, info = results[-1]
    assert isinstance(reward, float)
    assert (terminated, truncated) == (True, False)
    assert (observation == 1).all()
    assert info["remote.score"] == 3


def test_a_reset_after_the_end_takes_the_episode_that_the_remote_has_begun(scripted, open_one):
    remote = scripted()
    env = open_one(remote)
    env.reset()
    remote.next_reset()
    remote.finish()
    until_done(env)
    with pytest.raises(ResetNeeded):
        env.step(0)
    remote.next_episode()
    observation, _ = env.reset()
    assert (observation == 2).all()
    assert remote.resets.empty()
    env.reset()
    assert remote.next_reset(), "in the middle of an episode it is asked for"
    remote.finish()
    until_done(env)
    env.reset(seed=4)
    assert remote.next_reset().seed == 4


def test_what_is_earned_before_the_first_frame_is_not_lost(scripted, open_one):
    remote = scripted()
    env = open_one(remote)
    env.reset()
    remote.finish(1.0)
    until_done(env)

    def run_on() -> None:
        remote.next_episode()
        remote.reward(4.0)

    remote.script(run_on)
    env.reset()
    assert env.step(0)[1] == 4.0


def test_errors_are_clear(scripted, open_one):
    before = set(threading.enumerate())
    env = open_one(scripted())
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    with pytest.raises(ConfigError, match=r"not within 0\.\.5"):
        env.step(6)
    env.reset(options={"speed": 1})
    env.close()
    env.close()
    for call in (env.reset, env.render, lambda: env.step(0)):
        with pytest.raises(ClosedEnvironmentError):
            call()
    with pytest.raises(ConfigError, match="render_mode='window'"):
        open_one(scripted(), render_mode="window")
    with pytest.raises(ConfigError, match="remotes names 2"):
        open_one(scripted(), scripted())
    assert "universe-client" not in {thread.name for thread in set(threading.enumerate()) - before}


def test_a_reset_that_does_not_end_and_a_remote_that_is_not_there(scripted, open_one):
    env = open_one(scripted(on_reset=by_hand), reset_timeout=0.2)
    with pytest.raises(ResetTimeout, match=r"0\.2 s"):
        env.reset()
    gone = scripted()
    gone.stop()
    with pytest.raises(ConnectError, match="no screen"):
        open_one(gone, start_timeout=0.2)


def test_dict_observations_and_render(scripted, open_one):
    remote = scripted()
    env = open_one(remote, observation="dict")
    observation, _ = env.reset()
    assert observation in env.observation_space
    remote.text("hello")
    while not (text := env.step(0)[0]["text"]):
        assert env.core.wait(60)
    assert text == ["hello"]
    assert (env.render() == 1).all()
    assert env.render() in PixelBox((HEIGHT, WIDTH, 3))


def test_stock_wrappers_and_the_passive_checker_find_nothing(scripted, open_one):
    remote = scripted()
    env = TimeLimit(RecordEpisodeStatistics(PassiveEnvChecker(open_one(remote))), 5)
    for _ in range(2):
        env.reset(seed=1)
        for _ in range(5):
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
        assert (terminated, truncated) == (False, True)
    assert env.render().shape == (HEIGHT, WIDTH, 3)


def test_gymnasiums_check_env_passes(scripted, open_one):
    """Over a screen that stands still, a remote is deterministic."""
    env = open_one(scripted(on_reset=still))
    env.spec = gymnasium.envs.registration.EnvSpec("Still-v0", nondeterministic=True)
    check_env(env, skip_render_check=True, skip_close_check=True)


def still(remote: Any, request: Any) -> None:
    def answer() -> None:
        remote.episode += 1
        remote.describe("resetting")
        remote.paint(5)
        remote.describe("running")
        remote.reply(request)

    remote.script(answer)


def test_it_works_in_a_stock_sync_vector_env(scripted):
    """V1, V3: each copy has a remote and arguments of its own."""
    remotes = [scripted(), scripted(), scripted()]
    constructors = [partial(GymEnv, None, provider(remote), **QUICKLY) for remote in remotes]
    envs = SyncVectorEnv(constructors)
    observations, _ = envs.reset(seed=3)
    assert [remote.next_reset().seed for remote in remotes] == [3, 4, 5]
    assert observations in envs.observation_space
    assert envs.observation_space == PixelBox((3, HEIGHT, WIDTH, 3))
    envs.step(np.array([RIGHT_ACTION, 0, 0]))
    assert remotes[0].wait_for_events(1) == [KeyEvent(RIGHT, True)]
    remotes[2].finish(4.0)
    remotes[2].next_episode()
    wait_until(lambda: envs.envs[2].core.remotes[0].has_news)
    done = np.zeros(3, bool)
    while not done.any():
        _, rewards, terminations, truncations, _ = envs.step(np.zeros(3, int))
        done = terminations | truncations
    assert done.tolist() == [False, False, True]
    assert rewards[2] == 4.0
    observations, *_ = envs.step(np.zeros(3, int))
    assert (observations[2] == 2).all()
    envs.close()


def make_env(remotes: str) -> GymEnv:
    return GymEnv(None, remotes, **QUICKLY)


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_it_works_in_a_stock_async_vector_env(scripted, context):
    """V1, V8, V12: each copy in a process of its own, frames through shared memory."""
    remotes = [scripted(), scripted()]
    urls = [f"vnc://127.0.0.1:{r.address.vnc.port}+{r.address.rewarder.port}" for r in remotes]
    envs = AsyncVectorEnv([partial(make_env, url) for url in urls], context=context)
    try:
        observations, _ = envs.reset(seed=3, options={})
        assert [remote.next_reset().seed for remote in remotes] == [3, 4]
        assert observations in envs.observation_space
        assert (observations == 1).all()
        envs.step(np.array([0, RIGHT_ACTION]))
        assert remotes[1].wait_for_events(1) == [KeyEvent(RIGHT, True)]
        remotes[0].finish(2.0)
        total = np.zeros(2)
        while not total.any():
            _, rewards, terminations, *_ = envs.step(np.zeros(2, int))
            total += rewards
        assert (total.tolist(), terminations.tolist()) == ([2.0, 0.0], [True, False])
    finally:
        envs.close()
