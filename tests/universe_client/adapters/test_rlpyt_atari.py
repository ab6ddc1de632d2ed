"""rlpyt's Atari environment in lock-step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

from universe_client import ConfigError
from universe_client.adapters.rlpyt_atari import AtariEnv, AtariTrajInfo, minimal_actions


@pytest.fixture
def opened() -> Iterator[Callable[..., AtariEnv]]:
    environments: list[AtariEnv] = []

    def open_one(game: str, **options: Any) -> AtariEnv:
        environments.append(AtariEnv(game, mode="lockstep", **options))
        return environments[-1]

    yield open_one
    for env in environments:
        env.close()


def play(env: AtariEnv, action: int, most: int = 2000) -> list[Any]:
    """Step until the game is over."""
    steps = []
    while not steps or not steps[-1].env_info.traj_done:
        assert len(steps) < most, "the game did not end"
        steps.append(env.step(action))
    return steps


def test_r1_spaces_and_observations(opened):
    env = opened("pong", num_img_obs=3)
    assert env.spaces.observation.space.shape == (3, 104, 80)
    assert env.spaces.action.space.n == 6
    first = env.reset()
    observation, reward, done, env_info = env.step(env.action_space.sample())
    for frames in (first, observation):
        assert frames in env.spaces.observation.space
        assert frames.flags.c_contiguous
    assert (reward, reward.dtype, done, env_info._fields) == (
        0,
        np.float32,
        False,
        ("game_score", "traj_done", "timeout"),
    )
    assert np.array_equal(first[0], first[2]), "a stack begins with its first frame"


def test_r2_r3_r8_lives_scores_and_trajectories(opened):
    env = opened("breakout", fire_on_reset=True, max_start_noops=0)
    env.reset()
    for _ in range(2):
        record = AtariTrajInfo()
        steps = play(env, 0)
        for step in steps:
            assert step.reward == np.clip(step.env_info.game_score, -1, 1)
            record.step(step.observation, 0, step.reward, step.done, None, step.env_info)
        ends = [step for step in steps if step.done]
        assert [step.env_info.traj_done for step in ends] == [False] * 4 + [True]
        assert not any(step.env_info.timeout for step in ends)
        assert record["GameScore"] == sum(step.env_info.game_score for step in steps)
        assert record.Length == len(steps)
        assert env.reset() in env.spaces.observation.space


def test_r3_without_episodic_lives_a_game_is_done_once(opened):
    env = opened("breakout", fire_on_reset=False, episodic_lives=False, clip_reward=False, horizon=30)
    env.reset()
    steps = play(env, minimal_actions("breakout").index("FIRE"))
    assert [step.done for step in steps] == [False] * 29 + [True]


def test_r4_r6_the_horizon_is_a_timeout(opened):
    env = opened("pong", horizon=10, frame_skip=2, repeat_action_probability=0.5)
    env.reset()
    for _ in range(2):
        steps = play(env, 1)
        assert len(steps) == 10
        assert (steps[-1].done, steps[-1].env_info.timeout) == (True, True)
        env.reset()


def test_r4_without_sticky_actions_none_stick(opened):
    env = opened("pong", frame_skip=1, num_img_obs=1, max_start_noops=0)
    console = gymnasium.make("PongNoFrameskip-v4")
    env.reset()
    console.reset()
    luma = np.array([0.299, 0.587, 0.114])
    before = console.unwrapped.ale.getScreenRGB()
    for action in [2, 3, 3, 5, 4, 2, 0, 3, 2, 2] * 6:
        observation = env.step(action).observation
        now = console.step(action)[0]
        small = (np.maximum(before, now)[1:-1] @ luma).reshape(104, 2, 80, 2).mean(axis=(1, 3))
        assert np.abs(observation[0] - small).max() < 1.5
        before = now
    console.close()


def test_r7_null_values(opened):
    env = opened("pong")
    assert env.spaces.action.null_value() == 0
    assert not env.spaces.observation.null_value().any()
    assert env.spaces.observation.null_value().shape == (4, 104, 80)


def test_what_makes_no_sense_is_refused_and_nothing_is_left_running():
    assert minimal_actions("pong") == ["NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE"]
    with pytest.raises(ConfigError, match="unknown Atari game 'pang'"):
        AtariEnv("pang")
    with pytest.raises(ConfigError, match="remotes names 2"):
        AtariEnv("pong", remotes="embedded:2")
    with pytest.raises(ConfigError, match="size=0"):
        AtariEnv("pong", num_img_obs=0)
