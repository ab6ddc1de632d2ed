"""Absolute deadlines: no drift, no burst, missed ticks counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewarder.sdk.loop.pacing import BEHIND, Pace


def run(pace, costs):
    """Tick with these costs; return when each tick ran."""
    now, times = 100.0, []
    pace.start(now)
    for cost in costs:
        now += pace.delay(now)
        times.append(now)
        pace.ticked(now)
        now += cost
    return times


def test_small_delays_do_not_add_up():
    times = run(Pace(10), [0.09, 0.11] * 50)
    assert times[-1] == pytest.approx(100 + 100 * 0.1, abs=0.02)


def test_a_long_stall_is_given_up_not_caught_up():
    pace = Pace(10)
    times = run(pace, [0, 0, 5.0, 0, 0, 0])
    assert pace.missed == 49
    assert times[4] - times[3] == pytest.approx(0.1)


def test_the_rate_is_what_was_measured():
    pace = Pace(10)
    run(pace, [0.2] * 60)  # twice as slow as asked
    assert pace.rate == pytest.approx(5, rel=0.05)
    pace = Pace(10)
    assert pace.rate == 0.0
    run(pace, [0.2] * 60)
    pace.start(1000.0)
    assert pace.rate == pytest.approx(5, rel=0.05)  # of the episode before


def test_a_late_tick_at_the_start_of_an_episode_does_not_change_the_rate():
    pace = Pace(10)
    run(pace, [0.0] * 60)
    assert pace.rate == pytest.approx(10)
    run(pace, [0.25, 0, 0])
    assert pace.rate == pytest.approx(10)


@given(st.lists(st.floats(0, 3), max_size=50))
def test_never_more_than_a_few_ticks_at_once(costs):
    times = run(Pace(10), costs)
    for first in range(len(times) - BEHIND - 2):
        assert times[first + BEHIND + 2] - times[first] > 0.05


@pytest.mark.parametrize("fps", [0, -1, float("nan")])
def test_a_rate_that_is_none_is_refused(fps):
    with pytest.raises(ValueError, match="fps"):
        Pace(fps)
