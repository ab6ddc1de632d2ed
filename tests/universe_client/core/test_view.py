"""The array that frames are copied into."""

from __future__ import annotations

import numpy as np
import pytest

from tests.universe_client.core.test_frame_rule import FakeSession
from universe_client.core.view import View


def test_a_frame_is_copied_into_the_array_that_was_set():
    session, view = FakeSession(), View()
    batch = np.zeros((2, *session.shape), np.uint8)
    view.lend(batch[1])
    session.draw(7)
    view.follow(session)
    assert view.number != session.frames
    assert view.take()
    assert view.number == session.frames
    assert (batch[1] == 7).all() and not batch[0].any()
    assert (view.taken, view.frame_time, view.seen_time) == (1, 1.0, 1.0)


def test_the_lent_array_cannot_be_written():
    session, view = FakeSession(), View()
    session.draw(7)
    view.follow(session)
    view.take()
    assert (view.read_only == 7).all()
    with pytest.raises(ValueError, match="read-only"):
        view.read_only[0] = 1


def test_a_screen_of_another_shape_gets_an_array_of_its_own():
    session, view = FakeSession(), View()
    own = np.zeros(session.shape, np.uint8)
    view.lend(own)
    session.draw(1, (4, 4, 3))
    view.follow(session)
    view.take()
    assert view.frame is not own
    assert view.frame.shape == (4, 4, 3)


def test_an_array_that_is_set_later_holds_no_frame_yet():
    session, view = FakeSession(), View()
    session.draw(3)
    view.follow(session)
    view.take()
    first = view.checksum
    view.lend(np.zeros(session.shape, np.uint8))
    assert view.number == -1
    view.take()
    assert view.checksum == first
