"""One remote as people think of it, over scripted remotes with a screen of 24x16 pixels."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.support.remotes.remote import HEIGHT, WIDTH, frame
from universe_client.errors import ConfigError, LocalStateError, PeerLost, ResetTimeout
from universe_client.hands import (
    ButtonDown,
    Click,
    Computer,
    Drag,
    Hold,
    InvalidAction,
    LostWhileActing,
    Move,
    Press,
    Region,
    Type,
    Wait,
)
from vnc.events import KeyEvent, PointerEvent
from vnc.keysyms import keysym


def paints(value):
    """An `on_input` that shows a screen of one value."""
    return lambda remote, events: remote.paint(value)


def test_a_click_returns_the_settled_picture_and_what_has_changed(computer):
    def corner(remote, events):
        picture = frame(remote.episode)
        picture[:3, 20:] = 200
        remote.show(picture)

    hands, remote = computer(on_input=corner)
    outcome = hands.click(3, 4)
    assert outcome.settled and outcome.played == 1 and not outcome.done
    assert outcome.waited >= 0.1
    assert outcome.changed == Region(16, 0, 8, 16)  # the tile
    assert outcome.pointer == (3, 4) == hands.cursor()
    assert outcome.picture.array[0, 21].tolist() == [200] * 3
    assert remote.events == [PointerEvent(3, 4, 0), PointerEvent(3, 4, 1), PointerEvent(3, 4, 0)]


def test_nothing_changes_where_nothing_reacts(computer):
    hands, _ = computer()
    assert hands.move(1, 1).changed is None
    assert hands.cursor() == (1, 1)


def test_rewards_and_texts_of_the_time_in_between_are_in_the_next_outcome(computer):
    hands, remote = computer()
    assert hands.reset().reward == 0.0
    remote.text("go on")
    remote.reward(2.0)
    remote.reward(3.0)
    outcome = hands.do([Wait(0.2)])
    assert (outcome.reward, outcome.text, outcome.episode_reward) == (5.0, "go on", 5.0)
    remote.reward(1.0)
    outcome = hands.do([Wait(0.2)])
    assert (outcome.reward, outcome.text, outcome.episode_reward) == (1.0, None, 6.0)
    assert hands.text == "go on" and hands.reward == 6.0


def test_the_end_of_the_episode_ends_the_batch(computer):
    def solve(remote, events):
        if KeyEvent(keysym("b"), True) in events:
            remote.finish(7.0)
            remote.next_episode()

    hands, remote = computer(on_input=solve)
    outcome = hands.do([Type("a"), Type("b"), Wait(30), Type("c")])
    assert outcome.done and hands.done and outcome.reward == 7.0 and outcome.played == 2
    assert KeyEvent(keysym("c"), True) not in remote.events
    with pytest.raises(LocalStateError, match=r"the episode has ended \(terminated\): reset"):
        hands.type("d")
    assert hands.screenshot().array[0, 0, 0] == 1  # the last picture of the first episode
    outcome = hands.reset()
    assert not outcome.done and outcome.reward == 0.0 == outcome.episode_reward
    assert outcome.picture.array[0, 0, 0] == remote.episode > 2


def test_coordinates_are_those_of_the_picture(computer):
    hands, remote = computer(max_size=(12, 12))
    assert hands.size == (12, 8) and hands.screen_size == (WIDTH, HEIGHT)
    hands.move(11, 7)
    assert remote.wait_for_events(1)[-1] == PointerEvent(23, 15, 0)
    assert hands.cursor() == (11, 7)
    assert hands.screenshot().array.shape == (8, 12, 3)
    part = hands.screenshot(region=(0, 0, 6, 4), scale=2.0)
    assert (part.width, part.height) == (24, 16) and part.region == (0, 0, 6, 4) and part.scale == 2.0
    assert hands.size == (12, 8)
    assert hands.screenshot(scale=1.0).scale == 1.0 and hands.size == (24, 16)


def test_pictures_can_be_read_by_others(computer, tmp_path):
    import cv2

    hands, remote = computer()
    hands.reset()
    picture = np.arange(HEIGHT * WIDTH * 3, dtype=np.uint8).reshape(HEIGHT, WIDTH, 3)
    remote.show(picture)
    hands.wait_until_still()
    shot = hands.screenshot()
    assert np.array_equal(shot.array, picture)
    shot.save(tmp_path / "shot.png")
    assert np.array_equal(cv2.imread(str(tmp_path / "shot.png"))[..., ::-1], picture)
    lossy = hands.screenshot(format="jpeg")
    assert lossy.data.startswith(b"\xff\xd8") and lossy.media_type == "image/jpeg"


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Click(24, 3), "x=24 is outside the picture, which is 24x16: 0 <= x < 24"),
        (Click(3, -1), "y=-1 is outside the picture, which is 24x16: 0 <= y < 16"),
        (Click(3), "y=None is not an integer number of pixels"),
        (Click(1.5, 3), "x=1.5 is not an integer number of pixels"),
        (Click(1, 1, "wheel"), "there is no button 'wheel': one of left, middle, right, back, forward"),
        (Click(1, 1, count=4), "count=4 is not an integer from 1 to 3"),
        (Click(1, 1, modifiers=("a",)), "'a' is not a modifier: one of shift, ctrl, alt"),
        (Press("ctrl+boo"), "no key is called 'boo' in 'ctrl+boo'"),
        (Press("Retrun"), "did you mean return"),
        (Press("a", 101), "repeat=101 is not an integer from 1 to 100"),
        (Wait(301), "301 s is not a number of seconds from 0 to 300"),
        (Type("a\0"), "the text cannot be typed: no key types the control character"),
        (Type(3), "3 is not a text"),
        (Drag([(1, 1)]), "a drag needs at least 2 points, not 1"),
        (Drag([1, 2]), "is not a list of points"),
        ("click", "'click' is not an action of universe_client.hands"),
    ],
)
def test_what_cannot_be_played_is_told_before_anything_is_sent(computer, action, words):
    hands, remote = computer()
    with pytest.raises(InvalidAction, match=re.escape(words)):
        hands.do([Move(1, 1), action])
    hands.move(2, 2)
    assert remote.events == [PointerEvent(2, 2, 0)]


def test_a_remote_that_is_lost_in_the_middle(computer):
    hands, remote = computer()
    hands.reset()

    def vanish():
        remote.wait_for_events(3)
        remote.stop_vnc()

    with ThreadPoolExecutor() as other:
        gone = other.submit(vanish)
        with pytest.raises(
            LostWhileActing, match="lost after 2 of 3 actions; nothing stays pressed"
        ) as raised:
            hands.do([ButtonDown(), Press("b"), Wait(60)])
        gone.result()
    assert raised.value.played == 2 and isinstance(raised.value.__cause__, PeerLost)
    remote.restart_vnc()
    outcome = hands.reset()
    assert not outcome.done and outcome.picture is not None
    assert hands.move(1, 1).played == 1


def test_only_one_computer_drives_a_remote(scripted, open_env):
    env = open_env(scripted().address)
    first = Computer(env)
    with pytest.raises(LocalStateError, match="another Computer drives remote 0"):
        Computer(env)
    first.close()
    Computer(env).close()
    with pytest.raises(ConfigError, match="index=1 is not a remote"):
        Computer(env, 1)


def test_buttons_stay_down_only_after_success(computer):
    hands, remote = computer()
    hands.do([Move(2, 2), ButtonDown()])
    assert remote.wait_for_events(2)[-1] == PointerEvent(2, 2, 1)
    hands.move(5, 5)
    assert remote.wait_for_events(3)[-1] == PointerEvent(5, 5, 1)
    hands.close()
    assert remote.wait_for_events(4)[-1] == PointerEvent(5, 5, 0)


def test_a_server_without_a_rewarder(computer):
    hands, _ = computer(has_rewarder=False)
    outcome = hands.click(2, 2)
    assert (outcome.reward, outcome.done, outcome.text) == (0.0, False, None)


def test_the_buttons_back_and_forward(computer):
    hands, remote = computer()
    hands.click(2, 2, button="forward")
    hands.click(2, 2, button="back")
    masks = [event.button_mask for event in remote.wait_for_events(6)]
    assert masks == [0, 256, 0, 0, 128, 0]


class Film:
    """Shows another value in one part of the screen every 20 ms, until it is stopped."""

    def __init__(self, remote, part):
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(remote, part))
        self._thread.start()

    def _run(self, remote, part):
        number = 0
        while not self._stopped.wait(0.02):
            number += 1
            picture = frame(remote.episode)
            picture[part] = number % 256
            remote.show(picture)

    def stop(self):
        self._stopped.set()
        self._thread.join()


def test_a_region_that_never_rests_is_named_and_does_not_hold_up_the_next_acts(computer):
    hands, remote = computer()
    hands.reset()
    film = Film(remote, np.s_[:16, 16:])  # the right tile
    try:
        outcome = hands.click(2, 2, quiet=0.9, timeout=60)  # on a busy machine the film pauses
        assert outcome.settled and outcome.restless == (Region(16, 0, 8, 16),)
        assert outcome.waited >= 1.0
        waits = [hands.click(2, 2, timeout=60).waited for _ in range(5)]
        assert min(waits) < 1.0, "it is known by now"
        still = hands.wait_until_still(timeout=60, ignore=[(16, 0, 8, 16)])
        assert still.settled
    finally:
        film.stop()


def test_what_does_not_rest_in_time_is_told(computer):
    hands, remote = computer()
    hands.reset()
    film = Film(remote, np.s_[:])
    try:
        outcome = hands.click(2, 2, timeout=0.5)
        assert not outcome.settled and outcome.waited >= 0.5 and outcome.changed is not None
        assert hands.do([Move(3, 3)], settle=False, picture=False).picture is None
    finally:
        film.stop()


def test_one_thread_at_a_time_and_interrupt(computer):
    hands, remote = computer()
    hands.reset()
    with ThreadPoolExecutor() as other:
        call = other.submit(hands.do, [ButtonDown(), Hold("ctrl", 300)])
        remote.wait_for_events(2)
        with pytest.raises(LocalStateError, match="another thread uses this Computer"):
            hands.screenshot()
        hands.interrupt()
        with pytest.raises(LocalStateError, match="the call was interrupted; nothing stays pressed"):
            call.result()
    assert remote.wait_for_events(4)[2:] == [KeyEvent(keysym("ctrl"), False), PointerEvent(12, 8, 0)]
    hands.interrupt()  # no effect: there is no call
    assert hands.move(1, 1).played == 1


def test_modifiers_are_held_for_the_click_only(computer):
    hands, remote = computer()
    hands.click(2, 2, modifiers=("ctrl", "shift"))
    ctrl, shift = keysym("ctrl"), keysym("shift")
    assert remote.wait_for_events(7) == [
        KeyEvent(ctrl, True),
        KeyEvent(shift, True),
        *(PointerEvent(2, 2, mask) for mask in (0, 1, 0)),
        KeyEvent(shift, False),
        KeyEvent(ctrl, False),
    ]


def test_a_drag_and_the_wheel(computer):
    hands, remote = computer()
    hands.drag([(1, 1), (20, 1), (20, 10)])
    path = remote.wait_for_events(4)
    assert path[:2] == [PointerEvent(1, 1, 0), PointerEvent(1, 1, 1)]
    assert PointerEvent(20, 1, 1) in path and path[-2:] == [PointerEvent(20, 10, 1), PointerEvent(20, 10, 0)]
    remote.events.clear()
    hands.scroll(5, 5, dx=-1, dy=2)
    masks = [event.button_mask for event in remote.wait_for_events(7)]
    assert masks == [0, 16, 0, 16, 0, 32, 0]


def test_a_second_client_is_told_that_another_controls_the_remote(computer, open_env):
    hands, remote = computer()
    hands.reset()
    with (
        Computer(open_env(remote.address, reset_timeout=20.0)) as second,
        pytest.raises(PeerLost, match="another controller"),
    ):
        second.screenshot()
    assert hands.move(1, 1).played == 1


def test_the_first_call_waits_for_a_picture_and_says_why_there_is_none(scripted, open_env):
    remote = scripted()
    address = remote.address
    remote.stop()
    with Computer(open_env(address, reset_timeout=1.0)) as hands:
        with pytest.raises(ResetTimeout, match=r"no picture within 1 s; the last error: .*connect"):
            hands.screenshot()
        remote.start()
        assert hands.screenshot().width == 24
