"""The reward buffer, rule by rule."""

from __future__ import annotations

import threading

import pytest

from rewarder.protocol.buffer import DUPLICATE_WINDOW, RewardBuffer
from rewarder.protocol.episode import EpisodeId, Popped
from rewarder.protocol.messages import Describe


def eid(value: int | str) -> EpisodeId:
    return EpisodeId.parse(value)


@pytest.fixture
def buffer() -> RewardBuffer:
    buffer = RewardBuffer()
    buffer.connect()
    return buffer


def start(buffer: RewardBuffer, episode: int | str) -> None:
    buffer.feed.describe(eid(episode), Describe("a", "running", 60))


def add(buffer: RewardBuffer, episode: int | str, reward: float, done: bool = False, **info: object) -> None:
    buffer.feed.reward(eid(episode), reward, done, info, 1.0, 2.0, 100)


def outcome(popped: Popped) -> tuple[float, bool, bool]:
    return popped.reward, popped.terminated, popped.truncated


class TestSums:
    def test_rewards_are_summed_and_infos_merged(self, buffer):
        start(buffer, 1)
        add(buffer, 1, 2, score=1, lives=3)
        add(buffer, 1, 3, score=2)
        popped = buffer.pop()
        assert outcome(popped) == (5, False, False)
        assert (popped.count, popped.info) == (2, {"score": 2, "lives": 3})
        assert (popped.sent_at, popped.received_at) == (1.0, 2.0)
        assert popped.running == popped.episode_id == eid(1)
        assert (popped.env_id, popped.env_state, popped.time_scale) == ("a", "running", 1.0)

    def test_a_pop_empties(self, buffer):
        start(buffer, 1)
        add(buffer, 1, 2, score=1)
        buffer.feed.text(eid(1), "x")
        buffer.pop()
        popped = buffer.pop()
        assert (popped.reward, popped.count, popped.text, popped.info, popped.sent_at) == (0, 0, [], {}, None)

    def test_text_and_observation(self, buffer):
        buffer.feed.text(eid(1), "a")
        buffer.feed.text(eid(1), {"b": 1})
        buffer.feed.env_observation(eid(1), 1)
        buffer.feed.env_observation(eid(1), 2)
        popped = buffer.pop()
        assert (popped.text, popped.env_observation) == (["a", {"b": 1}], 2)

    def test_a_reward_may_come_before_any_describe(self, buffer):
        add(buffer, 1, 2)
        popped = buffer.pop()
        assert (popped.reward, popped.running, popped.episode_id) == (2, None, eid(1))

    def test_nothing_at_all(self):
        assert RewardBuffer().pop() == Popped()


class TestEnds:
    def test_done_comes_once_with_the_last_reward(self, buffer):
        start(buffer, 1)
        add(buffer, 1, 2)
        add(buffer, 1, 3, done=True)
        popped = buffer.pop()
        assert outcome(popped) == (5, True, False)
        assert (popped.end_reason, popped.complete_episode_id, popped.complete_env_state) == (
            "terminated", eid(1), "running",
        )  # fmt: skip
        assert (popped.episode_id, popped.running) == (None, None)
        assert outcome(buffer.pop()) == (0, False, False)

    @pytest.mark.parametrize("key", ["TimeLimit.truncated", "truncated"])
    def test_an_info_can_say_truncated(self, buffer, key):
        buffer.feed.reward(eid(1), 1, True, {key: True})
        assert outcome(buffer.pop()) == (1, False, True)

    def test_the_next_episode_waits_for_the_next_pop(self, buffer):
        start(buffer, 1)
        add(buffer, 1, 1, done=True, who="old")
        buffer.feed.text(eid(2), "new")
        start(buffer, 2)
        add(buffer, 2, 10, who="new")
        popped = buffer.pop()
        assert outcome(popped) == (1, True, False)
        assert (popped.text, popped.info, popped.episode_id, popped.running) == (
            [],
            {"who": "old"},
            eid(2),
            eid(2),
        )
        popped = buffer.pop()
        assert outcome(popped) == (10, False, False)
        assert (popped.text, popped.info) == (["new"], {"who": "new"})

    def test_a_newer_episode_supersedes(self, buffer):
        start(buffer, 5)
        add(buffer, 5, 1)
        add(buffer, 7, 10)
        popped = buffer.pop()
        assert outcome(popped) == (1, False, True)
        assert (popped.end_reason, popped.complete_episode_id, popped.episode_id) == (
            "superseded",
            eid(5),
            eid(7),
        )

    def test_episodes_slept_through_are_summed_and_counted(self, buffer):
        for episode in (1, 2, 3):
            start(buffer, episode)
            add(buffer, episode, 10**episode, done=True, which=episode)
        add(buffer, 4, 5)
        popped = buffer.pop()
        assert outcome(popped) == (1110, True, False)
        assert (popped.skipped_episodes, popped.complete_episode_id, popped.info) == (2, eid(1), {"which": 1})
        assert buffer.pop().reward == 5

    def test_the_newest_reward_of_several_episodes_says_when_it_came(self, buffer):
        buffer.feed.reward(eid(1), 1, True, sent_at=1.0, received_at=1.5)
        buffer.feed.reward(eid(2), 1, True, sent_at=2.0, received_at=2.5)
        start(buffer, 3)
        start(buffer, 4)
        popped = buffer.pop()
        assert (popped.skipped_episodes, popped.sent_at, popped.received_at) == (2, 2.0, 2.5)

    def test_an_episode_that_never_ran_ends_in_silence(self, buffer):
        buffer.feed.describe(eid(1), Describe("a", "resetting", 60))
        buffer.feed.describe(eid(2), Describe("a", "resetting", 60))
        assert outcome(buffer.pop()) == (0, False, False)

    def test_the_agent_may_end_it(self, buffer):
        start(buffer, 1)
        add(buffer, 1, 3)
        buffer.end_episode("time_limit")
        add(buffer, 1, 100)
        popped = buffer.pop()
        assert outcome(popped) == (3, False, True)
        assert (popped.end_reason, popped.stale, popped.running) == ("time_limit", 1, None)

    def test_the_agent_cannot_end_what_has_ended(self, buffer):
        add(buffer, 1, 3, done=True)
        start(buffer, 2)
        buffer.end_episode("time_limit")
        assert outcome(buffer.pop()) == (3, True, False)
        assert buffer.running == eid(2)


