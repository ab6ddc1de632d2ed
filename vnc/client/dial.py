"""TCP connections to hosts that may have several addresses (RFC 8305, "Happy Eyeballs")."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from vnc.errors import system_words

NEXT_ADDRESS = 0.25
"""Seconds after which the next address of a host is tried too, in parallel (RFC 8305 section 8)."""


async def dial(host: str, port: int) -> socket.socket:
    """Return a non-blocking socket that is connected to the first address of `host` that answers.

    This replaces asyncio's `happy_eyeballs_delay`, which leaks a socket when it is cancelled as a connection is made.

    Raises:
        OSError: no address answers; its text contains each different reason.
        UnicodeError: `host` is not a valid host name.
    """
    loop = asyncio.get_running_loop()
    addresses = await resolve(host, port)
    attempts: list[asyncio.Task[socket.socket]] = []
    try:
        for family, kind, protocol, _, address in addresses:
            attempts.append(loop.create_task(_connect(family, kind, protocol, address)))
            is_last = len(attempts) == len(addresses)
            connected = await _first(attempts, None if is_last else NEXT_ADDRESS)
            if connected is not None:
                attempts.remove(connected)
                return connected.result()
    finally:
        await _discard(attempts)
    raise _failure([error for attempt in attempts if isinstance(error := attempt.exception(), OSError)])


def _failure(errors: list[OSError]) -> OSError:
    """Return the error of the attempts if all have the same text, else one with each text."""
    words = {system_words(error): error for error in errors}
    return next(iter(words.values())) if len(words) == 1 else OSError("; ".join(words) or "no address")


async def resolve(host: str, port: int) -> list[Any]:
    """Return the TCP addresses of a host as `socket.getaddrinfo` does; only a host name needs a thread.

    Raises:
        OSError, UnicodeError: the host is unknown.
    """
    with suppress(socket.gaierror, UnicodeError):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)


async def _first(
    attempts: list[asyncio.Task[socket.socket]], seconds: float | None
) -> asyncio.Task[socket.socket] | None:
    """Wait until an attempt succeeds, all have failed, or `seconds` have passed; return the successful one."""
    pending = {attempt for attempt in attempts if not attempt.done()}
    done = set(attempts) - pending
    while True:
        for attempt in done:
            if not attempt.cancelled() and attempt.exception() is None:
                return attempt
        if not pending:
            return None
        done, pending = await asyncio.wait(pending, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            return None


async def _connect(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    made = socket.socket(family, kind, protocol)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, address)
    except BaseException:
        made.close()
        raise
    return made


async def _discard(attempts: list[asyncio.Task[socket.socket]]) -> None:
    for attempt in attempts:
        attempt.cancel()
    for result in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(result, socket.socket):
            result.close()
