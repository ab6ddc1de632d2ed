"""Opens a TCP connection to a host that may have several addresses (RFC 8305, "Happy Eyeballs")."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from vnc.errors import system_words

NEXT_ADDRESS = 0.25
"""Seconds after which the next address of a host is tried beside the ones before it (RFC 8305 section 8)."""


async def dial(host: str, port: int) -> socket.socket:
    """Return a non-blocking socket, connected to the first address of `host` that answers.

    asyncio's own `happy_eyeballs_delay` leaks a socket when it is cancelled just as a connection is made.

    Raises:
        OSError: no address answers; with the words of each, where they differ.
        UnicodeError: `host` cannot be a host name.
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
    """The one error of all attempts, or one with the words of each."""
    words = {system_words(error): error for error in errors}
    return next(iter(words.values())) if len(words) == 1 else OSError("; ".join(words) or "no address")


async def resolve(host: str, port: int) -> list[Any]:
    """Return what `socket.getaddrinfo` does for TCP; a host in numbers takes no thread of the event loop.

    Raises:
        OSError, UnicodeError: there is no such host.
    """
    with suppress(socket.gaierror, UnicodeError):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)


async def _first(
    attempts: list[asyncio.Task[socket.socket]], seconds: float | None
) -> asyncio.Task[socket.socket] | None:
    """Wait until an attempt succeeds, all have failed, or so many seconds are over."""
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