class TestStale:
    def test_f23_late_and_out_of_order(self, buffer):
        for episode in (5, 4, 5, 7, 6):
            add(buffer, episode, 10**episode)
        popped = buffer.pop()
        assert outcome(popped) == (2 * 10**5, False, True)
        assert popped.stale == 2
        assert outcome(buffer.pop()) == (10**7, False, False)

    def test_every_kind_of_message_after_done_is_stale(self, buffer):
        add(buffer, 1, 1, done=True)
        start(buffer, 1)
        buffer.feed.text(eid(1), "late")
        buffer.feed.env_observation(eid(1), 0)
        add(buffer, 1, 1, done=True)
        popped = buffer.pop()
        assert outcome(popped) == (1, True, False)
        assert (popped.stale, popped.text) == (4, [])
        assert buffer.pop().stale == 0

    def test_duplicates_are_recognised_within_a_window(self, buffer):
        assert not buffer.feed.is_duplicate(None)
        assert [buffer.feed.is_duplicate(each) for each in (1, 2, 1, 1)] == [False, False, True, True]
        assert buffer.pop().duplicate == 2
        for message_id in range(10, 10 + DUPLICATE_WINDOW):
            assert not buffer.feed.is_duplicate(message_id)
        assert not buffer.feed.is_duplicate(1)
        assert not buffer.feed.is_duplicate(None)


