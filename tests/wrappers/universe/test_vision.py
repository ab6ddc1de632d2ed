"""Vision: observations that are only pixels."""

from __future__ import annotations

import numpy as np

from tests.support.remotes.remote import by_hand
from wrappers import Vision


def test_frames_instead_of_observations_and_none_stays_none(scripted, open_env):
    env = Vision(open_env(scripted(), scripted(on_reset=by_hand)))
    assert env.reset() == [None, None]
    frames, infos = [None, None], []
    while frames[0] is None:
        env.wait(5)
        frames, reward_n, done_n, info = env.step([[], []])
        infos = info["n"]
    assert isinstance(frames[0], np.ndarray)
    assert frames[0].dtype == np.uint8
    assert frames[1] is None
    assert (reward_n, done_n, len(infos)) == ([0.0, 0.0], [False, False], 2)
