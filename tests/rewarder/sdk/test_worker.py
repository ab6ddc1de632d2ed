"""The worker runs calls on one thread, in order, and raises their errors to the caller."""

import asyncio
import threading

import pytest

from rewarder.sdk.worker import Worker


@pytest.fixture
def worker():
    worker = Worker("test worker")
    yield worker
    worker.stop()


async def test_calls_run_in_order_on_one_thread(worker):
    order = []

    def note(number):
        order.append(number)
        return threading.current_thread().name

    names = await asyncio.gather(*(worker.call(note, number) for number in range(50)))
    assert order == list(range(50))
    assert set(names) == {"test worker"}


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3)])
async def test_an_error_is_raised_where_it_is_awaited_and_the_thread_lives_on(worker, error):
    def fail():
        raise error

    with pytest.raises(type(error)):
        await worker.call(fail)
    assert await worker.call(lambda: 1) == 1


async def test_a_cancelled_call_that_has_not_begun_never_runs(worker):
    gate, ran = threading.Event(), []
    first = asyncio.create_task(worker.call(gate.wait, 10))
    second = asyncio.create_task(worker.call(ran.append, 1))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.set()
    await first
    await worker.call(lambda: None)
    assert ran == []


async def test_stop_ends_the_thread():
    worker = Worker("ends")
    thread = await worker.call(threading.current_thread)
    worker.stop()
    thread.join(60)
    assert not thread.is_alive()
