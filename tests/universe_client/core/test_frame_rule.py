"""The rule when a frame may be shown, one condition at a time."""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import numpy as np

from rewarder.protocol.episode import EpisodeId
from universe_client.core.frame_rule import TickScreen, WholeScreen, agreed, is_current
from universe_client.core.view import View

ONE, TWO = EpisodeId((1,)), EpisodeId((2,))


class FakeSession:
    """A screen of one value, whose refreshes complete when the test wants it."""

    shape = (2, 3, 3)

    def __init__(self) -> None:
        self.asked = self.generation = self.frames = self.value = 0
        self.frame_time = 0.0

    def refresh(self) -> int:
        self.asked += 1
        return self.asked

    def draw(self, value: int, shape: tuple[int, int, int] = (2, 3, 3)) -> None:
        self.value, self.frames, self.shape = value, self.frames + 1, shape
        self.frame_time += 1.0

    def take(self, out: np.ndarray, reduction: object = None) -> int:
        if out.shape != self.shape:
            raise ValueError("resized")
        out[:] = self.value
        return self.frames


def checksum(value: int) -> int:
    return zlib.crc32(np.full((2, 3, 3), value, np.uint8).data)


def test_an_episode_is_shown_when_the_screen_that_was_requested_for_it_has_arrived():
    session, screen = FakeSession(), WholeScreen()
    assert not screen.shows(session, None)
    assert session.asked == 0
    assert not screen.shows(session, ONE)
    assert not screen.shows(session, ONE)
    assert session.asked == 1, "one request per episode"
    session.generation = 1
    assert screen.shows(session, ONE)
    assert not screen.shows(session, TWO), "the screen was requested for the episode before"
    session.generation = 2
    assert screen.shows(session, TWO)
    assert not screen.shows(session, None)


def test_the_same_episode_needs_another_screen_after_forget():
    session, screen = FakeSession(), WholeScreen()
    screen.shows(session, ONE)
    session.generation = 1
    screen.forget()
    assert not screen.shows(session, ONE)
    assert session.asked == 2


def test_a_tick_is_recognised_by_its_checksum():
    session, screen, view = FakeSession(), TickScreen(), View()
    session.draw(4)
    screen.expect(checksum(5), session)
    assert session.asked == 0
    assert not screen.matches(session, view)
    session.draw(5)
    assert screen.matches(session, view)
    assert screen.matches(session, view), "also when nothing new has arrived"
    session.draw(6)
    assert not screen.matches(session, view)


def test_a_tick_without_a_checksum_is_the_first_screen_requested_after_the_reply():
    session, screen, view = FakeSession(), TickScreen(), View()
    session.draw(4)
    screen.expect(None, session)
    assert not screen.matches(session, view)
    session.draw(5)
    session.generation = 1
    assert screen.matches(session, view)
    assert (view.frame == 5).all()


def test_a_tick_during_a_resize_is_recognised_after_it():
    session, screen, view = FakeSession(), TickScreen(), View()
    session.draw(5)
    screen.expect(checksum(5), session)
    shape = session.shape
    session.take = lambda out, reduction: (_ for _ in ()).throw(ValueError("resized"))
    assert not screen.matches(session, view)
    del session.take
    assert session.shape == shape
    assert screen.matches(session, view)


def test_a_frame_is_current_if_its_episode_still_runs_when_the_messages_before_it_are_processed():
    link = SimpleNamespace(playing=ONE, await_processed=lambda moment: True)
    assert is_current(link, ONE, 1.0)
    assert not is_current(link, TWO, 1.0)

    def end_meanwhile(moment: float) -> bool:
        link.playing = None
        return True

    link.await_processed = end_meanwhile
    assert not is_current(link, ONE, 1.0), "the end arrived before the frame"
    link = SimpleNamespace(playing=ONE, await_processed=lambda moment: False)
    assert not is_current(link, ONE, 1.0), "the loop is late: nothing is known"


def test_frame_and_rewards_are_of_one_episode():
    assert agreed(ONE, ONE) == ONE
    assert agreed(ONE, TWO) is None
    assert agreed(ONE, None) is None
    assert agreed(None, None) is None
