"""The step channel's two ends over a socket pair, and its pixels."""

import itertools
import os
import socket
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewarder.errors import ProtocolError
from rewarder.protocol.codec import MAX_FRAME
from rewarder.protocol.messages import ReplyStep, Step
from rewarder.steps.channel import Channel
from rewarder.steps.pixels import attach, create

BLACK = np.zeros((2, 3, 3), np.uint8)


@pytest.fixture
def ends():
    near, far = socket.socketpair()
    with far:
        channel = Channel(near, BLACK, 0.05)
        yield channel, far
        channel.close()


def test_messages_arrive_in_order_with_their_ids(ends):
    channel, far = ends
    other = Channel(far, BLACK, 60.0)
    assert channel.send(Step([["KeyEvent", 9, True]], ticks=4), 1.0) == 1
    assert channel.send(Step(), 2.0) == 2
    first, second = other.receive(), other.receive()
    assert (first.headers.message_id, first.message.ticks) == (1, 4)
    assert (second.headers.message_id, second.message.events) == (2, None)
    other.send(ReplyStep(reward=0.5), 3.0, None, 2)
    reply = channel.receive()
    assert (reply.headers.parent_message_id, reply.message.reward) == (2, 0.5)


def test_what_has_not_arrived_is_none(ends):
    channel, far = ends
    assert channel.receive() is None
    assert channel.receive(wait=False) is None
    far.sendall(b"\0\0")
    assert channel.receive(wait=False) is None


def test_a_closed_end_is_an_error(ends):
    channel, far = ends
    far.close()
    with pytest.raises(ConnectionResetError):
        channel.receive()
    with pytest.raises(OSError):
        channel.send(Step(), 0.0)


def test_hanging_up_ends_a_wait(ends):
    channel, _ = ends
    channel.hang_up()
    channel.hang_up()
    with pytest.raises(ConnectionResetError):
        channel.receive()


@given(cuts=st.lists(st.integers(0, 200), max_size=6), count=st.integers(1, 3))
def test_however_the_bytes_are_cut(cuts, count):
    near, far = socket.socketpair()
    near_end, far_end = Channel(near, BLACK, 60.0), Channel(far, BLACK, 60.0)
    try:
        for number in range(count):
            near_end.send(Step(ticks=number + 1), 0.0)
        data = far.recv(1 << 16)
        edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
        for start, end in itertools.pairwise(edges):
            far_end._chunks.append(data[start:end])
        assert [far_end.receive().message.ticks for _ in range(count)] == list(range(1, count + 1))
        assert far_end.receive(wait=False) is None
    finally:
        near_end.close()
        far_end.close()


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (struct.pack(">I", MAX_FRAME + 1), "the limit is"),
        (struct.pack(">I", 2) + b"\xff\xff", "UTF-8"),
        (struct.pack(">I", 2) + b"[]", "malformed"),
    ],
)
def test_invalid_data_is_a_protocol_error(ends, data, complaint):
    channel, far = ends
    far.sendall(data)
    with pytest.raises(ProtocolError, match=complaint):
        channel.receive()


# -- pixels -----------------------------------------------------------------------------------------------------


def test_what_one_side_writes_the_other_reads_and_cannot_write():
    descriptor, pixels = create(3, 2)
    try:
        view = attach(descriptor, 3, 2)
        assert not view.any() and view.shape == (2, 3, 3)
        pixels[1, 2] = 7, 8, 9
        assert view[1, 2].tolist() == [7, 8, 9]
        assert not view.flags.writeable
        with pytest.raises(OSError):
            os.ftruncate(descriptor, 1)
        with pytest.raises(OSError):
            os.write(descriptor, b"x")
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("size", [17, 0])
def test_memory_that_is_too_small_is_refused(size):
    descriptor, _ = create(1, max(size // 3, 1))
    try:
        with pytest.raises(ValueError, match="too small"):
            attach(descriptor, 3, 2)
    finally:
        os.close(descriptor)


def test_memory_that_can_shrink_is_refused():
    descriptor = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, 4096)
        with pytest.raises(ValueError, match="sealed"):
            attach(descriptor, 3, 2)
    finally:
        os.close(descriptor)


def test_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(bytes(4096))
    descriptor = os.open(tmp_path / "file", os.O_RDWR)
    try:
        with pytest.raises(OSError):
            attach(descriptor, 3, 2)
    finally:
        os.close(descriptor)
