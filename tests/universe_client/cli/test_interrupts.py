"""Ctrl-C in a call leaves the environment usable, whatever the call was waiting for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from gymnasium.error import AlreadyPendingCallError

from tests.support.remotes.agent import one_step
from tests.support.remotes.gym import noop, open_gym, values
from tests.support.remotes.remote import by_hand
from tests.support.remotes.served import Counting, serve_runtime
from universe_client import GymEnv
from universe_client.adapters.sb3 import SB3VecEnv

__all__ = ["open_gym", "serve_runtime"]


def interrupted(call: Callable[[], object]) -> None:
    """Make `call` on the main thread, again if it returns, and interrupt it."""
    main, over = threading.main_thread().ident, threading.Event()

    def interrupt() -> None:
        delay = 0.2
        while not over.wait(delay):
            signal.pthread_kill(main, signal.SIGINT)
            delay = 10.0  # Python drops an exception that is raised in a finalizer: then try again

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            while True:
                call()
    finally:
        over.set()
        thread.join()


def test_the_vector_face_steps_on_after_an_interrupted_step(scripted, open_gym):
    env = open_gym(scripted(), scripted(), step_rate=1)
    env.reset()
    interrupted(lambda: env.step(noop(env)))
    assert values(env.step(noop(env))[0]) == [1, 1]
    interrupted(lambda: env.step(noop(env)))
    assert values(env.reset()[0]) == [2, 2]


def test_the_vector_face_steps_on_after_an_interrupted_wait_for_the_next_episode(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote)
    env.reset()
    remote.finish(3.0)
    while not env.step(noop(env))[2].any():
        env.core.wait(1)
    interrupted(lambda: env.step(noop(env)))
    remote.next_episode()
    observations, rewards, terminations, truncations, _ = env.step(noop(env))
    assert (values(observations), rewards.sum()) == ([2], 0.0)
    assert not (terminations | truncations).any()


def test_after_an_interrupted_recv_the_next_step_works(scripted, open_gym):
    env = open_gym(scripted(), scripted())
    env.reset()
    env.send(noop(env))
    ids = [0, 1]
    while ids:  # until the screens are still, and both rows owed
        ids = env.recv(min_ready=2, timeout=0.2)[4]["env_id"].tolist()
        if ids:
            env.send(noop(env)[ids], ids=ids)
    interrupted(lambda: env.recv(min_ready=2))
    assert values(env.step(noop(env))[0]) == [1, 1]


def test_a_step_that_was_refused_leaves_what_was_sent_before_it_pending(scripted, open_gym):
    env = open_gym(scripted(), scripted())
    env.reset()
    env.send(noop(env)[:1], ids=[0])
    with pytest.raises(AlreadyPendingCallError):
        env.step(noop(env))
    assert env.recv()[4]["env_id"].tolist() == [0]


def test_stable_baselines_steps_on_after_an_interrupted_step(scripted, open_gym):
    env = SB3VecEnv(open_gym(scripted(), step_rate=1))
    env.reset()
    interrupted(lambda: env.step(np.zeros(1, np.int64)))
    observations, _, dones, _ = env.step(np.zeros(1, np.int64))
    assert values(observations) == [1]
    assert not dones.any()


class Waiting(Counting):
    """Does not live its third tick before it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def tick(self, events):
        if self.ticks == 2:
            self.released.wait(30)
        return super().tick(events)


@pytest.fixture
def waiting():
    runtime = Waiting()
    yield runtime
    runtime.released.set()


def test_lockstep_after_an_interrupted_step_goes_on_with_the_next_tick(serve_runtime, open_env, waiting):
    env = open_env(serve_runtime(waiting), mode="lockstep")
    env.reset()
    assert [one_step(env).reward for _ in range(3)] == [0.0, 1.0, 2.0]
    interrupted(partial(one_step, env))
    threading.Timer(0.2, waiting.released.set).start()
    step = one_step(env)
    assert (step.reward, step.done, step.info["error"]) == (3.0 + 4.0, False, None)
    assert step.observation["vision"][0, 0, 0] == 4
    assert one_step(env).reward == 5.0


@pytest.mark.parametrize("face", ["vector", "single"])
def test_gymnasiums_faces_in_lockstep_go_on_with_the_next_tick(serve_runtime, open_gym, waiting, face):
    options = {} if face == "vector" else {"face": GymEnv}
    env = open_gym(serve_runtime(waiting), mode="lockstep", **options)
    action = np.zeros(1, np.int64) if face == "vector" else 0
    env.reset()
    for _ in range(2):
        env.step(action)
    interrupted(lambda: env.step(action))
    threading.Timer(0.2, waiting.released.set).start()
    _, reward, terminated, truncated, _ = env.step(action)
    assert float(np.sum(reward)) == 3.0 + 4.0
    assert not np.any(terminated | truncated)


def test_an_interrupted_reset_can_be_made_again(scripted, open_gym):
    remote = scripted(on_reset=by_hand)
    env = open_gym(remote, screen_size=(24, 16))
    interrupted(env.reset)
    remote.answer(remote.next_reset())
    threading.Timer(0.1, lambda: remote.answer(remote.next_reset())).start()
    assert values(env.reset()[0]) == [2]
