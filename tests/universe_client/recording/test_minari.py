"""Exported Minari datasets, read by Minari."""

import minari
import numpy as np
import pytest

import universe_client
from tests.support.remotes.agent import until_running
from universe_client import ConfigError
from universe_client.cli.main import main
from universe_client.recording.minari import export
from universe_client.recording.reading import Recording
from wrappers import Record


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return a recording, and what the agent got of each episode: observations, rewards."""
    directory = tmp_path_factory.mktemp("recording") / "run"
    env = universe_client.make("gym-core.CartPole-v1", mode="lockstep", env_observation=True)
    episodes = [([], [])]
    with Record(env, directory) as env:
        env.reset(seed=1)
        observation = until_running(env).observation
        while len(episodes) < 4:
            if observation is not None:
                episodes[-1][0].append(observation["env_observation"])
            down = bool(len(episodes[-1][0]) % 2)
            [observation], [reward], [done], _ = env.step([[("KeyEvent", "Left", down)]])
            episodes[-1][1].append(reward)
            if done:
                episodes.append(([], []))
    return directory, episodes[:3]


@pytest.fixture
def dataset(played, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    exported = export([Recording(played[0])], tmp_path / "cartpole-v0")
    return minari.load_dataset("cartpole-v0"), exported


def test_minari_loads_what_the_agent_observed(played, dataset):
    loaded, exported = dataset
    assert loaded.total_episodes == exported.episodes and loaded.total_steps == exported.frames
    for episode, (observations, rewards) in zip(loaded, played[1], strict=False):
        steps = len(observations)
        np.testing.assert_array_equal(episode.observations[:-1], observations)
        assert episode.rewards.sum() == sum(rewards) and len(episode.rewards) == steps
        assert episode.actions.shape == (steps, 2)
        assert episode.terminations.tolist() == [False] * (steps - 1) + [True]
        assert not episode.truncations.any()


def test_actions_are_those_after_each_observation(dataset):
    loaded, _ = dataset
    downs = [int(action[0]) for action in loaded[1].actions]
    assert downs == [(step + 1) % 2 for step in range(len(downs))]


def test_the_spaces_are_those_of_the_data(dataset):
    loaded, _ = dataset
    assert loaded.observation_space.shape == (4,)
    assert all(loaded.action_space.contains(action) for action in loaded[0].actions)
    assert "key.Left" in loaded.storage.metadata["description"]


def test_the_command_exports(played, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(played[0]), "--minari", "datasets/cartpole-v0"]) == 0
    assert (tmp_path / "datasets/cartpole-v0/data").is_dir()
    assert " episodes, " in capsys.readouterr().out


def test_a_name_without_a_version_is_refused(played, tmp_path):
    with pytest.raises(ConfigError, match="end it with a version"):
        export([Recording(played[0])], tmp_path / "cartpole")


def test_a_recording_without_environment_observations_says_so(tmp_path):
    with Record(universe_client.make("builtin.NeonDrive-v0"), tmp_path / "run") as env:
        env.reset(seed=1)
        until_running(env)
        env.step([[]])
    with pytest.raises(ConfigError, match=r"nothing to export: .*no environment observations"):
        export([Recording(tmp_path / "run")], tmp_path / "neon-v0")
