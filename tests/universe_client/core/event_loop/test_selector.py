"""Whether an event loop on another thread has processed what has arrived."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading

import pytest

from tests.support.remotes.agent import wait_until
from universe_client.core.event_loop.loop import LoopThread

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the selector cannot be polled")


@pytest.fixture
def loop():
    loop = LoopThread()
    yield loop
    loop.stop(asyncio.sleep(0))


def test_a_loop_without_work_is_idle_and_one_in_a_callback_is_not(loop):
    wait_until(loop.is_idle)
    began, ends = threading.Event(), threading.Event()
    loop.call(lambda: (began.set(), ends.wait(60)))
    assert not loop.is_idle(), "the call has arrived"
    assert began.wait(60)
    assert not loop.is_idle()
    ends.set()
    wait_until(loop.is_idle)


def test_what_a_loop_has_read_is_processed_when_it_is_idle(loop):
    """Each byte is sent on this thread, and processed in a second turn of the loop."""
    processed: list[bytes] = []
    ours, its = socket.socketpair()
    its.setblocking(False)

    async def serve() -> None:
        running = asyncio.get_running_loop()
        while data := await running.sock_recv(its, 1):
            await asyncio.sleep(0)
            processed.append(data)

    with ours, its:
        loop.call(lambda: asyncio.ensure_future(serve()))
        for count in range(1, 301):
            ours.send(b"x")
            if loop.is_idle():
                assert len(processed) == count, "a byte that had arrived is not processed"
            wait_until(loop.is_idle)
            assert len(processed) == count
        ours.shutdown(socket.SHUT_WR)
