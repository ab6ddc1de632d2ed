"""What people press in viewers of a remote is part of an agent's recording."""

from __future__ import annotations

import time
from contextlib import contextmanager
from itertools import pairwise

import pytest

import universe_client
from tests.support.drivers import DRIVERS
from tests.support.remotes.agent import until_running, wait_until
from tests.support.remotes.served import Counting, serve_runtime
from universe_client.core.event_loop.loop import LoopThread
from universe_client.recording.events import Event, EventReader, EventWriter
from universe_client.recording.films import _rows
from universe_client.recording.grid import grid
from universe_client.recording.reading import Recording
from universe_client.recording.recorder import EVENTS_FILE
from vnc import drivers
from vnc.events import KeyEvent, PointerEvent
from vnc.keysyms import keysym
from wrappers import Record

__all__ = ["serve_runtime"]

ENV_ID = "builtin.NeonDrive-v0"
UP, LEFT = keysym("Up"), keysym("Left")
SECOND = 1_000_000_000


@contextmanager
def person(env):
    """Another VNC client of the environment's remote."""
    loop = LoopThread("person")
    address = env.unwrapped.core.remotes[0].link.address.vnc
    session = loop.run(drivers.connect("portable")(address, on_change=lambda: None), 60)
    try:
        yield session
    finally:
        loop.stop(session.close())


def actions(directory):
    return [event for event in EventReader(directory / EVENTS_FILE) if event.kind == "action"]


def of_viewers(directory):
    return [event for event in actions(directory) if event.body.get("by") == "viewer"]


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_persons_keys_are_recorded_beside_the_agents(driver, tmp_path):
    directory = tmp_path / "run"
    with Record(universe_client.make(ENV_ID, driver=driver), directory) as env:
        env.reset()
        until_running(env)
        episode = env.step([[("KeyEvent", "Left", True)]])[3]["n"][0]["env_status.episode_id"]
        with person(env) as viewer:
            before = time.time_ns()
            viewer.send([KeyEvent(UP, True), PointerEvent(10, 20, 1)])
            wait_until(lambda: len(of_viewers(directory)) >= 1, what="the person's input")
            after = time.time_ns()
        wait_until(lambda: sum(len(each.body["events"]) for each in of_viewers(directory)) >= 4)
        env.step([[("KeyEvent", "Left", False)]])
    pressed = [event for each in of_viewers(directory) for event in each.body["events"]]
    assert pressed == [
        ["KeyEvent", UP, True],
        ["PointerEvent", 10, 20, 1],
        ["KeyEvent", UP, False],  # the viewer has left
        ["PointerEvent", 10, 20, 0],
    ]
    first = of_viewers(directory)[0]
    assert int(first.body["episode_id"]) >= int(episode), "an episode may end meanwhile"
    assert before - 2 * SECOND < first.time < after, "the clocks are compared by pings"
    own = [
        each.body["events"] for each in actions(directory) if "by" not in each.body and each.body["events"]
    ]
    assert own == [[["KeyEvent", LEFT, True]], [["KeyEvent", LEFT, False]]]


def test_the_episode_has_both(serve_runtime, open_env, tmp_path):
    directory = tmp_path / "run"
    with Record(open_env(serve_runtime(Counting(10**9))), directory) as env:
        env.reset()
        until_running(env)
        with person(env) as viewer:
            viewer.send([KeyEvent(UP, True)])
            wait_until(lambda: of_viewers(directory), what="the person's input")
            env.step([[("KeyEvent", "Left", True)]])
    [episode] = [each for each in Recording(directory).episodes if each.viewers]
    times = [moment for moment, _ in episode.actions]
    assert times == sorted(times)
    assert {event[1] for _, events in episode.actions for event in events} == {UP, LEFT}


def test_a_recording_may_begin_while_the_remote_runs(tmp_path):
    directory = tmp_path / "run"
    with universe_client.make(ENV_ID) as env:
        env.reset()
        until_running(env)
        with Record(env, directory) as recorded, person(env) as viewer:
            recorded.reset()
            until_running(recorded)  # the answer to the reset: the remote has read what was asked before it
            viewer.send([KeyEvent(UP, True)])
            wait_until(lambda: of_viewers(directory), what="the person's input")


def written(directory, events):
    """Write an events file."""
    directory.mkdir()
    failures = []
    writer = EventWriter(directory / EVENTS_FILE, failures.append)
    for event in events:
        writer.write(event)
    writer.close()
    assert not failures
    return Recording(directory)


def state(time, episode_id, running=True):
    body = {"running": running, "reason": None, "episode_id": episode_id, "env_id": "test.Env-v0"}
    return Event("state", time, time, 0, body)


def pressed(time, episode_id, keysym=UP):
    body = {"events": [["KeyEvent", keysym, True]], "by": "viewer", "episode_id": episode_id}
    return Event("action", time, time, 0, body)


def end(time, episode_id):
    body = {"episode_id": episode_id, "end_reason": "rewarder", "return": 0.0, "skipped_episodes": 0}
    return Event("end", time, time, 0, body)


def test_input_belongs_to_the_episode_that_the_remote_has_named(tmp_path):
    """The remote reports it at once, the agent's steps tell of episodes later."""
    recording = written(
        tmp_path / "run",
        [
            state(1 * SECOND, "1"),
            pressed(3 * SECOND, "2"),
            end(4 * SECOND, "1"),
            state(4 * SECOND, "2"),
            pressed(2 * SECOND, "1"),
            pressed(5 * SECOND, "3"),  # the agent never saw this one
            end(6 * SECOND, "2"),
            state(7 * SECOND, "1"),  # another process
            pressed(8 * SECOND, "1"),
            end(9 * SECOND, "1"),
        ],
    )
    assert [each.viewers for each in recording.episodes] == [[2 * SECOND], [3 * SECOND], [8 * SECOND]]


def test_a_film_names_the_person_for_a_second(tmp_path):
    recording = written(
        tmp_path / "run", [state(SECOND, "1"), pressed(2 * SECOND, "1"), end(5 * SECOND, "1")]
    )
    [episode] = recording.episodes
    times = grid(SECOND, episode.end, 10)
    rows = _rows(episode, times, episode.actions, episode.rewards, [""] * len(times))
    named = [time for time, row in zip(times.tolist(), rows, strict=True) if "person" in row.words]
    assert min(named) >= 2 * SECOND and max(named) - min(named) < SECOND
    assert all(later - earlier <= SECOND // 5 for earlier, later in pairwise(named))
