"""The base class of server-side protocols without I/O: it feeds a parser and collects the bytes to send."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator

from vnc.errors import AuthError, LimitExceeded, ProtocolError

MAX_ENCODINGS = 1024
"""The most encodings in one SetEncodings; viewers send about thirty."""

VERSION = b"RFB 003.008\n"

_PIECE = 16 * 1024  # bytes: ignored data is read in pieces of this size

Parser = Generator[int, bytes, None]
"""Yields the number of bytes that it needs next, and is sent them."""


class Conversation(ABC):
    """Feeds received bytes to the parser of a subclass, which appends the bytes to send to `_out`."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._out = [VERSION]
        self._parser = self._parse()
        self._wanted = next(self._parser)

    @abstractmethod
    def _parse(self) -> Parser:
        """Parse all messages of the client."""

    def _feed(self, data: bytes) -> None:
        """Feed bytes to the parser; after an error all bytes are ignored.

        Raises:
            ProtocolError, AuthError: raised by the parser.
        """
        self._received += data
        position = 0
        try:
            while len(self._received) - position >= self._wanted:
                end = position + self._wanted
                chunk = bytes(self._received[position:end])
                position = end
                self._wanted = self._parser.send(chunk)
        except (ProtocolError, AuthError):
            self._parser = _ignore()
            self._wanted = next(self._parser)
            raise
        finally:
            del self._received[:position]

    def data_to_send(self) -> bytes:
        """Return the bytes to send to the client, and forget them."""
        data = b"".join(self._out)
        self._out.clear()
        return data


def read_encodings() -> Generator[int, bytes, bytes]:
    """Read SetEncodings after its type (RFC 6143 section 7.5.2): 1 padding + 2 count + 4 each.

    Raises:
        LimitExceeded: it contains more than `MAX_ENCODINGS`.
    """
    start = yield 3
    count = int.from_bytes(start[1:], "big")
    if count > MAX_ENCODINGS:
        raise LimitExceeded(f"client names {count} encodings, the limit is {MAX_ENCODINGS}")
    return start + (yield 4 * count)


def drop(length: int) -> Parser:
    """Skip `length` bytes."""
    while length:
        length -= len((yield min(length, _PIECE)))


def _ignore() -> Parser:
    while True:
        yield _PIECE
