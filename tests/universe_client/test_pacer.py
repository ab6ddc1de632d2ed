"""The pacer: absolute deadlines, missed ones, and closing."""

import threading
import time

from universe_client.pacer import Pacer


def test_no_rate_never_waits():
    pacer = Pacer(None)
    pacer.restart()
    pacer.wait()
    assert pacer.missed == 0


def test_late_steps_are_counted_and_not_made_up_for():
    pacer = Pacer(20)
    pacer.restart()
    threading.Event().wait(0.12)
    pacer.wait()
    assert pacer.missed == 1
    began = time.monotonic()
    pacer.wait()
    pacer.wait()
    assert time.monotonic() - began > 0.09, "lost time was made up for"
    assert pacer.missed == 1


def test_close_wakes_a_thread_that_waits():
    pacer = Pacer(0.01)
    pacer.restart()
    thread = threading.Thread(target=pacer.wait)
    thread.start()
    pacer.close()
    thread.join(5)
    assert not thread.is_alive()
