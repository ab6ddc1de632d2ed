"""The checker passes good environments, and names what is wrong with others."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from universe_client.gym.check import VectorEnvError, check_vector_env

N = 3
EPISODE = 5


class Counter(gymnasium.vector.VectorEnv):
    """Counts to EPISODE, row `i` begins at `i`; NEXT_STEP. Subclasses break one thing each."""

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self) -> None:
        self.num_envs = N
        self.single_observation_space = Box(0, 10, (1,), np.int64)
        self.observation_space = batch_space(self.single_observation_space, N)
        self.single_action_space = Discrete(2)
        self.action_space = batch_space(self.single_action_space, N)

    def observe(self) -> Any:
        return self.counts[:, None].copy()

    def reset(self, *, seed=None, options=None):
        self.counts = np.arange(N)
        self.dones = np.zeros(N, bool)
        return self.observe(), {}

    def step(self, actions):
        if len(actions) != N:
            raise ValueError("wrong length")
        resetting = self.dones
        self.counts = np.where(resetting, 0, self.counts + 1)
        self.dones = self.counts >= EPISODE
        rewards = np.where(resetting, 0.0, 1.0)
        infos = {"count": self.counts.copy(), "_count": np.ones(N, bool)}
        return self.observe(), rewards, self.dones.copy(), np.zeros(N, bool), infos


class NoMode(Counter):
    metadata: dict[str, Any] = {}  # noqa: RUF012


class ModeOfText(Counter):
    metadata: dict[str, Any] = {"autoreset_mode": "NextStep"}  # noqa: RUF012


class NoSpace(Counter):
    def __init__(self):
        super().__init__()
        del self.single_action_space


class WrongBatch(Counter):
    def __init__(self):
        super().__init__()
        self.observation_space = batch_space(self.single_observation_space, N + 1)


class NoTuple(Counter):
    def reset(self, *, seed=None, options=None):
        return super().reset()[0]


class OutOfSpace(Counter):
    def observe(self):
        return np.full((N, 1), 11)


class PutsIntoOptions(Counter):
    def reset(self, *, seed=None, options=None):
        if options is not None:
            options["seen"] = True
        return super().reset()


class Overwrites(Counter):
    buffer = np.zeros((N, 1), np.int64)

    def observe(self):
        self.buffer[:, 0] = self.counts
        return self.buffer


class Tampered(Counter):
    """Changes a step's results."""

    def step(self, actions):
        return self.tamper(*super().step(actions))


class FourResults(Tampered):
    def tamper(self, *results):
        return results[:4]


class ListOfRewards(Tampered):
    def tamper(self, obs, rewards, *rest):
        return obs, rewards.tolist(), *rest


class NotANumber(Tampered):
    def tamper(self, obs, rewards, *rest):
        return obs, rewards * np.nan, *rest


class ColumnOfRewards(Tampered):
    def tamper(self, obs, rewards, *rest):
        return obs, rewards[:, None], *rest


class ChangingDtype(Tampered):
    def tamper(self, obs, rewards, *rest):
        return obs, rewards.astype(np.float32) if self.dones.any() else rewards, *rest


class IntegerFlags(Tampered):
    def tamper(self, obs, rewards, terminations, *rest):
        return obs, rewards, terminations.astype(int), *rest


class NoMask(Tampered):
    def tamper(self, obs, rewards, terminations, truncations, infos):
        return obs, rewards, terminations, truncations, {"count": infos["count"]}


class ShortMask(Tampered):
    def tamper(self, obs, rewards, terminations, truncations, infos):
        return obs, rewards, terminations, truncations, infos | {"_count": np.ones(N - 1, bool)}


class InfosOfList(Tampered):
    def tamper(self, *results):
        return *results[:4], [results[4]]


class RewardsTheReset(Tampered):
    def tamper(self, obs, rewards, *rest):
        return obs, np.ones(N), *rest


class DoneTwice(Counter):
    def step(self, actions):
        before = self.dones
        obs, rewards, terminations, truncations, infos = super().step(actions)
        return obs, rewards, terminations | before, truncations, infos


class SaysSameStep(Counter):
    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012


class TakesAnyLength(Counter):
    def step(self, actions):
        return super().step(actions[:N])


