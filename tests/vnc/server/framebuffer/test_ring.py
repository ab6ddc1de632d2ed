"""The buffers of a screen: what a reader holds is never written."""

from __future__ import annotations

import mmap

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vnc.server.framebuffer.ring import Layout, Ring, private_ring


def ring(width: int = 20, height: int = 10, buffers: int = 8) -> Ring:
    layout = Layout(width, height, buffers)
    return Ring(layout, mmap.mmap(-1, layout.size))


def draw(buffers: Ring, value: int) -> None:
    spare = buffers.spare()
    spare.rgb[...] = value
    buffers.newest = spare


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), max_size=100))
def test_the_newest_and_held_buffers_keep_their_frames(steps: list[int]) -> None:
    """Draw (0 to 3), hold the newest (4 to 7), or release the oldest or the youngest hold (8, 9)."""
    buffers = ring()
    held: list[tuple[int, int]] = []
    value = 0
    for step in steps:
        if step < 4:
            value += 1
            draw(buffers, value)
        elif step < 8:
            if buffers.hold():
                held.append((buffers.newest.number, value))
        elif held:
            buffers.release(held.pop(0 if step == 8 else -1)[0])
        assert (buffers.newest.rgb == value).all()
        assert all((buffers._buffers[number].rgb == shown).all() for number, shown in held)
        assert len({number for number, _ in held}) <= 6


def test_six_frames_can_be_held_and_any_number_of_readers_hold_the_same() -> None:
    buffers = ring()
    for value in range(6):
        draw(buffers, value)
        assert buffers.hold()
    assert buffers.hold()
    draw(buffers, 6)
    assert not buffers.hold()
    buffers.release(1)
    assert buffers.hold()


def test_a_frame_that_is_held_is_changed_in_a_copy() -> None:
    buffers = ring()
    draw(buffers, 5)
    shown = buffers.newest
    assert buffers.unheld() is shown
    assert buffers.hold()
    copy = buffers.unheld()
    copy.rgb[0, 0] = 9
    assert buffers.newest is copy is not shown
    assert (shown.rgb == 5).all()
    assert (copy.rgb[1:] == 5).all()


def test_private_buffers_cannot_be_held() -> None:
    assert not private_ring(20, 10).hold()


def test_the_buffers_do_not_overlap_and_lie_in_the_memory() -> None:
    for width, height in ((1, 1), (17, 33), (600, 400), (1024, 768)):
        buffers = ring(width, height)
        layout = buffers.layout
        for number, buffer in enumerate(buffers._buffers):
            buffer.rows[...] = number
            assert buffer.rgb.shape == (height, width, 3)
        memory = np.frombuffer(buffers._buffers[0]._memory, np.uint8)
        for number in range(layout.buffers):
            start = layout.offset + number * layout.distance
            assert (memory[start : start + layout.stride * layout.rows] == number).all()
        assert layout.size == layout.buffers * layout.distance == memory.size
