"""The promises of the environment, sentence by sentence: frames, text and what else is observed."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import pytest

from tests.support.remotes.agent import failed, is_done, one_step, steps, until, until_running
from tests.support.remotes.remote import by_hand

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
    deadline = time.monotonic() + 60
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
    seen = until(env, failed)
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


def test_text_of_an_ended_episode_does_not_come_with_the_next(scripted, playing):
    remote = scripted()
    env = playing(remote)
    remote.script(lambda: (remote.text("old"), remote.finish(1.0), remote.next_episode(), remote.text("new")))
    for step in steps(env):
        if step.observation is None or "new" not in step.observation["text"]:
            continue  # "old" may arrive with the old episode, before the client knows of its end
        assert step.observation["text"] == ["new"]
        break


def test_a_generic_observation_is_there_when_the_remote_sends_one(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    assert "env_observation" not in until_running(env).observation
    remote.env_observation({"dom": [1, 2]})
    until(env, lambda step: (step.observation or {}).get("env_observation") == {"dom": [1, 2]})
    assert one_step(env).observation["env_observation"] == {"dom": [1, 2]}, (
        "it stays until there is a newer one"
    )
    remote.script(lambda: (remote.finish(), remote.next_episode()))
    until(env, is_done)
    assert "env_observation" not in until_running(env).observation
