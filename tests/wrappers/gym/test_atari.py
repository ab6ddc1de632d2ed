"""The Atari wrappers in lock-step return the same pixels and rewards as the Arcade Learning Environment itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ale_py
import gymnasium
import numpy as np
import pytest

from universe_client import ConfigError, GymVectorEnv
from universe_client.adapters.sb3 import SB3VecEnv
from universe_client.gym.check import check_vector_env
from universe_client.spaces.pixel_box import PixelBox
from wrappers import FrameSkip, MaxFrames
from wrappers.gym.atari import JOYSTICK, atari, joystick

gymnasium.register_envs(ale_py)
PONG, BREAKOUT = "ALE/Pong-v5", "ALE/Breakout-v5"
SEED = 5


def opened(game: str, actions: list[str], **options: Any) -> GymVectorEnv:
    return GymVectorEnv(
        f"gym-core.{game}", "embedded:2", mode="lockstep", actions=joystick(actions), **options
    )


@pytest.fixture(scope="module")
def pong() -> Iterator[GymVectorEnv]:
    env = opened(PONG, ["NOOP", "RIGHT", "LEFT"])
    yield env
    env.close()


@pytest.fixture(scope="module")
def breakout() -> Iterator[GymVectorEnv]:
    env = opened(BREAKOUT, ["NOOP", "FIRE", "RIGHT", "LEFT"])
    yield env
    env.close()


def console(game: str, seed: int, actions: list[int]) -> tuple[list[Any], float]:
    """Return the frames of a separate console, the first before any action, and the sum of its rewards."""
    env = gymnasium.make(game, frameskip=1)
    frames, total = [env.reset(seed=seed)[0]], 0.0
    for action in actions:
        frame, reward, *_ = env.step(action)
        frames.append(frame)
        total += float(reward)
    env.close()
    return frames, total


def test_r1_frame_skip_and_2_frame_max_are_the_consoles_to_the_pixel(pong):
    env = FrameSkip(MaxFrames(pong), skip=4)
    observations, _ = env.reset(seed=SEED)
    ours, keys = [observations], [1, 2, 2, 0, 1, 1, 0, 2] * 5
    rewards = 0.0
    for key in keys:
        observations, reward, *_ = env.step(np.array([key, 0]))
        ours.append(observations)
        rewards += reward
    # Pong's own actions: 0 is NOOP, 2 is RIGHT, 3 is LEFT.
    for row, actions in ((0, [(0, 2, 3)[key] for key in keys for _ in range(4)]), (1, [0] * 4 * len(keys))):
        frames, total = console(PONG, SEED + row, actions)
        assert np.array_equal(ours[0][row], frames[0])
        for step in range(1, len(ours)):
            expected = np.maximum(frames[4 * step - 1], frames[4 * step])
            assert np.array_equal(ours[step][row], expected), (row, step)
        assert rewards[row] == total


def test_r1_observations_are_stacks_of_80x104_bytes(pong):
    env = atari(pong, max_start_noops=0)
    assert env.single_observation_space == PixelBox((104, 80, 4))
    env.reset(seed=SEED)
    observations, *_ = env.step(np.array([0, 0]))
    frames, _ = console(PONG, SEED, [0] * 4)
    luma = np.array([0.299, 0.587, 0.114])
    for channel, frame in ((2, frames[0]), (3, np.maximum(frames[3], frames[4]))):
        small = (frame[1:-1] @ luma).reshape(104, 2, 80, 2).mean(axis=(1, 3))
        assert np.abs(observations[0, ..., channel] - small).max() < 1.5


def test_r2_r3_breakout_lives_are_episodes_and_the_score_is_kept(breakout):
    env = atari(breakout, fire_on_reset=True, max_start_noops=4)
    env.reset(seed=SEED)
    ends: list[list[bool]] = [[], []]
    while min(map(len, ends)) < 5:
        _, rewards, terminations, truncations, infos = env.step(np.array([0, 0]))
        assert not truncations.any()
        assert np.array_equal(rewards, np.clip(infos["raw_reward"], -1, 1))
        for row in np.flatnonzero(terminations):
            ends[row].append(bool(infos["traj_done"][row]))
    for row in (0, 1):
        assert ends[row][:5] == [False] * 4 + [True]


def test_r3_stable_baselines_resets_end_lives_and_leave_games_alone(breakout):
    env = SB3VecEnv(atari(breakout, fire_on_reset=True))
    env.seed(SEED)
    env.reset()
    ends: list[list[bool]] = [[], []]
    while min(map(len, ends)) < 6:
        _, _, dones, infos = env.step(np.array([0, 0]))
        for row in np.flatnonzero(dones):
            ends[row].append(infos[row]["traj_done"])
    for row in (0, 1):
        assert ends[row][:6] == [False] * 4 + [True, False]


def test_r4_sticky_actions_noops_and_horizon():
    env = opened(PONG, ["NOOP", "RIGHT", "LEFT"], max_episode_steps=48)
    try:
        env = atari(env, repeat_action_probability=0.5, max_start_noops=8)
        env.reset(seed=SEED)
        steps = [env.step(np.array([1, 2])) for _ in range(40)]
    finally:
        env.close()
    cut = np.array([truncations for _, _, _, truncations, _ in steps])
    assert np.flatnonzero(cut[:, 0]).tolist() == [11, 24, 37], "12 steps of 4 frames, and one of a reset"
    assert all(infos["end_reason"][0] == "time_limit" for _, _, _, cut, infos in steps if cut[0])
    assert any(infos["sticky"].any() for *_, infos in steps)
    assert any(infos["noop"].any() for *_, infos in steps)


def test_the_set_keeps_the_contract_of_gymnasiums_vectors():
    env = opened(PONG, ["NOOP", "RIGHT", "LEFT"], max_episode_steps=30)
    try:
        check_vector_env(atari(env), steps=20)
    finally:
        env.close()


def test_in_real_time_the_game_goes_on_between_decisions():
    remotes = GymVectorEnv(
        f"gym-core.{PONG}", "embedded:2", step_rate=60, actions=joystick(["NOOP", "RIGHT", "LEFT"])
    )
    env = atari(remotes, max_start_noops=0)
    try:
        observations, _ = env.reset(seed=SEED)
        updates = np.zeros(2)
        for _ in range(40):
            before = observations
            observations, *_, infos = env.step(np.array([1, 2]))
            updates += infos["stats.vnc.updates.n"]
    finally:
        env.close()
    assert observations.shape == (2, 104, 80, 4)
    assert np.array_equal(observations[..., :3], before[..., 1:]), (
        "one frame is new, the others have moved up"
    )
    assert (updates > 40).all(), "there are more frames than decisions"


def test_joystick_actions_are_arrows_and_space():
    assert len(JOYSTICK) == len(set(JOYSTICK)) == 17
    with pytest.raises(ConfigError, match="'JUMP' is neither NOOP nor one of UP, RIGHT"):
        joystick(["NOOP", "JUMP"])


@pytest.mark.parametrize("game", [PONG, BREAKOUT, "ALE/MsPacman-v5", "ALE/Boxing-v5"])
def test_every_action_of_a_game_can_be_typed(game):
    from rewarder.runtimes.gym.keys import key_map

    env = gymnasium.make(game)
    meanings = env.unwrapped.get_action_meanings()
    keys = key_map(env)
    for action, keysyms in enumerate(joystick(meanings).keysyms):
        assert keys.action(frozenset(keysyms)) == action, meanings[action]
    env.close()
