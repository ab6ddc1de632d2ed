"""Events with followers, and the check for one thread."""

from __future__ import annotations

import threading

import pytest

from tests.support.remotes.agent import one_step, wait_until
from tests.support.remotes.remote import by_hand
from universe_client import LocalStateError
from universe_client.core.event_loop.threads import Changed, OneThread, Waiters


def test_followers_are_set_with_it_and_cleared_by_themselves():
    changed, follower, other = Changed(), threading.Event(), threading.Event()
    changed.followers += [follower, other]
    changed.set()
    assert (changed.is_set(), follower.is_set(), other.is_set()) == (True, True, True)
    changed.clear()
    assert follower.is_set()
    follower.clear()
    changed.set()
    assert follower.is_set()


class FakeSession:
    """A session that knows whether somebody listens, and may have a frame that nobody was told of."""

    def __init__(self) -> None:
        self.listens, self.has_news = True, False

    def listen(self, listens: bool) -> bool:
        self.listens = listens
        has_news, self.has_news = self.has_news, self.has_news and not listens
        return listens and has_news


def test_sessions_are_listened_to_while_threads_wait():
    news: list[bool] = []
    waiters, (first, second) = Waiters(lambda: news.append(True)), (FakeSession(), FakeSession())
    waiters.add(first)
    assert not first.listens
    with waiters:
        assert first.listens
        waiters.add(second)
        assert second.listens
        with waiters:
            pass
        assert first.listens and second.listens, "one thread still waits"
    assert not (first.listens or second.listens or news)
    waiters.remove(second)
    first.has_news = True
    with waiters:
        assert news == [True]
        assert not second.listens
    waiters.stay()
    with waiters:
        pass
    assert first.listens


def elsewhere(function) -> list[object]:
    """Call `function` on another thread; return what it returned or raised."""
    outcome: list[object] = []

    def work() -> None:
        try:
            outcome.append(function())
        except LocalStateError as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    return outcome


def test_a_second_thread_may_not_enter_and_the_same_one_may():
    one = OneThread()
    with one:
        (refused,) = elsewhere(one.__enter__)
        assert isinstance(refused, LocalStateError)
        with one:
            pass
    assert elsewhere(one.check) == [None]


def test_the_thread_that_was_interrupted_may_enter_again():
    one = OneThread()
    one.__enter__()
    with one:
        pass
    assert elsewhere(one.check) == [None]


def test_a_second_thread_that_steps_resets_or_receives_gets_an_error(scripted, open_env):
    remote = scripted(on_step=by_hand)
    env = open_env(remote, mode="lockstep")
    env.reset()
    assert one_step(env).observation is not None
    stepping = threading.Thread(target=lambda: elsewhere(lambda: one_step(env)))
    stepping.start()
    wait_until(lambda: env.core._one_thread._inside is not None, what="the step")
    for use in (lambda: env.step([[]]), env.recv, lambda: env.send([[]]), env.reset):
        with pytest.raises(LocalStateError, match="another thread uses the environment"):
            use()
    assert not env.wait(0.01)
    env.close()
    stepping.join(60)
    assert not stepping.is_alive()