class ClosesOnce(Counter):
    def close(self, **kwargs):
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class ResetsAll(Counter):
    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.DISABLED}  # noqa: RUF012
    resets = 0

    def observe(self):
        return super().observe() * 0 + self.resets

    def reset(self, *, seed=None, options=None):
        self.resets = (self.resets + 1) % 7
        return super().reset()


BROKEN = [
    (NoMode, r"metadata\['autoreset_mode'\] is None"),
    (ModeOfText, "is 'NextStep', not"),
    (NoSpace, "no attribute single_action_space"),
    (WrongBatch, "observation_space is .* but a batch of"),
    (NoTuple, r"reset\(\) returns ndarray, not a tuple"),
    (OutOfSpace, r"reset\(\) returns observations \(an array \(3, 1\) of int64\) that are not in"),
    (PutsIntoOptions, r"added \['seen'\] to the options"),
    (Overwrites, "changed the observations that the previous call"),
    (FourResults, r"step\(\) returns a tuple of 4"),
    (ListOfRewards, "rewards are list"),
    (NotANumber, "not finite"),
    (ColumnOfRewards, r"rewards have the shape \(3, 1\)"),
    (ChangingDtype, "rewards change their dtype from float64 to float32"),
    (IntegerFlags, "terminations have the dtype int64"),
    (NoMask, "info 'count' has no mask"),
    (ShortMask, r"the mask '_count' is an array \(2,\)"),
    (InfosOfList, "infos of list"),
    (RewardsTheReset, r"resets row \[.*\] returns a reward"),
    (DoneTwice, r"row \[.*\] is done again"),
    (SaysSameStep, r"infos\['_final_obs'\] is None"),
    (TakesAnyLength, "accepts 4 actions for 3"),
    (ClosesOnce, r"close\(\) called twice raises RuntimeError"),
    (ResetsAll, "changed the observation of row 1"),
]


def test_a_sound_environment_passes():
    check_vector_env(Counter())


@pytest.mark.parametrize(("broken", "message"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_wrong_is_named(broken, message):
    with pytest.raises(VectorEnvError, match=message):
        check_vector_env(broken())


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_stock_vector_environments_pass(kind, mode):
    check_vector_env(
        gymnasium.make_vec(
            "CartPole-v1", num_envs=N, vectorization_mode=kind, vector_kwargs={"autoreset_mode": mode}
        )
    )


def test_gymnasiums_own_vector_entry_point_passes():
    check_vector_env(gymnasium.make_vec("CartPole-v1", num_envs=N))


def test_same_seed_other_observations_is_found_unless_said():
    def spec(nondeterministic: bool) -> Any:
        return gymnasium.envs.registration.EnvSpec("Dice-v0", nondeterministic=nondeterministic)

    class Dice(Counter):
        def observe(self):
            return np.random.default_rng().integers(0, 11, (N, 1))

    env = Dice()
    env.spec = spec(nondeterministic=True)
    check_vector_env(env, close=False)
    env.spec = spec(nondeterministic=False)
    with pytest.raises(VectorEnvError, match="seed 0 and the same actions differ at step 0"):
        check_vector_env(env)


def test_same_actions_other_observations_is_found():
    class Drifting(Counter):
        def step(self, actions):
            observations, *rest = super().step(actions)
            return (
                observations + np.random.default_rng().integers(0, 5)
                if self.counts[0] == 3
                else observations,
                *rest,
            )

    env = Drifting()
    env.spec = gymnasium.envs.registration.EnvSpec("Drifting-v0")
    with pytest.raises(VectorEnvError, match="differ at step 3, but the spec of Drifting-v0"):
        for _ in range(20):
            check_vector_env(env, close=False)


def test_ours_pass_as_deterministic_in_lockstep():
    env = gymnasium.make_vec(
        "universe/Remote-v0",
        num_envs=2,
        env_id="gym-core.CartPole-v1",
        mode="lockstep",
        actions=["Left", "Right"],
    )
    assert env.spec is not None and env.spec.nondeterministic is False
    check_vector_env(env, steps=60)


def test_close_can_be_left_to_the_caller():
    env = Counter()
    check_vector_env(env, close=False)
    assert not env.closed
    check_vector_env(env)
    assert env.closed


def test_infos_without_a_mask_can_be_allowed():
    check_vector_env(NoMask(), optional_info_keys=["count"])
