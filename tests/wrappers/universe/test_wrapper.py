"""Wrapper passes calls and attributes to the wrapped environment."""

from __future__ import annotations

import pytest

from tests.support.remotes.agent import until_running
from wrappers import BlockingReset, Logger, Throttle, TimeLimit, Unvectorize, Vision, Wrapper


@pytest.mark.parametrize(
    "outer", [Wrapper, BlockingReset, Logger, Throttle, Vision, lambda e: TimeLimit(e, 9)]
)
def test_a_wrapper_hands_on_what_it_has_not(scripted, open_env, outer):
    env = open_env(scripted(), scripted())
    with outer(Wrapper(env)) as wrapped:
        assert wrapped.n == 2
        assert wrapped.unwrapped is env
        assert wrapped.provider is env.provider
        assert wrapped.config is env.config
        assert not wrapped.closed
        with pytest.raises(AttributeError):
            wrapped.no_such_thing  # noqa: B018
        with pytest.raises(AttributeError):
            wrapped._private  # noqa: B018
        assert "VectorEnv" in repr(wrapped)
    assert env.closed


def test_step_goes_through_an_overridden_send_and_recv(scripted, open_env):
    class Negate(Wrapper):
        def recv(self, mask=None):
            observation_n, reward_n, done_n, info = self.env.recv(mask)
            return observation_n, [-reward for reward in reward_n], done_n, info

    class Double(Wrapper):
        def send(self, action_n):
            self.env.send([action * 2 for action in action_n])

    remote = scripted()
    env = Double(Negate(open_env(remote)))
    env.reset()
    until_running(env)
    remote.reward(4.0)
    total = 0.0
    while not total:
        env.wait(5)
        total += env.step([[]])[1][0]
    assert total == -4.0
    env.step([[("KeyEvent", "a", True)]])
    assert len(remote.wait_for_events(2)) == 2


def test_all_at_once(scripted, open_env):
    remote = scripted()
    env = Unvectorize(
        Vision(Logger(TimeLimit(Throttle(BlockingReset(open_env(remote)), step_rate=500), seconds=60)))
    )
    frame = env.reset()
    assert frame.shape == (16, 24, 3)
    frame, reward, done, info = env.step([])
    assert (frame == 1).all()
    assert (reward, done) == (0.0, False)
    assert info["env_status.episode_id"] == "1"
