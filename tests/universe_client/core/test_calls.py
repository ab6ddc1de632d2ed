"""Calls into the environments of remotes, by index."""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.remotes.agent import wait_until
from tests.support.remotes.gym import open_gym
from tests.support.remotes.served import HEIGHT, WIDTH, Counting, serve_runtime
from universe_client import ConfigError, GymVectorEnv, VectorEnv
from universe_client.errors import CallFailed, Unsupported
from universe_client.providers.address import AddressProvider

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
        return serve_runtime(runtime, allowed_calls=["number", "get_state_info", "fail", "hang"])

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
        Unsupported, match=r"remote 0 .*'released' may not be called: the remote allows fail, get_state"
    ):
        env.get_attr("released")


def test_a_remote_of_another_make_lets_nothing_be_called(scripted, playing):
    with pytest.raises(Unsupported, match="'number' may not be called: the remote allows nothing"):
        playing(scripted()).call("number")


def test_what_the_environment_raises_is_a_failed_call_and_the_slot_plays_on(addresses, playing):
    env = playing(*addresses)
    with pytest.raises(CallFailed, match=r"remote 1 .*RuntimeError: out of order"):
        env.call("fail", indices=1)
    assert env.recv()[3]["n"][1]["error"] is None


def test_a_call_without_an_answer_fails_in_time(addresses, playing, inside):
    env = playing(*addresses, reset_timeout=3.0)
    with pytest.raises(CallFailed, match=r"hang: no answer within 3 s"):
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


def test_a_call_of_a_remote_that_stays_away_fails_in_time(scripted, open_env):
    remote = scripted()
    remote.stop()
    with pytest.raises(CallFailed, match=r"not connected within 0\.3 s, after connect: .*refused"):
        open_env(remote, reset_timeout=0.3).call("number")


class Held(AddressProvider):
    """Hands its remotes out when it is released."""

    def __init__(self, addresses):
        super().__init__(addresses)
        self.released = threading.Event()

    async def acquire(self, index):
        await asyncio.to_thread(self.released.wait, 30)
        return await super().acquire(index)


def later(provider, call):
    """What `call` returns, which is made while no remote is connected."""
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(call)
        assert not wait([result], 0.1).done
        provider.released.set()
        return result.result(20)


def test_a_call_before_the_remotes_are_connected_waits_for_them(addresses, open_env):
    provider = Held(addresses)
    env = open_env(provider)
    env.reset()
    assert later(provider, lambda: env.get_attr("number")) == [0, 1, 2]


def test_an_attribute_set_before_the_remotes_are_connected_is_set_in_them(addresses, open_gym, inside):
    provider = Held(addresses)
    env = open_gym(provider, screen_size=(WIDTH, HEIGHT))
    later(provider, lambda: env.set_attr("number", [7, 8, 9]))
    assert [one.number for one in inside] == [7, 8, 9]
    inside[0].number = 5
    assert env.get_attr("number") == (5, 8, 9), "a value of this side hides the remote's"


def test_an_attribute_is_read_from_remotes_that_are_just_being_connected(addresses, open_gym):
    provider = Held(addresses)
    env = open_gym(provider, screen_size=(WIDTH, HEIGHT))
    assert later(provider, lambda: env.get_attr("number")) == (0, 1, 2)


def test_nothing_is_set_on_this_side_while_a_remote_is_away(scripted, open_gym):
    remote = scripted()
    remote.stop()
    env = open_gym(remote, screen_size=(WIDTH, HEIGHT), reset_timeout=0.3)
    with pytest.raises(CallFailed, match=r"not connected within 0\.3 s"):
        env.set_attr("number", 7)
    remote.start()
    wait_until(lambda: env.core.remotes[0].link.rewarder is not None)
    with pytest.raises(AttributeError):
        env.get_attr("number")


def test_a_call_of_a_remote_that_is_closed_fails_at_once(scripted, open_env):
    remote = scripted(password="right")
    wrong = replace(remote.address, rewarder=replace(remote.address.rewarder, password="wrong"))
    env = open_env(wrong, reset_timeout=60)
    with pytest.raises(CallFailed, match=r"closed, after connect: .*the password is refused"):
        env.call("number")


def test_an_interrupted_call_is_cancelled(addresses, playing, inside):
    env = playing(*addresses)
    link = env.remotes[0].link
    threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        env.call("hang", indices=0)
    wait_until(lambda: not link._calls._waiting, what="the end of the call")
    inside[0].released.set()
    assert env.get_attr("number", 0) == [0]


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
    assert env.core.calls.get_attr("number", None) == [4, 5, 2]
    env.set_attr("nickname", "first", indices=0)
    assert env.get_attr("nickname", 0) == ("first",), "what the remote does not list stays on this side"
    with pytest.raises(AttributeError, match="nickname"):
        env.get_attr("nickname")


def test_remotes_started_here_allow_the_calls_of_allowed_calls():
    with VectorEnv("gym-core.CartPole-v1", 1, allowed_calls=("gravity", "theta_threshold_radians")) as env:
        env.reset()
        while env.step([[]])[0][0] is None:
            env.wait(10)
        env.set_attr("gravity", 1.6)
        assert env.get_attr("gravity") == [1.6]
        with pytest.raises(Unsupported, match="'length' may not be called: the remote allows gravity, theta"):
            env.get_attr("length")


def test_allowed_calls_is_for_remotes_started_here(scripted):
    with pytest.raises(ConfigError, match="allowed_calls="):
        GymVectorEnv(None, "vnc://127.0.0.1:1+2", allowed_calls=("gravity",))


def test_a_name_that_cannot_be_listed_is_an_error_of_the_start():
    with pytest.raises(Exception, match="'_secret' is not the name of a public attribute"):
        GymVectorEnv("gym-core.CartPole-v1", 1, allowed_calls=("_secret",))
