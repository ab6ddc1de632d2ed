"""Who gets the keys on a desktop whose window manager is slow."""

import os
import signal
import threading
from contextlib import contextmanager

import pytest

from rewarder.display.xdisplay import XDisplay
from rewarder.runtimes.desktop.desktop import on_display


@contextmanager
def slow(pid):
    """Within the block, a process runs for half a millisecond of each 20 ms."""
    over = threading.Event()

    def hold():
        while not over.is_set():
            os.kill(pid, signal.SIGSTOP)
            over.wait(0.02)
            os.kill(pid, signal.SIGCONT)
            over.wait(0.0005)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("env_id", ["desktop.WriteNote-v0", "desktop.OpenFile-v0"])
def test_the_program_has_the_keyboard_when_the_episode_begins(env_id):
    with on_display(env_id, XDisplay(1024, 768)) as runtime:
        runtime.open()
        desk = runtime._desk
        with slow(desk._manager.pid):
            for seed in range(3):
                runtime.reset(env_id, seed)
                assert desk._client.focus() in [window.id for window in desk.windows()]
        runtime.close()
