"""Events with times: check those of an agent."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from universe_client.errors import ConfigError
from universe_client.spaces import actions
from vnc.events import TimedEvents

HORIZON = 3600.0
"""How far from now a time may be, in seconds. One that is further is of another clock."""


def moment(at: Any, slot: int) -> float:
    """Return a time of an agent as a float.

    Args:
        at: seconds of `time.monotonic()`.
        slot: the index of the remote, for the error message.

    Raises:
        ConfigError: it is not a number, or more than `HORIZON` from now.
    """
    try:
        seconds = float(at)
    except (TypeError, ValueError):
        raise ConfigError(f"time of slot {slot}: {at!r} is not a number of seconds") from None
    now = time.monotonic()
    if not abs(seconds - now) <= HORIZON:
        raise ConfigError(
            f"time of slot {slot}: {at!r} is not within {HORIZON:g} s of now, {now:.3f}; "
            "times are seconds of time.monotonic()"
        )
    return seconds


def moments(at: float | Sequence[float | None], n: int) -> list[float | None]:
    """Return the times of `n` actions: one for all, or a list with a time or None for each.

    Raises:
        ConfigError: the list has another length, or a time is invalid; see `moment`.
    """
    each = list(at) if isinstance(at, Sequence | np.ndarray) else [at] * n
    if len(each) != n:
        raise ConfigError(f"at has {len(each)} entries for {n} remotes")
    return [None if one is None else moment(one, slot) for slot, one in enumerate(each)]


def parse(sequence: Sequence[Any], slot: int) -> list[TimedEvents]:
    """Return the sequence of one remote with event objects.

    Args:
        sequence: pairs of a time and a list of events, as `universe_client.spaces.actions.parse` accepts it.
        slot: the index of the remote, for the error message.

    Raises:
        ConfigError: an entry is not such a pair, or the times decrease.
    """
    timed: list[TimedEvents] = []
    for entry in sequence:
        match entry:
            case [at, [*_] as events]:
                timed.append((moment(at, slot), actions.parse(events, slot)))
            case _:
                raise ConfigError(f"sequence of slot {slot}: {entry!r} is not a pair (time, list of events)")
    check_order([at for at, _ in timed], slot)
    return timed


def check_order(times: Sequence[float], slot: int) -> None:
    """Check that times do not decrease.

    Raises:
        ConfigError: they do.
    """
    for before, after in pairwise(times):
        if after < before:
            raise ConfigError(
                f"sequence of slot {slot}: time {after!r} comes after {before!r}; sort the entries"
            )
