"""Squares on a real X display; test_desktop tests programs' windows."""

import importlib
import os
import signal
import sys

import pytest

from rewarder.display import x11_windows
from rewarder.display.x11_windows import WindowClient
from rewarder.display.xdisplay import XDisplay
from tests.support.remotes.agent import wait_until
from tests.support.remotes.hand import Hand
from universe_client.spaces import actions


@pytest.fixture(scope="module")
def display():
    with XDisplay(640, 480) as display:
        yield display


@pytest.fixture
def client(display):
    client = WindowClient(display.socket, display.cookie)
    yield client
    client.close()


def test_a_square_is_where_it_was_put_and_notices_clicks(display, client):
    square, other = client.add_square(100, 50, 40, 30, 0xFF0000), client.add_square(300, 50, 40, 30, 0x00FF00)
    client.move_square(square, 200, 150)
    shown = client._window(square)
    assert (shown.x, shown.y, shown.width, shown.height) == (200, 150, 40, 30)
    with Hand(display.port) as hand:
        hand.click(110, 60)  # where it was
        hand.click(310, 60)
        hand.click(210, 160)
    presses = []
    wait_until(lambda: presses.extend(client.pressed()) or len(presses) >= 2)
    assert presses == [other, square] and client.pressed() == []


def test_a_square_that_was_removed_is_gone(client):
    square = client.add_square(10, 10, 20, 20, 0xFFFFFF)
    client.remove_square(square)
    assert client._window(square) is None


def test_a_square_below_lies_under_the_others(display, client):
    above, below = client.add_square(0, 0, 50, 50, 1), client.add_square(0, 0, 50, 50, 2, below=True)
    with Hand(display.port) as hand:
        hand.click(25, 25)
    presses = []
    wait_until(lambda: presses.extend(client.pressed()) or presses)
    assert presses == [above] and below not in presses


def test_the_pointer_is_seen_and_put(display, client):
    client.warp(123, 45)
    assert (client.pointer().x, client.pointer().y, client.pointer().pressed) == (123, 45, False)
    with Hand(display.port) as hand:
        hand.do(actions.move(7, 9, 1))
        wait_until(lambda: client.pointer().pressed)
        assert (client.pointer().x, client.pointer().y) == (7, 9)
        hand.do(actions.move(7, 9))
        wait_until(lambda: not client.pointer().pressed)


def test_without_a_window_manager_none_is_seen(client):
    assert not client.managed() and client.windows() == []


def test_a_lost_display_is_an_error():
    with XDisplay(64, 64) as display:
        client = WindowClient(display.socket, display.cookie)
        display.close()
        with pytest.raises(OSError):
            client.pointer()
        client.close()


def test_a_wrong_cookie_is_refused(display):
    with pytest.raises(OSError, match="connection to the x server"):
        WindowClient(display.socket, bytes(16))


def test_a_server_that_hangs_is_an_error(display, client, monkeypatch):
    monkeypatch.setattr(x11_windows, "ANSWER_TIMEOUT", 0.2)
    os.kill(display.pid, signal.SIGSTOP)
    try:
        with pytest.raises(TimeoutError, match=r"did not answer within 0\.2 s"):
            client.pointer()
    finally:
        os.kill(display.pid, signal.SIGCONT)


def test_without_xcffib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "xcffib", None)
    monkeypatch.delitem(sys.modules, "rewarder.display.x11_windows")
    with pytest.raises(ImportError, match=r"pip install '\.\[desktop\]'"):
        importlib.import_module("rewarder.display.x11_windows")
