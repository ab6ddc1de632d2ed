"""Resets of the vector face: whole, masked, automatic; waited for and not."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers.vector import (
    RecordEpisodeStatistics,
)

from tests.support.remotes.agent import wait_until
from tests.support.remotes.gym import (
    any_done,
    has_shown,
    new_value,
    noop,
    open_gym,
    step_until,
    three,
    values,
)
from tests.support.remotes.remote import by_hand, press_game
from universe_client import ConfigError, LocalStateError
from universe_client.errors import ResetRejected, ResetTimeout

__all__ = ["open_gym", "three"]
RIGHT_ACTION = 2  # of the default key sets


# -- V11: reset


def test_v11_a_seed_is_for_remote_i_plus_i_and_a_list_one_for_each(three, open_gym):
    env = open_gym(*three)
    env.reset(seed=5)
    assert [remote.next_reset().seed for remote in three] == [5, 6, 7]
    assert env.np_random_seed == (5, 6, 7)
    env.reset(seed=[3, None, 1])
    assert [remote.next_reset().seed for remote in three] == [3, None, 1]
    assert env.np_random_seed == (3, 6, 1)
    env.reset()
    assert [remote.next_reset().seed for remote in three] == [None, None, None]
    with pytest.raises(ConfigError, match="seed has 2 entries for 3"):
        env.reset(seed=[1, 2])


def test_reset_waits_for_every_first_frame(scripted, open_gym):
    fast, slow = scripted(), scripted(on_reset=by_hand)
    env = open_gym(fast, slow)
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(env.reset()))
    thread.start()
    request = slow.next_reset()
    wait_until(lambda: not env._rows.awaiting[0])
    fast.paint(60)
    wait_until(lambda: has_shown(env.core.remotes[0], 60))
    assert not results
    slow.next_episode()
    slow.reply(request)
    thread.join(60)
    observations, infos = results[0]
    assert values(observations) == [60, 1], "the one that was there first has not been forgotten"
    assert not infos["resetting"].any()
    assert infos["_resetting"].all()


def test_reset_times_out_and_names_the_remotes(scripted, open_gym):
    silent = scripted(on_reset=by_hand)
    env = open_gym(scripted(), silent, reset_timeout=3)
    with pytest.raises(ResetTimeout, match="no observation within 3 s") as raised:
        env.reset()
    assert f"[1 (127.0.0.1:{silent.address.vnc.port}" in str(raised.value)
    assert "0 (" not in str(raised.value)


def test_a_refused_reset_is_raised_at_once(scripted, open_gym):
    env = open_gym(scripted(on_reset=lambda remote, request: remote.refuse(request, "no such env")))
    with pytest.raises(ResetRejected, match="no such env"):
        env.reset()


def test_a_reset_mask_restarts_some_and_is_not_touched(three, open_gym):
    env = open_gym(*three)
    env.reset()
    for remote in three:
        remote.next_reset()
    options = {"reset_mask": np.array([False, True, False])}
    observations, infos = env.reset(options=options)
    assert values(observations) == [1, 2, 1]
    assert list(options) == ["reset_mask"]
    assert options["reset_mask"].tolist() == [False, True, False]
    assert [remote.resets.qsize() for remote in three] == [0, 1, 0]
    assert infos["_resetting"].tolist() == [False, True, False]


@pytest.mark.parametrize(
    "mask", [np.zeros(3, bool), np.ones(2, bool), np.ones(3, int), "all", [[True, True, True]]]
)
def test_a_senseless_reset_mask_is_refused(three, open_gym, mask):
    env = open_gym(*three)
    env.reset()
    with pytest.raises(ConfigError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


def test_options_are_free_and_the_first_reset_is_for_all(three, open_gym):
    env = open_gym(*three)
    with pytest.raises(LocalStateError, match="first reset"):
        env.reset(options={"reset_mask": np.array([True, False, False])})
    with pytest.raises(ResetNeeded, match=r"remotes \[0, 1, 2\] have no episode: call reset\(\)"):
        env.step(noop(env))
    options = {"speed": 2, "reset_mask": np.array([True, True, True])}
    env.reset(options=options)
    assert options.keys() == {"speed", "reset_mask"}, "the options were changed"
    assert not env.step(noop(env))[2].any()


def test_a_reset_after_an_end_takes_the_episode_that_has_begun_unless_there_is_a_seed(three, open_gym):
    env = open_gym(*three)
    env.reset()
    for remote in three:
        remote.next_reset()
        remote.finish(1.0)
        remote.next_episode()
        remote.reward(4.0)
    wait_until(lambda: all(str(remote.link.playing) == "2" for remote in env.core.remotes))
    dones = env.step(noop(env))[2]
    assert dones.all()
    observations, infos = env.reset(options={"reset_mask": dones})
    assert values(observations) == [2, 2, 2]
    assert not infos["resetting"].any()
    assert [remote.resets.qsize() for remote in three] == [0, 0, 0], "none was asked for"
    kept = np.zeros(3)

    def all_kept(result: Any) -> bool:
        kept[:] += result[1]
        return bool((kept == 4.0).all())

    step_until(env, all_kept)
    three[1].finish()
    step_until(env, any_done)
    env.reset(seed=5)
    assert [remote.next_reset().seed for remote in three] == [5, 6, 7]


# -- V6: autoreset


def test_v6_a_done_is_told_once_with_its_last_frame_and_the_next_step_is_the_next_episodes_first(
    three, open_gym
):
    env = open_gym(*three)
    env.reset()
    three[1].paint(50)
    step_until(env, new_value(1, 50))
    three[1].reward(2.0)
    three[1].finish(3.0)
    three[1].next_episode()
    wait_until(lambda: str(env.core.remotes[1].link.playing) == "2")
    observations, rewards, terminations, truncations, infos = env.step(noop(env))
    assert rewards.tolist() == [0.0, 5.0, 0.0]
    assert terminations.tolist() == [False, True, False]
    assert not truncations.any()
    assert values(observations) == [1, 50, 1], "the last frame of the old episode"
    assert infos["end_reason"][1] == "terminated"
    assert infos["env_status.complete.episode_id"][1] == "1"
    observations, rewards, terminations, truncations, infos = env.step(np.full(3, RIGHT_ACTION))
    assert values(observations) == [1, 2, 1], "the first frame of the new one"
    assert infos["mask.masked.action"].tolist() == [0, 1, 0], "the action of a row that resets is dropped"
    assert not rewards.any()
    assert not (terminations | truncations).any()
    assert infos["env_status.episode_id"][1] == "2"
    assert not infos["resetting"].any()


def test_block_mode_waits_for_the_row_that_resets_and_the_others_are_up_to_date(three, open_gym):
    env = open_gym(*three)
    env.reset()
    three[0].finish()
    step_until(env, any_done)
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(env.step(noop(env))))
    thread.start()
    three[1].reward(1.0)
    three[2].paint(90)
    wait_until(lambda: has_shown(env.core.remotes[2], 90))
    assert not results
    three[0].next_episode()
    thread.join(60)
    observations, rewards, *_ = results[0]
    assert values(observations) == [2, 1, 90]
    assert rewards.tolist() == [0.0, 1.0, 0.0]


def test_what_an_episode_earns_before_it_is_seen_goes_to_the_step_after(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote)
    env.reset()
    remote.finish(1.0)
    assert step_until(env, any_done)[-1][1] == [1.0]

    def run_on() -> None:
        remote.next_episode()
        remote.reward(4.0)

    remote.script(run_on)
    assert env.step(noop(env))[1] == [0.0]
    results = step_until(env, lambda result: result[1].any())
    assert results[-1][1] == [4.0]
    assert results[-1][4]["stats.reward.count"] == [1]


def test_an_episode_that_nobody_saw_is_counted_and_its_reward_kept(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote)
    env.reset()
    remote.finish(1.0)
    step_until(env, any_done)

    def come_and_go() -> None:
        remote.episode += 1
        remote.describe("running")
        remote.finish(8.0)

    remote.script(come_and_go)
    wait_until(lambda: bool(env.core.remotes[0].link.buffer._ready))
    result_of_reset: list[Any] = []
    thread = threading.Thread(target=lambda: result_of_reset.append(env.step(noop(env))))
    thread.start()
    wait_until(lambda: not env.core.remotes[0].link.buffer._ready)
    remote.next_episode()
    thread.join(60)
    observations, rewards, terminations, truncations, infos = result_of_reset[0]
    assert values(observations) == [3]
    assert (rewards, terminations | truncations) == ([0.0], [False])
    assert infos["env_status.skipped_episodes"] == [0]
    _, rewards, terminations, truncations, infos = env.step(noop(env))
    assert (rewards, terminations | truncations) == ([8.0], [False])
    assert infos["env_status.skipped_episodes"] == [1]


def test_returns_add_up_whatever_the_pace(scripted, open_gym):
    remotes = [scripted(on_input=press_game) for _ in range(3)]
    env = RecordEpisodeStatistics(open_gym(*remotes, step_rate=200))
    env.reset()
    total, returned, episodes = np.zeros(3), np.zeros(3), np.zeros(3)
    deadline = time.monotonic() + 60
    step = 0
    while episodes.min() < 3:
        assert time.monotonic() < deadline, episodes
        step += 1
        _, rewards, terminations, truncations, infos = env.step(np.full(3, 1 + step % 2))
        total += rewards
        dones = terminations | truncations
        episodes += dones + infos["env_status.skipped_episodes"]
        assert (total[dones] == 15 * episodes[dones]).all(), "each reward once, in its episode"
        if dones.any():
            assert infos["_episode"].tolist() == dones.tolist()
            returned += infos["episode"]["r"]
    for index, remote in enumerate(remotes):
        assert 3 * 15 <= total[index] <= remote.reward_sum
    assert list(env.return_queue)
    assert all(length > 0 for length in env.length_queue)


def test_a_truncation_by_the_remote_is_one(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote)
    env.reset()
    remote.finish(0.0, {"TimeLimit.truncated": True})
    _, _, terminations, truncations, infos = step_until(env, any_done)[-1]
    assert (terminations, truncations) == ([False], [True])
    assert infos["remote.TimeLimit.truncated"] == [True]


def test_max_episode_steps_truncates_each_remote_by_its_own_count(three, open_gym):
    env = open_gym(*three, max_episode_steps=4)
    env.reset()
    env.step(noop(env))
    env.reset(options={"reset_mask": np.array([False, True, False])})
    ends = [(result[2] | result[3]).tolist() for result in [env.step(noop(env)) for _ in range(6)]]
    assert ends[:4] == [[False] * 3, [False] * 3, [True, False, True], [False, True, False]]
    result = step_until(env, any_done)[-1]
    assert not result[2].any()
    assert set(result[4]["end_reason"][result[3]]) == {"time_limit"}


def test_a_step_limit_of_one_ends_every_episode_at_its_first_step(scripted, open_gym):
    env = open_gym(scripted(), max_episode_steps=1)
    env.reset()
    ends = [bool(env.step(noop(env))[3][0]) for _ in range(4)]
    assert ends == [True, False, True, False]


# -- mask mode


def test_mask_mode_never_waits_and_says_who_resets(scripted, open_gym):
    slow = scripted(on_reset=by_hand)
    env = open_gym(scripted(), slow, reset_mode="mask", reset_timeout=60.0)
    began = time.monotonic()
    observations, infos = env.reset()
    assert time.monotonic() - began < 10
    assert observations in env.observation_space
    assert infos["resetting"][1]
    step_until(env, new_value(0, 1))
    request = slow.next_reset()
    slow.next_episode()
    slow.reply(request)
    observations, rewards, _, _, infos = step_until(env, new_value(1, 1))[-1]
    assert not infos["resetting"].any()
    assert not rewards.any()
    slow.finish(6.0)
    observations, rewards, terminations, *_ = step_until(env, any_done)[-1]
    assert (rewards.tolist(), terminations.tolist()) == ([0.0, 6.0], [False, True])
    observations, rewards, terminations, _, infos = env.step(noop(env))
    assert infos["resetting"].tolist() == [False, True]
    assert values(observations) == [1, 1], "it keeps its last frame"
    slow.next_episode()
    assert not step_until(env, new_value(1, 2))[-1][4]["resetting"].any()


def test_r7_the_fill_of_a_resetting_row_is_configurable(scripted, open_gym):
    slow = scripted(on_reset=by_hand)
    env = open_gym(scripted(), slow, reset_mode="mask", fill=7)
    assert values(env.reset()[0])[1] == 7
    slow.next_episode()
    slow.reply(slow.next_reset())
    step_until(env, new_value(1, 1))
    slow.finish()
    assert values(step_until(env, any_done)[-1][0])[1] == 1
    assert values(env.step(noop(env))[0])[1] == 7
    slow.paint(200)
    slow.next_episode()
    step_until(env, new_value(1, 2))


@pytest.mark.parametrize(
    "options", [{}, {"reset_mode": "mask", "copy": False}, {"reset_mode": "mask", "fill": 256}]
)
def test_a_fill_that_cannot_be_is_refused(scripted, open_gym, options):
    with pytest.raises(ConfigError, match="fill="):
        open_gym(scripted(), **({"fill": 0} | options))
