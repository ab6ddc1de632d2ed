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
    def outcome() -> tuple[int, bool]:
        pacer = Pacer(20)
        pacer.restart()
        threading.Event().wait(0.12)
        pacer.wait()
        began = time.monotonic()
        pacer.wait()
        pacer.wait()
        return pacer.missed, time.monotonic() - began > 0.09

    assert (1, True) in [outcome() for _ in range(5)]  # a busy machine adds missed deadlines at times


def test_the_deadline_is_that_of_the_next_wait():
    pacer = Pacer(100)
    assert pacer.deadline is None
    pacer.restart()
    for _ in range(3):
        deadline = pacer.deadline
        pacer.wait()
        assert deadline is not None and time.monotonic() >= deadline
        assert pacer.deadline is not None and pacer.deadline > deadline


def test_close_wakes_a_thread_that_waits():
    pacer = Pacer(0.01)
    pacer.restart()
    thread = threading.Thread(target=pacer.wait)
    thread.start()
    pacer.close()
    thread.join(60)
    assert not thread.is_alive()
