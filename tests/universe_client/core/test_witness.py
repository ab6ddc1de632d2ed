"""A frame counts when all that was said before it has been heard."""

from __future__ import annotations

import asyncio
import threading
import time

from tests.support.timing import seconds
from universe_client.core.loop import LoopThread
from universe_client.core.witness import Witness


async def turn(times: int = 1) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


def witness() -> Witness:
    return Witness(asyncio.get_running_loop().call_soon)


async def test_a_moment_is_heard_some_turns_of_the_loop_after_it_was_marked():
    heard = witness()
    moment = time.monotonic()
    heard.mark()
    assert not heard.heard(moment)
    await turn()
    assert not heard.heard(moment), "one turn only finds the socket readable"
    await turn(5)
    assert heard.heard(moment)
    assert not heard.heard(time.monotonic())


async def test_a_flood_of_marks_holds_none_of_them_back():
    heard = witness()
    moments = []
    for number in range(100):
        moments.append(time.monotonic())
        heard.mark()
        await turn()
        assert number < 7 or heard.heard(moments[number - 7])


async def test_a_mark_counts_for_all_that_came_before_it():
    heard = witness()
    moment = time.monotonic()
    heard.mark()
    await turn(3)
    heard.mark_since(moment)
    await turn(3)
    assert heard.heard(moment), "it was not marked a second time"


async def test_whoever_asks_for_a_moment_nobody_has_marked_has_it_marked():
    heard = witness()
    moment = time.monotonic()
    assert not heard.heard(moment)
    await turn(6)
    assert heard.heard(moment)


def test_another_thread_waits_until_it_is_heard():
    loop = LoopThread()
    heard = Witness(loop.call)
    heard.allow(10.0)
    assert heard.heard(time.monotonic())
    loop.stop(asyncio.sleep(0))


def test_of_many_threads_none_waits_for_ever():
    loop = LoopThread()
    heard = Witness(loop.call)
    heard.allow(10.0)
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.extend(heard.heard(time.monotonic()) for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    loop.stop(asyncio.sleep(0))
    assert found == [True] * 200


def test_what_is_allowed_bounds_all_waits_together():
    heard = Witness(lambda function: None)  # a loop that stands still
    heard.allow(0.2)
    assert 0.15 < seconds(lambda: [heard.heard(time.monotonic()) for _ in range(20)]) < 2
