"""RewardClip clips rewards and reports the score in the infos."""

from __future__ import annotations

import pytest

from tests.support.vnc.film import Film, flat
from universe_client import ConfigError
from wrappers import RewardClip


@pytest.mark.parametrize(("reward", "clipped"), [(5.0, 1.0), (-7.0, -1.0), (0.25, 0.25)])
def test_r2_the_reward_is_clipped_and_the_score_kept(reward, clipped):
    env = RewardClip(Film(flat([[1, 2]]), rewards=reward))
    env.reset()
    _, rewards, _, _, infos = env.step([0, 0])
    assert rewards.tolist() == [clipped] * 2
    assert infos["raw_reward"].tolist() == [reward] * 2
    assert infos["_raw_reward"].all()


def test_the_limits_can_be_chosen():
    env = RewardClip(Film(flat([[1]]), rewards=9.0), low=0, high=3)
    env.reset()
    assert env.step([0])[1].tolist() == [3.0]
    with pytest.raises(ConfigError, match="low=2"):
        RewardClip(Film(flat([[1]])), low=2, high=1)
