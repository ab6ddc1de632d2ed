"""FrameSkip holds an action for several steps and merges their results."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.remotes.gym import open_gym, three
from tests.support.vnc.film import Film, flat
from universe_client import ConfigError
from wrappers import FrameSkip, FrameStack, NoopStart

__all__ = ["open_gym", "three"]
FOUR = flat([[n, 100 + n] for n in range(20)])


def shown(observations):
    return observations[:, 0, 0, 0].tolist()


def test_r1_frame_skip_holds_an_action_and_sums_the_rewards():
    film = Film(FOUR, rewards=0.5)
    env = FrameSkip(film, skip=4)
    env.reset()
    observations, rewards, *_ = env.step(np.array([7, 8]))
    assert (shown(observations), rewards.tolist()) == ([4, 104], [2.0, 2.0])
    assert film.heard == [[7, 8]] * 4
    assert shown(env.step(np.array([7, 8]))[0]) == [8, 108]


def test_a_row_stops_where_its_episode_ends_and_begins_the_next_with_a_single_step():
    film = Film(FOUR, dones={2: [1]}, rewards=1.0)
    env = FrameSkip(film, skip=4)
    env.reset()
    observations, rewards, terminations, *_ = env.step(np.array([7, 8]))
    assert (shown(observations), rewards.tolist(), terminations.tolist()) == (
        [4, 102],
        [4.0, 2.0],
        [False, True],
    )
    assert film.heard == [[7, 8], [7, 8], [7], [7]]
    observations, rewards, terminations, *_ = env.step(np.array([7, 8]))
    assert (shown(observations), rewards.tolist(), terminations.any()) == ([8, 105], [4.0, 1.0], False)
    observations, rewards, *_ = env.step(np.array([7, 8]))
    assert (shown(observations), rewards.tolist()) == ([12, 112], [4.0, 4.0])


def test_a_row_that_resets_in_mask_mode_is_not_waited_for():
    film = Film(FOUR, dones={1: [0]}, resetting={5: [0]})
    env = FrameSkip(film, skip=4)
    env.reset()
    env.step(np.array([7, 8]))
    *_, infos = env.step(np.array([7, 8]))
    assert infos["resetting"].tolist() == [True, False]
    *_, infos = env.step(np.array([7, 8]))
    assert infos["resetting"].tolist() == [False, False]
    assert [len(sent) for sent in film.heard] == [2, 1, 1, 1] + [2, 1, 1, 1] * 2


def test_the_infos_of_the_steps_are_one(three, open_gym):
    env = FrameSkip(open_gym(*three), skip=3)
    env.reset()
    three[1].reward(2.0, info={"level": 4})
    three[1].reward(3.0)
    earned, counted, levels = np.zeros(3), np.zeros(3, int), []
    while earned[1] < 5:
        _, rewards, _, _, infos = env.step(np.array([1, 0, 2]))
        earned += rewards
        counted += infos["stats.reward.count"]
        if "remote.level" in infos:
            assert infos["_remote.level"].tolist() == [False, True, False]
            levels.append(infos["remote.level"][1])
    assert (earned.tolist(), counted.tolist(), levels) == ([0.0, 5.0, 0.0], [0, 2, 0], [4])


def test_some_rows_can_be_sent_and_received(three, open_gym):
    env = FrameSkip(open_gym(*three), skip=2)
    env.reset()
    env.send(np.array([1, 2]), [2, 0])
    observations, *_, infos = env.recv()
    assert sorted(infos["env_id"]) == [0, 2]
    assert len(observations) == 2
    with pytest.raises(ConfigError, match="FrameSkip steps all rows together"):
        env.recv(min_ready=1)


def test_wrappers_inside_count_frames_and_those_outside_steps():
    env = FrameStack(FrameSkip(NoopStart(Film(FOUR), most=0), skip=2), size=2)
    env.reset()
    assert env.step(np.array([1, 2]))[0][0, 0, 0, ::3].tolist() == [0, 2]
    assert env.step(np.array([1, 2]))[0][0, 0, 0, ::3].tolist() == [2, 4]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ConfigError, match="skip=0"):
        FrameSkip(Film(FOUR), skip=0)
    with pytest.raises(ConfigError, match="observations of one array"):
        FrameSkip(Film(FOUR, as_dict=True))
