"""Recordings of runs that are equal, and of runs that differ in one thing."""

import pytest

import universe_client
from tests.support.remotes.agent import until_running
from universe_client.cli.main import main
from universe_client.recording.comparison import Difference, compare
from universe_client.recording.reading import Recording
from wrappers import Record

STEPS = 40


def record(directory, press=30, seed=1, steps=STEPS):
    """Record steps in lock-step, with a key that goes down at the step `press`."""
    with Record(universe_client.make("builtin.NeonDrive-v0", mode="lockstep"), directory) as env:
        env.reset(seed=seed)
        until_running(env)
        for step in range(steps):
            env.step(
                [[("KeyEvent", "Up", step % 7 < 5), *([("KeyEvent", "Left", True)] if step == press else [])]]
            )
    return directory


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return record(tmp_path_factory.mktemp("recordings") / "run")


def differences(first, second):
    return [each.difference for each in compare(Recording(first), Recording(second))]


def test_the_same_seed_and_actions_are_equal(run, tmp_path, capsys):
    other = record(tmp_path / "other")
    assert main(["replay", str(run), "--diff", str(other)]) == 0
    told = capsys.readouterr().out
    assert told == f"remote 0, episode 0 (builtin.NeonDrive-v0): equal, {STEPS + 1} pictures\n"


def test_another_action_is_told_at_its_step(run, tmp_path, capsys):
    other = record(tmp_path / "other", press=20)
    [found] = differences(run, other)
    assert (found.what, found.step) == ("action", 20)
    assert main(["replay", str(run), "--diff", str(other)]) == 1
    assert "action of step 20: [['KeyEvent'" in capsys.readouterr().out


def test_another_seed_gives_other_pictures(run, tmp_path):
    [found] = differences(run, record(tmp_path / "other", seed=2))
    assert (found.what, found.step) == ("picture", 0)
    assert found.first.startswith("mean ") and found.first != found.second


def test_a_shorter_run_ends_earlier(run, tmp_path):
    [found] = differences(run, record(tmp_path / "other", steps=STEPS - 5))
    assert found.step == STEPS - 5
    assert found.what in ("end", "action")


def test_another_reward_is_told(run):
    recording, other = Recording(run), Recording(run)
    other.episodes[0].steps.append((10, "reward", 5.0))
    [compared] = compare(recording, other)
    assert compared.difference == Difference("reward", 10, "none", "5.0")


def test_an_episode_that_is_missing_is_told(run, tmp_path):
    other = tmp_path / "other"
    with Record(universe_client.make("builtin.NeonDrive-v0", mode="lockstep"), other):
        pass
    [found] = differences(run, other)
    assert (found.what, found.first, found.second) == ("episode", "present", "missing")


def test_what_is_no_recording_is_refused(run, tmp_path, capsys):
    assert main(["replay", str(run), "--diff", str(tmp_path)]) == 2
    assert "is not a recording" in capsys.readouterr().err
