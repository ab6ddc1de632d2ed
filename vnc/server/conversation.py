"""The server's side of one connection without I/O: a parser of what clients say, and what is to be sent to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator

from vnc.errors import AuthError, LimitExceeded, ProtocolError

MAX_ENCODINGS = 1024
"""Encodings in one SetEncodings; viewers name about thirty."""

VERSION = b"RFB 003.008\n"

_PIECE = 16 * 1024  # what is ignored is read in pieces of this

Parser = Generator[int, bytes, None]
"""Yields the number of bytes it wants next, and is sent them."""


class Conversation(ABC):
    """Feeds what is received to the parser of a subclass, and collects in `_out` what it wants to say."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._out = [VERSION]
        self._parser = self._parse()
        self._wanted = next(self._parser)

    @abstractmethod
    def _parse(self) -> Parser:
        """Parse the whole conversation."""

    def _feed(self, data: bytes) -> None:
        """Take bytes; after an error everything is ignored.

        Raises:
            ProtocolError, AuthError: as the parser.
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
        """Return what has to go to the client now, once."""
        data = b"".join(self._out)
        self._out.clear()
        return data


def read_encodings() -> Generator[int, bytes, bytes]:
    """Read a SetEncodings after its type (RFC 6143 section 7.5.2); 1 padding + 2 count + 4 each.

    Raises:
        LimitExceeded: it names more than `MAX_ENCODINGS`.
    """
    start = yield 3
    count = int.from_bytes(start[1:], "big")
    if count > MAX_ENCODINGS:
        raise LimitExceeded(f"client names {count} encodings, the limit is {MAX_ENCODINGS}")
    return start + (yield 4 * count)


def drop(length: int) -> Parser:
    """Read over so many bytes."""
    while length:
        length -= len((yield min(length, _PIECE)))


def _ignore() -> Parser:
    while True:
        yield _PIECE
