"""StickyActions repeats the previous action at random."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.vnc.film import Film, flat
from universe_client import ConfigError
from wrappers import StickyActions

ONE = flat([[1, 2]])


def run(env: StickyActions, actions: int, seed: int | None = 1) -> list[bool]:
    env.reset(seed=seed)
    return [env.step(np.array([number, 100 + number]))[4]["sticky"].tolist() for number in range(actions)]


def test_r4_sticky_actions_repeat_what_was_heard():
    film = Film(ONE)
    sticky = run(StickyActions(film, probability=0.5), 200)
    for row in (0, 1):
        heard = [step[row] for step in film.heard]
        assert heard[0] == 100 * row, "the first action is never replaced"
        for number in range(1, 200):
            expected = heard[number - 1] if sticky[number][row] else 100 * row + number
            assert heard[number] == expected
    rows = np.array(sticky)
    assert (abs(rows.mean(axis=0) - 0.5) < 0.15).all()
    assert (rows[:, 0] != rows[:, 1]).any(), "the draws of two remotes are independent"


def test_the_dice_are_seeded_by_the_reset():
    env = StickyActions(Film(ONE))
    first = run(env, 50, seed=7)
    assert run(env, 50, seed=7) == first
    assert run(env, 50, seed=8) != first


@pytest.mark.parametrize(("probability", "last"), [(0.0, [3, 103]), (1.0, [0, 100])])
def test_never_and_always(probability, last):
    film = Film(ONE)
    run(StickyActions(film, probability), 4)
    assert film.heard[-1] == last


def test_no_action_of_an_episode_sticks_in_the_next():
    film = Film(ONE, dones={2: [1]}, resetting={3: [1]})
    run(StickyActions(film, probability=1.0), 6)
    assert [step[0] for step in film.heard] == [0] * 6
    # 102 and 103 go to a remote that resets and ignores them
    assert [step[1] for step in film.heard] == [100, 100, 102, 103, 104, 104]


def test_a_masked_reset_forgets_too():
    film = Film(ONE)
    env = StickyActions(film, probability=1.0)
    env.reset()
    env.step(np.array([1, 2]))
    env.reset(options={"reset_mask": np.array([True, False])})
    env.step(np.array([3, 4]))
    assert film.heard[-1] == [3, 2]
    with pytest.raises(ConfigError, match=r"probability=1\.5"):
        StickyActions(film, 1.5)
