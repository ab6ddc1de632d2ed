"""Atari games by Gymnasium ids: scripts for ale-py run with the id changed and receive the same frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import wrappers
from stable_baselines3.common.atari_wrappers import (
    ClipRewardEnv,
    EpisodicLifeEnv,
    FireResetEnv,
    MaxAndSkipEnv,
    NoopResetEnv,
)

import tests.support.remotes.adapters  # noqa: F401  torch takes one thread
from universe_client import ConfigError, GymEnv
from universe_client.gym.atari import Console, Joystick, import_ale
from wrappers.gym.atari import joystick

OURS = "universe_client.adapters.atari:universe/{}"
NO_SKIP = "BreakoutNoFrameskip-v4"

pytestmark = pytest.mark.filterwarnings("ignore:.*is out of date")

Make = Callable[[str], gymnasium.Env[Any, Any]]


@pytest.fixture
def make() -> Iterator[Make]:
    """Create environments by id, and close them at the end."""
    gymnasium.register_envs(import_ale())
    opened: list[Any] = []

    def make_one(name: str, **options: Any) -> Any:
        opened.append(gymnasium.make(name, **options))
        return opened[-1]

    yield make_one
    for env in opened:
        env.close()


def usual(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Add the usual Atari wrappers of Stable-Baselines3 and Gymnasium."""
    env = wrappers.RecordEpisodeStatistics(env)
    env = EpisodicLifeEnv(MaxAndSkipEnv(NoopResetEnv(env, noop_max=30), skip=4))
    if "FIRE" in env.unwrapped.get_action_meanings():
        env = FireResetEnv(env)
    env = wrappers.ResizeObservation(ClipRewardEnv(env), (84, 84))
    return wrappers.FrameStackObservation(wrappers.GrayscaleObservation(env), 4)


def assert_same_play(ours: Any, stock: Any, steps: int) -> int:
    """Play both with the same seed and actions, and return how many episodes ended."""
    assert ours.action_space == stock.action_space
    dice, ends = np.random.default_rng(3), 0
    seen, expected = ours.reset(seed=5)[0], stock.reset(seed=5)[0]
    assert np.array_equal(seen, expected)
    for _ in range(steps):
        action = int(dice.integers(ours.action_space.n))
        mine, theirs = ours.step(action), stock.step(action)
        assert np.array_equal(mine[0], theirs[0])
        assert mine[1:4] == theirs[1:4]
        if mine[2] or mine[3]:
            ends += 1
            assert mine[4].get("episode", {}).get("r") == theirs[4].get("episode", {}).get("r")
            assert np.array_equal(ours.reset()[0], stock.reset()[0])
    return ends


def test_the_usual_wrappers_see_the_same_game_with_only_the_id_changed(make):
    ours, stock = (usual(make(name)) for name in (OURS.format(NO_SKIP), NO_SKIP))
    assert ours.unwrapped.get_action_meanings() == stock.unwrapped.get_action_meanings()
    assert assert_same_play(ours, stock, 150) >= 2, "lives should be lost within the steps"


@pytest.mark.parametrize("grey", [True, False])
def test_gymnasiums_atari_preprocessing_sees_the_same_game_with_only_the_id_changed(make, grey):
    ours, stock = (
        wrappers.AtariPreprocessing(make(name), terminal_on_life_loss=True, grayscale_obs=grey)
        for name in (OURS.format(NO_SKIP), NO_SKIP)
    )
    assert_same_play(ours, stock, 80)


def test_a_loop_of_ppo_over_a_stock_vector_runs_to_its_end(make):
    """A PPO script of one file over `SyncVectorEnv` with `NEXT_STEP` autoreset."""
    count, length = 2, 8
    envs = gymnasium.vector.SyncVectorEnv([lambda: usual(make(OURS.format(NO_SKIP)))] * count)
    body = torch.nn.Sequential(torch.nn.Conv2d(4, 8, 8, 8), torch.nn.ReLU(), torch.nn.Flatten())
    actor, critic = torch.nn.LazyLinear(envs.single_action_space.n), torch.nn.LazyLinear(1)
    seen = torch.Tensor(envs.reset(seed=1)[0])
    actor(body(seen / 255)), critic(body(seen / 255))
    optimizer = torch.optim.Adam([*body.parameters(), *actor.parameters(), *critic.parameters()], lr=1e-3)
    for _ in range(2):
        rollout: list[tuple[Any, ...]] = []
        for _ in range(length):
            with torch.no_grad():
                features = body(seen / 255)
                policy = torch.distributions.Categorical(logits=actor(features))
                action, value = policy.sample(), critic(features).flatten()
            following, reward, terminations, truncations, _ = envs.step(action.numpy())
            done = torch.Tensor(terminations | truncations)
            rollout.append((seen, action, policy.log_prob(action), value, torch.Tensor(reward), done))
            seen = torch.Tensor(following)
        observations, actions, before, values, rewards, dones = map(torch.stack, zip(*rollout, strict=True))
        assert observations.shape == (length, count, 4, 84, 84)
        returns = torch.zeros_like(rewards)
        with torch.no_grad():
            later = critic(body(seen / 255)).flatten()
        for step in reversed(range(length)):
            later = returns[step] = rewards[step] + 0.99 * later * (1 - dones[step])
        features = body(observations.flatten(0, 1) / 255)
        policy = torch.distributions.Categorical(logits=actor(features))
        ratio = (policy.log_prob(actions.flatten()) - before.flatten()).exp()
        advantages = (returns - values).flatten()
        gain = torch.min(ratio * advantages, ratio.clamp(0.9, 1.1) * advantages).mean()
        loss = (critic(features).flatten() - returns.flatten()).square().mean() - gain
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert torch.isfinite(loss)


def test_make_vec_and_real_time_take_the_same_ids(make):
    with gymnasium.make_vec(OURS.format("Pong-v5"), num_envs=2, mode="realtime", step_rate=60) as envs:
        assert envs.single_action_space.n == 6
        assert envs.reset(seed=1)[0].shape == (2, 210, 160, 3)
        assert envs.spec.nondeterministic


def test_names_of_actions_are_those_of_the_joystick_and_of_nothing_else(scripted):
    env = GymEnv(None, f"vnc://127.0.0.1:{scripted().address.vnc.port}", actions=joystick(["NOOP", "UPFIRE"]))
    assert env.get_action_meanings() == ["NOOP", "UPFIRE"]
    assert env.ale.lives() == 0
    env.close()
    env = GymEnv(None, f"vnc://127.0.0.1:{scripted().address.vnc.port}")
    assert not hasattr(env, "ale")
    with pytest.raises(AttributeError, match="only joystick actions have names"):
        env.get_action_meanings()
    env.close()
    with pytest.raises(ConfigError, match="'JUMP' is neither NOOP nor"):
        Joystick(["JUMP"])


def test_grey_is_the_consoles_grey_for_every_colour_that_it_has():
    ale = import_ale().ALEInterface()
    ale.loadROM(import_ale().roms.get_rom_path("breakout"))
    for _ in range(200):
        ale.act(1)
    console = Console(ale.getScreenRGB, lambda: 3)
    assert np.array_equal(console.getScreenGrayscale(), ale.getScreenGrayscale())
    out = np.zeros((210, 160, 3), np.uint8)
    assert console.getScreenRGB(out) is out
    assert np.array_equal(out, ale.getScreenRGB())
