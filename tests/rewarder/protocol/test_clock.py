"""Skew and round-trip time with all kinds of clocks and networks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewarder.protocol.clock import WINDOW, ClockSync

DELAYS = st.floats(0.0001, 2.0)


def ping(clock: ClockSync, at: float, there: float, back: float, skew: float, wall: float = 1e9) -> None:
    """One ping at monotonic `at`; our wall clock is `wall` + monotonic, the remote's `skew` ahead of it."""
    clock.add(at, at + there + back, wall + at + there + skew, wall + at + there + back)


def test_nothing_is_known_before_the_first_ping():
    clock = ClockSync()
    assert (clock.skew, clock.rtt, clock.samples, clock.calibrated) == (None, None, 0, False)
    assert clock.lag(1.0, 2.0) is None


def test_three_pings_calibrate():
    clock = ClockSync()
    for at in range(3):
        assert not clock.calibrated
        ping(clock, at, 0.01, 0.01, 0.0)
    assert clock.calibrated


@given(st.floats(-3600, 3600), st.lists(st.tuples(DELAYS, DELAYS), min_size=1, max_size=80))
def test_the_error_is_within_half_the_round_trip(skew, delays):
    clock = ClockSync()
    for at, (there, back) in enumerate(delays):
        ping(clock, 10.0 * at, there, back, skew)
    assert clock.skew is not None
    assert clock.rtt is not None
    assert abs(clock.skew - skew) <= clock.rtt / 2 + 1e-5
    assert clock.samples == min(len(delays), WINDOW)


def test_the_smallest_round_trip_wins():
    clock = ClockSync()
    ping(clock, 0, 0.4, 0.0, 5.0)
    ping(clock, 1, 0.001, 0.001, 5.0)
    ping(clock, 2, 0.0, 0.4, 5.0)
    assert clock.rtt == pytest.approx(0.002)
    assert clock.skew == pytest.approx(5.0, abs=1e-6)


@pytest.mark.parametrize("step", [3600.0, -3600.0, 0.5])
def test_a_step_of_the_remote_clock_starts_anew(step):
    clock = ClockSync()
    for at in range(10):
        ping(clock, at, 0.001, 0.001, 0.0)
    ping(clock, 10, 0.005, 0.005, step)
    assert clock.skew == pytest.approx(step, abs=0.005)
    assert not clock.calibrated
    ping(clock, 11, 0.005, 0.005, step)
    ping(clock, 12, 0.005, 0.005, step)
    assert clock.calibrated


def test_a_step_of_our_own_wall_clock_changes_the_skew_but_no_lag():
    clock = ClockSync()
    for at in range(3):
        ping(clock, at, 0.001, 0.001, 0.0)
    sent_at = 1e9 + 5
    before = clock.lag(sent_at, 5.01)
    clock.add(3, 3.002, 1e9 + 3.001, 1e9 + 3.002 - 3600)
    assert clock.lag(sent_at, 5.01) == pytest.approx(before, abs=1e-6)
    assert clock.skew == pytest.approx(3600, abs=0.001)


def test_old_samples_leave_the_window():
    clock = ClockSync()
    ping(clock, 0, 0.001, 0.001, 0.0)
    for at in range(1, WINDOW + 1):
        ping(clock, at, 0.01, 0.01, 0.0)
    assert clock.rtt == pytest.approx(0.02, abs=1e-6)


@pytest.mark.parametrize("skew", [3600.0, -3600.0])
def test_lag_is_one_way_and_free_of_skew(skew):
    clock = ClockSync()
    ping(clock, 0, 0.001, 0.001, skew)
    assert clock.lag(1e9 + 7 + skew, 7.25) == pytest.approx(0.25, abs=1e-6)
