"""Blocking calls leave the event loop free, and work even when the interpreter is about to go."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from universe_client.providers.containers.background import blocking


async def test_the_loop_goes_on_meanwhile():
    release = threading.Event()
    task = asyncio.create_task(blocking(lambda: release.wait(5)))
    await asyncio.sleep(0)
    assert not task.done()
    release.set()
    assert await task is True


async def test_an_error_is_raised_where_it_is_awaited():
    with pytest.raises(ZeroDivisionError):
        await blocking(lambda: 1 // 0)


async def test_a_result_that_nobody_waits_for_any_more_is_dropped():
    release, ended = threading.Event(), threading.Event()

    def work():
        release.wait(5)
        ended.set()

    task = asyncio.create_task(blocking(work))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    release.set()
    assert await blocking(lambda: ended.wait(60))


def test_it_works_while_the_interpreter_exits():
    script = (
        "import asyncio, atexit\n"
        "from universe_client.providers.containers.background import blocking\n"
        "atexit.register(lambda: print(asyncio.run(blocking(lambda: 'done'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("done\n", "")
