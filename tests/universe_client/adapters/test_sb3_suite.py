"""SB3VecEnv passes the tests that Stable-Baselines3 has for `VecEnv`s, and works with its checker and algorithms."""

from __future__ import annotations

import warnings
from functools import partial

import gymnasium
import numpy as np
import pytest
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecEnvWrapper,
    VecFrameStack,
    VecNormalize,
    VecTransposeImage,
)

from tests.support.remotes.adapters import idle
from tests.support.remotes.agent import wait_until
from tests.support.remotes.gym import QUICKLY
from tests.support.remotes.remote import HEIGHT, WIDTH
from tests.support.remotes.served import Counting
from universe_client import ConfigError, GymEnv
from universe_client.adapters.sb3 import AlreadySteppingError


class Passing(VecEnvWrapper):
    """A wrapper with an attribute, a method and nothing else."""

    def __init__(self, venv):
        super().__init__(venv)
        self.name_of_wrapper = type(self).__name__

    def reset(self):
        return self.venv.reset()

    def step_wait(self):
        return self.venv.step_wait()

    def double(self):
        return 2 * self.num_envs


class Other(Passing):
    """A wrapper that also has `name_of_wrapper`."""

    def __init__(self, venv):
        super().__init__(venv)
        self.only_of_other = True


class Shadow(VecEnvWrapper):
    """A wrapper without attributes."""

    def reset(self):
        return self.venv.reset()

    def step_wait(self):
        return self.venv.step_wait()


# -- get_attr, set_attr, env_method


def test_o4_get_attr_takes_an_int_a_list_and_none(three, open_sb3):
    env = open_sb3(*three)
    assert env.get_attr("index") == [0, 1, 2]
    assert env.get_attr("index", indices=1) == [1]
    assert env.get_attr("index", indices=[2, 0]) == [2, 0], "in the order asked for"
    assert env.get_attr("index", indices=range(2)) == [0, 1]
    assert env.has_attr("address")
    assert not env.has_attr("wheels")
    with pytest.raises(AttributeError, match="wheels"):
        env.get_attr("wheels")
    with pytest.raises(ConfigError, match=r"indices \[3\]"):
        env.get_attr("index", indices=3)


def test_o4_set_attr_takes_an_int_a_list_and_none(three, open_sb3):
    env = open_sb3(*three)
    env.set_attr("note", "all")
    assert env.get_attr("note") == ["all"] * 3
    env.set_attr("note", [1, 2], indices=1)
    assert env.get_attr("note") == ["all", [1, 2], "all"], "a list is one value"
    env.set_attr("note", "some", indices=[0, 2])
    assert env.get_attr("note") == ["some", [1, 2], "some"]


def test_o4_env_method_takes_an_int_a_list_and_none(three, open_sb3):
    env = open_sb3(*three)
    env.set_attr("add", lambda left, right=0: left + right)
    assert env.env_method("add", 1, right=2) == [3, 3, 3]
    assert env.env_method("add", 5, indices=[0, 1]) == [5, 5]
    assert env.env_method("add", 6, indices=2) == [6]
    with pytest.raises(AttributeError):
        env.env_method("fly")


# -- pictures


def test_o6_images_are_the_newest_frames_and_render_tiles_them(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    images = env.get_images()
    assert [image.shape for image in images] == [(HEIGHT, WIDTH, 3)] * 3
    assert [int(image[0, 0, 0]) for image in images] == [1, 1, 1]
    picture = env.render(mode="rgb_array")
    assert picture.shape == (2 * HEIGHT, 2 * WIDTH, 3)
    assert picture[0, 0].tolist() == picture[HEIGHT, 0].tolist() == [1, 1, 1]
    assert picture[HEIGHT, WIDTH].tolist() == [0, 0, 0], "there is no fourth"


# -- wrappers


def test_o7_attributes_are_found_through_wrappers(three, open_sb3):
    env = open_sb3(*three)
    wrapped = Shadow(Passing(env))
    assert wrapped.name_of_wrapper == "Passing"
    assert wrapped.double() == 6
    assert wrapped.getattr_recursive("env") is env.env
    assert wrapped.unwrapped is env
    with pytest.raises(AttributeError):
        wrapped.wheels  # noqa: B018


def test_o7_an_attribute_that_two_wrappers_have_is_refused(three, open_sb3):
    env = Shadow(Other(Passing(open_sb3(*three))))
    assert env.only_of_other
    assert env.getattr_depth_check("name_of_wrapper", already_found=False).endswith("Passing")
    with pytest.raises(AttributeError, match="ambiguous"):
        env.name_of_wrapper  # noqa: B018


def test_stock_wrappers_go_around(three, open_sb3):
    env = VecCheckNan(open_sb3(*three))
    stacked = VecFrameStack(VecTransposeImage(env), n_stack=3)
    assert stacked.reset().shape == (3, 9, HEIGHT, WIDTH)
    for remote in three:
        remote.finish(2.0)
        remote.next_episode()
    ended = set()
    while len(ended) < 3:
        _, _, dones, infos = stacked.step(idle(stacked))
        for row in np.flatnonzero(dones):
            assert infos[row]["terminal_observation"].shape == (9, HEIGHT, WIDTH)
            assert infos[row]["episode"]["r"] == 2.0
            ended.add(int(row))
    normalized = VecNormalize(env)
    assert np.abs(normalized.reset()).max() <= 10
    normalized.step(idle(normalized))


# -- the checker, the algorithms, other processes


def test_check_env_of_stable_baselines_passes():
    env = gymnasium.make("universe/NeonDrive-v0", step_rate=60)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env)
    finally:
        env.close()


