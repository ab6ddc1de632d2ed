"""Frames between two steps are recorded too, each with the episode that it shows."""

from types import SimpleNamespace

import numpy as np

from rewarder.sdk.runtime import Runtime, Tick
from tests.support.remotes.agent import is_done, until, until_running, wait_until
from tests.support.remotes.remote import frame
from tests.support.remotes.served import serve_runtime
from universe_client.recording.events import EventReader
from universe_client.recording.frames import FrameRecorder
from universe_client.recording.reading import Recording
from universe_client.recording.recorder import EVENTS_FILE
from universe_client.recording.video import frames
from vnc.client.taps import FrameQueue
from wrappers import Record

__all__ = ["serve_runtime"]


def brightness(recording, episode):
    return [int(pixels.mean().round()) for _, pixels in recording.pictures(episode)]


def test_every_frame_is_recorded_while_the_agent_does_not_step(scripted, open_env, tmp_path):
    remote, directory = scripted(), tmp_path / "run"
    shown = range(5, 255, 5)
    with Record(open_env(remote), directory) as env:
        env.reset()
        until_running(env)
        session = env.unwrapped.core.remotes[0].link.session
        for value in shown:
            before = session.frames
            remote.show(frame(value))
            wait_until(lambda: session.frames > before)  # noqa: B023
        arrived = session.frame_time
        env.step([[]])
        assert env.recorder.skipped == 0
    recording = Recording(directory)
    [episode] = recording.episodes
    pictures = brightness(recording, episode)[-len(shown) :]
    assert all(abs(ours - theirs) <= 3 for ours, theirs in zip(pictures, shown, strict=True))
    offset = env.recorder._offset
    assert episode.frames[-1].time == round(arrived * 1e9) + offset


class Flashing(Runtime):
    """Episodes of ten ticks, black and white in turns; the episodes follow each other at once."""

    env_ids = ("test.Flashing-v0",)
    width, height, fps = 32, 32, 60
    episodes = ticks = 0

    def reset(self, env_id, seed):
        self.episodes, self.ticks = self.episodes + 1, 0
        return self._draw()

    def tick(self, events):
        self.ticks += 1
        return self._draw(reward=1.0, done=self.ticks == 10)

    def _draw(self, **values):
        shade = 255 * (self.episodes % 2)
        picture = np.full((32, 32, 3), shade, np.uint8)
        picture[0, self.ticks] = 128  # each tick is a frame
        return Tick(frame=picture, **values)


def test_no_episode_has_a_frame_of_another(serve_runtime, open_env, tmp_path):
    directory = tmp_path / "run"
    remote = serve_runtime(Flashing())
    with Record(open_env(remote), directory) as env:
        env.reset()
        for _ in range(12):
            until(env, is_done)
    recording = Recording(directory)
    seen = [episode for episode in recording.episodes if episode.frames]
    assert len(seen) >= 6
    shades = {}
    for episode in seen:
        bright = {value > 128 for value in brightness(recording, episode)}
        assert len(bright) == 1, episode
        shades[int(episode.episode_id)] = bright.pop()
    assert all(
        shades[number] == shades[other] for number in shades for other in shades if (number - other) % 2 == 0
    )
    assert len(set(shades.values())) == 2


class Session(SimpleNamespace):
    """A session whose tap was filled before."""

    generation = 1

    def tap(self, limit):
        return self.queue


def filled(count, limit=1 << 30):
    queue = FrameQueue(limit)
    for number in range(count):
        queue.add(np.full((16, 16, 3), number, np.uint8), number, number / 60, 1)
    return queue


def recorder(stem, failures, **options):
    notes = []
    note = lambda kind, body, now=None: notes.append((kind, body))  # noqa: E731
    return FrameRecorder(stem, 0, note, failures.append, video=True, **options), notes


def test_frames_for_which_the_encoder_is_too_slow_are_counted(tmp_path):
    failures = []
    writer, notes = recorder(tmp_path / "remote-0", failures)
    writer.connected(Session(queue=filled(20, limit=1)))
    writer.close()
    assert writer.skipped == 12 and not failures
    assert ("skipped", {"frames": 12}) in notes
    assert sum(1 for _ in frames(tmp_path / "remote-0.mp4")) == 8 == len(notes) - 1


def test_a_video_that_cannot_be_written_ends_the_recording_and_close_returns(tmp_path):
    failures = []
    writer, _ = recorder(tmp_path / "missing" / "remote-0", failures)
    queue = filled(2)
    writer.connected(Session(queue=queue))
    wait_until(lambda: failures)
    writer.connected(Session(queue=FrameQueue(1)))
    writer.close()
    assert isinstance(failures[0], FileNotFoundError) and len(failures) == 1
    assert queue._has_ended


def test_a_new_size_of_the_screen_begins_another_video(tmp_path):
    failures = []
    writer, notes = recorder(tmp_path / "remote-0", failures)
    queue = FrameQueue(1 << 20)
    for size in (16, 16, 33):
        queue.add(np.zeros((size, size, 3), np.uint8), 1, 1.0, 1)
    writer.connected(Session(queue=queue))
    writer.close()
    assert [body["video"] for _, body in notes] == ["remote-0.mp4", "remote-0.mp4", "remote-0.1.mp4"]
    assert sum(1 for _ in frames(tmp_path / "remote-0.1.mp4")) == 1 and not failures


def test_without_video_only_events_are_recorded(scripted, open_env, tmp_path):
    with Record(open_env(scripted()), tmp_path / "run", video=False) as env:
        env.reset()
        until_running(env)
    kinds = {event.kind for event in EventReader(tmp_path / "run" / EVENTS_FILE)}
    assert "playing" in kinds and "frame" not in kinds
    assert not list((tmp_path / "run").glob("*.mp4"))
