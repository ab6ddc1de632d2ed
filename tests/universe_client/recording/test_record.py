"""Recordings of real remotes: what is written, what is read, and what is left when something fails."""

import errno
import os
import signal
import subprocess
import sys
from time import monotonic

import numpy as np
import pytest
from mcap.reader import make_reader

import universe_client
from tests.support.remotes.agent import until_running, wait_until
from universe_client import ConfigError
from universe_client.recording.events import EventReader
from universe_client.recording.reading import Recording
from universe_client.recording.recorder import EVENTS_FILE
from universe_client.recording.video import VideoWriter, frames
from vnc.keysyms import keysym
from wrappers import Record

ENV_ID = "builtin.NeonDrive-v0"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    directory = tmp_path_factory.mktemp("recording") / "run"
    with Record(universe_client.make(ENV_ID, mode="lockstep"), directory) as env:
        env.reset(seed=1)
        until_running(env)
        steps = [env.step([[("KeyEvent", "Left", step % 20 < 10)]]) for step in range(900)]
    return directory, steps


def test_every_action_reward_and_end_is_recorded(recorded):
    directory, steps = recorded
    recording = Recording(directory)
    sent = [event.body["events"] for event in EventReader(directory / EVENTS_FILE) if event.kind == "action"]
    assert len([events for events in sent if events]) == 900
    assert sent[:2] == [[["KeyEvent", keysym("Left"), True]]] * 2
    rewards = [step[1][0] for step in steps if step[3]["n"][0]["stats.reward.count"]]
    assert [reward for each in recording.episodes for _, reward in each.rewards] == rewards
    ends = [episode.end_reason for episode in recording.episodes if episode.end_reason]
    assert len(ends) == sum(step[2][0] for step in steps) > 0
    assert recording.about["env_id"] == ENV_ID and not recording.cut


def test_the_video_has_a_picture_per_frame_at_its_time(recorded):
    directory, _ = recorded
    taken = [frame for episode in Recording(directory).episodes for frame in episode.frames]
    pictures = list(frames(directory / "remote-0.mp4"))
    assert len(taken) == len(pictures) >= 850
    assert [frame.number for frame in taken] == list(range(len(taken)))
    for frame, (time, _) in zip(taken, pictures, strict=True):
        assert abs(frame.time - taken[0].time - time) < 1_000_000


def test_the_pictures_are_the_frames_that_the_agent_got(recorded):
    directory, steps = recorded
    recording = Recording(directory)
    pictures = [pixels for episode in recording.episodes for _, pixels in recording.pictures(episode)]
    seen = [observation["vision"] for ([observation], *_) in steps if observation is not None]
    for ours, theirs, earlier in zip(pictures[-50:], seen[-50:], seen[-51:-1], strict=True):
        error = np.abs(ours.astype(int) - theirs).mean()
        assert error < 12  # H.264 loses a little
        assert error < np.abs(ours.astype(int) - earlier).mean()


def test_the_reader_of_mcap_reads_the_events(recorded):
    directory, _ = recorded
    with (directory / EVENTS_FILE).open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        topics = {channel.topic for channel in summary.channels.values()}
        assert {"/run/begin", "/remote/0/action", "/remote/0/frame", "/remote/0/end"} <= topics
        assert sum(1 for _ in reader.iter_messages()) == summary.statistics.message_count


def test_only_the_owner_can_read_a_recording(recorded):
    directory, _ = recorded
    assert directory.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o600}


def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "mine").write_text("")
    with universe_client.make(ENV_ID) as env, pytest.raises(ConfigError, match="has files in it"):
        Record(env, tmp_path)


def test_a_folder_without_a_recording_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="is not a recording"):
        Recording(tmp_path)


KILLED = """
import sys, universe_client
from wrappers import Record
env = Record(universe_client.make("builtin.NeonDrive-v0"), sys.argv[1])
env.reset(seed=1)
pictures = 0
while True:
    env.wait()
    pictures += env.step([[("KeyEvent", "Left", pictures % 20 < 10)]])[0][0] is not None
    if pictures == 200:
        print("ready", flush=True)
"""


def test_after_sigkill_all_that_was_written_can_be_read(tmp_path):
    directory = tmp_path / "run"
    agent = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(directory)], stdout=subprocess.PIPE, text=True
    )
    assert agent.stdout.readline() == "ready\n"
    os.kill(agent.pid, signal.SIGKILL)
    agent.wait()
    agent.stdout.close()
    recording = Recording(directory)
    assert recording.cut
    assert sum(len(episode.actions) for episode in recording.episodes) >= 150
    pictures = sum(1 for episode in recording.episodes for _ in recording.pictures(episode))
    assert pictures >= 100


def test_a_full_disk_ends_the_recording_with_one_warning_and_the_agent_goes_on(tmp_path, caplog, monkeypatch):
    directory = tmp_path / "run"
    with Record(universe_client.make(ENV_ID, mode="lockstep"), directory) as env:
        env.reset(seed=1)
        until_running(env)

        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(env.recorder._events._writer, "add_message", full)
        env.step([[("KeyEvent", "Left", True)]])
        wait_until(lambda: env.recorder.failure is not None)
        assert env.step([[]])[0][0] is not None
    warnings = [record.message for record in caplog.records if "the recording in" in record.message]
    assert len(warnings) == 1 and os.strerror(errno.ENOSPC) in warnings[0]


def test_a_video_that_cannot_be_written_ends_the_recording_and_close_returns(tmp_path):
    failures = []
    video = VideoWriter(tmp_path / "missing" / "remote-0.mp4", (16, 16), failures.append)
    for time in range(20):
        video.add(np.zeros((16, 16, 3), np.uint8), time)
    video.close()
    assert isinstance(failures[0], FileNotFoundError) and len(failures) == 1


def test_screens_with_odd_sizes_are_recorded(tmp_path):
    path, failures = tmp_path / "remote-0.mp4", []
    video = VideoWriter(path, (17, 33), failures.append)
    video.add(np.full((17, 33, 3), 200, np.uint8), 5)
    video.close()
    [(time, pixels)] = frames(path)
    assert (time, pixels.shape, failures) == (0, (17, 33, 3), [])
    assert np.abs(pixels.astype(int) - 200).max() < 8


def test_damaged_events_are_named(tmp_path):
    path = tmp_path / EVENTS_FILE
    path.write_bytes(b"\\x89MCAP0\\r\\n" + bytes(100))
    with pytest.raises(ConfigError, match="is not the events file"):
        list(EventReader(path))


def test_planned_actions_are_recorded_at_the_times_at_which_they_were_played(tmp_path):
    directory = tmp_path / "run"
    with Record(universe_client.make(ENV_ID), directory) as env:
        env.reset(seed=1)
        until_running(env)
        now, offset = monotonic(), env.recorder._offset
        env.send([[("KeyEvent", "a", True)]], at=now + 0.05)
        env.play([[(now + 0.1, [("KeyEvent", "b", True)])]])
        played = []

        def enough() -> bool:
            played.extend(env.recv()[3]["n"][0]["timed.played"] or [])
            return len(played) == 2

        wait_until(enough)
        env.step([[("KeyEvent", "c", True)]])
    actions = [action for episode in Recording(directory).episodes for action in episode.actions]
    assert [events for _, events in actions] == [[["KeyEvent", ord(name), True]] for name in "abc"]
    assert [at - offset for at, _ in actions[:2]] == [round(sent * 1e9) for _, sent, _ in played]
