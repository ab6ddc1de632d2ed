from __future__ import annotations

import asyncio
import os
import socket

import pytest

from vnc.client.dial import dial


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0), backlog=128) as made:
        yield made


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_it_connects_to_the_address_that_answers(listener):
    """`localhost` has two addresses on most machines, and nothing listens on the IPv6 one."""
    port = listener.getsockname()[1]
    with await dial("localhost", port) as connected:
        assert connected.getpeername()[:2] == ("127.0.0.1", port)


async def test_nobody_there_is_an_os_error():
    with socket.create_server(("127.0.0.1", 0)) as gone:
        free_port = gone.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        await dial("127.0.0.1", free_port)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_cancelled_dial_leaves_no_socket_whenever_it_is_cancelled(listener, host):
    port = listener.getsockname()[1]
    await asyncio.get_running_loop().getaddrinfo(host, port)  # its thread stays
    before = open_descriptors()
    for turns in range(40):
        dialling = asyncio.ensure_future(dial(host, port))
        for _ in range(turns):
            await asyncio.sleep(0)
        dialling.cancel()
        (result,) = await asyncio.gather(dialling, return_exceptions=True)
        if isinstance(result, socket.socket):
            result.close()
    assert open_descriptors() == before
