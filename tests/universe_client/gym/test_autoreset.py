"""`autoreset_mode=`: in lock-step over a deterministic world, step by step as in stock `SyncVectorEnv`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tests.support.remotes.agent import set_reset_timeout
from tests.support.remotes.gym import any_done, noop, open_gym, step_until, three, values
from universe_client import ConfigError, GymEnv, GymVectorEnv
from universe_client.errors import ArgumentTypeError
from universe_client.gym.batch import infos as gym_infos
from universe_client.gym.check import check_vector_env
from wrappers import EpisodicLives, FrameStack, RewardClip

__all__ = ["open_gym", "three"]

N, STEPS, SEED = 3, 80, 7
WORLD: dict[str, Any] = {"env_id": "gym-core.CartPole-v1", "actions": ["Left", "Right"], "mode": "lockstep"}


@pytest.fixture(scope="module")
def singles() -> Iterator[list[GymEnv]]:
    opened = [GymEnv(**WORLD) for _ in range(N)]
    yield opened
    for env in opened:
        env.close()


def stock(singles: list[GymEnv], mode: str) -> SyncVectorEnv:
    """A stock vector of the open environments; it is never closed."""
    return SyncVectorEnv([lambda env=env: env for env in singles], autoreset_mode=mode)


@pytest.fixture
def pair(singles) -> Iterator[Callable[[str], tuple[GymVectorEnv, SyncVectorEnv]]]:
    """Ours and stock's in the same mode."""
    opened: list[GymVectorEnv] = []

    def make(mode: str) -> tuple[GymVectorEnv, SyncVectorEnv]:
        opened.append(GymVectorEnv(num_envs=N, autoreset_mode=mode, **WORLD))
        return opened[-1], stock(singles, mode)

    yield make
    for env in opened:
        env.close()


def assert_infos_alike(ours: dict[str, Any], stock: dict[str, Any]) -> None:
    """Stock has no column of which nobody has an entry; otherwise both are equal.

    The action that the next-step autoreset ignores never reaches the environment of a stock vector.
    """
    for key in {*gym_infos.DTYPES, "final_obs"} - {"mask.masked.action"}:
        has = stock.get(f"_{key}", np.zeros(N, np.bool_))
        expected = [value is not None for value in stock.get(key, [None] * N)] & has
        mask = ours.get(f"_{key}", np.zeros(N, np.bool_))
        assert mask.tolist() == expected.tolist(), key
        for row in np.flatnonzero(mask):
            assert np.array_equal(ours[key][row], stock[key][row]), key
    assert ("final_info" in ours) == ("final_info" in stock)
    if "final_info" in ours:
        assert ours["_final_info"].tolist() == stock["_final_info"].tolist()
        assert_infos_alike(ours["final_info"], stock["final_info"])


def assert_alike(ours: tuple[Any, ...], stock: tuple[Any, ...]) -> None:
    for one, other in zip(ours[:-1], stock[:-1], strict=True):
        assert data_equivalence(one, other)
    assert_infos_alike(ours[-1], stock[-1])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_every_step_is_that_of_a_stock_vector_in_the_same_mode(pair, mode):
    env, theirs = pair(mode)
    assert env.metadata["autoreset_mode"] is env.autoreset_mode is AutoresetMode(mode)
    assert_alike(env.reset(seed=SEED), theirs.reset(seed=SEED))
    assert env.np_random_seed == theirs.np_random_seed
    env.action_space.seed(SEED)
    ends = np.zeros(N, int)
    for _ in range(STEPS):
        actions = env.action_space.sample()
        ours = env.step(actions)
        assert_alike(ours, theirs.step(actions))
        ends += ours[2]
    assert ends.min() >= 1, "every row should end within the steps"


@pytest.mark.parametrize("seeds", [None, [11, None, 13]])
def test_without_autoreset_the_caller_resets_by_mask_as_in_a_stock_vector(pair, seeds):
    env, theirs = pair("Disabled")
    assert_alike(env.reset(seed=SEED), theirs.reset(seed=SEED))
    env.action_space.seed(SEED)
    ends = np.zeros(N, int)
    for _ in range(STEPS):
        actions = env.action_space.sample()
        ours = env.step(actions)
        assert_alike(ours, theirs.step(actions))
        dones = ours[2] | ours[3]
        ends += dones
        if dones.any():
            with pytest.raises(ResetNeeded, match="call reset"):
                env.step(actions)
            results = [each.reset(seed=seeds, options={"reset_mask": dones.copy()}) for each in (env, theirs)]
            assert_alike(*results)
    assert ends.min() >= 1