class TestResets:
    def test_everything_of_before_is_dropped(self, buffer):
        start(buffer, 1)
        add(buffer, 1, 1, done=True)
        start(buffer, 2)
        add(buffer, 2, 2)
        buffer.begin_reset()
        assert buffer.running is None
        add(buffer, 2, 4)
        buffer.feed.reset_sent(1)
        assert outcome(buffer.pop()) == (0, False, False)
        assert buffer.feed.reset_replied(1, eid(3))
        popped = buffer.pop()
        assert outcome(popped) == (0, False, False)
        assert (popped.episode_id, popped.running) == (eid(3), None)

    @pytest.mark.parametrize("reply_first", [True, False])
    def test_the_reply_may_come_before_or_after_running(self, buffer, reply_first):
        buffer.begin_reset()
        buffer.feed.reset_sent(1)
        if reply_first:
            assert buffer.feed.reset_replied(1, eid(2))
        start(buffer, 2)
        add(buffer, 2, 7)
        if not reply_first:
            assert (buffer.running, buffer.pop().reward) == (None, 0)
            assert buffer.feed.reset_replied(1, eid(2))
        assert buffer.running == eid(2)
        assert buffer.pop().reward == 7

    def test_overlapping_resets_never_show_the_first_ones_episode(self, buffer):
        buffer.begin_reset()
        buffer.feed.reset_sent(1)
        buffer.begin_reset()
        buffer.feed.reset_sent(2)
        assert not buffer.feed.reset_replied(1, eid(5))
        start(buffer, 5)
        add(buffer, 5, 1)
        assert (buffer.running, buffer.pop().reward) == (None, 0)
        assert buffer.feed.reset_replied(2, eid(6))
        assert outcome(buffer.pop()) == (0, False, False)
        start(buffer, 6)
        assert buffer.running == eid(6)

    def test_a_reply_to_a_reset_sent_before_begin_reset_does_not_count(self, buffer):
        buffer.feed.reset_sent(1)
        buffer.begin_reset()
        assert not buffer.feed.reset_replied(1, eid(5))
        start(buffer, 5)
        assert buffer.running is None

    @pytest.mark.parametrize("parent", [None, 0, 2])
    def test_other_replies_change_nothing(self, buffer, parent):
        buffer.begin_reset()
        buffer.feed.reset_sent(1)
        assert not buffer.feed.reset_replied(parent, eid(5))
        assert buffer.feed.reset_replied(1, eid(5))
        assert not buffer.feed.reset_replied(1, eid(5))

    def test_a_reply_without_an_episode_unmasks_the_newest(self, buffer):
        buffer.begin_reset()
        buffer.feed.reset_sent(1)
        start(buffer, 3)
        assert buffer.feed.reset_replied(1, None)
        assert buffer.running == eid(3)

    def test_episodes_that_came_and_went_before_the_reply_are_kept_from_its_id_on(self, buffer):
        buffer.begin_reset()
        buffer.feed.reset_sent(1)
        for episode in (1, 2, 3):
            add(buffer, episode, 10**episode, done=True)
        buffer.feed.reset_replied(1, eid(2))
        popped = buffer.pop()
        assert outcome(popped) == (1100, True, False)
        assert popped.complete_episode_id == eid(2)

    def test_a_reset_nobody_masked_for_ends_an_episode_the_agent_has_seen(self, buffer):
        start(buffer, 1)
        buffer.pop()
        add(buffer, 1, 3)
        buffer.feed.reset_sent(1)
        popped = buffer.pop()
        assert (outcome(popped), popped.end_reason) == ((3, False, True), "reset")

    def test_a_reset_at_the_start_ends_nothing(self, buffer):
        start(buffer, 1)
        add(buffer, 1, 3)
        buffer.feed.reset_sent(1)
        assert outcome(buffer.pop()) == (0, False, False)

    def test_a_time_limit_survives_the_reset_that_follows_it(self, buffer):
        start(buffer, 1)
        add(buffer, 1, 3)
        buffer.end_episode("time_limit")
        buffer.feed.reset_sent(1)
        assert outcome(buffer.pop()) == (3, False, True)


class TestConnections:
    def test_a_lost_connection_truncates_once_and_keeps_the_reward(self, buffer):
        start(buffer, 4)
        add(buffer, 4, 3)
        buffer.disconnected("lost")
        buffer.connect()
        popped = buffer.pop()
        assert (outcome(popped), popped.end_reason) == ((3, False, True), "lost")
        assert outcome(buffer.pop()) == (0, False, False)

    def test_ids_start_anew(self, buffer):
        start(buffer, 9)
        assert buffer.feed.is_duplicate(1) is False
        buffer.disconnected()
        buffer.connect()
        assert not buffer.feed.is_duplicate(1)
        start(buffer, 1)
        assert buffer.running == eid(1)
        assert buffer.pop().stale == 0

    def test_a_mask_outlives_a_connection(self, buffer):
        buffer.begin_reset()
        buffer.feed.reset_sent(1)
        buffer.disconnected()
        buffer.connect()
        start(buffer, 1)
        assert not buffer.feed.reset_replied(1, eid(1))
        assert buffer.running is None
        buffer.feed.reset_sent(1)
        assert buffer.feed.reset_replied(1, eid(1))
        assert buffer.running == eid(1)

    def test_what_is_read_after_the_loss_neither_counts_nor_ends_the_episode_again(self, buffer):
        start(buffer, 4)
        add(buffer, 4, 3)
        feed = buffer.feed
        buffer.disconnected()
        feed.reward(eid(4), 100, False)
        feed.describe(eid(4), Describe("a", "running", 60))
        feed.text(eid(4), "late")
        feed.reset_sent(1)
        assert not feed.reset_replied(1, eid(4))
        assert buffer.running is None
        buffer.connect()
        feed.reward(eid(5), 100, True)
        popped = buffer.pop()
        assert (outcome(popped), popped.end_reason, popped.text) == ((3, False, True), "lost", [])
        assert (popped.skipped_episodes, popped.stale) == (0, 0)
        buffer.disconnected()
        assert outcome(buffer.pop()) == (0, False, False)

    def test_between_episodes_nothing_is_cut(self, buffer):
        add(buffer, 1, 1, done=True)
        buffer.pop()
        buffer.disconnected()
        assert outcome(buffer.pop()) == (0, False, False)


def test_threads_lose_nothing(buffer):
    popped = 0.0
    done = threading.Event()

    def write() -> None:
        for _ in range(20_000):
            buffer.feed.reward(eid(1), 1, False)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set():
        popped += buffer.pop().reward
    thread.join()
    assert popped + buffer.pop().reward == 20_000
