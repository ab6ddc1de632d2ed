"""Several ticks as one step."""

import numpy as np
import pytest

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import MAX_TICKS, Reward, Text
from rewarder.sdk.environment import Runtime, Tick
from rewarder.sdk.loop.inbox import step_input
from rewarder.sdk.loop.results import Collected, publish
from rewarder.sdk.loop.ticker import Ticker
from vnc.events import KeyEvent


class Bright(Runtime):
    """Draws every frame into the same array: its number in channel 0, and 9 less it in channel 1."""

    def __init__(self, last=100):
        self.last, self.number = last, 0
        self.canvas = np.zeros((1, 1, 3), np.uint8)
        self.wanted, self.events, self.actions = [], [], []

    def draw(self):
        self.canvas[0, 0] = self.number, 9 - self.number, 0
        return self.canvas

    def reset(self, env_id, seed):
        self.number = 0
        return Tick(self.draw())

    def action(self, action):
        self.actions.append(action)

    def tick(self, events):
        self.number += 1
        self.wanted.append(self.frame_wanted)
        self.events.append(list(events))
        return Tick(self.draw(), 1.0, self.number == self.last, text=self.number, info={"last": self.number})


def test_input_comes_first_and_only_the_last_frame_is_wanted():
    runtime = Bright()
    key = KeyEvent(9, True)
    ticks, frame = Ticker(runtime).run([key], [["x"]], ticks=4)
    assert (runtime.events, runtime.actions) == ([[key], [], [], []], [["x"]])
    assert runtime.wanted == [False, False, False, True] and runtime.frame_wanted
    assert (len(ticks), frame[0, 0].tolist()) == (4, [4, 5, 0])


def test_a_step_ends_with_the_episode():
    ticks, frame = Ticker(Bright(last=2)).run([], ticks=4)
    assert [tick.done for tick in ticks] == [False, True]
    assert frame[0, 0, 0] == 2


def test_the_brighter_of_the_last_two_frames():
    ticker = Ticker(Bright())
    _, frame = ticker.run([], ticks=4, max_last_two=True)
    assert frame[0, 0].tolist() == [4, 6, 0]
    _, frame = ticker.run([], ticks=1, max_last_two=True)
    assert frame[0, 0].tolist() == [5, 5, 0], "the frame before belongs to the step before"
    ticker.begin("x", None)
    _, frame = ticker.run([], ticks=1, max_last_two=True)
    assert frame[0, 0].tolist() == [1, 9, 0], "frames of two episodes are not mixed"


def test_the_results_are_those_of_one_tick():
    ticks, _ = Ticker(Bright(last=3)).run([], ticks=4)
    results = Collected()
    assert publish(results, EpisodeId((7,)), ticks)
    messages = [message for _, message in results.messages]
    assert messages[:3] == [Text(1), Text(2), Text(3)]
    assert messages[3] == Reward(3.0, True, {"last": 3})
    assert results.reply(is_drawn=True) is None, "an end needs messages"


@pytest.mark.parametrize("ticks", [0, -1, MAX_TICKS + 1])
def test_a_step_has_a_bounded_number_of_ticks(ticks):
    with pytest.raises(ValueError, match="ticks, it must have 1 to"):
        step_input([], ticks)


def test_rewards_are_added_in_order():
    results = Collected()
    publish(results, EpisodeId((7,)), [Tick(reward=0.1)] * 10)
    added = 0.0
    for _ in range(10):
        added += 0.1
    assert results.messages[0][1].reward == added != 1.0, "as by a client that adds single ticks"