def test_the_last_pixels_of_an_episode_are_its_own_whatever_lends_the_array(pair):
    env, _ = pair("SameStep")
    env.reset(seed=SEED)
    while True:
        observations, _, terminations, _, infos = env.step(np.zeros(N, int))
        if terminations.any():
            break
    row = int(np.flatnonzero(terminations)[0])
    assert infos["final_obs"][row] in env.single_observation_space
    assert not np.array_equal(infos["final_obs"][row], observations[row])
    assert infos["final_obs"][~terminations].tolist() == [None] * int((~terminations).sum())


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_the_checker_of_vectors_finds_the_mode_kept(pair, mode):
    env, _ = pair(mode)
    check_vector_env(env, steps=60, close=False)


def test_in_real_time_the_step_that_ends_an_episode_waits_for_the_next(three, open_gym):
    env = open_gym(*three, autoreset_mode="SameStep")
    env.reset()
    three[1].finish(2.5)
    three[1].next_episode()
    three[1].reward(4.0)
    result = step_until(env, any_done)[-1]
    observations, rewards, terminations, _, infos = result
    assert values(observations) == [1, 2, 1]
    assert (rewards.tolist(), terminations.tolist()) == ([0.0, 2.5, 0.0], [False, True, False])
    assert values([infos["final_obs"][1]]) == [1]
    assert infos["final_info"]["env_status.complete.episode_id"].tolist() == [None, "1", None]
    assert infos["env_status.complete.episode_id"].tolist() == [None] * 3
    assert step_until(env, lambda result: result[1][1] != 0)[-1][1].tolist() == [0.0, 4.0, 0.0]


def test_a_remote_that_does_not_come_back_leaves_its_last_frame_and_the_step_goes_on(three, open_gym):
    env = open_gym(*three, autoreset_mode="SameStep")
    env.reset()
    set_reset_timeout(env.core, 0.5)
    three[2].finish(1.0)
    _, rewards, terminations, _, infos = step_until(env, any_done)[-1]
    assert (rewards[2], terminations[2]) == (1.0, True)
    assert infos["resetting"].tolist() == [False, False, True]
    three[2].next_episode()
    observations = step_until(env, lambda result: not result[4]["resetting"][2])[-1][0]
    assert values(observations)[2] > 1


def test_without_autoreset_the_other_rows_go_on(three, open_gym):
    env = open_gym(*three, autoreset_mode="Disabled")
    env.reset()
    three[0].finish(1.0)
    dones = step_until(env, any_done)[-1][2]
    with pytest.raises(ResetNeeded, match=r"remotes \[0\] have no episode"):
        env.step(noop(env))
    env.send(np.zeros(2, int), [1, 2])
    assert env.recv()[4]["env_id"].tolist() == [1, 2]
    three[0].next_episode()
    assert values(env.reset(options={"reset_mask": dones})[0]) == [2, 1, 1]
    assert not env.step(noop(env))[2].any()


def test_modes_that_make_no_sense_are_refused(scripted, open_gym):
    with pytest.raises(ConfigError, match="autoreset_mode='Never' is none of NextStep, SameStep, Disabled"):
        open_gym(scripted(), autoreset_mode="Never")
    with pytest.raises(ConfigError, match="'SameStep' waits for first frames"):
        open_gym(scripted(), autoreset_mode="SameStep", reset_mode="mask")


def test_a_wrapper_that_follows_episodes_refuses_what_it_would_get_wrong(scripted, open_gym):
    env = open_gym(scripted(), autoreset_mode=AutoresetMode.SAME_STEP)
    for wrapper in (FrameStack, EpisodicLives):
        with pytest.raises(ConfigError, match=f"{wrapper.__name__} needs autoreset_mode='NextStep' or"):
            wrapper(env)
    assert RewardClip(env).reset()


@pytest.mark.parametrize("mask", [[True, False, False], np.array([1, 0, 0]), "all", np.array([0.5, 0, 0])])
def test_a_mask_that_is_not_an_array_of_bool_is_a_type_error_as_in_a_stock_vector(
    singles, three, open_gym, mask
):
    env = open_gym(*three)
    env.reset()
    with pytest.raises(ArgumentTypeError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})
    with pytest.raises(TypeError, match="reset_mask"):
        stock(singles, "Disabled").reset(options={"reset_mask": mask})


@pytest.mark.parametrize("mask", [np.zeros(3, np.bool_), np.ones(2, np.bool_)])
def test_a_mask_of_the_wrong_length_or_of_nobody_is_a_value_error_as_in_a_stock_vector(three, open_gym, mask):
    env = open_gym(*three)
    env.reset()
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})
