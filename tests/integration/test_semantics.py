"""The promises of the environment, sentence by sentence, against remotes that the test scripts."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import universe_client
from tests.support.agent import Step, one_step, running, steps, until, until_running, wait_until
from tests.support.remote import by_hand
from universe_client import LocalStateError
from universe_client.info import SCHEMA
from vnc.events import KeyEvent, PointerEvent

LEFT, A = 0xFF51, ord("a")
PRESS = [[("KeyEvent", "Left", True)]]


def is_done(step: Step) -> bool:
    return bool(step.done)


# -- observations


@pytest.mark.parametrize("pace", ["at every change", "without a pause", "dozing"])
def test_every_frame_is_of_the_episode_that_info_names(scripted, open_env, pace):
    """Hundreds of episodes; the remote paints the number of each into every pixel."""
    remote = scripted()
    env = open_env(remote)
    env.reset()
    lengths = random.Random(7)
    stop = threading.Event()

    def play() -> None:
        while not stop.wait(lengths.uniform(0.0, 0.008)):
            remote.script(lambda: (remote.finish(1.0), remote.next_episode()))

    until_running(env)
    player = threading.Thread(target=play)
    player.start()
    ended = 0
    deadline = time.monotonic() + 20
    try:
        while ended < 300:
            assert time.monotonic() < deadline, f"{ended} episodes"
            step = one_step(env)
            if step.observation is not None:
                assert step.pixel == int(step.info["env_status.episode_id"]) % 256
            if step.done:
                ended += 1 + step.info["env_status.skipped_episodes"]
                assert step.reward == 1 + step.info["env_status.skipped_episodes"]
            if pace == "at every change":
                env.wait(0.1)
            elif pace == "dozing":
                stop.wait(0.015)
    finally:
        stop.set()
        player.join()


def test_a_frame_from_before_running_is_not_shown(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    request = remote.next_reset()
    remote.episode = 1
    remote.script(lambda: (remote.describe("resetting"), remote.paint(77), remote.reply(request)))
    seen = until(env, lambda step: step.info["env_status.episode_id"] == "1")
    assert seen[-1].observation is None
    assert seen[-1].info["env_status.reason"] == "resetting"
    remote.script(lambda: (remote.paint(1), remote.describe("running")))
    assert until_running(env).pixel == 1


def test_no_observation_until_a_whole_frame_has_come(scripted, open_env):
    remote = scripted()
    remote.stop_vnc()
    env = open_env(remote)
    env.reset()
    seen = until(env, lambda step: step.info["error"] is not None)
    assert all(step.observation is None for step in seen)
    remote.restart_vnc()
    until_running(env)


def test_why_there_is_no_observation_is_said(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    assert one_step(env).info["env_status.reason"] == "connecting"
    until(env, lambda step: step.info["env_status.reason"] == "resetting")
    remote.answer(remote.next_reset())
    assert until_running(env).info["env_status.reason"] is None
    remote.stop()
    reasons = {
        step.info["env_status.reason"]
        for step in until(env, lambda step: step.info["env_status.reason"] == "lost")
    }
    assert reasons <= {None, "no_frame", "lost"}


# -- actions


def test_actions_of_a_slot_that_is_not_running_are_dropped_and_counted(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    step = one_step(env, [[("KeyEvent", "a", True), ("PointerEvent", 1, 2, 0)]])
    assert step.info["mask.masked.action"] == 2
    request = remote.next_reset()
    assert one_step(env, PRESS).info["mask.masked.action"] == 1
    remote.answer(request)
    until_running(env)
    step = one_step(env, [[("KeyEvent", "Left", True)]])
    assert step.info["mask.masked.action"] == 0
    assert remote.wait_for_events(1) == [KeyEvent(LEFT, True)], "the dropped ones were queued"


def test_what_is_held_at_the_end_of_an_episode_is_released_on_the_wire(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    env.step([[("KeyEvent", "Left", True), ("KeyEvent", "a", True), ("PointerEvent", 3, 4, 5)]])
    remote.wait_for_events(3)
    remote.finish()
    assert remote.wait_for_events(6)[3:] == [
        KeyEvent(A, False),
        KeyEvent(LEFT, False),
        PointerEvent(3, 4, 0),
    ]


def test_what_is_held_is_released_by_a_reset(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    env.step(PRESS)
    remote.wait_for_events(1)
    env.reset()
    assert remote.wait_for_events(2)[1] == KeyEvent(LEFT, False)


def test_an_action_meant_for_the_last_episode_does_not_reach_the_next(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    wait_until(lambda: env.remotes[0].link.playing is not None and str(env.remotes[0].link.playing) == "2")
    step = one_step(env, PRESS)  # the agent has seen nothing of episode 2 yet
    assert step.info["mask.masked.action"] == 1
    assert step.done
    assert one_step(env, PRESS).info["mask.masked.action"] == 0
    assert remote.wait_for_events(1) == [KeyEvent(LEFT, True)]


# -- episodes


def test_done_comes_once_with_the_last_reward_and_the_old_episode_by_name(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.reward(1.0)
    remote.finish(2.5, {"score": 9})
    seen = until(env, is_done)
    assert sum(step.reward for step in seen) == 3.5
    last = seen[-1]
    assert last.info["env_status.complete.episode_id"] == "1"
    assert last.info["env_status.complete.env_state"] == "running"
    assert (last.info["terminated"], last.info["truncated"], last.info["end_reason"]) == (
        True,
        False,
        "terminated",
    )
    assert last.info["remote.score"] == 9
    remote.next_episode()
    after = until(env, running)
    assert not any(step.done for step in after)
    assert all(step.observation is None for step in after[:-1])
    assert after[-1].pixel == 2


def test_truncation_by_the_remote_is_told_from_termination(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.finish(0.0, {"TimeLimit.truncated": True})
    last = until(env, is_done)[-1]
    assert (last.info["terminated"], last.info["truncated"]) == (False, True)


def test_episodes_that_the_agent_slept_through_are_summed_and_counted(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)

    def three() -> None:
        for reward in (1.0, 10.0, 100.0):
            remote.finish(reward)
            remote.next_episode()

    remote.script(three)
    wait_until(lambda: str(env.remotes[0].link.buffer.running) == "4")
    step = one_step(env)
    assert step.done
    assert step.reward == 111.0
    assert step.info["env_status.skipped_episodes"] == 2
    assert step.info["env_status.complete.episode_id"] == "1"
    assert until_running(env).pixel == 4


def test_a_late_message_of_an_older_episode_is_dropped_and_counted(scripted, open_env):
    """The ancestor ended the current episode on it (reward_buffer.py, reward_state)."""
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    until(env, is_done)
    until_running(env)
    remote.script(lambda: (remote.rewarder_late(5.0), remote.reward(0.5)))
    seen = until(env, lambda step: step.reward != 0.0)
    assert not any(step.done for step in seen)
    assert sum(step.reward for step in seen) == 0.5
    assert sum(step.info["stats.reward.stale"] for step in seen) == 1


def test_rewards_between_steps_are_summed_and_counted(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    for _ in range(50):
        remote.reward(0.25)
    seen: list[Step] = []
    for step in steps(env):
        seen.append(step)
        if sum(each.info["stats.reward.count"] for each in seen) == 50:
            break
    assert sum(step.reward for step in seen) == 12.5
    remote.reward(1.0)
    assert until(env, lambda step: step.reward != 0.0)[-1].reward == 1.0


def test_the_world_goes_on_while_the_agent_sleeps(scripted, open_env):
    """U1: the next step has the newest frame and all rewards."""
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    session = env.remotes[0].link.session
    for value in range(101, 111):
        before = session.frames
        remote.paint(value)
        remote.reward(1.0)
        wait_until(lambda before=before: session.frames > before)
    wait_until(lambda: env.remotes[0].link.rewarder.clock.samples > 0)
    remote.reward(0.0, info={"last": True})
    seen = until(env, lambda step: step.info.get("remote.last", False))
    assert sum(step.reward for step in seen) == 10.0
    assert seen[-1].pixel == 110


# -- resets


def test_of_two_overlapping_resets_the_first_ones_episode_is_never_shown(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    first = remote.next_reset()
    env.reset()
    second = remote.next_reset()
    remote.answer(first)
    remote.reward(5.0)
    remote.finish(7.0)
    remote.answer(second)
    seen = until(env, running)
    assert seen[-1].pixel == 2
    assert sum(step.reward for step in seen) == 0.0
    assert not any(step.done for step in seen)


def test_the_reply_to_a_reset_may_come_before_or_after_running(scripted, open_env):
    def reply_first(remote: Any, request: Any) -> None:
        remote.episode += 1
        remote.describe("resetting")
        remote.reply(request)
        remote.paint()
        remote.describe("running")

    remote = scripted(on_reset=reply_first)
    env = open_env(remote)
    env.reset()
    assert until_running(env).pixel == 1


def test_reset_with_a_mask_leaves_the_others_alone(scripted, open_env):
    one, other = scripted(), scripted()
    env = open_env(one, other)
    env.reset()
    until_running(env)
    assert env.reset(mask=[False, True]) == [None, None]
    step = one_step(env)
    assert step.observation_n[0] is not None
    step = until_running(env)
    assert [info["env_status.episode_id"] for info in step.info_n] == ["1", "2"]
    assert one.resets.qsize() == 1
    assert other.resets.qsize() == 2


@pytest.mark.parametrize(("seed", "expected"), [(None, [None, None]), (40, [40, 41]), ([7, None], [7, None])])
def test_seeds_reach_the_remotes(scripted, open_env, seed, expected):
    remotes = [scripted(), scripted()]
    env = open_env(*remotes)
    env.reset(seed=seed)
    assert [remote.next_reset().seed for remote in remotes] == expected


def test_env_id_and_fps_reach_the_remote(scripted, open_env):
    remote = scripted()
    env = open_env(remote, env_id="test.Env-v0", fps=30)
    env.reset()
    request = remote.next_reset()
    assert (request.env_id, request.fps) == ("test.Env-v0", 30.0)


def test_rewards_of_an_episode_that_the_agent_reset_away_do_not_come(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    remote.answer(remote.next_reset())
    until_running(env)
    remote.reward(3.0)
    wait_until(lambda: env.remotes[0].link.buffer._current.count == 1)
    env.reset()
    request = remote.next_reset()
    remote.finish(4.0)
    remote.answer(request)
    seen = until(env, running)
    assert sum(step.reward for step in seen) == 0.0
    assert not any(step.done for step in seen)


# -- text and other observations


def test_text_comes_with_the_first_observation_of_its_episode(scripted, open_env):
    def with_text(remote: Any, request: Any) -> None:
        remote.episode += 1
        remote.describe("resetting")
        remote.text("find the door")

    remote = scripted(on_reset=with_text)
    env = open_env(remote)
    env.reset()
    request = remote.next_reset()
    until(env, lambda step: step.info["env_status.reason"] == "resetting")
    remote.reply(request)
    until(env, lambda step: step.info["env_status.episode_id"] == "1")  # the text is here, and masked
    remote.script(lambda: (remote.paint(), remote.describe("running"), remote.text({"and": 2})))
    seen: list[Any] = []
    for step in steps(env):
        if step.observation is not None:
            seen += step.observation["text"]
            assert seen[:1] == ["find the door"]
        if len(seen) == 2:
            break
    assert seen == ["find the door", {"and": 2}]
    assert one_step(env).observation["text"] == []


def test_text_of_an_ended_episode_does_not_come_with_the_next(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.script(lambda: (remote.text("old"), remote.finish(1.0), remote.next_episode(), remote.text("new")))
    texts: list[Any] = []
    for step in steps(env):
        texts += [] if step.observation is None else step.observation["text"]
        if "new" in texts:
            break
    assert texts == ["new"]


def test_a_generic_observation_is_there_when_the_remote_sends_one(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    assert "generic" not in until_running(env).observation
    remote.observation({"dom": [1, 2]})
    until(env, lambda step: (step.observation or {}).get("generic") == {"dom": [1, 2]})
    assert one_step(env).observation["generic"] == {"dom": [1, 2]}, "it stays until there is a newer one"
    remote.script(lambda: (remote.finish(), remote.next_episode()))
    until(env, is_done)
    assert "generic" not in until_running(env).observation


# -- info


def test_info_has_the_same_keys_on_every_step_in_every_state(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    seen = until(env, running)
    remote.reward(1.0)
    remote.script(lambda: (remote.finish(2.0), remote.next_episode()))
    seen += until(env, is_done)
    seen += until(env, running)
    seen.append(one_step(env, PRESS))
    remote.stop()
    seen += until(env, lambda step: step.info["error"] is not None)
    seen += until(env, lambda step: step.info["env_status.reason"] == "lost")
    for step in seen:
        assert step.info.keys() == SCHEMA.keys()
        for key, value in step.info.items():
            default = SCHEMA[key][0]
            assert default is None or type(value) is type(default), key


def test_reward_info_arrives_under_remote(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.reward(1.0, info={"lives": 3, "error": "not ours"})
    info = until(env, lambda step: "remote.lives" in step.info)[-1].info
    assert info["remote.lives"] == 3
    assert info["remote.error"] == "not ours"
    assert info["error"] is None


def test_latencies_are_seconds_and_known_once_there_is_something_to_measure(scripted, open_env):
    """U7."""
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    wait_until(lambda: env.remotes[0].link.rewarder.clock.calibrated)
    remote.reward(1.0)
    info = until(env, lambda step: step.reward == 1.0)[-1].info
    prefix = "stats.gauges.diagnostics."
    assert 0 < info[prefix + "rtt"] < 1
    assert abs(info[prefix + "clock_skew"]) < 1
    for lag in ("lag.observation", "lag.reward", "lag.rewarder_message"):
        assert -0.05 < info[prefix + lag] < 5, lag
    info = one_step(env, PRESS).info
    assert 0 < info["reaction_time"] < 10
    assert 0 < info[prefix + "lag.action"] < 5
    assert one_step(env).info["reaction_time"] is None


def test_framebuffer_traffic_is_counted_since_the_last_step(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.paint(200)
    seen = until(env, lambda step: step.observation is not None and step.pixel == 200)
    pixels = sum(step.info["stats.vnc.updates.pixels"] for step in seen)
    assert pixels >= 24 * 16
    assert sum(step.info["stats.vnc.updates.n"] for step in seen) >= 1
    assert sum(step.info["stats.vnc.updates.bytes"] for step in seen) > 0
    total = env.remotes[0].link.session.stats.updates
    later = one_step(env)
    assert later.info["stats.vnc.updates.n"] <= env.remotes[0].link.session.stats.updates - total + 1


# -- frames


def test_a_frame_is_the_callers_to_keep(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    kept = until_running(env).observation["vision"]
    remote.paint(99)
    until(env, lambda step: step.pixel == 99)
    assert (kept == 1).all()
    assert kept.flags.writeable


def test_without_copy_a_frame_is_a_read_only_view(scripted, open_env):
    remote = scripted()
    env = open_env(remote, copy=False)
    env.reset()
    lent = until_running(env).observation["vision"]
    with pytest.raises(ValueError, match="read-only"):
        lent[0, 0, 0] = 1
    remote.paint(99)
    latest = until(env, lambda step: step.pixel == 99)[-1].observation["vision"]
    assert latest.base is lent.base, "the same memory is lent again"


# -- other kinds of remotes


def test_a_remote_with_a_vnc_port_only_has_no_rewards(scripted, open_env):
    remote = scripted(has_rewarder=False)
    env = open_env(remote)
    env.reset()
    step = until_running(env)
    assert step.reward is None
    assert step.done is None
    assert step.info["env_status.episode_id"] is None
    env.step(PRESS)
    assert remote.wait_for_events(1) == [KeyEvent(LEFT, True)]
    env.reset()
    until_running(env)


def test_a_vnc_only_remote_that_is_lost_is_truncated_once_and_comes_back(scripted, open_env):
    remote = scripted(has_rewarder=False)
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.stop_vnc()
    cut = until(env, is_done)[-1]
    assert cut.info["truncated"]
    assert cut.info["end_reason"] == "lost"
    assert cut.info["error"] is not None
    remote.restart_vnc()
    after = until(env, running)
    assert not any(step.done for step in after)


def test_an_observer_sees_all_and_does_nothing(scripted, open_env):
    remote = scripted()
    agent, observer = open_env(remote), open_env(remote, observer=True)
    agent.reset()
    until_running(agent)
    observer.reset()
    assert until_running(observer).pixel == 1
    assert remote.resets.qsize() == 1
    step = one_step(observer, PRESS)
    assert step.info["mask.masked.action"] == 1
    agent.step([[("KeyEvent", "a", True)]])
    assert remote.wait_for_events(1) == [KeyEvent(A, True)]
    remote.reward(2.0)
    assert until(observer, lambda step: step.reward == 2.0)
    observer.reset()
    assert until_running(observer).pixel == 1
    assert remote.resets.qsize() == 1


# -- the agent's own mistakes


def test_step_before_reset_is_an_error_of_order(scripted, open_env):
    env = open_env(scripted())
    with pytest.raises(LocalStateError, match="reset"):
        env.step([[]])


def test_the_first_reset_is_for_all(scripted, open_env):
    env = open_env(scripted())
    with pytest.raises(LocalStateError, match="first reset"):
        env.reset(mask=[False])


def test_everything_after_close_is_an_error_of_order(scripted, open_env):
    env = open_env(scripted())
    env.reset()
    env.close()
    env.close()
    assert env.closed
    for call in (env.reset, lambda: env.step([[]]), env.recv, lambda: env.send([[]])):
        with pytest.raises(LocalStateError, match="closed"):
            call()


def test_an_agent_from_the_seed_document_works_unchanged(scripted):
    """Written from universe-env-semantics.txt, which knows nothing of our options."""

    def game(remote: Any, events: Any) -> None:
        """A point for each press; the third ends the episode."""
        for event in events:
            if event == KeyEvent(0xFF52, True):
                remote.presses = getattr(remote, "presses", 0) + 1
                if remote.presses % 3:
                    remote.reward(1.0)
                else:
                    remote.finish(2.0)
                    remote.next_episode()

    remotes = [scripted(on_input=game) for _ in range(3)]
    hosts = ",".join(f"127.0.0.1:{r.address.vnc.port}+{r.address.rewarder.port}" for r in remotes)
    env = universe_client.make("test.Env-v0", remotes=f"vnc://{hosts}")
    returned, finished, seen = [0.0] * 3, [0] * 3, [0] * 3
    deadline = time.monotonic() + 20
    try:
        observation_n = env.reset()
        assert observation_n == [None, None, None]
        while min(finished) < 3:
            assert time.monotonic() < deadline, finished
            action_n = [
                [("KeyEvent", "ArrowUp", True), ("KeyEvent", "ArrowUp", False)] for _ in observation_n
            ]
            observation_n, reward_n, done_n, info = env.step(action_n)
            assert len(info["n"]) == len(observation_n) == len(reward_n) == len(done_n) == 3
            for i, observation in enumerate(observation_n):
                assert isinstance(done_n[i], bool)
                returned[i] += reward_n[i]
                if done_n[i]:
                    finished[i] += 1 + info["n"][i]["env_status.skipped_episodes"]
                    assert returned[i] >= 4.0 * finished[i]
                if observation is not None:
                    assert observation["vision"].dtype == "uint8"
                    assert observation["vision"].shape == (16, 24, 3)
                    seen[i] += 1
        assert min(seen) >= 3
    finally:
        env.close()


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert not {thread for thread in threading.enumerate() if thread.name == "universe-client"} - before
