"""EpisodicLives ends an episode with each life; the game continues."""

from __future__ import annotations

import numpy as np

from tests.support.vnc.film import Film, flat
from wrappers import EpisodicLives, FrameStack

FILM = flat([[n, 100 + n] for n in range(12)])


def lives(**told):
    return {int(step[1:]): {"remote.lives": values} for step, values in told.items()}


def play(env, steps):
    results = [env.step([0, 0]) for _ in range(steps)]
    dones = [(result[2] | result[3]).tolist() for result in results]
    return results, dones, [result[4]["traj_done"].tolist() for result in results]


def test_r3_a_lost_life_is_done_and_only_the_last_is_traj_done():
    told = lives(t0=[3, 3], t2=[2, None], t4=[None, 2], t5=[1, None], t7=[0, None], t8=[3, None])
    env = EpisodicLives(Film(FILM, dones={7: [0]}, infos=told))
    env.reset()
    _, dones, traj_dones = play(env, 9)
    assert np.flatnonzero(np.array(dones)[:, 0]).tolist() == [1, 4, 6]  # steps 2, 5 and 7
    assert np.flatnonzero(np.array(dones)[:, 1]).tolist() == [3]
    assert np.flatnonzero(np.array(traj_dones)[:, 0]).tolist() == [6]
    assert not np.array(traj_dones)[:, 1].any()


def test_the_first_step_of_a_life_has_reward_0_and_the_next_one_has_both():
    env = EpisodicLives(Film(FILM, rewards=1.5, infos=lives(t0=[3, 3], t2=[2, None])))
    env.reset()
    results, *_ = play(env, 5)
    assert [result[1].tolist() for result in results] == [
        [1.5] * 2,
        [1.5] * 2,
        [0.0, 1.5],
        [3.0, 1.5],
        [1.5] * 2,
    ]


def test_nothing_is_lost_when_the_first_step_of_a_life_is_an_end():
    told = lives(t0=[3, 3], t2=[2, 2], t3=[None, 1])
    env = EpisodicLives(Film(FILM, rewards=1.0, dones={3: [0]}, infos=told))
    env.reset()
    results, dones, traj_dones = play(env, 5)
    assert dones[2] == [True, True]
    assert traj_dones[2] == [True, False]
    assert sum(result[1] for result in results).tolist() == [5.0, 5.0]


def test_a_life_begins_with_a_stack_of_its_own():
    env = FrameStack(EpisodicLives(Film(FILM, infos=lives(t0=[3, 3], t2=[2, None]))), size=2)
    env.reset()
    results, *_ = play(env, 4)
    stacks = [result[0][0, 0, 0, ::3].tolist() for result in results]
    assert stacks == [[0, 1], [1, 2], [3, 3], [3, 4]]


def test_a_game_without_lives_ends_as_it_does():
    env = EpisodicLives(Film(FILM, dones={2: [1]}))
    env.reset()
    _, dones, traj_dones = play(env, 3)
    assert dones == traj_dones == [[False, False], [False, True], [False, False]]


def test_a_reset_of_a_row_that_lost_a_life_goes_on_with_its_game():
    film = Film(FILM, rewards=1.0, dones={3: [1]}, infos=lives(t0=[3, 3], t1=[2, None], t3=[1, None]))
    env = FrameStack(EpisodicLives(film), size=2)
    env.reset()
    play(env, 1)
    observations, _ = env.reset(options={"reset_mask": np.array([True, False])})
    assert observations[:, 0, 0, ::3].tolist() == [[1, 1], [100, 101]]
    assert film._resets == 1
    results, dones, _ = play(env, 2)
    assert [result[1].tolist() for result in results] == [[1.0, 1.0]] * 2, (
        "the reset was the life's first step"
    )
    assert dones == [[False, False], [True, True]]
    observations, _ = env.reset(options={"reset_mask": np.array([True, True])})
    assert observations[:, 0, 0, ::3].tolist() == [[3, 3], [103, 103]]
    assert film._resets == 2, "the other row's game was over"
    env.reset()
    assert film._resets == 3


def test_a_reset_forgets_the_lives():
    env = EpisodicLives(Film(FILM, infos=lives(t0=[3, 3], t1=[2, 2])))
    env.reset()
    _, dones, _ = play(env, 1)
    assert dones == [[True, True]]
    env.reset()
    assert env._lives.tolist() == [3, 3]
    assert not env._lost.any()
