"""The loop thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

from universe_client.core.event_loop.loop import LoopThread


@pytest.fixture
def loop():
    loop = LoopThread("test loop")
    yield loop
    if loop._thread.is_alive():
        loop.stop(asyncio.sleep(0))


def test_runs_coroutines_and_hands_back_results_and_errors(loop):
    async def answer() -> str:
        return threading.current_thread().name

    async def fail() -> None:
        raise KeyError("x")

    assert loop.run(answer()) == "test loop"
    with pytest.raises(KeyError):
        loop.run(fail())


def test_a_timeout_cancels(loop):
    cancelled = threading.Event()

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(TimeoutError):
        loop.run(long(), 0.05)
    assert cancelled.wait(60)


def test_calls_run_in_order_on_the_loops_thread(loop):
    seen: list[tuple[int, str]] = []
    done = threading.Event()
    for number in range(100):
        loop.call(lambda number: seen.append((number, threading.current_thread().name)), number)
    loop.call(done.set)
    assert done.wait(60)
    assert seen == [(number, "test loop") for number in range(100)]


def test_stop_ends_the_thread_and_lets_tasks_clean_up(loop):
    order: list[str] = []
    started = threading.Event()

    async def worker() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            order.append("worker cleaned up")

    async def last() -> None:
        order.append("last")

    async def start() -> asyncio.Task[None]:
        return asyncio.create_task(worker())

    task = loop.run(start())
    assert started.wait(60)
    loop.stop(last())
    assert order == ["last", "worker cleaned up"]
    assert task.cancelled()
    assert not loop._thread.is_alive()


def test_an_error_at_the_end_is_not_swallowed(loop):
    async def last() -> None:
        raise OSError("the provider could not let go")

    with pytest.raises(OSError, match="let go"):
        loop.stop(last())
    assert not loop._thread.is_alive()


def test_stop_from_its_own_thread_does_not_wait_for_itself(loop):
    async def last() -> None:
        return None

    loop.call(lambda: loop.stop(last()))
    loop._thread.join(60)
    assert not loop._thread.is_alive()
