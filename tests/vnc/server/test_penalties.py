"""Penalties: delays grow, few answers are pending, addresses expire, memory is bounded."""

from __future__ import annotations

from vnc.server.penalties import FORGET, MAX_ADDRESSES, MAX_DELAY, MAX_PENDING, Penalties


def test_delays_double_up_to_a_bound() -> None:
    penalties = Penalties(0.25)
    delays = [penalties.failed("a", 0.0) for _ in range(40)]
    assert delays[:4] == [0.25, 0.5, 1.0, 2.0]
    assert max(delays) == MAX_DELAY
    assert penalties.failed("b", 0.0) == 0.25


def test_an_address_with_many_answers_due_is_refused_until_they_were_given() -> None:
    penalties = Penalties(1.0)
    for _ in range(MAX_PENDING):
        assert not penalties.refused("a", 0.0)
        penalties.failed("a", 0.0)
    assert penalties.refused("a", 0.5)
    assert not penalties.refused("b", 0.5)
    assert not penalties.refused("a", 1.0)


def test_old_failures_are_forgotten() -> None:
    penalties = Penalties(0.25)
    penalties.failed("a", 0.0)
    penalties.failed("a", 1.0)
    assert penalties.failed("a", 1.5 + FORGET) == 0.25


def test_memory_is_bounded() -> None:
    penalties = Penalties(0.25)
    for number in range(3 * MAX_ADDRESSES):
        penalties.failed(str(number), 0.0)
    assert len(penalties) == MAX_ADDRESSES
