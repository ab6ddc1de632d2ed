"""How long wrong passwords are answered late, by address, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

MAX_DELAY = 4.0
"""Seconds; a person who mistypes still gets an answer, a guesser gets a few a second."""

MAX_PENDING = 8
"""Late answers one address may be waiting for; further connections of it are refused until then."""

FORGET = 60.0
"""Seconds after its last failure in which an address is a stranger again."""

MAX_ADDRESSES = 1024
"""Remembered; beyond it the one that failed longest ago is forgotten."""


@dataclass(slots=True)
class _Record:
    failures: int = 0
    last: float = 0.0
    due: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_PENDING))


class Penalties:
    """Failed authentications by address. Time is passed in.

    A lock-out would let one wrong client behind a container bridge shut out all others, so failures cost
    only those who fail: their answers come later each time, and few of them may be due at once.
    """

    def __init__(self, first_delay: float) -> None:
        self._first_delay = first_delay
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def __len__(self) -> int:
        return len(self._records)

    def refused(self, address: str, now: float) -> bool:
        """Whether so many answers to this address are still due that it may not try again yet."""
        record = self._records.get(address)
        return record is not None and sum(due > now for due in record.due) >= MAX_PENDING

    def failed(self, address: str, now: float) -> float:
        """Count a failure; return the seconds its answer has to wait, whether the client does or not."""
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
