"""Calls into the environments of remotes, by index."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.gym import open_gym
from tests.support.served import Counting, serve_runtime
from universe_client import ConfigError, GymVectorEnv, VectorEnv
from universe_client.errors import CallFailed, Unsupported

__all__ = ["open_gym", "serve_runtime"]


class Inside:
    """An environment with what the Stable-Baselines family asks for."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.released = threading.Event()

    def get_state_info(self, state, action):
        return float(state.sum() * action), bool(state.sum() > 5)

    def fail(self):
        raise RuntimeError("out of order")

    def hang(self):
        self.released.wait(30)


@pytest.fixture
def inside():
    """The insides of three remotes."""
    made = [Inside(number) for number in range(3)]
    yield made
    for one in made:
        one.released.set()


@pytest.fixture
def addresses(serve_runtime, inside):
    def serve_one(one):
        runtime = Counting()
        runtime.inside = one
        return serve_runtime(runtime, call=["number", "get_state_info", "fail", "hang"])

    return [serve_one(one) for one in inside]


def test_each_remote_answers_for_itself(addresses, playing):
    env = playing(*addresses)
    state = np.array([1.0, 2.5], np.float32)
    assert env.call("get_state_info", state, 2) == [[7.0, False]] * 3
    assert env.call("get_state_info", state=state, action=1, indices=[2, 0]) == [[3.5, False]] * 2
    assert env.get_attr("number") == [0, 1, 2]
    env.set_attr("number", 7, indices=1)
    assert env.get_attr("number", [1, -1]) == [7, 2]
    (method,) = env.get_attr("get_state_info", 1)
    assert method(state, action=3) == [10.5, False]


def test_what_is_not_listed_is_unsupported(addresses, playing):
    env = playing(*addresses)
    with pytest.raises(
        Unsupported, match=r"remote 0 .*'released' is not what it lets be called: fail, get_state"
    ):
        env.get_attr("released")


def test_a_remote_of_another_make_lets_nothing_be_called(scripted, playing):
    with pytest.raises(Unsupported, match="'number' is not what it lets be called: nothing"):
        playing(scripted()).call("number")


def test_what_the_environment_raises_is_a_failed_call_and_the_slot_plays_on(addresses, playing):
    env = playing(*addresses)
    with pytest.raises(CallFailed, match=r"remote 1 .*RuntimeError: out of order"):
        env.call("fail", indices=1)
    assert env.recv()[3]["n"][1]["error"] is None


def test_a_call_without_an_answer_fails_in_time(addresses, playing, inside):
    env = playing(*addresses, reset_timeout=0.5)
    with pytest.raises(CallFailed, match=r"hang: no answer within 0\.5 s"):
        env.call("hang", indices=2)


def test_what_does_not_fit_a_message_fails_and_nothing_else(addresses, playing):
    env = playing(*addresses)
    with pytest.raises(CallFailed, match=r"v1\.env\.call of \d+ bytes, the limit is 1048576"):
        env.call("get_state_info", np.zeros(1 << 18), 1)
    assert env.recv()[3]["n"][0]["error"] is None


def test_an_answer_that_means_nothing_fails_the_call_only(addresses, playing, inside):
    env = playing(*addresses)
    inside[0].number = {"$float": "nonsense"}
    with pytest.raises(CallFailed, match="number: could not convert"):
        env.call("number")
    assert env.recv()[3]["n"][0]["error"] is None


def test_a_call_of_a_remote_that_is_away_fails(scripted, open_env):
    remote = scripted()
    remote.stop()
    with pytest.raises(CallFailed, match="not connected"):
        open_env(remote).call("number")


def test_mistakes_of_the_caller(addresses, playing):
    env = playing(*addresses)
    with pytest.raises(ConfigError, match=r"indices \[3\]"):
        env.get_attr("number", 3)
    with pytest.raises(ConfigError, match="SimpleNamespace cannot be sent"):
        env.call("get_state_info", SimpleNamespace(), 1)


def test_the_vector_face_reaches_both_sides(addresses, open_gym):
    env = open_gym(*addresses)
    env.reset()
    assert env.get_attr("number", [0, 2]) == (0, 2)
    assert env.call("number", indices=1) == (1,)
    assert env.call("get_state_info", np.ones(2), 1) == ([2.0, False],) * 3
    env.set_attr("number", [4, 5], indices=[0, 1])
    assert env.core.get_attr("number") == [4, 5, 2]
    env.set_attr("nickname", "first", indices=0)
    assert env.get_attr("nickname", 0) == ("first",), "what the remote does not list stays on this side"
    with pytest.raises(AttributeError, match="nickname"):
        env.get_attr("nickname")


def test_remotes_started_here_let_be_called_what_they_are_told_to():
    with VectorEnv("gym-core.CartPole-v1", 1, call=("gravity", "theta_threshold_radians")) as env:
        env.reset()
        while env.step([[]])[0][0] is None:
            env.wait(10)
        env.set_attr("gravity", 1.6)
        assert env.get_attr("gravity") == [1.6]
        with pytest.raises(Unsupported, match="'length' is not what it lets be called: gravity, theta"):
            env.get_attr("length")


def test_only_remotes_started_here_can_be_told(scripted):
    with pytest.raises(ConfigError, match="call="):
        GymVectorEnv(None, "vnc://127.0.0.1:1+2", call=("gravity",))


def test_a_name_that_cannot_be_listed_is_an_error_of_the_start():
    with pytest.raises(Exception, match="'_secret' is not the name of a public attribute"):
        GymVectorEnv("gym-core.CartPole-v1", 1, call=("_secret",))
