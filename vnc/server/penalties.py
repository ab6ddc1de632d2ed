"""Delays of the answers to wrong passwords, by client address, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

MAX_DELAY = 4.0
"""Seconds: short enough for a person who mistypes, long enough to limit guesses to a few per second."""

MAX_PENDING = 8
"""Delayed answers per address; further connections from it are refused until one has been sent."""

FORGET = 60.0
"""Seconds after its last failure until an address starts with the first delay again."""

MAX_ADDRESSES = 1024
"""The most addresses in memory; beyond it the one with the oldest failure is dropped."""


@dataclass(slots=True)
class _Record:
    failures: int = 0
    last: float = 0.0
    due: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_PENDING))


class Penalties:
    """Failed authentications by address. Callers pass the time.

    All clients behind a container bridge share one address, so a lock-out would let one of them exclude the others.
    Instead each failure delays its own answer, longer each time, and few answers may be pending at once.
    """

    def __init__(self, first_delay: float) -> None:
        self._first_delay = first_delay
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def __len__(self) -> int:
        return len(self._records)

    def refused(self, address: str, now: float) -> bool:
        """Whether `MAX_PENDING` answers to this address are pending, so that it cannot try again yet."""
        record = self._records.get(address)
        return record is not None and sum(due > now for due in record.due) >= MAX_PENDING

    def failed(self, address: str, now: float) -> float:
        """Record a failure; return the delay of its answer in seconds."""
        record = self._records.pop(address, None)
        if record is None or now - record.last > FORGET:
            record = _Record()
        delay = min(MAX_DELAY, self._first_delay * 2.0 ** min(record.failures, 16))
        record.failures += 1
        record.last = now
        record.due.append(now + delay)
        self._records[address] = record
        if len(self._records) > MAX_ADDRESSES:
            self._records.popitem(last=False)
        return delay
