"""One end of a step channel: messages over a Unix stream socket, and the shared pixels.

A message is one of the rewarder protocol, as JSON, after its length: `4 length | length bytes of UTF-8`. The agent
sends `v1.env.step`. The remote runs the ticks, writes the frame into the shared pixels, and answers each step, in
order, with `v1.reply.env.step`. It writes pixels for no other reason than a step or a reset, and the agent reads them
only after the reply, so that no frame is ever half written.
"""

from __future__ import annotations

import socket
import struct
import weakref
from contextlib import suppress
from itertools import count

from rewarder.errors import ProtocolError
from rewarder.protocol.codec import MAX_FRAME, encode_bytes
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Envelope, Headers, Message
from rewarder.protocol.steps import decode
from rewarder.steps.pixels import Pixels

TOKEN_BYTES = 16
MAGIC, VERSION = b"UCST", 1
WELCOME = struct.Struct(">4sHxxII")
"""What the remote sends with the descriptor of the pixels: 4 magic + 2 version + 2 padding + 4 width + 4 height."""
_LENGTH = struct.Struct(">I")
_READ = 64 * 1024  # bytes read at a time
_PEER = struct.Struct("iII")  # struct ucred of unix(7): process, user, group


class Channel:
    """One end. `hang_up` may be called from any thread, everything else from one thread at a time.

    Attributes:
        pixels: the newest frame; read-only at the agent's end.
    """

    def __init__(self, connection: socket.socket, pixels: Pixels, patience: float) -> None:
        """Use a connected socket; `send` and `receive` wait at most `patience` seconds."""
        self.pixels = pixels
        self._socket = connection
        self._chunks: list[bytes] = []  # received, and not returned
        self._ids = count(1)
        self._released = weakref.finalize(self, connection.close)
        connection.setblocking(True)
        seconds = struct.pack("ll", int(patience), int(patience % 1 * 1e6))  # struct timeval
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            connection.setsockopt(socket.SOL_SOCKET, option, seconds)

    def fileno(self) -> int:
        """Return the descriptor, which is readable when a message has arrived."""
        return self._socket.fileno()

    def send(
        self,
        message: Message,
        sent_at: float,
        episode_id: EpisodeId | None = None,
        parent_message_id: int | None = None,
    ) -> int:
        """Send a message; return its id.

        Raises:
            OSError: the other end is gone, or has read nothing for the whole patience.
            ValueError: the message is too large.
        """
        number = next(self._ids)
        data = encode_bytes(Headers(number, sent_at, episode_id, parent_message_id), message)
        self._socket.sendall(_LENGTH.pack(len(data)) + data)
        return number

    def receive(self, wait: bool = True) -> Envelope | None:
        """Return the next message; None if none has arrived, with `wait` within the patience.

        Raises:
            OSError: the other end is gone.
            ProtocolError: it sent invalid data.
        """
        while (data := self._next()) is None:
            try:
                # In one call that runs no Python code: an interrupt comes before or after it, and no byte is lost.
                self._chunks.extend(map(self._socket.recv, (_READ,), (0 if wait else socket.MSG_DONTWAIT,)))
            except BlockingIOError:
                return None
            if not self._chunks[-1]:
                raise ConnectionResetError("the other end has closed the step channel")
        return decode(data)

    def _next(self) -> bytes | None:
        if not self._chunks:
            return None
        received = b"".join(self._chunks)
        end = _end(received)
        if end is None or len(received) < end:
            return None
        self._chunks[:] = [received[end:]] if len(received) > end else []
        return received[_LENGTH.size : end]

    @property
    def has_message(self) -> bool:
        """Whether `receive` returns a message that has been read already."""
        if not self._chunks:
            return False
        received = b"".join(self._chunks)
        end = _end(received)
        return end is not None and len(received) >= end

    def hang_up(self) -> None:
        """Make both ends find the channel closed, also one that waits in `receive`."""
        with suppress(OSError):  # the other end was faster
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Release the socket; it is also released with the channel."""
        self._released()


def _end(received: bytes) -> int | None:
    """Return where the first message ends; None if its length has not arrived."""
    if len(received) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(received)
    if length > MAX_FRAME:
        raise ProtocolError(f"message of {length} bytes, the limit is {MAX_FRAME}", 1009)
    return _LENGTH.size + int(length)


def user_of(connection: socket.socket) -> int:
    """Return the effective user id of the process at the other end of a Unix socket."""
    _, user, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return int(user)
