"""The way to the frames that a server on this host shares: it gives a memfd for a token, on a Unix socket.

The server sends one message: a header of 32 bytes, and with it one descriptor.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from array import array
from typing import TYPE_CHECKING

from vnc.errors import system_words
from vnc.peer_user import peer_user
from vnc.session import VNCAddress

if TYPE_CHECKING:
    from vnc import _core

logger = logging.getLogger(__name__)

# 4 magic + 2 version + 2 buffers + 4 width + 4 height + 4 stride + 4 offset of the first buffer + 8 distance of buffers
_HEADER = struct.Struct(">4sHHIIIIQ")
_MAGIC, _VERSION = b"UCSF", 1
_DESCRIPTORS = 2  # one more than allowed, to notice it

Layout = tuple[int, int, int, int, int, int]
"""Buffers, width, height, stride, offset of the first buffer, distance between buffers."""


async def share(core: _core.Session, offer: tuple[bytes, str], address: VNCAddress, seconds: float) -> None:
    """Let a session read the frames that its server has offered; if that fails, they come by VNC as before.

    Args:
        core: the session.
        offer: the token and the path of the socket.
        address: the server, for the log.
        seconds: the time in which the server has to send the memory.
    """
    try:
        async with asyncio.timeout(seconds):
            memory, layout = await fetch(*offer)
        try:
            core.map(memory, layout)
        finally:
            os.close(memory)
    except TimeoutError:
        _log(address, f"no memory within {seconds:g} s")
    except OSError as error:
        _log(address, f"{offer[1]}: {system_words(error)}")
    except ValueError as error:
        _log(address, str(error))


def _log(address: VNCAddress, reason: str) -> None:
    logger.info("= %s: pixels come by VNC, not through shared memory: %s", address, reason)


async def fetch(token: bytes, path: str) -> tuple[int, Layout]:
    """Return the descriptor of the memory, which the caller closes, and what is where in it.

    Raises:
        OSError: there is no such socket, or it was closed.
        ValueError: the server is another user's, or sends something else.
    """
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        connected.setblocking(False)
        await loop.sock_connect(connected, path)
        _check_user(connected)
        await loop.sock_sendall(connected, token)
        return await _receive(connected)


def _check_user(connected: socket.socket) -> None:
    """Accept the server of the same user, or of root, which can read this process's memory anyway."""
    user = peer_user(connected)
    if user not in (os.geteuid(), 0):
        raise ValueError(f"the socket belongs to user {user}, and this is user {os.geteuid()}")


async def _receive(connected: socket.socket) -> tuple[int, Layout]:
    data, descriptors = bytearray(), array("i")
    try:
        while len(data) < _HEADER.size:
            await _receive_part(connected, data, descriptors)
        if len(descriptors) != 1:
            raise ValueError(f"the server sent {len(descriptors)} descriptors, expected is 1")
        return descriptors[0], _parse(bytes(data))
    except BaseException:
        for descriptor in descriptors:
            os.close(descriptor)
        raise


async def _receive_part(connected: socket.socket, data: bytearray, descriptors: array[int]) -> None:
    await _readable(connected)
    space = socket.CMSG_SPACE(_DESCRIPTORS * descriptors.itemsize)
    try:
        part, ancillary, _, _ = connected.recvmsg(
            _HEADER.size + 1 - len(data), space, socket.MSG_CMSG_CLOEXEC
        )
    except BlockingIOError:
        return
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(content[: len(content) // descriptors.itemsize * descriptors.itemsize])
    if not part:
        raise ValueError(f"the server closed the socket after {len(data)} of {_HEADER.size} bytes")
    data += part


async def _readable(connected: socket.socket) -> None:
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connected, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(connected)


def _parse(data: bytes) -> Layout:
    if len(data) > _HEADER.size:
        raise ValueError(f"the server sent more than a header of {_HEADER.size} bytes")
    magic, version, *layout = _HEADER.unpack(data)
    if (magic, version) != (_MAGIC, _VERSION):
        raise ValueError(
            f"the header begins with {magic!r} and version {version}, expected is {_MAGIC!r}, {_VERSION}"
        )
    buffers, width, height, stride, offset, distance = layout
    return buffers, width, height, stride, offset, distance
