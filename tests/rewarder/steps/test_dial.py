"""Opening a step channel, with a peer of either side that does not behave."""

import asyncio
import os
import secrets
import socket
import struct

import pytest

from rewarder.protocol.messages import Step
from rewarder.steps.dial import dial
from rewarder.steps.listener import StepListener
from rewarder.steps.pixels import create

SIZE = 3, 2


@pytest.fixture
async def listener():
    channels = []
    listening = StepListener(*SIZE, channels.append)
    listening.channels = channels
    yield listening
    listening.close()
    await asyncio.sleep(0)
    for channel in channels:
        channel.close()


async def test_both_ends_have_the_same_pixels_and_messages(listener):
    near = await dial(listener.ticket(), SIZE, 60)
    (far,) = listener.channels
    far.pixels[...] = 5
    assert (near.pixels == 5).all()
    near.send(Step(ticks=3), 0.0)
    assert far.receive().message.ticks == 3
    near.close()


async def test_a_ticket_is_valid_once(listener):
    ticket = listener.ticket()
    (await dial(ticket, SIZE, 60)).close()
    with pytest.raises(ConnectionRefusedError):
        await dial(ticket, SIZE, 60)
    assert len(listener.channels) == 1


async def test_an_unknown_ticket_is_refused(listener):
    name = listener.ticket().partition(":")[0]
    with pytest.raises(ConnectionRefusedError):
        await dial(f"{name}:{secrets.token_hex(16)}", SIZE, 60)


async def test_other_users_are_refused(listener, monkeypatch):
    monkeypatch.setattr("rewarder.steps.listener.user_of", lambda connection: 54321)
    with pytest.raises(ConnectionError):
        await dial(listener.ticket(), SIZE, 60)
    assert not listener.channels


async def test_a_remote_of_another_user_is_refused(listener, monkeypatch):
    monkeypatch.setattr("rewarder.steps.dial.user_of", lambda connection: 54321)
    with pytest.raises(PermissionError, match="another user"):
        await dial(listener.ticket(), SIZE, 60)


async def test_silent_clients_do_not_keep_others_out(listener, monkeypatch):
    monkeypatch.setattr("rewarder.steps.listener._SECONDS", 0.1)
    name = listener.ticket().partition(":")[0]
    silent = [socket.socket(socket.AF_UNIX) for _ in range(12)]
    try:
        for client in silent:
            client.connect(f"\0{name}")
        (await dial(listener.ticket(), SIZE, 60)).close()
    finally:
        for client in silent:
            client.close()


async def test_an_agent_that_leaves_too_early_leaves_a_closed_channel(listener):
    name, _, token = listener.ticket().partition(":")
    client = socket.socket(socket.AF_UNIX)
    client.connect(f"\0{name}")
    client.sendall(bytes.fromhex(token))
    client.close()
    (await dial(listener.ticket(), SIZE, 60)).close()  # by now the first one has been admitted
    with pytest.raises(OSError):
        listener.channels[0].receive()


@pytest.mark.parametrize("address", ["", "x", "../../run/docker.sock:00", f"other-{'0' * 32}:{'0' * 32}"])
async def test_other_addresses_are_not_tried(address):
    with pytest.raises(ValueError, match="not the address"):
        await dial(address, SIZE, 60)


async def test_nobody_listens():
    with pytest.raises(ConnectionRefusedError):
        await dial(f"universe-client-steps-{'0' * 32}:{'0' * 32}", SIZE, 60)


def welcome(magic=b"UCST", version=1, width=3, height=2):
    return struct.pack(">4sHxxII", magic, version, width, height)


@pytest.mark.parametrize(
    ("data", "descriptors", "complaint"),
    [
        (b"", 0, "refuses"),
        (welcome()[:9], 1, "refuses"),
        (welcome(), 0, "refuses"),
        (welcome(magic=b"ELSE"), 1, "known is"),
        (welcome(version=2), 1, "version 2"),
        (welcome(width=4), 1, "the screen 3x2"),
        (welcome(), 1, "too small"),
    ],
)
async def test_a_remote_that_sends_something_else(data, descriptors, complaint):
    name = f"universe-client-steps-{secrets.token_hex(16)}"
    small, _ = create(1, 1)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                if data:
                    socket.send_fds(connection, [data], [small] * descriptors)

        answering = asyncio.create_task(asyncio.to_thread(answer))
        with pytest.raises((OSError, ValueError), match=complaint):
            await dial(f"{name}:{'0' * 32}", SIZE, 60)
        await answering
    os.close(small)


async def test_a_remote_that_never_answers():
    name = f"universe-client-steps-{secrets.token_hex(16)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        with pytest.raises(TimeoutError):
            await dial(f"{name}:{'0' * 32}", SIZE, 0.1)
