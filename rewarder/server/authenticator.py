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
"""Wrong passwords of one address before its answers are delayed."""
DELAY = 1.0
"""Seconds of delay of the answer to each further wrong password. The right password is never delayed."""
MAX_WAITING = 4
"""Delayed answers of one address at a time. Further wrong passwords are refused at once."""
MAX_ADDRESSES = 1024
"""Addresses whose failures are counted."""


def same_origin(origin: str | None, host: str | None) -> bool:
    """Return whether a request has no Origin, or that of a page of the same host and port."""
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
    """Checks passwords in constant time, and delays the answers to addresses that guess.

    Many clients may share an address, for example behind a container bridge. Therefore wrong passwords of one client do
    not affect the right password of another. Against a guesser that does not wait for answers, only the length of the
    password protects.

    Args:
        password: the right one; None accepts every request.
        delay: seconds, see `DELAY`.
    """

    def __init__(self, password: str | None, *, delay: float = DELAY) -> None:
        self._digest = None if password is None else _digest(password)
        self._delay = delay
        self._records: OrderedDict[str, _Record] = OrderedDict()

    async def check(self, header: str | None, address: str) -> int:
        """Return the HTTP status of a login attempt, after the delay, if any.

        Args:
            header: the request's `Authorization`, Basic or Bearer; None if it is missing.
            address: of the client.

        Returns:
            200 for the right password, 401 for a wrong one, 429 for a wrong one while `MAX_WAITING` answers wait.
        """
        if self._digest is None:
            return 200
        # The comparison runs for a missing password too, so that its duration reveals nothing.
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
