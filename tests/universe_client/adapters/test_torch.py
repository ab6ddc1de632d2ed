"""TorchRL and Gymnasium's torch wrappers work without an adapter."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import wrappers
from torchrl.envs import GymEnv, GymWrapper, check_env_specs, step_mdp

import tests.support.remotes.adapters  # noqa: F401  torch takes one thread
import universe_client  # noqa: F401  registers its environments with Gymnasium

WORLD: dict[str, Any] = {"env_id": "gym-core.CartPole-v1", "mode": "lockstep", "actions": ["Left", "Right"]}
STATE = WORLD | {"observation": "env_observation"}

pytestmark = [
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable"),  # the bounds of a PixelBox
]


def make_vec(**options: Any) -> gymnasium.vector.VectorEnv:
    return gymnasium.make_vec("universe/Remote-v0", num_envs=2, **(STATE | options))


def test_torchrls_gym_env_takes_the_id_and_its_frame_skip():
    env = GymEnv("universe/Remote-v0", frame_skip=3, **WORLD)
    try:
        assert env.reset()["pixels"].shape == (400, 600, 3)
        rollout = env.rollout(2, auto_reset=True)
        assert rollout["next", "reward"].flatten().tolist() == [3.0, 3.0]
    finally:
        env.close()


def test_a_single_face_keeps_to_torchrls_specs():
    env = GymWrapper(gymnasium.make("universe/Remote-v0", **STATE))
    try:
        check_env_specs(env)
    finally:
        env.close()


def test_a_vector_in_next_step_is_refused_in_words_that_name_the_modes():
    env = make_vec()
    with pytest.raises(RuntimeError, match="auto-reset mode must be one of SAME_STEP or DISABLED"):
        GymWrapper(env)
    env.close()


def test_a_vector_without_autoreset_is_rolled_out_over_the_ends_of_its_episodes():
    env = GymWrapper(make_vec(autoreset_mode="Disabled"))
    try:
        env.set_seed(5)
        rollout = env.rollout(80, break_when_any_done=False)
        ends = rollout["next", "terminated"].squeeze(-1)
        assert (ends.sum(1) >= 1).all(), "every row should end"
        for row, steps in enumerate(ends):
            for step in torch.nonzero(steps[:-1]).flatten().tolist():
                last, first = rollout["next", "observation"][row, step], rollout["observation"][row, step + 1]
                assert abs(last[2]) > 0.2 or abs(last[0]) > 2.4, "the pole of a last observation has fallen"
                assert abs(first).max() <= 0.05, "an episode begins upright"
    finally:
        env.close()


def test_torchrl_resets_by_mask_and_no_row_else():
    env = GymWrapper(make_vec(autoreset_mode="Disabled"))
    try:
        data = env.reset()
        while True:
            data = env.rand_step(data)
            if data["next", "done"].any():
                break
            data = step_mdp(data)
        done = data["next", "done"]
        following = step_mdp(data)
        following["_reset"] = done.clone()
        begun = env.reset(following)
        kept = ~done.flatten()
        assert torch.equal(begun["observation"][kept], data["next", "observation"][kept])
        assert (abs(begun["observation"][~kept]) <= 0.05).all()
    finally:
        env.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_numpy_to_torch_goes_around_a_vector(mode):
    env = wrappers.vector.NumpyToTorch(make_vec(autoreset_mode=mode))
    try:
        observations, infos = env.reset(seed=1)
        assert isinstance(observations, torch.Tensor)
        assert infos["env_status.env_state"].tolist() == ["running"] * 2
        observations, rewards, terminations, _, infos = env.step(torch.zeros(2, dtype=torch.int64))
        assert (observations.shape, rewards.tolist(), terminations.dtype) == ((2, 4), [1.0, 1.0], torch.bool)
        assert isinstance(infos["terminated"], torch.Tensor)
        assert isinstance(infos["env_status.env_id"], np.ndarray)
    finally:
        env.close()


def test_numpy_to_torch_goes_around_the_single_face():
    env = wrappers.NumpyToTorch(gymnasium.make("universe/Remote-v0", **STATE))
    try:
        observation, info = env.reset(seed=1)
        assert isinstance(observation, torch.Tensor)
        assert (info["env_status.env_state"], info["error"]) == ("running", None)
    finally:
        env.close()