def test_single_environments_learn_in_a_dummy_vec_env(scripted, open_gym):
    remotes = [scripted(), scripted()]
    env = DummyVecEnv([lambda remote=remote: open_gym(remote, face=GymEnv) for remote in remotes])
    model = A2C("MlpPolicy", env, n_steps=4, device="cpu")
    model.learn(16)
    assert model.num_timesteps == 16


def test_o8_constructors_reach_other_processes(scripted):
    remotes = [scripted(), scripted()]
    addresses = [
        f"vnc://127.0.0.1:{remote.address.vnc.port}+{remote.address.rewarder.port}" for remote in remotes
    ]
    env = SubprocVecEnv(
        [partial(GymEnv, None, address, **QUICKLY) for address in addresses],
        start_method="spawn",
    )
    try:
        env.seed(3)
        assert env.reset()[:, 0, 0, 0].tolist() == [1, 1]
        assert [remote.next_reset().seed for remote in remotes] == [3, 4]
        assert env.step(np.zeros(2, np.int64))[1].tolist() == [0, 0]
    finally:
        env.close()


def test_ppo_learns_evaluates_saves_and_goes_on(three, open_sb3, tmp_path):
    def game(remote, events):
        remote.reward(1.0)
        if remote.reward_sum % 3 == 0:
            remote.finish()
            remote.next_episode()

    for remote in three:
        remote._on_input = game
    env = open_sb3(*three, step_rate=200)
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=48, n_epochs=1, seed=1, device="cpu")
    model.learn(96)
    assert model.num_timesteps == 96
    assert all(episode["r"] >= 1 for episode in model.ep_info_buffer)
    model.save(tmp_path / "model")
    again = PPO.load(tmp_path / "model", env=env, device="cpu")
    assert again.num_timesteps == 96
    again.learn(48, reset_num_timesteps=False)
    assert again.num_timesteps == 144
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean, _ = evaluate_policy(again, env, n_eval_episodes=3, deterministic=False)
    assert mean > 0


class Inside:
    """An environment with `get_state_info`."""

    gravity = 9.8

    def get_state_info(self, state, action):
        return float(state.sum() * action), bool(state.sum() > 5)


@pytest.fixture
def callable_env(serve_runtime, open_sb3):
    """Open two remotes that allow `get_state_info` and `gravity`."""

    def serve_one():
        runtime = Counting()
        runtime.inside = Inside()
        return serve_runtime(runtime, allowed_calls=["gravity", "get_state_info"])

    env = open_sb3(serve_one(), serve_one())
    env.reset()
    return env


def test_o9_get_state_info_reaches_the_remotes_environments(callable_env):
    env = callable_env
    states = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert env.get_state_info(states, [2, 10]) == ([6.0, 70.0], [False, True])
    env.get_state_info_async(states, [1, 1])
    with pytest.raises(AlreadySteppingError):
        env.step_async(idle(env))
    assert env.get_state_info_wait() == ([3.0, 7.0], [False, True])
    env.step(idle(env))


def test_o9_attributes_and_methods_reach_them_by_index(callable_env):
    env = callable_env
    assert env.get_attr("gravity") == [9.8, 9.8]
    env.set_attr("gravity", 1.6, indices=1)
    assert env.get_attr("gravity") == [9.8, 1.6]
    assert env.env_method("get_state_info", np.ones(2), 3, indices=[1]) == [[6.0, False]]


def test_o9_a_remote_that_lists_no_get_state_info_says_so(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    with pytest.raises(AttributeError, match="get_state_info"):
        env.get_state_info([0] * 3, [0] * 3)
    env.step(idle(env))


def test_a_learner_steps_in_lock_step(serve_runtime, open_sb3):
    older = Counting(last=3)
    addresses = [serve_runtime(older)]
    wait_until(lambda: older.episodes > 3)  # in real time, until the learner comes
    addresses.append(serve_runtime(Counting(last=3)))
    env = open_sb3(*addresses, mode="lockstep")
    first = env.reset()
    rewards, seen, ends = [], [[shown] for shown in first[:, 0, 0, :2].tolist()], [[], []]
    for _ in range(6):
        observations, reward, _, infos = env.step(idle(env))
        rewards.append(reward.tolist())
        for row, info in enumerate(infos):
            seen[row].append(observations[row, 0, 0, :2].tolist())
            if "episode" in info:
                ends[row].append(info["terminal_observation"][0, 0, :2].tolist())
    assert rewards == [[1, 1], [2, 2], [3, 3]] * 2
    for row in range(2):
        episode = seen[row][0][1]  # each remote has its own count
        ticks = [[tick, episode + number] for number in range(3) for tick in range(4)]
        assert ends[row] == [ticks.pop(3), ticks.pop(6)]
        assert seen[row] == ticks[:7], "every tick is a transition, none comes twice"
