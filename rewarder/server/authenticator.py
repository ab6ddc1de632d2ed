"""Check passwords and origins of HTTP upgrade requests, before any WebSocket frame."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections import OrderedDict
from dataclasses import dataclass
from urllib.parse import urlsplit

from rewarder.credentials import password_of

FREE_FAILURES = 5
"""Wrong passwords an address may send before it is answered late."""
DELAY = 1.0
"""Seconds that the answer to each further wrong password waits; the right one is answered at once all the same."""
MAX_WAITING = 4
"""Late answers of one address at a time; further wrong passwords are turned away at once, and hold nothing."""
MAX_ADDRESSES = 1024
"""Addresses whose failures are remembered."""


def same_origin(origin: str | None, host: str | None) -> bool:
    """Whether a request comes from no browser page at all, or from a page of this very host and port."""
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return bool(parts.netloc) and parts.netloc.lower() == (host or "").lower()


@dataclass(slots=True)
class _Record:
    failures: int = 0
    waiting: int = 0


class Authenticator:
    """Checks passwords in constant time, and answers an address that guesses late.

    An address may be that of many clients, as behind a container bridge: nothing that one of them does wrong keeps the
    right password of another out. What withstands a guesser who does not wait for answers is a password's length.
    """

    def __init__(self, password: str | None, *, delay: float = DELAY) -> None:
        self._digest = None if password is None else _digest(password)
        self._delay = delay
        self._records: OrderedDict[str, _Record] = OrderedDict()

    async def check(self, header: str | None, address: str) -> int:
        """Return the HTTP status this attempt has earned: 200, 401, or 429 for wrong ones when too many are waiting."""
        if self._digest is None:
            return 200
        # The comparison runs for a missing password too, so that its time says nothing.
        password = password_of(header)
        if hmac.compare_digest(_digest(password or ""), self._digest) and password is not None:
            self._records.pop(address, None)
            return 200
        record = self._record(address)
        record.failures += 1
        if record.failures > FREE_FAILURES:
            if record.waiting >= MAX_WAITING:
                return 429
            await self._wait(record)
        return 401

    async def _wait(self, record: _Record) -> None:
        record.waiting += 1
        try:
            await asyncio.sleep(self._delay)
        finally:
            record.waiting -= 1

    def _record(self, address: str) -> _Record:
        record = self._records.setdefault(address, _Record())
        self._records.move_to_end(address)
        if len(self._records) > MAX_ADDRESSES:
            self._records.popitem(last=False)
        return record


def _digest(password: str) -> bytes:
    return hashlib.sha256(password.encode("utf-8", "surrogatepass")).digest()
