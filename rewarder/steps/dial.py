"""The agent's end of a step channel: connect, and receive the shared pixels."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import sys

from rewarder.steps.channel import MAGIC, TOKEN_BYTES, VERSION, WELCOME, Channel, user_of
from rewarder.steps.pixels import attach

_ADDRESS = re.compile(rf"(universe-client-steps-[0-9a-f]{{32}}):([0-9a-f]{{{2 * TOKEN_BYTES}}})")
_PATIENCE = 1.0  # seconds after which a step looks whether it still has time


async def dial(address: str, screen: tuple[int, int], seconds: float) -> Channel:
    """Open the channel that a remote on this host offers.

    Args:
        address: from `rewarder.protocol.features.Offer.steps`.
        screen: (width, height) of the remote's screen in pixels.
        seconds: for all of it.

    Raises:
        OSError: there is no such remote on this host, it belongs to another user, or it has no pixels for us.
        ValueError: the address or what the remote sent is malformed, or its screen has another size.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "only Linux has step channels")
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        raise ValueError(f"{address[:100]!r} is not the address of a step channel")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        async with asyncio.timeout(seconds):
            await asyncio.get_running_loop().sock_connect(connection, f"\0{parts[1]}")
            if user_of(connection) not in (0, os.geteuid()):
                raise PermissionError("the step channel belongs to another user")
            connection.sendall(bytes.fromhex(parts[2]))
            return await _welcome(connection, screen)
    except BaseException:
        connection.close()
        raise


async def _welcome(connection: socket.socket, screen: tuple[int, int]) -> Channel:
    await _readable(connection)
    data, descriptors, *_ = socket.recv_fds(connection, WELCOME.size, 1, socket.MSG_CMSG_CLOEXEC)
    try:
        if len(data) < WELCOME.size or len(descriptors) != 1:
            raise ConnectionRefusedError("the remote refuses a step channel")
        magic, version, *size = WELCOME.unpack(data)
        if (magic, version) != (MAGIC, VERSION):
            raise ValueError(
                f"step channel {magic!r} version {version}, known is {MAGIC!r} version {VERSION}"
            )
        if tuple(size) != screen:
            raise ValueError(
                f"the step channel has {size[0]}x{size[1]} pixels, the screen {screen[0]}x{screen[1]}"
            )
        return Channel(connection, attach(descriptors[0], *screen), _PATIENCE)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(connection, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(connection)
