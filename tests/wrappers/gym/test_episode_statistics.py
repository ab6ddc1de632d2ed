"""EpisodeStatistics counts whole episodes in every reset mode."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from tests.support.remotes.gym import any_done, new_value, noop, open_gym, step_until, three, values
from tests.support.remotes.remote import by_hand
from tests.support.vnc.film import Film, flat
from wrappers import EpisodeStatistics

__all__ = ["open_gym", "three"]


def test_it_tells_what_gymnasiums_own_tells_of_next_step_autoreset():
    frames = flat([[number, number] for number in range(12)])
    films = [Film(frames, dones={2: [1], 5: [0, 1], 6: [], 9: [1]}, rewards=1.5) for _ in range(2)]
    ours, stock = EpisodeStatistics(films[0]), RecordEpisodeStatistics(films[1])
    ours.reset()
    stock.reset()
    for _ in range(11):
        told, expected = ours.step([0, 0])[4], stock.step([0, 0])[4]
        assert ("episode" in told) == ("episode" in expected)
        if "episode" in expected:
            assert np.array_equal(told["_episode"], expected["_episode"])
            for key in ("r", "l"):
                assert np.array_equal(told["episode"][key], expected["episode"][key])
            assert (told["episode"]["t"] >= 0).all()
    assert (ours.episode_count, list(ours.return_queue), list(ours.length_queue)) == (
        stock.episode_count,
        list(stock.return_queue),
        list(stock.length_queue),
    )
    assert ours.episode_count == 4


def test_steps_on_which_a_row_resets_are_no_steps_of_its_episode(scripted, open_gym):
    quick, slow = scripted(), scripted(on_reset=by_hand)
    env = EpisodeStatistics(open_gym(quick, slow, reset_mode="mask"))
    env.reset()
    request = slow.next_reset()
    for _ in range(7):
        env.step(noop(env))
    slow.answer(request)
    step_until(env, new_value(1, 1))
    for reward in (1.0, 2.0):
        slow.reward(reward)
        slow.paint(100 + int(reward))
        step_until(env, lambda result, sum_=reward: result[1][1] == sum_)
    slow.finish(4.0)
    ended = step_until(env, any_done)
    (episode,) = [result[4]["episode"] for result in ended if "episode" in result[4]]
    assert episode["r"].tolist() == [0.0, 7.0]
    assert env.length_queue[0] < env.length_queue[0] + 7
    assert episode["l"][0] == 0
    first, seconds = env.length_queue[0], episode["t"][1]
    assert 0 < seconds < 60
    for _ in range(5):
        env.step(noop(env))
    slow.next_episode()
    step_until(env, new_value(1, 2))
    env.step(noop(env))
    slow.finish(8.0)
    lengths = [result[4]["episode"]["l"][1] for result in step_until(env, any_done) if any_done(result)]
    assert env.return_queue[-1] == 8.0
    assert lengths == [env.length_queue[-1]]
    assert first >= 3


def test_some_rows_and_resets_by_mask(three, open_gym):
    env = EpisodeStatistics(open_gym(*three))
    env.reset()
    three[0].reward(64.0)
    step_until(env, lambda result: result[1][0] == 64.0)
    env.reset(options={"reset_mask": np.array([True, False, False])})
    three[0].script(lambda: (three[0].finish(2.0), three[0].next_episode()))
    while True:
        env.send(np.array([0]), [0])
        *_, infos = env.recv(min_ready=1)
        if "episode" in infos:
            break
    assert (infos["episode"]["r"].tolist(), infos["_episode"].tolist()) == ([2.0], [True])
    assert env.episode_count == 1


@pytest.mark.parametrize("mode", ["block", "mask"])
def test_an_episode_is_as_long_as_the_steps_that_saw_it(scripted, open_gym, mode):
    remote = scripted()
    env = EpisodeStatistics(open_gym(remote, max_episode_steps=5, reset_mode=mode))
    env.reset()
    results = step_until(env, lambda result: env.episode_count == 3)
    assert list(env.length_queue) == [5, 5, 5]
    assert {values(result[0])[0] for result in results if any_done(result)} <= {0, 1, 2, 3}
