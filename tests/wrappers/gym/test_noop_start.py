"""NoopStart begins episodes with a random number of no-op actions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.vnc.film import Film, flat
from universe_client import ConfigError
from wrappers import NoopStart

ONE = flat([[1, 2]])


def unheard(env, steps):
    return np.array([env.step(np.array([7, 8]))[4]["noop"] for _ in range(steps)])


def test_r4_noops_at_start_are_a_random_prefix_of_each_episode():
    counts = set()
    for seed in range(40):
        film = Film(ONE)
        env = NoopStart(film, most=3)
        env.reset(seed=seed)
        noops = unheard(env, 6)
        for row, action in ((0, 7), (1, 8)):
            heard = [step[row] for step in film.heard]
            count = int(noops[:, row].sum())
            assert heard == [0] * count + [action] * (6 - count)
            counts.add(count)
    assert counts == {0, 1, 2, 3}


def test_the_dice_are_seeded_by_the_reset():
    def run(seed):
        env = NoopStart(Film(ONE))
        env.reset(seed=seed)
        return unheard(env, 40).tolist()

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_the_next_episode_has_noops_of_its_own_and_its_reset_is_not_one():
    film = Film(ONE, dones={20: [0], 50: [0]}, resetting={21: [0]})
    env = NoopStart(film, most=9, action=5)
    env.reset(seed=1)
    noops = unheard(env, 60)
    assert not noops[[20, 21], 0].any(), "two steps of resetting ignore the actions"
    first, second = noops[:20, 0].sum(), noops[22:50, 0].sum()
    assert noops[22 : 22 + second, 0].all()
    assert len({int(count) for count in (first, second, noops[51:, 0].sum())}) > 1
    assert noops[20:, 1].sum() == 0


def test_a_masked_reset_throws_for_its_rows_only():
    env = NoopStart(Film(ONE), most=1000)
    env.reset(seed=3)
    assert unheard(env, 1).all()
    before = env._left.copy()
    env.reset(options={"reset_mask": np.array([True, False])})
    assert env._left[1] == before[1]
    assert env._left[0] != before[0]


def test_a_negative_number_is_refused():
    with pytest.raises(ConfigError, match="most=-1"):
        NoopStart(Film(ONE), most=-1)
