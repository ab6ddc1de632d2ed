"""Logger: statistics per remote, and a line at a fixed interval."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import universe_client
from tests.support.remotes.agent import until, until_running, wait_until
from tests.support.remotes.remote import by_hand
from universe_client import ConfigError
from universe_client.recording.reading import Recording
from wrappers import Logger, Record


def test_tallies_are_what_the_remotes_sent(scripted, open_env, caplog):
    remote, silent = scripted(), scripted(on_reset=by_hand)
    env = Logger(open_env(remote, silent), every=3600)
    env.reset()
    until(env, lambda step: step.observation is not None)
    for reward in (1.0, 2.0, 4.0):
        remote.reward(reward)
    remote.script(lambda: (remote.finish(8.0), remote.next_episode()))
    until(env, lambda step: step.done)
    until(env, lambda step: step.observation is not None)
    remote.paint(99)
    until(env, lambda step: step.pixel == 99)
    env.step([[("KeyEvent", "a", True)], []])
    tally = env.tallies[0]
    assert (tally.reward, tally.rewards, tally.episodes) == (15.0, 4, 1)
    assert tally.frames >= 1
    assert tally.bytes > 0
    assert tally.running > 0
    assert tally.frames_per_second == pytest.approx(tally.frames / tally.running)
    assert tally.mean("reaction_time") > 0
    assert tally.mean("observation_lag") > 0
    other = env.tallies[1]
    assert (other.reward, other.rewards, other.episodes, other.frames, other.running) == (0.0, 0, 0, 0, 0.0)
    assert other.frames_per_second == 0.0
    assert other.mean("reaction_time") is None
    assert not caplog.records or all(r.name != "wrappers.universe.logger" for r in caplog.records)


def test_a_line_is_logged_with_rates_and_times(scripted, open_env, caplog):
    caplog.set_level(logging.INFO, "wrappers.universe.logger")
    env = Logger(open_env(scripted()), every=0.01)
    env.reset()
    until_running(env)
    until(env, lambda step: any(r.name == "wrappers.universe.logger" for r in caplog.records))
    line = next(record.message for record in caplog.records if record.name == "wrappers.universe.logger")
    for part in ("steps/s", "frames/s [", "kB/s", "rewards/s", "reward +0", "reaction_time unknown"):
        assert part in line


def test_a_remote_without_rewards_is_tallied(scripted, open_env):
    env = Logger(open_env(scripted(has_rewarder=False)))
    env.reset()
    until_running(env)
    env.step([[]])
    assert env.tallies[0].reward == 0.0
    assert env.steps >= 2


class TensorBoard:
    """What a `SummaryWriter` gets."""

    def __init__(self):
        self.values, self.videos = [], []

    def add_scalar(self, name, value, step):
        self.values.append((name, float(value), step))

    def add_video(self, name, pictures, step, fps):
        self.videos.append((name, pictures.shape, pictures.dtype, fps))


class Run:
    """What a run of W&B gets."""

    def __init__(self):
        self.values = []

    def log(self, values, step):
        self.values += [(name, float(value), step) for name, value in values.items()]


@pytest.mark.parametrize("make", [TensorBoard, Run])
def test_a_writer_gets_scalars_and_returns(make, scripted, open_env):
    remote, writer = scripted(), make()
    env = Logger(open_env(remote), every=0.01, writer=writer)
    env.reset()
    until_running(env)
    remote.reward(2.0)
    remote.script(lambda: (remote.finish(8.0), remote.next_episode()))
    until(env, lambda step: step.done)
    until(env, lambda step: any(name == "rate/frames" for name, *_ in writer.values))
    [(value, step)] = [(value, step) for name, value, step in writer.values if name == "episode/return"]
    assert value == 10.0 and 0 < step <= env.steps
    names = {name for name, *_ in writer.values}
    assert {"rate/steps", "rate/bytes", "rate/rewards"} <= names
    assert all(name.split("/")[0] in ("rate", "time", "episode") for name in names)


def test_a_writer_gets_videos_of_the_episodes_that_ended(tmp_path):
    writer = TensorBoard()
    inner = Record(universe_client.make("gym-core.CartPole-v1", mode="lockstep"), tmp_path / "run")
    with Logger(inner, writer=writer) as env:
        env.reset(seed=1)
        until_running(env)
        while not env.step([[("KeyEvent", "Left", True)]])[2][0]:
            pass

        def is_added():
            env.step([[]])  # the end of an episode is written with the pictures after it
            return env.add_videos(tmp_path / "run")

        wait_until(is_added)
        env.add_videos(tmp_path / "run")
        ended = sum(episode.end_reason is not None for episode in Recording(tmp_path / "run").episodes)
        assert 0 < len(writer.videos) <= ended, "each once"
    name, shape, dtype, fps = writer.videos[0]
    assert (name, dtype, fps) == ("episode/remote-0", np.uint8, 15)
    assert shape[0] == 1 and shape[1] > 1 and shape[2] == 3


def test_what_is_no_writer_is_named(scripted, open_env):
    with pytest.raises(ConfigError, match="neither add_scalar"):
        Logger(open_env(scripted()), writer=42)
    with pytest.raises(ConfigError, match="needs a writer"):
        Logger(open_env(scripted())).add_videos("runs/1")
