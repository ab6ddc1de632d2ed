"""The promises of the environment, sentence by sentence: actions with times."""

from __future__ import annotations

import ctypes
import math
import time

import pytest

from tests.support.drivers import needs_native
from tests.support.remotes.agent import LEFT, failed, one_step, until, until_running, wait_until
from universe_client import ConfigError, LocalStateError
from vnc.events import Event, KeyEvent, PointerEvent

DOWN, UP = ("KeyEvent", "Left", True), ("KeyEvent", "Left", False)
LATER = 1000.0
"""Seconds after which a test is over."""


def key(name: str, down: bool = True) -> KeyEvent:
    return KeyEvent(ord(name), down)


def pressed(env, remote) -> None:
    """Press Left as the first entry of a plan which releases it much later."""
    now = time.monotonic()
    env.play([[(now, [DOWN]), (now + LATER, [UP])]])
    assert remote.wait_for_events(1) == [KeyEvent(LEFT, True)]


def played(env, count: int) -> list[tuple[float, float]]:
    """Step until so many entries have been played; return when each was planned for, and when it was sent."""
    pairs: list[tuple[float, float]] = []

    def enough() -> bool:
        pairs.extend((at, sent) for at, sent, _ in one_step(env).info["timed.played"] or [])
        return len(pairs) >= count

    wait_until(enough)
    return pairs


def test_events_are_played_in_order_never_early_and_info_says_when(scripted, playing):
    remote = scripted()
    env = playing(remote)
    now = time.monotonic()
    times = [now - 1, now + 0.05, now + 0.05, now + 0.1]
    env.play([[(at, [("KeyEvent", name, True)]) for at, name in zip(times, "abcd", strict=True)]])
    assert remote.wait_for_events(4) == [key(name) for name in "abcd"]
    pairs = played(env, 4)
    assert [at for at, _ in pairs] == times
    assert all(sent >= at for at, sent in pairs)
    assert [sent for _, sent in pairs] == sorted(sent for _, sent in pairs)
    info = one_step(env).info
    assert (info["timed.played"], info["timed.waiting"], info["timed.cancelled"]) == (None, 0, 0)


@needs_native
@pytest.mark.parametrize("driver", ["native"])
def test_events_are_played_while_the_agent_holds_the_gil(scripted, playing):
    env = playing(scripted())
    now = time.monotonic()
    env.play([[(now + 0.01 * step, [("KeyEvent", "a", True)]) for step in range(20)]])
    ctypes.PyDLL(None).usleep(2_000_000)  # a call through PyDLL keeps the GIL
    until_free = time.monotonic()
    pairs = played(env, 20)
    assert all(sent < until_free for _, sent in pairs)
    assert pairs[-1][1] - pairs[0][1] > 0.1, "all at once"


def test_a_sequence_replaces_what_is_planned_for_its_first_time_or_later(scripted, playing):
    remote = scripted()
    env = playing(remote)
    now = time.monotonic()
    plan = [(now + LATER, [("KeyEvent", "a", True)]), (now + LATER + 1, [("KeyEvent", "b", True)])]
    env.play([plan])
    env.play([[(now + LATER + 1, [("KeyEvent", "c", True)])]])
    info = one_step(env).info
    assert (info["timed.waiting"], info["timed.cancelled"]) == (2, 1)
    env.play([None])
    assert one_step(env).info["timed.waiting"] == 2
    env.play([[(now, [("KeyEvent", "d", True)])]])
    assert remote.wait_for_events(1) == [key("d")]
    info = one_step(env).info
    assert (info["timed.waiting"], info["timed.cancelled"]) == (0, 2)


def test_an_action_with_a_time_is_a_sequence_of_one(scripted, playing):
    one, other = scripted(), scripted()
    env = playing(one, other)
    now = time.monotonic()
    env.send([[("KeyEvent", "a", True)], [("KeyEvent", "b", True)]], at=[None, now + LATER])
    assert one.wait_for_events(1) == [key("a")]
    assert [slot["timed.waiting"] for slot in env.recv()[3]["n"]] == [0, 1]
    env.send([[], []], at=now)
    assert [slot["timed.waiting"] for slot in env.recv()[3]["n"]] == [0, 1], "an empty list sends nothing"
    env.send([[], [("KeyEvent", "c", True)]], at=now)
    assert other.wait_for_events(1) == [key("c")]
    assert [slot["timed.waiting"] for slot in env.recv()[3]["n"]] == [0, 0]


