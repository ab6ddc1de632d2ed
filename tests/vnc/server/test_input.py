"""Held keys and buttons: positions are clipped, their number is bounded, and all are released."""

from __future__ import annotations

from vnc.events import KeyEvent, PointerEvent
from vnc.server.input import MAX_HELD, ClientInput


def test_the_pointer_stays_on_the_screen() -> None:
    held = ClientInput(320, 240)
    assert held.accept([PointerEvent(319, 239, 0), PointerEvent(320, 65535, 1)]) == [
        PointerEvent(319, 239, 0),
        PointerEvent(319, 239, 1),
    ]


def test_what_is_held_is_released_once_last_pressed_first() -> None:
    held = ClientInput(10, 10)
    held.accept(
        [KeyEvent(1, True), KeyEvent(2, True), KeyEvent(3, True), KeyEvent(2, False), PointerEvent(4, 5, 3)]
    )
    assert held.release() == [KeyEvent(3, False), KeyEvent(1, False), PointerEvent(4, 5, 0)]
    assert held.release() == []


def test_repeats_pass_and_count_once() -> None:
    held = ClientInput(10, 10)
    assert held.accept([KeyEvent(1, True)] * 3) == [KeyEvent(1, True)] * 3
    assert held.release() == [KeyEvent(1, False)]


def test_held_keys_are_bounded() -> None:
    held = ClientInput(10, 10)
    presses = [KeyEvent(keysym, True) for keysym in range(MAX_HELD + 50)]
    assert held.accept(presses) == presses[:MAX_HELD]
    assert len(held.release()) == MAX_HELD
