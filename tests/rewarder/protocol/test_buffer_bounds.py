"""Bounds of the reward buffer against a hostile or very busy rewarder."""

from __future__ import annotations

import tracemalloc

import pytest

from rewarder.protocol.buffer import ENDED_EPISODES, RewardBuffer
from rewarder.protocol.episode import HELD_BYTES, EpisodeId
from rewarder.protocol.messages import Describe


def eid(value: int) -> EpisodeId:
    return EpisodeId((value,))


@pytest.fixture
def buffer() -> RewardBuffer:
    buffer = RewardBuffer()
    buffer.connect()
    return buffer


def test_a_flood_of_text_is_cut_and_counted(buffer):
    size = 1000
    for _ in range(2 * HELD_BYTES // size):
        buffer.feed.text(eid(1), "x" * size, size)
    popped = buffer.pop()
    assert len(popped.text) == HELD_BYTES // size
    assert popped.dropped == 2 * HELD_BYTES // size - len(popped.text)
    buffer.feed.text(eid(1), "again", size)
    assert buffer.pop().text == ["again"]


def test_a_flood_of_new_info_keys_is_cut_but_no_reward_is(buffer):
    for number in range(50_000):
        buffer.feed.reward(eid(1), 1, False, {str(number): number}, size=100)
    popped = buffer.pop()
    assert popped.reward == 50_000
    assert len(popped.info) == HELD_BYTES // 100
    assert popped.dropped == 50_000 - len(popped.info)


def test_small_infos_are_replaced_for_ever(buffer):
    for number in range(50_000):
        buffer.feed.reward(eid(1), 1, False, {"score": number}, size=100)
    popped = buffer.pop()
    assert (popped.info, popped.dropped) == ({"score": 49_999}, 0)


@pytest.mark.parametrize("masked", [True, False])
def test_a_flood_of_episodes_keeps_every_reward_in_bounded_space(buffer, masked):
    if masked:
        buffer.begin_reset()
        buffer.feed.reset_sent(1)
    for number in range(5 * ENDED_EPISODES):
        buffer.feed.reward(eid(number), 1, True, {"x": "y" * 100}, size=150)
    assert len(buffer._ready) + len(buffer._held) == ENDED_EPISODES
    if masked:
        buffer.feed.reset_replied(1, eid(0))
    popped = buffer.pop()
    assert popped.reward == 5 * ENDED_EPISODES
    assert popped.skipped_episodes == 5 * ENDED_EPISODES - 1


def test_f28_a_flood_of_100k_rewards_does_not_grow_memory(buffer):
    buffer.feed.describe(eid(1), Describe("a", "running", 60))
    tracemalloc.start()
    try:
        for number in range(100_000):
            buffer.feed.is_duplicate(number)
            buffer.feed.reward(eid(1), 1.0, False, {"score": number}, 1.0, 2.0, 100)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 1 << 20
    assert buffer.pop().count == 100_000
