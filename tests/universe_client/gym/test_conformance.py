"""The portable part of Gymnasium's own vector tests: over lock-step remotes, where the same actions give the same.

What the vector face does is held against stock `SyncVectorEnv`s of single faces, and stock vector wrappers around it
against the single wrappers inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium import wrappers
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper

from universe_client import ConfigError, GymEnv, GymVectorEnv

N, STEPS, SEED = 2, 60, 123
OPTIONS: dict[str, Any] = {"env_id": "gym-core.CartPole-v1", "actions": [(), "Left"], "mode": "lockstep"}
SAME = {
    "env_status.env_id",
    "env_status.env_state",
    "end_reason",
    "error",
    "mask.masked.observation",
    "resetting",
    "stats.reward.count",
    "terminated",
    "truncated",
}
"""The infos that do not depend on clocks and connections."""


@pytest.fixture(scope="module")
def envs() -> Iterator[GymVectorEnv]:
    with GymVectorEnv(num_envs=N, **OPTIONS) as opened:
        yield opened


@pytest.fixture(scope="module")
def singles() -> Iterator[list[GymEnv]]:
    opened = [GymEnv(**OPTIONS) for _ in range(N)]
    yield opened
    for env in opened:
        env.close()


def stock(singles: list[GymEnv], wrap: Callable[[Any], Any] = lambda env: env) -> SyncVectorEnv:
    """A stock vector of the open environments, each wrapped; it is never closed."""
    constructors = [lambda env=env: wrap(env) for env in singles]
    return SyncVectorEnv(constructors, autoreset_mode=AutoresetMode.NEXT_STEP)


def assert_alike(ours: VectorEnv, theirs: VectorEnv, steps: int = STEPS) -> list[tuple[Any, Any]]:
    """Reset and step both with the same seed and actions; return the infos of each step, ours first."""
    for name in (
        "num_envs",
        "observation_space",
        "single_observation_space",
        "action_space",
        "single_action_space",
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    (observations, infos), (expected, their_infos) = ours.reset(seed=SEED), theirs.reset(seed=SEED)
    assert data_equivalence(observations, expected)
    told = [(infos, their_infos)]
    ours.action_space.seed(SEED)
    for _ in range(steps):
        actions = ours.action_space.sample()
        *results, infos = ours.step(actions)
        *expected, their_infos = theirs.step(actions)
        for result, wanted in zip(results, expected, strict=True):
            assert data_equivalence(result, wanted)
        told.append((infos, their_infos))
    return told


def test_the_vector_face_is_a_stock_vector_of_single_faces(envs, singles):
    told = assert_alike(envs, stock(singles))
    ends = [infos["terminated"] for infos, _ in told]
    assert np.sum(ends, axis=0).min() >= 1, "each row should reset within the steps"
    for infos, expected in told:
        for key in SAME:
            mask = infos[f"_{key}"]
            assert mask.tolist() == [value is not None for value in expected[key]], key
            assert infos[key][mask].tolist() == expected[key][mask].tolist()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("FlattenObservation", {}),
        ("GrayscaleObservation", {}),
        ("ResizeObservation", {"shape": (35, 45)}),
        ("ReshapeObservation", {"shape": (400, 300, 6)}),
        ("DtypeObservation", {"dtype": np.int32}),
        ("ClipReward", {"min_reward": -0.25, "max_reward": 0.75}),
    ],
)
def test_a_vector_wrapper_around_is_a_single_wrapper_inside(envs, singles, name, options):
    around = getattr(wrappers.vector, name)(envs, **options)
    inside = getattr(wrappers, name)
    assert_alike(around, stock(singles, lambda env: inside(env, **options)), steps=25)


def test_episode_statistics_are_those_of_the_single_wrapper(envs, singles):
    ours = wrappers.vector.RecordEpisodeStatistics(envs)
    told = assert_alike(ours, stock(singles, wrappers.RecordEpisodeStatistics))
    ended = [(infos, expected) for infos, expected in told if "episode" in expected]
    assert ended
    for infos, expected in told:
        assert ("episode" in infos) == ("episode" in expected)
    for infos, expected in ended:
        assert infos["_episode"].tolist() == expected["_episode"].tolist()
        for key in "rl":
            assert infos["episode"][key].tolist() == expected["episode"][key].tolist()
    assert len(ours.return_queue) == ours.episode_count == sum(infos["_episode"].sum() for infos, _ in ended)


def test_rewards_can_be_normalized(envs, singles):
    """Gymnasium's own estimates are one for all copies, so around and inside differ; both must take our rewards."""
    around = wrappers.vector.NormalizeReward(envs)
    around.reset(seed=SEED)
    for _ in range(25):
        _, rewards, *_ = around.step(envs.action_space.sample())
        assert rewards.shape == (N,)
        assert np.isfinite(rewards).all()


def test_wrappers_have_the_attributes_of_what_they_wrap(envs):
    class Nothing(VectorWrapper):
        pass

    wrapped = Nothing(envs)
    assert isinstance(wrapped, VectorEnv)
    assert wrapped.unwrapped is envs
    for name in ("num_envs", "metadata", "spec", "render_mode", "closed", "np_random_seed", "action_space"):
        assert getattr(wrapped, name) == getattr(envs, name)
    wrapped.metadata = {"autoreset_mode": AutoresetMode.DISABLED}
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


@pytest.mark.parametrize("count", [0, N - 1, N + 1])
def test_a_batch_of_another_length_is_refused(envs, count):
    envs.reset(seed=SEED)
    with pytest.raises(ConfigError, match=f"{count} actions for {N}"):
        envs.step(np.zeros(count, np.int64))


def test_the_generator_is_seeded_and_the_space_has_dice_of_its_own(envs):
    envs.reset(seed=SEED)
    assert envs.np_random_seed == envs.get_attr("np_random_seed") == (SEED, SEED + 1)
    drawn = [dice.random() for dice in envs.np_random]
    envs.reset(seed=SEED)
    assert [dice.random() for dice in envs.np_random] == drawn
    assert drawn[0] != drawn[1]
    envs.action_space.seed(1)
    first = envs.action_space.sample()
    envs.action_space.seed(1)
    assert np.array_equal(envs.action_space.sample(), first)


def test_a_human_can_look_on(envs, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    shown = wrappers.vector.HumanRendering(envs)
    shown.reset(seed=SEED)
    shown.step(envs.action_space.sample())
    assert shown.render_mode == "human"
    pygame.quit()


def test_get_attr_gives_the_spec_of_one_environment_for_each_row_as_a_stock_vector_does():
    """Learners read the id, and make one more environment of it to evaluate in."""
    envs = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=2, step_rate=30)
    specs = envs.get_attr("spec")
    envs.close()
    assert [spec.id for spec in specs] == ["universe/NeonDrive-v0"] * 2
    with gymnasium.make(specs[0]) as single:
        assert single.spec.kwargs["step_rate"] == 30
        assert single.observation_space == envs.single_observation_space
