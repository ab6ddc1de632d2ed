"""The remote's end of step channels: a Unix socket that exists as long as the remote, and tickets for it."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections import deque
from collections.abc import Callable

from rewarder.steps.channel import MAGIC, TOKEN_BYTES, VERSION, WELCOME, Channel, user_of
from rewarder.steps.pixels import create

PENDING, WAITING = 8, 64
"""Connections that have not shown a ticket, and those that wait until one of them has; further ones are refused."""
_TICKETS = 16  # the newest ones are valid
_SECONDS = 5.0  # in which a client has to show its ticket
_PATIENCE = 10.0  # seconds in which an agent has to read a reply

log = logging.getLogger(__name__)


class StepListener:
    """Accepts processes of the same user, or of root, that show a ticket. Used on the event loop's thread.

    The socket has a name in Linux's abstract namespace: there is no file to protect or to remove.
    """

    def __init__(self, width: int, height: int, on_channel: Callable[[Channel], object]) -> None:
        """Listen; call `on_channel` with each channel, before the agent learns that it is open.

        Raises:
            OSError: the system refuses.
        """
        self._size = width, height
        self._on_channel = on_channel
        self._tickets: deque[bytes] = deque(maxlen=_TICKETS)
        self._name = f"universe-client-steps-{secrets.token_hex(16)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            self._socket.bind(f"\0{self._name}")
            self._socket.listen(WAITING)
        except OSError:
            self._socket.close()
            raise
        self._task = asyncio.create_task(self._serve(), name="step channels")
        self._task.add_done_callback(lambda _: self._socket.close())

    def ticket(self) -> str:
        """Return an address for one client, which can be used once."""
        token = secrets.token_bytes(TOKEN_BYTES)
        self._tickets.append(token)
        return f"{self._name}:{token.hex()}"

    def close(self) -> None:
        """Accept no further channels; open ones stay."""
        self._task.cancel()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        free = asyncio.Semaphore(PENDING)
        async with asyncio.TaskGroup() as greetings:
            while True:
                await free.acquire()
                try:
                    connection, _ = await loop.sock_accept(self._socket)
                except OSError as error:  # no descriptors: those who wait give up
                    log.warning("! step channel: %s", error)
                    return
                greetings.create_task(self._greet(connection)).add_done_callback(lambda _: free.release())

    async def _greet(self, connection: socket.socket) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                await self._admit(connection)
        except (OSError, TimeoutError) as error:
            log.warning("! step channel refused: %s", str(error) or "no ticket in time")
            connection.close()
        except BaseException:
            connection.close()
            raise

    async def _admit(self, connection: socket.socket) -> None:
        if user_of(connection) not in (0, os.geteuid()):
            raise PermissionError("a process of another user")
        token = b""
        while len(token) < TOKEN_BYTES:
            data = await asyncio.get_running_loop().sock_recv(connection, TOKEN_BYTES - len(token))
            if not data:
                raise ConnectionResetError("closed without a ticket")
            token += data
        if token not in self._tickets:
            raise PermissionError("an unknown ticket")
        self._tickets.remove(token)
        descriptor, pixels = create(*self._size)
        try:
            channel = Channel(connection, pixels, _PATIENCE)
            self._on_channel(channel)
            try:
                socket.send_fds(connection, [WELCOME.pack(MAGIC, VERSION, *self._size)], [descriptor])
            except OSError:  # the agent has gone: the owner of the channel finds it closed
                channel.hang_up()
        finally:
            os.close(descriptor)