def test_an_action_replaces_all_that_is_planned_and_no_key_stays_down(scripted, playing):
    remote = scripted()
    env = playing(remote)
    pressed(env, remote)
    assert one_step(env).info["timed.waiting"] == 1, "an empty action replaces nothing"
    env.step([[("KeyEvent", "a", True)]])
    assert remote.wait_for_events(3)[1:] == [KeyEvent(LEFT, False), key("a")]
    assert env.remotes[0].link.held[0] == (ord("a"),)


def test_a_sequence_that_goes_on_holding_a_key_does_not_release_it(scripted, playing):
    remote = scripted()
    env = playing(remote)
    pressed(env, remote)
    now = time.monotonic()
    env.play([[(now, [DOWN, ("PointerEvent", 1, 2, 1)]), (now, [UP])]])
    expected: list[Event] = [KeyEvent(LEFT, True), PointerEvent(1, 2, 1), KeyEvent(LEFT, False)]
    assert remote.wait_for_events(4)[1:] == expected


def test_an_empty_sequence_drops_everything_and_releases_what_it_would_have_released(scripted, playing):
    remote = scripted()
    env = playing(remote)
    now = time.monotonic()
    env.play([[(now, [("PointerEvent", 3, 4, 1), DOWN]), (now + LATER, [UP, ("PointerEvent", 3, 4, 0)])]])
    remote.wait_for_events(2)
    env.play([[]])
    assert remote.wait_for_events(4)[2:] == [KeyEvent(LEFT, False), PointerEvent(3, 4, 0)]
    assert one_step(env).info["timed.cancelled"] == 2


def test_a_reset_drops_what_is_planned(scripted, playing):
    remote = scripted()
    env = playing(remote)
    pressed(env, remote)
    env.reset()
    assert one_step(env).info["timed.cancelled"] == 1
    assert remote.wait_for_events(2)[1:] == [KeyEvent(LEFT, False)]
    assert until_running(env).info["timed.waiting"] == 0


def test_the_end_of_an_episode_drops_what_is_planned(scripted, playing):
    remote = scripted()
    env = playing(remote)
    pressed(env, remote)
    remote.finish()
    assert remote.wait_for_events(2)[1:] == [KeyEvent(LEFT, False)]
    step = until(env, lambda step: step.done)[-1]
    assert step.info["timed.waiting"] == 0


def test_a_plan_for_the_last_episode_does_not_reach_the_next(scripted, playing):
    remote = scripted()
    env = playing(remote)
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    wait_until(lambda: str(env.remotes[0].link.playing) == "2")
    env.play([[(time.monotonic(), [DOWN])]])  # the agent has seen nothing of episode 2 yet
    step = one_step(env)
    assert step.done
    assert step.info["mask.masked.action"] == 1
    env.step([[("KeyEvent", "a", True)]])
    assert remote.wait_for_events(1) == [key("a")]


def test_a_lost_connection_drops_what_is_planned(scripted, playing):
    remote = scripted()
    env = playing(remote)
    pressed(env, remote)
    remote.stop_vnc()
    steps = until(env, failed)
    assert steps[-1].info["timed.waiting"] == 0
    assert sum(step.info["timed.cancelled"] for step in steps) == 1, "told before the error, or with it"


@pytest.mark.parametrize("at", [1.8e9, 0.1 - 1e6, math.nan, math.inf, "soon", None])
def test_a_time_of_another_clock_is_refused(scripted, playing, at):
    env = playing(scripted())
    with pytest.raises(ConfigError, match=r"time of slot 0"):
        env.play([[(at, [DOWN])]])


@pytest.mark.parametrize(
    ("sequence_n", "message"),
    [
        ([], "0 entries for 1 remotes"),
        ([["now"]], "pair"),
        ([[(0.0,)]], "pair"),
        ([[(time.monotonic() + 1, [DOWN]), (time.monotonic(), [UP])]], "sort the entries"),
        ([[(time.monotonic(), [("KeyEvent", "no such key", True)])]], "slot 0"),
    ],
)
def test_a_sequence_that_is_none_is_refused(scripted, playing, sequence_n, message):
    env = playing(scripted())
    with pytest.raises(ConfigError, match=message):
        env.play(sequence_n)


def test_the_times_of_an_action_are_one_or_one_for_each(scripted, playing):
    env = playing(scripted())
    with pytest.raises(ConfigError, match="2 entries for 1 remotes"):
        env.send([[]], at=[None, None])


def test_in_lockstep_ticks_are_the_time(scripted, open_env):
    env = open_env(scripted(on_step=lambda remote, request: None), mode="lockstep")
    env.reset()
    with pytest.raises(LocalStateError, match="lock-step"):
        env.play([[]])
    with pytest.raises(LocalStateError, match="lock-step"):
        env.send([[]], at=time.monotonic())
