"""BlockingReset: no observation is None, and no reward is lost."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from tests.support.remotes.agent import one_step, wait_until
from tests.support.remotes.gym import has_shown
from tests.support.remotes.remote import by_hand
from universe_client import ConfigError, RemoteError
from universe_client.errors import ResetRejected, ResetTimeout
from wrappers import BlockingReset


class Player(threading.Thread):
    """Plays a remote with slow resets: it sends `reward` messages until `stop`."""

    def __init__(self, remote: Any, reset_seconds: float) -> None:
        super().__init__()
        self.remote, self.reset_seconds = remote, reset_seconds
        self.stopped = threading.Event()
        self.ended = 0
        self.in_episode = False

    def run(self) -> None:
        request = self.remote.next_reset()
        while not self.stopped.is_set():
            self.remote.script(self.announce)
            self.stopped.wait(self.reset_seconds)
            self.remote.script(self.begin)
            self.in_episode = True
            if request is not None:
                self.remote.reply(request)
                request = None
            for _ in range(12):
                self.remote.reward(0.5)
                if self.stopped.wait(0.01):
                    return
            self.remote.finish(2.0)
            self.in_episode = False
            self.ended += 1

    def announce(self) -> None:
        self.remote.episode += 1
        self.remote.describe("resetting")

    def begin(self) -> None:
        self.remote.paint()
        self.remote.describe("running")


def test_four_remotes_whose_resets_take_different_times(scripted, open_env):
    """No observation is None, and the rewards are those that the remotes sent."""
    seconds = (0.1, 0.3, 1.0, 3.0)
    remotes = [scripted(on_reset=by_hand) for _ in seconds]
    players = [Player(remote, wait) for remote, wait in zip(remotes, seconds, strict=True)]
    env = BlockingReset(open_env(*remotes), timeout=60)
    for player in players:
        player.start()
    began = time.monotonic()
    observation_n = env.reset()
    assert time.monotonic() - began > 2.9
    total, dones = [0.0] * 4, [0] * 4

    def take(step: Any) -> None:
        for index in range(4):
            total[index] += step.reward_n[index]
            dones[index] += step.done_n[index]
            if step.done_n[index]:
                dones[index] += step.info_n[index]["env_status.skipped_episodes"]
            assert step.observation_n[index] is not None
            assert (step.observation_n[index]["vision"] == step.observation_n[index]["vision"][0, 0, 0]).all()

    assert all(observation is not None for observation in observation_n)
    try:
        while time.monotonic() - began < 5 or not all(dones[:3]):
            assert time.monotonic() - began < 60
            take(one_step(env))
    finally:
        for player in players:
            player.stopped.set()
        for player in players:
            player.join()
    for player in players:
        if not player.in_episode:
            player.remote.next_episode()
        player.remote.reward(0.0, info={"last": True})
    last = [False] * 4
    while not all(last):
        assert time.monotonic() - began < 120
        step = one_step(env)
        take(step)
        last = [seen or "remote.last" in info for seen, info in zip(last, step.info_n, strict=True)]
    take(one_step(env))
    assert total == [remote.reward_sum for remote in remotes]
    for index, player in enumerate(players):
        # Ends of episodes during the wait of `reset` are not reported, because the agent has not seen those episodes.
        assert dones[index] <= player.ended
    assert dones[3] == players[3].ended


def test_a_step_after_done_waits_for_the_next_episode_and_keeps_the_end(scripted, open_env):
    remote = scripted()
    env = BlockingReset(open_env(remote), timeout=60)
    env.reset()
    remote.finish(5.0, {"score": 1})
    timer = threading.Timer(0.2, remote.next_episode)
    timer.start()
    deadline = time.monotonic() + 60
    while not (step := one_step(env)).done:
        assert time.monotonic() < deadline
    timer.join()
    assert step.pixel == 2
    assert step.reward == 5.0
    assert step.info["env_status.complete.episode_id"] == "1"
    assert step.info["end_reason"] == "terminated"
    assert step.info["env_status.episode_id"] == "2"
    assert step.info["remote.score"] == 1
    assert (step.info["mask.masked.observation"], step.info["env_status.reason"]) == (False, None)
    assert not one_step(env).done


def test_what_comes_with_the_next_episode_before_the_step_is_over_is_not_lost(scripted, open_env):
    remote = scripted()
    env = BlockingReset(open_env(remote), timeout=60)
    env.reset()
    remote.finish(1.0)

    def begin() -> None:
        remote.episode += 1
        remote.describe("resetting")
        remote.reward(2.0, info={"early": True})

    timer = threading.Timer(0.1, lambda: (remote.script(begin), remote.paint(), remote.describe("running")))
    timer.start()
    seen = [one_step(env)]
    while not seen[-1].info.get("remote.early"):
        assert len(seen) < 100_000
        seen.append(one_step(env))
    timer.join()
    done = next(step for step in seen if step.done)
    assert done.reward == 1.0
    assert "remote.early" not in done.info
    assert sum(step.reward for step in seen) == 3.0
    assert sum(step.info["stats.reward.count"] for step in seen) == 2


def test_an_episode_that_ends_unseen_is_summed_into_the_done_step_and_counted(scripted, open_env):
    """While the step waits, the next episode ends before there is an observation of it."""
    remote = scripted()
    env = BlockingReset(open_env(remote), timeout=60)
    env.reset()
    remote.finish(1.0)
    wait_until(lambda: env.unwrapped.remotes[0].link.playing is None)

    def skip() -> None:
        remote.episode += 1
        remote.describe("resetting")
        remote.describe("running")
        remote.finish(2.0, {"score": 2})

    def meanwhile() -> None:
        wait_until(lambda: bool(env._slots[0].done))
        remote.script(skip)
        wait_until(lambda: env._slots[0].reward == 3.0)
        remote.next_episode()

    player = threading.Thread(target=meanwhile)
    player.start()
    step = one_step(env)
    player.join()
    assert (step.reward, step.done) == (3.0, True)
    assert step.info["env_status.complete.episode_id"] == "1"
    assert step.info["env_status.episode_id"] == "3"
    assert step.info["env_status.skipped_episodes"] == 1
    remote.reward(4.0)
    while not (later := one_step(env)).reward:
        assert env.wait(60)
    assert (later.reward, later.done, later.info["env_status.skipped_episodes"]) == (4.0, False, 0)
    assert "remote.score" not in later.info, "it belongs to the episode before"


def test_the_others_live_on_while_one_resets(scripted, open_env):
    one, slow = scripted(), scripted()
    env = BlockingReset(open_env(one, slow), timeout=60)
    env.reset()
    slow.finish(1.0)

    def meanwhile() -> None:
        one.reward(2.0)
        one.paint(99)
        wait_until(lambda: has_shown(env.unwrapped.remotes[0], 99))
        slow.next_episode()

    timer = threading.Timer(0.1, meanwhile)
    timer.start()
    steps = [one_step(env)]
    deadline = time.monotonic() + 60
    while not any(step.done_n[1] for step in steps):
        assert time.monotonic() < deadline
        steps.append(one_step(env))
    timer.join()
    assert sum(step.reward_n[0] for step in steps) == 2.0
    assert (steps[-1].observation_n[0]["vision"] == 99).all(), "its frame is from before the wait"


def test_a_timeout_names_the_remotes_and_loses_nothing(scripted, open_env):
    one, slow = scripted(), scripted()
    env = BlockingReset(open_env(one, slow), timeout=60)
    env.reset()
    slow.finish(4.0)
    one.reward(1.0)
    wait_until(lambda: env.unwrapped.remotes[1].link.playing is None)
    wait_until(lambda: env.unwrapped.remotes[0].link.buffer._current.count == 1)
    env.timeout = 0.3
    with pytest.raises(
        ResetTimeout, match=r"remote \[1 \(127\.0\.0\.1:\d+\+\d+\) resetting\].*within 0\.3 s"
    ):
        env.step([[], []])
    slow.next_episode()
    slow.reward(8.0)
    env.timeout = 60
    step = one_step(env)
    steps = [step]
    while sum(each.reward_n[1] for each in steps) < 12.0:
        steps.append(one_step(env))
        assert len(steps) < 10_000
    assert step.reward_n == [1.0, 4.0]
    assert step.done_n == [False, True]
    assert sum(each.done_n[1] for each in steps) == 1


def test_a_timeout_of_reset_is_gone_on_with(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = BlockingReset(open_env(remote), timeout=0.2)
    with pytest.raises(ResetTimeout, match=r"no observation within 0\.2 s"):
        env.reset()
    remote.answer(remote.next_reset())
    env.timeout = 60
    step = one_step(env)
    assert step.pixel == 1
    assert remote.resets.qsize() == 0, "reset twice"


def test_a_permanent_error_is_raised_at_once(scripted, open_env):
    remote = scripted(on_reset=lambda remote, request: remote.refuse(request, "no such env"))
    env = BlockingReset(open_env(scripted(), remote), timeout=60)
    began = time.monotonic()
    with pytest.raises(ResetRejected, match="no such env") as caught:
        env.reset()
    assert caught.value.remote.startswith("1 (")
    assert time.monotonic() - began < 30


def test_a_lost_remote_is_waited_for(scripted, open_env):
    remote = scripted()
    env = BlockingReset(open_env(remote), timeout=60)
    env.reset()
    remote.stop()
    timer = threading.Timer(0.3, remote.start)
    timer.start()
    deadline = time.monotonic() + 60
    while not (step := one_step(env)).done:
        assert time.monotonic() < deadline
    timer.join()
    assert step.observation is not None
    assert step.info["truncated"]
    assert step.info["end_reason"] == "lost"
    assert "remote 0" in step.info["error"]


def test_a_reset_of_some_returns_observations_of_all(scripted, open_env):
    env = BlockingReset(open_env(scripted(), scripted()), timeout=60)
    env.reset()
    observation_n = env.reset(mask=np.array([False, True]))
    assert [int(o["vision"][0, 0, 0]) for o in observation_n] == [1, 2]


def test_what_was_left_of_an_episode_is_gone_after_reset(scripted, open_env):
    remote = scripted()
    env = BlockingReset(open_env(remote), timeout=60)
    env.reset()
    remote.finish(4.0)
    wait_until(lambda: env.unwrapped.remotes[0].link.playing is None)
    env.timeout = 0.2
    with pytest.raises(ResetTimeout):
        env.step([[]])
    env.timeout = 60
    env.reset()
    step = one_step(env)
    assert (step.reward, step.done) == (0.0, False)


def test_a_vnc_only_remote_has_no_reward_to_merge(scripted, open_env):
    env = BlockingReset(open_env(scripted(has_rewarder=False)), timeout=60)
    assert env.reset()[0] is not None
    step = one_step(env)
    assert (step.reward, step.done) == (None, None)


def test_on_error_raise_raises_the_remotes_error(scripted, open_env):
    remote = scripted()
    env = BlockingReset(open_env(remote, on_error="raise"), timeout=60)
    env.reset()
    remote.stop()
    with pytest.raises(RemoteError):
        for _ in range(1000):
            env.step([[]])
            env.wait(0.1)


def test_bad_arguments(scripted, open_env):
    inner = open_env(scripted(), scripted())
    with pytest.raises(ConfigError, match="timeout"):
        BlockingReset(inner, timeout=0)
    with pytest.raises(ConfigError, match="mask"):
        BlockingReset(inner).recv([True, False])
