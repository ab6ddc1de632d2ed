"""FireStart presses the fire button at the start of each episode and life."""

from __future__ import annotations

import numpy as np

from tests.support.vnc.film import Film, flat
from wrappers import EpisodicLives, FireStart, FrameSkip, NoopStart

ONE = flat([[1, 2]])


def heard(env, film, steps):
    for _ in range(steps):
        env.step(np.array([7, 8]))
    return np.array(film.heard).T.tolist()


def test_every_episode_begins_with_fire():
    film = Film(ONE, dones={3: [1]}, resetting={4: [1]})
    env = FireStart(film, action=1)
    env.reset()
    # The second row's steps 4 and 5 are reset steps, which ignore the action.
    assert heard(env, film, 8) == [[1, 7, 7, 7, 7, 7, 7, 7], [1, 8, 8, 1, 1, 1, 8, 8]]
    env.reset(options={"reset_mask": np.array([True, False])})
    *_, infos = env.step(np.array([7, 8]))
    assert film.heard[-1] == [1, 8]
    assert infos["fire"].tolist() == [True, False]


def test_fire_waits_for_the_noops_inside():
    film = Film(ONE)
    noops = NoopStart(film, most=5)
    env = FireStart(noops, action=1)
    env.reset(seed=2)
    first, second = (int(count) for count in noops._left)
    assert first != second
    assert heard(env, film, 7) == [
        [0] * first + [1] + [7] * (6 - first),
        [0] * second + [1] + [8] * (6 - second),
    ]


def test_fire_is_pressed_for_a_whole_step():
    film = Film(ONE)
    noops = NoopStart(film, most=1)
    env = FireStart(FrameSkip(noops, skip=2), action=1)
    env.reset(seed=1)
    first, second = (int(count) for count in noops._left)
    assert {first, second} == {0, 1}
    late, prompt = [0, 1, 1, 1], [1, 1]
    assert heard(env, film, 3) == [
        (late if first else [*prompt, 7, 7]) + [7, 7],
        (late if second else [*prompt, 8, 8]) + [8, 8],
    ]


def test_every_life_begins_with_fire():
    film = Film(ONE, infos={0: {"remote.lives": [2, 2]}, 2: {"remote.lives": [1, 2]}})
    env = FireStart(EpisodicLives(film), action=1)
    env.reset()
    assert heard(env, film, 4) == [[1, 7, 1, 7], [1, 8, 8, 8]]
