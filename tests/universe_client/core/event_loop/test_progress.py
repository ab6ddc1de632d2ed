"""A frame counts when all earlier rewarder messages have been processed."""

from __future__ import annotations

import asyncio
import threading
import time

from tests.support.timing import seconds
from universe_client.core.event_loop.loop import LoopThread
from universe_client.core.event_loop.progress import Progress


async def turn(times: int = 1) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


def new_progress() -> Progress:
    return Progress(asyncio.get_running_loop().call_soon)


async def test_a_moment_is_processed_some_turns_of_the_loop_after_it_was_marked():
    progress = new_progress()
    moment = time.monotonic()
    progress.mark()
    assert not progress.await_processed(moment)
    await turn()
    assert not progress.await_processed(moment), "one turn only finds the socket readable"
    await turn(5)
    assert progress.await_processed(moment)
    assert not progress.await_processed(time.monotonic())


async def test_a_flood_of_marks_holds_none_of_them_back():
    progress = new_progress()
    moments = []
    for number in range(100):
        moments.append(time.monotonic())
        progress.mark()
        await turn()
        assert number < 7 or progress.await_processed(moments[number - 7])


async def test_a_mark_counts_for_all_that_came_before_it():
    progress = new_progress()
    moment = time.monotonic()
    progress.mark()
    await turn(3)
    progress.mark_since(moment)
    await turn(3)
    assert progress.await_processed(moment), "it was not marked a second time"


async def test_waiting_for_an_unmarked_moment_marks_it():
    progress = new_progress()
    moment = time.monotonic()
    assert not progress.await_processed(moment)
    await turn(6)
    assert progress.await_processed(moment)


def test_an_idle_loop_is_not_called():
    calls: list[object] = []
    idle = [True, False]
    progress = Progress(calls.append, lambda: idle.pop(0))
    moment = time.monotonic()
    assert progress.await_processed(moment)
    assert progress.await_processed(moment), "known from before"
    assert idle == [False] and not calls
    assert not progress.await_processed(time.monotonic())
    assert calls, "a busy loop is to say when it is done"


def test_a_moment_to_come_is_not_processed_by_an_idle_loop():
    progress = Progress(lambda function: None, lambda: True)
    assert not progress.await_processed(time.monotonic() + 60)


def test_another_thread_waits_until_it_is_processed():
    loop = LoopThread()
    progress = Progress(loop.call)
    progress.allow(60.0)
    assert progress.await_processed(time.monotonic())
    loop.stop(asyncio.sleep(0))


def test_of_many_threads_none_waits_for_ever():
    loop = LoopThread()
    progress = Progress(loop.call)
    progress.allow(60.0)
    found: list[bool] = []
    threads = [
        threading.Thread(
            target=lambda: found.extend(progress.await_processed(time.monotonic()) for _ in range(50))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    loop.stop(asyncio.sleep(0))
    assert found == [True] * 200


def test_what_is_allowed_bounds_all_waits_together():
    progress = Progress(lambda function: None)  # a loop that stands still
    progress.allow(0.2)
    assert 0.15 < seconds(lambda: [progress.await_processed(time.monotonic()) for _ in range(100)]) < 10
