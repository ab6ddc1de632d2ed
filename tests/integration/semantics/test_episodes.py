"""The promises of the environment, sentence by sentence: episodes, their rewards and ends, and resets."""

from __future__ import annotations

from typing import Any

import pytest

import universe_client
from tests.support.remotes.agent import (
    Step,
    is_done,
    one_step,
    running,
    steps,
    until,
    until_running,
    wait_until,
)
from tests.support.remotes.remote import by_hand

# -- episodes


def test_done_comes_once_with_the_last_reward_and_the_old_episode_by_name(scripted, playing):
    remote = scripted()
    env = playing(remote)
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


def test_truncation_by_the_remote_is_told_from_termination(scripted, playing):
    remote = scripted()
    env = playing(remote)
    remote.finish(0.0, {"TimeLimit.truncated": True})
    last = until(env, is_done)[-1]
    assert (last.info["terminated"], last.info["truncated"]) == (False, True)


def test_episodes_that_the_agent_slept_through_are_summed_and_counted(scripted, playing):
    remote = scripted()
    env = playing(remote)

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


def test_a_late_message_of_an_older_episode_is_dropped_and_counted(scripted, playing):
    """The ancestor ended the current episode on it (reward_buffer.py, reward_state)."""
    remote = scripted()
    env = playing(remote)
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    until(env, is_done)
    until_running(env)
    remote.script(lambda: (remote.rewarder_late(5.0), remote.reward(0.5)))
    seen = until(env, lambda step: step.reward != 0.0)
    assert not any(step.done for step in seen)
    assert sum(step.reward for step in seen) == 0.5
    assert sum(step.info["stats.reward.stale"] for step in seen) == 1


def test_rewards_between_steps_are_summed_and_counted(scripted, playing):
    remote = scripted()
    env = playing(remote)
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


def test_the_world_goes_on_while_the_agent_sleeps(scripted, playing):
    """U1: the next step has the newest frame and all rewards."""
    remote = scripted()
    env = playing(remote)
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


def test_reset_with_a_mask_leaves_the_others_alone(scripted, playing):
    one, other = scripted(), scripted()
    env = playing(one, other)
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


def test_env_id_fps_and_time_scale_reach_the_remote(scripted, open_env):
    remote = scripted()
    env = open_env(remote, env_id="test.Env-v0", fps=30, time_scale=2)
    env.reset()
    request = remote.next_reset()
    assert (request.env_id, request.fps, request.time_scale) == ("test.Env-v0", 30.0, 2.0)


def test_info_has_the_time_scale_that_the_remote_reports():
    with universe_client.make("gym-core.CartPole-v1", time_scale=0.5) as env:
        env.reset()
        assert until_running(env).info["env_status.time_scale"] == 0.5


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
