"""The worker runs calls on one thread, in order, and raises their errors to the caller."""

import asyncio
import threading

import pytest

from rewarder.sdk.loop.worker import InlineWorker, ThreadWorker


@pytest.fixture
def worker():
    worker = ThreadWorker("test worker")
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
    worker = ThreadWorker("ends")
    thread = await worker.call(threading.current_thread)
    worker.stop()
    thread.join(60)
    assert not thread.is_alive()


async def test_every_exception_of_a_call_is_raised(worker):
    with pytest.raises(RuntimeError, match="StopIteration"):
        await worker.call(next, iter(()))


async def test_a_result_for_a_cancelled_call_is_dropped(worker):
    gate = threading.Event()
    call = asyncio.create_task(worker.call(gate.wait, 10))
    await asyncio.sleep(0)
    call.cancel()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await worker.call(lambda: 1) == 1


async def test_inline_calls_run_on_the_event_loops_thread_and_raise_their_errors():
    worker = InlineWorker()
    assert await worker.call(threading.current_thread) is threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        await worker.call(lambda: 1 / 0)
