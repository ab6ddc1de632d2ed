"""Those who follow what a computer sees and does, also while nobody acts."""

from __future__ import annotations

import pytest

from tests.support.remotes.agent import wait_until
from tests.support.remotes.remote import frame
from universe_client.errors import LocalStateError
from universe_client.hands import Click, Computer
from universe_client.hands.loop.looking import looking
from vnc.events import PointerEvent


class Notes:
    """An observer that keeps everything."""

    def __init__(self):
        self.resets, self.acts, self.values, self.rewards, self.ends = [], [], [], 0.0, 0

    def reset(self, options):
        self.resets.append(options)

    def act(self, index, action):
        self.acts += action

    def receive(self, index, observation, reward, info):
        if observation is not None:
            self.values.append(int(observation["vision"][0, 0, 0]))
        self.rewards += reward or 0.0
        self.ends += info["terminated"] or info["truncated"]


@pytest.fixture
def followed(scripted, open_env):
    remote, notes = scripted(), Notes()
    with Computer(open_env(remote.address), observers=[notes]) as computer:
        yield computer, remote, notes


def test_observers_are_told_of_resets_input_and_results(followed):
    computer, remote, notes = followed
    computer.reset(seed=7)
    assert notes.resets[-1] == {"seed": [7], "mask": [True], "env_ids": [None]}
    computer.do([Click(3, 4)])
    remote.reward(2.0)
    remote.finish(1.0)
    wait_until(lambda: computer.done)
    assert notes.acts[:2] == [PointerEvent(3, 4, 0), PointerEvent(3, 4, 1)]
    assert (notes.rewards, notes.ends) == (3.0, 1)


def test_what_comes_while_nobody_acts_is_told_and_stays_for_the_next_call(followed):
    computer, remote, notes = followed
    computer.reset()
    with looking(computer):
        remote.show(frame(77))
        remote.reward(5.0)
        wait_until(lambda: 77 in notes.values and notes.rewards == 5.0)
        outcome = computer.click(1, 1)  # while the other thread looks
    assert outcome.reward == 5.0 and outcome.picture.array[0, 0, 0] == 77


def test_a_computer_that_is_closed_cannot_be_refreshed(followed):
    computer, _, _ = followed
    computer.refresh()  # before the first episode there is nothing to see
    computer.reset()
    computer._channel._core.close()
    with pytest.raises(LocalStateError):
        computer.refresh()
