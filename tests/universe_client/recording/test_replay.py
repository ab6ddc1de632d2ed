"""A recording as a remote."""

import re
import subprocess
import sys

import pytest

import universe_client
from tests.support.remotes.agent import until_running
from universe_client import ConfigError
from universe_client.recording.reading import Recording
from universe_client.recording.replay import Replay
from wrappers import Record


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    directory = tmp_path_factory.mktemp("recording") / "run"
    with Record(universe_client.make("builtin.NeonDrive-v0"), directory) as env:
        env.reset(seed=1)
        until_running(env)
        while not env.step([[("KeyEvent", "Left", True)]])[2][0]:
            env.wait(60, forget=True)
        until_running(env)
    return directory


def played(runtime):
    """Return the ticks of one episode."""
    ticks = [runtime.reset(runtime.env_ids[0], None)]
    while not ticks[-1].done:
        ticks.append(runtime.tick([]))
    return ticks


def test_pictures_rewards_and_the_end_come_in_their_ticks(recording):
    recorded = Recording(recording)
    first = recorded.episodes[0]
    runtime = Replay(recorded)
    ticks = played(runtime)
    assert sum(tick.reward for tick in ticks) == first.score
    assert len(ticks) - 1 == pytest.approx((first.end - first.frames[0].time) * 60 / 1e9, abs=1)
    shown = [tick.frame for tick in ticks if tick.frame is not None]
    assert 0 < len(shown) <= len(first.frames)
    [*_, (_, last)] = recorded.pictures(first)
    assert (shown[-1] == last).all() and shown[0].shape == (runtime.height, runtime.width, 3)
    assert ticks[-1].truncated is (first.end_reason != "terminated")


def test_episodes_follow_each_other_again_and_again(recording):
    runtime = Replay(Recording(recording))
    count = len(runtime._episodes)
    lengths = [len(played(runtime)) for _ in range(count + 1)]
    assert lengths[0] == lengths[-1]


def test_a_remote_that_was_not_recorded_is_named(recording):
    with pytest.raises(ConfigError, match="remote 7 has no episode"):
        Replay(Recording(recording), remote=7)


def test_an_agent_gets_a_recorded_run(recording):
    command = [sys.executable, "-m", "universe_client", "replay", str(recording)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = None
            for line in process.stdout:
                if found := re.search(r"--remotes '([^']+)'", line):
                    address = found[1]
                    break
            with universe_client.make("builtin.NeonDrive-v0", address, time_scale=10) as env:
                env.reset()
                score, done = 0.0, False
                seen = until_running(env).observation["vision"]
                while not done:
                    assert env.wait(60, forget=True)
                    _, [reward], [done], _ = env.step([[]])
                    score += reward
        finally:
            process.terminate()
            process.stdout.read()
    assert seen.std() > 10
    assert score in [episode.score for episode in Recording(recording).episodes]
